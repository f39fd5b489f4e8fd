#!/usr/bin/env python3
"""The door of a dvm: who can find it, who may connect, and which requests are
allowed."""
import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import sys

import dvms
import pmix
import clients
import live
from doors import VERSION
from live import check, check_eq

HELLO, WELCOME, REFUSED, STOP, ADDRESS = range(1, 6)
CLIENTS = 512
SHUT = f"{os.environ['XDG_RUNTIME_DIR']}/xylem: it must be a directory of " \
    "this user with mode 0700"
OTHER = 1000000 + os.getpid()  # a user of this test alone


def folder():
    return os.path.join(os.environ["XDG_RUNTIME_DIR"], "xylem")


def doors():
    return sorted(os.listdir(folder())) if os.path.isdir(folder()) else []


def hello(version=VERSION, release=b"0.0.7"):
    return struct.pack("<BI", HELLO, version) + release


class Client:
    """A client that sends any bytes."""

    def __init__(self, dvm):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.connect(os.path.join(folder(), str(dvm.proc.pid)))
        self.sock.settimeout(60)

    def ask(self, packet):
        self.sock.send(packet)
        return self.hear()

    def hear(self):
        """Returns the session's answer; nothing when the client is
        disconnected."""
        try:
            return self.sock.recv(4096)
        except ConnectionResetError:
            return b""

    def refused(self, packet, why):
        said = self.ask(packet)
        check(said[:1] == bytes([REFUSED]) and why in said, (packet, said))
        check_eq(b"", self.hear(), "it is cut off")
        self.sock.close()

    def welcome(self):
        said = self.ask(hello())
        check_eq(bytes([WELCOME, 1]), said[:2])
        check(said[2:].startswith(b"xylem-dvm-"), said)


def goes_on(dvm):
    check_eq(0, pmix.Command("run", "--dvm", "true").wait())
    check_eq((0, ""), dvms.stop())
    dvms.check_end(dvm)
    check_eq([], doors(), "its door has gone with it")


def odd():
    """A client is refused with a message and disconnected when it has another
    version, sends something before HELLO, sends HELLO twice, or sends bytes
    that are no message. No other client notices."""
    dvm = dvms.start(nodes=1)
    Client(dvm).refused(hello(1), b"(protocol %d), but this is xylem 0.0.7 "
                        b"(protocol 1)" % VERSION)
    Client(dvm).refused(bytes([STOP]), b"HELLO first")
    for packet in (bytes([99]), bytes([HELLO, 1]), bytes([WELCOME, 1, 65]),
                   hello(release=b""), hello(release=b"\0"), bytes(4000),
                   hello(release=b"x" * 600), bytes([STOP, 1])):
        Client(dvm).refused(packet, b"cannot understand")
    twice = Client(dvm)
    twice.welcome()
    twice.refused(hello(), b"HELLO first, and only once")
    goes_on(dvm)


def many():
    """There are at most 512 clients, one of which is the helper that waits for
    a tool; a further one is told so, and can connect when another leaves."""
    dvm = dvms.start(nodes=1)
    there = [Client(dvm) for _ in range(CLIENTS - 1)]
    for client in there:
        client.welcome()
    Client(dvm).refused(hello(), b"512 clients")
    code, said = dvms.stop()
    check(code == 1 and "512 clients" in said, said)
    there.pop().sock.close()

    def comes_in():
        client = Client(dvm)
        try:
            said = client.ask(hello())
        except BrokenPipeError:
            said = b""
        client.sock.close()
        return said[:1] == bytes([WELCOME])

    live.eventually(comes_in, 60, "it comes in")
    for client in there:
        client.sock.close()
    goes_on(dvm)


def stands_still():
    """--stop waits for a dvm that stands still, reports the wait, and ends the
    dvm when it goes on."""
    dvm = dvms.start(nodes=1)
    live.stop(dvm.proc.pid)
    with subprocess.Popen([live.XYLEM, "dvm", "--stop"], text=True,
                          stderr=subprocess.PIPE) as stopping:
        said = stopping.stderr.readline()
        check(f"waiting for process {dvm.proc.pid} " in said, said)
        os.kill(dvm.proc.pid, signal.SIGCONT)
        check_eq("", dvms.patient(stopping.stderr.read()))
    check_eq(0, stopping.returncode)
    dvms.check_end(dvm)


def beside():
    """A session that stands still may be the one that is meant: it is listed
    with the others when no session is named, and does not prevent a client
    from reaching a named one."""
    dvm, still = dvms.start(nodes=1), dvms.start(nodes=1)
    live.stop(still.proc.pid)
    code, said = dvms.stop()
    check(code == 1 and "2 of your dvms" in said, said)
    check(f"--stop={dvm.proc.pid} " in said and
          f"process {still.proc.pid}: does not answer" in said, said)
    name = re.search(r"xylem-dvm-[0-9a-f]+", said)[0]
    run = pmix.Command("run", "--dvm=" + name, "true")
    check_eq(0, run.wait(), run.said())
    check_eq((0, ""), dvms.stop(name))
    check_eq(0, dvm.wait(), dvm.said())
    os.kill(still.proc.pid, signal.SIGCONT)
    check_eq((0, ""), dvms.stop())
    dvms.check_end(still)


def many_sessions():
    """One session among a hundred is found; clients do not wait long for those
    that do not answer."""
    dvm = dvms.start(nodes=1)
    others = []
    for number in range(100):
        other = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        other.bind(os.path.join(folder(), str(4000000 + number)))
        other.listen()
        others.append(other)
    code, said = dvms.stop()
    check(code == 1 and "101 of your dvms" in said, said)
    check_eq((0, ""), dvms.stop(dvm.proc.pid))
    for other in others:
        other.close()
    check_eq(1, dvms.stop()[0])
    check_eq([], doors(), "what nobody is behind is removed")
    dvms.check_end(dvm)


def removed():
    """The folder was removed: the dvm goes on, and can be ended."""
    dvm = dvms.start(nodes=1)
    os.unlink(os.path.join(folder(), str(dvm.proc.pid)))
    os.rmdir(folder())
    check_eq(1, dvms.stop()[0])
    dvm.proc.send_signal(signal.SIGTERM)
    dvms.check_end(dvm)


def early():
    """Clients wait for a dvm that has yet to read its hosts."""
    hosts = os.path.join(live.TMP, "hosts")
    os.mkfifo(hosts)
    dvm = pmix.Dvm("-v", "--hostfile", hosts)
    live.eventually(lambda: doors() == [str(dvm.proc.pid)], 60, "its door")
    run = pmix.Command("run", "--dvm", "-n", 1, "echo", "here")
    live.eventually(lambda: b"waiting for process" in run.said(), 60,
                    "it waits")
    with open(hosts, "w", encoding="ascii") as file:
        file.write("a\n")
    check_eq((0, b"here\n"), (run.wait(), run.shown()), run.said())
    goes_on(dvm)


def again():
    """A launch that is repeated without a host that does not connect keeps the
    clients that came before: a job waits for it, and the dvm is told to
    end."""
    gate = os.path.join(live.TMP, "gate")
    rsh = os.path.join(live.TMP, "rsh")
    os.mkfifo(gate)
    with open(rsh, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\ncase " $* " in *" bad "*) : <{gate}; exit 1;; '
                   f'esac\nexec {live.RSH} "$@"\n')
    os.chmod(rsh, 0o755)
    dvm = pmix.Dvm("-v", "--launcher", "ssh", "--rsh", rsh, "--min-nodes", 1,
                   "-H", "good,bad")
    live.eventually(lambda: doors() == [str(dvm.proc.pid)], 60, "its door")
    client = Client(dvm)
    client.welcome()
    run = pmix.Command("run", f"--dvm={dvm.proc.pid}", "-n", 1, "echo", "here")
    live.eventually(lambda: b"to start the job" in run.said(), 60, "it waits")
    with open(gate, "w", encoding="ascii"):
        pass
    check_eq((0, b"here\n"), (run.wait(), run.shown()), run.said())
    check_eq(b"", client.ask(bytes([STOP])))
    client.sock.close()
    dvms.check_end(dvm)


def killed():
    """The next session that starts removes what a killed session has left."""
    for after in ("dvm", "stop"):
        dvm = dvms.start(nodes=1)
        check_eq([str(dvm.proc.pid)], doors())
        dvm.proc.kill()
        dvm.proc.wait()
        live.check_gone(60)
        check_eq([str(dvm.proc.pid)], doors())
        if after == "stop":
            check_eq(1, dvms.stop()[0])
        else:
            dvm = dvms.start(nodes=1)
            check_eq([str(dvm.proc.pid)], doors())
            goes_on(dvm)
        check_eq([], doors())


def shut():
    """The folder is open to other users, or is a link, or a file: there is no
    door, and no tools, as their helpers connect to it. A run goes on, and says
    so with -v; a dvm says so and ends. Nothing in the folder is trusted."""
    def loose():
        os.mkdir(folder())
        os.chmod(folder(), 0o755)

    def link():
        os.mkdir(folder() + "-other", 0o700)
        os.symlink(folder() + "-other", folder())

    def file():
        with open(folder(), "w", encoding="ascii"):
            pass

    check_eq([], doors())
    os.rmdir(folder())
    for make in (loose, link, file):
        make()
        gate = pmix.Gate()
        job = pmix.Job("-v", "-N", 1, "--", "sh", "-c",
                       pmix.Gate.WAIT + "echo on", gate.path)
        live.eventually(lambda job=job: "PMIx tools cannot connect: " + SHUT
                        in job.said(), 60, "it is said")
        check("`xylem attach' cannot find this job: " + SHUT in job.said(),
              job.said())
        if make is link:
            attach = clients.Attach("--pid", job.proc.pid)
            check_eq(1, attach.wait())
            check(b"it has no socket" in attach.said(), attach.said())
        gate.open()
        check_eq(b"on\n", job.stdout.read())
        job.check_ok()
        dvm = pmix.Dvm("-N", 1)
        check_eq(1, dvm.wait(), dvm.said())
        for why in ("cannot find this dvm (SIGTERM ends it): ",
                    "PMIx tools cannot connect: "):
            check(why + SHUT in dvm.said(), dvm.said())
        check("of no use without them" in dvm.said(), dvm.said())
        check_eq(1, dvms.stop()[0])
        check_eq(1, pmix.Command("run", "--dvm", "true").wait())
        dvms.check_end(dvm, 1)
        os.rename(folder(), folder() + "-" + make.__name__)


def of_another():
    """Root reaches another user's session by its number, and no other user
    does. Without a runtime folder, or with another user's, the door lies in
    /tmp."""
    private = {"user": OTHER, "group": OTHER, "extra_groups": []}
    place = f"/tmp/xylem-{OTHER}"
    home = os.path.join("/tmp", "xylem-home-%d" % os.getpid())
    os.mkdir(home)
    os.chown(home, OTHER, OTHER)
    env = {**os.environ, "TMPDIR": home, "HOME": home}
    dvm = pmix.Dvm("-v", "-N", 1, env=env, cwd="/", **private)
    try:
        live.eventually(lambda: "jobs can be started" in dvm.said(), 60, "up")
        check_eq([str(dvm.proc.pid)], os.listdir(place))
        code, said = dvms.stop()
        check(code == 1 and "no dvm of yours" in said, said)
        wrap = ("setpriv", "--reuid=1", "--clear-groups", "env",
                "-u", "XDG_RUNTIME_DIR")
        code, said = dvms.stop(dvm.proc.pid, wrap=wrap)
        check(code == 1 and "belongs to another user" in said, said)
        run = pmix.Command("run", "--dvm=%d" % dvm.proc.pid, "id", "-u")
        check_eq((0, b"%d\n" % OTHER), (run.wait(), run.shown()), run.said())
        check_eq((0, ""), dvms.stop(dvm.proc.pid))
        check_eq(0, dvm.wait(), dvm.said())
        check_eq([], os.listdir(place))
    finally:
        if dvm.proc.poll() is None:
            dvm.proc.kill()
            dvm.proc.wait()
        for path in (place, home):
            with contextlib.suppress(OSError):
                os.rmdir(path)


def relative():
    """A TMPDIR that is not an absolute path is ignored, by launchers and
    tools."""
    gate = pmix.Gate()
    job = pmix.Job("-N", 1, "--", "sh", "-c", pmix.Gate.WAIT + "echo here",
                   gate.path, env={**os.environ, "TMPDIR": "here"})
    tool = clients.Attach("--pid", job.proc.pid, env={"TMPDIR": "there"})
    tool.wait_attached()
    gate.open()
    check_eq(b"here\n", job.stdout.read())
    job.check_ok()
    check_eq((0, b"here\n"), (tool.wait(), tool.shown()), tool.said())


def never():
    """A job that lets no tools in says so to a client that asks."""
    gate = pmix.Gate()
    job = pmix.Job("--no-pmix", "-N", 1, "--", "sh", "-c", pmix.Gate.WAIT + ":",
                   gate.path)
    live.eventually(lambda: str(job.proc.pid) in doors(), 60, "its door")
    client = Client(job)
    check_eq(bytes([WELCOME, 0]), client.ask(hello())[:2])
    said = client.ask(bytes([ADDRESS]))
    check(said[:1] == bytes([REFUSED]) and b"with --no-pmix" in said, said)
    gate.open()
    job.stdout.close()
    job.check_ok()


def can_be_other():
    """True for root, who can act as any user, when the build can be read by
    all."""
    with contextlib.suppress(OSError):
        return os.geteuid() == 0 and subprocess.run(
            ["test", "-x", live.XYLEM], check=False, user=OTHER,
            group=OTHER, extra_groups=[]).returncode == 0
    return False


def main():
    pmix.need()
    cases = [odd, many, stands_still, beside, many_sessions, removed, early,
             again, killed, shut, relative, never]
    if can_be_other():
        cases.append(of_another)
    for what in cases:
        with live.case(" ".join(what.__doc__.split())):
            what()
    live.check_gone()
    sys.exit(live.end())


if __name__ == "__main__":
    main()

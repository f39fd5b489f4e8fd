#!/usr/bin/env python3
"""Files that say where a launcher is, and lie: anybody can make some in /tmp.
They are believed only where nobody but the user can have written them; root
believes another user's of processes of that user."""
import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile

import pmix
import live
from live import check, check_eq

DVM = "xylem-dvm-0000fade"
MANY = 300  # more than are listed


class Trap:
    """Where false files lead to; a process that they say is the launcher."""

    def __init__(self, words, **as_user):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.listener.setblocking(False)
        self.victim = subprocess.Popen(
            ["sh", "-c", "read end", *words], stdin=subprocess.PIPE, **as_user)
        self.paths = []

    def text(self):
        port = self.listener.getsockname()[1]
        return f"{DVM}-server.0;tcp4://127.0.0.1:{port}\n4.2.2\n1\n0:0\nx\n"

    def forge(self, mode=0o700, uid=None, under=live.TMP, server="server"):
        """A folder as a launcher has it, and its server/."""
        path = tempfile.mkdtemp(prefix="xylem-pmix-", dir=under)
        self.paths.append(path)
        inner = os.path.join(path, server)
        os.mkdir(inner)
        for name in ("", ".1", ".%d" % self.victim.pid, "." + DVM):
            with open(os.path.join(inner, "pmix.%s.tool%s" % (
                    socket.gethostname(), name)), "w") as file:
                file.write(self.text())
        os.chmod(path, mode)
        if uid is not None:
            for folder, _, names in os.walk(path):
                for one in [folder, *(os.path.join(folder, name)
                                      for name in names)]:
                    os.chown(one, uid, -1)
        return path, inner

    def is_shut(self):
        """Nobody has come, and the process lives."""
        with contextlib.suppress(BlockingIOError):
            self.listener.accept()[0].close()
            check(False, "it has been connected to")
        check_eq(None, self.victim.poll(), "the process lives")

    def close(self):
        self.victim.kill()
        self.victim.wait()
        self.victim.stdin.close()
        self.listener.close()
        for path in self.paths:
            if os.path.islink(path):
                os.unlink(path)
            else:
                shutil.rmtree(path)


@contextlib.contextmanager
def trap(words=("/bin/xylem", "dvm"), **as_user):
    made = Trap(words, **as_user)
    try:
        yield made
    finally:
        made.close()


def fails(*words, want="", **more):
    one = pmix.Command(*words, **more)
    code = one.wait(30)
    said = one.said().decode()
    check(code == 1 and want in said, (words, code, said))


def fails_all(made):
    """Each way to name it is tried."""
    pid = made.victim.pid
    fails("attach", "--pid", pid, want=f"process {pid} is no xylem run")
    fails("attach", "--nspace", DVM, want=f"no job {DVM} runs")
    fails("attach", want="no xylem run of yours")
    for dvm in ("--dvm=%d" % pid, "--dvm=" + DVM, "--dvm"):
        fails("run", dvm, "true", want=" dvm")
    for dvm in ("--stop=%d" % pid, "--stop=" + DVM, "--stop"):
        fails("dvm", dvm, want=" dvm")
    made.is_shut()


def true_ones():
    """One that is as it should be is believed: the test knows how they are."""
    with trap() as made:
        made.forge()
        one = pmix.Command("run", "--dvm=" + DVM, "true")
        made.listener.setblocking(True)
        made.listener.accept()[0].close()
        made.listener.close()
        check_eq(1, one.wait(), one.said())


def outlived():
    """Files of a dvm that was killed, and whose process number another process
    has got: that one is left alone."""
    for words in (("dvm",), ("/bin/xylem", "run", "dvm"),
                  ("/bin/xylem", "dvm", "--stop")):
        with trap(words) as made:
            made.forge()
            for dvm in ("--dvm=%d" % made.victim.pid, "--dvm=" + DVM, "--dvm"):
                fails("run", dvm, "true", want=" dvm")
            for dvm in ("--stop=%d" % made.victim.pid, "--stop=" + DVM,
                        "--stop"):
                fails("dvm", dvm, want=" dvm")
            made.is_shut()


def loose():
    """Others can write it, or it is elsewhere, or is not a file."""
    for mode in (0o755, 0o770, 0o701):
        with trap() as made:
            made.forge(mode)
            fails_all(made)
    with trap() as made:
        path, _ = made.forge(under=tempfile.mkdtemp(dir=live.TMP))
        os.symlink(path, os.path.join(live.TMP, "xylem-pmix-link"))
        made.paths.append(os.path.join(live.TMP, "xylem-pmix-link"))
        fails_all(made)
    with trap() as made:
        path, inner = made.forge(server="else")
        os.symlink(inner, os.path.join(path, "server"))
        fails_all(made)
    for is_pipe in (False, True):
        with trap() as made:
            _, inner = made.forge()
            for name in os.listdir(inner):
                one = os.path.join(inner, name)
                os.rename(one, os.path.join(made.paths[0], name))
                if is_pipe:
                    os.mkfifo(one)
                else:
                    os.symlink(os.path.join(made.paths[0], name), one)
            fails_all(made)


def strangers():
    """Another user's are not believed, whatever they say, and many of them do
    not keep the user from those that are true."""
    other = pwd.getpwnam("nobody").pw_uid
    with trap() as made:
        made.forge(0o755, other)
        fails_all(made)
        for _ in range(MANY):
            made.forge(uid=other)
        fails_all(made)
        dvm = pmix.Dvm("-v", "-N", 1)
        dvm.wait_up()
        check_eq(0, pmix.Command("run", "--dvm", "true").wait())
        check_eq(0, pmix.Command("run", f"--dvm={dvm.proc.pid}", "true").wait())
        check_eq(0, pmix.Command("dvm", "--stop").wait())
        check_eq(0, dvm.wait())
        made.is_shut()


def of_root():
    """Root can name another user's, by a process of that user or by the name of
    a job that no third user claims."""
    user = pwd.getpwnam("nobody")
    as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    third = pwd.getpwnam("daemon").pw_uid
    with tempfile.TemporaryDirectory(dir="/tmp") as path, \
            trap(user=third) as made:
        os.chown(path, user.pw_uid, user.pw_gid)
        gate = os.path.join(path, "gate")
        os.mkfifo(gate)
        os.chown(gate, user.pw_uid, -1)
        job = pmix.Job("-v", "-N", 1, "--", "sh", "-c",
                       pmix.Gate.WAIT + "echo here", gate, cwd="/",
                       env={**os.environ, "TMPDIR": path, "HOME": path},
                       **as_user)
        pmix.wait_up(job, path)
        pid = job.proc.pid
        with open(pmix.rendezvous(job, path), encoding="ascii") as file:
            name = file.read().partition("-server.")[0]
        made.forge(uid=user.pw_uid, under=path)  # of a process of a third one
        fails("attach", "--nspace", DVM, want="no job", env={"TMPDIR": path})
        tools = [pmix.attached(*words, TMPDIR=path)
                 for words in (("--pid", pid), ("--nspace", name))]
        fails("attach", want="no xylem run of yours", env={"TMPDIR": path})
        _, inner = made.forge(uid=third, under=path)
        head = os.path.join(inner, f"pmix.{socket.gethostname()}.tool.")
        os.rename(head + DVM, head + name)
        fails("attach", "--nspace", name, want="several users have",
              env={"TMPDIR": path})
        with open(gate, "w", encoding="ascii"):
            check_eq(b"here\n", job.stdout.read())
        job.check_ok()
        for tool in tools:
            check_eq((0, b"here\n"), (tool.wait(), tool.shown()), tool.said())
        made.is_shut()


def relative():
    """A TMPDIR that is no path from / is none, for launchers and tools."""
    gate = pmix.Gate()
    job = pmix.Job("-N", 1, "--", "sh", "-c", pmix.Gate.WAIT + "echo here",
                   gate.path, env={**os.environ, "TMPDIR": "here"})
    tool = pmix.Attach("--pid", job.proc.pid, TMPDIR="there")
    tool.wait_attached()
    gate.open()
    check_eq(b"here\n", job.stdout.read())
    job.check_ok()
    check_eq((0, b"here\n"), (tool.wait(), tool.shown()), tool.said())


def can_be_other():
    """Is it root, and the build open to all?"""
    return os.geteuid() == 0 and subprocess.run(
        ["test", "-x", live.XYLEM], check=False, user="nobody",
        extra_groups=[]).returncode == 0


def main():
    pmix.need()
    cases = [true_ones, outlived, loose, relative]
    if os.geteuid() == 0:
        cases.append(strangers)
    if can_be_other():
        cases.append(of_root)
    for what in cases:
        with live.case(" ".join(what.__doc__.split())):
            what()
    live.check_gone()
    sys.exit(live.end())


if __name__ == "__main__":
    main()

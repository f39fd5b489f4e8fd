#!/usr/bin/env python3
"""Which tools may connect, and what happens when tools come and go, die, or
are refused: no job loses a byte, and the launcher with its helper grows by 32
MiB at most.
"""
# timeout: 400
import contextlib
import os
import pwd
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import pmix
import live
import spawning

RANKS = 4
LINES = 20000
ROUNDS = live.full(1000, 72)  # there is room for 64 at a time
GROWTH_MIB = 32
RESERVE = 4  # descriptors of the launcher for a helper
FILES = ("PMIX_LAUNCHER_RNDZ_FILE", "PMIX_LAUNCHER_RENDEZVOUS_FILE")
WRITE = 'seq -f "$XYLEM_RANK %%08.0f" %d' % LINES


def rss_kib(pid):
    found = re.search(rb"VmRSS:\s+(\d+)", live.read_proc(pid, "status") or b"")
    return int(found[1]) if found else 0


class Run:
    """A job whose processes write when they may, and whose output is read."""

    def __init__(self, *options, command=WRITE, voice=("-v",), **more):
        self.gate = pmix.Gate()
        self.job = pmix.Job(*voice, "-N", RANKS, *options, "--", "sh", "-c",
                            pmix.Gate.WAIT + command, self.gate.path, **more)
        self.out = b""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        self.out = self.job.stdout.read()

    def wait_up(self):
        pmix.wait_up(self.job)
        return self

    def uri(self):
        return re.findall(r"connect to (\S+), or", self.job.said())[-1]

    def rss_mib(self):
        """Memory of the launcher and its helper."""
        pids = [self.job.proc.pid, pmix.helper_of(self.job)]
        return sum(rss_kib(pid) for pid in pids if pid) / 1024

    def check_growth(self, before):
        """A sanitizer keeps what was freed, so it says nothing there."""
        grown = self.rss_mib() - before
        live.check(grown < GROWTH_MIB or live.is_sanitized(),
                   "%.1f MiB more" % grown)

    def end(self):
        self.gate.open()
        self.job.check_ok()
        self.reader.join()
        lines = self.out.splitlines()
        for rank in range(RANKS):
            mine = [line for line in lines
                    if line.startswith(b"%d " % rank)]
            live.check(mine == [b"%d %08d" % (rank, n)
                                for n in range(1, LINES + 1)],
                       "rank %d: %d lines" % (rank, len(mine)))


def many():
    """Tools connect and leave, one after the other and several at once."""
    run = Run().wait_up()
    before = None
    left = ROUNDS
    while left > 0:
        tools = [pmix.Asker(run.job) for _ in range(min(left, 4))]
        for tool in tools:
            live.check(tool.connect(), "connected")
        for tool in tools:
            live.check_eq(0, tool.end())
        left -= len(tools)
        before = before or run.rss_mib()
    run.check_growth(before)
    run.end()
    live.check("was disconnected" not in run.job.said(), run.job.said())


def draw():
    """Chance, with a seed of its own or that of the environment."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().getrandbits(32))
    print("# SEED=%d" % seed)
    return random.Random(seed)


def greet(port, name=None):
    """What the library of a tool says first, but without the library: a header
    (of which the length counts), how it proves who it is, what it is, whose,
    its name if it has one, and how it packs what follows."""
    who = os.getuid(), os.getgid()
    said = b"native\0" + struct.pack("!I", 8) + struct.pack("=II", *who)
    said += bytes([4 if name else 3]) + struct.pack("!II", *who)
    if name:
        said += name + b"\0" + struct.pack("!I", 0)
    said += b"4.2.2\0" + b"v41\0" + b"\1" + b"hash\0"
    sock = socket.create_connection(("127.0.0.1", port))
    sock.sendall(struct.pack("=iIII", -1, 0, len(said), 0) + said)
    return sock


def answer(sock):
    """The name that it was given; None when it was not let in."""
    sock.settimeout(60 * live.SLOW)
    try:
        if sock.recv(4, socket.MSG_WAITALL) != bytes(4):
            return None
        return sock.recv(256, socket.MSG_WAITALL).rstrip(b"\0")
    except ConnectionError:
        return None


def let_in(port, name=None):
    """A greeting that is answered: one whose words come half a second after it
    has connected, on a machine that stands still, is cut off."""
    for _ in range(20):
        with contextlib.suppress(ConnectionError):
            sock = greet(port, name)
            if answer(sock):
                return sock
            sock.close()
    raise ConnectionError("no greeting was answered")


def files_of(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def broken_off():
    """Tools die between their greeting and the last byte of the answer, some of
    them at the moment that libpmix dies of: nothing is left behind, and the
    user, who has not asked to know all, hears nothing."""
    chance = draw()
    run = Run(voice=())
    live.eventually(lambda: pmix.is_up(run.job), pmix.CONNECT_S, "it is up")
    launcher, port = pmix.server(run.job)
    with let_in(port):
        before = files_of(launcher)
    for _ in range(live.full(4000, 300)):
        with contextlib.suppress(ConnectionResetError), greet(port):
            end = time.perf_counter() + chance.random() * 0.002
            while time.perf_counter() < end:
                pass
    tool = pmix.Asker(run.job)
    live.check(tool.connect(), "a tool is let in")
    check_alone(run.job, launcher, before)
    tool.end()
    run.end()
    live.check("was disconnected" not in run.job.said(), run.job.said())


def check_alone(job, launcher, before):
    """One tool is left, with its helper, and the one in reserve, which may not
    have come to the door yet when the descriptors before were counted."""
    live.eventually(lambda: len(pmix.helpers_of(job)) == 2, 60, "helpers")
    live.eventually(lambda: files_of(launcher) <= before + RESERVE, 60,
                    "descriptors")


def refused():
    """Tools are refused, more of them than may be there: nothing is left."""
    run = Run().wait_up()
    launcher, port = pmix.server(run.job)
    with let_in(port, b"mine"):
        before = files_of(launcher)
        for _ in range(200):
            with contextlib.suppress(ConnectionResetError), \
                    greet(port, b"mine") as sock:
                if not live.check_eq(None, answer(sock), "its name is taken"):
                    break
        check_alone(run.job, launcher, before)
    tool = pmix.Asker(run.job)
    live.check(tool.connect(), "another one is let in")
    tool.end()
    run.end()


def killed_at():
    """A tool is killed before it connects, when it is in, when it has asked for
    output, when that is answered, and with its first output in hand; another
    tool has all of it."""
    stay = pmix.Gate()
    run = Run(command=f'{WRITE}; : <"{stay.path}"').wait_up()
    other = pmix.ready(run.job, "-n", 2 * RANKS)
    helper = pmix.helper_of(run.job)
    for point in ("begin", "connect", "request", "register"):
        tool = pmix.Tool(run.job, "-K", point)
        live.check_eq(-signal.SIGKILL, tool.wait(60), point)
        live.check_eq(helper, pmix.helper_of(run.job), "that of the other one")
    tool = pmix.Tool(run.job, "-K", "first")
    tool.wait_ready()
    run.gate.open()
    live.check_eq(-signal.SIGKILL, tool.wait(60), "first")
    pmix.wait_taken(other, RANKS * LINES * len("0 00000001\n"))
    stay.open()
    live.check_eq(0, other.wait(60), "the other one")
    for rank in range(RANKS):
        live.check(other.got(rank, "stdout") == b"".join(
            b"%d %08d\n" % (rank, n) for n in range(1, LINES + 1)),
            "all of rank %d" % rank)
    live.check_eq(0, other.dropped())
    run.end()


def idle():
    """Hundreds say nothing, at once: a tool gets in while they are there, and
    after, and they take few descriptors."""
    run = Run().wait_up()
    launcher, port = pmix.server(run.job)
    reserve = pmix.helpers_of(run.job)
    with contextlib.ExitStack() as open_:
        for _ in range(600):
            open_.enter_context(socket.create_connection(("127.0.0.1", port)))
            live.check(files_of(launcher) < 200, "descriptors")
        live.check_eq(reserve, pmix.helpers_of(run.job), "none has a helper")
        check_lets_in(run.job)
    check_lets_in(run.job)
    run.end()
    live.check("was disconnected" not in run.job.said(), run.job.said())


def check_lets_in(job):
    tool = pmix.Asker(job)
    if live.check(tool.connect(), "a tool is let in"):
        live.check_eq(0, tool.end())
    else:
        tool.proc.kill()


def killed_tools():
    """Tools are killed at any time while they connect, when they are in, and
    while they are sent output."""
    chance = draw()
    run = Run().wait_up()
    before = run.rss_mib()
    for _ in range(live.full(100, 4)):
        tool = pmix.Tool(run.job)
        time.sleep(chance.random() * 0.1)  # sleep-ok: the time is the subject
        tool.proc.kill()
        tool.proc.wait()
    live.eventually(lambda: pmix.helper_of(run.job), 60, "a helper")
    for _ in range(3):
        asker = pmix.Asker(run.job)
        if asker.connect():
            asker.tell("crash")
        asker.proc.wait()
    tools = [pmix.Tool(run.job) for _ in range(3)]
    for tool in tools:
        live.eventually(lambda tool=tool: tool.has("ready") or
                        tool.proc.poll() is not None, 60, "registered")
    run.gate.open()
    for tool in tools:
        live.eventually(lambda tool=tool: tool.got(0, "stdout") or
                        tool.proc.poll() is not None, 60, "output")
        tool.proc.kill()
        tool.proc.wait()
    if run.job.proc.poll() is None and pmix.helper_of(run.job):
        run.check_growth(before)
    run.end()


def killed_helper():
    """The helper is killed while it starts, as soon as tools can connect, while
    one does, and while output goes to one."""
    stay = pmix.Gate()  # when all is written the job does not end yet
    run = Run(command=WRITE + "; : <" + stay.path)
    pmix.kill_helper(run.job)
    for phase in ("up", "connecting", "registered"):
        run.wait_up()
        tool = None if phase == "up" else pmix.Tool(run.job)
        if phase == "registered":
            tool.wait_ready()
            run.gate.open()
            live.eventually(lambda t=tool: t.got(0, "stdout"), 60, "output")
        pmix.kill_helper(run.job)
        if tool is not None:
            # Its library may wait for ever for a server that died meanwhile.
            tool.proc.kill()
            tool.proc.wait()
    stay.open()
    run.end()


def nobody_of(path):
    """The arguments of a Popen for another user, who can use `path`."""
    user = pwd.getpwnam("nobody")
    os.chown(path, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def can_run_as(other):
    return subprocess.run(["test", "-x", live.XYLEM], check=False,
                          **other).returncode == 0


def copy_of_tool(path):
    """A copy in a folder that others can read, whether or not they may read
    the build. libtool has the program itself in .libs."""
    folder, name = os.path.split(pmix.ASK)
    program = os.path.join(folder, ".libs", name)
    return shutil.copy(program if os.path.exists(program) else pmix.ASK, path)


def others():
    """A tool of another user is refused, though it has the address."""
    with tempfile.TemporaryDirectory(dir="/tmp") as path:
        other = nobody_of(path)
        command = [copy_of_tool(path), "-u"]
        run = Run().wait_up()
        tool = pmix.Asker(run.job, command=[*command, run.uri()], cwd="/",
                          env={**os.environ, "TMPDIR": path}, **other)
        live.check_eq(None, tool.connect())
        live.check(tool.end() != 0, "it ends")
        live.eventually(lambda: "its user may not connect" in
                        run.job.said(), 60, "it was refused")
        tool = pmix.Asker(run.job)
        live.check(tool.connect(), "one of ours is let in")
        tool.end()
        run.end()


def allowed():
    """--pmix-allow narrows it: root's tools are not let in, the user's are."""
    xylem = [live.XYLEM, "run", "--pmix-allow"]
    for users in ("no-such-user", "daemon", "", ","):
        done = subprocess.run([*xylem, users, "true"], capture_output=True,
                              text=True, check=False)
        live.check_eq(2, done.returncode, users)
        live.check("--pmix-allow" in done.stderr, done.stderr)
    with tempfile.TemporaryDirectory(dir="/tmp") as path:
        other = nobody_of(path)
        if not can_run_as(other):
            raise live.LeftOut("the build is not for others to read")
        env = {**os.environ, "TMPDIR": path, "HOME": path}
        job = pmix.Job("-v", "-N", 1, "--pmix-allow", "nobody", "--", "sleep",
                       "1000", cwd="/", env=env, **other)
        pmix.wait_up(job, path)
        uri = re.findall(r"connect to (\S+), or", job.said())[-1]
        tool = pmix.Asker(job, "-u", uri)
        live.check_eq(None, tool.connect(), "root")
        tool.end()
        tool = pmix.Asker(job, "-u", uri, cwd="/", env=env, **other)
        live.check(tool.connect(), "the job's user")
        tool.end()
        job.proc.terminate()
        job.proc.wait()


def file():
    """The rendezvous file that the environment names appears whole, works,
    goes with the job, and does not take the place of another."""
    for name in FILES:
        path = os.path.join(live.TMP, "file-" + name)
        run = Run(env={**os.environ, name: path})
        live.eventually(lambda path=path: os.path.exists(path), 60, path)
        live.check_eq(0o600, os.stat(path).st_mode & 0o777)
        tool = pmix.Asker(run.job, "-f", path)
        live.check(tool.connect(), "by the file")
        tool.end()
        run.end()
        live.check(not os.path.exists(path), "it goes with the job")
    with open(path, "w", encoding="ascii") as mine:
        mine.write("mine\n")
    run = Run(env={**os.environ, name: path}).wait_up()
    run.end()
    live.check("it exists already and is not overwritten" in run.job.said(),
               run.job.said())
    with open(path, encoding="ascii") as mine:
        live.check_eq("mine\n", mine.read())


def killed_file():
    """What a launcher has left that was killed is no hindrance; what stands
    there at the end and is another's stays."""
    path = os.path.join(live.TMP, "file-killed")
    run = Run(env={**os.environ, FILES[0]: path})
    live.eventually(lambda: os.path.exists(path), 60, path)
    run.job.proc.kill()
    run.job.wait()
    live.check_gone(60)
    live.check(os.path.exists(path), "it is left")
    run = Run(env={**os.environ, FILES[0]: path}).wait_up()
    tool = pmix.Asker(run.job, "-f", path)
    live.check(tool.connect(), "by the file")
    tool.end()
    live.check("it exists already and is not overwritten" not in
               run.job.said(), run.job.said())
    with open(path + "-other", "w", encoding="ascii") as other:
        other.write("mine\n")
    os.rename(path + "-other", path)
    run.end()
    live.check_eq(b"mine\n", live.read_file(path))


def cleared():
    """What a tool or a host above has told the launcher reaches neither its
    processes, nor those that a tool starts; also while the server runs, which
    could not begin with these."""
    above = {"PMIX_LAUNCHER_RNDZ_URI": "x.0;tcp4://127.0.0.1:1",
             "PMIX_KEEPALIVE_PIPE": "99", "PMIX_RANK": "3",
             "PMIX_NAMESPACE": "above", "PMIX_SERVER_URI41": "x"}
    for name in FILES:
        above[name] = os.path.join(live.TMP, "above-" + name)
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", 2, "--", "sh", "-c",
                   pmix.Gate.WAIT + "env | grep ^PM; echo end", gate.path,
                   env={**os.environ, **above})
    path = above[FILES[0]]
    live.eventually(lambda: os.path.exists(path), 60, path)
    live.check(not os.path.exists(above[FILES[1]]), "one file is enough")
    tool = spawning.connect(job)
    space, status = tool.spawn("!pmix.fwd.stdout -- 1 env")
    live.check_eq("SUCCESS", status)
    tool.do("events " + space)
    tool.wait_event("JOB ENDED", space)
    tool.end()
    live.check("PATH=" in tool.shown(), tool.shown())
    live.check("\nPM" not in "\n" + tool.shown(), tool.shown())
    gate.open()
    live.check_eq(b"end\n" * 2, job.stdout.read())
    job.check_ok()


def main():
    pmix.need()
    tests = [(many, "tools come and go"),
             (broken_off, "greetings are broken off"),
             (refused, "tools are refused"),
             (killed_at, "tools are killed at each point"),
             (idle, "hundreds that say nothing"),
             (killed_tools, "tools are killed"),
             (killed_helper, "the helper is killed"),
             (file, "the rendezvous file of a launcher"),
             (killed_file, "the file of a launcher that was killed"),
             (cleared, "variables of a host above the launcher")]
    if os.geteuid() == 0:
        tests += [(others, "another user's tool"), (allowed, "--pmix-allow")]
    for test, sentence in tests:
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

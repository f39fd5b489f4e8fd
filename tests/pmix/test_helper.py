#!/usr/bin/env python3
"""Each tool has a helper, which may die, hang or be missing: neither the job
nor another tool notices."""
import contextlib
import ctypes
import glob
import os
import re
import resource
import shutil
import signal
import socket
import struct
import sys
import time

import pmix
import live

RANKS = 4
SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
WRITE = "seq -f \"$XYLEM_RANK %08.0f\" 20000"
CUT = ("a PMIx tool was disconnected: the helper xylem-pmix was killed by "
       "signal %d")
HEAD = struct.Struct("=iIII")  # of a message of libpmix


def start(*options, command=WRITE, **more):
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", RANKS, *options, "--", "sh", "-c",
                   pmix.Gate.WAIT + command, gate.path, **more)
    return job, gate


def check_lines(text, count=20000):
    lines = text.splitlines()
    for rank in range(RANKS):
        mine = [line for line in lines if line.startswith(b"%d " % rank)]
        live.check(mine == [b"%d %08d" % (rank, n)
                            for n in range(1, count + 1)], "rank %d" % rank)


def check_output(job):
    check_lines(job.stdout.read())
    job.check_ok()


def helper_for(job, others):
    """The helper in reserve, which gets the next tool."""
    live.eventually(lambda: len(pmix.helpers_of(job)) == others + 1, 60,
                    "one in reserve")
    return pmix.helpers_of(job)[-1]


def victim(job, others):
    """A tool, and its helper."""
    helper = helper_for(job, others)
    return pmix.ready(job), helper


def check_cut(job, others):
    """A helper is ended by each signal that a crash of libpmix causes, and by
    SIGKILL."""
    for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS,
                   signal.SIGILL, signal.SIGFPE, signal.SIGKILL):
        before = job.said().count(CUT % number)
        tool, helper = victim(job, others)
        os.kill(helper, number)
        live.check_eq(0, tool.wait(), f"cut off by {number}")
        live.eventually(lambda n=number, b=before:
                        job.said().count(CUT % n) == b + 1, 60, "told once")


def rubbish():
    """Bytes that are no greeting: of a length that does not come, empty, too
    large for the memory, with nonsense in them, cut in two, and no message at
    all."""
    yield HEAD.pack(-1, 0, 100, 0)
    yield HEAD.pack(-1, 0, 0, 0)
    yield HEAD.pack(-1, 0, 0x7fffffff, 0) + bytes(live.MIB)
    yield HEAD.pack(-1, 0, 0xffffffff, 0) + bytes(4096)
    yield HEAD.pack(-1, 0, 256, 0) + bytes(range(256))
    yield HEAD.pack(-1, 0, 256, 0) + b"native\0" + b"\xff" * 249
    yield HEAD.pack(7, 9, 64, 0) + b"\xff" * 64
    yield b"GET / HTTP/1.0\r\n\r\n"
    yield b"\xff" * 4096


def check_rubbish(job, others):
    # libpmix reads more of it than has come, which a sanitizer sees.
    for word in () if live.is_sanitized() else rubbish():
        with contextlib.suppress(OSError), socket.create_connection(
                ("127.0.0.1", port_of(job))) as sock:
            sock.sendall(word)
    helper_for(job, others)


def crashed():
    """A helper ends in each way in which libpmix is known to crash, before the
    job writes, between, and after: it takes its own tool along. Two others
    have every byte, and so has the console."""
    first, count = 5000, 20000
    gates = pmix.Gate(), pmix.Gate(), pmix.Gate()
    number = "seq -f \"$XYLEM_RANK %08.0f\""
    job = pmix.Job("-v", "-N", RANKS, "--", "sh", "-c",
                   f"{pmix.Gate.WAIT} {number} {first}; : <\"$1\";"
                   f"{number} {first + 1} {count}; : <\"$2\"",
                   *(gate.path for gate in gates))
    pmix.wait_up(job)
    helpers = []
    tools = []
    for nth in range(2):
        helpers.append(helper_for(job, nth))
        tools.append(pmix.ready(job, "-n", 2 * RANKS))
    text = b""
    for lines, gate in ((first, gates[0]), (count, gates[1]), (0, gates[2])):
        check_cut(job, len(tools))
        check_rubbish(job, len(tools))
        asker = pmix.Asker(job)
        live.check(asker.connect(), "one that kills itself")
        asker.tell("crash")
        asker.proc.wait()
        helper_for(job, len(tools))
        live.check_eq(helpers, pmix.helpers_of(job)[:2], "those of the others")
        gate.open()
        if lines > 0:
            text += job.stdout.read(RANKS * lines * 11 - len(text))
            for tool in tools:
                pmix.wait_taken(tool, RANKS * lines * 11)
    live.check_eq(b"", job.stdout.read(), "the console has no more")
    check_lines(text, count)
    job.check_ok()
    for tool in tools:
        live.check_eq(0, tool.wait())
        live.check_eq(0, tool.dropped())
        for rank in range(RANKS):
            check_tool(tool, rank, count)


def limits_of(pid):
    """The soft ones, by their names."""
    text = (live.read_proc(pid, "limits") or b"").decode()
    return {row[0]: row[1] for row in
            (re.split(r" {2,}", line) for line in text.splitlines())}


def check_limits(pid):
    limits = limits_of(pid)
    live.check_eq("512", limits["Max open files"])
    live.check_eq("0", limits["Max core file size"])
    if not live.is_sanitized():  # that maps more than it ever uses
        live.check_eq(str(1 << 30), limits["Max address space"])


def killed_quietly():
    """The helper in reserve dies, without -v: the user gets no message."""
    gate = pmix.Gate()
    job = pmix.Job("-N", RANKS, "--", "sh", "-c", pmix.Gate.WAIT + WRITE,
                   gate.path)
    for _ in range(2):
        live.eventually(lambda: pmix.is_up(job) and pmix.helper_of(job), 30,
                        "the helper is up")
        tool = pmix.Asker(job)  # the next one has come up, too
        live.check(tool.connect(), "connected")
        check_limits(pmix.helper_of(job))
        live.check_eq(0, tool.end(), "the tool")
        reserve = helper_for(job, 0)
        os.kill(reserve, signal.SIGKILL)
        live.eventually(lambda r=reserve: pmix.helper_of(job) not in (None, r),
                        30, "another helper")
    gate.open()
    check_output(job)
    live.check_eq(1, len(job.said().splitlines()), job.said())


def untaken():
    """A helper that was given a tool and dies before it takes it, as it does
    where it was killed a moment before: the next one serves the tool."""
    job, gate = start()
    pmix.wait_up(job)
    reserve = helper_for(job, 0)
    live.stop(reserve)
    tool = pmix.Tool(job, "-n", 2 * RANKS)
    live.eventually(lambda: len(pmix.helpers_of(job)) > 1, 60,
                    "the tool was given away")
    with contextlib.suppress(ProcessLookupError):  # it is ended as it hangs
        os.kill(reserve, signal.SIGKILL)
    tool.wait_ready()
    gate.open()
    check_output(job)
    live.check_eq(0, tool.wait())
    for rank in range(RANKS):
        check_tool(tool, rank, 20000)
    live.check("was disconnected" not in job.said(), job.said())


def trace(request, tid):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    return libc.ptrace(request, tid, 0, 0) == 0


def stop_library(pid):
    """Stops all of its threads but the first one, which goes on: these, or
    None where nothing can be traced."""
    threads = [int(tid) for tid in os.listdir(f"/proc/{pid}/task")
               if int(tid) != pid]
    if all(trace(SEIZE, tid) and trace(INTERRUPT, tid) for tid in threads):
        return threads
    return None


def still():
    """The library takes nothing for a while: neither the job nor the console
    waits for it, and the tool gets everything then. It is more than is on its
    way to the helper, and less than what is written before it counts as
    deaf."""
    first, count = 1000, 80000
    gates = pmix.Gate(), pmix.Gate(), pmix.Gate()
    number = "seq -f \"$XYLEM_RANK %08.0f\""
    job = pmix.Job("-v", "-N", RANKS, "--", "sh", "-c",
                   f"{pmix.Gate.WAIT} {number} {first}; : <\"$1\";"
                   f"{number} {first + 1} {count}; : <\"$2\"",
                   *(gate.path for gate in gates))
    pmix.wait_up(job)
    tool = pmix.Tool(job, "-n", 2 * RANKS)
    tool.wait_ready()
    gates[0].open()
    live.eventually(lambda: tool.taken() == RANKS * first * 11, 30,
                    "the tool has the first lines")
    helper = pmix.helper_of(job)
    threads = stop_library(helper)
    if threads is None:
        print("# left out: no tracing here: the library is not stopped")
    for tid in threads or ():
        os.waitpid(tid, WALL)
    gates[1].open()
    text = job.stdout.read(RANKS * count * 11)
    live.check_eq(helper, pmix.helper_of(job), "it was not replaced:")
    for tid in threads or ():
        live.check(trace(DETACH, tid), "a thread goes on")
    check_lines(text, count)
    pmix.wait_taken(tool, RANKS * count * 11)
    gates[2].open()
    job.check_ok()
    live.check_eq(0, tool.wait())
    for rank in range(RANKS):
        check_tool(tool, rank, count)


def paused():
    """The launcher is stopped while the job writes, and goes on: its tools
    stay, and miss nothing. It is no more than it keeps for a helper that gets
    no processor meanwhile."""
    parts, count = 4, 80000
    gates = [pmix.Gate() for _ in range(parts + 1)]
    each = count // parts
    number = "seq -f \"$XYLEM_RANK %08.0f\""
    job = pmix.Job("-v", "-N", RANKS, "--", "sh", "-c", "".join(
        f': <"${{{nth}}}"; {number} {nth * each + 1} {(nth + 1) * each};'
        for nth in range(parts)) + f': <"${{{parts}}}"',
        *(gate.path for gate in gates))
    pmix.wait_up(job)
    tool = pmix.ready(job, "-n", 2 * RANKS)
    helpers = pmix.helpers_of(job)[:1]
    text = b""
    for nth in range(parts):
        live.stop(job.proc.pid)
        gates[nth].open()
        time.sleep(1.5)  # sleep-ok: standing still is the test
        job.proc.send_signal(signal.SIGCONT)
        text += job.stdout.read(RANKS * each * 11)
        pmix.wait_taken(tool, RANKS * (nth + 1) * each * 11)
    live.check_eq(helpers, pmix.helpers_of(job)[:1], "its helper")
    gates[parts].open()
    live.check_eq(b"", job.stdout.read(), "the console has no more")
    job.check_ok()
    check_lines(text, count)
    live.check_eq(0, tool.wait())
    live.check_eq(0, tool.dropped())
    for rank in range(RANKS):
        check_tool(tool, rank, count)


def check_tool(tool, rank, count):
    live.check((tool.got(rank, "stdout") or b"").splitlines() ==
               [b"%d %08d" % (rank, n) for n in range(1, count + 1)],
               "the tool has all of rank %d" % rank)


def port_of(job):
    return int(re.search(r"connect to .*:(\d+), or", job.said())[1])


def silent():
    """A connection that says nothing, or only a part of a head, is shut out,
    and gets no helper."""
    job, gate = start()
    pmix.wait_up(job)
    helpers = pmix.helpers_of(job)
    for word in (b"", b"\0", bytes(HEAD.size - 1)):
        with socket.create_connection(("127.0.0.1", port_of(job))) as sock:
            sock.sendall(word)
            sock.settimeout(30 * live.SLOW)
            try:
                live.check_eq(b"", sock.recv(1), word)
            except ConnectionResetError:
                pass  # with bytes that were not read
            except TimeoutError:
                live.check(False, "%r: nobody looks" % word)
    live.check_eq(helpers, pmix.helpers_of(job))
    gate.open()
    check_output(job)


def starved():
    """The launcher has no descriptors left for a while: a tool waits."""
    job, gate = start()
    pmix.wait_up(job)
    pid = job.proc.pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    most = max(int(fd) for fd in os.listdir("/proc/%d/fd" % pid))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, hard))
    with contextlib.ExitStack() as open_:
        for _ in range(most):
            open_.enter_context(
                socket.create_connection(("127.0.0.1", port_of(job))))
            if "too many open files" in job.said():
                break
        live.eventually(lambda: "PMIx tools have to wait: too many open "
                        "files (ulimit -n)" in job.said(), 60, "it is said")
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
    tool = pmix.ready(job, "-n", 2 * RANKS)
    gate.open()
    check_output(job)
    live.check_eq(0, tool.wait())
    for rank in range(RANKS):
        check_tool(tool, rank, 20000)


def stopped():
    """The helper of one tool hangs while output is wanted: it delays no other,
    and its tool has all of it when it goes on."""
    stay, count = pmix.Gate(), 200000
    job, gate = start(command='seq -f "$XYLEM_RANK %%08.0f" %d; : <"%s"' %
                      (count, stay.path))
    pmix.wait_up(job)
    slow, helper = pmix.ready(job, "-n", 2 * RANKS), pmix.helper_of(job)
    other = pmix.ready(job, "-n", 2 * RANKS)
    os.kill(helper, signal.SIGSTOP)
    gate.open()
    check_lines(job.stdout.read(RANKS * count * 11), count)
    pmix.wait_taken(other, RANKS * count * 11)
    os.kill(helper, signal.SIGCONT)
    pmix.wait_taken(slow, RANKS * count * 11)
    stay.open()
    live.check_eq(b"", job.stdout.read())
    job.check_ok()
    for tool in (slow, other):
        live.check_eq(0, tool.wait())
        live.check_eq(0, tool.dropped())
        for rank in range(RANKS):
            check_tool(tool, rank, count)
    live.check("was disconnected" not in job.said(), job.said())


def hung():
    """A helper that hangs for good does not keep the session from its end."""
    job, gate = start()
    pmix.wait_up(job)
    hangs, helper = pmix.ready(job), pmix.helper_of(job)
    tool = pmix.ready(job, "-n", 2 * RANKS)
    os.kill(helper, signal.SIGSTOP)
    gate.open()
    check_output(job)
    live.check_eq(0, tool.wait())
    for rank in range(RANKS):
        check_tool(tool, rank, 20000)
    live.check_eq(0, hangs.wait(), "its server has gone")


def strangers():
    """Connections that say nothing, or rubbish, do not keep a tool out."""
    job, gate = start()
    pmix.wait_up(job)
    port = port_of(job)
    with contextlib.ExitStack() as open_:
        for word in (b"", b"", b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 64):
            sock = open_.enter_context(
                socket.create_connection(("127.0.0.1", port)))
            with contextlib.suppress(OSError):
                sock.sendall(word)
        live.eventually(lambda: pmix.helper_of(job), 30, "a helper")
        tool = pmix.Tool(job)
        if not tool.wait_ready():
            print("#", tool.proc.stderr.read().decode(), job.said())
    gate.open()
    check_output(job)
    tool.wait()


def none():
    """--no-pmix, and a helper that is not there."""
    job, gate = start("--no-pmix")
    gate.open()
    live.check(pmix.helper_of(job) is None, "there is a helper")
    check_output(job)
    live.check("PMIx" not in job.said(), job.said())
    env = {**os.environ, "XYLEM_PMIX": "/nowhere/xylem-pmix"}
    job, gate = start(env=env)
    gate.open()
    check_output(job)
    live.check("built without PMIx" in job.said(), job.said())


def slow_start():
    """A helper never comes up: a job that is over before it would be started
    has not started it, and a longer one runs to its end beside it."""
    path = os.path.join(live.TMP, "hangs")
    with open(path, "w", encoding="ascii") as script:
        script.write('#!/bin/sh\n: >"$MARK"\nexec sleep 1000\n')
    os.chmod(path, 0o700)
    for nth in range(10):  # it is due after 0.2 s: a busy machine takes longer
        mark = os.path.join(live.TMP, "mark-%d" % nth)
        env = {**os.environ, "XYLEM_PMIX": path, "MARK": mark}
        begin = time.monotonic()
        pmix.Job("-N", 1, "--", "true", env=env).check_ok()
        if time.monotonic() - begin < 0.2:
            live.check(not os.path.exists(mark), "it was started")
            break
    else:
        print("# no job was over in time")
    mark = os.path.join(live.TMP, "mark")
    job, gate = start(env={**env, "MARK": mark})
    live.eventually(lambda: os.path.exists(mark), 60, "it is started")
    gate.open()
    check_output(job)


def orphaned():
    """The launcher is killed, when its helper has started or has yet to start:
    the next session that comes removes its folder."""
    def folders():
        return glob.glob(os.path.join(live.TMP, "xylem-pmix-*"))
    job, gate = start()
    pmix.wait_up(job)
    live.check_eq(1, len(folders()))
    job.proc.kill()
    job.proc.wait()
    gate.open()
    live.check_gone()
    pmix.Job("-N", 1, "--", "true").check_ok()
    live.check_eq([], folders())
    mark, path = (os.path.join(live.TMP, name) for name in ("mark-o", "waits"))
    with open(path, "w", encoding="ascii") as script:
        script.write('#!/bin/sh\n: >"$MARK"\nexec cat <&3 >/dev/null\n')
    os.chmod(path, 0o700)
    job, gate = start(env={**os.environ, "XYLEM_PMIX": path, "MARK": mark})
    live.eventually(lambda: os.path.exists(mark), 60, "it is started")
    job.proc.kill()
    job.proc.wait()
    gate.open()
    live.check_gone()
    live.check_eq(1, len(folders()), "it is left")
    pmix.Job("-N", 1, "--", "true").check_ok()
    live.check_eq([], folders())


def make_left(name, uid=-1):
    """A folder as a session leaves it."""
    path = os.path.join(live.TMP, name)
    os.makedirs(os.path.join(path, "server"), 0o700)
    os.chmod(path, 0o700)
    with open(os.path.join(path, "server", "pmix.x.tool"), "w"):
        os.chown(path, uid, -1)
    return path


def is_host_itself():
    """No container, and with a machine-id: older boots of it can be known."""
    firsts = [os.readlink("/proc/self/ns/" + name)
              for name in ("pid", "time")
              if os.path.exists("/proc/self/ns/" + name)]
    return bool(live.read_file("/etc/machine-id") or
                live.read_file("/var/lib/dbus/machine-id")) and \
        all(link in ("pid:[4026531836]", "time:[4026531834]")
            for link in firsts)


def left():
    """Launcher and helper are killed together, so that neither removes the
    folder. The next session of the user does, however short it is, and leaves
    alone all folders that may belong to others."""
    job, gate = start()
    pmix.wait_up(job)
    helper = pmix.helper_of(job)
    live.stop(job.proc.pid)
    os.kill(helper, signal.SIGKILL)
    job.proc.kill()
    job.proc.wait()
    gate.open()
    live.check_gone()
    found = glob.glob(os.path.join(live.TMP, "xylem-pmix-*"))
    live.check_eq(1, len(found), "folders that are left")
    parts = os.path.basename(found[0]).split("-")[2:]
    live.check_eq(str(job.proc.pid), parts[3], "the process in its name")
    host, boot, space, pid, begin, number = parts

    def name(*parts):
        return "-".join(("xylem-pmix", *parts, number))
    other = "%012x" % (int(host, 16) ^ 1)
    later = "%012x" % (int(boot, 16) ^ 1)
    away = "%012x" % (int(space, 16) ^ 1)
    me = str(os.getpid()), "%x" % int(live.stat(os.getpid())[19])
    stay = {"of another host": make_left(name(other, boot, space, pid, begin)),
            "of another host's boot":
                make_left(name(other, later, space, pid, begin)),
            "of a container": make_left(name(host, boot, away, pid, begin)),
            "of a container's boot":
                make_left(name(host, later, away, pid, begin)),
            "of one that lives": make_left(name(host, boot, space, *me)),
            "of no name": make_left("xylem-pmix-" + number),
            "of half a name": make_left(name(host, boot, space))}
    go = {"of the dead": found[0],
          "of one whose number is used again":
              make_left(name(host, boot, space, me[0], "1"))}
    if os.geteuid() == 0:
        stay["of another user"] = make_left(
            name(host, boot, space, pid, begin) + "0", 1)
    older = make_left(name(host, later, space, *me))
    (go if is_host_itself() else stay)["of an older boot"] = older
    os.symlink(stay["of no name"], os.path.join(
        live.TMP, name(host, boot, space, pid, begin) + "1"))
    pmix.Job("-N", 1, "--", "true").check_ok()
    for whose, path in go.items():
        live.check(not os.path.exists(path), "the folder %s is left" % whose)
    for whose, path in stay.items():
        live.check(os.path.exists(os.path.join(path, "server", "pmix.x.tool")),
                   "the folder %s is gone" % whose)
        shutil.rmtree(path, ignore_errors=True)


def main():
    pmix.need()
    for test, sentence in (
            (crashed, "helpers crash beside others"),
            (killed_quietly, "the helper is killed while nobody is there"),
            (untaken, "the helper that gets a tool is killed"),
            (starved, "the launcher has no descriptors left"),
            (stopped, "the helper of one tool is stopped"),
            (hung, "the helper of one tool is stopped for good"),
            (still, "the library is stopped while a tool pulls"),
            (paused, "the launcher is stopped while a tool pulls"),
            (silent, "those that say nothing"),
            (strangers, "strangers at the port"),
            (none, "without a helper"),
            (slow_start, "a helper that does not come up"),
            (orphaned, "the launcher is killed"),
            (left, "launcher and helper are killed together")):
        if len(sys.argv) > 1 and sys.argv[1] != test.__name__:
            continue
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The helper may die, hang or be missing: the job does not notice."""
import contextlib
import ctypes
import glob
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pmix
import live

RANKS = 4
SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
WRITE = "seq -f \"$XYLEM_RANK %08.0f\" 20000"
DEAF = "the PMIx helper takes nothing for 1 s"


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


def told(job):
    return [line for line in job.said().splitlines()
            if "tools are cut off" in line]


def killed():
    """The tool is cut off, the user is told once though it dies twice, and
    another tool can connect to the next helper."""
    size, end = RANKS * 20000 * 11, pmix.Gate()
    job, gate = start(command=WRITE + f'; : <"{end.path}"')
    for _ in range(2):
        pmix.wait_up(job)
        check_limits(pmix.helper_of(job))
        tool = pmix.Tool(job)
        tool.wait_ready()
        pmix.kill_helper(job)
        live.check_eq(0, tool.wait(), "the tool was cut off")
    pmix.wait_up(job)
    tool = pmix.Tool(job, "-n", 2 * RANKS)
    tool.wait_ready()
    gate.open()
    check_lines(job.stdout.read(size))
    pmix.wait_taken(tool, size)
    end.open()
    job.check_ok()
    live.check_eq(0, tool.wait())
    live.check(len(tool.got(0, "stdout") or b"") == 20000 * 11, "all output")
    live.check_eq(2, len(told(job)), "with -v each time")


def limits_of(pid):
    """The soft ones, by their names."""
    text = (live.read_proc(pid, "limits") or b"").decode()
    return {row[0]: row[1] for row in
            (re.split(r" {2,}", line) for line in text.splitlines())}


def check_limits(pid):
    limits = limits_of(pid)
    live.check_eq("512", limits["Max open files"])
    if not live.is_sanitized():  # that maps more than it ever uses
        live.check_eq(str(1 << 30), limits["Max address space"])


def starved():
    """Where descriptors are lost until too few are left it makes way for
    another one: nobody could connect any more."""
    job, gate = start()
    pmix.wait_up(job)
    helper, port = pmix.server(job)
    hard = resource.prlimit(helper, resource.RLIMIT_NOFILE)[1]
    most = max(int(fd) for fd in os.listdir("/proc/%d/fd" % helper))
    resource.prlimit(helper, resource.RLIMIT_NOFILE, (most, hard))
    with socket.create_connection(("127.0.0.1", port)):
        live.eventually(lambda: pmix.helper_of(job) not in (helper, None), 60,
                        "another helper")
    pmix.wait_up(job)
    tool = pmix.Tool(job, "-n", 2 * RANKS)
    tool.wait_ready()
    gate.open()
    check_output(job)
    live.check_eq(0, tool.wait())
    live.check_eq(1, len(told(job)), job.said())
    live.check("descriptors" in job.said(), job.said())


def hear(job):
    """The launcher has heard that the helper is up: it answers what a tool has
    asked for since."""
    tool = pmix.Asker(job)
    live.check(tool.connect(), "connected")
    live.check_eq(([], "SUCCESS"), tool.ask("log out here"))
    live.check_eq(0, tool.end(), "the tool")


def killed_quietly():
    """Without -v the user hears of the first death alone."""
    gate = pmix.Gate()
    job = pmix.Job("-N", RANKS, "--", "sh", "-c", pmix.Gate.WAIT + WRITE,
                   gate.path)
    for _ in range(2):
        live.eventually(lambda: pmix.is_up(job), 30, "the helper is up")
        hear(job)
        pmix.kill_helper(job)
    live.eventually(lambda: pmix.helper_of(job), 30, "another helper")
    gate.open()
    check_output(job)
    live.check_eq(1, len(job.said().splitlines()) - 1, job.said())
    live.check("was ended by signal 9" in told(job)[0], told(job))


def stopped():
    """One that hangs while output is wanted holds nobody up, and -v says once
    that nothing is kept for it."""
    stay, count = pmix.Gate(), 200000
    job, gate = start(command='seq -f "$XYLEM_RANK %%08.0f" %d; : <"%s"' %
                      (count, stay.path))
    pmix.wait_up(job)
    tool = pmix.Tool(job)
    tool.wait_ready()
    helper = pmix.helper_of(job)
    os.kill(helper, signal.SIGSTOP)
    gate.open()
    check_lines(job.stdout.read(RANKS * count * 11), count)
    live.check(live.eventually(lambda: DEAF in job.said(), 60, DEAF), DEAF)
    stay.open()
    live.check_eq(b"", job.stdout.read())
    job.check_ok()
    live.check_eq(1, job.said().count(DEAF))
    tool.proc.kill()
    tool.wait()


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


def hold_library(pid):
    threads = stop_library(pid)
    # Whoever is traced stays until the tracer has seen its end.
    for tid in threads or ():
        threading.Thread(target=see_end, args=(tid,), daemon=True).start()
    return threads is not None


def still():
    """The library takes nothing for a while: neither the job nor the console
    waits for it, and the tool gets everything then. It is more than is on its
    way to the helper, and no more than is written before that counts as deaf.
    """
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
    """The launcher is stopped for longer than it waits for a helper, and goes
    on: the helper is not taken for deaf, and the tool misses nothing."""
    bytes_each = 60 * live.MIB
    end = pmix.Gate()
    job, gate = start("--raw", command=f"yes | head -c {bytes_each}; "
                      f': <"{end.path}"', stdout=subprocess.DEVNULL)
    pmix.wait_up(job)
    tool = pmix.Tool(job, "-n", 2 * RANKS)
    tool.wait_ready()
    gate.open()
    for part in range(1, 8, 2):
        live.eventually(lambda: tool.taken() >= part * RANKS * bytes_each / 8,
                        60, "the tool has some of it")
        job.proc.send_signal(signal.SIGSTOP)
        time.sleep(1.5)  # sleep-ok: to be still for so long is the test
        job.proc.send_signal(signal.SIGCONT)
    # The end of the job does not wait for a tool as long as that may take.
    live.eventually(lambda: tool.taken() >= RANKS * bytes_each, 60,
                    "the tool has all of it")
    end.open()
    job.check_ok()
    live.check_eq(0, tool.wait())
    live.check_eq(0, tool.dropped())
    for rank in range(RANKS):
        live.check(tool.got(rank, "stdout") == b"y\n" * (bytes_each // 2),
                   "the tool has all of rank %d" % rank)


def check_tool(tool, rank, count):
    live.check((tool.got(rank, "stdout") or b"").splitlines() ==
               [b"%d %08d" % (rank, n) for n in range(1, count + 1)],
               "the tool has all of rank %d" % rank)


def see_end(tid):
    with contextlib.suppress(ChildProcessError):
        while not os.WIFEXITED(status := os.waitpid(tid, WALL)[1]) and \
                not os.WIFSIGNALED(status):
            pass


def quiet():
    """One that hangs is replaced while no output is wanted at all: the whole
    process, or only the threads of the library. The user hears of the first
    one alone."""
    gate = pmix.Gate()
    job = pmix.Job("-N", RANKS, "--", "sh", "-c", pmix.Gate.WAIT + WRITE,
                   gate.path, env={**os.environ, "XYLEM_PMIX_ANSWER_MS":
                                   str(2000 * live.SLOW)})
    for hold in (lambda pid: os.kill(pid, signal.SIGSTOP) or True,
                 hold_library):
        live.eventually(lambda: pmix.is_up(job), 30, "the helper is up")
        helper = pmix.helper_of(job)
        tool = pmix.Tool(job)
        tool.wait_ready()
        if not hold(helper):
            print("# left out: no tracing here: the library alone "
                  "is not stopped")
            tool.proc.kill()
        else:
            live.eventually(lambda h=helper: pmix.helper_of(job) not in
                            (h, None), 120, "another helper")
        live.check(tool.wait() in (0, -signal.SIGKILL), "it is cut off")
    gate.open()
    check_output(job)
    live.check_eq(1, len(told(job)), job.said())
    live.check("did not answer" in told(job)[0], told(job))


def port_of(job):
    return int(re.search(r"connect to .*:(\d+), or", job.said())[1])


def silent():
    """Who says nothing is shut out, also when the helper's threads come to it
    in another order: one accepts, the other one looks."""
    job, gate = start()
    pmix.wait_up(job)
    for turn in range(8):
        os.kill(pmix.helper_of(job), signal.SIGSTOP)
        with socket.create_connection(("127.0.0.1", port_of(job))) as sock:
            os.kill(pmix.helper_of(job), signal.SIGCONT)
            sock.settimeout(30 * live.SLOW)
            try:
                live.check_eq(b"", sock.recv(1), "turn %d" % turn)
            except TimeoutError:
                live.check(False, "turn %d: nobody looks" % turn)
                break
    gate.open()
    check_output(job)


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
    """One that never comes up: a job that is over before it would be started
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
    """The launcher is killed before it has said anything to a helper that it
    has started: no folder is left."""
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
    live.check_eq([], glob.glob(os.path.join(live.TMP, "xylem-pmix-*")))


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
    """Launcher and helper are killed together, so that nobody removes the
    folder. The next session of the user does, however short it is, and leaves
    all those alone that somebody else may have."""
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
            (killed, "the helper is killed while a tool pulls"),
            (killed_quietly, "the helper is killed while nobody is there"),
            (starved, "the helper has no descriptors left"),
            (stopped, "the helper is stopped while a tool pulls"),
            (still, "the library is stopped while a tool pulls"),
            (paused, "the launcher is stopped while a tool pulls"),
            (quiet, "the helper is stopped while nothing is written"),
            (silent, "one that says nothing"),
            (strangers, "strangers at the port"),
            (none, "without a helper"),
            (slow_start, "a helper that does not come up"),
            (orphaned, "the launcher is killed before it says a word"),
            (left, "launcher and helper are killed together")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

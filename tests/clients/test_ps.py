#!/usr/bin/env python3
"""xylem ps lists the sessions on this machine and the jobs that run in them.

The list is compared with what the jobs do; each step of them waits at a
gate."""
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import sys
import termios
import threading

import clients
import live
import terminal
from live import check, check_eq, check_has

INPUT = b"x" * 70000
# Rank 0 ends at once; the others read all of stdin, say so, and wait.
COMMAND = ('[ $XYLEM_RANK != 0 ] || exit 3; cat >/dev/null; echo done; '
           + live.Gate.WAIT)


class Dvm(live.Job):
    COMMAND = "dvm"


def listed(*options, **more):
    """The rows of `xylem ps`."""
    said = live.Ran(live.XYLEM, "ps", "--format=json", *options, **more)
    return [json.loads(line) for line in said.lines()]


def row(job):
    """The row of the job of a launcher; {} when there is none."""
    rows = [one for one in listed() if one["pid"] == job.proc.pid and
            one["state"] == "job"]
    return rows[0] if rows else {}


def start(ranks=3, command=COMMAND):
    gate = live.Gate()
    job = live.Job("-N", ranks, "--", "sh", "-c", command, gate.path,
                   stdin=subprocess.PIPE)
    return job, gate


def finish(job, gate, code=0):
    gate.open()
    job.stdout.read()
    check_eq(code, job.wait(), job.said())


def none():
    """Without a session there is only the heading."""
    said = live.Ran(live.XYLEM, "ps")
    check_eq(["PID JOB RANKS HOSTS AGE OUTPUT STDIN COMMAND"], said.lines())
    check_eq([], listed())


def counted():
    """Ranks that are left, bytes out and in, hosts, the command."""
    job, gate = start()
    job.stdin.write(INPUT)
    job.stdin.close()
    live.eventually(lambda: row(job).get("left") == 2 and
                    row(job).get("output_bytes") == 2 * len("done\n"), 60,
                    "two are left, and have written")
    found = row(job)
    host = os.uname().nodename
    check_eq((1, host, 3, len(INPUT)),
             tuple(found[key] for key in ("hosts", "host_set", "processes",
                                          "stdin_bytes")))
    check_eq(" ".join(("sh", "-c", COMMAND, gate.path)), found["command"])
    check(found["job"].startswith("xylem-") and found["age_s"] < 600, found)
    line = live.Ran(live.XYLEM, "ps", "--pid", job.proc.pid).lines()[1]
    words = line.split()
    check_eq([str(job.proc.pid), found["job"], "2/3", "1", host],
             words[:5])
    check_eq(["10", "68K", "sh"], words[6:9], "after the age:")
    finish(job, gate, 3)


def several():
    """All sessions, a dvm and its jobs among them; or one alone. The columns
    of a table are one below the other."""
    job, gate = start(command=live.Gate.WAIT)
    dvm = Dvm("-N", 2)
    live.eventually(lambda: any(one["state"] == "dvm" for one in listed()), 60,
                    "the dvm is up")
    inner = clients.Command("run", "--dvm=%d" % dvm.proc.pid, "-N", 2, "--",
                            "sh", "-c", live.Gate.WAIT, gate.path)
    live.eventually(lambda: len(listed()) == 3, 60, "there are three rows")
    rows = listed()
    check_eq(sorted(one["pid"] for one in rows), [one["pid"] for one in rows])
    for which in (("--pid", dvm.proc.pid), (dvm.proc.pid,),
                  [one["job"] for one in rows if one["state"] == "dvm"]):
        check_eq([dvm.proc.pid] * 2, [one["pid"] for one in listed(*which)])
    mine = {one["state"]: one for one in rows
            if one["pid"] == dvm.proc.pid}
    check_eq(mine["dvm"]["job"] + ".1", mine["job"]["job"])
    check_eq((2, 2), (mine["job"]["processes"], mine["job"]["left"]))
    lines = live.Ran(live.XYLEM, "ps").lines()
    at = lines[0].index("JOB"), lines[0].index("COMMAND")
    for one, line in zip(rows, lines[1:]):
        check(line[at[0]:].startswith(one["job"] + " "), line)
        check(line[at[1]:].startswith("(dvm)" if one["state"] == "dvm"
                                      else "sh -c "), line)
    finish(job, gate)
    check_eq(0, inner.wait(), inner.said())
    dvm.proc.send_signal(signal.SIGTERM)
    dvm.stdout.read()
    dvm.wait()


def silent():
    """A session that stands still is listed, and holds up nobody."""
    job, gate = start(command=live.Gate.WAIT)
    other, _ = start(command=live.Gate.WAIT)
    live.eventually(lambda: row(job) and row(other), 60, "both run")
    live.stop(other.proc.pid)
    check_eq({job.proc.pid: "job", other.proc.pid: "silent"},
             {one["pid"]: one["state"] for one in listed()})
    check_has("(does not answer)",
              live.Ran(live.XYLEM, "ps", "-p", other.proc.pid).lines()[1])
    other.proc.send_signal(signal.SIGCONT)
    live.eventually(lambda: row(other), 60, "it answers again")
    other.proc.send_signal(signal.SIGTERM)
    other.stdout.read()
    other.wait()
    finish(job, gate)


def detailed():
    """A job that is named: in which way which ranks have ended, which run, and
    what went in and out. The others have nothing of all this."""
    job, gate = start(ranks=4)
    other, far = start(ranks=1, command=live.Gate.WAIT)
    live.eventually(lambda: row(job).get("left") == 3 and row(other), 60,
                    "both run")
    name, host = row(job)["job"], os.uname().nodename
    check("groups" not in row(job), row(job))
    groups = ["reading stdin: ranks 1-3 (3) on " + host,
              "exit 3: rank 0 on " + host]
    live.eventually(lambda: listed(name)[0]["groups"] == groups, 60,
                    "three read, and one has ended")
    for which in (job.proc.pid, name):
        found, = listed(str(which))
        check_eq((job.proc.pid, groups), (found["pid"], found["groups"]))
        check("quiet_s" not in found, "no output has come")
    lines = live.Ran(live.XYLEM, "ps", name).lines()
    check_eq([*("  " + group for group in groups),
              "  output: none yet; stdin: 0 taken, 0 waiting"], lines[2:])
    job.stdin.write(INPUT)
    job.stdin.close()
    live.eventually(lambda: row(job)["output_bytes"] == 3 * len("done\n") and
                    row(job)["stdin_waiting_bytes"] == 0, 60,
                    "all have read and written")
    check(re.fullmatch("  last output: rank [1-3]: done",
                       live.Ran(live.XYLEM, "ps", name).lines()[-2]),
          "the last line of output")
    check(re.fullmatch("  output: 15, the last [0-9:]+ ago; "
                       "stdin: 68K taken, 0 waiting",
                       live.Ran(live.XYLEM, "ps", name).lines()[-1]),
          "what the last line says")
    finish(job, gate, 3)
    finish(other, far)


def waiting():
    """Input that a process does not read waits, beyond what its pipe has."""
    job, gate = start(ranks=1, command=live.Gate.WAIT + "cat >/dev/null")
    size = live.MIB
    feeder = threading.Thread(target=feed, args=(job, size))
    feeder.start()
    live.eventually(lambda: row(job).get("stdin_waiting_bytes", 0) > 0, 60,
                    "some of it waits")
    found = row(job)
    check(found["stdin_waiting_bytes"] <= found["stdin_bytes"] <= size, found)
    gate.open()
    feeder.join()
    job.stdout.read()
    job.check_ok()


def feed(job, size):
    job.stdin.write(b"x" * size)
    job.stdin.close()


def lost():
    """Ranks of a node that is lost."""
    gate = live.Gate()
    job = live.Job("-N", 3, "--nodes-per-daemon", 1, "--on-node-loss=continue",
                   "--", "sh", "-c", live.Gate.WAIT, gate.path)
    live.eventually(lambda: len(daemons(job)) == 3 and listed(
        str(job.proc.pid))[0].get("groups") ==
        ["waiting: ranks 0-2 (3) on " + os.uname().nodename], 60, "all run")
    os.kill(daemons(job)[0], signal.SIGKILL)
    live.eventually(lambda: row(job).get("left") == 2, 60, "one is lost")
    check_eq(["waiting", "lost with a node"],
             [one.split(":")[0] for one in
              listed(str(job.proc.pid))[0]["groups"]])
    finish(job, gate, 1)


def daemons(job):
    return [pid for pid in live.descendants(job.proc.pid)
            if live.read_proc(pid, "comm") == b"xylemd\n"]


def cut():
    """On a terminal a line is as long as that is wide; what a command has of
    control characters does not reach it."""
    words = "echo '\x1b[2J\n%s'" % ("x" * 99)
    job, gate = start(ranks=1, command=live.Gate.WAIT + words)
    live.eventually(lambda: row(job), 60, "it runs")
    ours, theirs = terminal.open_pair()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    live.Ran(live.XYLEM, "ps", stdout=theirs)
    shown = os.read(ours, 1 << 16).decode().splitlines()
    check_eq([80], [len(line) for line in shown[1:]], "one row:")
    long = live.Ran(live.XYLEM, "ps").lines()[1]
    check_eq(long[:80], shown[1])
    check_has("echo '?[2J?xxx", long)
    os.close(ours)
    os.close(theirs)
    finish(job, gate)


def refused():
    """What there is nothing to say of."""
    check_has("there is no process 99999999",
              live.Ran(live.XYLEM, "ps", "-p", 99999999, code=1).said)
    check_has("is not a xylem run or dvm",
              live.Ran(live.XYLEM, "ps", "-p", os.getpid(), code=1).said)
    check_has("--format takes text or json, not 'xml'",
              live.Ran(live.XYLEM, "ps", "--format=xml", code=2).said)
    check_has("no job nobody runs on this machine that you may see",
              live.Ran(live.XYLEM, "ps", "nobody", code=1).said)
    for words in (("1", "2"), ("-p1", "2"), ("2", "-p1")):
        check_has("name one job: '",
                  live.Ran(live.XYLEM, "ps", *words, code=2).said)
    with open("/dev/full", "wb") as full:
        check_has("cannot write the list: No space left on device",
                  live.Ran(live.XYLEM, "ps", code=1, stdout=full).said)


def main():
    for test, sentence in (
            (none, "there is no session"),
            (counted, "what a row says"),
            (several, "several sessions and jobs"),
            (silent, "one does not answer"),
            (detailed, "a job that is named"),
            (waiting, "input that nobody reads"),
            (lost, "a node is lost"),
            (cut, "the terminal is narrow"),
            (refused, "what cannot be listed")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

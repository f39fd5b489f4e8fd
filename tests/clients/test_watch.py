#!/usr/bin/env python3
"""Clients of the door that watch a session, and jobs that clients start in it
as PMIx tools need them.
"""
import os
import signal
import struct
import sys
import threading
import time

import doors
import live
from live import check, check_eq

RANKS = 3
LONG = doors.program("sleep", "1000", procs=2)


class Run:
    """A job whose processes end when the gate opens; its session."""

    def __init__(self, *options, command="exit 0"):
        self.gate = live.Gate()
        self.job = live.Job("-N", RANKS, *options, "--", "sh", "-c",
                            live.Gate.WAIT + command, self.gate.path)
        self.pid = self.job.proc.pid

    def end(self, code=0):
        self.gate.open()
        check_eq(code, self.job.wait(), self.job.said())


def two_jobs():
    """The run's own job, of which a process fails, and one that a client has
    started: how far they are, and what their processes are."""
    run = Run(command='test $XYLEM_RANK != 1 || exit 3')
    watcher = doors.Watcher(run.pid)
    watcher.await_stage(0, doors.RUNNING)
    own = watcher.begun[0]
    check_eq((RANKS, 14, False), (own.size, own.channels, own.is_dvm))
    job = watcher.describe(0)
    check_eq([(0, rank, 1) for rank in range(RANKS)],
             [place[:3] for place in job.places])
    check_eq({"sh"}, {place[4] for place in job.places})
    check(all(live.read_proc(pid, "comm") == b"sh\n"
              for pid in job.pids.values()), "these are their pids")
    check_eq([doors.ALL] * RANKS, list(job.statuses.values()), "they run")
    starter = doors.Client(run.pid)
    base, size = starter.spawn(doors.request(
        doors.program("sh", "-c", "echo out; exit $XYLEM_RANK", procs=2),
        doors.program("true"), comes=doors.STDOUT, forwards=doors.STDERR))
    over = watcher.await_stage(base, doors.OVER)
    check_eq((RANKS, 3), (base, size))
    check_eq((False, base + 1, 1 << 8, 1),
             (over.is_lost, over.proc, over.status, over.failed))
    check(abs(over.time - time.time()) < 100, "when it was")
    check_eq([doors.STARTING, doors.RUNNING, doors.OVER],
             [one.stage for one in watcher.stages if one.base == base])
    check_eq((3, doors.STDERR, own.name + ".1"),
             (watcher.begun[base].size, watcher.begun[base].channels,
              watcher.begun[base].name), "what it forwards")
    job = watcher.describe(base)
    check_eq(["sh -c echo out; exit $XYLEM_RANK : true"], job.command)
    check_eq([0, 1 << 8, 0], [job.statuses[base + i] for i in range(3)])
    check_eq([("sh", 2), ("true", 1)],
             [(name, sum(place[2] for place in job.places
                         if place[4] == name)) for name in ("sh", "true")])
    check(watcher.describe(base + 1) is None, "no job begins there")
    run.end(3)
    over = watcher.await_stage(0, doors.OVER)
    check_eq((1, 3 << 8, 1), (over.proc, over.status, over.failed))
    check_eq((None, b""), watcher.hear(), "the session is over")
    outputs = b"".join(one.mem for one in iter(starter.output, None))
    check_eq(b"out\n" * 2, outputs, "of two, and only stdout")


def who_comes_late():
    """A client that comes later is told what has been."""
    run = Run()
    starter = doors.Client(run.pid)
    base, _ = starter.spawn(doors.request(doors.program("false")))
    early = doors.Watcher(run.pid)
    early.await_stage(base, doors.OVER)
    late = doors.Watcher(run.pid)
    check_eq([early.begun[0], early.begun[base]],
             [late.begun[0], late.begun[base]])
    check_eq(3, sum(one.base == base for one in late.stages))
    check_eq(1 << 8, late.describe(base).statuses[base])
    run.end()


def names_and_events():
    """Tools have names, and what one says the others hear."""
    run = Run()
    first, other = doors.Watcher(run.pid), doors.Watcher(run.pid)
    own = first.begun[0].name.encode()
    check_eq((False, 0, own + b"-tool-1"), first.name(7, b""))
    check_eq((True, 0, own + b"-tool-1"), other.name(0, own + b"-tool-1"))
    check_eq((True, 3, own), other.name(3, own))
    check_eq((False, 3, b"mine"), other.name(3, b"mine"))
    first.say("EVENT", b"\0an event")
    check_eq(b"\0an event", other.until("EVENT")[1])
    other.say("EVENT", b"back")
    check_eq(b"back", first.until("EVENT")[1])
    check_eq([b"back"], first.events, "it does not hear its own")
    run.end()


def texts():
    """They are whole lines of the console; a note is for who wants all. They
    are read meanwhile: of a user whose other tests have many pipes this one may
    have two pages."""
    run, out = Run("-v"), []
    reader = threading.Thread(target=lambda: out.append(run.job.stdout.read()),
                              daemon=True)
    reader.start()
    watcher = doors.Watcher(run.pid)
    check(watcher.log(1, b"to stdout"), "it is written")
    watcher.say("LOG", b"\2\1to std")
    check(watcher.log(2, b"err\n"), "so is one of two pieces")
    check(watcher.log(1, b"x" * 32768), "and a long one")
    watcher.say("LOG", b"\1\1" + b"x" * 32768)
    watcher.say("LOG", b"\1\1" + b"x" * 32768)
    check(not watcher.log(1, b"x"), "too long")
    watcher.say("NOTE", b"a word of the helper")
    live.eventually(lambda: "a word of the helper" in run.job.said(), 20,
                    "the note is there")
    run.end()
    reader.join()
    lines = out[0].split(b"\n")
    check_eq([b"to stdout", b"x" * 32768], [lines[0], lines[1]])
    check("to stderr\n" in run.job.said(), run.job.said())


def signals():
    """For some processes of several jobs; not for those that are over."""
    run = Run()
    watcher = doors.Watcher(run.pid)
    watcher.await_stage(0, doors.RUNNING)
    starter = doors.Client(run.pid)
    base, _ = starter.spawn(doors.request(LONG))
    watcher.await_stage(base, doors.RUNNING)
    check(watcher.signal(signal.SIGKILL, (1, 1), (base, base)), "on its way")
    live.eventually(lambda: watcher.describe(0).statuses[1] == 9 and
                    watcher.describe(base).statuses[base] == 9, 20,
                    "they are ended by it")
    check_eq([doors.ALL] * 3, [watcher.describe(0).statuses[0],
                               watcher.describe(0).statuses[2],
                               watcher.describe(base).statuses[base + 1]])
    check(watcher.signal(signal.SIGKILL, (base + 1, base + 1)), "the rest")
    watcher.await_stage(base, doors.OVER)
    check(not watcher.signal(signal.SIGKILL, (base, base + 1)),
          "nobody is left")
    run.end(128 + 9)


def spawned():
    """A job goes with its client, unless it is to be kept."""
    run = Run()
    watcher = doors.Watcher(run.pid)
    kept, gone = doors.Client(run.pid), doors.Client(run.pid)
    base, _ = kept.spawn(doors.request(LONG, flags=doors.KEPT))
    other, _ = gone.spawn(doors.request(LONG))
    for one in (base, other):
        watcher.await_stage(one, doors.RUNNING)
    kept.close()
    gone.close()
    over = watcher.await_stage(other, doors.OVER)
    check_eq((signal.SIGTERM, 2), (over.status, over.failed))
    check_eq([doors.ALL] * 2, list(watcher.describe(base).statuses.values()))
    check(watcher.signal(signal.SIGKILL, (base, base + 1)), "it still runs")
    watcher.await_stage(base, doors.OVER)
    run.end()


def what_a_spawn_says():
    """Files, and what the launcher tells its user."""
    run = Run()
    watcher = doors.Watcher(run.pid)
    name = os.path.join(live.TMP, "spawned")
    starter = doors.Client(run.pid)
    base, _ = starter.spawn(doors.request(
        doors.program("sh", "-c", "echo $XYLEM_RANK; exit 4", procs=2),
        flags=doors.SAYS_STAGES, files=doors.FILE, name=name, label=1))
    watcher.await_stage(base, doors.OVER)
    own = watcher.begun[base].name
    for rank in range(2):
        check_eq(b"%d: %d\n" % (rank, rank),
                 live.read_file("%s.%s.%d.stdout" % (name, own, rank)))
    for text in ("PMIX_EVENT_JOB_START of %s: a first process runs" % own,
                 "PMIX_LAUNCH_COMPLETE of %s: 2 processes run" % own,
                 "PMIX_EVENT_JOB_END of %s: rank " % own):
        check(text in run.job.said(), text)
    bad = doors.Client(run.pid)
    bad.say("SPAWN", b"\0" + doors.request(LONG, files=doors.PATTERN,
                                           name="%q"))
    check_eq((1, b"'%q' is not a pattern for names of output files"),
             (lambda body: (body[0], body[1:]))(bad.expect("UNSTARTED")))
    run.end()


def one_that_does_not_read():
    """The client is cut off, and no other one notices."""
    run = Run()
    deaf, other = doors.Watcher(run.pid), doors.Watcher(run.pid)
    reader = doors.Watcher(run.pid)
    for i in range(200):
        other.say("EVENT", struct.pack("<I", i) + bytes(16000))
        check_eq(i, struct.unpack_from("<I", reader.until("EVENT")[1])[0])
    check_eq((False, 1, b"t"), other.name(1, b"t"))
    heard = 0
    while deaf.hear()[0] == "EVENT":
        heard += 1
    check(heard < 200, "it was cut off: %d" % heard)
    run.end()


def main():
    for one in (two_jobs, who_comes_late, names_and_events, texts, signals,
                spawned, what_a_spawn_says, one_that_does_not_read):
        with live.case(one.__name__):
            one()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

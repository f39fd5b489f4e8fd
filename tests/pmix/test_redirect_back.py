#!/usr/bin/env python3
"""What was redirected to a tool that goes, and what it has not taken, is on the
console, in its place.

Each line has its process and its number: in the tool's callback, on the tool's
own stdout (where its library puts what comes when the callback is gone) and on
the console together each comes once, and none of them has two in disorder.
"""
# timeout: 300
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

import pmix
import live

RANKS = 4
# Of 100 bytes: more than is sent to a tool that deregisters.
MUCH = live.full(100000, 40000)
WIDE = MUCH * RANKS * 100
HEADS = re.compile(rb"^(\d) (\d{7}) ?x*$", re.M)


def write(first, last, width=0):
    return ('seq -f "$XYLEM_RANK %%07.0f%s" %s %s'
            % (" " + (width - 11) * "x" if width else "", first, last))


def flow(folder):
    """Writes until there is a file `stop`; how much that was is in another one
    and on stderr."""
    return ('n=1; while ! [ -e "%s/stop" ]; do %s; n=$((n + 500)); '
            'echo "$((n - 1))" > "%s/$XYLEM_RANK"; sleep 0.01; done; '
            'echo "$XYLEM_RANK wrote $((n - 1))" >&2'
            % (folder, write('"$n"', '"$((n + 499))"', 100), folder))


def flown(folder):
    """Bytes of all processes by now."""
    return sum(100 * int(live.read_file(os.path.join(folder, str(rank))) or 0)
               for rank in range(RANKS))


class Reader(threading.Thread):
    """Takes what the console has."""

    def __init__(self, pipe):
        super().__init__(daemon=True)
        self.pipe, self.parts = pipe, []
        self.start()

    def run(self):
        while self.parts[-1:] != [b""]:
            self.parts.append(os.read(self.pipe.fileno(), live.MIB))

    def end(self):
        self.join()
        return b"".join(self.parts)


class Leaver(pmix.Tool):
    """Its own stdout is a file; it deregisters when it is told to."""

    def __init__(self, job, *options, **more):
        self.shown = tempfile.TemporaryFile(dir=live.TMP)
        super().__init__(job, "-R", "-d", "-c", 2, *options, **more,
                         stdin=subprocess.PIPE, stdout=self.shown)

    def say_leave(self):
        self.proc.stdin.write(b"leave\n")
        self.proc.stdin.flush()
        live.eventually(lambda: self.has("leaving"), 30, "it leaves")

    def end(self):
        self.proc.stdin.close()
        live.check_eq(0, self.wait())
        self.shown.seek(0)
        return self.shown.read()


def start(*parts, options=()):
    """Between two parts each process waits at a gate of its own."""
    gates = [pmix.Gate() for _ in parts]
    command = "; ".join(': <"%s"; %s' % (gate.path, part)
                        for gate, part in zip(gates, parts))
    job = pmix.Job("-v", "-N", RANKS, *options, "--", "sh", "-c", command)
    pmix.wait_up(job)
    return job, gates


def numbers(out):
    """Of each rank, in the order in which they come."""
    found = {rank: [] for rank in range(RANKS)}
    for rank, number in HEADS.findall(out or b""):
        found[int(rank)].append(int(number))
    return found


def ended(job, count):
    return len(re.findall(r"PMIx pull \d+ has ended", job.said())) >= count


def check_once(console, tools, shown, lasts, what):
    """Each line of each rank is at one place, and in order there."""
    at_console = numbers(console)
    on_own = [numbers(out) for out in shown]
    for rank in range(RANKS):
        parts = [at_console[rank]]
        parts += [numbers(tool.got(rank, "stdout"))[rank] for tool in tools]
        parts += [own[rank] for own in on_own]
        every = sorted(number for part in parts for number in part)
        last = lasts[rank]
        live.check(every == list(range(1, last + 1)),
                   "%s: rank %d: %s, together %d of %d" %
                   (what, rank, [len(part) for part in parts],
                    len(set(every)), last))
        live.check(all(part == sorted(part) for part in parts),
                   "%s: order of rank %d" % (what, rank))


def in_a_flood(*options):
    """Three tools after another redirect what flows, and deregister while the
    helper stands still: much is on its way to it."""
    folder = tempfile.mkdtemp(dir=live.TMP)
    job, gates = start(flow(folder), options=options)
    gates[0].open()
    tools, reader = [], Reader(job.stdout)
    for nth in range(3):
        tool = Leaver(job)
        tool.wait_ready()
        tools.append(tool)
        live.eventually(lambda t=tool: t.taken() > live.MIB, 60, "it has some")
        helper = pmix.helper_of(job)
        os.kill(helper, signal.SIGSTOP)
        much = flown(folder) + 3 * live.MIB // 4
        live.eventually(lambda m=much: flown(folder) >= m, 60,
                        "much is under way")
        tool.say_leave()
        os.kill(helper, signal.SIGCONT)
        live.eventually(lambda n=nth: ended(job, n + 1), 60, "its end")
    with open(os.path.join(folder, "stop"), "wb"):
        pass
    job.check_ok()
    lasts = dict(map(int, found) for found in
                 re.findall(r"^(\d) wrote (\d+)$", job.said(), re.M))
    check_once(reader.end(), tools, [tool.end() for tool in tools], lasts,
               "flood")
    live.check("are lost" not in job.said(), job.said())


def much_waits():
    """A tool deregisters while more than it is sent then waits for it; what
    comes later is behind that."""
    pace = live.Gate()
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, MUCH + 10, 100))
    reader = Reader(job.stdout)
    hold = open_pace(pace)
    tool = Leaver(job, "-P", pace.path)
    tool.wait_ready()
    gates[0].open()
    live.eventually(lambda: pmix.spooled(job) > WIDE * 5 // 8, 60,
                    "much waits")
    tool.say_leave()
    os.close(hold)
    live.eventually(lambda: ended(job, 1), 60, "its end")
    gates[1].open()
    job.check_ok()
    out = reader.end()
    check_once(out, [tool], [tool.end()], [MUCH + 10] * RANKS, "much")
    live.check(len(out) > 0, "nothing came back")
    live.check("are lost" not in job.said(), job.said())


def open_pace(gate):
    """A writer of the FIFO, so that who reads from it waits."""
    return os.open(gate.path, os.O_RDWR)


def told_lost(job):
    return sum(map(int, re.findall(r"has left (\d+) bytes", job.said())))


def mostly_back(job, reader, tool, last, what):
    """Lines are missing as far as that is told, and what a socket holds."""
    console = numbers(reader.end())
    missing = 0
    for rank in range(RANKS):
        got = numbers(tool.got(rank, "stdout"))[rank]
        both = set(got) | set(console[rank])
        missing += last - len(both)
        live.check(console[rank] == sorted(set(console[rank])),
                   "%s: order of rank %d" % (what, rank))
        live.check(console[rank][-1:] == [last], "%s: the last" % what)
        # One more, which was cut, may have come to both.
        live.check(len(got) + len(console[rank]) <= len(both) + 1,
                   "%s: rank %d has some twice" % (what, rank))
    live.check(missing * 100 <= told_lost(job) + 8 * live.MIB,
               "%s: %d lines are missing, told: %d bytes" %
               (what, missing, told_lost(job)))
    live.check(told_lost(job) <= 4 * live.MIB, "%d lost" % told_lost(job))


def dies():
    """Of a tool that dies only what its library and its socket had is lost."""
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, MUCH + 10, 100))
    reader = Reader(job.stdout)
    tool = pmix.Tool(job, "-R", "-c", 2)
    tool.wait_ready()
    os.kill(tool.proc.pid, signal.SIGSTOP)
    gates[0].open()
    live.eventually(lambda: pmix.spooled(job) > WIDE // 2, 60, "much waits")
    tool.proc.kill()
    tool.wait()
    live.eventually(lambda: ended(job, 1), 60, "its end")
    gates[1].open()
    job.check_ok()
    mostly_back(job, reader, tool, MUCH + 10, "it dies")


def never_takes():
    """The job ends, and the tool takes nothing."""
    job, gates = start(write(1, MUCH, 100))
    reader = Reader(job.stdout)
    tool = pmix.Tool(job, "-R", "-c", 2)
    tool.wait_ready()
    os.kill(tool.proc.pid, signal.SIGSTOP)
    gates[0].open()
    job.check_ok()
    os.kill(tool.proc.pid, signal.SIGCONT)
    tool.wait()
    mostly_back(job, reader, tool, MUCH, "it takes nothing")


def another_has_it():
    """Two redirect; one takes nothing and deregisters: the console gets none
    of what the other one has."""
    pace = live.Gate()
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, MUCH + 10, 100))
    reader = Reader(job.stdout)
    hold = open_pace(pace)
    slow, other = Leaver(job, "-P", pace.path), Leaver(job)
    slow.wait_ready()
    other.wait_ready()
    gates[0].open()
    live.eventually(lambda: other.taken() == WIDE, 60, "the other one has all")
    slow.say_leave()
    os.close(hold)
    live.eventually(lambda: ended(job, 1), 60, "its end")
    other.say_leave()
    live.eventually(lambda: ended(job, 2), 60, "the other one's")
    gates[1].open()
    job.check_ok()
    check_once(reader.end(), [other], [other.end()], [MUCH + 10] * RANKS,
               "two")
    slow.end()


def in_files():
    """The same with a second place to go to, which has as much."""
    folder = tempfile.mkdtemp(dir=live.TMP)
    in_a_flood("--output-dir", folder)


def main():
    pmix.need()
    for test, sentence in (
            (in_a_flood, "it deregisters while output flows"),
            (in_files, "the same, with files"),
            (much_waits, "it deregisters while much waits for it"),
            (dies, "it dies while much waits for it"),
            (never_takes, "it takes nothing until the job is over"),
            (another_has_it, "another one redirects, too")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

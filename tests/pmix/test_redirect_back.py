#!/usr/bin/env python3
"""When a tool disconnects, the console shows the redirected output that the
tool has not taken, in the right order.

Each line has the number of its process and its own. The tool's callback, the
tool's own stdout (where its library writes output that arrives when the
callback is gone) and the console together get each line once, and each of them
gets its lines in order.
"""
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
LOOKS = 10
# MUCH counts lines of 100 bytes: more than is sent to a tool that deregisters.
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

    def size(self):
        """How much it has by now."""
        return self.taken() + os.fstat(self.shown.fileno()).st_size

    def end(self):
        """What the tool has shown. To be called before its job or its helper
        may end: what it is still sent as it deregisters is nowhere else, and
        its library writes that bit by bit, or at its own end."""
        self.proc.stdin.close()
        live.check_eq(0, self.wait())
        self.shown.seek(0)
        return self.shown.read()


def start(*parts, options=(), **more):
    """Between two parts each process waits at a gate of its own."""
    gates = [pmix.Gate() for _ in parts]
    command = "; ".join(': <"%s"; %s' % (gate.path, part)
                        for gate, part in zip(gates, parts))
    job = pmix.Job("-v", "-N", RANKS, *options, "--", "sh", "-c", command,
                   **more)
    pmix.wait_up(job)
    return job, gates


def numbers(out):
    """Returns the numbers that each rank has written, in the order in which
    they arrive."""
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
    tools, shown, reader = [], [], pmix.Reader(job)
    for nth in range(3):
        tool = Leaver(job)
        tool.wait_ready()
        tools.append(tool)
        live.eventually(lambda t=tool: t.taken() > live.MIB, 60, "it has some")
        helper = pmix.helper_of(job)
        live.stop(helper)
        live.eventually(lambda: flown(folder) - reader.size - sum(
            one.size() for one in tools) >= 3 * live.MIB // 4, 60,
                        "much is under way")
        tool.say_leave()
        os.kill(helper, signal.SIGCONT)
        live.eventually(lambda n=nth: ended(job, n + 1), 60, "its end")
        shown.append(tool.end())
    lasts = stop_flow(job, folder)
    check_once(reader.end(), tools, shown, lasts, "flood")
    live.check("are lost" not in job.said(), job.said())


def a_copier_goes():
    """A tool that has copies goes while much waits that another one has
    deregistered from: none of that comes before what is older."""
    folder = tempfile.mkdtemp(dir=live.TMP)
    job, gates = start(flow(folder))
    gates[0].open()
    reader = pmix.Reader(job)
    copier = pmix.Tool(job, "-c", 2)
    copier.wait_ready()
    helper = pmix.helpers_of(job)[1]  # in reserve
    tool = Leaver(job)
    tool.wait_ready()
    live.eventually(lambda: tool.taken() > live.MIB, 60, "it has some")
    live.stop(helper)
    live.eventually(lambda: pmix.spooled(job) > live.MIB, 60, "much waits")
    tool.say_leave()
    copier.proc.kill()
    copier.wait()
    live.eventually(lambda: ended(job, 1), 60, "that has ended")
    os.kill(helper, signal.SIGCONT)
    live.eventually(lambda: ended(job, 2), 60, "both have ended")
    shown = tool.end()
    lasts = stop_flow(job, folder)
    check_once(reader.end(), [tool], [shown], lasts, "copier")


def stop_flow(job, folder):
    """How far each rank has come."""
    with open(os.path.join(folder, "stop"), "wb"):
        pass
    job.check_ok()
    return dict(map(int, found) for found in
                re.findall(r"^(\d) wrote (\d+)$", job.said(), re.M))


def missing_of(console, tools, lasts, what):
    """How many lines are nowhere, of all ranks; those on the console are in
    order, and none is there twice."""
    shown, missing = numbers(console), 0
    for rank in range(RANKS):
        live.check(shown[rank] == sorted(set(shown[rank])),
                   "%s: console of rank %d" % (what, rank))
        every = set(shown[rank])
        for tool in tools:
            every.update(numbers(tool.got(rank, "stdout"))[rank])
        missing += len(set(range(1, lasts[rank] + 1)) - every)
    return missing


def helpers_die():
    """One helper after another dies in a flood, with the tool that redirects
    it: one that reads, or one that does not. On the console nothing is twice or
    out of order, and what is not there is with one of the tools."""
    folder = tempfile.mkdtemp(dir=live.TMP)
    job, gates = start(flow(folder))
    gates[0].open()
    tools, reader = [], pmix.Reader(job)
    for nth in range(4):
        pmix.wait_up(job)
        tool = pmix.Tool(job, "-R", "-c", 2)
        tool.wait_ready()
        tools.append(tool)
        live.eventually(lambda t=tool: t.taken() > live.MIB, 60, "it has some")
        if nth % 2:
            live.stop(tool.proc.pid)
            live.eventually(lambda: pmix.spooled(job) > live.MIB, 60,
                            "much waits")
        pmix.kill_helper(job)
        os.kill(tool.proc.pid, signal.SIGCONT)
        live.check_eq(0, tool.wait(), "the tool was cut off")
    lasts = stop_flow(job, folder)
    live.check_eq(0, missing_of(reader.end(), tools, lasts, "helpers"))
    live.check("are lost" not in job.said(), job.said())


def much_waits():
    """A tool deregisters while more waits for it than is sent then; what is
    written later follows that."""
    pace = live.Gate()
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, MUCH + 10, 100))
    reader = pmix.Reader(job)
    hold = open_pace(pace)
    tool = Leaver(job, "-P", pace.path)
    tool.wait_ready()
    gates[0].open()
    live.eventually(lambda: pmix.spooled(job) > WIDE * 5 // 8, 60,
                    "much waits")
    tool.say_leave()
    os.close(hold)
    live.eventually(lambda: ended(job, 1), 60, "its end")
    shown = tool.end()
    gates[1].open()
    job.check_ok()
    out = reader.end()
    check_once(out, [tool], [shown], [MUCH + 10] * RANKS, "much")
    live.check(len(out) > 0, "nothing came back")
    live.check("are lost" not in job.said(), job.said())


def goes_at_once():
    """The tool deregisters while much waits and the console is not read, and
    is gone before that has gone back: nothing is missing, and the console has
    each line once, and in order. (When it is gone before any has gone back,
    some may be with it as well.)"""
    pace = live.Gate()
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, MUCH + 10, 100))
    hold = open_pace(pace)
    tool = Leaver(job, "-P", pace.path)
    tool.wait_ready()
    gates[0].open()
    live.eventually(lambda: pmix.spooled(job) > WIDE * 5 // 8, 60,
                    "much waits")
    tool.say_leave()
    os.close(hold)
    shown = tool.end()
    live.eventually(lambda: re.search(r"PMIx tool \S+ has disconnected",
                                      job.said()), 60, "it has gone")
    reader = pmix.Reader(job)
    live.eventually(lambda: ended(job, 1), 60, "its end")
    gates[1].open()
    job.check_ok()
    out = reader.end()
    live.check(len(out) > 0, "nothing came back")
    parts = [numbers(out), numbers(shown)]
    for rank in range(RANKS):
        console = parts[0][rank]
        live.check(console == sorted(set(console)), "order of rank %d" % rank)
        its = numbers(tool.got(rank, "stdout"))[rank]
        live.check_eq(set(range(1, MUCH + 11)),
                      set(console).union(its, parts[1][rank]), "all lines")


def open_pace(gate):
    """A writer of the FIFO, so that a tool that reads from it waits."""
    return os.open(gate.path, os.O_RDWR)


def dies_before_another_leaves():
    """A tool dies that has read nothing, and while its output goes back, which
    is not read, another one deregisters that has what came later: all is in
    order."""
    pace = live.Gate()
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, 2 * MUCH, 100))
    first = pmix.Tool(job, "-R", "-c", 2)
    first.wait_ready()
    live.stop(first.proc.pid)
    gates[0].open()
    live.eventually(lambda: pmix.spooled(job) > WIDE * 5 // 8, 60,
                    "much waits")
    hold = open_pace(pace)
    tool = Leaver(job, "-P", pace.path)
    tool.wait_ready()
    gates[1].open()
    live.eventually(lambda: pmix.spooled(job) > WIDE * 2, 60, "more waits")
    first.proc.kill()
    first.wait()
    live.eventually(lambda: ended(job, 1), 60, "the first one's end")
    tool.say_leave()
    os.close(hold)
    own = tool.end()
    live.eventually(lambda: gone(job) > 1, 60, "it has gone")
    reader = pmix.Reader(job)
    job.check_ok()
    check_once(reader.end(), [tool], [own], [2 * MUCH] * RANKS, "two go")
    live.check("are lost" not in job.said(), job.said())


def gone(job):
    return len(re.findall(r"PMIx tool \S+ has disconnected", job.said()))


class Grown:
    """What the launcher has in files grows as long as a rank writes. What came
    back from the last tool may lie in two of them for a while."""

    def __init__(self, job):
        self.job, self.last, self.looks = job, 0, 0

    def has_all(self, mark):
        """The writers have ended, and nothing more comes."""
        before, self.last = self.last, pmix.spooled(self.job, self.job.proc.pid)
        is_still = os.path.exists(mark) and before == self.last
        self.looks = self.looks + 1 if is_still else 0
        return self.looks == LOOKS


def many_die():
    """The console is not read, and one tool after another dies that has read
    nothing of a rank of its own: little of it is in memory. What a rank writes
    after that would wait for the console, and delay those beneath it."""
    ranks, last = range(24), 60000
    gates = [pmix.Gate() for _ in ranks]
    job = pmix.Job("-v", "-N", len(ranks), "--", "sh", "-c",
                   'shift "$XYLEM_RANK"; : <"$1"; ' + write(1, last, 100)
                   + '; : >"$1.over"', "sh", *(gate.path for gate in gates))
    pmix.wait_up(job)
    for rank in ranks:
        tool = pmix.Tool(job, "-R", "-c", 2, "-r", rank)
        tool.wait_ready()
        live.stop(tool.proc.pid)
        grown = Grown(job)
        gates[rank].open()
        live.eventually(
            lambda it=grown, over=gates[rank].path + ".over": it.has_all(over),
            60, "it is kept")
        tool.proc.kill()
        tool.wait()
        live.eventually(lambda n=rank: gone(job) > n, 60, "it has gone")
    reader = pmix.Reader(job)
    job.check_ok()
    out = {rank: [] for rank in ranks}
    for rank, number in re.findall(rb"^(\d+) (\d{7}) x*$", reader.end(), re.M):
        out[int(rank)].append(int(number))
    for rank in ranks:
        live.check(out[rank] == list(range(1, last + 1)), "rank %d" % rank)


def all_back(job, reader, tool, last, what, twice):
    """Checks that each line is with the tool or on the console; this many
    bytes may be at both. Returns what the console has."""
    console = reader.end()
    shown = numbers(console)
    live.check_eq(0, missing_of(console, [tool], [last] * RANKS, what))
    both = sum(len(set(shown[rank]).intersection(
        numbers(tool.got(rank, "stdout"))[rank])) for rank in range(RANKS))
    live.check(100 * both <= twice, "%s: %d lines twice" % (what, both))
    live.check("are lost" not in job.said(), job.said())
    return shown


def dies():
    """A tool dies that has read nothing."""
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, MUCH + 10, 100))
    reader = pmix.Reader(job)
    tool = pmix.Tool(job, "-R", "-c", 2)
    tool.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    live.eventually(lambda: pmix.spooled(job) > WIDE // 2, 60, "much waits")
    tool.proc.kill()
    tool.wait()
    live.eventually(lambda: ended(job, 1), 60, "its end")
    gates[1].open()
    job.check_ok()
    all_back(job, reader, tool, MUCH + 10, "it dies", 0)


def dies_reading():
    """A tool dies in a flood, and then another one: each has what it has read,
    and all else is on the console. A line may be cut where it died."""
    folder = tempfile.mkdtemp(dir=live.TMP)
    job, gates = start(flow(folder))
    gates[0].open()
    reader, tools = pmix.Reader(job), []
    for nth in range(3):
        tool = pmix.Tool(job, "-R", "-c", 2)
        tool.wait_ready()
        tools.append(tool)
        live.eventually(lambda t=tool: t.taken() > live.MIB, 60, "it has some")
        tool.proc.kill()
        tool.wait()
        live.eventually(lambda n=nth: ended(job, n + 1), 60, "its end")
    lasts = stop_flow(job, folder)
    missing = missing_of(reader.end(), tools, lasts, "dies")
    # What it had read, and not put away.
    live.check(missing * 100 <= live.MIB // 2, "%d are missing" % missing)
    live.check("are lost" not in job.said(), job.said())


def never_takes(last):
    """The job ends, and the tool takes nothing. When it goes on, it has what
    was in its socket; the job's end does not wait for the rest."""
    job, gates = start(write(1, last, 100))
    reader = pmix.Reader(job)
    tool = pmix.Tool(job, "-R", "-c", 2)
    tool.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    job.check_ok()
    os.kill(tool.proc.pid, signal.SIGCONT)
    tool.wait()
    all_back(job, reader, tool, last, "it takes nothing",
             min(pmix.told_twice(job), 8 * live.MIB))


def disk_is_full():
    """What a tool does not take cannot be stored: the console gets its output
    again, and nothing is lost."""
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, MUCH + 10, 100),
                       wrap=["sh", "-c", 'ulimit -f 2048; exec "$@"', "sh"])
    reader = pmix.Reader(job)
    tool = pmix.Tool(job, "-R", "-c", 2)
    tool.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    live.eventually(lambda: "reads its redirected output too slowly" in
                    job.said(),
                    60, "it falls behind")
    os.kill(tool.proc.pid, signal.SIGCONT)
    live.eventually(lambda: tool.taken() > 0, 60, "it goes on")
    gates[1].open()
    job.check_ok()
    tool.wait()
    # From then on it has copies.
    all_back(job, reader, tool, MUCH + 10, "the disk is full", WIDE + 4000)


class Pace(threading.Thread):
    """Lets a tool take one output after another, some in a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.gate = live.Gate()
        self.hold = open_pace(self.gate)
        self.is_over = threading.Event()
        self.start()

    def run(self):
        while not self.is_over.wait(0.3):
            os.write(self.hold, b".")

    def end(self):
        self.is_over.set()
        self.join()
        os.close(self.hold)


def takes_its_time():
    """The job ends, and the tool would need more time for the rest than the end
    waits for tools, a minute, though it does take what comes."""
    pace = Pace()
    job, gates = start(write(1, MUCH, 100))
    reader = pmix.Reader(job)
    tool = pmix.Tool(job, "-R", "-c", 2, "-P", pace.gate.path)
    tool.wait_ready()
    gates[0].open()
    job.check_ok(150)
    pace.end()
    tool.wait()
    shown = all_back(job, reader, tool, MUCH, "it takes its time",
                     min(pmix.told_twice(job), 8 * live.MIB))
    live.check(tool.taken() > 0 and any(shown.values()), "both have some")


def another_has_it(dies, *options):
    """Two tools redirect; one takes nothing and deregisters, or dies: the
    console gets none of what the other one has."""
    pace = live.Gate()
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, MUCH + 10, 100),
                       options=options)
    reader = pmix.Reader(job)
    hold = open_pace(pace)
    slow, other = Leaver(job, "-P", pace.path), Leaver(job)
    slow.wait_ready()
    other.wait_ready()
    gates[0].open()
    live.eventually(lambda: other.taken() == WIDE, 60, "the other one has all")
    if dies:
        slow.proc.kill()
    else:
        slow.say_leave()
    os.close(hold)
    live.eventually(lambda: ended(job, 1), 60, "its end")
    other.say_leave()
    live.eventually(lambda: ended(job, 2), 60, "the other one's")
    gates[1].open()
    job.check_ok()
    check_once(reader.end(), [other], [other.end()], [MUCH + 10] * RANKS,
               "two")
    if dies:
        slow.wait()
    else:
        slow.end()


def helper_dies_of_two():
    """Two tools take output, and the helper of the slow one dies: the other
    one goes on."""
    job, gates = start(write(1, MUCH, 100), write(MUCH + 1, MUCH + 10, 100))
    reader = pmix.Reader(job)
    slow, other = (pmix.ready(job, "-R", "-c", 2) for _ in range(2))
    live.stop(slow.proc.pid)
    gates[0].open()
    live.eventually(lambda: other.taken() == WIDE, 60, "the other one has all")
    pmix.kill_helper(job)
    os.kill(slow.proc.pid, signal.SIGCONT)
    live.check_eq(0, slow.wait(), "it was cut off")
    gates[1].open()
    job.check_ok()
    live.check_eq(0, other.wait())
    all_back(job, reader, other, MUCH + 10, "two, and a helper dies", 0)


def in_files():
    """The same with a second place to go to, which has as much."""
    folder = tempfile.mkdtemp(dir=live.TMP)
    in_a_flood("--output-dir", folder)


def main():
    pmix.need()
    for test, sentence in (
            (in_a_flood, "it deregisters while output flows"),
            (in_files, "the same, with files"),
            (a_copier_goes, "another one goes that has copies"),
            (goes_at_once, "it goes before what it had has gone back"),
            (much_waits, "it deregisters while much waits for it"),
            (dies, "it dies while much waits for it"),
            (dies_before_another_leaves, "it dies before another one leaves"),
            (many_die, "one after another dies"),
            (dies_reading, "it dies while it reads"),
            (lambda: never_takes(MUCH), "it takes nothing until the end"),
            (lambda: never_takes(MUCH // 10), "the same with less"),
            (takes_its_time, "it is slow, and the job is over"),
            (disk_is_full, "the disk is full"),
            (lambda: another_has_it(False), "another one redirects, too"),
            (lambda: another_has_it(True), "the same, and it dies"),
            (lambda: another_has_it(True, "--pmix-cache=64K"),
             "the same with output from before"),
            (helper_dies_of_two, "the same, and its helper dies"),
            (helpers_die, "one helper after another dies")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

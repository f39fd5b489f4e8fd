#!/usr/bin/env python3
"""A client of the door gets output instead of the console. Output that it has
not acknowledged when it leaves is shown on the console, before anything newer.

Processes write numbered lines, so that each is known by its rank and number.
"""
import collections
import os
import random
import sys
import tempfile

import doors
import live
from live import check, check_eq

RANKS = 3
LINES = 60000
SEED = int(os.environ.get("XYLEM_TEST_SEED") or
           random.SystemRandom().getrandbits(32))
PACED = 'seq -f "$XYLEM_RANK %%06g" %d | while read a b; do ' \
        'echo "$a $b"; done'


class Run:
    """A job whose console is a file; its processes begin with the gate."""

    def __init__(self, lines=LINES, command=None, options=()):
        self.lines = lines
        self.out = tempfile.TemporaryFile(dir=live.TMP)
        self.gate = live.Gate()
        command = command or 'seq -f "$XYLEM_RANK %%06g" %d' % lines
        self.job = live.Job("-N", RANKS, *options, "--", "sh", "-c",
                            live.Gate.WAIT + command, self.gate.path,
                            stdout=self.out)
        self.pid = self.job.proc.pid

    def client(self, flags=doors.REDIRECTS, limit=0, channels=doors.STDOUT):
        client = doors.Client(self.pid)
        client.attach()
        client.pull(channels, flags, 0, limit)
        body = client.expect("PULLED")
        check_eq(flags & doors.REDIRECTS, body[0], "it redirects")
        return client

    def shown(self):
        return os.pread(self.out.fileno(),
                        os.fstat(self.out.fileno()).st_size, 0)

    def shown_lines(self):
        """Numbers by rank, in their order."""
        return split(self.shown())

    def finish(self):
        self.job.check_ok()
        return self.shown_lines()


def split(mem):
    numbers = collections.defaultdict(list)
    for line in mem.splitlines():
        rank, number = line.split()
        numbers[int(rank)].append(int(number))
    return numbers


class Reader:
    """What a client has read, and which of it it has acknowledged."""

    def __init__(self, client):
        self.client = client
        self.read = [b""] * RANKS   # of all that it has read
        self.acked = [b""] * RANKS
        self.due = []               # outputs that are not acknowledged

    def take(self, count):
        """Takes this many outputs, or fewer when the client is cut off."""
        for _ in range(count):
            output = self.client.output()
            if output is None:
                return False
            check_eq((0, 0), (output.dropped, output.before), "all came")
            self.read[output.proc] += output.mem
            self.due.append(output)
        return True

    def acknowledge(self, count):
        """While something is due the session is there."""
        if count == 0:
            return
        for output in self.due[:count]:
            self.acked[output.proc] += output.mem
        del self.due[:count]
        self.client.taken(self.client.outputs - len(self.due))


def numbers(mem):
    """The numbers of whole lines."""
    return {int(line.split()[1]) for line in mem.splitlines()
            if len(line) == len(b"0 123456")}


def check_union(run, readers):
    """Console and clients have all; both have only what was not
    acknowledged."""
    shown = run.finish()
    for rank in range(RANKS):
        here = shown[rank]
        check(here == sorted(set(here)), "rank %d: in order, none twice" % rank)
        read = [numbers(reader.read[rank]) for reader in readers]
        acked = [numbers(reader.acked[rank]) for reader in readers]
        missing = set(range(1, run.lines + 1)) - set(here).union(*read)
        check(not missing, "rank %d: %d are nowhere: %s" % (
            rank, len(missing), sorted(missing)[:5]))
        twice = set(here).intersection(set().union(*acked))
        check(not twice, "rank %d: %d were acknowledged and are shown: %s" % (
            rank, len(twice), sorted(twice)[:5]))


def all_of_it():
    run = Run()
    reader = Reader(run.client())
    run.gate.open()
    ends = 0
    while ends < RANKS:
        reader.take(1)
        ends += reader.due[-1].is_end
        if len(reader.due) > 20:
            reader.acknowledge(len(reader.due))
    reader.acknowledge(len(reader.due))
    run.job.check_ok()
    check_eq(b"", run.shown(), "nothing is on the console")
    check_union(run, [reader])


def one_that_goes():
    """Half of what it has read is acknowledged; the console has the rest."""
    run = Run()
    reader = Reader(run.client())
    run.gate.open()
    reader.take(12)
    reader.acknowledge(6)
    reader.client.close()
    check_union(run, [reader])
    check(run.shown(), "the console has the rest")


def many_that_go():
    """At random moments, some with others beside them; the processes write
    slowly, so that much of it lies between, and stay until all have gone."""
    chance = random.Random(SEED)
    lines = 15000
    last = live.Gate()
    run = Run(lines, PACED % lines + '; : <%s' % last.path)
    readers, there = [], []
    run.gate.open()
    for _ in range(50):
        reader = Reader(run.client())
        readers.append(reader)
        there.append(reader)
        for one in there:
            one.client.sock.settimeout(0.05)
            try:
                one.take(chance.randrange(40))
            except TimeoutError:
                pass
            one.acknowledge(chance.randrange(len(one.due) + 1))
        if len(there) == 2 or chance.random() < 0.5:
            there.pop(chance.randrange(len(there))).client.close()
    for one in there:
        one.client.close()
    last.open()
    print("%d clients have gone" % len(readers))
    check_union(run, readers)


def two_of_them():
    """What one has not taken the other one has."""
    run = Run()
    first, second = Reader(run.client()), Reader(run.client())
    run.gate.open()
    first.take(5)
    first.client.close()
    ends = 0
    while ends < RANKS:
        second.take(1)
        ends += second.due[-1].is_end
    second.acknowledge(len(second.due))
    check_union(run, [second])
    check_eq(b"", run.shown(), "nothing is on the console")


def one_that_takes_nothing():
    """The client is behind at its limit, and gets copies; when it goes the
    console has all that it had alone."""
    run = Run(600000)
    client = run.client(limit=1)
    run.gate.open()
    live.eventually(lambda: "reads its redirected output too slowly" in
                    run.job.said(), 60, "the user is told")
    live.eventually(run.shown, 60, "the console has output again")
    client.close()
    run.job.check_ok()
    shown = run.shown_lines()
    for rank in range(RANKS):
        check(sorted(shown[rank]) == list(range(1, run.lines + 1)),
              "rank %d: each line is there once" % rank)


def the_end():
    """A job that is over does not wait long for one that takes nothing."""
    run = Run(1000)
    client = run.client()
    run.gate.open()
    shown = run.finish()
    for rank in range(RANKS):
        check_eq(list(range(1, run.lines + 1)), shown[rank])
    said = client.hear()
    while said[0] not in (None, "REFUSED"):
        said = client.hear()
    check(b"is shown on the session's console" in said[1], said)


def nonsense():
    run = Run(10)
    for count in (1, 1 << 40):
        client = run.client()
        client.taken(count)
        check(b"not count more than" in client.expect("REFUSED"), "refused")
        client.close()
    client = doors.Client(run.pid)
    client.attach()
    client.pull(doors.STDOUT)
    check_eq(b"\0", client.expect("PULLED"), "a copy")
    client.taken(0)
    check(b"not count more than" in client.expect("REFUSED"), "refused")
    run.gate.open()
    check_eq([list(range(1, 11))] * RANKS,
             [run.finish()[rank] for rank in range(RANKS)])


def main():
    print("seed %d (XYLEM_TEST_SEED chooses another)" % SEED)
    cases = (all_of_it, one_that_goes, two_of_them, many_that_go,
             one_that_takes_nothing, the_end, nonsense)
    for one in cases:
        with live.case(one.__name__):
            one()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

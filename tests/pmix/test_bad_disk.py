#!/usr/bin/env python3
"""The temporary file of a store fails, at each write or when it is read: that
of the console, of slow stdin, of a slow client, of a tool. Data that was
accepted is then in memory, and comes out complete; no more is accepted, and
the user is told why. Data that cannot be read back is reported with its number
of bytes. A preloaded library gives the error, to writes and reads of files
without a name alone; that a disk is full is one of the two errors tried."""
import contextlib
import errno
import os
import re
import signal
import stat
import subprocess
import sys

import pmix
import clients
import live
from live import check, check_eq

RANKS = 4
STUCK = RANKS - 1
LINES = 400000  # of 10 bytes for each of the ranks
FED = 16 * live.MIB
WIDE = 200000  # of a line: more than waits for its end
OWN = 3 * live.MIB  # the same, where a launcher keeps some of it
MUCH = 5 * live.MIB  # of each rank: more than memory takes anywhere
WRITES = errno.ENOSPC, errno.EIO


class Disk:
    """A disk that fails as it is told to, from now on."""

    def __init__(self):
        self.path = os.path.join(live.TMP, "disk")
        self.env = {**live.preload("harness", "preload_disk.c"),
                    "TEST_DISK": self.path}
        self.fail()

    def fail(self, of_writes=0, of_reads=0):
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write("%d %d\n" % (of_writes, of_reads))
        os.replace(self.path + ".new", self.path)


def spilled():
    """Bytes in files without a name, of all processes of xylem; where they
    write what they say is none of these."""
    found, said = {}, set()
    for pid in live.ours():
        with contextlib.suppress(OSError):
            for fd in os.listdir("/proc/%d/fd" % pid):
                of = os.stat("/proc/%d/fd/%s" % (pid, fd))
                if int(fd) <= 2:
                    said.add(of.st_ino)
                elif stat.S_ISREG(of.st_mode) and of.st_nlink == 0:
                    found[of.st_ino] = of.st_size
    return sum(size for ino, size in found.items() if ino not in said)


def seq(rank, count=LINES):
    return b"".join(b"%d %07d\n" % (rank, n) for n in range(1, count + 1))


# --- the console: rank 0 keeps a line open, and all others' output waits

def held_console(disk):
    gates = live.Gate(), live.Gate()
    job = live.Job("-N", RANKS, "--nodes-per-daemon", RANKS, "--", "sh", "-c",
                   'test $XYLEM_RANK != 0 || { head -c %d /dev/zero | '
                   'tr "\\0" x; : <"$0"; echo; exit; }; : <"$1"; '
                   'seq -f "$XYLEM_RANK %%07.0f" %d' % (WIDE, LINES),
                   *(gate.path for gate in gates), env=disk.env)
    head = os.read(job.stdout.fileno(), WIDE)
    check(head and not head.strip(b"x"), head[:100])
    gates[1].open()
    return job, gates[0], len(head)


def check_lines(out, is_whole):
    """Those of each rank are in order, from the first one on."""
    for rank in range(1, RANKS):
        mine = b"".join(re.findall(rb"^%d \d{7}\n" % rank, out, re.M))
        want = seq(rank)
        check(mine == want if is_whole else want.startswith(mine),
              "rank %d: %d bytes" % (rank, len(mine)))


def console(disk, err):
    disk.fail(err)
    job, gate, shown = held_console(disk)
    live.eventually(lambda: "cannot wait in a temporary file" in
                    job.said(), 60, "it is told")
    gate.open()
    out = job.stdout.read()
    job.check_ok()
    check_lines(out, True)
    check_eq(WIDE - shown, out.count(b"x"))
    check_eq(1, job.said().count("cannot wait in a temporary file (%s; TMPDIR" %
                                 os.strerror(err)), job.said())


def console_reads(disk):
    job, gate, _ = held_console(disk)
    live.eventually(lambda: spilled() > live.MIB, 60, "it is in the file")
    disk.fail(0, errno.EIO)
    gate.open()
    check_lines(job.stdout.read(), False)
    check_eq(1, job.wait(), job.said())
    told = re.findall(r"(\d+) bytes of output that waited for stdout are lost: "
                      r"the temporary file that held them cannot be read \("
                      r"Input/output error\)",
                      job.said())
    check(len(told) == 1 and int(told[0]) > live.MIB // 2, job.said())


# --- stdin of a process that does not read

def held_stdin(disk):
    gate = live.Gate()
    job = live.Job("-N", RANKS, "--nodes-per-daemon", RANKS,
                   "--stdin-slow=spill", "--", "sh", "-c",
                   'test $XYLEM_RANK != %d || : <"$0"; cksum' % STUCK,
                   gate.path, stdin=subprocess.PIPE, env=disk.env)
    live.Feeder(job.stdin, FED).start()
    return job, gate


def stdin(disk, err):
    disk.fail(err)
    job, gate = held_stdin(disk)
    live.eventually(lambda: "any further" in job.said(), 60, "it is told")
    gate.open()
    check_eq([live.cksum(FED)] * RANKS, job.stdout.read().decode().splitlines())
    job.check_ok()
    told = [line for line in job.said().splitlines() if "any further" in line]
    check(len(told) == 1 and "rank %d on " % STUCK in told[0] and
          "cannot be spilled any further (%s" % os.strerror(err) in told[0],
          job.said())


def stdin_reads(disk):
    """Bytes in the middle are missing: the job cannot go on."""
    job, gate = held_stdin(disk)
    for _ in range(RANKS - 1):
        check_eq(live.cksum(FED), job.stdout.readline().decode().rstrip("\n"))
    disk.fail(0, errno.EIO)
    gate.open()
    check_eq(b"", job.stdout.read())
    check_eq(1, job.wait(), job.said())
    check(re.search(r"spilled stdin of rank %d on \S+ cannot be read back: "
                    r"Input/output error; the job ends" % STUCK, job.said()),
          job.said())


def pushes(disk, err):
    """The stdin of a job of a dvm is pushed by its client."""
    gate = live.Gate()
    server = pmix.Dvm("-v", "-N", RANKS, "--nodes-per-daemon", RANKS,
                      "--stdin-slow=spill", env=disk.env)
    server.wait_up()
    disk.fail(err)
    one = pmix.Command("run", "--dvm", "-n", RANKS, "-i", "all", "sh", "-c",
                       'test $XYLEM_RANK != %d || : <"$0"; cksum' % STUCK,
                       gate.path, stdin=subprocess.PIPE)
    live.Feeder(one.proc.stdin, FED).start()
    live.eventually(lambda: "any further" in server.said(), 60, "it is told")
    gate.open()
    check_eq(0, one.wait(), one.said())
    check_eq([live.cksum(FED)] * RANKS, one.shown().decode().splitlines())
    check(re.search(r"stdin of rank %d of a further job on \S+ cannot be "
                    r"spilled any further \(%s; --spill-dir" % (
                        STUCK, os.strerror(err)), server.said()),
          server.said())
    server.proc.send_signal(signal.SIGTERM)
    server.wait()


# --- clients that are slow: attach, which copies, and run --dvm, which has all

def gated(size, command="head -c %d /dev/zero"):
    """A command that waits at a gate before its output, and at one after it."""
    gates = live.Gate(), live.Gate()
    return gates, ("sh", "-c", ': <"$0"; ' + command % size + '; : <"$1"',
                   *(gate.path for gate in gates))


def drain(pipe, size):
    """Reads this many bytes, or up to the end."""
    left = size
    while left > 0:
        part = os.read(pipe.fileno(), min(left, live.MIB))
        if not part:
            break
        left -= len(part)
    return size - left


def attach(disk, err):
    """What it has taken comes, and it is told how much was not."""
    gates, command = gated(OWN)
    job = live.Job("-N", RANKS, "--nodes-per-daemon", RANKS, "--raw", "--",
                   *command)
    tool = clients.attached("--pid", job.proc.pid, "--raw",
                            stdout=subprocess.PIPE, env=disk.env)
    disk.fail(err)
    gates[0].open()
    check_eq(RANKS * OWN, drain(job.stdout, RANKS * OWN), "the console")
    live.eventually(lambda: b"/var/tmp can hold more" in tool.said(), 60,
                    "it is told")
    reader = pmix.Reader(tool.proc)
    gates[1].open()
    job.check_ok()
    shown = len(reader.end())
    # The launcher keeps some of it; what it cannot keep is counted.
    missing = sum(map(int, re.findall(rb"(\d+) bytes of output are missing: "
                                      rb"they were read too slowly",
                                      tool.said())))
    check_eq(RANKS * OWN, shown + missing)
    check_eq(1 if missing else 0, tool.wait(), tool.said())
    check_eq(1, tool.said().count(os.strerror(err).encode()), tool.said())


def attach_reads(disk):
    """It ends, and says how many bytes it cannot get again."""
    gates, command = gated(OWN)
    job = live.Job("-N", RANKS, "--nodes-per-daemon", RANKS, "--raw", "--",
                   *command)
    tool = clients.attached("--pid", job.proc.pid, "--raw",
                            stdout=subprocess.PIPE, env=disk.env)
    gates[0].open()
    check_eq(RANKS * OWN, drain(job.stdout, RANKS * OWN), "the console")
    live.eventually(lambda: spilled() > live.MIB, 60, "it is in the file")
    disk.fail(0, errno.EIO)
    check(len(tool.proc.stdout.read()) > 0, "nothing is shown")
    check_eq(1, tool.wait())
    check(re.search(rb"up to [1-9]\d+ bytes of output cannot be read back from "
                    rb"their temporary file: Input/output error", tool.said()),
          tool.said())
    gates[1].open()
    job.check_ok()


def dvm(disk, err):
    """The output of its client is not read: its job waits."""
    gates, command = gated(MUCH)
    server = pmix.Dvm("-v", "-N", RANKS, "--nodes-per-daemon", RANKS,
                      env=disk.env)
    server.wait_up()
    disk.fail(err)
    one = pmix.Command("run", "--dvm", "-n", RANKS, "--raw", *command,
                       stdout=subprocess.PIPE, env=disk.env)
    for gate in gates:
        gate.open()
    live.eventually(lambda: b"/var/tmp can hold more" in one.said() and
                    "are held back" in server.said(), 60, "it is told")
    check_eq(RANKS * MUCH, len(pmix.Reader(one.proc).end()))
    check_eq(0, one.wait(), one.said())
    check_eq(1, one.said().count(os.strerror(err).encode()), one.said())
    server.proc.send_signal(signal.SIGTERM)
    server.wait()


# --- a tool that is stopped: its copies wait with its helper, what it redirects
# in the launcher

def stopped(disk, *options, of_lines=False):
    gates, command = gated(*(
        (LINES, 'seq -f "$XYLEM_RANK %%07.0f" %d') if of_lines else (MUCH,)))
    job = pmix.Job("-v", "-N", RANKS, "--nodes-per-daemon", RANKS,
                   *(() if of_lines else ("--raw",)), "--", *command,
                   env=disk.env)
    pmix.wait_up(job)
    tool = pmix.ready(job, "-n", 2 * RANKS, *options)
    live.stop(tool.proc.pid)
    return job, tool, gates


def let_go(job, tool, gate):
    """The tool has all that it is to have, and the job ends."""
    os.kill(tool.proc.pid, signal.SIGCONT)
    live.eventually(lambda: spilled() == 0, 60, "nothing waits in files")
    gate.open()
    job.check_ok()
    check_eq(0, tool.wait())


def copies(disk, err, of_reads=False):
    """The tool is told what does not come."""
    job, tool, gates = stopped(disk)
    disk.fail(0 if of_reads else err)
    gates[0].open()
    check_eq(RANKS * MUCH, drain(job.stdout, RANKS * MUCH), "the console")
    if of_reads:
        live.eventually(lambda: spilled() > RANKS * MUCH // 2, 60,
                        "it is in the file")
        disk.fail(0, err)
    let_go(job, tool, gates[1])
    check(tool.dropped() > 0, "nothing was dropped")
    check_eq(RANKS * MUCH, tool.taken() + tool.dropped())


def copies_reads(disk):
    copies(disk, errno.EIO, True)


def redirected(disk, err):
    """The console gets what the launcher has no room for; the tool gets copies
    of that."""
    job, tool, gates = stopped(disk, "-R", of_lines=True)
    reader = pmix.Reader(job)
    disk.fail(err)
    gates[0].open()
    live.eventually(lambda: reader.size > live.MIB, 60, "the console has it")
    let_go(job, tool, gates[1])
    out = reader.end().splitlines()
    for rank in range(RANKS):
        both = set(out).union((tool.got(rank, "stdout") or b"").splitlines())
        check(both.issuperset(seq(rank).splitlines()), "rank %d" % rank)
    check_eq(RANKS * len(seq(0)), tool.taken() + tool.dropped())
    check_eq(1, job.said().count("the output goes to the console again"),
             job.said())


def redirected_reads(disk):
    job, tool, gates = stopped(disk, "-R")
    gates[0].open()
    live.eventually(lambda: spilled() > RANKS * MUCH - 4 * live.MIB, 60,
                    "it is in the file")
    disk.fail(0, errno.EIO)
    let_go(job, tool, gates[1])
    check_eq(b"", job.stdout.read())
    lost = sum(map(int, re.findall(
        r"up to (\d+) bytes of redirected output are lost: Input/output error",
        job.said())))
    check(RANKS * MUCH <= tool.taken() + lost <= RANKS * MUCH + lost // 50,
          "%d bytes came, %d are lost" % (tool.taken(), lost))


def need_pmix():
    if not os.access(pmix.TOOL, os.X_OK):
        raise live.LeftOut("built without PMIx")


def main():
    if live.is_sanitized():
        live.skip("a sanitizer has to be loaded first")
    disk = Disk()
    for test, sentence in (
            (console, "the console"), (stdin, "slow stdin"),
            (pushes, "pushed stdin"), (attach, "a client that attaches"),
            (dvm, "the client of a dvm"),
            (copies, "a tool's copies"),
            (redirected, "what a tool redirects")):
        for err in WRITES:
            with live.case("%s: %s" % (sentence, os.strerror(err))):
                live.need_disk()
                if test in (pushes, dvm, copies, redirected):
                    need_pmix()
                disk.fail()
                test(disk, err)
    for test, sentence in (
            (console_reads, "the console"), (stdin_reads, "slow stdin"),
            (attach_reads, "a client that attaches"),
            (copies_reads, "a tool's copies"),
            (redirected_reads, "what a tool redirects")):
        with live.case("%s: it cannot be read again" % sentence):
            live.need_disk()
            if test in (copies_reads, redirected_reads):
                need_pmix()
            disk.fail()
            test(disk)
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A process of a further job that does not read its stdin holds up its own job
and no other, with each value of --stdin-slow, even when much input waits for
it."""
import hashlib
import os
import signal
import sys
import threading
from subprocess import PIPE

import dvms
import pmix
import live
import spawning
from live import check, check_eq
from spawning import KEEP, Kept, finish, wait_end

PIECES = 100
PIECE = "x" * 60000  # so that all are more than pipes, windows and memory hold


def late(tool, keep=KEEP):
    """A job of two, of which rank 0 reads when the gate opens."""
    go = pmix.Gate()
    return Kept(tool, 2, command="test\\s$XYLEM_RANK\\s!=\\s0\\s||\\s:\\s<"
                f"{go.path};" + keep), go


def everything():
    return "".join(f"{n}{PIECE}" for n in range(PIECES)).encode()


class Feeder(threading.Thread):
    """A tool that pushes to a job, and waits with it; its number among them."""

    def __init__(self, job, space):
        super().__init__(daemon=True)
        self.tool, self.space = spawning.connect(job), space
        self.tool.do(f"push {space} * 0{PIECE}")
        self.start()

    def run(self):
        for n in range(1, PIECES):
            self.tool.do(f"push {self.space} * {n}{PIECE}")

    def end(self):
        """All was accepted."""
        self.join()
        check_eq(0, self.tool.end())


def feed(job, tool, slow):
    """Feeds one job, and another one all the while."""
    feeder, others = Feeder(job, slow.space), Kept(tool, 2)
    for n in range(PIECES):
        tool.do(f"push {others.space} * {n}\\n")
    tool.do(f"push {others.space} *")
    wait_end(tool, others.space)
    for rank in range(2):
        others.wait(rank, b"".join(b"%d\n" % n for n in range(PIECES)))
    return feeder


def waits(*options):
    """The process gets all when it reads."""
    job, gate = spawning.start("true", *options)
    tool = spawning.connect(job)
    slow, go = late(tool)
    feeder = feed(job, tool, slow)
    check_eq(b"", slow.got(0), "it has read nothing")
    if live.FULL and not options:
        live.eventually(
            lambda: "rank 0 of a further job on %s does not read its stdin: "
                    "input pushed to its job waits for "
                    "it" % os.uname().nodename
            in job.said(), 60, "the user is told")
    if "spill=2M" in options:
        live.eventually(
            lambda: "rank 0 of a further job on %s has 2 MiB of unread "
                    "stdin, the most that is spilled "
                    "(--stdin-slow=spill=BYTES): input pushed to its job "
                    "waits for it" % os.uname().nodename in
            job.said(), 60, "the user is told")
    go.open()
    feeder.end()
    tool.do(f"push {slow.space} *")
    wait_end(tool, slow.space)
    for rank in range(2):
        slow.wait(rank, everything())
    finish(job, gate, tool)


def spills():
    """It is fed up to the bound, and beyond it."""
    for bound in ("spill", "spill=2M"):
        waits("--stdin-slow", bound, "--spill-dir", live.TMP)


def closed():
    """Its stdin ends; the other process of its job gets all."""
    job, gate = spawning.start("true", "--stdin-slow", "close=2")
    tool = spawning.connect(job)
    slow, go = late(tool)
    feeder = feed(job, tool, slow)
    live.eventually(lambda: "rank 0 of a further job on %s has not read its "
                    "stdin for 2 s" % os.uname().nodename in job.said(), 60,
                    "the user is told")
    feeder.end()
    slow.wait(1, everything())
    go.open()
    tool.do(f"push {slow.space} *")
    wait_end(tool, slow.space)
    got = slow.got(0)
    check(everything().startswith(got) and len(got) < len(everything()),
          "the beginning: %d bytes" % len(got))
    finish(job, gate, tool)


def gone(is_node):
    """The process is killed, or its node is lost: its job goes on."""
    job, gate = spawning.start("true", "--on-node-loss=continue")
    tool = spawning.connect(job)
    slow, _ = late(tool)
    pids = pids_of(job, slow.space)
    spawners = [live.parent(pid) for pid in pids]
    check(spawners[0] != spawners[1], "on two nodes")
    feeder = feed(job, tool, slow)
    os.kill(live.parent(spawners[0]) if is_node else pids[0], signal.SIGKILL)
    feeder.end()
    slow.wait(1, everything())
    tool.do(f"push {slow.space} 1 more")
    slow.wait(1, everything() + b"more")
    tool.do(f"push {slow.space} 1")
    wait_end(tool, slow.space)
    check_eq(0, tool.end())
    gate.open()
    if is_node:
        check_eq(1, job.wait(60), job.said())
    else:
        job.check_ok()


def pids_of(job, space):
    asker = pmix.Asker(job)
    asker.connect()
    rows = asker.query(f"pmix.nspace={space} pmix.qry.ptable")[0][1:]
    asker.end()
    return [int(row.split()[4]) for row in rows]


def taken(command):
    """How far it has read its stdin, a file."""
    with open(f"/proc/{command.proc.pid}/fdinfo/0", encoding="ascii") as info:
        return int(info.readline().split()[1])


def unread():
    """In a dvm, more for a job than its process reads: it waits where it comes
    from, while another job is fed, and the process gets all in the end."""
    size, most = 16 * live.MIB, 4 * live.MIB
    path = os.path.join(live.TMP, "large")
    data = os.urandom(size)
    with open(path, "wb") as file:
        file.write(data)
    dvm = dvms.start()
    go = pmix.Gate()
    with open(path, "rb") as file:
        slow = pmix.Command("run", "--dvm", "-n", 1, "sh", "-c",
                            f': <"{go.path}"; sha1sum', stdin=file)
    live.eventually(lambda: taken(slow) > 0, 60, "some is taken")
    for n in range(3):
        part = data[:live.MIB * 2]
        other = pmix.Command("run", "--dvm", "-n", 1, "cat", stdin=PIPE)
        other.proc.stdin.write(part)
        other.proc.stdin.close()
        check_eq(0, other.wait(), other.said())
        check(other.shown() == part, "as it was: %d" % n)
    check(taken(slow) < most, "%d bytes are taken" % taken(slow))
    check(pmix.spooled(dvm, dvm.proc.pid) < live.MIB, "in files of the dvm")
    go.open()
    check_eq(0, slow.wait(), slow.said())
    check_eq(hashlib.sha1(data).hexdigest() + "  -\n", slow.shown().decode())
    check_eq((0, ""), dvms.stop())
    dvms.check_end(dvm)


def wide():
    """What one tool has for two jobs goes to the one that has room, and is
    answered when the other one has it, too, behind or before a long call as a
    whole. The run's own job is its neighbour by the numbers of processes."""
    own = os.path.join(live.TMP, "own")
    job, gate = spawning.start(f'cat >{own}.$XYLEM_RANK; : <"$0"',
                               "--keep-stdin", nodes=2, wait="")
    first, second, third = (spawning.connect(job) for _ in range(3))
    slow, go = late(first)
    long = "x" * (7 * live.MIB)
    space = slow.space.rsplit(".", 1)[0]
    first.tell(f"push {slow.space} * " + long)
    second.do(f"also {space} *")
    second.tell(f"push {slow.space} * both")
    for n in range(3):
        third.do(f"push {space} * own{n}")
    live.eventually(lambda: len(live.read_file(own + ".0") or b"") == 16, 60,
                    "its own, and that of both")
    go.open()
    for tool in (first, second):
        check_eq("SUCCESS", tool.answer()[1])
    third.do(f"push {slow.space} *")
    wait_end(third, slow.space)
    for rank in range(2):
        check_eq("own0own1own2",
                 live.read_file(f"{own}.{rank}").decode().replace("both", ""))
        check(slow.got(rank).decode() in (long + "both", "both" + long),
              f"rank {rank}: calls are whole")
    third.do(f"push {space} *")
    finish(job, gate, first, second, third)


def main():
    pmix.need()
    for test, sentence in (
            (waits, "the others go on, and it gets all when it reads"),
            (spills, "the same with its bytes in a file"),
            (closed, "its stdin is closed"),
            (lambda: gone(False), "it is killed"),
            (lambda: gone(True), "its node is lost"),
            (wide, "one call for it and another job"),
            (unread, "in a dvm, much is meant for it")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

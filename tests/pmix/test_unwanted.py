#!/usr/bin/env python3
"""Output of a job that no client wants is dropped on its node: its processes go
on, hardly any bytes travel, and a tool that asks later gets all output from
then on, whatever nodes the tree has lost."""
import json
import os
import signal
import sys
import tempfile

import pmix
import live
import spawning
from live import check, check_eq

FLOOD = 64 * live.MIB // 10 * 10  # of each of two processes, in whole lines
FRAME = 64 * 1024      # of the tree, at most


class Place:
    """A folder where a job says how far it is, and hears when to end."""

    def __init__(self):
        self.path = tempfile.mkdtemp(dir=live.TMP)

    def wait(self, count):
        live.eventually(lambda: all(map(self.parent, range(count))),
                        60, "%d processes have written it all" % count)

    def parent(self, rank):
        """The process that has started this one, once it has written all."""
        said = live.read_file(os.path.join(self.path, str(rank)))
        return int(said) if said and said.endswith(b"\n") else None

    def go(self):
        open(os.path.join(self.path, "go"), "w").close()

    def stop(self):
        open(os.path.join(self.path, "stop"), "w").close()

    def wait_stopped(self, rank):
        """It has written its last line."""
        path = os.path.join(self.path, "stopped.%d" % rank)
        live.eventually(lambda: os.path.exists(path), 60, "its last line")


def words(script):
    return script.replace(" ", "\\s")


def flood(place, then="true"):
    """Each process writes that much, and says so in the folder."""
    return ("yes something | head -c %d; echo $PPID >%s/$XYLEM_RANK; "
            % (FLOOD, place.path) + then)


def leave(job, what, place):
    """The namespace of a job that does that when its spawner, for which its
    output was, has gone."""
    tool = spawning.connect(job)
    space, status = tool.spawn(
        "!pmix.fwd.stdout !pmix.fwd.stderr !pmix.nohup " + what +
        words("while [ ! -e %s/go ]; do sleep 0.02; done; %s"
              % (place.path, flood(place, ticks(place)))))
    check_eq("SUCCESS", status)
    check_eq(0, tool.end())
    live.eventually(lambda: "has disconnected" in job.said(), 60,
                    "its spawner has gone")
    place.go()
    return space


def ticks(place):
    """Numbered lines until it is to stop."""
    return ("n=0; while [ ! -e {0}/stop ]; do n=$((n+1)); echo line $n; "
            "sleep 0.02; done; echo last; echo >{0}/stopped.$XYLEM_RANK"
            .format(place.path))


def check_ticks(tool, space, rank):
    """All lines from some one on; the last of the flood may be before them."""
    lines = (tool.got(space, rank) or "").splitlines()
    while lines[:1] == ["something"]:
        lines.pop(0)
    first = int(lines[0].split()[1]) if len(lines) > 1 else 1
    check_eq(["line %d" % n for n in range(first, first + len(lines) - 1)] +
             ["last"], lines, "rank %d" % rank)


def ask(job, tool, space):
    """A pull, and its first output."""
    live.eventually(lambda: "nobody reads" in job.said(), 60, "dropped")
    tool.do(f"pull {space} * pmix.iof.csize:0")
    live.eventually(lambda: all(tool.got(space, rank) for rank in range(2)),
                    60, "something has come")


def next_to_nothing():
    """Two processes without a listener write more than all buffers on the way
    hold, and end."""
    stats = os.path.join(live.TMP, "stats")
    job, gate = spawning.start("true", "--stats", stats)
    tool = spawning.connect(job)
    place = Place()
    space, status = tool.spawn("-- 2 sh -c " + words(flood(place)))
    check_eq("SUCCESS", status)
    tool.do("events " + space)
    place.wait(2)
    tool.wait_event("JOB ENDED", space)
    check("nobody reads" in job.said(), job.said())
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()
    with open(stats, encoding="utf-8") as file:
        up = json.load(file)["frames"]["up"]
    check(up * 4 < 2 * FLOOD / FRAME, "%d frames went up" % up)


def asked_later():
    """A tool that comes in the middle, and another one when it has gone."""
    job, gate = spawning.start()
    place = Place()
    space = leave(job, "-- 2 sh -c ", place)
    tool = spawning.connect(job)
    place.wait(2)
    ask(job, tool, space)
    place.stop()
    tool.wait_ends(space, 2)
    for rank in range(2):
        check_ticks(tool, space, rank)
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def heard_of(size):
    """A pull is answered when the nodes have heard of it: what is written from
    then on comes, whether some of what was before is kept or nothing. The order
    is late for rank 1, as the daemon on its way is stopped for a moment."""
    job, gate = spawning.start("true", "--nodes-per-daemon", 1, "--arity", 1)
    place = Place()
    space = leave(job, size + "-- 2 sh -c ", place)
    tool = spawning.connect(job)
    place.wait(2)
    live.eventually(lambda: "nobody reads" in job.said(), 60, "dropped")
    daemon = live.parent(place.parent(0))
    os.kill(daemon, signal.SIGSTOP)
    tool.tell(f"pull {space} * pmix.iof.csize:0")
    live.eventually(lambda: pmix.pulls_heard(job) > 0, 60, "it asks")
    if not tool.lines.empty():
        place.stop()
        place.wait_stopped(1)
    os.kill(daemon, signal.SIGCONT)
    check_eq("SUCCESS", tool.answer()[1])
    place.stop()
    tool.wait_ends(space, 2)
    if pmix.has_heard(job):
        for rank in range(2):
            check_ticks(tool, space, rank)
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()
    return pmix.has_heard(job)


def kept():
    """The first bytes of what was dropped are kept, the gap is told, and what
    comes from the pull on follows, to the byte."""
    job, gate = spawning.start()
    place = Place()
    space = leave(job, "pmix.iof.csize:5000 -- 2 sh -c ", place)
    tools = [spawning.connect(job) for _ in range(2)]
    place.wait(2)
    live.eventually(lambda: "nobody reads" in job.said(), 60, "dropped")
    tools[0].do(f"pull {space} *")
    tools[1].do(f"pull {space} * pmix.iof.old")
    for tool in tools:
        live.eventually(lambda: all("line" in (tool.got(space, rank) or "")
                                    for rank in range(2)), 60, "new lines")
    place.stop()
    for tool, is_last in zip(tools, (False, True)):
        tool.wait_ends(space, 2)
        for rank in range(2):
            check_kept(tool.got(space, rank), tool.before(space, rank), is_last)
        check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def check_kept(got, before, is_last):
    """`got` is a flood and lines, without `before` bytes in one place."""
    last = int(got.splitlines()[-2].split()[1])
    whole = "something\n" * (FLOOD // 10 + 1)
    whole = whole[:FLOOD] + "".join("line %d\n" % n
                                    for n in range(1, last + 1)) + "last\n"
    check_eq(len(whole), len(got) + before, "bytes in all")
    at = 0 if is_last else 5000
    check(got[:at] == whole[:at], "the first bytes")
    check(got[at:] == whole[at + before:], "what follows")


def after_a_loss():
    """The daemon between the launcher and a job's node dies: what is wanted is
    known there as before."""
    job, gate = spawning.start("true", "--nodes-per-daemon", 1, "--arity", 1,
                               "--on-node-loss", "continue", nodes=3)
    place = Place()
    space = leave(job, "!pmix.ppr=1:node -- 3 sh -c ", place)
    tool = spawning.connect(job)
    place.wait(3)
    live.eventually(lambda: "nobody reads" in job.said(), 60, "dropped")
    os.kill(live.parent(place.parent(0)), signal.SIGKILL)
    live.eventually(lambda: "has a new parent" in job.said(), 60, "repaired")
    tool.do(f"pull {space} * pmix.iof.csize:0")
    live.eventually(lambda: all(tool.got(space, rank) for rank in (1, 2)),
                    60, "something has come")
    place.stop()
    live.eventually(lambda: {(space, rank, "stdout") for rank in range(3)} <=
                    set(tool.ends), 60, "all has come")
    for rank in (1, 2):
        check_ticks(tool, space, rank)
    check_eq(0, tool.end())
    gate.open()
    job.wait()


def main():
    pmix.need()
    for test, sentence in (
            (next_to_nothing, "next to nothing travels"),
            (asked_later, "who asks later"),
            (lambda: pmix.until_heard(heard_of, ""),
             "what is written when its pull was answered"),
            (lambda: pmix.until_heard(heard_of, "pmix.iof.csize:0 "),
             "the same where nothing is kept"),
            (kept, "what is kept of it"),
            (after_a_loss, "a daemon on the way dies")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A tool that spawns a job with PMIX_FWD_STDOUT and the like gets its output
without a pull: the tool's library shows it, from the first byte to the
last."""
import collections
import os
import select
import signal
import sys
import time
import threading

import pmix
import clients
import live
import spawning
from live import check, check_eq

BOTH = "!pmix.fwd.stdout !pmix.fwd.stderr "
KEPT_JOBS = 32  # that are over
LINES = live.full(20000, 1000)
FLOOD = live.full(2000000, 300000)
MEGS = live.full(96, 20)


def words(script):
    return script.replace(" ", "\\s")


def finish(job, gate, *tools):
    for tool in tools:
        check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def wait_end(tool, space):
    """The end of a job comes behind its output."""
    tool.do("events " + space)
    tool.wait_event("JOB ENDED", space)


def exact():
    """Short lines, long ones, one that does not end; beside a second job whose
    lines come at the same time."""
    job, gate = spawning.start()
    tool = spawning.connect(job)
    script = words(
        f"seq {LINES} | sed s/^/$XYLEM_SIZE:$XYLEM_RANK:/; "
        "printf %0200000d $XYLEM_RANK; echo x; "
        "echo err $XYLEM_SIZE $XYLEM_RANK >&2; printf last$XYLEM_SIZE")
    spaces = [tool.spawn(BOTH + f"-- {size} sh -c {script}")[0]
              for size in (2, 3)]
    for space in spaces:
        wait_end(tool, space)
    check_eq(0, tool.end())
    got = tool.shown().splitlines()
    for size in (2, 3):
        for rank in range(size):
            mark = f"{size}:{rank}:"
            check([line for line in got if line.startswith(mark)] ==
                  [mark + str(n + 1) for n in range(LINES)],
                  "lines of rank %d of %d" % (rank, size))
            check("%0200000d" % rank + "x" in got, "a long line")
        check_eq(size, got.count(f"last{size}"), "last lines")
    check_eq(5 * (LINES + 2), len(got), "lines in all")
    check_eq(sorted(f"err {size} {rank}" for size in (2, 3)
                    for rank in range(size)),
             sorted(tool.shown("stderr").splitlines()))
    finish(job, gate)


def at_once():
    """Jobs of several tools are over before they are answered: each tool gets
    its own output, once."""
    job, gate = spawning.start()
    tools = [spawning.connect(job) for _ in range(3)]
    last = {}
    for round_ in range(live.full(50, 10)):
        for nth, tool in enumerate(tools):
            tool.tell(f"spawn {BOTH}-- 2 echo {nth} {round_}")
        for tool in tools:
            said, status = tool.answer()
            check_eq("SUCCESS", status)
            last[tool] = said[0]
    for nth, tool in enumerate(tools):
        wait_end(tool, last[tool])
        # One that was started before may still run.
        live.eventually(lambda t=tool: t.shown().count("\n") >=
                        2 * (round_ + 1), 60, "all lines")
        check_eq(0, tool.end())
        check_eq([f"{nth} {r}" for r in range(round_ + 1) for _ in "12"],
                 sorted(tool.shown().splitlines(),
                        key=lambda line: int(line.split()[1])))
    finish(job, gate)


def pulled():
    """What the tool pulls itself is not shown as well; another tool's pull
    changes nothing."""
    job, gate = spawning.start()
    door = pmix.Gate()
    tool, other = spawning.connect(job), spawning.connect(job)
    space = tool.spawn(BOTH + "-- 2 sh -c "
                       + words(": <$0; echo out; echo err >&2")
                       + " " + door.path)[0]
    tool.do(f"pull {space} * out pmix.iof.cpy")
    other.do(f"pull {space} *")
    live.eventually(lambda: pmix.pulls_heard(job) == 2, 60, "both pull")
    check("PMIx pull 1 copies" in job.said(), job.said())
    door.open()
    tool.wait_ends(space, 2, ("stdout",))
    other.wait_ends(space, 2)
    wait_end(tool, space)
    finish(job, gate, tool, other)
    for rank in range(2):
        check_eq("out\n", tool.got(space, rank))
        check_eq("out\n", other.got(space, rank))
        check_eq("err\n", other.got(space, rank, "stderr"))
    check_eq("", tool.shown())
    check_eq("err\nerr\n", tool.shown("stderr"))


def left():
    """What the spawner has pulled is shown again when it leaves the pull."""
    job, gate = spawning.start()
    tool = spawning.connect(job)
    doors = [pmix.Gate() for _ in range(3)]
    space = tool.spawn(BOTH + "-- 2 sh -c " + words(
        ": <$0; echo one; : <$1; echo two; echo err >&2; : <$2; echo three") +
        " " + " ".join(door.path for door in doors))[0]
    first = tool.pull(f"{space} * out")
    second = tool.pull(f"{space} 1")
    doors[0].open()
    live.eventually(lambda: (tool.got(space, 0), tool.got(space, 1)) ==
                    ("one\n", "one\none\n"), 60, "both are pulled")
    tool.do(f"leave {first}")
    doors[1].open()
    live.eventually(lambda: (tool.shown(), tool.shown("stderr")) ==
                    ("two\n", "err\n"), 60, "the one is shown again")
    live.eventually(lambda: tool.got(space, 1) == "one\none\ntwo\n", 60,
                    "the other one is pulled")
    tool.do(f"leave {second}")
    tool.pull(f"{space} 0 out")
    doors[2].open()
    tool.wait_ends(space, 1, ("stdout",))
    wait_end(tool, space)
    finish(job, gate, tool)
    check_eq("one\nthree\n", tool.got(space, 0))
    check_eq("one\none\ntwo\n", tool.got(space, 1))
    check_eq(["three", "two"], sorted(tool.shown().split()))


def left_often():
    """A flood whose spawner pulls it and leaves that again, all the time: each
    line comes once, shown or pulled. What is under way for the pull when it
    leaves may be shown before what was not pulled and waits."""
    job, gate = spawning.start()
    tool = spawning.connect(job)
    door = pmix.Gate()
    space = tool.spawn(BOTH + "-- 2 sh -c " + words(
        f": <$0; seq -f $XYLEM_RANK:%.0f {FLOOD}") + " " + door.path)[0]
    turns, size = 0, 2 * len(numbers(0, FLOOD))
    tool.do("events " + space)
    door.open()
    while not tool.happened("JOB ENDED", space):
        (pull,), _ = tool.ask(f"pull {space} * out")
        tool.do(f"leave {pull}")
        turns += 1
    live.eventually(lambda: sum(map(len, tool.outputs.values())) +
                    len(tool.shown()) >= size, 60, "all has come")
    print("# left %d times" % turns)
    finish(job, gate, tool)
    shown = tool.shown().splitlines()
    for rank in range(2):
        parts = [[line for line in text if line.startswith(f"{rank}:")]
                 for text in (shown, (tool.got(space, rank) or "").split())]
        steps = [(one, two) for one, two in zip(parts[1], parts[1][1:])
                 if int(one[2:]) > int(two[2:])]
        check_eq([], steps, "what is pulled is in its order")
        check(sorted(parts[0] + parts[1]) ==
              sorted(numbers(rank, FLOOD).split()),
              "rank %d: %d and %d lines" % (rank, *map(len, parts)))


def numbers(rank, count):
    return "".join(f"{rank}:{n + 1}\n" for n in range(count))


def answered():
    """What is written once a pull is answered comes, even when the launcher is
    stopped while a tool asks."""
    job, gate = spawning.start("echo out")
    tool = spawning.connect(job)
    own = tool.spawn("-- 1 true")[0].rsplit(".", 1)[0]
    live.stop(job.proc.pid)
    goes_on = threading.Timer(0.3, job.proc.send_signal, (signal.SIGCONT,))
    goes_on.start()
    tool.do(f"pull {own} * out pmix.iof.cpy")
    gate.open()
    tool.wait_ends(own, 3, ("stdout",))
    goes_on.join()
    check("PMIx pull 1 copies" in job.said(), job.said())
    check_eq(b"out\n" * 3, job.stdout.read(), "the console")
    check_eq(0, tool.end())
    job.check_ok()
    if not pmix.has_heard(job):
        return False
    for rank in range(3):
        check_eq("out\n", tool.got(own, rank), "rank %d" % rank)
    return True


def answered_often():
    for _ in range(5):
        pmix.until_heard(answered)


def late():
    """A pull of a job that has ended is told at once that all channels have
    ended."""
    job, gate = spawning.start()
    tool = spawning.connect(job)
    space = tool.spawn(BOTH + "-- 2 echo out")[0]
    wait_end(tool, space)
    tool.do(f"pull {space} *")
    tool.wait_ends(space, 2)
    finish(job, gate, tool)
    check_eq("out\nout\n", tool.shown())


def started_late():
    """What was kept of a started job: as much as its spawn says, or the run, or
    a pull; and all that follows."""
    others = ("", "pmix.iof.old", "pmix.iof.csize:500", "pmix.iof.csize:90000",
              "pmix.iof.csize:0")
    for said, size in (("pmix.iof.csize:5000 ", 5000), ("", 777),
                       ("pmix.iof.csize:0 ", 0),
                       ("pmix.iof.csize:5000 pmix.iof.old ", -5000)):
        pmix.until_heard(check_late, said, size,
                         others if size == 5000 else others[:1])


def check_late(said, size, others):
    """Where nothing was kept for a tool its answer alone shows that the nodes
    have heard of it."""
    job, gate = spawning.start("true", "--pmix-cache", 777)
    first, second = pmix.Gate(), pmix.Gate()
    tool = spawning.connect(job)
    space = tool.spawn(BOTH + said + "-- 2 sh -c " + words(
        f": <{first.path}; seq 3000; : <{second.path}; echo new"))[0]
    old = "".join(f"{n + 1}\n" for n in range(3000))
    first.open()
    live.eventually(lambda: len(tool.shown()) == 2 * len(old), 60, "shown")
    tools = []
    for other in others:
        late = spawning.connect(job)
        late.do(f"pull {space} * {other}".rstrip())
        most = int(other.split(":")[1]) if ":" in other else abs(size)
        most = min(most, abs(size))
        is_last = size < 0 or other == "pmix.iof.old"
        want = old[len(old) - most:] if is_last else old[:most]
        live.eventually(lambda: all((late.got(space, rank) or "") == want
                                    for rank in range(2)), 60, "what was kept")
        tools.append((late, want, len(old) - most if most > 0 else 0))
    second.open()
    for late, _, _ in tools:
        late.wait_ends(space, 2)
        check_eq(0, late.end())
    wait_end(tool, space)
    finish(job, gate, tool)
    check_eq(2, tool.shown().count("new\n"), "the spawner has it once")
    has_heard = pmix.has_heard(job)
    for late, want, before in tools:
        if want == "" and not has_heard:
            return False
        for rank in range(2):
            check_eq(want + "new\n", late.got(space, rank))
            check_eq(before, late.before(space, rank), "not kept")
    return True


def asked_again():
    """The spawner's own pull has from before as much as it names, of a job that
    runs and of one that is over."""
    job, gate = spawning.start()
    door = pmix.Gate()
    tool = spawning.connect(job)
    space = tool.spawn(BOTH + "-- 1 sh -c " + words(
        "echo one; : <$0; echo two") + " " + door.path)[0]
    live.eventually(lambda: tool.shown() == "one\n", 60, "shown")
    tool.do(f"pull {space} 0 out pmix.iof.csize:3")
    door.open()
    tool.wait_ends(space, 1, ("stdout",))
    wait_end(tool, space)
    check_eq("onetwo\n", tool.got(space, 0))
    check_eq(1, tool.before(space, 0), "the newline")
    check_eq("one\n", tool.shown(), "what is pulled is not shown")
    last = tool.spawn(BOTH + "-- 1 echo all")[0]
    wait_end(tool, last)
    tool.do(f"pull {last} * out pmix.iof.csize:100")
    tool.wait_ends(last, 1, ("stdout",))
    check_eq("all\n", tool.got(last, 0))
    finish(job, gate, tool)


def ended_before():
    """The kept output of a job that is over comes to any tool that asks,
    except its spawner, which had it; until so many others are over that the
    job is forgotten."""
    job, gate = spawning.start()
    tool = spawning.connect(job)
    seq = "".join(f"{n + 1}\n" for n in range(1000))
    space = tool.spawn(BOTH + "-- 2 sh -c " + words(
        "seq 1000; echo err >&2"))[0]
    wait_end(tool, space)
    tool.do(f"pull {space} *")
    tool.wait_ends(space, 2)
    for _ in range(2):
        late = spawning.connect(job)
        late.do(f"pull {space} *")
        late.wait_ends(space, 2)
        for rank in range(2):
            check_eq(seq, late.got(space, rank))
            check_eq("err\n", late.got(space, rank, "stderr"))
            check_eq(0, late.before(space, rank))
        check_eq(0, late.end())
    for last in [tool.spawn(BOTH + "-- 1 true")[0] for _ in range(KEPT_JOBS)]:
        wait_end(tool, last)
    late = spawning.connect(job)
    late.do(f"pull {space} *")
    late.wait_ends(space, 2)
    check_eq({}, late.outputs, "it is forgotten")
    finish(job, gate, late, tool)
    check_eq(None, tool.got(space, 0), "its spawner had it")
    check_eq(collections.Counter(2 * seq.split()),
             collections.Counter(tool.shown().split()), "once")


def forgotten():
    """Half a minute after its end nothing is kept of it."""
    job, gate = spawning.start()
    tool = spawning.connect(job)
    space = tool.spawn(BOTH + "-- 1 echo here")[0]
    wait_end(tool, space)
    start_s = time.monotonic()

    def is_gone():
        late = spawning.connect(job)
        late.do(f"pull {space} *")
        late.wait_ends(space, 1)
        check_eq(0, late.end())
        return late.outputs == {}

    is_kept = not is_gone()
    check(is_kept or time.monotonic() - start_s > 25, "it is kept")
    live.eventually(is_gone, 120, "it is forgotten")
    finish(job, gate, tool)


def at_its_start():
    """A spawner that pulls at once has all of it, from the first byte: shown up
    to some line, to its callback from there on, nothing twice."""
    job, gate = spawning.start()
    tool = spawning.connect(job)
    shown = 0
    for _ in range(live.full(50, 10)):
        space = tool.spawn(BOTH + f"-- 1 seq {LINES}")[0]
        tool.do(f"pull {space} *")
        tool.wait_ends(space, 1)
        wait_end(tool, space)
        seq = "".join(f"{n + 1}\n" for n in range(LINES))
        rest = tool.got(space, 0) or ""
        check(seq.endswith(rest), "a run of its lines")
        shown += len(seq) - len(rest)
    finish(job, gate, tool)
    check_eq(shown, len(tool.shown()), "what its library has shown")


def lost_before():
    """What a lost node has kept of a job that is over is lost; other nodes
    have theirs."""
    job, gate = spawning.start("true", "--nodes-per-daemon", 1,
                               "--on-node-loss", "continue", nodes=2)
    tool = spawning.connect(job)
    space = tool.spawn(BOTH + "!pmix.ppr=1:node -- 2 sh -c " + words(
        "echo $PPID; echo out"))[0]
    wait_end(tool, space)
    live.eventually(lambda: tool.shown().count("out\n") == 2, 60, "shown")
    late = spawning.connect(job)
    late.do(f"pull {space} *")
    late.wait_ends(space, 2)
    os.kill(live.parent(int(late.got(space, 1).split()[0])), signal.SIGKILL)
    live.eventually(lambda: "lost" in job.said(), 60, "lost")
    late = spawning.connect(job)
    late.do(f"pull {space} *")
    late.wait_ends(space, 2)
    check_eq(None, late.got(space, 1), "it is lost")
    check_eq("out", late.got(space, 0).split()[1])
    gate.open()
    job.wait()


def refused():
    """A job has only forwarded what it was started with."""
    job, gate = spawning.start()
    tool, other = spawning.connect(job), spawning.connect(job)
    none = tool.spawn("-- 1 sleep 1000")[0]
    out = tool.spawn("!pmix.fwd.stdout -- 1 sleep 1000")[0]
    for order in (f"pull {none} * out", f"pull {none} *", f"pull {out} * err",
                  f"pull {out} *", f"pull {out} * diag",
                  f"pull {none} * diag"):
        for who in (tool, other):
            check_eq("NOT SUPPORTED", who.ask(order)[1], order)
    for name in ("STDOUT", "STDERR", "STDDIAG"):
        live.eventually(lambda n=name: "was not started with PMIX_FWD_" + n in
                        job.said(), 60, "it says so")
    other.do(f"pull {out} * out")
    finish(job, gate, other, tool)


def attached():
    """xylem attach shows all of such a job, whatever its spawner gets."""
    job, gate = spawning.start()
    tool = spawning.connect(job)
    for asked in ("stdout", "stderr"):
        door = pmix.Gate()
        space = tool.spawn(f"!pmix.fwd.{asked} -- 1 sh -c " + words(
            f": <{door.path}; echo out; echo err >&2"))[0]
        attach = clients.Attach("--nspace", space)
        attach.wait_attached()
        door.open()
        check_eq(0, attach.wait(), attach.said())
        check_eq(b"out\n", attach.shown())
        check(b"\nerr\n" in attach.said(), attach.said())
    finish(job, gate, tool)


def diagnosed():
    job, gate = spawning.start()
    tool = spawning.connect(job)
    space = tool.spawn("!pmix.fwd.stddiag -- 2 sh -c " + words(
        "eval 'echo diag >&'$XYLEM_STDDIAG_FD; echo out"))[0]
    wait_end(tool, space)
    finish(job, gate, tool)
    check_eq("diag\ndiag\n", tool.shown("stderr"))
    check_eq("", tool.shown(), "stdout was not asked for")


def killed():
    """Spawners are killed in a flood; others go on, and the run does."""
    job, gate = spawning.start("echo own")
    flood = BOTH + "!pmix.nohup -- 2 yes"
    stays = spawning.connect(job)
    for _ in range(3):
        tool = spawning.connect(job)
        space = tool.spawn(flood)[0]
        live.eventually(lambda: "y\n" in tool.shown(), 60, "it floods")
        tool.proc.kill()
        tool.proc.wait()
        mine = stays.spawn(BOTH + "-- 2 seq 1000")[0]
        wait_end(stays, mine)
        stays.do(f"signal {space} * 9")
        wait_end(stays, space)
    check_eq(0, stays.end())
    got = stays.shown().splitlines()
    check_eq(6000, len(got))
    check_eq({str(n + 1): 6 for n in range(1000)}, collections.Counter(got))
    check("the helper xylem-pmix" not in job.said(), job.said())
    gate.open()
    check_eq(b"own\n" * 3, job.stdout.read())
    job.check_ok()


def take(tool, size):
    """Returns this many bytes of what the tool's library shows, or fewer at
    the end."""
    parts = []
    while size > 0 and (part := os.read(tool.pipe, min(size, live.MIB))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def slow():
    """A tool that always takes a sixth of what comes delays no other, and gets
    all of it. What waits for it does so in a file."""
    job, gate = spawning.start()
    tool = spawning.connect(job, is_piped=True)
    door, done = pmix.Gate(), pmix.Gate()
    door.open()
    done.open()
    space = tool.spawn("!pmix.fwd.stdout -- 1 sh -c " + words(
        "while read -r n; do seq -f %015.0f $n $((n + 65535)); echo >$1; done "
        "<$0") + f" {door.path} {done.path}")[0]
    got = b""
    for n in range(MEGS):
        os.write(door.fd, b"%d\n" % (n * 65536))
        live.eventually(lambda: select.select([done.fd], [], [], 0)[0], 120,
                        "it has written")
        os.read(done.fd, 1)
        got += take(tool, live.MIB // 6)
    os.close(door.fd)
    check(pmix.spooled(job) > 0, "nothing is in a file")
    got += take(tool, MEGS * live.MIB - len(got))
    wait_end(tool, space)
    check_eq(0, tool.end())
    check_eq(b"", take(tool, 1), "more")
    check(got == b"".join(b"%015d\n" % n for n in range(MEGS * 65536)),
          "%d bytes" % len(got))
    finish(job, gate)


def main():
    pmix.need()
    for test, sentence in (
            (exact, "all of it, line by line"),
            (at_once, "jobs that end at once, of several tools"),
            (pulled, "a pull takes the place of what is shown"),
            (left, "a pull that its spawner leaves"),
            (left_often, "and again and again"),
            (answered_often, "a pull that is answered holds"),
            (late, "a pull of a job that is over"),
            (at_its_start, "a spawner that pulls at once"),
            (started_late, "what was before, of a job that runs"),
            (asked_again, "and where its spawner asks for it"),
            (ended_before, "and of one that is over"),
            *live.full([(forgotten, "for half a minute")], []),
            (lost_before, "and of a lost node"),
            (refused, "what a job does not forward cannot be pulled"),
            (attached, "xylem attach has the rest of it"),
            (diagnosed, "stddiag"),
            (slow, "a spawner that is slow all the time"),
            (killed, "spawners that are killed in a flood")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

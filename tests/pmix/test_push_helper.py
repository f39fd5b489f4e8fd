#!/usr/bin/env python3
"""The helper is killed while tools push: accepted bytes arrive, each once and
in order; of a push without an answer perhaps the beginning arrives; later
pushes follow."""
import os
import signal
import subprocess
import sys

import pmix
import live
import spawning
from pushing import KEEP, Session, Taker, make_file
from live import check, check_eq

FILE = os.path.join(live.TMP, "pushed")
SIZE = 8 * live.MIB  # more than memory, pipes and windows hold
CALL = 100000  # several messages


def gated(ranks=1, **more):
    """No process reads before the gate is open."""
    gate = pmix.Gate()
    return Taker(ranks, command=': <"%s"; ' % gate.path + KEEP, **more), gate


def pushing(taker, script, *options):
    """A tool that does that, for as long as it takes."""
    tool = taker.tool(*options)
    tool.stdin.write(script.encode())
    tool.stdin.close()
    return tool


def run_on(tool):
    """Runs to the end of the tool, whose helper dies; returns how many pushes
    were accepted."""
    said = tool.stdout.read()
    check_eq(0, tool.wait(60 * live.SLOW), "the tool")
    return int(said.split()[0])


def beside():
    """The helper dies in the middle of a call: another tool's call comes
    behind the part that has gone, and is not affected by the death."""
    want = make_file(FILE, SIZE)
    gate = pmix.Gate()
    taker = Taker(2, command='test $XYLEM_RANK = 0 || : <"%s"; ' % gate.path +
                  KEEP)
    first = Session(taker)
    check_eq("SUCCESS", first.ask("p * first"))
    tool = pushing(taker, "f * %d %s\n" % (SIZE, FILE))
    live.eventually(lambda: len(taker.got(0)) > 100, 60, "the call has begun")
    other = pushing(taker, "p * after\n")
    live.eventually(lambda: len(pmix.helpers_of(taker.job)) == 4, 60,
                    "three and the reserve")
    os.kill(pmix.helpers_of(taker.job)[1], signal.SIGKILL)
    check_eq(0, run_on(tool), "calls that were accepted")
    gate.open()
    check_eq(1, run_on(other), "of the other tool")
    for line in "p * more", "z *":
        check_eq("SUCCESS", first.ask(line))
    first.end()
    taker.job.check_ok()
    came = taker.got(0)
    check_eq(came, taker.got(1))
    check(came.startswith(b"first\n") and came.endswith(b"after\nmore\n"),
          "calls of others")
    check(want.startswith(came[len(b"first\n"):-len(b"after\nmore\n")]),
          "the beginning of the call")


def midst():
    """While pushes come and are read."""
    line = "%06d " + "h" * 3000 + "\n"
    with open(FILE, "w", encoding="ascii") as file:
        file.write("".join("p 0 " + line % n for n in range(5000)))
    taker = Taker(1)
    with open(FILE, "rb") as file:
        tool = taker.tool("-w", 4, stdin=file)
    live.eventually(lambda: len(taker.got(0)) > 30000, 60, "some is there")
    pmix.kill_helper(taker.job)
    accepted = run_on(tool)
    check_eq("2 0", taker.push("p 0 after\nz 0\n")[-1])
    taker.job.check_ok()
    lines = taker.got(0).decode().splitlines(keepends=True)
    check_eq("after\n", lines.pop())
    check(lines == [line % n for n in range(len(lines))], "in order, once")
    check(accepted <= len(lines) <= accepted + 4, "%d were accepted, %d came" %
          (accepted, len(lines)))


def points():
    """The helper dies between any two messages of a push: the beginning of
    that push comes, and behind it what others push."""
    if live.is_sanitized():
        return  # they have to be loaded first
    die = os.path.join(live.TMP, "die")
    env = {**live.preload("pmix", "preload_die.c"), "XYLEM_TEST_DIE": die}
    want = make_file(FILE, live.MIB)
    for limit in live.full(range(1, 10), (1, 2, 4, 7)):
        with open(die, "w", encoding="ascii") as file:
            file.write("%d\n" % limit)
        taker, gate = gated(2, env=env)
        tool = pushing(taker, "f * %d %s\n" % (CALL, FILE), "-w", 3)
        accepted = run_on(tool) * CALL
        check(not os.path.exists(die), "it was killed")
        after = pushing(taker, "p * after\np 1 to one\n")
        gate.open()
        check_eq(2, run_on(after))
        check_eq("1 0", taker.push("z *\n")[-1])
        taker.job.check_ok()
        came = taker.got(0)
        check(came.endswith(b"after\n"), "what came after")
        check_eq(came + b"to one\n", taker.got(1))
        came = came[:-len(b"after\n")]
        check(want.startswith(came), "what came before")
        check(accepted <= len(came), "%d: %d bytes accepted, %d came" % (
            limit, accepted, len(came)))
        check(len(came) <= limit * 32 * 1024, "no more than was sent")


OWN = 'read -r line; echo "$line" >"$0.$XYLEM_RANK"; : <"%s"; exec cat >>' \
      '"$0.$XYLEM_RANK"'


def own_end():
    """The launcher's own stdin ends: that of the processes ends behind all
    that was accepted. They have what it had before any tool pushes: the
    launcher reads its stdin when it gets round to it."""
    gate = pmix.Gate()
    taker = Taker(2, keep=False, command=OWN % gate.path,
                  stdin=subprocess.PIPE)
    taker.job.stdin.write(b"own\n")
    taker.job.stdin.flush()
    live.eventually(lambda: taker.got(0) == taker.got(1) == b"own\n", 60,
                    "its own")
    session = Session(taker)
    check_eq("SUCCESS", session.ask("p * first"))
    want = make_file(FILE, SIZE)
    tool = pushing(taker, "f * %d %s\n" % (CALL, FILE))
    live.eventually(lambda: len(pmix.helpers_of(taker.job)) == 3, 60,
                    "it has a helper")
    taker.job.stdin.close()
    for _ in range(2):
        pmix.kill_helper(taker.job)
    session.tool.communicate(timeout=60 * live.SLOW)
    accepted = run_on(tool) * CALL
    gate.open()
    taker.job.check_ok()
    for rank in range(2):
        came = taker.got(rank)
        check_eq(b"own\nfirst\n", came[:10])
        check(want.startswith(came[10:]), "rank %d: as it was" % rank)
        check(accepted <= len(came) - 10 < len(want),
              "rank %d: %d accepted, %d came" % (rank, accepted,
                                                 len(came) - 10))


def spawned():
    """Tools have started two jobs. One goes with its tool's helper, and what
    it was to get is dropped; the other one stays, and gets what was accepted
    for it."""
    job, gate = spawning.start("cat", "--keep-stdin", nodes=2)
    tool = spawning.connect(job)
    base = os.path.join(live.TMP, "stays")
    go = pmix.Gate()
    want = b""
    gone, status = tool.spawn("!pmix.fwd.stdin:0 -- 1 sleep 1000")
    check_eq("SUCCESS", status)
    stays, status = tool.spawn(
        "!pmix.nohup !pmix.fwd.stdin:0 -- "
        f"1 sh -c :\\s<{go.path};cat\\s>$0 {base}")
    check_eq("SUCCESS", status)
    own = gone.rsplit(".", 1)[0]
    for n in range(40):
        text = "%d %s" % (n, "s" * 600)
        tool.do(f"push {gone} 0 " + text.replace(" ", "\\s"))
        tool.do(f"push {stays} 0 " + text.replace(" ", "\\s") + "\\n")
        tool.do(f"push {own} * {n}\\n")
        want += text.encode() + b"\n"
    pmix.kill_helper(job)
    tool.proc.wait()
    tool = spawning.connect(job)
    go.open()
    gate.open()
    tool.do(f"push {stays} 0 after")
    tool.do(f"push {stays} 0")
    tool.do(f"push {own} *")
    check_eq(0, tool.end())
    out = job.stdout.read().decode().splitlines()
    check_eq(sorted(2 * [str(n) for n in range(40)]), sorted(out))
    job.check_ok()
    live.eventually(lambda: live.read_file(base) == want + b"after", 60,
                    "what was for the one that stays")


def main():
    pmix.need()
    for test, sentence in (
            (beside, "the helper is killed within a call, beside others"),
            (midst, "the helper is killed in the middle"),
            (points, "the helper is killed between two messages"),
            (own_end, "the launcher's stdin ends, and the helper is killed"),
            (spawned, "pushes to jobs that tools have started")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The helper is killed while tools push: what was accepted comes, each byte
once and in its order; of what has no answer perhaps the beginning; and what
comes later comes behind it."""
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
SIZE = live.full(96, 24) * live.MIB  # more than memory, pipes and windows hold
CALL = 100000  # several messages


def gated(ranks=1, **more):
    """Nobody reads before the gate is open."""
    gate = pmix.Gate()
    return Taker(ranks, command=': <"%s"; ' % gate.path + KEEP, **more), gate


def push_file(taker, size):
    """All of it is accepted; what it is."""
    want = make_file(FILE, size)
    said = taker.push("f * 300000 %s\n" % FILE)
    check_eq("0", said[-1].split()[1], "pushes that failed")
    return want


def kill(taker):
    pmix.kill_helper(taker.job)
    pmix.wait_up(taker.job)


def finish(taker, want, ranks=1):
    """Ends the stdin of all; this is what they got."""
    check_eq("1 0", taker.push("z *\n")[-1])
    taker.job.stdout.read()
    taker.job.check_ok()
    for rank in range(ranks):
        came = taker.got(rank)
        check(came == want, "rank %d: %d bytes of %d, equal to %d" % (
            rank, len(came), len(want),
            len(os.path.commonprefix([came, want]))))
    check("lost" not in taker.job.said(), "nothing is told as lost: %s" %
          taker.job.said())


def full():
    """Again and again, with much on its way each time."""
    taker, gate = gated(3)
    want = push_file(taker, SIZE)
    kill(taker)
    want += push_file(taker, live.MIB)
    check_eq("1 0", taker.push("p * between\n")[-1])
    kill(taker)
    want += b"between\n" + push_file(taker, 8 * live.MIB)
    check_eq(b"", b"".join(map(taker.got, range(3))), "somebody has read")
    kill(taker)
    gate.open()
    finish(taker, want, 3)


FLOOD = ': <"%s"; yes 0123456789abcde | head -c 16777216; ' + KEEP


def go_on(pid):
    os.kill(pid, signal.SIGCONT)
    live.eventually(lambda: live.state(pid) in b"RSD", 60, "it goes on")


def stands_still(looks=8):
    """The flood does, for so many looks: few, as the launcher waits a few
    seconds only for a helper that is stopped."""
    seen = []

    def look():
        seen.append([live.read_proc(pid, "io") for pid in
                     live.descendants(live.RUNNER)
                     if live.read_proc(pid, "comm").startswith(b"head")])
        return len(seen) > looks and seen[-1] != [] and \
            all(one == seen[-1] for one in seen[-looks:])

    live.eventually(look, 60, "the flood stands still")


def last_words():
    """The launcher has much to say to it, and has not read what it said."""
    gate = pmix.Gate()
    taker = Taker(1, command=FLOOD % gate.path)
    reader = pmix.Tool(taker.job, "-R")
    reader.wait_ready()
    session = Session(taker)
    check_eq("SUCCESS", session.ask("p 0 one"))
    launcher, helper = taker.job.proc.pid, pmix.helper_of(taker.job)
    live.stop(helper)
    gate.open()
    stands_still()
    live.stop(launcher)
    go_on(helper)
    for text in "two", "three":
        check_eq("SUCCESS", session.ask("p 0 " + text))
    os.kill(helper, signal.SIGKILL)
    live.eventually(lambda: live.state(helper) in (b"Z", b""), 60, "it is dead")
    go_on(launcher)
    check_eq(0, reader.wait(), "the reader was cut off")
    session.tool.communicate(timeout=60 * live.SLOW)
    pmix.wait_up(taker.job)
    check_eq("1 0", taker.push("z *\n")[-1])
    taker.job.stdout.read()
    taker.job.check_ok()
    check_eq(b"one\ntwo\nthree\n", taker.got(0))


def run_on(tool):
    """To the end of the tool, whose helper dies: how many were accepted."""
    said, _ = tool.communicate(timeout=60 * live.SLOW)
    check_eq(0, tool.returncode, "the tool")
    return int(said.split()[0])


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
    pmix.wait_up(taker.job)
    check_eq("2 0", taker.push("p 0 after\nz 0\n")[-1])
    taker.job.check_ok()
    lines = taker.got(0).decode().splitlines(keepends=True)
    check_eq("after\n", lines.pop())
    check(lines == [line % n for n in range(len(lines))], "in order, once")
    check(accepted <= len(lines) <= accepted + 4, "%d were accepted, %d came" %
          (accepted, len(lines)))


def points():
    """Between any two messages of a push: its beginning comes, and behind it
    what others push."""
    if live.is_sanitized():
        return  # they have to be loaded first
    die = os.path.join(live.TMP, "die")
    env = {**live.preload("pmix", "preload_die.c"), "XYLEM_TEST_DIE": die}
    want = make_file(FILE, live.MIB)
    for limit in live.full(range(1, 10), (1, 2, 4, 7)):
        with open(die, "w", encoding="ascii") as file:
            file.write("%d\n" % limit)
        taker, gate = gated(2, env=env)
        tool = taker.tool("-w", 3, stdin=subprocess.PIPE)
        tool.stdin.write(b"f * %d %s\n" % (CALL, FILE.encode()))
        accepted = run_on(tool) * CALL
        live.eventually(lambda: not os.path.exists(die), 60, "it was killed")
        pmix.wait_up(taker.job)
        check_eq("2 0", taker.push("p * after\np 1 to one\n")[-1])
        gate.open()
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
    """The launcher's own stdin ends: that of the processes does behind all that
    was accepted. What it had is with them before anybody pushes: the launcher
    reads its stdin when it comes to that."""
    gate = pmix.Gate()
    taker = Taker(2, keep=False, command=OWN % gate.path,
                  stdin=subprocess.PIPE)
    taker.job.stdin.write(b"own\n")
    taker.job.stdin.flush()
    live.eventually(lambda: taker.got(0) == taker.got(1) == b"own\n", 60,
                    "its own")
    session = Session(taker)
    check_eq("SUCCESS", session.ask("p * first"))
    want = push_file(taker, 8 * live.MIB)
    taker.job.stdin.close()
    pmix.kill_helper(taker.job)
    session.tool.communicate(timeout=60 * live.SLOW)
    pmix.wait_up(taker.job)
    gate.open()
    taker.job.check_ok()
    for rank in range(2):
        came = taker.got(rank)
        check_eq(b"own\nfirst\n", came[:10])
        check(came[10:] == want, "rank %d: %d bytes of %d" % (
            rank, len(came) - 10, len(want)))


def no_disk():
    """Where the launcher's file takes no more the answers wait."""
    gate = pmix.Gate()
    taker = Taker(command='ulimit -S -f unlimited; : <"%s"; ' % gate.path +
                  KEEP, ranks=1,
                  wrap=["sh", "-c", 'ulimit -S -f 4096; exec "$@"', "sh"])
    want = make_file(FILE, 12 * live.MIB)
    tool = taker.tool("-w", 100)
    tool.stdin.write(b"f * %d %s\n" % (CALL, FILE.encode()))
    tool.stdin.close()
    launcher = taker.job.proc.pid
    live.eventually(lambda: pmix.spooled(taker.job, launcher) > 3 << 19, 60,
                    "it is full")
    os.kill(pmix.helper_of(taker.job), signal.SIGKILL)
    said = tool.stdout.read()
    accepted = int(said.split()[0]) * CALL
    check_eq(0, tool.wait(60 * live.SLOW), "the tool")
    check(live.MIB < accepted < len(want) - live.MIB, "%d accepted" % accepted)
    pmix.wait_up(taker.job)
    after = taker.tool()
    after.stdin.write(b"p * after\n")
    after.stdin.close()
    gate.open()
    check_eq(b"1 0\n", after.stdout.read())
    check_eq("1 0", taker.push("z *\n")[-1])
    taker.job.check_ok()
    came = taker.got(0)
    check(came.endswith(b"after\n"), "what came after")
    came = came[:-len(b"after\n")]
    check(want.startswith(came), "what came before")
    check(accepted <= len(came), "%d bytes accepted, %d came" % (
        accepted, len(came)))


def spawned():
    """Of jobs that tools have started: one goes with its tool's helper, what it
    was to get is for nobody; one stays, and gets what was accepted for it."""
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
        text = "%d %s" % (n, "s" * 60000)
        tool.do(f"push {gone} 0 " + text.replace(" ", "\\s"))
        tool.do(f"push {stays} 0 " + text.replace(" ", "\\s") + "\\n")
        tool.do(f"push {own} * {n}\\n")
        want += text.encode() + b"\n"
    pmix.kill_helper(job)
    tool.proc.wait()
    pmix.wait_up(job)
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
            (full, "the helper is killed with much in it"),
            (last_words, "the helper is killed before it is heard"),
            (midst, "the helper is killed in the middle"),
            (points, "the helper is killed between two messages"),
            (own_end, "the launcher's stdin ends, and the helper is killed"),
            (no_disk, "the launcher's disk is full"),
            (spawned, "pushes to jobs that tools have started")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The helper of one tool is a client of a session's door. Unmodified tools
start jobs in a real run, get their output without a pull and by pulls, and get
the events of these jobs; an event that one tool notifies reaches another one.
"""
import collections
import os
import signal
import sys

import helped
import pmix
import live
import spawning
from live import check, check_eq

NODES = 3
BOTH = "!pmix.fwd.stdout !pmix.fwd.stderr "
SESSION, JOB_END = 4, -145  # a range of events, and PMIX_EVENT_JOB_END
LINES = live.full(200000, 40000)


def words(script):
    return script.replace(" ", "\\s")


class Rig:
    """A run whose processes wait at a gate, and helpers beside it; its own one
    is not where tools look."""

    def __init__(self, command="true", *options, nodes=NODES):
        self.gate, self.helpers = pmix.Gate(), []
        self.job = live.Job(
            "-v", "-N", nodes, *options, "--", "sh", "-c",
            pmix.Gate.WAIT + command, self.gate.path,
            env={**os.environ, "TMPDIR": os.environ["XDG_RUNTIME_DIR"]})
        live.eventually(lambda: "processes are running" in self.job.said(), 60,
                        "all run")
        live.eventually(lambda: os.path.exists(helped.door_of(self.job)), 30,
                        "its door")

    def _connect(self, make):
        """One after another: each finds the file of its own helper."""
        helper = helped.Helper(self.job)
        tool = make(helper)
        check(tool.connect(), "connected")
        used = os.path.join(helper.dir, "used")
        os.rename(helper.path, used)
        helper.path = used
        tool.helper = helper
        self.helpers.append(helper)
        self.name = helper.proxy.name
        return tool

    def start(self, is_piped=False):
        return self._connect(lambda helper: spawning.Starter(helper, is_piped))

    def ask(self):
        return self._connect(pmix.Asker)

    def end(self, *tools):
        """The tools leave, then the run ends."""
        for tool in tools:
            check_eq(0, tool.end(), "a tool")
        for helper in self.helpers:
            helper.gone()
        self.gate.open()
        self.job.check_ok()


def spawned(tool, what):
    space, status = tool.spawn(what)
    check_eq("SUCCESS", status, what)
    return space


def heard(tool, space):
    """Its end, behind all of its output."""
    tool.do("events " + space)
    return tool.wait_event("JOB ENDED", space)


def numbers(count):
    return "".join("%d\n" % n for n in range(1, count + 1))


def begun():
    """A tool starts two programs as one job, with their ranks, directories and
    environments, and asks for what the session knows of them."""
    rig = Rig("echo own")
    tool = rig.start()
    door, place = pmix.Gate(), os.path.realpath(live.TMP)
    script = words(": <$0; echo $XYLEM_RANK of $XYLEM_SIZE in $PWD $WHAT; "
                   "echo bad >&2")
    space = spawned(tool, BOTH + f"-- cwd={place} env=WHAT=first 2 sh -c "
                    f"{script} {door.path} : cwd=/ env=WHAT=second 3 sh -c "
                    f"{script} {door.path}")
    check(space.startswith(rig.name + "."), space)
    tool.do(f"pull {space} *")
    door.open()
    tool.wait_ends(space, 5)
    for rank in range(5):
        where, what = (place, "first") if rank < 2 else ("/", "second")
        check_eq(f"{rank} of 5 in {where} {what}\n", tool.got(space, rank))
        check_eq("bad\n", tool.got(space, rank, "stderr"))
    check(heard(tool, space).endswith(" SUCCESS"), tool.events)
    rig.end(tool)
    check_eq(("", ""), (tool.shown(), tool.shown("stderr")), "pulled")
    check_eq(b"own\n" * NODES, rig.job.stdout.read())


def refused():
    """The status says why."""
    rig = Rig()
    tool = rig.start()
    for what, want in (
            ("-- 1 /no/such", "NOT FOUND"),
            ("-- 1 /etc/passwd", "NOT EXECUTABLE"),
            ("!pmix.wdir=/no/such -- 1 true", "DIRECTORY NOT FOUND"),
            ("pmix.host=nix -- 1 true", "NOT FOUND"),
            ("pmix.host=a[ -- 1 true", "BAD PARAM"),
            ("pmix.fwd.stdin:7 -- 2 true", "BAD PARAM"),
            ("pmix.addhost=nix -- 1 true", "ALLOC"),
            ("pmix.iof.file=x pmix.iof.fpt -- 1 true", "SUCCESS"),
            ("pmix.iof.file=%q pmix.iof.fpt -- 1 true", "RESOURCE"),
            ("-- 1000 true", "RESOURCE")):
        said = tool.spawn(what)[1] or ""
        check(want in said.replace("-", " ").replace("_", " "),
              what + ": " + said)
    rig.end(tool)


def left():
    """A job ends with its tool, however that goes; one that is to stay does
    not."""
    rig = Rig("echo own")
    other = rig.start()
    for leaves in (lambda tool: tool.end(), lambda tool: tool.proc.kill()):
        tool = rig.start()
        script = words("trap '' TERM; echo here; while :; do sleep 1; done")
        spaces = [spawned(tool, what) for what in (
            "-- 2 sleep 1000", f"-- 1 sh -c {script}")]
        door = pmix.Gate()
        kept = spawned(tool, "!pmix.nohup !pmix.fwd.stdout -- 1 sh -c "
                       ":\\s<$0 " + door.path)
        for space in spaces + [kept]:
            other.do("events " + space)
        leaves(tool)
        for space in spaces:
            check("SIG" in other.wait_event("JOB ENDED", space), other.events)
        check(not other.happened("JOB ENDED", kept), "it stays")
        door.open()
        check(other.wait_event("JOB ENDED", kept).endswith("SUCCESS"),
              other.events)
    rig.end(other)


def shown():
    """All output comes from the first byte on, line by line, and the end of the
    job behind it."""
    rig = Rig()
    tool = rig.start()
    spaces = [spawned(tool, BOTH + "-- 2 sh -c " + words(
        f"seq -f $XYLEM_RANK:%.0f {LINES}; echo err >&2; printf open"))
              for _ in range(2)]
    for space in spaces:
        heard(tool, space)
    rig.end(tool)
    got = collections.Counter(tool.shown().splitlines())
    want = collections.Counter(
        ["%d:%d" % (rank, n + 1) for rank in range(2) for n in range(LINES)] * 2
        + ["open"] * 4)
    check(got == want, "%d of %d lines" % (got.total(), want.total()))
    check_eq("err\n" * 4, tool.shown("stderr"))


def at_once():
    """Jobs that end at once: what they have written is shown when the end is
    heard."""
    rig = Rig()
    tool = rig.start()
    for n in range(live.full(40, 10)):
        heard(tool, spawned(tool, BOTH + "-- 1 echo %d" % n))
    rig.end(tool)
    check_eq(sorted(map(str, range(live.full(40, 10)))),
             sorted(tool.shown().split()))


def formats():
    """What the library shows has the formats of the spawn."""
    pmix.until_5("the helper's library has made them, too")
    rig = Rig()
    tool = rig.start()
    space = spawned(tool, "!pmix.fwd.stdout !pmix.iof.tag -- 2 echo tagged")
    heard(tool, space)
    check_eq({"[%s,%d]<stdout>: tagged" % (space, rank) for rank in range(2)},
             set(tool.shown().splitlines()))
    rig.end(tool)


def formats_of_files():
    """Files are as the run makes them."""
    rig = Rig()
    tool = rig.start()
    name = os.path.join(live.TMP, "out")
    space = spawned(tool, "!pmix.fwd.stdout !pmix.iof.tag "
                    f"!pmix.iof.file={name} -- 2 echo tagged")
    heard(tool, space)
    for rank in range(2):
        check_eq(b"[%s,%d]<stdout>: tagged\n" % (space.encode(), rank),
                 live.read_file("%s.%s.%d.stdout" % (name, space, rank)))
    rig.end(tool)


def files():
    """Files only, of which the library shows nothing; a pull ends all the
    same."""
    rig = Rig()
    tool = rig.start()
    name = os.path.join(live.TMP, "files")
    space = spawned(tool, "!pmix.fwd.stdout !pmix.iof.fonly "
                    f"!pmix.iof.dir={name} -- 1 echo file")
    heard(tool, space)
    check_eq(b"file\n", live.read_file(
        os.path.join(name, space, "rank.0", "stdout")))
    check_eq("", tool.shown(), "files only")
    tool.do(f"pull {space} * out")
    tool.wait_ends(space, 1, ("stdout",))
    rig.end(tool)


def at_its_start():
    """A spawner that pulls at once has all of it: shown up to some line, to its
    callback from there on, nothing twice."""
    rig = Rig()
    tool = rig.start()
    seq, count = numbers(LINES), 0
    for _ in range(live.full(20, 5)):
        space = spawned(tool, BOTH + f"-- 1 seq {LINES}")
        tool.do(f"pull {space} *")
        tool.wait_ends(space, 1)
        heard(tool, space)
        rest = tool.got(space, 0) or ""
        check(seq.endswith(rest), "a run of its lines")
        count += len(seq) - len(rest)
    rig.end(tool)
    check_eq(count, len(tool.shown()), "what its library has shown")


def pulled_and_left():
    """A pull takes the place of what is shown until its spawner leaves it, and
    so again and again; all comes once."""
    rig = Rig()
    tool = rig.start()
    door = pmix.Gate()
    space = spawned(tool, BOTH + "-- 2 sh -c " + words(
        f": <$0; seq -f $XYLEM_RANK:%.0f {LINES}") + " " + door.path)
    size = 2 * sum(len("0:%d\n" % (n + 1)) for n in range(LINES))
    turns = 0
    tool.do("events " + space)
    door.open()
    while not tool.happened("JOB ENDED", space):
        (pull,), _ = tool.ask(f"pull {space} * out")
        tool.do(f"leave {pull}")
        turns += 1
    live.eventually(lambda: sum(map(len, tool.outputs.values())) +
                    len(tool.shown()) >= size, 60, "all has come")
    print("# left %d times" % turns)
    rig.end(tool)
    lines = tool.shown().splitlines()
    for rank in range(2):
        lines += (tool.got(space, rank) or "").splitlines()
    want = ["%d:%d" % (rank, n + 1) for rank in range(2) for n in range(LINES)]
    check(sorted(lines) == sorted(want), "%d of %d lines" % (
        len(lines), len(want)))


def over():
    """A pull of a job that has ended is told the ends of its channels; the
    pull of another tool gets what was kept."""
    rig = Rig()
    tool = rig.start()
    space = spawned(tool, BOTH + "-- 2 echo out")
    heard(tool, space)
    tool.do(f"pull {space} *")
    tool.wait_ends(space, 2)
    check_eq({}, tool.outputs, "it has had that")
    other = rig.start()
    other.do(f"pull {space} *")
    other.wait_ends(space, 2)
    check_eq(["out\n"] * 2, [other.got(space, rank) for rank in range(2)])
    last = spawned(tool, BOTH + "-- 1 echo all")
    heard(tool, last)
    tool.do(f"pull {last} * out pmix.iof.csize:100")
    tool.wait_ends(last, 1, ("stdout",))
    check_eq("all\n", tool.got(last, 0), "as it says")
    none = spawned(tool, "-- 1 sleep 1000")
    check_eq("NOT SUPPORTED", other.ask(f"pull {none} *")[1])
    rig.end(other, tool)
    check_eq("out\nout\nall\n", tool.shown())


def notified():
    """What a tool notifies another one hears, and it does not hear it again."""
    rig = Rig()
    one, other = rig.ask(), rig.ask()
    for tool in (one, other):
        check_eq("SUCCESS", tool.ask("events " + rig.name)[1])
    check_eq("SUCCESS", one.ask(f"notify {JOB_END} {SESSION}")[1])
    live.eventually(lambda: "JOB ENDED end" in other.events, 60, "it is heard")
    rig.end(one, other)


def slow():
    """A spawner that takes nothing delays no other, and has all of it when it
    goes on."""
    rig = Rig()
    tool = rig.start(is_piped=True)
    done = pmix.Gate()
    done.open()
    count = live.full(4000000, 1000000)
    tool.tell("spawn !pmix.fwd.stdout -- 1 sh -c " + words(
        f"seq -f %07.0f {count}; echo >$0") + " " + done.path)
    space = tool.answer()[0][0]
    live.stop(tool.proc.pid)
    check_eq(b"\n", os.read(done.fd, 1), "it has written")
    peak = tool.helper.peak()
    check(peak < 64 * live.MIB, "%.1f MiB" % (peak / live.MIB))
    os.kill(tool.proc.pid, signal.SIGCONT)
    got = []
    while sum(map(len, got)) < 8 * count:
        got.append(os.read(tool.pipe, live.MIB))
    check(b"".join(got) == b"".join(b"%07d\n" % n
                                    for n in range(1, count + 1)), "all of it")
    heard(tool, space)
    rig.end(tool)


def courses():
    """Events of jobs, to one that asks early and one that comes late."""
    rig = Rig("exit 3")
    tool = rig.start()
    bad = spawned(tool, "-- 2 sh -c exit\\s$XYLEM_RANK")
    check(heard(tool, bad).endswith("NON-ZERO-TERM") or
          "NON" in tool.wait_event("JOB ENDED", bad), tool.events)
    late = rig.ask()
    check_eq("SUCCESS", late.ask("events " + bad)[1])
    infos = late.wait_event("JOB ENDED")
    check("1" in infos.get("pmix.exit.code", ""), infos)
    check("1" in infos.get("xylem.job.failed", ""), infos)
    check_eq("SUCCESS", late.ask("events " + rig.name)[1])
    tool.do("events " + rig.name)
    for name in ("JOB STARTED", "PMIX LAUNCH COMPLETE"):
        tool.wait_event(name, rig.name)
    rig.gate.open()
    live.check_eq(3, rig.job.wait(), "the run")
    check("NON" in tool.wait_event("JOB ENDED", rig.name), tool.events)
    for one in (tool, late):
        one.proc.wait(60)
    for helper in rig.helpers:
        helper.gone()


def main():
    pmix.need()
    if live.is_sanitized():
        live.skip("a helper ends with what libpmix has not freed")
    for test, sentence in (
            (begun, "a job of two programs"),
            (refused, "what cannot be started"),
            (left, "a job goes with its tool"),
            (shown, "all output comes by itself"),
            (at_once, "jobs that end at once"),
            (formats, "formats"),
            (formats_of_files, "formats of files"),
            (files, "files only"),
            (at_its_start, "a spawner that pulls at once"),
            (pulled_and_left, "a pull that is left, again and again"),
            (over, "pulls of a job that is over"),
            (slow, "a spawner that is stopped"),
            (notified, "what tools tell each other"),
            (courses, "events of jobs")):
        if len(sys.argv) > 1 and sys.argv[1] != test.__name__:
            continue
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

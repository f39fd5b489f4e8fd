#!/usr/bin/env python3
"""The helper of one tool is a client of a session's door. Tools and job are
real, and a proxy between helper and door records their messages.

Output is compared with what the processes write: numbers in order, which show
every byte that is missing, doubled or out of its place."""
import os
import signal
import subprocess
import sys

import helped
import pmix
import live

RANKS = 2
PUSH = os.path.join(live.BUILD, "tests", "pmix", "tool_push")
LINES = live.full(4000000, 400000)
DELIVERY = 128 * 1024  # bytes, at most
WRITE = 'seq -f "%%09.0f $XYLEM_RANK" %d; echo "err $XYLEM_RANK" >&2'


def text(rank, lines):
    return b"".join(b"%09d %d\n" % (n, rank) for n in range(1, lines + 1))


class Rig:
    """A job that writes behind a gate, its console, and a helper."""

    def __init__(self, lines=LINES, *options, command=None):
        self.lines, self.gate = lines, pmix.Gate()
        self.job = live.Job("--no-pmix", "-N", RANKS, *options, "--", "sh",
                            "-c", pmix.Gate.WAIT + (command or WRITE % lines),
                            self.gate.path)
        live.eventually(lambda: os.path.exists(helped.door_of(self.job)), 30,
                        "its door")
        self.helper = helped.Helper(self.job)
        self.name = self.helper.proxy.name
        self.reader = pmix.Reader(self.job)

    def tool(self, *options, **more):
        return self.helper.tool("-j", self.name, *options, **more)

    def check_whole(self, tool, times=1, stream="stdout"):
        for rank in range(RANKS):
            got = tool.got(rank, stream) or b""
            want = text(rank, self.lines) if stream == "stdout" else \
                b"err %d\n" % rank
            if times == 1:
                live.check(got == want, "rank %d %s: %d of %d bytes" % (
                    rank, stream, len(got), len(want)))
            live.check_eq(times * len(want), len(got), "bytes")
            live.check_eq(times, tool.ends(rank, stream), "its ends")
        live.check_eq(0, tool.dropped(), "dropped")

    def shown(self, rank):
        """Lines of a rank that the console had; the first may be a part."""
        return b"".join(line for line in self.console.splitlines(True)
                        if line.endswith(b" %d\n" % rank) and
                        not line.startswith(b"err"))

    def end(self):
        self.job.check_ok(120)
        self.console = self.reader.end()
        self.helper.gone()


def copied():
    """All of it comes, and the console has it, too."""
    rig = Rig()
    tool = rig.tool("-n", 2 * RANKS)
    rig.gate.open()
    live.check_eq(0, tool.wait(120), "the tool")
    rig.end()
    rig.check_whole(tool)
    rig.check_whole(tool, stream="stderr")
    live.check_eq(RANKS * len(text(0, rig.lines)), len(rig.console))
    live.check_eq(0, rig.helper.proxy.taken(), "it owes nothing")


def redirected():
    """All of it comes, and the console has none."""
    rig = Rig()
    tool = rig.tool("-R", "-n", 2 * RANKS)
    rig.gate.open()
    live.check_eq(0, tool.wait(120), "the tool")
    rig.end()
    rig.check_whole(tool)
    live.check_eq(0, len(rig.console))


def buffered():
    """Put together, also where the launcher waits for TAKEN."""
    for options in ((), ("-R",)):
        rig = Rig(20000)
        tool = rig.tool("-B", 300000, *options, "-n", 2 * RANKS)
        rig.gate.open()
        live.check_eq(0, tool.wait(120), "the tool")
        rig.end()
        rig.check_whole(tool)
        live.check_eq(RANKS * len(text(0, rig.lines)) if not options else 0,
                      len(rig.console))


def apart():
    """A pull for each rank; and twice the same: each has all of it once."""
    rig = Rig(LINES // 4)
    tool = rig.tool("-A", "-r", "0,1", "-n", 2 * RANKS)
    rig.gate.open()
    live.check_eq(0, tool.wait(120), "the tool")
    rig.end()
    rig.check_whole(tool)
    rig = Rig(LINES // 4)
    tool = rig.tool("-A", "-r", "0,0,1,1", "-n", 4 * RANKS)
    rig.gate.open()
    live.check_eq(0, tool.wait(120), "the tool")
    rig.end()
    rig.check_whole(tool, times=2)


def paced(rig, *options, **more):
    """A tool that takes a delivery for each byte of its gate."""
    path = os.path.join(live.TMP, "pace-%d" % rig.job.proc.pid)
    os.mkfifo(path)
    pace = os.open(path, os.O_RDWR)
    return rig.tool(*options, "-P", path, **more), pace


def slow():
    """A stopped tool that copies delays no other, costs little memory, and has
    all of it when it goes on."""
    rig = Rig()
    tool, pace = paced(rig, "-n", 2 * RANKS)
    live.stop(tool.proc.pid)
    rig.gate.open()
    size = RANKS * len(text(0, rig.lines))
    live.eventually(lambda: rig.reader.size == size, 120, "the console has all")
    peak = rig.helper.peak()
    live.check(live.is_sanitized() or peak < 48 * live.MIB,
               "%.1f MiB" % (peak / live.MIB))
    os.kill(tool.proc.pid, signal.SIGCONT)
    os.close(pace)
    live.check_eq(0, tool.wait(120), "the tool")
    rig.end()
    rig.check_whole(tool)


def dropped():
    """Beyond its bound bytes go, first or last ones, and are told."""
    for options in ((), ("-O",)):
        rig = Rig(1200000)
        tool, pace = paced(rig, "-n", 2 * RANKS, "-C", live.MIB, *options)
        rig.gate.open()
        size = RANKS * len(text(0, rig.lines))
        live.eventually(lambda: rig.reader.size == size, 120, "all is shown")
        os.close(pace)
        live.check_eq(0, tool.wait(120), "the tool")
        rig.end()
        live.check(tool.dropped() > 0, "some were dropped")
        live.check_eq(size + RANKS * len(b"err 0\n"),
                      tool.dropped() + tool.before() + tool.taken() +
                      tool.taken("stderr"))
        # What came last, or first, need not be of both.
        at = slice(-1000, None) if options else slice(1000)
        live.check(any((tool.got(rank, "stdout") or b"")[at] ==
                       text(rank, rig.lines)[at] for rank in range(RANKS)),
                   "which ones")
        for rank in range(RANKS):
            live.check_eq(1, tool.ends(rank, "stdout"), "its end")


def killed():
    """A tool that redirects dies in the middle: what it has not read is on the
    console, in order; little is there twice, and nothing is missing but what it
    had in its own memory: the delivery at which it waits."""
    rig = Rig()
    tool, pace = paced(rig, "-R")
    rig.gate.open()
    os.write(pace, b"0" * 30)
    live.eventually(lambda: tool.taken() > 10 * 4096, 60, "some came")
    live.eventually(lambda: rig.helper.proxy.taken() > 0, 60, "it is told")
    tool.proc.kill()
    tool.proc.wait()
    os.close(pace)
    rig.end()
    for rank in range(RANKS):
        got, want = tool.got(rank, "stdout") or b"", text(rank, rig.lines)
        shown = rig.shown(rank)
        twice = len(got) + len(shown) - len(want)
        live.check(want.endswith(shown), "rank %d: the rest" % rank)
        live.check(want.startswith(got), "rank %d: the first" % rank)
        live.check(-DELIVERY <= twice < 2 * live.MIB,
                   "%d bytes twice" % twice)


def left():
    """The tool deregisters in the middle, and stays: the same holds, to the
    byte with what its library had."""
    rig = Rig()
    tool, pace = paced(rig, "-R", "-d", "-c", 2, stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE)
    rest = pmix.Reader(tool.proc)
    rig.gate.open()
    os.write(pace, b"0" * 20)
    live.eventually(lambda: tool.taken() > 10 * 4096, 60, "some came")
    tool.proc.stdin.write(b"\n")
    tool.proc.stdin.flush()
    live.eventually(lambda: tool.has("leaving"), 60, "it leaves")
    os.close(pace)
    rig.job.check_ok(120)
    tool.proc.stdin.close()
    live.check_eq(0, tool.wait(60), "the tool")
    rig.end()
    others = rest.end()
    got = b"".join(tool.got(rank, "stdout") or b"" for rank in range(RANKS))
    live.check_eq(RANKS * len(text(0, rig.lines)),
                  len(got) + len(others) + len(rig.console))
    lines = sorted(got.splitlines() + others.splitlines() +
                   rig.console.splitlines())
    want = sorted(b"".join(text(rank, rig.lines) for rank in range(RANKS))
                  .splitlines())
    live.check(lines == want, "each line once")


def left_one():
    """One of two pulls goes: its output is on the console again."""
    rig = Rig(1000, command='i=0; while [ ! -e "$0.end" ]; do i=$((i+1)); '
              'echo $i $XYLEM_RANK; sleep 0.01; done')
    tool = rig.tool("-A", "-r", "0,1", "-R", "-d", "-c", 2,
                    stdin=subprocess.PIPE)
    rig.gate.open()
    live.eventually(lambda: all(tool.got(rank, "stdout") for rank in
                                range(RANKS)), 60, "both come")
    tool.proc.stdin.write(b"\n")
    tool.proc.stdin.flush()
    live.eventually(lambda: rig.reader.size > 1000, 60, "it is shown")
    with open(rig.gate.path + ".end", "wb"):
        pass
    rig.job.check_ok(60)
    tool.proc.stdin.close()
    tool.wait(60)
    rig.end()


def refused():
    """These cannot be pulled."""
    rig = Rig(10)
    for options, want in ((("-r", "7"), "NOT-FOUND"), (("-r", "node"), "NOT-"),
                          (("-D", "!no.such"), "NOT-SUPPORTED"),
                          (("-r", ""), "BAD-PARAM")):
        tool = rig.tool(*options)
        live.check_eq(4, tool.wait(60), options)
        said = tool.proc.stderr.read().decode()
        live.check(want in said, (options, said))
        rig.helper.gone()
        rig.helper = helped.Helper(rig.job)
    tool = rig.tool("-n", 2 * RANKS)
    rig.gate.open()
    live.check_eq(0, tool.wait(60), "the tool")
    rig.end()
    rig.check_whole(tool)


def push(rig, script, *options, stdin=None):
    tool = subprocess.Popen([PUSH, "-j", rig.name, *options,
                             str(rig.job.proc.pid)],
                            stdin=stdin or subprocess.PIPE,
                            stdout=subprocess.PIPE)
    return tool, tool.communicate(script, 120 * live.SLOW)[0] \
        if script is not None else None


def pushed():
    """Pushes come whole and in order, and end."""
    mine = os.urandom(3 * live.MIB)
    path = os.path.join(live.TMP, "mine")
    with open(path, "wb") as file:
        file.write(mine)
    rig = Rig(0, "-i", "all", "--keep-stdin",
              command='cat > "$0.$XYLEM_RANK"')
    rig.gate.open()
    tool, said = push(rig, ("p 0 a\np 1 b\nf * 100000 %s\np 0 c\nz *\nw\n"
                            "p 0 d\n?\n" % path).encode())
    live.check_eq(0, tool.returncode, "the tool")
    live.check(b"COMPLETE" in said, said)
    rig.end()
    for rank, whole in enumerate((b"a\n" + mine + b"c\n", b"b\n" + mine)):
        live.check(live.read_file("%s.%d" % (rig.gate.path, rank)) == whole,
                   "the bytes of %d" % rank)


def main():
    pmix.need()
    if live.is_sanitized():
        live.skip("a helper ends with what libpmix has not freed")
    for test, sentence in (
            (copied, "copies"),
            (redirected, "redirects"),
            (buffered, "put together"),
            (apart, "several pulls"),
            (slow, "a tool that is stopped"),
            (dropped, "beyond its bound"),
            (killed, "a tool that redirects is killed"),
            (left, "a tool that redirects deregisters"),
            (left_one, "one of two pulls is deregistered"),
            (refused, "refused"),
            (pushed, "pushes")):
        if len(sys.argv) > 1 and sys.argv[1] != test.__name__:
            continue
        with live.case(sentence):
            test()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

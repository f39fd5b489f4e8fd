#!/usr/bin/env python3
"""--stdin-slow: what is done for a process that does not read its stdin."""
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import time

import live

NODES = live.full(64, 12)
SIZE = live.full(96, 48) * live.MIB
LARGE = live.full(1024, 96) * live.MIB
STUCK = 5  # the rank that does not read
# Each rank but the stuck one begins at once; that one waits for the gate.
HOLD = 'test "$XYLEM_RANK" != %d || : <"$0"; ' % STUCK
DAEMONS = "xylemd", "lt-xylemd"


class Fed:
    """A job with a gate, fed with this many bytes; all print the sum of what
    they got. It is fed by a socket: a pipe has two pages where the user's
    pipes have all that the system allows them, and then the window, which
    counts frames, is full with less than the cases take for granted."""

    def __init__(self, *options, per_daemon=4, size=SIZE, then="cksum",
                 **more):
        self.gate = live.Gate()
        self.memory = live.Memory()
        self.memory.start()
        self.per_daemon = per_daemon
        ours, stdin = socket.socketpair()
        with stdin:
            self.job = live.Job(
                "-N", NODES, "--arity", 4, "--nodes-per-daemon", per_daemon,
                "--heartbeat", 4, *options, "--", "sh", "-c", HOLD + then,
                self.gate.path, stdin=stdin, **more)
        self.feeder = live.Feeder(os.fdopen(ours.detach(), "wb", 0), size)
        self.feeder.start()
        self.sum = live.cksum(size)

    def go_on(self):
        """Lets the stuck one go on. All daemons are seen before that."""
        self.memory.look()
        self.gate.open()

    def line(self):
        return self.job.stdout.readline().decode().rstrip("\n")

    def others(self):
        """What all but the stuck one print."""
        live.check_eq([self.sum] * (NODES - 1),
                      [self.line() for _ in range(NODES - 1)])

    def end(self):
        live.check_eq(b"", self.job.stdout.read())
        self.job.check_ok()
        self.memory.check(self.per_daemon, NODES // self.per_daemon + 1)

    def told(self, words):
        """This was said once about the stuck rank; another one that had no
        processor for a second may be named as well."""
        lines = [line for line in self.job.said().splitlines()
                 if words in line and "rank %d on" % STUCK in line]
        print("#", *lines)
        live.check_eq(1, len(lines), "told so: %s" % self.job.said())

    def told_nothing(self):
        live.check("rank" not in self.job.said(), "it said " + self.job.said())


def spilled():
    """Bytes in unlinked files of daemons."""
    total = 0
    for pid, name in live.ours().items():
        if name not in DAEMONS:
            continue
        try:
            for fd in os.listdir("/proc/%d/fd" % pid):
                st = os.stat("/proc/%d/fd/%s" % (pid, fd))
                if stat.S_ISREG(st.st_mode) and st.st_nlink == 0:
                    total += st.st_size
        except OSError:
            pass  # it or the descriptor is gone meanwhile
    return total


def spill(per_daemon):
    live.need_disk()
    fed = Fed("--stdin-slow=spill", per_daemon=per_daemon, size=LARGE)
    start = time.monotonic()
    fed.others()
    print("# the others had all after %.1f s" % (time.monotonic() - start))
    live.check_eq(LARGE, fed.feeder.fed)
    held = spilled()
    print("# %.1f MiB are spilled" % (held / live.MIB))
    live.check(LARGE - 8 * live.MIB < held <= LARGE + live.MIB,
               "%d bytes are spilled" % held)
    fed.go_on()
    live.check_eq(fed.sum, fed.line())
    fed.end()
    fed.told_nothing()


def close():
    limit_s = 4 * live.SLOW
    fed = Fed("--stdin-slow=close=%g" % limit_s, size=LARGE, then="wc -c")
    live.check_eq([str(LARGE)] * (NODES - 1),
                  [fed.line() for _ in range(NODES - 1)])
    fed.told("has not read its stdin for %g s: its stdin is closed "
             "(--stdin-slow=close)" % limit_s)
    fed.go_on()
    rest = int(fed.line())
    live.check(rest <= 256 * 1024, "%d bytes were in its pipe" % rest)
    fed.end()


def bound():
    """All others wait, as told; then all of it comes all the same."""
    live.need_disk()
    fed = Fed("--stdin-slow=spill=8M")
    live.eventually(lambda: "the most that is spilled" in fed.job.said(), 60,
                    "the message about the bound")
    live.eventually(lambda: "does not read its stdin" in fed.job.said(), 60,
                    "the message that everybody waits")
    live.check(7 * live.MIB <= spilled() <= 8 * live.MIB,
               "%d bytes are spilled" % spilled())
    live.check(fed.feeder.fed < SIZE, "the input was swallowed")
    fed.go_on()
    live.check_eq([fed.sum] * NODES, [fed.line() for _ in range(NODES)])
    fed.end()
    fed.told("has 8 MiB of unread stdin, the most that is spilled")
    fed.told("does not read its stdin: the job waits for it (see "
             "--stdin-slow)")


def named(text):
    """The ranks that are told not to read, in the order of the lines."""
    ranks = []
    for words in re.findall(r"^xylem: (?:rank|further processes do not read "
                            r"their stdin: ranks?) ([-0-9,]+) ", text,
                            re.MULTILINE):
        for word in words.split(","):
            first, _, last = word.partition("-")
            ranks += range(int(first), int(last or first) + 1)
    return ranks


def wait():
    """All wait for those who do not read. The first is told, and then the
    others: each once."""
    gate = live.Gate()
    job = live.Job("-N", NODES, "--nodes-per-daemon", 4, "--arity", 4, "--",
                   "sh", "-c", 'test $XYLEM_RANK = 0 || : <"$0"; exec wc -c',
                   gate.path, stdin=subprocess.PIPE)
    feeder = live.Feeder(job.stdin, SIZE)
    feeder.start()
    slow = list(range(1, NODES))
    live.eventually(lambda: len(named(job.said())) >= len(slow), 60,
                    "all are told")
    said = job.said()
    print("#", *said.splitlines(), sep="\n#   ")
    live.check_has("does not read its stdin: the job waits for it (see "
                   "--stdin-slow)\n", said.partition("further processes")[0])
    live.check_eq(slow, sorted(named(said)))
    live.check(len(named(said.partition("further processes")[0])) == 1,
               "one is first")
    gate.open()
    live.check_eq([b"%d\n" % SIZE] * NODES, job.stdout.readlines())
    job.check_ok()


def limit_files():
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (6 * live.MIB, hard))


def no_room(words, *options, **more):
    """When the file cannot grow, all others wait."""
    fed = Fed("--stdin-slow=spill", *options, **more)
    live.eventually(lambda: "any further" in fed.job.said(), 60,
                    "the message about the disk")
    fed.go_on()
    live.check_eq([fed.sum] * NODES, [fed.line() for _ in range(NODES)])
    fed.end()
    fed.told("cannot be spilled any further (%s" % words)


def gone():
    """The file goes with a process that is not going to read."""
    live.need_disk()
    fed = Fed("--stdin-slow=spill", then=
              'test "$XYLEM_RANK" != %d || exit 0; exec cksum' % STUCK,
              size=SIZE // 2)
    live.eventually(lambda: spilled() > SIZE // 4, 60, "a file grows")
    fed.go_on()
    fed.others()
    fed.end()
    fed.told_nothing()


def unread(policy):
    """One exits at once and one closes its stdin: they delay no other."""
    if policy == "spill":
        live.need_disk()
    gate = live.Gate()
    job = live.Job("-N", NODES, "--nodes-per-daemon", 4, "--stdin-slow",
                   policy, "--", "sh", "-c", """
                   test $XYLEM_RANK != 1 || exit 0
                   test $XYLEM_RANK != 2 || exec <&-
                   test $XYLEM_RANK = 2 || exec wc -c
                   : <"$0" """, gate.path, stdin=subprocess.PIPE)
    feeder = live.Feeder(job.stdin, SIZE)
    feeder.start()
    for _ in range(NODES - 2):
        live.check_eq(b"%d\n" % SIZE, job.stdout.readline())
    live.eventually(lambda: spilled() == 0, 60, "no file is left")
    gate.open()
    job.check_ok()
    live.check("rank" not in job.said(), "it said " + job.said())


def stopped():
    """All are stopped for longer than the time: none is closed for that."""
    limit_s = 10 * live.SLOW  # to be stopped in, on a busy machine, too
    fed = Fed("--stdin-slow=close=%g" % limit_s)
    before = -1
    while fed.feeder.fed < 4 * fed.feeder.PIECE or fed.feeder.fed != before:
        before = fed.feeder.fed  # until the window is full
        time.sleep(0.3)  # sleep-ok: between two looks
    fed.job.proc.send_signal(signal.SIGTSTP)
    live.eventually(lambda: live.state(fed.job.proc.pid) == b"T", 30,
                    "the launcher stops")
    time.sleep(1.5 * limit_s)  # sleep-ok: being stopped is the test
    fed.job.proc.send_signal(signal.SIGCONT)
    fed.go_on()
    live.check_eq([fed.sum] * NODES, [fed.line() for _ in range(NODES)])
    fed.end()
    fed.told_nothing()


def wrong(code, words, *options, **more):
    job = live.Job(*options, "--", "true", **more)
    live.check_eq(code, job.wait(), "exit code:")
    live.check(words in job.said(), "no '%s' in: %s" % (words, job.said()))


def wrong_values():
    for value in ("drop", "spills", "wait=1", "", "spil"):
        wrong(2, "--stdin-slow takes", "--stdin-slow", value)
    for value in ("", "0", "1023K", "2T", "-1M", "1X", "lots"):
        wrong(2, "takes bytes from 1M to 1T", "--stdin-slow=spill=" + value)
    for value in ("", "0", "-1", "0.01", "nan", "1e9", "10x"):
        wrong(2, "takes a time from 0.1 to 1000000 seconds",
              "--stdin-slow=close=" + value)
    wrong(2, "full path", "--stdin-slow=spill", "--spill-dir", "here")
    wrong(2, "give that, too", "--spill-dir", live.TMP)
    wrong(1, "No such file or directory", "--stdin-slow=spill", "--spill-dir",
          "/no/such/place")
    wrong(0, "", "-i", "none", "--stdin-slow=spill", "--spill-dir",
          "/no/such/place")


def mounted():
    small = os.path.join(live.TMP, "small")
    os.mkdir(small)
    words = live.in_memory(small, 6 * live.MIB)
    no_room("No space left on device", "--spill-dir", small, wrap=words)
    words = live.in_memory("/var/tmp", live.MIB)
    env = {**os.environ, "TMPDIR": "/var/tmp"}
    wrong(1, "both are in memory; name a directory on a disk with "
          "--spill-dir",
          "-N", 3, "--stdin-slow=spill", wrap=words, env=env)
    wrong(0, "", "--stdin-slow=spill", "--spill-dir", "/var/tmp", wrap=words,
          env=env)


def main():
    with live.case("spill: the others go on, and the one gets it later"):
        spill(4)
    if live.FULL:
        with live.case("the same with one daemon to a node"):
            spill(1)
    with live.case("wait: all that do not read are told"):
        wait()
    with live.case("close: its stdin ends, and the others go on"):
        close()
    with live.case("spill: at the bound everybody waits"):
        bound()
    with live.case("spill: a file that may not grow"):
        live.need_disk()
        no_room("File too large", preexec_fn=limit_files)
    with live.case("spill: a full disk, and none but memory"):
        mounted()
    with live.case("spill: who exits leaves no file"):
        gone()
    for policy in ("wait", "spill", "close"):
        with live.case(policy + ": who wants no stdin holds up nobody"):
            unread(policy)
    with live.case("close: not while all are stopped"):
        stopped()
    with live.case("wrong values"):
        wrong_values()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

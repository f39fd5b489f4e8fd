#!/usr/bin/env python3
"""--output and --error: output goes to the named files only, whatever kind of
files they are, and no other file is made."""
import contextlib
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios

import live
from live import case, check, check_eq, check_has, launch

BOTH = 'echo out $XYLEM_RANK; echo err $XYLEM_RANK >&2'
LINES = live.full(50000, 2000)
STATS = os.path.join(live.TMP, "stats")


@contextlib.contextmanager
def folder():
    """A new folder, in which the launcher runs meanwhile."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(dir=live.TMP) as path:
        os.chdir(path)
        try:
            yield path
        finally:
            os.chdir(before)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(*words, script=BOTH, channels=None, code=0, **more):
    """A job whose output is all there, as its report says."""
    ran = launch("-q", "--no-pmix", "--stats", STATS, *words, "--", "sh", "-c",
                 script, code=code, **more)
    if channels is not None:
        with open(STATS) as file:
            proof = json.load(file)["proof"]
        check_eq((channels, channels), (proof["channels"], proof["complete"]))
    return ran


def is_full(end):
    """True when this pipe has room for less than a page."""
    waits, = struct.unpack("i", fcntl.ioctl(end, termios.FIONREAD, bytes(4)))
    return waits > fcntl.fcntl(end, live.F_GETPIPE_SZ) - 4096


def words(ran):
    return sorted(ran.out.splitlines()), sorted(ran.err.splitlines())


with case("one file has all of the output, and the console nothing"):
    with folder():
        for option in (["-o", "all"], ["--output=all"]):
            ran = run("-N", 2, *option, channels=4)
            check_eq(([], []), words(ran))
            check_eq([b"err 0", b"err 1", b"out 0", b"out 1"],
                     sorted(read("all").splitlines()))
        check_eq(["all"], os.listdir())

with case("stderr has a file of its own, alone or beside that of stdout"):
    with folder():
        ran = run("-N", 2, "-e", "errors", channels=4)
        check_eq(([b"out 0", b"out 1"], []), words(ran))
        check_eq([b"err 0", b"err 1"], sorted(read("errors").splitlines()))
        ran = run("-N", 2, "-o", "out", "-e", "errors", channels=4)
        check_eq(([], []), words(ran))
        check_eq([b"out 0", b"out 1"], sorted(read("out").splitlines()))
        check_eq([b"err 0", b"err 1"], sorted(read("errors").splitlines()))
        check_eq(["errors", "out"], sorted(os.listdir()))

with case("stddiag goes where stderr goes"):
    with folder():
        ran = run("-N", 1, "--stddiag", "-e", "rest", channels=3,
                  script="echo x; echo y >&2; echo z >&3")
        check_eq(([b"x"], []), words(ran))
        check_eq([b"y", b"z"], sorted(read("rest").splitlines()))

with case("names have srun's patterns, and ours"):
    with folder():
        run("--launcher", "local", "-w", "a:2,b:2", "-n", 3, "-o",
            "d/%t.%3r.%n.%2n.%N.%h.%%", channels=6)
        check_eq(["0.000.0.00.a.a.%", "1.001.0.00.a.a.%", "2.002.1.01.b.b.%"],
                 sorted(os.listdir("d")))
        for rank, name in enumerate(sorted(os.listdir("d"))):
            check_eq(b"err %d\nout %d\n" % (rank, rank), b"".join(
                sorted(read("d/" + name).splitlines(True))))
        run("-N", 2, "-o", "job-%j-%J", "-e", "/dev/null", channels=4)
        name, = (name for name in os.listdir() if name != "d")
        check(re.fullmatch(r"job-(xylem-\w+)-\1", name), name)

with case("%n is what the processes have as XYLEM_NODE, by switches, too"):
    with folder():
        with open("topology", "w") as file:
            file.write("SwitchName=x Nodes=a,c\nSwitchName=y Nodes=b,d\n"
                       "SwitchName=z Switches=x,y\n")
        run("--launcher", "local", "-w", "a,b,c,d", "--topology", "topology",
            "-o", "%n", script="echo $XYLEM_NODE", channels=8)
        for node in "0123":
            check_eq(node + "\n", read(node).decode())

with case("labels are in the file, and lines of several ranks are whole"):
    with folder():
        run("-N", 4, "-l", "-o", "all", channels=8,
            script="seq -f '%%0200.0f' %d" % LINES)
        for rank in range(4):
            head = b"%d: " % rank
            check_eq(LINES, sum(
                line == head + b"%0200d" % (count + 1) for count, line in
                enumerate(line for line in read("all").splitlines()
                          if line.startswith(head))))

with case("a file of one process has its bytes"):
    with folder():
        run("-N", 2, "-o", "%t", channels=4,
            script=r'printf "a\0\377$XYLEM_RANK\n\nend"')
        for rank in range(2):
            check_eq(b"a\0\xff%d\n\nend" % rank, read(str(rank)))
        run("-N", 2, "-o", "%t", "-e", "none%t", script="true", channels=4)
        check_eq([b""] * 4, [read(name) for name in ("0", "1", "none0",
                                                     "none1")])

with case("what is there is replaced, also behind a link"):
    with folder():
        with open("old", "w") as file:
            file.write("long before\n" * 9)
        os.symlink("old", "link")
        run("-N", 1, "-o", "link", script="echo new", channels=2)
        check_eq(b"new\n", read("old"))
        check(os.path.islink("link"), "the link is there")

with case("what the launcher itself writes to is not emptied"):
    with folder():
        with open("log", "w+b") as log:
            log.write(b"before\n")
            log.flush()
            subprocess.run([live.XYLEM, "run", "-q", "-o", "/dev/stdout",
                            "echo", "hi"], stdout=log, check=True)
        check_eq(b"before\nhi\n", read("log"))

with case("a device is written to, and nothing is made beside it"):
    with folder():
        check_eq(([], []), words(run("-N", 2, "-o", "/dev/null", channels=4)))
        check_eq([], os.listdir())
        ran = run("-N", 1, "-o", "/dev/full", code=1)
        check_has("cannot write to '/dev/full': No space left on device; the "
                  "job ends", ran.said)

with case("so is a terminal"):
    with folder():
        far, near = os.openpty()
        run("-N", 1, "-o", os.ttyname(near), "-e", "/dev/null", channels=2)
        check_eq(b"out 0\r\n", os.read(far, 100))
        os.close(near)
        os.close(far)

with case("a FIFO has all bytes, and then the end"):
    with folder():
        os.mkfifo("fifo")
        with open("got", "wb") as got:
            reader = subprocess.Popen(["cat", "fifo"], stdout=got)
        run("-N", 1, "-o", "fifo", "-e", "/dev/null", channels=2,
            script="seq %d" % (10 * LINES))
        check_eq(0, reader.wait(60 * live.SLOW))
        check_eq("".join("%d\n" % (n + 1) for n in range(10 * LINES)),
                 read("got").decode())
        check_eq(["fifo", "got"], sorted(os.listdir()))

with case("a FIFO whose reader has left ends the job"):
    with folder():
        os.mkfifo("fifo")
        reader = subprocess.Popen(["head", "-c", "1", "fifo"],
                                  stdout=subprocess.DEVNULL)
        ran = run("-N", 1, "-o", "fifo", script="yes", code=1)
        check_has("cannot write to 'fifo': Broken pipe; the job ends", ran.said)
        reader.wait()

with case("one that nobody reads any more is given up by a second ^C"):
    with folder():
        os.mkfifo("fifo")
        end = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
        job = live.Job("-q", "-N", 1, "-o", "fifo", "--", "yes")
        live.eventually(lambda: is_full(end), 60, "the FIFO is full")
        live.deliver(job.proc.pid, signal.SIGINT)
        live.deliver(job.proc.pid, signal.SIGINT)
        check_eq(130, job.wait(), job.said())
        check_has("output that cannot be written is discarded", job.said())
        os.close(end)

with case("what cannot be is refused before anything starts"):
    with folder():
        os.mkdir("dir")
        for words_, said in (
                (["-o", "dir"], "--output: 'dir': it is a directory"),
                (["-e", "dir"], "--error: 'dir': it is a directory"),
                (["-o", ""], "--output needs a value that is not empty"),
                (["-o", "a%x"], "--output knows %t (rank), %n (node), %N "
                 "(host), %j (job) and %%, not '%x'"),
                (["-e", "a%"], "--error knows %t (rank)"),
                (["-o", "a", "--output-dir", "b"], "leave out --output-dir"),
                (["-o", "a", "--output-file", "b"], "leave out --output-dir"),
                (["-e", "a", "--file-only"], "and --file-only"),
                (["-e", "a", "--merge-stderr"], "or --error"),
                (["-o", "%n", "--dvm"],
                 "%n, the number of the node, is known")):
            ran = launch(*words_, "--", "true", code=2)
            check_has(said, ran.said)
        ran = live.Ran(live.XYLEM, "attach", "-o", "%3n", code=2)
        check_has("%n, the number of the node, is known", ran.said)
        check_eq(["dir"], os.listdir())

with case("a file that cannot be made ends the job"):
    ran = run("-N", 1, "-o", "/proc/none/%t", code=1)
    check_has("cannot write to '/proc/none/0': ", ran.said)

live.check_all_gone()
sys.exit(live.end())

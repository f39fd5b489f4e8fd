#!/usr/bin/env python3
"""xylem attach shows the output of a running job, byte for byte, and leaves
without a trace. The output is compared with what the processes write: a text
that follows from rank and channel, which the test makes, too."""
import contextlib
import glob
import json
import os
import signal
import subprocess
import sys
import threading

import live
from clients import Attach, attached

RANKS = 4
LINES = 4000
WRITE = ('seq -f "$XYLEM_RANK o %%05g" %d & seq -f "$XYLEM_RANK e %%05g" %d '
         '>&2; wait' % (LINES, LINES))


def text(rank, channel, label=b""):
    return [b"%s%d %s %05d" % (label, rank, channel, n)
            for n in range(1, LINES + 1)]


def start(*options, command=WRITE, ranks=RANKS, **more):
    gate = live.Gate()
    job = live.Job("-N", ranks, *options, "--", "sh", "-c",
                   live.Gate.WAIT + command, gate.path, **more)
    return job, gate


def finish(job, gate):
    """Checks that the job has not noticed anything."""
    gate.open()
    lines = job.stdout.read().splitlines()
    for rank in range(RANKS):
        mine = [line for line in lines if line.startswith(b"%d " % rank)]
        live.check(mine == text(rank, b"o"), "the job's rank %d" % rank)
    job.check_ok()


def check_shown(lines, channel, ranks, label=b""):
    for rank in range(RANKS):
        head = label + b"%d " % rank
        mine = [line for line in lines if line.startswith(head)]
        want = text(rank, channel, label) if rank in ranks else []
        live.check(mine == want, "rank %d: %d lines, want %d" % (
            rank, len(mine), len(want)))


def whole():
    """Attaches by process number, before the launcher lets tools in: both
    channels come complete. Another client asks for labels and a list of
    ranks."""
    job, gate = start()
    alls = attached("--pid", job.proc.pid)
    some = attached("--pid", job.proc.pid, "--ranks", "1,3",
                    "--label=host")
    merged = attached("--pid", job.proc.pid, "--merge-stderr")
    finish(job, gate)
    for one in (alls, some, merged):
        live.check_eq(0, one.wait(), "exit code")
    check_shown(alls.shown().splitlines(), b"o", range(RANKS))
    errors = [line for line in alls.said().splitlines()
              if not line.startswith(b"xylem: ")]
    check_shown(errors, b"e", range(RANKS))
    live.check_eq(2 * RANKS * LINES, len(merged.shown().splitlines()))
    host = os.uname().nodename.encode() + b": "
    lines = some.shown().splitlines()
    live.check(all(line.startswith(host) for line in lines), "labels")
    check_shown([line[len(host):] for line in lines], b"o", (1, 3))


def named():
    """Attaches to a session by its name, and without a name when there is only
    one."""
    job, gate = start()
    tools = [attached()]
    name = tools[0].said().split(b"attached to ")[1].split(b":")[0].decode()
    tools.append(attached("--nspace", name))
    finish(job, gate)
    for one in tools:
        live.check(b"attached to " + name.encode() + b":" in one.said(),
                   one.said())
        live.check_eq(0, one.wait(), "exit code")
        check_shown(one.shown().splitlines(), b"o", range(RANKS))


def formed():
    """The options for output are those of xylem run, including files."""
    job, gate = start()
    folder = os.path.join(live.TMP, "files")
    tool = Attach("--pid", job.proc.pid, "--format=json", "--timestamp",
                  "--output-file", folder + "/%r")
    tool.wait_attached()
    finish(job, gate)
    live.check_eq(0, tool.wait(), "exit code")
    lines = [json.loads(line) for line in tool.shown().splitlines()]
    for rank in range(RANKS):
        mine = [line["text"] for line in lines if line["rank"] == rank]
        live.check(mine == [line.decode() for line in text(rank, b"o")],
                   "rank %d: %d objects" % (rank, len(mine)))
        for channel, name in ((b"o", "stdout"), (b"e", "stderr")):
            with open("%s/%d.%s" % (folder, rank, name), "rb") as file:
                mine = [json.loads(line)["text"].encode() for line in file]
            live.check(mine == text(rank, channel),
                       "file of rank %d %s" % (rank, name))
    live.check(all(line["time"] > "2026" for line in lines), "times")


def left():
    """A signal ends the client; the job goes on, and nothing of the client is
    left."""
    job, gate = start(command="echo first; " + WRITE)
    before = set(os.listdir(live.TMP))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        tool = Attach("--pid", job.proc.pid)
        tool.wait_attached()
        tool.proc.send_signal(number)
        live.check_eq(0, tool.wait(), "exit code after %s" % number.name)
        live.check_eq(b"", tool.shown())
    new = set(os.listdir(live.TMP)) - before - {"leaks"}
    live.check(all(name.startswith("xylem-pmix-") for name in new),
               "files left behind: %s" % new)
    finish(job, gate)


def head():
    """When the reader of the client's output closes, the client ends, too."""
    job, gate = start(command="yes; : ")
    tool = Attach("--pid", job.proc.pid, stdout=subprocess.PIPE)
    tool.wait_attached()
    gate.open()
    live.check_eq(b"y\n", tool.proc.stdout.read(2))
    tool.proc.stdout.close()
    live.check_eq(141, tool.wait(), "as a pipe")
    live.check(job.proc.poll() is None, "the job goes on")
    job.proc.send_signal(signal.SIGTERM)
    job.stdout.close()
    job.wait()


def unwritten():
    """A client that cannot write its output fails, also when the job has ended
    before it notices; so does one that cannot read its input. The job goes
    on."""
    job, gate = start(command="echo first; cat", ranks=1,
                      stdin=subprocess.PIPE)
    source, sink = os.pipe()
    folder = os.open("/etc", os.O_RDONLY)
    with open("/dev/full", "wb") as full:
        tools = [(attached("--pid", job.proc.pid, stdout=full), 1,
                  b"cannot write to stdout: No space left on device\n"),
                 (attached("--pid", job.proc.pid, stdout=sink), 141, b""),
                 (Attach("--pid", job.proc.pid, "--stdin", "all",
                         stdin=folder), 1,
                  b"cannot read stdin: Is a directory")]
    os.close(source)
    os.close(sink)
    os.close(folder)
    live.check_eq(1, tools[2][0].wait(), "input")
    job.proc.stdin.write(b"last\n")
    job.proc.stdin.close()
    gate.open()
    for tool, code, words in tools:
        live.check_eq(code, tool.wait(), tool.said())
        live.check(words in tool.said(), tool.said())
    live.check_eq(b"first\nlast\n", job.stdout.read())
    job.check_ok()


def spared():
    """Files that already exist belong to the job or another program: they
    stay."""
    folder = os.path.join(live.TMP, "spared")
    first, then = live.Gate(), live.Gate()
    job = live.Job("-N", 1, "--output-dir", folder, "--file-only", "--", "sh",
                   "-c", ': <"$0"; echo first; : <"$1"; echo then; '
                   'echo error >&2', first.path, then.path)
    tool = Attach("--pid", job.proc.pid)
    tool.wait_attached()
    first.open()
    live.eventually(lambda: tool.shown() == b"first\n", 60, "it has come")
    names = folder + "/*/rank.0/stdout"
    live.eventually(lambda: [live.read_file(path) for path in glob.glob(names)]
                    == [b"first\n"], 60, "it is written")
    second = Attach("--pid", job.proc.pid, "--output-dir", folder)
    second.wait_attached()
    then.open()
    live.check_eq(1, second.wait(), second.said())
    live.check(b"/rank.0/stdout': it exists already and is not "
               b"overwritten" in second.said(),
               second.said())
    live.check_eq(0, tool.wait())
    job.check_ok()
    live.check_eq(b"first\nthen\n", live.read_file(glob.glob(names)[0]))


def unread():
    """Sends input to processes whose stdin has ended before."""
    gate, over = live.Gate(), os.path.join(live.TMP, "stdin-over")
    job = live.Job("-N", RANKS, "--", "sh", "-c",
                   'cat; : >"$1.$XYLEM_RANK"; ' + live.Gate.WAIT + WRITE,
                   gate.path, over, stdin=subprocess.DEVNULL)
    live.eventually(lambda: all(os.path.exists("%s.%d" % (over, rank))
                                for rank in range(RANKS)), 60, "all have read")
    tool = Attach("--pid", job.proc.pid, "--stdin", "all",
                  stdin=subprocess.PIPE)
    tool.wait_attached()
    with contextlib.suppress(BrokenPipeError), tool.proc.stdin as pipe:
        pipe.write(b"x\n")
    live.eventually(lambda: b"takes no more input: its processes have ended "
                    b"or their stdin is closed (" in tool.said(), 60,
                    "it says so")
    finish(job, gate)
    live.check_eq(0, tool.wait(), tool.said())


def written(pid):
    """Returns the bytes that a process has written."""
    for line in live.read_file("/proc/%d/io" % pid).splitlines():
        if line.startswith(b"wchar:"):
            return int(line.split()[1])
    return 0


def slow():
    """The reader of the client's output is slow: nothing is lost if the disk
    keeps up, and the client takes little memory."""
    megs = 6
    end = live.Gate()
    job, gate = start("--raw", stdin=subprocess.PIPE, command=(
        'for n in $(seq %d); do read -r x; head -c 1M /dev/zero; done; : <"%s"'
        % (megs, end.path)))
    tool = Attach("--pid", job.proc.pid, "--raw", stdout=subprocess.PIPE)
    tool.wait_attached()
    memory = live.Memory()
    memory.start()
    live.eventually(lambda: len(memory.peak) >= 3, 60, "all are seen")
    gate.open()
    got = 0
    for n in range(1, megs + 1):
        job.stdin.write(b"on\n")
        job.stdin.flush()
        while got < n * RANKS * live.MIB:  # only the console
            part = os.read(job.stdout.fileno(), live.MIB)
            live.check(part != b"", "the console ends at %d bytes" % got)
            got += len(part)
        # The client keeps at most this much in memory.
        live.eventually(lambda: written(tool.proc.pid) >= got - 6 * live.MIB,
                        120, "its file has the rest")
    live.check_eq(RANKS * megs * live.MIB, got, "the console")
    # The end of the job does not wait as long for the reader as this may take.
    shown = tool.proc.stdout.read(RANKS * megs * live.MIB)
    live.check_eq(RANKS * megs * live.MIB, len(shown), "attach")
    end.open()
    live.check_eq(b"", tool.proc.stdout.read(), "behind it")
    live.check_eq(0, tool.wait(), "exit code")
    job.check_ok()
    memory.check(RANKS, 3)


# A line of the case below is a number of six digits, again and again, and many
# times as long as a piece of output.
TIMES, NUMBERS = 50000, range(100000, 100100)
GAP = ("for n in $(seq %d %d); do yes $n | head -n %d | tr -d '\\n'; echo; "
       "done; cat" % (NUMBERS[0], NUMBERS[-1], TIMES))


def is_part(line):
    """True when the text is a part of one line."""
    return len(line) <= 6 * TIMES and (line[:6] * TIMES).startswith(line)


def texts(lines):
    """Returns the bytes in the JSON objects."""
    for line in map(json.loads, lines):
        yield line["text"].encode() + b"\n" * line.get("newline", True)


def gap(*options):
    """The reader is so slow that output is dropped, as the client's file has a
    limit: a line that was partly written ends there. Lines written after that,
    until the loss is noticed, are what cat reads."""
    job, gate = start(command=GAP, ranks=1, stdin=subprocess.PIPE)
    tool = Attach("--pid", job.proc.pid, *options, stdout=subprocess.PIPE,
                  wrap=["sh", "-c", 'ulimit -f 4096; exec "$@"', "sh"])
    tool.wait_attached()
    gate.open()
    for _ in NUMBERS:
        job.stdout.readline()
    shown = []
    reader = threading.Thread(
        target=lambda: shown.extend(tool.proc.stdout), daemon=True)
    reader.start()
    with job.stdin as pipe:
        def is_told():
            pipe.write(b"900000\n")
            pipe.flush()
            return b"output of rank 0 is missing here" in tool.said()
        live.eventually(is_told, 60, "that something is missing is told")
    live.check_eq(1, tool.wait(), "exit code")
    reader.join()
    shown = b"".join(texts(shown) if options else shown)
    lines = [line for line in shown.split(b"\n") if len(line) > 6]
    live.check(any(len(line) < 6 * TIMES for line in lines), "none is cut")
    mixed = [line for line in lines if not is_part(line)]
    live.check_eq([], mixed, "lines with something of two")
    job.check_ok()


def fed():
    """The stdin of one client goes to two processes, that of another to the
    third, whose output comes back. The end of each stdin reaches its
    processes."""
    path = os.path.join(live.TMP, "input")
    with open(path, "wb") as file:
        file.write(b"".join(b"line %07d\n" % n for n in range(100000)))
    job = live.Job("-v", "-N", 3, "--keep-stdin", "--", "sh", "-c",
                   "cat | cksum", stdin=subprocess.DEVNULL)
    with open(path, "rb") as file:
        both = Attach("--pid", job.proc.pid, "-l", "--stdin", "0,2",
                      stdin=file)
    both.wait_attached()
    one = Attach("--pid", job.proc.pid, "-l", "--stdin", "1",
                 stdin=subprocess.PIPE)
    one.wait_attached()
    one.proc.stdin.write(b"the other\n")
    one.proc.stdin.close()
    sums = [subprocess.run(["cksum"], input=text, stdout=subprocess.PIPE,
                           check=True).stdout
            for text in (open(path, "rb").read(), b"the other\n")]
    live.check_eq(sorted([sums[0], sums[0], sums[1]]),
                  sorted(job.stdout.read().splitlines(True)))
    job.check_ok()
    for tool in (both, one):
        live.check_eq(0, tool.wait(), "exit code: %s" % tool.said())
    live.check_eq(sorted([b"0: " + sums[0], b"1: " + sums[1],
                          b"2: " + sums[0]]),
                  sorted(both.shown().splitlines(True)))


def fed_on():
    """One of the processes that are fed ends: the other one gets the rest, and
    the end."""
    path = os.path.join(live.TMP, "over")
    job = live.Job("-v", "-N", 2, "--keep-stdin", "--", "sh", "-c",
                   'test $XYLEM_RANK = 1 && exec cat; head -n 1; : >"$0"',
                   path, stdin=subprocess.DEVNULL)
    tool = Attach("--pid", job.proc.pid, "--stdin", "0,1",
                  stdin=subprocess.PIPE)
    tool.wait_attached()
    for line in range(LINES):
        tool.proc.stdin.write(b"%d\n" % line)
        tool.proc.stdin.flush()
        if line == 0:
            live.eventually(lambda: os.path.exists(path), 60, "0 is over")
    tool.proc.stdin.close()
    live.check_eq(sorted([b"0\n", *(b"%d\n" % n for n in range(LINES))]),
                  sorted(job.stdout.read().splitlines(True)))
    job.check_ok()
    live.check_eq(0, tool.wait(), "exit code: %s" % tool.said())


def refused():
    """Reports why it cannot attach."""
    def fails(words, *args, code=1, **more):
        tool = Attach(*args, **more)
        live.check_eq(code, tool.wait(), "exit code of %s" % (args,))
        live.check(words in tool.said().decode(), tool.said())

    fails("no xylem run of yours")
    fails("is not a xylem run", "--pid", os.getpid())
    fails("no job nobody runs", "--nspace", "nobody")
    fails("is not the address", "--uri", "nowhere")
    fails("cannot connect", "--uri", "nobody.0;tcp4://127.0.0.1:1")
    fails("takes a process number", "--pid", "x", code=2)
    fails("give one of them", "--pid", 1, "--nspace", "x", code=2)
    gone = subprocess.Popen(["true"])
    gone.wait()
    fails("there is no process %d" % gone.pid, "--pid", gone.pid)
    jobs = [start() for _ in range(2)]
    tools = [attached("--pid", job.proc.pid) for job, _ in jobs]
    fails("2 of your xylem runs", "-l")
    pid = jobs[0][0].proc.pid
    fails("there is no rank 7: the job has 4 "
          "processes", "--pid", pid, "--ranks", "7")
    fails("cannot make the directory", "--pid", pid, "--output-dir",
          "/proc/nowhere")
    for (job, gate), tool in zip(jobs, tools):
        finish(job, gate)
        live.check_eq(0, tool.wait(), tool.said())


def others():
    """Another user cannot attach to the job."""
    nobody = ("setpriv", "--reuid=65534", "--clear-groups")
    if os.geteuid() != 0:
        raise live.LeftOut("only root can be somebody else")
    # setpriv itself could start a program that it can no longer reach
    # afterwards.
    if subprocess.call([*nobody, "sh", "-c", 'exec "$0" --version', live.XYLEM],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        raise live.LeftOut("others cannot enter the folder of the build")
    job, gate = start("-v")
    tool = Attach("--pid", job.proc.pid, wrap=nobody)
    live.check_eq(1, tool.wait(), "exit code")
    live.check(b"belongs to root, who alone can attach to it" in tool.said(),
               tool.said())
    finish(job, gate)


def late():
    """The client comes when more was written than is kept for it: it reports
    that, which is no failure."""
    first, then = live.Gate(), live.Gate()
    job = live.Job("-N", 2, "--pmix-cache", 1000, "--", "sh", "-c",
                   ': <"$0"; seq 1000; : <"$1"; echo last', first.path,
                   then.path)
    first.open()
    kept = "".join("%d\n" % n for n in range(1, 1001))
    out = os.read(job.stdout.fileno(), live.MIB)
    while len(out) < 2 * len(kept):
        out += os.read(job.stdout.fileno(), live.MIB)
    files = [os.path.join(live.TMP, "late", "%d.stdout" % rank)
             for rank in range(2)]
    tool = Attach("--pid", job.proc.pid, "--raw", "--output-file",
                  os.path.join(live.TMP, "late", "%r"))
    tool.wait_attached()
    live.eventually(lambda: [live.read_file(path) for path in files] ==
                    2 * [kept[:1000].encode()], 60, "what is kept")
    then.open()
    job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait(), "exit code")
    live.check(b"%d bytes are not here" % (len(kept) - 1000) in tool.said() and
               b"too slow" not in tool.said(), tool.said())
    for path in files:
        live.check_eq((kept[:1000] + "last\n").encode(),
                      live.read_file(path))


def alone():
    """The client needs nothing of PMIx."""
    job, gate = start("--no-pmix")
    tool = attached("--pid", job.proc.pid)
    finish(job, gate)
    live.check_eq(0, tool.wait(), "exit code")
    check_shown(tool.shown().splitlines(), b"o", range(RANKS))


def stopped():
    """Two clients stand still while the job writes more than may wait for
    them, one of them beyond the end of the job, which does not wait: each has
    the beginning, and is told that something is missing."""
    count, then = 2000000, live.Gate()
    job, gate = start(command="seq -f %%09.0f %d; : <%s" % (count, then.path),
                      ranks=1)
    tools = [attached("--pid", job.proc.pid) for _ in range(2)]
    for tool in tools:
        live.stop(tool.proc.pid)
    gate.open()
    lines = [job.stdout.readline() for _ in range(count)]
    tools[0].proc.send_signal(signal.SIGCONT)
    live.eventually(lambda: b"is missing here" in tools[0].said(), 60, "told")
    then.open()
    job.check_ok()
    live.check_eq(1, tools[0].wait(), "exit code")
    tools[1].proc.send_signal(signal.SIGCONT)
    live.check_eq(1, tools[1].wait(), "exit code")
    live.check(b"ended before the end of 2 channels" in tools[1].said(),
               tools[1].said())
    for tool, least in zip(tools, (300000, 5000)):
        shown = tool.shown().splitlines(True)
        live.check(shown[:least] == lines[:least], "it has the beginning")
        # After that a small record may have found room: lines are cut there.
        whole = [line for line in shown if len(line) == len(lines[0])]
        live.check(whole == sorted(whole), "they are in order")


def orphaned():
    """The launcher is killed before its job is over: missing output is
    reported, after all that has come."""
    job, gate = start(command="echo first; exec tail -f /dev/null", ranks=2)
    tool = Attach("--pid", job.proc.pid)
    tool.wait_attached()
    gate.open()
    live.eventually(lambda: tool.shown() == b"first\nfirst\n", 60, "output")
    job.proc.kill()
    live.check_eq(1, tool.wait(), "exit code")
    live.check(b"before the end of 4 channels" in tool.said(), tool.said())
    live.check_eq(b"first\nfirst\n", tool.shown())
    job.stdout.close()
    job.proc.wait()


def ended():
    """A signal ends the job: this is an end like any other."""
    job, gate = start(command="echo first; exec tail -f /dev/null")
    tool = Attach("--pid", job.proc.pid)
    tool.wait_attached()
    gate.open()
    live.eventually(lambda: tool.shown() == b"first\n" * RANKS, 60, "output")
    job.proc.send_signal(signal.SIGTERM)
    live.check_eq(0, tool.wait(), "exit code: %s" % tool.said())
    job.stdout.close()
    job.wait()


def main():
    for test, sentence in (
            (whole, "all output, of all or of some"),
            (named, "by name, or the only one"),
            (formed, "in JSON, and in files"),
            (left, "a signal leaves"),
            (head, "its reader leaves"),
            (unwritten, "its output cannot be written, nor its input read"),
            (spared, "files that are there"),
            (unread, "input that nobody reads"),
            (others, "a job of somebody else"),
            (slow, "its reader is slow"),
            (gap, "its reader is much too slow"),
            (lambda: gap("--format", "json"), "the same in JSON"),
            (fed, "it feeds processes"),
            (fed_on, "one of those that it feeds ends"),
            (refused, "what cannot be attached to"),
            (orphaned, "the launcher is killed"),
            (ended, "the job is ended by a signal"),
            (late, "it comes late"),
            (alone, "the job is without PMIx"),
            (stopped, "it stands still")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Directives of PMIx_Spawn about the output of a job: files, with the names
that the PMIx standard gives them."""
import glob
import os
import re
import resource
import sys

import pmix
import live
import spawning
from live import check, check_eq

FILES = 128   # of a job at most are open
PROCS = 150
BYTES = 5000


def words(script):
    return script.replace(" ", "\\s")


def place(name):
    return os.path.join(os.path.realpath(live.TMP), name)


def read(*path):
    return live.read_file(os.path.join(*path))


def wait_end(tool, space):
    tool.do("events " + space)
    tool.wait_event("JOB ENDED", space)


def open_files(job, name):
    """How many of its files the launcher has open."""
    count = 0
    folder = f"/proc/{job.proc.pid}/fd"
    for fd in os.listdir(folder):
        try:
            count += name in os.readlink(os.path.join(folder, fd))
        except OSError:
            continue
    return count


def directory(job, tool):
    """Files take any bytes of many processes: each channel is whole in its
    file when the tool is told of the job's end; few files are open at a
    time."""
    with open(place("bytes"), "wb") as file:
        file.write(bytes(range(256)) * (BYTES // 256) + b"\0end\n")
    door = pmix.Gate()
    script = words(f"echo $XYLEM_RANK; cat {place('bytes')}; "
                   f"echo err $XYLEM_RANK >&2; : <{door.path}; printf last")
    space, status = tool.spawn(
        f"!pmix.iof.dir={place('dir')} -- {PROCS} sh -c {script}")
    check_eq("SUCCESS", status)
    where = os.path.join(place("dir"), space)
    want = [b"%d\n" % rank + read(place("bytes")) for rank in range(PROCS)]
    live.eventually(lambda: all(
        read(where, f"rank.{rank}/stdout") == want[rank] and
        read(where, f"rank.{rank}/stderr") == b"err %d\n" % rank
        for rank in range(PROCS)), 60, "all of it so far")
    count = open_files(job, "/dir/")
    check(0 < count <= FILES, f"{count} files are open")
    door.open()
    wait_end(tool, space)
    for rank in range(PROCS):
        check(read(where, f"rank.{rank}/stdout") == want[rank] + b"last",
              f"rank {rank}")
        check_eq(b"err %d\n" % rank, read(where, f"rank.{rank}/stderr"))
    check_eq(2 * PROCS, len(glob.glob(where + "/*/*")), "files")
    live.eventually(lambda: open_files(job, "/dir/") == 0, 60, "closed")


def names(tool):
    """Names of files, with keys old and new; one that is no full path; the two
    channels in one file. The tool has what it asked for all the same."""
    script = words("echo out $XYLEM_RANK; echo err >&2")
    for key in ("pmix.iof.file", "pmix.outfile"):
        space = tool.spawn(f"!pmix.fwd.stdout !pmix.fwd.stderr !{key}="
                           f"{place('f')} -- 2 sh -c {script}")[0]
        wait_end(tool, space)
        for rank in range(2):
            check_eq(b"out %d\n" % rank,
                     read(place(f"f.{space}.{rank}.stdout")))
            check_eq(b"err\n", read(place(f"f.{space}.{rank}.stderr")))
    for key in ("pmix.iof.mrg", "pmix.mergeerrout"):
        space = tool.spawn(
            f"!pmix.fwd.stdout !{key} !pmix.iof.fpt !pmix.iof.file=sub/%n-%r "
            f"-- cwd={place('')} 2 sh -c {script}")[0]
        wait_end(tool, space)
        paths = sorted(glob.glob(place("sub/*")))
        check_eq([f"{space}-{rank}.stdout" for rank in range(2)],
                 [os.path.basename(path) for path in paths])
        for rank, path in enumerate(paths):
            check_eq(b"out %d\nerr\n" % rank, read(path))
            os.unlink(path)
    space = tool.spawn(f"!pmix.outdir={place('old')} -- 1 echo hi")[0]
    wait_end(tool, space)
    check_eq(b"hi\n", read(place("old"), space, "rank.0/stdout"))
    check_eq(b"", read(place("old"), space, "rank.0/stderr"))


def raw(tool):
    """A line that is open comes at once, to files and to the spawner."""
    door = pmix.Gate()
    before = tool.shown()
    space = tool.spawn(
        f"!pmix.fwd.stdout !pmix.iof.raw !pmix.iof.file={place('raw')} "
        "-- 1 sh -c " + words(f"printf open; : <{door.path}; echo end"))[0]
    path = place(f"raw.{space}.0.stdout")
    live.eventually(lambda: read(path) == b"open" and
                    tool.shown() == before + "open", 60, "an open line")
    door.open()
    wait_end(tool, space)
    check_eq(b"openend\n", read(path))
    live.eventually(lambda: tool.shown() == before + "openend\n", 60, "its end")


def local(job, tool):
    """On the launcher's own stdout and stderr, in the formats that are asked
    for, which files have, too."""
    script = words("echo out $XYLEM_RANK; echo err >&2")
    shown, errors = [], len(job.said())

    def add(what, *lines):
        space = tool.spawn(f"!pmix.iof.local {what} -- 2 sh -c {script}")[0]
        wait_end(tool, space)
        shown.append((space, lines))
        return space
    add("", "out 0", "out 1")
    add("pmix.fwd.stdout", "out 0", "out 1")
    add("!pmix.iof.rank", "0: out 0", "1: out 1")
    space = add(f"!pmix.iof.tag !pmix.iof.file={place('t')}",
                *("[{0},%d]<stdout>: out %d" % (r, r) for r in range(2)))
    check_eq(f"[{space},1]<stderr>: err\n".encode(),
             read(place(f"t.{space}.1.stderr")))
    add("!pmix.tagout !pmix.iof.xml",
        *('<stdout nspace="{0}" rank="%d">out %d&#010;</stdout>' % (r, r)
          for r in range(2)))
    add(f"!pmix.iof.fonly !pmix.iof.file={place('t')}")
    said = tool.spawn("!pmix.iof.raw !pmix.iof.rank -- 1 true")[1]
    check(said and "BAD PARAM" in said.replace("-", " "), said)
    want = [line.format(space) for space, lines in shown for line in lines]
    live.eventually(lambda: job.said()[errors:].count("err") >= 10, 60,
                    "stderr")
    check_eq(4, len(re.findall("^err$", job.said()[errors:], re.M)))
    return sorted(want)


def dressed(tool):
    """What the spawner's library shows it puts into its own formats (4.2): a
    long line has one head, an open one its end. Files have ours."""
    pmix.until_5("the helper's library has put them into formats, too")
    long = "%090000d"
    script = words(f"printf {long} 1; echo; echo '<&>'; echo err >&2; "
                   "printf open")
    head = "[{0},%d]<%s>: "
    element = '<stdout nspace="{0}" rank="%d">%s</stdout>'
    for what, first in (("rank", "[%d]<%s>: "), ("tag", head)):
        before, errors = tool.shown(), tool.shown("stderr")
        space, status = tool.spawn(f"!pmix.fwd.stdout !pmix.fwd.stderr "
                                   f"!pmix.iof.{what} -- 2 sh -c {script}")
        check_eq("SUCCESS", status)
        wait_end(tool, space)
        heads = [(first % (r, "stdout")).format(space) for r in range(2)]
        want = sorted(h + text for h in heads
                      for text in (long % 1, "<&>", "open"))
        live.eventually(lambda: sorted(
            tool.shown()[len(before):].splitlines()) == want, 60, what)
        live.eventually(lambda: sorted(
            tool.shown("stderr")[len(errors):].splitlines()) ==
            sorted(h.replace("stdout", "stderr") + "err" for h in heads), 60,
            what + " of stderr")
    before = tool.shown()
    space, _ = tool.spawn("!pmix.fwd.stdout !pmix.iof.tag !pmix.iof.xml "
                          f"!pmix.iof.file={place('x')} -- 2 sh -c " +
                          words("echo '<&>'; printf open"))
    wait_end(tool, space)
    want = sorted((element % (r, text)).format(space) for r in range(2)
                  for text in ("&lt;&amp;&gt;&#010;", "open"))
    live.eventually(lambda: tool.shown()[len(before):].count(
        "</stdout>\n") == 4, 60, "elements")
    check_eq(want, sorted((read(place(f"x.{space}.0.stdout")) +
                           read(place(f"x.{space}.1.stdout")))
                          .decode().splitlines()))
    before = tool.shown()
    space, _ = tool.spawn("!pmix.fwd.stdout !pmix.iof.ts -- 1 echo now")
    wait_end(tool, space)
    live.eventually(lambda: re.fullmatch(
        r"\[\w+ \w+ +\d+ [\d:]+ \d{4}\]<stdout>: now\n",
        tool.shown()[len(before):]), 60, "the time")


def only(job, tool):
    """Output goes not to the spawner, but to tools that pull."""
    before = tool.shown()
    for key in ("pmix.iof.fonly", "pmix.nocopy"):
        door = pmix.Gate()
        other = spawning.connect(job)
        space = tool.spawn(
            f"!pmix.fwd.stdout !pmix.fwd.stderr !{key} !pmix.iof.dir="
            f"{place('only')} -- 2 sh -c " +
            words(f": <{door.path}; seq 1000; printf end"))[0]
        other.do(f"pull {space} * out")
        door.open()
        other.wait_ends(space, 2, ("stdout",))
        wait_end(tool, space)
        seq = "".join(f"{n + 1}\n" for n in range(1000)) + "end"
        for rank in range(2):
            check_eq(seq.encode(), read(place("only"), space,
                                        f"rank.{rank}/stdout"))
            check_eq(seq, other.got(space, rank))
        check_eq(0, other.end())
    check_eq(before, tool.shown(), "it was shown nothing")


def wrong(job, tool):
    with open(place("plain"), "wb"):
        pass
    for what, status, why in (
            (f"!pmix.iof.dir={place('plain')}/x", "RESOURCES",
             "cannot make the directory"),
            ("!pmix.iof.fonly", "BAD PARAM", "fonly without files"),
            ("!pmix.iof.dir=/a !pmix.iof.file=/b", "BAD PARAM",
             "pmix.iof.file has a wrong value"),
            (f"!pmix.iof.fpt !pmix.iof.file={place('%x')}", "RESOURCES",
             "is not a pattern for names of output files")):
        space, said = tool.spawn(what + " -- 1 true")
        check_eq(None, space, what)
        check(said and status in said.replace("-", " "), f"{what}: {said}")
        live.eventually(lambda: why in job.said(), 60, why)


def full(job, tool):
    """A file that may not grow ends its job, and no other."""
    hard = resource.prlimit(job.proc.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(job.proc.pid, resource.RLIMIT_FSIZE, (1 << 20, hard))
    stays = tool.spawn("-- 1 sleep 1000")[0]
    space = tool.spawn(f"!pmix.iof.fonly !pmix.iof.file={place('full')} "
                       "-- 2 cat /dev/zero")[0]
    wait_end(tool, space)
    check(re.search(r"cannot write to '\S+/full\.\S+\.[01]\.stdout': "
                    r"File too large; the job that writes it ends",
                    job.said()), job.said())
    check(not tool.happened("JOB ENDED", stays), "the other one runs")


def logged(job, tool):
    """How far a job is, and how it ended, in the words of the launcher."""
    gone = len(job.said())
    spaces = [tool.spawn(what)[0] for what in (
        "!pmix.log.jev -- 2 sh -c exit\\s3", "!pmix.logcomp -- 3 true",
        "!pmix.log.jev !pmix.logcomp -- 1 sh -c kill\\s-9\\s$$",
        "-- 1 true")]
    for space in spaces:
        wait_end(tool, space)
    want = {0: ["PMIX_EVENT_JOB_START of {}: a first process runs",
                "PMIX_LAUNCH_COMPLETE of {}: 2 processes run",
                "PMIX_EVENT_JOB_END of {}: rank [01] returned 3"],
            1: ["PMIX_EVENT_JOB_END of {}: 3 processes returned 0"],
            2: ["PMIX_EVENT_JOB_START of {}: a first process runs",
                "PMIX_LAUNCH_COMPLETE of {}: 1 process runs",
                "PMIX_EVENT_JOB_END of {}: rank 0 was ended by signal 9"],
            3: []}
    for nth, space in enumerate(spaces):
        lines = [line for line in job.said()[gone:].splitlines()
                 if f" of {space}: " in line]
        check(len(lines) == len(want[nth]) and all(
            re.fullmatch("xylem: " + row.format(space), line)
            for row, line in zip(want[nth], lines)), lines)


def main():
    pmix.need()
    job, gate = spawning.start("echo own")
    tool = spawning.connect(job)
    with live.case("a directory, many processes"):
        directory(job, tool)
    with live.case("names"):
        names(tool)
    with live.case("not by lines"):
        raw(tool)
    want = []
    with live.case("on the console"):
        want = local(job, tool)
    with live.case("what the spawner's library shows"):
        dressed(tool)
    with live.case("files only"):
        only(job, tool)
    with live.case("what makes no sense"):
        wrong(job, tool)
    with live.case("a disk that is full"):
        full(job, tool)
    with live.case("a log of events"):
        logged(job, tool)
    with live.case("the run's own output"):
        check_eq(0, tool.end())
        gate.open()
        check_eq(sorted(want + ["own"] * 3),
                 sorted(job.stdout.read().decode().splitlines()))
        job.check_ok()
        check("incomplete" not in job.said(), job.said())
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Output files: their contents, the proof, limits, and errors."""
# alone
# For its pipes, as test_unfinished.py.
import base64
import collections
import glob
import json
import os
import re
import resource
import sys

import live
from live import check, check_eq

# Fewer than there are files, and enough for the launcher itself.
DESCRIPTORS = 110


def read(path):
    with open(path, "rb") as file:
        return file.read()


def place(name):
    return os.path.join(live.TMP, name)


def run(*args, code=0, **more):
    """Runs a job with a report; returns its stdout and the report."""
    stats = place("stats")
    job = live.Job("--no-pmix", "--stats", stats, *args, **more)
    out = job.stdout.read()
    check_eq(code, job.wait(), "exit code: " + job.said())
    with open(stats) as file:
        return out, json.load(file), job.said()


def channels(nodes):
    """All is there, twice or once."""
    names = sorted(os.path.basename(path) for path in glob.glob(
        place("dir") + "/*/rank.*/*"))
    check_eq(["stderr"] * nodes + ["stdout"] * nodes, names)


def both():
    script = 'echo out $XYLEM_RANK; echo err >&2; printf "\\0\\377end"'
    out, stats, _ = run("-N", 5, "--output-dir", place("dir"), "--",
                        "sh", "-c", script)
    channels(5)
    for rank in range(5):
        where = glob.glob(place("dir") + f"/xylem-*/rank.{rank}")[0]
        check_eq(b"out %d\n\0\xffend" % rank, read(where + "/stdout"))
        check_eq(b"err\n", read(where + "/stderr"))
    check_eq(5 * 6, len(re.findall(rb"out|end|\xff", out)) * 2,
             "words on the console:")
    check_eq(10, stats["proof"]["complete"])
    check_eq(stats["stdout_bytes"] + stats["stderr_bytes"],
             stats["proof"]["bytes"])


def only_files():
    out, stats, _ = run(
        "-N", 3, "--ppn", 2, "--file-only", "--merge-stderr", "--label=full",
        "--output-file", place("p-%n-%r"), "--", "sh", "-c",
        "echo one; echo two >&2")
    check_eq(b"", out)
    paths = sorted(glob.glob(place("p-*")))
    check_eq([f"{r}.stdout" for r in range(6)],
             [path.rsplit("-", 1)[1] for path in paths])
    for rank, path in enumerate(paths):
        nspace = path.split("/p-")[1].rsplit("-", 1)[0]
        label = f"[{nspace},{rank}]<stdout>: "
        check_eq(f"{label}one\n{label}two\n", read(path).decode())
    check_eq(6, stats["proof"]["complete"])


def few_descriptors():
    """128 files by a launcher that may have 110 descriptors of any kind."""
    lines = live.full(2000, 200)
    job = live.Job(
        "--launcher", "ssh", "--rsh", live.RSH,
        "-w", "h[1-8]", "--interface", "lo", "--ppn", 8, "--arity", 2,
        "--no-pmix", "--file-only", "--output-dir", place("few"),
        "--stats", place("stats"), "--", "sh", "-c",
        f"seq -f $XYLEM_RANK-%g {lines}; seq {lines} >&2",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (
            DESCRIPTORS, DESCRIPTORS)))
    job.stdout.close()
    job.check_ok()
    for rank in range(64):
        where = glob.glob(place("few") + f"/*/rank.{rank}")[0]
        want = "".join(f"{rank}-{i}\n" for i in range(1, lines + 1))
        check(want.encode() == read(where + "/stdout"), f"rank {rank}")
        want = "".join(f"{i}\n" for i in range(1, lines + 1))
        check(want.encode() == read(where + "/stderr"), f"stderr of {rank}")
    with open(place("stats")) as file:
        check_eq(128, json.load(file)["proof"]["complete"])


def full_disk():
    """A file that may not grow ends the job; the processes that flood do not
    hold it up."""
    job = live.Job("--no-pmix", "-N", 2, "--file-only", "--output-file",
                   place("full"), "--", "cat", "/dev/zero", preexec_fn=lambda:
                   resource.setrlimit(resource.RLIMIT_FSIZE, (
                       1 << 20,
                       resource.getrlimit(resource.RLIMIT_FSIZE)[1])))
    job.stdout.close()
    check_eq(1, job.wait(), "exit code: " + job.said())
    check(re.search(r"cannot write to '\S+/full\.xylem-\w+\.[01]\.stdout': "
                    r"File too large; the job ends", job.said()), job.said())


def in_the_way():
    os.symlink("/dev/null", place("l.1.stdout"))
    _, _, said = run("-N", 2, "--file-only", "--output-file", place("l.%r"),
                     "--", "echo", "hi", code=1)
    check("l.1.stdout': it is a symbolic link" in said, said)
    job = live.Job("--output-dir", "/proc/none", "--", "echo", "hi")
    check_eq(b"", job.stdout.read())
    check_eq(1, job.wait())
    check("cannot make the directory of '/proc/none'" in job.said(), job.said())
    for args in (["--file-only"], ["--output-file", "a%x"],
                 ["--output-file", "a", "--output-dir", "b"]):
        job = live.Job(*args, "--", "echo", "hi")
        check_eq(b"", job.stdout.read())
        check_eq(2, job.wait(), job.said())


def objects():
    """Any bytes come back from the objects, on the console and in files."""
    seed = os.urandom(8).hex()
    print("seed", seed)
    script = ("import random, sys; rng = random.Random('%s'); "
              "sys.stdout.buffer.write(bytes(rng.choice(b'ab\\n\\xc3\\xbc\"') "
              "for _ in range(20000)) + rng.randbytes(50000))" % seed)
    out, _, _ = run("-N", 2, "--format", "json", "--timestamp",
                    "--output-file", place("j"), "--", sys.executable, "-c",
                    script)
    told = collections.defaultdict(bytes)
    for line in out.splitlines():
        add_object(told, "console", json.loads(line))
    for path in glob.glob(place("j.") + "*stdout"):
        for line in read(path).splitlines():
            add_object(told, "file", json.loads(line))
    check_eq(4, len(told))
    check_eq(1, len(set(told.values())), "texts:")
    check_eq(70000, len(told["console", 0]))


def add_object(told, where, line):
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d",
                       line["time"]), line["time"])
    text = line["text"].encode() if "text" in line else base64.b64decode(
        line["base64"], validate=True)
    told[where, line["rank"]] += text + (
        b"\n" if line.get("newline", True) else b"")


def many():
    """2,000 processes on virtual nodes."""
    _, stats, _ = run("-N", 500, "--ppn", 4, "--file-only", "--output-dir",
                      place("many"), "--", "sh", "-c",
                      "echo $XYLEM_RANK; seq 100")
    rest = "".join(f"{i}\n" for i in range(1, 101))
    for rank in range(2000):
        path = glob.glob(place("many") + f"/*/rank.{rank}/stdout")[0]
        check(f"{rank}\n{rest}".encode() == read(path), f"rank {rank}")
    check_eq(4000, stats["proof"]["complete"])


with live.case("files and console both have all of it"):
    both()
with live.case("output only in files, one for both channels, with labels"):
    only_files()
with live.case("more files than descriptors"):
    few_descriptors()
with live.case("a file that cannot grow ends the job"):
    full_disk()
with live.case("what is in the way of a file is told"):
    in_the_way()
with live.case("objects have every byte"):
    objects()
if live.FULL:
    with live.case("2,000 processes"):
        many()
live.check_gone()
sys.exit(live.end())

#!/usr/bin/env python3
"""stdout and stderr of a job go to one file or pipe: no line is torn, in each
format, also when the reader is slow."""
import collections
import json
import os
import re
import subprocess
import tempfile

import live

LINES = live.full(50000, 20000)
RANKS = 2
# Each channel is written by a process of its own.
WORK = """say() { awk -v n=%d -v word="$1" 'BEGIN {
    for (i = 0; i < n; i++)
        printf "%%s-%%06d-%%050d\\n", word, i, i }'; }
say out & say err >&2; wait""" % LINES
LINE = re.compile(r"(out|err)-(\d{6})-0{44}(\d{6})")


def text(line):
    """(rank, its line), of one with a label."""
    rank, _, rest = line.partition(": ")
    return rank, rest


def of_json(line):
    entry = json.loads(line)
    return str(entry["rank"]), entry["text"]


def of_xml(line):
    found = re.fullmatch(r'<std(?:out|err)\b.*?rank="(\d+)".*?>(.*)&#010;'
                         r"</std(?:out|err)>", line)
    return (found[1], found[2]) if found else ("", line)


def judge(lines, parse):
    """Each line is whole, and all are there, in order for each channel."""
    heard, torn = collections.defaultdict(list), []
    for line in lines:
        if line.startswith("xylem: "):
            continue
        try:
            rank, rest = parse(line)
        except ValueError:
            rank, rest = "", line
        found = LINE.fullmatch(rest)
        if not found or found[2] != found[3]:
            torn.append(line)
        else:
            heard[rank, found[1]].append(int(found[2]))
    live.check(not torn, f"{len(torn)} torn, such as {torn[:2]!r}")
    live.check_eq(2 * RANKS, len(heard), "channels")
    live.check(all(seen == list(range(LINES)) for seen in heard.values()),
               "a channel lacks lines, or they are not in order")


def run(out, *options):
    live.check_eq(0, subprocess.run(
        [live.XYLEM, "run", "--launcher", "local", "-N", str(RANKS), *options,
         "--", "sh", "-c", WORK], stdin=subprocess.DEVNULL, stdout=out,
        stderr=out, check=False).returncode, "exit code")


FORMATS = (("--label",), text), (("--format", "json"), of_json), (
    ("--format", "xml"), of_xml)
for options, parse in FORMATS:
    with live.case(f"one file, {' '.join(options)}"):
        with tempfile.TemporaryFile("w+", dir=live.TMP) as out:
            run(out, *options)
            out.seek(0)
            judge(out.read().splitlines(), parse)

with live.case("one pipe, whose reader takes a little at a time"):
    far, near = os.pipe()
    reader = subprocess.Popen(
        ["dd", "bs=3001", "status=none"], stdin=far, stdout=subprocess.PIPE)
    os.close(far)
    with subprocess.Popen(["cat"], stdin=reader.stdout,
                          stdout=subprocess.PIPE) as cat:
        job = subprocess.Popen(
            [live.XYLEM, "run", "--launcher", "local", "-N", str(RANKS),
             "--label", "--", "sh", "-c", WORK], stdin=subprocess.DEVNULL,
            stdout=near, stderr=near)
        os.close(near)
        reader.stdout.close()
        judge(cat.stdout.read().decode().splitlines(), text)
    live.check_eq(0, job.wait(), "exit code")
    live.check_eq(0, reader.wait(), "exit code of dd")

live.check_gone()
live.end()

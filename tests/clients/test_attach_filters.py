#!/usr/bin/env python3
"""Filters of one client: xylem attach leaves lines out for itself alone, and
xylem run --dvm for its own output. What comes is compared with a model, and so
are the counts."""
import os
import re
import signal
import subprocess
import sys

import dvms
import live
import pmix
from clients import attached
from dvms import run
from filtered import SEED, SOURCE, Model, lines_of
from live import check, check_eq, check_has, check_lacks

RANKS = 3


def read_tree(out):
    """What each channel of each rank has in files below this directory."""
    found = {}
    for where, _, names in os.walk(out):
        for name in names:
            rank = int(where.rsplit(".", 1)[1])
            found[rank, name] = live.read_file(os.path.join(where, name))
    return found


def judge(plain, got, said, model_of, option):
    lines = size = 0
    check_eq(2 * RANKS, len(plain), "files:")
    for key, text in plain.items():
        model = Model()
        want = b"".join(model_of(model, lines_of(text)))
        check(want == got.get(key, b""), f"{key}: {len(want)} bytes expected, "
              f"{len(got.get(key, b''))} came")
        lines += sum(left[0] for left in model.left.values())
        size += sum(left[1] for left in model.left.values())
    check_has(f"left out: {lines} lines ({size} bytes) by {option}", said)


def has_mark(model, lines):
    return model.only("grep", lines, lambda line: re.search(b"!|ax", line))


def short_ends(model, lines):
    return model.ends([line for line in lines if len(line) < 1000], 4, 2)


def attach_filters_for_itself():
    """Three clients at once, each with its own filter; the job has its output
    whole."""
    gate = live.Gate()
    plain = os.path.join(live.TMP, "plain")
    outs = [os.path.join(live.TMP, "attached-%d" % n) for n in range(3)]
    job = live.Job("-N", RANKS, "--output-dir", plain, "--file-only", "--",
                   "sh", "-c", live.Gate.WAIT + 'shift; exec "$@"', gate.path,
                   gate.path, sys.executable, "-c", SOURCE, SEED)
    clients = [attached("--pid", job.proc.pid, "--output-dir", out,
                        "--file-only", *options) for out, options in zip(
        outs, ((), ("--grep", "!|ax"), ("--grep-v", "(?s).{1000}",
                                        "--head", 4, "--tail", 2)))]
    gate.open()
    for one in clients:
        check_eq(0, one.wait(), "exit code")
    job.check_ok()
    plain = read_tree(plain)
    check(plain == read_tree(outs[0]), "without a filter all comes")
    check_lacks("left out", clients[0].said().decode())
    judge(plain, read_tree(outs[1]), clients[1].said().decode(), has_mark,
          "--grep")
    ends = read_tree(outs[2])
    for key, text in plain.items():
        check(b"".join(short_ends(Model(), lines_of(text))) == ends[key],
              f"ends of {key}")
    check_has("by --head and --tail", clients[2].said().decode())
    check_lacks("left out", job.said())


def who_leaves_gets_what_was_held_back():
    gate = live.Gate()
    job = live.Job("-N", 1, "--", "sh", "-c",
                   live.Gate.WAIT + "seq 5; exec cat", gate.path,
                   stdin=subprocess.PIPE)
    one, other = (attached("--pid", job.proc.pid, "--head", 1, "--tail", 2)
                  for _ in range(2))
    gate.open()
    live.eventually(lambda: one.shown() == b"1\n", 60, "the first line")
    one.proc.send_signal(signal.SIGINT)
    check_eq(0, one.wait(), "exit code")
    job.stdin.close()
    check_eq(0, other.wait(), "exit code")
    for client in (one, other):
        check_eq(b"1\n4\n5\n", client.shown())
        check_has("left out: 2 lines (4 bytes) by --head and --tail",
                  client.said().decode())
    job.check_ok()


def a_job_in_a_dvm_is_filtered():
    dvm = dvms.start(nodes=RANKS)
    outs = [os.path.join(live.TMP, "dvm-%d" % n) for n in range(2)]
    for out, options in zip(outs, ((), ("--grep", "!|ax"))):
        code, _, said = run("-N", RANKS, "--ppn", 1, "--output-dir", out,
                            "--file-only", *options, "--", sys.executable, "-c",
                            SOURCE, SEED)
        check_eq(0, code, said)
    judge(read_tree(outs[0]), read_tree(outs[1]), said, has_mark, "--grep")
    code, shown, said = run("-n", 1, "--grep", "x", "--", "sh", "-c",
                            "echo why; exit 4")
    check_eq((4, b""), (code, shown))
    check_has("xylem:   why\n", said)
    check_has("left out: 1 line (4 bytes) by --grep", said)
    code, shown, said = run("-n", 1, "-q", "--head", 1, "--", "seq", 3)
    check_eq((0, b"1\n", ""), (code, shown, said))
    check_eq(0, dvms.stop()[0])
    dvm.wait()


def main():
    pmix.need()
    print("# seed", SEED, flush=True)
    for case in (attach_filters_for_itself, who_leaves_gets_what_was_held_back,
                 a_job_in_a_dvm_is_filtered):
        with live.case(case.__name__.replace("_", " ")):
            case()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

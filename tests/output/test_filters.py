#!/usr/bin/env python3
"""Filters at the daemons: what comes, and the counts of what was left out, are
exact against the same job without them.

The processes write random lines, of which a model of a few lines here says what
is to come of each channel of each rank.
"""
# timeout: 600
import json
import os
import re
import signal
import subprocess
import sys

import live
from filtered import SEED, SOURCE, Model, lines_of
from live import check, check_eq, check_has, check_lacks
from loss import ECHO, Running

RANKS = 3


def run(*options, **more):
    """What each channel of each rank gave in files, the messages, and the
    report."""
    out = os.path.join(live.TMP, "out-%d" % len(os.listdir(live.TMP)))
    said = live.launch("-N", RANKS, "--stats", out + ".json", "--output-dir",
                       out, "--file-only", *options, "--", sys.executable,
                       "-c", SOURCE, SEED, **more).said
    found = {}
    for where, _, names in os.walk(out):
        for name in names:
            rank = int(where.rsplit(".", 1)[1])
            found[rank, name] = live.read_file(os.path.join(where, name))
    check_eq(2 * RANKS, len(found), "files:")
    with open(out + ".json") as file:
        return found, said, json.load(file)


def compare(model_of, *options, sums=("--grep",)):
    """Runs with these options, and compares with what model_of(model, lines)
    makes of the run without them."""
    got, said, report = run(*options)
    want, left = {}, {}
    for key, text in PLAIN.items():
        model = Model()
        want[key] = b"".join(model_of(model, lines_of(text)))
        for reason, (lines, size) in model.left.items():
            before = left.get((key[0], reason), (0, 0))
            left[key[0], reason] = before[0] + lines, before[1] + size
    for key in PLAIN:
        check(want[key] == got[key], f"{key}: {len(want[key])} bytes expected, "
              f"{len(got[key])} came")
    out = report["left_out"]
    check_eq(left, {(of["rank"], of["reason"]): (of["lines"], of["bytes"])
                    for of in out["ranks"]}, "left out:")
    check_eq(False, out["at_least"])
    check_eq([], report["proof"]["gaps"])
    check_eq(2 * RANKS, report["proof"]["complete"])
    for reason in {reason for _, reason in left}:
        sum_of = [sum(left[key][i] for key in left if key[1] == reason)
                  for i in (0, 1)]
        check_eq(sum_of, [out["reasons"][reason][what]
                          for what in ("lines", "bytes")], reason)
        check_has("%d line%s (%d bytes) " % (
            sum_of[0], "" if sum_of[0] == 1 else "s", sum_of[1]), said)
    for word in sums:
        check_has("by " + word, said)
    return said


def patterns_leave_lines_out():
    def both(model, lines):
        lines = model.only("grep", lines, lambda line: re.search(
            rb"[a-c]x|!|end$|^$", line, re.S))
        return model.only("grep_v", lines,
                          lambda line: not re.search(rb"^b|\0", line))
    for options in ((), ("--nodes-per-daemon", 1)):
        compare(both, "--grep", "[a-c]x", "--grep", "!|end$", "--grep", "^$",
                "--grep-v", "^b", "--grep-v", r"\x00", *options,
                sums=("--grep,", "--grep-v"))


def long_lines_are_judged_by_their_first_bytes():
    compare(lambda model, lines: model.only(
        "grep", lines, lambda line: b"!" in line), "--grep", "!")


def first_and_last_lines_come():
    compare(lambda model, lines: model.ends(lines, 7, 0), "--head", 7,
            sums=("--head",))
    for head, tail, option in (0, 3, "--tail"), (5, 9, "--head and --tail"):
        ends = ("--head", head) if head > 0 else ()
        compare(lambda model, lines, head=head, tail=tail: model.ends(
            model.only("grep", lines, lambda line: 0 < len(line) < 1000),
            head, tail),
            "--grep", "^(?s:.{1,999})$", *ends, "--tail", tail,
            sums=("--grep", option))


def a_budget_keeps_both_ends():
    """Lines are short here: so each half is full but for one line."""
    def budget(model, lines):
        lines = list(model.only("grep", lines, lambda line: len(line) < 200))
        first, size = 0, 0
        while first < len(lines) and size + len(lines[first]) <= 500:
            size += len(lines[first])
            first += 1
        last, size = len(lines), 0
        while last > first and size + len(lines[last - 1]) <= 500:
            last -= 1
            size += len(lines[last])
        for line in lines[first:last]:
            model.leave("budget", line)
        return lines[:first] + lines[last:]
    compare(budget, "--grep", r"^(?s:.{0,199})$", "--budget", 1000,
            sums=("--grep", "--budget"))


def what_has_no_room_is_counted():
    """A line of 200 KB has room, and two have not."""
    script = ("import sys; o = sys.stdout; "
              "[o.write(c * 200000 + chr(10)) for c in 'abc']")
    ran = live.launch("-N", 1, "--tail", 2, "--", sys.executable, "-c", script)
    check(ran.out == b"c" * 200000 + b"\n", "the last line comes")
    check_has("left out: 2 lines (400002 bytes) for lack of room", ran.said)


def a_rate_is_kept():
    """The first lines come at once; the clock lets few of the others through,
    and all are counted."""
    ran = live.launch("-N", 2, "--rate", 5, "--", "seq", 10000)
    lines = ran.lines()
    check(10 <= len(lines) < 2000, "%d lines came" % len(lines))
    check_has("left out: %d lines" % (20000 - len(lines)), ran.said)
    check_eq(sorted(2 * list(range(1, 6))),
             sorted(int(line) for line in lines if int(line) <= 5))


def the_last_words_of_who_fails_come():
    ran = live.launch("-N", 2, "--grep", "nothing", "--", "sh", "-c",
                      'echo before; test $XYLEM_RANK != 1 || '
                      '{ echo "I die" >&2; exit 3; }', code=3)
    check_eq(b"", ran.out)
    check_has("the last lines of rank 1 on ", ran.said)
    check_has("xylem:   before\n", ran.said)
    check_has("xylem:   I die\n", ran.said)
    check_has("left out: 3 lines (20 bytes) by --grep", ran.said)


def a_limit_of_a_pattern_is_told_once():
    ran = live.launch("-N", 2, "--grep", "^(a+)+$", "--", "sh", "-c",
                      "printf '%060d!\\n%060d!\\nb\\n' 0 0 | tr 0 a")
    check_eq(4, len(ran.lines()))
    check_eq(1, ran.said.count("takes too long on it"), ran.said)
    check_has("left out: 2 lines (4 bytes) by --grep", ran.said)


def notices_can_be_left_out():
    ran = live.launch("-N", 1, "-q", "--head", 1, "--", "seq", 3)
    check_eq(b"1\n", ran.out)
    check_lacks("left out", ran.said)


def what_writes_for_ever_holds_nobody_up():
    """A process whose lines are all left out, and one that is asked in the
    meantime."""
    job = live.Job("-N", 2, "--nodes-per-daemon", 2, "--stdin", 1, "--grep",
                   "^got", "--", "sh", "-c", 'test $XYLEM_RANK != 0 || exec '
                   'yes; while read x; do echo got $x; done',
                   stdin=subprocess.PIPE)
    for n in range(20):
        job.stdin.write(b"%d\n" % n)
        job.stdin.flush()
        check_eq(b"got %d\n" % n, job.stdout.readline())
    job.proc.send_signal(signal.SIGTERM)
    job.wait()
    live.check_gone()


def lost_nodes_have_left_out_at_least_that():
    """A daemon is killed after it has told of its first lines."""
    running = Running(2, 2, "yes no | head -1000; " + ECHO, options=(
        "-N", 2, "--nodes-per-daemon", 1, "--grep-v", "^no$"))
    running.ask(b"one")
    running.ask(b"two")
    running.kill(1)
    running.await_lost(1)
    running.ask(b"three")
    running.end("left out: at least 2000 lines (6000 bytes) by --grep-v")
    with open(running.stats) as file:
        out = json.load(file)["left_out"]
    check_eq(True, out["at_least"])
    check_eq({"lines": 2000, "bytes": 6000}, out["reasons"]["grep_v"])


def main():
    global PLAIN
    print("# seed", SEED, flush=True)
    PLAIN, said, report = run()
    check_lacks("left out", said)
    check_eq([], report["left_out"]["ranks"])
    for case in (patterns_leave_lines_out,
                 long_lines_are_judged_by_their_first_bytes,
                 first_and_last_lines_come, a_budget_keeps_both_ends,
                 what_has_no_room_is_counted, a_rate_is_kept,
                 the_last_words_of_who_fails_come,
                 a_limit_of_a_pattern_is_told_once, notices_can_be_left_out,
                 what_writes_for_ever_holds_nobody_up,
                 lost_nodes_have_left_out_at_least_that):
        with live.case(case.__name__.replace("_", " ")):
            case()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""--progress=last: of a line that is overwritten again and again, the last
state is shown. The test knows the progress bars of its program, and so the
expected output; the same job without the option gives all bytes."""
import json
import os
import sys

import live
from live import check_eq, check_has, check_lacks

# A bar of many more bytes than a piece of a line has, in small writes, then
# lines without a bar and a bar that has no newline.
SOURCE = """
import os, sys
for i in range(int(sys.argv[1])):
    os.write(1, b"\\r%6d of many, with some words" % i)
os.write(1, b"\\n")
os.write(1, b"plain\\r\\nempty follows\\n\\n")
os.write(1, b"last 1\\rlast 2")
"""
STATES = 5000
WANT = (b"%6d of many, with some words\nplain\r\nempty follows\n\nlast 2"
        % (STATES - 1))


def run(*options):
    """Its output of each rank, its messages, and its report."""
    stats = os.path.join(live.TMP, "stats")
    out = os.path.join(live.TMP, "out-%d" % len(os.listdir(live.TMP)))
    said = live.launch("-N", 2, "--stats", stats, "--output-dir", out,
                       "--file-only", *options, "--", sys.executable, "-c",
                       SOURCE, STATES).said
    found = sorted(os.path.join(where, name) for where, _, names in os.walk(out)
                   for name in names if name == "stdout")
    with open(stats) as file:
        report = json.load(file)
    return [live.read_file(name) for name in found], said, report


def the_last_state_comes():
    got, said, report = run("--progress=last")
    check_eq([WANT] * 2, got)
    whole, _, plain = run()
    left = sum(map(len, whole)) - sum(map(len, got))
    check_eq({"lines": 2 * STATES, "bytes": left},
             report["left_out"]["reasons"]["progress"])
    check_eq([(0, "progress"), (1, "progress")],
             [(of["rank"], of["reason"]) for of in report["left_out"]["ranks"]])
    check_has(f"{2 * STATES} earlier states of progress bars were left out, "
              f"{left} bytes", said)
    check_eq({"lines": 0, "bytes": 0}, plain["left_out"]["reasons"]["progress"])
    check_eq([], plain["left_out"]["ranks"])
    check_eq(4, report["proof"]["complete"], "channels that are whole")


def a_notice_is_left_out_if_asked():
    _, said, _ = run("--progress=last", "-q")
    check_lacks("progress bars", said)


def values_are_checked():
    check_has("--progress takes all or last", live.Ran(
        live.XYLEM, "run", "--progress=first", "true", code=2).said)
    check_has("leave out --progress=last or --raw", live.Ran(
        live.XYLEM, "run", "--progress=last", "--raw", "true", code=2).said)


def main():
    for case in (the_last_state_comes, a_notice_is_left_out_if_asked,
                 values_are_checked):
        with live.case(case.__name__.replace("_", " ")):
            case()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

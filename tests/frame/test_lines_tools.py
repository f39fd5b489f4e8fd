#!/usr/bin/env python3
"""tool_check accepts the output of tool_lines and finds every kind of damage
to it."""
import os
import re
import sys

import live
from live import case, check, check_eq, check_has

COUNT = 700


def written(rank, *how, code=0, **more):
    """The output of a tool_lines."""
    return live.Ran(live.tool("tool_lines"), "--rank", rank, "--count", COUNT,
                    *how, code=code, **more).out


def lines_of(text):
    return re.findall(rb"[^\n]*\n", text)


def labelled(rank, line):
    """The line of a rank as `run --label` writes it."""
    return b"%d: %s" % (rank, line)


def wrong(lines, *options):
    return live.wrong_lines(b"".join(lines), 3, "--count", COUNT, *options)


TEXTS = [written(rank) for rank in range(3)]
BARE = lines_of(b"".join(TEXTS))
GOOD = [labelled(rank, line) for rank, text in enumerate(TEXTS)
        for line in lines_of(text)]
check_eq(3 * COUNT, len(BARE), "lines:")

with case("accepts what was written, with labels and without"):
    check_eq("", wrong(GOOD, "--label"))
    check_eq("", wrong(BARE))

with case("a different way of writing does not change the lines"):
    for how in (["--each"], ["--pause-at", "3,600", "--pause-ms", 1],
                ["--close"]):
        check(TEXTS[1] == written(1, *how), how)
    with open(os.path.join(live.TMP, "five"), "w+b") as five:
        check_eq(b"", written(1, "--fd", five.fileno(),
                              pass_fds=[five.fileno()]))
        five.seek(0)
        check(TEXTS[1] == five.read(), "another descriptor")

with case("the last line may lack its newline, and the writer may die"):
    text = written(1, "--no-last-newline", "--die", code=-9)
    check(TEXTS[1][:-1] == text, "another text")
    check_eq("", live.wrong_lines(text, 1, "--first", 1, "--count", COUNT))

with case("another seed is another text"):
    check_has("status 1: ", wrong(BARE, "--seed", 2))

# Two lines: a marked one, and one with letters only.
MARKED = next(at for at, line in enumerate(BARE)
              if re.search(rb"@1:30[0-9]:", line))
SHORT = next(at for at, line in enumerate(BARE)
             if re.fullmatch(rb"[a-z]{3,}\n", line))


def cut(at):
    return lambda lines: lines[:at] + lines[at + 1:]


def twice(at):
    return lambda lines: lines[:at + 1] + lines[at:]


def later(at):
    return lambda lines: (lines[:at] + lines[at + 1:at + 4] + [lines[at]] +
                          lines[at + 4:])


def changed(at, change):
    return lambda lines: lines[:at] + [change(lines[at])] + lines[at + 1:]


for words, damage in (
        ("missing", cut(MARKED)),
        ("again or late", twice(MARKED)),
        ("again or late", later(MARKED)),
        ("is wrong from byte",
         changed(MARKED, lambda line: line[:-2] + b"\n\n")),
        ("is wrong from byte",
         changed(MARKED, lambda line: line[:-3] + b"--\n")),
        ("is wrong from byte", changed(MARKED, lambda line: line[:-1])),
        ("nothing from line", cut(len(BARE) - 1)),
        ("", cut(SHORT)),
        ("", twice(SHORT)),
        ("", changed(SHORT, lambda line: re.sub(rb"[a-z]", b"A", line, 1)))):
    with case("finds: " + words):
        # with and without labels
        found = wrong(damage(GOOD), "--label")
        check_has("status 1: ", found)
        check_has(words, found)
        check_has("status 1: ", wrong(damage(BARE)))

with case("finds a line under the label of another rank"):
    check_has("status 1: ", wrong(changed(
        MARKED, lambda line: b"2" + line[1:])(GOOD), "--label"))

with case("finds a line without a label"):
    check_has("no label", wrong(changed(
        MARKED, lambda line: line[len(b"1: "):])(GOOD), "--label"))

sys.exit(live.end())

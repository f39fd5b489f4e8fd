#!/usr/bin/env python3
"""Options in XYLEM_OPTIONS come before those on the command line, and are split
into words as a shell does it."""
import os
import sys

import live
from live import case, check, check_eq, check_has, check_lacks, launch

MARK = os.path.join(live.TMP, "mark")


def run(options, *words, **more):
    return launch(*words, env={"XYLEM_OPTIONS": options}, **more)


def value(text):
    """What a process has in A when the variable has --env and this text."""
    return run("-q --env " + text, "--", "printenv", "A").out


def is_wrong(words, options, *more):
    ran = run(options, *more, "--", "true", code=2)
    check_has(words, ran.said)


with case("they count as if they came first"):
    check_eq(b"0: 2\n1: 2\n", b"".join(sorted(
        run("-q -lN2", "printenv", "XYLEM_SIZE").out.splitlines(True))))
    check_eq(b"3\n" * 3, run("-q -N 2", "-N", 3, "printenv", "XYLEM_SIZE").out)
    check_eq(b"2\n", run("--env A=1", "--env", "A=2", "printenv", "A").out)
    check_eq(b"1\n2\n", b"".join(sorted(run(
        "--env A=1 -n 1", "printenv", "A", ":", "-n", 1, "--env", "A=2",
        "printenv", "A").out.splitlines(True))))
    for nothing in ("", " \t\n "):
        check_eq(b"x\n", run(nothing, "echo", "x").out)

with case("the processes do not have the variable"):
    run("-q", "printenv", "XYLEM_OPTIONS", code=1)

with case("words have quotes"):
    for text, want in ((r"A=x", b"x"), (r"'A=a b'", b"a b"),
                       (r'"A=a b"', b"a b"), (r"A=a\ b", b"a b"),
                       (r"A=a' 'b", b"a b"), (r"A=''", b""), (r'A=""', b""),
                       (r"A='\"'", b'\\"'), (r'A="\""', b'"'),
                       (r'A="\\\x"', rb"\\x"), (r"""A="'"'"'""", b"'\""),
                       (r"A=\'\"\\", b"'\"\\"), ("A=1\t--env\n A=2", b"2"),
                       ("'A=a\nb'", b"a\nb"), ('A="a\\\nb"', b"a\nb")):
        check_eq(want + b"\n", value(text), text)

with case("nothing is replaced, and nothing is started"):
    for text in ("A=$HOME", "A=*", "A=~", "A=`touch>%s`" % MARK,
                 "A=$(touch>%s)" % MARK):
        check_eq(text[2:].encode() + b"\n", value(text))
    check(not os.path.exists(MARK), "a program was started")

with case("what cannot be split is refused"):
    is_wrong("XYLEM_OPTIONS: a ' is not closed by a second one", "-q 'x")
    is_wrong('XYLEM_OPTIONS: a " is not closed by a second one', '-q "x\\"')
    is_wrong("XYLEM_OPTIONS: nothing follows the last backslash", "-q \\")

with case("a word that is no option is refused"):
    for text, word in (("-q echo", "echo"), ("x -q", "x"), ("-N 2 3", "3"),
                       ("-q -- echo", "echo"), ("-q ''", ""),
                       ("-q : -n 1", ":")):
        is_wrong("XYLEM_OPTIONS: unexpected argument '%s': this command has "
                 "only options" % word, text)
    is_wrong("--no-such-option", "--no-such-option")
    is_wrong("XYLEM_OPTIONS: --timeout takes a time", "--timeout 5y")

with case("what does not go together is told with what the variable has"):
    is_wrong("--quiet and --verbose exclude each other", "-q", "-v")
    is_wrong("XYLEM_OPTIONS has options, too: -q\n", "-q", "-v")
    check_lacks("XYLEM_OPTIONS", launch("-q", "-v", "true", code=2).said)

with case("they are for a job in a dvm, too, and for no other command"):
    check_has("is for a tree, and with --dvm there is one",
              run("--heartbeat 5", "--dvm", "--", "true", code=2).said)
    env = {"XYLEM_OPTIONS": "--no-such-option"}
    live.Ran(live.XYLEM, "tree", "-N", 2, env=env)
    live.Ran(live.XYLEM, "sim", "-N", 4, env=env)

live.check_all_gone()
sys.exit(live.end())

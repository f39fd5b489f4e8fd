#!/usr/bin/env python3
"""--export selects what processes get of the launcher's environment, as with
srun; the names of variables are checked, for --env, too."""
import os
import sys

import live
from live import case, check_eq, check_has, launch

ENV = {"PATH": os.environ["PATH"], "A": "1", "B": "two words", "D": "4"}
# What the processes have of their own, and what a provider of the tests needs.
OWN = ("XYLEM_", "FI_", "STRICT_", "PWD", "top_", "TMPDIR")
GONE = {name: None for name in os.environ if not name.startswith(OWN)}


def found(*words):
    """The environment of a process, but for what it always has."""
    ran = launch("-q", *words, env={**GONE, **ENV})
    pairs = (text.split("=", 1) for text in ran.out.decode().split("\0")[:-1])
    return {name: value for name, value in pairs if not name.startswith(OWN)}


def exports(*words):
    return found(*words, "--", "/usr/bin/env", "-0")


with case("ALL is what there is without the option"):
    check_eq(ENV, exports())
    check_eq(ENV, exports("--export=ALL"))
    check_eq(ENV, exports("--export", "all"))

with case("NONE is nothing"):
    check_eq({}, exports("--export=NONE"))
    check_eq({}, exports("--export=none"))

with case("names are these alone; one that is not set is left out"):
    check_eq({"A": "1"}, exports("--export=A"))
    check_eq({"A": "1", "B": "two words"}, exports("--export=B,A"))
    check_eq({"A": "1"}, exports("--export=NOT_HERE,A"))
    check_eq({"A": "2", "NEW": "x=y"}, exports("--export=A=2,NEW=x=y"))
    check_eq({"A": "", "D": "4"}, exports("--export=A=,D"))

with case("ALL among names is all, and these"):
    check_eq({**ENV, "NEW": "x"}, exports("--export=ALL,NEW=x"))
    check_eq({**ENV, "A": "2"}, exports("--export=A=2,ALL"))
    check_eq({**ENV, "A": "2"}, exports("--export=ALL,A=2"))

with case("the last one counts, and --env comes on top"):
    check_eq({"B": "two words"}, exports("--export=A", "--export=B"))
    check_eq(ENV, exports("--export=NONE", "--export=ALL"))
    check_eq({"A": "3", "B": "two words"},
             exports("--export=A=2", "--env", "A=3", "--env", "B"))
    check_eq({"D": "4"}, exports("--env", "D", "--export=NONE"))

with case("each program has it"):
    ran = launch("-q", "--export=A=2", "-n", 1, "/usr/bin/printenv", "A", ":",
                 "-n", 1, "--env", "A=3", "/usr/bin/printenv", "A")
    check_eq(["2", "3"], sorted(ran.lines()))

with case("a long value is passed on by its name, too"):
    ran = launch("-q", "--export=NONE", "--env", "LONG", "--",
                 "/usr/bin/printenv", "LONG", env={"LONG": "x" * 30000})
    check_eq("x" * 30000 + "\n", ran.out.decode())

with case("what is no name is refused, with what to write"):
    for text in ("", "=", "=x", " ", " A=1", "A =1", "A B=1", "1A=x", "9",
                 "A,B", "A:1", "--label", "-x=1", "A\n=1", "A;B", "$A", "'A'"):
        ran = launch("--env", text, "--", "true", code=2)
        check_has("--env takes NAME or NAME=VALUE, not '%s': a name has "
                  "letters, digits and _, and does not begin with a digit"
                  % text, ran.said)
    for text, word in (("", ""), ("A,", ""), (",A", ""), ("A,,B", ""),
                       ("A,1B=2", "1B=2"), ("A B", "A B"), ("=x", "=x"),
                       ("A=1, B=2", " B=2"), ("A:B", "A:B")):
        ran = launch("--export=" + text, "--", "true", code=2)
        check_has("--export takes ALL, NONE, or NAME and NAME=VALUE with "
                  "commas between them, not '%s': a name has" % word, ran.said)
    for text in ("NONE,A", "A,none"):
        ran = launch("--export=" + text, "--", "true", code=2)
        check_has("--export=NONE stands alone: leave it out of '%s'" % text,
                  ran.said)
    ran = launch("--export=" + ",".join(["A"] * 1025), "--", "true", code=2)
    check_has("--export takes 1024 variables at most", ran.said)

with case("odd names that there are can be given"):
    for name in ("_", "a.b", "a-b", "BASH_FUNC_f%%", "f()"):
        check_eq({name: "1"}, exports("--export=NONE", "--env", name + "=1"))

live.check_all_gone()
sys.exit(live.end())

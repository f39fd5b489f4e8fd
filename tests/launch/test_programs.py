#!/usr/bin/env python3
"""Several programs in one job: `xylem run A : B`."""
import json
import os
import sys

import live
from live import case, check_eq, check_has, launch


def place(name):
    return os.path.join(live.TMP, name)


for folder in ("one", "two words", "here"):
    os.mkdir(place(folder))
TELL = ('echo "$XYLEM_RANK of $XYLEM_SIZE on $XYLEM_NODE as '
        '$XYLEM_LOCAL_RANK: $A $B $(basename "$PWD") $0 $*"')

with case("each program has its number, environment, directory and "
          "arguments"):
    ran = launch("--launcher", "local", "-w", "a:4,b:4",
                 "-n", 2, "--env", "A=1", "-D", place("one"),
                 "sh", "-c", TELL, "first", "x  y", ":",
                 "-n", 3, "--env", "A=2", "--env", "B=2", "--env", "A=3",
                 "-D", place("two words"), "--", "sh", "-c", TELL, "second",
                 ":", "-n", 1, "--env", "B", "-D", "/",
                 "sh", "-c", TELL, "third", "", env={"A": "all", "B": "all"})
    check_eq(["0 of 6 on 0 as 0: 1 all one first x  y",
              "1 of 6 on 0 as 1: 1 all one first x  y",
              "2 of 6 on 0 as 2: 3 2 two words second ",
              "3 of 6 on 0 as 3: 3 2 two words second ",
              "4 of 6 on 1 as 0: 3 2 two words second ",
              "5 of 6 on 1 as 1: all all / third "], sorted(ran.lines()))

with case("programs share nodes: one of each, and two of another"):
    ran = launch("-N", 3, "-l", "--nodes-per-daemon", 1, "--arity", 1,
                 "sh", "-c", "echo A on $XYLEM_NODE", ":",
                 "--ppn", 2, "sh", "-c", "echo B on $XYLEM_NODE")
    check_eq(["0: A on 0", "1: A on 1", "2: A on 2", "3: B on 0", "4: B on 0",
              "5: B on 1", "6: B on 1", "7: B on 2", "8: B on 2"],
             sorted(ran.lines()))

with case("stdin goes to ranks of any of them"):
    SEVEN = b"1\n2\n3\n4\n5\n6\n7\n"
    with open(place("in"), "wb") as file:
        file.write(SEVEN)
    with open(place("in"), "rb") as file:
        ran = launch("-N", 2, "-l", "-i", "1,2", "wc", "-l", ":",
                     "--ppn", 2, "sh", "-c", "echo got $(wc -l)", stdin=file)
    check_eq(["0: 0", "1: 7", "2: got 7", "3: got 0", "4: got 0", "5: got 0"],
             sorted(ran.lines()))
    with open(place("in"), "rb") as file:
        ran = launch("--launcher", "local", "-w", "a,b,c,d,e,f",
                     "--nodes-per-daemon", 1, "--arity", 2, "-l", "-i", 7,
                     "wc", "-l", ":", "wc", "-c", stdin=file)
    check_eq([f"{rank:02}: {len(SEVEN) if rank == 7 else 0}"
              for rank in range(12)], sorted(ran.lines()))

with case("the exit code is that of the one that failed, and the proof is of "
          "all"):
    ran = launch("-n", 2, "--ppn", 1, "--stats", place("stats"), "true", ":",
                 "-n", 2, "sh", "-c", 'test "$XYLEM_RANK" = 3 || exit 7',
                 code=7)
    check_has("rank 2 on ", ran.said)
    check_has("returned 7", ran.said)
    with open(place("stats")) as file:
        proof = json.load(file)["proof"]
    check_eq((8, 8), (proof["channels"], proof["complete"]))

with case("a program that cannot start is named"):
    ran = launch("-N", 2, "sleep", 100, ":", "no-such-program", code=1)
    check_has("cannot be started: exec of 'no-such-program'", ran.said)
    ran = launch("-N", 2, "sleep", 100, ":", "-D", place("nowhere"), "true",
                 code=1)
    check_has("chdir of '%s'" % place("nowhere"), ran.said)

with case("a program that is not in PATH may lie in the job's directory"):
    SCRIPT = place("here/local-script")
    with open(SCRIPT, "w") as file:
        file.write('echo "$0 $1"\n')
    os.chmod(SCRIPT, 0o644)
    ran = launch("-D", place("here"), "local-script", "word", code=1)
    check_has("exec of 'local-script': Permission denied", ran.said)
    os.chmod(SCRIPT, 0o755)
    ran = launch("-D", place("here"), "local-script", "word", ":",
                 "-D", live.TMP, "echo", "in", "PATH")
    check_eq(["./local-script word", "in PATH"], sorted(ran.lines()))
    ran = launch("-D", live.TMP, "local-script", code=1)
    check_has("exec of 'local-script': No such file", ran.said)

with case("a ':' is a word of the program with --no-colon"):
    ran = launch("--no-colon", "echo", "a", ":", "b", ":")
    check_eq(b"a : b :\n", ran.out)
    ran = launch("--no-colon", ":", code=1)
    check_has("exec of ':'", ran.said)
    ran = launch("echo", "a:b", ":c", "d:")
    check_eq(b"a:b :c d:\n", ran.out)


def wrong(words, args):
    """Wrong usage, told with these words."""
    ran = launch(*args, code=2)
    check_eq(b"", ran.out)
    check_has(words, ran.said)


MANY = ["true", ":"] * 64

with case("wrong usage is told"):
    for words, line in (
            ("no program is given before the ':'", ": true"),
            ("no program is given before the ':'", "-N 2 -- : true"),
            ("no program is given behind the ':'", "true :"),
            ("no program is given before the ':'", "true : : true"),
            ("no program is given behind the ':'", "true : -n 2"),
            ("--nodes is for all programs: give it before the first one",
             "true : -N 2 true"),
            ("--hosts is for all programs", "true : -H a true"),
            ("--label is for all programs", "true : --label true"),
            ("--no-colon is for all programs", "true : --no-colon true"),
            ("--ppn takes a number", "true : --ppn x true"),
            ("no-such-option", "true : --no-such-option true"),
            ("--env nothing_of_that_name: it is not in the environment",
             "true : --env nothing_of_that_name true"),
            ("('true' to 'echo'): asked for 5 processes, but the hosts have "
             "4 slots", "-w a:2,b:2 -n 2 true : -n 3 echo")):
        wrong(words, line.split())
    wrong("a job has 64 programs at most", [*MANY, "true"])
    live.check_all_gone()

with case("sixty-four programs run"):
    launch("-l", *MANY[:-1])

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())

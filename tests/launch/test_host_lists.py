#!/usr/bin/env python3
"""Lists of hosts: `^' removes hosts, `@' names a group, and `--hostfile -'
reads a list from stdin, of which the processes get nothing."""
import os
import signal
import subprocess
import sys

import live
from live import case, check_eq, check_has, launch

HERE = ("--launcher", "local", "--hostfile", "-")
LIST = b"# some\nn1 slots=2\nn[2-3]\n"


def run(given, *words, **more):
    return launch(*HERE, *words, given=given, **more)


def waiting(*words):
    """A launch whose list does not end, once it says that it waits."""
    one = subprocess.Popen([live.XYLEM, "run", *HERE, *words, "--", "true"],
                           stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    one.stdin.write(LIST)
    one.stdin.flush()
    check_eq(b"xylem: --hostfile: waiting for the list of hosts on stdin\n",
             one.stderr.readline())
    return one


with case("it is read as a file is"):
    for words, want in ((("-n", 4), ["n1", "n1", "n2", "n3"]),
                        (("-N", 2), ["n1", "n2"]),
                        (("-x", "n2"), ["n1", "n3"])):
        ran = run(LIST, *words, "--label=host", "--", "echo", "x")
        check_eq([name + ": x" for name in want], sorted(ran.lines()), words)
    ran = launch("--launcher=local", "--hostfile=-", "--label=host", "--",
                 "echo", "x", given=b"n7")
    check_eq(b"n7: x\n", ran.out)

with case("a list names hosts that are not to be in it"):
    for words in (("-w", "n[1-5],^n[2-4]"),
                  ("-w", "^n2,n[1-5]", "-x", "n[3-4]"),
                  ("-w", "n[1-5]", "-x", "n[1-5],^n1,^n5")):
        ran = launch("--launcher=local", *words, "--label=host", "--",
                     "echo", "x")
        check_eq(["n1: x", "n5: x"], sorted(ran.lines()), words)

with case("groups are those of nodeset"):
    path = os.path.join(live.TMP, "bin")
    os.mkdir(path)
    ENV = {"PATH": path + ":" + os.environ["PATH"],
           "STUCK": os.path.join(live.TMP, "stuck")}
    with open(os.path.join(path, "nodeset"), "w", encoding="ascii") as file:
        file.write("""#!/bin/sh
cat
test $# = 4 && test "$1 $2" = "-e -S" || exit 9
case $4 in
"@odd[1,3]") echo "n1$3n3$3n5" ;;
@src:all) echo "n1$3n2$3n3$3n4$3n5" ;;
@empty) echo ;;
@ill) echo n1; exit 1 ;;
@stuck) sleep 1000 & echo $$ $! >"$STUCK.new"; mv "$STUCK.new" "$STUCK"; wait ;;
*) echo "no group $4" >&2; exit 2 ;;
esac
""")
    os.chmod(file.name, 0o755)
    for words, want in ((("-w", "@odd[1,3]"), "135"),
                        (("-w", "n9,@odd[1,3],u@h"), "n1 n3 n5 n9 u@h"),
                        (("-w", "@src:all,^@odd[1,3]"), "24"),
                        (("-w", "@src:all", "-x", "@odd[1,3],n2"), "4")):
        ran = launch("--launcher=local", *words, "--label=host", "--", "cat",
                     given=b"x\n", env=ENV)
        names = want.split() if " " in want else ["n" + one for one in want]
        width = max(map(len, names))
        check_eq([f"{name:{width}}: x" for name in names], sorted(ran.lines()),
                 words)
    for group in ("@none", "@empty", "@ill", "n1,^@none"):
        ran = launch("-w", group, "--", "true", env=ENV, code=1)
        check_has("nodeset names no host for the group '%s'"
                  % group.rpartition("^")[2], ran.said)
    for words, want in ((("--timeout", 2), 124), ((), 128 + signal.SIGTERM)):
        job = live.Job(*words, "-w", "@stuck", "--", "true", env=ENV)
        if not words:
            live.eventually(lambda: os.path.exists(ENV["STUCK"]) and
                            "nodeset: waiting for the hosts of '@stuck'\n" in
                            job.said(), 60, "nodeset runs, which is told")
            job.proc.send_signal(signal.SIGTERM)
        check_eq(want, job.wait(), job.said())
        check_has("nodeset: waiting for the hosts of '@stuck'\n", job.said())
        if os.path.exists(ENV["STUCK"]):
            pids = [int(pid) for pid in live.read_file(ENV["STUCK"]).split()]
            live.eventually(lambda: {live.state(pid) for pid in pids} <=
                            {b"", b"Z"}, 60, "it is killed, and its child")
            os.remove(ENV["STUCK"])
    os.remove(file.name)
    ran = launch("-w", "@odd", "--", "true", env={"PATH": path}, code=1)
    check_has("'@odd' is a group of hosts, and nodeset of ClusterShell, which "
              "knows them, cannot be started: No such file", ran.said)

with case("stdin is at its end for the processes"):
    ran = run(LIST, "-n", 3, "--", "sh", "-c", "cat; echo end")
    check_eq(b"end\n" * 3, ran.out)

with case("--input gives them another one"):
    path = os.path.join(live.TMP, "input")
    with open(path, "w", encoding="ascii") as file:
        file.write("text\n")
    check_eq(b"text\n" * 3, run(LIST, "--input", path, "--", "cat").out)

with case("it begins where stdin is"):
    path = os.path.join(live.TMP, "list")
    with open(path, "wb") as file:
        file.write(b"not me\n" + LIST)
    with open(path, "rb", buffering=0) as file:
        file.seek(7)
        ran = launch(*HERE, "--label=host", "--", "echo", "x", stdin=file)
    check_eq(["n1: x", "n2: x", "n3: x"], sorted(ran.lines()))

with case("a fault is told with its line"):
    for given, words in (
            (b"a\nb c\n", 'stdin:2: "c" is not understood'),
            (b"", "stdin names no host (write one per line)")):
        check_has(words, run(given, "--", "true", code=2).said)
    folder = os.open("/", os.O_RDONLY)
    check_has("stdin:1: cannot be read",
              launch(*HERE, "--", "true", stdin=folder, code=1).said)
    os.close(folder)
    check_has("both name hosts",
              run(LIST, "-w", "a", "--", "true", code=2).said)

with case("`xylem tree' reads it, too"):
    ran = live.Ran(live.XYLEM, "tree", "--hostfile", "-", given=LIST)
    check_has("3 hosts", ran.out.decode())

with case("who waits for its end is told, and can end it"):
    one = waiting()
    one.send_signal(signal.SIGTERM)
    check_has(b"interrupted", one.communicate()[1])
    check_eq(128 + signal.SIGTERM, one.returncode)
    one = waiting("--timeout", "1.5")
    check_has(b"timed out after 1.5 s (--timeout): --hostfile: waiting",
              one.stderr.read())
    check_eq(124, one.wait())
    one.stdin.close()
    one = waiting()
    check_eq(b"", one.communicate()[1])
    check_eq(0, one.returncode)

live.check_all_gone()
sys.exit(live.end())

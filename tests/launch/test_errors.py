#!/usr/bin/env python3
"""A job that cannot work ends with exit code 1 or 2 and a message of one or
two lines, and leaves nothing behind."""
import os
import re
import resource
import socket
import subprocess
import sys

import live
from live import case, check, check_eq, check_has, launch


def place(name):
    return os.path.join(live.TMP, name)


def script(name, text):
    """A program that does this."""
    with open(place(name), "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(place(name), 0o755)
    return place(name)


def cannot(pattern, *args, code=None):
    """Checks that the launch fails soon with a message that matches, in any
    letter case."""
    ran = launch(*args, code=code)
    check(ran.code in (1, 2), f"exit code {ran.code}: {ran.said:.1000}")
    check_eq(b"", ran.out)
    check(re.search(pattern, ran.said, re.IGNORECASE),
          f"no '{pattern}' in: {ran.said:.1000}")
    check_has("xylem: ", ran.said)
    check(len(list(filter(None, ran.said.split("\n")))) <= 6,
          f"too many words: {ran.said:.2000}")
    live.check_all_gone()
    return ran


def tell(*words, code=0):
    """What xylem prints for these words."""
    ran = subprocess.run([live.XYLEM, *words], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False)
    check_eq(code, ran.returncode, f"exit code of {words}:")
    return ran.stdout


def limit_files(soft, hard=None):
    hard = hard or resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


with case("an unknown program"):
    cannot("no-such-program", "-N", 3, "--", "no-such-program")
    cannot("no-such-program", "-N", 9, "--arity", 2, "--nodes-per-daemon", 1,
           "--", place("no-such-program"))

with case("a file that is no program"):
    with open(place("text"), "w") as file:
        file.write("just text\n")
    cannot(place("text"), "-N", 3, "--", place("text"))

with case("a working directory that is not there"):
    cannot(place("nowhere"), "-N", 3, "-D", place("nowhere"), "--", "true")

with case("wrong usage exits with 2"):
    for args in ("--no-such-option -- true", "-N 0 -- true", "-N x -- true",
                 "-N 2", "-N 2 --arity 0 -- true", "-N 4 -i 9 -- true",
                 "-N 4 -i 1- -- true", "-w node[1- -- true",
                 "--port-range 9-1 -- true", "--launcher nonsense -- true",
                 "--timeout -1 -- true", "--env =x -- true",
                 "-N 3 -w a,b -- true", "-n 5 -w a:2,b:2 -- true",
                 "--launcher ssh -- true", "-n 9 -N 3 --ppn 2 -- true"):
        ran = cannot("xylem: ", *args.split())
        check_eq(2, ran.code, f"exit code for {args}:")

with case("usage and what it advises name the whole command"):
    cannot("xylem run --help", "-N", 2, "--no-such-option", "--", "true")
    check_has(b"Usage: xylem run ", launch("--help").out)
    check_has(b"xylem " + os.environ["XYLEM_VERSION"].encode(),
              launch("--version").out)

with case("help and the version, in all the words that people try"):
    for words in (["-h"], ["help"], ["help", "help"], ["help", "-h"],
                  ["help", "--help"]):
        check_has(b"Usage: xylem COMMAND", tell(*words))
    for words in (["run", "-h"], ["help", "run"]):
        check_has(b"Usage: xylem run ", tell(*words))
    check_eq(tell("--version"), tell("-V"))
    for word in ("-V", "-vV", "--vers"):
        check_eq(tell("--version"), tell("run", word))
    for command in ("run", "attach", "ps", "stack", "dvm", "tree", "sim"):
        text = tell("help", command)
        check_has(b"Usage: xylem %s " % command.encode(), text)
        for word in ("-h", "--help"):
            check_eq(text, tell(command, word))
        for word in ("-V", "--version"):
            check_eq(tell("--version"), tell(command, word))
    for word in ("-h", "--help", "-V", "--version"):
        check_eq(tell("dvm", word), tell("dvm", "--stop", word))
    for word, name in (("-h", "--help"), ("-V", "--version")):
        told = [subprocess.run([live.XYLEM + "d", option], check=True,
                               stdout=subprocess.PIPE).stdout
                for option in (word, name)]
        check_eq(told[0], told[1])
        check(told[0] != b"", f"xylemd {word} says nothing")
    check_has(b"there is no command 'rnu'", tell("help", "rnu", code=2))

with case("-np is -n, and no other word is changed by it"):
    check_eq(b"2\n" * 2, launch("-np", 2, "printenv", "XYLEM_SIZE").out)
    check_eq(b"-np 2\n", launch("-np", 1, "echo", "-np", 2).out)
    cannot("-np needs a value after it", "-np", code=2)
    cannot("--procs takes a number|-n takes a number", "-n", "p", "true",
           code=2)
    cannot("'x'", "-np", "x", "true", code=2)

with case("-l takes no value: another letter can follow"):
    check_eq([b"0: x", b"1: x"],
             sorted(launch("-lN2", "echo", "x").out.splitlines()))
    check_eq([b"0: x", b"1: x"],
             sorted(launch("-l", "-N2", "echo", "x").out.splitlines()))
    cannot("--label=host", "-lhost", "true", code=2)
    cannot("there is no option -lrank", "-lrank", "true", code=2)
    cannot("-h cannot be combined with other letters", "-vh", "true", code=2)

with case("an input file that is not there"):
    cannot(place("nothing"), "-N", 2, "--input", place("nothing"), "--", "cat")

with case("a host file that is not there"):
    cannot(place("nothing"), "--hostfile", place("nothing"), "--", "true")

with case("no such provider"):
    cannot("nonsense", "-N", 2, "--provider", "nonsense", "--", "true")

with case("no such interface"):
    cannot("nonsense0", "-N", 2, "--interface", "nonsense0", "--", "true")

with case("no free port in the range"):
    with socket.create_server(("0.0.0.0", 0)) as held:
        port = held.getsockname()[1]
        cannot(str(port), "-N", 3, "--port-range", f"{port}-{port}", "--",
               "true")

with case("too few file descriptors"):
    ran = launch("-N", 40, "--arity", 4, "--", "true", code=None,
                 preexec_fn=limit_files(16, 16))
    check(ran.code in (1, 2), f"exit code {ran.code}")
    check(re.search("descriptor|open files|ulimit", ran.said, re.IGNORECASE),
          ran.said)
    live.check_all_gone()

with case("a low soft limit of descriptors is raised to the hard one"):
    launch("-N", 40, "--arity", 32, "--", "true", preexec_fn=limit_files(32))

with case("xylemd is missing, or is no xylemd, or is of another version"):
    cannot(place("xylemd"), "-N", 3, "--xylemd", place("xylemd"), "--", "true")
    for daemon in (
            script("rubbish",
                   'echo "Welcome to a machine that greets everybody"\n'),
            script("silent", "exit 0\n")):
        cannot("xylemd|daemon", "-N", 3, "--xylemd", daemon, "--", "true")

with case("a host that cannot be reached, by name"):
    RSH = script("unreachable", """
case $1 in
badhost) echo "ssh: connect to host $1: No route to host" >&2; exit 255 ;;
esac
shift
exec sh -c "$*"
""")
    ran = cannot("badhost", "-w", "good1,badhost,good2", "--rsh", RSH, "--",
                 "true")
    check_has("No route to host", ran.said)
    cannot("badhost", "-w", "good1,good2,badhost", "--arity", 1, "--rsh", RSH,
           "--", "true")
    cannot("badhost", "-w", "badhost,good1", "--no-tree-spawn", "--rsh", RSH,
           "--", "true")

with case("a remote shell that prints rubbish, fails, or is not there"):
    for pattern, rsh in (
            (r"host\[1-2\]|host[12]",
             script("chatter", 'yes "no shell today" | head -c 100000\n')),
            ("Permission denied",
             script("fails", 'echo "Permission denied (publickey)." >&2\n'
                    "exit 255\n")),
            (place("nothing"), place("nothing"))):
        cannot(pattern, "-w", "host1,host2", "--rsh", rsh, "--", "true")

with case("a remote shell that greets and then works is no error"):
    RSH = script("greets", 'shift\necho "Welcome to $1" >&2\n'
                 'exec sh -c "$*"\n')
    ran = launch("-w", "host1,host2,host3", "--rsh", RSH, "-l", "--", "echo",
                 "hello")
    check_eq(3, ran.out.count(b"hello"))

with case("an output that cannot be written"):
    if not os.access("/dev/full", os.W_OK):
        raise live.LeftOut("there is no /dev/full")
    with open("/dev/full", "wb") as full:
        ran = launch("-N", 3, "--", "echo", "hello", code=1, stdout=full)
    check_has("space", ran.said.lower())
    live.check_all_gone()

sys.exit(live.end())

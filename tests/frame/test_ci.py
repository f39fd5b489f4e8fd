#!/usr/bin/env python3
"""Runs `.ci/run` on a project that only prints what a test suite would: it
must count tests correctly, and count none as good that was not seen to pass."""
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

TOP = os.environ["top_srcdir"]
import live
from live import case, check, check_eq, check_has, check_lacks

PROJECT = os.path.join(live.TMP, "project")
TOOLS = os.path.join(live.TMP, "tools")
CI = os.path.join(PROJECT, ".ci", "run")
IS_ROOT = os.getuid() == 0


def script(text, *path):
    """Replaces a program."""
    path = os.path.join(*path)
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)


def idle(name):
    """Makes a tool that does nothing."""
    script("", TOOLS, name)


def log_path(step):
    return os.path.join(PROJECT, "build-ci", step + ".log")


def log(step):
    return live.read_file(log_path(step)).decode()


def suite(text, names=8):
    """What ./bootstrap check does after ./bootstrap build and a run of this
    many names."""
    script(f"""case $1 in
check) ;;
run)
    seq 0 {names - 1} | sed 's/$/: {os.uname().nodename}/'
    exit
    ;;
*) exec mkdir -p "$XYLEM_BUILD" ;;
esac
{text}""", PROJECT, "bootstrap")


def summary(good, bad):
    """A command that names tests as automake does; tests that failed a second
    time come without their suffix."""
    return "".join([f"echo 'PASS: tests/good_{n}.py'\n" for n in range(good)] +
                   [f"echo 'FAIL: tests/bad_{n}.py'\n"
                    f"echo 'FAIL: tests/bad_{n}'\n" for n in range(bad)])


def ci(step, good, bad, code=0, **env):
    """What a run of this step prints, in which this many tests count as good
    and as bad."""
    ran = live.Ran(CI, step, code=code, env=env)
    check_eq(f"{good} passed, {bad} failed", ran.lines()[-1])
    return ran.out.decode()


os.makedirs(os.path.dirname(CI))
os.mkdir(TOOLS)
shutil.copy(os.path.join(TOP, ".ci", "run"), CI)
# Programs that the step would install, or needs to unpack a tarball.
for tool in ("clang", "xz", "clang-format", "ssh", "apt-get", "make"):
    idle(tool)
script(f'cp {PROJECT}/bootstrap "$4"', TOOLS, "tar")
os.environ["PATH"] = TOOLS + ":" + os.environ["PATH"]

with case("what passed is counted"):
    suite(summary(3, 0))
    check_has("ci: check: good, 3 tests", ci("check", 3, 0))

with case("what failed is counted, also where the status says nothing"):
    suite(summary(3, 2))
    check_has("ci: check: FAILED", ci("check", 3, 2, code=1))

with case("a step that fails without a failed test counts as one"):
    suite(summary(3, 0) + "exit 2")
    check_has("check: FAILED (status 2)", ci("check", 3, 1, code=1))

with case("so does a first run on other than eight names"):
    suite(summary(3, 0), 7)
    ci("check", 3, 1, code=1)
    check_has("run -N 8 --label -- hostname: 0: ", log("check"))

with case("a step that ran no test has failed"):
    suite(summary(0, 0))
    check_has("check: FAILED (no test was run)", ci("check", 0, 1, code=1))
    suite("echo all is well")
    ci("check", 0, 1, code=1)

with case("a step whose log vanishes is counted by what it has said"):
    suite(summary(3, 1) + "rm " + shlex.quote(log_path("check")))
    check_has("FAIL: tests/bad_0.py", ci("check", 3, 1, code=1))

with case("another log in its place does not count"):
    suite("rm {0}\n{{\n{1}}} >{0}".format(shlex.quote(log_path("check")),
                                         summary(5, 0)))
    ci("check", 0, 1, code=1)

with case("a step begins with no signal ignored"):
    suite(summary(1, 0) + "sh -c 'kill -INT $$; echo deaf'")
    live.Ran(CI, "check", code=None)
    check_has("PASS: tests/good_0.py", log("check"))
    check_lacks("deaf", log("check"))

with case("the step of a bare root fails where that does; only root has it"):
    suite(summary(1, 0))
    os.makedirs(os.path.join(PROJECT, "tests", "roots"))
    script('echo "$@"; exit 3', PROJECT, "tests", "roots", "roots.sh")
    live.Ran(CI, "roots", code=1 if IS_ROOT else 0)
    check_has("first trixie" if IS_ROOT else "left out: only root",
              log("roots"))

with case("steps of one word run side by side"):
    MEET = os.path.join(live.TMP, "meet")
    os.mkfifo(MEET)
    script(f"case $* in *distcheck*) cat {shlex.quote(MEET)} ;; *) exit ;; "
           f"esac\n{summary(1, 0)}", TOOLS, "make")
    suite(f"echo they meet >{shlex.quote(MEET)}\n{summary(1, 0)}")
    ci("check,distcheck", 2, 0)
    check_has("they meet", log("distcheck"))
    idle("make")

with case("each of them is counted"):
    suite(summary(1, 1))
    ci("check,user", 2, 2, code=1)

with case("random jobs are counted by their status, and their seeds are "
          "told"):
    suite("")
    script('echo "seeds: from 17, $SEEDS of them, and $NETWORK from n17"\n'
           "exit ${CHAOS:-0}", TOOLS, "make")
    few, network = (50, 10) if IS_ROOT else (60, 0)
    check_has(f"ci:     seeds: from 17, {few} of them, and {network} from n17",
              ci("chaos", 0, 0))
    check_has("chaos: FAILED (status 1)", ci("chaos", 0, 1, code=1, CHAOS="1"))
    idle("make")


def user_folder():
    """The folder in which the ordinary user of the last run worked."""
    return re.search("(?m)^here: (.*)", log("user"))[1]


with case("the step of the ordinary user leaves no folder"):
    suite("echo here: $(dirname $0)\n" + summary(1, 0))
    live.Ran(CI, "user", code=None)
    check_has("here: /tmp/xylem-ci-", log("user"))
    check(not os.path.exists(user_folder()), user_folder())

with case("nor does one that is ended, and what it ran ends with it"):
    suite("echo here: $(dirname $0)\necho runs as $$\n"
          "exec tail -f /dev/null")
    proc = subprocess.Popen([CI, "user"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    live.eventually(lambda: re.search("(?m)^runs as .*\n", log("user")), 20,
                    "it runs")
    user = int(re.search("(?m)^runs as (.*)", log("user"))[1])
    folder = user_folder()
    check(os.path.isdir(folder), folder)
    proc.send_signal(signal.SIGTERM)
    check_eq(143, proc.wait(60 * live.SLOW))
    check(not os.path.exists(os.path.dirname(folder)), folder)
    # Another process collects it, which may take a moment.
    live.eventually(lambda: not os.path.exists(f"/proc/{user}"), 5,
                    "it is gone")

sys.exit(live.end())

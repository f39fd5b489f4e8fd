#!/usr/bin/env python3
"""The environment, working directory, umask and limits of a process."""
import os
import resource
import sys

import live
from live import case, check_eq, check_has, launch

HOME = os.path.join(live.TMP, "home")  # of the host
HERE = os.path.join(live.TMP, "here")  # of the launcher
for folder in (HOME, HERE):
    os.mkdir(folder)
os.environ["THERE"] = HOME


def host(name, text):
    """A host whose daemons are started so: options."""
    path = os.path.join(live.TMP, name)
    with open(path, "w") as file:
        file.write(text + 'shift\nexec sh -c "$*"\n')
    return ("--rsh", "bash " + path, "--interface", "lo")


# Its daemon has other manners than the launcher, and another home.
STRANGE = host("strange", """umask 077
ulimit -S -t 3000
ulimit -S -n 512
ulimit -S -s 4096
ulimit -S -f 99999
export OF_THE_HOST=1
cd "$THERE"
""")
TIGHT = host("tight", "ulimit -t 700\nulimit -n 2000\n")
# By the time its daemon starts, the launcher's directory is not there.
ELSEWHERE = host("elsewhere", """rmdir "$TMPDIR/here" 2>/dev/null
cd "$THERE"
""")


def limits(**soft):
    """Before the launcher starts: soft limits and the umask."""
    def prepare():
        os.umask(0o027)
        for name, value in soft.items():
            number = getattr(resource, "RLIMIT_" + name)
            hard = resource.getrlimit(number)[1]
            resource.setrlimit(number, (
                hard if value is None else value, hard))
    return prepare


# `ulimit` counts the stack and files in KiB.
with case("umask and soft limits are the launcher's, on other hosts and here"):
    for where in (("-N", 1), ("-w", "a")):
        ran = launch(*where, *STRANGE, "--", "bash", "-c",
                     'for l in t n s f; do ulimit -S -$l; done; umask',
                     preexec_fn=limits(CPU=1000, NOFILE=400, STACK=6000 << 10,
                                       FSIZE=500000 << 10))
        check_eq(["1000", "400", "6000", "500000", "0027"], ran.lines())

with case("hard limits are the host's, and a soft one goes no further"):
    ran = launch("-w", "a", *TIGHT, "--", "bash", "-c",
                 "ulimit -S -t; ulimit -H -t; ulimit -S -n; ulimit -H -n",
                 preexec_fn=limits(CPU=1000, NOFILE=None))
    check_eq(["700", "700", "2000", "2000"], ran.lines())

with case("descriptors that a daemon needs are no limit of its processes"):
    ran = launch("-N", 80, "--nodes-per-daemon", 80, "--", "sh", "-c",
                 "ulimit -S -n", preexec_fn=limits(NOFILE=256))
    check_eq(["256"] * 80, ran.lines())

with case("the environment is the launcher's, without its shell's private "
          "parts"):
    # What a provider of the tests needs is there beside it.
    rest = {name: value for name, value in os.environ.items()
            if os.environ.get("XYLEM_TEST_PROVIDER") and
            (name in ("top_builddir", "FI_PROVIDER_PATH") or
             name.startswith("STRICT_"))}
    mine = {name: os.environ[name] for name in ("PATH", "TMPDIR", "THERE")}
    gone = dict.fromkeys(os.environ)
    ran = launch("-w", "a", *STRANGE, "-D", "/", "--env", "D=4", "--env",
                 "A=2", "--env", "E=a=b", "--", "env", "-0", env={
                     **gone, **rest, **mine, "A": "1", "B": "", "SHLVL": "7",
                     "OLDPWD": "/x", "_": "/y", "XYLEM_OLD": "1",
                     "BASH_FUNC_f%%": "() { :; }", "C": "two words\nin lines"})
    found = dict(text.split("=", 1)
                 for text in ran.out.decode().split("\0")[:-1])
    ours = {name: found.pop(name) for name in list(found)
            if name.startswith("XYLEM_")}
    check_eq({"A": "2", "B": "", "C": "two words\nin lines", "D": "4",
              "E": "a=b", "PWD": "/", **mine, **rest}, found)
    ours["XYLEM_MARK"] = ours.get("XYLEM_MARK") and "one"
    check_eq({"XYLEM_LOCAL_RANK": "0", "XYLEM_MARK": "one",
              "XYLEM_NNODES": "1", "XYLEM_NODE": "0", "XYLEM_RANK": "0",
              "XYLEM_SIZE": "1"}, ours)

with case("the directory is the launcher's, where it exists"):
    ran = launch("-w", "a", *STRANGE, "--", "sh", "-c", "pwd; echo $PWD",
                 cwd=HERE)
    check_eq([HERE, HERE], ran.lines())
    check_eq("", ran.said)
    check_eq([HERE], launch("-N", 1, "--", "pwd", cwd=HERE).lines())

with case("else the daemon's own; with -D it must be there"):
    ran = launch("-w", "a", *ELSEWHERE, "--", "sh", "-c", "pwd; echo $PWD",
                 cwd=HERE)
    check_eq([HOME, HOME], ran.lines())
    check_has("xylem: a: cannot change to the launcher's directory (No such",
              ran.said)
    check_has("processes start in the daemon's (--chdir names another)",
              ran.said)
    for times, args in ((1, ("--ppn", 2)), (3, ("-v",))):
        os.mkdir(HERE)
        ran = launch("-w", "a,b,c", *args, *ELSEWHERE, "--", "true", cwd=HERE)
        check_eq(times, ran.said.count("cannot change to"))
    ran = launch("-w", "a", *STRANGE, "-D", HERE, "--", "pwd", code=1,
                 cwd=live.TMP)
    check_has(f"chdir of '{HERE}': No such file or directory", ran.said)

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())

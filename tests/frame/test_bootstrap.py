#!/usr/bin/env python3
"""Runs ./bootstrap on a project of three files, in which configure writes a
Makefile that writes a program xylem. A made-up PATH decides which programs the
system has."""
import os
import re
import shutil
import sys
import time

TOP = os.environ["top_srcdir"]
import live
from live import case, check, check_eq, check_has, check_lacks

PROJECT = os.path.join(live.TMP, "project")
TOOLS = os.path.join(live.TMP, "tools")
BOOT = os.path.join(PROJECT, "bootstrap")
LOG = os.path.join(PROJECT, "build", "bootstrap.log")
CONFIGURE = os.path.join(PROJECT, "configure")
APT = os.path.join(TOOLS, "apt-get.log")
INSTALL = "apt-get install -y --no-install-recommends libfabric-dev"


def script(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)


def read(path):
    return live.read_file(path).decode()


def boot(*words, place=BOOT, **more):
    return live.Ran(place, *words, **{"cwd": live.TMP, **more})


def close_stdin():
    os.close(0)


os.makedirs(os.path.join(PROJECT, "m4"))
os.mkdir(TOOLS)
for path in ("bootstrap", "m4/packages.m4"):
    shutil.copy(os.path.join(TOP, path), os.path.join(PROJECT, path))
OLD_S = time.time() - 3600
for path in ("configure.ac", "Makefile.am", "m4/packages.m4"):
    with open(os.path.join(PROJECT, path), "a"):
        os.utime(os.path.join(PROJECT, path), (OLD_S, OLD_S))
script(PROJECT, "configure", r"""echo "configured with: $*"
cat # what it reads here would be missing in the job
mkdir -p commands
echo "fake status" >config.status
printf 'all: commands/xylem\ncommands/xylem: %s\n\t@echo made a xylem\n' \
    "$0" >Makefile
printf '\t@cp %s commands/xylem\ncheck:\n\t@echo tested\nclean:\n' \
    "$(dirname "$0")/fake" >>Makefile""")
with open(os.path.join(PROJECT, "Makefile.in"), "w"):
    pass
script(PROJECT, "fake", 'echo "in $(pwd): $*"\ncat\nexit 7')
# commands that only print how they were called
script(TOOLS, "pkg-config",
       'case "$*" in *libfabric*) [ -e "$0.fixed" ] ;; esac')
script(TOOLS, "apt-get", 'echo "apt-get $*" >>"$0.log"\n'
       'touch "${0%/*}/pkg-config.fixed"')
script(TOOLS, "id", "echo 1000")
script(TOOLS, "autoreconf", "exit 1")
os.environ["PATH"] = TOOLS + ":" + os.environ["PATH"]
for name in ("XYLEM_BUILD", "XYLEM_CONFIGURE", "CC", "CFLAGS", "LDFLAGS"):
    os.environ.pop(name, None)

with case("an ordinary user is told the exact command"):
    ran = boot("build", code=1)
    check_has("missing: libfabric >= 1.11", ran.said)
    check_has("sudo " + INSTALL, ran.said)
    check_eq(b"", ran.out)
    check(not os.path.exists(APT), "it installs")

with case("root gets them installed"):
    script(TOOLS, "id", "echo 0")
    boot("build")
    check_eq(INSTALL + "\n", read(APT))

with case("the first run sets up, and stdin and stdout are the job's alone"):
    shutil.rmtree(os.path.join(PROJECT, "build"))
    ran = boot("run", "-N", 8, "two words", given=b"for the job\n", code=7)
    check_eq(f"in {live.TMP}: run -N 8 two words\nfor the job\n",
             ran.out.decode())
    check_has("made a xylem", read(LOG))

with case("the second run is quiet and builds nothing"):
    ran = boot("run", "x", given=b"again\n", code=7)
    check_eq(f"in {live.TMP}: run x\nagain\n", ran.out.decode())
    # A step of two seconds is announced; a slow machine may take that long.
    check_eq("", re.sub("(?m)^bootstrap: building \\(log: .*\n", "", ran.said))
    check_lacks("made a xylem", read(LOG))

with case("a run without arguments is a demo with a stdin of its own"):
    ran = boot("run", code=7)
    check_eq(f"in {live.TMP}: run -N 8 --label -- cat -n\none\ntwo\n",
             ran.out.decode())

with case("a stdin that is closed is no trouble"):
    ran = boot("run", "x", code=7, preexec_fn=close_stdin)
    check_eq(f"in {live.TMP}: run x\n", ran.out.decode())

with case("new options configure again"):
    boot("build", env={"XYLEM_CONFIGURE": "--enable-werror --x=y"})
    check_has("with: --enable-werror --x=y", read(LOG))

with case("a build folder elsewhere is taken as seen from here"):
    boot("build", env={"XYLEM_BUILD": "other"})
    check(os.access(os.path.join(live.TMP, "other/commands/xylem"), os.X_OK),
          "no xylem is there")

with case("check runs the test suite"):
    check_eq(b"tested\n", boot("check").out)

with case("a build that fails shows why and ends with 1"):
    text = read(CONFIGURE)
    with open(CONFIGURE, "w") as file:
        file.write(text.replace("made a xylem",
                                "made a xylem badly; exit 3"))
    ran = boot("run", "x", code=1)
    check_has("made a xylem badly", ran.said)
    check_eq(b"", ran.out)

with case("a path with a space is refused by name"):
    SPACED = os.path.join(live.TMP, "a b")
    shutil.copytree(PROJECT, SPACED)
    ran = boot("build", place=os.path.join(SPACED, "bootstrap"), code=None)
    check(ran.code != 0, "exit code 0")
    check_has("a path with spaces", ran.said)

with case("wrong usage ends with 2"):
    for words in ([], ["walk"], ["install"]):
        boot(*words, code=2)

sys.exit(live.end())

#!/usr/bin/env python3
"""An installed tree works, also when it was moved: all files are found from
where the program is."""
import glob
import os
import subprocess
import sys

import live
from live import case, check, check_eq, check_has, check_lacks

ROOT = os.path.join(live.TMP, "moved")
STAGE = os.path.join(live.TMP, "stage")
XYLEM = os.path.join(ROOT, "bin", "xylem")
VERSION = os.environ["XYLEM_VERSION"]

made = subprocess.run(
    ["make", "-s", "-C", live.BUILD, "install", "DESTDIR=" + STAGE],
    check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
if made.returncode:
    sys.exit(made.stdout.decode(errors="replace"))
found = glob.glob(os.path.join(STAGE, "**", "xylemd"), recursive=True)
os.rename(os.path.dirname(os.path.dirname(found[0])), ROOT)


def there(*words):
    return glob.glob(os.path.join(ROOT, *words), recursive=True)


with case("programs, module, pages and documents are there"):
    for name in ("xylem", "xylemd"):
        check(os.access(os.path.join(ROOT, "bin", name), os.X_OK), name)
    for name in ("xylem_machine.so", "xylem_ofi.so"):
        check(there("lib*", "xylem", name), name)
    check(there("**", "xylem-pmix") or not os.access(os.path.join(
        live.BUILD, "pmix_api", "xylem-pmix"), os.X_OK), "the helper")
    check(there("share", "doc", "xylem", "LICENSE"), "LICENSE")

with case("the version is the one of the package"):
    for name in ("xylem", "xylemd"):
        ran = live.Ran(os.path.join(ROOT, "bin", name), "--version")
        check_eq(f"{name} {VERSION}", ran.lines()[0])

with case("a dvm is asked for a job, with libpmix or without"):
    ran = live.Ran(XYLEM, "run", "--dvm=nobody", "--", "true", code=1)
    check_has("no dvm nobody runs", ran.said)

with case("an installed xylem needs nothing of the build"):
    ran = live.Ran(XYLEM, "run", "-N", 3, "--label", "--", "sh", "-c",
                   "readlink /proc/$PPID/exe >&2; cat", given=b"in\n",
                   cwd="/")
    check_eq(b"0: in\n1: in\n2: in\n", b"".join(
        sorted(ran.out.splitlines(True))))
    check_lacks(live.BUILD, ran.said)
    live.check_all_gone()

sys.exit(live.end())

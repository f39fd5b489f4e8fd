#!/usr/bin/env python3
"""Names with linkage carry the prefix of their folder; a module exports one.

usage: names.py [FILE.la...]     all that is built when none is given

In an archive below FOLDER every global name begins with the folder's prefix.
A module exports only its table of operations.
"""
import glob
import os
import re

import symbols

PREFIX = {"overlay": "ov_", "topo": "topo_", "text": "text_", "job": "job_",
          "endpoints": "ep_", "pmix_api": "px_", "sim": "sim_"}
MODULE = {"xylem_machine.so": ("topo_machine_hwloc",),
          "xylem_ofi.so": ("ep_transport_ofi_ops",)}
LINKER = re.compile(r"_(init|fini|edata|end|_bss_start)$|__bss_start$")


def judge_module(path):
    rows = symbols.read(path, "--dynamic", "--defined-only")
    symbols.skip_instrumented(symbols.read(path))
    wanted = MODULE.get(os.path.basename(path), ())
    for _, name, _, _ in rows:
        if name not in wanted and not LINKER.match(name):
            yield f"{os.path.basename(path)}: exports {name}"
    for name in wanted:
        if name not in [row[1] for row in rows]:
            yield f"{os.path.basename(path)}: does not export {name}"


def judge_archive(path, folder):
    rows = symbols.read(path, "--defined-only", "--extern-only")
    for member, name, _, _ in rows:
        if not name.startswith(PREFIX[folder]) \
                and not symbols.INSTRUMENTED.match(name):
            yield f"{os.path.basename(path)}({member}): {name} " \
                f"does not begin with {PREFIX[folder]}"


def complaints(paths):
    for path in paths:
        folder = next((part for part in reversed(path.split(os.sep))
                       if part in PREFIX), None)
        if path.endswith(".so"):
            yield from judge_module(path)
        elif folder:
            yield from judge_archive(path, folder)


def everything():
    top = os.environ.get("top_builddir", ".")
    for folder in PREFIX:
        for la in glob.glob(os.path.join(top, folder, "**", "*.la"),
                            recursive=True):
            if os.sep + ".libs" + os.sep not in la:
                yield os.path.relpath(la, top)


if __name__ == "__main__":
    symbols.judge(complaints, sorted(everything()))

#!/usr/bin/env python3
"""Each mutant of the core finds the text that it changes.

The mutants themselves run long and seldom (tests/sim/mutants.py). Here their
changes are made without compiling anything, so that who changes a file of the
core sees at once which mutant has to follow.
"""
import os
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
os.environ.setdefault("top_srcdir", TOP)
os.environ.setdefault("top_builddir", TOP)  # this lint needs no build
sys.path.insert(0, os.path.join(TOP, "tests", "sim"))
import breaks  # noqa: E402  (found by the line before)


def complaints():
    for name in (*breaks.ALLOWED, *breaks.BACKED, *breaks.COSTLY,
                 *breaks.RARE, *breaks.MUTANTS):
        with tempfile.TemporaryDirectory() as folder:
            try:
                breaks.apply(breaks.changes(name), folder)
            except (ValueError, OSError) as wrong:
                yield f"tests/sim/breaks.py: {name}: {wrong}"


if __name__ == "__main__":
    said = list(complaints())
    print("\n".join(said), end="\n" if said else "")
    sys.exit(bool(said))

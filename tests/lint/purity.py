#!/usr/bin/env python3
"""The core needs nothing but mem* and itself, and keeps no state of its own.

usage: purity.py [ARCHIVE.la...]     the core's archives when none is given
"""
import os
import re

import symbols

CORE = ("overlay/libovcore.la", "topo/libtoposhape.la")
ALLOWED = re.compile(r"(__)?mem(chr|cpy|move|set|cmp)(_chk)?$")
# The one variable: what to call when an assertion fails.
STATE = {("panic.o", "handler")}
WRITABLE = re.compile(r"\.(data|bss|tdata|tbss)\b(?!\.rel\.ro)|\*COM\*")


def complaints(paths):
    found = {path: symbols.read(path) for path in paths}
    everything = [row for rows in found.values() for row in rows]
    symbols.skip_instrumented(everything)
    # a letter in upper case: other objects can see the symbol
    own = {name for _, name, kind, section in everything
           if kind.isupper() and section != "*UND*"}
    for path, rows in found.items():
        for member, name, kind, section in rows:
            where = f"{os.path.basename(path)}({member})"
            short = member.split("-")[-1]
            if section == "*UND*":
                if name not in own and not ALLOWED.match(name) \
                        and not symbols.RUNTIME.match(name):
                    yield f"{where}: calls {name}"
            elif WRITABLE.match(section) and (short, name) not in STATE:
                yield f"{where}: {name} is state outside of its arguments"


if __name__ == "__main__":
    symbols.judge(complaints, CORE)

#!/usr/bin/env python3
"""Each folder includes only what its layer may: see docs/design.

    L0  overlay/base
    L1  the shape of the tree (topo/tree.h and the other headers of SHAPE)
    L2  overlay/*
    L3  overlay/node*
    L4  sim | endpoints | pmix_api      siblings; none includes another
    L5  commands, tests, bench

topo/ outside the shape stands beside L2 and includes topo/ and overlay/base;
text/ does so, too. job/ stands above these three and beneath L4.
The folders of endpoints/ have an order among themselves: ENDPOINTS.
"""
import fnmatch
import os
import re

import sources

# the pure part of topo/, of which libtoposhape is made
SHAPE = ("topo/tree*", "topo/ranges*")

# The folders of endpoints/, lowest first, each with the other folders that it
# may include.
ENDPOINTS = {
    "sys": "",
    "fabric": "sys",
    "ofi": "sys fabric",
    "spawn": "sys",
    "boot": "sys fabric spawn",
    "hub": "sys fabric boot",
    "console": "sys",
    "output": "sys console",
    "daemon": "sys fabric spawn boot hub",
    "client": "sys console output",
    "run": "sys fabric spawn boot hub console output client",
}

# (files, what they may include of xylem); the first entry that matches counts
LAYERS = (
    (("overlay/base/*",), ("overlay/base/*",)),
    (SHAPE, ("overlay/base/*", *SHAPE)),
    (("overlay/node*",), ("overlay/*", *SHAPE)),
    (("overlay/*",), ("overlay/*", "!overlay/node*", *SHAPE)),
    (("topo/*",), ("overlay/base/*", "topo/*")),
    (("text/*",), ("overlay/base/*", "text/*", "config.h")),
    (("job/*",), ("overlay/base/*", "overlay/control.h", "overlay/wire/frame.h",
                  "overlay/wire/push.h", "topo/*", "text/*", "job/*",
                  "config.h")),
    (("sim/*",), ("overlay/*", "topo/*", "job/*", "sim/*")),
    *(((f"endpoints/{folder}/*",),
       ("overlay/*", "topo/*", "text/*", "job/*", "config.h",
        f"endpoints/{folder}/*",
        *(f"endpoints/{other}/*" for other in others.split())))
      for folder, others in ENDPOINTS.items()),
    # the only part that uses libpmix
    (("pmix_api/helper/lib/*",), ("overlay/base/*", "job/*", "text/style.h",
                                  "endpoints/sys/peer.h",
                                  "pmix_api/folder.h",
                                  "pmix_api/helper/lib/*", "config.h")),
    # A client of the session's door, like those of commands/: it may use the
    # same parts of endpoints/.
    (("pmix_api/helper/*",), ("overlay/base/*", "overlay/wire/frame.h",
                              "overlay/wire/push.h", "topo/tree.h",
                              "topo/ranges.h", "job/*", "text/style.h",
                              "endpoints/sys/*", "endpoints/client/folder.h",
                              "endpoints/client/outbox.h",
                              "endpoints/client/table.h",
                              "pmix_api/folder.h",
                              "pmix_api/helper/lib/key.h",
                              "pmix_api/helper/lib/lib.h",
                              "pmix_api/helper/*",
                              "!pmix_api/helper/lib/[!kl]*",
                              "!pmix_api/helper/lib/l[!i]*",
                              "config.h")),
    # the launcher's port for tools, and the start of their helpers
    (("pmix_api/*",), ("overlay/base/*", "job/*",
                       "endpoints/client/tools.h", "endpoints/sys/clock.h",
                       "pmix_api/*", "!pmix_api/helper/*", "config.h")),
    (("commands/*",), ("*", "!tests/*", "!bench/*")),
    (("bench/pull_*",), ("bench/*", "tests/pmix/turn.h")),
    (("bench/*",), ("*", "!tests/*", "!commands/*")),
    (("tests/*",), ("*", "!bench/*")),
)

# The core may include these headers of the system and no others.
CORE = ("overlay/*", *SHAPE)
CORE_SYSTEM = ("inttypes.h", "stdbool.h", "stddef.h", "stdint.h", "string.h")

# headers of libraries, and the folders that may include them
LIBRARIES = (
    ("rdma/*", ("endpoints/ofi/*", "tests/provider/*",
                "tests/unit/strict_net.*", "tests/unit/test_strict*.c")),
    ("event2/*", ("endpoints/*", "pmix_api/*", "!pmix_api/helper/lib/*",
                  "commands/attach/*", "commands/submit/*", "tests/*")),
    ("event.h", ()),
    ("hwloc*", ("topo/*",)),
    # The library can crash or stall a process, so it runs in programs of its
    # own.
    ("pmix*", ("pmix_api/helper/lib/*", "tests/pmix/*", "bench/*")),
    ("pcre2*", ("text/*",)),
    ("sodium*", ("endpoints/*", "text/*", "tests/*")),
    ("xxh*", ("job/*",)),
    ("cmocka.h", ("tests/*",)),
)
# Headers that one file alone may include.
ONE_FILE = ("hwloc*", "pcre2*", "xxh*")


def matches(path, patterns):
    """True when a pattern matches and no pattern with a ! excludes it."""
    takes = [fnmatch.fnmatch(path, p) for p in patterns if p[0] != "!"]
    drops = [fnmatch.fnmatch(path, p[1:]) for p in patterns if p[0] == "!"]
    return any(takes) and not any(drops)


def judge_own(root, path, name):
    """Checks an include in quotes: it must be a path from the root, of an
    allowed layer."""
    if name == "config.h":
        there = True
    else:
        there = os.path.isfile(os.path.join(root, name))
    if not there:
        return f'"{name}" is no path of ours from the root'
    for files, allowed in LAYERS:
        if matches(path, files):
            if not matches(name, allowed):
                return f'"{name}" is not for {files[0]}'
            return None
    return "a file that belongs to no layer"


def judge_system(path, name):
    if matches(path, CORE):
        if name not in CORE_SYSTEM:
            return f"<{name}> is not for the core"
        return None
    for pattern, files in LIBRARIES:
        if fnmatch.fnmatch(name, pattern) and not matches(path, files):
            return f"<{name}> is not for {os.path.dirname(path)}/"
    return None


def complaints(root):
    users = {pattern: [] for pattern in ONE_FILE}
    for path in sources.walk(root, (".c", ".h")):
        for number, line in enumerate(sources.read(root, path), 1):
            match = re.match(r'\s*#\s*include\s*(?:"([^"]*)"|<([^>]*)>|(.*))',
                             line)
            if not match:
                continue
            own, system, other = match.groups()
            if other is not None:
                text = "an include by macro cannot be judged"
            elif own is not None:
                text = judge_own(root, path, own)
            else:
                text = judge_system(path, system)
                for pattern in ONE_FILE:
                    if text is None and fnmatch.fnmatch(system, pattern):
                        users[pattern].append((path, number))
            if text:
                yield path, number, text
    for pattern, places in users.items():
        first = places[0][0] if places else None
        for path, number in places:
            if path != first:
                yield path, number, f"<{pattern}> is {first}'s alone"


if __name__ == "__main__":
    sources.main(complaints)

#!/usr/bin/env python3
"""No circle of calls among the files of an archive.

usage: circles.py [ARCHIVE.la...]     those of ARCHIVES when none is given

An object takes from another what it does not define itself: a function to
call, also by its address, or a table. Each must stand above those that it
takes from; what is wanted of somebody above comes as a callback.
"""
import os

import symbols

ARCHIVES = ("endpoints/libep.la", "endpoints/libofi.la", "pmix_api/libpx.la",
            "pmix_api/libpxhelper.la",
            "overlay/libovcore.la", "topo/libtopo.la",
            "topo/libtopohwloc.la", "topo/libtoposhape.la",
            "text/libtext.la", "job/libjob.la", "sim/libsim.la")


def arrows(rows):
    """Returns {object: {other: the names that it takes from that one}}."""
    owner = {name: member for member, name, kind, section in rows
             if kind.isupper() and section != "*UND*"}
    found = {member: {} for member, _, _, _ in rows}
    for member, name, _, section in rows:
        other = owner.get(name, member)
        if section == "*UND*" and other != member:
            found[member].setdefault(other, set()).add(name)
    return found


def reach(graph, start):
    """Returns all objects from which start takes something, directly or
    through others."""
    seen, ahead = set(), [start]
    while ahead:
        for other in graph[ahead.pop()]:
            if other not in seen:
                seen.add(other)
                ahead.append(other)
    return seen


def complaints(paths):
    for path in paths:
        rows = symbols.read(path)
        graph = arrows(rows)
        beneath = {member: reach(graph, member) for member in graph}
        for member in sorted(graph):
            for other in sorted(graph[member]):
                if member in beneath[other]:
                    names = ", ".join(sorted(graph[member][other]))
                    yield f"{os.path.basename(path)}({member}): in a circle " \
                        f"with {other}: {names}"


if __name__ == "__main__":
    symbols.judge(complaints, ARCHIVES)

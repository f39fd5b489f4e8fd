#!/usr/bin/env python3
"""Jobs of a dvm are placed on the nodes with the fewest processes and not on
full nodes, and are refused with a message when there is no room."""
import os
import sys

import pmix
import live
import dvms
import spawning
from live import check_eq
from spawning import hosts_of

ROOM = 256  # endpoints/run/nodes.h
ODD = os.path.join(os.environ["top_srcdir"], "tests", "data",
                   "cut-down.xml")  # 3 cores
HOLD = "-- %d sh -c :<$0 "


class Tree:
    """A dvm, a tool, and jobs that stay until they are let go."""

    def __init__(self, *options, hosts="a,b,c", wrap=()):
        self.dvm = pmix.Dvm("-v", "-w", hosts, *options, wrap=wrap)
        self.dvm.wait_up()
        self.tool = spawning.connect(self.dvm)
        self.gate = pmix.Gate()

    def place(self, procs, *more):
        """Where so many processes that stay are placed; or why they are
        not."""
        space, status = self.tool.spawn(
            " ".join(more) + " " + HOLD % procs + self.gate.path)
        return hosts_of(self.dvm, space) if space else status

    def refused(self, why, procs, *more):
        said = self.dvm.said().count(why)
        status = self.place(procs, *more).replace("-", " ").upper()
        live.check("INSUFFICIENT" in status, status)
        live.eventually(lambda: self.dvm.said().count(why) > said, 60, why)

    def end(self):
        check_eq(0, self.tool.end())
        check_eq((0, ""), dvms.stop())
        dvms.check_end(self.dvm)


def level():
    """Each goes where the fewest are, in the order of the list where these are
    equal; a job that names hosts, or is on each node, goes there."""
    tree = Tree()
    for want in ("a:1", "b:1", "c:1", "a:1"):
        check_eq(want, tree.place(1))
    check_eq("b:1 c:1", tree.place(2))
    check_eq("c:1", tree.place(1, "!pmix.host=c,b"), "as they are named:")
    check_eq("a:1 b:1 c:1", tree.place(0), "on each:")
    check_eq("a:2 b:1 c:1", tree.place(4))
    check_eq("b:2", tree.place(2, "!pmix.ppr=2:node"))
    tree.end()


def full():
    """A node that is full is passed over, one that is nearly full gets what it
    has room for; what must be there is refused."""
    tree = Tree()
    check_eq("a:%d" % (ROOM - 4), tree.place(ROOM - 4, "!pmix.host=a"))
    check_eq("b:12 c:12 a:4", tree.place(28))
    check_eq("b:1", tree.place(1, "!pmix.host=a,b"))
    check_eq("c:2 b:1", tree.place(3, "!pmix.mapby=node"))
    most = "more processes: further jobs can have %d on a node at most" % ROOM
    room = "has room for 0 " + most
    tree.refused("node 0 on a " + room, 1, "!pmix.host=a")
    tree.refused("node 0 on a " + room, 0)
    tree.refused(most, 2 * ROOM)
    user = pmix.Command("run", "--dvm", "-n", 2 * ROOM, "true")
    check_eq(1, user.wait())
    live.check(b"no room" in user.said() and b"more than %d processes" % ROOM
               in user.said(), user.said())
    tree.end()


def slots():
    """The same with slots: the emptiest nodes are filled first."""
    tree = Tree(hosts="a:2,b:2,c:2")
    check_eq("a:1", tree.place(1))
    check_eq("b:2 c:1", tree.place(3))
    check_eq("a:2 c:2 b:1", tree.place(5))
    tree.refused("slots", 7)
    tree.end()


def files():
    """A node has as many as it takes also where the user's shell allows few
    files."""
    tree = Tree(hosts="a", wrap=("sh", "-c", 'ulimit -Sn 256; exec "$@"', "-"))
    check_eq("a:%d" % ROOM, tree.place(ROOM))
    tree.end()


def objects():
    """A node with room for those of one core, but not for those of all its
    cores, gets what it has room for."""
    tree = Tree(hosts="a,b,c", wrap=("env", "HWLOC_XMLFILE=" + ODD))
    per = "!pmix.host=a,b,c !pmix.ppr=20:core"
    check_eq("a:%d" % (ROOM - 25), tree.place(ROOM - 25, "!pmix.host=a"))
    check_eq("a:25 b:48 c:47", tree.place(120, per))
    tree.refused("more processes: further jobs can have %d on a node at most"
                 % ROOM, 150, per)
    tree.end()


def main():
    pmix.need()
    for what in (level, full, slots, files, objects):
        with live.case(" ".join(what.__doc__.split())):
            what()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

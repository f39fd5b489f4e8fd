#!/usr/bin/env python3
"""Hosts whose daemons do not connect are reported in groups with the same
reason, and left out when --min-nodes lets the job go on without them."""
import os
import resource
import shlex
import shutil
import sys

import live
from live import case, check_eq, check_has

SCARCE = 64  # descriptors
START = ("--rsh", live.RSH, "--interface", "lo", "-w", "node[1-8]")


def set_scarce():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (SCARCE, hard))


def telling(words, *args, **env):
    """The launch fails and tells this, all in one line if possible."""
    return live.launch_telling(words, *START, "--arity", 8, *args,
                               "--", "true", code=1, env=env)


with case("tells hosts that fail for the same reason in one line"):
    ran = telling("3 daemons", RSH_BAD="node3 node6 node7")
    check_eq(1, ran.said.count("\n"))
    check_has("xylem: cannot start 3 daemons on node[3,6-7]: ", ran.said)
    check_has("its stderr: connect to host HOST: No route to host", ran.said)
    live.check_all_gone()

with case("takes no part of a word for the name of a host"):
    FOLDER = os.path.join(live.TMP, "of_node3")
    os.mkdir(FOLDER)
    OTHER = shutil.copy(shlex.split(live.RSH)[1], FOLDER)
    ran = telling("3 daemons", "--rsh", "sh " + OTHER,
                  RSH_BAD="node3 node6 node7")
    check_eq(1, ran.said.count("\n"))
    live.check_all_gone()

with case("tells each reason once"):
    SOON = ("--launch-timeout", 3 * live.SLOW)
    ran = telling("3 daemons", *SOON, RSH_BAD="node3 node6 node7",
                  RSH_MUTE="node1 node2")
    check_has("cannot start 3 daemons on node[3,6-7]: ", ran.said)
    ran = telling("2 daemons", *SOON, RSH_MUTE="node1 node2")
    check_has("cannot start 2 daemons on node[1-2]: timed out: xylemd was "
              "not ready after",
              ran.said)
    live.check_all_gone()

with case("tells them also where the limit is shorter than the wait for "
          "others"):
    ran = telling("not ready", "--launch-timeout", 0.5, RSH_MUTE="node4")
    check_has("xylemd was not ready after", ran.said)
    live.check_all_gone()

with case("names a single host, and what is said of it, as it was"):
    ran = live.launch(*START, "--arity", 2, "--", "true", code=1,
                      env={"RSH_BAD": "node5"})
    check_has("cannot start the daemon on node5: ", ran.said)
    check_has("connect to host node5: No route to host", ran.said)

os.environ["RSH_BAD"] = "node2 node7"

with case("goes on without them when enough are left, with all of stdin"):
    PATH = os.path.join(live.TMP, "in")
    with open(PATH, "w") as file:
        file.write("hello\n")
    with open(PATH) as file:
        ran = live.launch(
            *START, "--arity", 2, "--min-nodes", 6, "--label=host", "--", "sh",
            "-c", 'echo "$(cat) $XYLEM_RANK of $XYLEM_SIZE; '
            '${XYLEM_LEFT_OUT:-}"', stdin=file)
    check_eq([f"node{node}: hello {rank} of 6; "
              for rank, node in enumerate((1, 3, 4, 5, 6, 8))],
             sorted(ran.lines()))
    check_has("starting again without them, on ", ran.said)
    live.check_all_gone()

with case("starts anew with the limits that it had"):
    ran = live.launch(*START, "--arity", 2, "--min-nodes", 6, "--", "sh", "-c",
                      "ulimit -Sn", preexec_fn=set_scarce)
    check_eq([str(SCARCE)] * 6, ran.lines())
    live.check_all_gone()

with case("takes others of the list in their places"):
    ran = live.launch(*START, "--arity", 8, "-N", 3, "--min-nodes", 3,
                      "--label=host", "--", "echo", "hi")
    check_eq(["node1: hi", "node3: hi", "node4: hi"], sorted(ran.lines()))

with case("ends when too few are left"):
    ran = live.launch(*START, "--arity", 8, "--min-nodes", 7, "--", "true",
                      code=1)
    check_has("only 6 hosts are left, but --min-nodes asks for 7", ran.said)
    live.check_all_gone()

sys.exit(live.end())

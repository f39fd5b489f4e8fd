#!/usr/bin/env python3
"""When a host's parent in the tree cannot reach it, a daemon further up starts
the host's daemon."""
import collections
import hashlib
import os
import subprocess
import sys

import live
from live import check, check_eq

# At arity 2: the launcher has h1 and h2, h1 has h3 and h4, h2 h5 and h6, h3
# h7 and h8, h4 h9 and ha.
LIST = "h1,h2,h3,h4,h5,h6,h7,h8,h9,ha"
HOSTS = LIST.split(",")
STAY = ("sh", "-c", "echo up; exec cat")


def start(*args, arity=2, hosts=LIST, **env):
    ways = os.path.join(live.TMP, "ways")
    open(ways, "w").close()
    return live.Remote(hosts, "--arity", arity, "--topology", "none",
                       "--label=host", *args,
                       stdin=subprocess.PIPE, RSH_WAYS=ways, **env)


def ways():
    """The callers of each host, in the order of calls: {host: [callers]}."""
    found = collections.defaultdict(list)
    with open(os.path.join(live.TMP, "ways")) as file:
        for line in file:
            caller, host = line.split()
            found[host].append(caller)
    return found


def exact(job, hosts=HOSTS, quiet=True):
    """All processes get all of stdin, and what each says comes whole."""
    feeder = live.Feeder(job.stdin, live.full(16, 1) * live.MIB)
    feeder.start()
    lines = sorted(job.stdout.read().decode().splitlines())
    job.check_ok()
    right = feeder.digest(hashlib.sha256())
    check_eq(sorted(f"{host}: {right}  -" for host in hosts), lines)
    if quiet:
        check_eq("", job.said(), "stderr:")


def one_is_cut_off():
    """Its starter starts its children, and they start theirs."""
    exact(start("--", "sha256sum", RSH_CUT="h3"))
    found = ways()
    check_eq(["h3", "h1"], found["h7"])
    check_eq(["h3", "h1"], found["h8"])
    check_eq(["h1"], found["h3"])
    check_eq(["h4"], found["h9"])
    check_eq(12, sum(map(len, found.values())), "calls:")


def all_are_cut_off():
    """All come to the launcher, which never has more on their way at the same
    time than it has children."""
    gate = os.path.join(live.TMP, "gate")
    os.mkfifo(gate)
    job = start("-v", "--", "sha256sum", RSH_CUT=LIST.replace(",", " "),
                RSH_HELD="h3 h4 h5 h6 h7 h8 h9 ha", RSH_GATE=gate)
    live.eventually(lambda: job.said().count("the launcher itself starts") == 4,
                    60, "four are to be started by the launcher")
    opener = os.open(gate, os.O_RDWR)  # a line waits for who is not there yet
    live.eventually(lambda: calls_of_launcher() == 4, 60, "two are called")
    for free in range(8):
        # One may be all there is: h4 may be the last of its level to be let go,
        # and who is beneath it is not asked for before.
        if not live.eventually(lambda: calls_of_launcher() >= 3 + free, 60,
                               "one is called"):
            print("# released: %d; called: %s; %s"
                  % (free, dict(ways()), job.said()))
        check(calls_of_launcher() <= 4 + free, "more than two at once")
        os.write(opener, b"go\n")
    exact(job, quiet=False)
    os.close(opener)
    found = ways()
    # A host that only the launcher can start has one way up.
    check_eq(["h1", "-"], found["h3"])
    check_eq(["h4", "-"], found["ha"])
    check_eq(10, calls_of_launcher(), "calls of the launcher:")


def calls_of_launcher():
    return sum(callers.count("-") for callers in ways().values())


def chain():
    """Two in a row: a daemon that has to start another asks its own starter,
    which need not be its parent. Each knows all above it, so losses are
    repaired."""
    tap = os.path.join(live.TMP, "above")
    job = start("--no-pmix", "--on-node-loss", "continue", "--", *STAY,
                arity=1, hosts="h1,h2,h3,h4,h5", RSH_CUT="h2 h3 h4",
                RSH_TAP=tap, RSH_TAPPED="h5")
    names = ["h1", "h2", "h3", "h4", "h5"]
    check_eq(sorted(name + ": up\n" for name in names),
             sorted(job.stdout.readline().decode() for _ in names), job.said())
    check_eq({"h1": ["-"], "h2": ["h1"], "h3": ["h2", "h1"],
              "h4": ["h3", "h1"], "h5": ["h4", "h1"]}, dict(ways()))
    peers = live.await_lines(tap, "peer", 5)
    check_eq(["0", "1", "2", "3", "4"], sorted(peer[1] for peer in peers),
             "h5 was told of:")
    for lost in "h3", "h4":
        os.kill(next(pid for pid, name in live.ours().items()
                     if name == "xylemd" and live.host_of(pid) == lost), 9)
        names.remove(lost)
        job.stdin.write(b"on\n")
        job.stdin.flush()
        check_eq(sorted(name + ": on\n" for name in names),
                 sorted(job.stdout.readline().decode() for _ in names),
                 job.said())
    job.stdin.close()
    check_eq(b"", job.stdout.read())
    check_eq(1, job.wait(), "exit code:")
    live.check_gone()


def no_answer():
    """Calls from a host that are never answered leave time for another."""
    exact(start("--launch-timeout", 24 * live.SLOW, "--", "sha256sum",
                RSH_STUCK="h3"))
    check_eq(["h3", "h1"], ways()["h7"][:2])


def fails(*options, await_s=60, **env):
    job = start("--launch-timeout", await_s * live.SLOW, *options, "--",
                "hostname", **env)
    check_eq(b"", job.stdout.read())
    check_eq(1, job.wait(), "exit code:")
    said = job.said().splitlines()
    print("#", *said, sep="\n#   ")
    live.check_gone()
    return said


def three_fail(**env):
    """Failures of one second are told together. On a busy machine they may be
    further apart: then again."""
    for _ in range(3):
        said = fails(RSH_BAD="h7 h8 h9", **env)
        if "cannot start 3 daemons" in " ".join(said):
            break
    return said


def both_reasons():
    """The last reason, and the first one where it differs; hosts with the same
    two share a line."""
    said = three_fail(RSH_CUT="h3 h4")
    check_eq(1, len(said))
    check("cannot start 3 daemons on h[7-9]: " in said[0], said)
    check("No route to host; the first attempt, from h[3-4]: " in said[0], said)
    check(said[0].endswith("HOST: Permission denied"), said)
    said = three_fail()
    check_eq(1, len(said))
    check("cannot start 3 daemons on h[7-9]: " in said[0], said)
    check("the first attempt" not in said[0], said)


def without_them():
    """--min-nodes: the next launch leaves out the hosts that were not
    reached."""
    job = start("--min-nodes", 8, "--", "printenv", "XYLEM_SIZE",
                RSH_CUT="h3", RSH_BAD="h7 h9")
    lines = sorted(job.stdout.read().decode().splitlines())
    job.check_ok()
    check_eq([host + ": 8" for host in HOSTS if host not in ("h7", "h9")],
             lines)
    print("#", *job.said().splitlines(), sep="\n#   ")
    check("h7: " in job.said() and "h9: " in job.said(), job.said())
    check("the first attempt, from h3: " in job.said(), job.said())
    check("h7: Permission denied" in job.said(), job.said())
    live.check_gone()


def main():
    with live.case("no way from one host"):
        one_is_cut_off()
    with live.case("no way from any host"):
        all_are_cut_off()
    with live.case("no way from three in a row, and two of them die"):
        chain()
    with live.case("no answer to calls from one host"):
        no_answer()
    with live.case("no way from anywhere"):
        both_reasons()
    with live.case("no way from anywhere, and the job goes on without"):
        without_them()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

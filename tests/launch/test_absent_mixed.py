#!/usr/bin/env python3
"""Hosts that do not connect, all at once and each for another reason."""
import os
import re
import signal
import sys
import time

import rig
import installed
import live
import services
from live import check, check_eq

COUNT = 9
GOOD = "h8", "h9"
# Each with words of its reason.
BAD = {
    "h1": "port 22: Connection refused",
    "h2": "port 22: Connection refused",
    "h3": "was not ready after",
    "h4": "is of version 9.8.7",
    "h5": "No such file",
    "h6": "No such file",
    "h7": "Permission denied",
    "nowhere": "Could not resolve hostname",
}
BOUND_S = 60  # of liveness


def start(where, *options):
    """All hosts are the launcher's children: each is tried."""
    return live.Job("--launcher", "ssh", "-w", where, "--arity", 16,
                    "--xylemd", installed.XYLEMD, "--label=host", *options,
                    "--", "printenv", "XYLEM_SIZE")


def spoil(hosts, sshd):
    for name in "h1", "h2":
        sshd.stop(name)
    os.kill(sshd.daemons["h3"].pid, signal.SIGSTOP)
    installed.put(hosts, "h4", ".old")
    installed.put(hosts, "h5", ".none")
    installed.put(hosts, "h6", ".none")
    check_eq(0, hosts.hosts["h7"].popen(
        ["mount", "--bind", "/dev/null", "/etc/ssh/user.pub"]).wait())


def names(text):
    """h[1-2,4],nowhere: its hosts."""
    found = []
    for name, ranges, plain in re.findall(r"(\w+)\[([\d,-]+)\]|(\w+)", text):
        for part in ranges.split(",") if ranges else ():
            first, _, last = part.partition("-")
            found += [f"{name}{n}" for n in
                      range(int(first), int(last or first) + 1)]
        found += [plain] if plain else []
    return found


def reasons(said):
    """{host: its reason}. What one launch tells is folded: no host twice, no
    two lines for hosts that have the same reason."""
    found = {}
    for launch in re.split(r"starting again without them.*\n", said):
        alike = set()
        for count, where, why in re.findall(
                r"xylem: cannot start (?:the|(\d+)) daemons? on (\S+): (.*)",
                launch):
            told = names(where)
            check_eq(int(count or 1), len(told), where)
            kind = next((text for text in BAD.values() if text in why), why)
            check(kind not in alike, "twice: " + launch)
            alike.add(kind)
            for name in told:
                check(name not in found, f"{name} twice: {said}")
                found[name] = why
    return found


def right(found):
    for name, why in found.items():
        check(name in BAD and BAD[name] in why, f"{name}: {why}")


def good_ones_s():
    """How long a launch takes here and now."""
    begin = time.monotonic()
    job = start(",".join(GOOD))
    job.check_ok()
    return time.monotonic() - begin


def ends(where):
    """Long before the time of the launch is over, which one host takes."""
    begin = time.monotonic()
    job = start(where, "--launch-timeout", 3600)
    check_eq(b"", job.stdout.read())
    check_eq(1, job.wait(BOUND_S), "exit code:")
    print(f"# {time.monotonic() - begin:.1f} s",
          *job.said().splitlines(), sep="\n#   ")
    found = reasons(job.said())
    right(found)
    check(found, job.said())
    live.check_gone(BOUND_S)


def goes_on(where, await_s):
    """Each is told, and those that are left run."""
    begin = time.monotonic()
    job = start(where, "--launch-timeout", await_s, "--min-nodes", len(GOOD))
    lines = sorted(job.stdout.read().decode().splitlines())
    check_eq(0, job.wait(BOUND_S + 9 * await_s), "exit code:")
    print(f"# {time.monotonic() - begin:.1f} s of {await_s:.1f}",
          *job.said().splitlines(), sep="\n#   ")
    check_eq([f"{name}: {len(GOOD)}" for name in GOOD], lines)
    found = reasons(job.said())
    right(found)
    check_eq(sorted(BAD), sorted(found), "told:")
    live.check_gone(BOUND_S)


def main():
    rig.start()
    if not services.Sshd.is_here():
        live.skip("no ssh and sshd here")
    installed.install()
    with rig.Rig(COUNT) as hosts:
        sshd = services.Sshd(hosts)
        spoil(hosts, sshd)
        where = f"h[1-{COUNT}],nowhere"
        await_s = max(8 * live.SLOW, 30 * good_ones_s())
        with live.case("the launch ends, with reasons"):
            ends(where)
        with live.case("--min-nodes goes on with the others"):
            goes_on(where, await_s)
        os.kill(sshd.daemons["h3"].pid, signal.SIGCONT)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

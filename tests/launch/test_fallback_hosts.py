#!/usr/bin/env python3
"""When one host cannot log in to others, a host above it does."""
import hashlib
import re
import subprocess
import sys

import rig
import live
import services
from live import check, check_eq

COUNT = 14  # at arity 2: login has h1 and h2, h1 h3 and h4, h3 h7 and h8, ...
SIZE = live.full(64, 2) * live.MIB
LIST = "h[1-%d]" % COUNT


class Hosts:
    """The rig, and in each log of sshd who has logged in."""

    def __init__(self, hosts, sshd):
        self.hosts, self.sshd = hosts, sshd
        self.seen = {name: 0 for name in hosts.names}
        self.names = {hosts.address(host.number, 0, family): name
                      for name, host in hosts.hosts.items() if host.number
                      for family in (4, 6)}

    def callers(self):
        """Since the last time: {host: [who has logged in there]}."""
        found = {}
        for name in self.hosts.names:
            calls = re.findall(r"Accepted publickey for root from (\S+) port",
                               services.read(self.sshd.log(name)))
            found[name] = [self.names[call] for call in calls[self.seen[name]:]]
            self.seen[name] = len(calls)
        return found

    def on(self, name, *words):
        check_eq(0, self.hosts.hosts[name].popen(words).wait(), words)

    def hide(self, name, path, put="/dev/null"):
        """On this host the file is another one, from now on."""
        self.on(name, "mount", "--bind", put, path)

    def show(self, name, path):
        self.on(name, "umount", path)


def planned():
    return {f"h{n}": ["login" if n < 3 else f"h{(n - 1) // 2}"]
            for n in range(1, COUNT + 1)}


def works(the, changed, *options):
    """Each host gets all bytes and its own output comes whole; each has had
    one login, from its parent in the tree but for those in `changed`."""
    job = live.Job("--launcher", "ssh", "-w", LIST, "--arity", 2, "--topology",
                   "none", "--label=host", *options, "--", "sha256sum",
                   stdin=subprocess.PIPE)
    feeder = live.Feeder(job.stdin, SIZE)
    feeder.start()
    lines = sorted(job.stdout.read().decode().splitlines())
    job.check_ok(120)
    right = feeder.digest(hashlib.sha256())
    check_eq(sorted(live.labels(the.hosts.names, right + "  -")), lines)
    check_eq("", job.said(), "stderr:")
    check_eq({**planned(), **changed}, the.callers(), "who logged in:")
    live.check_gone()


def no_key(the):
    the.hide("h3", "/etc/ssh/user")
    works(the, {"h7": ["h1"], "h8": ["h1"]})


def no_key_and_no_name(the):
    """The hosts have no key for the others, and the node above one of them
    does not find its name either."""
    lines = services.read("/etc/hosts").splitlines(True)
    services.write(rig.DIR + "/names", "".join(
        line for line in lines if line.split()[1] != "h7"))
    the.hide("h1", "/etc/hosts", rig.DIR + "/names")
    works(the, {"h7": ["login"], "h8": ["h1"]})
    the.show("h1", "/etc/hosts")
    the.show("h3", "/etc/ssh/user")


def hangs(the):
    """ssh of one host never says a word."""
    services.write(rig.DIR + "/stuck", "ProxyCommand sleep 1000\n")
    the.hide("h6", "/etc/ssh/ssh_config", rig.DIR + "/stuck")
    works(the, {"h13": ["h2"], "h14": ["h2"]}, "--launch-timeout",
          20 * live.SLOW)
    the.show("h6", "/etc/ssh/ssh_config")


def nowhere_a_key(the):
    """As on a site where only the login node gets to hosts."""
    for name in the.hosts.names:
        the.hide(name, "/etc/ssh/user")
    works(the, {name: ["login"] for name in the.hosts.names})


def told(the):
    """h3 does not know h7's name, others do, but nobody listens there: both
    reasons. The keys are still hidden."""
    the.hide("h3", "/etc/hosts", rig.DIR + "/names")
    the.sshd.stop("h7")
    job = live.Job("--launcher", "ssh", "-w", LIST, "--arity", 2, "--topology",
                   "none", "--", "true")
    check_eq(1, job.wait(), "exit code:")
    said = job.said()
    print("#", said.strip())
    check("cannot start the daemon on h7: " in said, said)
    check(re.search("port 22: Connection refused; the first attempt, from "
                    "h3: .*Could not resolve hostname", said), said)
    check_eq(1, len(said.splitlines()))
    live.check_gone()


CASES = (
    ("an inner host has no key", no_key),
    ("and the host above it does not know a name", no_key_and_no_name),
    ("ssh hangs on one host", hangs),
    ("no host has a key", nowhere_a_key),
    ("no name on one host, and nobody who listens", told),
)


def main():
    rig.start()
    if not services.Sshd.is_here():
        live.skip("no ssh and sshd here")
    with rig.Rig(COUNT) as hosts:
        the = Hosts(hosts, services.Sshd(hosts))
        for sentence, scenario in CASES:
            with live.case(sentence):
                scenario(the)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

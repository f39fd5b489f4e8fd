"""Faults of the network between hosts of the rig (tests/harness/rig.py)."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "harness"))
import rig  # noqa: E402  (found by the line before)

REFUSALS = {"drop": "drop", "reset": "reject with tcp reset",
            "port": "reject with icmp type port-unreachable",
            "icmp": "reject with icmp type admin-prohibited",
            "host": "reject with icmp type host-unreachable"}


class Network:
    """Host number 0 is `login`, n is hn."""

    def __init__(self, hosts):
        self.hosts, self.tables = hosts, 0

    @staticmethod
    def name(number):
        return "h%d" % number if number else "login"

    def host(self, number):
        return self.hosts.hosts[self.name(number)]

    def address(self, number):
        return self.hosts.address(self.host(number).number, 0, 4)

    @staticmethod
    def call(host, words, text=""):
        """Uses a command, not a function that joins a namespace, because there
        are threads."""
        done = subprocess.run(["nsenter", "-t", str(host.pid), "-n", *words],
                              input=text.encode(), check=False)
        if done.returncode:
            raise RuntimeError("does not work: %s %s" % (words, text))

    def nft(self, number, text):
        self.call(self.host(number), ["nft", "-f", "-"], text)

    def tell(self, number, *words):
        self.call(self.host(number), words)

    def link(self, number, state):
        """Pulls a host's cable; no process is told."""
        self.call(self.hosts.switch, [
            "ip", "link", "set", self.hosts.port(self.name(number), 0), state])

    def refuse(self, at, sources, how):
        """Makes that host refuse everything from these hosts; returns a
        function that undoes it."""
        self.tables += 1
        table = "chaos%d" % self.tables
        rules = "".join(
            "ip saddr %s ip protocol tcp %s\n" % (self.address(source), how)
            for source in sources)
        self.nft(at, "table ip %s {\nchain c {\ntype filter hook input "
                 "priority 0;\n%s}\n}\n" % (table, rules))
        return lambda: self.nft(at, "delete table ip %s" % table)

    def do(self, fault, did, doer):
        """Carries out a fault and, when it is temporary, undoes it."""
        undo = getattr(self, "do_" + fault["do"], self.between)(fault)
        did.append({"who": "network", "pid": 0, "above": 0})
        if fault["for_s"] is None:
            doer.heals.append(undo)
            return
        start_s = time.monotonic()
        time.sleep(fault["for_s"])  # sleep-ok: the fault lasts this long
        undo()
        did[-1]["for_s"] = round(time.monotonic() - start_s, 3)

    def between(self, fault):
        """One of two hosts drops everything from the other, or both do."""
        one, other = fault["a"], fault["b"]
        how = REFUSALS[fault["do"]]
        undo = [self.refuse(one, [other], how)]
        if fault["both"]:
            undo.append(self.refuse(other, [one], how))
        return lambda: [back() for back in undo]

    def do_half(self, fault):
        """A part of the hosts cannot reach the others."""
        side = fault["side"]
        rest = [number for number in range(len(self.hosts.hosts))
                if number not in side]
        undo = [self.refuse(at, rest, "drop") for at in side] + \
            [self.refuse(at, side, "drop") for at in rest]
        return lambda: [back() for back in undo]

    def do_link(self, fault):
        self.link(fault["a"], "down")
        return lambda: self.link(fault["a"], "up")

    def do_flap(self, fault):
        for _ in range(fault["times"] - 1):
            self.link(fault["a"], "down")
            time.sleep(fault["for_s"])  # sleep-ok: the fault lasts this long
            self.link(fault["a"], "up")
            time.sleep(fault["for_s"])  # sleep-ok: the network works meanwhile
        return self.do_link(fault)

    def do_mtu(self, fault):
        self.tell(fault["a"], "ip", "link", "set", "eth0", "mtu",
                  str(fault["size"]))
        return lambda: self.tell(fault["a"], "ip", "link", "set", "eth0",
                                 "mtu", "1500")

    def do_slow(self, fault):
        self.tell(fault["a"], "tc", "qdisc", "add", "dev", "eth0", "root",
                  "tbf", "rate", "%dmbit" % fault["mbit"], "burst", "64kb",
                  "latency", "50ms")
        return lambda: self.tell(fault["a"], "tc", "qdisc", "del", "dev",
                                 "eth0", "root")


def touched(fault):
    """Returns the hosts that no host may reach while the fault lasts, and the
    pairs that may not reach each other, as numbers; the launcher's is 0, and
    there are `count` hosts."""
    kind = fault["do"]
    if kind in ("link", "flap"):
        return {fault["a"]}, set()
    if kind in REFUSALS:
        return set(), {(fault["a"], fault["b"])}
    if kind == "half":
        return set(fault["side"]), set()
    return set(), set()


def missing():
    why = rig.missing()
    for name in ("nft", "tc"):
        if not why and not rig.shutil.which(name):
            why = "no %s here" % name
    return why

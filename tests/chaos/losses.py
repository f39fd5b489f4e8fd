"""Which nodes may be lost by the faults that were carried out, and which jobs
may end."""
import math

import network

# heartbeats: a process that is stopped or cut off for less is not lost
LOSSY = 2


class Losses:
    """`nodes` may be lost; `ends` are the reasons for which the job may end;
    `jobs` are those of a dvm that may be ended singly."""

    def __init__(self, plan, evidence):
        self.plan, self.places = plan, evidence["places"].values()
        self.all = set(range(plan["nodes"]))
        self.nodes, self.ends, self.jobs = set(), set(), set()
        self.misses = False  # some clients may get only a part of the output
        self.killed, self.hints, self.heavy, self.pairs = {}, set(), 0, 0
        self.shakes = 0  # faults by which a node may lose its parent
        procs = sum(job["procs"] for job in plan["jobs"])
        for fault, told in zip(plan["faults"], evidence["done"]):
            for entry in told["did"]:
                before = set(self.nodes), set(self.ends)
                self.take(fault, entry)
                self.heavy += before != (self.nodes, self.ends)
                if told["started"] < procs and fault["do"] not in (
                        "mtu", "slow", "flap"):
                    self.ends.add("in launch")
        # Two such faults at the same time may leave a node without any way up.
        if self.heavy + self.pairs > 1:
            self.nodes |= {node for node in self.hints if node >= 0}

    def take(self, fault, entry):
        kind, who = fault["do"], entry["who"]
        if kind == "kill":
            self.killed.setdefault(who, []).append(entry)
        if who not in ("client", "helper", "reader", "submit"):
            self.shakes += math.inf if who == "network" else 1
        if kind == "leave":
            self.jobs.add(entry["job"])
        elif kind == "pause":
            pass
        elif kind == "term":
            self.ends.add("term")
        elif who == "network":
            self.cut(fault, entry)
        elif who in ("launcher", "above"):
            if kind == "kill" or self.is_long(fault, entry):
                self.ends.add(who)
                self.nodes |= self.all
        elif who == "helper":
            pass  # the helper serves PMIx tools only
        elif who == "client":
            self.misses |= kind != "kill"
        elif who == "submit":
            if kind == "kill" or self.is_long(fault, entry):
                self.jobs.add(entry["job"])
        elif who in ("daemon", "spawner", "starter"):
            if kind == "kill" or self.is_long(fault, entry):
                self.lose(entry)

    def is_long(self, fault, entry):
        """On a busy machine the time that the fault really took counts."""
        return fault["for_s"] is None or \
            entry.get("for_s", 0) >= LOSSY * self.plan["heartbeat"]

    def lose(self, entry):
        """The nodes of a process. For a process that had no process of the job
        yet, its nodes are not known."""
        pids = {entry["pid"], entry["above"]} if entry["who"] != "daemon" \
            else {entry["pid"]}
        found = {node for node, daemon, spawner in self.places
                 if daemon in pids or spawner == entry["pid"]}
        # It is not known to which daemon nodes without a process belong.
        self.nodes |= found | self.all - {node for node, _, _ in self.places}
        if not found:
            self.ends.add("in launch")
            if self.plan["family"] == "dvm":
                # Jobs that began later are placed, and counted, without these
                # nodes.
                self.nodes |= self.all

    def cut(self, fault, entry):
        hosts, pairs = network.touched(fault)
        is_long = self.is_long(fault, entry)
        if fault["do"] == "flap":
            is_long = False
        if hosts and is_long:
            self.nodes |= self.all if 0 in hosts else \
                {host - 1 for host in hosts}
            if 0 in hosts:
                self.ends.add("cut off")
        self.pairs += len(pairs)
        for one, other in pairs:
            self.hints |= {one - 1, other - 1}
            for host, to in ((one, other), (other, one)):
                # The node has no other node above it.
                if to == 0 and self.parent(host) == 0 and (
                        is_long or fault["do"] != "drop"):
                    self.nodes.add(host - 1)

    def parent(self, host):
        return (host - 1) // self.plan["arity"]

    def is_swept(self):
        """No process of xylem may be left on a host: the next session cleans
        up."""
        gone = set(self.killed)
        if "above" in gone and self.plan["family"] in ("local", "dvm"):
            gone.add("daemon")  # the process ends with the one that started it
        return {"launcher", "daemon", "spawner"} <= gone

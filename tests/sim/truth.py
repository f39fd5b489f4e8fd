#!/usr/bin/env python3
# timeout: 900
# alone
"""Checks that the simulator predicts real runs, on hosts in network namespaces.

Each host is a network namespace with a port of 100 Mbit/s each way (tbf), so
that the wire and not this machine is the limit. `xylem run` carries stdin to 8,
16 and 32 hosts, 10 MB, and output from them, 2 MB each. Time counts from the
moment when all processes run, and is the median of three runs. The test finds
the bandwidths with which `xylem sim` agrees for 8 and for 16 hosts; with their
mean, the simulator has to predict the time of 32 hosts within 25 %.

usage: truth.py         as root; `make check-truth`. Skips where it cannot.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "harness"))
import rig  # noqa: E402
import world  # noqa: E402

XYLEM = os.path.abspath(os.path.join(
    os.environ.get("top_builddir", "."), "commands/xylem"))
ARITY = 4
RATE = 100e6 / 8  # of the ports
HOSTS = (8, 16, 32)
RUNS = 3  # of each size
SIZES = {"down": 10000000, "up": 2000000}


class Ports(rig.Rig):
    """A launcher and hosts, each at a slow port."""

    SHAPE = "root tbf rate 100mbit burst 64kb latency 400ms".split()

    def wire(self):
        super().wire()
        for host in self.hosts.values():
            ends = (host, "eth0"), (self.switch, self.port(host.name, 0))
            rig.wait_all([end.popen(["tc", "qdisc", "add", "dev", name,
                                     *self.SHAPE]) for end, name in ends])

    def run_s(self, way, size):
        """From the moment when every process runs to the last byte."""
        there = "cat >/dev/null" if way == "down" else \
            f"read go; exec head -c {size} /dev/zero"
        job = subprocess.Popen(
            [XYLEM, "run", "-w", ",".join(self.names), "--arity", str(ARITY),
             "--rsh", self.agent, "--raw", "--", "sh", "-c",
             f"echo; {there}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in self.names:
            job.stdout.read(1)
        start = time.monotonic()
        job.stdin.write(bytes(size) if way == "down" else b"go\n")
        job.stdin.close()
        shown = len(job.stdout.read())
        took = time.monotonic() - start
        if job.wait() != 0 or shown != (way == "up") * size * len(self.names):
            sys.exit(f"{way}: {shown} bytes, status {job.returncode}")
        return took


def real_s(way, hosts):
    """Times of the runs, the median in the middle."""
    with Ports(hosts) as ports:
        return sorted(ports.run_s(way, SIZES[way]) for _ in range(RUNS))


def sim_ns(way, hosts, size, rate):
    path = tempfile.mktemp()
    job = ["--workload", "broadcast" if way == "down" else "gather"]
    subprocess.run(
        [XYLEM, "sim", "-N", str(hosts + 1), "--arity", str(ARITY), *job,
         "--size", str(size), "--bandwidth", str(int(rate)), "--latency",
         "50us", "--overhead", "20us", "--json", path],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(path, encoding="utf-8") as file:
        run = json.load(file)["runs"][0]
    os.unlink(path)
    return run["stdin_ns" if way == "down" else "shown_ns"]


def foretold_s(way, hosts, rate):
    return sim_ns(way, hosts, SIZES[way], rate) / 1e9


def fit(way, hosts, seconds):
    """The rate at which the simulator takes as long; time falls with it."""
    rate = RATE
    for _ in range(6):
        rate *= foretold_s(way, hosts, rate) / seconds
    return rate


def main():
    if rig.missing() or not shutil.which("tc"):
        print("skipped:", rig.missing() or "no tc here")
        sys.exit(77)
    world.enter()
    bad = 0
    for way in SIZES:
        rates = []
        for hosts in HOSTS:
            runs = real_s(way, hosts)
            real = statistics.median(runs)
            print(f"{way}, {hosts} hosts: {real:.2f} s "
                  f"({runs[0]:.2f} to {runs[-1]:.2f})", flush=True)
            if hosts != HOSTS[-1]:
                rates.append(fit(way, hosts, real))
                print(f"  as {rates[-1] / 1e6:.1f} MB/s")
        told = foretold_s(way, HOSTS[-1], sum(rates) / len(rates))
        print(f"  foretold {told:.2f} s, "
              f"{100 * (told / real - 1):+.0f} %")
        bad += not 0.75 <= told / real <= 1.25
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()

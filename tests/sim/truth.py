#!/usr/bin/env python3
# timeout: 900
# alone
"""Does the simulator foretell real runs? Hosts in network namespaces.

Each host is a network namespace with a port of 100 Mbit/s each way (tbf), so
that the wire and not this machine is the limit. `xylem run` carries stdin to 8,
16 and 32 hosts, 10 MB, and output from them, 2 MB each; time counts from the
moment when all processes run, and is the median of three runs. The bandwidth
that makes `xylem sim` agree at 8 and 16 hosts, the mean of both, has to
foretell 32 hosts within 25 %.

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

XYLEM = os.path.abspath(os.path.join(
    os.environ.get("top_builddir", "."), "commands/xylem"))
ARITY = 4
RATE = 100e6 / 8  # of the ports
HOSTS = (8, 16, 32)
RUNS = 3  # of each size
SIZES = {"down": 10000000, "up": 2000000}
NAME = f"xt{os.getpid() % 10000}"


def sh(command, check=True):
    return subprocess.run(command, shell=True, text=True, check=check,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Rig:
    """A launcher and hosts on a bridge."""

    def __init__(self, hosts, folder):
        self.hosts = hosts
        self.rsh = os.path.join(folder, "rsh")
        with open(self.rsh, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nhost=$1\nshift\n"
                       f"exec ip netns exec {NAME}$host sh -c \"$*\"\n")
        os.chmod(self.rsh, 0o755)

    def __enter__(self):
        try:
            sh(f"ip netns add {NAME}sw && "
               f"ip -n {NAME}sw link add br0 type bridge && "
               f"ip -n {NAME}sw link set br0 up")
            for n in range(self.hosts + 1):
                self.add(n)
        except BaseException:
            self.__exit__()
            raise
        return self

    def add(self, n):
        host, near, far = f"{NAME}h{n}", f"{NAME}a{n}", f"{NAME}b{n}"
        shape = "root tbf rate 100mbit burst 64kb latency 400ms"
        sh(f"ip netns add {host} && "
           f"ip -n {NAME}sw link add {near} type veth peer name {far} && "
           f"ip -n {NAME}sw link set {near} netns {host} && "
           f"ip -n {host} link set lo up && "
           f"ip -n {host} addr add 10.99.0.{n + 1}/24 dev {near} && "
           f"ip -n {host} link set {near} up && "
           f"ip -n {NAME}sw link set {far} master br0 up && "
           f"ip netns exec {host} tc qdisc add dev {near} {shape} && "
           f"ip netns exec {NAME}sw tc qdisc add dev {far} {shape}")

    def __exit__(self, *_):
        for n in range(self.hosts + 1):
            sh(f"ip netns del {NAME}h{n}", check=False)
        sh(f"ip netns del {NAME}sw", check=False)

    def run_s(self, way, size):
        """From the moment when every process runs to the last byte."""
        hosts = ",".join(f"h{n}" for n in range(1, self.hosts + 1))
        there = "cat >/dev/null" if way == "down" else \
            f"read go; exec head -c {size} /dev/zero"
        job = subprocess.Popen(
            ["ip", "netns", "exec", f"{NAME}h0", XYLEM, "run", "-w", hosts,
             "--arity", str(ARITY), "--rsh", self.rsh, "--interface",
             "10.99.0.0/24", "--raw", "--", "sh", "-c", f"echo; {there}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(self.hosts):
            job.stdout.read(1)
        start = time.monotonic()
        job.stdin.write(bytes(size) if way == "down" else b"go\n")
        job.stdin.close()
        shown = len(job.stdout.read())
        took = time.monotonic() - start
        if job.wait() != 0 or shown != (way == "up") * size * self.hosts:
            sys.exit(f"{way}: {shown} bytes, status {job.returncode}")
        return took


def real_s(way, hosts, folder):
    """Times of the runs, the median in the middle."""
    with Rig(hosts, folder) as rig:
        return sorted(rig.run_s(way, SIZES[way]) for _ in range(RUNS))


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
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc") \
            or sh(f"ip netns add {NAME}x && ip netns del {NAME}x",
                  check=False).returncode != 0:
        print("needs root, ip and tc")
        sys.exit(77)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for way in SIZES:
            rates = []
            for hosts in HOSTS:
                runs = real_s(way, hosts, folder)
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

#!/usr/bin/env python3
"""Simulates hosts on this machine: network namespaces on a bridge, as root.

usage: rig.py up [OPTIONS] [-- COMMAND...]

Brings up hosts h1 to hN and a host `login`, runs COMMAND (a shell, if there is
none) on `login`, and ends all of it with it. Each host has a network stack, a
host name, IPv4 and IPv6 addresses of its own, and an sshd that everybody here
may log in to as root: `ssh h3` and `xylem run -w h[1-3]` work at once. Files
and users are those of the machine. docs/building.md has more.

In a test:

    rig.start()                       first of all: a world of its own
    with rig.Rig(32) as hosts:        this process is on `login` in here
        services.Sshd(hosts)
        live.Job("--launcher", "ssh", "-w", "h[1-32]", ...)
"""
import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import world

HERE = os.path.dirname(os.path.abspath(__file__))
# size of the files that hosts need; /run belongs to this world
DIR = "/run/rig"
PORT_LIMIT = 1000  # the most ports of a bridge


def missing():
    """Returns the reason why no rig can be made here; None when one can."""
    for name in "ip", "nsenter", "unshare":
        if not shutil.which(name):
            return f"no {name} here"
    return world.why_not()


def start():
    """For tests: enters a world, or skips."""
    import live
    why = missing()
    if why:
        live.skip(why)
    world.enter()
    os.environ["XYLEM_TEST_RUNNER"] = "1"
    live.RUNNER = 1


class Host:
    """The namespaces that make a host, held by a process that does nothing."""

    def __init__(self, name, number, files=()):
        self.name, self.number = name, number
        ready, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.settle(files)
                os.write(told, b"1")
                os.execvp("sleep", ["sleep", "infinity"])
            finally:
                os._exit(1)
        os.close(told)
        with open(ready, "rb") as pipe:
            if pipe.read() != b"1":
                raise RuntimeError(f"no namespaces for {name}")
        self.network = world.network_of(self.pid)

    def settle(self, files):
        world.LIBC.prctl(world.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        world.unshare(world.NEWNET | world.NEWUTS | world.NEWNS)
        socket.sethostname(self.name)
        for source, target in files:
            world.mount(source, target, None, world.MS_BIND)
        # so that addresses can be used at once
        with contextlib.suppress(OSError):
            with open("/proc/sys/net/ipv6/conf/default/accept_dad", "w") as it:
                it.write("0")

    def popen(self, words, **more):
        return subprocess.Popen(
            words, preexec_fn=lambda: world.join(self.pid), **more)

    def ip(self, lines):
        """Runs commands of ip(8) on this host; the caller waits for them."""
        proc = self.popen(["ip", "-batch", "-"], stdin=subprocess.PIPE,
                          text=True)
        proc.stdin.write("\n".join(lines) + "\n")
        proc.stdin.close()
        return proc

    def pids(self):
        """Returns the processes on this host, except the one that holds it."""
        return [pid for pid in world.pids()
                if pid != self.pid and world.network_of(pid) == self.network]


def wait_all(procs):
    for proc in procs:
        if proc.wait() != 0:
            raise RuntimeError(f"{proc.args} ended with {proc.returncode}")


class Rig:
    """`count` hosts h1... and `login`, joined by `networks` bridges: host N is
    10.77.0.N and fd77::N on eth0, 10.78.0.N and fd78::N on eth1. Names lead to
    the addresses on network `named`. families: 4, 6. own_loopback: each host's
    own name leads to 127.0.1.1 on itself, as Debian has it."""

    def __init__(self, count, networks=1, named=0, families=(4, 6),
                 own_loopback=False):
        assert 0 < count * networks < PORT_LIMIT
        self.names = [f"h{n}" for n in range(1, count + 1)]
        self.networks, self.named, self.families = networks, named, families
        self.own_loopback = own_loopback
        self.hosts = {}
        self.home = self.switch = self.login = None

    def __enter__(self):
        os.makedirs(DIR)
        self.write_hosts(f"{DIR}/hosts", None)
        world.mount(f"{DIR}/hosts", "/etc/hosts", None, world.MS_BIND)
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY), \
            os.open("/proc/self/ns/uts", os.O_RDONLY), \
            os.open("/proc/self/ns/mnt", os.O_RDONLY)
        self.switch = Host("switch", 0)
        for number, name in enumerate(self.names, 1):
            self.hosts[name] = Host(name, number, self.files(name))
        self.login = Host("login", 0xff01, self.files("login"))
        self.hosts["login"] = self.login
        self.wire()
        self.write_agent()
        world.join(self.login.pid)
        return self

    def files(self, name):
        if not self.own_loopback:
            return ()
        self.write_hosts(f"{DIR}/hosts.{name}", name)
        return ((f"{DIR}/hosts.{name}", "/etc/hosts"),)

    @staticmethod
    def address(number, network, family):
        return f"10.{77 + network}.{number >> 8}.{number & 255}" \
            if family == 4 else f"fd{77 + network}::{number:x}"

    def write_hosts(self, path, own):
        with open(path, "w") as file:
            file.write("127.0.0.1 localhost\n::1 localhost\n")
            if own:
                file.write(f"127.0.1.1 {own}\n")
            numbers = [*enumerate(self.names, 1), (0xff01, "login")]
            for number, name in numbers:
                for family in self.families if name != own else ():
                    file.write(self.address(number, self.named, family)
                               + f" {name}\n")

    def wire(self):
        """Ends the cables: first the ends at the switch, then those of the
        hosts."""
        lines = []
        for k in range(self.networks):
            lines += [f"link add br{k} type bridge mcast_snooping 0",
                      f"link set br{k} up"]
        for host in self.hosts.values():
            for k in range(self.networks):
                port = self.port(host.name, k)
                lines += [f"link add {port} type veth peer name eth{k} "
                          f"netns {host.pid}",
                          f"link set {port} master br{k} up"]
        wait_all([self.switch.ip(lines)])
        wait_all([host.ip(self.ends(host)) for host in self.hosts.values()])

    def ends(self, host):
        yield "link set lo up"
        for k in range(self.networks):
            yield f"link set eth{k} up"
            for family in self.families:
                bits, flag = (16, "") if family == 4 else (64, "nodad")
                yield f"addr add {self.address(host.number, k, family)}/" \
                    f"{bits} dev eth{k} {flag}"

    @staticmethod
    def port(name, network):
        return f"{name}.{network}"

    def write_agent(self):
        """A remote shell that is very fast: AGENT HOST COMMAND..."""
        with open(f"{DIR}/agent", "w") as file:
            file.write(
                "#!/bin/sh\n"
                'while case $1 in -*) ;; *) false ;; esac; do shift; done\n'
                f"read -r pid <{DIR}/pid.$1\n"
                "shift\n"
                'test "$1" != -- || shift\n'
                'exec nsenter -t "$pid" -n -u -m --wdns="$PWD" sh -c "$*"\n')
        os.chmod(f"{DIR}/agent", 0o755)
        for host in self.hosts.values():
            with open(f"{DIR}/pid.{host.name}", "w") as file:
                file.write(f"{host.pid}\n")

    agent = f"{DIR}/agent"

    def host_of(self, pid):
        """Returns the name of the host on which a process runs."""
        network = world.network_of(pid)
        for host in self.hosts.values():
            if host.network == network:
                return host.name
        return ""

    def cut(self, name, network=0):
        """Pulls a host's cable; no process is told."""
        wait_all([self.switch.ip([f"link set {self.port(name, network)} "
                                  "down"])])

    def uncut(self, name, network=0):
        wait_all([self.switch.ip([f"link set {self.port(name, network)} "
                                  "up"])])

    def shut(self, network):
        """Makes this network pass nothing on; all cables stay in place."""
        wait_all([self.switch.ip([f"link set br{network} down"])])

    def crash(self, name):
        """Kills all processes of a host at once."""
        self.kill({self.hosts[name].network})

    @staticmethod
    def kill(networks):
        """Kills processes until none is left, even when new ones are
        started."""
        own, limit = os.getpid(), time.monotonic() + 20
        while True:
            left = [pid for pid in world.pids()
                    if pid != own and world.network_of(pid) in networks]
            if not left:
                return
            if time.monotonic() > limit:
                raise RuntimeError(f"does not die: {left}")
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for pid in left:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)

    def __exit__(self, *_):
        here = os.getcwd()
        for descriptor in self.home:
            world.checked(world.LIBC.setns(descriptor, 0), "setns")
            os.close(descriptor)
        os.chdir(here)
        every = [host.network for host in self.hosts.values()]
        self.kill({*every, self.switch.network})
        world.checked(world.LIBC.umount2(b"/etc/hosts", 0), "umount")
        shutil.rmtree(DIR)


def up(wanted, command):
    import services
    with Rig(wanted.hosts, wanted.networks) as rig:
        if services.Sshd.is_here():
            services.Sshd(rig)
        if wanted.slurm:
            services.Slurm(rig)
        words = command or [os.environ.get("SHELL", "/bin/sh")]
        build = os.path.abspath("commands")
        path = os.environ["PATH"]
        if os.path.exists(os.path.join(build, "xylem")):
            path = build + ":" + path
        env = {**os.environ, "PATH": path, "RIG_AGENT": rig.agent}
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return subprocess.run(words, env=env, check=False, preexec_fn=lambda:
                              signal.signal(signal.SIGINT, signal.SIG_DFL)
                              ).returncode


def main():
    parser = argparse.ArgumentParser(
        usage="rig.py up [OPTIONS] [-- COMMAND...]",
        description="Real hosts on this machine, as root, while COMMAND runs")
    parser.add_argument("up", choices=["up"], help=argparse.SUPPRESS)
    parser.add_argument("--hosts", type=int, default=4, metavar="N")
    parser.add_argument("--networks", type=int, default=1, metavar="K",
                        help="network interfaces of each host")
    parser.add_argument("--slurm", action="store_true",
                        help="with a Slurm of its own: sinfo, salloc, srun")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    wanted = parser.parse_args(words[:end])
    why = missing()
    if why:
        sys.exit(f"rig.py: {why}")
    world.enter()
    sys.exit(up(wanted, words[end + 1:]) & 255)


if __name__ == "__main__":
    main()

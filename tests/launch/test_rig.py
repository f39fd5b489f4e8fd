#!/usr/bin/env python3
"""The rig itself has separate hosts, and leaves nothing of them behind."""
import os
import signal
import subprocess
import sys

import rig
import live
import services
import world
from live import check, check_eq

MS_SHARED = 1 << 20
COMMAND = [sys.executable, os.path.join(rig.HERE, "rig.py"), "up", "--hosts",
           "3", "--networks", "2", "--"]
# Each host's own name and addresses, told to the next by ssh, and the way
# there.
LOOK = r"""
set -e
test "$(hostname)" = login
for host in h1 h2 h3; do
    ssh $host 'echo $(hostname) $(ip -o -br addr show scope global)'
done
ssh h1 ssh -4 h2 ssh -6 h3 env |
    sed -n 's/^SSH_CONNECTION=\([^ ]*\).*/\1/p'
$RIG_AGENT h2 'hostname; pwd'
exit 7
"""
RIGHT = """
h1 eth0@IF UP 10.77.0.1/16 fd77::1/64 eth1@IF UP 10.78.0.1/16 fd78::1/64
h2 eth0@IF UP 10.77.0.2/16 fd77::2/64 eth1@IF UP 10.78.0.2/16 fd78::2/64
h3 eth0@IF UP 10.77.0.3/16 fd77::3/64 eth1@IF UP 10.78.0.3/16 fd78::3/64
fd77::2
h2
"""
STAY = 'echo up; ssh h1 "exec tail -f /dev/null"'


def settle():
    """From now on what is outside of a rig is this test's own, since others
    come and go on a machine. What is mounted is shared, as on most of them:
    what got out of a rig would be seen."""
    world.unshare(world.NEWNS | world.NEWNET)
    for flag in world.MS_PRIVATE, MS_SHARED:
        world.mount(None, "/", None, world.MS_REC | flag)
    world.mount("tmpfs", "/run", "tmpfs")


def outside():
    """What is there of networks and mounts."""
    found = subprocess.run(["ip", "-o", "link"], stdout=subprocess.PIPE,
                           text=True, check=True).stdout
    with open("/proc/self/mounts") as mounts:
        return sorted(mounts), sorted(os.listdir("/run")), \
            [line.split()[1] for line in found.splitlines()]


def below():
    return [pid for pid in live.descendants(live.RUNNER)
            if pid != os.getpid()]


def hosts_are_separate():
    done = subprocess.run([*COMMAND, "sh", "-c", LOOK], text=True,
                          stdout=subprocess.PIPE, check=False)
    check_eq(7, done.returncode, "exit code:")
    words = [word.partition("@if")[0] + "@IF" if "@if" in word else word
             for word in done.stdout.split()]
    check_eq([*RIGHT.split(), os.getcwd()], words)


def killed(whom):
    """Whichever process of the rig dies first, all others end."""
    proc = subprocess.Popen([*COMMAND, "sh", "-c", STAY], text=True,
                            stdout=subprocess.PIPE)
    check_eq("up\n", proc.stdout.readline())
    live.eventually(lambda: any(b"tail" in live.read_proc(pid, "comm")
                                for pid in below()), 20, "a host is busy")
    os.kill(whom(proc.pid), signal.SIGKILL)
    check(proc.wait() != 0, "exit code 0")
    proc.stdout.close()
    live.eventually(lambda: not below(), 20, "no process is left")


def child(pid):
    return live.descendants(pid)[0]


def cases():
    before = outside()
    with live.case("names, addresses and logins"):
        hosts_are_separate()
    with live.case("kill -9 of the first process"):
        killed(lambda pid: pid)
    with live.case("kill -9 of the init of its namespace"):
        killed(child)
    with live.case("kill -9 of the process that has made the hosts"):
        killed(lambda pid: child(child(pid)))
    with live.case("networks, mounts and /run are as before"):
        check_eq(before, outside())


def main():
    why = rig.missing()
    if why or not services.Sshd.is_here():
        live.skip(why or "no sshd here")
    settle()
    cases()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

"""What runs on the hosts of a rig: sshd, Slurm.

Their settings lie where programs look for them (world.COVERED hides the
machine's), so plain `ssh`, `salloc` and the like work. Keys are made for the
rig alone. All of it dies with the hosts.
"""
import os
import shutil
import subprocess
import time

import rig

# A tenth of the CPU time of the default, and nobody listens in.
EXCHANGE = "KexAlgorithms curve25519-sha256\n"

SERVER = EXCHANGE + """
AuthorizedKeysFile /etc/ssh/user.pub
HostKey /etc/ssh/host
KbdInteractiveAuthentication no
LogLevel VERBOSE
MaxSessions 1000
MaxStartups 1000
PasswordAuthentication no
PermitRootLogin yes
PidFile none
PrintMotd no
StrictModes no
UseDNS no
"""

CLIENT = EXCHANGE + """
GlobalKnownHostsFile /etc/ssh/known
IdentityFile /etc/ssh/user
LogLevel ERROR
StrictHostKeyChecking yes
UserKnownHostsFile /dev/null
"""

# What sanitizers are told has to reach the daemons behind a login, too.
PASSED_ON = "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"


def find(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def write(path, text, mode=0o644):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


def await_true(truth, seconds, what):
    limit = time.monotonic() + seconds
    while not truth():
        if time.monotonic() > limit:
            raise RuntimeError(f"not within {seconds} s: {what()}")
        time.sleep(0.02)  # sleep-ok: between two looks


class Sshd:
    """One for each host, and keys with which each host gets to each other."""

    def __init__(self, hosts):
        self.hosts, self.daemons = hosts, {}
        os.makedirs("/run/sshd", 0o755, exist_ok=True)
        for name in "host", "user":
            if not os.path.exists(f"/etc/ssh/{name}"):
                subprocess.run([find("ssh-keygen"), "-q", "-t", "ed25519",
                                "-N", "", "-C", "", "-f", f"/etc/ssh/{name}"],
                               check=True)
        write("/etc/ssh/known", "* " + read("/etc/ssh/host.pub"))
        told = " ".join(f'"{name}={os.environ[name]}"' for name in PASSED_ON
                        if name in os.environ)
        write("/etc/ssh/sshd_config",
              SERVER + (f"SetEnv {told}\n" if told else ""))
        write("/etc/ssh/ssh_config", CLIENT)
        for name in hosts.hosts:
            self.start(name)
        for name in hosts.hosts:
            await_true(lambda: "listening on" in read(self.log(name)), 20,
                       lambda: f"sshd of {name}: " + read(self.log(name)))

    @staticmethod
    def is_here():
        return find("sshd") and find("ssh") and find("ssh-keygen")

    @staticmethod
    def log(name):
        return f"{rig.DIR}/sshd.{name}"

    def start(self, name):
        write(self.log(name), "")
        self.daemons[name] = self.hosts.hosts[name].popen(
            [find("sshd"), "-D", "-E", self.log(name)],
            stdin=subprocess.DEVNULL)

    def logins(self, name):
        return read(self.log(name)).count("Accepted publickey")

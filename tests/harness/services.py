"""The services on the hosts of a rig: sshd and Slurm.

Their settings lie where programs look for them (world.COVERED hides the
machine's), so plain `ssh`, `salloc` and the like work. Keys are made for the
rig alone. All of it dies with the hosts.
"""
import os
import shutil
import subprocess
import time

import rig

# Takes a tenth of the CPU time of the default, and nobody eavesdrops in here.
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

# Settings of logins: there are no start-up files, which may do anything.
HOME = rig.DIR + "/home"
# Options of sanitizers must reach the daemons behind a login, too.
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
        time.sleep(0.02)  # sleep-ok: a pause between two looks


class Sshd:
    """An sshd for each host, and keys by which each host logs in to the
    others."""

    def __init__(self, hosts):
        self.hosts, self.daemons = hosts, {}
        os.makedirs("/run/sshd", 0o755, exist_ok=True)
        for name in "host", "user":
            if not os.path.exists(f"/etc/ssh/{name}"):
                subprocess.run([find("ssh-keygen"), "-q", "-t", "ed25519",
                                "-N", "", "-C", "", "-f", f"/etc/ssh/{name}"],
                               check=True)
        write("/etc/ssh/known", "* " + read("/etc/ssh/host.pub"))
        os.makedirs(HOME)
        told = [f'"{name}={os.environ[name]}"' for name in PASSED_ON
                if name in os.environ]
        write("/etc/ssh/sshd_config",
              SERVER + " ".join(["SetEnv", "HOME=" + HOME, *told]) + "\n")
        write("/etc/ssh/ssh_config", CLIENT)
        for name in hosts.hosts:
            self.start(name)
        for name in hosts.hosts:
            self.await_it(name)

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

    def await_it(self, name):
        await_true(lambda: "listening on" in read(self.log(name)), 20,
                   lambda: f"sshd of {name}: " + read(self.log(name)))

    def stop(self, name):
        """Nobody listens on that host any longer; existing logins go on."""
        self.daemons[name].kill()
        self.daemons[name].wait()

    def restart(self, name):
        self.start(name)
        self.await_it(name)

    def logins(self, name):
        return read(self.log(name)).count("Accepted publickey")


CONF = """
ClusterName=rig
SlurmctldHost=login
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=%(dir)s/state
SlurmdSpoolDir=%(dir)s/spool.%%n
SlurmctldPidFile=%(dir)s/slurmctld.pid
SlurmdPidFile=%(dir)s/slurmd.%%n.pid
SlurmctldLogFile=%(dir)s/slurmctld.log
SlurmdLogFile=%(dir)s/slurmd.%%n.log
SlurmdDebug=verbose
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=1,sched_min_interval=1
ReturnToService=2
SlurmdTimeout=%(timeout)d
KillWait=2
UnkillableStepTimeout=60
NodeName=%(nodes)s CPUs=%(cpus)d State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """munged for all, slurmctld on `login`, one slurmd for each other host.
    `timeout` is how long a silent node counts as there (SlurmdTimeout, s)."""

    DIR = rig.DIR + "/slurm"

    def __init__(self, hosts, cpus=2, timeout=300):
        self.hosts, self.daemons = hosts, {}
        os.makedirs(self.DIR + "/state")
        nodes = f"h[1-{len(hosts.names)}]"
        write("/etc/slurm/slurm.conf",
              CONF % {"dir": self.DIR, "nodes": nodes, "cpus": cpus,
                      "timeout": timeout})
        self.start_munged()
        self.daemon("login", ["slurmctld", "-D"])
        for name in hosts.names:
            self.daemon(name, ["slurmd", "-D", "-N", name])
        await_true(lambda: self.count("idle") == len(hosts.names), 60,
                   lambda: self.sinfo("%N %T %E"))

    @staticmethod
    def missing():
        """Returns the first program that is missing here; None when all are
        installed."""
        for name in "munged", "slurmctld", "slurmd", "srun":
            if not find(name):
                return name

    def daemon(self, name, words):
        with open(f"{self.DIR}/{words[0]}.{name}.out", "wb") as out:
            self.daemons[name, words[0]] = self.hosts.hosts[name].popen(
                [find(words[0]), *words[1:]], stdin=subprocess.DEVNULL,
                stdout=out, stderr=out)

    def stop(self, name):
        """Kills the slurmd of that host, and nobody is told; tasks go on."""
        self.daemons[name, "slurmd"].kill()
        self.daemons[name, "slurmd"].wait()

    def start_munged(self):
        """Makes a socket where everybody looks for it."""
        os.makedirs("/run/munge", 0o755, exist_ok=True)
        key = self.DIR + "/munge.key"
        with open(key, "wb") as file:
            file.write(os.urandom(128))
        os.chmod(key, 0o400)
        self.daemon("login", [
            "munged", "--foreground", "--force", "--key-file", key,
            "--pid-file", self.DIR + "/munge.pid", "--log-file",
            self.DIR + "/munge.log", "--seed-file", self.DIR + "/munge.seed"])
        await_true(lambda: os.path.exists("/run/munge/munge.socket.2"), 20,
                   lambda: read(self.DIR + "/munged.login.out"))

    @staticmethod
    def sinfo(form):
        return subprocess.run(
            [find("sinfo"), "-h", "-N", "-o", form], text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def count(self, state):
        """Returns how many nodes are in the allocation."""
        return self.sinfo("%t").split().count(state)

    def log(self, name):
        """Returns what the slurmd of a host has logged."""
        return read(f"{self.DIR}/slurmd.{name}.log")

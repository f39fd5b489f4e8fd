"""Launchers of others and xylem: how each is called, and one run of it."""
import contextlib
import os
import re
import subprocess
import tempfile

from gate import Failed

RIG = "/run/rig"
LIMIT_S = 150
COMMAND = "COMMAND"


class Peer:
    """A launcher: how it is called, and what is to be killed on a host."""

    def __init__(self, words, daemon, in_slurm=False, versus="xylem", **more):
        self.words, self.daemon = words, daemon
        self.in_slurm, self.versus = in_slurm, versus
        # By the agent of the rig, which costs next to nothing, not by ssh.
        self.near = more.get("near", words)
        # Stdin to all, and the options that do it.
        self.every, self.how = more.get("every", words), more.get("how")
        # On with the hosts that are left, and past one that does not read.
        self.go_on, self.spill = more.get("go_on", words), more.get("spill")
        self.fold = more.get("fold")  # equal lines once
        self.reaches = "none"

    @staticmethod
    def call(words, command):
        return [word.replace(COMMAND, command) for word in words] if any(
            COMMAND in word for word in words) else [*words, command]


def peers_of(hosts, agent, xylem):
    """Where there is a choice, options are such that others do well."""
    listed, count = ",".join(hosts), str(len(hosts))
    places = ",".join(name + ":1" for name in hosts)
    logins = ",".join("1/" + name for name in hosts)
    xylem = [xylem, "run"]
    by_agent = [*xylem, "--rsh", agent, "-w", listed]
    srun = ["srun", "--overlap", "-N", count, "-n", count]
    mpirun = ["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none",
              "--mca", "plm_rsh_agent", agent, "--host", places, "-np", count]
    mpiexec = ["mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", agent,
               "-hosts", listed, "-ppn", "1", "-n", count]
    clush = ["clush", "-S", "-f", count, "-w", listed]
    pdsh = ["pdsh", "-S", "-f", count, "-w", listed]
    parallel = ["parallel", "--will-cite", "--line-buffer", "-j", count]
    nonall = [*parallel, "--nonall", "-S", logins]
    return {
        "xylem": Peer(by_agent, "xylemd",
                      go_on=[*by_agent, "--on-node-loss=continue"],
                      spill=[*by_agent, "--stdin-slow=spill"],
                      fold=[*by_agent, "--fold"]),
        "xylem by Slurm": Peer(xylem, "xylemd", in_slurm=True),
        "srun": Peer(srun, "slurmstepd", in_slurm=True,
                     versus="xylem by Slurm",
                     go_on=[*srun, "--no-kill", "--kill-on-bad-exit=0"]),
        "mpirun": Peer(mpirun, "orted", every=[*mpirun, "--stdin", "all"],
                       how="`--stdin all`"),
        "mpiexec": Peer(mpiexec, "hydra_pmi_proxy"),
        "clush": Peer([*clush, "-N"], "sshd", fold=[*clush, "-b"],
                      near=[*clush, "-N", "-O", "ssh_path=" + agent]),
        "pdsh": Peer([*pdsh, "-N", "-R", "ssh"], "sshd",
                     fold=["sh", "-c", '"$@" | dshbak -c', "sh", *pdsh, "-R",
                           "ssh"],
                     near=[*pdsh, "-N", "-R", "exec", agent, "%h"]),
        "parallel": Peer(nonall, "sshd", near=[*nonall, "--ssh", agent],
                         every=[*parallel, "--pipe", "--tee",
                                "ssh {} " + COMMAND, ":::", *hosts],
                         how="`--pipe --tee 'ssh {}'`"),
    }


def network_of(pid):
    with contextlib.suppress(OSError):
        return os.readlink("/proc/%s/ns/net" % pid)


def network_of_host(name):
    with open("%s/pid.%s" % (RIG, name)) as file:
        return network_of(file.read().strip())


def field(pid, name):
    with contextlib.suppress(OSError):
        with open("/proc/%d/%s" % (pid, name), errors="replace") as file:
            return file.read()
    return ""


def pids():
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def memory_mb(top, but=None):
    """Of a process and its descendants on this host, but for those of a name.
    What several share counts once."""
    below, here = {}, network_of("self")
    for pid in pids():
        words = field(pid, "stat").rpartition(")")[2].split()
        if words:
            below.setdefault(int(words[1]), []).append(pid)
    total, todo = 0, [top]
    while todo:
        pid = todo.pop()
        todo += below.get(pid, [])
        found = re.search(r"^Pss: +(\d+)", field(pid, "smaps_rollup"), re.M)
        if found and network_of(pid) == here and \
                field(pid, "comm")[:-1] != but:
            total += int(found.group(1)) / 1000
    return total


def reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


class Job:
    """One run of a launcher."""

    def __init__(self, peer, words, stdin=subprocess.DEVNULL,
                 stdout=subprocess.DEVNULL):
        env = {name: value for name, value in os.environ.items()
               if peer.in_slurm or not name.startswith("SLURM")}
        self.errors = tempfile.TemporaryFile()
        self.proc = subprocess.Popen(words, stdin=stdin, stdout=stdout,
                                     stderr=self.errors, env=env)

    def said(self):
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").split("\n")
        return " ".join(line for line in lines if line.strip(" -="))[:300]

    def check(self):
        """Notice an early end."""
        if self.proc.poll() is not None:
            raise Failed("ended early with %d: %s" % (self.proc.returncode,
                                                      self.said()))

    def finish(self, limit_s=LIMIT_S):
        try:
            return self.proc.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise Failed("hangs: " + self.said()) from None

    def finish_well(self):
        if self.finish() != 0:
            raise Failed("exit code %d: %s" % (self.proc.returncode,
                                               self.said()))

    def close(self):
        if self.proc.poll() is None:
            self.proc.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.proc.wait(2)
        self.proc.kill()
        self.proc.wait()
        self.errors.close()

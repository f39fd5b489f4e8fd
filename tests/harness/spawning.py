"""Runs a tool that starts jobs, for the tests of PMIx_Spawn."""
import os
import re
import subprocess
import tempfile

import pmix
import live

START = os.path.join(live.BUILD, "tests", "pmix", "tool_start")


class Starter(pmix.Asker):
    """A tool_start. When its stdout is a pipe, the test reads that."""

    def __init__(self, job, is_piped=False):
        self.dir = tempfile.mkdtemp(dir=live.TMP, prefix="start-")
        if is_piped:
            path = os.path.join(self.dir, "stdout")
            os.mkfifo(path)
            self.pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.set_blocking(self.pipe, True)
        self.job = job
        self.outputs = {}  # (namespace, rank, channel): text
        self.ends = []
        self.befores = {}  # the same: how many bytes were not kept
        self.gaps = {}  # the same: after how many bytes these are missing
        super().__init__(job, command=[START, str(job.proc.pid), self.dir])

    def take(self, line):
        word, *rest = line.split(" ", 4)
        if word == "output":
            key = (rest[0], int(rest[1]), rest[2])
            self.outputs[key] = self.outputs.get(key, "") + \
                rest[3].replace("\\n", "\n")
        elif word == "before":
            key = (rest[0], int(rest[1]), rest[2])
            self.befores[key] = self.befores.get(key, 0) + int(rest[3])
            self.gaps[key] = len(self.outputs.get(key, ""))
        elif word == "end":
            self.ends.append((rest[0], int(rest[1]), rest[2]))
        else:
            super().take(line)

    def spawn(self, what):
        """Returns the namespace, or None; and the status."""
        said, status = self.ask("spawn " + what)
        return said[0] if said else None, status

    def do(self, order):
        """Gives an order that has to succeed."""
        live.check_eq("SUCCESS", self.ask(order)[1], order)

    def pull(self, what):
        """Makes a pull that has to succeed; returns its number, once the
        launcher knows of it."""
        before = pmix.pulls_heard(self.job)
        said, status = self.ask("pull " + what)
        live.check_eq("SUCCESS", status, what)
        pmix.wait_heard(self.job, before)
        return said[0]

    def wait_ends(self, space, ranks, channels=("stdout", "stderr")):
        want = {(space, rank, channel) for rank in range(ranks)
                for channel in channels}
        live.eventually(lambda: want <= set(self.ends), 60, "all has come")

    def got(self, space, rank, channel="stdout"):
        return self.outputs.get((space, rank, channel))

    def before(self, space, rank, channel="stdout"):
        return self.befores.get((space, rank, channel), 0)

    def gap(self, space, rank, channel="stdout"):
        """Returns where the bytes are missing that were not kept; None: none
        are missing."""
        return self.gaps.get((space, rank, channel))

    def shown(self, name="stdout"):
        """Returns what its library has written itself."""
        with open(os.path.join(self.dir, name), encoding="utf-8") as file:
            return file.read()

    def happened(self, name, space):
        return any(event.startswith("%s %s " % (name, space))
                   for event in self.events)

    def wait_event(self, name, space):
        live.eventually(lambda: self.happened(name, space), 60,
                        "%s of %s" % (name, space))
        return next(event for event in self.events
                    if event.startswith("%s %s " % (name, space)))


def start(command="true", *options, nodes=3, wait=pmix.Gate.WAIT, wrap=(),
          **env):
    """Starts a job whose processes wait at a gate, then run that command."""
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", nodes, *options, "--", "sh", "-c",
                   wait + command, gate.path,
                   stdin=subprocess.DEVNULL, env={**os.environ, **env},
                   wrap=wrap)
    pmix.wait_up(job)
    live.eventually(lambda: "processes are running" in job.said(), 60,
                    "all run")
    return job, gate


def connect(job, is_piped=False):
    tool = Starter(job, is_piped)
    live.check(tool.connect(), "connected")
    return tool


def hosts_of(job, space):
    """Returns how many processes are on each host, in the order of ranks."""
    asker = pmix.Asker(job)
    asker.connect()
    said, status = asker.query("pmix.nspace=%s pmix.qry.ptable" % space)
    asker.end()
    live.check_eq("SUCCESS", status)
    hosts = [line.split()[2] for line in said[1:]]
    return " ".join("%s:%d" % (host, hosts.count(host))
                    for host in dict.fromkeys(hosts))


def wait_over(job, space):
    """Waits until the job takes no room any longer."""
    asker = pmix.Asker(job)
    asker.connect()
    live.eventually(lambda: space not in re.split(
        "[, ]", asker.query("pmix.qry.ns")[0][0]), 60, "%s is over" % space)
    asker.end()


# --- jobs that are fed

ALL = "!pmix.fwd.stdin:%d " % 0xfffffffe  # PMIX_RANK_WILDCARD
KEEP = "cat\\s>$0.$XYLEM_RANK"


class Kept:
    """A job whose processes write their stdin to files."""
    count = 0

    def __init__(self, tool, ranks, directives=ALL, command=KEEP):
        Kept.count += 1
        self.base = os.path.join(live.TMP, "kept-%d" % Kept.count)
        self.space, status = tool.spawn(
            f"{directives}-- {ranks} sh -c {command} {self.base}")
        live.check_eq("SUCCESS", status)

    def got(self, rank):
        return live.read_file("%s.%d" % (self.base, rank)) or b""

    def wait(self, rank, want):
        live.eventually(lambda: self.got(rank) == want, 60,
                        "stdin of rank %d" % rank)
        live.check(self.got(rank) == want, "rank %d: %r" % (
            rank, self.got(rank)[:100]))


def wait_end(tool, space):
    tool.do("events " + space)
    tool.wait_event("JOB ENDED", space)


def finish(job, gate, *tools):
    for tool in tools:
        live.check_eq(0, tool.end())
    gate.open()
    job.check_ok()

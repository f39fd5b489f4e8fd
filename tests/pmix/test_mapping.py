#!/usr/bin/env python3
"""Tools start jobs with a number of processes for each core or socket: each
machine is examined once, when it is first needed, and a job waits only for the
machines that it needs."""
import contextlib
import os
import re
import shlex
import signal
import sys

import pmix
import live
import spawning
from live import check, check_eq
from spawning import hosts_of

DATA = os.path.join(os.environ["top_srcdir"], "tests", "data")
ONE = os.path.join(DATA, "one-core.xml")
TWO = os.path.join(DATA, "two-sockets.xml")  # with 32 cores
ODD = os.path.join(DATA, "cut-down.xml")     # 2 sockets, 3 cores
WAITS = "a job waits to learn the cores and sockets"


def start_hosts(*options, wait=pmix.Gate.WAIT, **machines):
    """A run on hosts with these machines, whose processes wait at a gate."""
    shell = os.path.join(live.TMP, "rsh")
    with open(shell, "w", encoding="ascii") as file:
        file.write('eval "export HWLOC_XMLFILE=\\$$1"\n'
                   'exec %s "$@"\n' % live.RSH)
    return spawning.start(
        "true", "--launcher", "ssh", "--rsh", "sh " + shlex.quote(shell),
        "-w", ",".join(machines), "--interface", "lo", *options,
        nodes=len(machines), wait=wait, **machines)


def daemons(job):
    """The pid of each host's."""
    return {live.host_of(pid): pid for pid in live.descendants(job.proc.pid)
            if live.read_proc(pid, "comm").strip().endswith(b"xylemd")}


def have_looked(pids):
    return [b"xylem_machine" in live.read_proc(pid, "maps") for pid in pids]


def namespaces(job):
    """Returns the namespaces of all known jobs, also of those that have
    ended."""
    asker = pmix.Asker(job)
    asker.connect()
    said = asker.query("pmix.qry.nsinfo")[0]
    asker.end()
    return re.findall(r"xylem-[0-9a-f]+(?:\.[0-9]+)?\b", "\n".join(said))


def pulls(job, event):
    return set(re.findall(r"PMIx pull (\d+) " + event, job.said()))


def placed(job, tool, what):
    """Where the processes of a job that is over were; or why there were
    none."""
    space, status = tool.spawn(what)
    if not space:
        return status
    spawning.wait_over(job, space)
    return hosts_of(job, space)


def alike():
    """Virtual nodes have the whole machine each, as with xylem run."""
    job, gate = spawning.start("true", "-w", "n2,n0,n1", "--launcher", "local",
                               HWLOC_XMLFILE=ODD)
    tool = spawning.connect(job)
    check_eq("n2:1 n0:1 n1:1", placed(job, tool, "!pmix.mapby=slot -- 3 true"))
    pids = [job.proc.pid, *(pid for pid, name in live.ours().items()
                            if name.endswith("xylemd"))]
    check_eq([False] * len(pids), have_looked(pids), "nobody has looked:")
    for what, want in (
            ("!pmix.ppr=1:core -- 0 true", "n2:3 n0:3 n1:3"),
            ("!pmix.mapby=ppr:1:core -- 5 true", "n2:3 n0:2"),
            ("!pmix.ppr=2:socket -- 0 true", "n2:4 n0:4 n1:4"),
            ("!pmix.mapby=ppr:1:package -- 3 true", "n2:2 n0:1"),
            ("!pmix.ppr=1:package !pmix.host=n1 -- 0 true", "n1:2"),
            ("!pmix.ppr=1:socket !pmix.ppr=1:node -- 2 true", "n2:1 n0:1"),
            ("!pmix.ppr=1:core !pmix.mapby=node -- 5 true", "n2:2 n0:2 n1:1")):
        check_eq(want, placed(job, tool, what), what)
    check_eq([False] + [True] * (len(pids) - 1), have_looked(pids),
             "the daemons have, and not the launcher:")
    check_eq(1, job.said().count(WAITS), "once:")
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def unlike():
    """Hosts have as many as they have; programs of one job have their own
    wishes and hosts; what does not fit, or cannot be, is refused."""
    job, gate = start_hosts(a=TWO, b=ONE, c=ODD)
    tool = spawning.connect(job)
    pids = daemons(job)
    check_eq("b:1 c:3",
             placed(job, tool, "!pmix.ppr=1:core !pmix.host=b,c -- 0 true"))
    check_eq([False, True, True], have_looked(map(pids.get, "abc")),
             "those that were needed have looked:")
    for what, want in (
            ("!pmix.ppr=1:core -- 0 true", "a:32 b:1 c:3"),
            ("!pmix.ppr=1:core -- 35 true", "a:32 b:1 c:2"),
            ("!pmix.ppr=1:core !pmix.host=c,b,a -- 5 true", "c:3 b:1 a:1"),
            ("-- !pmix.ppr=1:socket 0 true : !pmix.ppr=1:node 3 true : "
             "!pmix.ppr=1:core !pmix.host=c 0 true", "a:3 b:2 c:6"),
            ("-- !pmix.ppr=2:socket 4 true : !pmix.ppr=1:core !pmix.host=b,c "
             "0 true", "a:4 b:1 c:3")):
        check_eq(want, placed(job, tool, what), what)
    for what, status, words in (
            ("!pmix.ppr=1:core -- 37 true", "INSUFFICIENT",
             "the hosts have room for 36"),
            ("!pmix.ppr=9:core -- 0 true", "INSUFFICIENT",
             "node 0 on a has room for"),
            ("!pmix.ppr=4294967295:core -- 0 true", "INSUFFICIENT",
             "than there are numbers for"),
            ("!pmix.ppr=0:core -- 1 true", "BAD PARAM", "pmix.ppr has a wrong"),
            ("pmix.ppr=core -- 1 true", "BAD PARAM", "pmix.ppr has a wrong"),
            ("!pmix.ppr=1:numa -- 1 true", "NOT SUPPORTED",
             "pmix.ppr is not supported"),
            ("pmix.mapby=ppr:1:hwthread -- 1 true", "NOT SUPPORTED",
             "pmix.mapby is not supported"),
            ("pmix.mapby=core -- 1 true", "NOT SUPPORTED", "pmix.mapby is"),
            ("!pmix.ppr=1:core:core -- 1 true", "NOT SUPPORTED", "pmix.ppr")):
        said = placed(job, tool, what)
        check(said and status in said.replace("-", " ").upper(),
              "%s: %s" % (what, said))
        live.eventually(lambda: words in job.said(), 60, words)
    check_eq(2, job.said().count(WAITS), "what is known is not asked for:")
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def blind():
    """A machine that cannot be looked at: why is told, other hosts do not mind,
    and when it can it is."""
    path = os.path.join(live.TMP, "machine.xml")
    with open(path, "w", encoding="ascii") as file:
        file.write("nothing\n")
    job, gate = start_hosts(a=ODD, b=path)
    tool = spawning.connect(job)
    all_of_it = "!pmix.ppr=1:core -- 0 true"
    for count in (1, 2):
        check_eq("JOB FAILED TO LAUNCH",
                 placed(job, tool, all_of_it).replace("-", " ").upper()
                 .replace("PMIX ERR ", ""))
        live.eventually(lambda: job.said().count(
            "a job that a client asked for was refused: b: the "
            "topology") == count, 60,
            "why")
    check_eq("a:3", placed(job, tool,
                           "!pmix.host=a !pmix.ppr=1:core -- 0 true"))
    with open(ONE, "rb") as file, open(path, "wb") as to:
        to.write(file.read())
    check_eq("a:3 b:1", placed(job, tool, all_of_it))
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def explained():
    """xylem run --dvm says where the reason stands."""
    dvm = pmix.Dvm("-v", "-w", "a,b", env={**os.environ,
                                           "HWLOC_XMLFILE": __file__})
    dvm.wait_up()
    one = pmix.Command("run", "--dvm", "--ppn", "1:core", "true")
    check_eq(1, one.wait())
    check(b"cannot start the job (`xylem dvm -v' says why)" in one.said(),
          one.said())
    check("was refused: a: the topology" in dvm.said() or
          "was refused: b: the topology" in dvm.said(), dvm.said())
    dvm.proc.terminate()
    check_eq(0, dvm.wait())


def lost():
    """A node that is lost is not waited for any longer, by none of those that
    wait; meanwhile others begin, and the launcher does all that it ever
    does."""
    job, gate = start_hosts("--on-node-loss", "continue", "--arity", "1",
                            a=ODD, b=ODD, c=ONE)
    pids = daemons(job)
    tools = [spawning.connect(job) for _ in range(3)]
    os.kill(pids["c"], signal.SIGSTOP)
    tools[0].tell("spawn !pmix.ppr=1:core -- 0 true")
    tools[1].tell("spawn !pmix.ppr=1:socket -- 5 true")
    live.eventually(lambda: job.said().count(WAITS) == 2, 60, "two wait")
    check_eq("a:1 b:1", placed(job, tools[2], "!pmix.host=a,b -- 2 true"))
    os.kill(pids["c"], signal.SIGKILL)
    for tool, want in zip(tools, ("a:3 b:3", "INSUFFICIENT")):
        said, status = tool.answer()
        got = hosts_of(job, said[0]) if said else status.replace("-", " ")
        check(want in got.upper() or got == want, "%s: %s" % (want, got))
    check_eq("a:2 b:1", placed(job, tools[2], "!pmix.ppr=1:package -- 3 true"))
    for tool in tools:
        check_eq(0, tool.end())
    gate.open()
    check_eq(1, job.wait())


def start_final():
    """A run whose process on b is over, and its daemon stopped when it was
    asked for its machine; a tool that waits for that, and where to let the
    others go."""
    job, gate = start_hosts("--on-node-loss", "continue", a=ODD, b=ODD,
                            wait='test $XYLEM_RANK = 1 || ' + pmix.Gate.WAIT)
    tool = spawning.connect(job)
    asker = pmix.Asker(job)
    asker.connect()
    own = namespaces(job)[0]
    live.eventually(lambda: "TERMINATED" in asker.query(
        "pmix.qry.ptable pmix.nspace=" + own)[0][2].upper(), 60, "b is done")
    check_eq(0, asker.end())
    pid = daemons(job)["b"]
    os.kill(pid, signal.SIGSTOP)
    tool.tell("spawn !pmix.ppr=1:core -- 0 true")
    live.eventually(lambda: WAITS in job.said(), 60, "it waits")
    return job, gate, tool, pid


def final():
    """A node on which the run's own job was over already is not waited for
    either."""
    job, gate, tool, pid = start_final()
    os.kill(pid, signal.SIGKILL)
    said, status = tool.answer()
    check_eq("SUCCESS", status)
    check_eq("a:3", hosts_of(job, said[0]))
    check_eq(0, tool.end())
    gate.open()
    check(job.wait() in (0, 1), "its last word may be lost with it")


def over():
    """A run that ends does not wait for it."""
    job, gate, tool, pid = start_final()
    gate.open()
    said, status = tool.answer()
    check_eq([], said)
    check(status in (None, "UNREACHABLE") or
          "INSUFFICIENT" in status.upper(), status)
    job.check_ok()
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    tool.proc.kill()
    tool.proc.wait()


def left():
    """A tool that is gone gets no job, but a job that was to stay does begin;
    also when its helper dies."""
    for is_helper in (False, True):
        job, gate = start_hosts("--heartbeat", "60", a=ODD, b=ODD)
        pids = daemons(job)
        tools = [spawning.connect(job) for _ in range(2)]
        os.kill(pids["b"], signal.SIGSTOP)
        for count, (tool, more) in enumerate(zip(tools, ("", "!pmix.nohup "))):
            tool.tell("spawn !pmix.fwd.stdout !pmix.ppr=1:core " + more +
                      "-- 0 sleep 1000")
            live.eventually(lambda: job.said().count(WAITS) == count + 1, 60,
                            "it waits")
        if is_helper:
            for _ in tools:
                pmix.kill_helper(job)
            gone = "was disconnected"
        else:
            gone = "has disconnected"
        for tool in tools:
            tool.proc.kill()
            tool.proc.wait()
        live.eventually(lambda: job.said().count(gone) == 2, 60,
                        "both are gone")
        live.eventually(lambda: len(pmix.helpers_of(job)) == 1, 60,
                        "and so are their helpers, but for the next one")
        # Served after the ends of all that these were connected by.
        tool = spawning.connect(job)
        os.kill(pids["b"], signal.SIGCONT)
        check_eq("a:2 b:2", placed(job, tool, "!pmix.ppr=1:socket -- 0 true"))
        spaces = namespaces(job)
        check_eq(3, len(spaces), spaces)
        check_eq("a:3 b:3", hosts_of(job, spaces[1]))
        live.eventually(lambda: pulls(job, "copies") <=
                        pulls(job, "has ended"), 60,
                        "nobody gets output that is for nobody")
        tool.do(f"signal {spaces[1]} * 9")
        check_eq(0, tool.end())
        gate.open()
        job.check_ok()


def ended():
    """A dvm that ends does not keep a tool from its answers either."""
    dvm = pmix.Dvm("-v", "-w", "a,b")
    dvm.wait_up()
    tool = spawning.connect(dvm)
    daemon = [pid for pid, name in live.ours().items()
              if name.endswith("xylemd")][0]
    os.kill(daemon, signal.SIGSTOP)
    tool.tell("spawn !pmix.ppr=1:core -- 0 true")
    live.eventually(lambda: WAITS in dvm.said(), 60, "it waits")
    dvm.proc.terminate()
    said, status = tool.answer()
    check_eq([], said)
    check(status in (None, "UNREACHABLE") or
          "INSUFFICIENT" in status.upper(), status)
    check_eq(0, dvm.wait())
    tool.proc.kill()
    tool.proc.wait()


def main():
    pmix.need()
    for test in (alike, unlike, blind, explained, lost, final, left, over,
                 ended):
        with live.case(" ".join(test.__doc__.split())):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A dvm, a tree that stays up without a job of its own: tools start jobs in
it, it outlives these jobs and lost nodes, and its end ends everything in it."""
import os
import signal
import subprocess
import sys
import threading

import pmix
import clients
import live
import spawning
from dvms import asks, check_end, names_of, patient, start, stop
from live import check, check_eq


def spawned(tool, what):
    space, status = tool.spawn(what)
    check_eq("SUCCESS", status, what)
    return space


BOTH = "pmix.fwd.stdout pmix.fwd.stderr "
TELL = "echo\\s$PPID>$0.$XYLEM_RANK"


def states(dvm):
    """Returns the process states of the daemons."""
    rows = asks(dvm, "pmix.qry.ptable")[0][1:]
    return sorted(" ".join(row.split()[6:]) for row in rows)


def told(place, ranks):
    """Returns what the processes have written: the pids of the processes that
    started them."""
    paths = ["%s.%d" % (place, rank) for rank in range(ranks)]
    live.eventually(lambda: all(live.read_file(path).endswith(b"\n")
                                for path in paths), 60, "all are there")
    return [int(live.read_file(path)) for path in paths]


def served():
    """Jobs come and go, several at a time, each with its name and its output;
    the address stands in a file as long as tools can come."""
    path = os.path.join(live.TMP, "uri")
    dvm = start("--report-uri", path)
    uri = live.read_file(path).decode()
    check(uri.startswith("xylem-dvm-") and uri.endswith("\n"), uri)
    check_eq(1, clients.Attach().wait(), "there is no job yet")
    check_eq("NOT FOUND", asks(dvm, "pmix.qry.nsinfo")[1])
    tools = [spawning.connect(dvm) for _ in range(2)]
    own = uri.partition("-server.")[0]
    check_eq("NOT SUPPORTED", tools[0].ask(f"pull {own} *")[1])
    live.eventually(lambda: f"a pull was refused: {own} is this dvm"
                    in dvm.said(), 60, "it says so")
    for turn in range(2):
        door = pmix.Gate()
        script = ":\\s<$0;echo\\s$XYLEM_RANK\\sof\\s$XYLEM_SIZE"
        spaces = [spawned(tool, f"{BOTH}-- {size} sh -c {script} {door.path}")
                  for tool, size in zip(tools, (3, 5))]
        check_eq(spaces, names_of(dvm, "pmix.qry.ns"),
                 "no daemons, none that has ended")
        for tool, space in zip(tools, spaces):
            tool.pull(f"{space} *")
        door.open()
        for tool, space, size in zip(tools, spaces, (3, 5)):
            tool.wait_ends(space, size)
            for rank in range(size):
                check_eq(f"{rank} of {size}\n", tool.got(space, rank),
                         "turn %d" % turn)
        live.eventually(lambda: names_of(dvm, "pmix.qry.ns") == [], 60,
                        "all ended")
    for tool in tools:
        check_eq(0, tool.end())
    check_eq((0, ""), stop())
    check(dvm.proc.poll() is not None, "--stop waits for the end")
    check_eq(False, os.path.exists(path), "the file has gone with it")
    check_end(dvm)


def stopped():
    """Jobs end with it: by SIGTERM, or where they do not care by SIGKILL. By a
    signal, by name, and by process number."""
    script = "trap\\s''\\sTERM;" + TELL + ";while\\s:;do\\ssleep\\s1;done"
    for end in ("name", "pid", signal.SIGTERM, signal.SIGINT):
        dvm = start()
        tool = spawning.connect(dvm)
        easy = spawned(tool, "!pmix.nohup -- 3 sleep 1000")
        place = os.path.join(live.TMP, "stopped-%s" % end)
        spawned(tool, f"!pmix.nohup -- 2 sh -c {script} {place}")
        told(place, 2)
        tool.do("events " + easy)
        if end == "name":
            own = easy.rpartition(".")[0]
            check_eq((0, ""), stop(own))
        elif end == "pid":
            check_eq((0, ""), stop(dvm.proc.pid))
        else:
            dvm.proc.send_signal(end)
        check("SIG" in tool.wait_event("JOB ENDED", easy), tool.events)
        check_end(dvm)
        tool.end()


def refused():
    """Refused are: no dvm, several of them, that of another user, a process
    that is no dvm, an option of jobs."""
    code, said = stop()
    check(code == 1 and "no dvm of yours is up" in said, said)
    code, said = stop("nix")
    check(code == 1 and "no dvm nix runs" in said, said)
    code, said = stop(os.getpid())
    check(code == 1 and "is not a dvm" in said, said)
    dvms = [start(nodes=1) for _ in range(2)]
    code, said = stop()
    check(code == 1 and "2 of your dvms are up" in said, said)
    for dvm in dvms:
        check("--stop=%d " % dvm.proc.pid in said, said)
    nobody = ("setpriv", "--reuid=65534", "--clear-groups")
    if os.geteuid() == 0 and subprocess.run(
            [*nobody, live.XYLEM, "--version"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False).returncode == 0:
        code, said = stop(dvms[0].proc.pid, wrap=nobody)
        check(code == 1 and "to root, who alone can stop it" in said, said)
        code, said = stop(wrap=nobody)
        check(code == 1 and "no dvm of yours" in said, said)
    for dvm in dvms:
        check(dvm.proc.poll() is None, "it is still there")
        check_eq((0, ""), stop(dvm.proc.pid))
    for words in (["--label"], ["-n", "3"], ["true"]):
        done = subprocess.run([live.XYLEM, "dvm", *words], check=False,
                              stderr=subprocess.DEVNULL)
        check_eq(2, done.returncode, words)
    check_end(dvms[0])


def killed():
    """kill -9: daemons and processes follow."""
    dvm = start()
    tool = spawning.connect(dvm)
    spawned(tool, "-- 3 sleep 1000")
    dvm.proc.kill()
    dvm.wait()
    live.check_gone(60)
    tool.end()


def helped():
    """A helper dies: the jobs of its tool end, but not those of another tool,
    nor those of `run --dvm`. Tools can come again, to the same address."""
    path = os.path.join(live.TMP, "uri")
    dvm = start("--report-uri", path)
    before = live.read_file(path)
    tool = spawning.connect(dvm)
    helper = pmix.helper_of(dvm)
    place = os.path.join(live.TMP, "helped")
    script = f"-- 3 sh -c {TELL};exec\\ssleep\\s1000 {place}"
    ends = spawned(tool, script)
    told(place, 3)
    other = spawning.connect(dvm)
    stays = spawned(other, script + "-other")
    told(place + "-other", 3)
    gate = pmix.Gate()
    run = pmix.Command("run", "--dvm", "-v", "-n", 1, "--", "sh", "-c",
                       pmix.Gate.WAIT + "echo on", gate.path)
    live.eventually(lambda: b" running as " in run.said(), 60, "it runs")
    other.do("events " + ends)
    os.kill(helper, signal.SIGKILL)
    check("SIG" in other.wait_event("JOB ENDED", ends), other.events)
    live.eventually(lambda: "a PMIx tool was disconnected: the helper "
                            "xylem-pmix was killed by signal 9; the "
                            "session goes on" in dvm.said(), 60,
                    "it is said")
    tool.end()
    check(stays in names_of(dvm, "pmix.qry.ns"), "that of the other tool")
    check_eq(before, live.read_file(path), "the same address")
    gate.open()
    check_eq((0, b"on\n"), (run.wait(), run.shown()), run.said())
    check_eq(0, other.end())
    tool = spawning.connect(dvm)
    late = spawned(tool, "-- 2 echo late")
    tool.do("events " + late)
    tool.wait_event("JOB ENDED", late)
    check_eq(0, tool.end())
    check_eq((0, ""), stop())
    check_end(dvm)


def held_helper(name, what):
    """A program to start in the helper's place: that, then the helper."""
    path = os.path.join(live.TMP, name)
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n%s\nexec '%s' \"$@\"\n" % (
            what, os.path.join(live.BUILD, "pmix_api", "xylem-pmix")))
    os.chmod(path, 0o755)
    return {**os.environ, "XYLEM_PMIX": path}


def helpless():
    """A dvm whose helper is being started again: it is not missed, nor another
    one taken for the only one, and a tool waits. `run --dvm` and --stop need
    no helper."""
    gate = os.path.join(live.TMP, "held")
    dvm = start(nodes=1, env=held_helper(
        "helper", f"test ! -p '{gate}' || : <'{gate}'"))
    other = start(nodes=1)
    os.mkfifo(gate)
    pmix.kill_helper(dvm)
    code, said = stop()
    check(code == 1 and "2 of your dvms are up" in said, said)
    check_eq((0, ""), stop(other.proc.pid))
    check_eq(0, other.wait(), other.said())
    run = pmix.Command("run", "--dvm", "-n", 1, "echo", "on")
    check_eq((0, b"on\n", ""),
             (run.wait(), run.shown(), patient(run.said().decode())))
    tool = pmix.Asker(dvm)
    port = pmix.server(dvm)[1]
    live.eventually(lambda: port in [
        at for _, at in live.sockets(dvm.proc.pid, live.ESTABLISHED)], 60,
        "the tool is at the port")
    check_eq(None, pmix.helper_of(dvm), "there is none")
    with open(gate, "w"):
        os.unlink(gate)
    check(tool.connect(), "it is served")
    check_eq(0, tool.end())
    live.eventually(lambda: pmix.helper_of(dvm) is not None, 60, "in reserve")
    pmix.kill_helper(dvm)
    check_eq((0, ""), stop())
    check_end(dvm)


def unserved():
    """A helper cannot be started, or ends before a tool can come: the dvm is
    of no use, says why and fails. A run does without it, and has no word for
    it."""
    mark = os.path.join(live.TMP, "mark")
    nowhere = os.path.join(live.TMP, "nowhere")
    ends = held_helper("ends", f": >'{mark}'\nexit 7")
    for env, why in (
            ({**os.environ, "TMPDIR": nowhere}, "cannot make a directory in "
             f"{nowhere}: No such file or directory"),
            ({**os.environ, "XYLEM_PMIX": live.TMP}, "cannot be started: "),
            (ends, "the helper xylem-pmix ended with exit status 7"),
            (held_helper("full", "ulimit -f 0"),
             "is empty (is TMPDIR full?)")):
        dvm = pmix.Dvm("-N", 2, env=env)
        check_eq(1, dvm.wait(), why)
        check("of no use without them" in dvm.said() and why in dvm.said(),
              dvm.said())
        check_end(dvm, 1)
    os.unlink(mark)
    gate = pmix.Gate()
    job = pmix.Job("-N", 2, "--", "sh", "-c", pmix.Gate.WAIT + "echo on",
                   gate.path, env=ends)
    live.eventually(lambda: os.path.exists(mark), 60, "it was tried")
    gate.open()
    check_eq(b"on\n" * 2, job.stdout.read())
    job.check_ok()
    check("PMIx" not in job.said(), job.said())


def revived():
    """A helper that cannot be started again for a time is started when it can
    be: the dvm says once that tools have to wait meanwhile, a tool does, and
    the dvm goes on."""
    mark = os.path.join(live.TMP, "none")
    dvm = pmix.Dvm("-N", 2, env=held_helper(
        "for-a-time", f"test ! -e '{mark}' || exit 7"))
    dvm.wait_up()
    for _ in range(2):
        with open(mark, "w"):
            pass
        pmix.kill_helper(dvm)
        tool = pmix.Asker(dvm)
        live.eventually(lambda: "tools have to wait" in dvm.said(), 60, "said")
        os.unlink(mark)
        check(tool.connect(), "it is served")
        check_eq(0, tool.end())
    one = pmix.Command("run", "--dvm", "-n", 2, "echo", "again")
    check_eq((0, b"again\n" * 2), (one.wait(), one.shown()), one.said())
    check_eq(1, dvm.said().count("tools have to wait"), dvm.said())
    dvm.proc.send_signal(signal.SIGTERM)
    check_end(dvm)


def lost():
    """A daemon dies: the job that it had a part of ends, others go on, and new
    ones are started where there is a node. Without any node it ends."""
    door = pmix.Gate()
    dvm = start("--nodes-per-daemon", 1)
    tool = spawning.connect(dvm)
    alone = spawned(tool, f"{BOTH}-- 1 sh -c :\\s<$0;echo\\swhole {door.path}")
    place = os.path.join(live.TMP, "lost")
    wide = spawned(tool, f"-- 3 sh -c {TELL};exec\\ssleep\\s1000 {place}")
    tool.do(f"pull {alone} *")
    for space in (alone, wide):
        tool.do("events " + space)
    dead, *daemons = told(place, 3)  # the first is on an empty node
    check_eq(3 * ["PROC EXECUTING"], states(dvm))
    os.kill(dead, signal.SIGKILL)
    check("SIG" in tool.wait_event("JOB ENDED", wide), tool.events)
    live.eventually(lambda: "is lost; the tree goes on without it"
                    in dvm.said(), 60, "it says so")
    live.eventually(lambda: states(dvm) == ["PROC ABORTED BY SIGNAL"] +
                    2 * ["PROC EXECUTING"], 60, "a daemon is over")
    check(not tool.happened("JOB ENDED", alone), "the other one runs")
    door.open()
    tool.wait_ends(alone, 1)
    check_eq("whole\n", tool.got(alone, 0))
    place = os.path.join(live.TMP, "late")
    for procs, ranks in ((4, 4), (0, 2)):
        late = spawned(tool, f"pmix.host=localhost -- {procs} sh -c {TELL} "
                             f"{place}{procs}")
        check_eq(sorted(daemons * (ranks // 2)),
                 sorted(told(place + str(procs), ranks)), "the living ones")
    tool.do("events " + late)
    tool.wait_event("JOB ENDED", late)
    check("SUFFICIENT" in tool.spawn("pmix.host=localhost:3 -- 4 true")[1],
          "their slots")
    for daemon in daemons:
        os.kill(daemon, signal.SIGKILL)
    check_end(dvm, 1)
    check("no node is left" in dvm.said(), dvm.said())
    tool.end()


def unstarted():
    """A node is lost before it has started its part of a job that goes on
    without it: a tool that waits for the job is told that the other processes
    run."""
    dvm = start("--nodes-per-daemon", 1, "--on-node-loss", "continue")
    tool = spawning.connect(dvm)
    place = os.path.join(live.TMP, "unstarted")
    spawned(tool, f"-- 3 sh -c {TELL} {place}-all")
    last = told(place + "-all", 3)[2]
    os.kill(last, signal.SIGSTOP)
    said = []
    waits = threading.Thread(target=lambda: said.append(tool.spawn(
        f"-- 3 sh -c {TELL};exec\\ssleep\\s1000 {place}")))
    waits.start()
    told(place, 2)
    check_eq([], said, "it waits for the third one")
    os.kill(last, signal.SIGKILL)
    waits.join()
    check_eq("SUCCESS", said[0][1], "two of three")
    check_eq(0, tool.end())
    check_eq((0, ""), stop())
    check_end(dvm)


# What is on its way to who does not take it may be in the dvm, beside all else.
UNTAKEN = 64 * live.MIB


def ended_by_loss():
    """A node is lost before it has started its part of a job that ends with
    it: the job ends even when others have written more than buffers hold
    before the tool that has started it asks for the output."""
    dvm = start("--nodes-per-daemon", 1, "--on-node-loss", "abort")
    dvm.bound += UNTAKEN
    place = os.path.join(live.TMP, "ended-by-loss")
    tool = spawning.connect(dvm)
    spawned(tool, f"-- 3 sh -c {TELL} {place}")
    last = told(place, 3)[2]
    os.kill(last, signal.SIGSTOP)
    one = pmix.Command("run", "--dvm", "-n", 3, "--", "yes")
    live.eventually(lambda: "are held back" in dvm.said(), 60, "held back")
    os.kill(last, signal.SIGKILL)
    check_eq(1, one.wait(), one.said())
    check(b"a node with some of its processes is lost" in one.said(),
          one.said())
    check_eq(0, tool.end())
    check_eq((0, ""), stop())
    check_end(dvm)


KEPT = 64  # jobs that have ended and are still known


def held(pid):
    """Memory of its own, in KiB; descriptors."""
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
        sizes = [line.split()[1] for line in file
                 if line.startswith("Private_")]
    return sum(map(int, sizes)), len(os.listdir("/proc/%d/fd" % pid))


def forgotten():
    """The last jobs that have ended are known, and nothing is left of others:
    what launcher and helper hold does not grow with them. A job that could not
    be started does not count."""
    dvm = start()
    tool = spawning.connect(dvm)
    spaces = []

    def many(jobs):
        for _ in range(jobs):
            spaces.append(spawned(tool, "pmix.fwd.stdout -- 1 true"))

    waits = spawned(tool, "!pmix.nohup -- 1 sleep 1000")
    for jobs in (7, KEPT):  # the order in which they end is theirs
        many(jobs)
        live.eventually(lambda: names_of(dvm, "pmix.qry.ns") == [waits], 60,
                        "these have ended")
    for _ in range(2):
        check("NOT FOUND" in tool.spawn("-- 1 /nix")[1], "no program")

    def known():
        return names_of(dvm, "pmix.qry.nsinfo")

    want = [waits] + spaces[-KEPT:]
    live.eventually(lambda: known() == want, 60, "the last ones")
    for what, status in ((spaces[0], "NOT FOUND"), (spaces[-1], "SUCCESS")):
        check(status in asks(dvm, "pmix.nspace=%s pmix.qry.jst" % what)[1],
              what)
    if os.environ.get("XYLEM_TEST_FULL") == "1":
        many(500)  # libpmix keeps the events of 170 of them
        pids = [dvm.proc.pid, pmix.helper_of(dvm)]  # that of the tool
        before = [held(pid) for pid in pids]
        many(2000)
        for pid, (size, files) in zip(pids, before):
            now = held(pid)
            check_eq(files, now[1], "descriptors")
            # All of them kept would be 88 MiB.
            check(now[0] < size + 8192, "%d KiB of %d" % (now[0], size))
    check_eq(0, tool.end())
    check_eq((0, ""), stop())
    check_end(dvm)


def main():
    pmix.need()
    for what in (served, stopped, refused, killed, helped, helpless,
                 unserved, revived, lost, unstarted, ended_by_loss,
                 forgotten):
        if len(sys.argv) > 1 and sys.argv[1] != what.__name__:
            continue
        with live.case(" ".join(what.__doc__.split())):
            what()
    sys.exit(live.end())


if __name__ == "__main__":
    main()

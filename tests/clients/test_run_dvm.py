#!/usr/bin/env python3
"""xylem run --dvm runs a job in the tree of a dvm, which for its user behaves
like a job with a tree of its own. Outputs are compared with what the processes
write."""
import glob
import hashlib
import json
import os
import re
import signal
import subprocess
import sys

import pmix
import clients
import live
from dvms import Run, names_of, run
from live import check, check_eq

HOSTS = ("one", "two", "three")
NODES = len(HOSTS)
TOOLS_MAX = 64
LINES = live.full(200000, 5000)
# Writes by turns to stdout and stderr, so that only one pipe keeps the order.
TURNS = 2000
ALTERNATE = ("n=0; while [ $n -lt %d ]; do echo $((2 * n + 1)); "
             "echo $((2 * n + 2)) >&2; n=$((n + 1)); done" % TURNS)


def start(*options):
    machine = os.path.join(os.environ["top_srcdir"], "tests", "data",
                           "cut-down.xml")  # of 2 sockets and 3 cores
    dvm = pmix.Dvm("-v", "-w", ",".join(HOSTS), *options,
                   env={**os.environ, "HWLOC_XMLFILE": machine})
    dvm.wait_up()
    return dvm


def seq(mark, count=LINES):
    return b"".join(b"%s%d\n" % (mark, n + 1) for n in range(count))


def lines_of(shown, mark):
    return b"".join(line for line in shown.splitlines(True)
                    if line.startswith(mark))


def whole():
    """Every byte of many processes, of two runs at a time, one of them over at
    once; lines whole, long ones, one that does not end, none at all."""
    script = (f"seq {LINES} | sed s/^/$XYLEM_RANK:/; "
              "echo err $XYLEM_RANK >&2; printf $XYLEM_RANK=%0100000d 0; echo; "
              "printf $XYLEM_RANK.last")
    runs = [Run("-n", 8, "--", "sh", "-c", script) for _ in range(2)]
    check_eq((0, b"", ""), run("true"))
    for one in runs:
        check_eq(0, one.wait(), one.said())
        shown = one.shown()
        size = 0
        for rank in range(8):
            mark = b"%d:" % rank
            check(lines_of(shown, mark) == seq(mark), "rank %d" % rank)
            check(b"%d=%0100000d\n" % (rank, 0) in shown, "a long line")
            check(b"%d.last" % rank in shown, "an open line")
            size += len(seq(mark)) + 100000 + 3 + 6
        # an open line that others follow is ended on the console
        check_eq(size, len(shown.replace(b".last\n", b".last")),
                 "nothing else")
        check_eq(["err %d" % rank for rank in range(8)],
                 sorted(one.said().splitlines()))


def fed():
    """stdin is exact: to all, to one, to none, and from a file."""
    data = os.urandom(live.full(64, 1) * live.MIB + 17)
    path = os.path.join(live.TMP, "input")
    with open(path, "wb") as file:
        file.write(data)
    full = hashlib.sha1(data).hexdigest()
    none = hashlib.sha1(b"").hexdigest()
    for words, want in ((["-i", "all"], [full] * 3),
                        (["-i", "1"], [none, full, none]),
                        (["-i", "none"], [none] * 3)):
        with open(path, "rb") as file:
            code, out, said = run("-n", 3, "--label", *words, "sha1sum",
                                  stdin=file)
        check_eq((0, ""), (code, said), words)
        check_eq([f"{rank}: {text}  -" for rank, text in enumerate(want)],
                 sorted(out.decode().splitlines()), words)
    code, out, said = run("-n", 1, "--input", path, "cat")
    check_eq((0, ""), (code, said))
    check(out == data, "it comes back as it was")
    with open(path, "rb") as file:
        check_eq((0, b"", ""), run("-n", 2, "true", stdin=file),
                 "nobody reads it")


def first_failed(nth):
    """Rank 2 returns 7, and rank 0 returns 4 some time after that one has gone.
    Returns the exit code of the run."""
    place = os.path.join(live.TMP, "first-%d" % nth)
    script = ('if [ $XYLEM_RANK = 2 ]; then echo $$ >$0.new; mv $0.new $0; '
              'exit 7; fi; [ $XYLEM_RANK = 0 ] || exit 0; '
              'until [ -e $0 ]; do :; done; '
              'while kill -0 $(cat $0) 2>/dev/null; do :; done; sleep 0.2; '
              'exit 4')
    code, _, said = run("-n", 3, "sh", "-c", script, place)
    check(re.search(f"(?m)^xylem: exit {11 - code}: rank . on ", said), said)
    check(re.search(f"returned {code}(;.*)?\n", said) and code in (4, 7), said)
    return code


def first():
    """The exit code is that of the process that failed first, as for xylem
    run; on a very busy machine it may not be known."""
    check(any(first_failed(nth) == 7 for nth in range(20)),
          "rank 2 is the first that fails")


def ended():
    """Exit codes and the words on them are those of xylem run."""
    code, _, said = run("-n", 3, "sh", "-c",
                        "exit $((XYLEM_RANK == 1 ? 7 : 0))")
    check_eq((7, "xylem: rank 1 on two returned 7\n"), (code, said))
    code, _, said = run("-n", 3, "sh", "-c",
                        "test $XYLEM_RANK = 0 || kill -9 $$")
    check_eq(128 + 9, code)
    check(re.fullmatch(
        "xylem: rank . on .* was ended by signal 9 [(]Killed[)]\n"
        "xylem: signal 9 [(]Killed[)]: ranks 1-2 [(]2[)] on two,three\n",
        said), said)
    for words, want in ((["nixda"], "nixda cannot be started"),
                        (["-D", "/nix", "true"], "no directory /nix"),
                        (["true", ":", "nixda"],
                         "cannot be started: there is no such program"),
                        (["true", ":", "-D", "/nix", "true"],
                         "no directory for one of its programs"),
                        (["-n", 2, "-i", 2, "true"], "--stdin names rank 2"),
                        (["-n", 1000, "true"], "no room"),
                        (["-w", "one,four", "true"], "some of its hosts "
                          "are not in the dvm"),
                        (["-w", "one[", "true"], "or written wrongly"),
                        (["/dev/null"], "may not run it")):
        code, _, said = run(*words)
        check(code == 1 and want in said, (words, code, said))
        check(words[0] != "true" or "true" not in said, said)
    code, _, said = run("--timeout", "0.1", "sleep", "1000")
    check(code == 124 and "timed out after 0.1 s" in said, said)
    code, _, said = run("-n", 1, "-D", "/", "--env", "NEW=$x", "--env", "PATH",
                        "sh", "-c", "pwd; echo $NEW $OWN $XYLEM_SIZE >&2",
                        ":", "-n", 2, "--env", "OWN=2", "sh", "-c",
                        "echo $OWN >&2")
    check_eq((0, ["$x 3", "2", "2"]), (code, sorted(said.splitlines())))
    exact = os.path.join(live.TMP, "exact")
    check_eq((0, b"", ""), run("-n", 2, "-o", exact + "-%2t", "-e", exact, "sh",
                               "-c", "echo out; echo err >&2"))
    for name, text in (("", "err\nerr\n"), ("-00", "out\n"), ("-01", "out\n")):
        with open(exact + name) as file:
            check_eq(text, file.read())
    # Nothing is left of the environment of the dvm itself either.
    code, shown, _ = run("-n", 1, "--export=NEW=1,HOME", "/usr/bin/env")
    names = {line.partition(b"=")[0] for line in shown.splitlines()}
    check_eq((0, {b"NEW", b"HOME", b"PWD"}),
             (code, {name for name in names if not name.startswith(b"XYLEM_")}))


def jobs_of(dvm, program=b"sleep"):
    """Processes that have been started in it."""
    return [pid for pid in live.descendants(dvm.proc.pid)
            if live.read_proc(pid, "cmdline").startswith(program + b"\0")]


def unwritten(dvm):
    """Output that cannot be written is a failure, also when the job has ended
    well before that is seen; as is input that cannot be read."""
    with open("/dev/full", "wb") as full:
        code, _, said = run("-n", 1, "seq", 5, stdout=full)
    check_eq((1, "xylem: cannot write to stdout: No space left on device\n"),
             (code, said))
    folder = os.path.join(live.TMP, "taken")
    os.makedirs(folder + "/0.stdout")
    code, _, said = run("-n", 1, "--file-only", "--output-file", folder + "/%r",
                        "seq", 5)
    check(code == 1 and "/taken/0.stdout': it is a directory" in said,
          (code, said))
    for is_left in (True, False):
        source, sink = os.pipe()
        one = Run("-n", 1, "sh", "-c", "yes | head -c 2M; echo up >&2",
                  stdout=sink)
        os.close(sink)
        live.eventually(lambda: one.said() == "up\n" and
                        not jobs_of(dvm, b"sh"), 60, "it is over")
        if is_left:
            os.close(source)
        else:
            one.proc.send_signal(signal.SIGINT)
            one.proc.send_signal(signal.SIGTERM)
        check_eq(128 + (signal.SIGPIPE if is_left else signal.SIGTERM),
                 one.wait(), one.said())
        check_eq("up\n" if is_left else "up\nxylem: killing the processes; "
                                        "output that cannot be written is "
                                        "discarded\n", one.said())
        if not is_left:
            os.close(source)
    # No part of this file can be read: nothing is mapped at address 0.
    code, out, said = run("-n", 1, "--input", "/proc/self/mem", "cat")
    check_eq((1, b""), (code, out), said)
    check(said.startswith("xylem: cannot read /proc/self/mem: ") and
          said.endswith("; the job ends\n"), said)


def refused():
    """An option that `run --dvm` cannot have is refused by its name."""
    for words, want in ((["-x", "a", "true"], "--exclude is for a tree"),
                        (["--arity", "2", "true"], "--arity is for a tree"),
                        (["-K", "true"], "cannot have --kill-on-bad-exit"),
                        (["--stats", "x", "true"], "cannot have --stats"),
                        (["-i", "0,2", "true"], "all, none or one rank"),
                        (["-N", 1, "--ppn", "1:core", "true"], "instead of -N"),
                        (["-N", 2, "-n", 2, "true"], "instead of -n"),
                        ([], "no program is given")):
        code, _, said = run(*words)
        check(code == 2 and want in said, (words, code, said))
    done = subprocess.run([live.XYLEM, "run", "--dvm=nix", "true"], check=False,
                          stderr=subprocess.PIPE)
    check(done.returncode == 1 and b"no dvm nix runs" in done.stderr,
          done.stderr)


def shown():
    """Options of output and of places."""
    code, out, said = run("-N", 2, "--ppn", 2, "--label=host", "--merge-stderr",
                          "sh", "-c", "echo out; echo err >&2")
    check_eq((0, ""), (code, said))
    check_eq(sorted(f"{host}: {text}" for host in ("one", "two")
                    for text in ("err", "out") for _ in "12"),
             sorted(out.decode().splitlines()))
    code, out, said = run("-n", 1, "--merge-stderr", "sh", "-c", ALTERNATE)
    check_eq((0, ""), (code, said))
    check_eq(list(range(1, 2 * TURNS + 1)), list(map(int, out.split())),
             "stdout and stderr are one pipe:")
    for words, want in ((["--ppn", "1:core"], [3, 3, 3]),
                        (["--ppn", "2:socket", "-n", 7], [4, 3, 0]),
                        (["-w", "two", "--ppn", "1:socket"], [0, 2, 0])):
        code, out, said = run(*words, "--label=host", "echo", "x")
        width = max(len(host) for host, count in zip(HOSTS, want) if count)
        check_eq((0, "", want), (code, said, [
            out.count(f"{host:{width}}: x\n".encode())
            for host in HOSTS]), words)
    path = os.path.join(live.TMP, "hosts")
    with open(path, "w", encoding="ascii") as file:
        file.write("three slots=2\none\n")
    for words, want in ((["-w", "three,two", "--label=host"],
                         ["three", "two  "]),
                        (["-w", "two,one", "-n", 4, "--label=host"],
                         ["one"] * 2 + ["two"] * 2),
                        (["--hostfile", path, "-n", 3, "--label=host"],
                         ["one  ", "three", "three"])):
        code, out, said = run(*words, "echo", "x")
        check_eq((0, "", [name + ": x" for name in want]),
                 (code, said, sorted(out.decode().splitlines())), words)
    ran = live.launch("--dvm", "--hostfile", "-", "-n", 3, "--label=host", "--",
                      "sh", "-c", "cat; echo x", given=b"two slots=2\nthree\n")
    check_eq(["three: x", "two  : x", "two  : x"], sorted(ran.lines()))
    code, out, said = run("-n", 11, "--label", "printenv", "XYLEM_RANK")
    check_eq((0, "", [f"{rank:02}: {rank}" for rank in range(11)]),
             (code, said, sorted(out.decode().splitlines())))
    code, out, said = run("-n", 3, "--order=rank", "sh", "-c",
                          "sleep 0.$((2 - XYLEM_RANK)); echo $XYLEM_RANK")
    check_eq((0, "", b"0\n1\n2\n"), (code, said, out))
    code, out, said = run("-n", 3, "-b", "echo", "x")
    check_eq((0, "", b"[0-2] x\n"), (code, said, out))
    code, out, said = run("-n", 3, "--fold=end", "echo", "x")
    check_eq((0, "", b"---- [0-2] ----\nx\n"), (code, said, out))
    folder = os.path.join(live.TMP, "files")
    code, out, _ = run("-n", 2, "--output-file", folder + "/%r", "--file-only",
                       "--format=json", "echo", "x")
    check_eq((0, b""), (code, out))
    for rank in range(2):
        with open(f"{folder}/{rank}.stdout", "rb") as file:
            check_eq("x", json.loads(file.read())["text"])
    code, out, _ = run("-n", 1, "--raw", "printf", "a\\nb")
    check_eq((0, b"a\nb"), (code, out))
    code, _, said = run("-n", 2, "--stddiag", "sh", "-c",
                        'eval "echo diag >&$XYLEM_STDDIAG_FD"')
    check_eq((0, "diag\ndiag\n"), (code, said))


def signalled(dvm):
    """A signal is the job's; a second one does not wait; a stop stops both."""
    for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        one = Run("-n", 1, "sh", "-c", "echo up; exec sleep 1000")
        live.eventually(lambda: one.shown() == b"up\n", 60, "it runs")
        one.proc.send_signal(signo)
        check_eq(128 + signo, one.wait(), one.said())
    one = Run("-n", 2, "sh", "-c", "trap : INT; echo up; "
              "while :; do sleep 1000; done")
    live.eventually(lambda: one.shown() == b"up\nup\n", 60, "they run")
    live.eventually(lambda: len(jobs_of(dvm)) == 2, 60, "they sleep")
    one.proc.send_signal(signal.SIGTSTP)
    live.eventually(lambda: live.state(one.proc.pid) == b"T", 60, "stopped")
    live.eventually(lambda: jobs_of(dvm) and all(
        live.state(pid) == b"T" for pid in jobs_of(dvm)), 60, "all of it")
    one.proc.send_signal(signal.SIGCONT)
    live.eventually(lambda: jobs_of(dvm) and all(
        live.state(pid) != b"T" for pid in jobs_of(dvm)), 60, "it goes on")
    one.proc.send_signal(signal.SIGINT)
    one.proc.send_signal(signal.SIGTERM)
    check_eq(128 + signal.SIGTERM, one.wait(), one.said())
    check("killing the processes" in one.said(), one.said())


def left(dvm):
    """One that is killed, or whose reader leaves, takes its job along; the dvm
    goes on."""
    one = Run("-n", 3, "sh", "-c", "echo up; exec sleep 1000")
    live.eventually(lambda: one.shown() == b"up\n" * 3, 60, "it runs")
    one.proc.kill()
    one.wait()
    live.eventually(lambda: not jobs_of(dvm), 60, "its job is over")
    source, sink = os.pipe()
    one = Run("-n", 2, "yes", stdout=sink)
    os.close(sink)
    check(os.read(source, 10) != b"", "some of it")
    os.close(source)
    check_eq((141, ""), (one.wait(), one.said()))
    check_eq((0, b"on\n", ""), run("-n", 1, "echo", "on"))


def attached(dvm):
    """`xylem attach' by itself shows the only job that runs, also where others
    have ended; several are listed, of which one can be named."""
    def fails(want, *words):
        tool = clients.Attach(*words)
        check_eq(1, tool.wait())
        check(want in tool.said().decode(), tool.said())

    check_eq((0, b"", ""), run("true"))
    live.eventually(lambda: not jobs_of(dvm, b"true") and
                    names_of(dvm, "pmix.qry.ns") == [], 60,
                    "it has ended, and those that were left before")
    fails("no job is running in this session")
    runs, gates, names = [], [pmix.Gate() for _ in range(2)], []
    for gate in gates:
        one = Run("-v", "-n", 1, "sh", "-c", pmix.Gate.WAIT + "echo here",
                  gate.path)
        live.eventually(lambda: " running as " in one.said(), 60, "it runs")
        names.append(one.said().split()[-1])
        runs.append(one)
        if len(runs) == 1:
            tools = [clients.Attach()]
            tools[0].wait_attached()
    fails("there are several jobs, name one with --nspace:\n  %s: `sh -c " %
          names[0])
    fails("', 1 process on 1 host, for ")
    fails("\n  %s: `sh -c " % names[1])
    tools.append(clients.Attach("--nspace", names[1]))
    tools[1].wait_attached()
    for one, gate, tool in zip(runs, gates, tools):
        gate.open()
        check_eq((0, b"here\n"), (one.wait(), one.shown()))
        check_eq((0, b"here\n"), (tool.wait(), tool.shown()), tool.said())
    fails("no job is running in this session")
    own = names[0].rpartition(".")[0]
    fails(f"{own} is a dvm, not a job: `xylem attach --pid {dvm.proc.pid}'",
          "--nspace", own)
    fails(f"there is no job {own}.999999: ", "--nspace",
          own + ".999999")


def homeless():
    """When its directory is gone it says so, and runs where it is told to."""
    gone = ("sh", "-c", 'mkdir $0 && cd $0 && rmdir $0 && exec "$@"',
            live.TMP + "/home")
    code, _, said = run("pwd", wrap=gone)
    check(code == 1 and said == "xylem: the job cannot be started: the "
                                "current directory has been removed (--chdir "
                                "names another one)\n", (code, said))
    code, out, said = run("-n", 1, "-D", "/", "pwd", wrap=gone)
    check_eq((0, b"/\n", ""), (code, out, said))


def above():
    """What a PMIx host above has told the launcher is not passed on to the
    job."""
    for name, value in (("PMIX_KEEPALIVE_PIPE", "0"),
                        ("PMIX_SECURITY_MODE", "nowhere"),
                        ("PMIX_NAMESPACE", "above")):
        with open(__file__, "rb") as file:
            text = file.read()
            file.seek(0)
            check_eq((0, text, ""), run("-n", 1, "cat", env={name: value},
                                        stdin=file), name)


def many(dvm):
    """64 tools are connected: a job is started all the same, by a client of
    the door, which does not count as a tool."""
    tools = []
    while len(tools) < TOOLS_MAX:
        # Few at once: who says nothing for a second, as it has no processor,
        # is not let in.
        new = [pmix.Asker(dvm) for _ in range(4)]
        for tool in new:
            check(tool.connect(), "it is let in")
        tools += new
    check_eq((0, b"on\n", ""), run("-n", 1, "echo", "on"))
    for tool in tools:
        check_eq(0, tool.end())


def held(dvm):
    """A client that does not read its output holds back the job, and nothing
    is lost; one that is killed meanwhile lets go."""
    size = live.full(2048, 64) * live.MIB
    for is_killed in (False, True):
        source, sink = os.pipe()
        words = dvm.said().count("are held back")
        one = Run("-n", 2, "sh", "-c", f"yes $XYLEM_RANK | head -c {size}",
                  stdout=sink)
        os.close(sink)
        live.eventually(lambda: dvm.said().count("are held back") > words, 60,
                        "it is held back")
        if is_killed:
            one.proc.kill()
            one.wait()
            live.eventually(lambda: dvm.said().count("are held back") ==
                            dvm.said().count("is read again"), 60, "let go")
        else:
            for pid in (one.proc.pid, dvm.proc.pid):
                size_mib = pmix.spooled(None, pid) // live.MIB
                check(size_mib < 48, "bounded: %d MiB" % size_mib)
            count = [0, 0]
            with os.fdopen(source, "rb", closefd=False) as file:
                while piece := file.read(live.MIB):
                    for rank in range(2):
                        count[rank] += piece.count(b"%d\n" % rank)
            check_eq((0, ""), (one.wait(), one.said()))
            check_eq([size // 2] * 2, count)
        os.close(source)
    check_eq((0, b"on\n", ""), run("-n", 1, "echo", "on"))


def gone(dvm):
    """The dvm dies: the run says so, and fails."""
    one = Run("-n", 2, "sh", "-c", "echo up; exec sleep 1000")
    live.eventually(lambda: one.shown() == b"up\n" * 2, 60, "it runs")
    dvm.proc.kill()
    check_eq(1, one.wait())
    check("the dvm has ended, and the job with it" in one.said(), one.said())
    dvm.wait()
    live.check_gone(60)
    for path in glob.glob(os.path.join(live.TMP, "xylem-pmix-*")):
        subprocess.run(["rm", "-r", path], check=False)
    check_eq((1, b""), run("true")[:2], "there is none any more")


def lost_first():
    """A node is lost, and then a process fails: the exit code is that of a run
    with a tree of its own."""
    script = ("echo up $XYLEM_RANK $PPID; "
              "while ! test -e $0; do sleep 0.1; done; exit 5")
    options = ["--nodes-per-daemon", 1, "--on-node-loss", "continue"]
    dvm = pmix.Dvm("-v", "-N", 3, *options)
    dvm.wait_up()
    found = []
    for number, words in enumerate((["--dvm"], ["-v", *options])):
        place = os.path.join(live.TMP, "go.%d" % number)
        one = pmix.Command("run", "-N", 3, *words, "--", "sh", "-c", script,
                           place)
        live.eventually(lambda: one.shown().count(b"up ") == 3, 60, "it runs")
        spawner = next(int(line.split()[2]) for line in
                       one.shown().splitlines() if line.startswith(b"up 1 "))
        os.kill(live.parent(spawner), signal.SIGKILL)
        said = one.said if number else dvm.said
        live.eventually(lambda: "is lost" in str(said()), 60, "it is lost")
        with open(place, "w"):
            pass
        found.append(one.wait())
        if number == 0:
            dvm.proc.send_signal(signal.SIGTERM)
            dvm.wait()
    check_eq([1, 1], found)


def full():
    """When its disk is full a job is held back all the same: nothing is lost
    of a job whose output is not read for long, and it ends."""
    if os.getuid() != 0:
        raise live.LeftOut("no file system can be mounted here for a dvm and "
                           "what runs in it")
    place = os.path.join(live.TMP, "full")
    os.mkdir(place)
    env = {"TMPDIR": place}
    wrap = live.in_memory(place, live.MIB)
    dvm = pmix.Dvm("-v", "-N", 2, wrap=wrap, env={**os.environ, **env})
    dvm.wait_up()
    size = live.full(512, 64) * live.MIB
    source, sink = os.pipe()
    one = Run("-n", 1, "sh", "-c", f"yes {'x' * 98} | head -c {size}",
              stdout=sink, env=env,
              wrap=["nsenter", f"--mount=/proc/{dvm.proc.pid}/ns/mnt"])
    os.close(sink)
    live.eventually(lambda: "are held back" in dvm.said(), 60, "held back")
    with os.fdopen(source, "rb") as file:
        got = sum(len(piece) for piece in iter(
            lambda: file.read(live.MIB), b""))
    check_eq((0, ""), (one.wait(), one.said()))
    check_eq(size, got)
    dvm.proc.send_signal(signal.SIGTERM)
    dvm.wait()


def main():
    pmix.need()
    dvm = start()
    for what in (whole, fed, first, ended, refused, shown, homeless, above):
        with live.case(" ".join(what.__doc__.split())):
            what()
    for what in (unwritten, attached, many, signalled, left, held, gone):
        with live.case(" ".join(what.__doc__.split())):
            what(dvm)
    for what in (lost_first, full):
        with live.case(" ".join(what.__doc__.split())):
            what()
    sys.exit(live.end())


if __name__ == "__main__":
    main()

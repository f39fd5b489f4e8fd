#!/usr/bin/env python3
"""Daemons on other hosts: which daemon starts which, where ranks go, and which
processes see the key."""
import collections
import contextlib
import os
import socket
import subprocess
import sys

import live
from live import check, check_eq

NODES = live.full(85, 21)
ARITY = live.full(4, 3)
HOSTS = ["h%02d" % n for n in range(1, NODES + 1)]
LIST = "h[01-%02d]" % NODES
# Says that it is there, then stays until its stdin ends.
STAY = ("sh", "-c", "echo up; exec cat")


def callers(log):
    """How many remote shells each process has called; the hosts called."""
    with open(log) as file:
        calls = [line.split() for line in file]
    os.unlink(log)
    return (collections.Counter(pid for pid, _ in calls),
            sorted(host for _, host in calls))


def tree_spawn():
    log = os.path.join(live.TMP, "calls")
    job = live.Remote(LIST, "--arity", ARITY, "--label=host", "--", "echo",
                      "here", RSH_LOG=log)
    check_eq(sorted(host + ": here" for host in HOSTS),
             sorted(job.stdout.read().decode().splitlines()))
    job.check_ok()
    calls, hosts = callers(log)
    check_eq(HOSTS, hosts, "hosts called:")
    check(max(calls.values()) <= ARITY,
          "one process started %d others" % max(calls.values()))
    inner = (NODES - 1) // ARITY + 1  # the launcher among them
    check_eq(inner, len(calls), "processes that started others:")


def no_tree_spawn():
    log = os.path.join(live.TMP, "calls")
    job = live.Remote(LIST, "--arity", ARITY, "--no-tree-spawn", "--", "true",
                      RSH_LOG=log)
    job.check_ok()
    calls, hosts = callers(log)
    check_eq(HOSTS, hosts, "hosts called:")
    check_eq([NODES], list(calls.values()), "processes started by each:")


def listening():
    """Where processes of xylem listen: [(address, port)]."""
    return [where for pid in live.ours()
            for where in live.sockets(pid, live.LISTEN)]


def free_range(count):
    """A range of ports that were free a moment ago."""
    for first in range(20000 + os.getpid() % 10000, 60000, count):
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for port in range(first, first + count):
                held.enter_context(socket.create_server(("", port)))
            return first, first + count - 1
    raise RuntimeError("no ports")


def read_up(job, procs):
    """All processes of STAY are there."""
    for _ in range(procs):
        check_eq(b"up\n", job.stdout.readline(), job.said())


def end_input(job):
    job.stdin.close()
    check_eq(b"", job.stdout.read(), "then")
    job.check_ok()


def key_is_secret():
    """The key goes over the pipe alone: no other process can see it."""
    tap = os.path.join(live.TMP, "tap")
    job = live.Remote("a,b,c,d,e", "--arity", 2, "--", *STAY,
                      stdin=subprocess.PIPE, RSH_TAP=tap, RSH_TAPPED="b")
    read_up(job, 5)
    keys = [words[1].encode() for words in live.await_lines(tap, "key", 1)]
    check_eq(1, len(keys), "keys that went over the pipe:")
    check_eq(64, len(keys[0]))
    pids = live.descendants(live.RUNNER)
    check(len(pids) > 15, "only %d processes" % len(pids))
    for pid in pids:
        for name in ("cmdline", "environ"):
            text = live.read_proc(pid, name).lower()
            check(keys[0].lower() not in text and b"key=" not in text,
                  "the key of the session is in %s of %s"
                  % (name, live.read_proc(pid, "comm")))
    end_input(job)


def ancestors_are_known():
    """Each daemon hears where all above it listen: one of them may have to be
    its parent."""
    for options in ((), ("--no-tree-spawn",)):
        tap = os.path.join(live.TMP, "above")
        job = live.Remote("a,b,c,d,e", "--arity", 1, *options, "--", *STAY,
                          stdin=subprocess.PIPE, RSH_TAP=tap, RSH_TAPPED="d")
        read_up(job, 5)
        peers = live.await_lines(tap, "peer", 4)
        end_input(job)
        os.unlink(tap)
        check_eq(["0", "1", "2", "3"], sorted(peer[1] for peer in peers),
                 "%s: told of:" % " ".join(options))
        check_eq(4, len({peer[2] for peer in peers}), "addresses:")
        check_eq(4, len({peer[3] for peer in peers}), "nonces:")


def notes_name_their_daemon():
    """This holds for daemons that the launcher has not started itself, too."""
    job = live.Remote("a,b,c", "--arity", 1, "-v", "--", "true")
    job.check_ok()
    for node, host in enumerate("abc"):
        text = "the daemon of node %d on %s: listening" % (node, host)
        check_eq(1, job.said().count(text), "%s: %s" % (text, job.said()))


def fabric_is_told():
    """libfabric's variables reach daemons behind a shell that brings nothing
    along, and daemons beneath those; a key of another provider does not."""
    shell = os.path.join(live.TMP, "bare")
    seen = os.path.join(live.TMP, "seen")
    with open(shell, "w") as out:
        out.write('#!/bin/sh\nexec env -i PATH="$PATH" HOST="$1" '
                  'TMPDIR="$TMPDIR" tee "%s.$1" | env -i PATH="$PATH" '
                  'sh -c "$2"\n' % seen)
    os.chmod(shell, 0o755)
    job = live.Job("--launcher", "ssh", "--rsh", shell, "-w", "a,b", "--arity",
                   1, "--", "true",
                   env={**os.environ, "FI_LOG_LEVEL": "info",
                        "FI_PSM3_UUID": "a-secret", "FI_TCP_IFACE": "lo"})
    job.check_ok()
    for host in "ab":
        check(host + ": libfabric:" in job.said(), "no log of " + host)
        with open(seen + "." + host) as file:
            text = file.read()
        check("env FI_TCP_IFACE=lo\n" in text, text[:1000])
        check("a-secret" not in text, "the key was sent")


def ports_in_range():
    first, last = free_range(8)
    job = live.Remote("a,b,c,d,e", "--arity", 2, "--port-range",
                      "%d-%d" % (first, last), "--no-pmix", "--", *STAY,
                      stdin=subprocess.PIPE)
    read_up(job, 5)
    ports = sorted(port for _, port in listening())
    check_eq(6, len(set(ports)), "ports where somebody listens:")
    check(first <= ports[0] and ports[-1] <= last,
          "they listen on %s, not %d-%d" % (ports, first, last))
    end_input(job)


def one_interface():
    job = live.Remote("a,b,c", "--interface", "lo", "--", *STAY,
                      stdin=subprocess.PIPE)
    read_up(job, 3)
    check_eq({"127.0.0.1"}, {address for address, _ in listening()})
    end_input(job)


PLACE = ("sh", "-c", 'echo $XYLEM_RANK $XYLEM_SIZE $XYLEM_LOCAL_RANK '
         '$XYLEM_NODE $XYLEM_NNODES')


def places(*options, hosts=None):
    """What each process was told: [(host, rank, size, local, node,
    nnodes)]."""
    job = live.Remote(hosts, *options, "--label=host", "--", *PLACE)
    rows = [line.replace(":", "").split()
            for line in job.stdout.read().decode().splitlines()]
    job.check_ok()
    return sorted([(row[0], *map(int, row[1:])) for row in rows],
                  key=lambda row: row[1])


def expected(*hosts):
    """Returns the rows that must be found when the ranks run on these
    hosts."""
    names = list(dict.fromkeys(hosts))
    return [(host, rank, len(hosts), hosts[:rank].count(host),
             names.index(host), len(names)) for rank, host in enumerate(hosts)]


def placement():
    file = os.path.join(live.TMP, "hosts")
    with open(file, "w") as out:
        out.write("# two big ones\nbig1 slots=3\nsmall\n\nbig2 slots=2 # so\n")
    at_file = ("--hostfile", file)
    check_eq(expected(*"big1 small big2".split()), places(*at_file))
    check_eq(expected(*"big1 big1 big1 small big2 big2".split()),
             places(*at_file, "-n", 6))
    check_eq(expected(*"big1 big1 big1 small".split()),
             places(*at_file, "-n", 4))
    check_eq(expected(*"a a b b".split()), places("--ppn", 2, hosts="a,b"))
    check_eq(expected(*"a a b b c".split()), places("-n", 5, hosts="a,b,c"))
    check_eq(expected(*"a a a b b".split()),
             places("-n", 5, "-N", 2, hosts="a,b,c"))
    check_eq(expected(*"a b".split()), places("-N", 2, hosts="a,b,c"))
    check_eq(expected(*"a a b".split()), places("-n", 3, hosts="a:2,b:4"))


def no_shell_for_this_machine():
    """A list that names this machine alone is run without ssh, unless a remote
    shell is named."""
    folder = os.path.join(live.TMP, "no-ssh")
    os.mkdir(folder)
    with open(os.path.join(folder, "ssh"), "w") as file:
        file.write("#!/bin/sh\necho ssh is called for this >&2\nexit 255\n")
    os.chmod(file.name, 0o755)
    without = {"PATH": folder + ":" + os.environ["PATH"]}
    for name in ("localhost", "127.0.0.1", socket.gethostname()):
        ran = live.launch("-w", name + ":3", "-n", 3, "--label=host", "--",
                          "echo", "hi", env=without)
        check_eq(3 * [name + ": hi"], ran.lines())
    for words in (("-w", "localhost,h1"), ("-w", "h1"),
                  ("-w", "localhost", "--launcher", "ssh")):
        ran = live.launch(*words, "--", "true", code=1, env=without)
        live.check_has("ssh is called", ran.said)
    log = os.path.join(live.TMP, "calls")
    live.launch("-w", "localhost", "--rsh", live.RSH, "--", "true",
                env={"RSH_LOG": log})
    check_eq(["localhost"], callers(log)[1], "hosts called:")


def surroundings():
    """Processes have three descriptors, and an environment without ours."""
    job = live.Remote("a,b", "--env", "EXTRA=a b", "--env", "TAKEN", "--",
                      "sh", "-c", 'for fd in $(seq 0 99); do '
                      'test ! -e /proc/$$/fd/$fd || echo fd $fd; done; '
                      'echo "[$EXTRA] [$TAKEN]"; env',
                      TAKEN="from here")
    lines = job.stdout.read().decode().splitlines()
    job.check_ok()
    fds = sorted(line for line in lines if line.startswith("fd "))
    check_eq(["fd 0", "fd 0", "fd 1", "fd 1", "fd 2", "fd 2"], fds)
    check_eq(2, lines.count("[a b] [from here]"))
    ours = {line.partition("=")[0] for line in lines
            if line.startswith("XYLEM_") and "TEST" not in line}
    check_eq({"XYLEM_RANK", "XYLEM_SIZE", "XYLEM_LOCAL_RANK", "XYLEM_NODE",
              "XYLEM_NNODES", "XYLEM_MARK"}, ours)


# The last process ends badly once the others are there; all say a last word.
LAST = """
import os, sys, time
rank, size = int(os.environ["XYLEM_RANK"]), int(os.environ["XYLEM_SIZE"])
os.write(1, b"up\\n")
if rank == size - 1:
    sys.stdin.readline()
    os.write(1, b"bye\\n")
    sys.exit(3)
while True:
    time.sleep(1000)  # sleep-ok: until it is killed
"""


def ended_by_a_bad_exit():
    """The end reaches processes alone: daemons beneath stay to bring what
    there is to say."""
    job = live.Remote("h[1-7]", "--arity", 2, "-K", "--", sys.executable,
                      "-c", LAST, stdin=subprocess.PIPE)
    read_up(job, 7)
    job.stdin.write(b"go\n")
    job.stdin.flush()
    check_eq(b"bye\n", job.stdout.readline())
    check_eq(b"", job.stdout.read())
    check_eq(3, job.wait(), "exit code:")
    said = job.said().splitlines()
    check_eq(["xylem: rank 6 on h7 returned 3",
              "xylem: ended by xylem: 6 processes"], said)
    print("#", *said)


def main():
    with live.case("each daemon starts its own children, no more than k"):
        tree_spawn()
    with live.case("--no-tree-spawn: the launcher starts them all"):
        no_tree_spawn()
    with live.case("the key is on no command line and in no environment"):
        key_is_secret()
    with live.case("--port-range"):
        ports_in_range()
    with live.case("--interface"):
        one_interface()
    with live.case("slots, -n, -N, --ppn and the place of each process"):
        placement()
    with live.case("where all ancestors listen is known to each daemon"):
        ancestors_are_known()
    with live.case("what libfabric is told holds on all hosts"):
        fabric_is_told()
    with live.case("with -v each daemon speaks for itself"):
        notes_name_their_daemon()
    with live.case("this machine is reached without a remote shell"):
        no_shell_for_this_machine()
    with live.case("what a process finds around it"):
        surroundings()
    with live.case("-K ends processes, not daemons beneath"):
        ended_by_a_bad_exit()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

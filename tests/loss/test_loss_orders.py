#!/usr/bin/env python3
"""Signals and the end of the job come in the middle of a repair.

A chain of five daemons. That of rank 1 is stopped and that of rank 2 dies: rank
3 is an orphan and dials rank 1, which does not answer. So the repair is under
way until that one goes on; it would try the next one after 10 s only.
"""
import contextlib
import json
import signal
import sys

import live
from live import check, check_eq
from loss import Running

NODES = 5
ADOPTER, VICTIM = 1, 2
SURVIVORS = (0, 1, 3, 4)
HEARTBEAT_S = 40  # an attempt takes a quarter of it


class Repair(Running):
    def __init__(self, readers=NODES, heartbeat=HEARTBEAT_S, options=()):
        super().__init__(NODES, 1, 'exec "$1" -c "$2" "$3"', sys.executable,
                         live.TELLER, readers, heartbeat=heartbeat,
                         options=("-N", NODES, "--nodes-per-daemon", 1,
                                  *options))

    @contextlib.contextmanager
    def under_way(self):
        self.signal(signal.SIGSTOP, ADOPTER)
        try:
            self.kill(VICTIM)
            yield
            check_eq({}, self.repairs(), "repaired too early:")
        finally:
            self.signal(signal.SIGCONT, ADOPTER)

    def expect(self, *lines):
        got = [(self.rest.pop(0) if self.rest else self.job.stdout.readline())
               .decode().strip() for _ in lines]
        check_eq(sorted(lines), sorted(got), self.job.said())


def a_signal():
    """The nodes above the repair get it at once, all others when the repair is
    over, and each node gets it once."""
    job = Repair()
    with job.under_way():
        job.job.proc.send_signal(signal.SIGUSR1)
        job.expect("0 SIGUSR1")
    job.expect(*("%d SIGUSR1" % rank for rank in SURVIVORS[1:]))
    job.job.stdin.close()
    job.expect(*("%d had 1" % rank for rank in SURVIVORS))
    job.end()


def the_end_of_input():
    job = Repair()
    with job.under_way():
        job.job.stdin.close()
        job.expect("0 had 0")
    job.expect(*("%d had 0" % rank for rank in SURVIVORS[1:]))
    job.end()


def goodbye():
    """All have said their last word but rank 0, which does so now: goodbye
    finds the chain broken."""
    job = Repair(readers=0)
    job.expect(*("%d had 0" % rank for rank in range(1, NODES)))
    live.eventually(
        lambda: not any(set(job.pids[rank]) & set(live.descendants(
            job.job.proc.pid)) for rank in range(1, NODES)),
        10, "their processes have ended")
    with job.under_way():
        job.job.stdin.close()
        job.expect("0 had 0")
    check_eq(b"", job.job.stdout.read())
    code = job.job.wait(60)
    with open(job.stats) as file:
        lost = json.load(file)["lost_nodes"]
    # Its last word may not have been there yet.
    check(lost in ([], [VICTIM]) and code == len(lost),
          "exit code %d, lost %s: %s" % (code, lost, job.job.said()))
    live.check_gone()


def a_kill():
    """The second signal kills even the processes that are told of it late."""
    job = Repair()
    own = {pid for rank in SURVIVORS for pid in job.pids[rank]}
    with job.under_way():
        job.job.proc.send_signal(signal.SIGTERM)
        job.job.proc.send_signal(signal.SIGUSR1)
        job.expect("0 SIGUSR1")
        job.job.proc.send_signal(signal.SIGTERM)
        live.eventually(lambda: not own & set(live.descendants(live.RUNNER)) &
                        set(job.pids[0]), 10, "rank 0 is killed")
        check(own & set(live.descendants(live.RUNNER)), "all are killed")
    live.eventually(lambda: not own & set(live.descendants(live.RUNNER)), 20,
                    "all are killed")
    check_eq(128 + signal.SIGTERM, job.job.wait(), "exit code:")
    live.check_gone()


def a_timeout():
    """The time is over while the repair is under way, and the one who would
    end it never answers again: the job ends all the same."""
    job = Repair(heartbeat=10 * HEARTBEAT_S,
                 options=("--timeout", 12 * live.SLOW))
    job.signal(signal.SIGSTOP, ADOPTER)
    job.kill(VICTIM)
    check_eq(124, job.job.wait(), "exit code: %s" % job.job.said())
    check_eq({}, job.repairs(), "repaired too early:")
    live.check_gone()


def main():
    for sentence, case in (("a signal", a_signal),
                           ("the end of the input", the_end_of_input),
                           ("goodbye", goodbye),
                           ("a kill", a_kill),
                           ("a timeout", a_timeout)):
        with live.case(sentence):
            case()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

"""Faults of processes: which process is meant, and what happens to it."""
import os
import signal
import threading
import time

import crowd


class Doer:
    """Carries out the faults of a plan, each when its moment has come; `done`
    records what was done to which process, in the order of the plan."""

    def __init__(self, run):
        self.run = run
        self.done = [{"did": [], "missed": True} for _ in run.plan["faults"]]
        self.heals = []  # to be called when the job is over
        self.threads = [threading.Thread(target=self.do, args=(number, fault),
                                         daemon=True)
                        for number, fault in enumerate(run.plan["faults"])]

    def start(self):
        for thread in self.threads:
            thread.start()

    def do(self, number, fault):
        if not self.run.wait_for(fault["when"]):
            return
        what = getattr(self, "do_" + fault["do"], None)
        told = self.done[number]
        told["at_s"] = round(self.run.age_s(), 3)
        told["started"] = self.run.counted("started")
        try:
            if what:
                what(fault, told["did"])
            else:
                self.run.network.do(fault, told["did"], self)
        except (OSError, RuntimeError) as why:
            told["error"] = str(why)
        told["missed"] = not told["did"]

    def await_all(self):
        """Faults that were not carried out before the job's end are
        dropped."""
        for thread in self.threads:
            thread.join()
        while self.heals:
            self.heals.pop()()

    def find(self, who, index):
        """The pids of the meant processes; there are several when it is not
        known yet which daemon has the node."""
        launcher = self.run.launcher.pid
        if who == "launcher":
            return [launcher]
        if who == "above":
            return self.run.crowd.children(launcher, "xylem-spawn")
        if who == "helper":
            return self.run.crowd.children(launcher, "xylem-pmix")
        if who == "shell":
            names = sorted(self.run.shells())
            return [self.run.shells()[names[index % len(names)]]] \
                if names else []
        if who == "client":
            return [one.proc.pid for one in self.run.clients[index:index + 1]
                    if one.proc]
        if who == "submit":
            submits = self.run.submits
            return [submits[index % len(submits)].pid]
        daemon, spawner = self.run.place_of(index)
        if daemon == 0:
            return []
        if who == "daemon":
            return [daemon]
        if who == "spawner" and spawner:
            return [spawner]
        others = self.run.crowd.children(daemon, "xylem-spawn")
        return [pid for pid in others if pid != spawner]

    def targets(self, fault):
        return [(who, pid) for who, index in fault["whom"]
                for pid in self.find(who, index) if crowd.is_alive(pid)]

    def tell(self, did, who, pid):
        """The identity of a process must be found out before the process
        dies."""
        did.append({"who": who, "pid": pid, "above": crowd.parent(pid)})
        jobs = [one.proc.pid for one in self.run.fronts]
        if who == "submit":
            did[-1]["job"] = jobs.index(pid)

    def do_kill(self, fault, did):
        found = self.targets(fault)
        for who, pid in found:
            self.tell(did, who, pid)
        for _, pid in found:
            crowd.send(pid, signal.SIGKILL)

    def do_stop(self, fault, did):
        found = self.targets(fault)
        for who, pid in found:
            self.tell(did, who, pid)

        def go_on():
            for _, pid in found:
                crowd.send(pid, signal.SIGCONT)

        start_s = time.monotonic()
        for _, pid in found:
            crowd.send(pid, signal.SIGSTOP)
        if fault["for_s"] is None:
            if any(who == "launcher" for who, _ in found):
                self.run.await_forsaken()
                go_on()
            else:
                self.heals.append(go_on)
            return
        time.sleep(fault["for_s"])  # sleep-ok: it stands still for this long
        go_on()
        for entry in did:
            entry["for_s"] = round(time.monotonic() - start_s, 3)

    def do_leave(self, fault, did):
        """Closes the reading end of the launcher's stdout."""
        reader = self.run.readers[fault["whom"][0][1] % len(self.run.readers)]
        did.append({"who": "reader", "pid": os.getpid(), "above": 0,
                    "job": reader.number})
        reader.leave()

    def do_pause(self, fault, did):
        """Stops reading the launcher's stdout for some time."""
        reader = self.run.readers[fault["whom"][0][1] % len(self.run.readers)]
        did.append({"who": "reader", "pid": os.getpid(), "above": 0})
        reader.may_read.clear()
        time.sleep(fault["for_s"])  # sleep-ok: nothing is read for this long
        reader.may_read.set()

    def do_term(self, fault, did):
        found = self.targets(fault)
        for who, pid in found:
            self.tell(did, who, pid)
            crowd.send(pid, signal.SIGTERM)

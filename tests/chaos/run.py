#!/usr/bin/env python3
"""Carry out one plan (plan.py) over real daemons, and tell what happened.

    run.py FOLDER         FOLDER/plan.json is the plan

What was seen goes into files of FOLDER and into FOLDER/evidence.json, which
check.py judges. As root it all happens in a world of its own
(tests/harness/rig.py): other processes, networks and mounts of this machine are
not seen and not touched.
"""
import contextlib
import glob
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import bounds
import command
import crowd
import far
import faults
import front
import network
import odd
import plan as plans
import writer

sys.path.insert(0, os.path.join(command.HERE, "..", "harness"))
import rig  # noqa: E402  (found by the line before)
import world  # noqa: E402

UP_S = 60
CLIENT_S = 60
FOLLOW_UP_S = 60
LATE_S = 10  # of which it is told whether the machine was busy at the end


class Run:
    """One job, or a dvm with several, and all its faults."""

    def __init__(self, plan, path, net=None):
        self.plan, self.folder = plan, command.Folder(path)
        self.mark = os.urandom(8).hex()
        self.env = dict(os.environ, TMPDIR=self.folder.tmp,
                        XDG_RUNTIME_DIR=self.folder.runtime)
        self.env[crowd.MARK] = self.mark
        self.crowd = crowd.Crowd(self.mark)
        self.network = network.Network(net) if net else None
        self.launcher, self.fronts, self.submits = None, [], []
        self.readers, self.clients = [], []
        self.server, self.visitor, self.over = None, None, False
        self.pushed = threading.Event()  # the tool that pushes has left
        self.start_s = time.monotonic()
        self.found = {"hung": [], "left": [], "files": [], "notes": []}
        self.places = {}
        self.make_files()
        self.doer = faults.Doer(self)

    def make_files(self):
        os.makedirs(self.folder.tmp)
        os.mkdir(self.folder.runtime, 0o700)
        for number, job in enumerate(self.plan["jobs"]):
            os.makedirs(self.folder.journals(number))
            plans.dump(job, self.folder.job(number))
        if odd.option(self.plan["odd"]):
            os.mkfifo(self.folder.at("fifo"))
        if self.plan["odd"] == "disk-full":
            self.limit_disk()

    def limit_disk(self):
        if not is_world():
            self.found["notes"].append("no full disk without root")
            return
        world.mount("tmpfs", self.folder.tmp, "tmpfs")
        subprocess.run(["mount", "-o", "remount,size=%d" % odd.TINY,
                        self.folder.tmp], check=True)
        os.makedirs(self.folder.outdir(0))
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % odd.TINY,
                        "none", self.folder.outdir(0)], check=True)

    def keep_files(self):
        """Makes a disk, which disappears with this world."""
        out = self.folder.outdir(0)
        if not os.path.ismount(out):
            return
        shutil.copytree(out, out + ".kept")
        subprocess.run(["umount", "-l", out], check=True)
        os.rmdir(out)
        os.rename(out + ".kept", out)

    def is_over(self):
        return self.over

    def age_s(self):
        return time.monotonic() - self.start_s

    # The facts that conditions of faults look at.

    def counted(self, on):
        """The progress of the run: daemons, started, ended, bytes, fed."""
        if on == "daemons":
            return len(self.crowd.daemons)
        if on == "bytes":
            return sum(reader.size for reader in self.readers)
        if on == "fed":
            return sum(one.fed() for one in self.fronts)
        names = glob.glob(self.folder.at("journal.*", "*"))
        if on == "started":
            return len(names)
        assert on == "ended"
        return sum(b"\nend " in front.read_file(name) for name in names)

    def wait_for(self, when):
        """Waits for a condition; False when the run is over before."""
        while not self.over:
            if when["on"] == "daemons":
                self.crowd.look()
            if self.counted(when["on"]) >= when["n"]:
                time.sleep(when["delay_s"])  # sleep-ok: a random pause
                return not self.over
            time.sleep(0.005)  # sleep-ok: a pause between two looks
        return False

    def await_forsaken(self):
        """Waits until only the launcher is left, when the launcher stands
        still."""
        patience = bounds.Patience((bounds.FORSAKEN + 1) *
                                   self.plan["heartbeat"] + bounds.GONE_S)
        while patience.look():
            others = [pid for pid in self.crowd.alive()
                      if pid != self.launcher.pid and
                      b"XYLEM_RANK=" in crowd.read_proc(pid, "environ")]
            if not others:
                return

    def shells(self):
        return self.server.shells if self.server else {}

    def place_of(self, node):
        """(daemon, spawner) of a node, by the words of its processes; before
        there are any, one of the daemons that are seen, and no spawner."""
        self.learn()
        places = sorted({tuple(place) for place in self.places.values()
                         if place[0] == node and
                         crowd.comm(place[1]).endswith("xylemd")})
        if places:
            return places[0][1:]
        daemons = list(filter(crowd.is_daemon, self.crowd.alive()))
        if not daemons:
            return 0, 0
        daemon = sorted(daemons)[node % len(daemons)]
        spawners = self.crowd.children(daemon, "xylem-spawn")
        return daemon, spawners[0] if spawners else 0

    def learn(self):
        """Where processes have begun, as [node, daemon, spawner] by
        "job.rank"."""
        for number in range(len(self.plan["jobs"])):
            for rank in range(self.plan["jobs"][number]["procs"]):
                words = front.read_file(os.path.join(
                    self.folder.journals(number), str(rank))).split(b"\n")[0]
                words = words.split()
                if len(words) == 5:
                    self.places["%d.%d" % (number, rank)] = [
                        int(words[4]), int(words[3]), int(words[2])]

    def sure_places(self):
        """For a process that had lost its daemon when it looked, the daemon is
        not known."""
        self.learn()
        return {name: place for name, place in self.places.items()
                if place[1] in self.crowd.daemons}

    # The course of the run.

    def limits(self):
        """The environment of the launcher and all processes started by it."""
        count = 24 + writer.chance(self.plan["seed"]).randrange(200)
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

    def popen(self, words, keeper=False, **more):
        env = dict(self.env, **{crowd.KEEPER: "1"} if keeper else {})
        if self.plan["odd"] == "nofile":
            more["preexec_fn"] = self.limits
        return subprocess.Popen(words, env=env, start_new_session=True, **more)

    def start(self):
        if self.plan["family"] == "far":
            env = {name: self.env[name] for name in (
                "PATH", "TMPDIR", crowd.MARK, "LSAN_OPTIONS", "ASAN_OPTIONS",
                "UBSAN_OPTIONS") if name in self.env}
            self.server = far.Server(self.folder.at("far"), env)
            self.server.start()
        self.crowd.start()
        if self.plan["family"] == "dvm":
            self.start_dvm()
            return
        one = front.Front(self, 0, command.run(self.plan, self.folder))
        self.launcher = one.proc
        self.fronts = [one]
        self.visitor = odd.visitor(self)
        if self.visitor:
            self.visitor.start()
        self.begin()

    def begin(self):
        self.readers = [one.reader for one in self.fronts]
        self.doer.start()
        for one in self.fronts:
            one.start()
        self.clients = [front.Client(self, number, client)
                        for number, client in enumerate(self.tools())]
        for client in self.clients:
            client.start()

    def tools(self):
        """Runs the clients of the plan; one that pushes stays until it has
        pushed everything."""
        job = self.plan["jobs"][0]
        found = list(self.plan["clients"])
        if "push" in job:
            found.append({"style": "label", "ranks": None,
                          "end": job["push"]["end"],
                          "end_s": job["push"]["end_s"],
                          "push": str(job["push"]["rank"]),
                          "when": {"on": "started", "n": 1, "delay_s": 0}})
        return found if len(self.plan["jobs"]) == 1 else []

    def start_dvm(self):
        with open(self.folder.at("err.dvm"), "wb") as errors:
            self.launcher = self.popen(
                command.dvm(self.plan, self.folder), stderr=errors,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        patience = bounds.Patience(UP_S + bounds.NODE_S * self.plan["nodes"])
        while b"jobs can be started" not in front.read_file(
                self.folder.at("err.dvm")) and self.launcher.poll() is None:
            if not patience.look():
                self.found["hung"].append("the dvm does not come up")
                break
        self.fronts = [
            front.Front(self, number, command.submit(
                self.plan, self.folder, number, self.launcher.pid))
            for number in range(len(self.plan["jobs"]))]
        self.submits = [one.proc for one in self.fronts]
        self.begin()

    def await_end(self):
        patience = bounds.Patience(bounds.end_s(self.plan))
        ones = [one.proc for one in self.fronts]
        while any(proc.poll() is None for proc in ones):
            if not patience.look():
                self.found["hung"].append(
                    "the job does not end; there are: " + "; ".join(
                        map(crowd.describe, self.crowd.alive())))
                break
        self.found["wall_s"] = round(self.age_s(), 2)
        if self.plan["family"] == "dvm":
            self.stop_dvm()
        self.over = True
        for proc in ones + [self.launcher]:
            if proc.poll() is None:
                proc.send_signal(signal.SIGCONT)
                proc.kill()
                proc.wait()

    def stop_dvm(self):
        """Ends a dvm that is still up."""
        self.over = True
        self.doer.await_all()
        if self.launcher.poll() is not None:
            return
        self.found["stop"] = "was up"
        stop = self.popen([command.XYLEM, "dvm", "--stop=%d" %
                           self.launcher.pid], keeper=True,
                          stderr=subprocess.PIPE)
        patience = bounds.Patience(bounds.end_s(self.plan))
        while self.launcher.poll() is None and patience.look():
            pass
        if self.launcher.poll() is None:
            self.found["hung"].append("the dvm does not stop")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.found["stop"] = stop.communicate(timeout=60)[1].decode(
                errors="replace")

    def await_gone(self):
        """Checks that nothing is left: no processes, files or sockets (which
        disappear with their processes, or are files)."""
        self.doer.await_all()
        is_cut = any(fault["do"] not in ("kill", "leave", "term")
                     for fault in self.plan["faults"])
        patience = bounds.Patience(bounds.gone_s(self.plan, is_cut))
        while self.crowd.alive() and patience.look():
            pass
        self.found["left"] = list(map(crowd.describe, self.crowd.alive()))
        self.found["files"] = self.files()
        if self.was_killed():
            self.follow_up()

    def files(self):
        return sorted(os.path.relpath(name, self.folder.tmp) for name in
                      glob.glob(os.path.join(self.folder.tmp, "*")))

    def was_killed(self):
        return any(entry["who"] == "launcher" for fault, told in
                   zip(self.plan["faults"], self.doer.done)
                   for entry in told["did"] if fault["do"] == "kill")

    def follow_up(self):
        """The next session removes what no process could remove."""
        before = self.found["left"], self.found["files"]
        self.found["left_before"], self.found["files_before"] = before
        done = self.popen(command.follow_up(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        patience = bounds.Patience(FOLLOW_UP_S)
        while done.poll() is None and patience.look():
            pass
        if done.poll() is None:
            self.found["hung"].append("the next run does not end")
            done.kill()
        self.found["next"] = done.communicate()[1].decode(errors="replace")
        patience = bounds.Patience(bounds.GONE_S)
        while self.crowd.alive() and patience.look():
            pass
        self.found["left"] = list(map(crowd.describe, self.crowd.alive()))
        self.found["files"] = self.files()

    def end(self):
        for client in self.clients:
            client.end()
        self.await_gone()
        self.found["late_share"] = self.crowd.last_share(LATE_S)
        self.crowd.close()
        self.crowd.kill()
        for one in self.fronts:
            one.end()
        if self.visitor:
            self.visitor.join(CLIENT_S)
        self.keep_files()
        if self.server:
            self.server.close()
        self.found.update(
            done=self.doer.done, places=self.sure_places(),
            gap_s=self.crowd.gap_s,
            daemons=len(self.crowd.daemons),
            busy={pid: self.crowd.share(pid, self.plan["heartbeat"])
                  for pid in self.crowd.daemons},
            peaks=[[name, pid, size] for pid, (name, size)
                   in self.crowd.peaks.items()],
            fronts=[one.tell() for one in self.fronts],
            clients=[client.tell() for client in self.clients],
            launcher=self.launcher.returncode)
        with open(self.folder.at("evidence.json"), "w") as file:
            json.dump(self.found, file, indent=1)

    def carry_out(self):
        try:
            self.start()
            self.await_end()
            self.end()
        finally:
            self.crowd.kill()


def is_world():
    """True when this process is in a world of its own."""
    return os.environ.get("CHAOS_WORLD") == "1"


def enter():
    if os.geteuid() == 0 and not world.why_not():
        world.enter()
        os.environ["CHAOS_WORLD"] = "1"


def main():
    path = sys.argv[1]
    plan = plans.load(os.path.join(path, "plan.json"))
    # This process ends with the one that started it, and takes all others with
    # it.
    world.LIBC.prctl(world.PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    enter()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if plan["odd"] == "too-many":
        if not is_world():
            sys.exit(77)
        # The limit that the process reads differs from the one that applies,
        # which is that of the whole machine.
        name = os.path.join(path, "pid_max")
        with open(name, "w") as file:
            file.write(odd.FEW_PIDS)
        world.mount(name, "/proc/sys/kernel/pid_max", None, world.MS_BIND)
    if plan["family"] != "network":
        Run(plan, path).carry_out()
        return
    if network.missing():
        print("skipped:", network.missing())
        sys.exit(77)
    # It disappears with the world that it is in.
    Run(plan, path, rig.Rig(plan["nodes"]).__enter__()).carry_out()


if __name__ == "__main__":
    main()

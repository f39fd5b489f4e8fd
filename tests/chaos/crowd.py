"""The processes of one random job, which have a mark in their environment, and
the memory that they take."""
import contextlib
import os
import re
import signal
import threading
import time

MARK = "CHAOS_MARK"
# in the environment of processes that are no part of the job
KEEPER = "CHAOS_KEEPER"


def read_proc(pid, name):
    with contextlib.suppress(OSError), \
            open("/proc/%d/%s" % (pid, name), "rb") as file:
        return file.read()
    return b""


def stat(pid):
    """The fields of /proc/PID/stat from the state on; empty when the process
    is gone."""
    return read_proc(pid, "stat").rpartition(b")")[2].split()


def comm(pid):
    return read_proc(pid, "comm").strip().decode(errors="replace")


def parent(pid):
    """The memory of a process; 0 when it is gone."""
    fields = stat(pid)
    return int(fields[1]) if fields else 0


def is_daemon(pid):
    """Leaves out processes that a daemon has just forked, which have its name
    for a moment."""
    return comm(pid).endswith("xylemd") and \
        not comm(parent(pid)).endswith("xylemd")


def is_alive(pid):
    return (stat(pid) or [b"Z"])[0] not in (b"Z", b"X")


def describe(pid):
    words = read_proc(pid, "cmdline").replace(b"\0", b" ").decode(
        errors="replace")
    return "%d %s (%s, beneath %d): %s" % (
        pid, comm(pid), (stat(pid) or [b"?"])[0].decode(), parent(pid),
        words[:120])


def send(pid, number):
    with contextlib.suppress(OSError):
        os.kill(pid, number)
        return True
    return False


class Crowd(threading.Thread):
    """Looks every now and then, until it is closed. `peaks` is the most memory
    that each process of xylem has had, `daemons` all that were seen. How busy
    this machine was: `gap_s` is the longest time for which it has not let this
    look, `waits` how long each process has waited for a processor: (when, how
    many seconds until then)."""

    LOOK_S = 0.1

    def __init__(self, mark):
        super().__init__(daemon=True)
        self.mark = ("%s=%s" % (MARK, mark)).encode()
        self.peaks, self.daemons = {}, []
        self.gap_s, self.waits = 0, {}
        self.over = threading.Event()
        self.lock = threading.Lock()

    def alive(self):
        """The pids of the processes with the mark."""
        own = os.getpid()
        found = []
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            words = read_proc(pid, "environ").split(b"\0")
            if pid != own and self.mark in words and is_alive(pid) and \
                    not any(word.startswith(KEEPER.encode()) for word in words):
                found.append(pid)
        return found

    def run(self):
        last_s = time.monotonic()
        while not self.over.wait(self.LOOK_S):
            now_s = time.monotonic()
            self.gap_s = max(self.gap_s, now_s - last_s - self.LOOK_S)
            last_s = now_s
            self.look()
            # The time that the look itself took does not count as standing
            # still.
            last_s = time.monotonic()

    def look(self):
        with self.lock:
            for pid in self.alive():
                name = comm(pid)
                if "xylem" not in name:
                    continue
                found = re.search(rb"VmHWM:\s+(\d+)", read_proc(pid, "status"))
                if is_daemon(pid) and pid not in self.daemons:
                    self.daemons.append(pid)
                if found:
                    self.peaks[pid] = (name, int(found[1]) * 1024)
                waited = read_proc(pid, "schedstat").split()
                if waited:
                    self.waits.setdefault(pid, []).append(
                        (time.monotonic(), int(waited[1]) / 1e9))

    def share(self, pid, window_s):
        """The largest part of this many consecutive seconds in which a process
        waited for a processor."""
        found, seen, first = 0, self.waits.get(pid, []), 0
        for at_s, waited_s in seen:
            while at_s - seen[first][0] > window_s:
                first += 1
            found = max(found, (waited_s - seen[first][1]) / window_s)
        return round(found, 3)

    def last_share(self, window_s):
        """The same for the last seconds, and for the process that waited
        most."""
        start_s, found = time.monotonic() - window_s, 0
        for seen in self.waits.values():
            late = [waited_s for at_s, waited_s in seen if at_s > start_s]
            if late:
                found = max(found, (late[-1] - late[0]) / window_s)
        return round(found, 3)

    def close(self):
        self.over.set()
        self.join()
        self.look()

    def children(self, pid, name):
        """The marked children of a process with that comm."""
        return [child for child in self.alive()
                if parent(child) == pid and comm(child).endswith(name)]

    def kill(self):
        """Kills everything that is left, until nothing is."""
        while self.alive():
            for pid in self.alive():
                send(pid, signal.SIGCONT)
                send(pid, signal.SIGKILL)
            time.sleep(0.02)  # sleep-ok: a pause between two looks

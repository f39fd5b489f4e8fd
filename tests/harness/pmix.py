"""Functions that the tests with PMIx tools share, in addition to live.py."""
import contextlib
import glob
import os
import queue
import re
import signal
import socket
import subprocess
import tempfile
import threading

import clients
import live

TOOL = os.path.join(live.BUILD, "tests", "pmix", "tool_pull")
ASK = os.path.join(live.BUILD, "tests", "pmix", "tool_ask")
CONNECT_S = clients.CONNECT_S
Gate = live.Gate
BOTH = 64 * live.MIB  # the launcher's bound, and the same again for tools


def need():
    """Skips the test when there is no PMIx."""
    if not os.access(TOOL, os.X_OK):
        live.skip("built without PMIx")


def is_5():
    """True when built with PMIx 5 or later."""
    return int((os.environ.get("PMIX_VERSION") or "0").split(".")[0]) >= 5


def until_5(why):
    """Skips a case that holds with PMIx 4 only, as docs/pmix-attributes.md
    says."""
    if is_5():
        raise live.LeftOut("with PMIx %s %s" % (
            os.environ["PMIX_VERSION"], why))


def begun(pid):
    """Returns when a process began, because pids are used again."""
    return int((live.stat(pid) + [b"0"] * 20)[19]), pid


def helpers_of(job):
    """Returns the pids of the job's helpers, in the order in which they began:
    those that serve a tool, and the one in reserve."""
    return sorted((pid for pid, name in live.ours().items()
                   if name == "xylem-pmix" and
                   live.parent(pid) == job.proc.pid), key=begun)


def helper_of(job):
    """Returns the pid of the job's oldest helper, or None."""
    return next(iter(helpers_of(job)), None)


def spooled(job, pid=None):
    """Returns how many bytes the launcher and its helpers, or this process,
    have put into files; their stderr does not count."""
    pids = [pid] if pid else [job.proc.pid, *helpers_of(job)]
    return sum(map(_spooled, pids))


def _spooled(pid):
    folder, found = "/proc/%d/fd" % pid, {}
    with contextlib.suppress(OSError):
        for fd in os.listdir(folder):
            with contextlib.suppress(OSError):
                path = os.path.join(folder, fd)
                if " (deleted)" in os.readlink(path) and \
                        live.TMP in os.readlink(path):
                    found[fd] = os.stat(path)
    said = found.get("2")
    return sum(of.st_size for of in found.values()
               if said is None or of.st_ino != said.st_ino)


def told_twice(job):
    """Returns how many bytes may be both at a tool and on the console, as the
    user is told."""
    return sum(map(int, re.findall(
        r"up to (\d+) bytes of redirected output that a client was sent are "
        r"shown here a second time", job.said())))


def rendezvous(job, tmp=live.TMP):
    """Returns the file by which tools find the job's launcher; `tmp` is its
    TMPDIR."""
    found = glob.glob(os.path.join(
        tmp, "xylem-pmix-*",
        "pmix.%s.tool.%d" % (socket.gethostname(), job.proc.pid)))
    return found[0] if found else None


def server(job, tmp=live.TMP):
    """Returns (pid, port) of the launcher that listens for tools now; or
    None."""
    pid = job.proc.pid
    path = rendezvous(job, tmp)
    text = live.read_file(path) if path else b""
    found = re.search(rb"tcp4://[0-9.]+:(\d+)", text)
    if found is None:
        return None
    port = int(found[1])
    there = [port for _, port in live.sockets(pid, live.LISTEN)]
    return (pid, port) if port in there else None


def is_up(job):
    return server(job) is not None


def wait_up(job, tmp=live.TMP):
    """Waits until tools can connect and a message says so. The job was started
    with -v."""
    def truth():
        found = server(job, tmp)
        return found and ":%d, or by" % found[1] in job.said()
    live.eventually(truth, CONNECT_S, "the helper is up")
    if isinstance(job, Job):
        # The helper in reserve may have been killed, and the next one may not
        # be ready.
        live.eventually(lambda: job.look() and len(job.peaks) > 1, CONNECT_S,
                        "its memory is seen")


def has_heard(job):
    """True when the nodes knew each pull when it was answered."""
    return "before all nodes have received" not in job.said()


def until_heard(test, *args):
    """Repeats a case when the machine stood still until a pull was answered
    before its nodes knew it, which the launcher reports."""
    live.check(any(test(*args) for _ in range(5)), "a pull has waited")


def pulls_heard(job):
    """Returns how many pulls the launcher has been told of, which -v shows."""
    return len(re.findall(r"PMIx pull \d+ (?:copies|redirects)", job.said()))


def wait_heard(job, before):
    """Waits, with -v, until the launcher has been told of one more pull. A
    launcher that gets no processor may first handle output that was written
    after a pull was answered: so the answer waits for the launcher, for a
    second."""
    live.eventually(lambda: "-v" not in job.proc.args or
                    pulls_heard(job) > before or
                    job.proc.poll() is not None, 60, "a pull is heard of")


def kill_helper(job):
    """Kills the helper, ready or not, and waits until it is gone."""
    live.eventually(lambda: helper_of(job), 60, "a helper")
    pid = helper_of(job)
    os.kill(pid, signal.SIGKILL)
    live.eventually(lambda: pid not in helpers_of(job), 60, "it is gone")


class Job(live.Job):
    """A job whose launcher and helper must take little memory, which is
    checked when the job has ended. When helpers follow each other, the largest
    counts."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.peaks = {}  # pid: bytes
        self.bound = BOTH
        self._helpers, self._looks = [], 0
        self.over = threading.Event()
        self.watch = threading.Thread(target=self._watch, daemon=True)
        self.watch.start()

    def _watch(self):
        while self.look() and not self.over.wait(0.1):
            pass

    def look(self):
        """Looks at the processes; False when the launcher has ended."""
        if not self._helpers or self._looks % 10 == 0 or \
                any(live.peak(pid) == 0 for pid in self._helpers):
            self._helpers = helpers_of(self)
        self._looks += 1
        for pid in (*self._helpers, self.proc.pid):
            size = live.peak(pid)
            if size > 0:
                self.peaks[pid] = size
        return size > 0

    def wait(self, seconds=60):
        code = super().wait(seconds)
        self.over.set()
        self.watch.join()
        mine = self.peaks.get(self.proc.pid, 0)
        helper = max((size for pid, size in self.peaks.items()
                      if pid != self.proc.pid), default=0)
        what = "launcher %.1f MiB, helper %.1f MiB" % (
            mine / live.MIB, helper / live.MIB)
        print("#", what, flush=True)
        live.check(live.is_sanitized() or mine + helper <= self.bound, what)
        return code


class Tool:
    """A tool_pull in the background with a folder of its own."""

    def __init__(self, job, *options, stdin=subprocess.DEVNULL,
                 stdout=subprocess.PIPE, **env):
        self.dir = tempfile.mkdtemp(dir=live.TMP, prefix="tool-")
        self.job, self.heard = job, pulls_heard(job)
        self.proc = subprocess.Popen(
            [TOOL, *map(str, options), str(job.proc.pid), self.dir],
            stdin=stdin, stdout=stdout, stderr=subprocess.PIPE,
            env={**os.environ, **env})

    def has(self, name):
        return os.path.exists(os.path.join(self.dir, name))

    def wait_ready(self):
        live.eventually(lambda: self.has("ready") or
                        self.proc.poll() is not None, CONNECT_S,
                        "the tool is registered")
        if self.has("ready"):
            wait_heard(self.job, self.heard)
        return live.check(self.has("ready"), "the tool is registered")

    def wait(self, seconds=30):
        try:
            return self.proc.wait(seconds * live.SLOW)
        except subprocess.TimeoutExpired:
            live.check(False, "a tool did not end in %d s" % seconds)
            self.proc.kill()
            return self.proc.wait()

    def said(self):
        """Returns its stdout, once it has ended."""
        return self.proc.stdout.read().decode()

    def got(self, rank, channel):
        """Returns the bytes of a channel; None when nothing came."""
        try:
            with open(os.path.join(self.dir, f"{rank}.{channel}"),
                      "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def taken(self, channel="stdout"):
        """Returns how many bytes of that channel, or of all, it has by now."""
        return sum(os.path.getsize(path) for path in
                   glob.glob(os.path.join(self.dir, "*." + channel)))

    def counted(self, name):
        try:
            with open(os.path.join(self.dir, name), encoding="ascii") as file:
                return int(file.read() or 0)
        except FileNotFoundError:
            return 0

    def dropped(self):
        """Returns how many bytes were dropped because it read too little."""
        return self.counted("dropped")

    def before(self):
        """Returns how many earlier bytes were not kept."""
        return self.counted("before")

    def broken(self, rank, channel):
        """Returns how often it was notified that the channel is incomplete."""
        return len(self.got(rank, channel + ".broken") or b"")

    def ends(self, rank, channel):
        """Returns how often it was told that the channel has ended."""
        return len(self.got(rank, channel + ".end") or b"")


def ready(job, *options, **more):
    """Starts a Tool, and waits until it is registered. When several connect at
    the same time, each has less time for its greeting."""
    tool = Tool(job, *options, **more)
    tool.wait_ready()
    return tool


def wait_taken(tool, size, channel="stdout"):
    """Waits before the job may end: the end waits only for a limited time for
    a tool that reads nothing, which may just be a tool without a processor."""
    live.eventually(lambda: tool.taken(channel) >= size or
                    tool.proc.poll() is not None, 120,
                    "a tool takes %d bytes" % size)


def wait_unspooled(job):
    """The same when it is unknown how much will come, as some is dropped:
    output that is not read yet is in the tool's socket then."""
    live.eventually(lambda: spooled(job) == 0, 120, "nothing waits in files")


class Reader(threading.Thread):
    """Reads the console; `size` is how much came so far."""

    def __init__(self, job):
        super().__init__(daemon=True)
        self.pipe, self.parts, self.size = job.stdout, [], 0
        self.start()

    def run(self):
        while self.parts[-1:] != [b""]:
            self.parts.append(os.read(self.pipe.fileno(), live.MIB))
            self.size += len(self.parts[-1])

    def end(self):
        self.join()
        return b"".join(self.parts)


class Dvm(Job):
    COMMAND = "dvm"

    def wait_up(self):
        live.eventually(lambda: "jobs can be started" in self.said() or
                        self.proc.poll() is not None, 60, "it is up")
        return live.check("jobs can be started" in self.said(), self.said())


class Command(clients.Command):
    """A command that becomes a PMIx tool."""

    def __init__(self, *words, env=None, **more):
        super().__init__(*words, env={**leaks_of_library(), **(env or {})},
                         **more)


def leaks_of_library():
    """libpmix 4.2 itself leaves some of a tool's blocks behind."""
    path = os.path.join(live.TMP, "leaks")
    with open(path, "w", encoding="ascii") as file:
        file.write("leak:libpmix.so\n")
    return {"LSAN_OPTIONS": "print_suppressions=0:suppressions=" + path}


class Asker:
    """A tool_ask, which carries out one order at a time."""
    CUT = 5  # its exit code when the server has gone

    def __init__(self, job, *options, command=None, **more):
        options = options or ("-p", job.proc.pid)
        self.lines = queue.Queue()
        self.events = []
        self.proc = subprocess.Popen(
            command or [ASK, *map(str, options)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.proc.stdout:
            self.take(line.rstrip("\n"))
        self.lines.put(None)

    def take(self, line):
        if line.startswith("event "):
            self.events.append(line[6:])
        else:
            self.lines.put(line)

    def line(self):
        """Returns the next line; None at the end."""
        try:
            return self.lines.get(timeout=60 * live.SLOW)
        except queue.Empty:
            live.check(False, "a tool says nothing")
            self.proc.kill()
            return None

    def connect(self):
        """Returns the tool's name; None when it could not connect."""
        word = self.line()
        return word and word.split()[1]

    def tell(self, order):
        self.proc.stdin.write(order + "\n")
        self.proc.stdin.flush()

    def answer(self):
        """Returns what an order has printed, and its status."""
        said = []
        while (line := self.line()) is not None:
            if line.startswith("= "):
                return said, line[2:].replace("-", " ")
            said.append(line)
        return said, None

    def ask(self, order):
        self.tell(order)
        return self.answer()

    def query(self, keys):
        """Does the same without what the library has cached."""
        return self.ask("query pmix.qry.rfsh=1 " + keys)

    def wait_event(self, name):
        """Returns the infos of the next event, as a dictionary."""
        live.eventually(lambda: name + " end" in self.events, 60, name)
        at = self.events.index(name + " end")
        first = max(i for i in range(at)
                    if self.events[i].startswith(name + " ") and
                    not self.events[i].startswith(name + "  "))
        rows = [row[len(name):].split(None, 1)
                for row in self.events[first + 1:at]]
        return {row[0]: row[1] for row in rows}

    def end(self):
        """Returns its exit code."""
        self.proc.stdin.close()
        try:
            return self.proc.wait(60 * live.SLOW)
        except subprocess.TimeoutExpired:
            live.check(False, "a tool does not end")
            self.proc.kill()
            return self.proc.wait()

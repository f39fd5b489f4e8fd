#!/usr/bin/env python3
"""What each option that names a file does with each kind of file, as
docs/running.md says ("Files that options name"): nothing hangs, whatever it is.

Each row is a command of its own under a watchdog; several run side by side."""
import concurrent.futures
import os
import signal
import socket
import subprocess
import sys
import threading

import live

WATCHDOG_S = 60
SIDE_BY_SIDE = 12  # most rows wait
HOSTS = "a\nb slots=2\n"
MODEL = "latency 20us\n"
SWITCHES = "SwitchName=s1 Nodes=a,b\n"
HAS_PMIX = os.access(os.path.join(live.BUILD, "pmix_api", "xylem-pmix"),
                     os.X_OK)
HAS_GNUPLOT = subprocess.run("command -v gnuplot", shell=True, check=False,
                             stdout=subprocess.DEVNULL).returncode == 0


def name(*words):
    return os.path.join(live.TMP, *words)


def run(*words, limit="60", program=("true",)):
    return ["run", "--launcher", "local", "--timeout", limit, *words, "--",
            *program]


class Option:
    """An option that takes a path: `words` are the command, with PATH for it;
    `want` has the exit code and a word of what is said, for each kind of
    file."""

    def __init__(self, what, words, text="", is_read=True, **want):
        self.what, self.words, self.text = what, words, text
        self.is_read, self.want = is_read, want


DIRECTORY = 2, "it is a directory"
SOCKET = 2, "it is a socket"
NO_FOLDER = 1, "Not a directory"
GONE = 1, "No such file or directory"
FULL = 1, "No space left on device"
DENIED = 1, "Permission denied"
FINE = 0, ""
LEFT = 2, "is not overwritten"

READ = {"folder": DIRECTORY, "socket": SOCKET, "missing": GONE,
        "regular": FINE, "readonly": FINE, "fifo": FINE, "closed": DENIED}
IS_FOLDER = {"regular": NO_FOLDER, "fifo": NO_FOLDER, "null": NO_FOLDER,
             "socket": NO_FOLDER, "folder": FINE, "closed": DENIED}
PROGRAM = {"folder": (1, "exec: Is a directory"),
           **{kind: (1, "exec: Permission denied") for kind in
              ("regular", "fifo", "null", "socket")}}

OPTIONS = (
    Option("run --hostfile", run("--hostfile", "PATH"), HOSTS,
           null=(2, "names no host"), endless=(2, "not a line of text"),
           **READ),
    Option("run --model", run("-w", "a", "--model", "PATH"), MODEL,
           null=FINE, endless=(2, "a line is"), **READ),
    Option("run --topology", run("-w", "a", "--topology", "PATH"), SWITCHES,
           null=(2, "no host is named"), endless=(2, "not a line of text"),
           **READ),
    Option("run --input", run("--input", "PATH", program=["cat"]), "input\n",
           null=FINE, **READ),
    Option("tree --hostfile", ["tree", "--hostfile", "PATH"], HOSTS,
           null=(2, "names no host"), **READ),
    Option("sim --topology", ["sim", "--topology", "PATH"], SWITCHES,
           null=(2, "no host is named"), endless=(2, "not a line of text"),
           **READ),
    Option("run --stats", run("--stats", "PATH"), is_read=False,
           regular=FINE, readonly=FINE, folder=DIRECTORY, fifo=FINE,
           null=FINE, endless=FULL, socket=SOCKET, missing=GONE, full=FULL,
           unread=(2, "start its reader first"), shut=DENIED),
    Option("sim --json", ["sim", "-N", "3", "--json", "PATH"], is_read=False,
           regular=FINE, folder=DIRECTORY, fifo=FINE, null=FINE, endless=FULL,
           socket=SOCKET, missing=GONE, full=FULL, closed=DENIED,
           unread=(2, "start its reader first"), shut=DENIED),
    Option("sim --plot", ["sim", "-N", "3", "--plot", "PATH"], is_read=False,
           regular=FINE, folder=DIRECTORY, fifo=FINE, socket=SOCKET,
           missing=(1, "gnuplot could not draw")),
    Option("run --output-dir", run("--output-dir", "PATH", program=[
        "echo", "x"]), missing=FINE, full=FULL, shut=DENIED, **IS_FOLDER),
    Option("run --output-file", run("--output-file", "PATH%%", program=[
        "echo", "x"]), is_read=False, regular=FINE, missing=FINE, full=FULL,
           folder=(1, "it is a directory"), fifo=(1, "not a regular file"),
           unread=(1, "not a regular file"), socket=(
               1, "not a regular file"), closed=DENIED, shut=DENIED),
    Option("run --chdir", run("--chdir", "PATH"), missing=GONE, **IS_FOLDER),
    Option("run --spill-dir", run("--stdin-slow=spill", "--spill-dir",
                                  "PATH"), missing=GONE, **IS_FOLDER),
    Option("run --xylemd", run("--xylemd", "PATH"), missing=GONE, **PROGRAM),
    Option("run --rsh", ["run", "-w", "a", "--rsh", "PATH", "--", "true"],
           missing=GONE, **PROGRAM),
    Option("dvm --report-uri", ["dvm", "--report-uri", "PATH"], "text\n",
           is_read=False, regular=LEFT, folder=LEFT, socket=LEFT,
           endless=FULL, missing=(2, "No such file or directory")),
    Option("run --dvm --input", ["run", "--dvm=none", "--input", "PATH", "--",
                                 "true"], folder=DIRECTORY, socket=SOCKET,
           missing=GONE, regular=(1, "no dvm none"), closed=DENIED),
)

# Those that wait at a FIFO, and the ends of that.
WAITING = [one for one in OPTIONS if one.is_read and one.text] + [
    one for one in OPTIONS
    if one.what in ("run --stats", "sim --json", "run --dvm --input")]
ENDS = ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, 130))


# --- files

class Place:
    """A folder with a file of one kind: what the option is given."""

    def __init__(self, number, option, kind):
        self.path = name("place-%d" % number)
        self.kind, self.option = kind, option
        self.threads, self.wrap = [], []
        os.mkdir(self.path)
        self.file = self.make()

    def make(self):
        # To what --output-file is given it adds the second half.
        self.name = "it%.stdout" if self.option.what == "run --output-file" \
            else "it"
        path = os.path.join(self.path, self.name)
        getattr(self, "make_" + self.kind)(path)
        if self.kind in ("null", "endless"):
            return {"null": "/dev/null", "endless": "/dev/full"}[self.kind]
        if self.kind == "missing" and self.option.what not in (
                "run --output-dir", "run --output-file"):
            return os.path.join(self.path, "no", "it")
        return path

    def write(self, path):
        with open(path, "w", encoding="ascii") as file:
            file.write(self.option.text)

    make_regular = write

    def make_readonly(self, path):
        self.write(path)
        os.chmod(path, 0o444)

    def make_closed(self, path):
        """No user may do anything with this file."""
        if self.option.want["folder"] == FINE:
            os.mkdir(path, 0)
        else:
            self.write(path)
            os.chmod(path, 0)

    def make_shut(self, path):
        """Nothing may be made beside it."""
        os.chmod(self.path, 0o500)

    def make_full(self, path):
        """Where all of the disk is taken."""
        self.wrap = live.in_memory(self.path, 1 << 16)[:-1] + [
            self.path, "sh", "-c", 'cat /dev/zero >"$0/all" 2>/dev/null; '
            'exec "$@"', self.path]

    def make_folder(self, path):
        os.mkdir(path)

    def make_socket(self, path):
        at = os.open(self.path, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("/proc/self/fd/%d/%s" % (at, self.name))  # short
        os.close(at)

    def make_missing(self, path):
        pass

    make_null = make_endless = make_missing

    def make_unread(self, path):
        os.mkfifo(path)

    def make_fifo(self, path):
        """A FIFO with a process at its other end, now or soon."""
        os.mkfifo(path)
        end = self.feed if self.option.is_read else self.drain
        thread = threading.Thread(target=end, args=(path,), daemon=True)
        thread.start()

    feed = write

    def drain(self, path):
        with open(path, "rb") as file:
            while file.read(4096):
                pass

    def command(self):
        named = self.file.replace("%.stdout", "")
        return [*self.wrap, live.XYLEM,
                *(word.replace("PATH", named) for word in self.option.words)]


# --- rows

def watch(words, on_word=None):
    """(code, words), or None where the watchdog had to end it. on_word is
    called with the process when it has said for what it waits."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as proc:
        bites, is_over = threading.Event(), threading.Event()

        def guard():
            """Counts looks: on a machine that stands still it waits, too."""
            for _ in range(int(WATCHDOG_S * live.SLOW / live.LOOK_S)):
                if is_over.wait(live.LOOK_S):
                    return
            bites.set()
            proc.kill()
        threading.Thread(target=guard, daemon=True).start()
        said = b""
        for line in proc.stderr:
            said += line
            if on_word is not None and b"waiting for" in line:
                on_word(proc)
                on_word = None
        code = proc.wait()
        is_over.set()
        return None if bites.is_set() else (code, said.decode())


def try_kind(number, option, kind):
    return watch(Place(number, option, kind).command())


def try_timeout(number, option):
    """--timeout is over while it waits; it began with its start."""
    place = Place(number, option, "unread")
    words = place.command()
    at = words.index("--timeout") if "--timeout" in words else None
    if at is None:
        words[2:2] = ["--timeout", "1"]
    else:
        words[at + 1] = "1"
    return watch(words)


def try_signal(number, option, signo):
    return watch(Place(number, option, "unread").command(),
                 lambda proc: proc.send_signal(signo))


def can_try(option, kind):
    """Not as root, whom no mode stops, nor without the means."""
    if kind in ("closed", "shut") and os.geteuid() == 0:
        return False
    if kind == "full":
        try:
            live.in_memory(live.TMP, 1 << 16)
        except live.LeftOut:
            return False
    if option.what == "dvm --report-uri":
        return HAS_PMIX
    return option.what != "sim --plot" or HAS_GNUPLOT


def rows():
    """Yields (option, kind, more of the sentence, want, function,
    arguments)."""
    for option in OPTIONS:
        for kind, want in option.want.items():
            yield option, kind, "", want, try_kind, (option, kind)
    for option in WAITING:
        if option.what.startswith("run") and "unread" not in option.want or \
                option.what == "run --stats":
            yield (option, "unread", ", until --timeout",
                   (124, "timed out after 1 s"), try_timeout,
                   (option,))
        for signo, code in ENDS:
            yield (option, "unread", ", until " + signo.name,
                   (code, "interrupted: --"), try_signal, (option, signo))


def watched(what, function, *args):
    """Reports a row that hangs or breaks off; its watchdog is its own."""
    try:
        return what, function(*args)
    except Exception as why:  # pylint: disable=broad-except
        return what, (None, f"{type(why).__name__}: {why}")


def main():
    skipped, jobs = set(), []
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        # Those that wait for five seconds first.
        for number, row in enumerate(sorted(rows(), key=lambda row: (
                row[1] != "unread" or row[2] != ""))):
            option, kind, more, want, function, args = row
            if not can_try(option, kind):
                skipped.add("%s: %s" % (option.what, kind))
                continue
            # On a machine that stands still five seconds may be over first.
            late = option.want.get("unread", want) if more else want
            jobs.append(((want, late), pool.submit(
                watched, f"{option.what}, {kind}{more}", function, number,
                *args)))
        for wants, job in jobs:
            what, got = job.result()
            with live.case(what):
                if live.check(got is not None, "it hangs"):
                    code, said = got
                    live.check(any(code == want and word in said
                                   for want, word in wants),
                               f"want {wants}, got {code}: {said}")
    if skipped:
        print("# left out:", ", ".join(sorted(skipped)))
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

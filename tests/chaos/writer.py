#!/usr/bin/env python3
"""What each process of a random job does, and what it therefore writes.

    writer.py JOB JOURNALS         the process: its rank is in XYLEM_RANK

JOB is a file with one of the jobs of a plan (plan.py). All follows from its
seed, the rank and the channel, so that the checker
computes the same bytes (text()). What the process itself has seen goes into a
file of its own in JOURNALS, past xylem: where it runs, how much it has written,
length and checksum of its stdin, how it ends. No other file of this folder is
imported here: a process starts in a few hundredths of a second.
"""
import json
import os
import random
import signal
import sys
import threading
import time
import zlib

FDS = {"o": 1, "e": 2, "d": 3}
# the length of the filler: a prime, so that no lost frame matches
PERIOD = 65521
PIECE = 1 << 16
ASCII = bytes(97 + n % 26 for n in range(256))
NO_NEWLINE = bytes(n if n != 10 else 11 for n in range(256))
HEAD = b"r%d %s %d "
EDGES = (8192, 16384, 32768, 65536, 131072)
LONGEST = 100 << 20
HOLD_LOOKS = 60


def chance(*words):
    return random.Random(" ".join(map(str, words)))


def one_length(profile, draw):
    """Returns the length of a line, with its newline."""
    if profile == "tiny":
        return draw.randint(1, 4)
    if profile == "short":
        return draw.randint(24, 200)
    if profile == "mixed":
        return int(2 ** draw.uniform(0, 15.8))
    if profile == "edges":
        return max(draw.choice(EDGES) + draw.randint(-40, 8), 1)
    if profile == "long":
        return int(2 ** draw.uniform(16, 22))
    assert profile == "huge"
    return int(2 ** draw.uniform(24, 26.6))


def lengths(job, rank, channel):
    """Returns the lengths of the lines of a channel; none for a channel that
    does not exist."""
    if channel == "d" and not job["stddiag"] or \
            channel == "e" and job["merge"]:
        return []
    draw = chance("lengths", job["seed"], rank, channel)
    profile, room = job["profile"], job["bytes"]
    if profile == "open":
        return [room]
    if channel != "o":
        profile, room = job["beside"], room // 8
    if profile == "huge" and rank != draw.randrange(job["procs"]):
        profile, room = "short", 4096
    found = []
    least = 24 if job["style"] == "plain" else 1
    most = job["whole"] if channel != "o" or job["style"] == "plain" \
        else LONGEST
    while room > 0 and len(found) < 3000:
        found.append(min(max(one_length(profile, draw), least), most))
        room -= found[-1]
        if profile == "huge":
            break
    return found


def filler(job, rank, channel):
    """Returns bytes without a newline that no other process writes."""
    draw = chance("filler", job["seed"], rank, channel)
    block = draw.getrandbits(8 * PERIOD).to_bytes(PERIOD, "little")
    return block.translate(ASCII if draw.randrange(2) else NO_NEWLINE)


def items(job, rank, channel):
    """Returns the lines of a channel, each in pieces."""
    block = filler(job, rank, channel) * 2
    sizes = lengths(job, rank, channel)
    for number, size in enumerate(sizes):
        ends = number + 1 < len(sizes) or not has_open_end(job, rank, channel)
        head = HEAD % (rank, channel.encode(), number)
        head = head if len(head) < size else b""
        left, at = size - ends - len(head), number * 7919 % PERIOD
        pieces = [head]
        while left > 0:
            part = block[at:at + min(left, PERIOD)]
            pieces.append(part)
            left, at = left - len(part), (at + len(part)) % PERIOD
        yield pieces + [b"\n"] if ends else pieces


def has_open_end(job, rank, channel):
    """True when the channel's last line has no newline."""
    return job["profile"] != "open" and \
        chance("end", job["seed"], rank, channel).randrange(4) == 0


def text(job, rank, channel):
    """Returns everything that this channel of that process has in the end."""
    return b"".join(b"".join(pieces) for pieces in items(job, rank, channel))


def stdin_block(job):
    """The launcher's input is this text again and again."""
    draw = chance("stdin", job["seed"])
    return draw.getrandbits(8 * PERIOD).to_bytes(PERIOD, "little")


def stdin_pieces(job, size):
    block, at = stdin_block(job) * 2, 0
    while size > 0:
        part = block[at:at + min(size, PERIOD, PIECE)]
        yield part
        size, at = size - len(part), (at + len(part)) % PERIOD


def role(job, rank):
    """Returns what this process does besides writing, as plain data."""
    draw = chance("role", job["seed"], rank)
    found = {
        "read": draw.choice(job["reads"]),
        "code": 0, "leave": [], "wait": draw.random() * job["span_s"],
        "pauses": draw.choice([0, 0, 3, 20]),
        "first": draw.choice(["both", "both", "read", "write"]),
    }
    if draw.random() < job["fails"]:
        found["code"] = draw.choice([3, 7, 42, 120, -signal.SIGTERM,
                                     -signal.SIGKILL])
    if draw.random() < job["leaves"]:
        found["leave"] = [draw.choice(["plain", "session", "orphan",
                                       "holder"])
                          for _ in range(draw.randint(1, 3))]
    return found


def exit_code(job, rank):
    """As the launcher's user sees it."""
    code = role(job, rank)["code"]
    return code if code >= 0 else 128 - code


class Journal:
    """Writes one line for each event."""

    def __init__(self, folder, rank):
        self.folder = folder
        self.fd = os.open(os.path.join(folder, str(rank)),
                          os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.set_inheritable(self.fd, False)
        self.begin()

    def count(self):
        """Returns how many processes have begun."""
        return len(os.listdir(self.folder))

    def say(self, *words):
        os.write(self.fd, (" ".join(map(str, words)) + "\n").encode())

    def begin(self):
        spawner, above = os.getppid(), 0
        try:
            with open("/proc/%d/stat" % spawner, "rb") as stat:
                above = int(stat.read().rpartition(b")")[2].split()[1])
        except OSError:
            pass
        self.say("start", os.getpid(), spawner, above,
                 os.environ.get("XYLEM_NODE", -1))


class Process:
    def __init__(self, job, rank, journal):
        self.job, self.rank, self.journal = job, rank, journal
        self.role = role(job, rank)
        self.had = {channel: 0 for channel in FDS}

    def put(self, channel, fd, data):
        view = memoryview(data)
        while view:
            done = os.write(fd, view[:PIECE])
            self.had[channel] += done
            view = view[done:]

    def write(self, channel):
        """Spreads the pauses over the lines."""
        count = len(lengths(self.job, self.rank, channel))
        pauses = self.role["pauses"] * (self.job["profile"] != "open")
        every = max(count // pauses, 1) if pauses else count + 1
        nap_s = self.role["wait"] / pauses if pauses else 0
        gathered, fd = [], FDS[channel]
        for number, pieces in enumerate(items(self.job, self.rank, channel)):
            gathered += pieces
            if self.job["merge"] and channel == "o":
                fd = 1 + number % 2
            is_pause = (number + 1) % every == 0
            if is_pause or self.job["merge"] or \
                    sum(map(len, gathered)) > PIECE:
                self.put(channel, fd, b"".join(gathered))
                gathered = []
            if is_pause:
                time.sleep(nap_s)  # sleep-ok: the process writes slowly
        if self.job["profile"] == "open":
            gathered = self.hold(channel, fd, b"".join(gathered))
        self.put(channel, fd, b"".join(gathered))
        self.journal.say("wrote", channel, self.had[channel])

    def hold(self, channel, fd, line):
        """Keeps a line without its newline open for some time."""
        self.put(channel, fd, line[:-1])
        for _ in range(HOLD_LOOKS):
            if self.journal.count() >= self.job["procs"]:
                break
            time.sleep(1)  # sleep-ok: a pause between two looks
        time.sleep(self.job["span_s"])  # sleep-ok: with an unfinished line
        return [line[-1:]]

    def read(self):
        how, size, crc, ended = self.role["read"], 0, 0, False
        if how == "late":
            time.sleep(self.role["wait"])  # sleep-ok: the process reads late
        if how == "never":
            return
        naps = 40 if how == "slow" else 0
        limit = 5000 if how in ("part", "close") else 1 << 60
        while size < limit and not ended:
            data = os.read(0, min(PIECE, limit - size))
            size, crc, ended = size + len(data), zlib.crc32(data, crc), \
                not data
            if naps > 0:
                naps -= 1
                time.sleep(self.role["wait"] / 40)  # sleep-ok: it reads slowly
        if how == "close":
            os.close(0)
        self.journal.say("read", size, crc, int(ended))

    def leave(self):
        """Starts descendants that would never end. A holder has the output
        open, too, so that it is read for no longer than --linger."""
        for kind in self.role["leave"]:
            if os.fork():
                continue
            if kind == "session":
                os.setsid()
            elif kind == "orphan":
                if os.fork():
                    os._exit(0)
                os.setsid()
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 2, 3) if kind == "holder" else (0, 1, 2, 3):
                os.dup2(null, fd)
            os.execvp("sleep", ["sleep", "500"])

    def begin_threads(self):
        if self.role["first"] == "both":
            work = [threading.Thread(target=self.read)]
        else:
            work = []
        work += [threading.Thread(target=self.write, args=(channel,))
                 for channel in FDS if channel != "o"
                 and lengths(self.job, self.rank, channel)]
        for thread in work:
            thread.start()
        return work

    def run(self):
        self.leave()
        time.sleep(self.job["lead_s"])  # sleep-ok: tools connect meanwhile
        if self.role["first"] == "read":
            self.read()
        others = self.begin_threads()
        self.write("o")
        if self.role["first"] == "write":
            self.read()
        for thread in others:
            thread.join()
        time.sleep(self.job["tail_s"])  # sleep-ok: faults happen meanwhile
        code = self.role["code"]
        self.journal.say("end", code)
        if code < 0:
            os.kill(os.getpid(), -code)
        os._exit(code)


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    with open(sys.argv[1]) as file:
        job = json.load(file)
    rank = int(os.environ["XYLEM_RANK"])
    Process(job, rank, Journal(sys.argv[2], rank)).run()


if __name__ == "__main__":
    main()

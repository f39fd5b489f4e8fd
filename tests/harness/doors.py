"""A client of a session's door that sends its messages one by one
(job/door.h)."""
import collections
import os
import socket
import struct

import live

KINDS = ("HELLO WELCOME REFUSED STOP ADDRESS TOOLS ATTACH JOB WHERE PART "
         "RANGES PULL PULLED OUTPUT PUSH PUSHED SPAWN STARTED UNSTARTED SIGNAL "
         "SIGNALLED ENDED TAKEN WATCH WATCHED BEGUN STAGE BROKEN FORGOTTEN "
         "DESCRIBE PLACE PIDS EXITS DESCRIBED NAME NAMED LOG LOGGED EVENT "
         "NOTE LIST LISTED GROUPS GROUPED FIRST STALLED").split()
NUMBER = {name: number for number, name in enumerate(KINDS, 1)}
VERSION = 10
ALL = 0xffffffff
PIECE = 32 * 1024  # the most bytes of a request
STDOUT, STDERR = 2, 4  # bits of the channels
REDIRECTS, LAST = 1, 2
STARTING, RUNNING, OVER = 1, 2, 3
STDIN, KEPT, WAITS = 4, 8, 16  # flags of a request
SAYS_STAGES, SAYS_END = 256, 512
NO_ROOM, NO_PROGRAM = 1, 7  # reasons of UNSTARTED
DIR, FILE, PATTERN = 1, 2, 3  # kinds of files of a request

Output = collections.namedtuple("Output", "proc channel is_end dropped before "
                                          "mem")


def folder():
    top = os.environ.get("XDG_RUNTIME_DIR")
    return (os.path.join(top, "xylem") if top
            else "/tmp/xylem-%d" % os.geteuid())


Stage = collections.namedtuple("Stage", "base stage time is_lost proc status "
                                        "failed")
Begun = collections.namedtuple("Begun", "base size channels is_dvm name")
Job = collections.namedtuple("Job", "places pids statuses command")


def strings(*words):
    return b"".join(word.encode() + b"\0" for word in words)


def program(*argv, procs=1, hosts="", env=()):
    """A program as job/wish.h describes it; `env` is set."""
    return (struct.pack("<IIBBB", procs, 0, 0, 0, 0) +
            struct.pack("<I", len(argv)) + strings(*argv) +
            struct.pack("<I", len(env)) +
            b"".join(b"\0\0" + strings(one) for one in env) + b"\0" +
            strings(hosts, "", "", ""))


def request(*programs, flags=0, reader=ALL, comes=0, forwards=0, cache=ALL,
            stall=0, files=0, label=0, form=0, name=""):
    """A request as job/request.h describes it."""
    return (struct.pack("<HIBBIIIIBBB", flags, reader, comes, forwards, cache,
                        0, 0, stall, files, label, form) + strings(name) +
            struct.pack("<I", len(programs)) + b"".join(programs))


class Client:
    """A client that has sent HELLO."""

    def __init__(self, pid):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(60 * live.SLOW)
        path = os.path.join(folder(), str(pid))
        live.eventually(lambda: os.path.exists(path), 20, "the door is there")
        self.sock.connect(path)
        self.outputs = 0  # how many OUTPUTs have come
        self.say("HELLO", struct.pack("<I", VERSION) + b"test")
        self.expect("WELCOME")

    def say(self, kind, body=b""):
        self.sock.send(bytes([NUMBER[kind]]) + body)

    def hear(self):
        """The next message as (kind, body); (None, b"") when the client is cut
        off."""
        try:
            packet = self.sock.recv(1 << 18)
        except ConnectionResetError:
            packet = b""
        return (KINDS[packet[0] - 1], packet[1:]) if packet else (None, b"")

    def expect(self, kind):
        said, body = self.hear()
        live.check(said == kind, "%s, not %s: %r" % (said, kind, body[:200]))
        return body

    def attach(self, name=b""):
        self.say("ATTACH", name)
        return struct.unpack_from("<II", self.expect("JOB"))

    def ranges(self, *ranges):
        self.say("RANGES", b"".join(struct.pack("<II", *one)
                                    for one in ranges))

    def pull(self, channels, flags=0, cache=ALL, limit=0):
        self.say("PULL", struct.pack("<BBII", channels, flags, cache, limit))

    def output(self):
        """Returns the next output, whatever other messages come; None when the
        client is cut off."""
        while True:
            kind, body = self.hear()
            if kind is None or kind == "REFUSED":
                return None
            if kind == "OUTPUT":
                self.outputs += 1
                head = struct.unpack_from("<IBBQQ", body)
                return Output(head[0], head[1], bool(head[2] & 1), head[3],
                              head[4], body[22:])

    def ask(self, asked):
        """Requests a job; the next message is the answer."""
        for at in range(0, len(asked), PIECE):
            is_more = at + PIECE < len(asked)
            self.say("SPAWN", bytes([is_more]) + asked[at:at + PIECE])

    def spawn(self, asked):
        """Returns the base and size of the job."""
        self.ask(asked)
        return struct.unpack_from("<II", self.expect("JOB"))

    def taken(self, count):
        self.say("TAKEN", struct.pack("<QB", count, 0))

    def close(self):
        self.sock.close()


class Watcher(Client):
    """A client that watches, and keeps what it is told about jobs."""

    def __init__(self, pid):
        super().__init__(pid)
        self.begun = {}  # indexed by the base
        self.stages = []
        self.forgotten = []
        self.events = []
        self.say("WATCH")
        self.until("WATCHED")

    def until(self, *kinds):
        """Returns the next message of these kinds; messages about jobs are
        noted meanwhile."""
        while True:
            kind, body = self.hear()
            if kind == "BEGUN":
                base, size, channels, flags = struct.unpack_from("<IIBB", body)
                self.begun[base] = Begun(base, size, channels, bool(flags & 1),
                                         body[22:].decode())
            elif kind == "STAGE":
                self.stages.append(Stage._make(
                    struct.unpack("<IBQBIiI", body)))
            elif kind == "FORGOTTEN":
                self.forgotten += struct.unpack("<I", body)
            elif kind == "EVENT":
                self.events.append(body)
            if kind in kinds or kind is None:
                live.check(kind is not None, "it is not cut off")
                return kind, body

    def await_stage(self, base, stage):
        while not any(one.base == base and one.stage == stage
                      for one in self.stages):
            if self.until("STAGE", "REFUSED")[0] != "STAGE":
                return None
        return [one for one in self.stages
                if one.base == base and one.stage == stage][0]

    def describe(self, base):
        """Returns the description of a job; None when there is no such job."""
        job = Job([], {}, {}, [])
        self.say("DESCRIBE", struct.pack("<I", base))
        while True:
            kind, body = self.until("PLACE", "PIDS", "EXITS", "DESCRIBED",
                                    "REFUSED")
            if kind == "PLACE":
                app, first, count = struct.unpack_from("<III", body)
                host, words = body[12:].split(b"\0", 1)
                job.places.append((app, first, count, host.decode(),
                                   words.decode()))
            elif kind in ("PIDS", "EXITS"):
                first, = struct.unpack_from("<I", body)
                of = job.pids if kind == "PIDS" else job.statuses
                for i, number in enumerate(struct.iter_unpack("<I", body[4:])):
                    of[first + i] = number[0]
            else:
                job.command.append(body[1:].rstrip(b'\0').decode())
                return job if body[0] == 0 else None

    def name(self, rank, nspace):
        """Returns whether the name is in use, the rank, and the name."""
        self.say("NAME", struct.pack("<I", rank) + nspace)
        body = self.until("NAMED", "REFUSED")[1]
        return bool(body[0]), struct.unpack_from("<I", body, 1)[0], body[5:]

    def log(self, channel, text):
        """Prints a text; True when it was written."""
        self.say("LOG", struct.pack("<BB", channel, 0) + text)
        return self.until("LOGGED", "REFUSED") == ("LOGGED", b"\0")

    def signal(self, number, *ranges):
        """Sends a signal; True when it is on its way."""
        self.ranges(*ranges)
        self.say("SIGNAL", struct.pack("<i", number))
        return self.until("SIGNALLED", "REFUSED") == ("SIGNALLED", b"\0")

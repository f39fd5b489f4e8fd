"""A client of a session's door that says its words one by one (job/door.h)."""
import collections
import os
import socket
import struct

import live

KINDS = ("HELLO WELCOME REFUSED STOP ADDRESS TOOLS ATTACH JOB WHERE PART "
         "RANGES PULL PULLED OUTPUT PUSH PUSHED SPAWN STARTED UNSTARTED SIGNAL "
         "SIGNALLED ENDED TAKEN").split()
NUMBER = {name: number for number, name in enumerate(KINDS, 1)}
VERSION = 3
ALL = 0xffffffff
STDOUT, STDERR = 2, 4  # bits of channels
REDIRECTS, LAST = 1, 2

Output = collections.namedtuple("Output", "proc channel is_end dropped before "
                                          "mem")


def folder():
    top = os.environ.get("XDG_RUNTIME_DIR")
    return (os.path.join(top, "xylem") if top
            else "/tmp/xylem-%d" % os.geteuid())


class Client:
    """Has said HELLO."""

    def __init__(self, pid):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(60 * live.SLOW)
        path = os.path.join(folder(), str(pid))
        live.eventually(lambda: os.path.exists(path), 20, "the door is there")
        self.sock.connect(path)
        self.outputs = 0  # heard
        self.say("HELLO", struct.pack("<I", VERSION) + b"test")
        self.expect("WELCOME")

    def say(self, kind, body=b""):
        self.sock.send(bytes([NUMBER[kind]]) + body)

    def hear(self):
        """(kind, body); (None, b"") where it is cut off."""
        try:
            packet = self.sock.recv(1 << 16)
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
        """The next one, whatever else is said; None where it is cut off."""
        while True:
            kind, body = self.hear()
            if kind is None or kind == "REFUSED":
                return None
            if kind == "OUTPUT":
                self.outputs += 1
                head = struct.unpack_from("<IBBQQ", body)
                return Output(head[0], head[1], bool(head[2] & 1), head[3],
                              head[4], body[22:])

    def taken(self, count):
        self.say("TAKEN", struct.pack("<Q", count))

    def close(self):
        self.sock.close()

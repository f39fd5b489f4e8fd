"""Runs a helper of one tool (xylem-pmix), as a launcher would start it, beside
a real job: the test has the port to which the tool connects. Between the
helper and the session's door is a proxy, which passes on the messages of both
and records them."""
import os
import re
import socket
import struct
import subprocess
import sys
import threading

import pmix
import doors
import live

HELPER = os.path.join(live.BUILD, "pmix_api", "xylem-pmix")
(HELLO, WELCOME, REFUSED, STOP, ADDRESS, TOOLS, ATTACH, JOB, WHERE, PART,
 RANGES, PULL, PULLED, OUTPUT, PUSH, PUSHED) = range(1, 17)
TAKEN = 23
PACKET = 256 * 1024  # a number above any number of the door
# A process that runs another program, with the given descriptor as its
# descriptor 3.
BECOME = ("import os, sys; os.dup2(int(sys.argv[1]), 3); "
          "os.execv(sys.argv[2], sys.argv[2:])")


def door_of(job):
    return os.path.join(os.environ["XDG_RUNTIME_DIR"], "xylem",
                        str(job.proc.pid))


def dial(path):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.connect(path)
    return sock


class Proxy:
    """A door in a folder of its own, which passes on the messages of clients
    and session."""
    count = 0

    def __init__(self, job):
        Proxy.count += 1
        self.real, self.said = door_of(job), []
        self.folder = os.path.join(live.TMP, "doors-%d" % Proxy.count)
        os.mkdir(self.folder)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(os.path.join(self.folder, str(job.proc.pid)))
        self.listener.listen(16)
        self.job = self._ask_job()
        self.name = self.job[struct.calcsize("<BIIBIII"):].decode()
        self._spawn(self._accept)

    @staticmethod
    def _spawn(run, *args):
        threading.Thread(target=run, args=args, daemon=True).start()

    def _ask_job(self):
        """Asks for JOB, as a client that attaches does."""
        with dial(self.real) as sock:
            sock.send(struct.pack("<BI", HELLO, doors.VERSION) + b"test")
            sock.recv(PACKET)
            sock.send(bytes([ATTACH]))
            return sock.recv(PACKET)

    def _accept(self):
        while True:
            self._spawn(self._serve, self.listener.accept()[0])

    def _serve(self, client):
        hello, first = client.recv(PACKET), client.recv(PACKET)
        session = dial(self.real)
        session.send(hello)
        session.send(first)
        self._spawn(self._hand_on, session, client)
        self._hand_on(client, session)

    @staticmethod
    def _hear(sock):
        """Reads from one side. A side that closes with bytes unread causes an
        error before its last messages."""
        while True:
            try:
                return sock.recv(PACKET)
            except ConnectionResetError:
                continue

    def _hand_on(self, one, other):
        """Passes on the messages of one side. When that side closes, the other
        one is closed after all messages have reached it. When the other side
        has closed, its own messages show that."""
        packet = self._hear(one)
        try:
            while packet:
                if packet[0] in (RANGES, PULL, PUSH, TAKEN):
                    self.said.append(packet)
                self.pass_on(packet, one, other)
                packet = self._hear(one)
            other.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def pass_on(self, packet, one, other):
        """Passes on what one side has sent to the other."""
        other.send(packet)

    def taken(self):
        """Returns how many OUTPUTs need not come back, by the last TAKEN."""
        told = [packet for packet in self.said if packet[0] == TAKEN]
        return struct.unpack_from("<Q", told[-1], 1)[0] if told else 0


class Helper:
    """A helper for a job, with a port for its tool. pmix.Tool uses it like a
    job."""

    def __init__(self, job, proxy=Proxy, **env):
        self.job, self.proxy = job, proxy(job)
        self.proc = job.proc
        self.tie, other = socket.socketpair(socket.AF_UNIX,
                                            socket.SOCK_SEQPACKET)
        self.dir = os.path.join(live.TMP, "helper-%d" % Proxy.count)
        os.mkdir(self.dir)
        self.helper = subprocess.Popen(
            [sys.executable, "-c", BECOME, str(other.fileno()), HELPER,
             self.proxy.folder, str(job.proc.pid), "xylem-run-test", self.dir],
            pass_fds=[other.fileno()], env={**os.environ, **env})
        other.close()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.path = None
        self._ready()

    def _ready(self):
        self.tie.settimeout(60 * live.SLOW)
        text = self.tie.recv(PACKET).decode()
        port = self.listener.getsockname()[1]
        text = re.sub(r"(tcp4://[0-9.]+:)\d+", r"\g<1>%d" % port, text)
        self.path = os.path.join(self.dir, "pmix.%s.tool.%d" % (
            socket.gethostname(), self.proc.pid))
        with open(self.path, "w", encoding="ascii") as file:
            file.write(text)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        tool = self.listener.accept()[0]
        self.listener.close()
        socket.send_fds(self.tie, [b"1"], [tool.fileno()])
        tool.close()

    def said(self):
        return ""

    def peak(self):
        return live.peak(self.helper.pid)

    def gone(self):
        """Waits until the helper has ended well; its file is removed, for the
        next helper of the job."""
        os.unlink(self.path)
        live.check_eq(0, self.helper.wait(60 * live.SLOW), "the helper")

    def asker(self):
        """Starts a tool_ask; None when it could not connect."""
        tool = pmix.Asker(self, "-f", self.path)
        return tool if tool.connect() else None

    def tool(self, *options, **more):
        tool = pmix.Tool(self, *options, **more)
        live.eventually(lambda: tool.has("ready") or
                        tool.proc.poll() is not None, 60, "it is registered")
        return tool

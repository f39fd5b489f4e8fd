#!/usr/bin/env python3
"""Strangers at the listeners of a running job have no effect on the job."""
import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import threading

import live
from live import check, check_eq

COUNT = live.full(10000, 2000)
GONE_S = 30  # a stranger has 5 s to prove itself
NODES = 5
HELLO_MIN = 48  # bytes; it has more


def raise_limit():
    """Room for our ends of all connections; how many that lets us have."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(COUNT, hard - 100)


class Proxy(threading.Thread):
    """Stands between a daemon and its parent and records the first words."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = str(self.listener.getsockname()[1])
        self.to = None
        self.known = threading.Event()
        self.hello = b""

    def run(self):
        """A daemon whose attempt took too long dials again."""
        while True:
            child = self.listener.accept()[0]
            threading.Thread(target=self.serve, args=(child,),
                             daemon=True).start()

    def serve(self, child):
        hello = child.recv(4096)
        while 0 < len(hello) <= HELLO_MIN:  # it comes in pieces, too
            piece = child.recv(4096)
            if not piece:
                return
            hello += piece
        self.hello = self.hello or hello
        self.known.wait()
        parent = socket.create_connection(self.to)
        parent.sendall(hello)
        back = threading.Thread(target=self.carry, args=(parent, child),
                                daemon=True)
        back.start()
        self.carry(child, parent)

    @staticmethod
    def carry(source, sink):
        try:
            while True:
                piece = source.recv(65536)
                if not piece:
                    break
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()
            sink.close()


class Echo:
    """A job whose processes all say what they are told."""

    def __init__(self, job):
        self.job, self.turn = job, 0

    def ask(self):
        self.turn += 1
        self.job.stdin.write(b"%d\n" % self.turn)
        self.job.stdin.flush()
        got = [self.job.stdout.readline() for _ in range(NODES)]
        return check_eq([b"%d\n" % self.turn] * NODES, got,
                        self.job.said()[-500:])


def parent_address(tap):
    """Where the tapped daemon, of node 3, was told to find its parent."""
    def lines():
        with open(tap) as file:
            return [line.split() for line in file
                    if line.startswith("peer 1 ")]
    live.eventually(lambda: os.path.exists(tap) and lines(), 30,
                    "the address of the parent")
    host, port = lines()[0][2].rsplit(":", 1)
    return host, int(port)


def start(stats):
    """The job, and a hello that was recorded on its way to node 1."""
    proxy, tap = Proxy(), os.path.join(live.TMP, "tap")
    proxy.start()
    job = live.Remote("a,b,c,d,e", "--arity", 2, "--stats", stats,
                      "--heartbeat", 5, "--no-pmix", "--", "cat",
                      stdin=subprocess.PIPE, RSH_TAP=tap, RSH_TAPPED="c",
                      RSH_VIA=proxy.port)
    proxy.to = parent_address(tap)
    proxy.known.set()
    echo = Echo(job)
    echo.ask()
    check(len(proxy.hello) > HELLO_MIN, "no hello was recorded: %r" %
          proxy.hello)
    return echo, proxy


def listeners():
    return sorted({where for pid in live.ours()
                   for where in live.sockets(pid, live.LISTEN)})


def is_shut(sock):
    """The other side has ended it."""
    try:
        while sock.recv(4096):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


class Crowd:
    """Strangers at one listener; each says `words` and waits."""

    def __init__(self, where):
        self.where, self.socks = where, []

    def come(self, words):
        sock = socket.create_connection(self.where)
        sock.setblocking(False)
        if words:
            sock.send(words)
        self.socks.append(sock)

    def check_gone(self):
        def none_left():
            left = []
            for sock in self.socks:
                if is_shut(sock):
                    sock.close()
                else:
                    left.append(sock)
            self.socks = left
            return not left
        live.eventually(none_left, GONE_S, "strangers at %s:%d are shut"
                        % self.where)
        for sock in self.socks:
            sock.close()


def descriptors():
    """How many descriptors each process of xylem has that has not ended
    meanwhile."""
    found = {}
    for pid in live.ours():
        with contextlib.suppress(OSError):
            found[pid] = len(os.listdir("/proc/%d/fd" % pid))
    return found


def flood(echo, where, words, count):
    before = descriptors()
    crowd = Crowd(where)
    for number in range(count):
        crowd.come(words(number))
        if number % 100 == 0:
            echo.ask()
    crowd.check_gone()
    echo.ask()
    live.eventually(lambda: all(
        now <= before.get(pid, 0) for pid, now in descriptors().items()),
        GONE_S, "descriptors are as before")


def replay(echo, proxy):
    """A recorded hello is worth nothing, to the same listener or another."""
    refused = 0
    for where in listeners():
        crowd = Crowd(where)
        crowd.come(proxy.hello)
        for at in range(len(proxy.hello) - 48, len(proxy.hello), 5):
            forged = bytearray(proxy.hello)
            forged[at] ^= 1
            crowd.come(bytes(forged))
        refused += len(crowd.socks)
        echo.ask()
        crowd.check_gone()
    return refused


def main():
    count = raise_limit()
    stats = os.path.join(live.TMP, "stats")
    with live.case("a job with a tapped connection"):
        echo, proxy = start(stats)
        check_eq(NODES + 1, len(listeners()), "listeners:")
    refused = 0
    launcher = live.sockets(echo.job.proc.pid, live.LISTEN)[0]
    for where in (launcher, proxy.to):  # and a daemon
        with live.case("%d silent strangers at %s:%d" % (count, *where)):
            flood(echo, where, lambda number: b"", count)
            refused += count
        with live.case("%d strangers with garbage at %s:%d" % (count, *where)):
            flood(echo, where, lambda number: os.urandom(1 + number % 300),
                  count)
    with live.case("recorded and forged hellos"):
        refused += replay(echo, proxy)
    with live.case("the job ends as if nothing had been"):
        echo.job.stdin.close()
        check_eq(b"", echo.job.stdout.read())
        echo.job.check_ok()
        with open(stats) as file:
            told = json.load(file)["refused_peers"]
        print("# %d refused peers counted, %d were certain" % (told, refused))
        check(told >= refused, "%d refused of %d" % (told, refused))
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

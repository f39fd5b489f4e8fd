#!/usr/bin/env python3
"""A remote shell whose commands are not children of xylem, as with sshd.

    far.py SOCKET HOST COMMANDLINE     the client: rsh of a launcher
    Server(path, env)                  in the test: it starts the commands

The client hands its stdin, stdout and stderr over, waits, and ends with the
status of the command. When it dies the command's stdin ends, as with ssh.
"""
import array
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading


def ask(path, host, words):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect(path)
        text = json.dumps({"host": host, "words": words,
                           "pid": os.getpid()}).encode()
        sock.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                               array.array("i", [0, 1, 2]))])
        sock.shutdown(socket.SHUT_WR)
        for fd in (0, 1, 2):
            os.close(fd)
        status = sock.recv(16)
    return int(status or 255)


class Server(threading.Thread):
    """`shells` is the pid of the client that leads to each host."""

    def __init__(self, path, env):
        super().__init__(daemon=True)
        self.path, self.env, self.shells = path, env, {}
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.bind(path)
        self.sock.listen(64)

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                conn = self.sock.accept()[0]
                threading.Thread(target=self.serve, args=(conn,),
                                 daemon=True).start()

    @staticmethod
    def receive(conn):
        """Receives the command, and the three descriptors."""
        fds = array.array("i")
        text, more, _, _ = conn.recvmsg(1 << 20,
                                        socket.CMSG_SPACE(3 * fds.itemsize))
        for level, kind, found in more:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(found)
        while True:
            part = conn.recv(1 << 20)
            if not part:
                return json.loads(text.decode()), list(fds)
            text += part

    def serve(self, conn):
        with contextlib.suppress(OSError, ValueError), conn:
            order, fds = self.receive(conn)
            self.shells[order["host"]] = order["pid"]
            proc = subprocess.Popen(
                ["sh", "-c", order["words"]], stdin=subprocess.PIPE,
                stdout=fds[1], stderr=fds[2], start_new_session=True,
                env=dict(self.env, RSH_HOST=order["host"]))
            os.close(fds[1])
            os.close(fds[2])
            threading.Thread(target=self.feed, daemon=True,
                             args=(proc, fds[0], conn.dup())).start()
            status = proc.wait()
            conn.send(b"%d" % (status if status >= 0 else 128 - status))

    @staticmethod
    def feed(proc, source, conn):
        """Waits until the command's stdin ends, or the client's socket does:
        the client has sent everything by then, so its socket can only hang
        up."""
        poll = select.poll()
        poll.register(source, select.POLLIN)
        poll.register(conn.fileno(), 0)
        with contextlib.suppress(OSError, ValueError), conn:
            while conn.fileno() not in dict(poll.poll()):
                data = os.read(source, 1 << 16)
                if not data:
                    break
                os.write(proc.stdin.fileno(), data)
        os.close(source)
        with contextlib.suppress(OSError):
            proc.stdin.close()

    def close(self):
        self.sock.close()
        with contextlib.suppress(OSError):
            os.unlink(self.path)


if __name__ == "__main__":
    sys.exit(ask(sys.argv[1], sys.argv[2], " ".join(sys.argv[3:])))

"""Simulates hosts whose daemons are not children of xylem, as with a real
sshd.

The test is the other end: `CMD HOST COMMANDLINE` hands its descriptors over,
and what it asks for runs as a child of the test, not of xylem. So no process
of xylem stands above a daemon there, and the remote shell's end ends nothing
else. What is started finds the host in RSH_HOST.
"""
import array
import contextlib
import os
import shlex
import socket
import subprocess
import sys
import threading


def call():
    """The remote shell: passes its descriptors to the test, and waits."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect(os.environ["AGENT"])
        sock.sendmsg(["\0".join(sys.argv[1:3]).encode()],
                     [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                       array.array("i", [0, 1, 2]))])
        for fd in range(3):
            os.close(fd)
        with contextlib.suppress(OSError):
            os._exit(int(sock.recv(16) or b"255"))
        os._exit(255)


class Agent:
    """The other end of the remote shells. `bad` are hosts that cannot be
    reached, `mute` those that never answer. `ended` has (host, command line)
    of each call that is over."""

    def __init__(self, folder):
        self.before = ""  # a shell command with which each call begins
        self.path = os.path.join(folder, "agent")
        self.bad, self.mute, self.ended = set(), set(), []
        self.held = []
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.bind(self.path)
        self.sock.listen(200)
        threading.Thread(target=self.accept, daemon=True).start()

    def env(self, **more):
        return {**os.environ, "AGENT": self.path, **more}

    @staticmethod
    def rsh():
        return "%s -S -E %s" % (shlex.quote(sys.executable),
                             shlex.quote(os.path.abspath(__file__)))

    def accept(self):
        while True:
            sock, _ = self.sock.accept()
            threading.Thread(target=self.serve, args=(sock,),
                             daemon=True).start()

    def serve(self, sock):
        fds = array.array("i")
        text, extra, _, _ = sock.recvmsg(1 << 16, socket.CMSG_SPACE(12))
        for _, _, data in extra:
            fds.frombytes(data)
        host, line = text.decode().split("\0")
        if host in self.mute:
            self.held.append((sock, fds))
            return
        proc = None
        if host not in self.bad:
            proc = subprocess.Popen(
                ["sh", "-c", self.before + line], stdin=fds[0], stdout=fds[1],
                stderr=fds[2], start_new_session=True,
                env=self.env(RSH_HOST=host))
        for fd in fds:
            os.close(fd)
        code = proc.wait() if proc else 255
        self.ended.append((host, line))
        with contextlib.suppress(OSError):
            sock.sendall(b"%d" % (code % 256))
        sock.close()


if __name__ == "__main__":
    call()

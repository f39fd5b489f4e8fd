"""Simulates hosts with a real sshd, all of them this machine, for the live
tests.

Each name has an address 127.0.0.x and a port that the kernel chose. This
process listens there and starts `sshd -i` for each connection, as inetd does,
so nothing is raced for and nothing outlives the test. No user's keys, settings
or known hosts are read: all of that is made in the folder of the test.
"""
import contextlib
import os
import select
import shutil
import socket
import subprocess
import threading

import live

DIR = os.path.join(live.TMP, "ssh")
CONFIG = os.path.join(DIR, "config")
# the options with which xylem calls the hosts
RSH = "ssh -F " + CONFIG

SERVER = """
AuthorizedKeysFile %(dir)s/user.pub
HostKey %(dir)s/host
KbdInteractiveAuthentication no
LogLevel VERBOSE
PasswordAuthentication no
PermitRootLogin yes
PidFile none
PrintMotd no
StrictModes no
"""

CLIENT = """
BatchMode yes
GlobalKnownHostsFile /dev/null
IdentitiesOnly yes
IdentityAgent none
IdentityFile %(dir)s/user
StrictHostKeyChecking yes
UserKnownHostsFile %(dir)s/known
"""


def find(name):
    """Returns the path of a program; the test is skipped when there is
    none."""
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    return path or live.skip("no %s here" % name)


def write(name, text):
    with open(os.path.join(DIR, name), "a") as file:
        file.write(text)


def make_key(name):
    """Makes a key of that name; returns its public half."""
    path = os.path.join(DIR, name)
    subprocess.run([find("ssh-keygen"), "-q", "-t", "ed25519", "-N", "",
                    "-C", "", "-f", path], check=True)
    with open(path + ".pub") as file:
        return file.read().strip()


class Hosts(threading.Thread):
    """A number of hosts, n1 and following. `calls` counts the connections of
    each; those in `shut` accept no key."""

    def __init__(self, count):
        super().__init__(daemon=True)
        self.sshd, self.over = find("sshd"), threading.Event()
        self.names = ["n%d" % number for number in range(1, count + 1)]
        self.calls = dict.fromkeys(self.names, 0)
        self.shut, self.sessions = set(), []
        os.makedirs(os.path.join(DIR, "home"))
        # sshd confines itself to this folder, as a service does
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", 0o755, exist_ok=True)
        write("server", SERVER % {"dir": DIR})
        make_key("user")
        self.key = make_key("host")
        self.listeners = {self.add(name, 1 + number): name
                          for number, name in enumerate(self.names, 1)}
        write("config", "Host *" + CLIENT % {"dir": DIR})

    def add(self, name, last):
        """Adds a known host at 127.0.0.`last`, and its listener."""
        sock = socket.create_server(("127.0.0.%d" % last, 0))
        self.add_name(name, *sock.getsockname(), self.key)
        return sock

    @staticmethod
    def add_name(name, address, port, key):
        write("config", "Host %s\nHostName %s\nPort %d\nHostKeyAlias %s\n"
              % (name, address, port, name))
        write("known", "%s %s\n" % (name, key))

    def run(self):
        while not self.over.is_set():
            for sock in select.select(list(self.listeners), [], [], 0.1)[0]:
                with sock.accept()[0] as conn:
                    self.serve(self.listeners[sock], conn)
            self.left()

    def serve(self, name, conn):
        self.calls[name] += 1
        more = ["-o", "AuthorizedKeysFile=none"] if name in self.shut else []
        with open(os.path.join(DIR, "log"), "ab") as log:
            self.sessions.append(subprocess.Popen(
                [self.sshd, "-i", "-e", "-f", os.path.join(DIR, "server"),
                 "-o", "SetEnv=" + self.variables(name), *more],
                stdin=conn, stdout=conn, stderr=log))

    @staticmethod
    def variables(name):
        """The variables that sessions find: the host, as live.host_of asks for
        it, a home without start-up files, and where sanitizers report to."""
        found = {"RSH_HOST": name, "HOME": os.path.join(DIR, "home")}
        for more in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
            if more in os.environ:
                found[more] = os.environ[more]
        return " ".join('"%s=%s"' % one for one in found.items())

    def left(self):
        """Returns the pids of the sessions that are not over."""
        return [one.pid for one in self.sessions if one.poll() is None]

    def close(self):
        self.over.set()
        self.join()

    def log(self):
        with contextlib.suppress(OSError), \
                open(os.path.join(DIR, "log"), errors="replace") as file:
            return file.read()
        return ""

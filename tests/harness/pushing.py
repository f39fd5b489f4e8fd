"""Helpers for tests of pushes: jobs that keep what they read, and tools."""
import os
import subprocess

import pmix
import live

# Each process writes everything that it reads to a file of its own.
KEEP = 'cat >"$0.$XYLEM_RANK"'


class Taker:
    """A job whose processes write their stdin to files."""
    count = 0

    def __init__(self, ranks, *options, command=KEEP, keep=True,
                 stdin=subprocess.DEVNULL, env=None, wrap=()):
        Taker.count += 1
        self.base = os.path.join(live.TMP, "taken-%d" % Taker.count)
        if keep:
            options = ("--keep-stdin", *options)
        self.job = pmix.Job("-v", "-N", ranks, *options, "--",
                            "sh", "-c", command, self.base, stdin=stdin,
                            env=env, wrap=wrap)
        pmix.wait_up(self.job)

    def got(self, rank):
        try:
            with open("%s.%d" % (self.base, rank), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def tool(self, *options, stdin=subprocess.PIPE, env=None):
        return subprocess.Popen(
            [os.path.join(live.BUILD, "tests", "pmix", "tool_push"),
             *map(str, options), str(self.job.proc.pid)],
            stdin=stdin, stdout=subprocess.PIPE, env=env)

    def connected(self, *options):
        """Starts a tool() and waits until it has connected. When several
        connect at the same time, each has less time for that."""
        tool = self.tool(*options)
        tool.stdin.write(b"?\n")
        tool.stdin.flush()
        tool.stdout.readline()
        return tool

    def push(self, script, *options, env=None):
        """Runs a script to its end; returns the lines that it printed."""
        tool = self.tool(*options, env=env)
        out, _ = tool.communicate(script.encode(), 60 * live.SLOW)
        live.check_eq(0, tool.returncode, "the tool")
        return out.decode().splitlines()


class Session:
    """A tool that is told what to push, one push after another."""

    def __init__(self, taker):
        self.tool = taker.tool()

    def ask(self, line):
        """Pushes and returns the status, in one spelling."""
        self.tell(line)
        return self.hear()

    def tell(self, line):
        self.tool.stdin.write((line + "\n?\n").encode())
        self.tool.stdin.flush()

    def hear(self):
        said = self.tool.stdout.readline().decode().strip()
        for other in (" ", "-"):
            said = said.replace(other, "_")
        return said.replace("PMIX_", "").replace("ERR_", "")

    def end(self):
        self.tool.stdin.close()
        live.check_eq(0, self.tool.wait(60 * live.SLOW), "the tool")


def make_file(path, size):
    """Makes a file that differs from all others; returns its contents."""
    with open(path, "wb") as file:
        for n in range(size // live.MIB):
            file.write(bytes([n % 251]) + os.urandom(live.MIB - 1))
    with open(path, "rb") as file:
        return file.read()

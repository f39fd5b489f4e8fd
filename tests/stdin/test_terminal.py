#!/usr/bin/env python3
"""Tests programs that ask questions at a terminal, and a launcher in the
background."""
import os
import select
import subprocess
import sys
import time

import live
from live import check, check_eq
from terminal import Terminal


def run(hosts, *args):
    return Terminal(live.XYLEM, "run", "--launcher", "local", "-w", hosts,
                    *args)


def question():
    """The question is on the screen before it is answered; then what a
    terminal shows of any program that asks."""
    job = run("a", "--", "sh", "-c",
              'printf "name? "; read -r name; echo "hi $name"')
    job.read_until(b"name? ")
    job.write(b"bob\n")
    check_eq(0, job.wait(20), "exit code:")
    check_eq(b"name? bob\r\nhi bob\r\n", job.text)


def questions(channel, *options, label=b""):
    """Several, one after another, in one process."""
    job = run("a", *options, "--", "sh", "-c",
              'for n in 1 2 3; do printf "$n? " >&%d; read -r x; '
              'echo "$n $x" >&%d; done' % (channel, channel))
    for number in (b"1", b"2", b"3"):
        job.read_until(label + number + b"? ")
        job.write(b"yes\n")
        job.read_until(number + b" yes\r\n")
    check_eq(0, job.wait(20), "exit code:")


def two_ask():
    """Both questions are seen, each on a line of its own."""
    job = run("a,b", "--", "sh", "-c",
              'printf "rank $XYLEM_RANK? "; read -r x; echo "$XYLEM_RANK $x"')
    job.read_until(b"rank 0? ", b"rank 1? ")
    job.write(b"yes\n")
    job.read_until(b"0 yes\r\n", b"1 yes\r\n")
    check_eq(0, job.wait(20), "exit code:")
    lines = job.text.split(b"\r\n")
    for rank in (b"rank 0? ", b"rank 1? "):
        check(any(line.startswith(rank) and line.count(b"?") == 1
                  for line in lines), "not at a line's begin: %s" % lines)


def in_a_pipe(is_unbuffered):
    """A question is passed on without its newline, or held."""
    job = live.Job("-N", 1, *["--unbuffered"] * is_unbuffered, "--", "sh",
                   "-c", 'printf "name? "; echo asked >&2; read -r name; '
                   'echo "hi $name"', stdin=subprocess.PIPE)
    live.eventually(lambda: "asked\n" in job.said(), 20, "it asks")
    if is_unbuffered:
        check(select.select([job.stdout], [], [], 20 * live.SLOW)[0],
              "the question is held")
        check_eq(b"name? ", os.read(job.stdout.fileno(), 100))
    else:
        time.sleep(1)  # sleep-ok: so long it is held; that is the test
        check(not select.select([job.stdout], [], [], 0)[0],
              "it was not held")
    job.stdin.write(b"bob\n")
    job.stdin.close()
    check_eq(b"hi bob\n" if is_unbuffered else b"name? hi bob\n",
             job.stdout.read())
    job.check_ok()


class Shell(Terminal):
    """An interactive shell with job control."""

    def __init__(self):
        super().__init__("bash", "--norc", "--noprofile", "--noediting", "-i",
                         env={**os.environ, "PS1": "ready> "})
        self.read_until(b"ready> ")

    def say(self, line, *shows):
        self.write(line.encode() + b"\n")
        self.read_until(*shows)

    def launcher(self):
        return next(pid for pid, name in live.ours().items()
                    if name == "xylem" and live.parent(pid) == self.proc.pid)


# One process hears the terminal, the other a FIFO.
HEAR = """
if test $XYLEM_RANK = 0; then
    while read -r word; do echo "heard $word"; done; echo "heard all"
else
    while read -r word; do echo "told $word"; done <"$0"
fi
"""


def background():
    """The job's output goes on, what is typed goes to the shell, and no
    process is stopped; in the foreground what is typed goes to the job."""
    fifo, script = (os.path.join(live.TMP, name) for name in ("fifo", "hear"))
    os.mkfifo(fifo)
    with open(script, "w") as file:
        file.write(HEAR)
    shell = Shell()
    shell.say("'%s' run -N 2 -- sh -c \"$(cat %s)\" %s &"
              % (live.XYLEM, script, fifo), b"ready> ")
    with open(fifo, "w") as teller:
        teller.write("one\n")
        teller.flush()
        shell.read_until(b"told one")
        launcher = shell.launcher()
        shell.say("echo my${NONE}self", b"myself\r\n")
        # Twice as long as it takes to look whether the terminal is its own.
        time.sleep(1)  # sleep-ok: nothing is to happen; that is the test
        check(live.state(launcher) not in (b"", b"T", b"Z"),
              "the launcher does not go on")
        shell.say("jobs", b"Running")
        check(b"heard " not in shell.text, "the job took it")
        teller.write("two\n")
        teller.flush()
        shell.read_until(b"told two")
        shell.say("fg", b"run -N 2")
        shell.say("mine", b"heard mine")
        teller.write("three\n")
        teller.flush()
        shell.read_until(b"told three")
        shell.say("more", b"heard more")
    shell.write(b"\x04")
    shell.read_until(b"heard all", b"ready> ")
    shell.write(b"exit $?\n")
    check_eq(0, shell.wait(20), "exit code:")
    check(b"Stopped" not in shell.text, "stopped: %s" % shell.text)


def put_aside():
    """Ctrl-Z gives the shell its prompt back, fg the job its terminal."""
    shell = Shell()
    shell.say("'%s' run -N 1 -- cat" % live.XYLEM)
    shell.say("one", b"one\r\n", b"one\r\n")
    shell.write(b"\x1a")
    shell.read_until(b"Stopped", b"ready> ")
    check_eq(b"T", live.state(shell.launcher()), "the launcher's state:")
    shell.say("echo my${NONE}self", b"myself\r\n")
    shell.say("fg", b"run -N 1")
    shell.say("two", b"two\r\n", b"two\r\n")
    shell.write(b"\x04")
    shell.read_until(b"ready> ")
    shell.write(b"exit $?\n")
    check_eq(0, shell.wait(20), "exit code:")


def main():
    with live.case("a program asks and gets its answer"):
        question()
    with live.case("several questions, on stdout and on stderr, with labels"):
        questions(1)
        questions(2)
        questions(1, "-l", label=b"0: ")
    with live.case("two processes ask"):
        two_ask()
    with live.case("in a pipe a question is held"):
        in_a_pipe(False)
    with live.case("but not with --unbuffered"):
        in_a_pipe(True)
    with live.case("in the background of a shell, and back"):
        background()
    with live.case("put aside with Ctrl-Z, and back"):
        put_aside()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""xylem dvm --report-uri writes the address to the file, replaces no file of
another program, and removes no file that it has not made."""
import os
import stat
import subprocess
import sys

import dvms
import pmix
import live
from live import check, check_eq
from terminal import open_pair

URI = b"xylem-dvm-"


def name(text):
    return os.path.join(live.TMP, text)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def is_uri(text):
    return text.startswith(URI) and text.endswith(b"\n") and \
        text.count(b"\n") == 1


def check_refused(path, code=2, what="is not overwritten"):
    done = subprocess.run([live.XYLEM, "dvm", "-N", "1", "--report-uri", path],
                          stderr=subprocess.PIPE, check=False,
                          timeout=60 * live.SLOW)
    said = done.stderr.decode()
    check_eq(code, done.returncode, said)
    check(what in said and "up:" not in said, said)


def others():
    """What belongs to another program is refused before anything starts."""
    path = write(name("precious"), "precious\n")
    link, gone = name("link"), name("gone")
    os.symlink(path, link)
    os.symlink(name("nowhere"), gone)
    for one in (path, link, gone, live.TMP):
        check_refused(one)
    check_eq(b"precious\n", live.read_file(path))
    check(os.path.islink(link) and os.path.islink(gone), "the links")
    check_refused(name("no/folder"), what="No such file or directory")
    check_refused(name("x" * 300), what="name too long")


def check_served(path, other=None):
    """A dvm with that file, up to its end; the other one takes its place."""
    dvm = dvms.start("--report-uri", path, nodes=1)
    check(is_uri(live.read_file(path)), live.read_file(path))
    if other:
        os.rename(other, path)
    check_eq((0, ""), dvms.stop())
    dvms.check_end(dvm)


def own():
    """An empty file, as mktemp makes them, is replaced, and so is the file of
    a former dvm that was killed, but not that of a dvm that lives. At its end
    a dvm removes only its own file."""
    path = write(name("empty"), "")
    check_served(path)
    check(not os.path.exists(path), "it goes with the dvm")
    dvm = dvms.start("--report-uri", path, nodes=1)
    former = live.read_file(path)
    check(is_uri(former), former)
    check_refused(path)
    check_eq(former, live.read_file(path), "while it lives")
    dvm.proc.kill()
    dvm.wait()
    live.check_gone(60)
    check_served(path)
    check(not os.path.exists(path), "it goes with the dvm")
    check_served(path, write(name("mine"), "mine\n"))
    check_eq(b"mine\n", live.read_file(path))


def between():
    """That of a dvm that lives is refused also where it came in between."""
    path, gate, helper = name("alive"), name("gate"), name("helper")
    os.mkfifo(gate)
    write(helper, "#!/bin/sh\n: <'%s'\nexec '%s' \"$@\"\n" % (
        gate, os.path.join(live.BUILD, "pmix_api", "xylem-pmix")))
    os.chmod(helper, 0o755)
    late = pmix.Dvm("-N", 1, "--report-uri", path,
                    env={**os.environ, "XYLEM_PMIX": helper})
    live.eventually(lambda: live.descendants(late.proc.pid), 60, "it begins")
    dvm = dvms.start("--report-uri", path, nodes=1)
    line = live.read_file(path)
    with open(gate, "w"):
        check_eq(1, late.wait(), late.said())
    check("is not overwritten" in late.said(), late.said())
    check_eq(line, live.read_file(path))
    check_eq((0, ""), dvms.stop())
    dvms.check_end(dvm)
    check(not os.path.exists(path), "it goes with the dvm")


def once():
    """The address is said once, whatever becomes of helpers: a dvm goes on
    when the reader of the address has gone, or its file belongs to another
    program now."""
    dvm = dvms.start("--report-uri", "-", nodes=1)
    got = dvm.stdout.readline()
    check(is_uri(got), got)
    dvm.stdout.close()
    check_same(dvm, got)
    path = name("once")
    dvm = dvms.start("--report-uri", path, nodes=1)
    got = live.read_file(path)
    os.rename(write(name("other"), "mine\n"), path)
    check_same(dvm, got)
    check_eq(b"mine\n", live.read_file(path))


def check_same(dvm, uri):
    """Tools find it where they did when its helper has been killed."""
    for _ in range(2):
        pmix.kill_helper(dvm)
        tool = pmix.Asker(dvm, "-u", uri.decode().strip())
        check(tool.connect(), "by that address")
        check_eq(0, tool.end())
    check("cannot write" not in dvm.said(), dvm.said())
    check_eq((0, ""), dvms.stop())
    dvms.check_end(dvm)


def stale():
    """What an earlier dvm has left goes at once, so that a reader that waits
    does not read it."""
    path = write(name("stale"), "xylem-dvm-1-server.0;tcp4://127.0.0.1:1\n")
    done = subprocess.run(
        [live.XYLEM, "dvm", "-w", "one", "--launcher", "ssh", "--rsh", "false",
         "--report-uri", path], stderr=subprocess.PIPE, check=False,
        timeout=60 * live.SLOW)
    check(done.returncode != 0, done.stderr)
    check(not os.path.exists(path), "it is not there")


def pipe():
    """A pipe gets the address when a process reads it, and stays."""
    path = name("pipe")
    os.mkfifo(path)
    dvm = dvms.start("--report-uri", path, nodes=1)
    with open(path, "rb") as file:
        got = file.read()
    check(is_uri(got), got)
    check_eq((0, ""), dvms.stop())
    dvms.check_end(dvm)
    dvm = dvms.start("--report-uri", path, nodes=1)
    check_eq((0, ""), dvms.stop())
    dvms.check_end(dvm)  # though it was not read
    check(stat.S_ISFIFO(os.stat(path).st_mode), "the pipe")


def streams():
    """stdout and stderr by name, and files like them, are written to; one that
    takes nothing ends it."""
    for path, where in (("/dev/stderr", "said"), ("/dev/stdout", "out")):
        dvm = pmix.Dvm("-N", 1, "--report-uri", path)
        dvm.wait_up()
        check_eq((0, ""), dvms.stop())
        text = dvm.stdout.read() if where == "out" else b""
        dvms.check_end(dvm)
        lines = (text or dvm.said().encode()).splitlines(True)
        check_eq(1, len([line for line in lines if is_uri(line)]), path)
        check(os.path.islink(path), path)
    check_refused("/dev/full", 1, "No space left")
    check_device("/dev/full")


def check_device(path):
    check(stat.S_ISCHR(os.stat(path).st_mode), path)


def terminal():
    """A terminal is written to."""
    master, slave = open_pair()
    path = os.ttyname(slave)
    dvm = dvms.start("--report-uri", path, nodes=1)
    got = os.read(master, 4096).replace(b"\r", b"")
    check(is_uri(got), got)
    check_eq((0, ""), dvms.stop())
    dvms.check_end(dvm)
    check_device(path)
    os.close(slave)
    os.close(master)


def main():
    pmix.need()
    for what in (others, own, between, once, stale, pipe,
                 streams, terminal):
        with live.case(" ".join(what.__doc__.split())):
            what()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

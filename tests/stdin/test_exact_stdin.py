#!/usr/bin/env python3
"""Every process gets exactly the bytes of the launcher's standard input."""
import hashlib
import os
import subprocess
import sys

import live
from live import case, check, check_eq

NODES = live.full(64, 16)
SIZE = live.full(256, 16) * live.MIB
INPUT = os.path.join(live.TMP, "input")
DATA = os.urandom(SIZE)
with open(INPUT, "wb") as file:
    file.write(DATA)


def sum_of(text):
    return hashlib.sha256(text).hexdigest() + "  -"


SUM, EMPTY = sum_of(DATA), sum_of(b"")


def sums(count, want, *args, stdin=INPUT, **more):
    """Checks that the output is the right sum this many times and nothing
    else."""
    with open(stdin, "rb") as file:
        ran = live.launch(*args, "--", "sha256sum", stdin=file, **more)
    check_eq([want] * count, ran.lines())


with case(f"{SIZE // live.MIB} MiB from a pipe into {NODES} processes"):
    sums(NODES, SUM, "-N", NODES, given=DATA)

with case("the same from a file on stdin, and by --input"):
    sums(NODES, SUM, "-N", NODES)
    sums(NODES, SUM, "-N", NODES, "--input", INPUT, stdin="/dev/null")

with case("with one daemon for each node, in raw mode and in a chain of "
          "nodes"):
    sums(7, SUM, "-N", 7, "--arity", 2, "--nodes-per-daemon", 1, "--raw")
    sums(4, SUM, "-N", 4, "--arity", 1, "--nodes-per-daemon", 1)

with case("several processes to a node"):
    sums(12, SUM, "-N", 3, "--ppn", 4)

with case("an empty input, and one byte"):
    sums(5, EMPTY, "-N", 5, stdin="/dev/null")
    sums(5, sum_of(b"x"), "-N", 5, given=b"x")

OUT = os.path.join(live.TMP, "out")


def start(*args, **more):
    """A job whose output goes to a file."""
    with open(OUT, "wb") as out:
        return live.Job(*args, stdout=out, **more)


def shown():
    return live.read_file(OUT).decode(errors="replace").splitlines()


with case("input that comes in drops reaches every process at once"):
    job = start("-N", 5, "--", "sh", "-c",
                'while read -r line; do echo "got $line"; done',
                stdin=subprocess.PIPE)
    for drop in (1, 2, 3):
        # The next one is written when all have answered this one.
        os.write(job.stdin.fileno(), b"drop %d\n" % drop)
        live.eventually(lambda: shown().count(f"got drop {drop}") == 5, 20,
                        shown)
    job.stdin.close()
    job.check_ok()
    check_eq(15, len(shown()))

with case("-i none: all see the end at once, and the input is left alone"):
    with open(INPUT, "rb", buffering=0) as file:
        ran = live.launch("-N", 5, "-i", "none", "--", "wc", "-c", stdin=file)
        check_eq(["0"] * 5, ran.lines())
        live.launch("-N", 2, "-i", "none", "--", "true", stdin=file)
        check(file.read() == DATA, "the input is all there")

with case("-i LIST: the others see the end at once"):
    with open(INPUT, "rb") as file:
        ran = live.launch("-N", 9, "--nodes-per-daemon", 1, "--arity", 2, "-l",
                          "-i", "1,3-4,8", "--", "sha256sum", stdin=file)
    check_eq([f"{rank}: {SUM if rank in (1, 3, 4, 8) else EMPTY}"
              for rank in range(9)], sorted(ran.lines()))

with case("a process that takes a part, closes its stdin or exits holds "
          "nobody up"):
    gate = live.Gate()
    with open(INPUT, "rb") as file:
        job = start("-N", NODES, "--", "sh", "-c", """
            case $XYLEM_RANK in
            1) head -c 1000 >/dev/null ;;
            2) exec <&-; read -r go <"$0" ;;
            3) ;;
            *) sha256sum ;;
            esac""", gate.path, stdin=file)
    live.eventually(lambda: len(shown()) == NODES - 3, live.full(460, 60),
                    shown)
    check(job.proc.poll() is None, "rank 2 lives on")
    gate.open()
    os.write(gate.fd, b"go\n")
    job.check_ok()
    check_eq([SUM] * (NODES - 3), shown())

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())

#!/usr/bin/env python3
"""When stdin is a file, the part that no process took is left for the next
reader of the file."""
import os
import sys

import live
from live import case, check, check_eq, check_has

# Each process takes exactly this many bytes and leaves the rest in its pipe.
TAKE = "head -c $((${0} * (XYLEM_RANK + 1))) >/dev/null"
LARGE_BYTES = 40 * live.MIB


def place(name):
    return os.path.join(live.TMP, name)


def write(name, content):
    with open(place(name), "wb") as file:
        file.write(content)
    return place(name)


def numbers(count):
    return b"".join(b"%d\n" % number for number in range(1, count + 1))


LIST = write("list", numbers(5))
SMALL = write("small", numbers(1000))
LARGE = write("large", os.urandom(LARGE_BYTES))


def leaves(path, taken, *args, code=0, skipped=0, quiet=True):
    """A job whose stdin is this file, from that byte on: the rest of the
    file, read behind the job, begins at the byte `taken`."""
    with open(path, "rb", buffering=0) as file:
        file.read(skipped)
        ran = live.launch("--launcher", "local", *args, code=code, stdin=file)
        at = file.seek(0, os.SEEK_CUR)
        rest = file.read()
    check_eq(taken, at, "where the rest begins:")
    check(live.read_file(path)[taken:] == rest, "another rest")
    if quiet:
        check_eq("", ran.said)
    return ran


with case("a shell's loop over a file keeps its lines"):
    for shell in ("bash", "sh"):
        ran = live.Ran(shell, "-c", """
            while read -r line; do
                "$0" run -w a,b --launcher local -- echo "line $line"
            done <"$1" """, live.XYLEM, LIST)
        check_eq([f"line {line}" for line in "1122334455"], ran.lines())

with case("a line that a process takes is gone, the next ones are not"):
    ran = live.Ran("bash", "-c", """
        while read -r line; do
            "$0" run -w a --launcher local -- sh -c "read -r x; echo $line \\$x"
        done <"$1" """, live.XYLEM, LIST)
    check_eq(b"1 2\n3 4\n5\n", ran.out)

with case("a part of a small file, all of which fits the pipe"):
    leaves(SMALL, 100, "-w", "a", "--", "sh", "-c", TAKE, 100)

with case("the one that took most counts"):
    leaves(SMALL, 600, "-w", "a,b,c", "--ppn", 2, "--", "sh", "-c", TAKE, 100)

with case("a part of a file that no window holds"):
    leaves(LARGE, 10000000, "-w", "a,b", "--", "sh", "-c", TAKE, 5000000)

with case("what waits in a spool for one that exits was not taken"):
    os.mkfifo(place("gate"))
    leaves(LARGE, 30000000, "-w", "a,b", "--stdin-slow=spill", "--spill-dir",
           live.TMP, "--", "sh", "-c", """
        if test $XYLEM_RANK = 0; then
            head -c 30000000 >/dev/null
            echo go >"$0"
        else
            read -r go <"$0"
            head -c 1000 >/dev/null
        fi""", place("gate"))

with case("all of it, and then nothing is left"):
    leaves(LARGE, LARGE_BYTES, "-w", "a,b", "--", "sh", "-c", "cat >/dev/null")

with case("who is not fed takes nothing"):
    leaves(SMALL, 200, "-w", "a,b,c", "-i", 1, "--", "sh", "-c", TAKE, 100)
    leaves(SMALL, 0, "-w", "a,b", "-i", "none", "--", "cat")

with case("what was read before the job stays read"):
    leaves(SMALL, 102, "-w", "a", "--", "sh", "-c", TAKE, 100,
           skipped=len(b"1\n"))

with case("--input leaves stdin alone"):
    leaves(SMALL, 0, "-w", "a", "--input", LARGE, "--", "sh", "-c", TAKE, 9)

with case("a process that a signal ends has taken what it took"):
    leaves(SMALL, 100, "-w", "a", "--", "sh", "-c", TAKE + "; kill -9 $$", 100,
           code=137, quiet=False)

with case("a process that cannot be started took nothing"):
    leaves(SMALL, 0, "-w", "a", "--", "/no/such/program", code=1, quiet=False)

with case("a process that closed its stdin took what it had read"):
    leaves(SMALL, 100, "-w", "a", "--", "sh", "-c",
           TAKE + '; exec <&-; read -r x <"$1"', 100, SMALL)

with case("of a process that was lost nothing is known: all that was sent is "
          "gone"):
    ran = leaves(SMALL, os.path.getsize(SMALL), "-w", "a,b",
                 "--nodes-per-daemon", 1, "--heartbeat", 2, "--", "sh", "-c",
                 """test $XYLEM_RANK = 0 || exec tail -f /dev/null
        head -c 10 >/dev/null
        spawner=$PPID
        read -r _ _ _ daemon _ <"/proc/$spawner/stat"
        kill -9 "$daemon"; exec tail -f /dev/null""", code=1, quiet=False)
    check_has("is lost", ran.said)

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())

#!/usr/bin/env python3
"""What is changed in output to a terminal only: a colour that a process has
left on ends where output of another process follows; a label is repeated after
a carriage return."""
import os
import sys

import live
from live import case, check, check_eq
from terminal import Terminal

RED, END = b"\033[31m", b"\033[0m"
SAY = ("sh", "-c", "printf '\\033[31mred %s\\n' $XYLEM_RANK; "
       "printf 'on\\n'")


def shown(*options, words=SAY):
    """What a terminal gets, from the first line of a process on."""
    terminal = Terminal(live.XYLEM, "run", "-q", "--launcher", "local",
                        *options, "--", *words)
    while terminal.read_more(60 * live.SLOW):
        pass
    check_eq(0, terminal.proc.wait())
    os.close(terminal.fd)
    return terminal.text.replace(b"\r\n", b"\n")


def of_rank(rank, label):
    head = b"%d: " % rank if label else b""
    return head + RED + b"red %d\n" % rank + head + b"on\n"


with case("it ends before another process, and not within its own lines"):
    for label in (False, True):
        text = shown("-N", 3, "--order=rank", *(["-l"] if label else []))
        check_eq(END.join(of_rank(rank, label) for rank in range(3)), text)

with case("of one process it stays on"):
    check_eq(of_rank(0, False), shown("-N", 1))

with case("bytes are as they are with --raw"):
    check_eq(b"".join(of_rank(rank, False) for rank in range(3)),
             shown("-N", 3, "--order=rank", "--raw"))

with case("and in a pipe"):
    ran = live.launch("-qN", 3, "--order=rank", "-l", "--", *SAY)
    check_eq(b"".join(of_rank(rank, True) for rank in range(3)), ran.out)

with case("an open line is ended behind the colour"):
    text = shown("-N", 2, "--order=rank", words=(
        "sh", "-c", "printf '\\033[1mopen %s' $XYLEM_RANK"))
    check(text in (b"\033[1mopen 0" + END + b"\n\033[1mopen 1",
                   b"\033[1mopen 0" + END + b"\n\033[1mopen 1\n"), text)

with case("a bar that is drawn over itself keeps its label"):
    BAR = ("sh", "-c", r"for n in 10 20 30; do printf '\r %s%%' $n; done; echo")
    check_eq(b"0: \r0:  10%\r0:  20%\r0:  30%\n",
             shown("-N", 1, "-l", words=BAR))
    check_eq(b"\r 10%\r 20%\r 30%\n", shown("-N", 1, words=BAR))
    check_eq(b"0: \r 10%\r 20%\r 30%\n",
             live.launch("-qN", 1, "-l", "--", *BAR).out)

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())

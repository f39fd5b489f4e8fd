#!/usr/bin/env python3
"""--help begins with the options that people use most, fits into the terminal,
and has examples that work."""
import fcntl
import re
import shlex
import struct
import sys
import termios

import live
import terminal
from live import case, check, check_eq, check_has

OPTION = re.compile(r"  +(?:-\w, )*--([a-z-]+)")


def tell(*words):
    return live.Ran(live.XYLEM, *words).lines()


def options(lines):
    return [found[1] for found in map(OPTION.match, lines) if found]


def examples(lines):
    """Returns the commands after `Examples:', without their explanations."""
    behind = lines[lines.index("Examples:") + 1:]
    return [re.split(r"   +", line.strip())[0] for line in behind
            if line.startswith("  ")]


def lines_at(columns, *words):
    """Returns the lines that a terminal of this many columns shows."""
    screen = terminal.Terminal("sh", "-c", 'read -r _; exec "$@"', "sh",
                               live.XYLEM, *words)
    fcntl.ioctl(screen.fd, termios.TIOCSWINSZ,
                struct.pack("HHHH", 50, columns, 0, 0))
    screen.write(b"\n")
    screen.read_until(b"print version", b"Examples:")
    while screen.read_more(30):
        pass
    check_eq(0, screen.wait())
    return screen.text.decode().replace("\r", "").splitlines()


with case("the options of run that are used most come first, each once"):
    HELP = tell("run", "--help")
    check_eq("Most used:", HELP[HELP.index("") + 1])
    check_eq(["hosts", "nodes", "procs"], options(HELP)[:3])
    check_eq(len(set(options(HELP))), len(options(HELP)))
    for option in ("heartbeat", "stdin-slow", "format", "linger"):
        check(option in options(HELP), option + " is not there")

with case("tree shows its own options alone, and takes those of run"):
    TREE = tell("tree", "--help")
    for option in ("hosts", "arity", "json", "all", "help"):
        check(option in options(TREE), option + " is not there")
    for option in ("stdin", "label", "timeout", "heartbeat"):
        check(option not in options(TREE), option + " is there")
    check_eq(tell("tree", "-N", 3),
             tell("tree", "-N", 3, "--stdin", "none", "-l", "--timeout", 3))

with case("without a terminal no line has more than 80 characters"):
    for command in ("run", "attach", "stack", "dvm", "tree", "sim"):
        longest = max(tell(command, "--help"), key=len)
        check(len(longest) <= 80, f"{command}: {longest}")

with case("lines fit into the terminal, and use its width"):
    for columns in (60, 80, 118):
        shown = lines_at(columns, "run", "--help")
        longest = max(map(len, shown[:shown.index("Examples:")]))
        check(columns - 20 < longest <= columns,
              f"{longest} characters in {columns} columns")

with case("the examples work"):
    ran = 0
    for line in examples(tell("--help")) + examples(HELP) + examples(TREE):
        words = shlex.split(line)
        if words[0] != "xylem" or not {"-N", "tree"} & set(words):
            continue
        done = live.Ran(live.XYLEM, *words[1:])
        check(done.out != b"", f"{line}: {done.said}")
        ran += 1
    check_eq(4, ran, "examples run:")
    check_has("attach", "\n".join(examples(tell("--help"))))

live.check_all_gone()
sys.exit(live.end())

#!/usr/bin/env python3
"""The rules of CONTRIBUTING.md that a script can see."""
import os
import re
import shutil
import subprocess

import sources

WIDTH = 80
LINES = {".c": 600, ".h": 200, ".py": 600, ".sh": 600}
FUNCTION = 60  # lines without flat switches and tables
CASE = 4
CLANG_FORMAT = 14
PREFIXES = ("ov", "topo", "text", "job", "ep", "px", "sim")

UNFINISHED = re.compile(r"\b(TODO|FIXME|HACK)\b|\bXXX\b")
# A pause where a condition should be awaited. What a job does is not checked
# (`run -- sleep 100`); a pause that is the subject of a test says so:
# sleep-ok.
SLEEP_C = re.compile(r"\b(u|nano|clock_nano)?sleep\s*\(")
SLEEP_SH = re.compile(r"(^|[;&|]|\b(do|then|else)\b)\s*sleep\b")
CASE_LABEL = re.compile(r"\s*(case\b.*|default):$")
NESTING = re.compile(r"\s*(if|else|for|while|do|switch)\b|.*\{$")
SWITCH = re.compile(r"\s+switch \(.*\{$")
TABLE = re.compile(r"\s+static const .*= \{$")
STATIC = re.compile(r"static\s+(?!inline\b)[^=;()]*?\b(\w+)\s*\(")


def is_flat(cases):
    """True when each case of a switch is short and without nesting."""
    lines = 0
    for line in cases:
        lines = 0 if CASE_LABEL.match(line) else lines + 1
        if lines > CASE or NESTING.match(line):
            return False
    return True


def weight(body):
    """Counts the lines of a function, without flat switches and tables."""
    count = at = 0
    while at < len(body):
        count += 1
        line = body[at]
        at += 1
        if not SWITCH.match(line) and not TABLE.match(line):
            continue
        indent = line[:len(line) - len(line.lstrip())]
        end = next((i for i in range(at, len(body))
                    if body[i] in (indent + "}", indent + "};")), at)
        if TABLE.match(line) or is_flat(body[at:end]):
            at = end
    return count


def lengths(path, lines):
    suffix = os.path.splitext(path)[1]
    count = len(lines) - 1
    if count > LINES.get(suffix, count):
        yield 1, f"{count} lines, of {LINES[suffix]} at most: split it"
    start = 0
    for number, line in enumerate(lines, 1):
        if len(line) > WIDTH:
            yield number, f"{len(line)} columns, of {WIDTH} at most"
        if suffix not in (".c", ".h"):
            continue
        if line == "{":
            start = number
        elif line == "}" and start:
            count = weight(lines[start:number - 1])
            if count > FUNCTION:
                yield start, f"a function of {count} lines, " \
                    f"of {FUNCTION} at most"
            start = 0


def text_rules(lines):
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "blanks at the end"
        if UNFINISHED.search(line) and "UNFINISHED" not in line:
            yield number, "unfinished by its own words"
    if lines[-1] != "":
        yield len(lines), "no newline at the end"


def sleeps(root, path, lines):
    """Finds pauses: tests wait for conditions only."""
    if not path.startswith("tests" + os.sep):
        return
    if path.endswith((".c", ".h")):
        found = [number for number, line in sources.code_lines(root, path)
                 if SLEEP_C.search(line)]
    else:
        words = SLEEP_SH if path.endswith(".sh") else SLEEP_C
        found = [number for number, line in enumerate(lines, 1)
                 if words.search(line)]
    for number in found:
        if "sleep-ok" not in lines[number - 1]:
            yield number, "a sleep: wait for what happens (or sleep-ok: why)"


def shape(path, lines):
    """Checks that a file begins with a comment about its purpose, and that a
    header has the guard of its path."""
    if not lines[0].startswith("/*"):
        yield 1, "the first line is not a comment that says what this is for"
    if path.endswith(".h"):
        guard = re.sub(r"[^A-Za-z0-9]", "_", path).upper()
        if f"#ifndef {guard}" not in lines or f"#define {guard}" not in lines:
            yield 1, f"no guard {guard}"


def includes(root, path, lines):
    """Checks that a file includes its own header first."""
    own = os.path.splitext(path)[0] + ".h"
    if not path.endswith(".c") or not os.path.isfile(os.path.join(root, own)):
        return
    for number, line in enumerate(lines, 1):
        if line.startswith("#include") and line != '#include "config.h"':
            if line != f'#include "{own}"':
                yield number, f'"{own}" is not the first include'
            return


def statics(root, path):
    """Checks names: those with linkage have the folder's prefix, statics have
    none."""
    for number, line in sources.code_lines(root, path):
        if re.search(r'\bOV_ASSERT\(!""', line):
            yield number, "a text as a condition: OV_IMPOSSIBLE says this"
        match = STATIC.match(line)
        if match and path.endswith(".c") \
                and match[1].split("_")[0] in PREFIXES:
            yield number, f"{match[1]}: a static has no prefix"


def lists(lines):
    """Checks that lists of files in files.am are sorted, and closed by a
    comment."""
    last = None
    for number, line in enumerate(lines, 1):
        match = re.match(r"\t%D%/(\S+)( \\)?$", line)
        if not match:
            last = None
            continue
        if last is not None and match[1] < last:
            yield number, f"{match[1]} is not in order"
        if not match[2]:
            yield number, "the list is not closed by a comment"
        last = match[1]


def formatting(root, paths):
    """Compares the file with clang-format's result, when clang-format has the
    version that the rules are made for."""
    tool = shutil.which(f"clang-format-{CLANG_FORMAT}") or \
        shutil.which("clang-format")
    if not tool or not paths:
        return
    version = subprocess.run([tool, "--version"], stdout=subprocess.PIPE,
                             check=False).stdout.decode()
    if f"version {CLANG_FORMAT}." not in version:
        return
    done = subprocess.run([tool, "--dry-run", "--style=file", *paths],
                          cwd=root, stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.STDOUT)
    seen = set()
    for match in re.finditer(r"^(\S+?):(\d+):\d+: (?:warning|error): ",
                             done.stdout.decode(), re.M):
        if match[1] not in seen:
            seen.add(match[1])
            yield match[1], int(match[2]), "clang-format would change it"


def complaints(root):
    code = sources.walk(root, (".c", ".h"))
    scripts = sources.walk(root, (".py", ".sh"))
    for path in code + scripts:
        lines = sources.read(root, path)
        found = [*lengths(path, lines), *text_rules(lines),
                 *sleeps(root, path, lines)]
        if path in code:
            found += [*shape(path, lines), *includes(root, path, lines),
                      *statics(root, path)]
        for number, text in sorted(found):
            yield path, number, text
    for path in sources.walk(root, ("files.am",),
                             (*sources.FOLDERS, "docs")):
        for number, text in lists(sources.read(root, path)):
            yield path, number, text
    yield from formatting(root, code)


if __name__ == "__main__":
    sources.main(complaints)

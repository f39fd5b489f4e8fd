"""What the lints share: the files of a tree and how complaints are given.

A lint is a script of this folder with a function complaints(root) that yields
(path, line, text); root is the top of the sources, or of a fixture. Called as
`LINT.py [ROOT]` it prints them as path:line: text and exits 1 if there was any.
"""
import os
import re
import sys

# The folders whose C code the rules are about.
FOLDERS = ("overlay", "topo", "text", "job", "endpoints", "pmix_api", "sim",
           "commands", "tests", "bench")
FIXTURES = os.path.join("tests", "lint", "fixtures")


def walk(root, suffixes, folders=FOLDERS):
    """Returns the paths below root, relative to it, sorted; fixtures are left
    out."""
    found = []
    for folder in folders:
        for at, names, files in os.walk(os.path.join(root, folder)):
            at = os.path.relpath(at, root)
            names[:] = [name for name in names if not name.startswith(".")
                        and os.path.join(at, name) != FIXTURES]
            found += [os.path.join(at, file) for file in files
                      if file.endswith(suffixes)]
    return sorted(found)


def read(root, path):
    """Returns the lines of a file, without their ends."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read().split("\n")


def code_lines(root, path):
    """Returns (number, line) of C code, in which comments and the contents of
    strings are blanked."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()

    def blank(match):
        piece = match[0]
        if piece[0] in "\"'":
            return piece[0] + piece[0]
        return "\n" * piece.count("\n")

    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'
                  r"'(?:\\.|[^'\\\n])+'", blank, text, flags=re.S)
    return enumerate(text.split("\n"), 1)


def main(complaints):
    root = sys.argv[1] if len(sys.argv) > 1 else os.environ.get(
        "top_srcdir", ".")
    count = 0
    for path, line, text in complaints(root):
        print(f"{path}:{line}: {text}")
        count += 1
    sys.exit(1 if count else 0)

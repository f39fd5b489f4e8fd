#!/usr/bin/env python3
"""No struct above the core has more than MEMBERS members.

What is larger is several things: those that are written together become a
struct with a name of their own, which counts as one. Members of nested structs
and unions count one by one.

A description is no state: those who make it fill it, and everybody else has it
as `const`. DESCRIPTIONS has each with its makers, and this holds it. EXCEPTIONS
has what is still larger, with the number that it may not exceed.
"""
import re

import sources

MEMBERS = 30
PRODUCT = ("topo", "text", "job", "endpoints", "sim", "pmix_api", "commands")

# name: (the prefixes of the paths of its makers, what it describes)
DESCRIPTIONS = {
    "ep_run_options": (("commands/",), "a command line"),
    "sim_summary": (("sim/summary.", "commands/sim."), "a run that is over"),
}

# name: (members, since when, why)
EXCEPTIONS = {}

DEFINED = re.compile(r"\bstruct\s+(\w+)\s*\{")
NESTED = re.compile(r"\b(?:struct|union|enum)\b\s*(?:\w+\s*)?\{")
PARENTHESES = re.compile(r"\([^()]*\)")


def end_of(text, start):
    """Returns the place where the brace that opens at start is closed."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def count(body):
    """Counts the members between the braces of a struct."""
    members = 0
    while match := NESTED.search(body):
        end = end_of(body, match.end() - 1)
        inner = count(body[match.end():end])
        after = body[end + 1:]
        if match[0].startswith("enum"):
            after = "enum" + after
        else:
            members += inner
            after = after.partition(";")[2]
        body = body[:match.start()] + after
    while PARENTHESES.search(body):
        body = PARENTHESES.sub("", body)
    return members + sum(declaration.count(",") + 1
                         for declaration in body.split(";")
                         if declaration.strip())


def code(root, path):
    """Returns the code of a file, without preprocessor lines."""
    text = "\n".join(line for _, line in sources.code_lines(root, path))
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$",
                  lambda match: "\n" * match[0].count("\n"), text, flags=re.M)


def structs(text):
    """Returns (name, line, members) of each struct with a name."""
    for match in DEFINED.finditer(text):
        body = text[match.end():end_of(text, match.end() - 1)]
        yield match[1], text.count("\n", 0, match.start()) + 1, count(body)


def sizes(text, found):
    for name, line, members in structs(text):
        found.add(name)
        if name in DESCRIPTIONS:
            continue
        most, _, _ = EXCEPTIONS.get(name, (MEMBERS, None, None))
        if members > most:
            yield line, f"{name} has {members} members, of {most} at most"
        elif name in EXCEPTIONS and members < most:
            yield line, f"{name} has {members} members: EXCEPTIONS says {most}"


def writers(path, text):
    """Finds files that could change a description and are not its makers."""
    for name, (makers, _) in DESCRIPTIONS.items():
        if path.startswith(makers):
            continue
        for match in re.finditer(rf"(\w+\s+)?\bstruct\s+{name}\s*\*", text):
            if (match[1] or "").strip() != "const":
                yield text.count("\n", 0, match.end()) + 1, \
                    f"{name} is a description, and not const here"


def complaints(root):
    found = set()
    for path in sources.walk(root, (".c", ".h"), PRODUCT):
        text = code(root, path)
        for line, words in [*sizes(text, found), *writers(path, text)]:
            yield path, line, words
    for name in sorted({*DESCRIPTIONS, *EXCEPTIONS} - found):
        yield "tests/lint/members.py", 1, f"{name} needs no entry"


if __name__ == "__main__":
    sources.main(complaints)

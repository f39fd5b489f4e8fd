#!/usr/bin/env python3
"""A type exists once: what a header calls a struct, enum or union is one thing.

In the product a tag that a header defines is defined nowhere else, in another
header or in a file of its own. So a name says one thing to who reads it, and
two files that meet in one program cannot mean two things by it. Files may have
types for themselves alone whose names other files use, too.
"""
import re

import sources

PRODUCT = ("overlay", "topo", "text", "job", "endpoints", "sim", "pmix_api",
           "commands")
DEFINED = re.compile(r"\b(?:struct|enum|union)\s+(\w+)\s*\{")


def definitions(root, path):
    """Returns (tag, line) of each type that is defined there."""
    text = "\n".join(line for _, line in sources.code_lines(root, path))
    for match in DEFINED.finditer(text):
        yield match[1], text.count("\n", 0, match.start()) + 1


def complaints(root):
    places = {}
    for path in sources.walk(root, (".c", ".h"), PRODUCT):
        for tag, line in definitions(root, path):
            places.setdefault(tag, []).append((path, line))
    for tag, found in sorted(places.items()):
        owner = next((path for path, _ in found if path.endswith(".h")), None)
        if owner is None:
            continue
        found.remove(next(place for place in found if place[0] == owner))
        for path, line in found:
            yield path, line, f"{tag} is a type of {owner}, too"


if __name__ == "__main__":
    sources.main(complaints)

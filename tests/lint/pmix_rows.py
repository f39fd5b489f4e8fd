#!/usr/bin/env python3
"""What docs/pmix-attributes.md says of an attribute is tested where it says so,
and is what the code does.

The rows of "Attribute by attribute": each file that one names is one of
tests/pmix/, and each attribute is in one of them, by its name or by the key
that stands behind it. No attribute has two rows.

A row says "refused" just where the code refuses the attribute by name, and
each attribute that the tables of the code name is somewhere in the document.

specification.txt has the names that RFC 0010, 0023 and 0025, the design guide
of IO forwarding and the standard's chapter on tools use; each has a row.
"""
import os
import re

import sources

DOCUMENT = os.path.join("docs", "pmix-attributes.md")
FOLDER = os.path.join("tests", "pmix")
HEADING = "## Attribute by attribute"
LIB = os.path.join("pmix_api", "helper", "lib")
REFUSED = "refused.c"
SPECIFICATION = os.path.join("tests", "lint", "specification.txt")
TABLES = (REFUSED, "directive.c", "output.c", "wish.c")


def rows(root):
    """Returns (line, [(attribute, key or None)], what is said, [file]) of each
    row."""
    inside = False
    for number, line in enumerate(sources.read(root, DOCUMENT), 1):
        if line.startswith("## "):
            inside = line == HEADING
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not inside or len(cells) != 3 or "`" not in cells[0]:
            continue
        names = re.findall(r"`(PMIX_\w+)`(?: `(pmix[.\w]+)`)?", cells[0])
        yield number, names, cells[1], re.findall(r"`([^`]+)`", cells[2])


def named(root, file):
    """Returns {attribute: line} of the tables in a file of the code."""
    path = os.path.join(LIB, file)
    if not os.path.exists(os.path.join(root, path)):
        return {}
    found, inside = {}, False
    for number, line in sources.code_lines(root, path):
        inside = inside or re.match(r"(static const |\}).*= \{", line)
        for name in re.findall(r"PMIX_\w+", line) if inside else ():
            found.setdefault(name, number)
        inside = inside and not line.endswith("};")
    return found


def disagreements(root):
    refused = named(root, REFUSED)
    document = "\n".join(sources.read(root, DOCUMENT))
    for file in TABLES:
        for name, number in named(root, file).items():
            if not re.search(name + r"\b", document):
                yield os.path.join(LIB, file), number, \
                    f"{name}: not in {DOCUMENT}"
    for number, names, said, _ in rows(root):
        for name, _ in names:
            if "refused" in said and name not in refused:
                yield DOCUMENT, number, f"{name}: {REFUSED} does not refuse it"
            if "refused" not in said and name in refused:
                yield DOCUMENT, number, f"{name}: {REFUSED} refuses it"


def text_of(root, file):
    try:
        return "\n".join(sources.read(root, os.path.join(FOLDER, file)))
    except FileNotFoundError:
        return None


def has(text, names):
    return any(name and re.search(re.escape(name) + r"\b", text)
               for name in names)


def specified(root):
    if not os.path.exists(os.path.join(root, SPECIFICATION)):
        return []
    return [name for name in sources.read(root, SPECIFICATION) if name]


def complaints(root):
    seen = set()
    for number, names, _, files in rows(root):
        texts = {file: text_of(root, file) for file in files}
        for file, text in texts.items():
            if text is None:
                yield DOCUMENT, number, f"{file}: not in {FOLDER}"
        whole = "\n".join(filter(None, texts.values()))
        for pair in names:
            if pair[0] in seen:
                yield DOCUMENT, number, f"{pair[0]}: has another row"
            seen.add(pair[0])
            if files and not has(whole, pair):
                yield DOCUMENT, number, f"{pair[0]}: in none of " + \
                    ", ".join(files)
    if not seen:
        yield DOCUMENT, 1, f"no rows beneath '{HEADING}'"
    for number, name in enumerate(specified(root), 1):
        if name not in seen:
            yield SPECIFICATION, number, f"{name}: has no row in {DOCUMENT}"
    yield from disagreements(root)


if __name__ == "__main__":
    sources.main(complaints)

#!/usr/bin/env python3
"""What docs/pmix.md says of an attribute is tested where it says so.

The rows of "Attribute by attribute": each file that one names is one of
tests/pmix/, and each attribute is in one of them, by its name or by the key
that stands behind it. No attribute has two rows.
"""
import os
import re

import sources

DOCUMENT = os.path.join("docs", "pmix.md")
FOLDER = os.path.join("tests", "pmix")
HEADING = "## Attribute by attribute"


def rows(root):
    """(line, [(attribute, key or None)], [file])"""
    inside = False
    for number, line in enumerate(sources.read(root, DOCUMENT), 1):
        if line.startswith("## "):
            inside = line == HEADING
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not inside or len(cells) != 3 or "`" not in cells[0]:
            continue
        names = re.findall(r"`(PMIX_\w+)`(?: `(pmix[.\w]+)`)?", cells[0])
        yield number, names, re.findall(r"`([^`]+)`", cells[2])


def text_of(root, file):
    try:
        return "\n".join(sources.read(root, os.path.join(FOLDER, file)))
    except FileNotFoundError:
        return None


def has(text, names):
    return any(name and re.search(re.escape(name) + r"\b", text)
               for name in names)


def complaints(root):
    seen = set()
    for number, names, files in rows(root):
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


if __name__ == "__main__":
    sources.main(complaints)

#!/usr/bin/env python3
"""Each message of the product is in docs/messages.md, and nothing else is.

A message is a string of the code (strings that stand one behind the other are
one) with a blank and WORDS_MIN words: nearly all such strings of these folders
are there to be read by a user. What is not is known by where it stands: as an
argument of one of SPARED_CALLS, in a table of commands/ (texts of --help), in
what goes to another stream than stderr, or in a file of SPARED_FILES.

A row of the table begins with a cell of messages, each between backticks. A
message of the code is in one of them when its constant parts, those between
conversions as %s, stand there in the same order. A message of the table is in
the code when what is left of it without the parts of one such string is made of
words in capitals, numbers, and parts of other strings of the code.
"""
import os
import re

import sources

FOLDERS = ("commands", "endpoints", "job", "overlay", "pmix_api", "sim", "text",
           "topo")
TABLE = os.path.join("docs", "messages.md")
WORDS_MIN = 3
PIECES_MAX = 3  # the most pieces that one place of a message may consist of

# Strings that no user reads in this form, and why.
SPARED_CALLS = {
    "JOB_LINE": "what a line of the start-up text or of a job looks like",
    "OV_IMPOSSIBLE": "a fault of xylem itself, told as such",
    "UINT": "names of fields",
    "X": "names of counters and errors in a table",
    "_Static_assert": "for the compiler",
    "derive": "names of keys",
    "json_pack": "the layout of a report",
    "printf": "output that was asked for",
    "put_time": "output that was asked for",
    "puts": "output that was asked for",
    "say": "a line of a trace",
    "sim_world_fail": "a fault of xylem itself: `a rule broke', with this",
    "sscanf": "is compared with",
    "strcmp": "is compared with",
    "strstr": "is compared with",
    "system": "a command",
    "topo_fabric_parse": "the name of a source",
}
SPARED_FILES = {
    "commands/ps/table.c": "output that was asked for",
    "commands/run_options.h": "texts of --help",
    "commands/stack/script.c": "a script for sh",
    "commands/sim_plot.c": "a script for gnuplot",
    "commands/tree_draw.c": "output that was asked for",
    "endpoints/run/status_words.c": "the line of status, which goes again",
    "sim/check_jobs.c": "faults of xylem itself",
    "sim/report.c": "output that was asked for",
    "sim/swarm.c": "output that was asked for",
}
SPARED_TEXTS = {
    " failed on node ": "a word of srun",
    "Task launch for ": "a word of srun",
    "ssh -o BatchMode=yes": "a command",
}

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"'
                   r"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|\s+|.", re.S)
CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?"
                        r"(?:(?:hh|h|ll|l|z|j)?[diouxXcsfgeGp]|\{PRI\w+\})")
ESCAPE = re.compile(r"\\(?:n|r|033\[K)")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
SPAN = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)")
FREE = re.compile(r"[^a-z]*(?:\b[A-Z][A-Za-z]*\b[^a-z]*)*")


class String:
    def __init__(self, path, line, where):
        self.path, self.line, self.where, self.text = path, line, where, ""

    def parts(self):
        text = ESCAPE.sub("\n", self.text.replace('\\"', '"'))
        text = CONVERSION.sub("\n", text).replace("%%", "%")
        text = re.sub(r"^(\s*)(xylem|xylemd): ", r"\1", text)
        return [part.strip() for part in text.split("\n") if part.strip()]

    def is_message(self):
        call, bracket, first = self.where
        return (" " in self.text.strip()
                and len(WORD.findall(" ".join(self.parts()))) >= WORDS_MIN
                and self.path not in SPARED_FILES
                and self.text not in SPARED_TEXTS
                and call not in SPARED_CALLS
                and not (call == "fprintf" and first != "stderr")
                and not (self.path.startswith("commands") and bracket == "{"
                         and call != ")"))


def strings(root, path):
    """Returns the strings of a file. `where` is the text before the
    surrounding bracket, the bracket, and the first word after it."""
    found, around, before, line = None, [], "", 1
    for token in TOKEN.findall("\n".join(sources.read(root, path))):
        here, line = line, line + token.count("\n")
        if token.isspace() or token.startswith(("/*", "//")):
            continue
        if token[0] == '"':
            found = found or String(path, here, tuple(
                around[-1] if around else ("", "", "")))
            found.text += token[1:-1]
        elif found and token.startswith("PRI"):
            found.text += "{%s}" % token
        else:
            if found:
                yield found
            found = None
            if token in "({":
                around.append([before, token, ""])
            elif token in ")}" and around:
                around.pop()
            elif around and not around[-1][2]:
                around[-1][2] = token
        before = token


def rows(root):
    """Returns (line, message) of the table."""
    for number, line in enumerate(sources.read(root, TABLE), 1):
        cells = re.split(r"(?<!\\) \| ", line)
        if line.startswith("| `"):
            for _, message in SPAN.findall(cells[0]):
                yield number, " ".join(message.split())


def pattern(parts):
    """True when the parts are there in this order, whatever is between
    them."""
    return re.compile(".*?".join(map(re.escape, parts)))


def without(message, parts):
    """Returns what is left of a message without these parts; each part must
    come after the one before."""
    left, at = [], 0
    for part in parts:
        place = message.find(part, at)
        left.append(message[at:place])
        at = place + len(part)
    return left + [message[at:]]


def bare(text):
    return text.strip(" ,;:()'\"`")


def is_tiled(words, pieces, most):
    """True when the text is made of at most this many pieces in a row."""
    if not words:
        return True
    return most > 0 and any(
        bare(" ".join(words[:count])) in pieces
        and is_tiled(words[count:], pieces, most - 1)
        for count in range(len(words), 0, -1))


def is_made_of(left, pieces):
    """True when there is nothing but words in capitals, numbers and strings of
    the code."""
    return all(FREE.fullmatch(part)
               or is_tiled(bare(part).split(), pieces, PIECES_MAX)
               for part in re.split(r"\.\.\.|\b[A-Z][A-Z0-9_]*\b(?!')", left))


def complaints(root):
    every = [one for path in sources.walk(root, (".c", ".h"), FOLDERS)
             for one in strings(root, path)]
    told = list(rows(root))
    pieces = {bare(part) for one in every for part in one.parts()}
    known = [(one.parts(), pattern(one.parts())) for one in every
             if one.parts()]
    texts = "\n".join(message for _, message in told)
    for one in every:
        if one.is_message() and not pattern(one.parts()).search(texts):
            yield one.path, one.line, f'"{one.text}" is not in {TABLE}'
    for line, message in told:
        least = min(2, len(re.findall(r"\b[a-z]+", message)))
        if not any(shape.search(message)
                   and len(WORD.findall(" ".join(parts))) >= least
                   and all(is_made_of(left, pieces)
                           for left in without(message, parts))
                   for parts, shape in known):
            yield TABLE, line, f'no message of the code is "{message}"'


if __name__ == "__main__":
    sources.main(complaints)

"""Random lines of processes, and a model of what filters leave of them."""
import os
import random
import re

# Random lines of one rank to both channels: NUL, bytes that are no UTF-8, empty
# lines, some of 200 KB, and a last one without a newline.
SOURCE = """
import os, random, sys
chance = random.Random(int(sys.argv[1]) * 1000 + int(os.environ["XYLEM_RANK"]))
ALPHABET = bytes(b for b in range(256) if b != 10)
def line(kind):
    if kind < 2:
        return b""
    if kind < 4:
        return bytes(chance.choice(ALPHABET) for _ in range(100))
    if kind == 4:
        long = bytearray(chance.choice(b"abcxyz") for _ in range(199)) * 1000
        if chance.random() < .5:
            at = chance.choice((0, 65535, 65536, 70000, 198999))
            long[at:at + 1] = b"!"
        return bytes(long)
    return bytes(chance.choice(b"abcxyz \\0\\xff") for _ in
                 range(chance.randrange(30)))
for fd in (1, 2):
    with os.fdopen(os.dup(fd), "wb", buffering=chance.choice((100, 100000))) \\
            as out:
        for _ in range(chance.randrange(400, 600)):
            out.write(line(chance.randrange(60)) + b"\\n")
        out.write(b"the end")
"""
SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
JUDGED = 65536


def lines_of(text):
    """The lines, each with its newline."""
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


class Model:
    """Leaves lines of one channel out, and counts them."""

    def __init__(self):
        self.left = {}

    def leave(self, reason, line):
        lines, size = self.left.get(reason, (0, 0))
        self.left[reason] = lines + 1, size + len(line)

    def only(self, reason, lines, is_kept):
        for line in lines:
            if is_kept(line.rstrip(b"\n")[:JUDGED]):
                yield line
            else:
                self.leave(reason, line)

    def ends(self, lines, head, tail):
        lines = list(lines)
        cut = max(len(lines) - tail, head)
        for line in lines[head:cut]:
            self.leave("lines", line)
        return lines[:head] + lines[cut:]

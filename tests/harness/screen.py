"""What a terminal shows of the bytes that are written to it, for live tests.

It knows what xylem writes, and nothing else: text, CR, LF, BS, to erase the
rest of a line or of the screen, to go up within the last `lines` rows, and
colours, which it does not keep. Lines that scroll out stay in `rows`.
"""
import os
import re

import live
import terminal

ERASES = {b"\x1b[K": "line", b"\x1b[J": "screen"}
MOVES = re.compile(rb"\x1b\[(\d+(?:;\d+)*)([Am])")
BEGINS = re.compile(rb"\x1b(\[[\d;]*)?")
# A whole line of status.
STATUS = re.compile(r"xylem: \d+ (of \d+ nodes? joined|starting|running)")


class Screen:
    def __init__(self, columns, lines=24):
        self.columns, self.lines = columns, lines
        self.rows = [""]
        self.row = self.column = 0
        self.escape = b""
        self.shown = []  # each whole status line that was shown

    def feed(self, text):
        for byte in text:
            self._take(bytes([byte]))

    def _take(self, byte):
        if self.escape or byte == b"\x1b":
            self.escape += byte
            if self.escape in ERASES:
                self._erase(ERASES[self.escape])
                self.escape = b""
            elif match := MOVES.fullmatch(self.escape):
                if match[2] == b"A":
                    self._up(int(match[1]))
                self.escape = b""
            elif not BEGINS.fullmatch(self.escape):
                raise AssertionError(f"an unknown escape: {self.escape!r}")
        elif byte == b"\r":
            self.column = 0
        elif byte == b"\n":
            self._down()
        elif byte == b"\b":
            self.column = max(self.column - 1, 0)
        else:
            self._put(byte.decode("latin-1"))

    def _up(self, count):
        if not 0 < count <= self.row - max(len(self.rows) - self.lines, 0):
            raise AssertionError(f"{count} rows above {self.row}")
        self.row -= count

    def _down(self):
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")

    def _put(self, char):
        if self.column == self.columns:
            self.column = 0
            self._down()
        line = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = (line[:self.column] + char +
                               line[self.column + 1:])
        self.column += 1

    def _erase(self, what):
        line = self.rows[self.row][:self.column]
        if STATUS.match(line):
            self.shown.append(line)
        self.rows[self.row] = line
        if what == "screen":
            del self.rows[self.row + 1:]

    def status(self):
        """Returns the rows that are status lines, or begin like one."""
        return [row for row in self.rows if STATUS.match(row)]

    def text(self):
        """Returns what is shown, without spaces and empty rows."""
        return [row.rstrip() for row in self.rows if row.strip()]


class Shown(terminal.Terminal):
    """A run, or another command, on a terminal, and what is seen there."""

    def __init__(self, *words, columns=80, env=None, term="xterm", verb="run",
                 **more):
        self.screen = Screen(columns)
        super().__init__(live.XYLEM, verb, *words, columns=columns,
                         env={**os.environ, "TERM": term, **(env or {})},
                         **more)

    def read_more(self, seconds):
        had = len(self.text)
        is_more = super().read_more(seconds)
        for byte in self.text[had:]:
            self.screen.feed(bytes([byte]))
            self.judge()
        return is_more

    def judge(self):
        """Called behind each byte: what is on the screen must be right then."""

    def until(self, is_true, what):
        live.eventually(lambda: self.read_more(0.1) and is_true() or is_true(),
                        60, what)
        if not is_true():
            print("# on the screen:", *self.screen.rows, sep="\n#   ")

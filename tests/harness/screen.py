"""What a terminal shows of the bytes that are written to it, for live tests.

It knows what xylem writes, and nothing else: text, CR, LF, BS, and to erase
the rest of a line or of the screen. Lines that scroll out stay in `rows`.
"""
import re

ERASES = {b"\x1b[K": "line", b"\x1b[J": "screen"}
# A whole line of status.
STATUS = re.compile(r"xylem: \d+ (of \d+ nodes? joined|starting|running)")


class Screen:
    def __init__(self, columns):
        self.columns = columns
        self.rows = [""]
        self.row = self.column = 0
        self.escape = b""
        self.shown = []  # each line of status that stood there whole

    def feed(self, text):
        for byte in text:
            self._take(bytes([byte]))

    def _take(self, byte):
        if self.escape or byte == b"\x1b":
            self.escape += byte
            if self.escape in ERASES:
                self._erase(ERASES[self.escape])
                self.escape = b""
            elif not any(one.startswith(self.escape) for one in ERASES):
                raise AssertionError(f"an unknown escape: {self.escape!r}")
        elif byte == b"\r":
            self.column = 0
        elif byte == b"\n":
            self._down()
        elif byte == b"\b":
            self.column = max(self.column - 1, 0)
        else:
            self._put(byte.decode("latin-1"))

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
        """The rows that are lines of status, or begin like one."""
        return [row for row in self.rows if STATUS.match(row)]

    def text(self):
        """What stands there, without spaces and rows that are empty."""
        return [row.rstrip() for row in self.rows if row.strip()]

"""Extracts what each process has shown from what the launcher has written."""
import base64
import contextlib
import json
import os
import re

import front

LABEL = re.compile(rb"(\d+): ")
HEAD = re.compile(rb"r(\d+) ([oed]) ")
# Messages of xylem itself, and of the library that it uses for tools.
OWN = re.compile(rb"xylem: |\[[\w.-]+:\d+\] PMIX ERROR")
JSON_CHANNELS = {"stdout": "o", "stderr": "e", "stddiag": "d"}


class Bad(Exception):
    """The stream is not as it must be."""


def at(want, got, place):
    """Shows a reader where two texts differ."""
    size = next((n for n in range(min(len(want) - place, len(got)))
                 if want[place + n] != got[n]), 0)
    return "at byte %d: want %r, got %r" % (
        place + size, bytes(want[place + size:][:40]), got[size:][:40])


class Channel:
    """The expected output of one channel of one process, and how much of it
    has come."""

    def __init__(self, want, whole):
        self.want, self.whole, self.place = want, whole, 0
        self.torn = None  # where a line ended that continues

    def take(self, line, ends):
        """Handles a line that was shown, without its newline; `ends` says
        whether it had one. A newline may follow an unfinished line."""
        if self.torn is not None and not self.is_long(self.torn):
            raise Bad("a line was ended at byte %d, and went on" % self.torn)
        if ends and self.want.startswith(line + b"\n", self.place):
            self.place += len(line) + 1
        elif self.want.startswith(line, self.place):
            self.place += len(line)
            self.torn = self.place if ends else None
        else:
            raise Bad(at(self.want, line, self.place))

    def is_long(self, place):
        """The next line is one that may come in pieces."""
        start = self.want.rfind(b"\n", 0, place) + 1
        end = self.want.find(b"\n", place)
        end = end if end >= 0 else len(self.want)
        return end - start > self.whole

    def take_bytes(self, data):
        if not self.want.startswith(data, self.place):
            raise Bad(at(self.want, data, self.place))
        self.place += len(data)

    def left(self):
        return len(self.want) - self.place


def lines(data):
    """Returns a line without its newline, and whether it had one."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        yield data[start:end if end >= 0 else len(data)], end >= 0
        start = end + 1 if end >= 0 else len(data)


def whose(style, line):
    """Returns the rank, the channel or None, and what follows the label."""
    found = (HEAD if style == "plain" else LABEL).match(line)
    if not found:
        raise Bad("a line of nobody: %r" % line[:80])
    rest = line if style == "plain" else line[found.end():]
    head = HEAD.match(rest)
    return int(found[1]), head[2].decode() if head else None, rest


def take_stuck(style, line, channels):
    """A message may follow a last line that has no newline; the newline that
    should end that line then comes after the message."""
    place = line.find(b"xylem: ", 1)
    if place < 0 or style == "json":
        return False
    with contextlib.suppress(Bad):
        rank, channel, rest = whose(style, line[:place])
        for kind in channel or "e", "e":
            found = channels.get((rank, kind))
            if found and found.want[found.place:] == rest != b"":
                found.place += len(rest)
                return True
    return False


def take_lines(style, data, channels, is_error):
    """Reads stdout, or stderr without xylem's own messages, which are
    returned."""
    own, was_stuck, held, is_cut = [], False, b"", False
    for line, ends in lines(data):
        if is_error and (OWN.match(line) or was_stuck and line == b""):
            own.append(line)
            was_stuck = was_stuck and line != b""
            continue
        line, held = held + line, b""
        if is_error and style == "plain":
            line = take_open_end(line, channels)
        was_stuck = is_error and take_stuck(style, line, channels)
        if was_stuck:
            own.append(line)
            continue
        place = line.find(b"xylem: ", 1) if is_error else -1
        # a part of an object that was given up
        if place > 0 and style == "json":
            own.append(line[place:])
            is_cut = True
            continue
        if is_cut:
            raise Bad("a message in the middle of an object")
        if place > 0:  # in the middle of a line, which continues after it
            own.append(line[place:])
            held = line[:place]
            continue
        if style == "json":
            # otherwise the writer or the reader has ended in the middle
            if ends:
                take_object(line, channels)
            continue
        rank, channel, rest = whose(style, line)
        kind = ("d" if channel == "d" and (rank, "d") in channels else "e") \
            if is_error else "o"
        if (rank, kind) not in channels:
            raise Bad("a line of rank %d: %r" % (rank, line[:80]))
        try:
            channels[rank, kind].take(rest, ends)
        except Bad as why:
            raise Bad("rank %d %s %s" % (rank, kind, why)) from None
    return own


def take_open_end(line, channels):
    """Without labels, when the last line of a process's channel has no
    newline, its other channel follows directly. Returns what follows."""
    found = HEAD.match(line)
    channel = found and channels.get((int(found[1]), found[2].decode()))
    left = channel.want[channel.place:] if channel else b""
    if not left or left.endswith(b"\n") or not line.startswith(left) or \
            line == left or HEAD.match(line, len(left)) is None:
        return line
    channel.place = len(channel.want)
    return line[len(left):]


def take_object(line, channels):
    try:
        found = json.loads(line.decode())
    except ValueError:
        raise Bad("no object: %r" % line[:200]) from None
    data = base64.b64decode(found["base64"]) if "base64" in found \
        else found["text"].encode()
    if found.get("newline", True):
        data += b"\n"
    rank, kind = found["rank"], JSON_CHANNELS[found["channel"]]
    try:
        channels[rank, kind].take_bytes(data)
    except (Bad, KeyError) as why:
        raise Bad("rank %d %s %s" % (rank, kind, why)) from None


def take_files(folder, channels):
    """Reads the files of --output-dir."""
    names = {"o": "stdout", "e": "stderr", "d": "stddiag"}
    spaces = os.listdir(folder) if os.path.isdir(folder) else []
    for (rank, kind), channel in channels.items():
        for space in spaces:
            data = front.read_file(os.path.join(
                folder, space, "rank.%d" % rank, names[kind]))
            if channel.left() == 0 and data == b"\n":
                continue
            try:
                channel.take_bytes(data)
            except Bad as why:
                raise Bad("file of rank %d %s %s" % (rank, kind,
                                                     why)) from None

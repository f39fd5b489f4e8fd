#!/usr/bin/env python3
"""Judge what a random job has left in its folder (run.py).

    check.py FOLDER...      complaints, one a line; the status is 1 if any

Every process is judged by itself: what came is the beginning of what it wrote,
and all of it where nothing has hit its node and the job went to its end.
"""
import json
import os
import re
import sys
import zlib

import bounds
import command
import front
import losses
import odd
import plan as plans
import stream
import writer

sys.path.insert(0, os.path.join(command.HERE, "..", "harness"))
os.environ.setdefault("top_builddir", command.BUILD)
import loss  # noqa: E402  (found by the line before)
import live  # noqa: E402

WRONG = ("is incomplete", "a fault of xylem", "Sanitizer", "runtime error",
         "Assertion")
MISSING = re.compile(rb"^xylem: output of rank \d+ is missing here: ", re.M)
# A client that attaches late gets the first and the last bytes that were kept.
UNKEPT = re.compile(rb"^xylem: the job has written more than it keeps for "
                    rb"those who attach later ", re.M)
BUSY = 0.5  # of a heartbeat: that long a daemon had to wait for a processor
TERM = 143
GONE = 141
READERS = ("all", "slow", "late")


class Judge:
    def __init__(self, path):
        self.folder = command.Folder(path)
        self.plan = plans.load(self.folder.at("plan.json"))
        with open(self.folder.at("evidence.json")) as file:
            self.seen = json.load(file)
        self.losses = losses.Losses(self.plan, self.seen)
        self.bad, self.excused = [], []
        self.said = front.read_file(self.folder.at(
            "err.dvm" if self.plan["family"] == "dvm" else "err.0")).decode(
                errors="replace")
        self.lost = set(loss.told(self.said))

    def complain(self, kind, text):
        self.bad.append("%s: %s" % (kind, text))

    def complain_of_time(self, kind, text):
        """Not where the machine was too slow to judge: in the end whoever of
        xylem had to wait most for a processor had none for half of the time."""
        if self.seen.get("late_share", 0) > BUSY:
            self.excused.append("%s: %s" % (kind, text))
        else:
            self.complain(kind, text)

    def expect(self, truth, kind, text):
        if not truth:
            self.complain(kind, text)
        return truth

    def all(self):
        for text in self.seen["hung"]:
            self.complain_of_time("time", text)
        self.check_left()
        self.check_memory()
        if self.plan["odd"] in odd.REFUSED:
            self.check_refused()
        else:
            self.check_lost()
            self.check_repairs()
            self.check_helper()
            if odd.option(self.plan["odd"]) == "--hostfile":
                self.expect(self.seen["fronts"][0]["code"] == 0, "code",
                            self.said[-300:])
                return
            for number in range(len(self.plan["jobs"])):
                self.check_job(number)
            self.check_clients()

    # What is left, and what it took.

    def check_left(self):
        for text in self.seen["left"]:
            self.complain_of_time("left", text)
        for text in self.seen["files"]:
            self.complain("file", text)
        if not self.losses.is_swept():
            for text in self.seen.get("left_before", ()):
                self.complain_of_time("left", text)
        if "helper" not in self.losses.killed and not self.is_late_kill():
            for text in self.seen.get("files_before", ()):
                self.complain("file", text)

    def is_late_kill(self):
        """The launcher was killed at its end, where the helper may have ended
        before it: then nobody removes its folder but the next session."""
        return any(entry["who"] == "launcher" and fault["do"] == "kill" and
                   fault["when"]["on"] == "ended"
                   for fault, told in zip(self.plan["faults"],
                                          self.seen["done"])
                   for entry in told["did"])

    def memory(self):
        """(name, most that it took, what it may take) of each process."""
        ppn = sum(job["ppn"] for job in self.plan["jobs"])
        for name, pid, size in self.seen["peaks"]:
            nodes = {node for node, daemon, _ in self.seen["places"].values()
                     if daemon == pid}
            count = max(len(nodes), self.plan["per_daemon"]) \
                if name.endswith("xylemd") else self.plan["nodes"]
            yield name, size, bounds.memory(name, count, count * ppn)

    def check_memory(self):
        for name, size, limit in self.memory():
            self.expect(size <= limit or live.is_sanitized(), "memory",
                        "%s took %.1f MiB of %.1f" % (
                            name, size / bounds.MIB, limit / bounds.MIB))

    def check_refused(self):
        """Nothing is started, and the reason is told."""
        codes, words = odd.REFUSED[self.plan["odd"]]
        code = self.seen["fronts"][0]["code"]
        self.expect(code in codes, "code", "%s" % code)
        self.expect(words in self.said, "words", "nothing of %r in %r" % (
            words, self.said[-300:]))
        self.expect(self.seen["daemons"] == 0, "started",
                    "%d daemons of a job that is refused" %
                    self.seen["daemons"])

    def refused(self):
        """It was not begun, or ended, for a reason that it tells."""
        words = {"nofile": ("open files", "Too many open files"),
                 "disk-full": ("No space left",)}.get(self.plan["odd"], ())
        return any(word in self.said for word in words)

    def check_helper(self):
        """It does not die unless it was hit."""
        found = re.search("^xylem: a PMIx tool was disconnected: the helper.*",
                          self.said, re.MULTILINE)
        is_hit = any(entry["who"] == "helper" for told in self.seen["done"]
                     for entry in told["did"])
        self.expect(not found or is_hit, "words", found and found[0])

    # Nodes that were lost, and the exit code.

    def check_lost(self):
        """Nobody is lost who was not hit."""
        stats = front.read_file(self.folder.stats)
        if stats:
            self.lost |= set(json.loads(stats.decode())["lost_nodes"])
        wrong = self.lost - self.losses.nodes
        if not wrong or self.refused():
            return
        text = "nodes %s were given up: %s" % (
            sorted(wrong), " | ".join(line for line in self.said.splitlines()
                                      if "lost" in line)[:500])
        if self.was_busy(wrong):
            self.excused.append(text)
        else:
            self.complain("lost", text)

    def check_repairs(self):
        """A node gets another parent for a fault, and for each fault once."""
        many = {node: len(times) for node, times in
                loss.repairs(self.said).items()
                if len(times) > self.losses.shakes}
        if not many:
            return
        text = "new parents, by node: %s, for %s faults" % (
            many, self.losses.shakes)
        if self.was_busy(self.losses.all):
            self.excused.append(text)
        else:
            self.complain("repair", text)

    def was_busy(self, nodes):
        """The machine stood still, or had no processor for their daemons."""
        daemons = {str(daemon) for node, daemon, _ in
                   self.seen["places"].values() if node in nodes}
        return self.seen["gap_s"] > self.plan["heartbeat"] / 2 or any(
            self.seen["busy"].get(daemon, 0) > BUSY for daemon in daemons)

    def is_cut(self, number):
        """This job did not go to its end, for a known reason."""
        one, ends = self.seen["fronts"][number], self.losses.ends
        if number in self.losses.jobs or one["left"] or self.seen["hung"]:
            return True
        if ends - {"in launch"} or self.refused():
            return True
        if "in launch" in ends and one["code"] == 1:
            return True
        is_lost = self.lost or self.losses.nodes and \
            " has failed: " in self.said
        return bool(is_lost) and (self.plan["policy"] == "abort" or
                                  self.plan["family"] == "dvm")

    def codes(self, number, lost):
        """Exit codes that this job may have."""
        job = self.plan["jobs"][number]
        failed = {writer.exit_code(job, rank) for rank in range(job["procs"])}
        failed -= {0}
        if not self.is_cut(number) and not (self.losses.nodes or lost):
            return failed or {0}
        found = failed | ({1} if lost else {0, 1})
        if self.is_cut(number):
            found |= {0, GONE, TERM, -9, 137}
        return found

    def check_code(self, number):
        one = self.seen["fronts"][number]
        allowed = self.codes(number, self.lost)
        self.expect(one["code"] in allowed, "code", "job %d ended with %s, "
                    "not %s" % (number, one["code"], sorted(allowed)))

    # What processes wrote and read.

    def channels(self, job):
        return {(rank, kind): stream.Channel(
            writer.text(job, rank, kind), job["whole"])
            for rank in range(job["procs"]) for kind in writer.FDS
            if writer.lengths(job, rank, kind) or kind == "o"}

    def take(self, number, job, channels):
        """The words of xylem itself."""
        out, err = (front.read_file(path) for path in (
            self.folder.output(number), self.folder.errors(number)))
        style = job["style"]
        if style == "files":
            self.expect(out == b"", "output", "on stdout: %r" % out[:100])
            stream.take_files(self.folder.outdir(number), channels)
            style = "label"
        else:
            stream.take_lines(style, out, channels, False)
        return stream.take_lines(style, err, channels, True)

    def check_job(self, number):
        job = self.plan["jobs"][number]
        channels = self.channels(job)
        try:
            self.take(number, job, channels)
        except stream.Bad as why:
            self.complain("output", "job %d: %s" % (number, why))
        said = front.read_file(self.folder.errors(number)).decode(
            errors="replace")
        for word in WRONG:
            found = re.search("^xylem.*%s.*" % word, said, re.MULTILINE)
            self.expect(not found or self.is_cut(number), "words",
                        found and found[0][:300])
        self.check_code(number)
        for (rank, kind), channel in channels.items():
            if channel.left() and self.must_be_whole(number, rank):
                self.complain("output", "job %d rank %d %s: %d bytes of %d are "
                              "missing" % (number, rank, kind, channel.left(),
                                           len(channel.want)))
        self.check_stdin(number, job)

    def must_be_whole(self, number, rank):
        place = self.seen["places"].get("%d.%d" % (number, rank))
        node = place[0] if place else rank // self.plan["jobs"][number]["ppn"]
        return not self.is_cut(number) and node not in self.lost

    def has_read(self, number, rank):
        """(bytes, checksum, whether the end was seen), or None."""
        text = front.read_file(os.path.join(self.folder.journals(number),
                                            str(rank))).decode()
        found = re.search(r"^read (\d+) (\d+) (\d)$", text, re.MULTILINE)
        return tuple(map(int, found.groups())) if found else None

    def is_fed(self, job, rank):
        if "push" in job:
            return rank == job["push"]["rank"]
        targets = job["stdin"]["targets"]
        return targets == "all" or targets != "none" and \
            rank in map(int, targets.split(","))

    def is_pushed_whole(self, job):
        """What a tool pushes that is killed or cut off may end anywhere."""
        return "push" not in job or job["push"]["end"] == "stay" and \
            "client" not in self.losses.killed

    def check_stdin(self, number, job):
        size = job["push"]["size"] if "push" in job else job["stdin"]["size"]
        whole = b"".join(writer.stdin_pieces(job, size))
        most = 0
        for rank in range(job["procs"]):
            had = self.has_read(number, rank)
            must = self.must_be_whole(number, rank)
            name = "job %d rank %d" % (number, rank)
            if had is None:
                how = writer.role(job, rank)["read"]
                self.expect(not must or how == "never", "stdin",
                            name + " has not read to its end")
                continue
            most = max(most, had[0])
            data = whole if self.is_fed(job, rank) else b""
            self.expect(had[0] <= len(data) and
                        zlib.crc32(data[:had[0]]) == had[1], "stdin",
                        "%s has read %d bytes, which are not the first of %d"
                        % (name, had[0], len(data)))
            if must and had[2] and job["slow"] != "close" and \
                    self.is_pushed_whole(job):
                self.expect(had[0] == len(data), "stdin", "%s has seen the "
                            "end after %d bytes of %d" % (name, had[0],
                                                          len(data)))
        self.check_given_back(number, job, most)

    def check_given_back(self, number, job, most):
        """Checks a file as standard input: what no process has taken is there
        for others to read. A dvm's tool pushes all of it."""
        one = self.seen["fronts"][number]
        if self.plan["family"] == "dvm":
            return
        if job["stdin"]["kind"] == "file" and not self.is_cut(number) and \
                not self.lost:
            self.expect(one["fed"] == most, "stdin", "the file stands at %d, "
                        "the most that was read is %d" % (one["fed"], most))

    # Tools.

    def check_clients(self):
        jobs = self.plan["jobs"]
        for number, seen in enumerate(self.seen["clients"]):
            self.expect(not seen["hung"], "time",
                        "client %d does not end" % number)
            if seen["attached"] and number < len(self.plan["clients"]):
                self.check_client(number, jobs[0], seen)

    def check_client(self, number, job, seen):
        """What it got is a run of bytes of each process; up to the end, where
        it has stayed until then. Where it was told of a gap it is lines in
        their order."""
        client, shown = self.plan["clients"][number], {}
        data = front.read_file(self.folder.client(number, "out"))
        for line, ends in stream.lines(data):
            if client["style"] == "json":
                rank, part = self.object(line)
            else:
                found = stream.LABEL.match(line)
                rank = int(found[1]) if found else None
                part = line[found.end():] + b"\n" * ends if found else b""
            if rank is None and ends:
                self.complain("client", "%d: %r" % (number, line[:100]))
                return
            shown.setdefault(rank, []).append(part)
        shown.pop(None, None)
        misses = self.misses(number, seen)
        for rank, parts in shown.items():
            if misses:
                self.check_order(number, job, rank, parts)
            else:
                self.check_shown(number, job, rank, parts, seen)

    @staticmethod
    def object(line):
        try:
            found = {}
            stream.take_object(line, Collector(found))
            return next(iter(found.items()))
        except (stream.Bad, StopIteration):
            return None, b""

    @staticmethod
    def joined(want, parts, whole):
        """What was shown, without the newlines at which a line was cut that is
        longer than one may be."""
        data, channel = b"".join(parts), stream.Channel(want, whole)
        if data in want:
            return data
        channel.place = start = max(want.find(parts[0][:-1]), 0)
        try:
            for part in parts:
                ends = part.endswith(b"\n")
                channel.take(part[:-1] if ends else part, ends)
        except stream.Bad:
            return data
        return want[start:channel.place]

    @staticmethod
    def is_in_order(want, parts):
        """Each is there, behind the ones before it. A newline at its end may be
        one at which a line was cut."""
        place = 0
        for part in parts:
            text = part[:-1] if part.endswith(b"\n") else part
            found = want.find(text, place)
            if found < 0:
                return False
            place = found + len(text)
            place += want[place:place + 1] == b"\n" and text != part
        return True

    def misses(self, number, seen):
        """A client misses output when it attached later than output is kept,
        which the launcher reports, or when it stood still: it reports the
        loss, and its exit code is not 0."""
        said = front.read_file(self.folder.client(number, "err"))
        if UNKEPT.search(said):
            return True
        return self.losses.misses and MISSING.search(said) and \
            self.expect(seen["code"] != 0, "code",
                        "client %d misses output, with exit code 0" % number)

    def check_order(self, number, job, rank, parts):
        self.expect(self.is_in_order(writer.text(job, rank, "o"), parts),
                    "client", "%d: rank %d: lines that it has not written so" %
                    (number, rank))

    def check_shown(self, number, job, rank, parts, seen):
        want = writer.text(job, rank, "o")
        data = self.joined(want, parts, job["whole"])
        place = want.find(data)
        if place < 0 and data.endswith(b"\n"):  # an open line was closed
            data = data[:-1]
            place = want.find(data)
        name = "%d: rank %d" % (number, rank)
        if not self.expect(place >= 0, "client", name + ": %d bytes that it "
                           "has not written so" % len(data)):
            return
        if seen["code"] == 0 and self.must_be_whole(0, rank) and \
                self.plan["clients"][number]["end"] == "stay":
            self.expect(want.endswith(data), "client", name + ": the end is "
                        "missing")


class Collector:
    """Takes objects in place of channels."""

    def __init__(self, found):
        self.found = found

    def __getitem__(self, key):
        self.rank = key[0]
        return self

    def take_bytes(self, data):
        self.found[self.rank] = data


def judge(path):
    """The judge of a folder, when it has looked at everything."""
    one = Judge(path)
    one.all()
    return one


def main():
    status = 0
    for path in sys.argv[1:]:
        one = judge(path)
        for text in one.bad:
            print(text)
        for text in one.excused:
            print("excused, the machine stood still:", text)
        status |= bool(one.bad)
    sys.exit(status)


if __name__ == "__main__":
    main()

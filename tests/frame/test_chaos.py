#!/usr/bin/env python3
"""The checker of the random jobs (tests/chaos) finds each error.

No daemon runs here: each case lays down the folder of a job that went well, as
run.py of that folder leaves it, breaks one thing, and looks at the complaints.
"""
import contextlib
import json
import os
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.join(os.environ["top_srcdir"], "tests", "chaos"))
import check  # noqa: E402  (found by the line before)
import front  # noqa: E402
import mutants  # noqa: E402
import plan as plans  # noqa: E402
import shrink  # noqa: E402
import stream  # noqa: E402
import writer  # noqa: E402

JOB = {
    "seed": "judge", "procs": 3, "ppn": 1, "style": "label", "bytes": 3000,
    "profile": "short", "beside": "short", "whole": 7000, "merge": False,
    "stddiag": False, "span_s": 1, "lead_s": 0, "tail_s": 0, "slow": "wait",
    "reads": ["all"], "fails": 0, "leaves": 0,
    "stdin": {"size": 70000, "targets": "0,2", "kind": "file", "pauses": 0},
    "reader": {"kind": "fast", "late_s": 0},
}
PLAN = {
    "seed": "judge", "family": "local", "odd": None, "nodes": 3,
    "per_daemon": 1, "arity": 2, "heartbeat": 5, "policy": "continue",
    "jobs": [JOB], "clients": [], "faults": [],
}
KILL = {"do": "kill", "whom": [["daemon", 1]],
        "when": {"on": "bytes", "n": 1, "delay_s": 0}}
HIT = {"missed": False, "started": 3,
       "did": [{"who": "daemon", "pid": 101, "above": 1}]}
LOST = "xylem: the daemon of node 1 on vm is lost, with rank 1; the job goes " \
    "on without it\n"


def with_gap(one, glue, err, code):
    """A tool that has got the beginning and the end of rank 1's output."""
    text = one.texts[1, "o"]
    one.plan["clients"] = [{"style": "label", "end": "stay"}]
    one.evidence["clients"] = [{"hung": False, "attached": True, "code": code}]
    one.write("client.0.out", labelled(1, text[:300] + glue + text[-300:]))
    one.write("client.0.err", err)


def labelled(rank, data):
    lines = data.split(b"\n")
    text = b"".join(b"%d: %s\n" % (rank, line) for line in lines[:-1])
    return text + (b"%d: %s\n" % (rank, lines[-1]) if lines[-1] else b"")


class Folder:
    """The folder of a job that went well."""

    def __init__(self, path, **other):
        self.path = path
        self.plan = {**PLAN, "jobs": [{**JOB, **other}]}
        self.job = self.plan["jobs"][0]
        self.texts = {(rank, channel): writer.text(self.job, rank, channel)
                      for rank in range(3) for channel in "oe"}
        self.out = {rank: labelled(rank, self.texts[rank, "o"])
                    for rank in range(3)}
        self.err = b"".join(labelled(rank, self.texts[rank, "e"])
                            for rank in range(3))
        self.stdin = b"".join(writer.stdin_pieces(self.job, 70000))
        self.read = {0: self.stdin, 1: b"", 2: self.stdin}
        self.evidence = {
            "hung": [], "left": [], "files": [], "done": [], "gap_s": 0,
            "busy": {},
            "daemons": 3, "peaks": [["xylemd", 100, 5 << 20]],
            "places": {"0.%d" % rank: [rank, 100 + rank, 200 + rank]
                       for rank in range(3)},
            "fronts": [{"code": 0, "left": False, "fed": 70000}],
            "clients": [],
        }

    def write(self, name, data):
        with open(os.path.join(self.path, name), "wb") as file:
            file.write(data)

    def kill(self):
        """The daemon of node 1 was killed in the middle of the job."""
        self.plan["faults"], self.evidence["done"] = [KILL], [HIT]
        self.err = LOST.encode() + self.err
        self.evidence["fronts"][0]["code"] = 1

    def judge(self):
        os.makedirs(os.path.join(self.path, "journal.0"))
        for rank, data in self.read.items():
            self.write("journal.0/%d" % rank, b"read %d %d 1\n" % (
                len(data), zlib.crc32(data)))
        self.write("out.0", b"".join(self.out.values()))
        self.write("err.0", self.err)
        plans.dump(self.plan, os.path.join(self.path, "plan.json"))
        with open(os.path.join(self.path, "evidence.json"), "w") as file:
            json.dump(self.evidence, file)
        return check.judge(self.path).bad


@contextlib.contextmanager
def folder(**other):
    with tempfile.TemporaryDirectory() as path:
        yield Folder(path, **other)


class JudgeTest(unittest.TestCase):
    def finds(self, word, one):
        """Checks that there is a complaint, and that this word is in the
        first."""
        bad = one.judge()
        self.assertTrue(bad)
        self.assertIn(word, bad[0])

    def test_a_job_that_went_well_is_none_to_complain_of(self):
        with folder() as one:
            self.assertEqual(one.judge(), [])

    def test_a_lost_byte_is_found_wherever_it_was(self):
        for place in (3, 700, -2):
            with folder() as one:
                data = bytearray(one.out[1])
                del data[place]
                one.out[1] = bytes(data)
                self.finds("output", one)

    def test_a_lost_end_is_found(self):
        with folder() as one:
            one.out[2] = one.out[2][:one.out[2].rfind(b"\n2: ") + 1]
            self.finds("are missing", one)

    def test_a_line_that_came_twice_is_found(self):
        with folder() as one:
            line = one.out[0][:one.out[0].index(b"\n") + 1]
            one.out[0] = line + one.out[0]
            self.finds("output", one)

    def test_two_lines_in_the_wrong_order_are_found(self):
        with folder() as one:
            lines = one.out[0].splitlines(True)
            lines[3], lines[4] = lines[4], lines[3]
            one.out[0] = b"".join(lines)
            self.finds("output", one)

    def test_a_torn_line_is_found(self):
        with folder() as one:
            one.out[0] = one.out[0][:10] + b"\n0: " + one.out[0][10:]
            self.finds("went on", one)

    def test_a_line_of_another_process_is_found(self):
        with folder() as one:
            one.out[0] = b"1" + one.out[0][1:]
            self.finds("output", one)

    def test_stdin_that_was_altered_or_cut_is_found(self):
        for wrong in (b"x" + front.read_file(__file__), b""):
            with folder() as one:
                one.read[2] = wrong
                self.finds("stdin", one)

    def test_stdin_of_one_who_gets_none_is_found(self):
        with folder() as one:
            one.read[1] = one.stdin
            self.finds("stdin", one)

    def test_a_file_of_which_too_much_was_taken_is_found(self):
        with folder() as one:
            one.evidence["fronts"][0]["fed"] = 80000
            self.finds("the file stands at", one)

    def test_a_wrong_exit_code_is_found(self):
        with folder() as one:
            one.evidence["fronts"][0]["code"] = 1
            self.finds("code", one)

    def test_what_is_left_is_found(self):
        for kind in ("left", "files"):
            with folder() as one:
                one.evidence[kind] = ["17 sleep"]
                self.finds("17 sleep", one)

    def test_too_much_memory_is_found(self):
        with folder() as one:
            one.evidence["peaks"] = [["xylemd", 100, 33 << 20]]
            if check.live.is_sanitized():
                self.assertEqual(one.judge(), [])
            else:
                self.finds("memory", one)

    def test_a_node_may_be_lost_if_it_was_hit(self):
        with folder() as one:
            one.kill()
            one.out[1] = one.out[1][:400] + b"\n"
            self.assertEqual(one.judge(), [])

    def test_what_a_lost_node_has_shown_is_still_judged(self):
        with folder() as one:
            one.kill()
            one.out[1] = one.out[1][:400] + b"x"
            self.finds("output", one)

    def test_another_node_may_not_be_lost(self):
        with folder() as one:
            one.kill()
            one.err = one.err.replace(b"node 1 on", b"node 2 on")
            self.finds("were given up", one)

    def test_others_lose_nothing_when_a_node_is_lost(self):
        with folder() as one:
            one.kill()
            one.out[0] = one.out[0][:one.out[0].rfind(b"\n0: ") + 1]
            self.finds("are missing", one)

    def test_a_node_that_only_one_neighbour_refuses_is_not_lost(self):
        with folder() as one:
            one.kill()
            one.plan.update(family="network", arity=1)
            one.plan["faults"] = [{"do": "reset", "a": 2, "b": 1, "both": True,
                                   "for_s": None, "when": KILL["when"]}]
            one.evidence["done"] = [dict(HIT, did=[{
                "who": "network", "pid": 0, "above": 0}])]
            self.finds("were given up", one)

    def test_words_of_xylem_may_stand_in_a_line_of_stderr(self):
        with folder() as one:
            place = one.err.index(b"\n1: ") + 9
            one.err = one.err[:place] + LOST.encode() + one.err[place:]
            one.plan["faults"], one.evidence["done"] = [KILL], [HIT]
            one.evidence["fronts"][0]["code"] = 1
            self.assertEqual(one.judge(), [])
        with folder() as one:
            place = one.err.index(b"\n1: ") + 9
            one.err = one.err[:place] + b"xylem: words\n" + \
                one.err[place + 1:]
            self.finds("output", one)

    def test_words_of_xylem_may_not_stand_in_an_object(self):
        whole = b'{"rank":0,"channel":"stderr","text":"abc","newline":false}\n'
        for data, is_good in ((b"xylem: words\n" + whole, True),
                              (whole[:20] + b"xylem: words\n", True),
                              (whole[:20] + b"xylem: words\n" + whole[20:],
                               False)):
            channels = {(0, "e"): stream.Channel(b"abc", 100)}
            with contextlib.nullcontext() if is_good else \
                    self.assertRaises(stream.Bad):
                stream.take_lines("json", data, channels, True)

    def test_without_labels_an_open_end_is_followed_by_the_other_channel(self):
        for first, other in ("d", "e"), ("e", "d"):
            texts = {(0, kind): b"r0 %s 0 abc" % kind.encode()
                     for kind in (first, other)}
            channels = {key: stream.Channel(text, 100)
                        for key, text in texts.items()}
            stream.take_lines("plain", b"".join(texts.values()), channels,
                              True)
            self.assertEqual([one.left() for one in channels.values()],
                             [0, 0])

    def test_words_of_xylem_may_stand_behind_two_open_ends(self):
        texts = {(0, kind): b"r0 %s 0 abc" % kind.encode() for kind in "de"}
        channels = {key: stream.Channel(text, 100)
                    for key, text in texts.items()}
        own = stream.take_lines(
            "plain", b"".join(texts.values()) + b"xylem: words\nxylem: more\n",
            channels, True)
        self.assertEqual([one.left() for one in channels.values()], [0, 0])
        self.assertEqual(len(own), 2)

    def test_a_launcher_that_is_killed_at_its_end_may_leave_a_folder(self):
        for on, is_good in ("ended", True), ("bytes", False):
            with folder() as one:
                one.plan["faults"] = [dict(
                    KILL, whom=[["launcher", 0]],
                    when={"on": on, "n": 1, "delay_s": 0})]
                one.evidence["done"] = [dict(HIT, did=[{
                    "who": "launcher", "pid": 1, "above": 1}])]
                one.evidence["fronts"][0]["code"] = -9
                one.evidence["files_before"] = ["xylem-pmix-1"]
                self.assertEqual(one.judge() == [], is_good)

    def test_a_job_that_is_refused_says_why_and_starts_nothing(self):
        for code, said, daemons, word in (
                (2, b"xylem: start its reader first\n", 0, None),
                (0, b"xylem: start its reader first\n", 0, "code"),
                (2, b"xylem: no\n", 0, "words"),
                (2, b"xylem: start its reader first\n", 1, "started")):
            with folder() as one:
                one.plan["odd"], one.err = "stats-fifo", said
                one.evidence["fronts"][0]["code"] = code
                one.evidence["daemons"] = daemons
                if word:
                    self.finds(word, one)
                else:
                    self.assertEqual(one.judge(), [])

    def test_a_helper_that_dies_by_itself_is_found(self):
        said = b"xylem: a PMIx tool was disconnected: the helper " \
            b"xylem-pmix was killed by signal 11; the session goes on\n"
        for did in [], [{"who": "helper", "pid": 9, "above": 1}]:
            with folder() as one:
                one.err = said + one.err
                one.plan["faults"] = [KILL][:len(did)]
                one.evidence["done"] = [dict(HIT, did=did)][:len(did)]
                if did:
                    self.assertEqual(one.judge(), [])
                else:
                    self.finds("words", one)

    def test_a_tool_that_is_killed_may_have_pushed_a_part(self):
        for end, killed, bad in (("stay", False, 1), ("kill", False, 0),
                                 ("stay", True, 0)):
            with folder(push={"rank": 0, "size": 70000, "end": end,
                              "end_s": 0}) as one:
                one.job["stdin"] = dict(JOB["stdin"], size=0, kind="pipe")
                one.read = {0: one.stdin[:500], 1: b"", 2: b""}
                if killed:
                    one.plan["faults"] = [KILL]
                    one.evidence["done"] = [dict(HIT, did=[{
                        "who": "client", "pid": 9, "above": 1}])]
                self.assertEqual(len(one.judge()), bad, (end, killed))

    def test_a_gap_is_told_where_a_client_stood_still(self):
        said = b"xylem: output of rank 1 is missing here: it is read too\n"
        stop = {"do": "stop", "for_s": 5, "when": KILL["when"],
                "whom": [["client", 0]]}
        did = dict(HIT, did=[{"who": "client", "pid": 9, "above": 1,
                              "for_s": 5}])
        for err, code, faults, glue, word in (
                (said, 1, [stop], b"\n", None),
                (said, 0, [stop], b"\n", "code"),
                (b"", 1, [stop], b"\n", "client"),
                (said, 1, [], b"\n", "client"),
                (said, 1, [stop], b"", "client")):
            with folder() as one:
                with_gap(one, glue, err, code)
                one.plan["faults"], one.evidence["done"] = faults, [did][
                    :len(faults)]
                if word:
                    self.finds(word, one)
                else:
                    self.assertEqual(one.judge(), [])

    def test_a_gap_is_told_to_who_attaches_late(self):
        said = b"xylem: the job has written more than it keeps for those who " \
            b"attach later (--pmix-cache): of rank 1, 9 bytes are not here\n"
        for err, glue, word in ((said, b"\n", None), (b"", b"\n", "client"),
                                (said, b"", "client")):
            with folder() as one:
                with_gap(one, glue, err, 0)
                if word:
                    self.finds(word, one)
                else:
                    self.assertEqual(one.judge(), [])

    def test_what_is_behind_a_gap_comes_later(self):
        want = b"ab\ncd\nef\n"
        for parts, is_right in (
                ([b"ab\n", b"ef\n"], True), ([b"a\n", b"f\n"], True),
                ([b"a\n", b"d\n", b"ef\n"], True),
                ([b"ef\n", b"ab\n"], False), ([b"af\n"], False)):
            self.assertEqual(check.Judge.is_in_order(want, parts), is_right,
                             parts)

    def test_long_lines_alone_may_be_cut_for_tools(self):
        want = b"ab\n" + b"x" * 90 + b"\ncd\n"
        for parts, whole, is_right in (
                ([b"b\n", b"x" * 50 + b"\n", b"x" * 40 + b"\n"], 20, True),
                ([b"b\n", b"x" * 50 + b"\n", b"x" * 40 + b"\n"], 95, False),
                ([b"ab\n", b"cd\n"], 20, False)):
            self.assertEqual(check.Judge.joined(want, parts, whole) in want,
                             is_right, parts)

    def test_a_lost_node_is_excused_where_the_machine_stood_still(self):
        for why, bad in (({"gap_s": 9}, 0), ({"busy": {"101": 0.9}}, 0),
                         ({"busy": {"100": 0.9, "101": 0.1}}, 1)):
            with folder() as one:
                one.kill()
                one.evidence.update(why, done=[])
                one.plan["faults"] = []
                one.out[1] = b""
                self.assertEqual(len(one.judge()), bad, why)


class PlanTest(unittest.TestCase):
    def test_a_seed_is_always_the_same_plan(self):
        for seed in ("1", "2", "n1"):
            with tempfile.TemporaryDirectory() as path:
                name = os.path.join(path, "plan.json")
                plans.dump(plans.draw(seed), name)
                self.assertEqual(plans.load(name), plans.draw(seed))

    def test_lines_have_the_lengths_that_were_drawn(self):
        for number in range(60):
            for job in plans.draw(str(number))["jobs"]:
                job["bytes"] = min(job["bytes"], 100000)
                if job["profile"] == "huge":
                    job["profile"] = "mixed"
                for channel in writer.FDS:
                    self.assertEqual(
                        len(writer.text(job, 0, channel)),
                        sum(writer.lengths(job, 0, channel)))

    def test_the_fault_that_matters_is_what_remains(self):
        faults = [{"do": "kill", "n": number} for number in range(6)]
        plan = {"faults": faults, "clients": [{"end": "stay"}]}
        found = shrink.shrink(plan, lambda smaller: any(
            fault["n"] == 4 for fault in smaller["faults"]))
        self.assertEqual(found, {"faults": [faults[4]], "clients": []})

    def test_two_that_matter_together_both_remain(self):
        faults = [{"do": "kill", "n": number} for number in range(5)]
        found = shrink.shrink(
            {"faults": faults, "clients": []},
            lambda smaller: {1, 3} <= {fault["n"] for fault in
                                       smaller["faults"]})
        self.assertEqual(found["faults"], [faults[1], faults[3]])


class MutantTest(unittest.TestCase):
    def test_what_a_mutant_changes_is_in_the_sources_once(self):
        for name, (_, changes) in mutants.MUTANTS.items():
            for path, old, _ in changes:
                with open(os.path.join(os.environ["top_srcdir"], path)) as file:
                    self.assertEqual(file.read().count(old), 1, name)


if __name__ == "__main__":
    unittest.main()

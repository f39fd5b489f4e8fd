#!/usr/bin/env python3
"""--fold: a line of many ranks is shown once, with these ranks, and unfolded
it is what each rank wrote, byte by byte."""
import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys

import clients
import live
from live import case, check, check_eq, check_has

STATS = os.path.join(live.TMP, "stats")
SEED = int(os.environ.get("SEED") or random.randrange(1 << 32))
LONG = live.full(100000000, 3000000)


def members(text):
    """The ranks of "0-3,7"."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def unfold_json(out, ranks):
    """What each rank wrote, of the objects of its lines."""
    whole = {rank: [] for rank in range(ranks)}
    for line in out.splitlines():
        one = json.loads(line)
        text = (base64.b64decode(one["base64"]) if "base64" in one
                else one["text"].encode())
        text += b"\n" if one.get("newline", True) else b""
        for rank in members(one["ranks"]):
            whole[rank].append(text)
    return [b"".join(whole[rank]) for rank in range(ranks)]


def unfold_text(out, ranks):
    whole = [b""] * ranks
    for line in re.findall(rb"[^\n]*\n", out):
        head, _, text = line.partition(b"] ")
        for rank in members(head[1:].decode()):
            whole[rank] += text
    return whole


def unfold_whole(out, ranks):
    """What each rank wrote, of --fold=end. Each whole output ends with a
    newline."""
    whole = [b""] * ranks
    parts = re.split(rb"(?m)^---- \[([-0-9,]+)\] ----\n", out)
    check_eq(b"", parts[0])
    for who, text in zip(parts[1::2], parts[2::2]):
        for rank in members(who.decode()):
            whole[rank] += text
    return whole


def sums(texts):
    return [hashlib.sha256(text).hexdigest() for text in texts]


def proof():
    with open(STATS) as file:
        stats = json.load(file)
    check_eq(stats["proof"]["channels"], stats["proof"]["complete"])
    launcher = stats["launcher"]
    if not live.is_sanitized():
        check(launcher["rss_peak_bytes"] <= launcher["rss_bound_bytes"],
              launcher)


# --- random jobs

ODD = [b"", b"\0", b"a\0b", b"\xff\xfe", b"\xc3", "\u00e9\u2603".encode(),
       b"007", b"1e308", b"-0", b"0", b"-0.0", b"00", b"\r", b"50%\r100%",
       b"] ", b"[0-3] x", b"{}", b"\\", b"\"", b"\033[31mred", b" ", b"\t"]


def random_line(dice):
    kind = dice.random()
    if kind < 0.6:
        return dice.choice(ODD)
    if kind < 0.7:
        return b"loss %.4f" % dice.random()
    if kind < 0.75:
        return b"x" * dice.choice((1000, 65535, 65536, 70000, 200000))
    return b"step %d" % dice.randrange(5)


def random_texts(dice, ranks):
    common = [random_line(dice) for _ in range(dice.randrange(40))]
    own = dice.choice((0, 0.02, 0.3))
    for rank in range(ranks):
        lines = []
        for line in common:
            if dice.random() < own:
                lines.append(b"rank %d" % rank)
            if dice.random() >= own / 4:
                lines.append(line)
        text = b"".join(line + b"\n" for line in lines)
        yield text[:-1] if text and dice.random() < 0.2 else text


def random_job(seed):
    dice = random.Random(seed)
    ranks = dice.randrange(1, 9)
    texts = list(random_texts(dice, ranks))
    folder = os.path.join(live.TMP, "texts")
    os.makedirs(folder, exist_ok=True)
    for rank, text in enumerate(texts):
        with open(os.path.join(folder, str(rank)), "wb") as file:
            file.write(text)
    how = dice.choice(("--format=json", "--format=text"))
    words = ["dd", "bs=%d" % dice.choice((7, 500, 1 << 20)), "status=none",
             "if=" + folder + "/$XYLEM_RANK"]
    more = dice.choice(([], ["--unbuffered"], ["--nodes-per-daemon", 2]))
    fold = dice.choice(("--fold", "--fold=end"))
    ran = live.launch("-qN", ranks, fold, how, "--stats", STATS, *more, "--",
                      "sh", "-c", " ".join(words))
    what = f"seed {seed}, {fold}, {how}, {more}"
    check_eq("", ran.said, what)
    if how.endswith("json"):
        got = unfold_json(ran.out, ranks)
    else:  # a line without its newline gets one
        got = (unfold_text if fold == "--fold" else unfold_whole)(ran.out,
                                                                  ranks)
        texts = [text + b"\n" if text and not text.endswith(b"\n") else text
                 for text in texts]
    check_eq(sums(texts), sums(got), what)
    proof()


with case(f"random jobs, unfolded, are whole (seed {SEED})"):
    for number in range(live.full(100, 20)):
        random_job(SEED + number)

# --- whole outputs

WORDS = """echo start; [ $XYLEM_RANK != 4 ] || echo bad; echo 1; echo 2
[ $XYLEM_RANK != 6 ] || exit 0; printf end; [ $XYLEM_RANK != 2 ] || echo no >&2
"""

with case("whole outputs that are equal are shown once, at the end"):
    ran = live.launch("-qN", 7, "--fold=end", "--stats", STATS, "--", "sh",
                      "-c", WORDS)
    check_eq(["---- [0-3,5] ----", "start", "1", "2", "end", "---- [4] ----",
              "start", "bad", "1", "2", "end", "---- [6] ----", "start", "1",
              "2"], ran.lines())
    check_eq("---- [2] ----\nno\n", ran.said)
    proof()
    ran = live.launch("-q", "--launcher", "local", "-w", "n[1-3]",
                      "--fold=end", "--label=host", "--", "echo", "x")
    check_eq(["---- n[1-3] ----", "x"], ran.lines())

with case("most of them, and what the others say otherwise"):
    ran = live.launch("-qN", 7, "--fold=diff", "--stats", STATS, "--", "sh",
                      "-c", WORDS)
    check_eq(["---- [0-3,5] ----", "start", "1", "2", "end",
              "---- [4] otherwise ----", "@@ -1,0 +2,1 @@", "+bad",
              "---- [6] otherwise ----", "@@ -4,1 +3,0 @@", "-end"],
             ran.lines())
    proof()

with case("without room for whole outputs lines are folded, and all are there"):
    ran = live.launch("-qN", 3, "--fold=end", "--stats", STATS, "--", "sh",
                      "-c", 'seq -f "$XYLEM_RANK %.0f" 400000')
    check_eq("xylem: there is no more room for whole outputs (--fold=end): "
             "what there is of them is shown, and from here on lines are "
             "folded as they come\n", ran.said)
    whole = [[] for _ in range(3)]
    for line in ran.out.splitlines():
        if not line.startswith(b"---- ["):
            rank, number = line.split(b"] ")[-1].split()
            whole[int(rank)].append(int(number))
    check([list(range(1, 400001))] * 3 == whole, "lines are missing")
    proof()

# --- what is seen

with case("equal lines are one, and those of one rank have their place"):
    ran = live.launch("-qN", 12, "--fold", "--", "sh", "-c",
                      "echo begin; [ $XYLEM_RANK != 7 ] || echo other; echo; "
                      "[ $XYLEM_RANK = 3 ] || echo most; printf end; "
                      "echo failed >&2")
    check_eq(["[0-11] begin", "[7] other", "[0-11] ", "[0-2,4-11] most",
              "[0-11] end"], ran.lines())
    check_eq("[0-11] failed\n", ran.said)

with case("a line of its own does not keep a rank from the others"):
    ran = live.launch("-qN", 9, "-b", "--", "sh", "-c",
                      "echo rank $XYLEM_RANK; echo all")
    check_eq(["[0-8] all"] + [f"[{rank}] rank {rank}" for rank in range(9)],
             sorted(ran.lines(), key=lambda line: ("rank" in line, line)))
    check_eq("[0-8] all", ran.lines()[-1])

with case("labels name hosts or the job"):
    hosts = "a1,a2,b[08-10]"
    words = ["sh", "-c", "echo x; [ $XYLEM_RANK != 1 ] || echo y"]
    ran = live.launch("-q", "--launcher", "local", "-w", hosts, "-b",
                      "--label=host", "--ppn", 2, "--", *words)
    check_eq(["a[1-2],b[08-10]: x", "a1: y"], ran.lines())
    ran = live.launch("-q", "--launcher", "local", "-w", hosts, "-b",
                      "--label=host", "--format=json", "--", *words)
    check_eq([("0-4", "a[1-2],b[08-10]", "x"), ("1", "a2", "y")],
             [(one["ranks"], one["hosts"], one["text"])
              for one in map(json.loads, ran.out.splitlines())])
    ran = live.launch("-qN", 3, "-b", "--label=full", "--", *words)
    check(re.fullmatch(r"\[xylem-\w+,0-2\]<stdout>: x\n"
                       r"\[xylem-\w+,1\]<stdout>: y\n",
                       ran.out.decode()), ran.out)

with case("who is late is shown later, and the others do not wait for him"):
    go = os.path.join(live.TMP, "go")
    job = live.Job("-qN", 3, "-b", "--", "sh", "-c",
                   '[ $XYLEM_RANK != 1 ] || until [ -e %s ]; do sleep 0.01; '
                   'done; echo a; echo b' % go)
    check_eq([b"[0,2] a\n", b"[0,2] b\n"],
             [job.stdout.readline() for _ in range(2)])
    open(go, "w").close()
    check_eq(b"[1] a\n[1] b\n", job.stdout.read())
    job.check_ok()

with case("a rank that has ended is not waited for"):
    job = live.Job("-qN", 3, "-b", "-i", 0, "--", "sh", "-c",
                   "[ $XYLEM_RANK = 0 ] || exit 0; echo a; read x; echo b",
                   stdin=subprocess.PIPE)
    check_eq(b"[0] a\n", job.stdout.readline())
    job.stdin.close()
    check_eq(b"[0] b\n", job.stdout.read())
    job.check_ok()

with case("a line that is not ended is seen"):
    job = live.Job("-qN", 2, "-b", "-i", 0, "--unbuffered", "--", "sh", "-c",
                   "printf 'name? '; [ $XYLEM_RANK = 1 ] || read x; echo $x",
                   stdin=subprocess.PIPE)
    seen = b""
    while b"[0] name? " not in seen:
        seen += os.read(job.stdout.fileno(), 100)
    job.stdin.write(b"me\n")
    job.stdin.close()
    seen += job.stdout.read()
    check_has("[1] name? \n", seen.decode())
    check(seen.endswith(b"me\n"), seen)
    job.check_ok()

with case("a very long line is whole"):
    ran = live.launch("-qN", 3, "-b", "--stats", STATS, "--", "sh", "-c",
                      "echo a; [ $XYLEM_RANK != 1 ] || "
                      "head -c %d /dev/zero | tr '\\0' x; echo; echo z" % LONG,
                      stdout=open(os.path.join(live.TMP, "out"), "w+b"))
    with open(os.path.join(live.TMP, "out"), "rb") as file:
        got = unfold_text(file.read(), 3)
    check_eq(sums([b"a\n\nz\n", b"a\n" + b"x" * LONG + b"\nz\n",
                   b"a\n\nz\n"]), sums(got))
    proof()

with case("files have all lines of each rank"):
    path = os.path.join(live.TMP, "files")
    ran = live.launch("-qN", 3, "-b", "--output-dir", path, "--", "echo", "x")
    check_eq(["[0-2] x"], ran.lines())
    names = [os.path.join(top, name) for top, _, found in os.walk(path)
             for name in found if name == "stdout"]
    check_eq([b"x\n"] * 3, [live.read_file(name) for name in names])
    path = os.path.join(live.TMP, "file")
    ran = live.launch("-qN", 2, "-b", "-o", path, "-e", path + ".e", "--",
                      "echo", "x")
    check_eq((b"", b"x\nx\n"), (ran.out, live.read_file(path)))

with case("who attaches may fold what he sees"):
    job = live.Job("-N", 6, "--", "sh", "-c", "read x; echo $x; echo z",
                   stdin=subprocess.PIPE)
    one = clients.attached("--pid", job.proc.pid, "--ranks", "1,3-5", "-b")
    job.stdin.write(b"x\n")
    job.stdin.close()
    check_eq(0, one.wait())
    check_eq(b"[1,3-5] x\n[1,3-5] z\n", one.shown())
    job.stdout.read()
    check_eq(0, job.wait())

with case("a reader that leaves ends the job"):
    job = live.Job("-qN", 2, "-b", "--", "yes")
    check_has("] y\n", job.stdout.readline().decode())
    job.stdout.close()
    check_eq(141, job.wait())

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())

#!/usr/bin/env python3
"""Tests `xylem sim` as a user calls it: reports, exit codes, wrong options."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

XYLEM = os.path.join(os.environ.get("top_builddir", "."), "commands/xylem")


def sim(*options):
    return subprocess.run([XYLEM, "sim", *options], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def expect(what, holds):
    if not holds:
        sys.exit(f"failed: {what}")


def reports():
    ran = sim("-N", "200", "--arity", "4", "--workload", "mixed",
              "--size", "300K")
    expect("a job that goes well is exit 0", ran.returncode == 0)
    expect(f"one line on a pipe, not {ran.stderr}",
           ran.stderr.count("\n") == 1 and "\r" not in ran.stderr)
    for text in (r"200 nodes, arity 4, 4 levels below the launcher, seed 1",
                 r"stdin to everybody +300 KiB, [\d.]+ [MG]B/s",
                 r"output shown +58.\d MiB", r"the run ended well at",
                 r"frames, [1-9]\d* bytes a quiet leaf",
                 r"I1 .* held", r"I2 .* held", r"I3 .* held",
                 r"I5 trace digest +[0-9a-f]{16}"):
        expect(f"{text} is in\n{ran.stdout}", re.search(text, ran.stdout))


def same_options_are_the_same_bytes():
    options = ("-N", "100", "--jitter", "20us", "--seed", "7")
    first, second = sim(*options), sim(*options)
    expect("the same options give the same bytes",
           first.stdout == second.stdout and first.stdout)
    other = sim("-N", "100", "--jitter", "20us", "--seed", "8")
    expect("another seed gives another run", other.stdout != first.stdout)


def units():
    same = (("--latency", "1.5us", "1500ns"), ("--size", "2K", "2048"),
            ("--size", "1MB", "1000000"), ("--bandwidth", "10Gbit", "1.25GB"),
            ("--bandwidth", "800Mbit/s", "100MB/s"), ("--limit", "1min", "60"))
    for option, one, other in same:
        expect(f"{option} {one} is {other}",
               sim("-N", "9", option, one).stdout ==
               sim("-N", "9", option, other).stdout != "")


def runs_are_told_by_their_seeds():
    ran = sim("-N", "50", "--jitter", "20us", "--seed", "5", "--runs", "3")
    expect("three runs, three lines",
           re.findall(r"^seed (\d): ended well", ran.stdout, re.M) ==
           ["5", "6", "7"])
    expect("exit 0", ran.returncode == 0)


def losses_and_stalls():
    options = ("-N", "50", "--arity", "3", "--size", "30M")
    ran = sim(*options, "--readers", "7:never", "--fail", "kill@1ms:5")
    expect("a loss names the node",
           re.search(r"node 5 is declared lost, and the job ends; 1 is lost",
                     ran.stdout))
    expect("a loss that ends as it should is exit 0", ran.returncode == 0)
    expect("repair is counted",
           re.search(r"repair\n(.+\n)*  adopted +3 (.+\n)*  verdicts +1 ",
                     ran.stdout))
    ran = sim(*options, "--on-node-loss", "continue", "--fail", "kill@1ms:5")
    expect("a job may go on without a node",
           "and the job goes on; 1 is lost" in ran.stdout and
           "the run ended well for all others" in ran.stdout)
    expect("which is exit 0", ran.returncode == 0)
    for fault in ("reset@1ms:5", "cut@1ms:5-1", "deaf@1ms+25s:5-1",
                  "mute@1ms:16-5", "freeze@1ms+5s:5"):
        ran = sim(*options, "--fail", fault)
        expect(f"{fault} costs nothing", "the run ended well" in ran.stdout)
    ran = sim("-N", "50", "--workload", "gather", "--console-stuck", "1ms+9s")
    expect("a console that was stuck goes on",
           re.search(r"the run ended well at 9.\d+ s", ran.stdout))
    ran = sim("-N", "50", "--arity", "3", "--size", "30M", "--limit", "20s",
              "--readers", "7:never")
    expect("a stall names the rank",
           "everybody waits for rank 7" in ran.stdout)
    expect("and says who waits",
           "node 8 waits for its process to read" in ran.stdout)
    expect("what does not end is exit 1", ran.returncode == 1)


def heartbeats():
    """Twice in 0.47 of the heartbeat time for each of 99 links, and some more
    while they are joined."""
    options = ("-N", "100", "--workload", "lines", "--output", "640",
               "--every", "10s", "--json", "-")
    ran = sim(*options)
    told = re.search(r"heartbeats +(\d+) frames, (\d+) a second in all, "
                     r"0\.\d\d a node; the root's links \d+, \d+ B/s",
                     ran.stdout)
    run = json.loads(ran.stdout[ran.stdout.index("\n{"):])["runs"][0]
    expect(f"heartbeats are told in\n{ran.stdout}", told)
    expect("and are in the JSON", run["heartbeats"] == int(told[1]))
    expect("as many as the links need", 42 <= int(told[2]) <= 50)
    expect("nothing was repaired", not any(run["repair"].values()))


def limits():
    options = ("-N", "20000", "--size", "64M", "--json", "-")
    for limit, words in (("--real-limit", "was stopped by the limit of real"),
                         ("--limit", "did not end within the limit at")):
        ran = sim(*options, limit, "1ms")
        expect(f"{limit} stops a run", words in ran.stdout)
        expect(f"{limit} says who waits:\n{ran.stdout}",
               re.search(r"who waits:\n  nodes? \d", ran.stdout))
        expect(f"{limit} is in the JSON",
               json.loads(ran.stdout[ran.stdout.index("\n{"):])["runs"][0][
                   "limit"] == limit[2:].replace("-limit", "").replace(
                       "limit", "virtual"))
        expect(f"{limit} is exit 1", ran.returncode == 1)


def a_terminal_sees_progress():
    """On a pipe there is none, see reports()."""
    try:
        master, slave = os.openpty()
    except OSError as why:
        print(f"# left out: a terminal, which cannot be made here: {why}")
        return
    with subprocess.Popen(
            [XYLEM, "sim", "-N", "20000", "--size", "1G", "--real-limit", "3s"],
            stdout=subprocess.DEVNULL, stderr=slave) as job:
        os.close(slave)
        text = b""
        try:
            while part := os.read(master, 4096):
                text += part
        except OSError:  # the end of a terminal
            pass
        os.close(master)
    expect("a long run that was stopped is exit 1", job.returncode == 1)
    for words in (rb"\rxylem: building 20000 nodes\x1b\[K",
                  rb"\rxylem: [23456789] s: [\d.]+ s of virtual time, "
                  rb"\d+ million steps\x1b\[K"):
        expect(f"{words} is in {text}", re.search(words, text))


def sweeps():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "runs.json")
        options = ("-N", "200", "--sweep", "arity=2,4,8",
                   "--sweep", "size=1K,1M", "--json")
        table = sim(*options, path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        sim(*options, path)
        with open(path, encoding="utf-8") as file:
            expect("equal runs are equal JSON", file.read() == text)
    runs = json.loads(text)["runs"]
    expect("a line for each", table.stdout.count("\n") == 7)
    expect("and a run in the file",
           [(r["arity"], r["stdin_bytes"]) for r in runs] ==
           [(a, s) for s in (1024, 1 << 20) for a in (2, 4, 8)])
    for run in runs:
        expect("every level reads",
               all(level["stdin_last_ns"] for level in run["levels"][1:]))
        expect("and the run is good", run["end"] == "well")


def arity_is_that_of_run():
    """The closed form that `xylem tree` uses, for the machine that is said."""
    for latency in ("2us", "60us"):
        with tempfile.NamedTemporaryFile("w") as model:
            model.write(f"latency {latency}\noverhead 500ns\n"
                        "bandwidth 12.5G\n")
            model.flush()
            tree = subprocess.run([XYLEM, "tree", "-w", "n[1-299]", "--arity",
                                   "auto", "--model", model.name, "--json"],
                                  check=True, stdout=subprocess.PIPE)
        arity = json.loads(tree.stdout)["arity"]
        ran = sim("-N", "300", "--arity", "auto", "--latency", latency,
                  "--size", "4K")
        expect(f"{latency}: arity {arity}, not {ran.stdout[:60]}",
               ran.stdout.startswith(f"300 nodes, arity {arity}, "))
    ran = sim("--arity", "auto", "--sweep", "nodes=10,100", "--size", "1K")
    expect("each size has its own", ran.returncode == 0)


def switches():
    """The hosts of a topology are the nodes, and few links are far."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("".join(f"SwitchName=s{s} Nodes=r{s}n[1-{20 + s}]\n"
                           for s in range(1, 6)))
        file.flush()
        options = ("--topology", file.name, "--arity", "3", "--size", "4K")
        ran = sim(*options, "--far-latency", "1ms")
        found = re.match(r"116 nodes, arity 3, .*across switches \((\d+) links",
                         ran.stdout, re.S)
        expect(f"five switches, four links, not {ran.stdout[:200]}",
               found and int(found[1]) <= 4)
        expect("and all is well", ran.returncode == 0)
        near = sim(*options)
        expect("what is far takes its time", near.stdout != ran.stdout)
        ran = sim(*options, "-N", "30", "--sweep", "arity=2,4")
        expect("the first hosts, other trees", ran.stdout.count(" 30 ") >= 2)
        for more, words in ((("-N", "117"), "has 115 hosts"),
                            (("--switch", "3"), "give one of them")):
            ran = sim(*options, *more)
            expect(f"{more} is told", ran.returncode == 2 and
                   words in ran.stderr)
    ran = sim("--topology", "/nowhere")
    expect("a file that is not there is told", ran.returncode == 1 and
           "/nowhere cannot be opened" in ran.stderr)


def pictures():
    if not shutil.which("gnuplot"):
        ran = sim("-N", "10", "--plot", "x.svg")
        expect("without gnuplot the words say what to do",
               ran.returncode == 2 and "gnuplot-nox" in ran.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "it's.svg")
        for options in ((), ("--sweep", "arity=2,4")):
            ran = sim("-N", "100", *options, "--plot", path)
            expect(f"a picture is drawn: {ran.stderr}", ran.returncode == 0)
            with open(path, encoding="utf-8") as file:
                expect("it is an SVG", "</svg>" in file.read())
            os.remove(path)
        ran = sim("-N", "10", "--plot", "/nowhere/x.svg")
        expect("one that cannot be is told", ran.returncode == 1)


def wrong_options():
    for options, words in (
            (("-N", "1"), "--nodes takes a number from 2"),
            (("--arity", "0"), "--arity takes a number from 1"),
            (("--workload", "x"), "--workload takes broadcast"),
            (("--latency", "5 parsecs"), "--latency takes a time"),
            (("--bandwidth", "1"), "--bandwidth takes a rate"),
            (("--size", "-1"), "--size takes a number of bytes"),
            (("--fail", "kill:3"), "--fail takes KIND@TIME:NODE"),
            (("--fail", "melt@1s:3"), "--fail knows kill, reset, cut"),
            (("--fail", "kill@1s:3-1"), "NODE-ABOVE for cut, deaf, mute and "),
            (("--fail", "cut@1s:3-7"), "second node of a fault must be above"),
            (("--on-node-loss", "wait"), "--on-node-loss takes abort or"),
            (("--console-stuck", "1s+x"), "--console-stuck takes a time"),
            (("--fail", "kill@1s:5000"), "a fault must name a node of the"),
            (("--readers", "3"), "--readers takes RANK:HOW"),
            (("--readers", "5:never,5:1MB"), "a rank can be named only once"),
            (("--slow-node", "3"), "--slow-node takes NODE:FACTOR"),
            (("--frame", "1"), "a frame must have from 4 KiB to 1 MiB"),
            (("--sweep", "depth=1"), "--sweep takes arity="),
            (("--sweep", "arity="), "--sweep has no values"),
            (("--sweep", "arity=0"), "--sweep arity takes a number from 1"),
            (("--sweep", "arity=2", "--sweep", "arity=4"),
             "each time for another option"),
            (("--topology", os.devnull), "no host is named"),
            (("--runs", "2", "--sweep", "size=1K"), "of one tree: leave out"),
            (("--heartbeat", "0"), "this cannot be simulated"),
            (("--limit", "soon"), "--limit takes a time"),
            (("--real-limit", "soon"), "--real-limit takes a time"),
            (("more",), "unexpected argument 'more'")):
        ran = sim(*options)
        expect(f"{options} is exit 2", ran.returncode == 2)
        expect(f"{options} is told {words}, not {ran.stderr}",
               ran.stderr.startswith("xylem: ") and words in ran.stderr)
        expect(f"{options} has no report", ran.stdout == "")


reports()
same_options_are_the_same_bytes()
runs_are_told_by_their_seeds()
units()
losses_and_stalls()
heartbeats()
limits()
a_terminal_sees_progress()
sweeps()
arity_is_that_of_run()
switches()
pictures()
wrong_options()

#!/usr/bin/env python3
"""Compares the reading of random host lists with another program.

ClusterShell's nodeset knows names with bracketed ranges, steps and leading
zeros. For each list it must name the same hosts as xylem, also when it reads
xylem's short form. Its own short form must be that of xylem for hosts in its
order, when names have one number and do not mix lengths with leading zeros
(then nodeset breaks 999-1000 in two without need). --exclude must leave the
same hosts as `nodeset LIST -x LIST`; xylem refuses to take away a host that is
not in the list, or all hosts. The test is skipped where ClusterShell is not
installed.

XYLEM_TEST_SEED chooses another seed.
"""
import os
import random
import re
import shutil
import subprocess
import sys

LISTS = 2500
PAIRS = 500


def find_clustershell():
    """NodeSet, if need be in the Python that the nodeset command runs in."""
    try:
        from ClusterShell.NodeSet import NodeSet
        return NodeSet
    except ImportError:
        pass
    tool = shutil.which("nodeset")
    if tool and "NODESET_PYTHON" not in os.environ:
        with open(tool, "rb") as script:
            first = script.readline().decode(errors="replace").split()
        python = first[0][2:] if first and first[0].startswith("#!/") else ""
        if "python" in python and os.access(python, os.X_OK):
            os.environ["NODESET_PYTHON"] = python
            os.execv(python, [python, *sys.argv])
    print("skipped: ClusterShell is not installed")
    sys.exit(77)


def random_span(rng):
    first = rng.choice([0, 1, 7, 9, 42, 98, 99, 998]) + rng.randrange(3)
    last = first + rng.choice([0, 0, 1, 2, 11, 40])
    width = rng.choice([0, 0, len(str(last)), 3, 4])
    if width < len(str(last)):
        width = 0
    text = f"{first:0{width}d}"
    if last > first:
        text += f"-{last:0{width}d}"
        if rng.randrange(4) == 0:
            text += f"/{rng.randrange(1, 7)}"
    return text


def random_part(rng):
    if rng.randrange(3) == 0:
        return f"{rng.randrange(120):0{rng.randrange(1, 4)}d}"
    spans = [random_span(rng) for _ in range(rng.randrange(1, 4))]
    return "[" + ",".join(spans) + "]"


def random_term(rng):
    shape = rng.choice(["n%", "n%", "n%", "node%", "login", "r%n%", "r%n%",
                        "n%.site", "r%-s%x", "%", "a.b-c_d%"])
    while "%" in shape:
        shape = shape.replace("%", random_part(rng), 1)
    return shape


def is_simple(names):
    """One number in a name, and all of one length or none with zeros."""
    numbers = [re.findall("[0-9]+", name) for name in names]
    plain = [number for each in numbers for number in each]
    return all(len(each) <= 1 for each in numbers) and (
        len(set(map(len, plain))) <= 1 or
        not any(number.startswith("0") and number != "0" for number in plain))


def ask(lists):
    builddir = os.environ.get("top_builddir", ".")
    run = subprocess.run([f"{builddir}/tests/unit/hosts_filter"],
                         input="\n".join(lists) + "\n", text=True,
                         stdout=subprocess.PIPE, check=True)
    answers = [line.split("\t") for line in run.stdout.splitlines()]
    assert len(answers) == len(lists), (len(answers), len(lists))
    return answers


def random_exclusion(rng, nodeset, terms):
    """Mostly hosts of the list: some terms of it, or a few of its hosts."""
    shape = rng.randrange(8)
    if shape == 0:
        return random_term(rng)
    if shape < 3:
        return ",".join(rng.sample(terms, rng.randrange(len(terms)) + 1))
    hosts = list(nodeset(rng.choice(terms)))
    return ",".join(rng.sample(hosts, min(len(hosts), rng.randrange(1, 20))))


def exclusions(rng, nodeset):
    """Pairs of lists, the second taken away from the first. How many are bad,
    and how many had something to take and something to leave."""
    pairs = []
    for _ in range(PAIRS):
        terms = [random_term(rng) for _ in range(rng.randrange(1, 4))]
        pairs.append((",".join(terms),
                      random_exclusion(rng, nodeset, terms)))
    bad = left = 0
    for (text, less), (names, rest) in zip(
            pairs, ask(["%s - %s" % pair for pair in pairs])):
        whole, away = nodeset(text), nodeset(less)
        theirs = set(whole - away)
        if away <= whole and theirs:
            left += 1
            ours = names.split(" ")
            if set(ours) != theirs or len(ours) != len(theirs):
                bad += 1
                print(f"{text} - {less}: ours {ours[:5]} ({rest:.200}), "
                      f"theirs {sorted(theirs)[:5]}")
        elif names != "error":
            bad += 1
            print(f"{text} - {less}: no error, but {names:.200}")
    return bad, left


def main():
    nodeset = find_clustershell()
    seed = int(os.environ.get("XYLEM_TEST_SEED") or 20240613)
    print(f"seed {seed}")
    rng = random.Random(seed)
    lists = [",".join(random_term(rng) for _ in range(rng.randrange(1, 6)))
             for _ in range(LISTS)]
    bad = hosts = compared = 0
    in_order = []
    for text, (names, fold) in zip(lists, ask(lists)):
        theirs = set(nodeset(text))
        ours = names.split(" ")
        hosts += len(ours)
        if len(ours) != len(set(ours)):
            bad += 1
            print(f"{text}: a host is there twice")
        if set(ours) != theirs:
            bad += 1
            print(f"{text}: only ours {sorted(set(ours) - theirs)[:5]}, "
                  f"only theirs {sorted(theirs - set(ours))[:5]}")
        # Slots that repeated names have gained are no business of theirs.
        plain = ",".join(part.split(":")[0] for part in fold.split(","))
        if set(nodeset(plain)) != theirs:
            bad += 1
            print(f"{text}: they read our {plain} as another list")
        if is_simple(ours):
            in_order.append(nodeset(text))
    for theirs, (_, fold) in zip(in_order, ask(
            [",".join(each) for each in in_order])):
        compared += 1
        if fold != str(theirs):
            bad += 1
            print(f"{theirs}: our short form is {fold}")
    wrong, left = exclusions(rng, nodeset)
    print(f"{LISTS} lists, {hosts} hosts, {compared} short forms, {bad} bad; "
          f"{PAIRS} exclusions, {left} that leave something, {wrong} bad")
    return 1 if (bad or wrong or compared < LISTS // 10 or
                 not PAIRS // 4 < left < PAIRS) else 0


if __name__ == "__main__":
    sys.exit(main())

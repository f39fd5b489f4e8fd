#!/usr/bin/env python3
"""Runs fuzz targets that were built with libFuzzer, several side by side.

usage: fuzz.py [--seconds N | --hours N] [--jobs N] [--seed N] [NOUN...]

Each target runs its seeds and the inputs that it has found before, then new
inputs, for --seconds; or all targets share --hours. Called in a build folder
that was configured with --enable-fuzzing. The inputs that it finds stay there,
beside the targets:

    tests/fuzz/work/NOUN/     inputs that reach something new
    tests/fuzz/found/NOUN-*   inputs that break something
    tests/fuzz/work/NOUN.log  all that the target said

Without NOUN it runs all. Exit 1 when something broke. --merge adds to the seeds
in the sources those inputs that reach more code than the seeds do.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join("tests", "fuzz")
WORK = os.path.join(BUILT, "work")
FOUND = os.path.join(BUILT, "found")
# A wall-clock limit for one input: the machine may have much else to do.
HANG_S = 100
BYTES_MAX = 65536
MERGED_BYTES_MAX = 512


def target(noun):
    return os.path.join(BUILT, f"fuzz_{noun}")


def built():
    """The nouns of all that was built."""
    nouns = [name[len("fuzz_"):] for name in os.listdir(BUILT)
             if re.match(r"fuzz_\w+$", name)]
    return sorted(noun for noun in nouns if os.access(target(noun), os.X_OK))


def seeds(noun):
    return os.path.join(HERE, "corpus", noun)


def call(noun, log, *arguments):
    command = [target(noun), f"-timeout={HANG_S}",
               f"-artifact_prefix={FOUND}/{noun}-", *arguments]
    with open(log, "w", encoding="utf-8") as out:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=out, check=False).returncode


def number(text, name):
    match = re.search(rf"{name}: *(\d+)", text)
    return int(match[1]) if match else 0


def fuzz(noun, seed, seconds):
    """(runs, did it hold?, a line about it)"""
    own, log = os.path.join(WORK, noun), os.path.join(WORK, noun + ".log")
    os.makedirs(own, exist_ok=True)
    status = call(noun, log, f"-seed={seed}", f"-max_total_time={seconds}",
                  f"-max_len={BYTES_MAX}", "-print_final_stats=1", own,
                  seeds(noun))
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    runs = number(text, "stat::number_of_executed_units")
    new = number(text, "stat::new_units_added")
    line = f"fuzz {noun}: seed {seed}, {runs} runs, {new} new inputs"
    if status == 0:
        return runs, True, line
    kept = re.search(r"Test unit written to (\S+)", text)
    return runs, False, f"{line}\nfuzz {noun}: FAILED, {log}" + (
        f": {target(noun)} {kept[1]}" if kept else "")


def merge(noun):
    """What reaches more than the seeds do becomes a seed, if it is small."""
    own, log = os.path.join(WORK, noun), os.path.join(WORK, noun + ".merge")
    os.makedirs(own, exist_ok=True)
    before = len(os.listdir(seeds(noun)))
    status = call(noun, log, "-merge=1", f"-max_len={MERGED_BYTES_MAX}",
                  seeds(noun), own)
    if status != 0:
        return 0, False, f"fuzz {noun}: FAILED, {log}"
    count = len(os.listdir(seeds(noun)))
    return 0, True, f"fuzz {noun}: {count - before} new seeds, {count} in all"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hours", type=float)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int)
    parser.add_argument("--merge", action="store_true")
    parser.add_argument("nouns", nargs="*", metavar="NOUN")
    options = parser.parse_args()
    nouns = options.nouns or built()
    seed = options.seed or random.SystemRandom().randrange(1, 2 ** 31)
    seconds = options.seconds
    if options.hours:
        seconds = options.hours * 3600 * options.jobs / len(nouns)
    seconds = max(1, int(seconds))
    os.makedirs(FOUND, exist_ok=True)
    began, runs, failed = time.monotonic(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        going = [pool.submit(merge, noun) if options.merge
                 else pool.submit(fuzz, noun, seed, seconds) for noun in nouns]
        for done in concurrent.futures.as_completed(going):
            count, good, line = done.result()
            runs += count
            failed += not good
            print(line, flush=True)
    print(f"{len(nouns)} targets, {runs} runs, {failed} failed, "
          f"{int(time.monotonic() - began)} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

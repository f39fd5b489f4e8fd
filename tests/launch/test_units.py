#!/usr/bin/env python3
"""A time or a size is written with a unit in every option that asks for one,
and a bare number is seconds or bytes."""
import os
import sys

import live
from live import case, check_has, launch

FIFO = os.path.join(live.TMP, "fifo")


def times_out(text, seconds):
    """A launch that waits at a FIFO ends after that time, and says how many
    seconds it was."""
    ran = launch("--timeout", text, "--input", FIFO, "--", "true", code=124)
    check_has("timed out after %s s (--timeout)" % seconds, ran.said)


def is_right(*options):
    launch("--launcher", "local", *options, "--", "true")


def is_wrong(words, *options):
    ran = launch(*options, "--", "true", code=2)
    check_has(words, ran.said)
    check_has("not '%s'" % options[-1].rpartition("=")[2], ran.said)


with case("a time has a unit, or is in seconds"):
    os.mkfifo(FIFO)
    for text, seconds in (("0.05", "0.05"), (".05", "0.05"), ("50ms", "0.05"),
                          ("50000us", "0.05"), ("50000000ns", "0.05"),
                          ("0.05s", "0.05"), ("0.001m", "0.06"),
                          ("0.001min", "0.06"), ("0.00001h", "0.036"),
                          ("0.000001d", "0.0864")):
        times_out(text, seconds)

with case("all options that ask for a time take one"):
    is_right("--timeout", "5m", "--launch-timeout=2min", "--heartbeat=5000ms",
             "--linger", "500ms", "--stdin-slow=close=0.5m")

with case("what is no time is refused, with what to write"):
    for option in ("timeout", "launch-timeout", "heartbeat", "linger",
                   "stdin-slow=close"):
        for text in ("", "s", "-1", "5 m", "5x", "1:30", "nan", "1000001",
                     "12d"):
            is_wrong("--%s takes a time from " % option,
                     "--%s=%s" % (option, text))
    is_wrong("from 0.001 to 1000000 seconds, as 90, 500ms, 5m or 2h,",
             "--timeout=0")
    is_wrong("from 0.1 to 1000000 seconds", "--heartbeat=99ms")

with case("a size has a unit, or is in bytes"):
    for text in ("16777216", "16777216B", "16384K", "16384k", "16384KiB", "16M",
                 "16m", "16MiB", "16.7MB", "16000kB", "0.015G", "0.01GB"):
        is_right("--pmix-cache", text)
    for text in ("16777217", "16385K", "17M", "17MB", "0.016G", "1T", "1TB",
                 "", "K", "-1", "1 M", "1X", "1e3"):
        is_wrong("--pmix-cache takes bytes from 0 to 16M, as 64K, 1M or "
                 "1.5GiB,", "--pmix-cache=" + text)
    is_right("--stdin-slow=spill=1G", "--spill-dir", live.TMP)
    is_right("--stdin-slow=spill=0.5t", "--spill-dir", live.TMP)

with case("--help says so"):
    ran = launch("--help")
    for words in ("--timeout=TIME", "--heartbeat=TIME", "--linger=TIME",
                  "--launch-timeout=TIME", "500ms", "64K"):
        check_has(words, ran.said + ran.out.decode())

with case("a simulation takes the same"):
    for option in ("--limit", "--real-limit", "--heartbeat"):
        ran = live.Ran(live.XYLEM, "sim", "-N", 4, option, "2h")
    for options in (["--size", "1m"], ["--line", "1k"], ["--frame", "64k"]):
        live.Ran(live.XYLEM, "sim", "-N", 4, *options)
    ran = live.Ran(live.XYLEM, "sim", "--frame", "5G", code=2)
    check_has("--frame takes bytes from 0 to 1G, as 64K", ran.said)
    ran = live.Ran(live.XYLEM, "sim", "--limit", "2y", code=2)
    check_has("--limit takes a time as 500ns, 2us, 1.5ms, 10s or 5m", ran.said)

live.check_all_gone()
sys.exit(live.end())

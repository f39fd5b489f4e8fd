#!/usr/bin/env python3
"""Tools that connect while their helpers are not ready yet are let in when the
helpers are, and get everything."""
import glob
import os
import sys
import time

import pmix
import live

TOOLS = 3
LOOKS = 50  # at those that are not to get further
TEXT = b"".join(b"%d\n" % n for n in range(1, 2001))


def look_on(job, tools):
    """Until all are at the port, and then for some time: none gets further but
    the first, whose helper was there."""
    def are_there():
        return all(live.sockets(tool.proc.pid, live.ESTABLISHED)
                   for tool in tools)
    live.eventually(are_there, 60, "the tools are at the port")
    for _ in range(LOOKS):
        if pmix.pulls_heard(job) > 1:
            break
        time.sleep(0.02)  # sleep-ok: between two looks
    live.check_eq(1, pmix.pulls_heard(job), "let in too early: " + job.said())


def start():
    """A job whose helpers are held, all but the first."""
    hold, gate = pmix.Gate(), pmix.Gate()
    env = {**live.preload("pmix", "preload_early.c"),
           "XYLEM_TEST_HOLD": hold.path}
    job = pmix.Job("-v", "-N", 1, "--", "sh", "-c",
                   pmix.Gate.WAIT + "seq 2000", gate.path, env=env)
    pmix.wait_up(job)
    return job, hold, gate


def early():
    job, hold, gate = start()
    tools = [pmix.Tool(job, "-c", 6, "-n", 2) for _ in range(TOOLS)]
    live.eventually(lambda: pmix.pulls_heard(job) > 0, 60, "the first is in")
    look_on(job, tools)
    hold.open()
    for tool in tools:
        tool.wait_ready()
    gate.open()
    live.check(TEXT == job.stdout.read(), "the job's own output")
    job.check_ok()
    for tool in tools:
        live.check_eq(0, tool.wait(), "exit code")
        live.check(TEXT == tool.got(0, "stdout"), "all of it")


def first_line(path):
    return (live.read_file(path) or b"").partition(b"\n")[0].decode()


def beside():
    """A helper that starts is no server for tools: a tool that looks for one,
    by its name or for any, finds only the launcher."""
    job, hold, gate = start()
    tools = [pmix.Asker(job)]
    live.check(tools[0].connect(), "the first is in")
    live.eventually(lambda: os.path.exists(hold.path + ".held"), 60,
                    "the next helper is held")
    uri = first_line(pmix.rendezvous(job))
    found = glob.glob(os.path.join(live.TMP, "**", "pmix.*"), recursive=True)
    live.check_eq({uri}, set(map(first_line, found)), found)
    tools += [pmix.Asker(job, "-s", uri.split("-server.")[0]),
              pmix.Asker(job, command=[pmix.ASK])]
    hold.open()
    for tool in tools[1:]:
        live.check(tool.connect(), "let in")
    for tool in tools:
        live.check_eq(0, tool.end())
    gate.open()
    live.check(TEXT == job.stdout.read(), "the job's own output")
    job.check_ok()


def main():
    pmix.need()
    if live.is_sanitized():
        live.skip("sanitizers have to be loaded first")
    with live.case("before their helpers are ready"):
        early()
    with live.case("beside a helper that starts"):
        beside()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""xylem run --dvm ends where launcher and helper are killed while it asks for
its job: libpmix does not answer what was asked for then."""
import os
import signal
import sys

import pmix
import live


def begin():
    """A dvm, and a tool that is about to ask for its job's processes."""
    hold = pmix.Gate()
    job = pmix.Dvm("-N", 1)
    job.wait_up()
    env = live.preload("pmix", "preload_ask.c")
    tool = pmix.Command("run", "--dvm", "-N", 1, "--", "true", env={
        "LD_PRELOAD": env["LD_PRELOAD"], "XYLEM_TEST_HOLD": hold.path})
    live.eventually(lambda: b"asks" in tool.said(), 60, "it asks")
    return job, tool, hold


def kill_both(job, helper):
    """The launcher stands still first, so that neither ends by itself where
    the other one does: a helper that stands still would go on by SIGCONT,
    which the kernel sends to a group that nobody is left to look after."""
    live.stop(job.proc.pid)
    os.kill(helper, signal.SIGKILL)
    job.proc.kill()


def end(job, tool):
    live.check_eq(1, tool.wait(), "exit code: %s" % tool.said())
    live.check(b"the dvm" in tool.said() or b"the launcher" in tool.said(),
               tool.said())
    job.stdout.close()
    job.proc.wait()


def unheard():
    """The helper does not read any more what is asked."""
    job, tool, hold = begin()
    helper = pmix.helper_of(job)
    live.stop(helper)
    hold.open()
    kill_both(job, helper)
    end(job, tool)


def gone():
    """There is no helper any more."""
    job, tool, hold = begin()
    helper = pmix.helper_of(job)
    kill_both(job, helper)
    hold.open()
    end(job, tool)


def main():
    pmix.need()
    if live.is_sanitized():
        live.skip("sanitizers have to be loaded first")
    for test, sentence in ((unheard, "what it asks is not heard"),
                           (gone, "nobody is there to be asked")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

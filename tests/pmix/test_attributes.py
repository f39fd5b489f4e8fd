#!/usr/bin/env python3
"""Attributes that only the tool's own library uses, or that have no effect: a
tool that gives them connects, or gets its output, as it should."""
import os
import re
import sys

import pmix
import live

CONNECTED, REFUSED = 0, 3
# Beside the process number; with numbers, or nothing, as values.
BESIDE = {
    "PMIX_SERVER_HOSTNAME": ("-a", "pmix.srvr.host=" + os.uname().nodename),
    "PMIX_CONNECT_MAX_RETRIES": ("-n", "pmix.tool.mretries=2"),
    "PMIX_CONNECT_RETRY_DELAY": ("-n", "pmix.tool.retry=1"),
    "PMIX_CONNECT_SYSTEM_FIRST": ("-a", "pmix.cnct.sys.first"),
    "PMIX_TOOL_CONNECT_OPTIONAL": ("-a", "pmix.tool.conopt"),
    "PMIX_LAUNCHER": ("-a", "pmix.tool.launcher"),
}
# How output is to look, and where it is to go: what a pull brings is as it is.
SO = {
    "PMIX_IOF_OUTPUT_RAW": "pmix.iof.raw",
    "PMIX_IOF_LOCAL_OUTPUT": "pmix.iof.local",
}
OTHERWISE = {
    "PMIX_IOF_TAG_OUTPUT": "pmix.iof.tag",
    "PMIX_IOF_RANK_OUTPUT": "pmix.iof.rank",
    "PMIX_IOF_TIMESTAMP_OUTPUT": "pmix.iof.ts",
    "PMIX_IOF_XML_OUTPUT": "pmix.iof.xml",
    "PMIX_IOF_MERGE_STDERR_STDOUT": "pmix.iof.mrg",
    "PMIX_IOF_OUTPUT_TO_FILE": "pmix.iof.file=/no/file",
    "PMIX_IOF_OUTPUT_TO_DIRECTORY": "pmix.iof.dir=/no/dir",
    "PMIX_IOF_FILE_PATTERN": "pmix.iof.fpt",
    "PMIX_IOF_FILE_ONLY": "pmix.iof.fonly",
}


def start(command="true", ranks=1):
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", ranks, "--", "sh", "-c",
                   pmix.Gate.WAIT + command, gate.path)
    pmix.wait_up(job)
    return job, gate


def ask(*options, code=CONNECTED):
    tool = pmix.Asker(None, *options)
    name = tool.connect()
    if code == CONNECTED and live.check(name, f"connected: {options}"):
        live.check_eq("SUCCESS", tool.query("pmix.qry.ns")[1])
    live.check_eq(code, tool.end(), "code")


def connections():
    job, gate = start()
    uri = re.search(r"tools can connect to (\S+),", job.said())[1]
    ask("-a", "pmix.tcp.uri=" + uri)  # PMIX_TCP_URI
    for option in BESIDE.values():
        ask("-p", job.proc.pid, *option)
    # PMIX_CONNECT_TO_SYSTEM: we are no system server.
    ask("-p", job.proc.pid, "-a", "pmix.cnct.sys", code=REFUSED)
    # PMIX_TOOL_DO_NOT_CONNECT: the tool makes its name itself.
    alone = pmix.Asker(None, "-a", "pmix.tool.nocon")
    live.check("xylem-pmix" not in alone.connect(), "it has not connected")
    live.check_eq(0, alone.end(), "code")
    gate.open()
    job.check_ok()


def formats():
    """All in one job, each with a tool of its own. What asks for bytes as they
    are gets them; what asks for others is refused, though it is not required,
    and a word names it."""
    job, gate = start("echo out $XYLEM_RANK; echo err >&2", 2)
    for name, key in OTHERWISE.items():
        tool = pmix.Tool(job, "-D", key)
        live.check_eq(4, tool.wait(), name)
        said = tool.proc.stderr.read().decode().replace("_", "-")
        live.check("NOT-SUPPORTED" in said, name + said)
        words = f"a pull was refused: {key.split('=')[0]} is not supported"
        live.eventually(lambda w=words: w in job.said(), 60, words)
    tools = [(name, pmix.ready(job, "-n", 4, "-D", key))
             for name, key in SO.items()]
    gate.open()
    job.stdout.read()
    job.check_ok()
    for name, tool in tools:
        live.check_eq(0, tool.wait(), name)
        for rank in range(2):
            live.check_eq(b"out %d\n" % rank, tool.got(rank, "stdout"), name)
            live.check_eq(b"err\n", tool.got(rank, "stderr"), name)


def main():
    pmix.need()
    for test, sentence in ((connections, "ways to connect"),
                           (formats, "tools with formats")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

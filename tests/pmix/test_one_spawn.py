#!/usr/bin/env python3
"""A helper with one tool that starts jobs: the helper gets the request as
programs and options of xylem; impossible requests are refused; the output of a
job goes to the tool without a pull, unless a pull gets it."""
import re
import sys

import pmix
import live
import single
import spawning


# Directives of which something else would come than the tool wants: they need
# not be required to be refused.
REFUSED = ("pmix.dbg.exec", "pmix.dbg.init", "pmix.dbg.notify", "pmix.debugger",
           "pmix.cospawn", "pmix.spwn.tool", "pmix.iof.cpy", "pmix.iof.redir",
           "pmix.nolocal", "pmix.noover", "pmix.indxargv")


def connect():
    one = single.One(1)
    tool = spawning.Starter(one)
    live.check(tool.connect(), "connected")
    return one, tool


def leave(one, tool):
    live.check_eq(0, tool.end(), "the tool")
    one.gone()


def rows(one, *words):
    """The next line of each."""
    return [" ".join(one.wait(word)) for word in words]


def whole():
    """Two apps with all attributes that can be given."""
    one, tool = connect()
    space, status = tool.spawn(
        "pmix.fwd.stdout pmix.fwd.stdin:1 pmix.nohup pmix.iof.csize:77 "
        "pmix.iof.bsize:88 pmix.iof.btime:9 pmix.iof.old pmix.iof.file=out "
        "pmix.iof.tag pmix.host=a:*,b:2 pmix.envar.set=A=1 "
        "-- cwd=/ env=B=2 pmix.ppr=3:core pmix.envar.unset=C 4 /bin/x y z "
        ": pmix.wdir=/nowhere pmix.mapby=node pmix.addhost=c 5 w")
    live.check_eq(("one-job.1", "SUCCESS"), (space, status))
    said, wish = rows(one, "spawn", "wish")
    # stdout comes and may be pulled, rank 1 reads, files by name, tags
    live.check_eq("2 2 1 2://out 3 0 stdin kept waits", said)
    live.check_eq("1 77 77 88 9", wish)
    live.check_eq("4 3 1 0 / 1 hosts a,b:2 - - -", rows(one, "app")[0])
    live.check_eq(["/bin/x y z", "0 A=1", "0 B=2", "2 C"],
                  rows(one, "words", "env", "env", "env"))
    live.check_eq("5 0 0 1 /nowhere 0 hosts a,b:2 - c -", rows(one, "app")[0])
    live.check_eq(["w", "0 A=1"], rows(one, "words", "env"))
    leave(one, tool)


def plain():
    """One app without attributes."""
    one, tool = connect()
    live.check_eq("SUCCESS", tool.spawn("-- 0 true")[1])
    live.check_eq("0 0 0 0:- 0 0", rows(one, "spawn")[0])
    live.check_eq("0 -1 0 0 0", rows(one, "wish")[0])
    live.check(rows(one, "app")[0].startswith("0 0 0 0 /"), "its directory")
    leave(one, tool)


def outputs():
    """What becomes of output, one directive after the other."""
    one, tool = connect()
    for what, want in (
            ("pmix.fwd.stdout pmix.iof.fonly pmix.iof.dir=/d pmix.logcomp",
             "0 2 0 1:/d 0 0 end"),
            ("pmix.iof.file=/f pmix.iof.fpt", "0 0 0 3:/f 0 0"),
            ("pmix.iof.fpt", "0 0 0 0:- 0 0"),
            ("pmix.fwd.stderr pmix.fwd.stddiag pmix.iof.mrg pmix.iof.raw",
             "12 12 0 0:- 0 0 stddiag merged waits raw"),
            ("pmix.iof.rank pmix.iof.ts", "0 0 0 0:- 1 0 time"),
            ("pmix.iof.rank pmix.iof.tag pmix.iof.xml", "0 0 0 0:- 3 2"),
            ("pmix.iof.local pmix.log.jev", "0 0 0 0:- 0 0 shown stages"),
            ("!pmix.iof.local", "0 0 0 0:- 0 0 shown needed"),
            ("pmix.notecomp", "0 0 0 0:- 0 0 noted"),
            ("pmix.notecomp pmix.note.jev", "0 0 0 0:- 0 0"),
            ("pmix.note.jev pmix.notecomp", "0 0 0 0:- 0 0"),
            ("!pmix.iof.local pmix.iof.file=/f pmix.iof.fonly",
             "0 0 0 2:/f 0 0")):
        live.check_eq("SUCCESS", tool.spawn(what + " -- 1 a")[1], what)
        live.check_eq(want, rows(one, "spawn")[0], what)
    leave(one, tool)


def refused():
    """Before anybody is asked, with the status and the words that say why."""
    one, tool = connect()
    for what, want, note in (
            ("!no.such -- 1 a", "NOT SUPPORTED",
             "no.such is not supported"),
            ("-- !no.such 1 a", "NOT SUPPORTED",
             "no.such is not supported for an app"),
            ("pmix.alloc.nnodes:1 -- 1 a", "NOT SUPPORTED",
             "pmix.alloc.nnodes is not supported"),
            ("-- !pmix.fwd.stdout 1 a", "NOT SUPPORTED",
             "pmix.fwd.stdout is not supported for an app"),
            ("pmix.ppr:1 -- 1 a", "BAD PARAM", "pmix.ppr has a wrong value"),
            ("pmix.mapby=quux -- 1 a", "NOT SUPPORTED",
             "pmix.mapby is not supported"),
            ("pmix.rankby=node -- 1 a", "NOT SUPPORTED",
             "pmix.rankby is not supported"),
            ("pmix.bindto=core -- 1 a", "NOT SUPPORTED",
             "pmix.bindto is not supported"),
            ("-- pmix.fwd.stdout 1 a", "NOT SUPPORTED",
             "pmix.fwd.stdout is not supported for an app"),
            ("-- pmix.iof.tag 1 a", "NOT SUPPORTED",
             "pmix.iof.tag is not supported for an app"),
            ("pmix.iof.csize=x -- 1 a", "BAD PARAM",
             "pmix.iof.csize has a wrong value"),
            ("pmix.fwd.stdin=x -- 1 a", "BAD PARAM",
             "pmix.fwd.stdin has a wrong value"),
            ("pmix.iof.fonly -- 1 a", "BAD PARAM",
             "pmix.iof.fonly without files"),
            ("pmix.iof.raw pmix.iof.tag -- 1 a", "BAD PARAM",
             "pmix.iof.raw with a format of lines"),
            ("pmix.iof.dir=a pmix.iof.file=b -- 1 a", "BAD PARAM",
             "pmix.iof.file has a wrong value"),
            ("-- env==1 1 a", "BAD PARAM", None),
            ("pmix.envar.set==1 -- 1 a", "BAD PARAM",
             "pmix.envar.set has a wrong value")):
        live.check_eq((None, want), tool.spawn(what), what)
        if note:
            said = one.wait("note")
            live.check(note in " ".join(said), f"{what}: {said}")
    for key in REFUSED:
        live.check_eq((None, "NOT SUPPORTED"), tool.spawn(key + " -- 1 a"), key)
        said = one.wait("note")
        live.check(f"{key} is not supported" in " ".join(said), f"{said}")
    live.check_eq([], [line for line in one.seen if line[0] == "spawn"])
    live.check_eq("SUCCESS", tool.spawn("no.such !pmix.ppr=1:node -- 1 a")[1])
    leave(one, tool)


def answers():
    """Every answer is told by the status of the standard, which libpmix 5 has
    other words for."""
    one, tool = connect()
    for answer, want in enumerate((
            "PARTIAL SUCCESS", "BAD PARAM", "NOT FOUND", "NOT SUPPORTED",
            "NOT AVAILABLE", "OUT OF RESOURCE", "IOF COMPLETE",
            "NO EXE(CUTABLE)? SPECIFIED", "EXECUTABLE NOT FOUND",
            "APPLICATION NOT EXECUTABLE", "WORKING DIRECTORY NOT FOUND",
            "INSUFFICIENT RESOURCES",
            "FAILED TO OBTAIN ALLOCATION|JOB ALLOC FAILED",
            "FAILED TO LAUNCH"), 1):
        space, status = tool.spawn(f"-- 1 {answer}")
        live.check(space is None and status and
                   re.search(want, re.sub("[-_]", " ", status)),
                   f"{answer}: {status}, not {want}")
    leave(one, tool)


def waits():
    """A spawn that is answered later, and one whose tool is killed."""
    one, tool = connect()
    tool.tell("spawn -- 1 keep")
    one.wait("kept")
    live.check_eq([0, 0], one.now(), "the helper goes on")
    one.tell("answer")
    live.check_eq((["one-job.kept"], "SUCCESS"), tool.answer())
    tool.tell("spawn pmix.fwd.stdout -- 1 keep")
    one.wait("kept")
    tool.proc.kill()
    tool.proc.wait()
    one.gone()


def until_shown(tool, want, name="stdout"):
    live.eventually(lambda: tool.shown(name) == want, 60, "it is shown")
    live.check_eq(want, tool.shown(name))


def until_got(tool, space, want):
    """What counts as taken the tool has read; its file has it a little later.
    """
    live.eventually(lambda: tool.got(space, 0) == want, 60, "all is pulled")
    live.check_eq(want, tool.got(space, 0))


def give(one, space, channel, line):
    live.check_eq(0, one.told(f"give {space} 0 {channel} {line}"))


def forwarded():
    """What is forwarded the tool's library shows, by channel; nothing else."""
    one, tool = connect()
    space, _ = tool.spawn("pmix.fwd.stdout pmix.fwd.stderr -- 2 a")
    other, _ = tool.spawn("-- 2 a")
    give(one, space, 2, "one")
    give(one, other, 2, "nobody's")
    give(one, space, 4, "two")
    give(one, space, 2, "three")
    until_shown(tool, "one\nthree\n")
    until_shown(tool, "two\n", "stderr")
    live.eventually(lambda: one.now()[0] == 4, 60, "all count as taken")
    leave(one, tool)


def pulled():
    """What a pull has is not shown as well, where the helper says so; what is
    shown is not lost with it, and all count as taken."""
    one = single.One(1, "-w", 9)
    tool = spawning.Starter(one)
    live.check(tool.connect(), "connected")
    space, _ = tool.spawn("pmix.fwd.stdout -- 2 a")
    give(one, space, 2, "before")
    until_shown(tool, "before\n")
    live.check_eq("SUCCESS", tool.ask(f"pull {space} * out")[1])
    for n in range(3):
        give(one, "!" + space, 2, f"pulled {n}")
        give(one, space, 2, f"both {n}")
    want = "".join(f"pulled {n}\nboth {n}\n" for n in range(3))
    until_got(tool, space, want)
    until_shown(tool, "before\nboth 0\nboth 1\nboth 2\n")
    live.eventually(lambda: one.now()[0] == 7, 60, "all count as taken")
    give(one, "!" + space, 2, "last")
    live.eventually(lambda: one.now()[0] == 8, 60, "so does the last")
    until_got(tool, space, want + "last\n")
    until_shown(tool, "before\nboth 0\nboth 1\nboth 2\n")
    leave(one, tool)


def pulled_before():
    """The same when the pull was there before the spawn: then what is hidden
    comes last of a delivery."""
    one = single.One(1, "-w", 9)
    tool = spawning.Starter(one)
    live.check(tool.connect(), "connected")
    live.check_eq("SUCCESS", tool.ask("pull one-job.1 * out")[1])
    space, _ = tool.spawn("pmix.fwd.stdout -- 2 a")
    give(one, "!" + space, 2, "pulled")
    live.eventually(lambda: one.now()[0] == 1, 60, "it counts as taken")
    until_got(tool, space, "pulled\n")
    give(one, space, 2, "both")
    until_shown(tool, "both\n")
    live.eventually(lambda: one.now()[0] == 2, 60, "so does this")
    leave(one, tool)


def main():
    pmix.need()
    for test, sentence in (
            (whole, "all that can be said"),
            (plain, "a spawn that says nothing"),
            (outputs, "what becomes of output"),
            (refused, "refused"),
            (answers, "answers"),
            (waits, "spawns that wait"),
            (forwarded, "output that is forwarded"),
            (pulled, "output that is forwarded and pulled"),
            (pulled_before, "output that was pulled before")):
        with live.case(sentence):
            test()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())

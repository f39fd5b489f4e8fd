#!/usr/bin/env python3
"""Mistakes that beginners make: each ends with a single line that says what to
do, and nothing is left behind."""
import os
import re
import shlex
import sys

import live
from live import case, check, check_eq

# The command line behind `xylem', its exit code, and the line that it gets,
# behind `xylem: '. "..." stands for anything.
MISTAKES = (
    # the command
    ("", 2, "no command is given (try `xylem --help')"),
    ("rnu -N 2 true", 2,
     "there is no command 'rnu' (did you mean `xylem run'?)"),
    ("./program", 2,
     "there is no command './program': `xylem run ./program' runs a program "
     "(try `xylem --help')"),
    ("-N 2 true", 2,
     "a command comes first, then its options: `xylem run -N ...' (try "
     "`xylem --help')"),
    # names of options
    ("run --lable true", 2,
     "there is no option --lable (did you mean --label?)"),
    ("run --ntasks 2 true", 2,
     "there is no option --ntasks (did you mean --procs?)"),
    ("run -hostfile hosts true", 2,
     "there is no option -hostfile (did you mean --hostfile?)"),
    ("run --node 2 true", 2,
     "--node may be --nodes or --nodes-per-daemon: write the whole name"),
    ("run --ver true", 2,
     "--ver may be --verbose or --version: write the whole name"),
    ("run --no-such-thing true", 2, "there is no option --no-such-thing"),
    ("run -N2 -y true", 2, "there is no option -y"),
    ("run --raw=yes true", 2, "--raw takes no value"),
    ("run --help=yes true", 2, "--help takes no value"),
    ("run true : --nodse 2 true", 2,
     "there is no option --nodse (did you mean --nodes?)"),
    ("run -lhost true", 2,
     "-h cannot be combined with other letters (write --label=host for a "
     "label)"),
    ("attach --labels=rank", 2,
     "there is no option --labels (did you mean --label?)"),
    # numbers
    ("run -n 0 true", 2, "-n takes a number from 1 to 100000000, not '0'"),
    ("run -N", 2, "-N needs a value after it"),
    ("run -N true", 2, "-N takes a number from 1 to 10000000, not 'true'"),
    ("run -N 1.5 true", 2, "-N takes a number from 1 to 10000000, not '1.5'"),
    ("run --ppn 0 true", 2, "--ppn takes a number from 1 to 16000, not '0'"),
    ("run --ppn 2:cores true", 2,
     "--ppn takes N, N:core or N:socket, not '2:cores'"),
    ("run --arity 0 true", 2, "--arity takes a number from 1 to 1024, not '0'"),
    ("run --timeout soon true", 2, "--timeout takes a ..., not 'soon'"),
    ("run -n 5 -w a:2,b:2 true", 2,
     "asked for 5 processes, but the hosts have 4 slots: give more hosts, more "
     "slots (HOST:N), or --ppn to say how many go on each"),
    ("run -N 2 --ppn 2 -n 5 true", 2,
     "-n 5 does not fit into 2 nodes with --ppn 2"),
    ("run -N 3 -w a,b true", 2,
     "asked for 3 nodes, but there are 2 hosts: lower -N or name more hosts"),
    # words
    ("run --format yaml true", 2,
     "--format takes text, json or xml, not 'yaml'"),
    ("run --label=name true", 2,
     "--label takes rank, host or full, not 'name'"),
    ("run --label full true", 2,
     "'full' is no program: a value of --label follows a '=', as --label=full"),
    ("run --launcher pbs true", 2,
     "--launcher takes local, ssh, slurm or auto, not 'pbs'"),
    ("run --launcher ssh true", 2,
     "--launcher ssh needs hosts: give --hosts or --hostfile"),
    ("run --bind cores true", 2,
     "--bind takes core, socket or none, not 'cores'"),
    ("run --env =1 true", 2, "--env takes NAME or NAME=VALUE, not '=1': ..."),
    ("run --env 'A B=1' true", 2,
     "--env takes NAME or NAME=VALUE, not 'A B=1': ..."),
    ("run --env NOT_SET true", 2,
     "--env NOT_SET: it is not in the environment; give --env NOT_SET=VALUE"),
    ("run -x a true", 2,
     "--exclude needs hosts to leave some out of: give --hosts or --hostfile, "
     "or run in an allocation"),
    # hosts
    ("run -w 'n[1-2' true", 2,
     "the ']' is missing (write node[1-4]) (character 6, after \"n[1-2\")"),
    ("run -w 'n[1-2]]' true", 2,
     "this ']' has no '[' (write node[1-4]) (character 7, after \"n[1-2]\")"),
    ("run -w 'n{1,2}' true", 2,
     "braces are for a shell (write node[1-4,7], in quotes) (character 2, "
     "after \"n\")"),
    ("run -w n1 n2 true", 2,  # -w n{1,2}
     "'n2' is no program but a host like 'n1': a shell has split the list, so "
     "put it in quotes, as -w 'node[1-4]'"),
    ("run -wn1 -wn2 true", 2,  # -wn{1,2}
     "--hosts is given twice: give one list, in quotes, as 'node[1-4],login'"),
    ("run -w n1,n2 -H n2,n3 true", 2,
     "--hosts is given twice: give one list, in quotes, as 'node[1-4],login'"),
    ("run -w 'n1 n2' true", 2,
     "a comma is missing between two hosts (character 4, after \"n1 \")"),
    ("run -w n1,,n2 true", 2,
     "a host's name is missing (write node1,node2) (character 4, after "
     "\"n1,\")"),
    ("run -w n1 --hostfile hosts true", 2,
     "--hosts and --hostfile both name hosts: give one of them"),
    ("run --rsh ./no-such-host -w n1 true", 1,
     "cannot start the daemon on n1: the remote shell \"./no-such-host\" ended "
     "before xylemd was ready (exit status 255); its stderr: ssh: Could not "
     "resolve hostname n1: Name or service not known"),
    # files
    ("run -w n1,^n2 true", 2,
     "'^' in a list of hosts: n2 is not among the hosts"),
    ("run --hostfile missing true", 1,
     "the host file missing cannot be opened: No such file or directory"),
    ("run --hostfile empty true", 2,
     "empty names no host (write one per line)"),
    ("run --input missing cat", 1,
     "--input: 'missing': No such file or directory"),
    ("run --input folder cat", 2, "--input: 'folder': it is a directory"),
    ("run --xylemd ./missing true", 1,
     "cannot start a daemon: cannot start ./missing: exec: No such file or "
     "directory (is xylem installed completely? --xylemd names the daemon)"),
    ("run -D missing true", 1,
     "rank 0 on ... cannot be started: chdir of 'missing': No such file or "
     "directory"),
    # stdin and output
    ("run -N 4 --stdin 5 cat", 2,
     "--stdin names rank 5 but the job has ranks 0 to 3"),
    ("run --grep a(b true", 2,
     "--grep: at character 4 of 'a(b': missing closing parenthesis; "
     "pcre2syntax(3) has the syntax"),
    ("run --grep-v [z-a] true", 2,
     "--grep-v: at character ... of '[z-a]': range out of order in character "
     "class; ..."),
    ("run --grep= true", 2, "--grep needs a value that is not empty"),
    ("run " + 33 * "--grep x " + "true", 2,
     "--grep may be given 32 times at most: join some in one pattern"),
    ("run --head 0 true", 2,
     "--head takes a number from 1 to 1000000000, not '0'"),
    ("run --tail -3 true", 2,
     "--tail takes a number from 1 to 1000000000, not '-3'"),
    ("run --rate fast true", 2,
     "--rate takes a number from 1 to 1000000000, not 'fast'"),
    ("run --budget 0 true", 2,
     "--budget takes bytes from 1 to 1T, as 64K, 1M or 1.5GiB, not '0'"),
    ("run --raw --head 3 --grep x true", 2,
     "--raw passes bytes as they come and knows no lines: leave out --grep or "
     "--raw"),
    ("run --raw --budget 3 true", 2,
     "--raw passes bytes as they come and knows no lines: leave out --budget "
     "or --raw"),
    ("run --dvm --raw --tail 3 true", 2,
     "--raw passes bytes as they come and knows no lines: leave out --tail or "
     "--raw"),
    ("attach --grep )", 2,
     "--grep: at character ... of ')': unmatched closing parenthesis; "
     "pcre2syntax(3) has the syntax"),
    ("run --raw --label true", 2,
     "--raw passes bytes as they come and cannot label lines: leave out "
     "--label or --raw"),
    ("run --raw -b true", 2,
     "--raw passes bytes as they come and knows no lines: leave out --fold or "
     "--raw"),
    ("run --fold --order=rank true", 2,
     "--fold shows a line of all ranks together, and --order=rank one rank "
     "after the other: leave out one of them"),
    ("run --fold=all true", 2,
     "--fold takes live, end or diff, not 'all'"),
    ("run --fold=end --timestamp true", 2,
     "--fold=end and --fold=diff show whole outputs, whose lines came at many "
     "times: leave out --timestamp"),
    ("run --fold=diff --format=json true", 2,
     "--fold=diff is for the format text: give --fold=end with --format, whose "
     "objects have all lines"),
    ("run --file-only true", 2,
     "--file-only needs --output-dir or --output-file"),
    # programs
    ("run -N 2", 2, "no program is given"),
    ("run true :", 2,
     "no program is given behind the ':' (--no-colon makes it an argument like "
     "any other)"),
    ("run : true", 2,
     "no program is given before the ':' (--no-colon makes it an argument like "
     "any other)"),
    ("run no-such-program", 1,
     "rank 0 on ... cannot be started: exec of 'no-such-program': No such file "
     "or directory (it is neither in PATH nor in the working directory)"),
    ("run ./missing", 1,
     "rank 0 on ... cannot be started: exec of './missing': No such file or "
     "directory"),
    ("run text", 1,
     "rank 0 on ... cannot be started: exec of 'text': Permission denied "
     "(chmod +x makes a file executable)"),
    ("run ./folder", 1,
     "rank 0 on ... cannot be started: exec of './folder': Is a directory"),
    ("run ./no-such-python", 1,
     "rank 0 on ... cannot be started: interpreter of './no-such-python': No "
     "such file or directory (the #! line of a script, or the loader of a "
     "binary, names a file that is not there)"),
    ("run -- 'echo hi; ls'", 1,
     "rank 0 on ... cannot be started: exec of 'echo hi; ls': No such file or "
     "directory (leave out the quotes around it, or write sh -c 'COMMAND')"),
    ("run A=1 true", 1,
     "rank 0 on ... cannot be started: exec of 'A=1': No such file or "
     "directory (--env NAME=VALUE sets a variable)"),
    ("run -- -l true", 1,
     "rank 0 on ... cannot be started: exec of '-l': No such file or "
     "directory (options come before `--' and the program)"),
    ("run '~/program'", 1,
     "rank 0 on ... cannot be started: exec of '~/program': No such file or "
     "directory (a shell replaces ~ only outside of quotes)"),
    ("run cd folder", 1,
     "rank 0 on ... cannot be started: exec of 'cd': No such file or "
     "directory (a shell has this command: write sh -c 'COMMAND')"),
    # sessions
    ("run --dvm true", 1,
     "no dvm of yours is up on this machine (with this XDG_RUNTIME_DIR)"),
    ("attach", 1,
     "no xylem run of yours is running on this machine that can be found "
     "(--pid and --nspace name one)"),
    ("attach --pid me", 2, "--pid takes a process number, not 'me'"),
    ("dvm true", 2,
     "unexpected argument 'true': this command has only options"),
)

SCRIPT = "#!"
FILES = {"empty": "", "text": "just text\n",
         "no-such-python": "#!/no/such/python\n", "no-such-host": """#!/bin/sh
echo "ssh: Could not resolve hostname $1: Name or service not known" >&2
exit 255
"""}
# Lines that come beside others: what is started where, and where help is.
BESIDE = re.compile(r"xylem: no hosts given: .*|Try `xylem \w+ --help' for .*")


def lay_out():
    """Makes what the command lines name, and goes there."""
    os.chdir(live.TMP)
    os.mkdir("folder")
    for name, text in FILES.items():
        with open(name, "w") as file:
            file.write(text)
        os.chmod(name, 0o755 if text.startswith(SCRIPT) else 0o644)


def lines_of(ran):
    return [line for line in ran.said.splitlines()
            if not BESIDE.fullmatch(line)]


def is_like(line, said):
    pattern = ".*".join(map(re.escape, ("xylem: " + line).split("...")))
    return re.fullmatch(pattern, said) is not None


lay_out()
for words, code, line in MISTAKES:
    with case(f"xylem {words}"):
        ran = live.Ran(live.XYLEM, *shlex.split(words), code=code)
        check_eq(b"", ran.out)
        check(len(lines_of(ran)) == 1 and is_like(line, lines_of(ran)[0]),
              f"want {line!r}, got {ran.said!r}")
        live.check_all_gone()

sys.exit(live.end())

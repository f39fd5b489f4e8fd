#!/usr/bin/env python3
"""Whatever makes something of bytes from outside is called by a fuzz target.

A decoder is a function with linkage that is called NOUN_decode (bytes) or
NOUN_parse (text), or that is given bytes and behind them where to put what they
say. A target of FUZZ_TARGETS calls each by its name. A file that takes bytes or
text apart, with one of TAKES_APART, has such a function that is called.

THROUGH names the decoders that a target calls through another function; SPARED
names those that no bytes from outside can reach, with the reason. An entry that
is no longer needed is a complaint, too.
"""
import os
import re

import sources

PRODUCT = ("overlay", "topo", "text", "job", "endpoints", "pmix_api", "sim",
           "commands")
TARGETS = os.path.join("tests", "fuzz")
LIST = os.path.join(TARGETS, "files.am")
CORPUS_BYTES_MAX = 1 << 20

NAMED = re.compile(r"_(decode|parse)(_|$)")
BYTES = (r"const (?:uint8_t|char|void) \*\w+, (?:size_t|uint32_t) \w+"
         r"|struct (?:ov_rd|ov_item|text_fields) (?:\*\s*)?\w+"
         r"|const struct ep_wire_in \*\w+")
GIVEN = re.compile(rf"(?:{BYTES}), (?:[^,]*, )*struct \w+ \*\w+")
FUNCTION = re.compile(r"\b([a-z]\w+)\s*\(([^()]*)\)\s*(?:;|\{|__attribute__)")
DEFINED = re.compile(r"^(?!static\b)[a-z][\w\s*]*?\b(\w+)\([^;{]*?\)\s*\{",
                     re.M)
TAKES_APART = re.compile(
    r"\b(sscanf|fscanf|strto(?:d|f|imax|k_r|l|ll|ul|ull|umax)|strsep|ato[fil]"
    r"|inet_pton|fgets|getline|json_load\w*|ov_rd_init|ov_rd_u\w+)\s*\(")

# Functions or files, and the target that reaches each through its callers.
THROUGH = {
    "commands/attach/entrance.c": "door",
    "commands/attach/session.c": "door",
    "commands/ps/listing.c": "door",
    "commands/stack/jobs.c": "door",
    "commands/stack/nodes.c": "door",
    "endpoints/client/door.c": "door",
    "endpoints/client/sessions.c": "door",
    "endpoints/client/ranges.c": "viewer",
    "endpoints/client/viewer_left.c": "viewer",
    "endpoints/client/table.c": "door",
    "endpoints/client/viewer_spawn.c": "viewer",
    "endpoints/run/redirect.c": "replay",
    "endpoints/run/words.c": "word",
    "job/schema.c": "word",
    "job_lines_decode": "job",
    "job_schema_decode": "word",
    "ov_join_on_refuse": "node",
    "ov_join_on_welcome": "node",
    "ov_witness_on_look": "node",
    "overlay/adopt.c": "node",
    "overlay/hold.c": "node",
    "overlay/join.c": "node",
    "overlay/fold.c": "node",
    "pmix_api/helper/backlog.c": "door",
    "pmix_api/helper/door.c": "door",
    "pmix_api/helper/push.c": "door",
}

_LINE = "the user's own command line"
_KERNEL = "what the kernel says of this process alone"
_OWN = "bytes of the same process"
SPARED = {
    "commands/host_groups.c": "a line as it stands, for the reader of lists",
    "commands/run_pmix.c": _LINE,
    "commands/run_options.c": _LINE,
    "commands/sim_options.c": _LINE,
    "commands/values.c": _LINE,
    "commands/xylemd.c": _LINE,
    "endpoints/boot/caller.c": "the port of an address of the start-up text, "
                               "which fuzz_boot is for",
    "endpoints/boot/launcher_ssh.c": _LINE,
    "endpoints/client/escrow_back.c": _OWN,
    "endpoints/client/tools.c": "an address of this program's own",
    "endpoints/client/viewer_left.c": "bytes that were decoded before",
    "endpoints/client/watcher_describe.c": _OWN,
    "endpoints/sys/hoard.c": _OWN,
    "endpoints/daemon/processes_words.c": _OWN,
    "endpoints/ofi/sockets.c": _KERNEL,
    "endpoints/run/stats_json.c": _LINE,
    "endpoints/run/sweeps.c": "one number behind a mark, of a remote shell",
    "endpoints/spawn/leftover.c": "numbers in /proc",
    "endpoints/spawn/procs.c": "numbers in /proc",
    "endpoints/spawn/shim.c": "lists of processors that the daemon has made",
    "endpoints/sys/fds.c": _KERNEL,
    "endpoints/sys/process.c": _KERNEL,
    "endpoints/sys/usage.c": _KERNEL,
    "ep_run_logs_add": "keeps them",
    "ep_spool_put": "keeps them",
    "ep_spool_put_some": "keeps them",
    "options_parse": _LINE,
    "pmix_api/helper/lib/flow.c": _OWN,
    "pmix_api/helper/lib/mapping.c": "the text of pmix_api/helper/mapping.c, "
                                     "which fuzz_infos is for",
    "pmix_api/helper/lib/server.c": _OWN,
    "pmix_api/helper/lib/stream.c": _KERNEL,
    "pmix_api/helper/lib/server.c": _OWN,
    "pmix_api/helper/news.c": _OWN,
    "pmix_api/helper/spawns.c": _OWN,
    "pmix_api/helper/texts.c": _OWN,
    "run_options_parse": _LINE,
    "sim/check_links.c": "frames of the simulator's own nodes",
    "sim/measure.c": "frames of the simulator's own nodes",
    "sim/process.c": "orders of the simulator's own launcher",
    "sim/scenario.c": "a script of the user's own",
    "sim/tally.c": "frames of the simulator's own nodes",
    "sim/word.c": "words of the simulator's own nodes",
    "sim_options_parse": _LINE,
}


def code(root, path):
    """Returns the code of a file, with its lines unchanged."""
    return "\n".join(line for _, line in sources.code_lines(root, path))


def listed(root):
    """Returns the nouns of FUZZ_TARGETS, and of the lists in it."""
    text = "\n".join(sources.read(root, LIST))
    return set(re.findall(r"^(?:\t|\w+ = )%D%/fuzz_(\w+)(?: \\)?$", text,
                          re.M))


def called(root, nouns):
    names = set()
    for noun in nouns:
        path = os.path.join(TARGETS, f"fuzz_{noun}.c")
        names |= set(re.findall(r"\b(\w+)\s*\(", code(root, path)))
    return names


def decoders(root):
    """Returns (path, line, name) of the decoders that headers declare."""
    for path in sources.walk(root, (".h",), PRODUCT):
        text = code(root, path)
        for match in FUNCTION.finditer(text):
            name, given = match[1], " ".join(match[2].split())
            if NAMED.search(name) or GIVEN.search(given):
                yield path, text.count("\n", 0, match.start(1)) + 1, name


def files(root):
    """Returns (path, line, what it uses, its functions) of the files that take
    bytes apart."""
    for path in sources.walk(root, (".c",), PRODUCT):
        text = code(root, path)
        match = TAKES_APART.search(text)
        if match:
            yield (path, text.count("\n", 0, match.start()) + 1, match[1],
                   set(DEFINED.findall(text)))


def lists(root):
    """Returns THROUGH and SPARED; a fixture has its own."""
    own = os.path.join(root, TARGETS, "lists.txt")
    if not os.path.exists(own):
        return dict(THROUGH), dict(SPARED)
    rows = [line.split() for line in sources.read(root, os.path.relpath(
        own, root)) if line]
    return {row[1]: row[2] for row in rows if row[0] == "through"}, \
           {row[1]: row[2] for row in rows if row[0] == "spared"}


def corpus_bytes(root):
    return sum(os.path.getsize(os.path.join(at, file)) for at, _, files_ in
               os.walk(os.path.join(root, TARGETS, "corpus"))
               for file in files_)


def complaints(root):
    nouns = listed(root)
    for path in sources.walk(root, (".c",), (TARGETS,)):
        noun = re.match(r"fuzz_(\w+)\.c$", os.path.basename(path))
        if noun and noun[1] not in nouns:
            yield path, 1, "not in FUZZ_TARGETS"
    for noun in sorted(nouns):
        if not os.path.isdir(os.path.join(root, TARGETS, "corpus", noun)):
            yield LIST, 1, f"fuzz_{noun} has no corpus"
    if corpus_bytes(root) > CORPUS_BYTES_MAX:
        yield LIST, 1, f"corpus/ has more than {CORPUS_BYTES_MAX} bytes"
    names = called(root, nouns)
    through, spared = lists(root)
    needed = {**through, **spared}
    for path, line, name in decoders(root):
        if name in names:
            continue
        if name not in needed:
            yield path, line, f"{name}: no target of tests/fuzz/ calls it"
        elif through.get(name, name) not in nouns | {name}:
            yield path, line, f"{name}: there is no fuzz_{through[name]}"
        spared.pop(name, through.pop(name, None))
    for path, line, what, own in files(root):
        if own & names:
            continue
        if path not in needed:
            yield path, line, f"{what}(): no target of tests/fuzz/ calls a " \
                "function of this file"
        elif through.get(path, path) not in nouns | {path}:
            yield path, line, f"there is no fuzz_{through[path]}"
        spared.pop(path, through.pop(path, None))
    for name in sorted({**through, **spared}):
        yield "tests/lint/decoders.py", 1, f"{name} needs no entry"


if __name__ == "__main__":
    sources.main(complaints)

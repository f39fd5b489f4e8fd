#!/usr/bin/env python3
"""What stands by itself has a unit test that holds it to that.

A module is a header with the .c file of its name. For each of job/, and each
of endpoints/run/ that does not see the launcher's own struct (SEES_ALL), there
is a unit test that includes the header and is linked with little:

    of job/             with the archives of BENEATH alone
    of endpoints/run/   the same, and files of endpoints/ by name, the module's
                        among them; none of these sees the launcher's struct

So the link fails when a module comes to need what is beside or above it. The
launcher's struct is for the files of SESSION, a list that may only become
shorter.
"""
import os
import re

import sources

SEES_ALL = "endpoints/run/impl.h"
SESSION = (
    # the modules that connect the others
    "dvm", "end", "interrupt", "job", "jobs", "loss", "own", "run", "stats",
    "up", "words",
    # and the modules for PMIx tools
    "door", "redirect", "sinks", "subscription", "clients")
BENEATH = ("job/libjob.la", "text/libtext.la", "topo/libtopo.la",
           "topo/libtoposhape.la", "overlay/libovcore.la")
MODULES = ("job/", "endpoints/run/")
TESTS = os.path.join("tests", "unit", "")
INCLUDE = re.compile(r'#include "([^"]+)"')


def includes(root, path):
    return [match[1] for match in map(INCLUDE.match, sources.read(root, path))
            if match and os.path.isfile(os.path.join(root, match[1]))]


def sees_all(root, path):
    """True when the file includes the launcher's struct, directly or through
    other headers."""
    seen, ahead = set(), [path]
    while ahead:
        for other in includes(root, ahead.pop()):
            if other not in seen:
                seen.add(other)
                ahead.append(other)
    return SEES_ALL in seen


def modules(root):
    for path in sources.walk(root, (".h",), ("job", "endpoints")):
        code = path[:-2] + ".c"
        if path.startswith(MODULES) \
                and os.path.isfile(os.path.join(root, code)) \
                and path != SEES_ALL and not sees_all(root, path) \
                and not sees_all(root, code):
            yield path


def variables(root):
    """Returns the words that tests/files.am gives to each of its variables."""
    text = "\n".join(sources.read(root, os.path.join("tests", "files.am")))
    text = re.sub(r"\\\n", " ", re.sub(r"#.*", "", text))
    text = text.replace("%D%", "tests").replace("%C%", "tests")
    return {match[1]: match[2].split() for match in
            re.finditer(r"^(\w+)[ \t]*=[ \t]*(.*)$", text, re.M)}


def words(table, name, otherwise):
    """Returns the words of a variable, and of the variables that it names."""
    for word in table.get(name, otherwise):
        match = re.fullmatch(r"\$\((\w+)\)", word)
        if match and match[1] in table:
            yield from words(table, match[1], ())
        else:
            yield word


def stands_alone(root, table, test, module):
    """True when the test's program is linked with the module and the layers
    beneath."""
    name = re.sub(r"\W", "_", test[:-2])
    code = {word for word in words(table, name + "_SOURCES", [test])
            if word.endswith(".c") and not word.startswith(TESTS)}
    archives = {word for word in words(table, name + "_LDADD", ())
                if word.endswith(".la")}
    if not archives <= set(BENEATH):
        return False
    if module.startswith("job/"):
        return not code
    return module[:-2] + ".c" in code and all(
        path.startswith("endpoints/") and not sees_all(root, path)
        for path in code)


def see_it(root):
    """Returns the files that include the launcher's struct, and the line of
    the include."""
    for path in sources.walk(root, (".c", ".h")):
        for number, line in enumerate(sources.read(root, path), 1):
            match = INCLUDE.match(line)
            if match and match[1] == SEES_ALL:
                yield path, number


def strangers(root):
    """Finds files that include it and are not in the list, and the other way
    around."""
    session = [f"endpoints/run/{name}.c" for name in SESSION]
    seen = dict(see_it(root))
    for path in sorted(set(seen).difference(session)):
        yield path, seen[path], f"{SEES_ALL} is the session's own: take " \
            "what is needed as arguments, and have a test"
    for path in session:
        if path not in seen and os.path.isfile(os.path.join(root, path)):
            yield path, 1, "no longer one of the session's files: take it " \
                "off the list"


def complaints(root):
    yield from strangers(root)
    table = variables(root)
    tests = [path for path in sources.walk(root, (".c",), (TESTS,))
             if os.path.basename(path).startswith("test_")]
    seen = {path: includes(root, path) for path in tests}
    for module in modules(root):
        users = [test for test in tests if module in seen[test]]
        if not users:
            yield module, 1, "no unit test includes it"
        elif not any(stands_alone(root, table, test, module)
                     for test in users):
            yield module, 1, f"{users[0]} is linked with more than it and " \
                "what lies beneath"


if __name__ == "__main__":
    sources.main(complaints)

"""The symbols of archives and modules that libtool built, as nm lists them."""
import os
import re
import shlex
import subprocess
import sys

# symbols that a compiler adds by itself
RUNTIME = re.compile(r"__stack_chk_(fail|guard)|_GLOBAL_OFFSET_TABLE_|"
                     r"__tls_get_addr|__\w*(aeabi|udiv|umod|muldi|divdi)\w*")
INSTRUMENTED = re.compile(r"__(asan|ubsan|tsan|msan|sanitizer|gcov|llvm_prof)")
SKIP = 77


def built(la):
    """Returns the archive or module of a .la file, or None."""
    folder = os.path.dirname(la)
    try:
        with open(la, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None
    match = re.search(r"^dlname='(.+)'", text, re.M) or \
        re.search(r"^old_library='(.+)'", text, re.M)
    return os.path.join(folder, ".libs", match[1]) if match else None


def read(path, *options):
    """Returns [(object, symbol, letter, section)] of an archive or module."""
    words = shlex.split(os.environ.get("NM") or "nm")[:1]
    done = subprocess.run([*words, "--format=sysv", *options, path],
                          stdout=subprocess.PIPE, check=True)
    found, member = [], os.path.basename(path)
    for line in done.stdout.decode().splitlines():
        match = re.match(r"(?:Undefined s|S)ymbols from .*?(?:\[(.*)\])?:$",
                         line)
        if match:
            member = match[1] or member
            continue
        field = [part.strip() for part in line.split("|")]
        if len(field) == 7 and field[0] != "Name":
            found.append((member, field[0].split("@")[0], field[2], field[6]))
    return found


def skip_instrumented(symbols):
    """True for a build that contains foreign symbols by design, so that
    nothing can be judged."""
    if any(INSTRUMENTED.match(name) for _, name, _, _ in symbols):
        print("built with sanitizers or coverage: nothing to judge")
        sys.exit(SKIP)


def judge(complaints, default):
    """Prints what complaints(paths) yields, for the given .la files or the
    default ones."""
    folder = os.environ.get("top_builddir", ".")
    names = sys.argv[1:] or [os.path.join(folder, la) for la in default]
    paths = []
    for la in names:
        path = built(la)
        if path is None or not os.path.exists(path):
            print(f"{la}: not built")
            sys.exit(1)
        paths.append(path)
    found = list(complaints(paths))
    print("\n".join(found))
    sys.exit(1 if found else 0)

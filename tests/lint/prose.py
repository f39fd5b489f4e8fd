#!/usr/bin/env python3
"""Comments, docs and messages are sentences that a stranger understands.

This refuses turns of phrase that nobody understands who does not know the code
already: questions that do not name what they ask about, sentences that begin
with a genitive, and words that English does not use in this way. What it lets
pass is not good for that reason alone.

Called as `prose.py ROOT FOLDER...` it reads those folders instead of CHECKED.
"""
import io
import re
import sys
import tokenize

import sources

# the folders that are read
CHECKED = [
    "commands",
    "docs",
    "endpoints",
    "job",
    "overlay",
    "pmix_api",
    "sim",
    "tests",
    "text",
    "topo",
]

# matches the beginning of a sentence
START = r"(?:\A|(?<=[.?!] ))"
PRONOUN = r"(?:it|they|he|one|any|those|these)"

# (what must not be written, the advice); a blank matches any white space.
# Patterns with \A match at the beginning of a whole comment.
PROSE = (
    (START + r"Of (?!course)", "begin with the subject"),
    (START + r"The same(?= of\b|[.,:;]|\Z)",
     "say what is the same, and as what"),
    (r"\A(?:What|Which|Whom|Who) of\b", "say what is found or chosen"),
    (START + r"(?:Is|Has|Was|Are|Have|Had|May|Can|Does|Do|Did) " + PRONOUN +
     r"\b[^.]*\?", "name the subject: `True when the ...'"),
    (r"\A(?:And|Nor)\b", "a comment begins with its subject"),
    (r"\b(?:[Nn]o|[Ss]ome|[Aa]ny)body's\b", "say who that is, or that none is"),
    (r"\b(?:[Nn]ot|[Nn]or|[Nn]ever|[Nn]obody|[Nn]one|[Nn]othing)\b[^.;:]*"
     r"\bany more\b", "say `no longer'"),
    (r"(?<!there )\b(?:is|are|was|were|lives?|runs?|exists?|hears?|reads?|"
     r"wants?) no more(?= from\b|[.,;:)]|\Z)", "say `no longer'"),
    (r"\bof (?:that|those|what) of\b|"
     r"\bthat of (?:that|those|who|whom|which|what)\b",
     "name what `that' stands for"),
    (r"\b(?:is|are|was|were) of (?:this|that|these|those|its|no(?! use)|"
     r"the(?! same))\b", "say `belongs to', or what else is meant"),
    (r"\b(?:[Nn]othing|[Ss]omething|[Aa]nything) of (?:it|its|this|that|these|"
     r"those|ours|theirs)\b", "say `no part of', or name the thing"),
    (r"(?<!there )\b(?:is|are|was) none(?=[.,;:)]|\Z)", "say what it is not"),
    (r"\b(?:is|are|was|were|be) (?:had|got)\b", "say who receives or gets it"),
    (r"\bha(?:s|ve|d) not to\b", "say `must not', or `need not'"),
    (r"(?<!, )\b[Ss]o many\b(?![^.]*\b(?:that|as)\b)", "say `this many'"),
    (r"(?<!, )\b[Ss]o much\b(?![^.]*\b(?:that|as)\b)", "say `this much'"),
    (r"\b(?:after|for|gets?|waits?) so long\b(?! as\b)|\bso long after\b",
     "say `this long'"),
    (r"\b[Tt]he own\b", "say whose own it is"),
    (r"\bothers than\b", "say `other ... than'"),
    (r"\bin the place of\b", "say `instead of'"),
    (r"\bat the begin\b", "say `at the beginning'"),
    (r"\b[Ss]uch a one\b|\bsuch ones\b", "name the thing"),
    (START + r"Who(?:ever)?\b(?![^.]*[?:])", "name who that is"),
    (r"\b(?:that|which|what|it|loss|losses|ends?) (?:is|are|was|were) told"
     r"(?=[.,;:)]|\Z)", "say `is reported', or who is told"),
    (r"\bnothing (?:is|was) said\b|\b(?:is|are|was|were) said of\b",
     "say who reports it, or `is known about'"),
    (r"\bhears? (?:of|that)\b", "say `is told', `gets', or `notices'"),
    (r"\b(?:comes?|is|are|was|were) behind (?:it|them|that|what)\b",
     "say `follows', or `after'"),
    (r"\b[Tt]he truth is\b", "say with what it is compared"),
    (r"\b(?:is|are) no matter\b|\b(?:is|are) the affair of\b|'s affair\b|"
     r"\btheir affair\b", "say `does not matter', or who is responsible"),
    (r"\bfor want of\b", "say `for lack of'"),
    (r"\bas ever\b", "say `as usual'"),
    (r"\A(?:[Tt]he same|[Ll]ikewise|[Aa]gain|[Tt]wice|[Oo]nce|[Nn]ot yet|"
     r"[Tt]oo late|[Tt]oo early|[Nn]o news|[Ss]aid twice)\.?\Z",
     "say what that is about"),
)

# for the texts of C code, which users read
MESSAGES = (
    (r"\btime of .* is over\b", "name the time limit, and that it has passed"),
    (r"\b(?:does|did) not come\b", "say what did not connect, or not in time"),
    (r"\b(?:no|some|any)body's\b", "say who that is, or that none is"),
    (r"\bnot\b.*\bany more\b", "say `no longer'"),
)


def compiled(table):
    """Blanks match a single character: texts are read without the indents of
    their lines, and look-behind needs a fixed width."""
    return [(re.compile(words.replace(" ", r"\s")), advice)
            for words, advice in table]


def c_texts(text):
    """Returns (line, text, table) of the comments and strings of C code."""
    for match in re.finditer(r'/\*(.*?)\*/|//([^\n]*)|"(?:\\.|[^"\\\n])*"|'
                             r"'(?:\\.|[^'\\\n])+'", text, re.S):
        line = text.count("\n", 0, match.start()) + 1
        if match[0][0] == "/":
            yield line, re.sub(r"\n[ \t]*\*?", "\n",
                               match[1] or match[2] or ""), PROSE
        elif match[0][0] == '"':
            yield line, match[0][1:-1], MESSAGES


def joined(comments):
    """Joins comments on consecutive lines into one: (line, text)."""
    last = None
    for line, text in comments:
        if last and last[0] + last[1].count("\n") + 1 == line:
            last = last[0], last[1] + "\n" + text
            continue
        if last:
            yield last
        last = line, text
    if last:
        yield last


QUOTES = re.compile(r"\A[a-zA-Z]*[\"']+|[\"']+\Z")


def python_texts(text):
    """Returns (line, text, table) of the comments and docstrings of a
    script."""
    comments = []
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.append((token.start[0], token.string.lstrip("#")))
        elif token.type == tokenize.STRING and begins:
            yield token.start[0], QUOTES.sub("", token.string), PROSE
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT,
                                    tokenize.DEDENT)
    for line, comment in joined(comments):
        yield line, comment, PROSE


def shell_texts(text):
    """Returns (line, text, table) of the comment lines of a script."""
    lines = [(number, line.lstrip().lstrip("#"))
             for number, line in enumerate(text.split("\n"), 1)
             if re.match(r"\s*#(?!!)", line)]
    for line, comment in joined(lines):
        yield line, comment, PROSE


def page_texts(text):
    """Returns (line, text, table) of the paragraphs of a page, without its
    code."""
    lines = []
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif line.strip() and not fenced and not line.startswith("    "):
            lines.append((number, re.sub(r"`[^`]*`", "CODE",
                                         line.strip(" #|*-"))))
    for line, paragraph in joined(lines):
        yield line, paragraph, PROSE


READERS = {".c": c_texts, ".h": c_texts, ".py": python_texts,
           ".sh": shell_texts, ".md": page_texts}


def complaints(root):
    tables = {table: compiled(table) for table in (PROSE, MESSAGES)}
    for path in sources.walk(root, tuple(READERS), CHECKED):
        reader = READERS[path[path.rindex("."):]]
        found = set()
        for start, text, table in reader("\n".join(sources.read(root, path))):
            start += text[:len(text) - len(text.lstrip())].count("\n")
            text = re.sub(r"[ \t]*\n[ \t]*|[ \t]+",
                          lambda blank: blank[0].strip(" \t") or " ",
                          text.strip())
            for words, advice in tables[table]:
                for match in words.finditer(text):
                    said = " ".join(match[0].split())
                    if len(said) > 30:
                        said = said[:27] + "..."
                    found.add((start + text.count("\n", 0, match.start()),
                               f"`{said}': {advice}"))
        for line, said in sorted(found):
            yield path, line, said


if __name__ == "__main__":
    if len(sys.argv) > 2:
        CHECKED[:] = sys.argv[2:]
    sources.main(complaints)

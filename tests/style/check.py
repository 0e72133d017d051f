#!/usr/bin/env python3
"""Checks what no compiler does: links, widths, lengths, words, pairs, the map.

    tests/style/check.py links|columns|sizes|words|pairs|map

links     each relative link of a page leads to a file and to a heading of it; each file that a page
          names in backticks exists, unless it stands for many (NAME)
columns   no line has more than 100 columns, a tab being 4; rows of tables in pages may, and lines
          of scripts and tests with a string of 60 characters
sizes     no file and no function is longer than CONTRIBUTING says
words     no word of retired.txt is used, in a file or in its name
pairs     each atomic access of the core that is not relaxed says what it pairs with, on its line or
          a few lines above
map       the table of rooms in CONTRIBUTING names each .c file of src in the row of its folder, and
          no file that is not there

Prints each fault as FILE:LINE: TEXT, and ends with status 1 if there was one.
"""

import os
import re
import sys

COLUMNS = 100
TEXT = re.compile(
    r"\.(c|h|cpp|php|phpt|inc|py|pml|litmus|md|sh|m4)$|(^|/)Makefile$|^(script|\.ci)/\w"
)
# What is built here, by phpize too, or fetched.
NO_SOURCE = re.compile(
    r"^(build|modules|autom4te\.cache|include|demo/var|tests/data|\.git)/"
    r"|^(run-tests\.php|Makefile|configure)"
)
# The first that matches counts.
FILE_LINES = [
    (r"src/.*\.[ch]$", 650),
    (r"tests/.*\.(c|h|inc|php|pml|py|sh)$", 900),
]
FUNCTION_LINES = 60
SWITCH_LINES = 90
# Generated; expected output.
FREE_WIDTH = re.compile(r"^stubs/bloomshm_arginfo\.h$|\.phpt$")
LONG_STRING = re.compile(r"\"(\\.|[^\"\\]){60,}\"|'[^']{60,}'")
# History; the list itself.
FREE_WORDS = re.compile(r"^CHANGELOG\.md$|^tests/style/")


def text_files():
    found = []
    for folder, folders, names in os.walk("."):
        folders[:] = [f for f in folders if not NO_SOURCE.match(f"{folder}/{f}/"[2:])]
        found += [f"{folder}/{name}"[2:] for name in names]
    return sorted(path for path in found if TEXT.search(path) and not NO_SOURCE.match(path))


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return list(enumerate(file.read().splitlines(), 1))


def prose_of(page):
    """The lines of a page that are not in a block of code."""
    code, lines = False, []
    for number, line in lines_of(page):
        code ^= line.startswith("```")
        if not code:
            lines.append((number, line))
    return lines


def anchors_of(page):
    """The names of the page's headings in links."""
    anchors = []
    for _, line in prose_of(page):
        heading = re.match(r"#+ +(.*)", line)
        if heading:
            name = re.sub(r"[^\w -]", "", heading[1].lower()).replace(" ", "-")
            anchors.append(f"{name}-{anchors.count(name)}" if name in anchors else name)
    return anchors


def links():
    files = text_files()
    names = {os.path.basename(path) for path in files}
    for page in (path for path in files if path.endswith(".md")):
        for number, line in prose_of(page):
            for path, anchor in re.findall(r"\]\((?!\w+:)([^)\s#]*)#?([^)\s]*)\)", line):
                target = (
                    os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                )
                if not os.path.exists(target):
                    yield f"{page}:{number}: no file {target}"
                elif anchor and anchor not in anchors_of(target):
                    yield f"{page}:{number}: no heading #{anchor} in {target}"
            for path in re.findall(
                r"`((?:[\w.-]+/)*[\w-]+\.(?:c|h|php|phpt|inc|py|pml|sh))`", line
            ):
                known = (
                    path in names
                    or any(file.endswith("/" + path) for file in files)
                    or path in files
                )
                if not known and "NAME" not in path and page != "CHANGELOG.md":
                    yield f"{page}:{number}: no file {path}"


def may_be_wide(path, line):
    if path.endswith(".md"):
        return line.startswith("|")
    return not path.startswith("src/") and LONG_STRING.search(line) is not None


def columns():
    for path in text_files():
        for number, line in [] if FREE_WIDTH.search(path) else lines_of(path):
            # clang-format aligns the backslashes of macros.
            width = len(re.sub(r"\s*\\$", "", line.expandtabs(4)))
            if width > COLUMNS and not may_be_wide(path, line):
                yield f"{path}:{number}: {width} columns"


def long_functions(path, lines):
    begin, most = 0, FUNCTION_LINES
    for number, line in lines:
        if line == "{":
            begin, most = number, FUNCTION_LINES
        elif re.match(r"\tswitch \(", line):
            most = SWITCH_LINES
        elif line == "}" and begin > 0:
            if number - begin - 1 > most:
                yield f"{path}:{begin}: a function of {number - begin - 1} lines; {most} at most"
            begin = 0


def sizes():
    for path in text_files():
        limit = next((most for name, most in FILE_LINES if re.match(name, path)), None)
        lines = lines_of(path) if limit else []
        if limit and len(lines) > limit:
            yield f"{path}: {len(lines)} lines; {limit} at most"
        if re.search(r"\.[ch]$", path):
            yield from long_functions(path, lines)


def words():
    with open("tests/style/retired.txt", encoding="utf-8") as file:
        rules = [line.rstrip("\n").split("\t") for line in file if line.strip() and line[0] != "#"]
    rules = [(re.compile(rule[0]), rule[-1]) for rule in rules]
    for path in text_files():
        for number, line in [] if FREE_WORDS.match(path) else [(0, path)] + lines_of(path):
            for word, instead in rules:
                found = word.search(line)
                if found:
                    yield f'{path}:{number}: "{found[0]}" is retired; use {instead}'


def pairs():
    for path in text_files():
        lines = lines_of(path) if re.match(r"src/core/.*\.[ch]$", path) else []
        for number, line in lines:
            if re.search(r"\b(ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)\)", line):
                near = " ".join(text for _, text in lines[max(number - 7, 0) : number])
                if "airs with" not in near:
                    yield f"{path}:{number}: the access does not say what it pairs with"


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def map_of_rooms():
    """Each folder of the map, with the line of its row and the files that the row names."""
    rooms = {}
    for number, line in lines_of("CONTRIBUTING.md"):
        row = re.match(r"\| `(src/\w+(?:/\w+)?)` \|(.*)", line)
        if row:
            rooms[row[1]] = (number, {stem(name) for name in re.findall(r"`([\w.]+)`", row[2])})
    return rooms


def unmapped():
    rooms = map_of_rooms()
    there = {room: set() for room in rooms}
    for path in (path for path in text_files() if re.match(r"src/.*\.[ch]$", path)):
        room = os.path.dirname(path)
        room = room if room in rooms else os.path.dirname(room)
        if room not in rooms:
            yield f"{path}:1: the map of CONTRIBUTING.md has no row for its folder"
            continue
        there[room].add(stem(path))
        if path.endswith(".c") and stem(path) not in rooms[room][1]:
            yield f"{path}:1: the map of CONTRIBUTING.md does not name it"
    for room, (number, names) in rooms.items():
        for name in sorted(names - there[room]):
            yield f"CONTRIBUTING.md:{number}: no file {name} in {room}"


checks = {
    "links": links,
    "columns": columns,
    "sizes": sizes,
    "words": words,
    "pairs": pairs,
    "map": unmapped,
}
if len(sys.argv) != 2 or sys.argv[1] not in checks:
    sys.exit(__doc__)
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
faults = list(checks[sys.argv[1]]())
print(*faults, sep="\n")
sys.exit(len(faults) > 0)

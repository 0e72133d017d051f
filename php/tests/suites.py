#!/usr/bin/env python3
"""Counts the tests of each class in the last script/test-library.

    php/tests/suites.py          prints a table with a column for each mode: the tests that passed,
                                 and the skipped ones in parentheses
    php/tests/suites.py PAGE     ends with status 1 if the page's table says of a class that more
                                 tests ran, or fewer were skipped, than with the store of 64 MB
"""

import os
import re
import sys
import xml.etree.ElementTree as tree

MODES = ["store", "small", "disabled", "polyfill"]
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/library")
ROW = re.compile(r"^\|.*`(\w+(?:\\\w+)+)` \| (\d+) \| (\d+) \| (?:(\d+)\b)?")


def count():
    """Class => mode => (passed, skipped)."""
    counts = {}
    for name in sorted(os.listdir(FOLDER)):
        parts = name.split(".")
        if len(parts) != 4 or parts[0] != "log" or parts[3] != "xml":
            continue
        for case in tree.parse(os.path.join(FOLDER, name)).iter("testcase"):
            modes = counts.setdefault(case.get("class").removeprefix("BloomShm\\Tests\\"), {})
            passed, skipped = modes.get(parts[1], (0, 0))
            if case.find("skipped") is not None:
                skipped += 1
            elif case.find("failure") is None and case.find("error") is None:
                passed += 1
            modes[parts[1]] = (passed, skipped)
    return counts


def show(counts):
    print("| tests |", " | ".join(MODES), "|")
    print("|---|" + "---:|" * len(MODES))
    for name, modes in sorted(counts.items()):
        cells = []
        for mode in MODES:
            passed, skipped = modes.get(mode, (0, 0))
            cells.append(f"{passed} ({skipped})" if skipped else str(passed or ""))
        print(f"| {name} |", " | ".join(cells), "|")


def compare(page, counts):
    rows = [match for match in map(ROW.match, open(page, encoding="utf-8")) if match]
    if not rows:
        return [f"{page} has no table of suites"]
    wrong = []
    for name, run, passed, skipped in (row.groups(default="0") for row in rows):
        now = counts.get(name, {}).get("store", (0, 0))
        if sum(now) < int(run) or now[0] < int(passed) or now[1] > int(skipped):
            wrong.append(f"{name}: {now[0]} passed, {now[1]} skipped; the page says otherwise")
    return wrong


if len(sys.argv) == 1:
    show(count())
else:
    faults = compare(sys.argv[1], count())
    print(*faults, sep="\n")
    sys.exit(len(faults) > 0)

#!/usr/bin/env python3
"""Prints how many tests of each class ran in the last script/test-library, as a table:

    php/tests/suites.py

A column for each mode: the tests that passed, and the skipped ones in parentheses.
"""

import os
import xml.etree.ElementTree as tree

MODES = ["store", "small", "disabled", "polyfill"]
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/library")

counts = {}
for name in sorted(os.listdir(FOLDER)):
    parts = name.split(".")
    if len(parts) != 4 or parts[0] != "log" or parts[3] != "xml":
        continue
    for case in tree.parse(os.path.join(FOLDER, name)).iter("testcase"):
        where = case.get("class").removeprefix("BloomShm\\Tests\\")
        good, skipped = counts.setdefault(where, {}).get(parts[1], (0, 0))
        if case.find("skipped") is not None:
            skipped += 1
        elif case.find("failure") is None and case.find("error") is None:
            good += 1
        counts[where][parts[1]] = (good, skipped)

print("| tests |", " | ".join(MODES), "|")
print("|---|" + "---:|" * len(MODES))
for where, by_mode in sorted(counts.items()):
    cells = []
    for mode in MODES:
        good, skipped = by_mode.get(mode, (0, 0))
        cells.append(f"{good} ({skipped})" if skipped else str(good or ""))
    print(f"| {where} |", " | ".join(cells), "|")

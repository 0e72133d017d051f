"""Compares the page's metrics with the command's: compare_metrics.py PAGE COMMAND LEAST

The same metrics with the same types, units and help texts, the same series, the same values; but
while the command runs there is one process more. LEAST: so many series there must be.
"""

import sys


def read(path):
    """The lines of comments in their order, and {series: value}."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return [line for line in lines if line.startswith("#")], samples


(heads, page), (command_heads, command) = read(sys.argv[1]), read(sys.argv[2])
assert heads == command_heads, sorted(set(heads) ^ set(command_heads))
assert page.keys() == command.keys(), sorted(page.keys() ^ command.keys())
page["bloomshm_processes"] = int(page["bloomshm_processes"]) + 1
differ = {key: (page[key], command[key]) for key in page if float(page[key]) != float(command[key])}
assert not differ, differ
assert len(page) >= int(sys.argv[3]), len(page)
print(len(page), "series are the same")

#!/usr/bin/env python3
"""
run.py - the litmus tests of protocols.py, each under our memory orders (its outcome never comes)
and under each weaker one that it lists (its outcome is found).

    tests/litmus/run.py [TEST...]     all tests, or only the ones named

Licensed under the MIT licence; see LICENSE.
"""

import sys
import time

sys.dont_write_bytecode = True

from protocols import TESTS
from weak import Explorer


def run(test, orders, wanted):
    began = time.monotonic()
    threads, forbidden, init = test(**orders)
    explorer = Explorer(threads, forbidden, init)
    found = explorer.find() is not None
    how = ", ".join(f"{name} {order}" for name, order in orders.items()) or "as it is"
    print(
        f"{'ok' if found == wanted else 'not ok'} - {test.__name__} ({how}): {'found' if found else 'never'}"
        f" ({explorer.states} states, {time.monotonic() - began:.1f} s)",
        flush=True,
    )
    return found == wanted


def main(names):
    results = []
    for test, weaker in TESTS:
        if not names or test.__name__ in names:
            results.append(run(test, {}, False))
            results += [run(test, orders, True) for orders in weaker]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


sys.exit(main(sys.argv[1:]))

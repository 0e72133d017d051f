#!/usr/bin/env python3
"""
run.py - the tests of the command `bloomshm`: each function test_... of the files test_*.py here.

    tests/cli/run.py BINARY [NAME...]     all tests, or those whose names contain a NAME

Licensed under the MIT licence; see LICENSE.
"""

import glob
import importlib
import inspect
import os
import signal
import sys
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lib


def tests():
    for path in sorted(glob.glob(os.path.join(sys.path[0], "test_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and function.__module__ == module.__name__:
                yield f"{module.__name__[5:]}: {name[5:].replace('_', ' ')}", function


def run(name, function):
    case = lib.Case()
    try:
        function(case)
        print(f"ok - {name}", flush=True)
        return True
    except lib.Skipped as skipped:
        print(f"skipped - {name}: {skipped}", flush=True)
        return None
    except lib.Failed as failed:
        print(f"not ok - {name}\n# {failed}", flush=True)
    except Exception:  # a test that cannot go on has failed
        lines = traceback.format_exc().splitlines()
        print("\n# ".join([f"not ok - {name}", *lines]), flush=True)
    finally:
        case.end()
    return False


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    lib.BINARY = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    results = [
        run(name, function)
        for name, function in tests()
        if not wanted or any(part in name for part in wanted)
    ]
    good, bad = results.count(True), results.count(False)
    print(f"{good} passed, {bad} failed")
    sys.exit(bad != 0 or good == 0)


main()

"""
test_manage.py - reserve, drop, clear, rename, copy and merge.

Licensed under the MIT licence; see LICENSE.
"""

import os

from lib import check

ABSENT = 'is not published in'
VERBS = {"drop": 1, "clear": 1, "rename": 2, "copy": 2, "merge": 2}


def test_reserve(b):
    b("reserve", "x", "-n", "1000").gives(0, "created\n")
    b("reserve", "x", "-n", "1000").gives(0, "exists already, with these parameters\n")
    b("reserve", "x", "-n", "1000", "-e", "0.2").gives(3, "", "exists already, with error_rate")
    b("reserve", "x", "-n", "1001").gives(3, "", "exists already, with capacity: 1000")
    check(b("reserve", "--json", "y", "-n", "9").gives(0).json()
          == {"filter": "y", "created": True}, "json")
    check(b("reserve", "--json", "y", "-n", "9").gives(0).json()
          == {"filter": "y", "created": False}, "json")
    info = b("info", "--json", "x").json()
    check(info["capacity"] >= 1000 and info["type"] == "scalable", info)


def test_kinds(b):
    for words, kind in [(["--expansion", "0"], "fixed"), (["--window", "60"], "sliding"),
                        (["--counting"], "counting"), (["--counting", "--expansion", "0"],
                        "counting"), (["--expansion", "32"], "scalable")]:
        name = kind + str(len(words))
        b("reserve", name, "-n", "9", *words).gives(0, "created\n")
        check(b("info", "--json", name).json()["type"] == kind, words)


def test_reserve_refuses(b):
    for words, said in [
        ([], "--capacity is needed"),
        (["-n", "0"], "--capacity must be a number from 1"),
        (["-n", "x"], "--capacity must be a number from 1"),
        (["-n", "9", "-e", "1"], "--error-rate must be greater than 0 and at most 0.5"),
        (["-n", "9", "--window", "315360001"], "--window must be a number from 0 to 315360000"),
        (["-n", "9", "--window", "9", "--counting"], "--window and --counting exclude each other"),
        (["-n", "9", "--window", "9", "--expansion", "4"], "--expansion must be 0 with --window"),
        (["-n", "9", "--expansion", "1"], "--expansion must be 0, or a number from 2"),
        (["-n", "9", "--seed", ""], "--seed must be between 1 and 64 bytes long"),
    ]:
        b("reserve", "x", *words).gives(2, "", said)
    b("reserve", "x" * 64, "-n", "9").gives(2, "", "a filter's name has 1 to 63 bytes, 64 given")
    check(not os.path.exists(b.path), "wrong usage made a segment")
    b("reserve", "x", "-n", "1000000000").gives(3, "", "bytes) are free")
    b("reserve", "x", "-n", "9", "--readonly").gives(3, "", "mapped read-only")


def test_drop_and_clear(b):
    b("load", "x", stdin="a\n").gives(0)
    b("clear", "x").gives(0, "")
    b("has", "x", "a").gives(1, "")
    b("drop", "x").gives(0, "")
    b("ls").gives(0, "")
    for verb in ("drop", "clear"):
        b(verb, "x").gives(1, "", f'filter "x" {ABSENT}')


def test_rename_and_copy(b):
    b("load", "x", stdin="a\n").gives(0)
    b("load", "z", stdin="b\n").gives(0)
    b("copy", "x", "y").gives(0, "")
    b("rename", "y", "z").gives(0, "")
    b("ls").gives(0, "x\nz\n")
    b("has", "z", "a", "b").gives(0, "a\n")
    for verb in ("rename", "copy"):
        b(verb, "nix", "y").gives(3, "", f'filter "nix" {ABSENT}')


def test_merge(b):
    for name in "xyz":
        b("load", name, "--seed", "s", "-n", "100", stdin=name).gives(0)
    b("merge", "new", "x", "y").gives(0, "")
    b("has", "new", stdin="x\ny\nz\n").gives(0, "x\ny\n")
    b("merge", "x", "y", "z").gives(0, "")
    b("has", "x", stdin="x\ny\nz\n").gives(0, "x\ny\nz\n")
    b("load", "other", stdin="o").gives(0)
    b("merge", "x", "y", "other").gives(3, "", 'filter "other" cannot be merged')
    b("merge", "x", "y", "nix").gives(3, "", f'filter "nix" {ABSENT}')
    b("merge", "x").gives(2, "", "too few arguments")


def test_names_of_any_byte(b):
    name = b"\xff\x01\n'\""
    b("reserve", name, "-n", "9").gives(0)
    b("copy", name, "x").gives(0, "")
    b("clear", name).gives(0, "")
    b("rename", name, b"\xfe").gives(0, "")
    b("drop", b"\xfe").gives(0, "")
    b("drop", b"\xfe").gives(1, "", 'filter "\\xFE" is not published')


def test_wrong_names_missing_segments_and_readonly(b):
    for verb, count in VERBS.items():
        b(verb).gives(2, "", "too few arguments")
        b(verb, *["x" * 64] * count).gives(2, "", "a filter's name has 1 to 63 bytes, 64 given")
        b(verb, *"xy"[:count]).gives(3, "", "no segment yet")
    check(not os.path.exists(b.path), "a segment was made")
    b("reserve", "x", "-n", "9").gives(0)
    for verb, count in VERBS.items():
        words = ("y", "x") if verb == "merge" else "xy"[:count]
        b(verb, "--readonly", *words).gives(3, "", "mapped read-only")


def test_foreign_and_damaged_segments(b):
    b("reserve", "x", "-n", "9").gives(0)
    if os.geteuid() == 0:
        os.chown(b.path, 12345, 12345)
        for verb, count in VERBS.items():
            b(verb, *"xy"[:count]).gives(3, "", "belongs to uid 12345")
        os.chown(b.path, 0, 0)
    os.truncate(b.path, 8192)
    for verb, count in VERBS.items():
        b(verb, *"xy"[:count]).gives(3, "", "it was cut short or extended")

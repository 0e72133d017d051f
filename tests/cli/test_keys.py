"""
test_keys.py - add, remove and count.

Licensed under the MIT licence; see LICENSE.
"""

import os
import re

from lib import check

NEEDED = "--capacity is needed"


def counting(b, name="c"):
    b("reserve", name, "--counting", "--capacity", "1000").gives(0, "created\n")


def test_add_prints_how_many_were_new(b):
    b("reserve", "x", "-n", "1000").gives(0)
    b("add", "x", "a", "b", "a").gives(0, "2\n")
    b("add", "x", "a").gives(0, "0\n")
    b("add", "x", stdin="b\nc\n\nd").gives(0, "2\n")
    b("add", "x", stdin="").gives(0, "0\n")
    b("add", "-0", "x", stdin="e\nf\0").gives(0, "1\n")
    b("add", "x", "").gives(0, "1\n")
    b("has", "-0", "x", stdin="a\0b\0c\0d\0e\nf\0g\0").gives(0, "a\0b\0c\0d\0e\nf\0")
    check(b("add", "--json", "x", "a", "z").gives(0).json()
          == {"filter": "x", "keys": 2, "added": 1}, "json")


def test_add_of_many_keys(b):
    keys = "".join(f"{i}\n" for i in range(100_000))
    call = b("add", "x", "--create", "-n", "1000", stdin=keys).gives(0)
    check(98_000 < int(call.out) <= 100_000, call.out)
    b("has", "-vc", "x", stdin=keys).gives(1, "0\n")
    b("verify").gives(0, "")


def test_add_needs_the_filter_or_create(b):
    b("add", "x", "a").gives(3, "", "no segment yet")
    b("add", "x", "--create", "a").gives(2, "", NEEDED)
    check(not os.path.exists(b.path), "a segment was made")
    b("add", "x", "--create", "-n", "100", "--filter-memory", "2M", "a").gives(0, "1\n")
    b("add", "y", "a").gives(3, "", 'filter "y" is not published')
    b("add", "y", stdin="").gives(3, "", 'filter "y" is not published')
    b("add", "y", "--create", "-n", "9", stdin="").gives(0, "0\n")
    b("add", "x", "--create", "-n", "5", "-e", "0.5", "b").gives(0, "1\n")  # taken as it is
    check(b("info", "--json", "x").json()["error_rate"] == 0.01, "another filter")
    b("add", "w", "--create", "-n", "9", "--window", "60", "k").gives(0, "1\n")
    check(b("info", "--json", "w").json()["window"] == 60, "no window")


def test_a_segment_that_is_replaced_meanwhile(b):
    """The keys that came after it are nowhere."""
    for verb in ("add", "remove"):
        counting(b)
        b("add", "c", "one").gives(0)
        before = b("count", "c", "one", "two").out
        call = b.start(verb, "c")
        call.stdin.write(b"one\ntwo\n")
        call.stdin.flush()
        while b("count", "c", "one", "two").out == before:  # until it has read them
            pass
        os.unlink(b.path)
        counting(b)
        out, err = call.communicate(b"three\n")
        check(call.returncode == 3 and b"was removed or replaced" in err, (out, err))
        check(err.count(b"\n") == 1 and re.fullmatch(rb"\d\n", out), (out, err))
        os.unlink(b.path)


def test_options_of_create_alone(b):
    for words in (["-n", "9"], ["-e", "0.1"], ["--expansion", "0"], ["--window", "9"],
                  ["--counting"], ["--seed", "s"], ["--filter-memory", "2M"],
                  ["--cache-memory", "2M"], ["--cache-records", "9"]):
        call = b("add", "x", *words, "a")
        call.gives(2, "", " does nothing without --create")


def test_a_full_filter(b):
    """Keys of the batches before are in it, and are said."""
    b("reserve", "x", "-n", "100", "--expansion", "0").gives(0)
    keys = "".join(f"{i}\n" for i in range(500))
    call = b("add", "x", stdin=keys).gives(3, None, 'filter "x" is full')
    check(call.out == b"" or 0 < int(call.out) <= 100, call.out)
    b("add", "x", "--json", "1").gives(0)


def test_remove_and_count(b):
    counting(b)
    b("add", "c", "a", "a", "b").gives(0, "2\n")
    b("count", "c", "a", "b", "z").gives(0, "2 a\n1 b\n0 z\n")
    b("count", "c", stdin="a\nz\n").gives(0, "2 a\n0 z\n")
    b("count", "c", "z").gives(1, "0 z\n")
    b("count", "-0", "c", stdin="a\0a\nb\0").gives(0, "2 a\x000 a\nb\0")
    check(b("count", "--json", "c", "a").gives(0).json()
          == {"filter": "c", "counts": [{"key": "a", "count": 2}]}, "json")
    b("remove", "c", "a", "z").gives(0, "1\n")
    b("remove", "c", stdin="z\n").gives(1, "0\n")
    b("remove", "-0", "c", stdin="b\0").gives(0, "1\n")
    check(b("remove", "--json", "c", "a").gives(0).json()
          == {"filter": "c", "keys": 1, "removed": 1}, "json")
    b("count", "c", "a", "b").gives(1, "0 a\n0 b\n")
    b("add", "c", *["m"] * 20).gives(0, "1\n")
    b("count", "c", "m").gives(0, "15 m\n")


def test_filters_that_do_not_count(b):
    b("reserve", "x", "-n", "9").gives(0)
    for verb in ("count", "remove"):
        b(verb, "x", "a").gives(
            3, "", 'filter "x" does not count; reserve or load it with --counting')


def test_missing_filters_and_segments(b):
    for verb in ("add", "remove", "count"):
        b(verb).gives(2, "", "too few arguments")
        b(verb, "").gives(2, "", "a filter's name has 1 to 63 bytes")
        b(verb, "x", "a").gives(3, "", "no segment yet")
    check(not os.path.exists(b.path), "a segment was made")
    b("reserve", "x", "-n", "9").gives(0)
    for verb in ("add", "remove", "count"):
        b(verb, "y", "a").gives(3, "", 'filter "y" is not published')
        b(verb, "y", stdin="").gives(3, "", 'filter "y" is not published')


def test_readonly(b):
    counting(b)
    b("add", "--readonly", "c", "a").gives(3, "", "mapped read-only")
    b("remove", "--readonly", "c", "a").gives(3, "", "mapped read-only")
    b("count", "--readonly", "c", "a").gives(1, "0 a\n")


def test_keys_and_names_of_any_byte(b):
    name = b"\xff\x01\n"
    counting(b, name)
    b("add", name, b"\xfe\n", "\u20ac").gives(0, "2\n")
    b("count", name, b"\xfe\n", "\u20ac").gives(0, "1 \\xFE\\x0A\n1 \u20ac\n")
    b("count", "-0", name, b"\xfe\n").gives(0, b"1 \xfe\n\0")
    answer = b("count", "--json", name, b"\xfe\n").gives(0).json()
    check(answer["filter"] == "\\xFF\\x01\\x0A" and answer["counts"][0]["key"] == "\\xFE\\x0A",
          answer)


def test_a_pipe_that_closes(b):
    counting(b)
    with open("/dev/full", "wb") as full:
        process = b.start("count", "c", stdout=full)
        _, err = process.communicate(b"a\n" * 100_000)
        check(process.returncode == 3 and re.search(rb"cannot write the output", err), err)
        process = b.start("add", "c", "a", stdout=full)
        _, err = process.communicate()
        check(process.returncode == 3 and re.search(rb"cannot write the output", err), err)

"""
test_ask.py - has.

Licensed under the MIT licence; see LICENSE.
"""

import gzip
import os
import subprocess

from lib import check

KEYS = [f"key {i}" for i in range(5000)]


def filled(b):
    b("load", "articles", "-e", "1e-9", stdin="\n".join(KEYS)).gives(0, None)


def test_keys_as_arguments(b):
    filled(b)
    b("has", "articles", "key 1", "none", "key 4999").gives(0, "key 1\nkey 4999\n")
    b("has", "articles", "none").gives(1, "")
    b("has", "-v", "articles", "key 1", "none").gives(0, "none\n")
    b("has", "articles", "-v", "key 1").gives(1, "")
    b("has", "-c", "articles", "key 1", "none", "key 2").gives(0, "2\n")
    b("has", "-c", "articles", "none").gives(1, "0\n")
    b("has", "-q", "articles", "key 1").gives(0, "")
    b("has", "-q", "articles", "none").gives(1, "")
    b("has", "-qv", "articles", "none").gives(0, "")
    b("has", "articles", "--", "-q").gives(1, "")
    b("has", "articles", "").gives(1, "")


def test_keys_of_the_standard_input(b):
    filled(b)
    mixed = [key for i in range(5000) for key in (KEYS[i], f"absent {i}")]
    for end in ("", "\n", "\r\n", "\n\n\n"):
        b("has", "articles", stdin="\n".join(mixed) + end).gives(0, "\n".join(KEYS) + "\n")
    b("has", "articles", stdin="\r\n".join(mixed)).gives(0, "\n".join(KEYS) + "\n")
    b("has", "-c", "articles", stdin="\n".join(mixed)).gives(0, "5000\n")
    b("has", "-vc", "articles", stdin="\n".join(mixed)).gives(0, "5000\n")
    b("has", "-q", "articles", stdin="\n".join(mixed)).gives(0, "")
    b("has", "articles", stdin="").gives(1, "")
    b("has", "articles", stdin="\n\n").gives(1, "")


def test_compressed_keys(b):
    filled(b)
    text = ("\n".join(KEYS) + "\n").encode()
    for packed in (
        gzip.compress(text),
        gzip.compress(text[:1000]) + gzip.compress(text[1000:]) + bytes(512),
        subprocess.run(["zstd", "-q"], input=text, capture_output=True, check=True).stdout,
    ):
        b("has", "articles", stdin=packed).gives(0, text)
        b("has", "articles", stdin=packed[:-700]).gives(3, None, "cannot read the standard input")


def test_keys_of_any_bytes(b):
    keys = [b"a\nb", b"\xff\xfe", b"tab\t", "größe".encode(), b"\\x41", b"x" * 300000]
    b("load", "any", "-0", "-e", "1e-9", stdin=b"\0".join(keys)).gives(0, None)
    b("has", "any", "-0", stdin=b"\0".join(keys)).gives(0, b"\0".join(keys) + b"\0")
    b("has", "any", keys[0], keys[1]).gives(0, "a\\x0Ab\n\\xFF\\xFE\n")
    b("has", "any", keys[2], keys[3], keys[4]).gives(0, "tab\\x09\ngröße\n\\x5Cx41\n")
    b("has", "any", "-0", keys[0]).gives(0, keys[0] + b"\0")
    answer = b("has", "any", "--json", keys[1], "none", keys[3]).gives(0).json()
    maybes = ["\\xFF\\xFE", "größe"]
    check(answer == {"filter": "any", "asked": 3, "count": 2, "maybe": maybes}, answer)
    answer = b("has", "any", "--json", "-v", "none").gives(0).json()
    check(answer == {"filter": "any", "asked": 1, "count": 1, "absent": ["none"]}, answer)
    answer = b("has", "any", "--json", "-c", "none").gives(1).json()
    check(answer == {"filter": "any", "asked": 1, "count": 0}, answer)


def test_a_key_of_10_mb(b):
    key = b"k" * 10000000
    b("load", "huge", "-e", "1e-9", stdin=key).gives(0, None)
    b("has", "huge", stdin=b"x\n" + key + b"\ny\n").gives(0, key + b"\n")
    b("has", "-c", "huge", stdin=key[1:]).gives(1, "0\n")


def test_a_filter_that_is_not_there(b):
    b("has", "articles", "x").gives(3, "", f"no segment yet at {b.path}")
    filled(b)
    b("has", "none", "x").gives(3, "", f'filter "none" is not published in {b.path}')
    b("has", "none").gives(3, "", f'filter "none" is not published in {b.path}')
    b("has", "", "x").gives(2, "", "a filter's name has 1 to 63 bytes, 0 given")


def test_input_that_cannot_be_read(b):
    filled(b)
    folder = os.open(b.folder, os.O_RDONLY)
    call = b.start("has", "articles", stdin=folder)
    os.close(folder)
    err = call.communicate()[1]
    check(call.returncode == 3 and b"Is a directory" in err, f"{call.returncode}, {err}")

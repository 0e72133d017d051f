"""
test_cache.py - the verbs of the record store.

Licensed under the MIT licence; see LICENSE.
"""

import ctypes
import os
import signal
import struct
import subprocess
import time

import lib
from lib import check

NAMES = "get set del scan info clear dump restore".split()


def segment(b, *options):
    """A new segment: the restore of no records."""
    b("cache", "restore", b.file("none", records()), *options).gives(0, "0\n")
    return b


def records(*items):
    """A file of records: (key, type, value)."""
    head = struct.pack("<8sQQQ", b"BLOOMREC", 1, time.time_ns(), 0)
    for key, kind, value in items:
        head += struct.pack("<QQIIQ", 0, 0, len(key), len(value), kind) + key + value
    head += struct.pack("<QQQ", 2**64 - 1, len(items), len(head))
    hashed = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    hashed.restype = ctypes.c_uint64
    hashed.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return head + struct.pack("<Q", hashed(head, len(head)))


def test_set_get_del(b):
    segment(b)
    b("cache", "set", "k", "v").gives(0, "")
    b("cache", "get", "k").gives(0, "v\n")
    b("cache", "get", "k", "-0").gives(0, b"v\0")
    b("cache", "get", "k", "none").gives(1, "k\tv\n")
    b("cache", "get", "none", "k", "-0").gives(1, b"k\0v\0")
    b("cache", "del", "k", "none").gives(1, "")
    b("cache", "get", "k").gives(1, "")
    b("cache", "del", "k").gives(1, "")
    b("cache", "set", "", "of the empty key").gives(0, "")
    b("cache", "get", "").gives(0, "of the empty key\n")


def test_values_of_the_standard_input_are_exact(b):
    segment(b)
    value = bytes(range(256)) * 2000 + b"\n"
    b("cache", "set", "k", stdin=value).gives(0, "")
    b("cache", "get", "-0", "k").gives(0, value + b"\0")
    b("cache", "set", "k", stdin=b"").gives(0, "")
    b("cache", "get", "k").gives(0, "\n")
    check(
        b("cache", "get", "k", "--json").json() == [{"key": "k", "type": "string", "value": ""}], ""
    )


def test_types(b):
    segment(b)
    for kind, text, value in [
        ("int", "5", 5),
        ("int", "-9223372036854775808", -(2**63)),
        ("int", str(2**63 - 1), 2**63 - 1),
        ("float", "0.1", 0.1),
        ("float", "1e+300", 1e300),
        ("float", "0.30000000000000004", 0.1 + 0.2),
        ("float", "-2", -2.0),
        ("bool", "true", True),
        ("bool", "false", False),
        ("string", "5", "5"),
        ("string", "\u00e4\n", "\u00e4\n"),
    ]:
        b("cache", "set", "--type", kind, "--", "k", text).gives(0, "")
        got = b("cache", "get", "k", "--json").gives(0).json()
        check(got == [{"key": "k", "type": kind, "value": value}], f"{kind} {text}: {got}")
        check(kind == "string" or b("cache", "get", "k").out == text.encode() + b"\n", text)
        b("cache", "set", "--type", kind, "k", stdin=text + ("\n" if kind != "string" else ""))
        check(b("cache", "get", "k", "--json").json() == got, f"{kind} {text} by the input")
    b("cache", "set", "--type", "null", "k").gives(0, "")
    check(
        b("cache", "get", "k", "--json").json() == [{"key": "k", "type": "null", "value": None}], ""
    )
    b("cache", "set", "--type", "float", "k", "inf").gives(0, "")
    check(b("cache", "get", "k", "--json").json()[0]["value"] == "inf", "inf")


def test_values_that_are_none_of_the_type(b):
    segment(b)
    for kind, text in [
        ("int", ""),
        ("int", "5x"),
        ("int", " 5"),
        ("int", "9223372036854775808"),
        ("int", "0x5"),
        ("int", "1.0"),
        ("float", ""),
        ("float", "1,5"),
        ("float", " 1"),
        ("bool", "yes"),
        ("bool", ""),
    ]:
        call = b("cache", "set", "--type", kind, "k", "--", text)
        call.gives(2, "", "the value must be ")
        b("cache", "set", "--type", kind, "k", stdin=text).gives(2, "", "the value must be ")
    b("cache", "set", "--type", "int", "k", stdin=b"5\0").gives(2, "", "without NUL bytes")
    b("cache", "set", "--type", "null", "k", "v").gives(2, "", "null has no value")
    b("cache", "set", "--type", "array", "k", "v").gives(2, "", "--type must be string, int")
    b("cache", "set", "--ttl", "-1", "k", "v").gives(
        2, "", "--ttl must be a number from 0 to 315360000"
    )
    b("cache", "set", "--ttl", "315360001", "k", "v").gives(2, "", "--ttl must be")
    b("cache", "get", "k").gives(1, "")


def test_time_to_live(b):
    segment(b)
    while True:
        begun = time.monotonic()
        b("cache", "set", "--ttl", "3", "k", "v").gives(0, "")
        call = b("cache", "get", "k")
        if time.monotonic() - begun < 2:  # else it may have expired before it was asked for
            break
    call.gives(0, "v\n")
    time.sleep(4.1)
    b("cache", "get", "k").gives(1, "")


def test_keys_of_any_bytes(b):
    segment(b)
    for key in [b"\xff\x80", b"\x01\x1b[31m", "\u00e4".encode(), b"a\nb", b"-x", b'"><script>']:
        b("cache", "set", "--", key, b"of " + key).gives(0, "")
        b("cache", "get", "-0", "--", key).gives(0, b"of " + key + b"\0")
    out = b("cache", "scan", "-0").gives(0).out.split(b"\0")
    check(
        set(out[:-1]) == {b"\xff\x80", b"\x01\x1b[31m", b"\xc3\xa4", b"a\nb", b"-x", b'"><script>'},
        out,
    )
    text = b("cache", "scan").gives(0).out
    check(b"\\xFF\\x80\n" in text and b"\\x01\\x1B[31m\n" in text and b"a\\x0Ab\n" in text, text)
    exact = b("cache", "get", "-0", stdin=b"\0".join(out))
    pairs = exact.gives(0).out.split(b"\0")
    check(dict(zip(pairs[0:-1:2], pairs[1::2])) == {k: b"of " + k for k in out[:-1]}, pairs)
    b("cache", "del", "-0", stdin=b"\0".join(out)).gives(0, "")
    b("cache", "scan").gives(1, "")


def test_keys_that_are_too_long(b):
    segment(b)
    longest = "k" * 65535
    b("cache", "set", longest, "v").gives(0, "")
    b("cache", "get", longest).gives(0, "v\n")
    for verb in ["get", "set", "del"]:
        b("cache", verb, longest + "k").gives(2, "", "a key has at most 65535 bytes, 65536 given")
    huge = b"x" * 10_000_000
    b("cache", "get", stdin=huge + b"\n").gives(3, "", "10000000 given")
    b("cache", "del", stdin=b"a\n" + huge + b"\n").gives(3, "", "10000000 given")


def test_values_that_are_too_large(b):
    segment(b, "--cache-memory", "8M")
    b("cache", "set", "k", "v").gives(0, "")
    call = b("cache", "set", "k", stdin=b"x" * (2 << 20) + b"y")
    call.gives(3, "", "key and value would be 2097154 bytes; the record store takes 2097152")
    b("cache", "set", "k", stdin=b"x" * (70 << 20)).gives(3, "", "key and value would be")
    b("cache", "set", "k", stdin=b"x" * (1 << 20)).gives(0, "")
    check(len(b("cache", "get", "k").out) == (1 << 20) + 1, "1 MB")


def test_serialized_values_are_named(b):
    made = records(
        (b"a", 6, b'a:1:{i:0;s:2:"\xc3\xa4";}'), (b"i", 7, b"\0\0\0\2\x14"), (b"s", 5, b"\xff")
    )
    segment(b)
    b("cache", "restore", b.file("made", made)).gives(0, "3\n")
    b("cache", "get", "a", "-0").gives(0, b'a:1:{i:0;s:2:"\xc3\xa4";}\0')
    got = b("cache", "get", "a", "i", "s", "--json").gives(0).json()
    check(got[0] == {"key": "a", "type": "php", "bytes": 'a:1:{i:0;s:2:"\u00e4";}'}, got)
    check(got[1] == {"key": "i", "type": "igbinary", "bytes": "\\x00\\x00\\x00\\x02\\x14"}, got)
    check(got[2] == {"key": "s", "type": "string", "bytes": "\\xFF"}, got)
    kinds = {r["key"]: (r["type"], r["size"]) for r in b("cache", "scan", "--json").json()}
    check(kinds == {"a": ("php", 19), "i": ("igbinary", 5), "s": ("string", 1)}, kinds)


def test_scan(b):
    segment(b)
    b("cache", "scan").gives(1, "")
    check(b("cache", "scan", "--json").gives(1).json() == [], "none")
    made = [(b"user:%d" % i, 3, struct.pack("<q", i)) for i in range(1000)]
    b("cache", "restore", b.file("made", records(*made, (b"other", 5, b"text")))).gives(0, "1001\n")
    b("cache", "scan", "--prefix", "o").gives(0, "string            4 B  other\n")
    b("cache", "scan", "--prefix", "user:77", "--limit", "1").gives(0)
    check(b("cache", "scan", "--prefix", "user:77").out.count(b"\n") == 11, "user:77*")
    check(b("cache", "scan", "--limit", "10").out.count(b"\n") == 10, "limit")
    found = b("cache", "scan", "--json").gives(0).json()
    check(len(found) == 1001, len(found))
    numbers = {r["key"]: r["value"] for r in found if r["type"] == "int"}
    check(numbers == {f"user:{i}": i for i in range(1000)}, "numbers")
    b("cache", "scan", "--limit", "0").gives(2, "", "--limit must be")
    b("cache", "scan", "--prefix", "none").gives(1, "")


def test_info(b):
    segment(b, "--cache-memory", "2M", "--cache-records", "7")
    b("cache", "set", "k", "v").gives(0)
    figures = b("cache", "info", "--json").gives(0).json()
    check(figures["records"] == 1 and figures["max_records"] == 7, figures)
    check(figures["bytes_total"] == 2 << 20 and figures["sets"] == 1, figures)
    check(b"records                     1\n" in b("cache", "info").gives(0).out, "text")


def test_clear(b):
    segment(b)
    for key in ["a1", "a2", "b"]:
        b("cache", "set", key, "v").gives(0)
    b("cache", "clear", "a").gives(0, "2\n")
    b("cache", "clear", "a", "--prefix", "b").gives(2, "", "the prefix is given twice")
    b("cache", "clear", "").gives(2, "", "the prefix is empty")
    b("cache", "clear", "--prefix", "").gives(2, "", "the prefix is empty")
    b("cache", "clear", "--prefix", "none", "--json").gives(0, '{"removed": 0}\n')
    b("cache", "clear").gives(0, "1\n")
    b("cache", "scan").gives(1, "")


def test_dump_and_restore(b):
    segment(b)
    for i in range(50):
        b("cache", "set", f"k{i}", f"v{i}").gives(0)
    path = os.path.join(b.folder, "dump")
    b("cache", "dump", path).gives(0, "50\n")
    b("cache", "dump", path, "--json").gives(0, '{"records": 50}\n')
    piped = b("cache", "dump", "-").gives(0).out
    check(piped.startswith(b"BLOOMREC") and len(piped) == os.path.getsize(path), len(piped))
    b("cache", "clear").gives(0, "50\n")
    b("cache", "restore", "-", stdin=piped).gives(0, "50\n")
    b("cache", "restore", path).gives(0, "0\n")
    other = os.path.join(b.folder, "other")
    b("cache", "restore", "-", "--path", other, "--cache-memory", "1M", stdin=piped).gives(
        0, "50\n"
    )
    b("--path", other, "cache", "get", "k7").gives(0, "v7\n")
    check(os.listdir(b.folder).count("dump") == 1, os.listdir(b.folder))


def test_dumps_through_other_pipes(b):
    segment(b)
    b("cache", "set", "k", "v").gives(0)
    run = (
        f"{lib.BINARY} cache dump /dev/stdout | cat >{b.folder}/one && "
        f"{lib.BINARY} cache dump /dev/stdout >{b.folder}/two && "
        f"{lib.BINARY} cache dump >(cat >{b.folder}/three) && sleep 0.2 && "
        f"{lib.BINARY} cache clear && {lib.BINARY} cache restore <(cat {b.folder}/one) && "
        f"{lib.BINARY} cache restore /dev/stdin <{b.folder}/two"
    )
    done = subprocess.run(
        ["bash", "-ec", run], env=b.environment(), capture_output=True, check=True
    )
    check(done.stdout == b"1\n1\n0\n", done)
    sizes = {os.path.getsize(os.path.join(b.folder, name)) for name in ["one", "two", "three"]}
    check(len(sizes) == 1 and os.path.islink("/dev/stdout"), sizes)


def test_files_that_cannot_be_written(b):
    segment(b)
    b("cache", "set", "k", stdin=b"x" * 3_000_000).gives(0)
    b("cache", "dump", "/dev/full").gives(
        3, "", 'cannot write "/dev/full": No space left on device'
    )
    check(not os.path.isfile("/dev/full"), "/dev/full is a device still")
    b("cache", "dump", b.folder).gives(3, "", "")
    b("cache", "dump", os.path.join(b.folder, "absent/file")).gives(3, "", "No such file")
    b("cache", "dump", "-", TMPDIR="/no/such/folder").gives(3, "", "in $TMPDIR, or else in /tmp")
    b("cache", "restore", "-", stdin=b"x", TMPDIR="/no/such/folder").gives(3, "", "/no/such/folder")
    check(sorted(os.listdir(b.folder)) == ["none", "segment"], os.listdir(b.folder))
    with open("/dev/full", "wb") as full:
        call = subprocess.run(
            [lib.BINARY, "cache", "scan"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=b.environment(),
            check=False,
        )
    check(call.returncode == 3 and b"cannot write the output" in call.stderr, call)


def test_a_closed_pipe(b):
    segment(b)
    b("cache", "set", "k", stdin=b"x" * 3_000_000).gives(0)
    for words in (["dump", "-"], ["get", "k"]):
        call = b.start("cache", *words)
        call.stdout.close()
        check(call.wait(lib.SECONDS) == -signal.SIGPIPE, f"{words}: {call.returncode}")
        check(call.stderr.read() == b"", words)
    check(
        not [f for f in os.listdir("/tmp") if f.startswith("bloomshm.")], "a file is left in /tmp"
    )


def test_files_that_are_no_dumps(b):
    segment(b)
    sound = records((b"k", 5, b"v"))
    for name, bad, said in [
        ("text", b"hello", ""),
        ("empty", b"", ""),
        ("cut", sound[:-1], ""),
        ("more", sound + b"x", ""),
        ("bits", sound[:70] + b"X" + sound[71:], ""),
    ]:
        b("cache", "restore", b.file(name, bad)).gives(3, "", f"the file {b.folder}/{name} is ")
        b("cache", "restore", "-", stdin=bad).gives(3, "", "the file - is ")
    b("cache", "restore", os.path.join(b.folder, "absent")).gives(3, "", "No such file")
    b("cache", "restore", b.folder).gives(3, "", b.folder)
    b("cache", "scan").gives(1, "")


def test_only_a_restore_creates_a_segment(b):
    for verb in NAMES:
        if verb != "restore":
            words = {"set": ["k", "v"], "dump": ["f"], "get": ["k"], "del": ["k"]}.get(verb, [])
            b("cache", verb, *words).gives(3, "", "no segment yet")
    check(os.listdir(b.folder) == [], os.listdir(b.folder))


def test_a_restore_of_no_file_makes_no_segment(b):
    b("cache", "restore", os.path.join(b.folder, "none")).gives(3, "", "No such file")
    check(os.listdir(b.folder) == [], os.listdir(b.folder))


def test_a_segment_without_records(b):
    b("cache", "restore", b.file("none", records()), "--cache-memory", "0").gives(
        3, "", "no record store"
    )
    b("cache", "scan").gives(3, "", "no record store")
    b("cache", "set", "k", "v").gives(3, "", "no record store")
    b("cache", "info", "--json").gives(3, "", "no record store")


def test_a_signal_ends_a_dump(b):
    """Whenever it comes: the file is whole, or not there."""
    segment(b, "--cache-memory", "64M")
    for i in range(4):
        b("cache", "set", f"k{i}", stdin=b"x" * 12_000_000).gives(0)
    temporary = os.path.join(b.folder, "tmp")
    os.mkdir(temporary)
    ended = 0
    for number in [signal.SIGINT, signal.SIGTERM]:
        for delay in [0, 0.002, 0.005, 0.01, 0.02]:
            call = subprocess.Popen(
                [lib.BINARY, "cache", "dump", os.path.join(temporary, "file")],
                env=b.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            lib.moved(call, 1, "wchar")
            time.sleep(delay)
            call.send_signal(number)
            out, err = call.communicate(timeout=lib.SECONDS)
            check(call.returncode in (0, 128 + number, -number), f"{call.returncode} {err}")
            ended += call.returncode == 128 + number
            left = os.listdir(temporary)
            check(left in ([], ["file"]), left)
            said = b"; nothing was written\n" if call.returncode == 128 + number else b""
            check(err.endswith(said) and err.count(b"\n") == len(said[:1]), err)
            if left:
                os.unlink(os.path.join(temporary, "file"))
    check(ended != 0, "no signal met a dump")

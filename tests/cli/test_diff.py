"""
test_diff.py - diff and patch, through files and pipes.

Licensed under the MIT licence; see LICENSE.
"""

import os
import signal

import lib
from lib import check

KEYS = 20_000


def keys(first):
    return "".join(f"key {i}\n" for i in range(first, first + KEYS))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def dumped(b, name, first, *options):
    """The dump of a filter; its path."""
    path = os.path.join(b.folder, name)
    b("load", "x", "-q", "--seed", "s", *options, stdin=keys(first)).gives(0)
    b("dump", "x", path).gives(0)
    return path


def left(folder, *files):
    check(sorted(os.listdir(folder)) == sorted(files), f"left behind: {os.listdir(folder)}")


def folder_of(b):
    folder = os.path.join(b.folder, "tmp")
    os.mkdir(folder)
    return folder


def test_there_and_back(b):
    one, two = dumped(b, "one", 0), dumped(b, "two", 200)
    delta, out = (os.path.join(b.folder, name) for name in ("delta", "out"))
    figures = b("diff", one, two, delta, "--json").gives(0).json()
    check(figures["delta_bytes"] == os.path.getsize(delta), figures)
    check(figures["from_bytes"] == os.path.getsize(one), figures)
    check(0 < figures["delta_bytes"] < figures["from_bytes"] / 5, figures)
    check(0 < figures["changed_bits"] < 200 * 20, figures)
    check(os.stat(delta).st_mode & 0o777 == 0o600, "the mode")
    b("diff", one, two, delta).gives(0, None)
    b("patch", one, delta, out).gives(0, "")
    check(read(out) == read(two), "the second dump")
    b("patch", two, delta, out).gives(0, "")
    check(read(out) == read(one), "the first dump")
    b("restore", "y", out).gives(0, "")
    b("has", "-vc", "y", stdin=keys(0)).gives(1, "0\n")


def test_pipes(b):
    folder = folder_of(b)
    one, two = dumped(b, "one", 0), dumped(b, "two", 200)
    delta = b("diff", one, two, TMPDIR=folder).gives(0).out
    check(delta[:8] == b"BLOOMDLT", delta[:8])
    path = b.file("delta", delta)
    for arguments, given, wanted in [
        (("diff", "-", two, "-"), read(one), delta),
        (("diff", one, "-"), read(two), delta),
        (("patch", one, "-"), delta, read(two)),
        (("patch", "-", path), read(two), read(one)),
    ]:
        out = b(*arguments, stdin=given, TMPDIR=folder).gives(0).out
        check(out == wanted, arguments)
    left(folder)
    b("diff", "-", "-").gives(2, "", "only one of the files can be the standard input")
    b("patch", one).gives(2, "", "too few arguments")


def test_no_segment_is_needed_or_made(b):
    one, two = dumped(b, "one", 0), dumped(b, "two", 200)
    os.remove(b.path)
    delta = b.file("delta", b("diff", one, two).gives(0).out)
    check(b("patch", one, delta).gives(0).out == read(two), "there")
    check(not os.path.exists(b.path), "a segment was made")


def test_what_does_not_fit(b):
    one, two = dumped(b, "one", 0), dumped(b, "two", 200)
    delta = b.file("delta", b("diff", one, two).gives(0).out)
    third = dumped(b, "third", 400)
    said = f"{third} is neither of the two files that {delta} was made of"
    b("patch", third, delta).gives(3, b"", said)
    for options, what in [
        (["--seed", "t"], "seed"),
        (["--expansion", "0"], "kind"),
        (["-n", "200000"], "geometry"),
        (["-e", "0.001"], "geometry"),
    ]:
        other = dumped(b, "other", 0, *options)
        said = f"{one} and {other} are not of one filter: they have another {what}"
        b("diff", one, other).gives(3, b"", said)
    b("reserve", "s", "-n", "100", "-w", "300").gives(0)
    b("dump", "s", os.path.join(b.folder, "sliding")).gives(0)
    said = "holds a sliding filter, which has no deltas; send it whole"
    b("diff", one, os.path.join(b.folder, "sliding")).gives(3, b"", said)
    b("reserve", "c", "-n", "100", "--counting").gives(0)
    b("dump", "c", os.path.join(b.folder, "counting")).gives(0)
    said = "holds a counting filter, which has no deltas; send it whole"
    b("patch", os.path.join(b.folder, "counting"), delta).gives(3, b"", said)


def test_damaged_files(b):
    folder = folder_of(b)
    one, two = dumped(b, "one", 0), dumped(b, "two", 200)
    path = os.path.join(folder, "out")
    delta = b("diff", one, two).gives(0).out
    for content, said in [
        (delta[:300] + bytes([delta[300] ^ 1]) + delta[301:], "delta is damaged (group)"),
        (delta[:-1], "delta is damaged (truncated)"),
        (delta + b"x", "delta is damaged (trailing bytes)"),
        (b"", "delta is damaged (truncated)"),
        (read(two), "delta was not made by bloomshm diff"),
    ]:
        b("patch", one, b.file("delta", content), path).gives(3, "", said)
    broken = read(one)
    broken = broken[:9000] + bytes([broken[9000] ^ 1]) + broken[9001:]
    b("patch", b.file("broken", broken), b.file("delta", delta), path).gives(
        3, "", "broken is damaged (checksum)"
    )
    b("diff", b.file("broken", broken), two, path).gives(3, "", "broken is damaged (checksum)")
    said = "was not made by bloom_dump(); it holds a delta, for bloomshm patch"
    b("diff", one, b.file("delta", delta), path).gives(3, "", said)
    b("restore", "y", b.file("delta", delta)).gives(3, "", said)
    left(folder)


def test_missing_files(b):
    folder = folder_of(b)
    one = dumped(b, "one", 0)
    path = os.path.join(folder, "out")
    missing = os.path.join(folder, "missing")
    b("diff", one, missing, path).gives(3, "", f"cannot open the file {missing}: No such file")
    b("patch", one, missing, path).gives(3, "", f"cannot open the file {missing}: No such file")
    b("diff", one, folder, path).gives(3, "", "is not a regular file")
    b("diff", one, one, os.path.join(folder, "no/out")).gives(3, "", "cannot create the file")
    b("diff", one, one, b.path).gives(3, "", "is the segment itself")
    left(folder)


def test_a_full_disk(b):
    one, two = dumped(b, "one", 0), dumped(b, "two", 200)
    with open("/dev/full", "wb") as full:
        process = b.start("diff", one, two, stdout=full)
        _, err = process.communicate(timeout=lib.SECONDS)
    check(process.returncode == 3 and b"No space left on device" in err, err)


def test_a_signal(b):
    """The file is complete, or it is not there."""
    folder = folder_of(b)
    one, two = dumped(b, "one", 0, "-n", "9000000"), dumped(b, "two", 200, "-n", "9000000")
    delta = b.file("delta", b("diff", one, two).gives(0).out)
    path = os.path.join(folder, "out")
    for _ in range(5):
        process = b.start("patch", one, delta, path)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=lib.SECONDS)
        check(process.returncode in (0, 143, -signal.SIGTERM), process.returncode)
        if os.path.exists(path):
            check(read(path) == read(two), "half a file")
            os.remove(path)
        left(folder)

"""
test_dump.py - dump and restore, through files and pipes.

Licensed under the MIT licence; see LICENSE.
"""

import os
import signal
import subprocess
import time

import lib
from lib import check

KEYS = "".join(f"key {i}\n" for i in range(10_000))


def loaded(b):
    b("load", "x", stdin=KEYS).gives(0)
    os.mkdir(os.path.join(b.folder, "tmp"))
    return os.path.join(b.folder, "tmp")


def left(folder):
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


def test_a_file(b):
    loaded(b)
    path = os.path.join(b.folder, "dump")
    b("dump", "x", path).gives(0, "")
    b("restore", "y", path).gives(0, "")
    b("has", "-vc", "y", stdin=KEYS).gives(1, "0\n")
    os.remove(b.path)
    b("restore", "y", "--filter-memory", "2M", path).gives(0, "")
    check(b("status", "--json").json()["filter_bytes"] == 2 << 20, "the size")
    b("verify").gives(0, "")


def test_pipes(b):
    folder = loaded(b)
    dump = b("dump", "x", "-", TMPDIR=folder).gives(0).out
    b("dump", "x", os.path.join(b.folder, "dump")).gives(0)
    with open(os.path.join(b.folder, "dump"), "rb") as made:
        check(len(made.read()) == len(dump), "of another length")
    b("restore", "y", "-", stdin=dump, TMPDIR=folder).gives(0, "")
    b("has", "-vc", "y", stdin=KEYS).gives(1, "0\n")
    left(folder)


def test_damaged_dumps_change_nothing(b):
    folder = loaded(b)
    dump = b("dump", "x", "-").gives(0).out
    broken = dump[:9000] + bytes([dump[9000] ^ 1]) + dump[9001:]
    for content, said in [
        (broken, "is damaged (checksum); nothing was changed"),
        (dump[:-1], "is damaged (truncated)"),
        (dump + b"x", "is damaged (trailing bytes)"),
        (b"", "is damaged (truncated)"),
        (KEYS, "was not made by bloom_dump()"),
    ]:
        b("restore", "x", "-", stdin=content, TMPDIR=folder).gives(3, "", said)
        b("restore", "x", b.file("dump", content)).gives(3, "", said)
    b("has", "-vc", "x", stdin=KEYS).gives(1, "0\n")
    b("verify").gives(0, "")
    left(folder)


def test_missing_things(b):
    path = os.path.join(b.folder, "dump")
    b("dump", "x", path).gives(3, "", "no segment yet")
    b("restore", "x", path).gives(3, "", f"cannot open the file {path}: No such file")
    check(not os.path.exists(b.path), "a segment was made")
    folder = loaded(b)
    for to in (path, "-"):
        b("dump", "nix", to, TMPDIR=folder).gives(3, "", 'filter "nix" is not published')
    check(not os.path.exists(path), "half a dump")
    b("dump", "x", os.path.join(folder, "no/dump")).gives(3, "", "cannot create the file")
    b("restore", "x", b.folder).gives(3, "", "is not a regular file")
    b("dump", "x").gives(2, "", "too few arguments")
    b("dump", "", path).gives(2, "", "a filter's name has 1 to 63 bytes")
    b("restore", "", path).gives(2, "", "a filter's name has 1 to 63 bytes")
    b("restore", "x", "--readonly", b.file("good")).gives(3, "", "mapped read-only")
    b("dump", "x", "-", TMPDIR="/no/such").gives(3, "", "(in $TMPDIR, or else in /tmp)")
    left(folder)


def test_the_segment_is_not_replaced_by_a_dump_of_it(b):
    loaded(b)
    b("dump", "x", b.path).gives(3, "", "is the segment itself")
    b("has", "-vc", "x", stdin=KEYS).gives(1, "0\n")


def test_full_disks(b):
    folder = loaded(b)
    path = os.path.join(b.folder, "full")
    os.mkdir(path)
    with open("/dev/full", "wb") as full:
        process = b.start("dump", "x", "-", stdout=full)
        _, err = process.communicate()
        check(process.returncode == 3 and b"No space left on device" in err, err)
    script = (
        f"mount -t tmpfs -o size=8k none {path} || exit 77\n"
        f"{lib.BINARY} dump x {path}/dump; echo $? $(ls -A {path})\n"
        f"TMPDIR={path} {lib.BINARY} dump x - | wc -c; echo ${{PIPESTATUS[0]}} $(ls -A {path})\n"
        f"TMPDIR={path} {lib.BINARY} restore y - <{folder}/dump; echo $? $(ls -A {path})\n"
    )
    b("dump", "x", os.path.join(folder, "dump")).gives(0)
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", script], capture_output=True, text=True,
        env=b.environment(), check=False,
    )
    if done.returncode in (1, 77):  # no file system can be mounted here
        return
    check(done.stdout == "3\n0\n3\n3\n", f"{done.stdout!r} {done.stderr}")
    check(done.stderr.count("No space left on device") == 3, done.stderr)
    b("ls").gives(0, "x\n")


def test_a_pipe_that_closes(b):
    folder = loaded(b)
    reader, writer = os.pipe()
    os.close(reader)
    process = b.start("dump", "x", "-", stdout=writer)
    os.close(writer)
    process.communicate(timeout=lib.SECONDS)
    check(process.returncode in (3, -signal.SIGPIPE), process.returncode)
    left(folder)


def test_a_signal_while_it_writes_a_file(b):
    """The file is complete, or it is not there."""
    folder = loaded(b)
    b("reserve", "y", "-n", "10000000").gives(0)
    path = os.path.join(folder, "dump")
    for turn in range(10):
        process = b.start("dump", "y", path)
        time.sleep(0.003 * turn)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=lib.SECONDS)
        if process.returncode == 143:
            check(err == b"bloomshm dump: Terminated; nothing was written\n", err)
        else:  # it was faster, or was not begun
            check(process.returncode in (0, -signal.SIGTERM), process.returncode)
            if os.path.exists(path):
                b("restore", "y", path).gives(0, "")
                os.remove(path)
        left(folder)


def test_a_signal_while_a_restore_waits_for_the_rest(b):
    folder = loaded(b)
    dump = b("dump", "x", "-").gives(0).out
    process = b.start("restore", "y", "-", env={**b.environment(), "TMPDIR": folder})
    process.stdin.write(dump[:-1])
    process.stdin.flush()
    time.sleep(0.2)
    left(folder)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=lib.SECONDS)
    check(process.returncode == -signal.SIGINT, process.returncode)
    b("ls").gives(0, "x\n")


def test_a_signal_while_a_dump_waits_for_its_reader(b):
    folder = loaded(b)
    process = b.start("dump", "x", "-", env={**b.environment(), "TMPDIR": folder})
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=lib.SECONDS)
    check(process.returncode in (0, -signal.SIGTERM, 143), process.returncode)
    left(folder)


def test_restore_with_keys(b):
    dump = os.path.join(b.folder, "dump")
    b("load", "x", stdin="a\nb\n").gives(0)
    b("dump", "x", dump).gives(0)
    b("restore", "y", dump, "--add", b.file("keys", "c\r\n\nd")).gives(0, "")
    b("has", "-c", "y", "a", "b", "c", "d").gives(0, "4\n")
    b("restore", "y", dump, "--add", "-", stdin="e\n").gives(0, "")
    b("has", "y", "b", "d", "e").gives(0, "b\ne\n")
    b("restore", "z", dump, "-0", "--add", "-", stdin="c\nd\0").gives(0, "")
    b("has", "-0", "z", stdin="c\nd\0c\0").gives(0, "c\nd\0")


def test_restore_with_keys_refused(b):
    dump = os.path.join(b.folder, "dump")
    b("reserve", "x", "--capacity", "10", "--expansion", "0").gives(0)
    b("dump", "x", dump).gives(0)
    b("restore", "y", dump, "--add", "no-such").gives(3, "", "cannot open the file no-such")
    b("restore", "y", "-", "--add", "-").gives(2, "", "only one of FILE and --add")
    b("restore", "y", dump, "-0").gives(2, "", "--null does nothing without --add")
    many = "".join(f"{i}\n" for i in range(20))
    b("restore", "y", dump, "--add", "-", stdin=many).gives(3, "", 'filter "y" is full')
    b("info", "y").gives(3, "", 'filter "y" is not published')

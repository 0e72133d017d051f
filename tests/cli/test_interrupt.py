"""
test_interrupt.py - SIGINT, SIGTERM and SIGKILL at a load: nothing is published, and the memory is
back.

Licensed under the MIT licence; see LICENSE.
"""

import os
import random
import signal
import time

import lib
from lib import check

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def prepared(b):
    b("load", "x", "--filter-memory", "32M", stdin="before\n").gives(0)
    return free_bytes(b)


def free_bytes(b):
    return b("status", "--json").gives(0).json()["filter_bytes_free"]


def is_as_before(b, free):
    b("verify").gives(0, "")
    b("ls").gives(0, "x\n")
    b("has", "x", "before", "key").gives(0, "before\n")
    seen = free_bytes(b)
    check(seen == free, f"{seen} bytes are free, {free} before")


def ended(process, number):
    """It has ended with the status of the signal: its own, or what a shell makes of a death."""
    out, err = process.communicate(timeout=lib.SECONDS)
    check(process.returncode in (128 + number, -number), f"{process.returncode}: {err}")
    check(out == b"", out)
    return err


def gathered(process, size):
    """Waits until the load has read so many bytes, and waits for more."""
    lib.moved(process, size, "rchar")
    lib.sleeps(process)


def test_at_once(b):
    free = prepared(b)
    for number in SIGNALS:
        for delay in (0, 0.002, 0.01):
            process = b.start("load", "x")
            time.sleep(delay)
            process.send_signal(number)
            ended(process, number)
    is_as_before(b, free)


def test_while_it_waits_for_a_slow_pipe(b):
    free = prepared(b)
    for number in SIGNALS:
        process = b.start("load", "x")
        process.stdin.write(b"key\n" * 100_000)
        process.stdin.flush()
        gathered(process, 400_000)
        process.send_signal(number)
        err = ended(process, number)
        check(process.returncode == 128 + number, process.returncode)
        check(b"after 100000 keys; nothing was published\n" in err and err.count(b"\n") == 1, err)
    is_as_before(b, free)


def test_while_it_reads_a_file(b):
    free = prepared(b)
    path = b.file("keys", "".join(f"key {i}\n" for i in range(2_000_000)))
    for number in SIGNALS:
        process = b.start("load", "x", path, path, path, "/dev/stdin")  # it does not end before
        lib.moved(process, 1_000_000, "rchar")
        process.send_signal(number)
        err = ended(process, number)
        check(process.returncode == 128 + number, process.returncode)
        check(err.endswith(b"nothing was published\n") and err.count(b"\n") == 1, err)
    is_as_before(b, free)


def one_set_or_the_other(b, free):
    """All of the new set, if the process has ended after it published, or all of the old one."""
    if b("has", "-q", "x", "key 1").status == 0:
        b("has", "-c", "x", stdin="before\nkey 0\nkey 299999\n").gives(0, "3\n")
        b("verify").gives(0, "")
        b("load", "x", stdin="before\n").gives(0)
    is_as_before(b, free)


def started(b, complete=True, name="x"):
    """A load of 300,000 keys, at its end, or still waiting for more."""
    process = b.start("load", name)
    process.stdin.write(b"before\n" + b"".join(b"key %d\n" % i for i in range(300_000)))
    if complete:
        process.stdin.close()
        process.stdin = None
    return process


def ended_before(process, number, out, err):
    check(process.returncode in (128 + number, -number), f"{process.returncode}: {err}")
    said = b"nothing was published\n" if process.returncode > 0 else b""
    check(out == b"" and err.endswith(said) and err.count(b"\n") == len(said[:1]), err)


def test_while_it_publishes(b):
    free = prepared(b)
    for turn in range(12):
        number = SIGNALS[turn % 2]
        process = started(b)
        time.sleep(random.random() / 10)
        process.send_signal(number)
        out, err = process.communicate(timeout=lib.SECONDS)
        if process.returncode == 0:  # it was faster
            check(b" keys in " in out and err == b"", err)
            one_set_or_the_other(b, free)
        else:
            ended_before(process, number, out, err)
            is_as_before(b, free)


def test_while_it_publishes_the_first_of_its_name(b):
    free = prepared(b)
    for turn in range(12):
        number = SIGNALS[turn % 2]
        process = started(b, name="new")
        time.sleep(random.random() / 10)
        process.send_signal(number)
        out, err = process.communicate(timeout=lib.SECONDS)
        if process.returncode == 0:
            b("has", "-c", "new", stdin="before\nkey 0\nkey 299999\n").gives(0, "3\n")
            b("drop", "new").gives(0, "")
        else:
            ended_before(process, number, out, err)
        is_as_before(b, free)


def test_a_kill(b):
    free = prepared(b)
    for turn in range(8):
        process = started(b, turn % 2 == 0)
        time.sleep(random.random() / 10)
        process.kill()
        process.communicate(timeout=lib.SECONDS)
        check(process.returncode in (0, -signal.SIGKILL), process.returncode)
        one_set_or_the_other(b, free)


def test_a_first_load_that_is_ended_leaves_an_empty_segment(b):
    process = b.start("load", "x")
    process.stdin.write(b"key\n" * 100_000)
    process.stdin.flush()
    gathered(process, 400_000)
    process.send_signal(signal.SIGTERM)
    ended(process, signal.SIGTERM)
    b("ls").gives(0, "")
    b("verify").gives(0, "")
    status = b("status", "--json").json()
    check(status["filter_bytes_free"] == status["filter_bytes"], status)


def test_a_signal_that_is_ignored_stays_ignored(b):
    """As in a shell's job in the background."""
    prepared(b)
    process = b.start("load", "x", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    process.stdin.write(b"key\n" * 100_000)
    process.stdin.flush()
    gathered(process, 400_000)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.communicate(timeout=lib.SECONDS)
    check(process.returncode == 0, process.returncode)
    b("has", "x", "key").gives(0, "key\n")


def test_other_verbs_at_any_moment(b):
    prepared(b)
    b("reserve", "y", "-n", "100000").gives(0)
    keys = b"".join(b"key %d\n" % i for i in range(200_000))
    for verb in (["add", "y"], ["has", "y"], ["copy", "x", "y"], ["clear", "y"], ["verify"]):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with open(b.file("keys", keys), "rb") as source:
                process = b.start(*verb, stdin=source)
            time.sleep(random.random() / 50)
            process.send_signal(number)
            process.communicate(timeout=lib.SECONDS)
            check(process.returncode in (0, 1, -number), process.returncode)
            b("verify").gives(0, "")
    os.remove(os.path.join(b.folder, "keys"))

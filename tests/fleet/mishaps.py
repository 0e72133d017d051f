#!/usr/bin/env python3
"""
mishaps.py - a publisher that is stopped with the lock, a follower that sleeps; wrong clocks.

    tests/fleet/mishaps.py BINARY [NAME...]

Licensed under the MIT licence; see LICENSE.
"""

import glob
import os
import re
import signal
import subprocess

from hosts import BINARY, NAME, PATIENCE_S, Skipped, check, denies, lag, main
from stream import Stream


def test_a_publisher_that_is_stopped_for_a_minute_with_the_lock(fleet):
    fleet.announce(0, 1000)
    fleet.load(5, 1005)
    trace = ["strace", "-f", "-qq", "-o", fleet.at("trace"), "-e", "trace=flock"]
    inject = ["-e", "inject=flock:signal=STOP:when=3"]  # for its last step
    stopped = fleet.start([*trace, *inject, BINARY, *fleet.publish_command()])
    fleet.wait_for("it is stopped", lambda: "SIGSTOP" in fleet.read("trace"))
    version = fleet.head()["version"]
    other = fleet.start(
        [BINARY, *fleet.publish_command("--epoch", "2")], stderr=subprocess.PIPE, text=True
    )
    said = other.communicate(timeout=2 * PATIENCE_S)[1]
    check(other.returncode == 3 and "has held the lock" in said, f"the other gives up: {said}")
    check(fleet.head()["version"] == version, "nothing was announced")
    os.kill(int(re.match(r"\d+", fleet.read("trace"))[0]), signal.SIGCONT)
    check(stopped.wait(PATIENCE_S) == 0, "it goes on")
    fleet.note_announced()
    check(fleet.head()["version"] != version, "and announces")
    fleet.announce(10, 1010, "--epoch", "2")
    fleet.follow("a", url=fleet.at("origin"))


def sent(stream, version):
    """Has the stream the row of this version?"""
    return f"row-{version}" in stream.command("xrange", "bloomshm:adds:" + NAME, "-", "+")


def test_a_follower_that_sleeps_while_the_stream_is_trimmed(fleet):
    stream = Stream(fleet)
    rows = [str(i) for i in range(1000)]
    fleet.announce(0, 1000, "--adds-after", stream.mark())
    follower = stream.follow("a")
    stream.follow("b")
    for host in "ab":
        fleet.wait_for("it is followed", lambda: denies(fleet, host))
    follower.send_signal(signal.SIGSTOP)
    for version in range(2, 9):  # more than are kept
        rows.append(f"row-{version}")
        stream.add("b", rows[-1])
        fleet.wait_for("it is sent", lambda: sent(stream, version))
        mark = stream.mark()
        like = ["--like"] if version != 5 else []  # and once with a new seed
        text = "".join(f"{row}\n" for row in rows)
        fleet.must(["load", NAME, *like, "--quiet"], text=text)
        fleet.publish("--adds-after", mark, "--stream", stream.url)
    stream.add("b", "the-last")
    first = stream.command("xrange", "bloomshm:adds:" + NAME, "-", "+", "count", "1")
    check("row-2" not in first, "what it has not read is gone")
    follower.send_signal(signal.SIGCONT)
    stream.arrives("a", *rows, "the-last")


def serve_at(fleet, clock):
    """A follower by another clock; that of the questions is right."""
    library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    if not library:
        raise Skipped("no faketime")
    command = fleet.follow_command("a", "--every", "1", "--max-lag", "60")
    log = open(fleet.at("a.log"), "a")
    clock = [f"FAKETIME={clock}", "DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1"]
    prefix = ["env", "LD_PRELOAD=" + library[0], *clock]
    return fleet.start([*prefix, BINARY, *command], "a.seg", stdout=log, stderr=log)


def test_followers_whose_clock_is_an_hour_off(fleet):
    fleet.announce(0, 1000, "--valid", "7200")
    fleet.start_nginx()
    for keys, clock in enumerate(("+1h", "-1h", "+0s"), 1):
        follower = serve_at(fleet, clock)
        fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
        fleet.announce(keys, 1000 + keys, "--valid", "7200")
        fleet.wait_for("the next version", lambda: fleet.is_newest("a"))
        check(lag(fleet, "a") < PATIENCE_S, f"a clock {clock}: it lags {lag(fleet, 'a')} s")
        follower.terminate(), follower.wait()


def test_a_follower_that_begins_by_a_clock_that_was_set_anew(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.follow("a")
    for clock in ("+1h", "-1h"):
        fleet.stop_nginx()
        os.unlink(fleet.at("a.seg"))  # it has restarted
        follower = serve_at(fleet, clock)
        fleet.wait_for("what it kept is there", lambda: fleet.has("a", "1") == ["1"])
        check(not denies(fleet, "a"), f"a clock {clock}: it does not know how old that is")
        fleet.start_nginx()
        fleet.wait_for("it is certain again", lambda: denies(fleet, "a"))
        follower.terminate(), follower.wait()


main(globals())

#!/usr/bin/env python3
"""
slow.py - followers to which a blob comes slowly: adds and other filters go on meanwhile.

    tests/fleet/slow.py BINARY [NAME...]     all tests, or those whose names contain a NAME

Licensed under the MIT licence; see LICENSE.
"""

import os
import signal
import subprocess
import threading

from hosts import ABSENT, BINARY, NAME, PATIENCE_S, check, denies, main
from origin import Origin
from stream import Stream


class Slow(Origin):
    """An origin that gives half of a blob, and the rest when it may."""

    def __init__(self, fleet):
        super().__init__(fleet)
        self.fleet = fleet
        self.begun = threading.Event()
        self.may_end = threading.Event()

    def hold(self):
        """From now on."""
        self.hostile = {"/blobs/": self.answer}

    def answer(self, handler):
        with open(self.fleet.blob(os.path.basename(handler.path)), "rb") as file:
            bytes = file.read()
        half = len(bytes) // 2
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(bytes)}\r\n\r\n".encode()
        try:
            handler.wfile.write(head + bytes[:half])
            handler.wfile.flush()
            self.begun.set()
            self.may_end.wait()
            handler.wfile.write(bytes[half:])
        except OSError:
            pass  # the follower has ended

    def wait(self):
        check(self.begun.wait(PATIENCE_S), "in vain: a blob comes")


def announce_other(fleet, first):
    fleet.load(first, first + 1000, filter_name="other")
    fleet.must(fleet.publish_command(filter_name="other"))


def has_other(fleet, *keys):
    return fleet.run(["has", "other", *keys], "a.seg").stdout.split()


def denies_other(fleet):
    maybes = has_other(fleet, *ABSENT, "500")
    return "500" in maybes and len(maybes) <= 3


def slowly(fleet, *options, more=(), hosts="ab"):
    """Followers that have version 1; half of version 2 has come to a."""
    stream = Stream(fleet)
    origin = Slow(fleet)
    told = ["--stream", stream.url]
    fleet.announce(0, 1000, "--adds-after", stream.mark())
    for host in hosts:
        url = origin.url if host == "a" else fleet.at("origin")
        fleet.serve(host, *more, *told, *options, url=url)
    for host in hosts:
        fleet.wait_for("it is followed", lambda: denies(fleet, host))
    if more:
        fleet.wait_for("the other, too", lambda: denies_other(fleet))
    origin.hold()
    fleet.announce(10, 1010, *told)
    origin.wait()
    return stream, origin


def ends(fleet, origin):
    """The blob comes to its end, and the version is published."""
    origin.may_end.set()
    fleet.wait_for("version 2", lambda: "published version 2" in fleet.log("a"))
    check(fleet.has("a", "1009") == ["1009"], "it is that")


def test_adds_travel_while_a_blob_comes(fleet):
    stream, origin = slowly(fleet)
    stream.add("a", "from-a")
    stream.arrives("b", "from-a")
    stream.add("b", "from-b")
    stream.arrives("a", "from-a", "from-b")
    check(fleet.has("a", "1009") == [], "the blob has not come")
    ends(fleet, origin)
    stream.arrives("a", "from-a", "from-b")


def test_adds_travel_while_the_one_look_waits(fleet):
    stream, origin = Stream(fleet), Slow(fleet)
    fleet.announce(0, 1000)
    told = ["--stream", stream.url]
    stream.follow("b")
    fleet.follow("a", *told, url=origin.url)
    fleet.wait_for("it is followed", lambda: denies(fleet, "b"))
    origin.hold()
    fleet.announce(10, 1010)
    command = fleet.follow_command("a", "--once", *told, url=origin.url)
    once = fleet.start([BINARY, *command], "a.seg", stdout=subprocess.DEVNULL)
    origin.wait()
    stream.add("a", "from-a")
    stream.arrives("b", "from-a")
    origin.may_end.set()
    check(once.wait(PATIENCE_S) == 0, "all is well")
    check(fleet.has("a", "1009", "from-a") == ["1009", "from-a"], "it has both")


def test_another_filter_stays_fresh_while_a_blob_comes(fleet):
    announce_other(fleet, 0)
    stream, origin = slowly(fleet, "--max-lag", "3", more=["other"], hosts="a")
    fleet.wait_for("one is stale", lambda: not denies(fleet, "a"))
    fleet.wait_for("the other is not", lambda: denies_other(fleet))
    fleet.must(["add", "other", "new"], "a.seg")
    entries = ["xlen", "bloomshm:adds:other"]
    fleet.wait_for("its adds are sent", lambda: stream.command(*entries) == "1")
    announce_other(fleet, 10)
    fleet.wait_for("it has a new head, too", lambda: not denies_other(fleet))
    check(has_other(fleet, "9") == ["9"], "which waits")
    ends(fleet, origin)
    fleet.wait_for("both are fresh", lambda: denies(fleet, "a") and denies_other(fleet))
    check(has_other(fleet, "9", "1009", "new") == ["1009", "new"], "and the newest")


def test_a_head_that_is_signed_again_is_taken_while_a_blob_comes(fleet):
    announce_other(fleet, 0)
    stream, origin = slowly(fleet, "--max-lag", "3", more=["other"], hosts="a")
    fleet.must(fleet.publish_command("--valid", "600", filter_name="other"))
    fleet.wait_for("it is kept", lambda: "valid-until 0" not in fleet.read("a", "other", "head"))
    fleet.wait_for("one is stale", lambda: not denies(fleet, "a"))
    fleet.wait_for("the other is not", lambda: denies_other(fleet))
    ends(fleet, origin)


def test_a_blob_comes_while_the_stream_is_stalled(fleet):
    """Of 24 MB: a hundred parts between which the stream's server is waited for in vain."""
    stream = Stream(fleet)
    origin = Origin(fleet)
    fleet.announce(0, 1000, "--adds-after", stream.mark())
    fleet.serve("a", "--stream", stream.url, url=origin.url)
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    stream.redis.send_signal(signal.SIGSTOP)
    fleet.must(["drop", NAME])
    fleet.must(["reserve", NAME, "--capacity", "20000000"])
    fleet.must(["add", NAME, "500", "1009"])
    fleet.must(fleet.publish_command("--max-change", "100"))
    fleet.wait_for("it has come", lambda: "version 2 by its image" in fleet.log("a"))
    stream.redis.send_signal(signal.SIGCONT)
    fleet.wait_for("version 2", lambda: fleet.has("a", "1009") == ["1009"])


def test_a_gap_that_is_found_while_a_blob_comes(fleet):
    stream, origin = slowly(fleet, hosts="a")
    entries = ["xlen", "bloomshm:adds:" + NAME]
    stream.stop()
    stream.start()  # with no data
    fleet.wait_for("all is maybe", lambda: not denies(fleet, "a"))
    fleet.must(["add", NAME, "one"], "a.seg")
    fleet.wait_for("its own is sent", lambda: stream.command(*entries) == "2")
    check("version 2" not in fleet.log("a"), "nothing is published")
    ends(fleet, origin)
    check(not denies(fleet, "a"), "its mark is from before")
    fleet.announce(20, 1020, "--adds-after", stream.mark())
    fleet.wait_for("it is certain again", lambda: denies(fleet, "a"))


def test_a_segment_that_is_removed_while_a_blob_comes(fleet):
    announce_other(fleet, 0)
    stream, origin = slowly(fleet, more=["other"], hosts="a")
    os.unlink(fleet.at("a.seg"))
    looks = len(origin.asked)
    fleet.wait_for("others are looked at", lambda: len(origin.asked) > looks + 2)
    ends(fleet, origin)
    fleet.wait_for("the other comes back", lambda: denies_other(fleet))
    stream.add("a", "one")
    fleet.wait_for("it is sent", lambda: stream.command("xlen", "bloomshm:adds:" + NAME) != "1")


def test_a_signal_ends_it_while_a_blob_comes(fleet):
    stream, origin = slowly(fleet, hosts="a")
    stream.redis.send_signal(signal.SIGSTOP)
    fleet.children[-1].terminate()
    check(fleet.children[-1].wait(PATIENCE_S) == 0, "it ends as it is told")
    stream.redis.send_signal(signal.SIGCONT)
    check(denies(fleet, "a"), "what stood stands")
    parts = [name for name in os.listdir(fleet.at("a", "blobs")) if name.startswith(".")]
    check(parts == [], f"no part is left: {parts}")


main(globals())

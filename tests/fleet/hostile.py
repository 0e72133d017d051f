#!/usr/bin/env python3
"""
hostile.py - what a follower counts, and origins and streams that say anything.

A follower that is told nonsense goes on, keeps what stands, and counts it.

    tests/fleet/hostile.py BINARY [NAME...]     all tests, or those whose names contain a NAME

Licensed under the MIT licence; see LICENSE.
"""

import http.server
import os
import re
import shutil
import signal
import subprocess
import threading

from hosts import NAME, Skipped, check, lag, main

METRICS = "a.prom"


def counts(fleet):
    """The metrics of a: {name, or name and kind of failure: value}."""
    found = re.findall(
        rf'^bloomshm_follow_(\w+?)(?:_total)?{{filter="{NAME}"(?:,kind="(\w+)")?}} (\d+)$',
        fleet.read(METRICS),
        re.M,
    )
    return {kind or name: int(value) for name, kind, value in found}


def look(fleet, *options, url=None):
    return fleet.look("a", "--metrics", fleet.at(METRICS), *options, url=url)


def counted(fleet, kind, words="", *options, url=None):
    """One look fails, is counted once as of this kind alone, and what stood stands."""
    before = fleet.image_of("a")
    fleet.refused(look(fleet, *options, url=url), words)
    kinds = "network signature replay expired hash stream gap local".split()
    failures = {name: counts(fleet)[name] for name in kinds}
    check(failures == {name: int(name == kind) for name in kinds}, f"{words}: {failures}")
    check(fleet.image_of("a") == before, f"what stood stands after: {words}")


# ------------------------------------------------------------------ what is counted


def test_all_that_a_follower_does_is_counted(fleet):
    fleet.announce(0, 20000)
    origin = fleet.at("origin")
    fleet.serve("a", "--metrics", fleet.at(METRICS), url=origin)
    fleet.wait_for("it is counted", lambda: counts(fleet).get("version") == 1)
    first = counts(fleet)
    check(first["images"] == 1 and first["versions"] == 1 and first["deltas"] == 0, first)
    image = int(fleet.head()["image"][0][1])
    check(image < first["fetched_bytes"] < 2 * image, f"{first} of {image}")
    check(os.stat(fleet.at(METRICS)).st_mode & 0o777 == 0o644, "the exporter may read it")
    fleet.announce(100, 20100)
    fleet.wait_for("the next one", lambda: counts(fleet)["version"] == 2)
    then = counts(fleet)
    check(then["deltas"] == 1 and then["versions"] == 2 and then["images"] == 1, then)
    check(then["announced_version"] == 2, then)
    check(then["success_timestamp_seconds"] >= first["success_timestamp_seconds"] > 0, then)
    if shutil.which("promtool"):
        command = ["promtool", "check", "metrics"]
        done = subprocess.run(command, input=fleet.read(METRICS), capture_output=True, text=True)
        check(done.returncode == 0 and done.stdout + done.stderr == "", done.stdout + done.stderr)


def test_figures_of_the_dead_do_not_look_alive(fleet):
    fleet.announce(0, 1000)
    follower = fleet.serve("a", "--metrics", fleet.at(METRICS), url=fleet.at("origin"))
    fleet.wait_for("it is counted", lambda: counts(fleet).get("version") == 1)
    follower.terminate(), follower.wait()
    check(not os.path.exists(fleet.at(METRICS)), "a follower that ends removes its file")
    follower = fleet.serve("a", "--metrics", fleet.at(METRICS), url=fleet.at("origin"))
    fleet.wait_for("it looks", lambda: counts(fleet).get("looked_timestamp_seconds", 0) > 0)
    last = counts(fleet)["looked_timestamp_seconds"]
    fleet.wait_for("it looks again", lambda: counts(fleet)["looked_timestamp_seconds"] > last)
    follower.kill(), follower.wait()
    last = counts(fleet)["looked_timestamp_seconds"]
    fleet.look("b", url=fleet.at("origin"))
    check(counts(fleet)["looked_timestamp_seconds"] == last, "the time stands still")


def test_a_file_that_cannot_be_written(fleet):
    fleet.announce(0, 1000)
    origin = fleet.at("origin")
    done = fleet.look("a", "--metrics", fleet.at("none", METRICS), url=origin)
    fleet.refused(done, "cannot write the metrics to ")
    check(fleet.image_of("a") is None, "it has not begun")
    os.mkdir(fleet.at("there"))
    fleet.serve("a", "--metrics", fleet.at("there", METRICS), url=origin)
    fleet.wait_for("it is followed", lambda: fleet.image_of("a") is not None)
    fleet.wait_for("it is counted", lambda: os.path.exists(fleet.at("there", METRICS)))
    os.rename(fleet.at("there"), fleet.at("gone"))
    fleet.wait_for("it says so", lambda: "cannot write the metrics" in fleet.log("a"))
    fleet.announce(10, 1010)
    fleet.wait_for("it goes on", lambda: fleet.is_newest("a"))
    check(fleet.log("a").count("cannot write the metrics") == 1, "it says so once")


def test_each_failure_has_a_kind(fleet):
    origin = fleet.at("origin")
    fleet.announce(0, 1000)
    head = fleet.at("origin", NAME, "head")
    first = open(head, "rb").read()
    counted(fleet, "network", "cannot fetch", url="http://127.0.0.1:1")
    fleet.follow("a", url=origin)
    fleet.announce(5, 1005)
    second = open(head, "rb").read()
    with open(head, "wb") as file:
        file.write(second.replace(b"version 2", b"version 3"))
    counted(fleet, "signature", "signature", url=origin)
    with open(head, "wb") as file:
        file.write(second)
    fleet.follow("a", url=origin)
    with open(head, "wb") as file:
        file.write(first)
    counted(fleet, "replay", "version is 1", url=origin)
    with open(head, "wb") as file:
        file.write(second)
    fleet.announce(10, 1010)
    delta = fleet.blob(fleet.head()["delta"][0][0])
    os.rename(delta, fleet.at("delta"))
    image = fleet.blob(fleet.head()["image"][0][0])
    os.rename(image, fleet.at("image"))
    fleet.refused(look(fleet, url=origin), "cannot fetch")
    check(counts(fleet)["network"] == 2, "a delta, and the image")
    with open(image, "wb") as file:
        file.write(os.urandom(os.path.getsize(fleet.at("image"))))
    fleet.refused(look(fleet, url=origin), "has other bytes")
    check((counts(fleet)["network"], counts(fleet)["hash"]) == (1, 1), counts(fleet))
    os.rename(fleet.at("image"), image), os.rename(fleet.at("delta"), delta)
    stream = ["--stream", "unix://" + fleet.at("none")]
    counted(fleet, "stream", "cannot reach", *stream, url=origin)
    check(counts(fleet)["announced_version"] == 3 and counts(fleet)["version"] == 0, "it is behind")
    check(counts(fleet)["success_timestamp_seconds"] == 0, "nothing went well")


main(globals())

#!/usr/bin/env python3
"""
network.py - followers behind a network that delays and loses packets, and is cut.

    tests/fleet/network.py BINARY [NAME...]

The followers are in a network namespace; link.py is the only way from there to the origin and to
the stream.

Licensed under the MIT licence; see LICENSE.
"""

import glob
import os
import subprocess
import sys

from crowd import Crowd, adds
from hosts import BINARY, Skipped, check, denies, free_port, main
from stream import Stream

KEYS = 100000
DELAY_MS = 50
FOLLOWERS = 10
LOSSES = (0.01, 0.02, 0.05)


class Network:
    """A fleet whose followers are far away."""

    def __init__(self, fleet):
        namespace = f"bshm{os.getpid()}"
        subnet = f"198.19.{os.getpid() % 250}"  # for tests: RFC 2544
        self.fleet = fleet
        self.address = f"{subnet}.1"
        self.prefix = ["ip", "netns", "exec", namespace]
        self.link = fleet.start(
            [sys.executable, "tests/fleet/link.py", namespace, self.address, f"{subnet}.2"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def begin(self):
        if self.link.stdout.readline() != "ready\n":
            raise Skipped("namespaces or devices of packets are not allowed here")
        http, redis = free_port(), free_port()
        self.fleet.start_nginx(more=f"server {{ listen {self.address}:{http}; }}")
        bind = ["--bind", self.address, "--port", str(redis), "--protected-mode", "no"]
        self.stream = Stream(self.fleet, *bind)
        self.url = f"http://{self.address}:{http}"
        self.far = ["--stream", f"redis://{self.address}:{redis}/"]

    def becomes(self, loss, delay_ms=DELAY_MS):
        self.link.stdin.write(f"{loss} {delay_ms}\n")
        self.link.stdin.flush()

    def crowd(self, count, *options):
        return Crowd(
            self.fleet, count, "4M", *self.far, *options, url=self.url, prefix=self.prefix
        )

    def end(self):
        for child in self.fleet.children:
            if child is not self.link and child is not self.fleet.nginx:
                child.kill()
                child.wait()
        self.link.stdin.close()
        self.link.wait()


def over_a_network(test):
    """A test of a network, which ends with it."""

    def run(fleet):
        network = Network(fleet)
        try:
            network.begin()
            test(fleet, network)
        finally:
            network.end()

    return run


@over_a_network
def test_loss_and_delay(fleet, network):
    fleet.announce(0, KEYS, "--adds-after", network.stream.mark())
    crowd = network.crowd(FOLLOWERS)
    for version, loss in enumerate(LOSSES, 2):
        print(f"# {loss:.0%} of the packets are lost, each takes {DELAY_MS} ms")
        network.becomes(loss)
        fleet.load(version * 1000, KEYS + version * 1000)
        crowd.take_version(version, "--adds-after", network.stream.mark())
        crowd.check_all()
    for loss in LOSSES:
        print(f"# {loss:.0%} of the packets are lost")
        network.becomes(loss)
        adds(crowd, 100, network.stream)


@over_a_network
def test_a_network_that_is_cut(fleet, network):
    fleet.announce(0, KEYS, "--adds-after", network.stream.mark())
    network.becomes(0)
    crowd = network.crowd(2, "--max-lag", "3")
    hosts = ["h0", "h1"]
    for host in hosts:
        fleet.wait_for("it is followed", lambda: denies(fleet, host))
    network.becomes(1)
    for host in hosts:
        fleet.wait_for("it is stale", lambda: not denies(fleet, host))
    network.stream.add("h0", "added-while-cut")
    fleet.announce(1000, KEYS + 1000)
    check(fleet.has("h0", "added-while-cut") != [], "it is on its own host")
    network.becomes(0)
    crowd.wait_for_version(2)

    def is_second(host):  # a stale one says maybe to all, and some keys are false positives
        there = fleet.has(host, KEYS + 999, *range(20))
        return str(KEYS + 999) in there and len(there) < 10

    for host in hosts:
        network.stream.arrives(host, "added-while-cut")
        fleet.wait_for("version 2", lambda: is_second(host))


@over_a_network
def test_a_transfer_that_stops_is_begun_again(fleet, network):
    fleet.announce(0, 10 * KEYS)
    network.becomes(0)
    command = fleet.follow_command("h0", "--every", "1", url=network.url)
    with open(fleet.at("h0.log"), "w") as log:
        fleet.start([*network.prefix, BINARY, *command], "h0.seg", stdout=log, stderr=log)

    def has_begun():
        sizes = [os.path.getsize(path) for path in glob.glob(fleet.at("h0", "blobs", ".part*"))]
        return sizes != [] and sizes[0] > 0

    fleet.wait_for("the image is under way", has_begun)
    network.becomes(1)
    fleet.wait_for("it gives up", lambda: "too slow" in fleet.log("h0"))
    network.becomes(0)
    fleet.wait_for("it is followed", lambda: fleet.is_newest("h0"))


main(globals())

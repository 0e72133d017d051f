#!/usr/bin/env python3
"""
kills.py - publishers, followers and pages that die at random moments, beside a model.

    tests/fleet/kills.py BINARY

The model is the database. A page writes a key there, and then adds it on its host. A batch marks
its place in the stream, reads all rows, loads, and publishes. Whenever a follower has died, its
filter is asked which version it has. It must have all bits of that version's image, and of each key
whose add was acknowledged on this host; and no bit that is neither the image's nor that of a key
which some page has added. Rows that batches replace tell one version from another. In the end each
host must have each key.

BLOOMSHM_FLEET_KILLS    how many processes are killed (default 1000)
BLOOMSHM_FLEET_SEED     of what is drawn

Licensed under the MIT licence; see LICENSE.
"""

import json
import os
import random
import struct
import threading
import time

from hosts import BINARY, NAME, PATIENCE_S, Failed, check, main
from stream import Stream

KILLS = int(os.environ.get("BLOOMSHM_FLEET_KILLS", 1000))
SEED = int(os.environ.get("BLOOMSHM_FLEET_SEED", time.time_ns() % 1000000))
HOSTS = "abc"
ROWS = 20000  # of no page
REPLACED = 200  # of them by each batch
CAPACITY = 32000
KEYS = 10  # that pages add between two deaths of followers, at most


def bits_of(path):
    with open(path, "rb") as file:
        data = file.read()
    layers = struct.unpack_from("<I", data, 92)[0]
    check(layers == 1, f"{path} has {layers} layers")
    return int.from_bytes(data[256:-16], "little")


class Model:
    def __init__(self, fleet):
        self.fleet = fleet
        self.stream = Stream(fleet)
        self.random = random.Random(SEED)
        self.keys = []  # of pages, in the order of the database
        self.acknowledged = {host: [] for host in HOSTS}
        self.images = {}  # by version: hash, bits
        self.newest = {host: 0 for host in HOSTS}  # version that was seen
        self.batches = 0
        self.kills = {"publisher": 0, "follower": 0, "page": 0}
        self.seconds = {"load": 0.1, "publish": 0.1, "page": 0.01, "follower": 0.5}  # they take
        self.ended = threading.Event()
        self.failure = None
        os.mkdir(fleet.at("images"))

    # -------------------------------------------------------------- processes that are killed

    def end_at_random(self, what, kind, child, draw):
        """Kills the child at a moment of the time that it takes. Was it killed?"""
        time.sleep(draw.random() * self.seconds[kind] * 1.1)
        child.kill()
        if child.wait() == 0:
            return False
        self.kills[what] += 1
        return True

    def run(self, what, kind, arguments, segment, draw, text=None):
        """Runs the command, or kills it in one of four times. Has it ended by itself?"""
        begin = time.monotonic()
        with open(self.fleet.at(what + ".in"), "w") as file:
            file.write(text or "")
        with open(self.fleet.at(what + ".in")) as file, open(self.fleet.at(what), "a") as log:
            child = self.fleet.start(
                [BINARY, *arguments], segment, stdin=file, stdout=log, stderr=log
            )
        if draw.random() < 1 / 4:
            return not self.end_at_random(what, kind, child, draw)
        if child.wait(PATIENCE_S) != 0:
            raise Failed(f"{arguments}: {self.fleet.read(what)[-500:]}")
        self.seconds[kind] += (time.monotonic() - begin - self.seconds[kind]) / 8
        return True

    # -------------------------------------------------------------- the publisher

    def note_announced(self):
        head = self.fleet.head()
        version, image = int(head["version"][0][0]), head["image"][0][0]
        if version not in self.images:
            os.link(self.fleet.blob(image), self.fleet.at("images", str(version)))
            self.images[version] = image, bits_of(self.fleet.blob(image))
        check(self.images[version][0] == image, f"version {version} was announced twice")

    def batch(self, draw):
        mark = self.stream.mark()
        self.batches += 1
        first = self.batches * REPLACED
        rows = self.keys[:] + [f"row-{i}" for i in range(first, first + ROWS)]
        text = "".join(f"{row}\n" for row in rows)
        load = ["load", NAME, "--like", "--quiet", "--capacity", str(CAPACITY)]
        publish = ["--stream", self.stream.url, "--adds-after", mark, "--max-change", "100"]
        if self.run("publisher", "load", load, "publisher.seg", draw, text):
            command = self.fleet.publish_command(*publish)
            self.run("publisher", "publish", command, "publisher.seg", draw)
            if self.images or os.path.exists(self.fleet.at("origin", NAME, "head")):
                self.note_announced()

    # -------------------------------------------------------------- pages

    def add(self, draw):
        host = draw.choice(HOSTS)
        keys = [f"page-{len(self.keys) + i}" for i in range(draw.randint(1, 3))]
        self.keys += keys
        if self.run("page", "page", ["add", NAME, *keys], f"{host}.seg", draw):
            self.acknowledged[host] += keys

    def goes_on(self, step, is_due, seed):
        """Steps in a thread, as fast as followers die, until all has ended."""

        def steps():
            draw = random.Random(seed)
            try:
                while not self.ended.is_set():
                    if is_due(self.kills["follower"] + 1):
                        step(draw)
                    else:
                        time.sleep(0.01)
            except Exception as failure:  # told by the main thread
                self.failure = failure

        thread = threading.Thread(target=steps)
        thread.start()
        return thread

    # -------------------------------------------------------------- what a host has

    def version_of(self, host):
        info = json.loads(self.fleet.must(["info", NAME, "--json"], f"{host}.seg").stdout)
        return info["version"]

    def dump(self, segment, name):
        path = self.fleet.at(name + ".dump")
        self.fleet.must(["dump", NAME, path], segment)
        return bits_of(path)

    def filter_of(self, host):
        """The version and the bits of a host whose follower is dead."""
        version = self.version_of(host)
        bits = self.dump(f"{host}.seg", host)
        check(version == self.version_of(host), "no one publishes")
        return version, bits

    def all_bits(self, version):
        """Of an image, and of all keys that pages have ever added."""
        self.fleet.must(["restore", NAME, self.fleet.at("images", str(version))], "model.seg")
        self.fleet.must(["add", NAME], "model.seg", text="".join(f"{k}\n" for k in self.keys))
        return self.dump("model.seg", "model")

    def missing(self, host, keys):
        has = ["has", NAME]
        found = self.fleet.run(has, f"{host}.seg", text="".join(f"{k}\n" for k in keys)).stdout
        return sorted(set(keys) - set(found.split()))

    def check_host(self, host):
        acknowledged = self.acknowledged[host][:]
        version, bits = self.filter_of(host)
        self.fleet.wait_for("the version is known", lambda: version in self.images or self.failure)
        image = self.images[version][1]
        check(version >= self.newest[host], f"{host} went back to version {version}")
        self.newest[host] = version
        check(image & ~bits == 0, f"{host} lacks bits of version {version}")
        check(bits & ~self.all_bits(version) == 0, f"{host} has bits of another than {version}")
        missing = self.missing(host, acknowledged)
        check(missing == [], f"{host} lacks {missing}, version {version}")

    # -------------------------------------------------------------- followers

    def kill_a_follower(self, followers):
        host = self.random.choice(HOSTS)
        self.end_at_random("follower", "follower", followers[host], self.random)
        self.check_host(host)
        followers[host] = self.stream.follow(host)

    def begin(self):
        draw = random.Random(SEED + 1)
        while not self.images:
            self.batch(draw)
        followers = {host: self.stream.follow(host) for host in HOSTS}
        for host in HOSTS:
            self.fleet.wait_for("it is followed", lambda: self.fleet.image_of(host) is not None)
        return followers

    def has_all(self, host, keys):
        return self.missing(host, keys) == []

    def end(self):
        """All is quiet: each acknowledged key is on each host; and each row, after one batch."""
        acknowledged = sum(self.acknowledged.values(), [])
        for host in HOSTS:
            self.fleet.wait_for(
                f"all acknowledged keys on {host}", lambda: self.has_all(host, acknowledged)
            )
        version = max(self.images)
        while max(self.images) == version:
            self.batch(self.random)
        for host in HOSTS:
            newest = lambda: self.version_of(host) == max(self.images)
            self.fleet.wait_for(f"the newest version on {host}", newest)
            self.fleet.wait_for(f"all keys on {host}", lambda: self.has_all(host, self.keys))
            check(self.fleet.has(host, "no such", "nor this") == [], "and no others")


def test_deaths_at_random_moments(fleet):
    print(f"# BLOOMSHM_FLEET_SEED={SEED}")
    model = Model(fleet)
    followers = model.begin()
    threads = [
        model.goes_on(model.batch, lambda deaths: model.batches < deaths, SEED + 2),
        model.goes_on(model.add, lambda deaths: len(model.keys) < KEYS * deaths, SEED + 3),
    ]
    try:
        while sum(model.kills.values()) < KILLS and model.failure is None:
            model.kill_a_follower(followers)
    finally:
        model.ended.set()
        for thread in threads:
            thread.join()
    if model.failure is not None:
        raise model.failure
    model.end()
    print(
        f"# killed: {model.kills}; versions: {max(model.images)}; keys of pages: "
        f"{len(model.keys)}, {sum(map(len, model.acknowledged.values()))} of them acknowledged"
    )
    said = [line.split(": ", 2)[-1] for host in HOSTS for line in fleet.log(host).splitlines()]
    for text in sorted({line for line in said if "published" not in line and " by " not in line}):
        print(f"# {said.count(text)} times: {text}")


main(globals())

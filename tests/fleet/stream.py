"""
stream.py - a Redis or Valkey between the hosts of a fleet: BLOOMSHM_STREAM_SERVER, or redis-server.

Licensed under the MIT licence; see LICENSE.
"""

import json
import os
import re
import socketserver
import subprocess
import threading

from hosts import NAME

SERVER = os.environ.get("BLOOMSHM_STREAM_SERVER", "redis-server")


class Stream:
    """A server of streams, and what hosts do with it."""

    def __init__(self, fleet, *options):
        self.fleet = fleet
        self.options = ["--save", "", *options]  # of the server
        self.url = "unix://" + fleet.at("redis")
        self.start()

    def start(self):
        place = ["--port", "0", "--unixsocket", self.fleet.at("redis"), "--dir", self.fleet.folder]
        self.redis = self.fleet.start([SERVER, *place, *self.options], stdout=subprocess.DEVNULL)
        self.fleet.wait_for("redis answers", lambda: self.command("ping") == "PONG")

    def command(self, *words):
        command = ["redis-cli", "-s", self.fleet.at("redis"), *words]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    def calls(self, command):
        """How often it was asked."""
        found = re.search(f"cmdstat_{command}:calls=([0-9]+)", self.command("info", "commandstats"))
        return int(found[1]) if found else 0

    def stop(self):
        self.redis.kill()
        self.redis.wait()

    def follow(self, host, *options):
        return self.fleet.serve(host, "--stream", self.url, *options, url=self.fleet.at("origin"))

    def mark(self):
        return self.fleet.must(["publish", NAME, "--mark", "--stream", self.url]).stdout[:-1]

    def blocked(self):
        """How many connections wait for entries, or for the end of a pause."""
        known = re.search(r"^blocked_clients:(\d+)", self.command("info", "clients"), re.M)
        return known and int(known[1])

    def entries(self):
        """Each is its id, and its fields."""
        known = self.command("--json", "xrange", "bloomshm:adds:" + NAME, "-", "+")
        return json.loads(known)

    def keys(self):
        """That are in the stream."""
        fields = [fields for _, fields in self.entries()]
        return [value for f in fields for name, value in zip(f[::2], f[1::2]) if name == "k"]

    def add(self, host, *keys):
        self.fleet.must(["add", NAME, *keys], f"{host}.seg")

    def arrives(self, host, *keys):
        self.fleet.wait_for(
            f"{keys} on {host}", lambda: self.fleet.has(host, *keys, "no such") == list(keys)
        )


class Mimic(socketserver.ThreadingUnixStreamServer):
    """
    Answers as a server of one stream does, and `before(word)` sees each command before. To those
    who wait for entries it says nothing (`waits`), or that they cannot.
    """

    daemon_threads = True

    def __init__(self, fleet, before, waits=False):
        self.entries = []
        self.before = before
        self.waits = waits
        place = fleet.at("waits" if waits else "mimic")
        self.url = "unix://" + place
        super().__init__(place, Connection)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """Of a follower that was killed."""

    def add(self, *fields):
        """Names and values in turn."""
        self.entries.append((f"{len(self.entries) + 1}-0", *fields))
        return bulk(self.entries[-1][0])

    def info(self):
        count = len(self.entries)
        last = self.entries[-1][0] if count else "0-0"
        words = [bulk("last-generated-id"), bulk(last), bulk("length"), f":{count}\r\n".encode()]
        return array(words + [bulk("entries-added"), words[-1]])

    def range(self, first):
        known = [e for e in self.entries if float(e[0][:-2]) >= float(first.split("-")[0])]
        return array([array([bulk(e[0]), array(map(bulk, e[1:]))]) for e in known])


def bulk(text):
    return f"${len(text)}\r\n{text}\r\n".encode()


def array(items):
    items = list(items)
    return f"*{len(items)}\r\n".encode() + b"".join(items)


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        first = None  # of what is read
        queued = False
        while line := self.rfile.readline():
            words = []
            for _ in range(int(line[1:])):
                length = int(self.rfile.readline()[1:])
                words.append(self.rfile.read(length + 2)[:-2].decode())
            first = words[2] if words[0] == "XRANGE" else first
            queued = words[0] == "MULTI" or (queued and words[0] != "EXEC")
            if not self.server.before(words[0]):
                return
            self.wfile.write(self.answer(words, first, queued))

    def answer(self, words, first, queued):
        if words[0] == "XADD":
            return self.server.add(*words[3:])
        if words[0] == "XRANGE" and not queued:
            return self.server.range(first)
        if words[0] == "EXEC":
            return array([self.server.info(), self.server.range(first)])
        return b"" if words[0] == "XREAD" and self.server.waits else b"+OK\r\n"

"""
stream.py - a Redis or Valkey between the hosts of a fleet: BLOOMSHM_STREAM_SERVER, or redis-server.

Licensed under the MIT licence; see LICENSE.
"""

import os
import subprocess

from hosts import NAME

SERVER = os.environ.get("BLOOMSHM_STREAM_SERVER", "redis-server")


class Stream:
    """A server of streams, and what hosts do with it."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.url = "unix://" + fleet.at("redis")
        self.start()

    def start(self):
        socket_path = ["--port", "0", "--unixsocket", self.fleet.at("redis"), "--save", ""]
        self.redis = self.fleet.start([SERVER, *socket_path], stdout=subprocess.DEVNULL)
        self.fleet.wait_for("redis answers", lambda: self.command("ping") == "PONG")

    def command(self, *words):
        command = ["redis-cli", "-s", self.fleet.at("redis"), *words]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    def stop(self):
        self.redis.kill()
        self.redis.wait()

    def follow(self, host, *options):
        return self.fleet.serve(host, "--stream", self.url, *options, url=self.fleet.at("origin"))

    def mark(self):
        return self.fleet.must(["publish", NAME, "--mark", "--stream", self.url]).stdout[:-1]

    def add(self, host, *keys):
        self.fleet.must(["add", NAME, *keys], f"{host}.seg")

    def arrives(self, host, *keys):
        self.fleet.wait_for(
            f"{keys} on {host}", lambda: self.fleet.has(host, *keys, "no such") == list(keys)
        )

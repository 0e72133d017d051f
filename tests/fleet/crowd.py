"""
crowd.py - many followers on one machine, and what they take.

Licensed under the MIT licence; see LICENSE.
"""

import os
import subprocess
import threading
import time

from hosts import BINARY, NAME, check

PATIENCE_S = 600


def processor_s(child):
    """That its first thread has used."""
    with open(f"/proc/{child.pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e9


class Crowd:
    """
    Followers; what they say goes through one pipe. Their filters have little memory; that of h0,
    where the adds are, is what a host has: so large is its outbox.
    """

    def __init__(self, fleet, count, memory, *options, url=None, prefix=()):
        self.fleet = fleet
        self.heard = []  # time and line
        read_end, write_end = os.pipe()
        common = ["--every", "1", "--cache-memory", "0", *options]
        self.children = [
            fleet.start(
                [*prefix, BINARY]
                + fleet.follow_command(f"h{i}", *common, url=url)
                + ["--filter-memory", "64M" if i == 0 else memory],
                f"h{i}.seg",
                stdout=write_end,
                stderr=write_end,
            )
            for i in range(count)
        ]
        os.close(write_end)
        threading.Thread(target=self.listen, args=(read_end,), daemon=True).start()
        self.wait_for_version(1)

    def listen(self, read_end):
        with open(read_end) as pipe:
            for line in pipe:
                self.heard.append((time.time(), line))

    def complaints(self):
        """What they said of failures, with how often."""
        lines = [line for _, line in self.heard if "published" not in line and " by " not in line]
        return {line: lines.count(line) for line in lines}

    def published(self, version):
        return [when for when, line in self.heard if f"published version {version} " in line]

    def wait_for_version(self, version):
        end = time.monotonic() + PATIENCE_S
        while len(self.published(version)) < len(self.children):
            check(time.monotonic() < end, f"{len(self.published(version))} have {version}")
            time.sleep(0.5)

    def processor_s(self):
        return sum(map(processor_s, self.children))

    def rest(self):
        """What they use when there is nothing new."""
        before, begin = self.processor_s(), time.monotonic()
        time.sleep(10)
        used = (self.processor_s() - before) / (time.monotonic() - begin)
        print(f"# nothing new: {used / len(self.children):.2%} of a processor for each follower")

    def take_version(self, version, *options):
        """From the head on; followers look each second."""
        blobs, others = self.fleet.sent()
        before = self.processor_s()
        self.fleet.publish(*options)
        begin = os.stat(self.fleet.at("origin", NAME, "head")).st_mtime
        self.wait_for_version(version)
        times = sorted(when - begin for when in self.published(version))
        count = len(times)
        used = (self.processor_s() - before) / count
        now_blobs, now_others = self.fleet.sent()
        blobs, others = now_blobs - blobs, now_others - others
        delta = int(self.fleet.head()["delta"][0][1])
        ratio = blobs / count / delta
        print(
            f"# {count} followers: the first has it after {times[0]:.2f} s, half "
            f"{times[count // 2]:.2f} s, the last {times[-1]:.2f} s; {1000 * used:.1f} ms of a "
            f"processor each, with their looks: all of them {count * used:.1f} s"
        )
        print(
            f"# a delta of {delta:,} bytes; sent: {ratio:.4f} of it each, and heads "
            f"{others / count:,.0f} bytes each, 304s among them"
        )
        check(ratio <= 1.05, "within 5 % of the delta")

    def check_all(self):
        image = self.fleet.image_of("h0")
        check(image in self.fleet.announced, "it is an announced one")
        for i in range(1, len(self.children)):
            check(self.fleet.image_of(f"h{i}") == image, f"h{i} has the same")
            os.unlink(self.fleet.at(f"h{i}.dump"))


def adds(crowd, rate, stream):
    """Ten seconds of adds on h0."""
    count = len(crowd.children)
    print(f"# {rate} adds a second, {count} followers")
    before, server_before = crowd.processor_s(), processor_s(stream.redis)
    command = ["build/fleet/watch", crowd.fleet.folder, NAME, str(count), str(rate), "10"]
    done = subprocess.run(command, capture_output=True, text=True)
    print("".join(f"# {line}\n" for line in (done.stdout + done.stderr).splitlines()), end="")
    used, server = crowd.processor_s() - before, processor_s(stream.redis) - server_before
    print(f"# a processor's time: the followers {used:.1f} s, the stream's server {server:.1f} s")
    check(done.returncode == 0, f"each is seen on all hosts: {crowd.complaints()}")

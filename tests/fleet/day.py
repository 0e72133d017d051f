#!/usr/bin/env python3
"""
day.py - a day of hourly versions in fast motion, and followers that were away for all of it.

    tests/fleet/day.py BINARY

Between two versions the files at the origin become an hour older: so old blobs are removed as they
are in a day.

Licensed under the MIT licence; see LICENSE.
"""

import os
import shutil

from hosts import check, main

KEYS = 1000000
HOURS = 24
BEGIN = range(5, 9)  # versions of followers that go away; each fourth one makes one more delta


def an_hour_passes(fleet):
    for folder, _, names in os.walk(fleet.at("origin")):
        for name in names:
            path = os.path.join(folder, name)
            time = os.stat(path).st_mtime - 3600
            os.utime(path, (time, time))


def follow_a_day(fleet, replaced):
    """Followers with the versions of BEGIN go on 24 versions later."""
    fleet.start_nginx()
    deltas = {}
    for version in range(1, BEGIN[-1] + HOURS + 1):
        fleet.announce(version * replaced, KEYS + version * replaced)
        an_hour_passes(fleet)
        head = fleet.head()
        deltas[version] = int(head["delta"][0][1]) if version > 1 else 0
        if version in BEGIN:
            fleet.follow(f"h{version}")
        if version - HOURS in BEGIN:
            before = fleet.sent()[0]
            said = fleet.follow(f"h{version - HOURS}")
            sent = fleet.sent()[0] - before
            image = int(head["image"][0][1])
            way = sum(deltas[v] for v in range(version - HOURS + 1, version + 1))
            least = min(way, image)
            print(
                f"# {replaced / KEYS:.1%} an hour, versions {version - HOURS} to {version}: "
                f"{sent:,} bytes; 24 deltas {way:,}, image {image:,}: {sent / least:.3f} of the "
                f"shorter ({said.splitlines()[0].split(' by ')[1]})"
            )
            check(sent <= 1.1 * least, "within 10 %")
    kept = sum(e.stat().st_size for e in os.scandir(fleet.at("origin", "blobs")))
    print(f"# the origin keeps {kept / image:.1f} images' bytes")


def test_one_key_of_a_thousand_an_hour(fleet):
    follow_a_day(fleet, KEYS // 1000)


def test_five_keys_of_a_thousand_an_hour(fleet):
    follow_a_day(fleet, KEYS // 200)


def test_one_key_of_a_hundred_an_hour(fleet):
    follow_a_day(fleet, KEYS // 100)


main(globals())

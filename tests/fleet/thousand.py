#!/usr/bin/env python3
"""
thousand.py - a thousand followers on one machine: a version of the filter, and adds.

    tests/fleet/thousand.py BINARY [NAME...]

It prints what it measures: how long it takes from the head to the last follower's publication, what
part of that is the processors' time, and what the origin sends. On a machine of few processors the
followers' time is the limit, so that of one follower is what counts. How long adds take is measured
by build/fleet/watch (tests/fleet/watch.c).

BLOOMSHM_FLEET_FOLLOWERS    how many (default 1000); a tenth of them with ten million keys, which
                            take 70 MB in /dev/shm each

Licensed under the MIT licence; see LICENSE.
"""

import os

from crowd import Crowd, adds
from hosts import main
from stream import Stream

FOLLOWERS = int(os.environ.get("BLOOMSHM_FLEET_FOLLOWERS", 1000))
SMALL = 100000
LARGE = 10000000


def announce_and_follow(fleet, count, keys, memory, *options):
    fleet.load(0, keys, options=["--filter-memory", "64M"])
    fleet.publish()
    fleet.start_nginx()
    crowd = Crowd(fleet, count, memory, *options)
    crowd.rest()
    fleet.load(keys // 100, keys + keys // 100)
    return crowd


def test_ten_million_keys(fleet):
    crowd = announce_and_follow(fleet, FOLLOWERS // 10, LARGE, "64M")
    crowd.take_version(2)
    crowd.check_all()


def test_a_thousand_followers(fleet):
    crowd = announce_and_follow(fleet, FOLLOWERS, SMALL, "2M")
    crowd.take_version(2)
    crowd.check_all()


def stream_of_its_own_host(fleet):
    """A server that need not wait for the turns of a thousand followers."""
    stream = Stream(fleet)
    os.setpriority(os.PRIO_PROCESS, stream.redis.pid, -10)
    return stream


def test_adds_of_one_host_on_all(fleet):
    stream = stream_of_its_own_host(fleet)
    crowd = announce_and_follow(fleet, FOLLOWERS, SMALL, "2M", "--stream", stream.url)
    for rate in (10, 100, 300, 1000):
        adds(crowd, rate, stream)


def test_adds_of_one_host_on_a_tenth(fleet):
    stream = stream_of_its_own_host(fleet)
    crowd = announce_and_follow(fleet, FOLLOWERS // 10, SMALL, "2M", "--stream", stream.url)
    adds(crowd, 1000, stream)


main(globals())

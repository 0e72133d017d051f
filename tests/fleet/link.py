#!/usr/bin/env python3
"""
link.py - a network between this machine and a namespace, which delays and loses packets.

    tests/fleet/link.py NAMESPACE HERE THERE

Makes the namespace, and a device of packets in it and here, with these addresses; what goes in at
one end comes out at the other. So it does what the kernel's netem does, where a kernel lacks that.
A line LOSS DELAY_MS on the standard input (a share from 0 to 1, and the way there or back alone)
counts from then on; at first it is 0 0. Says "ready" when packets go. At the input's end it removes
the namespace.

Licensed under the MIT licence; see LICENSE.
"""

import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
CLONE_NEWNET = 0x40000000
PACKET_MAX = 65536
DEVICE = "bshm%d" % os.getpid()


def device():
    """A new device of packets, in the namespace of this moment."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN_NO_PI))
    return fd


def enter(path):
    fd = os.open(path, os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(fd)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def devices(namespace, here, there):
    ours = device()
    enter("/run/netns/" + namespace)
    theirs = device()
    enter("/proc/%d/ns/net" % os.getppid())
    ip("addr", "add", here, "peer", there, "dev", DEVICE)
    ip("link", "set", DEVICE, "up")
    ip("-n", namespace, "addr", "add", there, "peer", here, "dev", DEVICE)
    ip("-n", namespace, "link", "set", DEVICE, "up")
    ip("-n", namespace, "link", "set", "lo", "up")
    return {ours: theirs, theirs: ours}


def carry(other_end):
    loss, delay = 0.0, 0.0
    under_way = []  # when they arrive; a number that keeps their order; where; the packet
    count = 0
    while True:
        wait = max(0, under_way[0][0] - time.monotonic()) if under_way else None
        ready = select.select([*other_end, sys.stdin], [], [], wait)[0]
        for fd in ready:
            if fd is sys.stdin:
                line = sys.stdin.readline()
                if not line:
                    return
                loss, delay = float(line.split()[0]), float(line.split()[1]) / 1000
                continue
            packet = os.read(fd, PACKET_MAX)
            if random.random() >= loss:
                count += 1
                heapq.heappush(
                    under_way, (time.monotonic() + delay, count, other_end[fd], packet)
                )
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, fd, packet = heapq.heappop(under_way)
            try:
                os.write(fd, packet)
            except BlockingIOError:
                pass  # a full queue loses it


def main():
    namespace, here, there = sys.argv[1:]
    ip("netns", "add", namespace)
    try:
        ends = devices(namespace, here, there)
        print("ready", flush=True)
        carry(ends)
    finally:
        ip("netns", "del", namespace)


main()

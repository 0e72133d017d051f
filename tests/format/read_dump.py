#!/usr/bin/env python3
"""Reads the file of a filter, with docs/FORMAT.md, section 13, as its only source.

    read_dump.py check FILE        what is wrong with it; exit status 3 if anything is
    read_dump.py has FILE KEY...   "maybe" or "no" for each key
    read_dump.py count FILE KEY... how often a counting filter says that each was added
"""

import struct
import sys

from read_segment import (
    COUNTING,
    GROWING,
    SLIDING,
    key_hash,
    live_lanes,
    nibbles,
    partition_has,
    probes,
)
from xxhash import xxh3_64_intdigest

PARTITION_BYTES = 8192
PRESENT_EPOCH = 8


class Refused(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Refused(what)


class Dump:
    def __init__(self, raw):
        require(len(raw) >= 192, "truncated")
        (magic, version, header_bytes, file_bytes, self.seed, capacity) = struct.unpack_from(
            "<8sIIQQQ", raw
        )
        rate, published, dumped, items, phase = struct.unpack_from("<dddQQ", raw, 40)
        self.kind, expansion, window, layer_count, sized = struct.unpack_from("<IIIII", raw, 80)
        require(magic != b"MHSMOOLB", "byte order")
        require(magic == b"BLOOMSHM", "magic")
        require(version == 1, "version")
        require(
            struct.unpack_from("<Q", raw, 184)[0] == xxh3_64_intdigest(raw[:184], seed=0), "header"
        )
        require(header_bytes == 192 and 1 <= capacity <= 2**40 and 0 < rate <= 0.5, "header")
        require(published >= 0 and dumped >= 0 and self.kind <= GROWING and sized <= 1, "header")
        require(
            (self.kind == SLIDING) == (window != 0) and (self.kind == GROWING) == (expansion != 0),
            "header",
        )
        require(
            1 <= layer_count <= (32 if self.kind == GROWING else 1) and expansion <= 32, "header"
        )
        require(window <= 315360000 and (window == 0 or phase < window * 10**9 // 3), "header")
        require(not any(raw[100:104]) and not any(raw[168:184]), "header: what should be zero")
        self.layers = []
        self.bits = 192 + 64 * layer_count
        require(len(raw) >= self.bits, "truncated")
        before = 0
        for i in range(layer_count):
            record = raw[192 + 64 * i : 256 + 64 * i]
            partitions, layer_capacity, items_before, layer_rate, count = struct.unpack_from(
                "<QQQdI", record
            )
            require(
                struct.unpack_from("<Q", record, 56)[0] == xxh3_64_intdigest(record[:56], seed=0),
                "layer",
            )
            require(
                1 <= partitions <= 2**30 and layer_capacity >= 1 and 1 <= count <= 64, "layer"
            )
            require(
                before <= items_before <= items
                and 0 < layer_rate <= 0.5
                and not any(record[36:56]),
                "layer",
            )
            require(i == 0 or partitions >= 2 * self.layers[-1][0], "layer")
            require(i != 0 or items_before == 0, "layer")
            self.layers.append((partitions, count))
            before = items_before
        self.raw = raw
        end = self.bits + sum(partitions for partitions, _ in self.layers) * PARTITION_BYTES
        require(file_bytes == end + 8 * layer_count + 8, "layer")
        require(len(raw) == file_bytes, "truncated" if len(raw) < file_bytes else "trailing bytes")
        checks, off = b"", self.bits
        for partitions, _ in self.layers:
            size = partitions * PARTITION_BYTES
            checks += struct.pack("<Q", xxh3_64_intdigest(raw[off : off + size], seed=0))
            off += size
        require(
            raw[off:] == checks + struct.pack("<Q", xxh3_64_intdigest(checks, seed=0)), "checksum"
        )

    def words(self, layer, partition):
        before = sum(partitions for partitions, _ in self.layers[:layer])
        return struct.unpack_from(
            "<1024Q", self.raw, self.bits + (before + partition) * PARTITION_BYTES
        )

    def maybe_has(self, key):
        low, high = key_hash(key, self.seed)
        live = live_lanes(PRESENT_EPOCH, PRESENT_EPOCH)
        return any(
            partition_has(
                self.kind, self.words(i, (high >> 32) * partitions >> 32), low, high, count, live
            )
            for i, (partitions, count) in enumerate(self.layers)
        )

    def count(self, key):
        low, high = key_hash(key, self.seed)
        partitions, count = self.layers[0]
        return min(
            nibbles(self.words(0, (high >> 32) * partitions >> 32), probes(low, high, count))
        )


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("check", "has", "count"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(arguments[1], "rb") as file:
            dump = Dump(file.read())
    except Refused as problem:
        print(f"{arguments[1]}: {problem}")
        return 3
    for key in arguments[2:]:
        if arguments[0] == "has":
            print("maybe" if dump.maybe_has(key.encode()) else "no")
        elif arguments[0] == "count":
            print(dump.count(key.encode()) if dump.kind == COUNTING else "?")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

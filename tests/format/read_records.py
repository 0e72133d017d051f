#!/usr/bin/env python3
"""Reads the file of records, with docs/FORMAT.md, section 15, as its only source.

    read_records.py check FILE    what is wrong with it; exit status 3 if anything is
    read_records.py list FILE     one JSON object for each record, in the order of the file
    read_records.py order FILE    key, type, value, PROTECTED; the least recently used record first
"""

import json
import struct
import sys

from read_store import KEY_MAX, RECORD_MAX, TYPES
from xxhash import xxh3_64_intdigest

PART = 32
END = 2**64 - 1
PROTECTED = 1 << 8
LENGTHS = {0: 0, 1: 0, 2: 0, 3: 8, 4: 8}


class Refused(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Refused(what)


def read(raw):
    """All records; nothing is returned before the last byte has been checked."""
    require(len(raw) >= 8, "truncated")
    require(raw[:8] == b"BLOOMREC", "magic")
    require(len(raw) >= 2 * PART, "truncated")
    version, dumped_ns = struct.unpack_from("<QQ", raw, 8)
    require(version == 1, "version")
    records, off = [], PART
    while True:
        require(len(raw) - off >= PART, "truncated")
        recency, expires_s, key_bytes, value_bytes, flags = struct.unpack_from("<QQIIQ", raw, off)
        if recency == END:
            break
        kind = flags & 0xFF
        require(flags <= PROTECTED | 0xFF and kind <= 7, "record")
        require(key_bytes <= KEY_MAX and key_bytes + value_bytes <= RECORD_MAX, "record")
        require(LENGTHS.get(kind, value_bytes) == value_bytes, "record")
        key = off + PART
        value = key + key_bytes
        off = value + value_bytes
        require(off <= len(raw), "truncated")
        records.append(
            {
                "space": 0,
                "key": raw[key:value].hex(),
                "type": TYPES[kind],
                "value": raw[value:off].hex(),
                "expires": expires_s,
                "expired": expires_s != 0 and dumped_ns // 10**9 >= expires_s,
                "protected": bool(flags & PROTECTED),
                "recency": recency,
            }
        )
    count, before, check = struct.unpack_from("<QQQ", raw, off + 8)
    require(count == len(records) and before == off, "checksum")
    require(check == xxh3_64_intdigest(raw[: off + 24], seed=0), "checksum")
    require(len(raw) == off + PART, "trailing bytes")
    return records


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("check", "list", "order"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(arguments[1], "rb") as file:
            records = read(file.read())
    except Refused as problem:
        print(f"{arguments[1]}: {problem}")
        return 3
    if arguments[0] == "list":
        for record in records:
            print(json.dumps(record))
    elif arguments[0] == "order":
        for record in sorted(records, key=lambda record: -record["recency"]):
            print(record["key"], record["type"], record["value"], int(record["protected"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

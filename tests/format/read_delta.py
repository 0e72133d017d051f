#!/usr/bin/env python3
"""Makes the other of two files of filters, with docs/FORMAT.md, section 17, as its only source.

    read_delta.py apply IMAGE DELTA OUT    exit status 3 if one of the files is refused
    read_delta.py check IMAGE              the check of an image
"""

import struct
import sys

from read_dump import PARTITION_BYTES, Dump, Refused, require
from read_segment import GROWING, PLAIN
from xxhash import xxh3_64_intdigest

RAW = NONE = 255


def xxh3(data):
    return xxh3_64_intdigest(bytes(data), seed=0)


def check_of(image):
    """Of an image that was read as a whole: its header, layers, and the checksums at its end."""
    return xxh3(image.raw[: image.bits] + image.raw[-8 * len(image.layers) - 8 :])


class Reader:
    def __init__(self, raw):
        self.raw = raw
        self.off = 0

    def take(self, count):
        require(len(self.raw) - self.off >= count, "truncated")
        self.off += count
        return self.raw[self.off - count : self.off]

    def unpack(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))


class Bits:
    def __init__(self, raw):
        self.number = int.from_bytes(raw, "little")
        self.count = 8 * len(raw)
        self.at = 0

    def take(self, count):
        require(self.at + count <= self.count, "group: bits are missing")
        self.at += count
        return self.number >> (self.at - count) & ((1 << count) - 1)

    def code(self, k):
        rest = self.number >> self.at
        require(rest != 0, "group: bits are missing")
        zeros = (rest & -rest).bit_length() - 1
        self.at += zeros + 1
        return zeros << k | self.take(k)

    def gap(self, parameter, line_parameter):
        if line_parameter == NONE:
            return self.code(parameter)
        return self.code(line_parameter) if self.take(1) else 512 + self.code(parameter)


def changed_record(reader, record):
    """A record with its changes, and its check, which is its last word."""
    words = list(struct.unpack(f"<{len(record) // 8}Q", record))
    (mask,) = reader.unpack("I")
    require(mask >> (len(words) - 1) == 0, "a change of a word that a record does not have")
    for i in range(len(words) - 1):
        if mask >> i & 1:
            words[i] ^= reader.unpack("Q")[0]
    body = struct.pack(f"<{len(words) - 1}Q", *words[:-1])
    return body + struct.pack("<Q", xxh3(body))


def changes_of(reader, most):
    """A group: its partitions, its checks, and their changes as bytes."""
    count, parameter, line, zero, changed, size, before, after = reader.unpack("IBBHIIQQ")
    require(1 <= count <= min(most, 4096) and zero == 0 and size <= 524288, "group")
    data = reader.take(size)
    if parameter == RAW:
        require(line == NONE and size == count * PARTITION_BYTES, "group")
        require(bin(int.from_bytes(data, "little")).count("1") == changed, "group")
        return count, (before, after), data
    require(parameter <= 27 and (line <= 9 or line == NONE), "group")
    bits, position = Bits(data), -1
    changes = bytearray(count * PARTITION_BYTES)
    for _ in range(changed):
        position += 1 + bits.gap(parameter, line)
        require(position < 8 * len(changes), "group: a bit behind its end")
        changes[position // 8] ^= 1 << position % 8
    require((bits.at + 7) // 8 == size and bits.number >> bits.at == 0, "group: its end")
    return count, (before, after), changes


def xor(one, two):
    size = len(one)
    return (int.from_bytes(one, "little") ^ int.from_bytes(two, "little")).to_bytes(size, "little")


def applied(image, raw):
    reader = Reader(raw)
    magic, version, layer_count, *sizes_checks, zero, check = reader.unpack("8sIIQQQQQQ")
    require(magic == b"BLOOMDLT" and version == 1, "magic or version")
    require(check == xxh3(raw[:56]) and zero == 0 and 1 <= layer_count <= 32, "header")
    ends = list(zip(sizes_checks[:2], sizes_checks[2:]))  # (size, check) of both
    own = (len(image.raw), check_of(image))
    require(own in ends, "another image")
    way = ends.index(own)  # 1: back
    require(image.kind in (PLAIN, GROWING), "kind")

    head = changed_record(reader, image.raw[:192])
    own_layers = [image.raw[192 + 64 * i : 256 + 64 * i] for i in range(len(image.layers))]
    layers = [
        changed_record(reader, (own_layers + [bytes(64)] * 32)[i]) for i in range(layer_count)
    ]
    count_there = struct.unpack_from("<I", head, 92)[0]
    require(max(count_there, len(image.layers)) == layer_count, "layers")
    require(not any(b"".join(layer[:56] for layer in layers[count_there:])), "a layer that goes")

    out, checks, off = [head, *layers[:count_there]], b"", image.bits
    for i, layer in enumerate(layers):
        here = i < len(image.layers)
        partitions = image.layers[i][0] if here else struct.unpack_from("<Q", layer)[0]
        made, done = [], 0
        while done < partitions:
            count, group_checks, changes = changes_of(reader, partitions - done)
            size = count * PARTITION_BYTES
            before = image.raw[off : off + size] if here else bytes(size)
            after = xor(before, changes)
            require(xxh3(before) == group_checks[way], "group: another one before")
            require(xxh3(after) == group_checks[1 - way], "group: another one after")
            require(i < count_there or not any(after), "group: of a layer that goes")
            made.append(after)
            off, done = off + (size if here else 0), done + count
        if i < count_there:
            out += made
            checks += struct.pack("<Q", xxh3(b"".join(made)))
    require(reader.unpack("Q")[0] == xxh3(raw[: reader.off - 8]), "check")
    require(reader.off == len(raw), "trailing bytes")
    there = Dump(b"".join(out) + checks + struct.pack("<Q", xxh3(checks)))
    require((there.seed, there.kind) == (image.seed, image.kind), "another filter")
    require(all(a == b for a, b in zip(there.layers, image.layers)), "another filter")
    require((len(there.raw), check_of(there)) == ends[1 - way], "check of the image")
    return there.raw


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main(arguments):
    if (arguments[:1], len(arguments)) not in ((["apply"], 4), (["check"], 2)):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        image = Dump(read(arguments[1]))
        if arguments[0] == "check":
            print(f"{check_of(image):016x}")
            return 0
        made = applied(image, read(arguments[2]))
    except Refused as problem:
        print(f"{arguments[2] if len(arguments) > 2 else arguments[1]}: {problem}")
        return 3
    with open(arguments[3], "wb") as file:
        file.write(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Reads a bloomshm segment, with docs/FORMAT.md as its only source.

    read_segment.py check FILE             problems, one a line; exit status 3 if there are any
    read_segment.py list FILE              one JSON object for each filter
    read_segment.py has FILE NAME KEY...   "maybe" or "no" for each key
    read_segment.py ask FILE               the same for lines "NAME KEY" in hex on standard input

Exit status 2: the file is no segment, or not a sound one.

Section numbers are those of FORMAT.md. The mapping is read-only, and other processes may write meanwhile.
Python has no memory fences, so that is sound on machines that do not reorder loads (section 11).
"""

import json
import mmap
import os
import stat
import struct
import sys

from xxhash import xxh3_64_intdigest, xxh3_128_intdigest

MASK = 2**64 - 1
MAGIC = 0x4D485342304D4C42
LAYOUT_PARTS = (1, 4096, 32768, 8192, 448, 128, 4096, 8192, 128, 32, 56, 384)
PAGE = 4096
OWNERS, OWNER_BYTES = 2048, 16
OPS, OP_BYTES = 64, 128
ENTRY_BYTES = 448
PARTITION_BYTES, PARTITION_BITS = 8192, 65536
ABSENT, LIVE, CLEARING = 0, 1, 2
TRIES = 16


class Refused(Exception):
    """The file cannot be used as a segment."""


class Damaged(Exception):
    """A part of the segment is not sound: every question about it is answered "maybe"."""


def layout_word():
    word = 0xCBF29CE484222325
    for part in LAYOUT_PARTS:
        word = (word ^ part) * 0x100000001B3 & MASK
    return word


def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def clamp(value, least, most):
    return max(least, min(most, value))


def round_up(size):
    return (size + PAGE - 1) // PAGE * PAGE


def padded(name):
    if not 1 <= len(name) <= 63 or b"\0" in name:
        raise ValueError("a filter name has 1 to 63 bytes and no NUL")
    return bytes((len(name),)) + name.ljust(63, b"\0")


class Descriptor:
    """Section 5."""

    def __init__(self, raw):
        (
            self.generation,
            self.seed,
            self.capacity,
            self.error_rate,
            self.published_s,
            self.state,
            self.hash_count,
            self.expansion,
            self.window_s,
            self.first,
            self.count,
            self.run_check,
        ) = struct.unpack_from("=QQQddIIIIIIQ", raw)


class Filter:
    """A sound descriptor with the list of its partitions."""

    def __init__(self, segment, index, descriptor, partitions):
        self.segment = segment
        self.index = index
        self.descriptor = descriptor
        self.partitions = partitions

    def stands(self):
        return self.segment.generation(self.index) == self.descriptor.generation

    def bits(self, key):
        """Section 7: the partition, as an index into the run, and the positions of the key's bits in it."""
        h = xxh3_128_intdigest(key, seed=self.descriptor.seed)
        low, high = h & MASK, h >> 64
        words = [(low, 4), (high, 2)]
        rotated = (high << 32 & MASK) | high >> 32
        probes = 6
        while probes < self.descriptor.hash_count:
            group = (probes - 6) // 4 + 1
            words.append((mix((low ^ rotated) + group * 0x9E3779B97F4A7C15 & MASK), 4))
            probes += 4
        positions = [word >> 16 * j & 0xFFFF for word, slices in words for j in range(slices)]
        return (high >> 32) * len(self.partitions) >> 32, positions[: self.descriptor.hash_count]

    def maybe_has(self, key):
        partition, positions = self.bits(key)
        first_word = (self.segment.partitions_off + self.partitions[partition] * PARTITION_BYTES) // 8
        words = self.segment.u64
        return all(words[first_word + (p >> 6)] >> (p & 63) & 1 for p in positions)

    def rates(self):
        """Share of bits set, and the mean over the partitions of that share to the power of hash_count."""
        fill = rate = 0.0
        for partition in self.partitions:
            off = self.segment.partitions_off + partition * PARTITION_BYTES
            share = int.from_bytes(self.segment.bytes(off, PARTITION_BYTES), "little").bit_count() / PARTITION_BITS
            fill += share
            rate += share**self.descriptor.hash_count
        return fill / len(self.partitions), rate / len(self.partitions)


class Segment:
    def __init__(self, path):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            st = os.fstat(fd)
            if not stat.S_ISREG(st.st_mode) or st.st_uid != os.geteuid():
                raise Refused("not a regular file of this user")
            if st.st_size < PAGE or st.st_size % 8 != 0:
                raise Refused("damaged: size")
            view = memoryview(mmap.mmap(fd, st.st_size, mmap.MAP_SHARED, mmap.PROT_READ))
        finally:
            os.close(fd)
        self.u8, self.u32, self.u64 = view, view.cast("I"), view.cast("Q")
        self.known = {}
        self._check_header(st.st_size)

    def _check_header(self, file_bytes):
        """Sections 2, 3 and 10."""
        header = self.bytes(0, 64)
        magic, layout, segment_bytes, name_seed = struct.unpack_from("=QQQQ", header)
        p, entries, heads, chunks, _, check = struct.unpack_from("=IIIIQQ", header, 32)
        if magic != MAGIC:
            raise Refused("not a segment, or of the other byte order")
        if layout != layout_word():
            raise Refused("made by a build with another layout")
        if check != xxh3_64_intdigest(header[:56], seed=0):
            raise Refused("damaged: header")
        if not 1 <= p <= 2**30 or entries != clamp(p, 128, 16384) or chunks != clamp(p // 32, 16, 1024):
            raise Refused("damaged: counts")
        if heads != 1 << (entries - 1).bit_length():
            raise Refused("damaged: counts")
        self.name_seed, self.partition_count, self.entry_count = name_seed, p, entries
        self.head_count, self.chunk_count = heads, chunks
        off = PAGE + OWNERS * OWNER_BYTES
        self.ops_off = off
        self.heads_off = off = off + OPS * OP_BYTES
        self.entries_off = off = off + round_up(heads * 4)
        self.tags_off = off = off + round_up(entries * ENTRY_BYTES)
        self.chunks_off = off = off + round_up(chunks * 8)
        self.links_off = off = off + chunks * PAGE
        self.partitions_off = off = off + round_up(p * 4)
        end = off + p * PARTITION_BYTES
        if not segment_bytes == file_bytes == end:
            raise Refused(f"damaged: the file has {file_bytes} bytes and should have {end}")

    def bytes(self, off, count):
        return self.u8[off : off + count].tobytes()

    def words(self, off, count):
        """Copies `count` bytes as whole words of 8."""
        return self.u64[off // 8 : (off + count) // 8].tobytes()

    def checksum(self, raw):
        return xxh3_64_intdigest(raw, seed=self.name_seed)

    # Section 5: names and entries

    def head_of(self, name64):
        return self.checksum(name64) & (self.head_count - 1)

    def entry_off(self, index):
        return self.entries_off + index * ENTRY_BYTES

    def generation(self, index):
        return self.u64[self.entry_off(index) // 8]

    def name(self, index):
        return self.words(self.entry_off(index) + 64, 64)

    def chain(self, head):
        at = self.u32[self.heads_off // 4 + head]
        for _ in range(self.entry_count):
            if at == 0:
                return
            if at > self.entry_count:
                raise Damaged("a chain leads out of the directory")
            yield at - 1
            at = self.u32[(self.entry_off(at - 1) + 12) // 4]
        if at != 0:
            raise Damaged("a chain is longer than the directory")

    def sound_descriptor(self, index, generation):
        raw = self.words(self.entry_off(index) + 128 + 128 * (generation & 1), 128)
        return self.check_descriptor(raw, generation, self.name(index))

    def check_descriptor(self, raw, generation, name64):
        d = Descriptor(raw)
        seed = self.name_seed if d.state == ABSENT else self.checksum(name64)
        check = xxh3_64_intdigest(raw[:120], seed=seed)
        if d.generation != generation or struct.unpack_from("=Q", raw, 120)[0] != check:
            raise Damaged("a descriptor does not match its checksum or its entry")
        if d.state == ABSENT:
            return d
        if d.state not in (LIVE, CLEARING) or not 1 <= d.hash_count <= 64:
            raise Damaged("a descriptor makes no sense")
        self.check_bounds(d.first, d.count, d.run_check)
        return d

    # Section 6: runs

    def check_bounds(self, first, count, check):
        last_first = self.partition_count - (count if check == 0 else 1)
        if not 1 <= count <= self.partition_count or first > last_first:
            raise Damaged("a run leads out of the segment")

    def run(self, first, count, check):
        self.check_bounds(first, count, check)
        if check == 0:
            return range(first, first + count)
        at, partitions, x = first, [], self.name_seed
        for _ in range(count):
            if at >= self.partition_count:
                raise Damaged("a link leads out of the segment")
            partitions.append(at)
            x = mix(x + at + 1 & MASK)
            at = self.u32[self.links_off // 4 + at]
        if (x or 1) != check:
            raise Damaged("links do not match their checksum")
        return partitions

    # Section 11: reading while others write

    def find(self, name64):
        """The index of the entry with this name, or None."""
        for _ in range(TRIES):
            version = self.u64[128 // 8]
            for index in self.chain(self.head_of(name64)):
                if self.name(index) == name64:
                    return index
            if version % 2 == 0 and self.u64[128 // 8] == version:
                return None
        raise Damaged("the directory is being changed")

    def resolve(self, name):
        """The filter in force; None: there is no such filter; Damaged: it cannot say."""
        name64 = padded(name)
        for _ in range(TRIES):
            index = self.find(name64)
            if index is None:
                return None
            generation = self.generation(index)
            seen = self.name(index)
            raw = self.words(self.entry_off(index) + 128 + 128 * (generation & 1), 128)
            if seen != name64 or self.generation(index) != generation:
                continue
            if generation == 0:
                return None
            d = self.check_descriptor(raw, generation, name64)
            if d.state == ABSENT:
                return None
            if d.state == CLEARING:
                raise Damaged("the filter is being cleared")
            try:
                return Filter(self, index, d, self.run(d.first, d.count, d.run_check))
            except Damaged:
                if self.generation(index) == generation:
                    raise
        raise Damaged("the filter is being replaced over and over")

    def maybe_has(self, name, key):
        try:
            for _ in range(TRIES):
                found = self.known.get(name)
                if found is None or not found.stands():
                    found = self.known[name] = self.resolve(name)
                if found is None or found.maybe_has(key):
                    return True
                if found.stands():
                    return False
        except Damaged:
            pass
        return True

    # The whole segment

    def filters(self):
        """Name and filter of every sound entry that has one; of a quiet segment."""
        for index in range(self.entry_count):
            generation, name64 = self.generation(index), self.name(index)
            if generation == 0 or not 1 <= name64[0] <= 63:
                continue
            try:
                d = self.sound_descriptor(index, generation)
                if d.state != ABSENT:
                    yield name64[1 : 1 + name64[0]], Filter(self, index, d, self.run(d.first, d.count, d.run_check))
            except Damaged:
                continue

    def problems(self):
        """Whatever breaks a rule; of a quiet segment."""
        linked = dict.fromkeys(range(self.entry_count), 0)
        for head in range(self.head_count):
            try:
                for index in self.chain(head):
                    linked[index] += 1
                    if self.head_of(self.name(index)) != head:
                        yield f"entry {index} is in a chain that is not its name's"
            except Damaged as problem:
                yield f"chain {head}: {problem}"
        claimed = set()
        for what, run in self._claims(linked):
            if isinstance(run, Damaged):
                yield f"{what}: {run}"
            elif not claimed.isdisjoint(run):
                yield f"{what} has a partition that belongs to another"
            else:
                claimed.update(run)
        for chunk in range(self.chunk_count):
            if self.u64[self.tags_off // 8 + chunk] != 0 and self.u64[(self.chunks_off + chunk * PAGE) // 8] > 255:
                yield f"journal chunk {chunk} counts more than it holds"

    def _claims(self, linked):
        """What claims partitions, and which, or why that cannot be told."""
        for index in range(self.entry_count):
            what = f"entry {index}"
            generation, named = self.generation(index), self.name(index)[0] != 0
            if linked[index] != named:
                yield what, Damaged("not in exactly one chain")
            if generation == 0:
                continue
            try:
                d = self.sound_descriptor(index, generation)
                if d.state != ABSENT:
                    yield what, self.run(d.first, d.count, d.run_check)
                    if not named:
                        yield what, Damaged("a filter without a name")
            except Damaged as problem:
                yield what, problem
        for op in range(OPS):
            raw = self.words(self.ops_off + op * OP_BYTES, OP_BYTES)
            _, _, _, entry, kind, first, count, run_check, check = struct.unpack_from("=QQQIIIIQQ", raw)
            if entry == 0:
                continue
            if check != self.checksum(raw[8:48]) or entry > self.entry_count:
                yield f"op {op}", Damaged("does not match its checksum")
            elif kind != 2 and count != 0:  # a clear shares its run with its entry
                try:
                    yield f"op {op}", self.run(first, count, run_check)
                except Damaged as problem:
                    yield f"op {op}", problem


def describe(name, found):
    d = found.descriptor
    fill, rate = found.rates()
    return {
        "name": name.hex(),
        "generation": d.generation,
        "error_rate": d.error_rate,
        "capacity": d.capacity,
        "items": found.segment.u64[(found.segment.entry_off(found.index) + 384) // 8 + (d.generation & 1)],
        "expansion": d.expansion,
        "window": d.window_s,
        "hashes": d.hash_count,
        "partitions": d.count,
        "published_at": d.published_s,
        "fill": fill,
        "estimated_error_rate": rate,
        "scattered": d.run_check != 0,
        "entry_off": found.segment.entry_off(found.index),
        "descriptor_off": found.segment.entry_off(found.index) + 128 + 128 * (d.generation & 1),
        "first_link_off": found.segment.links_off + 4 * d.first,
    }


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("check", "list", "has", "ask"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        segment = Segment(arguments[1])
    except (OSError, Refused) as problem:
        print(f"{arguments[1]}: {problem}", file=sys.stderr)
        return 2

    def answer(name, key):
        print("maybe" if segment.maybe_has(name, key) else "no")

    if arguments[0] == "check":
        problems = list(segment.problems())
        for problem in problems:
            print(problem)
        return 3 if problems else 0
    if arguments[0] == "list":
        for name, found in sorted(segment.filters(), key=lambda pair: pair[0]):
            print(json.dumps(describe(name, found)))
    elif arguments[0] == "has":
        for key in arguments[3:]:
            answer(os.fsencode(arguments[2]), os.fsencode(key))
    else:
        for line in sys.stdin:
            name, _, key = line.rstrip("\n").partition(" ")
            answer(bytes.fromhex(name), bytes.fromhex(key))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

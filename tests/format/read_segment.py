#!/usr/bin/env python3
"""Reads a bloomshm segment, with docs/FORMAT.md as its only source.

    read_segment.py check FILE             problems, one a line; exit status 3 if there are any
    read_segment.py list FILE              one JSON object for each filter
    read_segment.py has FILE NAME KEY...   "maybe" or "no" for each key
    read_segment.py ask FILE               the same for lines "NAME KEY" in hex on standard input
    read_segment.py records FILE           one JSON object for each record of the record store
    read_segment.py get FILE SPACE         for lines KEY in hex on standard input: type and value
                                           (in hex), or "absent"

Exit status 2: the file is no segment, or not a sound one.

Section numbers are those of FORMAT.md. The mapping is read-only, and other processes may write
meanwhile.
Python has no memory fences, so that is sound on machines that do not reorder loads (section 11).
"""

import json
import mmap
import os
import stat
import struct
import sys
import time

from read_store import MASK, TYPES, Damaged, Store, counts, round_up
from read_store import describe as describe_record
from xxhash import xxh3_64_intdigest, xxh3_128_intdigest

MAGIC = 0x4D485342304D4C42
LAYOUT_PARTS = (
    *(11, 4096, 32768, 8192, 640, 192, 64, 4096, 8192, 128, 32, 96, 512),
    *(131264, 6528, 16384, 320, 64, 8, 8, 16384, 96),
)
FLEET = 1  # of features
SENDS = 2**16  # of the source of a descriptor
PAGE = 4096
OWNERS, OWNER_BYTES = 2048, 16
OPS, OP_BYTES = 64, 128
ENTRY_BYTES, DESCRIPTOR_BYTES, LAYER_BYTES = 640, 192, 64
PARTITION_BYTES, PARTITION_BITS = 8192, 65536
ABSENT, LIVE, CLEARING = 0, 1, 2
PLAIN, SLIDING, COUNTING, GROWING = 0, 1, 2, 3
LAYERS_MAX = 32
TRIES = 16


class Refused(Exception):
    """The file cannot be used as a segment."""


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


def padded(name):
    if not 1 <= len(name) <= 63 or b"\0" in name:
        raise ValueError("a filter name has 1 to 63 bytes and no NUL")
    return bytes((len(name),)) + name.ljust(63, b"\0")


class Layer:
    """Section 5."""

    def __init__(self, raw):
        (
            self.first,
            self.count,
            self.run_check,
            self.capacity,
            self.items_before,
            self.error_rate,
            self.hash_count,
            self.older,
            self.older_check,
            self.check,
        ) = struct.unpack("=IIQQQdIIQQ", raw)
        self.partitions = None


class Descriptor:
    """Section 5."""

    def __init__(self, raw):
        (
            self.generation,
            self.seed,
            self.capacity,
            self.error_rate,
            self.published_s,
            self.publication,
            self.origin_ns,
            self.state,
            self.kind,
            self.expansion,
            self.window_s,
            self.items_slot,
            self.layer_count,
            self.sized,
            self.epoch_base,
        ) = struct.unpack_from("=QQQddQQIIIIIIII", raw)
        self.max_lag_s, self.source = struct.unpack_from("=II", raw, 88)
        self.source &= ~SENDS
        self.newest = Layer(raw[96:160])
        self.as_of_ns = struct.unpack_from("=Q", raw, 176)[0]


def key_hash(key, seed):
    """The two halves of section 7's h."""
    h = xxh3_128_intdigest(key, seed=seed)
    return h & MASK, h >> 64


def probes(low, high, count):
    """Section 7: 16 bits each."""
    words = [(low, 4), (high, 2)]
    rotated = (high << 32 & MASK) | high >> 32
    for group in range(max(0, (count - 6 + 3) // 4)):
        words.append((mix((low ^ rotated) + (group + 1) * 0x9E3779B97F4A7C15 & MASK), 4))
    return [word >> 16 * j & 0xFFFF for word, slices in words for j in range(slices)][:count]


def growing_positions(low, high, count):
    """Section 7: the bits of a key in a growing filter's partition."""
    line = (low >> 57) * 8
    positions = []
    for i in range(3):
        q = low >> 18 * i
        word = line + (q >> 12 & 7)
        positions += [word * 64 + (q & 63), word * 64 + (q >> 6 & 63)]
    return positions[:count] + probes(low, high, count)[6:]


def nibbles(words, positions):
    """The four bits that each of the probes finds."""
    return [words[p >> 6] >> (p & 63 & ~3) & 15 for p in positions]


def partition_has(kind, words, low, high, count, live=15):
    if kind == PLAIN:
        return all(words[p >> 6] >> (p & 63) & 1 for p in probes(low, high, count))
    if kind == GROWING:
        return all(words[p >> 6] >> (p & 63) & 1 for p in growing_positions(low, high, count))
    found = nibbles(words, probes(low, high, count))
    if kind == COUNTING:
        return min(found) != 0
    lanes = live
    for nibble in found:
        lanes &= nibble
    return lanes != 0


def line_rate(words, count):
    """The share of absent keys that the first six probes let through, in one line."""
    shares = [word.bit_count() / 64 for word in words]
    rate = 1.0
    for i in range(0, 6, 2):
        exponent = max(0, min(2, count - i))
        rate *= sum(share**exponent for share in shares) / len(shares)
    return rate


def partition_rate(kind, words, count, live=15):
    """Fill, and the share of absent keys that it lets through."""
    if kind in (PLAIN, GROWING):
        fill = sum(word.bit_count() for word in words) / PARTITION_BITS
        if kind == PLAIN:
            return fill, fill**count
        lines = [line_rate(words[i : i + 8], count) for i in range(0, len(words), 8)]
        return fill, sum(lines) / len(lines) * fill ** max(0, count - 6)
    counts = [0] * 16
    for word in words:
        for shift in range(0, 64, 4):
            counts[word >> shift & 15] += 1
    if kind == COUNTING:
        fill = 1 - counts[0] / 16384
        return fill, fill**count
    rate = fill = 0.0
    for lanes in range(1, 16):
        if lanes & ~live == 0:
            share = sum(n for nibble, n in enumerate(counts) if nibble & lanes == lanes) / 16384
            rate += share ** count if lanes.bit_count() % 2 else -(share**count)
            fill += share if lanes.bit_count() == 1 else 0
    return fill / max(1, live.bit_count()), rate


def live_lanes(newest, epoch):
    """The lanes of a partition turned to `newest` that are not over in `epoch`."""
    return sum(
        1 << e % 4 for e in range(newest - 3, newest + 1) if (e - epoch + 3 & 0xFFFFFFFF) < 1 << 31
    )


class Filter:
    """A sound descriptor with the partitions of its layers, the oldest first."""

    def __init__(self, segment, index, descriptor, layers):
        self.segment = segment
        self.index = index
        self.descriptor = descriptor
        self.layers = layers

    def stands(self):
        return self.segment.generation(self.index) == self.descriptor.generation

    def epoch(self):
        d = self.descriptor
        age = (self.segment.clock_ns() - d.origin_ns) & MASK
        since = 0 if age >> 63 else age // (d.window_s * 10**9 // 3)
        return d.epoch_base + since & 0xFFFFFFFF

    def is_stale(self):
        d = self.descriptor
        as_of_ns = max(d.as_of_ns, self.segment.u64[(self.segment.entry_off(self.index) + 16) // 8])
        lag_ns = self.segment.clock_ns() - as_of_ns
        return d.max_lag_s != 0 and not -(10**9) <= lag_ns <= d.max_lag_s * 10**9

    def live(self, partition):
        if self.descriptor.kind != SLIDING:
            return 15
        return live_lanes(
            self.segment.u64[self.segment.epochs_off // 8 + partition] >> 32, self.epoch()
        )

    def words(self, partition):
        first = (self.segment.partitions_off + partition * PARTITION_BYTES) // 8
        return self.segment.u64[first : first + PARTITION_BYTES // 8]

    def maybe_has(self, key):
        d = self.descriptor
        low, high = key_hash(key, d.seed)
        for layer in self.layers:
            partition = layer.partitions[(high >> 32) * layer.count >> 32]
            for _ in range(TRIES):
                word = self.segment.u64[self.segment.epochs_off // 8 + partition]
                if partition_has(
                    d.kind, self.words(partition), low, high, layer.hash_count, self.live(partition)
                ):
                    return True
                if (
                    d.kind != SLIDING
                    or self.segment.u64[self.segment.epochs_off // 8 + partition] == word
                ):
                    break
            else:
                return True
        return False

    def count(self, key):
        low, high = key_hash(key, self.descriptor.seed)
        layer = self.layers[0]
        words = self.words(layer.partitions[(high >> 32) * layer.count >> 32])
        return min(nibbles(words, probes(low, high, layer.hash_count)))

    def rates(self):
        """Share of bits set, and the rate of all layers together."""
        fills = total = 0.0
        for layer in self.layers:
            rate = 0.0
            for partition in layer.partitions:
                fill, own = partition_rate(
                    self.descriptor.kind,
                    self.words(partition),
                    layer.hash_count,
                    self.live(partition),
                )
                fills += fill
                rate += own
            total += (1 - total) * rate / layer.count
        return fills / sum(layer.count for layer in self.layers), total


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
        header, store = self.bytes(0, 64), self.bytes(256, 40)
        magic, layout, segment_bytes, name_seed = struct.unpack_from("=QQQQ", header)
        p, entries, heads, chunks, _, check = struct.unpack_from("=IIIIQQ", header, 32)
        if magic != MAGIC:
            raise Refused("not a segment, or of the other byte order")
        if layout != layout_word():
            raise Refused("made by a build with another layout")
        if check != xxh3_64_intdigest(header[:56], seed=0):
            raise Refused("damaged: header")
        if (
            not 1 <= p <= 2**30
            or entries != clamp(p, 128, 16384)
            or chunks != clamp(p // 32, 16, 1024)
        ):
            raise Refused("damaged: counts")
        if heads != 1 << (entries - 1).bit_length():
            raise Refused("damaged: counts")
        self.name_seed, self.partition_count, self.entry_count = name_seed, p, entries
        self.head_count, self.chunk_count = heads, chunks
        off = PAGE + OWNERS * OWNER_BYTES
        self.ops_off = off
        self.heads_off = off = off + OPS * OP_BYTES
        self.entries_off = off = off + round_up(heads * 4)
        self.layers_off = off = off + round_up(entries * ENTRY_BYTES)
        self.layer_count = p // 3 + 32
        self.tags_off = off = off + round_up(self.layer_count * LAYER_BYTES)
        self.chunks_off = off = off + round_up(chunks * 8)
        self.links_off = off = off + chunks * PAGE
        self.epochs_off = off = off + round_up(p * 4)
        self.partitions_off = off = off + round_up(p * 8)
        shards, tables, pages, features, cache_records, cache_bytes, cache_check = struct.unpack(
            "=IIIIQQQ", store
        )
        if cache_check != self.checksum(store[:32]) or not (
            cache_bytes == 0 or 2**20 <= cache_bytes <= 2**34
        ):
            raise Refused("damaged: header of the record store")
        if features & ~FLEET:
            raise Refused("made by a build with another layout")
        wanted = counts(cache_bytes, cache_records)
        if (shards, tables, pages) != (wanted[0], wanted[0] * wanted[1], wanted[0] * wanted[2]):
            raise Refused("damaged: counts of the record store")
        self.store = Store(self, off + p * PARTITION_BYTES, cache_bytes, cache_records)
        end = self.store.end
        if features & FLEET:
            end += (1 + chunks) * PAGE
        if not segment_bytes == file_bytes == end:
            raise Refused(f"damaged: the file has {file_bytes} bytes and should have {end}")

    def bytes(self, off, count):
        return self.u8[off : off + count].tobytes()

    def words(self, off, count):
        """Copies `count` bytes as whole words of 8."""
        return self.u64[off // 8 : (off + count) // 8].tobytes()

    def clock_ns(self):
        """Section 3: the engine clock, for a reader in the creator's time namespace."""
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC) + self.u64[144 // 8] & MASK

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
        return self.check_descriptor(
            self.descriptor_bytes(index, generation), generation, self.name(index)
        )

    def descriptor_bytes(self, index, generation):
        off = self.entry_off(index) + 128 + DESCRIPTOR_BYTES * (generation & 1)
        return self.words(off, DESCRIPTOR_BYTES)

    def check_descriptor(self, raw, generation, name64):
        d = Descriptor(raw)
        seed = self.name_seed if d.state == ABSENT else self.checksum(name64)
        check = xxh3_64_intdigest(raw[:184], seed=seed)
        if d.generation != generation or struct.unpack_from("=Q", raw, 184)[0] != check:
            raise Damaged("a descriptor does not match its checksum or its entry")
        if d.state == ABSENT:
            return d
        if (
            d.state not in (LIVE, CLEARING)
            or d.kind > GROWING
            or (d.kind == SLIDING) != (d.window_s != 0)
        ):
            raise Damaged("a descriptor makes no sense")
        if (d.kind == GROWING) != (d.expansion != 0) or not 1 <= d.layer_count <= (
            32 if d.kind == GROWING else 1
        ):
            raise Damaged("a descriptor makes no sense")
        if d.source > 16 or d.max_lag_s > 315360000 or (d.as_of_ns == 0) != (d.source == 0):
            raise Damaged("a descriptor makes no sense")
        self.check_layer(d.newest, raw[96:160])
        return d

    def check_layer(self, layer, raw):
        if layer.check != self.checksum(raw[:56]) or not 1 <= layer.hash_count <= 64:
            raise Damaged("a layer is not sound")
        self.check_bounds(layer.first, layer.count, layer.run_check)

    def layers(self, d):
        """The layers of a sound descriptor, the oldest first, with their partitions."""
        layers = [d.newest]
        for _ in range(d.layer_count - 1):
            newer = layers[-1]
            if not 1 <= newer.older <= self.layer_count:
                raise Damaged("a layer leads out of the segment")
            raw = self.words(self.layers_off + (newer.older - 1) * LAYER_BYTES, LAYER_BYTES)
            layer = Layer(raw)
            self.check_layer(layer, raw)
            if layer.check != newer.older_check:
                raise Damaged("a layer is not the one that was meant")
            layers.append(layer)
        if layers[-1].older != 0:
            raise Damaged("there are more layers than the descriptor says")
        for layer in layers:
            layer.partitions = self.run(layer.first, layer.count, layer.run_check)
        return layers[::-1]

    def source(self, place):
        """Section 3: the text of a place; None: it is damaged."""
        raw = self.words(384 + (place - 1) * 208, 208)
        text, check = struct.unpack("=200sQ", raw)
        return text.rstrip(b"\0") if check == self.checksum(text) else None

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
            raw = self.descriptor_bytes(index, generation)
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
                return Filter(self, index, d, self.layers(d))
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
                if found is None or found.maybe_has(key) or found.is_stale():
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
                    yield name64[1 : 1 + name64[0]], Filter(self, index, d, self.layers(d))
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
            if (
                self.u64[self.tags_off // 8 + chunk] != 0
                and self.u64[(self.chunks_off + chunk * PAGE) // 8] > 255
            ):
                yield f"journal chunk {chunk} counts more than it holds"
        yield from self.store.problems()

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
                    for layer in self.layers(d):
                        yield what, layer.partitions
                    if not named:
                        yield what, Damaged("a filter without a name")
                    if d.source != 0 and self.source(d.source) is None:
                        yield what, Damaged("its source is damaged")
            except Damaged as problem:
                yield what, problem
        for op in range(OPS):
            raw = self.words(self.ops_off + op * OP_BYTES, OP_BYTES)
            _, _, _, entry, kind, first, count, run_check, check = struct.unpack_from(
                "=QQQIIIIQQ", raw
            )
            if entry == 0:
                continue
            if check != self.checksum(raw[8:48]) or entry > self.entry_count:
                yield f"op {op}", Damaged("does not match its checksum")
            elif kind != 2 and count != 0:  # a clear shares its run with its entry
                try:
                    yield f"op {op}", self.run(first, count, run_check)
                except Damaged as problem:
                    yield f"op {op}", problem


def usage(found):
    """Section 4: what the filter was asked."""
    slot, off = found.descriptor.items_slot, found.segment.entry_off(found.index)
    at = (off + 544 + 48 * slot) // 8
    questions, maybes, *fetches = found.segment.u64[at : at + 6]
    confirmed = found.segment.u64[(off + 528) // 8 + slot]
    names = ("asked", "denied", "found", "loaded", "confirmed")
    return {
        "questions": questions,
        "maybes": maybes,
        "fetches": dict(zip(names, (*fetches, confirmed))),
        "false_positives": confirmed,
    }


def describe(name, found):
    d = found.descriptor
    fill, rate = found.rates()
    return {
        "name": name.hex(),
        "generation": d.generation,
        "error_rate": d.error_rate,
        "capacity": sum(layer.capacity for layer in found.layers)
        if d.kind == GROWING
        else d.capacity,
        "type": ("fixed", "sliding", "counting", "scalable")[d.kind],
        "items": found.segment.u64[
            (found.segment.entry_off(found.index) + 512) // 8 + d.items_slot
        ],
        **usage(found),
        "layers": len(found.layers),
        "expansion": d.expansion,
        "window": d.window_s,
        "hashes": d.newest.hash_count,
        "partitions": sum(layer.count for layer in found.layers),
        "published_at": d.published_s,
        "fill": fill,
        "estimated_error_rate": rate,
        "scattered": d.newest.run_check != 0,
        "entry_off": found.segment.entry_off(found.index),
        "descriptor_off": found.segment.entry_off(found.index)
        + 128
        + DESCRIPTOR_BYTES * (d.generation & 1),
        "older_off": found.segment.layers_off + LAYER_BYTES * max(0, d.newest.older - 1),
        "first_link_off": found.segment.links_off + 4 * d.newest.first,
    }


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("check", "list", "has", "ask", "records", "get"):
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
    elif arguments[0] == "records":
        for record in segment.store.records():
            print(json.dumps(describe_record(record)))
    elif arguments[0] == "get":
        for line in sys.stdin:
            record = segment.store.find(int(arguments[2]), bytes.fromhex(line))
            absent = record is None or record.expired()
            print("absent" if absent else f"{TYPES[record.type]} {record.value.hex()}")
    else:
        for line in sys.stdin:
            name, _, key = line.rstrip("\n").partition(" ")
            answer(bytes.fromhex(name), bytes.fromhex(key))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

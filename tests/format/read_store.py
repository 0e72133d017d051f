"""The record store of a segment, with docs/FORMAT.md, section 14, as its only source. Used by read_segment.py."""

import struct

from xxhash import xxh3_64_intdigest

MASK = 2**64 - 1
SLAB = 16384
BUCKET, BUCKET_CELLS, UNIT_BUCKETS, BUCKETS_MAX, UNITS_MAX = 64, 10, 64, 2048, 32
STORE_BYTES, TALLY_BYTES, TALLIES = 128, 64, 2049
SHARD_BYTES, LEASE_BYTES, LEASES, ROOT_BYTES, TABLE_BYTES = 6528, 64, 256, 8, 320
PAGE_HEADER_BYTES, PAGE_BITMAP_BYTES = 8, 8
CLASSES = (
    *range(16, 65, 4),
    *range(72, 129, 8),
    *(140, 152, 168, 184, 200, 220, 240, 264, 292, 320, 348),
    *(380, 420, 468, 512, 564, 628, 712, 780, 860, 960),
    *(1092, 1260, 1488, 1636, 1820, 2048, 2340, 2728, 3276, 4096),
)
SHORT_CHUNKS = {52: 512, 53: 1024, 54: 1488, 55: 2048, 56: 3276, 57: 4096, 58: 5460}
CHUNKS, UNITS = 59, 66
SMALL_UNITS = {60: 64, 61: 128, 62: 256, 63: 512, 64: 1024, 65: 2048}
OTHERS = {**SMALL_UNITS, **SHORT_CHUNKS, CHUNKS: 8192, UNITS: 4096}
PROTECTED, LIVE, CHAINED, EXPIRES = 1 << 16, 1 << 17, 1 << 18, 1 << 19
STAMP, NOT_COMPARED = 0x7FFF, 0x1FFFF
CHUNK_HEAD, CHUNK_BYTES = 16, 8176
JUMP, VERSIONS, REACH_MAX, TRIES = 1 << 24, 4096, 16, 4096
KEY_MAX, RECORD_MAX = 65535, 2**26
TYPES = ("null", "false", "true", "int", "float", "string", "php", "igbinary", "nothing")


class Damaged(Exception):
    """A part of the segment is not sound."""


def round_up(size, to=4096):
    return (size + to - 1) // to * to


def counts(cache_bytes, cache_records):
    """Section 2: shards, tables a shard, pages a shard."""
    if cache_bytes == 0:
        return 0, 0, 0
    tables = cache_bytes // 262144
    if cache_records != 0:
        tables = min(tables, cache_records // 8192 + 1)
    shards = 1 if tables <= 256 else max(3, min(64, cache_bytes // 83886080))
    per_shard = tables // shards
    fixed = (
        round_up(
            shards * (SHARD_BYTES + LEASES * LEASE_BYTES)
            + round_up(shards * per_shard * ROOT_BYTES, 64)
            + shards * per_shard * TABLE_BYTES
        )
        + 4096
    )
    return shards, per_shard, (cache_bytes - fixed) // 16400 // shards


def slot_bytes(size_class):
    if size_class < len(CLASSES):
        return CLASSES[size_class]
    return OTHERS[size_class]


def slots_of(size_class):
    """How many slots a page of this class has."""
    size = slot_bytes(size_class)
    return (SLAB - (128 if size <= 128 else 16 if SLAB // size > 64 else 0)) // size


def unit_class(buckets):
    return {1: 60, 2: 61, 4: 62, 8: 63, 16: 64, 32: 65}.get(buckets, UNITS)


def reach(buckets):
    """In how many buckets, from its home bucket on, a record may lie."""
    return buckets if buckets < 8 else min(REACH_MAX, buckets // 4)


def chunk_class(count):
    """The smallest class of chunks that so many bytes fit in."""
    return next((i for i in SHORT_CHUNKS if SHORT_CHUNKS[i] >= count + CHUNK_HEAD), CHUNKS)


def class_of(count):
    """The smallest class that so many bytes fit in."""
    return next(i for i, size in enumerate(CLASSES) if size >= count)


def position_in(buckets, bucket, tag):
    """The position of a record in this bucket, of 8 buckets or more, told without its key."""
    return min(
        (tag + 65536 * i for i in range(4)), key=lambda p: (bucket - (p * buckets >> 18)) % buckets
    )


class Home:
    def __init__(self, store, space, key):
        self.hash = xxh3_64_intdigest(
            key, seed=store.name_seed + (space + 1) * 0x9E3779B97F4A7C15 & MASK
        )
        u = (self.hash >> 32) * store.shards
        self.shard = u >> 32
        self.table = self.shard * store.shard_tables + ((u & 0xFFFFFFFF) * store.shard_tables >> 32)
        self.position = self.hash & 0x3FFFF


class Record:
    """What a ref leads to; Damaged if it is no record. Key and value are copied."""

    def __init__(self, store, shard, ref, sequence=None):
        """`sequence`: as it was when the search began; None: the segment is quiet."""
        self.store, self.shard, self.ref = store, shard, ref
        self.off = off = store.place(shard, ref, 16)
        self.state = store.u32[off // 4]
        if not self.state & LIVE:
            raise Damaged("a record is not live")
        shape = store.u32[off // 4 + 1]
        self.key_bytes, self.value_bytes = shape & 0xFFF, shape >> 12 & 0xFFF
        self.shape = shape
        self.type, self.space = shape >> 24 & 15, shape >> 28 & 1
        self.reserved = shape >> 29
        words = 2
        self.expires = 0
        if self.state & EXPIRES:
            self.expires = store.u32[off // 4 + 2]
            words = 3
        self.head_bytes = 4 * words
        self.next = 0
        self.first = self.key_bytes + self.value_bytes
        if self.state & CHAINED:
            key, self.value_bytes, self.next = map(
                int, store.u32[off // 4 + words : off // 4 + words + 3]
            )
            self.key_bytes, self.first = key & KEY_MAX, key >> 16
            words += 3
            if self.value_bytes > RECORD_MAX:
                raise Damaged("a record is longer than there are")
            if self.first > self.key_bytes + self.value_bytes:
                raise Damaged("a first part is longer than its record")
        self.slot_bytes = 4 * words + self.first
        store.place(shard, ref, self.slot_bytes)
        begin = off + 4 * words
        data = [store.u8[begin : begin + self.first].tobytes()]
        if sequence is not None and not self.is_current(sequence):
            raise Damaged("a slot was given to another record")
        left = self.key_bytes + self.value_bytes - self.first
        chunk = self.next
        self.chunks = []
        while left > 0:
            at = store.place(shard, chunk, CHUNK_HEAD + min(left, CHUNK_BYTES))
            self.chunks.append((chunk, chunk_class(left)))
            data.append(
                store.u8[at + CHUNK_HEAD : at + CHUNK_HEAD + min(left, CHUNK_BYTES)].tobytes()
            )
            left -= CHUNK_BYTES
            chunk = store.u32[at // 4 + 1]
        self.after_chain = chunk
        data = b"".join(data)
        self.key, self.value = data[: self.key_bytes], data[self.key_bytes :]

    def is_same(self):
        return (self.store.u32[self.off // 4] ^ self.state) & ~NOT_COMPARED == 0

    def is_current(self, sequence):
        """Was the first slot read from this record?"""
        return self.is_same() and self.store.moved(self.shard, sequence) < VERSIONS

    def is_whole(self, sequence):
        """The same of the chunks, which may have taken long to read."""
        if not self.state & CHAINED:
            return self.is_current(sequence)
        moved = self.store.moved(self.shard, sequence)
        return self.is_same() and moved < JUMP and self.store.u32[self.off // 4 + 1] == self.shape

    def expired(self):
        return self.expires != 0 and self.store.now_s() >= self.expires


class Store:
    def __init__(self, segment, off, cache_bytes, cache_records):
        """`off` is where the region begins; `end` is where the file ends."""
        self.segment, self.name_seed = segment, segment.name_seed
        self.u8, self.u32, self.u64 = segment.u8, segment.u32, segment.u64
        self.cache_records = cache_records
        self.shards, self.shard_tables, self.shard_pages = counts(cache_bytes, cache_records)
        self.tables = self.shards * self.shard_tables
        self.pages = self.shards * self.shard_pages
        self.off = off
        self.end = off
        if self.shards == 0:
            return
        self.tallies_off = off + STORE_BYTES
        self.shards_off = self.tallies_off + TALLY_BYTES * TALLIES
        self.leases_off = self.shards_off + SHARD_BYTES * self.shards
        self.roots_off = self.leases_off + LEASE_BYTES * LEASES * self.shards
        self.tables_off = self.roots_off + round_up(ROOT_BYTES * self.tables, 64)
        self.page_headers_off = self.tables_off + TABLE_BYTES * self.tables
        self.page_bitmaps_off = self.page_headers_off + PAGE_HEADER_BYTES * self.pages
        self.pages_off = round_up(self.page_bitmaps_off + PAGE_BITMAP_BYTES * self.pages)
        self.end = self.pages_off + SLAB * self.pages
        assert self.end - self.shards_off <= cache_bytes

    def now_s(self):
        return (self.segment.clock_ns() + 500000000) // 1000000000

    def shard_u64(self, shard, off):
        return self.u64[(self.shards_off + SHARD_BYTES * shard + off) // 8]

    def moved(self, shard, sequence):
        return self.shard_u64(shard, 0) - sequence & MASK

    # Pages, slots and refs

    def place(self, shard, ref, count):
        """The file offset that a ref of this shard leads to, with room for so many bytes."""
        page, off = (ref >> 12) - 1, (ref & 0xFFF) * 4
        if (
            not shard * self.shard_pages <= page < (shard + 1) * self.shard_pages
            or off + count > SLAB
        ):
            raise Damaged("a ref leads out of its shard")
        return self.pages_off + page * SLAB + off

    def page_class(self, page):
        """None: the page is free."""
        number = self.u32[(self.page_headers_off + PAGE_HEADER_BYTES * page) // 4]
        if number > UNITS + 1:
            raise Damaged(f"page {page} has a class that there is not")
        return number - 1 if number else None

    def bitmap(self, page):
        """Where the page's bitmap begins in the file, and how many bytes it has."""
        size_class = self.page_class(page)
        slots = 0 if size_class is None else slots_of(size_class)
        if slots > 64:
            count = 8 * next(words for words in (2, 4, 8, 16) if 64 * words >= slots)
            return self.pages_off + SLAB * (page + 1) - count, count
        return self.page_bitmaps_off + PAGE_BITMAP_BYTES * page, PAGE_BITMAP_BYTES

    def taken(self, page):
        """The slots of the page that are taken."""
        off, count = self.bitmap(page)
        words = self.u64[off // 8 : (off + count) // 8]
        return {
            64 * i + k for i, word in enumerate(words) for k in range(64) if word and word >> k & 1
        }

    # Tables and buckets

    def buckets(self, table):
        """A table's root, as it is now, and the count of buckets."""
        root = self.u64[(self.roots_off + ROOT_BYTES * table) // 8]
        count = (root & 0xFFFFFFFF) >> 1
        small = count in (1, 2, 4, 8, 16, 32)
        sound = small or count % UNIT_BUCKETS == 0 and count <= BUCKETS_MAX
        return root, count if sound else 0

    def unit_off(self, table, root, number):
        """The file offset of a unit's ref (where the lowest byte comes first)."""
        if number == 0:
            return self.roots_off + ROOT_BYTES * table + 4
        return self.tables_off + TABLE_BYTES * table + 4 * (UNITS_MAX * (root & 1) + number)

    def unit(self, table, root, number):
        """The ref of a unit. The first is in the root, and was read with it."""
        return root >> 32 if number == 0 else self.u32[self.unit_off(table, root, number) // 4]

    def bucket(self, shard, table, root, number):
        ref = self.unit(table, root, number // UNIT_BUCKETS)
        if ref & 15:
            raise Damaged("a unit does not begin at a bucket")
        off = self.place(shard, ref + number % UNIT_BUCKETS * BUCKET // 4, BUCKET)
        return off, struct.unpack_from("=10HHH", self.u64[off // 8 : off // 8 + 3].tobytes())

    def search(self, home, space, key, sequence):
        """A record; None: it is absent; Damaged: look again."""
        again = False
        root, buckets = self.buckets(home.table)
        number = home.position * buckets >> 18
        for _ in range(reach(buckets)):
            try:
                off, tags = self.bucket(home.shard, home.table, root, number)
            except Damaged:
                break
            for k in range(BUCKET_CELLS):
                ref = self.u32[off // 4 + 6 + k]
                if tags[k] != home.position & 0xFFFF or ref == 0:
                    continue
                try:
                    record = Record(self, home.shard, ref, sequence)
                except Damaged:
                    again |= self.u32[off // 4 + 6 + k] != ref
                    continue
                if record.space == space and record.key == key:
                    if record.is_whole(sequence):
                        return record
                    raise Damaged("a record has changed")
            if tags[10] == 0:
                break
            number = (number + 1) % buckets
        if again or self.moved(home.shard, sequence) >= VERSIONS:
            raise Damaged("the buckets have changed")
        return None

    def find(self, space, key):
        """The record of a key, also one that has expired; None: absent."""
        if self.shards == 0:
            return None
        home = Home(self, space, key)
        for _ in range(TRIES):
            try:
                return self.search(home, space, key, self.shard_u64(home.shard, 0))
            except Damaged:
                continue
        return None

    # The whole store, of a quiet segment

    def all_records(self):
        """Every record: table, bucket, file offset of the ref that leads to it, and the record or why there is none."""
        for table in range(self.tables):
            shard = table // self.shard_tables
            root, buckets = self.buckets(table)
            for number in range(buckets):
                try:
                    off, tags = self.bucket(shard, table, root, number)
                except Damaged as problem:
                    yield table, number, 0, 0, problem
                    continue
                for k in range(BUCKET_CELLS):
                    ref = self.u32[off // 4 + 6 + k]
                    if ref != 0:
                        try:
                            yield table, number, off + 24 + 4 * k, tags[k], Record(self, shard, ref)
                        except Damaged as problem:
                            yield table, number, off + 24 + 4 * k, tags[k], problem

    def records(self):
        for table, number, ref_off, _, record in self.all_records():
            if isinstance(record, Record):
                record.ref_off = ref_off
                record.table, record.unit = table, number // UNIT_BUCKETS
                record.unit_off = self.unit_off(table, self.buckets(table)[0], record.unit)
                yield record

    def problems(self):
        """Whatever breaks a rule."""
        if self.shards == 0:
            return
        self.led = {}
        records, data_bytes, keys = [0] * self.shards, [0] * self.shards, set()
        needed = {}
        for table in range(self.tables):
            yield from self.units_problems(table)
        for table, number, _, tag, record in self.all_records():
            shard = table // self.shard_tables
            what = f"table {table}, bucket {number}"
            if isinstance(record, Damaged):
                yield f"{what}: {record}"
                continue
            records[shard] += 1
            data_bytes[shard] += record.key_bytes + record.value_bytes
            if (record.space, record.key) in keys:
                yield f"{what}: a key comes twice"
            keys.add((record.space, record.key))
            for problem in self.record_problems(table, number, tag, record, needed):
                yield f"{what}: {problem}"
        for (table, number), count in needed.items():
            root, _ = self.buckets(table)
            if self.bucket(table // self.shard_tables, table, root, number)[1][10] < count:
                yield f"table {table}, bucket {number}: overflow is lower than the records in later buckets"
        for page in range(self.pages):
            try:
                size_class = self.page_class(page)
            except Damaged as problem:
                yield str(problem)
                continue
            if size_class is not None and self.taken(page) != self.led.get(page, set()):
                yield f"page {page}: what is taken is not what something leads to"
        for shard in range(self.shards):
            if (records[shard], data_bytes[shard]) != (
                self.shard_u64(shard, 80) & 0xFFFFFFFF,
                self.shard_u64(shard, 88),
            ):
                yield f"shard {shard} counts what it does not hold"
            if self.shard_u64(shard, 96) & 0xFFFFFFFF != 0:
                yield f"shard {shard}: a change was left unfinished"
        if self.cache_records != 0 and sum(records) > self.cache_records:
            yield "there are more records than there may be"

    def lead(self, shard, ref, classes):
        """Notes that something leads to a slot; None, or what is wrong."""
        self.place(shard, ref, 16)
        page, off = (ref >> 12) - 1, (ref & 0xFFF) * 4
        size_class = self.page_class(page)
        if size_class is None or size_class not in classes:
            raise Damaged("a ref leads to a page of another class")
        slot, rest = divmod(off, slot_bytes(size_class))
        if rest != 0 or slot not in self.taken(page):
            raise Damaged("a ref leads to no slot that is taken")
        led = self.led.setdefault(page, set())
        if slot in led:
            raise Damaged("two refs lead to one slot")
        led.add(slot)
        return size_class

    def units_problems(self, table):
        root, buckets = self.buckets(table)
        for i in range((buckets + UNIT_BUCKETS - 1) // UNIT_BUCKETS):
            try:
                ref = self.unit(table, root, i)
                self.lead(table // self.shard_tables, ref, (unit_class(buckets),))
            except Damaged as problem:
                yield f"table {table}, unit {i}: {problem}"

    def record_problems(self, table, number, tag, record, needed):
        shard = table // self.shard_tables
        _, buckets = self.buckets(table)
        home = Home(self, record.space, record.key)
        home_bucket = home.position * buckets >> 18
        if home.table != table:
            yield "a record is in a table that is not its key's"
        elif tag != home.position & 0xFFFF or (
            buckets >= 8 and position_in(buckets, number, tag) != home.position
        ):
            yield "a tag is not its key's"
        elif (number - home_bucket) % buckets >= reach(buckets):
            yield "a record is too far from its home"
        else:
            while home_bucket != number:
                needed[table, home_bucket] = needed.get((table, home_bucket), 0) + 1
                home_bucket = (home_bucket + 1) % buckets
            if self.find(record.space, record.key) is None:
                yield "a record cannot be found"
        if record.type >= len(TYPES) or record.reserved != 0:
            yield "a record has a type that there is not"
        lengths = {0: 0, 1: 0, 2: 0, 3: 8, 4: 8, 8: 8}
        if lengths.get(record.type, record.value_bytes) != record.value_bytes or (
            record.type == 8 and not record.space
        ):
            yield "a value is not of its type's length"
        large = bool(record.state & CHAINED)
        count = record.head_bytes + record.key_bytes + record.value_bytes
        if count > 4096 and not large or count <= 2048 and large:
            yield "a record is large that need not be, or the other way round"
        now, base = self.shard_u64(shard, 8), self.shard_u64(shard, 16) >> 32
        if (now - record.state) & STAMP > (now - base) & STAMP:
            yield "a stamp is older than the oldest"
        try:
            its_class = self.lead(shard, record.ref, range(len(CLASSES)))
            least = class_of(record.slot_bytes)
            most = CLASSES[least] * 5 // 4 if self.shard_pages < 160 else CLASSES[least]
            if its_class < least or (not large and CLASSES[its_class] > most):
                yield "a record is not in the class that it should be in"
            before = record.ref
            for chunk, its_class in record.chunks:
                self.lead(shard, chunk, (its_class,))
                at = self.place(shard, chunk, CHUNK_HEAD) // 4
                if self.u32[at + 2] != before or self.u32[at] & (LIVE | CHAINED) != CHAINED:
                    yield "a chunk does not lead back"
                before = chunk
            if record.after_chain != 0:
                yield "a chain goes on after its end"
        except Damaged as problem:
            yield str(problem)


def describe(record):
    return {
        "space": record.space,
        "key": record.key.hex(),
        "type": TYPES[record.type] if record.type < len(TYPES) else record.type,
        "value": record.value.hex(),
        "expires": record.expires,
        "expired": record.expired(),
        "protected": bool(record.state & PROTECTED),
        "shard": record.shard,
        "large": bool(record.state & CHAINED),
        "record_off": record.off,
        "ref_off": record.ref_off,
        "tag_off": record.ref_off // BUCKET * BUCKET + (record.ref_off % BUCKET - 24) // 2,
        "root_off": record.store.roots_off + ROOT_BYTES * record.table,
        "unit": record.unit,
        "unit_off": record.unit_off,
        "header_off": record.store.page_headers_off + PAGE_HEADER_BYTES * ((record.ref >> 12) - 1),
        "bitmap_off": record.store.bitmap((record.ref >> 12) - 1)[0],
        "chunk_off": record.store.place(record.shard, record.chunks[0][0], CHUNK_HEAD)
        if record.chunks
        else 0,
    }

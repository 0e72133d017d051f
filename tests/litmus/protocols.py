"""
protocols.py - the protocols of the segment as litmus tests: two to four threads, each step of which
is one access of ours, in its order. Each test names the functions that it mirrors. Its arguments
are the orders of those functions; its outcome must never come with them, and must come with each of
the weaker orders that are listed.

Several words of one kind (a descriptor's, a record's bytes) are two here: one that is old and one
that is new show a mixture. The compiler's and the processor's freedom is that of C11 (weak.py), so
bytes that are copied are relaxed accesses.

Licensed under the MIT licence; see LICENSE.
"""

from weak import (
    ACQ_REL,
    ACQUIRE,
    RELAXED,
    RELEASE,
    SEQ_CST,
    change,
    fence,
    load,
    store,
    swap,
    take,
    wait_for,
)

TESTS = []


def litmus(*weaker):
    """A test, and the weaker orders under which its outcome must be found."""

    def note(test):
        TESTS.append((test, weaker))
        return test

    return note


# ------------------------------------------------------------------ the explorer itself

# Outcomes that are well known.


@litmus({"first": None}, {"second": None})
def store_buffering(first=SEQ_CST, second=SEQ_CST):
    """Two stores, then two loads that miss both."""

    def a():
        yield store("x", 1, SEQ_CST)
        yield fence(first)
        return (yield load("y", SEQ_CST))

    def b():
        yield store("y", 1, SEQ_CST)
        yield fence(second)
        return (yield load("x", SEQ_CST))

    return [a, b], lambda result, last: result == [0, 0], {}


@litmus({"read": RELAXED}, {"change_is": False})
def release_sequence(read=ACQUIRE, change_is=True):
    """A message that another thread has changed meanwhile still carries the first one's view."""

    def a():
        yield store("data", 1, RELAXED)
        yield store("x", 1, RELEASE)

    def b():
        if change_is:
            yield swap("x", 1, 2, RELAXED)
        elif (yield load("x", RELAXED)) == 1:
            yield store("x", 2, RELAXED)

    def c():
        return (yield load("x", read)) == 2 and (yield load("data", RELAXED)) == 0

    return [a, b, c], lambda result, last: result[2], {}


@litmus({"between": None})
def independent_reads(between=SEQ_CST):
    """Two readers see two stores in different orders."""

    def writer(where):
        def thread():
            yield store(where, 1, RELAXED)

        return thread

    def reader(one, other):
        def thread():
            saw = yield load(one, ACQUIRE)
            yield fence(between)
            return saw == 1 and (yield load(other, ACQUIRE)) == 0

        return thread

    return (
        [writer("x"), writer("y"), reader("x", "y"), reader("y", "x")],
        lambda result, last: result[2] and result[3],
        {},
    )


# ------------------------------------------------------------------ publishing a filter


@litmus({"generation": RELAXED}, {"before": None}, {"read": RELAXED}, {"between": None})
def descriptor(before=RELEASE, generation=RELEASE, read=ACQUIRE, between=ACQUIRE):
    """A descriptor is a mixture of two publications.

    put_in_force (segment/directory.c) against look (filter/query.c)."""

    def publisher():
        for g in (2, 3):
            yield fence(before)
            yield store(f"descriptor[{g & 1}].a", g, RELAXED)
            yield store(f"descriptor[{g & 1}].b", g, RELAXED)
            yield store("generation", g, generation)

    def asker():
        g = yield load("generation", read)
        a = yield load(f"descriptor[{g & 1}].a", RELAXED)
        b = yield load(f"descriptor[{g & 1}].b", RELAXED)
        yield fence(between)
        again = yield load("generation", RELAXED)
        return again == g and (a, b) != (g, g)

    return (
        [publisher, asker],
        lambda result, last: result[1],
        {"generation": 1, "descriptor[1].a": 1, "descriptor[1].b": 1},
    )


@litmus({"after": None}, {"between": None})
def question(after=RELEASE, between=ACQUIRE):
    """A wrong "no": a bit is read as it was zeroed for the next owner, and the generation as it was
    before.

    put_in_force (segment/directory.c) against bshm__view_current (filter/view.h)."""

    def publisher():
        yield store("generation", 2, RELEASE)
        yield fence(after)
        yield store("bit", 0, RELAXED)

    def asker():
        first = yield load("generation", ACQUIRE)
        bit = yield load("bit", RELAXED)
        yield fence(between)
        return first == 1 and bit == 0 and (yield load("generation", RELAXED)) == 1

    return [publisher, asker], lambda result, last: result[1], {"generation": 1, "bit": 1}


@litmus({"taken": None}, {"between": None})
def partitions_taken(taken=RELEASE, between=ACQUIRE):
    """The same where another process zeroes the partitions than the one that published.

    bshm__build_take (filter/build.c), bshm__clear_finish (filter/mend.c)."""

    def publisher():
        yield take("lock", 1)
        yield store("generation", 2, RELEASE)
        yield store("lock", 0, RELEASE)

    def builder():
        yield take("lock", 2)
        free = (yield load("generation", RELAXED)) == 2
        yield store("lock", 0, RELEASE)
        yield fence(taken)
        if free:
            yield store("bit", 0, RELAXED)

    def asker():
        first = yield load("generation", ACQUIRE)
        bit = yield load("bit", RELAXED)
        yield fence(between)
        return first == 1 and bit == 0 and (yield load("generation", RELAXED)) == 1

    return [publisher, builder, asker], lambda result, last: result[2], {"generation": 1, "bit": 1}


@litmus(
    {"begin": None}, {"end": RELAXED}, {"read": RELAXED}, {"read_next": RELAXED, "between": None}
)
def name(begin=RELEASE, end=RELEASE, read=ACQUIRE, read_next=ACQUIRE, between=ACQUIRE):
    """A name that is in its chain all the time is missed, in a directory that looks quiet.

    begin_change, unlink_entry, end_change against bshm__entry_find (segment/directory.c). Entry
    1 stands before entry 2, which is looked for, is taken out and ends another chain."""

    def changer():
        yield store("version", 1, RELAXED)
        yield fence(begin)
        yield store("head", 2, RELEASE)
        yield store("next[1]", 0, RELAXED)
        yield store("version", 2, end)

    def finder():
        version = yield load("version", read)
        entry = yield load("head", ACQUIRE)
        if entry == 1:
            entry = yield load("next[1]", read_next)
        if entry == 2:
            return False
        yield fence(between)
        return version != 1 and (yield load("version", RELAXED)) == version

    return [changer, finder], lambda result, last: result[1], {"head": 1, "next[1]": 2}


# ------------------------------------------------------------------ adding while a filter is built


@litmus({"adder": None}, {"registered": None})
def add_or_read(adder=SEQ_CST, registered=SEQ_CST):
    """An add returns without a note for the builder, who does not read its bit either.

    add_published (filter/add.c) against bshm__op_begin (segment/ops.c) and a union's or copy's
    reading of the set that stands. The twin of tests/model/add_rebuild.pml."""

    def add():
        yield change("bit", RELAXED, lambda bits: bits | 1)
        yield fence(adder)
        return (yield load("builders", SEQ_CST)) == 0

    def build():
        yield take("lock", 1)
        yield store("builders", 1, RELAXED)
        yield fence(registered)
        yield store("lock", 0, RELEASE)
        return (yield load("bit", RELAXED)) == 0

    return [add, build], lambda result, last: result == [True, True], {}


@litmus({"tidy": RELAXED}, {"look": RELAXED}, {"builders_first": False})
def add_or_published(tidy=RELEASE, look=ACQUIRE, builders_first=True):
    """An add finds no builder any more, and not yet what the builder has published.

    add_published (filter/add.c) against put_in_force and tidy (segment/directory.c)."""

    def build():
        yield store("generation", 2, RELEASE)
        yield store("builders", 0, tidy)

    def add():
        yield fence(SEQ_CST)
        if builders_first:
            builders = yield load("builders", look)
        generation = yield load("generation", ACQUIRE)
        if not builders_first:
            builders = yield load("builders", look)
        return builders == 0 and generation == 1

    return [build, add], lambda result, last: result[1], {"builders": 1, "generation": 1}


@litmus({"given": RELAXED}, {"read": RELAXED})
def claim_given_back(given=RELEASE, read=ACQUIRE):
    """A bit of an op that was given up comes after the zeroing of the next op that has the
    partition.

    bshm__build_abort (filter/build.c), clear_abort (filter/clear.c) against reap_ops
    (filter/mend.c)."""

    def former():
        yield store("partition", 1, RELAXED)
        yield swap("op.owner", 1, 0, given)

    def next_owner():
        if (yield load("op.owner", read)) == 0:
            yield store("partition", 2, RELAXED)
            return True

    return (
        [former, next_owner],
        lambda result, last: result[1] and last["partition"] == 1,
        {"op.owner": 1},
    )


@litmus({"aimed": None}, {"between": None})
def lane_asked(aimed=SEQ_CST, between=ACQUIRE):
    """A wrong "no": a lane is seen empty, and its word as if nothing was being zeroed.

    rotate against look (filter/sliding.c)."""

    def rotate():
        yield store("word", 1, RELAXED)
        yield fence(aimed)
        yield change("lanes", RELAXED, lambda lanes: 0)
        yield store("word", 2, RELEASE)

    def ask():
        word = yield load("word", ACQUIRE)
        lanes = yield load("lanes", RELAXED)
        yield fence(between)
        return word == 0 and lanes == 0 and (yield load("word", RELAXED)) == 0

    return [rotate, ask], lambda result, last: result[1], {"lanes": 1}


@litmus({"rests_last": False})
def lane_added(rests_last=True):
    """A bit that is set after the lane was zeroed is zeroed all the same.

    rotate against add (filter/sliding.c). Relaxed accesses would do here: the lane is zeroed
    by read-modify-writes. Release and acquire are there against load buffering, which is not
    tried."""

    def rotate():
        yield store("word", 1, RELAXED)
        yield fence(SEQ_CST)
        if not rests_last:
            yield store("word", 2, RELEASE)
        yield change("lanes", RELAXED, lambda lanes: lanes & ~1)
        if rests_last:
            yield store("word", 2, RELEASE)

    def add():
        if (yield load("word", ACQUIRE)) == 2:
            yield change("lanes", RELAXED, lambda lanes: lanes | 1)
            return True

    return [rotate, add], lambda result, last: result[1] and last["lanes"] == 0, {"lanes": 1}


# ------------------------------------------------------------------ the locks


@litmus({"taken": RELAXED}, {"given": RELAXED})
def lock(taken=ACQ_REL, given=RELEASE):
    """A holder does not see what the one before it has stored.

    bshm__word_lock, bshm__unlock (segment/lock.c), bshm__shard_try, bshm__shard_leave
    (cache/shard.h)."""

    def holder(me):
        def thread():
            yield take("lock", me, taken)
            count = yield load("count", RELAXED)
            yield store("count", count + 1, RELAXED)
            yield store("lock", 0, given)

        return thread

    return [holder(1), holder(2)], lambda result, last: last["count"] != 2, {}


@litmus({"answer": RELAXED})
def take_over(answer=ACQUIRE):
    """A process takes the lock over from a dead one, and does not see all that the dead one stored.

    bshm__word_lock (segment/lock.c), bshm__owner_alive (segment/owners.c). The kernel's lock on
    the slot's byte orders: it is released after the last store of the dead, and asked for before
    the lock is taken over."""

    def dead():
        yield take("lock", 1, ACQ_REL)
        yield store("intent", 1, RELAXED)
        yield store("byte", 0, RELEASE)

    def waiter():
        if (yield swap("lock", 0, 2, ACQ_REL)) == 1:
            yield fence(ACQUIRE)
            if (yield load("byte", answer)) == 0 and (yield swap("lock", 1, 2, ACQ_REL)) == 1:
                return (yield load("intent", RELAXED)) == 0

    return [dead, waiter], lambda result, last: result[1], {"byte": 1}


@litmus({"taken": ACQUIRE}, {"asked": None})
def living_holder(taken=ACQ_REL, asked=ACQUIRE):
    """The lock is taken from a living process: its word is seen, and the slot's generation of the
    owner before it.

    occupy, bshm__owner_alive (segment/owners.c), bshm__word_lock (segment/lock.c)."""

    def holder():
        yield store("generation", 1, RELEASE)
        yield take("lock", 1, taken)

    def waiter():
        if (yield swap("lock", 0, 2, taken)) == 1:
            yield fence(asked)
            return (yield load("generation", ACQUIRE)) != 1

    return [holder, waiter], lambda result, last: result[1], {}


# ------------------------------------------------------------------ the look-up of a record

LIVE, DEAD = 1, 0  # of version v: v * 2 + LIVE


def look_at_slots(read_ref, read_state, between):
    """search and bshm__record_current (cache/find.c, record.h): is what was copied a mixture?"""

    def look_up():
        since = yield load("sequence", ACQUIRE)
        slot = yield load("ref", read_ref)
        state = yield load(f"state[{slot}]", read_state)
        if state & LIVE == 0:
            return False
        a = yield load(f"a[{slot}]", RELAXED)
        b = yield load(f"b[{slot}]", RELAXED)
        yield fence(between)
        again = yield load(f"state[{slot}]", RELAXED)
        return again == state and a != b and (yield load("sequence", RELAXED)) - since < 8

    return look_up


TWO_RECORDS = {
    "ref": 1,
    "state[1]": LIVE,
    "a[1]": 1,
    "b[1]": 1,
    "state[2]": LIVE,
    "a[2]": 2,
    "b[2]": 2,
}


@litmus({"freed": None}, {"live": RELAXED}, {"read_state": RELAXED}, {"between": None})
def value(freed=RELEASE, live=RELEASE, read_ref=ACQUIRE, read_state=ACQUIRE, between=ACQUIRE):
    """A value is a mixture of two records of one slot.

    free_taken (cache/slab.c), build, publish (cache/put.c) against the look-up (cache/find.c)."""

    def put():
        yield store("ref", 2, RELEASE)
        yield store("sequence", 1, RELAXED)
        yield store("state[1]", 2 + DEAD, RELEASE)
        yield fence(freed)
        yield store("a[1]", 3, RELAXED)
        yield store("b[1]", 3, RELAXED)
        yield store("state[1]", 2 + LIVE, live)
        yield store("ref", 1, RELEASE)

    return (
        [put, look_at_slots(read_ref, read_state, between)],
        lambda result, last: result[1],
        TWO_RECORDS,
    )


@litmus({"entered": None}, {"live": RELAXED}, {"between": None})
def value_of_another(entered=RELEASE, live=RELEASE, between=ACQUIRE):
    """The same where one process frees the slot, and another fills it.

    bshm__shard_lock_free, bshm__shard_lock_wait (cache/shard_lock.[hc])."""

    def remover():
        yield take("lock", 1)
        yield store("state[1]", 2 + DEAD, RELEASE)
        yield store("lock", 0, RELEASE)

    def putter():
        yield take("lock", 2)
        yield fence(entered)
        if (yield load("state[1]", RELAXED)) == 2 + DEAD:
            yield store("a[1]", 3, RELAXED)
            yield store("b[1]", 3, RELAXED)
            yield store("state[1]", 2 + LIVE, live)

    return (
        [remover, putter, look_at_slots(ACQUIRE, ACQUIRE, between)],
        lambda result, last: result[2],
        TWO_RECORDS,
    )


@litmus({"published": RELAXED}, {"freed": RELAXED}, {"read_state": RELAXED, "astray": None})
def record_found(
    published=RELEASE, freed=RELEASE, read_ref=ACQUIRE, read_state=ACQUIRE, astray=ACQUIRE
):
    """A record that is replaced is missed: neither the old one nor the new one is found.

    publish (cache/put.c), free_taken (cache/slab.c) against search, ref_changed (cache/find.c)."""

    def put():
        yield store("state[2]", LIVE, RELEASE)
        yield store("ref", 2, published)
        yield store("state[1]", 2 + DEAD, freed)

    def look_up():
        slot = yield load("ref", read_ref)
        state = yield load(f"state[{slot}]", read_state)
        if state & LIVE != 0:
            return False
        yield fence(astray)
        if (yield load("ref", ACQUIRE)) != slot:
            return False
        return (yield load(f"state[{slot}]", RELAXED)) == state

    return [put, look_up], lambda result, last: result[1], {"ref": 1, "state[1]": LIVE}


def look_in_lines(list_of, read_sequence, between):
    """search (cache/find.c): is record 7, which stands all the time, absent? Its line's tag is
    looked at first."""

    def look_up():
        since = yield load("sequence", read_sequence)
        line = yield from list_of()
        if (yield load(line, RELAXED)) == 7:
            return False
        yield fence(between)
        return (yield load("sequence", RELAXED)) == since

    return look_up


@litmus(
    {"root": RELAXED},
    {"jump": RELAXED},
    {"jumped": None},
    {"read_sequence": RELAXED},
    {"between": None},
)
def table_resized(
    root=RELEASE, jump=RELEASE, jumped=RELEASE, read_sequence=ACQUIRE, between=ACQUIRE
):
    """A record is missed because its table gets other lines.

    bshm__table_resize (cache/table.c), bshm__sequence_jump (cache/slab.c) against search
    (cache/find.c)."""

    def resize():
        yield store("line[1]", 7, RELAXED)
        yield store("root", 1, root)
        yield store("sequence", 8, jump)
        yield fence(jumped)
        yield store("line[0]", 0, RELAXED)

    def list_of():
        return f'line[{(yield load("root", ACQUIRE))}]'

    return (
        [resize, look_in_lines(list_of, read_sequence, between)],
        lambda result, last: result[1],
        {"line[0]": 7},
    )


@litmus({"moved": RELAXED}, {"read": RELAXED}, {"jump": RELAXED}, {"jumped": None})
def unit_moved(moved=RELEASE, read=ACQUIRE, jump=RELEASE, jumped=RELEASE):
    """A record is missed because the unit that has its line is moved.

    bshm__unit_move (cache/table.c) against bshm__buckets_of and bshm__unit (cache/index.h)."""

    def move():
        yield store("line[1]", 7, RELAXED)
        yield store("unit", 1, moved)
        yield store("sequence", 8, jump)
        yield fence(jumped)
        yield store("line[0]", 0, RELAXED)

    def list_of():
        return f'line[{(yield load("unit", read))}]'

    return (
        [move, look_in_lines(list_of, ACQUIRE, ACQUIRE)],
        lambda result, last: result[1],
        {"line[0]": 7},
    )


@litmus({"moved": RELAXED}, {"read": RELAXED}, {"jumped": None}, {"between": None})
def chunk_moved(moved=RELEASE, read=ACQUIRE, jumped=RELEASE, between=ACQUIRE):
    """A chunk's bytes are another's, because the chunk is moved.

    bshm__chunk_move (cache/move.c) against bshm__record_load and bshm__record_read_part
    (cache/record.h).
    """

    def move():
        yield store("chunk[1]", 7, RELAXED)
        yield store("next", 1, moved)
        yield store("sequence", 8, RELEASE)
        yield fence(jumped)
        yield store("chunk[0]", 9, RELAXED)

    def copy():
        since = yield load("sequence", ACQUIRE)
        chunk = yield load("next", read)
        byte = yield load(f"chunk[{chunk}]", RELAXED)
        yield fence(between)
        return (yield load("sequence", RELAXED)) == since and byte != 7

    return [move, copy], lambda result, last: result[1], {"chunk[0]": 7}


@litmus(
    {"placed": RELAXED},
    {"moved": RELAXED},
    {"place": RELAXED},
    {"freed": None},
    {"between": None},
    {"number": 0},
)
def chunk_moved_back(
    placed=RELEASE, moved=RELEASE, place=ACQUIRE, freed=RELEASE, between=ACQUIRE, number=2
):
    """A chunk's bytes are another's, because the chunk was moved away and back meanwhile.

    bshm__chunk_move (cache/move.c) and free_taken (cache/slab.c) against bshm__record_read_part
    (cache/record.h) and bshm__record_survived (cache/record.c)."""

    def move():
        yield store("chunk[1]", 7, RELAXED)
        yield store("moved[1]", 1, placed)
        yield store("next", 1, moved)
        yield fence(freed)
        yield store("chunk[0]", 9, RELAXED)  # of another record
        yield store("chunk[0]", 7, RELAXED)
        yield store("moved[0]", number, placed)
        yield store("next", 0, moved)

    def copy():
        chunk = yield load("next", ACQUIRE)
        its = yield load(f"moved[{chunk}]", place)
        byte = yield load(f"chunk[{chunk}]", RELAXED)
        yield fence(between)
        again = yield load("next", ACQUIRE)
        return again == chunk and (yield load(f"moved[{again}]", ACQUIRE)) == its and byte != 7

    return [move, copy], lambda result, last: result[1], {"chunk[0]": 7}


@litmus({"freed": None}, {"between": None}, {"walked": RELAXED})
def chunk_slot_reused(freed=RELEASE, between=ACQUIRE, walked=ACQUIRE):
    """A chunk's bytes are another's, and the walk is led to its slot by what lies where the chunk
    before was, which is moved meanwhile.

    free_taken (cache/slab.c) against bshm__record_read_part (cache/record.h)."""

    def change():
        yield store("next", 2, RELEASE)  # the chunk is moved
        yield store("version", 1, RELEASE)
        yield fence(freed)
        yield store("chunk", 9, RELAXED)  # of another record, which is removed
        yield store("version", 2, RELEASE)
        yield store("first", 1, RELEASE)  # the chunk before is moved
        yield store("version before", 1, RELEASE)
        yield fence(freed)
        yield store("next", 1, RELAXED)  # of a third record

    def copy():
        led = yield load("next", ACQUIRE)
        before = yield load("version before", ACQUIRE)
        its = yield load("version", ACQUIRE)
        byte = yield load("chunk", RELAXED)
        yield fence(between)
        first = yield load("first", ACQUIRE)
        again = yield load("next", walked)
        same = (yield load("version before", RELAXED)) == before
        same = (yield load("version", RELAXED)) == its and same
        return led == again == 1 and first == 0 and same and byte != 7

    return [change, copy], lambda result, last: result[1], {"chunk": 7, "next": 1}


@litmus({"live": RELAXED}, {"second": None}, {"freed": None})
def serial(freed=RELEASE, live=RELEASE, second=ACQUIRE):
    """A large record's value is a mixture, where the slot's version has come back: the serial tells
    it.

    fill_first, build (cache/put.c) against bshm__record_unchanged (cache/record.h)."""

    def put():
        yield store("state", DEAD, RELEASE)
        yield fence(freed)
        yield store("serial", 2, RELAXED)
        yield store("a", 2, RELAXED)
        yield store("state", LIVE, live)

    def copy():
        first = yield load("state", ACQUIRE)
        its = yield load("serial", RELAXED)
        yield fence(ACQUIRE)
        if first != LIVE or its != 1 or (yield load("state", RELAXED)) != LIVE:
            return False
        byte = yield load("a", RELAXED)
        yield fence(ACQUIRE)
        state = yield load("state", RELAXED)
        yield fence(second)
        return state == LIVE and (yield load("serial", RELAXED)) == its and byte != 1

    return [put, copy], lambda result, last: result[1], {"state": LIVE, "serial": 1, "a": 1}


@litmus({"one_step": False})
def stamp(one_step=True):
    """A reader's stamp brings a record back to life that was freed meanwhile.

    bshm__touch_set (cache/recency.c) against free_taken (cache/slab.c)."""

    def touch():
        if one_step:
            yield swap("state", LIVE, 16 + LIVE, RELAXED)
        elif (yield load("state", RELAXED)) == LIVE:
            yield store("state", 16 + LIVE, RELAXED)

    def free():
        yield load("state", RELAXED)
        yield store("state", 2 + DEAD, RELEASE)

    return [touch, free], lambda result, last: last["state"] & LIVE != 0, {"state": LIVE}


# ------------------------------------------------------------------ leases


@litmus({"loader": None}, {"forgetter": None})
def forget_or_load(loader=SEQ_CST, forgetter=SEQ_CST):
    """A loader does not read what was added to the backend, and its lease is not seen either.

    bshm_lease_take against bshm_record_forget (cache/lease.c) and bshm_records_clear
    (cache/records_clear.c)."""

    def load_key():
        yield take("lock", 1)
        yield store("leases", 1, RELAXED)
        yield store("lock", 0, RELEASE)
        yield fence(loader)
        return (yield load("backend", RELAXED)) == 0

    def forget():
        yield store("backend", 1, RELAXED)
        yield fence(forgetter)
        return (yield load("leases", ACQUIRE)) == 0

    return [load_key, forget], lambda result, last: result == [True, True], {}


@litmus({"ended": RELAXED}, {"read": RELAXED})
def lease_ended(ended=RELEASE, read=ACQUIRE):
    """A lease is seen to have ended, and the record that was stored under it is missed.

    bshm__lease_end (cache/lease_table.c) against bshm_lease_held, bshm_record_forget
    (cache/lease.c)."""

    def loader():
        yield store("ref", 1, RELEASE)
        yield store("lease", 0, ended)

    def waiter():
        yield wait_for("lease", 0, read)
        return (yield load("ref", ACQUIRE)) == 0

    return [loader, waiter], lambda result, last: result[1], {"lease": 1}

/*
 * lookup.pml - the record store's look-up, which takes no lock, beside the holder of the shard's
 * lock.
 *
 * Mirrors, one step for each load or store of a shared word:
 *
 *     look-up   cache/find.c     find_all, search, ref_changed, copy_found
 *               cache/record.h   bshm__record_load, bshm__record_current, bshm__record_unchanged
 *               cache/record.c   bshm__record_survived, read_moved, is_indexed
 *               cache/index.h    bshm__buckets_of, bshm__unit, bshm__bucket_at, bshm__bucket_match
 *     writer    cache/put.c      fill_first, build, publish
 *               cache/remove.c   bshm__record_remove
 *               cache/move.c     bshm__record_move, bshm__chunk_move
 *               cache/table.c    bshm__table_resize, bshm__unit_move
 *               cache/index.h    bshm__cell_enter
 *               cache/slab.c     free_taken, divide, bshm__sequence_jump
 *               cache/chain.c    bshm__chain_free
 *     repair    cache/repair.c   bshm__intent_repair
 *               cache/table.c    bshm__table_resize_repair, bshm__unit_move_repair
 *
 * Properties, for a look-up of key A at any time:
 *   - A value that is found was written by one put, whole, and was A's at some time during the
 *     look-up; or its put was under way then: an old ref may lead to a new record that is live and
 *     not yet published.
 *   - "Absent" is told only if A was absent at some time during the look-up.
 *   - The look-up ends, whether the writer goes on, is stopped for ever or is killed.
 *   - After a death and its repair, each slot that is taken is led to exactly once: nothing leaks.
 *
 * Left out, and why that loses nothing:
 *   - The lock: lock.pml. Its holders come one after the other, so one process plays them all. It
 *     may be killed between any two of its steps; then the next holder repairs first, and may be
 *     killed too.
 *   - Words that only lock holders read (maps of taken slots, intents) are read together with the
 *     store that follows.
 *   - Stamps: no comparison of states looks at them, and no store depends on them. Counts: they are
 *     hints. Expiry: one word, old or new. Leases: lease.pml.
 *   - A version has one bit in the place of 12, so it comes back after 2 frees, and that is the
 *     number that the sequence is compared with. A serial never comes again (docs/CONCURRENCY.md
 *     has the odds).
 *   - Memory is sequentially consistent: tests/litmus has the memory orders.
 *
 * Bounds: one look-up (look-ups meet in stamps only); keys A and B, which have one tag and one home
 * line; two lines of one place each; three slots and two units. OPS changes, chosen freely; DEATHS
 * deaths. With -DFAR key B is in the home line and A in the next. With -DREUSE all changes are puts
 * of A, so that a slot is used again as often as its version takes. With -DLARGE a record has its
 * second half in a chunk.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef OPS
# define OPS 2
#endif
#ifndef DEATHS
# define DEATHS 1
#endif
#define A 1
#define B 2
#define TAG 1
#define JUMP 32
#define VERSIONS 2
#define FOREIGN 15 /* bytes that are no record's */

/* The ref of slot i is i + 1; of chunk i, CHUNK + i. */
#ifdef LARGE
# define SLOTS 2
# define CHUNKS 3
#else
# define SLOTS 3
# define CHUNKS 1
#endif
#define CHUNK (SLOTS + 1)
#define REFS (SLOTS + 1 + CHUNKS)
#define LIVE 1
#define VERSION 2

/* Of each slot: the state word, then what a look-up copies. */
byte state[REFS];
byte serial[REFS];
byte next[REFS];
byte key[REFS];
byte first_half[REFS];
byte second_half[REFS]; /* with -DLARGE: of the chunk */
byte moved[REFS];       /* of the chunk */
bool taken[REFS];
bool foreign[REFS];     /* its page belongs to another class */

/* The index: two lists of one unit; the root's lowest bit, `shape`, selects one. Line l of unit u:
 * 2 * u + l. */
bit shape;
byte unit_of[2];
bool unit_taken[2];
byte tag[4];
byte passed[4];
byte ref[4];

short sequence;

/* bshm_intent */
mtype = { NONE, PUT, REMOVE, MOVE, MOVE_CHUNK, MOVE_UNIT, RESIZE };
mtype kind = NONE;
byte place;
byte old;
byte fresh;
bool step;

bool dead;
bool owed;     /* a holder died, and no other has repaired what it left */

/* What is to be proved: A's value in force, 0 if it is absent; and the values that were in force
 * since the look-up began. */
byte current;
short seen;
byte made;     /* values */

inline now_is(value)
{
	current = value;
	seen = seen | (1 << current)
}

/* ------------------------------------------------------------------ the look-up */

#ifdef LARGE
# define SINCE JUMP
# define HALF(r) second_half[its_next]
#else
# define SINCE VERSIONS
# define HALF(r) second_half[r]
#endif

/* bshm__record_survived(): goes to `again`, or on. */
inline stands()
{
# ifndef BROKEN_NO_PLACES
	do
	:: true ->
		its_now = next[r];
#  ifdef BROKEN_NO_MOVED
		moved_now = its_moved;
#  else
		moved_now = moved[its_now];
#  endif
		if
		:: its_now == its_next && moved_now == its_moved -> break
		:: else
		fi;
		/* That part is copied again. */
		its_next = its_now;
		its_moved = moved[its_next];
		y = HALF(r)
#  ifdef BROKEN_NO_LAST_WALK
		;
		break
#  endif
	od;
# endif
# ifndef BROKEN_NO_INDEX
	since = sequence;
	list = shape;
	unit = unit_of[list];
	if
	:: ref[2 * unit] != r ->
		if
		:: ref[2 * unit + 1] != r -> goto again
		:: else
		fi
	:: else
	fi;
	if
	:: state[r] != s -> goto again
	:: else
	fi;
	if
	:: serial[r] != its_serial -> goto again
	:: else
	fi;
	if
	:: sequence - since >= VERSIONS -> goto again
	:: else
	fi
# endif
}

/* bshm__record_load() and the rest of one candidate: goes to `found` or `again`, or on. */
inline look_at(line)
{
	its_passed = passed[2 * unit + line];
	if
	:: tag[2 * unit + line] == TAG ->
		r = ref[2 * unit + line];
		if
		:: r != 0 ->
			atomic { s = state[r]; looked = true };
			its_key = 0;
			if
			:: (s & LIVE) != 0 ->
#ifdef LARGE
				its_serial = serial[r];
				its_next = next[r];
#endif
				its_key = key[r]
			:: else
			fi;
			if
			:: its_key == A ->
#if defined(LARGE) && !defined(BROKEN_HEAD_UNCHECKED)
				if
				:: state[r] != s -> goto again
				:: else
				fi;
				if
				:: sequence - since >= VERSIONS -> goto again
				:: else
				fi;
#endif
#ifdef LARGE
				its_moved = moved[its_next];
#endif
				x = first_half[r];
				y = HALF(r);
#ifndef BROKEN_NO_SECOND_LOOK
# ifdef BROKEN_NO_STATE
				skip;
# else
				if
				:: state[r] != s -> goto again
				:: else
				fi;
# endif
# ifdef BROKEN_NO_SEQUENCE
				skip;
# else
				if
				:: sequence - since >= SINCE ->
#  ifdef LARGE
					stands()
#  else
					goto again
#  endif
				:: else
				fi;
# endif
# if defined(LARGE) && !defined(BROKEN_NO_SERIAL)
				if
				:: serial[r] != its_serial -> goto again
				:: else
				fi;
# endif
#endif
				goto found
			:: else ->
				/* ref_changed() */
#ifndef BROKEN_NO_ASTRAY
				if
				:: ref[2 * unit + line] != r -> astray = true
				:: else ->
					if
					:: state[r] != s -> astray = true
					:: else
					fi
				fi
#endif
			fi
		:: else
		fi
	:: else
	fi
}

proctype look_up()
{
	short since;
	byte unit;
	byte r;
	byte s;
	byte x;
	byte y;
	byte its_key;
	byte its_next;
	byte its_serial;
	byte its_moved;
	byte its_now;
	byte moved_now;
	byte its_passed;
	bit list;
	bool astray;
	bool looked;

	atomic { seen = 1 << current };
again:
	atomic {
		astray = false;
		looked = false;
		r = 0;
		s = 0;
		x = 0;
		y = 0;
		its_next = 0;
		its_serial = 0;
		its_moved = 0;
		its_now = 0;
		moved_now = 0;
		since = sequence
	};
	list = shape;
	unit = unit_of[list];
	look_at(0);
	if
	:: its_passed != 0 -> look_at(1)
	:: else
	fi;
	if
	:: astray -> goto again
	:: else
	fi;
#ifndef BROKEN_NO_LAST_LOOK
	if
# ifdef BROKEN_ABSENT_LATE
	:: sequence - since >= JUMP -> goto again
# else
	:: sequence - since >= (looked -> VERSIONS : JUMP) -> goto again
# endif
	:: else
	fi;
#endif
	assert((seen & 1) != 0); /* absent */
	goto finished;
found:
	assert(x == y && (seen >> x & 1) != 0);
finished:
	skip
}

/* ------------------------------------------------------------------ under the lock */

inline jump()
{
	sequence = sequence + JUMP
}

/* bshm__slot_free() of a slot that is given up: of one that is free, nothing. */
inline slot_free(r)
{
	if
	:: taken[r] ->
#ifndef BROKEN_VERSION_FIRST
		sequence++;
#endif
#ifdef BROKEN_NO_VERSION
		state[r] = state[r] & VERSION;
#else
		state[r] = (state[r] & VERSION) ^ VERSION;
#endif
#ifdef BROKEN_VERSION_FIRST
		sequence++;
#endif
		taken[r] = false
	:: else
	fi
}

/* bshm__chain_free() */
inline chain_free(r)
{
#ifdef LARGE
	if
	:: r != 0 && r < CHUNK ->
# ifdef BROKEN_FIRST_SLOT_FIRST
		i = (taken[r] -> next[r] : 0);
		slot_free(r);
		slot_free(i)
# else
		slot_free(next[r]);
		slot_free(r)
# endif
	:: else -> slot_free(r)
	fi;
	i = 0
#else
	slot_free(r)
#endif
}

/* The first word of a unit that is given up becomes the state of a free slot. */
inline unit_free(u)
{
	if
	:: unit_taken[u] ->
		sequence++;
		tag[2 * u] = 0;
		unit_taken[u] = false
	:: else
	fi
}

/* What a repair finds of a place: `place` is the index of a ref, or with MOVE_CHUNK a slot. */
#define PLACE_HAS(r) ((kind == MOVE_CHUNK -> next[place] : ref[place]) == r)

/* bshm__intent_repair() */
inline repair()
{
#ifndef BROKEN_NO_REPAIR
	if
	:: kind == RESIZE ->
# ifndef BROKEN_REPAIR_NO_JUMP
		jump();
# endif
		if
		:: shape == fresh || step -> unit_free(unit_of[1 - shape])
		:: else
		fi
	:: kind == MOVE_UNIT ->
		jump();
		if
		:: unit_of[shape] == fresh -> unit_free(old)
		:: else -> unit_free(fresh)
		fi
	:: kind == REMOVE ->
		if
		:: atomic { ref[place] == old && key[old] == A -> ref[place] = 0; now_is(0) }
		:: else -> ref[place] = 0
		fi;
		chain_free(old)
	:: kind == PUT ->
# ifdef BROKEN_UNDO_DONE
		chain_free(fresh)
# else
		if
		:: fresh != 0 && ref[place] == fresh -> chain_free(old)
		:: else -> chain_free(fresh)
		fi
# endif
	:: kind == MOVE || kind == MOVE_CHUNK ->
		if
		:: PLACE_HAS(fresh) -> jump(); slot_free(old)
		:: else -> slot_free(fresh)
		fi
	:: else
	fi;
#endif
	intent_end();
	owed = false
}

#define FREE(r) (!taken[r] && !foreign[r])

/* bshm__slot_find(): any free one, or 0. */
inline slot_find(r)
{
	atomic {
		if
		:: FREE(1) -> r = 1
		:: FREE(2) -> r = 2
#ifndef LARGE
		:: FREE(3) -> r = 3
#endif
		:: else -> r = 0
		fi
	}
}

inline chunk_find(r)
{
	atomic {
		if
		:: !taken[CHUNK] -> r = CHUNK
		:: taken[CHUNK] && !taken[CHUNK + 1] -> r = CHUNK + 1
		:: else -> r = CHUNK + 2 /* one is free: records have two at most */
		fi
	}
}

/* bshm__locate(): `at` is the key's place, or NOWHERE; a put goes `to` it, or to a free one. */
#define NOWHERE 9
#define HAS(p) (ref[p] != 0 && key[ref[p]] == k)
inline locate()
{
	atomic {
		i = 2 * unit_of[shape];
		at = NOWHERE;
		to = (ref[i] == 0 -> i : i + 1);
		was = 0;
		if
		:: HAS(i) -> at = i
		:: !HAS(i) && HAS(i + 1) -> at = i + 1
		:: else
		fi;
		if
		:: at != NOWHERE -> to = at; was = ref[at]
		:: else
		fi;
		i = 0
	}
}

inline intent_begin(its_kind, its_place, its_old, its_fresh)
{
	atomic { place = its_place; old = its_old; fresh = its_fresh; kind = its_kind }
}

inline intent_end()
{
	atomic { kind = NONE; place = 0; old = 0; fresh = 0; step = false }
}

/* bshm__slot_take() and bshm__slot_live() of the slot that the intent names. An old ref may lead to
 * it already. */
inline take(r)
{
	taken[r] = true;
	atomic {
		state[r] = state[r] | LIVE;
		if
		:: kind == PUT && k == A -> seen = seen | (1 << v)
		:: else
		fi
	}
}

/* A put of key k. */
inline put()
{
	slot_find(f);
	locate();
	if
	:: f != 0 ->
		atomic { made++; v = made };
#ifdef LARGE
		intent_begin(PUT, to, was, 0);
		chunk_find(c);
		fresh = c;
		taken[c] = true;
		moved[c] = 0;
		second_half[c] = v;
		serial[f] = sequence % JUMP;
		next[f] = c;
#endif
#ifdef BROKEN_LIVE_EARLY
		state[f] = state[f] | LIVE;
#endif
		key[f] = k;
		first_half[f] = v;
#ifndef LARGE
		second_half[f] = v;
		intent_begin(PUT, to, was, 0);
#endif
#ifdef BROKEN_TAKE_FIRST
		taken[f] = true;
#endif
		fresh = f;
#ifdef BROKEN_FREE_FIRST
		chain_free(old);
#endif
		take(f);
#ifndef BROKEN_ENTER_LATE
		enter();
#endif
		if
		:: atomic { k == A -> ref[place] = f; now_is(v) }
		:: atomic { k != A -> ref[place] = f }
		fi;
#ifdef BROKEN_ENTER_LATE
		enter();
#endif
		chain_free(old);
		intent_end()
	:: else
	fi
}

/* bshm__cell_enter() */
inline enter()
{
	if
	:: at == NOWHERE && place % 2 == 1 -> passed[place - 1] = passed[place - 1] + 1
	:: else
	fi;
	tag[place] = TAG
}

/* bshm__record_remove() */
inline remove()
{
	locate();
	if
	:: at != NOWHERE ->
		intent_begin(REMOVE, to, was, 0);
		if
		:: atomic { k == A -> ref[place] = 0; now_is(0) }
		:: atomic { k != A -> ref[place] = 0 }
		fi;
		if
		:: place % 2 == 1 -> passed[place - 1] = passed[place - 1] - 1
		:: else
		fi;
		chain_free(old);
		intent_end()
	:: else
	fi
}

/* bshm__record_move() */
inline move()
{
	slot_find(f);
	locate();
	if
	:: at != NOWHERE && f != 0 ->
		key[f] = key[was];
		first_half[f] = first_half[was];
#ifdef LARGE
# ifdef BROKEN_OLD_SERIAL
		serial[f] = serial[was];
# else
		serial[f] = sequence % JUMP;
# endif
		next[f] = next[was];
#else
		second_half[f] = second_half[was];
#endif
		intent_begin(MOVE, to, was, f);
		take(f);
		ref[place] = f;
		slot_free(old);
		intent_end()
	:: else
	fi
}

/* bshm__chunk_move() */
inline chunk_move()
{
	locate();
	if
	:: at != NOWHERE ->
		chunk_find(c);
		second_half[c] = second_half[next[was]];
		jump();
		moved[c] = sequence / JUMP;
		intent_begin(MOVE_CHUNK, was, next[was], c);
		taken[c] = true;
		next[place] = c;
#ifndef BROKEN_NO_JUMP
		jump();
#endif
		slot_free(old);
		intent_end()
	:: else
	fi
}

/* free_page() and divide(): a page whose slots are all free is given to another class, which writes
 * anything. */
inline divide()
{
	atomic {
		if
		:: FREE(SLOTS) -> f = SLOTS
		:: else -> f = 0
		fi
	};
	if
	:: f != 0 ->
#ifndef BROKEN_NO_JUMP
		jump();
#endif
		foreign[f] = true;
		if
		:: state[f] = LIVE
		:: state[f] = VERSION | LIVE
		fi;
		key[f] = A;
		first_half[f] = FOREIGN;
		second_half[f] = FOREIGN
	:: else
	fi
}

/* put_ref() of what line l of the old unit has. */
inline copy_line(l)
{
	i = ref[2 * unit_of[shape] + l];
	if
	:: i != 0 && ref[2 * f] == 0 -> tag[2 * f] = tag[2 * unit_of[shape] + l]; ref[2 * f] = i
	:: i != 0 && ref[2 * f] != 0 ->
		passed[2 * f] = passed[2 * f] + 1;
		tag[2 * f + 1] = tag[2 * unit_of[shape] + l];
		ref[2 * f + 1] = i
	:: else
	fi;
	i = 0
}

inline zero_unit(u)
{
	tag[2 * u] = 0;
	tag[2 * u + 1] = 0;
	passed[2 * u] = 0;
	ref[2 * u] = 0;
	ref[2 * u + 1] = 0
}

/* bshm__table_resize(): to as many lines, of which records may get others. */
inline resize()
{
	atomic { f = 1 - unit_of[shape]; place = 0; fresh = 1 - shape; step = false; kind = RESIZE };
	unit_of[1 - shape] = f;
#ifdef BROKEN_TAKE_FIRST
	unit_taken[f] = true;
#endif
	step = true;
	unit_taken[f] = true;
	zero_unit(f);
#ifdef BROKEN_SHAPE_FIRST
	atomic { i = shape; shape = 1 - shape };
	unit_of[1 - shape] = unit_of[i];
	jump();
	atomic { shape = i };
#endif
	copy_line(0);
	copy_line(1);
	shape = fresh;
#ifndef BROKEN_NO_JUMP
	jump();
#endif
	unit_free(unit_of[1 - shape]);
	intent_end()
}

/* bshm__unit_move() */
inline unit_move()
{
	f = 1 - unit_of[shape];
	intent_begin(MOVE_UNIT, 0, unit_of[shape], f);
	unit_taken[f] = true;
	tag[2 * f] = tag[2 * old];
	tag[2 * f + 1] = tag[2 * old + 1];
	passed[2 * f] = passed[2 * old];
	ref[2 * f] = ref[2 * old];
	ref[2 * f + 1] = ref[2 * old + 1];
	unit_of[shape] = f;
#ifndef BROKEN_NO_JUMP
	jump();
#endif
	unit_free(old);
	intent_end()
}

#define USES(r) ((ref[i] == r) + (ref[i + 1] == r))
#ifdef LARGE
# define LEADS(p, c) (ref[p] != 0 && next[ref[p]] == c)
# define CHUNK_USES(c) (LEADS(i, c) + LEADS(i + 1, c))
#endif

inline nothing_leaks()
{
	atomic {
		i = 2 * unit_of[shape];
		assert(unit_taken[unit_of[shape]] && !unit_taken[1 - unit_of[shape]]);
		assert(taken[1] == USES(1) && taken[2] == USES(2));
#ifdef LARGE
		assert(taken[CHUNK] == CHUNK_USES(CHUNK) && taken[CHUNK + 1] == CHUNK_USES(CHUNK + 1));
		assert(taken[CHUNK + 2] == CHUNK_USES(CHUNK + 2))
#else
		assert(taken[3] == USES(3))
#endif
	}
}

/* The next change; of B, which is there for its places: a put, and a removal. */
inline choose()
{
	k = A;
	if
	:: what = PUT
#ifndef REUSE
	:: what = MOVE
	:: what = REMOVE
# ifdef LARGE
	:: what = MOVE_CHUNK
	:: what = NONE
# else
	:: what = NONE
	:: what = RESIZE
	:: what = MOVE_UNIT
	:: what = PUT; k = B
	:: what = REMOVE; k = B
# endif
#endif
	fi
}

proctype writer()
{
	mtype what;
	byte ops;
	byte k;
	byte f;
	byte c;
	byte v;
	byte i;
	byte at;
	byte to;
	byte was;

next_holder:
	{
		if
		:: owed -> repair()
		:: else
		fi;
		do
		:: atomic { ops < OPS -> ops++; f = 0; c = 0; v = 0; choose() };
			if
			:: what == PUT -> put()
#ifndef REUSE
			:: what == MOVE -> move()
			:: what == REMOVE -> remove()
# ifdef LARGE
			:: what == MOVE_CHUNK -> chunk_move()
			:: what == NONE -> divide()
# else
			:: what == NONE -> divide()
			:: what == RESIZE -> resize()
			:: what == MOVE_UNIT -> unit_move()
# endif
#endif
			fi
		:: break
		od;
		nothing_leaks()
	} unless { atomic { dead -> dead = false; owed = true; goto next_holder } }
}

/* SIGKILL, between any two steps of the holder. */
proctype killer()
{
	byte deaths;
end:
	do
	:: atomic { deaths < DEATHS && !dead -> deaths++; dead = true }
	od
}

init
{
	atomic {
		unit_taken[0] = true;
		taken[1] = true;
		state[1] = LIVE;
		key[1] = A;
		made = 1;
		first_half[1] = 1;
#ifdef LARGE
		taken[CHUNK] = true;
		next[1] = CHUNK;
		second_half[CHUNK] = 1;
#else
		second_half[1] = 1;
#endif
		tag[0] = TAG;
#ifdef FAR
		taken[2] = true;
		state[2] = LIVE;
		key[2] = B;
		ref[0] = 2;
		passed[0] = 1;
		tag[1] = TAG;
		ref[1] = 1;
#else
		ref[0] = 1;
#endif
		current = 1;
		run look_up();
		run writer();
		run killer()
	}
}

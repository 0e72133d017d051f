/*
 * quota.pml - a limit of records that several shards share, taken in portions and collected when it
 * is short.
 *
 * Mirrors, one step for each load, store or compare-and-swap of a shared word:
 *
 *     cache/quota.c      bshm__quota_take, draw, collect, take_credit, bshm__quota_give, _announce
 *     cache/quota_recount.c  bshm__quota_recount
 *     cache/put.c        bshm__put_record: taken before the record is there, evicting until it is
 *     cache/remove.c     bshm__record_remove: given back when it is gone
 *
 * Properties:
 *   - `reserved` is never less than records and spares of all shards, and never more than the
 *     limit: so there are never more records than that.
 *   - A record is evicted only when there is no spare anywhere, but for shards that somebody else
 *     is in, or that a dead process holds: a limit of n holds n.
 *   - When all is quiet, `reserved` is exactly what was given out; or `recount` says that it may
 *     not be, and the next who meets the limit counts anew; or a dead process holds a lock, and
 *     whoever takes it will say so.
 *
 * Left out, and why that loses nothing:
 *   - The lock's waiting and taking over: lock.pml. Here it is one step, and whoever takes over
 *     says `recount`.
 *   - Which record is evicted; how many portions there are: any number up to BATCH is taken.
 *   - Memory is sequentially consistent; all words but `reserved`, `holders` and `recount` are
 *     under a shard's lock.
 *
 * Bounds: two shards, two processes with three calls each, with -DTHREE three with one; a limit of
 * three, portions of two, of which a shard keeps one; one death, with -DTHREE two. At the beginning
 * all of the limit is given out.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define SHARDS 2
#ifdef THREE
# define PROCESSES 3
# define CALLS 1
# define DEATHS 2
#else
# define PROCESSES 2
# define CALLS 3
# define DEATHS 1
#endif
#define LIMIT 3
#define BATCH 2
#define KEPT 1
#define OTHER (1 - s)

byte reserved = LIMIT;
bool recount;
bool holder[SHARDS];
byte lock[SHARDS]; /* 0, or the process + 1 */
byte spare[SHARDS];
byte records[SHARDS] = {LIMIT, 0};

bool dead[PROCESSES];
byte deaths = DEATHS;
bool spoilt; /* somebody died */
byte calls;  /* that are going on */
bool alone[3]; /* no other call has been going on since it was set */

#define GIVEN (records[0] + records[1] + spare[0] + spare[1])

#define held_by_dead(which) (lock[which] != 0 && dead[lock[which] - 1])
#define settled (calls != 0 || reserved == GIVEN || recount || held_by_dead(0) || held_by_dead(1))

/* After each step: what must always be so; and one may die. */
inline step()
{
	atomic {
		assert(reserved >= GIVEN && reserved <= LIMIT);
		if
		:: true
		:: deaths > 0 ->
			deaths--; dead[me] = true; spoilt = true; calls--; assert(settled); goto end
		fi
	}
}

inline take_lock(which)
{
	if
	:: atomic { lock[which] == 0 -> lock[which] = me + 1 }
	:: atomic { lock[which] != 0 && dead[lock[which] - 1] -> lock[which] = me + 1; recount = true }
	fi;
	step()
}

inline give_lock(which)
{
#ifndef BROKEN_NO_ANNOUNCE
	if
	:: spare[which] != 0 -> holder[which] = true; step()
	:: else
	fi;
#endif
	lock[which] = 0;
	step()
}

/* draw(): got = 0 if nothing is left, or what others have to spare. */
inline draw()
{
	seen = reserved;
	do
	:: seen >= LIMIT -> break
	:: seen < LIMIT ->
		if
		:: count = 1
		:: seen + BATCH <= LIMIT -> count = BATCH
		fi;
		if
		:: atomic { reserved == seen -> reserved = seen + count; got = count }; break
		:: atomic { reserved != seen -> seen = reserved }
		fi
	od;
	step();
	if
#ifndef BROKEN_NO_COLLECT
	:: got == 0 && holder[OTHER] ->
		if
		:: atomic { lock[OTHER] == 0 -> lock[OTHER] = me + 1 };
			step();
			got = spare[OTHER];
			step();
			spare[OTHER] = 0;
			step();
			holder[OTHER] = false;
			step();
			lock[OTHER] = 0;
			step()
		:: lock[OTHER] != 0
		fi
#endif
	:: else
	fi
}

inline give()
{
	if
	:: spare[s] < KEPT -> spare[s]++; step()
	:: else ->
#ifdef BROKEN_BACK_FIRST
		reserved = reserved - BATCH;
		step();
		spare[s] = spare[s] + 1 - BATCH;
#else
		spare[s] = spare[s] + 1 - BATCH;
		step();
		reserved = reserved - BATCH;
#endif
		step()
	fi
}

inline put()
{
	do
	:: spare[s] != 0 -> got = spare[s]; break
	:: else ->
		got = 0;
		alone[me] = (calls == 1 && !spoilt);
		draw();
		if
		:: got != 0 -> break
		:: else
		fi;
		assert(!alone[me] || records[0] + records[1] == LIMIT);
		if
		:: records[s] != 0 -> records[s]--; step(); give()
		:: else -> break
		fi
	od;
	if
	:: got != 0 ->
		spare[s] = got - 1;
		step();
		records[s]++;
		step()
	:: else
	fi
}

/* bshm__quota_recount() */
inline count_anew()
{
	if
	:: recount && reserved >= LIMIT ->
#ifdef BROKEN_RECOUNT_EARLY
		recount = false;
		step();
#endif
		take_lock(0);
		take_lock(1);
#ifndef BROKEN_RECOUNT_EARLY
		recount = false;
		step();
#endif
#ifdef BROKEN_COUNT_RECORDS
		reserved = records[0] + records[1];
#else
		reserved = GIVEN;
#endif
		step();
		give_lock(1);
		give_lock(0)
	:: else
	fi
}

active [PROCESSES] proctype worker()
{
	byte me = _pid;
	byte rounds;
	byte s;
	byte seen;
	byte count;
	byte got;
	do
	:: rounds == CALLS -> break
	:: rounds < CALLS ->
		rounds++;
		atomic {
			calls++;
			alone[0] = false;
			alone[1] = false;
			alone[2] = false
		};
		count_anew();
		if
		:: s = 0
		:: s = 1
		fi;
		take_lock(s);
		if
		:: put()
		:: records[s] != 0 -> records[s]--; step(); give()
		fi;
		give_lock(s);
		atomic {
			calls--;
			assert(settled)
		}
	od;
end:
	skip
}

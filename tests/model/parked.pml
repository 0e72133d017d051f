/*
 * parked.pml - the chunks of a large record, which are taken and filled before it is put.
 *
 * Mirrors, one step for each store of a shared word:
 *
 *     cache/parked.c  bshm__parked_begin, _name, _hand_over, _end, _give_up, _reclaim
 *     cache/large.c   take_some, fill, build_chain
 *     cache/put.c     publish, build: the chain goes to the intent, then to the index
 *     cache/chain.c   bshm__chain_free; cache/slab.c  free_taken
 *     cache/repair.c  bshm__intent_repair
 *
 * Properties:
 *   - A process that fills its chunks without the lock has them all the time: no other process
 *     frees one, or takes one.
 *   - A chunk of the record in the index is not freed, nor one that another process has taken.
 *   - Nothing leaks: when every process has ended or died, the next one that takes the lock and
 *     needs room finds all chunks free but those of the record.
 *
 * Left out, and why that loses nothing:
 *   - The lock's waiting and taking over: lock.pml. Here it is one step; a process whose time is up
 *     gives up where it stands.
 *   - A writer that finds another chain parked fills its chunks under the lock: a put as in
 *     lookup.pml. Here it ends.
 *   - How the third process puts its record: one step.
 *   - The record's first slot, which is taken after the chunks are named by the intent.
 *   - Memory is sequentially consistent. All words but `owner`, which a process sets to 0 when it
 *     gives up, are under the lock.
 *
 * Bounds: two writers of two chunks each, for one key; a third process that takes one chunk for
 * another record; four chunks; two deaths.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define WRITERS 2
#define LENGTH 2
#define CHUNKS 4
#define DEATHS 2
#define OTHER (WRITERS + 1)
#define CLEANER (WRITERS + 2)
#define INDEX (WRITERS + 3)
#define INDEX_OTHER (WRITERS + 4)

byte lock;    /* 0, or a process: 1 to CLEANER */
byte parked;  /* a chunk, 1 to CHUNKS; 0: none */
byte owner;   /* 0, or a process */
bool intent;  /* a put is going on */
byte fresh;   /* its chain */
byte old;     /* the chain that it replaces */
byte record;  /* the chain in the index */

bool taken[CHUNKS + 1];
bool chained[CHUNKS + 1]; /* the state of a chunk that is taken, or about to be */
byte next[CHUNKS + 1];

/* Only looked at by the assertions: whose chunk it is. */
byte whose[CHUNKS + 1]; /* 0, a process that lives and has not given up, or a record */

bool dead[CLEANER + 1];
byte deaths = DEATHS;
byte ended;

inline disown(from, to)
{
	d_step {
		k = 1;
		do
		:: k <= CHUNKS && whose[k] == from -> whose[k] = to; k++
		:: k <= CHUNKS && whose[k] != from -> k++
		:: k > CHUNKS -> break
		od;
		k = 0
	}
}

/* After each step one may die. */
inline step()
{
	if
	:: true
	:: atomic { deaths > 0 -> deaths--; dead[me] = true; disown(me, 0) }; goto end
	fi
}

/* free_taken() */
inline free_chunk(which)
{
	if
	:: taken[which] ->
		assert(whose[which] == 0 || whose[which] == me);
		chained[which] = false; step();
		atomic { taken[which] = false; whose[which] = 0 }; step()
	:: else
	fi
}

/* bshm__chain_free() */
inline free_chain(first)
{
	if
	:: first != 0 ->
		c = (chained[first] -> next[first] : 0);
		do
		:: c != 0 -> n = next[c]; free_chunk(c); c = n
		:: c == 0 -> break
		od;
		free_chunk(first)
	:: else
	fi;
	c = 0; n = 0
}

inline forget()
{
	parked = 0; step();
	owner = 0; step()
}

/* bshm__parked_reclaim() */
inline reclaim()
{
	if
#ifdef BROKEN_RECLAIM_LIVING
	:: owner != 0 || parked != 0 ->
#else
	:: (owner != 0 || parked != 0) && (owner == 0 || dead[owner]) ->
#endif
		free_chain(parked);
		forget()
	:: else
	fi
}

/* bshm__intent_repair() */
inline repair()
{
	if
	:: intent && fresh != 0 && record == fresh -> free_chain(old)
	:: intent && (fresh == 0 || record != fresh) -> free_chain(fresh)
	:: else
	fi;
	intent = false; step();
#ifndef BROKEN_NO_RECLAIM
	reclaim()
#endif
}

/* Goes to `late` if the time is up before. */
#define TAKE_LOCK(late) \
	if \
	:: atomic { lock == 0 -> lock = me }; step() \
	:: atomic { lock != 0 && dead[lock] -> lock = me }; step(); repair() \
	:: lock != 0 && !dead[lock] -> goto late \
	fi

/* A free chunk; 0: there is none. */
#define FIND \
	d_step { \
		found = 1; \
		do \
		:: found <= CHUNKS && taken[found] -> found++ \
		:: found <= CHUNKS && !taken[found] -> break \
		:: found > CHUNKS -> found = 0; break \
		od \
	}

/* take_some(): the next chunk. */
inline take_chunk()
{
	FIND;
	if
	:: found != 0 ->
		next[found] = parked; chained[found] = true; step();
#ifdef BROKEN_TAKE_FIRST
		atomic { taken[found] = true; whose[found] = me }; step();
		parked = found; step()
#else
		parked = found; step();
		atomic { taken[found] = true; whose[found] = me }; step()
#endif
	:: else
	fi
}

proctype writer(byte me)
{
	byte left = LENGTH;
	byte chain;
	byte found;
	byte c;
	byte n;
	byte k;
	TAKE_LOCK(out);
	reclaim();
	if
	:: owner != 0 || parked != 0 -> lock = 0; goto out
	:: else -> owner = me; step()
	fi;
	do
	:: left == 0 -> break
	:: left != 0 ->
		take_chunk();
		if
		:: found == 0 -> /* no room */
			free_chain(parked); forget(); lock = 0; goto out
		:: else -> left--
		fi;
		if
		:: left != 0 -> lock = 0; step(); TAKE_LOCK(late) /* a pause */
		:: true
		fi
	od;
	chain = parked;
	lock = 0; step();
	/* fill() */
	c = chain;
	do
	:: c != 0 -> assert(taken[c] && whose[c] == me); step(); c = next[c]
	:: c == 0 -> break
	od;
	TAKE_LOCK(late);
	if
	:: free_chain(chain); forget() /* the put is refused: bshm__parked_end() */
	:: old = record; fresh = 0; intent = true; step();
#ifdef BROKEN_HAND_OVER_EARLY
		forget();
		fresh = chain; step();
#else
		fresh = chain; step();
# ifndef BROKEN_NO_HAND_OVER
		forget();
# endif
#endif
		atomic { record = chain; disown(INDEX, 0); disown(me, INDEX) }; step();
		free_chain(old);
		intent = false; step()
	fi;
	lock = 0;
	goto out;
late:
#ifndef BROKEN_KEPT
	atomic { owner = 0; disown(me, 0) }; /* bshm__parked_give_up() */
#endif
out:
	skip;
end:
	ended++
}

/* Takes a chunk for a record of its own, and frees a parked chain only if there is none. */
proctype other(byte me)
{
	byte found;
	byte c;
	byte n;
	byte k;
	TAKE_LOCK(out);
	FIND;
	if
	:: found == 0 -> reclaim(); FIND
	:: else
	fi;
	if
	:: found != 0 -> atomic { taken[found] = true; whose[found] = INDEX_OTHER }; step()
	:: else
	fi;
	lock = 0;
out:
	skip;
end:
	ended++
}

/* A process that needs room when all others have ended. It does not die. */
proctype cleaner(byte me)
{
	byte c;
	byte n;
	byte k;
	ended == WRITERS + 1;
	deaths = 0;
	TAKE_LOCK(end);
	reclaim();
	lock = 0;
	k = 1;
	do
	:: k <= CHUNKS ->
		assert(taken[k] == (whose[k] == INDEX || whose[k] == INDEX_OTHER));
		assert((whose[k] == INDEX) == (record != 0 && (k == record || k == next[record])));
		k++
	:: k > CHUNKS -> break
	od;
	assert(owner == 0 && parked == 0 && !intent);
end:
	skip
}

init {
	byte i = 1;
	atomic {
		do
		:: i <= WRITERS -> run writer(i); i++
		:: i > WRITERS -> break
		od;
		run other(OTHER);
		run cleaner(CLEANER)
	}
}

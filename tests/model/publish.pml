/*
 * publish.pml - a set is made aside and published with one store, while questions take no lock.
 *
 * Mirrors, one step for each load or store of a shared word:
 *
 *     publisher  filter/build.c       bshm__build_register, bshm__build_take, bshm__build_zero,
 *                                     bshm__build_publish_locked, give_up
 *                segment/directory.c  next_generation, put_in_force, bshm__entry_publish,
 *                                     bshm__op_end
 *                segment/blocks.c     claim_all, bshm__blocks_take
 *                segment/ops.c        bshm__op_begin, bshm__op_claim
 *                filter/mend.c        reap_ops
 *     reader     filter/query.c       bshm_filter_has, ask_again, view_of, look, resolve
 *                filter/view.h        bshm__view_current
 *
 * Properties, for a key that is in every set:
 *   - It is never answered "no", however long a reader stands still between two steps, and though
 *     the partitions of a set that was replaced are given away, and zeroed, at once.
 *   - A view that a reader accepts has the seed and the partition of one generation, and its
 *     descriptor is whole.
 *   - A question ends after so many attempts, whoever has died (every process ends).
 *   - When all publishers have ended or died, whatever is not in force is free: nothing leaks.
 *
 * Left out, and why that loses nothing:
 *   - The lock is one word that a waiter gets when its holder has left or is dead: lock.pml.
 *   - Adders: add_rebuild.pml. Names: an entry keeps its own here. Layers: grow.pml.
 *   - A descriptor has three words, a partition two bits; a key has one bit, which the seed picks.
 *     A question with more bits says "no" at the first that is missing.
 *   - What is claimed is worked out in one step: only lock holders change it.
 *   - Memory is sequentially consistent; the orders are argued in docs/CONCURRENCY.md.
 *
 * Bounds: three partitions, two publishers, of two sets and of one, one reader who asks twice with
 * the view it keeps, two attempts a question (16 in the code), one death.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define PUBLISHERS 2
#define PARTITIONS 3
#define QUESTIONS 2
#define TRIES 2
#define DEATHS 1
#define NONE 255

byte lock;                    /* 0, or process + 1 */
bool bits[6];                 /* partition * 2 + seed */
byte generation;
byte d_partition[2];          /* the two descriptors, word by word */
bit d_seed[2];
byte d_generation[2];
byte op_owner[PUBLISHERS];    /* 0, or process + 1 */
bool op_entry[PUBLISHERS];
byte op_partition[PUBLISHERS];

bool dead[PUBLISHERS];
byte ended;
byte true_partition[6];       /* of each generation: what was published */
bit true_seed[6];

#define IN_FORCE(p) (generation != 0 && d_partition[generation & 1] == p)
#define CLAIMED(p) (op_entry[0] && op_partition[0] == p || op_entry[1] && op_partition[1] == p)
#ifdef BROKEN_NO_CLAIM
# define FREE(p) (!IN_FORCE(p))
#else
# define FREE(p) (!IN_FORCE(p) && !CLAIMED(p))
#endif

#define OVER(o) (op_entry[o] && (op_owner[o] == 0 || dead[op_owner[o] - 1]))

/* reap_ops() */
inline reap()
{
#ifdef BROKEN_NO_REAP
	skip
#else
	do
	:: OVER(0) -> op_entry[0] = false
	:: OVER(1) -> op_entry[1] = false
	:: else -> break
	od
#endif
}

/* bshm__lock(); who gives up here, does it for want of time or for another reason. */
#define TAKE_LOCK(late) \
	if \
	:: atomic { (lock == 0 || dead[lock - 1]) -> lock = me + 1 } \
	:: goto late \
	fi; \
	reap()

inline unlock()
{
	lock = 0
}

inline fill_descriptor()
{
	d_partition[next & 1] = partition;
	d_seed[next & 1] = seed;
	d_generation[next & 1] = next
}

proctype publisher(byte me; byte sets)
{
	byte partition;
	byte next;
	bit seed;
	{
		do
		:: sets == 0 -> break
		:: atomic { sets > 0 -> sets--; seed = (me + sets) & 1 };

			TAKE_LOCK(finished);
			atomic { op_entry[me] = true; op_partition[me] = NONE; op_owner[me] = me + 1 };
			if
			:: FREE(0) -> partition = 0
			:: !FREE(0) && FREE(1) -> partition = 1
			:: !FREE(0) && !FREE(1) && FREE(2) -> partition = 2
			fi;
			op_partition[me] = partition;
			unlock();

			bits[partition * 2] = 0;
			bits[partition * 2 + 1] = 0;
#ifndef BROKEN_BITS_LATE
			bits[partition * 2 + seed] = 1;
#endif
			TAKE_LOCK(give_up);
#ifdef BROKEN_IN_PLACE
			next = (generation == 0 -> 1 : generation);
#else
			next = generation + 1;
#endif
			atomic { true_partition[next] = partition; true_seed[next] = seed };
#ifdef BROKEN_GENERATION_FIRST
			generation = next;
			fill_descriptor();
#else
			fill_descriptor();
			generation = next; /* the publication */
#endif
			d_generation[(next + 1) & 1] = 0;
			op_owner[me] = 0;
			op_entry[me] = false;
			unlock()
#ifdef BROKEN_BITS_LATE
			;
			bits[partition * 2 + seed] = 1
#endif
		od;
		goto finished;
	give_up:
		op_owner[me] = 0;
	finished:
		ended++
	} unless { dead[me] -> ended++ }
}

proctype reader()
{
	byte questions;
	byte tries;
	byte g;          /* being looked up */
	byte d;
	byte partition;  /* the view, */
	bit seed;
	byte view;       /* and its generation; 0: there is none */

	do
	:: questions == QUESTIONS -> break
	:: questions < QUESTIONS ->
		questions++;
		tries = 0;
		do
		:: tries == TRIES -> break /* "maybe" */
		:: tries < TRIES ->
			tries++;
			if
			:: atomic { view != 0 && generation == view } /* stands() */
			:: atomic { !(view != 0 && generation == view) -> view = 0 };
				g = generation; /* look() */
				partition = d_partition[g & 1];
				seed = d_seed[g & 1];
				d = d_generation[g & 1];
#ifndef BROKEN_NO_SECOND_LOOK
				if
				:: generation != g -> goto again
				:: else
				fi;
#endif
				if
				:: g == 0 -> break /* "maybe" */
				:: else
				fi;
				atomic {
					assert(d == g);
					assert(partition == true_partition[g] && seed == true_seed[g]);
					view = g
				}
			fi;
			if
			:: bits[partition * 2 + seed] -> break /* "maybe" */
			:: else
			fi;
#ifdef BROKEN_NO_RECHECK
			assert(false);
#else
			assert(generation != view); /* it is answered "no" */
#endif
		again:
			skip
		od
	od
}

/* The next who takes the lock after all that finds everything free but what is in force. */
proctype last()
{
	byte me = PUBLISHERS;
	ended == PUBLISHERS;
	atomic { (lock == 0 || dead[lock - 1]) -> lock = me + 1 };
	reap();
	assert((FREE(0) || IN_FORCE(0)) && (FREE(1) || IN_FORCE(1)) && (FREE(2) || IN_FORCE(2)));
	unlock()
}

/*
 * SIGKILL, between any two steps. Who owns nothing, and dies, is to the others like one who is
 * stopped for ever; and that is a process which takes no more steps. So are readers: they never own
 * anything.
 */
#define OWNS(p) (lock == p + 1 || op_owner[p] == p + 1)

proctype killer()
{
	byte deaths;
end:
	do
	:: atomic { deaths < DEATHS && !dead[0] && OWNS(0) -> dead[0] = true; deaths++ }
	:: atomic { deaths < DEATHS && !dead[1] && OWNS(1) -> dead[1] = true; deaths++ }
	od
}

init
{
	atomic {
		run publisher(0, 2);
		run publisher(1, 1);
		run reader();
		run last();
		run killer()
	}
}

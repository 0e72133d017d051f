/*
 * grow.pml - a filter that is full gets one more layer, whoever makes it and whoever dies.
 *
 * Mirrors, one step for each load, store or read-modify-write of a shared word:
 *
 *     adder      filter/add.c       take_places, add_growing, settle_places, add_published
 *     grower     filter/grow.c      bshm__filter_grow, begin, await_change, publish
 *                filter/build.c     bshm__build_take, claim, bshm__build_zero, check_op, give_up
 *     op         segment/ops.c      bshm__op_begin, bshm__entry_is_growing
 *                filter/mend.c      reap_ops
 *     directory  segment/blocks.c   claim_all, bshm__blocks_take
 *                segment/directory.c  bshm__entry_extend, put_in_force, bshm__op_end
 *
 * Properties:
 *   - A key whose add returned is in a layer in force, from then on (`watch` looks at every state).
 *   - To each generation at most one layer is appended, and all older layers stay.
 *   - When all adders have ended or died, whatever no layer in force has is free: nothing leaks.
 *   - No deadlock: every process ends.
 *
 * Left out, and why that loses nothing:
 *   - The lock is one word that a waiter gets when its holder has left or is dead: lock.pml.
 *   - A view is read in one step: publish.pml. The records of older layers (layers.c) are given out
 *     as partitions are, and told by a checksum.
 *   - A layer has one partition, a partition a mask of keys: zeroing it is one store, adding a key
 *     one fetch_or. What is claimed is worked out in one step: only lock holders change it.
 *   - A filter that is replaced meanwhile: the generation has then moved, as when another grew it.
 *   - A wait ends at any time: the other may be stopped. So an adder may make a layer while another
 *     does.
 *   - Memory is sequentially consistent; the orders are argued in docs/CONCURRENCY.md.
 *
 * Bounds: two adders of a key each, who both make layers where there is no place; a first layer
 * that is full, or has one place left; layers of one place after it; four attempts of an adder, two
 * deaths.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define ADDERS 2
#define PARTITIONS 5
#define LAYERS 3 /* as many as two adders can need */
#define DEATHS 2
#define TRIES 4
#define NONE 255

byte lock;                 /* 0, or process + 1 */
byte generation = 1;
byte layers[5];            /* of each generation: how many, */
byte layer[15];            /* and their partitions: generation * LAYERS + i */
byte capacity[5];          /* items_before + capacity of the newest */
byte items;                /* places taken: the set's, so it is one word for all layers */
byte keys[PARTITIONS];     /* masks */
byte op_owner[2];          /* 0, or process + 1 */
bool op_entry[2];
byte op_partition[2];

bool dead[ADDERS];
byte ended;
byte returned;             /* keys whose add returned */

#define LAYER(g, i) layer[(g) * LAYERS + (i)]
#define HAS(i, p) (layers[generation] > i && LAYER(generation, i) == p)
#define IN_FORCE(p) (HAS(0, p) || HAS(1, p) || HAS(2, p))
#define CLAIMED(p) (op_entry[0] && op_partition[0] == p || op_entry[1] && op_partition[1] == p)
#ifdef BROKEN_NO_CLAIM
# define FREE(p) (!IN_FORCE(p))
#else
# define FREE(p) (!IN_FORCE(p) && !CLAIMED(p))
#endif

#ifdef BROKEN_REAP_LIVING
# define OVER(o) (op_entry[o] && op_owner[o] != me + 1)
#else
# define OVER(o) (op_entry[o] && (op_owner[o] == 0 || dead[op_owner[o] - 1]))
#endif

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

/* The descriptor with one layer more than the view's, g; then the one store. */
inline publish_layer()
{
	atomic {
		next = generation + 1;
		layers[next] = layers[g] + 1;
		LAYER(next, 0) = LAYER(g, 0);
		LAYER(next, 1) = LAYER(g, 1);
		LAYER(next, layers[g]) = partition;
		capacity[next] = items + 1
	};
	atomic {
		assert(generation == g); /* to each at most one layer, and none is left out */
		generation = next
	}
}

proctype adder(byte me; byte key)
{
	byte tries;
	byte g;          /* the view's generation */
	byte next;
	byte before;
	byte partition;
	bool put;        /* in the set: it keeps its birth while it grows */
	bool waited;
	{
		put = false;
	again:
		if
		:: tries == TRIES -> goto finished
		:: else -> tries++
		fi;
		g = generation;

		/* add_growing() */
		if
		:: put
		:: else ->
			atomic { before = items; items++ };
			if
			:: before < capacity[g] ->
				atomic {
					partition = LAYER(g, layers[g] - 1);
					keys[partition] = keys[partition] | key;
					put = true
				}
			:: else -> items--
			fi
		fi;

		/* add_published() */
		if
		:: generation != g -> goto again
		:: else
		fi;
		if
		:: put -> returned = returned | key; goto finished
		:: else
		fi;
		if
		:: layers[g] == LAYERS -> goto finished
		:: else
		fi;

		/* bshm__filter_grow(); begin() */
		waited = false;
	begin:
		TAKE_LOCK(finished);
		if
		:: generation != g -> unlock(); goto again
		:: generation == g && !waited && (op_entry[0] || op_entry[1]) ->
			unlock();
			waited = true; /* await_change(): until it has changed, or the time is up */
			goto begin
		:: generation == g && (waited || !op_entry[0] && !op_entry[1])
		fi;
		atomic { op_entry[me] = true; op_partition[me] = NONE; op_owner[me] = me + 1 };
		unlock();

		/* bshm__build_take() */
		TAKE_LOCK(give_up);
		if
		:: FREE(1) -> partition = 1
		:: !FREE(1) && FREE(2) -> partition = 2
		:: !FREE(1) && !FREE(2) && FREE(3) -> partition = 3
		:: !FREE(1) && !FREE(2) && !FREE(3) && FREE(4) -> partition = 4
		:: !FREE(1) && !FREE(2) && !FREE(3) && !FREE(4) -> unlock(); goto give_up
		fi;
		op_partition[me] = partition;
		unlock();

#ifndef BROKEN_ZERO_LATE
		keys[partition] = 0; /* bshm__build_zero() */
#endif

		/* publish(), check_op() */
		TAKE_LOCK(give_up);
		if
		:: op_owner[me] != me + 1 -> unlock(); goto give_up
		:: else
		fi;
		if
#ifndef BROKEN_NO_CURRENT
		:: generation != g
#endif
#ifdef BROKEN_NO_CURRENT
		:: true ->
#else
		:: generation == g ->
#endif
			publish_layer()
		fi;
		op_owner[me] = 0;
		op_entry[me] = false;
		unlock();
#ifdef BROKEN_ZERO_LATE
		keys[partition] = 0;
#endif
		goto again;
	give_up:
		op_owner[me] = 0;
	finished:
		ended++
	} unless { dead[me] -> ended++ }
}

/* The next who takes the lock after all that finds everything free but what is in force. */
proctype last()
{
	byte me = ADDERS;
	ended == ADDERS;
	reap();
	assert(FREE(1) || IN_FORCE(1));
	assert(FREE(2) || IN_FORCE(2));
	assert(FREE(3) || IN_FORCE(3));
	assert(FREE(4) || IN_FORCE(4))
}

#define IN_LAYER(i) (layers[generation] > i -> keys[LAYER(generation, i)] : 0)
#define ALL_FOUND (((IN_LAYER(0) | IN_LAYER(1) | IN_LAYER(2)) & returned) == returned)

proctype watch()
{
end:
	!ALL_FOUND -> assert(false)
}

/*
 * SIGKILL, between any two steps. Who owns nothing, and dies, is to the others like one who is
 * stopped for ever; and that is a process which takes no more steps.
 */
#define OWNS(p) (lock == p + 1 || op_owner[0] == p + 1 || op_owner[1] == p + 1)

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
		layers[1] = 1; /* partition 0 */
		if
		:: capacity[1] = 0 /* it is full */
		:: capacity[1] = 1
		fi;
		run adder(0, 1);
		run adder(1, 2);
		run last();
		run watch();
		run killer()
	}
}

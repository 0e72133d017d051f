/*
 * merge.pml - unions into one name, beside each other, and beside what replaces it and adds to it.
 *
 * Mirrors, one step for each load, store or read-modify-write of a shared word:
 *
 *     merger     filter/merge.c       describe, begin_attempt, merge_source, all_published,
 *                                     publish, end_attempt, try_to_unite
 *     other      filter/manage.c      bshm_filter_rename, bshm_filter_drop
 *                filter/clear.c       expire
 *                filter/build.c       bshm__build_publish of a reservation
 *     adder      filter/add.c         add_keys, add_published, has_builder, note_part
 *     op         segment/ops.c        bshm__op_begin
 *                segment/journal.c    bshm__journal_add
 *                segment/directory.c  bshm__op_end
 *                filter/mend.c        reap_ops
 *
 * Properties:
 *   - Calls of administrators have an order, that of their stores: what is published is exactly
 *     what each would make of what the one before has left, and of the source as it stands then.
 *   - A key whose add returned is in the set in force, until that is replaced whole.
 *   - A key that was noted where nothing stood is in what those make who were at work then, if they
 *     succeed.
 *   - No deadlock: every process ends, whoever dies.
 *
 * Left out, and why that loses nothing:
 *   - The lock is one word that a waiter gets when its holder has left or is dead: lock.pml.
 *   - A set is a mask of keys, and each has partitions of its own: publish.pml has the claims. It
 *     is read in one step: a set that is replaced while it is read is looked at again
 *     (bshm_view_current).
 *   - A generation is left out: the publication number moves with it, unless the set only grows.
 *   - A clear that zeroes in place: while it does, unions wait; then it is a store like that of one
 *     that does not.
 *   - A load replaces whole, as a rename does; its journal is in add_rebuild.pml. Seeds are all
 *     one.
 *   - Memory is sequentially consistent; the orders are argued in docs/CONCURRENCY.md.
 *
 *   - Words that only lock holders write and read are written and read together.
 *
 * Bounds: a merger, an adder of one key with two attempts, one who carries out two other calls; or
 * (TWO) two mergers with a source each, and another call. A merger has two attempts. One death, not
 * of the one who carries out other calls. A set stands at the beginning, or none does.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define MERGERS 2
#define PROCESSES 4 /* 0, 1: mergers; 2: the other; 3: the adder */
#define DEATHS 1
#define ATTEMPTS 2
#define TRIES 2
#ifdef TWO
# define CALLS 1
#else
# define CALLS 2
#endif

#define KEY 1       /* of the adder */
#define OF_X 2      /* what stands at the beginning, */
#define OF_Y 4      /* and merger 0's source */
#define OF_NEW_Y 8
#define OF_Z 16     /* merger 1's source, which stays */
#define OF_RENAMED 32

byte lock;                  /* 0, or process + 1 */
byte numbers;               /* header.publications */
byte x;                     /* the publication number of the target's set; 0: nothing stands */
byte y;                     /* and of merger 0's source */
byte set[10];               /* publication number -> keys */
bool builders;
byte op_owner[MERGERS];     /* 0, or process + 1 */
bool op_entry[MERGERS];
byte op_journal[MERGERS];
bool op_promised[MERGERS];

bool dead[PROCESSES];
byte truth;                 /* what the administrators' calls make of x, in their order */
byte returned;              /* keys whose add returned, since x was replaced whole */
byte noted_for[MERGERS];    /* keys that were noted for an op of its where nothing stood */

#define OVER(o) (op_entry[o] && (op_owner[o] == 0 || dead[op_owner[o] - 1]))

/* bshm__entry_tidy() */
inline tidy()
{
	builders = op_entry[0] || op_entry[1]
}

inline end_op(o)
{
	op_entry[o] = false;
	tidy()
}

/* reap_ops() */
inline reap()
{
	do
	:: OVER(0) -> end_op(0)
	:: OVER(1) -> end_op(1)
	:: else -> break
	od
}

/* bshm__lock(); `late`: somebody who lives has it, and the time is up. */
#define TAKE_LOCK(late) \
	if \
	:: atomic { (lock == 0 || dead[lock - 1]) -> lock = me + 1; reap(); tidy() } \
	:: lock != 0 && !dead[lock - 1] -> goto late \
	fi

inline unlock()
{
	lock = 0
}

/* The publication; `truth` follows it in the same step. */
inline put_in_force(keys)
{
#ifdef BROKEN_NUMBER_AGAIN
	number = (x == 0 -> 1 : numbers + 1); /* numbers that begin anew with each name */
#else
	number = numbers + 1;
#endif
	numbers = number;
	set[number] = keys;
	x = number
}

#ifdef BROKEN_NO_TARGET
# define TARGET_STANDS true
#else
# ifdef BROKEN_NOTHING_STOOD
#  define TARGET_STANDS (into == 0 || x == into)
# else
#  define TARGET_STANDS (x == into)
# endif
#endif
#ifdef BROKEN_NO_SOURCE
# define SOURCE_STANDS true
#else
# define SOURCE_STANDS (me == 1 || y == from)
#endif

proctype merger(byte me)
{
	byte attempts;
	byte into;   /* the sets that it reads */
	byte from;
	byte keys;
	byte source;
	byte number;
	{
		attempts = 0;
	again:
		if
		:: attempts == ATTEMPTS -> goto give_up
		:: else -> attempts++
		fi;
		into = x; /* describe() */
		from = y;
#ifdef BROKEN_READ_EARLY
		keys = (into == 0 -> 0 : set[into]);
#endif
		if
		:: !(op_entry[me] && op_owner[me] == me + 1) ->
			TAKE_LOCK(give_up);
			atomic {
				op_entry[me] = true; op_journal[me] = 0; op_promised[me] = false;
				op_owner[me] = me + 1
			};
			builders = true;
			unlock()
		:: else
		fi;

#ifndef BROKEN_READ_EARLY
		if
		:: x != into -> goto replaced
		:: else
		fi;
		keys = (into == 0 -> 0 : set[into]); /* merge_source() */
#endif
		source = (me == 1 -> OF_Z : set[from] & ~KEY);
		if
		:: skip
		:: goto give_up /* no space, a source that does not fit, ... */
		fi;

		TAKE_LOCK(give_up);
		if
		:: !(TARGET_STANDS && SOURCE_STANDS) -> unlock(); goto replaced
		:: else
		fi;
#ifdef BROKEN_COMPARE_EARLY
		unlock();
		TAKE_LOCK(give_up);
#endif
		keys = keys | source | op_journal[me];
		atomic {
			assert(source == (me == 1 -> OF_Z : set[y] & ~KEY));
			assert((keys & ~KEY) == (truth | source));
			assert((noted_for[me] & ~keys) == 0);
			truth = truth | source;
			put_in_force(keys)
		};
		d_step { op_owner[me] = 0; end_op(me) };
		unlock();
		goto gone;

	replaced:
		TAKE_LOCK(give_up); /* end_attempt() */
		if
#ifdef BROKEN_PROMISE
		:: true
#else
		:: !op_promised[me]
#endif
			-> d_step { op_owner[me] = 0; end_op(me) }
		:: else
		fi;
		unlock();
		goto again;
	give_up:
		op_owner[me] = 0;
	gone:
		skip
	} unless { dead[me] }
}

/* Each call is one store under one hold of the lock. */
proctype other(byte me)
{
	byte calls;
	byte number;
	{
		do
		:: calls == CALLS -> break
		:: calls < CALLS ->
			calls++;
			TAKE_LOCK(gone);
			if
			/* rename onto x */
			:: atomic { truth = OF_RENAMED; returned = 0; put_in_force(OF_RENAMED) }
			:: atomic { x != 0 -> truth = 0; returned = 0; put_in_force(0) }          /* clear */
			/* drop, rename away */
			:: atomic { x != 0 -> truth = 0; returned = 0; x = 0 }
			:: atomic { x == 0 -> truth = 0; put_in_force(0) }                        /* reserve */
			/* rename onto y */
			:: atomic { y != 0 -> numbers++; set[numbers] = OF_NEW_Y; y = numbers }
			fi;
			unlock()
		od;
	gone:
		skip
	} unless { dead[me] }
}

inline note(o)
{
	if
	:: op_entry[o] ->
		noted = true;
		op_journal[o] = op_journal[o] | KEY;
		if
		:: born == 0 -> op_promised[o] = true; noted_for[o] = KEY
		:: else
		fi
	:: else
	fi
}

proctype adder(byte me)
{
	byte tries;
	byte seen;
	byte born;  /* the set the key was added to; 0: to none */
	bool idle;
	bool building;
	bool noted;
	{
		tries = 0;
	again:
		if
		:: tries == TRIES -> goto failed
		:: else -> tries++
		fi;
		seen = x;
		if
		:: seen == 0 ->
			born = 0;
			if
			:: builders
			:: else ->
				if
				:: idle -> goto failed /* there is no such filter */
				:: else -> idle = true; goto again
				fi
			fi
		:: else ->
			if
			:: born != seen -> born = seen; set[seen] = set[seen] | KEY
			:: else
			fi;
			building = builders;
			if
			:: x != seen -> goto again
			:: atomic { x == seen && !building -> returned = KEY; goto failed }
			:: x == seen && building
			fi
		fi;
		TAKE_LOCK(failed);
		if
		:: x != born -> unlock(); goto again
		:: else
		fi;
		atomic {
			noted = false;
			note(0);
			note(1);
			if
			:: born != 0 -> returned = KEY
			:: else
			fi
		};
		unlock();
	failed:
		skip
	} unless { dead[me] }
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
	:: atomic { deaths < DEATHS && !dead[3] && OWNS(3) -> dead[3] = true; deaths++ }
	od
}

/* A key whose add returned is in the set in force. */
#define FOUND (x == 0 || (set[x] & returned) == returned)

proctype watch()
{
end:
	!FOUND -> assert(false)
}

init
{
	atomic {
		numbers = 1;
		y = 1;
		set[1] = OF_Y;
		if
		:: skip
		:: numbers = 2; x = 2; set[2] = OF_X; truth = OF_X
		fi;
		run merger(0);
		run other(2);
#ifdef TWO
		run merger(1);
#else
		run adder(3);
#endif
		run killer();
		run watch()
	}
}

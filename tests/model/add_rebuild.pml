/*
 * add_rebuild.pml - adding keys to a filter while it is loaded anew.
 *
 * Mirrors, one step for each load, store or read-modify-write of a shared word:
 *
 *     adder     filter/add.c       add_keys, add_published, has_builder, note_part
 *     loader    filter/build.c     bshm__build_register, bshm__build_publish_locked, give_up
 *               filter/load.c      apply_journal
 *     reserver  filter/build.c     bshm__build_publish of a reservation
 *     op        segment/ops.c      bshm__op_begin
 *               segment/journal.c  bshm__journal_add
 *               filter/mend.c      bshm__journal_apply, reap_ops
 *     repair    segment/directory.c  bshm__op_end, tidy, bshm__directory_repair
 *
 * Properties:
 *   - A key whose add returned is in the set in force, from then on and in every set that is
 *     published later, whatever loaders do: publish, give up, die. `watch` looks at every state. It
 *     holds for an adder that gives the key to the catalogue before it adds it; a loader reads the
 *     catalogue after it has begun. An add that finds no set has not returned in this sense: it
 *     says NOT_FOUND.
 *   - A key that was noted for a loader is in the set that it publishes, if it publishes one.
 *   - No deadlock: every process ends.
 *
 * Left out, and why that loses nothing:
 *   - The lock is one word that a waiter gets when its holder has left or is dead: lock.pml.
 *   - A set is a mask of keys, and each has partitions of its own, never used again: bits set in
 *     vain in another's partitions add a "maybe"; publish.pml and grow.pml have the claims. One bit
 *     a key: with more, a key is there when its last bit is.
 *   - A view is read in one step: publish.pml.
 *   - Each set is new: sets that go on while they grow are in grow.pml.
 *   - A journal that is full is a free choice at each note: the load then fails.
 *   - Words that only lock holders write and read are read together with the store that follows.
 *   - Memory is sequentially consistent; the orders are argued in docs/CONCURRENCY.md.
 *
 * Bounds: two loaders, or (RESERVE) a loader and a reservation; an adder of one key (adders meet
 * each other only in the lock), two deaths, three attempts of the adder; a set stands at the
 * beginning, or none does.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define LOADERS 2
#define PROCESSES 3 /* 0, 1: loaders, or 1: the reserver; 2: the adder */
#define DEATHS 2
#define TRIES 3

byte lock;                 /* 0, or process + 1 */
byte generation;           /* 0: nothing was ever published */
bool builders;
byte in_force[4];          /* generation -> set; written with the descriptor, before `generation` */
byte set[3];               /* masks of keys; set 0 is there first, set i + 1 is process i's */
byte catalogue;            /* mask of keys */
byte op_owner[LOADERS];    /* 0, or process + 1 */
bool op_entry[LOADERS];    /* is there work on the filter? */
byte op_journal[LOADERS];
bool op_lost[LOADERS];     /* its journal was full */

bool dead[PROCESSES];
byte returned;             /* keys whose add returned */

/* bshm__entry_has_journal() */
#define HAS_JOURNAL (op_entry[0] || op_entry[1])

/* bshm__entry_tidy(): one store of `builders`, from words that only lock holders change. */
inline tidy()
{
#ifdef BROKEN_TIDY
	builders = false
#else
	builders = HAS_JOURNAL
#endif
}

#define OVER(o) (op_entry[o] && (op_owner[o] == 0 || dead[op_owner[o] - 1]))

/* reap_ops() */
inline reap()
{
	do
	:: OVER(0) -> op_entry[0] = false; tidy()
	:: OVER(1) -> op_entry[1] = false; tidy()
	:: else -> break
	od
}

/* bshm__lock(); `late`: somebody who lives has it, and the time is up. */
#define TAKE_LOCK(late) \
	if \
	:: atomic { lock == 0 -> lock = me + 1 } \
	:: atomic { lock != 0 && dead[lock - 1] -> lock = me + 1 }; \
		tidy() /* bshm__directory_repair() */ \
	:: lock != 0 && !dead[lock - 1] -> goto late \
	fi; \
	reap()

inline unlock()
{
	lock = 0
}

proctype loader(byte me)
{
	byte keys;
	{
		TAKE_LOCK(gone);
		atomic { op_entry[me] = true; op_owner[me] = 0; op_journal[me] = 0; op_lost[me] = false };
		op_owner[me] = me + 1;
#ifndef BROKEN_REGISTER_LATE
		builders = true;
#endif
		unlock();

		keys = catalogue;

#ifdef BROKEN_REGISTER_LATE
		TAKE_LOCK(give_up);
		builders = true;
		unlock();
#endif
		set[me + 1] = set[me + 1] | keys;
		if
		:: skip
		:: goto give_up /* the rate is too high, the loader threw, ... */
		:: TAKE_LOCK(give_up); /* apply_journal() */
			if
			:: op_lost[me] -> unlock(); goto give_up
			:: else
			fi;
			set[me + 1] = set[me + 1] | op_journal[me];
			unlock()
		fi;

		TAKE_LOCK(give_up);
		if
		:: op_lost[me] -> unlock(); goto give_up
		:: else
		fi;
#ifdef BROKEN_JOURNAL_EARLY
		set[me + 1] = set[me + 1] | op_journal[me];
		unlock();
		TAKE_LOCK(give_up);
#else
		set[me + 1] = set[me + 1] | op_journal[me];
#endif
		in_force[generation + 1] = me + 1;
		atomic {
			assert((op_journal[me] & ~set[me + 1]) == 0);
			generation = generation + 1 /* the publication */
		};
		op_owner[me] = 0;
		op_entry[me] = false;
		tidy();
		unlock();
		goto gone;
	give_up:
		op_owner[me] = 0;
	gone:
		skip
	} unless { dead[me] }
}

/* It keeps no journal, and publishes an empty set only where there is none. */
proctype reserver(byte me)
{
	{
		TAKE_LOCK(gone);
		if
		:: generation == 0 ->
			in_force[1] = me + 1;
			generation = 1
		:: else
		fi;
		unlock();
	gone:
		skip
	} unless { dead[me] }
}

/* bshm__journal_add() for one op: noted, or the journal is full and the load will fail. */
inline note(o)
{
	if
	:: op_entry[o] ->
		if
		:: op_journal[o] = op_journal[o] | key
		:: op_lost[o] = true
		fi
	:: else
	fi
}

proctype adder(byte me; byte key)
{
	byte tries;
	byte g;
	byte born;  /* the set the key was added to; 0: to none */
	bool idle;
	bool building;
	{
		catalogue = catalogue | key;
	again:
		if
		:: tries == TRIES -> goto failed
		:: else -> tries++
		fi;
		g = generation;
		if
		:: g == 0 ->
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
			:: born != g -> born = g; set[in_force[g]] = set[in_force[g]] | key
			:: else
			fi;
#ifdef BROKEN_GENERATION_FIRST
			if
			:: generation != g -> goto again
			:: else
			fi;
			building = builders;
#else
			/* In this order: a set published between the two looks may lack the key, and the load
			 * that published it is no builder any more. */
			building = builders;
# ifndef BROKEN_NO_RECHECK
			if
			:: generation != g -> goto again
			:: else
			fi;
# endif
#endif
			if
			:: !building -> goto added
			:: else
			fi
		fi;
#ifndef BROKEN_NO_JOURNAL
		TAKE_LOCK(failed);
		if
		:: generation != born -> unlock(); goto again
		:: else
		fi;
		note(0);
		note(1);
		unlock();
# ifndef BROKEN_NO_SET
		if
		:: born == 0 -> goto failed /* no set has the key: only journals, perhaps */
		:: else
		fi
# endif
#endif
	added:
		returned = returned | key;
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
	:: atomic { deaths < DEATHS && !dead[2] && OWNS(2) -> dead[2] = true; deaths++ }
	od
}

/* A key whose add returned is in the set in force. */
#define FOUND (generation == 0 || (set[in_force[generation]] & returned) == returned)

proctype watch()
{
end:
	!FOUND -> assert(false)
}

init
{
	atomic {
		if
		:: generation = 0
		:: generation = 1 /* set 0, which is empty */
		fi;
		run loader(0);
#ifdef RESERVE
		run reserver(1);
#else
		run loader(1);
#endif
		run adder(2, 1);
		run killer();
		run watch()
	}
}

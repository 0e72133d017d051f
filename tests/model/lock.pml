/*
 * lock.pml - a lock word in shared memory, taken over from the dead and never from the living.
 *
 * Mirrors, one step for each load, store or compare-and-swap of a shared word, and each question to
 * the kernel:
 *
 *     segment/lock.c     enter_process, is_behind, wait_a_little, end_wait, bshm__word_lock,
 *                        acquire,
 *                        bshm__lock_take, bshm__unlock
 *     segment/owners.c   take_slot, has_slot_still, bshm__owner_alive
 *     cache/shard_lock.c bshm__shard_lock, bshm__shard_unlock   (with -DSHARD: no word of the
 *                        process's
 *                        own keeps its threads apart)
 *
 * Properties:
 *   - Never two threads between lock and unlock, of whatever process.
 *   - The lock is taken over only from a process that is dead; a stopped one keeps it.
 *   - After a death under the lock, what it left (the words `a` and `b`, which one holder changes
 *     together) is mended by exactly one taker, before anybody's work; and after a death in the
 *     mending, once more.
 *   - With -DPATIENT nobody gives up: then nobody waits for ever (no cycle without progress, in
 *     which every process that can take a step takes one sometime); also not behind a process that
 *     said that it starves, and died.
 *
 * Left out, and why that loses nothing:
 *   - Times. When a waiter asks the kernel, and when it gives up, is any time after the first try;
 *     it starves after the first.
 *   - Fairness: how often others go first is a matter of time. test_lock counts it.
 *   - The kernel's lock on a slot's byte is held from the attach until the death: by a mapping.
 *     With -DLOSES it is held by a descriptor, which the process's own code may close whenever no
 *     thread of it is in here: each process has one thread then, and one of them loses its slot.
 *   - Forks: a child has no slot, and takes one as any process does.
 *   - What is mended: two words stand for the directory, or for a shard's intent.
 *   - Memory is sequentially consistent; the orders are argued in docs/CONCURRENCY.md.
 *
 * Bounds: process 0 with two threads, processes 1 and 2 with one; two slots, which processes 0 and
 * 1 have, so that process 2 gets the slot of one that died; every thread takes the lock once; two
 * deaths, with -DPATIENT one. With -DLOSES process 0 has one thread, which takes the lock twice.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define PROCESSES 3
#define SLOTS 2
#ifdef PATIENT
# define DEATHS 1
#else
# define DEATHS 2
#endif

/* An owner word: the slot and its generation; 0 is nobody. */
#define WORD(slot, g) (1 + (slot) + SLOTS * (g))
#define SLOT(word) (((word) - 1) % SLOTS)
#define GENERATION(word) (((word) - 1) / SLOTS)

/* Shared memory. */
byte lock;
bool hint; /* `starving`, beside the lock */
byte generation[SLOTS];
bool a;
bool b;

/* The kernel: whose lock the slot's byte has, or 0. */
byte byte_held[SLOTS];

/* Of each process. */
byte owner[PROCESSES];
bool busy[PROCESSES];

/* With -DLOSES: a thread of the process is in the engine; the descriptor is open. */
bool engine[PROCESSES];
bool open[PROCESSES] = true;

/* What is to be proved, and the dead. */
bool dead[PROCESSES];
bool dead_word[16];       /* owner words of dead processes */
bool inside[4];           /* threads between lock and unlock */
bool owed;                /* who had the lock died, and nobody has mended it since */

/* bshm__directory_repair(), or bshm__intent_repair(). */
inline mend()
{
	assert(owed);
	b = a;
	owed = false
}

/* Between lock and unlock: two words that belong together. */
inline work()
{
	atomic {
		assert(!inside[0] && !inside[1] && !inside[2] && !inside[3]);
		assert(!owed && a == b);
		inside[me] = true
	};
	a = !a;
	b = !b;
	inside[me] = false
}

/* bshm__owner_alive() of `seen`. */
inline ask()
{
	if
	:: atomic { seen == owner[process] -> alive = true }
#ifdef BROKEN_NO_GENERATION
	:: seen != owner[process] -> alive = (byte_held[SLOT(seen)] != 0)
#else
	:: atomic {
		seen != owner[process] && generation[SLOT(seen)] != GENERATION(seen) -> alive = false
	   }
	:: seen != owner[process] && generation[SLOT(seen)] == GENERATION(seen) ->
		alive = (byte_held[SLOT(seen)] != 0)
#endif
#ifdef LOSES
	:: seen != owner[process] -> alive = true /* the descriptor is another file's: not known */
#endif
#ifdef BROKEN_ANY_ANSWER
	:: seen != owner[process] -> alive = false /* and is asked all the same */
#endif
	fi
}

inline end_wait()
{
	if
	:: atomic { starves -> hint = false; starves = false }
	:: else
	fi
}

proctype thread(byte me; byte process; byte rounds)
{
	byte seen;
	bool alive;
	bool starves;
	{
		rounds--;
	again:
#ifndef SHARD
# ifndef BROKEN_NO_BUSY
		if
		:: atomic { !busy[process] -> busy[process] = true }
#  ifndef PATIENT
		:: busy[process] -> goto finished
#  endif
		fi;
# endif
#endif

#ifdef LOSES
		/* has_slot_still() */
		atomic {
			engine[process] = true;
			if
# ifndef BROKEN_NO_LOOK
			:: owner[process] != 0 && !open[process] -> owner[process] = 0
			:: else
# else
			:: true
# endif
			fi
		};
#endif
		/* take_slot(): process 2 finds one when another has died */
		if
		:: owner[process] != 0
		:: owner[process] == 0 && byte_held[0] != 0 && byte_held[1] != 0 -> goto given_up
		:: atomic { owner[process] == 0 && byte_held[0] == 0 -> byte_held[0] = process + 1 };
			open[process] = true;
			generation[0] = generation[0] + 1;
			owner[process] = WORD(0, generation[0])
		:: atomic { owner[process] == 0 && byte_held[1] == 0 -> byte_held[1] = process + 1 };
			open[process] = true;
			generation[1] = generation[1] + 1;
			owner[process] = WORD(1, generation[1])
		fi;

#ifndef SHARD
		if
		:: lock == owner[process] -> goto dead_holder
		:: else
		fi;
#endif
		/* bshm__word_lock() */
		do
		:: atomic {
			lock == 0 && (!hint || starves) -> lock = owner[process]; assert(!owed); goto holding
		   }
#ifdef BROKEN_MEEK
		:: lock == 0 && hint && !starves -> skip
#else
		:: atomic { lock == 0 && hint && !starves -> starves = true; hint = true }
#endif
#ifndef PATIENT
		/* The last look of a short wait. */
		:: atomic {
			lock == 0 && hint && !starves -> lock = owner[process]; assert(!owed); goto holding
		   }
#endif
		:: atomic { lock != 0 -> seen = lock };
			atomic { starves = true; hint = true };
			ask();
			if
#ifdef BROKEN_IMPATIENT
			:: alive -> lock = owner[process]; goto dead_holder
#endif
			:: alive
#ifndef PATIENT
			:: alive -> goto given_up
#endif
#ifdef BROKEN_NO_CAS
			:: !alive -> lock = owner[process]; goto dead_holder
#elif defined BROKEN_FREE_FIRST
			:: atomic { !alive && lock == seen -> lock = 0 }
			:: !alive && lock != seen
#else
			:: atomic { !alive && lock == seen -> assert(dead_word[seen]); lock = owner[process] };
				goto dead_holder
			:: !alive && lock != seen
# ifndef PATIENT
			:: !alive && lock != seen -> goto given_up
# endif
#endif
			fi
		od;

	dead_holder:
		end_wait();
		mend();
	holding:
		end_wait();
progress:
		work();
		lock = 0;
#ifndef SHARD
		busy[process] = false;
#endif
		engine[process] = false;
		if
		:: rounds > 0 -> rounds--; goto again
		:: else -> goto finished
		fi;
	given_up:
		end_wait();
#ifndef SHARD
		busy[process] = false;
#endif
	finished:
		skip
	} unless { dead[process] }
}

/*
 * SIGKILL, between any two steps. Who has no slot, and dies, is to the others like one who is
 * stopped for ever; and that is a process which takes no more steps.
 */
inline kill(p)
{
	atomic {
		deaths < DEATHS && !dead[p] && (byte_held[0] == p + 1 || byte_held[1] == p + 1) ->
		deaths++;
		dead[p] = true;
		if
		:: byte_held[0] == p + 1 -> byte_held[0] = 0
		:: else -> byte_held[1] = 0
		fi;
		if
		:: owner[p] != 0 ->
			dead_word[owner[p]] = true;
			if
			:: lock == owner[p] -> owed = true
			:: else
			fi
		:: else
		fi;
		if
		:: p == 0 -> inside[0] = false; inside[1] = false
		:: else -> inside[p + 1] = false
		fi
	}
}

/* Code of the process's own closes the descriptor. */
inline lose(p)
{
	atomic {
		!lost && !dead[p] && !engine[p] && open[p] &&
			(byte_held[0] == p + 1 || byte_held[1] == p + 1) ->
		lost = true;
		open[p] = false;
		if
		:: byte_held[0] == p + 1 -> byte_held[0] = 0
		:: else -> byte_held[1] = 0
		fi
	}
}

proctype closer()
{
	bool lost;
end:
	do
	:: lose(0)
	:: lose(1)
	od
}

proctype killer()
{
	byte deaths;
end:
	do
	:: kill(0)
	:: kill(1)
	:: kill(2)
	od
}

init
{
	atomic {
		generation[0] = 1;
		byte_held[0] = 1;
		owner[0] = WORD(0, 1);
		generation[1] = 1;
		byte_held[1] = 2;
		owner[1] = WORD(1, 1);
#ifdef LOSES
		run thread(0, 0, 2);
		run closer();
#else
		run thread(0, 0, 1);
		run thread(1, 0, 1);
#endif
		run thread(2, 1, 1);
		run thread(3, 2, 1);
		run killer()
	}
}

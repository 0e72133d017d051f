/*
 * lease.pml - one process loads what belongs to a key, the others wait; and a change in the middle.
 *
 * Mirrors, one step for each load or store of a shared word:
 *
 *     caller    php/php_fetch.c  obtain, look, load_leased, load, php_bloomshm_fetch_wait
 *               cache/lease.c    bshm_lease_take, look_for, give, bshm_lease_held,
 *                                bshm_lease_release
 *               cache/lease_table.c  bshm__lease_end, bshm__leases_end
 *     adder     php/php_fetch.c  php_bloomshm_forget_added
 *               cache/lease.c    bshm_store_note_fetch, bshm_store_has_fetched, bshm_record_forget
 *     writer    cache/change.c   bshm_record_put, bshm__leases_end
 *     repair    cache/repair.c   bshm__intent_repair
 *
 * Properties:
 *   - Never two living processes with a lease of the same key, but for who has waited for too long.
 *   - "The backend knows nothing" is not in the store once an adder, who gave the key to the
 *     backend before, has returned from forgetting it (`watch` looks at every state). An adder that
 *     did not get the shard's lock says so: that is no return.
 *   - With -DWRITER another process stores a value in the place of the adder: once it is there,
 *     nothing that was loaded before takes its place.
 *   - No deadlock: every process ends. With -DPATIENT no time is ever up: then no caller waits for
 *     ever, whoever dies (no cycle without progress, in which every process that can take a step
 *     takes one sometime).
 *
 * Left out, and why that loses nothing:
 *   - The shard's lock is one word that a waiter gets when its holder has left or is dead:
 *     lock.pml. A record is put, and removed, by one store: what a death leaves of it is told in
 *     repair.c.
 *   - One key, two places for leases: keys do not touch each other but for the count of leases,
 *     which may be too high. A caller that gets no lease loads without one, and stores nothing.
 *   - Whether an owner lives is one question: lock.pml. Threads of one process.
 *   - A value is kept for good; a stale one, and a filter that is replaced, only lead to more
 *     loads.
 *   - Memory is sequentially consistent; the orders are argued in docs/CONCURRENCY.md.
 *
 * Bounds: two callers, one adder or writer, one death; a caller waits at most twice before its time
 * is up.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define CALLERS 2
#define DEATHS 1
#define WAITS 2

#define ABSENT 0
#define NOTHING 1
#define VALUE 2
#define NEW 3

byte lock;             /* 0, or process + 1 */
bool fetched;
byte leases;           /* the shard's count */
byte owner[2];         /* of the leases: 0, or process + 1 */
byte serial[2];
byte record;
bool known;            /* to the backend */

bool dead[CALLERS + 1];
bool loading[CALLERS]; /* under a lease that is out, and not beside another's */
bool forgotten;
bool written;

#ifdef BROKEN_NO_PROBE
# define ALIVE(word) (word != 0)
#else
# define ALIVE(word) (word != 0 && !dead[word - 1])
#endif

/* end_lease() */
inline end_lease(p)
{
	d_step {
		if
		:: owner[p] >= 1 && owner[p] <= CALLERS -> loading[owner[p] - 1] = false
		:: else
		fi;
		owner[p] = 0
	};
	leases--
}

inline end_leases()
{
	if
	:: leases != 0 ->
		if
		:: owner[0] != 0 -> end_lease(0)
		:: else
		fi;
#ifdef BROKEN_END_ONE
		if
		:: false
		:: else
		fi
#else
		if
		:: owner[1] != 0 -> end_lease(1)
		:: else
		fi
#endif
	:: else
	fi
}

/* What a dead holder may have changed is not known. */
inline repair()
{
#ifndef BROKEN_NO_REPAIR
	if
	:: took_over -> end_leases()
	:: else
	fi;
#endif
	took_over = false
}

#ifdef PATIENT
# define TAKE_LOCK(late) \
	atomic { (lock == 0 || dead[lock - 1]) -> took_over = (lock != 0); lock = me + 1 }; \
	repair()
#else
# define TAKE_LOCK(late) \
	if \
	:: atomic { (lock == 0 || dead[lock - 1]) -> took_over = (lock != 0); lock = me + 1 } \
	:: lock != 0 && !dead[lock - 1] -> goto late \
	fi; \
	repair()
#endif

inline unlock()
{
	lock = 0
}

#define OUT(p) (owner[p] != 0)
#define GRANTED (owner[place] == me + 1 && serial[place] == granted)
#define TAKEN(p) (ALIVE(owner[p]) && owner[p] != me + 1)

proctype caller(byte me)
{
	byte granted;   /* the serial; 0: no lease */
	byte place;     /* of the lease, or of the one that is waited for */
	byte waits;
	bool beside;
	bool took_over;
	byte loaded;
	{
		fetched = true;
	again:
		if
		:: record != ABSENT -> goto finished
		:: else
		fi;

		/* bshm_lease_take() */
		TAKE_LOCK(load);
		leases = OUT(0) + OUT(1); /* look_for() */
		if
#ifndef BROKEN_TAKE_LIVING
		:: TAKEN(0) && !beside -> place = 0; goto taken
		:: TAKEN(1) && !TAKEN(0) && !beside -> place = 1; goto taken
		:: beside || !(TAKEN(0) || TAKEN(1))
#else
		:: true
#endif
		fi;
		if
		:: !ALIVE(owner[0]) -> place = 0
		:: ALIVE(owner[0]) && !ALIVE(owner[1]) -> place = 1
		:: ALIVE(owner[0]) && ALIVE(owner[1]) -> unlock(); goto load
		fi;
		/* give() */
#ifndef BROKEN_COUNT_LATE
		if
		:: owner[place] == 0 -> leases++
		:: else
		fi;
#endif
		serial[place]++;
		granted = serial[place];
		atomic {
			owner[place] = me + 1;
			assert(beside || !loading[1 - me] || dead[1 - me]);
			loading[me] = !beside
		};
		unlock();
		if
		:: record != ABSENT -> loaded = ABSENT; goto release /* another was faster */
		:: else -> goto load
		fi;

	taken:
		loaded = serial[place]; /* of the lease that is waited for */
		unlock();
		/* php_bloomshm_fetch_wait(), bshm_lease_held() */
		do
		:: owner[place] == 0 || serial[place] != loaded -> break
		:: owner[place] != 0 && !ALIVE(owner[place]) -> break
		:: ALIVE(owner[place]) && serial[place] == loaded
#ifndef PATIENT
			-> break /* the time is up */
#endif
		od;
#ifndef PATIENT
		waits++;
		beside = (waits == WAITS);
#endif
		goto again;

	load:
		loaded = (known -> VALUE : NOTHING);
#ifdef BROKEN_COUNT_LATE
		if
		:: granted != 0 -> leases++
		:: else
		fi;
#endif
		if
		:: granted == 0 ->
#ifdef BROKEN_KEEP_UNLEASED
			if
			:: loaded == VALUE -> TAKE_LOCK(finished); record = VALUE; unlock()
			:: else
			fi;
#endif
			goto finished
		:: granted != 0
		:: granted != 0 -> loaded = ABSENT /* the loader threw */
		fi;

	release:
		/* bshm_lease_release() */
		TAKE_LOCK(let_go);
		if
		:: GRANTED ->
#ifdef BROKEN_UNCOUNTED_FIRST
			leases--;
#endif
#ifndef BROKEN_PUT_LATE
			if
			:: loaded != ABSENT ->
				record = loaded;
# ifdef BROKEN_UNCOUNTED_FIRST
				leases++;
# endif
				end_leases()
			:: loaded == ABSENT -> end_lease(place)
			fi
#else
			end_lease(place)
#endif
		:: else
#ifdef BROKEN_NO_GRANT
			-> record = (loaded != ABSENT -> loaded : record)
#endif
		fi;
		unlock();
#ifdef BROKEN_PUT_LATE
		TAKE_LOCK(finished);
		record = loaded;
		unlock();
#endif
		goto finished;
	let_go:
		if
		:: atomic { GRANTED -> owner[place] = 0; loading[me] = false }
		:: else
		fi;
	finished:
progress:
		skip
	} unless { dead[me] }
}

proctype adder(byte me)
{
	bool took_over;
	{
		known = true;
		if
		:: !fetched -> goto forgotten_it /* php_bloomshm_forget_added() */
		:: else
		fi;
		/* bshm_record_forget() */
		if
		:: leases == 0 ->
			if
			:: record == ABSENT -> goto forgotten_it
			:: else
			fi
		:: else
		fi;
		TAKE_LOCK(failed);
		record = ABSENT;
#ifndef BROKEN_NO_SPOIL
		end_leases();
#endif
		unlock();
	forgotten_it:
		forgotten = true;
	failed:
		skip
	} unless { dead[me] }
}

proctype writer(byte me)
{
	bool took_over;
	{
		known = true;
		/* bshm_record_put() */
		TAKE_LOCK(failed);
		atomic { record = NEW; written = true };
#ifndef BROKEN_WRITE_ALONE
		end_leases(); /* changed() */
#endif
		unlock();
	failed:
		skip
	} unless { dead[me] }
}

proctype watch()
{
end:
	if
	:: forgotten && record == NOTHING -> assert(false)
	:: written && record != NEW -> assert(false)
	fi
}

/*
 * SIGKILL, between any two steps. Who owns nothing, and dies, is to the others like one who is
 * stopped for ever; and that is a process which takes no more steps.
 */
#define OWNS(p) (lock == p + 1 || owner[0] == p + 1 || owner[1] == p + 1)

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

init
{
	atomic {
		run caller(0);
		run caller(1);
#ifdef WRITER
		run writer(2);
#else
		run adder(2);
#endif
		run watch();
		run killer()
	}
}

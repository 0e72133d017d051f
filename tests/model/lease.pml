/*
 * lease.pml - one process loads what belongs to a key, the others wait; and an add in the middle.
 *
 * Mirrors, one step for each load or store of a shared word:
 *
 *     caller    php/php_fetch.c  obtain, look, load_leased, load, wait_for_loader
 *               cache/lease.c    bshm_lease_take, find_lease, give, bshm_lease_held, bshm_lease_release
 *     adder     php/php_fetch.c  php_bloomshm_forget_added
 *               cache/lease.c    bshm_store_note_fetch, bshm_store_has_fetched, bshm_record_forget
 *
 * Properties:
 *   - Never two living processes with a lease of the same key.
 *   - "The backend knows nothing" is not in the store once an adder, who gave the key to the backend
 *     before, has returned from forgetting it (`watch` looks at every state). An adder that did not get
 *     the shard's lock says so: that is no return.
 *   - No deadlock: every process ends. With -DPATIENT no time is ever up: then no caller waits for
 *     ever, whoever dies (no cycle without progress, in which every process that can take a step takes
 *     one sometime).
 *
 * Left out, and why that loses nothing:
 *   - The shard's lock is one word that a waiter gets when its holder has left or is dead: lock.pml. A
 *     record is put, and removed, by one store: what a death leaves of it is told in write.c.
 *   - One key, one place for a lease: keys do not touch each other but for the count of leases, which
 *     may be too high. A caller that gets no lease loads without one, as when the lock's time is up.
 *   - Whether an owner lives is one question: lock.pml. Threads of one process.
 *   - A value is kept for good; a stale one, and a filter that is replaced, only lead to more loads.
 *   - Memory is sequentially consistent; the orders are argued in docs/CONCURRENCY.md.
 *
 * Bounds: two callers, one adder, one death; a caller waits at most twice before its time is up.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define CALLERS 2
#define DEATHS 1
#define WAITS 2

#define ABSENT 0
#define NOTHING 1
#define VALUE 2

byte lock;             /* 0, or process + 1 */
bool fetched;
byte leases;           /* the shard's count */
byte lease_owner;      /* 0, or process + 1 */
bool lease_spoilt;
byte lease_serial;
byte record;
bool known;            /* to the backend */

bool dead[CALLERS + 1];
bool loading[CALLERS]; /* under a lease */
bool forgotten;

#ifdef BROKEN_NO_PROBE
# define ALIVE(word) (word != 0)
#else
# define ALIVE(word) (word != 0 && !dead[word - 1])
#endif

#ifdef PATIENT
# define TAKE_LOCK(late) \
	atomic { (lock == 0 || dead[lock - 1]) -> lock = me + 1 }
#else
# define TAKE_LOCK(late) \
	if \
	:: atomic { (lock == 0 || dead[lock - 1]) -> lock = me + 1 } \
	:: lock != 0 && !dead[lock - 1] -> goto late \
	fi
#endif

inline unlock()
{
	lock = 0
}

proctype caller(byte me)
{
	byte serial;    /* of the grant; 0: none */
	byte waits;
	bool was_out;
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
		was_out = (lease_owner != 0); /* find_lease() */
		leases = was_out;
		if
#ifndef BROKEN_TAKE_LIVING
		:: ALIVE(lease_owner) -> unlock(); goto taken
		:: !ALIVE(lease_owner)
#else
		:: true
#endif
		fi;
		was_out = (lease_owner != 0); /* give() */
		lease_spoilt = false;
		serial = lease_serial + 1;
		lease_serial = serial;
		lease_owner = me + 1;
#ifndef BROKEN_COUNT_LATE
		if
		:: !was_out -> leases++
		:: else
		fi;
#endif
		atomic { assert(!loading[1 - me] || dead[1 - me]); loading[me] = true };
		unlock();
		if
		:: record != ABSENT -> loaded = ABSENT; goto release /* another was faster */
		:: else -> goto load
		fi;

	taken:
		if
		:: waits == WAITS -> goto load
		:: else
		fi;
#ifndef PATIENT
		waits++;
#endif
		/* wait_for_loader(), bshm_lease_held() */
		do
		:: lease_owner == 0 -> break
		:: lease_owner != 0 && !ALIVE(lease_owner) -> break
		:: lease_owner != 0 && ALIVE(lease_owner)
#ifndef PATIENT
			-> break /* the time is up */
#endif
		od;
		goto again;

	load:
		loaded = (known -> VALUE : NOTHING);
#ifdef BROKEN_COUNT_LATE
		if
		:: serial != 0 && !was_out -> leases++
		:: else
		fi;
#endif
		if
		:: serial == 0 ->
			/* bshm_record_put(): without a lease "nothing" is not kept */
			if
			:: loaded == VALUE -> TAKE_LOCK(finished); record = VALUE; unlock()
			:: else
			fi;
			goto finished
		:: serial != 0
		:: serial != 0 -> loaded = ABSENT /* the loader threw */
		fi;

	release:
		/* bshm_lease_release() */
		TAKE_LOCK(let_go);
		if
		:: lease_owner == me + 1 && lease_serial == serial ->
#ifdef BROKEN_UNCOUNTED_FIRST
			leases--;
#endif
#ifndef BROKEN_PUT_LATE
			if
			:: loaded != ABSENT && !lease_spoilt -> record = loaded
			:: else
			fi;
#endif
			loading[me] = false;
			lease_owner = 0;
#ifndef BROKEN_UNCOUNTED_FIRST
			leases--
#endif
		:: else
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
		:: lease_owner == me + 1 && lease_serial == serial ->
			loading[me] = false;
			lease_owner = 0
		:: else
		fi;
	finished:
progress:
		skip
	} unless { dead[me] }
}

proctype adder(byte me)
{
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
#ifndef BROKEN_NO_SPOIL
		if
		:: lease_owner != 0 -> lease_spoilt = true
		:: else
		fi;
#endif
		record = ABSENT;
		unlock();
	forgotten_it:
		forgotten = true;
	failed:
		skip
	} unless { dead[me] }
}

proctype watch()
{
end:
	forgotten && record == NOTHING -> assert(false)
}

/*
 * SIGKILL, between any two steps. Who owns nothing, and dies, is to the others like one who is stopped
 * for ever; and that is a process which takes no more steps.
 */
#define OWNS(p) (lock == p + 1 || lease_owner == p + 1)

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
		run adder(2);
		run watch();
		run killer()
	}
}

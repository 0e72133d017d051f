/*
 * rest.pml - a segment on a disk: what is believed after the machine has stopped.
 *
 * Mirrors, one step for each look at or change of the presence lock, each store to the file, and
 * each page that a sync brings to the disk:
 *
 *     segment/rest.c     bshm__rest_enter, enter_alone, enter_shared, judge, wake,
 *                        bshm__rest_discard, sync_alone, sleep_in
 *
 * Properties:
 *   - Whoever believes what a file holds finds every write that was ever confirmed to be in it, in
 *     memory and after any stop of the machine.
 *   - Only one process at a time has the presence lock alone, and then nobody writes.
 *   - When both processes have left, and none died, the file is at rest.
 *
 * Left out, and why that loses nothing:
 *   - What a file holds is one page with a count of writes; the header's page has the mark and the
 *     boot. Two pages suffice to be of different moments.
 *   - A file that is not believed is emptied in place: nobody else has it then.
 *   - Boots that cannot be told are boots that differ: less is believed.
 *   - What one process does between two looks of others is one step: with the lock alone, it is the
 *     only one that looks at the mark or stores it, and a death on the way leaves what was before.
 *   - The last round of sync_alone(), which keeps others out: it does less at once.
 *
 * Bounds: two processes, which begin again when they have ended or died, three rounds each; one
 * stop of the machine; one death; two writes. The kernel writes either page back at any time.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#define AWAKE 0
#define WAKING 1
#define ASLEEP 2
#define SYNCING 3
#define NONE 2

/* Memory, and the disk. */
byte mark = ASLEEP;
byte mark_boot;
byte writes;
byte disk_mark = ASLEEP;
byte disk_boot;
byte disk_writes;

/* The kernel's lock. */
byte alone = NONE;
bool shared[2];

byte boot;
byte deaths = 1;
byte confirmed;
byte ended;

inline let_go()
{
	shared[_pid] = false;
	if
	:: alone == _pid -> alone = NONE
	:: else
	fi
}

/* A step, unless the machine has stopped or the process dies here. */
#define STEP(action)                              \
	atomic {                                      \
		if                                        \
		:: born != boot -> goto again             \
		:: born == boot && deaths > 0 -> deaths--; let_go(); goto again \
		:: born == boot -> action                 \
		fi                                        \
	}

#define SYNC_PAGE disk_mark = mark; disk_boot = mark_boot
#define SYNC STEP(disk_writes = writes); STEP(SYNC_PAGE)

active [2] proctype process()
{
	byte born;
	bool whole;
	byte rounds;

again:
	do
	:: atomic { rounds < 3 -> rounds++; born = boot; whole = false; let_go() }
		/* claim_presence() */
		STEP(
			if
			:: alone == NONE && !shared[1 - _pid] -> alone = _pid
			:: else
			fi);
#ifndef BROKEN_NO_WITNESS
		STEP(
			if
			:: alone != _pid && !shared[1 - _pid] -> goto again
			:: else
			fi);
#endif
		STEP(
			if
			:: alone == _pid
			:: alone == NONE -> shared[_pid] = true
			:: else -> goto again
			fi);
		if
		:: alone == _pid ->
			STEP(whole = (mark == ASLEEP || mark_boot == boot));
			if
			:: !whole ->
				STEP(writes = 0; disk_writes = 0; confirmed = 0; mark = ASLEEP; mark_boot = boot;
					SYNC_PAGE)
			:: else
			fi;
			assert(born != boot || writes >= confirmed);
			if
			:: mark == SYNCING -> STEP(mark = AWAKE)
			:: mark == WAKING || mark == ASLEEP ->
				STEP(mark_boot = boot);
#if defined(BROKEN_NO_WAKING)
				STEP(mark = AWAKE);
				SYNC;
#elif defined(BROKEN_NO_SYNC)
				STEP(mark = WAKING);
				STEP(mark = AWAKE);
#else
				STEP(mark = WAKING);
				SYNC;
				STEP(mark = AWAKE);
#endif
			:: else
			fi;
			STEP(shared[_pid] = true; alone = NONE)
		:: else ->
			STEP(
				if
#ifndef BROKEN_NO_SECOND_LOOK
				:: mark == WAKING || mark == ASLEEP -> let_go(); goto again
#endif
#ifndef BROKEN_UNSEEN
				:: mark == SYNCING -> mark = AWAKE
#endif
				:: else
				fi)
		fi;
		/* Work. */
		if
		:: confirmed < 2 ->
			STEP(writes++);
			STEP(confirmed++)
		:: true
		fi;
		/* Unmap; then sleep_in(). */
		STEP(shared[_pid] = false);
#ifdef BROKEN_NOT_ALONE
		STEP(alone = _pid);
#else
		STEP(
			if
			:: alone == NONE && !shared[1 - _pid] -> alone = _pid
			:: else -> goto again
			fi);
#endif
look:
#ifdef BROKEN_NO_FIRST_LOOK
		goto sync;
#endif
		if
		:: mark == WAKING || mark == ASLEEP -> STEP(mark = ASLEEP; alone = NONE); goto end
		:: else
		fi;
sync:
		STEP(mark = SYNCING; shared[_pid] = true; alone = NONE);
#ifndef BROKEN_MARK_FIRST
		SYNC;
#endif
		STEP(
			if
			:: alone != NONE || shared[1 - _pid] -> goto in_use
#ifdef BROKEN_NOT_ANEW
			:: else -> mark = ASLEEP
#else
			:: alone == NONE && !shared[1 - _pid] && mark != SYNCING -> alone = _pid; goto sync
			:: alone == NONE && !shared[1 - _pid] && mark == SYNCING -> mark = ASLEEP
#endif
			fi;
			shared[_pid] = false);
		goto end;
in_use:
#ifdef BROKEN_NO_LAST_LOOK
		STEP(let_go());
		goto again;
#endif
		STEP(shared[_pid] = false);
		STEP(
			if
			:: alone == NONE && !shared[1 - _pid] -> alone = _pid
			:: else -> goto again
			fi);
		goto look;
end:
		SYNC
	:: atomic { true -> ended++; break }
	od
}

/* Both have left in good order, and the machine runs: one of them has set the mark. */
active proctype observer()
{
end_idle:
	atomic {
		ended == 2 && deaths == 1 && boot == 0 -> assert(mark == ASLEEP)
	}
}

/* Pages get to the disk when the kernel likes; the machine stops. */
active proctype machine()
{
	do
	:: atomic { disk_writes != writes -> disk_writes = writes }
	:: atomic { disk_mark != mark || disk_boot != mark_boot -> SYNC_PAGE }
	:: atomic {
			boot < 1 ->
			boot++;
			mark = disk_mark;
			mark_boot = disk_boot;
			writes = disk_writes;
			alone = NONE;
			shared[0] = false;
			shared[1] = false
		}
	:: true -> break
	od
}

/*
 * owners.c - which processes are attached, and which of them still live.
 *
 * A process that attaches takes a slot by locking the slot's byte in the file. The kernel drops
 * that lock when the process ends, however it ends, so a byte without a lock means that the slot's
 * last owner is gone. Pids are not compared: they repeat, and differ between containers.
 *
 * The slot's generation goes up with every owner. Owner words (slot and generation) therefore
 * never repeat, and one left behind by a dead process is never taken for its successor's.
 *
 * A descriptor is a number that any code of the process may close, and use again for another file:
 * daemonizers do. So no descriptor holds the lock of a slot. The lock belongs to an open file that
 * only a mapped page keeps (bshm_os_keep()). The child of a fork does not inherit that mapping:
 * otherwise it would keep its dead parent "alive". `segment->fd` is only for questions to the
 * kernel. An answer counts only if the descriptor was the segment's file before and after the
 * question. In doubt a process counts as alive.
 *
 * A file system may map another file than the one that was opened (overlay does). There the lock
 * would be gone with its descriptor, and a process with a slot would look dead. So the first attach
 * of a process tests whether a mapping keeps a lock, on a byte of its own. If not, the descriptor
 * stays open in `lock_fd`, and is checked whenever a lock of the segment is taken.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/owners.h"

#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <errno.h>

#define GENERATION_MASK ((UINT64_C(1) << 48) - 1)
#define GUARD_NS        UINT64_C(100000000) /* a fork waits so long for an attach */
#define FULL_NS         UINT64_C(100000000) /* no new search for a slot so soon */

static bshm_segment *all_segments;

/* 1: a thread of this process opens a file for a slot, or forks. Without the guard, a child could
 * inherit a descriptor that the parent closes a moment later. */
static uint32_t guard;

static bool guard_try(uint64_t wait_ns)
{
	const uint64_t deadline = bshm_os_monotonic_ns() + wait_ns;
	uint32_t free_word = 0;
	/* Pairs with guard_release(). */
	while (!BSHM_CAS(&guard, &free_word, 1, ACQUIRE)) {
		free_word = 0;
		if (bshm_os_monotonic_ns() > deadline) {
			return false;
		}
		bshm_os_yield();
	}
	return true;
}

static void guard_release(void)
{
	BSHM_STORE(&guard, 0, RELEASE); /* pairs with guard_try() */
}

/* ------------------------------------------------------------------ the file */

static bool is_file(const bshm_segment *segment, int fd)
{
	return bshm_os_is_file(fd, segment->device, segment->inode);
}

/* Closes `fd`, unless the number belongs to another file by now. */
static void close_if_ours(const bshm_segment *segment, int fd)
{
	if (is_file(segment, fd)) {
		bshm_os_close(fd);
	}
}

/* Opens the file that is mapped, if the path still leads to it. */
static bshm_status open_again(
	const bshm_segment *segment, bool readonly, int *fd, bshm_error *error)
{
	const int code = bshm_os_open(segment->path, readonly, fd);
	if (code != 0) {
		return bshm__fail_code(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_REOPEN, code);
	}
	if (is_file(segment, *fd)) {
		return BSHM_OK;
	}
	bshm_os_close(*fd);
	return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_REPLACED);
}

/* Under the guard: makes `fd` the segment's file, where it is not. */
static bshm_status find_file(bshm_segment *segment, bshm_error *error)
{
	int fd = BSHM_LOAD(&segment->fd, RELAXED);
	if (is_file(segment, fd)) {
		return BSHM_OK;
	}
	const bshm_status status = open_again(segment, true, &fd, error);
	BSHM_STORE(&segment->fd, status == BSHM_OK ? fd : -1, RELAXED);
	return status;
}

bshm_status bshm__owner_file(bshm_segment *segment, bshm_error *error)
{
	if (is_file(segment, BSHM_LOAD(&segment->fd, RELAXED))) {
		return BSHM_OK;
	}
	if (!guard_try(GUARD_NS)) {
		return bshm__fail(error, BSHM_E_TIMEOUT, BSHM_CAUSE_ATTACH);
	}
	const bshm_status status = find_file(segment, error);
	guard_release();
	return status;
}

typedef enum {
	FREE,
	HELD,
	UNKNOWN
} answer;

/*
 * What the kernel says of a byte. Another thread may give the number to another file at any time.
 */
static answer ask(const bshm_segment *segment, int64_t offset)
{
	const int fd = BSHM_LOAD(&segment->fd, RELAXED);
	bool held;
	if (!is_file(segment, fd) || bshm_os_byte_taken(fd, offset, &held) != 0 ||
		!is_file(segment, fd)) {
		return UNKNOWN;
	}
	return held ? HELD : FREE;
}

/* ------------------------------------------------------------------ forks */

static BSHM_THREAD_LOCAL bool fork_has_guard; /* of the thread that forks */

static void before_fork(void)
{
	fork_has_guard = guard_try(GUARD_NS);
}

static void after_fork(void)
{
	if (fork_has_guard) {
		guard_release();
	}
}

static void let_go_in_child(void)
{
	for (bshm_segment *segment = all_segments; segment != NULL; segment = segment->next) {
		close_if_ours(segment, segment->lock_fd);
		segment->lock_fd = -1;
		segment->lock_kept = NULL; /* not mapped here */
		segment->owner = 0;
		segment->quick_owner = 0;
		segment->tally = NULL;
		segment->slotless = false;
		segment->slot_lost = false;
		segment->full_until_ns = 0;
		segment->busy = 0; /* the thread that had it does not exist here */
	}
	guard_release(); /* whichever thread had it: the child has one thread only */
}

bool bshm__owner_remember(bshm_segment *segment)
{
	static bool registered;
	if (!guard_try(GUARD_NS)) {
		return false;
	}
	if (!registered) {
		registered = true;
		bshm_os_at_fork(before_fork, after_fork, let_go_in_child);
	}
	segment->next = all_segments;
	all_segments = segment;
	guard_release();
	return true;
}

void bshm__owner_forget(bshm_segment *segment)
{
	const bool guarded = guard_try(GUARD_NS);
	bshm_segment **at = &all_segments;
	while (*at != NULL && *at != segment) {
		at = &(*at)->next;
	}
	if (*at != NULL) {
		*at = segment->next;
	}
	bshm_os_release(segment->lock_kept);
	close_if_ours(segment, segment->lock_fd);
	close_if_ours(segment, segment->fd);
	if (guarded) {
		guard_release();
	}
}

/* ------------------------------------------------------------------ slots */

static int64_t byte_of(const bshm_segment *segment)
{
	return BSHM_OWNER_LOCK_OFF + (int64_t) (segment->owner & 0xffff) - 1;
}

static bool generation_is(const bshm_segment *segment, uint32_t slot, uint64_t owner)
{
	/* Pairs with occupy(). */
	return (BSHM_LOAD(&segment->owners[slot].generation, ACQUIRE) & GENERATION_MASK) == owner >> 16;
}

/*
 * Does a mapping keep the lock of an open file whose descriptor is closed? Tries it on one of 2^60
 * bytes, drawn at random, so that the answer is about this lock and not about that of another
 * process.
 */
static bshm_status try_keeping(bshm_segment *segment, bshm_error *error)
{
	uint64_t number;
	void *kept = NULL;
	int fd;
	int code = bshm_os_random(&number, sizeof(number));
	if (code == 0 && open_again(segment, false, &fd, error) != BSHM_OK) {
		return error->status;
	}
	const int64_t offset = BSHM_TRIAL_LOCK_OFF + (int64_t) (number >> 4);
	if (code == 0) {
		code = bshm_os_lock_byte(fd, offset);
		code = code != 0 ? code : bshm_os_keep(fd, &kept);
		close_if_ours(segment, fd);
	}
	const answer held = code == 0 ? ask(segment, offset) : UNKNOWN;
	bshm_os_release(kept);
	if (held == UNKNOWN) {
		return bshm__fail_code(
			error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_LOCK, code == 0 ? EBADF : code);
	}
	segment->locks = held == HELD ? BSHM_LOCKS_MAPPED : BSHM_LOCKS_OPEN;
	return BSHM_OK;
}

bool bshm__owner_lasts(bshm_segment *segment)
{
	bshm_error error;
	if (segment->locks == BSHM_LOCKS_UNTRIED && guard_try(GUARD_NS)) {
		if (find_file(segment, &error) == BSHM_OK) {
			try_keeping(segment, &error);
		}
		guard_release();
	}
	return segment->locks == BSHM_LOCKS_MAPPED;
}

static int lock_free_slot(int fd, uint32_t *slot)
{
	const uint64_t process_id = bshm_os_process_id();
	int code = EAGAIN;
	for (uint32_t i = 0; i < BSHM_OWNER_COUNT && code == EAGAIN; i++) {
		*slot = (uint32_t) (process_id + i) % BSHM_OWNER_COUNT;
		code = bshm_os_lock_byte(fd, BSHM_OWNER_LOCK_OFF + *slot);
	}
	return code;
}

/* Locks a slot's byte, and keeps the lock without the descriptor if the file allows that. */
static int hold_slot(bshm_segment *segment, int fd, uint32_t *slot)
{
	int code = lock_free_slot(fd, slot);
	if (code == 0 && segment->locks == BSHM_LOCKS_MAPPED) {
		code = bshm_os_keep(fd, &segment->lock_kept);
	}
	/* The descriptor was the file's all the time: the file itself was locked and mapped. */
	if (code == 0 && !is_file(segment, fd)) {
		code = EBADF;
	}
	if (code != 0) {
		bshm_os_release(segment->lock_kept);
		segment->lock_kept = NULL;
	}
	if (code == 0 && segment->locks == BSHM_LOCKS_OPEN) {
		segment->lock_fd = fd;
	} else {
		close_if_ours(segment, fd);
	}
	return code;
}

static void occupy(bshm_segment *segment, uint32_t slot)
{
	bshm_owner *owner = &segment->owners[slot];
	const uint64_t generation = (BSHM_LOAD(&owner->generation, RELAXED) + 1) & GENERATION_MASK;
	BSHM_STORE(&owner->pid, bshm_os_process_id(), RELAXED);
	BSHM_STORE(&owner->generation, generation, RELEASE); /* pairs with generation_is() */
	segment->tally = segment->tallies == NULL ? NULL : &segment->tallies[slot];
	/* Release, also for other threads of this process: a lock that they take with this word
	 * comes after the generation. Pairs with bshm__owner_attach() and bshm__shard_lock_free(). */
	const uint64_t word = generation << 16 | (slot + 1);
	const bool quick = segment->store_writable && segment->locks == BSHM_LOCKS_MAPPED;
	BSHM_STORE(&segment->owner, word, RELEASE);
	BSHM_STORE(&segment->quick_owner, quick ? word : 0, RELEASE);
}

/*
 * Why there is no free slot: processes have taken them, or another program has locked their bytes.
 */
static bshm_status fail_full(bshm_segment *segment, bshm_error *error)
{
	bshm__owner_survey survey;
	bshm__owners_look(segment, &survey);
	segment->full_until_ns = bshm_os_monotonic_ns() + FULL_NS;
	segment->full_error = (bshm_error){
		.status = BSHM_E_UNAVAILABLE,
		.cause = survey.strange ? BSHM_CAUSE_STRANGE_LOCK : BSHM_CAUSE_OWNERS,
		.process_id = survey.strange ? survey.strange_pid : 0,
		.available = survey.strange ? survey.owners : BSHM_OWNER_COUNT,
	};
	*error = segment->full_error;
	return error->status;
}

/* Under the guard. */
static bshm_status take_slot(bshm_segment *segment, bshm_error *error)
{
	if (segment->full_until_ns > bshm_os_monotonic_ns()) {
		*error = segment->full_error;
		return error->status;
	}
	bshm_status status = find_file(segment, error);
	if (status == BSHM_OK && segment->locks == BSHM_LOCKS_UNTRIED) {
		status = try_keeping(segment, error);
	}
	int fd;
	if (status == BSHM_OK) {
		status = open_again(segment, false, &fd, error);
	}
	if (status != BSHM_OK) {
		return status;
	}
	uint32_t slot;
	const int code = hold_slot(segment, fd, &slot);
	if (code == EAGAIN) {
		return fail_full(segment, error);
	}
	if (code != 0) {
		return bshm__fail_code(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_LOCK, code);
	}
	occupy(segment, slot);
	return BSHM_OK;
}

/* Is a slot that a descriptor holds still this process's? Not if other code has closed the
 * descriptor. */
static bool has_slot_still(const bshm_segment *segment)
{
	return is_file(segment, segment->lock_fd) && ask(segment, byte_of(segment)) == HELD &&
		   generation_is(segment, (uint32_t) (segment->owner & 0xffff) - 1, segment->owner);
}

static void drop_lost_slot(bshm_segment *segment)
{
	segment->owner = 0;
	segment->lock_fd = -1; /* closed, or another file's by now */
	segment->tally = NULL;
	segment->slot_lost = true;
}

bshm_status bshm__owner_attach(bshm_segment *segment, bshm_error *error)
{
	/* Pairs with occupy(). */
	if (BSHM_LOAD(&segment->owner, ACQUIRE) != 0 && segment->lock_fd < 0) {
		return BSHM_OK;
	}
	if (!guard_try(GUARD_NS)) { /* another thread of this process attaches */
		return bshm__fail(error, BSHM_E_TIMEOUT, BSHM_CAUSE_ATTACH);
	}
	bshm_status status = BSHM_OK;
	if (segment->owner != 0 && segment->lock_fd >= 0) {
		status = find_file(segment, error);
		if (status != BSHM_OK || !has_slot_still(segment)) {
			drop_lost_slot(segment);
		}
	}
	if (segment->owner == 0) {
		status = take_slot(segment, error);
	}
	guard_release();
	return status;
}

/* ------------------------------------------------------------------ life and death */

bool bshm__owner_alive(bshm_segment *segment, uint64_t owner)
{
	if (owner == segment->owner) {
		return true;
	}
	const uint32_t slot = (uint32_t) (owner & 0xffff) - 1; /* 0 wraps: no such slot */
	if (slot >= BSHM_OWNER_COUNT || !generation_is(segment, slot, owner)) {
		return false;
	}
	answer held = ask(segment, BSHM_OWNER_LOCK_OFF + slot);
	bshm_error error;
	if (held == UNKNOWN && bshm__owner_file(segment, &error) == BSHM_OK) {
		held = ask(segment, BSHM_OWNER_LOCK_OFF + slot);
	}
	return held != FREE;
}

/* ------------------------------------------------------------------ counting */

/*
 * The kernel keeps all locks of a file in one list and walks it at each question. So finding n
 * owners takes time proportional to n squared. 512 questions find 255 owners wherever they are, in
 * 6 ms at most. Of the slots that were not reached, a sample is asked for.
 */
#define LOOKS   512u
#define SAMPLES 64u

typedef struct {
	uint32_t begin;
	uint32_t end;
} part;

/* Parts of the slots that are still to be looked at. The shorter of two goes first, so the list
 * stays short. */
typedef struct {
	part open[16];
	unsigned count;
} plan;

static void plan_add(plan *p, uint32_t begin, uint32_t end)
{
	if (begin < end) {
		p->open[p->count++] = (part){begin, end};
	}
}

static void plan_divide(plan *p, part whole, uint32_t begin, uint32_t end)
{
	const bool left_is_shorter = begin - whole.begin < whole.end - end;
	if (!left_is_shorter) {
		plan_add(p, whole.begin, begin);
	}
	plan_add(p, end, whole.end);
	if (left_is_shorter) {
		plan_add(p, whole.begin, begin);
	}
}

/* Looks at one part. The rest of it goes back into the plan. */
static void look(int fd, plan *p, bshm__owner_survey *out)
{
	const part whole = p->open[--p->count];
	bshm_os_lock lock;
	if (bshm_os_lock_find(fd, BSHM_OWNER_LOCK_OFF + whole.begin, whole.end - whole.begin, &lock) !=
			0 ||
		lock.bytes == 0) {
		return;
	}
	const int64_t from = lock.offset - BSHM_OWNER_LOCK_OFF;
	const uint32_t begin = from < (int64_t) whole.begin ? whole.begin : (uint32_t) from;
	const uint64_t bytes = from < 0 ? lock.bytes - (uint64_t) -from : lock.bytes;
	const uint64_t last = (uint64_t) (from < 0 ? 0 : from) + bytes;
	const uint32_t end = last > whole.end ? whole.end : (uint32_t) last;
	if (lock.of_one_byte) {
		out->owners++;
	} else {
		out->strange = true;
		out->strange_pid = lock.process_id;
	}
	plan_divide(p, whole, begin, end);
}

/* Asks for some of the slots that were not reached, evenly spread, and takes their share for all of
 * them. */
static uint64_t estimate(int fd, const plan *p)
{
	uint64_t slots = 0;
	uint64_t asked = 0;
	uint64_t taken = 0;
	for (unsigned i = 0; i < p->count; i++) {
		slots += p->open[i].end - p->open[i].begin;
	}
	const uint32_t stride = (uint32_t) (slots / SAMPLES) + 1;
	for (unsigned i = 0; i < p->count; i++) {
		for (uint32_t slot = p->open[i].begin; slot < p->open[i].end; slot += stride) {
			bool held = false;
			asked += bshm_os_byte_taken(fd, BSHM_OWNER_LOCK_OFF + slot, &held) == 0;
			taken += held;
		}
	}
	return asked == 0 ? 0 : slots * taken / asked;
}

void bshm__owners_look(bshm_segment *segment, bshm__owner_survey *out)
{
	const int fd = BSHM_LOAD(&segment->fd, RELAXED);
	plan todo = {.count = 0};
	*out = (bshm__owner_survey){.owners = 0};
	if (is_file(segment, fd)) {
		plan_add(&todo, 0, BSHM_OWNER_COUNT);
	}
	for (unsigned i = 0; i < LOOKS && todo.count != 0; i++) {
		look(fd, &todo, out);
	}
	out->owners += estimate(fd, &todo);
	if (!is_file(segment, fd) || out->owners == 0) {
		out->owners = segment->owner != 0; /* this process's own slot is known */
	}
}

uint64_t bshm__owner_count(bshm_segment *segment)
{
	bshm__owner_survey survey;
	bshm__owners_look(segment, &survey);
	return survey.owners;
}

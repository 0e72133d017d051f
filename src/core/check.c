/*
 * check.c - the whole-segment validator.
 *
 * Checks everything that has a rule: header, chains, entries, descriptors, runs and their overlap,
 * ops, journal, and the record store (verify.c). Any filter bits are valid. The validator repairs
 * nothing. It looks for faults under the lock, because work in progress would look like one, and
 * reports them after it has released the lock.
 *
 * It leaves the lock to other processes after some work. A filter that is made between two such
 * steps may have the partitions of one that was looked at before, and that looks like a fault. So
 * where faults are found, all is looked at again, in the end under one hold of the lock.
 *
 * Where the filters are mapped for reading the validator cannot take the lock. So it reads words
 * that other processes write by atomic loads, and may report a change in progress as a fault.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/cache/verify.h"
#include "core/filter/mend.h"
#include "core/hash.h"
#include "core/layout.h"
#include "core/segment/blocks.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/run.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "core/segment/source.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

#define FAULTS_TOLD 64
/* What is looked at in one step: words of the map of partitions, and as many for an entry, a head
 * or an op as it takes the time of. The step ends after the present one. */
#define STEP_WORK  (1u << 16)
#define ITEM_WORK  128u
#define STEP_TRIES 3u /* before it is all done in one step */

typedef struct {
	const char *what;
	char name[BSHM_NAME_BYTES_MAX + 1];
} fault;

typedef struct {
	bshm_segment *segment;
	uint64_t *claimed; /* by the runs looked at so far */
	uint64_t *one;     /* scratch: by the run being looked at */
	uint8_t *linked;   /* how many chains hold the entry */
	uint8_t *layered;  /* how many filters the layer's record belongs to */
	uint64_t began;    /* this hold of the lock; monotonic, ns */
	uint64_t work;     /* in it */
	bool locked;
	bool in_steps;
	bshm_status status; /* why it could not be done */
	bshm_error *error;
	int count;
	fault faults[FAULTS_TOLD];
} report;

/* Between two steps: leaves the lock free for a pause, if it was held long enough. False: it could
 * not be taken again in time. */
static bool breathe(report *r)
{
	r->work += ITEM_WORK;
	if (!r->locked || !r->in_steps ||
		(r->work < STEP_WORK && bshm_os_monotonic_ns() - r->began < BSHM_VERIFY_STEP_NS)) {
		return true;
	}
	bshm__unlock(r->segment);
	bshm_os_sleep_us(3 * BSHM_LOCK_SLEEP_US); /* so that waiters find the lock free */
	r->status = bshm__lock(r->segment, BSHM_LOCK_BATCH_NS, r->error);
	r->began = bshm_os_monotonic_ns();
	r->work = 0;
	r->locked = r->status == BSHM_OK;
	return r->locked;
}

static void note(report *r, const char *what, const bshm_entry *entry)
{
	if (r->count < FAULTS_TOLD) {
		fault *f = &r->faults[r->count];
		f->what = what;
		f->name[0] = '\0';
		if (entry != NULL) {
			const bshm__name name = bshm__entry_name(entry);
			const size_t length = name.bytes[0] <= BSHM_NAME_MAX ? name.bytes[0] : 0;
			memcpy(f->name, name.bytes + 1, length);
			f->name[length] = '\0';
		}
	}
	r->count++;
}

static void check_header(report *r)
{
	const bshm_segment *s = r->segment;
	const bshm_header *h = s->header;
	if (h->magic != BSHM_MAGIC || h->layout != bshm__layout_word() ||
		h->segment_bytes != s->segment_bytes || h->partition_count != s->partition_count ||
		h->entry_count != s->entry_count || h->head_count != s->head_count ||
		h->chunk_count != s->chunk_count || h->name_seed != s->name_seed ||
		h->shard_count != s->shard_count || h->cache_bytes != s->cache_bytes ||
		h->cache_records != s->cache_records ||
		h->check != bshm__checksum(h, offsetof(bshm_header, check), 0)) {
		note(r, "the header has changed since this process attached", NULL);
	}
	if ((BSHM_LOAD(&h->directory_version, RELAXED) & 1) != 0) {
		note(r, "a change of the directory was left unfinished", NULL);
	}
	if (BSHM_LOAD(&h->intent, RELAXED) != 0) {
		note(r, "a rename was left unfinished", NULL);
	}
}

static void check_chains(report *r)
{
	const bshm_segment *s = r->segment;
	for (uint32_t i = 0; i < s->head_count && breathe(r); i++) {
		uint32_t at = BSHM_LOAD(&s->heads[i], RELAXED);
		for (uint32_t steps = 0; at != 0; steps++) {
			if (at > s->entry_count || steps == s->entry_count) {
				note(r, "a directory chain leads nowhere or in a circle", NULL);
				break;
			}
			const bshm_entry *entry = &s->entries[at - 1];
			const bshm__name name = bshm__entry_name(entry);
			if (bshm__name_head(s, &name) != i) {
				note(r, "an entry hangs in a chain that is not its name's", entry);
			}
			if (r->linked[at - 1] < 2) {
				r->linked[at - 1]++;
			}
			at = BSHM_LOAD(&entry->next, RELAXED);
		}
	}
}

/* A run must be sound, and share no partition with another. */
static void check_run(report *r, const bshm_run *run, const bshm_entry *entry)
{
	const size_t words = ((size_t) r->segment->partition_count + 63) / 64;
	memset(r->one, 0, words * sizeof(*r->one));
	r->work += words;
	if (!bshm__run_walk(r->segment, run, NULL, r->one)) {
		note(r, "a scattered run's links are damaged", entry);
		return;
	}
	bool shared = false;
	for (size_t i = 0; i < words; i++) {
		shared |= (r->claimed[i] & r->one[i]) != 0;
		r->claimed[i] |= r->one[i];
	}
	if (shared) {
		note(r, "two filters claim one partition", entry);
	}
}

/* Every layer must be sound, and its record belong to one filter. */
static void check_layers(report *r, const bshm_descriptor *descriptor, const bshm_entry *entry)
{
	bshm_layer layers[BSHM_LAYERS_MAX];
	if (!bshm__layers_read(r->segment, descriptor, layers)) {
		note(r, "a filter's layers are damaged", entry);
		return;
	}
	for (uint32_t i = 0; i < descriptor->layer_count; i++) {
		check_run(r, &layers[i].run, entry);
		if (layers[i].older != 0 && r->layered[layers[i].older - 1]++ != 0) {
			note(r, "two filters have one layer", entry);
		}
	}
}

/* Is the entry the one that its name is found by? */
static void check_name(report *r, uint32_t index)
{
	const bshm_entry *entry = &r->segment->entries[index];
	const bshm__name name = bshm__entry_name(entry);
	uint32_t found;
	if (bshm__entry_find(r->segment, &name, &found) == BSHM_OK && found != index) {
		note(r, "two entries have one name", entry);
	}
}

static void check_entry(report *r, uint32_t index)
{
	const bshm_segment *s = r->segment;
	const bshm_entry *entry = &s->entries[index];
	/* Pairs with put_in_force(). */
	const uint64_t generation = BSHM_LOAD(&entry->generation, ACQUIRE);
	const bshm__name name = bshm__entry_name(entry);
	const bool named = name.bytes[0] != 0;
	if (name.bytes[0] > BSHM_NAME_MAX || r->linked[index] != (named ? 1 : 0)) {
		note(r, "an entry is not in exactly one chain", entry);
	} else if (named) {
		check_name(r, index);
	}
	if (bshm__entry_has_journal(s, index) && BSHM_LOAD(&entry->builders, RELAXED) == 0) {
		note(r, "an entry does not know that it is being built", entry);
	}
	if (generation == 0) {
		return;
	}
	const bshm_descriptor descriptor = bshm__descriptor_read(entry, generation);
	if (!bshm__descriptor_sound(s, &name, &descriptor, generation)) {
		note(r, "a descriptor or its name is damaged", entry);
	} else if (descriptor.state != BSHM_STATE_ABSENT) {
		if (descriptor.publication > BSHM_LOAD(&s->header->publications, RELAXED)) {
			note(r, "a filter has a publication number that was never given", entry);
		}
		if (!named) {
			note(r, "a filter has no name", entry);
		}
		check_layers(r, &descriptor, entry);
		char source[BSHM_SOURCE_BYTES_MAX + 1];
		if (descriptor.source != 0 && !bshm__source_read(s, descriptor.source, source)) {
			note(r, "the source of a followed filter is damaged", entry);
		}
	}
}

static void check_op(report *r, uint32_t index)
{
	const bshm_segment *s = r->segment;
	const bshm_op op = bshm__op_read(&s->ops[index]);
	if (op.entry == 0) {
		return;
	}
	if (!bshm__op_sound(s, &op) || op.entry > s->entry_count) {
		note(r, "a record of work in progress is damaged", NULL);
	} else if (op.kind != BSHM_OP_CLEAR && op.run.count != 0) {
		check_run(r, &op.run, &s->entries[op.entry - 1]);
	}
}

static void check_journal(report *r)
{
	const bshm_segment *s = r->segment;
	for (uint32_t i = 0; i < s->chunk_count; i++) {
		if (BSHM_LOAD(&s->tags[i], RELAXED) != 0 &&
			BSHM_LOAD(&s->chunks[i].count, RELAXED) > BSHM_CHUNK_HASHES) {
			note(r, "a journal chunk counts more than it holds", NULL);
		}
	}
}

static void note_store(void *context, const char *what)
{
	note(context, what, NULL);
}

/* Looks at all filters, under the lock or without it. False: it could not be taken again. */
static bool check_filters(report *r)
{
	const bshm_segment *s = r->segment;
	memset(r->claimed, 0, ((size_t) s->partition_count + 63) / 64 * sizeof(*r->claimed));
	memset(r->linked, 0, s->entry_count);
	memset(r->layered, 0, s->layer_count);
	r->count = 0;
	check_header(r);
	check_chains(r);
	for (uint32_t i = 0; r->status == BSHM_OK && i < s->entry_count && breathe(r); i++) {
		check_entry(r, i);
	}
	for (uint32_t i = 0; r->status == BSHM_OK && i < BSHM_OP_COUNT && breathe(r); i++) {
		check_op(r, i);
	}
	if (r->status == BSHM_OK) {
		check_journal(r);
	}
	return r->status == BSHM_OK;
}

/* The faults are noted in the report. Returns their number, or why not all could be checked. */
static int check_all(report *r)
{
	bshm_segment *segment = r->segment;
	bshm_status status = bshm__lock(segment, BSHM_LOCK_BATCH_NS, r->error);
	if (status == BSHM_E_TIMEOUT) {
		return status;
	}
	r->began = bshm_os_monotonic_ns();
	r->locked = status == BSHM_OK; /* where this process cannot take it: without the lock */
	for (unsigned tries = 0; tries <= STEP_TRIES; tries++) {
		r->in_steps = tries < STEP_TRIES;
		if (!check_filters(r) || r->count == 0) {
			break;
		}
	}
	if (r->locked) {
		bshm__unlock(segment);
	}
	if (r->status != BSHM_OK) {
		r->count = 0; /* of a look that was not finished */
		return r->status;
	}
	if (status == BSHM_E_READ_ONLY) { /* the record store may still be writable */
		status = BSHM_OK;
	}
	if (status == BSHM_OK && segment->store_writable) {
		status = bshm__store_verify(segment, note_store, r, r->error);
	}
	return status == BSHM_OK ? r->count : status;
}

int bshm_segment_check(
	bshm_segment *segment, bshm_problem problem, void *context, bshm_error *error)
{
	report *r = calloc(1, sizeof(*r));
	int result = bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	if (r == NULL) {
		return result;
	}
	r->segment = segment;
	r->error = error;
	r->claimed = bshm__blocks_map(segment);
	r->one = bshm__blocks_map(segment);
	r->linked = calloc(segment->entry_count, 1);
	r->layered = calloc(segment->layer_count, 1);
	if (r->claimed != NULL && r->one != NULL && r->linked != NULL && r->layered != NULL) {
		result = check_all(r);
	}
	for (int i = 0; i < r->count && i < FAULTS_TOLD; i++) {
		problem(context, r->faults[i].what, r->faults[i].name);
	}
	free(r->claimed);
	free(r->one);
	free(r->linked);
	free(r->layered);
	free(r);
	return result;
}

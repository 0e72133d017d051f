/*
 * size.c - how much the size of a record counts when one has to go, where memory is the limit.
 *
 * The age of a record is multiplied by size^power, and the heaviest ones go (evict.c). Which power
 * is best depends on the traffic. Where many more keys are in use than fit, a power of 5/4 has the
 * fewest misses: it keeps many small records instead of a few large ones. Where nearly all of them
 * fit, it would evict large ones that are in use, and keep small ones that are not any more. There
 * a power of 0 is best, which is LRU. So the power adapts. It begins in the middle: a store in
 * which nearly all fits evicts little, and would come down from 5/4 in weeks.
 *
 * The memory is used best where a byte that is evicted is missed as often in a small record as in
 * a large one: then the records that return are spread over the sizes as the evicted bytes are. So
 * `size_evicted` is the mean of log2(size) over the bytes that were evicted last. A record whose
 * ghost is met (ghost.c) raises the power if it is smaller than that, and lowers it if it is
 * larger. The power comes to rest where both happen as often. It is one step of a stochastic
 * gradient for each record. Where all records have one size, none changes it. Of a record
 * that is missed and not put again, the ghost tells whether it was larger than the mean.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/size.h"

#define POWER_MOST (BSHM_OCTAVE / 4 * 5)
#define POWER_NEW  (POWER_MOST / 2) /* of an empty store, where the word is 0 */
#define EVERY_SIZE 256              /* records of the mean size that the mean is taken over */
#define SIZE_MOST  16               /* times the mean size: a record counts no more */

/* A record that returns moves the power by STEP / (records + STEP_RECORDS), where the memory has
 * so many of the mean size; by less if its size is less than an octave from it. */
#define STEP         (INT64_C(8) * BSHM_OCTAVE)
#define STEP_RECORDS 1024

/* The mean size of what was evicted; before the first eviction, `log`. */
static uint64_t mean_log(const bshm_shard_header *shard, uint64_t log)
{
	const uint64_t mean = BSHM_LOAD(&shard->size_evicted, RELAXED);
	const uint64_t least = bshm__size_log(0); /* the word may be damaged */
	const uint64_t most = bshm__size_log(BSHM_RECORD_BYTES_MAX);
	return mean == 0 ? log : mean < least ? least : mean > most ? most : mean;
}

static int32_t within(int64_t power)
{
	return (int32_t) (power < 0 ? 0 : power > POWER_MOST ? POWER_MOST : power);
}

int32_t bshm__size_power(const bshm__shard *s)
{
	return within(POWER_NEW + (int64_t) (int32_t) BSHM_LOAD(&s->shard->size_power, RELAXED));
}

uint32_t bshm__size_parts(const bshm__shard *s, uint64_t bytes)
{
	if (s->segment->cache_records != 0) {
		return BSHM_SIZE_ONE;
	}
	const uint64_t mean_256 = bshm__power_of(mean_log(s->shard, bshm__size_log(bytes)));
	const uint64_t parts = (bytes + BSHM_RECORD_EXTRA) * 256 * BSHM_SIZE_ONE / mean_256;
	return (uint32_t) (parts < SIZE_MOST * BSHM_SIZE_ONE ? parts : SIZE_MOST * BSHM_SIZE_ONE);
}

bool bshm__size_evicted(const bshm__shard *s, uint64_t bytes)
{
	if (s->segment->cache_records != 0) {
		return false;
	}
	bshm_shard_header *shard = s->shard;
	const uint64_t log = bshm__size_log(bytes);
	const uint64_t mean = mean_log(shard, log);
	const int64_t parts = bshm__size_parts(s, bytes);
	const int64_t change = ((int64_t) log - (int64_t) mean) * parts / (BSHM_SIZE_ONE * EVERY_SIZE);
	BSHM_STORE(&shard->size_evicted, (uint32_t) ((int64_t) mean + change), RELAXED);
	return log > mean;
}

/* Moves the power by so many steps, in 2^-24. */
static void move_power(const bshm__shard *s, uint64_t mean, int64_t steps)
{
	const uint64_t bytes_256 = BSHM_LOAD(&s->shard->data_bytes, RELAXED) << 8;
	const uint64_t records = bytes_256 / bshm__power_of(mean) + STEP_RECORDS;
	const int32_t power =
		within(bshm__size_power(s) + STEP / (int64_t) records * steps / BSHM_OCTAVE);
	BSHM_STORE(&s->shard->size_power, (uint32_t) (power - POWER_NEW), RELAXED);
}

void bshm__size_returned(const bshm__shard *s, uint64_t bytes)
{
	if (s->segment->cache_records != 0) {
		return;
	}
	const uint64_t log = bshm__size_log(bytes);
	const uint64_t mean = mean_log(s->shard, log);
	const int64_t less = (int64_t) mean - (int64_t) log;
	move_power(s, mean,
		less < -BSHM_OCTAVE  ? -BSHM_OCTAVE
		: less > BSHM_OCTAVE ? BSHM_OCTAVE
							 : less);
}

void bshm__size_missed(const bshm__shard *s, bool large, uint32_t count)
{
	if (s->segment->cache_records == 0) {
		const int64_t steps = (int64_t) count * BSHM_OCTAVE;
		move_power(s, mean_log(s->shard, bshm__size_log(0)), large ? -steps : steps);
	}
}

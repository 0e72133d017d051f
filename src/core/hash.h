/*
 * hash.h - key -> 128 bits -> partition and probes.
 *
 * XXH3-128 with the filter's seed. Bits 96..127 pick the partition, bits 0..95 are six independent
 * 16-bit probes. No bit is used twice, so fill^6 is the exact false-positive rate of a partition.
 * Probes beyond the sixth come from words that are mixed out of all 128 bits.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_HASH_H
#define BSHM_HASH_H

#include "core/format.h"
#include "platform/compiler.h"

/* Inlined reads must go through memcpy. A read as uint64_t could come before the stores to the
 * narrower fields of a struct, because the compiler may assume that they do not alias. */
#define XXH_FORCE_MEMORY_ACCESS 0
#define XXH_INLINE_ALL
#include <xxhash.h>

static inline bshm_hash bshm__hash_key(const void *key, size_t length, uint64_t seed)
{
	const XXH128_hash_t h = XXH3_128bits_withSeed(key, length, seed);
	return (bshm_hash){h.low64, h.high64};
}

static inline uint64_t bshm__checksum(const void *bytes, size_t length, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, length, seed);
}

/* Lemire's fast range: the partition is monotonic in the hash. So a build can sort keys before it
 * knows how many partitions there will be. */
static inline uint32_t bshm__hash_partition(bshm_hash h, uint32_t partition_count)
{
	return (uint32_t) (((h.high >> 32) * partition_count) >> 32);
}

/* Probes 6 + 4 * group .. 9 + 4 * group, 16 bits each (the finalizer of MurmurHash3). */
static inline uint64_t bshm__hash_more(bshm_hash h, uint32_t group)
{
	uint64_t x = h.low ^ ((h.high << 32) | (h.high >> 32));
	x += (group + 1) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ (x >> 33);
}

/* The probe's 16-bit position in the partition. */
static inline uint32_t bshm__hash_probe(bshm_hash h, uint32_t probe)
{
	if (probe < 4) {
		return (uint32_t) (h.low >> (16 * probe)) & 0xffff;
	}
	if (probe < 6) {
		return (uint32_t) (h.high >> (16 * (probe - 4))) & 0xffff;
	}
	return (uint32_t) (bshm__hash_more(h, (probe - 6) / 4) >> (16 * ((probe - 6) % 4))) & 0xffff;
}

/*
 * The first six probes of a growing filter lie in one line of 64 bytes, two in each of three words.
 * So a question to a filter of many layers misses the cache once a layer, and tests three words.
 * Two probes may pick the same word, or the same bit of it. By chance the loads of words differ
 * more than those of partitions, which costs a tenth of the rate; the measured rate contains that
 * (geometry.c).
 */
#define BSHM_LINE_PROBES 6u
#define BSHM_LINE_WORDS  8u

typedef struct {
	uint32_t word[3]; /* of the partition, */
	uint64_t bits[3]; /* and up to two bits in each */
} bshm__line;

static BSHM_ALWAYS_INLINE bshm__line bshm__hash_line(bshm_hash h, uint32_t hash_count)
{
	const uint32_t first = (uint32_t) (h.low >> 57) * BSHM_LINE_WORDS;
	bshm__line line;
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t probes = h.low >> (18 * i);
		line.word[i] = first + ((uint32_t) (probes >> 12) & (BSHM_LINE_WORDS - 1));
		line.bits[i] = (uint64_t) (hash_count > 2 * i) << (probes & 63) |
					   (uint64_t) (hash_count > 2 * i + 1) << (probes >> 6 & 63);
	}
	return line;
}

/* Sorts the hashes; returns how many different ones there are. */
size_t bshm__hashes_distinct(bshm_hash *hashes, size_t count);

#endif

/*
 * file.h - writes, hashes and reads files of dumps.
 *
 * An output has a temporary name until it is complete and synced. Then it replaces the file at its
 * path in one step. So a reader never sees half a file.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FILE_H
#define BSHM_FILE_H

#include "core/bshm.h"
#include "core/hash.h"
#include "platform/compiler.h"

/* A number in a file has its lowest byte first. */
static inline uint64_t bshm__little64(uint64_t value)
{
#if BSHM_BIG_ENDIAN
	return BSHM_SWAP64(value);
#else
	return value;
#endif
}

static inline uint32_t bshm__little32(uint32_t value)
{
#if BSHM_BIG_ENDIAN
	return BSHM_SWAP32(value);
#else
	return value;
#endif
}

/* A file that is being written. */
typedef struct {
	const char *path;
	char *name; /* until it is complete */
	int fd;
	uint8_t *buffer;
	size_t used;    /* bytes of the buffer */
	uint64_t bytes; /* of the file, so far */
	XXH3_state_t hash;
	bshm_status status; /* the first failure; after it nothing is written */
	bshm_error *error;
} bshm__output;

/* OK, or IO, NO_SPACE. Every output that was opened must be closed, whatever this returns. Without
 * a path nothing is written, but all is hashed. */
bshm_status bshm__output_open(bshm__output *out, const char *path, bshm_error *error);
void bshm__output_put(bshm__output *out, const void *bytes, size_t count);
/* XXH3-64 of all that was put since the last call. */
uint64_t bshm__output_check(bshm__output *out);
/* If `status` is OK and all was written, the file gets its path; else it is removed. Returns the
 * first failure. */
bshm_status bshm__output_close(bshm__output *out, bshm_status status);

/* A file that is being read. */
typedef struct {
	int fd;
	uint64_t bytes; /* of the file, when it was opened */
	XXH3_state_t hash;
	bshm_error *error;
} bshm__input;

/* OK or IO. Every input that was opened must be closed, whatever this returns. */
bshm_status bshm__input_open(bshm__input *in, const char *path, bshm_error *error);
/* Reads a header, which begins with `magic`: OK, or INCOMPATIBLE, CORRUPT, IO. */
bshm_status bshm__input_header(bshm__input *in, uint64_t magic, void *header, size_t count);
/* Reads `count` bytes: OK, or CORRUPT if the file ends before, IO. */
bshm_status bshm__input_get(bshm__input *in, void *bytes, size_t count);
/* The next byte to be read is that at `offset`: OK or IO. */
bshm_status bshm__input_seek(bshm__input *in, uint64_t offset);
/* XXH3-64 of all that was read since the last call. */
uint64_t bshm__input_check(bshm__input *in);
void bshm__input_close(bshm__input *in);

#endif

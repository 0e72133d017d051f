/*
 * record.c - one record: its bytes in the chunks, and its home.
 *
 * Sizes and refs are checked against the shard's pages before they are used: the segment may be
 * damaged.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/record.h"

#define KEY_PIECE 256u

bool bshm__record_copy(
	const bshm__shard *s, const bshm__record *record, uint64_t off, void *to, uint64_t count)
{
	return bshm__record_read(s, record, off, to, count);
}

bool bshm__record_is(const bshm__shard *s, const bshm__record *record, uint64_t off,
	const void *bytes, uint64_t count)
{
	const uint8_t *with = bytes;
	const uint8_t *from = record->bytes;
	uint64_t length = record->first; /* of the bytes at `from` */
	uint32_t next = record->next;
	while (count != 0) {
		const uint64_t here = off >= length ? 0 : length - off < count ? length - off : count;
		if (here != 0 && memcmp(from + off, with, (size_t) here) != 0) {
			return false;
		}
		with += here;
		count -= here;
		off = off < length ? 0 : off - length;
		length = off + count < BSHM_CHUNK_BYTES ? off + count : BSHM_CHUNK_BYTES;
		uint8_t *chunk =
			count == 0 ? NULL : bshm__ref_at(s, next, BSHM_CHUNK_HEADER + (uint32_t) length);
		if (chunk == NULL) {
			return count == 0;
		}
		next = BSHM_LOAD(bshm__slot_word(chunk, 1), RELAXED);
		from = chunk + BSHM_CHUNK_HEADER;
	}
	return true;
}

/* A key that goes on in the chunks, in pieces. */
bool bshm__record_has_long_key(
	const bshm__shard *s, const bshm__record *record, const bshm_key *key)
{
	uint8_t piece[KEY_PIECE];
	for (uint32_t off = 0; off < record->key_bytes; off += KEY_PIECE) {
		const uint32_t count =
			record->key_bytes - off < KEY_PIECE ? record->key_bytes - off : KEY_PIECE;
		if (!bshm__record_copy(s, record, off, piece, count) ||
			memcmp(piece, key->bytes + off, count) != 0) {
			return false;
		}
	}
	return true;
}

bool bshm__record_home(const bshm__shard *s, const bshm__record *record, bshm__home *home)
{
	const uint32_t space = record->shape >> BSHM_SHAPE_SPACE & 1;
	bshm_key key = {(const char *) record->bytes, record->key_bytes};
	if (record->first >= record->key_bytes) {
		*home = bshm__home_of(s->segment, space, &key);
	} else {
		/* A long key that continues in chunks: rare, and at most 64 kB. */
		char bytes[BSHM_KEY_BYTES_MAX];
		key.bytes = bytes;
		if (!bshm__record_copy(s, record, 0, bytes, record->key_bytes)) {
			return false;
		}
		*home = bshm__home_of(s->segment, space, &key);
	}
	return home->shard == s->index;
}

void bshm__record_prefetch_home(const bshm__shard *s, uint32_t ref)
{
	bshm__record record;
	bshm__home home;
	if (bshm__record_load(s, ref, &record) && record.first >= record.key_bytes &&
		bshm__record_home(s, &record, &home)) {
		bshm__home_prefetch(s->segment, &home);
	}
}

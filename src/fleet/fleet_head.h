/*
 * fleet_head.h - a head: which image is the newest, and which blobs lead to it. Signed text.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_HEAD_H
#define FLEET_HEAD_H

#include "fleet/fleet.h"
#include "fleet/fleet_key.h"

#define FLEET_DELTAS_MAX   29 /* with the largest numbers a head then has 4,040 bytes */
#define FLEET_NUMBER_MAX   UINT64_C(999999999999999)
#define FLEET_TIME_MAX_S   UINT64_C(999999999999)
#define FLEET_SPREAD_MAX_S 86400

/* A blob that leads from an image to another one, and back. */
typedef struct {
	fleet_hash blob;
	uint64_t bytes;
	uint64_t from; /* fleet_image_id() of both images */
	uint64_t to;
} fleet_delta;

typedef struct {
	char filter[FLEET_NAME_BYTES_MAX + 1];
	size_t filter_length;
	uint64_t epoch;            /* of the publisher; from 1 on */
	uint64_t version;          /* of the filter; from 1 on */
	uint64_t made_s;           /* unix time */
	uint64_t valid_until_s;    /* 0: no end */
	uint64_t spread_s;         /* followers wait so long at most before they fetch blobs */
	uint64_t pinned;           /* the image is that of this earlier version; 0: it is a new one */
	uint64_t items;            /* keys */
	fleet_entry_id adds_after; /* the image has all keys of the stream up to this entry */
	fleet_hash image;          /* the blob with all of the image: a dump */
	uint64_t image_bytes;
	unsigned delta_count;
	fleet_delta deltas[FLEET_DELTAS_MAX]; /* the newest first */
} fleet_head;

/* Writes the head without its signature, and a NUL byte. Returns how many bytes it has. All numbers
 * must be in range. */
size_t fleet_head_write(const fleet_head *head, char out[FLEET_HEAD_BYTES_MAX + 1]);
/* Writes the head with its signature, and a NUL byte. Returns how many bytes it has. */
size_t fleet_head_sign(
	const fleet_head *head, const fleet_secret_key *key, char out[FLEET_HEAD_BYTES_MAX + 1]);
/*
 * Reads the text that fleet_head_write() makes, and nothing else: each field once, in order, each
 * number in its one form and in its range. False: it is another text.
 */
bool fleet_head_parse(const char *text, size_t length, fleet_head *out, fleet_error *error);
/* Reads a signed head of this filter: looks at the signature before it looks at anything else. */
bool fleet_head_open(const char *text, size_t length, const fleet_public_key *key,
	const char *filter, size_t filter_length, fleet_head *out, fleet_error *error);
/*
 * May a follower that has `last` take `next`? Both are of one filter. Not a lower epoch, or in the
 * same epoch a lower version; of the same version only the same image, not made earlier.
 */
bool fleet_head_follows(const fleet_head *last, const fleet_head *next, fleet_error *error);

#endif

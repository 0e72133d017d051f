/*
 * fleet.h - what the files of the fleet share: names at an origin, hashes, why something failed.
 *
 * A fleet is many hosts that follow one filter. docs/FLEET.md has the files at an origin, and the
 * rules. This room reads, writes, carries and offers those files; it knows no segment and prints
 * nothing.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_H
#define FLEET_H

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLEET_NAME_BYTES_MAX  63
#define FLEET_IMAGE_BYTES_MAX UINT64_C(9999999999999)
#define FLEET_HEAD_BYTES_MAX  4096
#define FLEET_HASH_CHARACTERS 64
/* How old a thing is taken to be whose age is not known. */
#define FLEET_AGE_UNKNOWN_S 1e9
/* The file of a head, and the folder of the blobs. */
#define FLEET_HEAD_FILE "head"
#define FLEET_BLOBS     "blobs"
/* The name of a filter in a path: at most three characters a byte. */
#define FLEET_FOLDER_ROOM (3 * FLEET_NAME_BYTES_MAX + 1)

/* Why a call failed: one sentence without a full stop, which may have any bytes in it. */
typedef struct {
	char text[768];
} fleet_error;

/* Writes the sentence, and returns false. */
bool fleet_fail(fleet_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Seconds by a clock that is never set. */
double fleet_now_s(void);

/* The BLAKE2b-256 of a file in lower-case hexadecimal digits: the name of a blob. */
typedef struct {
	char text[FLEET_HASH_CHARACTERS + 1];
} fleet_hash;

/* Hashes what is added by crypto_generichash_update() in between. */
void fleet_hash_begin(crypto_generichash_state *state);
void fleet_hash_end(crypto_generichash_state *state, fleet_hash *out);
/* Is it the name of a blob? */
bool fleet_is_hash(const char *text);
/* The first 16 digits of a hash as a number: they name an image in a head. */
uint64_t fleet_image_id(const fleet_hash *hash);
void fleet_hex(char *out, const uint8_t *bytes, size_t count);
/* `count` bytes of exactly 2 * count lower-case digits. */
bool fleet_unhex(uint8_t *out, size_t count, const char *text);
/*
 * The name of a filter as one part of a path: letters, digits, "-", "_" and "." stand for
 * themselves, any other byte is =XX; so are a first ".", and the first byte of "blobs".
 */
void fleet_folder_name(char out[FLEET_FOLDER_ROOM], const char *name, size_t length);

/* The id of an entry of the stream of adds; 0-0 comes before all. */
typedef struct {
	uint64_t ms;
	uint64_t serial;
} fleet_entry_id;

#define FLEET_ENTRY_ID_ROOM 42 /* of its text, with a NUL byte */
void fleet_entry_id_text(char out[FLEET_ENTRY_ID_ROOM], fleet_entry_id id);
bool fleet_entry_id_parse(const char *text, fleet_entry_id *out);
/* Negative: a comes before b. */
int fleet_entry_id_compare(fleet_entry_id a, fleet_entry_id b);

#endif

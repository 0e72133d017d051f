/*
 * fleet_head.c - a head: which image is the newest, and which blobs lead to it.
 *
 * A head may come from anywhere. The signature is checked before the text is read; and the text is
 * read so that only the one spelling of a head is accepted: what was read is written again, and
 * must be the same bytes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_head.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE      "bloomshm head 1\n"
#define SIGNATURE       "signature "
#define SIGNATURE_BYTES (sizeof(SIGNATURE) - 1 + 2 * crypto_sign_BYTES + 1)

/* ------------------------------------------------------------------ writing */

size_t fleet_head_write(const fleet_head *head, char out[FLEET_HEAD_BYTES_MAX + 1])
{
	char name[2 * FLEET_NAME_BYTES_MAX + 1];
	const size_t room = FLEET_HEAD_BYTES_MAX + 1;
	fleet_hex(name, (const uint8_t *) head->filter, head->filter_length);
	size_t at = (size_t) snprintf(out, room,
		FIRST_LINE "filter %s\nepoch %" PRIu64 "\nversion %" PRIu64 "\nmade %" PRIu64
				   "\nvalid-until %" PRIu64 "\nspread %" PRIu64 "\npinned %" PRIu64
				   "\nitems %" PRIu64 "\nadds-after %" PRIu64 "-%" PRIu64 "\nimage %s %" PRIu64
				   "\n",
		name, head->epoch, head->version, head->made_s, head->valid_until_s, head->spread_s,
		head->pinned, head->items, head->adds_after.ms, head->adds_after.serial, head->image.text,
		head->image_bytes);
	for (unsigned i = 0; i < head->delta_count && at < room; i++) {
		const fleet_delta *d = &head->deltas[i];
		at += (size_t) snprintf(out + at, room - at,
			"delta %s %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", d->blob.text, d->bytes, d->from,
			d->to);
	}
	return at;
}

size_t fleet_head_sign(
	const fleet_head *head, const fleet_secret_key *key, char out[FLEET_HEAD_BYTES_MAX + 1])
{
	uint8_t signature[crypto_sign_BYTES];
	size_t at = fleet_head_write(head, out);
	crypto_sign_detached(signature, NULL, (const uint8_t *) out, at, key->bytes);
	memcpy(out + at, SIGNATURE, strlen(SIGNATURE));
	at += strlen(SIGNATURE);
	fleet_hex(out + at, signature, sizeof(signature));
	at += 2 * sizeof(signature);
	memcpy(out + at, "\n", 2);
	return at + 1;
}

/* ------------------------------------------------------------------ reading */

/* What is left of the text, which ends with a NUL byte. */
typedef struct {
	const char *at;
} reader;

static bool take(reader *r, const char *word)
{
	const size_t length = strlen(word);
	const bool found = strncmp(r->at, word, length) == 0;
	r->at += found ? length : 0;
	return found;
}

static bool take_number(reader *r, const char *word, int base, uint64_t most, uint64_t *out)
{
	char *end;
	if (!take(r, word) || strspn(r->at, "0123456789abcdef") == 0) {
		return false;
	}
	*out = strtoull(r->at, &end, base);
	r->at = end;
	return *out <= most; /* one that is too large for 64 bits is the largest */
}

static bool take_hash(reader *r, const char *word, fleet_hash *out)
{
	if (!take(r, word) || strnlen(r->at, FLEET_HASH_CHARACTERS) < FLEET_HASH_CHARACTERS) {
		return false;
	}
	memcpy(out->text, r->at, FLEET_HASH_CHARACTERS);
	out->text[FLEET_HASH_CHARACTERS] = '\0';
	r->at += FLEET_HASH_CHARACTERS;
	return fleet_is_hash(out->text);
}

static bool take_name(reader *r, fleet_head *out)
{
	char hex[2 * FLEET_NAME_BYTES_MAX + 1] = "";
	if (!take(r, "filter ")) {
		return false;
	}
	const size_t length = strcspn(r->at, "\n");
	if (length == 0 || length >= sizeof(hex) || length % 2 != 0) {
		return false;
	}
	memcpy(hex, r->at, length);
	r->at += length;
	out->filter_length = length / 2;
	return fleet_unhex((uint8_t *) out->filter, out->filter_length, hex) &&
		   memchr(out->filter, '\0', out->filter_length) == NULL;
}

static bool take_delta(reader *r, fleet_delta *out)
{
	return take_hash(r, "delta ", &out->blob) &&
		   take_number(r, " ", 10, FLEET_IMAGE_BYTES_MAX, &out->bytes) &&
		   take_number(r, " ", 16, UINT64_MAX, &out->from) &&
		   take_number(r, " ", 16, UINT64_MAX, &out->to) && take(r, "\n");
}

static bool take_fields(reader *r, fleet_head *out)
{
	return take(r, FIRST_LINE) && take_name(r, out) &&
		   take_number(r, "\nepoch ", 10, FLEET_NUMBER_MAX, &out->epoch) && out->epoch > 0 &&
		   take_number(r, "\nversion ", 10, FLEET_NUMBER_MAX, &out->version) && out->version > 0 &&
		   take_number(r, "\nmade ", 10, FLEET_TIME_MAX_S, &out->made_s) &&
		   take_number(r, "\nvalid-until ", 10, FLEET_TIME_MAX_S, &out->valid_until_s) &&
		   take_number(r, "\nspread ", 10, FLEET_SPREAD_MAX_S, &out->spread_s) &&
		   take_number(r, "\npinned ", 10, out->version - 1, &out->pinned) &&
		   take_number(r, "\nitems ", 10, FLEET_NUMBER_MAX, &out->items) &&
		   take_number(r, "\nadds-after ", 10, UINT64_MAX, &out->adds_after.ms) &&
		   take_number(r, "-", 10, UINT64_MAX, &out->adds_after.serial) &&
		   take_hash(r, "\nimage ", &out->image) &&
		   take_number(r, " ", 10, FLEET_IMAGE_BYTES_MAX, &out->image_bytes) && take(r, "\n");
}

bool fleet_head_parse(const char *text, size_t length, fleet_head *out, fleet_error *error)
{
	char own[FLEET_HEAD_BYTES_MAX + 1];
	char again[FLEET_HEAD_BYTES_MAX + 1];
	*out = (fleet_head){0};
	if (length > FLEET_HEAD_BYTES_MAX) {
		return fleet_fail(error, "it has more than %d bytes", FLEET_HEAD_BYTES_MAX);
	}
	memcpy(own, text, length);
	own[length] = '\0';
	reader r = {own};
	if (!take_fields(&r, out)) {
		return fleet_fail(
			error, "its text is not that of a head, from byte %zu on", (size_t) (r.at - own));
	}
	while (out->delta_count < FLEET_DELTAS_MAX && *r.at != '\0') {
		if (!take_delta(&r, &out->deltas[out->delta_count++])) {
			return fleet_fail(error, "its delta %u is damaged", out->delta_count);
		}
	}
	if (fleet_head_write(out, again) != length || memcmp(again, text, length) != 0) {
		return fleet_fail(error, "its text is not spelled as a head's");
	}
	return true;
}

bool fleet_head_open(const char *text, size_t length, const fleet_public_key *key,
	const char *filter, size_t filter_length, fleet_head *out, fleet_error *error)
{
	char hex[2 * crypto_sign_BYTES + 1] = "";
	uint8_t signature[crypto_sign_BYTES];
	if (length <= SIGNATURE_BYTES || length > FLEET_HEAD_BYTES_MAX) {
		return fleet_fail(error, "it is no head: it has %zu bytes", length);
	}
	const size_t signed_bytes = length - SIGNATURE_BYTES;
	const char *line = text + signed_bytes;
	memcpy(hex, line + strlen(SIGNATURE), sizeof(hex) - 1);
	if (memcmp(line, SIGNATURE, strlen(SIGNATURE)) != 0 || text[length - 1] != '\n' ||
		!fleet_unhex(signature, sizeof(signature), hex)) {
		return fleet_fail(error, "it has no signature");
	}
	if (crypto_sign_verify_detached(signature, (const uint8_t *) text, signed_bytes, key->bytes) !=
		0) {
		return fleet_fail(error, "its signature is not of this key");
	}
	if (!fleet_head_parse(text, signed_bytes, out, error)) {
		return false;
	}
	if (out->filter_length != filter_length || memcmp(out->filter, filter, filter_length) != 0) {
		return fleet_fail(error, "it is of the filter \"%s\"", out->filter);
	}
	return true;
}

bool fleet_head_follows(const fleet_head *last, const fleet_head *next, fleet_error *error)
{
	if (next->epoch != last->epoch) {
		return next->epoch > last->epoch ||
			   fleet_fail(
				   error, "its epoch is %" PRIu64 ", after %" PRIu64, next->epoch, last->epoch);
	}
	if (next->version != last->version) {
		return next->version > last->version ||
			   fleet_fail(error, "its version is %" PRIu64 ", after %" PRIu64, next->version,
				   last->version);
	}
	if (strcmp(next->image.text, last->image.text) != 0) {
		return fleet_fail(
			error, "it has another image of version %" PRIu64 ", which is here", next->version);
	}
	return next->made_s >= last->made_s || fleet_fail(error, "it was made before the last one");
}

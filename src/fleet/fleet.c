/*
 * fleet.c - names at an origin, hashes, why something failed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIGITS "0123456789abcdef"

bool fleet_fail(fleet_error *error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return false;
}

double fleet_now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

void fleet_hash_begin(crypto_generichash_state *state)
{
	crypto_generichash_init(state, NULL, 0, FLEET_HASH_CHARACTERS / 2);
}

void fleet_hash_end(crypto_generichash_state *state, fleet_hash *out)
{
	uint8_t bytes[FLEET_HASH_CHARACTERS / 2];
	*out = (fleet_hash){""};
	crypto_generichash_final(state, bytes, sizeof(bytes));
	fleet_hex(out->text, bytes, sizeof(bytes));
}

bool fleet_is_hash(const char *text)
{
	return strspn(text, DIGITS) == FLEET_HASH_CHARACTERS && text[FLEET_HASH_CHARACTERS] == '\0';
}

uint64_t fleet_image_id(const fleet_hash *hash)
{
	char first[17] = "";
	memcpy(first, hash->text, 16);
	return strtoull(first, NULL, 16);
}

void fleet_hex(char *out, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*out++ = DIGITS[bytes[i] >> 4];
		*out++ = DIGITS[bytes[i] & 15];
	}
	*out = '\0';
}

bool fleet_unhex(uint8_t *out, size_t count, const char *text)
{
	if (strspn(text, DIGITS) != 2 * count || text[2 * count] != '\0') {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		const size_t high = (size_t) (strchr(DIGITS, text[2 * i]) - DIGITS);
		const size_t low = (size_t) (strchr(DIGITS, text[2 * i + 1]) - DIGITS);
		out[i] = (uint8_t) (high << 4 | low);
	}
	return true;
}

/* Of ASCII, in any locale. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
		   c == '_' || c == '.';
}

void fleet_folder_name(char out[FLEET_FOLDER_ROOM], const char *name, size_t length)
{
	const bool is_blobs = length == strlen(FLEET_BLOBS) && memcmp(name, FLEET_BLOBS, length) == 0;
	for (size_t i = 0; i < length; i++) {
		if (is_plain(name[i]) && (i > 0 || (name[i] != '.' && !is_blobs))) {
			*out++ = name[i];
		} else {
			*out++ = '=';
			fleet_hex(out, (const uint8_t *) name + i, 1);
			out += 2;
		}
	}
	*out = '\0';
}

void fleet_entry_id_text(char out[FLEET_ENTRY_ID_ROOM], fleet_entry_id id)
{
	snprintf(out, FLEET_ENTRY_ID_ROOM, "%" PRIu64 "-%" PRIu64, id.ms, id.serial);
}

static bool take_number(const char **text, uint64_t *out)
{
	*out = 0;
	const char *at = *text;
	while (*at >= '0' && *at <= '9') {
		const uint64_t digit = (uint64_t) (*at++ - '0');
		if (*out > (UINT64_MAX - digit) / 10) {
			return false;
		}
		*out = *out * 10 + digit;
	}
	const bool found = at != *text;
	*text = at;
	return found;
}

bool fleet_entry_id_parse(const char *text, fleet_entry_id *out)
{
	return take_number(&text, &out->ms) && *text++ == '-' && take_number(&text, &out->serial) &&
		   *text == '\0';
}

int fleet_entry_id_compare(fleet_entry_id a, fleet_entry_id b)
{
	if (a.ms != b.ms) {
		return a.ms < b.ms ? -1 : 1;
	}
	return a.serial == b.serial ? 0 : a.serial < b.serial ? -1 : 1;
}

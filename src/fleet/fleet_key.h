/*
 * fleet_key.h - the pair of keys that signs heads (ed25519), in files.
 *
 * A file is two lines of text: what it is, and the key in hexadecimal digits.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_KEY_H
#define FLEET_KEY_H

#include "fleet/fleet.h"

#define FLEET_SECRET_KEY_BYTES 64
#define FLEET_PUBLIC_KEY_BYTES 32

typedef struct {
	uint8_t bytes[FLEET_SECRET_KEY_BYTES];
} fleet_secret_key;

typedef struct {
	uint8_t bytes[FLEET_PUBLIC_KEY_BYTES];
} fleet_public_key;

/* Makes a pair. False: the library of cryptography does not begin. */
bool fleet_key_pair(fleet_secret_key *secret, fleet_public_key *public, fleet_error *error);
/*
 * Makes a pair, and writes it to `path` (mode 0600) and to `path` with ".pub" behind it (mode
 * 0644, whatever the umask: other users follow). Neither file may be there.
 */
bool fleet_key_make(const char *path, fleet_error *error);
/* Reads the secret key. Refuses a file that others than its owner may read. */
bool fleet_key_secret(const char *path, fleet_secret_key *out, fleet_error *error);
bool fleet_key_public(const char *path, fleet_public_key *out, fleet_error *error);
/* The public one of the pair. */
void fleet_key_public_of(const fleet_secret_key *secret, fleet_public_key *out);

#endif

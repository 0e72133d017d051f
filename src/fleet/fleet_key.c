/*
 * fleet_key.c - the pair of keys that signs heads, in files.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_key.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET "bloomshm secret key 1\n"
#define PUBLIC "bloomshm public key 1\n"
#define ROOM   256 /* of a file; it has less */

_Static_assert(FLEET_SECRET_KEY_BYTES == crypto_sign_SECRETKEYBYTES, "secret key");
_Static_assert(FLEET_PUBLIC_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "public key");

/* ------------------------------------------------------------------ writing */

/* Writes the key to a new file, of that mode whatever the umask; one that it cannot finish it
 * removes. */
static bool put(const char *path, mode_t mode, const char *first, const uint8_t *key, size_t count,
	fleet_error *error)
{
	char text[ROOM];
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0) {
		return fleet_fail(error, "cannot make the file %s: %s", path, strerror(errno));
	}
	memcpy(text, first, strlen(first));
	fleet_hex(text + strlen(first), key, count);
	const size_t length = strlen(first) + 2 * count + 1;
	text[length - 1] = '\n';
	const bool done =
		write(fd, text, length) == (ssize_t) length && fchmod(fd, mode) == 0 && fsync(fd) == 0;
	const int code = errno;
	sodium_memzero(text, sizeof(text));
	close(fd);
	if (!done) {
		unlink(path);
		return fleet_fail(error, "cannot write the file %s: %s", path, strerror(code));
	}
	return true;
}

bool fleet_key_pair(fleet_secret_key *secret, fleet_public_key *public, fleet_error *error)
{
	if (sodium_init() < 0) {
		return fleet_fail(error, "libsodium does not begin");
	}
	crypto_sign_keypair(public->bytes, secret->bytes);
	return true;
}

bool fleet_key_make(const char *path, fleet_error *error)
{
	fleet_secret_key secret;
	fleet_public_key public;
	char other[4096];
	if ((size_t) snprintf(other, sizeof(other), "%s.pub", path) >= sizeof(other)) {
		return fleet_fail(error, "the path is too long");
	}
	if (!fleet_key_pair(&secret, &public, error) ||
		!put(path, 0600, SECRET, secret.bytes, sizeof(secret.bytes), error)) {
		return false;
	}
	sodium_memzero(&secret, sizeof(secret));
	if (!put(other, 0644, PUBLIC, public.bytes, sizeof(public.bytes), error)) {
		unlink(path);
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------ reading */

static bool get(const char *path, bool secret, uint8_t *out, size_t count, fleet_error *error)
{
	char text[ROOM + 1];
	struct stat st;
	const char *first = secret ? SECRET : PUBLIC;
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		fleet_fail(error, "cannot open the file %s: %s", path, strerror(errno));
		if (fd >= 0) {
			close(fd);
		}
		return false;
	}
	const ssize_t got = read(fd, text, ROOM);
	close(fd);
	if (secret && (st.st_mode & 077) != 0) {
		return fleet_fail(error, "others may read the secret key %s (mode %04o): chmod 600 it",
			path, (unsigned) st.st_mode & 07777);
	}
	const size_t length = strlen(first) + 2 * count + 1;
	const bool whole = got == (ssize_t) length && text[length - 1] == '\n' &&
					   memcmp(text, first, strlen(first)) == 0;
	text[length - 1] = '\0';
	const bool sound = whole && fleet_unhex(out, count, text + strlen(first));
	sodium_memzero(text, sizeof(text));
	return sound || fleet_fail(error, "the file %s has no %s key of bloomshm", path,
						secret ? "secret" : "public");
}

bool fleet_key_secret(const char *path, fleet_secret_key *out, fleet_error *error)
{
	if (sodium_init() < 0) {
		return fleet_fail(error, "libsodium does not begin");
	}
	return get(path, true, out->bytes, sizeof(out->bytes), error);
}

bool fleet_key_public(const char *path, fleet_public_key *out, fleet_error *error)
{
	if (sodium_init() < 0) {
		return fleet_fail(error, "libsodium does not begin");
	}
	return get(path, false, out->bytes, sizeof(out->bytes), error);
}

void fleet_key_public_of(const fleet_secret_key *secret, fleet_public_key *out)
{
	crypto_sign_ed25519_sk_to_pk(out->bytes, secret->bytes);
}

/*
 * file.c - writes, hashes and reads files of dumps.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/file.h"

#include "core/status.h"
#include "platform/platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t) 1 << 18)

static uint64_t check_anew(XXH3_state_t *hash)
{
	const uint64_t check = XXH3_64bits_digest(hash);
	XXH3_64bits_reset(hash);
	return check;
}

/* ------------------------------------------------------------------ writing */

static void note(bshm__output *out, bshm_cause cause, int code)
{
	if (code != 0) {
		out->status = bshm__fail_code(out->error, BSHM_E_IO, cause, code);
	}
}

bshm_status bshm__output_open(bshm__output *out, const char *path, bshm_error *error)
{
	*out = (bshm__output){.path = path, .fd = -1, .error = error};
	XXH3_64bits_reset(&out->hash);
	if (path == NULL) {
		return BSHM_OK;
	}
	out->buffer = malloc(BUFFER_BYTES + strlen(path) + 32);
	if (out->buffer == NULL) {
		return out->status = bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	out->name = (char *) out->buffer + BUFFER_BYTES;
	note(out, BSHM_CAUSE_CREATE, bshm_os_file_create(path, out->name, &out->fd));
	return out->status;
}

static void write_bytes(bshm__output *out, const void *bytes, size_t count)
{
	if (out->status == BSHM_OK) {
		note(out, BSHM_CAUSE_WRITE, bshm_os_file_write(out->fd, bytes, count));
	}
}

static void flush(bshm__output *out)
{
	write_bytes(out, out->buffer, out->used);
	out->used = 0;
}

void bshm__output_put(bshm__output *out, const void *bytes, size_t count)
{
	XXH3_64bits_update(&out->hash, bytes, count);
	out->bytes += count;
	if (out->path == NULL) {
		return;
	}
	if (out->used + count > BUFFER_BYTES) {
		flush(out);
	}
	if (count > BUFFER_BYTES) {
		write_bytes(out, bytes, count);
	} else {
		memcpy(out->buffer + out->used, bytes, count);
		out->used += count;
	}
}

uint64_t bshm__output_check(bshm__output *out)
{
	return check_anew(&out->hash);
}

bshm_status bshm__output_close(bshm__output *out, bshm_status status)
{
	if (out->status == BSHM_OK) {
		out->status = status;
	}
	if (out->path == NULL) {
		return out->status;
	}
	flush(out);
	if (out->status == BSHM_OK) {
		note(out, BSHM_CAUSE_PUBLISH, bshm_os_file_publish(out->fd, out->name, out->path));
	}
	if (out->status != BSHM_OK && out->fd >= 0) {
		bshm_os_unlink(out->name);
	}
	bshm_os_close(out->fd);
	free(out->buffer);
	return out->status;
}

/* ------------------------------------------------------------------ reading */

bshm_status bshm__input_open(bshm__input *in, const char *path, bshm_error *error)
{
	*in = (bshm__input){.fd = -1, .error = error};
	XXH3_64bits_reset(&in->hash);
	int code = bshm_os_file_open(path, &in->fd);
	if (code != 0) {
		return bshm__fail_code(error, BSHM_E_IO, BSHM_CAUSE_OPEN, code);
	}
	bshm_os_stat st;
	code = bshm_os_stat_fd(in->fd, &st);
	if (code != 0) {
		return bshm__fail_code(error, BSHM_E_IO, BSHM_CAUSE_STAT, code);
	}
	in->bytes = st.bytes;
	return st.regular ? BSHM_OK : bshm__fail_code(error, BSHM_E_IO, BSHM_CAUSE_OPEN, EINVAL);
}

bshm_status bshm__input_get(bshm__input *in, void *bytes, size_t count)
{
	size_t got;
	const int code = bshm_os_file_read(in->fd, bytes, count, &got);
	if (code != 0) {
		return bshm__fail_code(in->error, BSHM_E_IO, BSHM_CAUSE_READ, code);
	}
	if (got != count) {
		return bshm__fail(in->error, BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED);
	}
	XXH3_64bits_update(&in->hash, bytes, count);
	return BSHM_OK;
}

bshm_status bshm__input_header(bshm__input *in, uint64_t magic, void *header, size_t count)
{
	uint64_t found;
	/* The magic first: a short file of another sort is not said to be cut short. */
	const bshm_status status = bshm__input_get(in, &found, sizeof(found));
	if (status != BSHM_OK) {
		return status;
	}
	memcpy(header, &found, sizeof(found));
	found = bshm__little64(found);
	if (found == BSHM_SWAP64(magic)) {
		return bshm__fail(in->error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_BYTE_ORDER);
	}
	if (found != magic) {
		return bshm__fail_magic(in->error, found);
	}
	return bshm__input_get(in, (char *) header + sizeof(found), count - sizeof(found));
}

bshm_status bshm__input_seek(bshm__input *in, uint64_t offset)
{
	const int code = bshm_os_file_seek(in->fd, offset);
	return code == 0 ? BSHM_OK : bshm__fail_code(in->error, BSHM_E_IO, BSHM_CAUSE_READ, code);
}

uint64_t bshm__input_check(bshm__input *in)
{
	return check_anew(&in->hash);
}

void bshm__input_close(bshm__input *in)
{
	bshm_os_close(in->fd);
}

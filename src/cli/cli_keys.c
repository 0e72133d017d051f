/*
 * cli_keys.c - keys from files: plain, or compressed by gzip or zstd.
 *
 * Keys are not copied: they point into the buffer, which holds a part of the file. A key that is
 * cut at the end of the buffer is moved to its begin, before more is read.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define BYTES       ((size_t) 256 * 1024)
#define MAGIC_BYTES 4

typedef enum {
	UNKNOWN,
	PLAIN,
	GZIP,
	ZSTD
} packing;

struct cli_file {
	const cli *c;
	const char *path;
	int fd;
	packing packing;
	bool member_open; /* the compressed data go on */
	bool ended;       /* there is nothing behind the buffer */
	uint64_t position;
	uint64_t size;
	char *buffer;
	size_t room;
	size_t from;  /* the keys before it were given */
	size_t until; /* the end of what was read */
	/* Compressed bytes. */
	unsigned char *packed;
	size_t packed_from;
	size_t packed_until;
	z_stream gzip;
	ZSTD_DStream *zstd;
};

cli_file *cli_file_open(const cli *c, const char *path)
{
	struct stat st = {0};
	const bool standard = strcmp(path, "-") == 0;
	cli_file *file = calloc(1, sizeof(*file));
	if (file == NULL) {
		cli_no_memory(c);
		return NULL;
	}
	file->buffer = malloc(BYTES);
	file->packed = malloc(BYTES);
	if (file->buffer == NULL || file->packed == NULL) {
		cli_no_memory(c);
		cli_file_close(file);
		return NULL;
	}
	file->c = c;
	file->path = standard ? "the standard input" : path;
	file->room = BYTES;
	file->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &st) != 0 || S_ISDIR(st.st_mode)) {
		cli_say(c, CLI_FAILED, "cannot read %s: %s", file->path,
			S_ISDIR(st.st_mode) ? strerror(EISDIR) : strerror(errno));
		cli_file_close(file);
		return NULL;
	}
	file->size = S_ISREG(st.st_mode) ? (uint64_t) st.st_size : 0;
	posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return file;
}

void cli_file_close(cli_file *file)
{
	if (file->packing == GZIP) {
		inflateEnd(&file->gzip);
	}
	ZSTD_freeDStream(file->zstd);
	if (file->fd > STDIN_FILENO) {
		close(file->fd);
	}
	free(file->packed);
	free(file->buffer);
	free(file);
}

uint64_t cli_file_position(const cli_file *file, uint64_t *size)
{
	*size = file->size;
	return file->position;
}

static ssize_t fail(const cli_file *file, const char *what)
{
	cli_say(file->c, CLI_FAILED, "cannot read %s: %s", file->path, what);
	return -1;
}

/* Reads up to `room` bytes of the file. 0: its end. -1: it failed, or a signal came. */
static ssize_t read_bytes(cli_file *file, void *to, size_t room)
{
	ssize_t got;
	do {
		got = cli_wait(file->fd) ? read(file->fd, to, room) : -1;
	} while (got < 0 && (errno == EINTR || errno == EAGAIN) && cli_signal() == 0);
	if (got < 0) {
		return cli_signal() != 0 ? -1 : fail(file, strerror(errno));
	}
	file->position += (uint64_t) got;
	return got;
}

/* ------------------------------------------------------------------ compressed */

/* zlib checks the checksum and the length of each member, so a file that was cut short or damaged
 * is never taken for the whole set of keys. */
static bool inflate_some(cli_file *file, char *to, size_t room, size_t *made)
{
	z_stream *z = &file->gzip;
	z->next_in = file->packed + file->packed_from;
	z->avail_in = (uInt) (file->packed_until - file->packed_from);
	z->next_out = (Bytef *) to;
	z->avail_out = (uInt) room;
	const int status = inflate(z, Z_NO_FLUSH);
	file->packed_from = file->packed_until - z->avail_in;
	*made = room - z->avail_out;
	file->member_open = status != Z_STREAM_END;
	if (status == Z_STREAM_END) { /* another member may follow */
		inflateReset(z);
	}
	return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
}

static bool zstd_some(cli_file *file, char *to, size_t room, size_t *made)
{
	ZSTD_inBuffer in = {file->packed, file->packed_until, file->packed_from};
	ZSTD_outBuffer out = {to, room, 0};
	const size_t left = ZSTD_decompressStream(file->zstd, &out, &in);
	file->packed_from = in.pos;
	*made = out.pos;
	file->member_open = left != 0;
	return ZSTD_isError(left) == 0;
}

/* As read_bytes(), of what the file holds compressed. */
static ssize_t unpack_bytes(cli_file *file, char *to, size_t room)
{
	size_t made = 0;
	while (made == 0) {
		if (file->packed_from == file->packed_until) {
			const ssize_t got = read_bytes(file, file->packed, BYTES);
			if (got < 0) {
				return -1;
			}
			if (got == 0) {
				return file->member_open ? fail(file, "the compressed data are cut short") : 0;
			}
			file->packed_from = 0;
			file->packed_until = (size_t) got;
		}
		if (!file->member_open && file->packed[file->packed_from] == 0) { /* padding at the end */
			file->packed_from++;
			continue;
		}
		const bool sound = file->packing == GZIP ? inflate_some(file, to, room, &made)
												 : zstd_some(file, to, room, &made);
		if (!sound) {
			return fail(file, "the compressed data are damaged");
		}
	}
	return (ssize_t) made;
}

/* pzstd begins a file with a frame that readers skip; its first byte is one of sixteen. */
static packing packing_of(const unsigned char *bytes, size_t count)
{
	static const unsigned char gzip[] = {0x1f, 0x8b};
	static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	static const unsigned char skipped[] = {0x2a, 0x4d, 0x18};
	if (count >= sizeof(gzip) && memcmp(bytes, gzip, sizeof(gzip)) == 0) {
		return GZIP;
	}
	return count >= MAGIC_BYTES &&
				   (memcmp(bytes, zstd, sizeof(zstd)) == 0 ||
					   (bytes[0] >> 4 == 5 && memcmp(bytes + 1, skipped, sizeof(skipped)) == 0))
			   ? ZSTD
			   : PLAIN;
}

/* The first bytes are read into `packed`: they tell how the file is compressed. */
static bool begin(cli_file *file)
{
	ssize_t got = 1;
	while (file->packed_until < MAGIC_BYTES && got > 0) {
		got = read_bytes(file, file->packed + file->packed_until, BYTES - file->packed_until);
		file->packed_until += got > 0 ? (size_t) got : 0;
	}
	if (got < 0) {
		return false;
	}
	file->packing = packing_of(file->packed, file->packed_until);
	/* 16: gzip's format, not zlib's. */
	if ((file->packing == GZIP && inflateInit2(&file->gzip, 16 + MAX_WBITS) != Z_OK) ||
		(file->packing == ZSTD && (file->zstd = ZSTD_createDStream()) == NULL)) {
		cli_no_memory(file->c); /* the compressed bytes are no keys */
		return false;
	}
	if (file->packing == PLAIN) {
		memcpy(file->buffer, file->packed, file->packed_until);
		file->until = file->packed_until;
		file->ended = got == 0;
	}
	return true;
}

/* ------------------------------------------------------------------ keys */

/* Moves what is left of the buffer to its begin, and reads more. False: that failed. */
static bool fill(cli_file *file)
{
	file->until -= file->from;
	memmove(file->buffer, file->buffer + file->from, file->until);
	file->from = 0;
	if (file->until == file->room) { /* one key fills the buffer */
		char *more = realloc(file->buffer, 2 * file->room);
		if (more == NULL) {
			cli_no_memory(file->c);
			return false;
		}
		file->buffer = more;
		file->room *= 2;
	}
	char *to = file->buffer + file->until;
	const size_t room = file->room - file->until;
	const ssize_t got =
		file->packing == PLAIN ? read_bytes(file, to, room) : unpack_bytes(file, to, room);
	file->until += got > 0 ? (size_t) got : 0;
	file->ended = got == 0;
	return got >= 0;
}

int cli_file_keys(cli_file *file, char delimiter, bshm_key keys[BSHM_BATCH])
{
	int count = 0;
	if (file->packing == UNKNOWN && !begin(file)) {
		return -1;
	}
	while (count < BSHM_BATCH) {
		const char *at = file->buffer + file->from;
		const char *end = memchr(at, delimiter, file->until - file->from);
		if (end == NULL && !file->ended) {
			if (count != 0) { /* they would move */
				break;
			}
			if (!fill(file)) {
				return -1;
			}
			continue;
		}
		size_t length = end == NULL ? file->until - file->from : (size_t) (end - at);
		file->from += end == NULL ? length : length + 1;
		if (end == NULL && length == 0) {
			break;
		}
		length -= delimiter == '\n' && length != 0 && at[length - 1] == '\r';
		if (length != 0) {
			keys[count++] = (bshm_key){at, length};
		}
	}
	return count;
}

static int each_argument(const cli *c, int first, cli_each each, void *context)
{
	bshm_key keys[BSHM_BATCH];
	int status = CLI_YES;
	for (int i = first; i < c->argument_count && status == CLI_YES;) {
		unsigned count = 0;
		for (; count < BSHM_BATCH && i < c->argument_count; i++) {
			keys[count++] = (bshm_key){c->arguments[i], strlen(c->arguments[i])};
		}
		status = each(context, keys, count);
	}
	return status;
}

int cli_each_batch(const cli *c, int first, cli_each each, void *context)
{
	bshm_key keys[BSHM_BATCH];
	int status = CLI_YES;
	int count = 0;
	if (c->argument_count > first) {
		return each_argument(c, first, each, context);
	}
	const char delimiter = cli_given(c, CLI_NUL) ? '\0' : '\n';
	cli_file *file = cli_file_open(c, "-");
	if (file == NULL) {
		return CLI_FAILED;
	}
	while (status == CLI_YES && (count = cli_file_keys(file, delimiter, keys)) > 0) {
		status = each(context, keys, (unsigned) count);
	}
	cli_file_close(file);
	return count < 0 ? CLI_FAILED : status;
}

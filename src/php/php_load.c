/*
 * php_load.c - filters from many keys at once: bloom_load() and bloom_load_file().
 *
 * User code (generators, stream wrappers, __toString) runs between the steps of a build, while
 * no lock is held. It may throw, exit, or run into memory_limit, which jumps out of the call.
 * In every case the build is aborted, and the filter that was published before stays.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_arguments.h"
#include "php_cleanup.h"
#include "php_error.h"
#include "php_info.h"
#include "php_keys.h"
#include "php_segment.h"

#include "Zend/zend_exceptions.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#define READ_BYTES ((size_t) 256 * 1024)

/* The defaults of the stub. */
#define ERROR_RATE 0.01
#define EXPANSION  2

typedef struct {
	zend_string *filter;
	bshm_parameters parameters;
	double max_error_rate;
	bool allow_empty;
	bshm_build *build;
	zval *keys; /* NULL: the keys come from the stream */
	php_stream *stream;
	zend_string *path;
	char delimiter;
	char *packed; /* bytes of a compressed file; NULL: it is not compressed */
	bool member_open;
	z_stream gzip;
} load;

static bool offer(load *l, const char *key, size_t length)
{
	bshm_error error;
	if (EXPECTED(bshm_build_key(l->build, key, length, &error) == BSHM_OK)) {
		return true;
	}
	php_bloomshm_throw(&error, ZSTR_VAL(l->filter));
	return false;
}

static bool offer_key(const php_bloomshm_key *key, void *context)
{
	return offer(context, key->key.bytes, key->key.length);
}

static bool offer_line(load *l, const char *line, size_t length)
{
	if (l->delimiter == '\n' && length != 0 && line[length - 1] == '\r') {
		length--;
	}
	return length == 0 || offer(l, line, length);
}

/* Offers the whole lines in the buffer, and moves the rest to its begin. */
static bool offer_lines(load *l, char *buffer, size_t *filled)
{
	const char *at = buffer;
	const char *end = buffer + *filled;
	const char *stop;
	while ((stop = memchr(at, l->delimiter, (size_t) (end - at))) != NULL) {
		if (!offer_line(l, at, (size_t) (stop - at))) {
			return false;
		}
		at = stop + 1;
	}
	*filled = (size_t) (end - at);
	memmove(buffer, at, *filled);
	return true;
}

static bool fail_io(const load *l, const char *what)
{
	if (EG(exception) == NULL) {
		php_bloomshm_throw_format(BSHM_E_IO, "cannot read %s: %s", ZSTR_VAL(l->path), what);
	}
	return false;
}

/* Reads up to `room` bytes. 0 = the end of the file; -1 = an exception was thrown. */
static ssize_t read_stream(load *l, char *to, size_t room)
{
	while (!php_stream_eof(l->stream)) {
		php_bloomshm_keep_time_limit();
		const ssize_t got = php_stream_read(l->stream, to, room);
		if (got < 0 || EG(exception) != NULL) {
			fail_io(l, "it ended early");
			return -1;
		}
		if (got > 0) {
			return got;
		}
	}
	return 0;
}

/*
 * The same, decompressed. zlib checks the checksum and the length of each member, so a file that
 * was cut short or damaged is never taken for the whole set of keys.
 */
static ssize_t inflate_stream(load *l, char *to, size_t room)
{
	z_stream *z = &l->gzip;
	z->next_out = (Bytef *) to;
	z->avail_out = (uInt) room;
	while (z->avail_out == room) {
		if (z->avail_in == 0) {
			const ssize_t got = read_stream(l, l->packed, READ_BYTES);
			if (got < 0) {
				return -1;
			}
			if (got == 0) {
				return l->member_open ? (fail_io(l, "the compressed data are cut short"), -1) : 0;
			}
			z->next_in = (Bytef *) l->packed;
			z->avail_in = (uInt) got;
		}
		if (!l->member_open && *z->next_in == 0) { /* padding after the last member */
			z->next_in++;
			z->avail_in--;
			continue;
		}
		l->member_open = true;
		const int status = inflate(z, Z_NO_FLUSH);
		if (status == Z_STREAM_END) { /* another member may follow */
			inflateReset(z);
			l->member_open = false;
		} else if (status != Z_OK) {
			fail_io(l, "the compressed data are damaged");
			return -1;
		}
	}
	return (ssize_t) (room - z->avail_out);
}

static bool offer_stream(load *l)
{
	size_t room = READ_BYTES;
	size_t filled = 0;
	char *buffer = emalloc(room);
	ssize_t got;
	bool sound = true;
	do {
		if (filled == room) { /* one line fills the buffer */
			room *= 2;
			buffer = erealloc(buffer, room);
		}
		const size_t part = MIN(room - filled, READ_BYTES);
		got = l->packed != NULL ? inflate_stream(l, buffer + filled, part)
								: read_stream(l, buffer + filled, part);
		if (got > 0) {
			filled += (size_t) got;
			sound = offer_lines(l, buffer, &filled);
		}
	} while (sound && got > 0);
	sound = sound && got == 0 && offer_line(l, buffer, filled);
	efree(buffer);
	return sound;
}

static bool offer_all(load *l)
{
	return l->stream != NULL ? offer_stream(l)
							 : php_bloomshm_iterate(l->keys, 2, true, offer_key, l);
}

static void abort_build(const void *build)
{
	bshm_build_abort(*(bshm_build *const *) build);
}

/* The same; if a fatal error jumps out of it, the build is aborted. */
static bool offer_guarded(load *l)
{
	volatile bool bailed = false;
	volatile bool sound = false;
	zend_resource *volatile registered = NULL;
	zend_try
	{
		registered = php_bloomshm_cleanup_register(abort_build, &l->build, sizeof(l->build));
		sound = offer_all(l);
	}
	zend_catch
	{
		bailed = true;
	}
	zend_end_try();
	php_bloomshm_cleanup_cancel(registered);
	if (bailed) {
		bshm_build_abort(l->build);
		zend_bailout();
	}
	return sound;
}

/* With `like`: which parameters are not the defaults, and so must be those of the filter. */
static bool check_like(
	load *l, bool like, double error_rate, zend_long expansion, uint32_t seed_argument)
{
	if (like && l->parameters.seed != NULL) {
		zend_argument_value_error(
			seed_argument, "must be null with like: the seed is that of the filter");
		return false;
	}
	l->parameters.like = like;
	l->parameters.named = (error_rate != ERROR_RATE ? BSHM_NAMED_ERROR_RATE : 0) |
						  (expansion != EXPANSION ? BSHM_NAMED_EXPANSION : 0) |
						  (l->parameters.counting ? BSHM_NAMED_COUNTING : 0);
	return true;
}

static bool check_limits(load *l, bool capacity_given, zend_long capacity,
	uint32_t capacity_argument, bool limit_given, double limit, uint32_t limit_argument)
{
	if (capacity_given && !php_bloomshm_check_capacity(capacity, capacity_argument)) {
		return false;
	}
	if (limit_given && !(limit > 0 && limit <= 1)) {
		zend_argument_value_error(
			limit_argument, "must be greater than 0 and at most 1, %g given", limit);
		return false;
	}
	l->parameters.capacity = capacity_given ? (uint64_t) capacity : 0;
	l->max_error_rate = limit_given ? limit : 0;
	return true;
}

static void run(load *l, zval *return_value)
{
	const uint64_t start = bshm_now_ns();
	bshm_segment *segment = php_bloomshm_segment_to_create(true);
	if (segment == NULL) {
		return;
	}
	bshm_error error;
	if (bshm_build_begin(segment, ZSTR_VAL(l->filter), ZSTR_LEN(l->filter), &l->parameters,
			&l->build, &error) != BSHM_OK) {
		php_bloomshm_throw(&error, ZSTR_VAL(l->filter));
		return;
	}
	if (!offer_guarded(l)) {
		bshm_build_abort(l->build);
		return;
	}
	const uint64_t offered = bshm_build_offered(l->build);
	if (offered == 0 && !l->allow_empty) {
		bshm_build_abort(l->build);
		php_bloomshm_throw_format(BSHM_E_EMPTY,
			"no key was offered for filter \"%s\"; nothing was published (pass allow_empty: true "
			"if that is what you want)",
			ZSTR_VAL(l->filter));
		return;
	}
	bshm_info info;
	if (bshm_build_publish(l->build, l->max_error_rate, &info, &error) != BSHM_OK) {
		php_bloomshm_throw(&error, ZSTR_VAL(l->filter));
		return;
	}
	if (!php_bloomshm_check_published(segment, ZSTR_VAL(l->filter))) {
		return;
	}
	php_bloomshm_info_array(return_value, l->filter, &info);
	add_assoc_long(return_value, "keys", (zend_long) offered);
	add_assoc_double(return_value, "seconds", (double) (bshm_now_ns() - start) / 1e9);
}

PHP_FUNCTION(bloom_load)
{
	load l = {0};
	zend_string *seed = NULL;
	double error_rate = ERROR_RATE;
	double limit = 0;
	zend_long capacity = 0;
	zend_long expansion = EXPANSION;
	bool no_capacity = true;
	bool no_limit = true;
	bool counting = false;
	bool like = false;
	ZEND_PARSE_PARAMETERS_START(2, 10)
		Z_PARAM_STR(l.filter)
		Z_PARAM_ITERABLE(l.keys)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE(error_rate)
		Z_PARAM_LONG_OR_NULL(capacity, no_capacity)
		Z_PARAM_DOUBLE_OR_NULL(limit, no_limit)
		Z_PARAM_LONG(expansion)
		Z_PARAM_BOOL(counting)
		Z_PARAM_STR_OR_NULL(seed)
		Z_PARAM_BOOL(l.allow_empty)
		Z_PARAM_BOOL(like)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(l.filter, 1) ||
		!php_bloomshm_check_parameters(&l.parameters, error_rate, 3, expansion, 6, seed, 8) ||
		!php_bloomshm_check_kind(&l.parameters, 0, 0, counting, 7, 6) ||
		!check_like(&l, like, error_rate, expansion, 8) ||
		!check_limits(&l, !no_capacity, capacity, 4, !no_limit, limit, 5)) {
		RETURN_THROWS();
	}
	run(&l, return_value);
}

static bool is_gzip(const zend_string *path)
{
	const size_t length = ZSTR_LEN(path);
	return length > 3 && strcasecmp(ZSTR_VAL(path) + length - 3, ".gz") == 0 &&
		   strncasecmp(ZSTR_VAL(path), "compress.", sizeof("compress.") - 1) != 0;
}

/* zlib gets memory of the request, which PHP frees however the request ends. */
static void *allocate(void *opaque, uInt items, uInt size)
{
	(void) opaque;
	return safe_emalloc(items, size, 0);
}

static void release(void *opaque, void *memory)
{
	(void) opaque;
	efree(memory);
}

/* Opens a URL. Only the warning of its wrapper says what failed, and errno is from an earlier call:
 * so the warning becomes the exception. */
static bool open_url(load *l)
{
	zend_error_handling handling;
	zend_replace_error_handling(EH_THROW, php_bloomshm_exception_ce, &handling);
	l->stream = php_stream_open_wrapper(ZSTR_VAL(l->path), "rb", REPORT_ERRORS, NULL);
	zend_restore_error_handling(&handling);
	if (l->stream == NULL && EG(exception) != NULL &&
		EG(exception)->ce == php_bloomshm_exception_ce) {
		zval holder;
		zend_string *text = zval_get_string(zend_read_property_ex(
			php_bloomshm_exception_ce, EG(exception), ZSTR_KNOWN(ZEND_STR_MESSAGE), true, &holder));
		zend_clear_exception();
		php_bloomshm_throw_format(BSHM_E_IO, "%s", ZSTR_VAL(text));
		zend_string_release(text);
	}
	return l->stream != NULL || fail_io(l, "it cannot be opened");
}

/* Is it the URL of a wrapper that is built into PHP? Warnings of a wrapper that is written in PHP
 * stay warnings. */
static bool is_url(const zend_string *path)
{
	const char *colon = strstr(ZSTR_VAL(path), "://");
	const php_stream_wrapper *wrapper =
		colon == NULL ? NULL
					  : zend_hash_str_find_ptr_lc(php_stream_get_url_stream_wrappers_hash(),
							ZSTR_VAL(path), (size_t) (colon - ZSTR_VAL(path)));
	return wrapper != NULL && wrapper->is_url && strcmp(wrapper->wops->label, "user-space") != 0;
}

static bool open_path(load *l)
{
	if (is_url(l->path)) {
		return open_url(l);
	}
	errno = 0;
	l->stream = php_stream_open_wrapper(ZSTR_VAL(l->path), "rb", 0, NULL);
	php_stream_statbuf file;
	if (l->stream != NULL && php_stream_is(l->stream, PHP_STREAM_IS_STDIO) &&
		php_stream_stat(l->stream, &file) == 0 && (file.sb.st_mode & S_IFMT) == S_IFDIR) {
		php_stream_close(l->stream); /* PHP opens it, and reads fail */
		l->stream = NULL;
		errno = EISDIR;
	}
	return l->stream != NULL || fail_io(l, errno == 0 ? "it cannot be opened" : strerror(errno));
}

/* Opens the stream; a path that ends in .gz is decompressed. */
static bool open_stream(load *l)
{
	if (!open_path(l)) {
		return false;
	}
	l->stream->flags |= PHP_STREAM_FLAG_NO_BUFFER; /* this file's buffer is larger */
	if (is_gzip(l->path)) {
		l->gzip.zalloc = allocate;
		l->gzip.zfree = release;
		if (inflateInit2(&l->gzip, 16 + MAX_WBITS) != Z_OK) { /* 16: gzip, not zlib's own format */
			php_stream_close(l->stream);
			return fail_io(l, "no memory to decompress it");
		}
		l->packed = emalloc(READ_BYTES);
	}
	return true;
}

static void close_stream(load *l)
{
	php_stream_close(l->stream);
	if (l->packed != NULL) {
		inflateEnd(&l->gzip);
		efree(l->packed);
	}
}

PHP_FUNCTION(bloom_load_file)
{
	load l = {0};
	zend_string *delimiter = NULL;
	zend_string *seed = NULL;
	double error_rate = ERROR_RATE;
	double limit = 0;
	zend_long capacity = 0;
	zend_long expansion = EXPANSION;
	bool no_capacity = true;
	bool no_limit = true;
	bool like = false;
	ZEND_PARSE_PARAMETERS_START(2, 10)
		Z_PARAM_STR(l.filter)
		Z_PARAM_PATH_STR(l.path)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE(error_rate)
		Z_PARAM_LONG_OR_NULL(capacity, no_capacity)
		Z_PARAM_DOUBLE_OR_NULL(limit, no_limit)
		Z_PARAM_STR(delimiter)
		Z_PARAM_LONG(expansion)
		Z_PARAM_STR_OR_NULL(seed)
		Z_PARAM_BOOL(l.allow_empty)
		Z_PARAM_BOOL(like)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(l.filter, 1) ||
		!php_bloomshm_check_parameters(&l.parameters, error_rate, 3, expansion, 7, seed, 8) ||
		!check_like(&l, like, error_rate, expansion, 8) ||
		!check_limits(&l, !no_capacity, capacity, 4, !no_limit, limit, 5)) {
		RETURN_THROWS();
	}
	if (delimiter != NULL && ZSTR_LEN(delimiter) != 1) {
		zend_argument_value_error(6, "must be one byte, %zu given", ZSTR_LEN(delimiter));
		RETURN_THROWS();
	}
	if (ZSTR_LEN(l.path) == 0) {
		zend_argument_value_error(2, "cannot be empty");
		RETURN_THROWS();
	}
	l.delimiter = delimiter == NULL ? '\n' : ZSTR_VAL(delimiter)[0];
	if (!open_stream(&l)) {
		RETURN_THROWS();
	}
	run(&l, return_value);
	close_stream(&l);
}

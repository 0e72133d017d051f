/*
 * fleet_link.c - the link to an origin, by libcurl, and one request over it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_link.h"

#include "fleet/fleet_library.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define CONNECT_S     10L
#define LIFETIME_S    60L   /* of a connection: then the origin's name is looked up again */
#define SLOW_BYTES    1000L /* fewer a second, */
#define SLOW_S        30L   /* so long: it fails */
#define PASS_MS       100   /* so often something else has its turn meanwhile */
#define PASS_S        (PASS_MS / 1e3)
#define STATUS_FOUND  200
#define STATUS_OTHER  300 /* from here on the body is not what was asked for */
#define STATUS_SAME   304
#define SCHEME_FILE   "file"
#define BUFFER_BYTES  65536
#define SHA256_HEADER "x-amz-content-sha256: "

/* ------------------------------------------------------------------ the URL */

static bool is_known(const char *scheme)
{
	return strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0 ||
		   strcmp(scheme, SCHEME_FILE) == 0;
}

/* The path from the root on, of what may not be there yet: a host begins before its mounts. */
static char *path_of(const char *path)
{
	char *out = realpath(path, NULL);
	if (out != NULL || path[0] == '/') {
		return out != NULL ? out : strdup(path);
	}
	char *folder = realpath(".", NULL);
	if (folder == NULL || asprintf(&out, "%s/%s", folder, path) < 0) {
		out = NULL;
	}
	free(folder);
	return out;
}

/* A folder as an URL. */
static bool set_folder(CURLU *url, const char *path, fleet_error *error)
{
	char *real = path_of(path);
	if (real == NULL) {
		return fleet_fail(error, "cannot find the folder %s: %s", path, strerror(errno));
	}
	const bool set = fleet_curl.url_set(url, CURLUPART_SCHEME, SCHEME_FILE, 0) == CURLUE_OK &&
					 fleet_curl.url_set(url, CURLUPART_PATH, real, CURLU_URLENCODE) == CURLUE_OK;
	free(real);
	return set || fleet_fail(error, "%s is no folder for an URL", path);
}

static bool has(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	const bool found = fleet_curl.url_get(url, part, &text, 0) == CURLUE_OK;
	fleet_curl.free(text);
	return found;
}

static bool set_url(CURLU *url, const char *text, fleet_error *error)
{
	char *scheme = NULL;
	if (strstr(text, "://") == NULL) {
		return set_folder(url, text, error);
	}
	const bool sound = fleet_curl.url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
					   fleet_curl.url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
					   is_known(scheme) && !has(url, CURLUPART_QUERY) &&
					   !has(url, CURLUPART_FRAGMENT);
	fleet_curl.free(scheme);
	return sound || fleet_fail(error,
						"the URL of an origin begins with http://, https:// or file://, and has "
						"no space, ? and #");
}

static char *text_of(CURLU *url)
{
	char *text = NULL;
	char *out = fleet_curl.url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK ? strdup(text) : NULL;
	fleet_curl.free(text);
	for (size_t end = out == NULL ? 0 : strlen(out); end > 0 && out[end - 1] == '/'; end--) {
		out[end - 1] = '\0';
	}
	return out;
}

/* ------------------------------------------------------------------ answers */

/* The first bytes of what a server says beside an error, which may be of any length. */
static size_t on_word(fleet_answer *a, const char *bytes, size_t length)
{
	const size_t room = sizeof(a->word) - 1 - a->word_length;
	const size_t taken = length < room ? length : room;
	memcpy(a->word + a->word_length, bytes, taken);
	a->word_length += taken;
	return taken;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
	fleet_answer *a = context;
	const size_t length = size * count;
	if (a->status >= STATUS_OTHER) {
		return on_word(a, bytes, length);
	}
	if (length > a->room - a->count) {
		a->is_too_long = true;
		return 0;
	}
	if (a->bytes != NULL) {
		memcpy(a->bytes + a->count, bytes, length);
	}
	for (size_t done = 0; a->bytes == NULL && a->fd >= 0 && done < length;) {
		const ssize_t put = write(a->fd, bytes + done, length - done);
		if (put < 0 && errno != EINTR) {
			a->code = errno;
			return 0;
		}
		done += put > 0 ? (size_t) put : 0;
	}
	if (a->hash != NULL) {
		crypto_generichash_update(a->hash, (const uint8_t *) bytes, length);
	}
	a->count += length;
	return length;
}

/* The value of a header, if the line is one of this name. */
static bool is_header(const char *line, size_t length, const char *name, char *out, size_t room)
{
	const size_t begin = strlen(name);
	if (length <= begin || strncasecmp(line, name, begin) != 0) {
		return false;
	}
	line += begin;
	length -= begin;
	while (length > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		length--;
	}
	while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == '\n')) {
		length--;
	}
	snprintf(out, room, "%.*s", length < room ? (int) length : 0, line);
	return true;
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
	fleet_answer *a = context;
	char text[64];
	const size_t length = size * count;
	if (is_header(line, length, "http/", text, sizeof(text))) { /* after a 100, once more */
		const char *status = strchr(text, ' ');
		a->status = status == NULL ? 0 : strtol(status, NULL, 10);
	}
	is_header(line, length, "etag:", a->etag, sizeof(a->etag));
	if (is_header(line, length, "content-length:", text, sizeof(text))) {
		a->length = strtoull(text, NULL, 10);
	}
	if (is_header(line, length, "date:", text, sizeof(text))) {
		a->sent_s = fleet_curl.getdate(text, NULL);
	}
	if (is_header(line, length, "last-modified:", text, sizeof(text))) {
		a->changed_s = fleet_curl.getdate(text, NULL);
	}
	if (is_header(line, length, "age:", text, sizeof(text))) {
		a->age_s = strtod(text, NULL);
		a->age_s = a->age_s >= 0 ? a->age_s : 0;
	}
	return length;
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const fleet_link *f = context;
	(void) a;
	(void) b;
	(void) c;
	(void) d;
	return f->is_stopped != NULL && f->is_stopped();
}

/* ------------------------------------------------------------------ what is sent */

typedef struct {
	const fleet_request *request;
	uint64_t done;
} sender;

static size_t on_send(char *out, size_t size, size_t count, void *context)
{
	sender *s = context;
	const fleet_request *r = s->request;
	const uint64_t left = r->length - s->done;
	const size_t most = left < size * count ? (size_t) left : size * count;
	ssize_t got = (ssize_t) most;
	if (r->bytes != NULL) {
		memcpy(out, r->bytes + s->done, most);
	} else {
		got = pread(r->fd, out, most, (off_t) s->done);
	}
	if (got < 0 || (got == 0 && most > 0)) {
		return CURL_READFUNC_ABORT;
	}
	s->done += (uint64_t) got;
	return (size_t) got;
}

static int on_seek(void *context, curl_off_t offset, int origin)
{
	sender *s = context;
	s->done = (uint64_t) offset;
	return origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK;
}

static bool hash_body(const fleet_request *r, uint8_t hash[crypto_hash_sha256_BYTES])
{
	char buffer[BUFFER_BYTES];
	crypto_hash_sha256_state state;
	sender s = {.request = r};
	crypto_hash_sha256_init(&state);
	while (s.done < r->length) {
		const size_t got = on_send(buffer, 1, sizeof(buffer), &s);
		if (got == CURL_READFUNC_ABORT) {
			return false;
		}
		crypto_hash_sha256_update(&state, (const uint8_t *) buffer, got);
	}
	return crypto_hash_sha256_final(&state, hash) == 0;
}

/* ------------------------------------------------------------------ the origin */

static void set_options(fleet_link *f)
{
	CURL *curl = f->curl;
	fleet_curl.easy_setopt(curl, CURLOPT_ERRORBUFFER, f->said);
	fleet_curl.easy_setopt(curl, CURLOPT_USERAGENT, "bloomshm");
	fleet_curl.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	fleet_curl.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
#if LIBCURL_VERSION_NUM >= 0x075000 /* 7.80 */
	fleet_curl.easy_setopt(curl, CURLOPT_MAXLIFETIME_CONN, LIFETIME_S);
#endif
	fleet_curl.easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
	fleet_curl.easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SLOW_S);
	fleet_curl.easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
	fleet_curl.easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	fleet_curl.easy_setopt(curl, CURLOPT_READFUNCTION, on_send);
	fleet_curl.easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek);
	fleet_curl.easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	fleet_curl.easy_setopt(curl, CURLOPT_XFERINFODATA, f);
	fleet_curl.easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

fleet_link *fleet_link_new(
	const char *text, const char *ca, bool (*is_stopped)(void), fleet_error *error)
{
	if (!fleet_curl_load(error)) {
		return NULL;
	}
	fleet_link *f = calloc(1, sizeof(*f));
	CURLU *url = fleet_curl.url();
	fleet_fail(error, "no private memory left");
	if (f == NULL || url == NULL || fleet_curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
		(f->curl = fleet_curl.easy_init()) == NULL ||
		(f->multi = fleet_curl.multi_init()) == NULL ||
		(ca != NULL && fleet_curl.easy_setopt(f->curl, CURLOPT_CAINFO, ca) != CURLE_OK) ||
		!set_url(url, text, error)) {
		goto failed;
	}
	f->base = text_of(url);
	fleet_curl.url_set(url, CURLUPART_USER, NULL, 0);
	fleet_curl.url_set(url, CURLUPART_PASSWORD, NULL, 0);
	f->source = text_of(url);
	if (f->base == NULL || f->source == NULL) {
		goto failed;
	}
	f->is_stopped = is_stopped;
	set_options(f);
	fleet_curl.url_cleanup(url);
	return f;
failed:
	fleet_curl.url_cleanup(url);
	fleet_link_free(f);
	return NULL;
}

void fleet_link_free(fleet_link *f)
{
	if (f != NULL) {
		fleet_curl.easy_cleanup(f->curl);
		fleet_curl.multi_cleanup(f->multi);
		if (f->token != NULL) {
			sodium_memzero(f->token, strlen(f->token));
		}
		free(f->token);
		free(f->base);
		free(f->source);
		free(f);
	}
}

bool (*fleet_link_stopped_by(fleet_link *f, bool (*is_stopped)(void)))(void)
{
	bool (*const before)(void) = f->is_stopped;
	f->is_stopped = is_stopped;
	return before;
}

void fleet_link_meanwhile(fleet_link *f, void (*meanwhile)(void *context), void *context)
{
	f->meanwhile = meanwhile;
	f->context = context;
}

void fleet_link_limit(fleet_link *f, unsigned seconds)
{
	fleet_curl.easy_setopt(f->curl, CURLOPT_TIMEOUT, (long) seconds);
}

const char *fleet_link_source(const fleet_link *f)
{
	return f->source;
}

/* ------------------------------------------------------------------ requests */

static bool explain(const fleet_link *f, const fleet_request *r, const fleet_answer *a,
	CURLcode code, fleet_error *error)
{
	if (a->code != 0) {
		return fleet_fail(
			error, "cannot write what %s/%s has: %s", f->source, r->path, strerror(a->code));
	}
	if (a->is_too_long) {
		return fleet_fail(
			error, "%s/%s has more than %" PRIu64 " bytes", f->source, r->path, a->room);
	}
	return fleet_fail(error, "cannot %s %s/%s: %s", r->method == NULL ? "fetch" : "reach",
		f->source, r->path, *f->said != '\0' ? f->said : fleet_curl.easy_strerror(code));
}

bool fleet_link_refused(const fleet_link *f, const fleet_request *r, long status,
	const fleet_answer *a, fleet_error *error)
{
	/* S3 has its word in XML, other servers in a page. */
	const char *begin = strstr(a->word, "<Code>");
	begin = begin != NULL ? begin : strstr(a->word, "<title>");
	begin = begin == NULL ? a->word : strchr(begin, '>') + 1;
	const int length = (int) strcspn(begin, "<\r\n");
	return fleet_fail(error, "%s/%s: the server says %ld%s%.*s%s", f->source, r->path, status,
		length > 0 ? " (" : "", length, begin, length > 0 ? ")" : "");
}

static bool add_header(struct curl_slist **headers, const char *line)
{
	struct curl_slist *more = fleet_curl.slist_append(*headers, line);
	*headers = more != NULL ? more : *headers;
	return more != NULL;
}

/* What SigV4 signs beside the request itself. */
static bool add_signed(
	const fleet_link *f, const fleet_request *r, struct curl_slist **headers, fleet_error *error)
{
	uint8_t hash[crypto_hash_sha256_BYTES];
	char line[sizeof(SHA256_HEADER) + 2 * sizeof(hash)] = SHA256_HEADER;
	if (!hash_body(r, hash)) {
		return fleet_fail(error, "cannot read what %s is to be: %s", r->path, strerror(errno));
	}
	fleet_hex(line + sizeof(SHA256_HEADER) - 1, hash, sizeof(hash));
	return add_header(headers, line) && (f->token == NULL || add_header(headers, f->token));
}

/* A byte of a path, which may be there as %XX. */
static uint8_t take_byte(const char **path)
{
	uint8_t byte = (uint8_t) * (*path)++;
	const char digits[3] = {byte == '%' ? **path : 'x', **path == '\0' ? '\0' : (*path)[1], '\0'};
	if (strspn(digits, "0123456789abcdefABCDEF") == 2) {
		byte = (uint8_t) strtoul(digits, NULL, 16);
		*path += 2;
	}
	return byte;
}

/* SigV4 knows a path in one spelling: all bytes but these are there as %XX. */
static char *spell(char *to, const char *path)
{
	while (*path != '\0') {
		const uint8_t byte = take_byte(&path);
		const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
							  (byte >= '0' && byte <= '9') ||
							  (byte != '\0' && strchr("-_.~/", byte) != NULL);
		to += sprintf(to, is_plain ? "%c" : "%%%02X", byte);
	}
	return to;
}

static char *url_of(const fleet_link *f, const char *path)
{
	const char *host = strstr(f->base, "://") + 3;
	const size_t before = (size_t) (host - f->base) + strcspn(host, "/");
	char *url = malloc(3 * (strlen(f->base) + strlen(path)) + 2);
	if (url != NULL) {
		char *to = mempcpy(url, f->base, before);
		to = f->is_signed ? spell(to, f->base + before) : stpcpy(to, f->base + before);
		*to++ = '/';
		*spell(to, path) = '\0';
	}
	return url;
}

static void set_request(fleet_link *f, const fleet_request *r, sender *s)
{
	CURL *curl = f->curl;
	const bool is_put = r->method != NULL && strcmp(r->method, "PUT") == 0;
	const bool is_head = r->method != NULL && strcmp(r->method, "HEAD") == 0;
	fleet_curl.easy_setopt(curl, CURLOPT_HTTPGET, 1L); /* forgets what the last one was */
	fleet_curl.easy_setopt(curl, CURLOPT_UPLOAD, is_put ? 1L : 0L);
	fleet_curl.easy_setopt(curl, CURLOPT_NOBODY, is_head ? 1L : 0L);
	if (is_put) {
		fleet_curl.easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t) r->length);
		fleet_curl.easy_setopt(curl, CURLOPT_READDATA, s);
		fleet_curl.easy_setopt(curl, CURLOPT_SEEKDATA, s);
	}
	fleet_curl.easy_setopt(curl, CURLOPT_CUSTOMREQUEST, is_put || is_head ? NULL : r->method);
}

static bool make_headers(
	const fleet_link *f, const fleet_request *r, struct curl_slist **out, fleet_error *error)
{
	fleet_fail(error, "no private memory left");
	return (r->condition == NULL || add_header(out, r->condition)) &&
		   (!r->is_fresh || add_header(out, "Cache-Control: no-cache")) &&
		   (!f->is_signed || add_signed(f, r, out, error));
}

/* As fleet_curl.easy_perform(), with turns for something else. */
static CURLcode perform(fleet_link *f)
{
	int left = 1;
	double next_s = fleet_now_s() + PASS_S;
	CURLMcode failed = fleet_curl.multi_add_handle(f->multi, f->curl);
	while (failed == CURLM_OK && left > 0) {
		failed = fleet_curl.multi_perform(f->multi, &left);
		if (failed == CURLM_OK && left > 0) {
			failed = fleet_curl.multi_poll(f->multi, NULL, 0, PASS_MS, NULL);
		}
		const double begun_s = fleet_now_s();
		if (left > 0 && f->meanwhile != NULL && begun_s >= next_s) {
			f->meanwhile(f->context);
			const double took_s = fleet_now_s() - begun_s;
			next_s = begun_s + took_s + (took_s > PASS_S ? took_s : PASS_S);
		}
	}
	const CURLMsg *message = fleet_curl.multi_info_read(f->multi, &left);
	const CURLcode code = message != NULL ? message->data.result : CURLE_OUT_OF_MEMORY;
	fleet_curl.multi_remove_handle(f->multi, f->curl);
	return code;
}

long fleet_link_send(fleet_link *f, const fleet_request *r, fleet_answer *a, fleet_error *error)
{
	long status = 0;
	sender s = {.request = r};
	struct curl_slist *headers = NULL;
	char *url = url_of(f, r->path);
	if (!make_headers(f, r, &headers, error) || url == NULL) {
		fleet_curl.slist_free_all(headers);
		free(url);
		return -1;
	}
	*f->said = '\0';
	set_request(f, r, &s);
	fleet_curl.easy_setopt(f->curl, CURLOPT_URL, url);
	fleet_curl.easy_setopt(f->curl, CURLOPT_HTTPHEADER, headers);
	fleet_curl.easy_setopt(f->curl, CURLOPT_WRITEDATA, a);
	fleet_curl.easy_setopt(f->curl, CURLOPT_HEADERDATA, a);
	const CURLcode code = perform(f);
	fleet_curl.easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &status);
	fleet_curl.slist_free_all(headers);
	free(url);
	if (code == CURLE_OK) {
		return status == 0 ? STATUS_FOUND : status;
	}
	if (status >= STATUS_OTHER) { /* its body was too long to be read */
		return status;
	}
	explain(f, r, a, code, error);
	return -1;
}

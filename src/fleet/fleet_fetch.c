/*
 * fleet_fetch.c - fetches heads and blobs from an origin, by libcurl.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define CONNECT_S    10L
#define SLOW_BYTES   1000L /* fewer a second, */
#define SLOW_S       30L   /* so long: it fails */
#define STATUS_SAME  304
#define STATUS_FOUND 200
#define SCHEME_FILE  "file"
/* nginx makes an ETag of a file's size and second. So one of a file that is younger, by the clocks
 * of the server and of whoever wrote the file, may be that of the next one too. */
#define ETAG_AGE_S 10
#define NOT_CACHED "Cache-Control: no-cache" /* without it a cache may hold a head for hours */

struct fleet_fetch {
	CURL *curl;
	bool (*is_stopped)(void);
	char *base; /* URL without a slash at its end */
	char *source;
	uint64_t bytes; /* that have come */
	char said[CURL_ERROR_SIZE];
};

/* What an answer is written to. */
typedef struct {
	char *bytes; /* or: */
	int fd;
	uint64_t room;
	uint64_t count;
	bool may_be_same; /* the request named an ETag */
	bool is_too_long;
	int code; /* of the system, if a write failed */
	char etag[FLEET_ETAG_ROOM];
	double age_s;
	time_t sent_s;    /* by the server's clock; 0: it does not say */
	time_t changed_s; /* the file */
} answer;

/* ------------------------------------------------------------------ the URL */

static bool is_known(const char *scheme)
{
	return strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0 ||
		   strcmp(scheme, SCHEME_FILE) == 0;
}

/* A folder as an URL. */
static bool set_folder(CURLU *url, const char *path, fleet_error *error)
{
	char *real = realpath(path, NULL);
	if (real == NULL) {
		return fleet_fail(error, "cannot open the folder %s: %s", path, strerror(errno));
	}
	const bool set = curl_url_set(url, CURLUPART_SCHEME, SCHEME_FILE, 0) == CURLUE_OK &&
					 curl_url_set(url, CURLUPART_PATH, real, CURLU_URLENCODE) == CURLUE_OK;
	free(real);
	return set || fleet_fail(error, "%s is no folder for an URL", path);
}

static bool has(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	const bool found = curl_url_get(url, part, &text, 0) == CURLUE_OK;
	curl_free(text);
	return found;
}

static bool set_url(CURLU *url, const char *text, fleet_error *error)
{
	char *scheme = NULL;
	if (strstr(text, "://") == NULL) {
		return set_folder(url, text, error);
	}
	const bool sound = curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
					   curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
					   is_known(scheme) && !has(url, CURLUPART_QUERY) &&
					   !has(url, CURLUPART_FRAGMENT);
	curl_free(scheme);
	return sound || fleet_fail(error,
						"the URL of an origin begins with http://, https:// or file://, and has "
						"no ? and #");
}

static char *text_of(CURLU *url)
{
	char *text = NULL;
	char *out = curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK ? strdup(text) : NULL;
	curl_free(text);
	for (size_t end = out == NULL ? 0 : strlen(out); end > 0 && out[end - 1] == '/'; end--) {
		out[end - 1] = '\0';
	}
	return out;
}

/* ------------------------------------------------------------------ answers */

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
	answer *a = context;
	const size_t length = size * count;
	if (length > a->room - a->count) {
		a->is_too_long = true;
		return 0;
	}
	if (a->bytes != NULL) {
		memcpy(a->bytes + a->count, bytes, length);
	}
	for (size_t done = 0; a->bytes == NULL && done < length;) {
		const ssize_t put = write(a->fd, bytes + done, length - done);
		if (put < 0 && errno != EINTR) {
			a->code = errno;
			return 0;
		}
		done += put > 0 ? (size_t) put : 0;
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
	answer *a = context;
	char text[64];
	const size_t length = size * count;
	is_header(line, length, "etag:", a->etag, sizeof(a->etag));
	if (is_header(line, length, "age:", text, sizeof(text))) {
		a->age_s = strtod(text, NULL);
		a->age_s = a->age_s >= 0 ? a->age_s : 0;
	}
	if (is_header(line, length, "date:", text, sizeof(text))) {
		a->sent_s = curl_getdate(text, NULL);
	}
	if (is_header(line, length, "last-modified:", text, sizeof(text))) {
		a->changed_s = curl_getdate(text, NULL);
	}
	return length;
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const fleet_fetch *f = context;
	(void) a;
	(void) b;
	(void) c;
	(void) d;
	return f->is_stopped();
}

/* ------------------------------------------------------------------ requests */

static void set_options(fleet_fetch *f)
{
	CURL *curl = f->curl;
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, f->said);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "bloomshm");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SLOW_S);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, f);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

fleet_fetch *fleet_fetch_new(
	const char *text, const char *ca, bool (*is_stopped)(void), fleet_error *error)
{
	fleet_fetch *f = calloc(1, sizeof(*f));
	CURLU *url = curl_url();
	fleet_fail(error, "no private memory left");
	if (f == NULL || url == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
		(f->curl = curl_easy_init()) == NULL ||
		(ca != NULL && curl_easy_setopt(f->curl, CURLOPT_CAINFO, ca) != CURLE_OK) ||
		!set_url(url, text, error)) {
		goto failed;
	}
	f->base = text_of(url);
	curl_url_set(url, CURLUPART_USER, NULL, 0);
	curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
	f->source = text_of(url);
	if (f->base == NULL || f->source == NULL) {
		goto failed;
	}
	f->is_stopped = is_stopped;
	set_options(f);
	curl_url_cleanup(url);
	return f;
failed:
	curl_url_cleanup(url);
	fleet_fetch_free(f);
	return NULL;
}

void fleet_fetch_free(fleet_fetch *f)
{
	if (f != NULL) {
		curl_easy_cleanup(f->curl);
		free(f->base);
		free(f->source);
		free(f);
	}
}

const char *fleet_fetch_source(const fleet_fetch *f)
{
	return f->source;
}

uint64_t fleet_fetch_bytes(const fleet_fetch *f)
{
	return f->bytes;
}

static bool explain(
	const fleet_fetch *f, const answer *a, CURLcode code, const char *path, fleet_error *error)
{
	if (a->code != 0) {
		return fleet_fail(
			error, "cannot write what %s/%s has: %s", f->source, path, strerror(a->code));
	}
	if (a->is_too_long) {
		return fleet_fail(error, "%s/%s has more than %" PRIu64 " bytes", f->source, path, a->room);
	}
	return fleet_fail(error, "cannot fetch %s/%s: %s", f->source, path,
		*f->said != '\0' ? f->said : curl_easy_strerror(code));
}

/* 1; 0: the server says that it is still what the headers say; -1. */
static int request(
	fleet_fetch *f, const char *path, struct curl_slist *headers, answer *a, fleet_error *error)
{
	char *url;
	long status = 0;
	if (asprintf(&url, "%s/%s", f->base, path) < 0) {
		fleet_fail(error, "no private memory left");
		return -1;
	}
	*f->said = '\0';
	curl_easy_setopt(f->curl, CURLOPT_URL, url);
	curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(f->curl, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(f->curl, CURLOPT_HEADERDATA, a);
	const CURLcode code = curl_easy_perform(f->curl);
	f->bytes += a->count;
	free(url);
	curl_easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &status);
	/* What a server says beside an error may be of any length: it is not the file. */
	if (status != 0 && status != STATUS_FOUND && (status != STATUS_SAME || !a->may_be_same)) {
		a->is_too_long = false;
		fleet_fail(error, "%s/%s: the server says %ld", f->source, path, status);
		return -1;
	}
	if (code != CURLE_OK) {
		explain(f, a, code, path, error);
		return -1;
	}
	return status == STATUS_SAME ? 0 : 1;
}

int fleet_fetch_head(fleet_fetch *f, const char *filter, fleet_text *out,
	char etag[FLEET_ETAG_ROOM], double *age_s, fleet_error *error)
{
	char path[FLEET_FOLDER_ROOM + 8];
	char line[FLEET_ETAG_ROOM + 32];
	answer a = {.bytes = out->bytes, .room = FLEET_HEAD_BYTES_MAX, .may_be_same = *etag != '\0'};
	struct curl_slist *headers = curl_slist_append(NULL, NOT_CACHED);
	snprintf(path, sizeof(path), "%s/" FLEET_HEAD_FILE, filter);
	if (a.may_be_same) {
		snprintf(line, sizeof(line), "If-None-Match: %s", etag);
		headers = curl_slist_append(headers, line);
	}
	const int found = request(f, path, headers, &a, error);
	curl_slist_free_all(headers);
	out->length = (size_t) a.count;
	out->bytes[out->length] = '\0';
	*age_s = a.age_s;
	if (found > 0) {
		if (a.changed_s > 0 && a.sent_s > 0 && a.sent_s - a.changed_s < ETAG_AGE_S) {
			*a.etag = '\0';
		}
		memcpy(etag, a.etag, FLEET_ETAG_ROOM);
	}
	return found;
}

int fleet_fetch_blob(
	fleet_fetch *f, const fleet_hash *hash, uint64_t bytes, const char *path, fleet_error *error)
{
	char name[FLEET_HASH_CHARACTERS + 16];
	answer a = {.room = bytes};
	snprintf(name, sizeof(name), FLEET_BLOBS "/%s", hash->text);
	a.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (a.fd < 0) {
		const char *end = strrchr(path, '/'); /* the name is new each time */
		fleet_fail(
			error, "cannot make a file in %.*s: %s", (int) (end - path), path, strerror(errno));
		return -2;
	}
	int found = request(f, name, NULL, &a, error);
	close(a.fd);
	if (found > 0 && a.count != bytes) {
		fleet_fail(
			error, "%s/%s has %" PRIu64 " bytes, not %" PRIu64, f->source, name, a.count, bytes);
		found = 0;
	}
	if (found <= 0) {
		unlink(path);
	}
	return a.is_too_long ? 0 : a.code != 0 ? -2 : found;
}

/*
 * cli_manifest.c - a saved segment: a folder of dumps, and the manifest that describes them.
 *
 * A manifest may come from anywhere. Each file's name is the one that its place in the list gives,
 * so no file outside of the folder is ever opened.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_manifest.h"

#include "cli/cli_json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FORMAT         "bloomshm saved segment"
#define VERSION        1
#define MANIFEST_BYTES (64 << 20) /* 16,384 filters take a tenth of it */
#define RECORDS_MAX    (UINT64_C(1) << 32)
#define BUFFER_BYTES   65536

void cli_manifest_file(char out[CLI_FILE_NAME], size_t i)
{
	snprintf(out, CLI_FILE_NAME, "filter-%05zu", i + 1);
}

bool cli_manifest_has_file(const char *name)
{
	return strcmp(name, CLI_MANIFEST_FILE) == 0 || strcmp(name, CLI_RECORDS_FILE) == 0 ||
		   (strncmp(name, "filter-", 7) == 0 && strspn(name + 7, "0123456789") == 5 &&
			   name[12] == '\0');
}

/* ------------------------------------------------------------------ files */

/* Never follows a link, and never waits. -1: that was said. */
static int open_file(const cli *c, int folder, const char *shown, const char *file)
{
	struct stat st;
	const int fd = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		cli_say(c, CLI_FAILED, "cannot open the file %s/%s: %s", shown, file, strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		cli_say(c, CLI_FAILED, "%s/%s is not a regular file", shown, file);
		close(fd);
		return -1;
	}
	return fd;
}

int cli_manifest_measure(const cli *c, int folder, const char *shown, cli_saved *file)
{
	unsigned char buffer[BUFFER_BYTES];
	XXH3_state_t hash;
	ssize_t got;
	const int fd = open_file(c, folder, shown, file->file);
	if (fd < 0) {
		return CLI_FAILED;
	}
	XXH3_64bits_reset(&hash);
	file->bytes = 0;
	while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
		XXH3_64bits_update(&hash, buffer, (size_t) got);
		file->bytes += (uint64_t) got;
	}
	const int code = errno;
	close(fd);
	file->check = XXH3_64bits_digest(&hash);
	return got == 0 ? CLI_YES
					: cli_say(c, CLI_FAILED, "cannot read the file %s/%s: %s", shown, file->file,
						  strerror(code));
}

/* ------------------------------------------------------------------ writing */

static json_t *json_of(const cli_saved *file)
{
	char check[17];
	snprintf(check, sizeof(check), "%016" PRIx64, file->check);
	return json_pack(
		"{s:s, s:I, s:s}", "file", file->file, "bytes", (json_int_t) file->bytes, "xxh3_64", check);
}

/* People read the name; "name_hex" is exact. */
static json_t *json_of_filter(const cli_saved *filter)
{
	char hex[2 * BSHM_NAME_BYTES_MAX + 1];
	json_t *out = json_of(filter);
	for (size_t i = 0; i < filter->name.length; i++) {
		sprintf(hex + 2 * i, "%02x", (unsigned) (unsigned char) filter->name.bytes[i]);
	}
	json_object_set_new(out, "name", cli_json_text(filter->name.bytes, filter->name.length));
	json_object_set_new(out, "name_hex", json_string(hex));
	return out;
}

static json_t *json_of_all(const cli_manifest *m)
{
	char date[32];
	const time_t seconds = (time_t) m->saved_s;
	struct tm utc;
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &utc));
	json_t *filters = json_array();
	for (size_t i = 0; i < m->count; i++) {
		json_array_append_new(filters, json_of_filter(&m->filters[i]));
	}
	json_t *records = json_null();
	if (*m->records.file != '\0') {
		records = json_of(&m->records);
		json_object_set_new(records, "count", json_integer((json_int_t) m->record_count));
	}
	json_t *segment = json_pack("{s:I, s:I, s:I, s:i, s:i}", "filter_memory",
		(json_int_t) m->filter_bytes, "cache_memory", (json_int_t) m->cache_bytes, "cache_records",
		(json_int_t) m->cache_records, "mode", (int) m->mode, "layout_version",
		(int) m->layout_version);
	return json_pack("{s:s, s:i, s:f, s:s, s:o, s:o, s:o}", "format", FORMAT, "version", VERSION,
		"saved_at", m->saved_s, "saved", date, "segment", segment, "filters", filters, "records",
		records);
}

int cli_manifest_write(const cli *c, int folder, const char *shown, const cli_manifest *m)
{
	json_t *all = json_of_all(m);
	if (all == NULL) {
		return cli_no_memory(c);
	}
	const int fd = openat(folder, CLI_MANIFEST_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	bool written = to != NULL && json_dumpf(all, to, JSON_INDENT(1)) == 0 &&
				   fputc('\n', to) != EOF && fflush(to) == 0 && fsync(fd) == 0;
	const int code = errno;
	if (to != NULL) {
		written = fclose(to) == 0 && written;
	}
	json_decref(all);
	if (!written && cli_signal() != 0) { /* which made the write fail */
		return CLI_SIGNAL + cli_signal();
	}
	return written ? CLI_YES
				   : cli_say(c, CLI_FAILED, "cannot write the file %s/%s: %s", shown,
						 CLI_MANIFEST_FILE, strerror(code));
}

/* ------------------------------------------------------------------ reading */

typedef struct {
	const cli *c;
	int folder;
	const char *shown;
} reader;

static bool refuse(const reader *r, const char *what)
{
	cli_say(r->c, CLI_FAILED, "%s/%s: %s; nothing was changed", r->shown, CLI_MANIFEST_FILE, what);
	return false;
}

static bool whole(const json_t *object, const char *name, uint64_t most, uint64_t *out)
{
	const json_t *value = json_object_get(object, name);
	*out = json_is_integer(value) && json_integer_value(value) >= 0
			   ? (uint64_t) json_integer_value(value)
			   : UINT64_MAX;
	return *out <= most;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *text, cli_name *out)
{
	const size_t length = text == NULL ? 0 : strlen(text);
	if (length < 2 || length % 2 != 0 || length / 2 > BSHM_NAME_BYTES_MAX) {
		return false;
	}
	out->length = length / 2;
	for (size_t i = 0; i < out->length; i++) {
		const int high = digit(text[2 * i]);
		const int low = digit(text[2 * i + 1]);
		if (high < 0 || low < 0 || (high == 0 && low == 0)) {
			return false;
		}
		out->bytes[i] = (char) (high << 4 | low);
	}
	out->bytes[out->length] = '\0';
	return true;
}

/* The file's name must be the expected one: it is never taken from the manifest. */
static bool read_saved(const json_t *object, const char *expected, cli_saved *out)
{
	const char *file = json_string_value(json_object_get(object, "file"));
	const char *check = json_string_value(json_object_get(object, "xxh3_64"));
	snprintf(out->file, sizeof(out->file), "%s", expected);
	if (file == NULL || strcmp(file, expected) != 0 || check == NULL || strlen(check) != 16 ||
		strspn(check, "0123456789abcdef") != 16) {
		return false;
	}
	out->check = strtoull(check, NULL, 16);
	return whole(object, "bytes", INT64_MAX, &out->bytes);
}

static bool read_segment(const json_t *segment, cli_manifest *m)
{
	uint64_t mode;
	uint64_t layout;
	const bool sound = whole(segment, "filter_memory", BSHM_FILTER_BYTES_MAX, &m->filter_bytes) &&
					   m->filter_bytes >= BSHM_FILTER_BYTES_MIN &&
					   whole(segment, "cache_memory", BSHM_CACHE_BYTES_MAX, &m->cache_bytes) &&
					   (m->cache_bytes == 0 || m->cache_bytes >= BSHM_CACHE_BYTES_MIN) &&
					   whole(segment, "cache_records", RECORDS_MAX, &m->cache_records) &&
					   whole(segment, "mode", 0777, &mode) &&
					   whole(segment, "layout_version", INT32_MAX, &layout);
	m->mode = sound ? (uint32_t) mode : 0;
	m->layout_version = sound ? (uint32_t) layout : 0;
	return sound;
}

static int by_name(const void *a, const void *b)
{
	const cli_name *x = &((const cli_saved *) a)->name;
	const cli_name *y = &((const cli_saved *) b)->name;
	return strcmp(x->bytes, y->bytes); /* a name has no NUL byte */
}

/* Does no name come twice? Sorts the filters. */
static bool are_different(cli_manifest *m)
{
	qsort(m->filters, m->count, sizeof(*m->filters), by_name);
	for (size_t i = 1; i < m->count; i++) {
		if (by_name(&m->filters[i - 1], &m->filters[i]) == 0) {
			return false;
		}
	}
	return true;
}

static bool read_filters(const reader *r, const json_t *filters, cli_manifest *m)
{
	m->count = json_array_size(filters);
	if (!json_is_array(filters) || m->count > BSHM_FILTER_COUNT_MAX) {
		return refuse(r, "the list of filters is damaged");
	}
	m->filters = calloc(m->count + 1, sizeof(*m->filters));
	if (m->filters == NULL) {
		cli_no_memory(r->c);
		return false;
	}
	for (size_t i = 0; i < m->count; i++) {
		const json_t *filter = json_array_get(filters, i);
		char expected[CLI_FILE_NAME];
		cli_manifest_file(expected, i);
		if (!read_hex(
				json_string_value(json_object_get(filter, "name_hex")), &m->filters[i].name) ||
			!read_saved(filter, expected, &m->filters[i])) {
			char what[96];
			snprintf(what, sizeof(what), "the entry of the file %s is damaged", expected);
			return refuse(r, what);
		}
	}
	return are_different(m) || refuse(r, "two filters have one name");
}

static bool read_document(const reader *r, const json_t *all, cli_manifest *m)
{
	const char *format = json_string_value(json_object_get(all, "format"));
	const json_t *saved_at = json_object_get(all, "saved_at");
	const json_t *records = json_object_get(all, "records");
	uint64_t version;
	*m = (cli_manifest){.saved_s = json_number_value(saved_at)};
	if (format == NULL || strcmp(format, FORMAT) != 0) {
		return refuse(r, "it does not describe a saved segment");
	}
	if (!whole(all, "version", INT32_MAX, &version) || version != VERSION) {
		return refuse(r, "another version of bloomshm has made it");
	}
	if (!json_is_number(saved_at) || !(m->saved_s >= 0 && m->saved_s < 1e12)) {
		return refuse(r, "the date is damaged");
	}
	if (!read_segment(json_object_get(all, "segment"), m)) {
		return refuse(r, "the sizes of the segment are damaged");
	}
	if (!json_is_null(records) && (!read_saved(records, CLI_RECORDS_FILE, &m->records) ||
									  !whole(records, "count", INT64_MAX, &m->record_count))) {
		return refuse(r, "the entry of the records is damaged");
	}
	return read_filters(r, json_object_get(all, "filters"), m);
}

static json_t *load(const reader *r)
{
	struct stat st;
	json_error_t error;
	const int fd = open_file(r->c, r->folder, r->shown, CLI_MANIFEST_FILE);
	json_t *all = NULL;
	if (fd < 0) {
		return NULL;
	}
	if (fstat(fd, &st) != 0 || st.st_size > MANIFEST_BYTES) {
		refuse(r, "it is larger than any manifest");
	} else {
		all = json_loadfd(fd, JSON_REJECT_DUPLICATES, &error);
		if (all == NULL) {
			char what[JSON_ERROR_TEXT_LENGTH + 64];
			snprintf(what, sizeof(what), "it is not JSON (line %d: %s)", error.line, error.text);
			refuse(r, what);
		}
	}
	close(fd);
	return all;
}

/* ------------------------------------------------------------------ checking */

static bool check_file(const reader *r, const cli_saved *file)
{
	cli_saved found = *file;
	char what[96];
	struct stat st;
	if (fstatat(r->folder, file->file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		(uint64_t) st.st_size != file->bytes) { /* a sparse one would be read for hours */
		snprintf(what, sizeof(what), "the file %s has another size", file->file);
		return refuse(r, what);
	}
	if (cli_manifest_measure(r->c, r->folder, r->shown, &found) != CLI_YES) {
		return false;
	}
	if (found.bytes == file->bytes && found.check == file->check) {
		return true;
	}
	snprintf(what, sizeof(what), "the file %s has another checksum", file->file);
	return refuse(r, what);
}

static bool is_listed(const cli_manifest *m, const char *name)
{
	if (strcmp(name, CLI_RECORDS_FILE) == 0) {
		return *m->records.file != '\0';
	}
	return cli_manifest_has_file(name) &&
		   (*name != 'f' || (size_t) strtoul(name + 7, NULL, 10) - 1 < m->count);
}

/* A folder with other files was changed by something else. */
static bool check_names(const reader *r, const cli_manifest *m)
{
	const int fd = openat(r->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool sound = true;
	if (folder == NULL) {
		cli_say(r->c, CLI_FAILED, "cannot read the folder %s: %s", r->shown, strerror(errno));
		return false;
	}
	while (sound && (entry = readdir(folder)) != NULL) {
		const char *name = entry->d_name;
		sound = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_listed(m, name);
		if (!sound) {
			cli_say(r->c, CLI_FAILED,
				"%s has a file %s that is not in the manifest; nothing was changed", r->shown,
				name);
		}
	}
	closedir(folder);
	return sound;
}

int cli_manifest_read(const cli *c, int folder, const char *shown, cli_manifest *m)
{
	const reader r = {c, folder, shown};
	json_t *all = load(&r);
	bool sound = all != NULL && read_document(&r, all, m) && check_names(&r, m);
	json_decref(all);
	for (size_t i = 0; sound && i < m->count; i++) {
		sound = check_file(&r, &m->filters[i]);
	}
	if (sound && *m->records.file != '\0') {
		sound = check_file(&r, &m->records);
	}
	return sound ? CLI_YES : CLI_FAILED;
}

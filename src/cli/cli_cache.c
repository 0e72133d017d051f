/*
 * cli_cache.c - cache get, set, del: single records.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_keys.h"
#include "cli/cli_run.h"
#include "cli/cli_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ keys */

/* CLI_YES, CLI_NO if it has no record, or a failure, which was said. */
typedef int (*key_action)(const cli *c, const bshm_key *key, void *context);

static int refuse_key(const cli *c, int status, size_t length)
{
	return cli_say(c, status, "a key has at most %d bytes, %zu given", BSHM_KEY_BYTES_MAX, length);
}

static int each_of_input(const cli *c, key_action action, void *context)
{
	bshm_key keys[BSHM_BATCH];
	int answer = CLI_YES;
	int status = CLI_YES;
	int count = 0;
	cli_file *file = cli_file_open(c, "-");
	if (file == NULL) {
		return CLI_FAILED;
	}
	while (status <= CLI_NO &&
		   (count = cli_file_keys(file, cli_given(c, CLI_NUL) ? '\0' : '\n', keys)) > 0) {
		for (int i = 0; i < count && status <= CLI_NO; i++) {
			status = keys[i].length > BSHM_KEY_BYTES_MAX ? refuse_key(c, CLI_FAILED, keys[i].length)
														 : action(c, &keys[i], context);
			answer = status != CLI_YES ? status : answer;
		}
	}
	cli_file_close(file);
	return count < 0 ? CLI_FAILED : answer;
}

/* The arguments, or else the lines of the standard input. CLI_NO: one had no record. */
static int each_key(const cli *c, key_action action, void *context)
{
	int answer = CLI_YES;
	int status = CLI_YES;
	if (c->argument_count == 0) {
		return each_of_input(c, action, context);
	}
	for (int i = 0; i < c->argument_count && status <= CLI_NO; i++) {
		const bshm_key key = {c->arguments[i], strlen(c->arguments[i])};
		status = action(c, &key, context);
		answer = status != CLI_YES ? status : answer;
	}
	return answer;
}

/* Before anything is touched. */
static int check_keys(const cli *c, int count)
{
	for (int i = 0; i < count; i++) {
		const size_t length = strlen(c->arguments[i]);
		if (length > BSHM_KEY_BYTES_MAX) {
			return refuse_key(c, CLI_USAGE, length);
		}
	}
	return CLI_YES;
}

/* ------------------------------------------------------------------ get */

/* Of several keys each line has the key too. */
static void print_record(const cli *c, const bshm_key *key, const cli_value *value)
{
	if (c->argument_count != 1 && cli_given(c, CLI_NUL)) {
		cli_print(c, key->bytes, key->length);
	} else if (c->argument_count != 1) {
		const char *text = cli_shown(key->bytes, key->length);
		printf("%s\t", text == NULL ? "" : text);
	}
	cli_value_print(c, value);
}

static int get(const cli *c, const bshm_key *key, void *list)
{
	cli_value value;
	const int there = cli_value_read(c, key, BSHM_FIND_USE, &value);
	if (there == 1 && list != NULL) {
		json_t *record = json_pack("{s:o, s:s}", "key", cli_json_text(key->bytes, key->length),
			"type", cli_type_name(value.type));
		cli_value_json(record, &value);
		json_array_append_new(list, record);
	} else if (there == 1) {
		print_record(c, key, &value);
	}
	cli_value_free(&value);
	return there < 0 ? CLI_FAILED : there == 1 ? CLI_YES : CLI_NO;
}

int cli_cache_get(cli *c)
{
	int status = check_keys(c, c->argument_count);
	if (status == CLI_YES) {
		status = cli_attach_store(c, false);
	}
	if (status != CLI_YES) {
		return status;
	}
	json_t *list = cli_given(c, CLI_JSON) ? json_array() : NULL;
	status = each_key(c, get, list);
	if (list != NULL) {
		json_dumpf(list, stdout, JSON_REAL_PRECISION(17)); /* numbers are exact */
		putchar('\n');
		json_decref(list);
	}
	return status;
}

/* ------------------------------------------------------------------ set */

/* All of the standard input, or more than a record takes; and a NUL byte. NULL: that was not
 * possible, and was said. */
static char *read_input(const cli *c, size_t *length)
{
	char *bytes = malloc(BSHM_RECORD_BYTES_MAX + 2);
	if (bytes == NULL) {
		cli_no_memory(c);
		return NULL;
	}
	*length = fread(bytes, 1, BSHM_RECORD_BYTES_MAX + 1, stdin);
	if (ferror(stdin)) {
		cli_say(c, CLI_FAILED, "cannot read the standard input: %s", strerror(errno));
		free(bytes);
		return NULL;
	}
	bytes[*length] = '\0';
	return bytes;
}

/* What is wrong with the options, before anything is touched. */
static int check_set(const cli *c, uint64_t *ttl)
{
	static const char *const types[] = {"string", "int", "float", "bool", "null"};
	const char *type = cli_given(c, CLI_TYPE) ? c->values[CLI_TYPE] : types[0];
	bool known = false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		known = known || strcmp(type, types[i]) == 0;
	}
	if (!known) {
		return cli_say(
			c, CLI_USAGE, "--type must be string, int, float, bool or null, \"%s\" given", type);
	}
	if (strcmp(type, "null") == 0 && c->argument_count > 1) {
		return cli_say(c, CLI_USAGE, "null has no value");
	}
	return cli_number(c, CLI_TTL, 0, BSHM_TTL_MAX_S, 0, ttl) ? check_keys(c, 1) : CLI_USAGE;
}

/* The bytes of the value. Of a number on the standard input the newline behind it is not one. */
static int read_value(const cli *c, const char **text, size_t *length)
{
	const char *type = cli_given(c, CLI_TYPE) ? c->values[CLI_TYPE] : "string";
	*text = c->argument_count > 1 ? c->arguments[1] : "";
	*length = strlen(*text);
	if (c->argument_count > 1 || strcmp(type, "null") == 0) {
		return CLI_YES;
	}
	char *bytes = read_input(c, length);
	if (bytes == NULL) {
		return CLI_FAILED;
	}
	if (strcmp(type, "string") != 0 && *length != 0 && bytes[*length - 1] == '\n') {
		bytes[--*length] = '\0';
	}
	*text = bytes;
	return CLI_YES;
}

static int refuse_record(const cli *c, const bshm_put *put)
{
	bshm_store_info info;
	bshm_error error = {.status = BSHM_E_NO_SPACE,
		.cause = BSHM_CAUSE_RECORD_ROOM,
		.asked = put->key.length + put->value.length};
	if (bshm_store_stat(c->segment, &info) == BSHM_OK) {
		error.available = info.bytes_total / 4 < BSHM_RECORD_BYTES_MAX ? info.bytes_total / 4
																	   : BSHM_RECORD_BYTES_MAX;
	}
	if (error.asked > error.available) {
		error.cause = BSHM_CAUSE_RECORD_SIZE;
	}
	return cli_fail(c, &error, NULL);
}

int cli_cache_set(cli *c)
{
	uint64_t ttl;
	const char *text;
	size_t length;
	int64_t number;
	bshm_error error;
	bshm_put put = {.key = {c->arguments[0], strlen(c->arguments[0])}};
	int status = check_set(c, &ttl);
	if (status == CLI_YES) {
		status = read_value(c, &text, &length);
	}
	if (status == CLI_YES && !cli_value_of(c, text, length, &number, &put.value)) {
		status = CLI_USAGE;
	}
	if (status == CLI_YES) {
		status = cli_attach_store(c, false);
	}
	if (status != CLI_YES) {
		return status;
	}
	put.ttl_s = (uint32_t) ttl;
	const int stored = bshm_record_put(c->segment, &put, &error);
	if (stored == 0) {
		return refuse_record(c, &put);
	}
	return stored < 0 ? cli_fail(c, &error, NULL) : cli_published(c);
}

/* ------------------------------------------------------------------ del */

/* Ends the load of the key too, as bloom_cache_delete(). */
static int del(const cli *c, const bshm_key *key, void *patience)
{
	bshm_error error;
	const int removed = bshm_record_forget(c->segment, BSHM_SPACE_CACHE, key, patience, &error);
	return removed == 1 ? CLI_YES : removed == 0 ? CLI_NO : cli_fail(c, &error, NULL);
}

int cli_cache_del(cli *c)
{
	bshm_patience patience = {.batch = true};
	int status = check_keys(c, c->argument_count);
	if (status == CLI_YES) {
		status = cli_attach_store(c, false);
	}
	return status == CLI_YES ? each_key(c, del, &patience) : status;
}

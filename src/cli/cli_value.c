/*
 * cli_value.c - values of records: read, print, and make of text.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COPY_TRIES 64 /* while the value outgrows the memory */

const char *cli_type_name(bshm_value_type type)
{
	static const char *const names[] = {
		"null", "bool", "bool", "int", "float", "string", "php", "igbinary"};
	return (size_t) type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}

int cli_attach_store(cli *c, bool create)
{
	const int status = cli_attach(c, create);
	if (status != CLI_YES || bshm_store_exists(c->segment)) {
		return status;
	}
	const bshm_error error = {.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_NO_STORE};
	return cli_fail(c, &error, NULL);
}

/* ------------------------------------------------------------------ reading */

int cli_value_read(const cli *c, const bshm_key *key, unsigned flags, cli_value *out)
{
	bshm_found found;
	bshm_error error;
	bshm_patience patience = {.batch = true};
	*out = (cli_value){.bytes = NULL};
	int there = bshm_record_find(c->segment, BSHM_SPACE_CACHE, key, flags, &found);
	if (there <= 0) {
		return 0;
	}
	there = BSHM_E_BUSY;
	for (int tries = 0; tries < COPY_TRIES && there == BSHM_E_BUSY; tries++) {
		const uint64_t room = found.length + (tries != 0 ? found.length / 8 : 0) + 8;
		free(out->bytes);
		out->bytes = malloc((size_t) room);
		if (out->bytes == NULL) {
			cli_no_memory(c);
			return -1;
		}
		there = bshm_record_copy(c->segment, BSHM_SPACE_CACHE, key, 0,
			&(bshm_room){out->bytes, room}, &patience, &found, &error);
	}
	out->type = found.type;
	out->length = there == 1 ? (size_t) found.length : 0;
	if (there < 0 && there != BSHM_E_BUSY) {
		cli_fail(c, &error, NULL);
		return -1;
	}
	return there == 1;
}

void cli_value_free(cli_value *value)
{
	free(value->bytes);
	value->bytes = NULL;
}

/* ------------------------------------------------------------------ printing */

static int64_t int_of(const cli_value *value)
{
	int64_t number = 0;
	memcpy(&number, value->bytes, value->length < 8 ? value->length : 8);
	return number;
}

static double float_of(const cli_value *value)
{
	double number = 0;
	memcpy(&number, value->bytes, value->length < 8 ? value->length : 8);
	return number;
}

/* The shortest text that is read as this number. */
static void print_float(char text[CLI_VALUE_TEXT], double number)
{
	int digits = 15;
	do {
		snprintf(text, CLI_VALUE_TEXT, "%.*g", digits, number);
	} while (digits++ < 17 && strtod(text, NULL) != number && number == number);
}

const char *cli_value_text(char text[CLI_VALUE_TEXT], const cli_value *value)
{
	switch (value->type) {
		case BSHM_VALUE_NULL:
			return "null";
		case BSHM_VALUE_FALSE:
			return "false";
		case BSHM_VALUE_TRUE:
			return "true";
		case BSHM_VALUE_INT:
			snprintf(text, CLI_VALUE_TEXT, "%" PRId64, int_of(value));
			return text;
		case BSHM_VALUE_FLOAT:
			print_float(text, float_of(value));
			return text;
		default:
			return NULL;
	}
}

void cli_value_print(const cli *c, const cli_value *value)
{
	char number[CLI_VALUE_TEXT];
	const char *text = cli_value_text(number, value);
	if (text == NULL) {
		cli_print(c, value->bytes, value->length);
	} else {
		cli_print(c, text, strlen(text));
	}
}

void cli_value_json(json_t *object, const cli_value *value)
{
	json_t *made = NULL;
	char number[CLI_VALUE_TEXT];
	switch (value->type) {
		case BSHM_VALUE_NULL:
			made = json_null();
			break;
		case BSHM_VALUE_FALSE:
		case BSHM_VALUE_TRUE:
			made = json_boolean(value->type == BSHM_VALUE_TRUE);
			break;
		case BSHM_VALUE_INT:
			made = json_integer(int_of(value));
			break;
		case BSHM_VALUE_FLOAT:
			print_float(number, float_of(value));
			made = json_real(float_of(value)); /* NULL: JSON has no infinity */
			made = made == NULL ? json_string(number) : made;
			break;
		case BSHM_VALUE_STRING:
			made = json_stringn(value->bytes, value->length); /* NULL: it is not UTF-8 */
			break;
		default:
			break;
	}
	if (made == NULL) {
		json_object_set_new(object, "bytes", cli_json_text(value->bytes, value->length));
	} else {
		json_object_set_new(object, "value", made);
	}
}

/* ------------------------------------------------------------------ from text */

static bool refuse(const cli *c, const char *what, const char *text)
{
	cli_say(c, CLI_USAGE, "%s must be %s, \"%s\" given", "the value", what, text);
	return false;
}

static bool make_bool(const cli *c, const char *text, bshm_value *out)
{
	const bool yes = strcmp(text, "true") == 0;
	*out = (bshm_value){yes ? BSHM_VALUE_TRUE : BSHM_VALUE_FALSE, "", 0};
	return yes || strcmp(text, "false") == 0 || refuse(c, "true or false", text);
}

static bool make_int(const cli *c, const char *text, int64_t *number, bshm_value *out)
{
	char *end;
	errno = 0;
	*number = strtoll(text, &end, 10);
	*out = (bshm_value){BSHM_VALUE_INT, number, sizeof(*number)};
	const bool begun = isdigit((unsigned char) *text) || *text == '-' || *text == '+';
	return (begun && end != text && *end == '\0' && errno == 0) ||
		   refuse(c, "a whole number from -2^63 to 2^63 - 1", text);
}

static bool make_float(const cli *c, const char *text, int64_t *number, bshm_value *out)
{
	char *end;
	const double real = strtod(text, &end);
	memcpy(number, &real, sizeof(real));
	*out = (bshm_value){BSHM_VALUE_FLOAT, number, sizeof(real)};
	return (end != text && *end == '\0' && !isspace((unsigned char) *text)) ||
		   refuse(c, "a number", text);
}

bool cli_value_of(const cli *c, const char *text, size_t length, int64_t *number, bshm_value *out)
{
	const char *type = cli_given(c, CLI_TYPE) ? c->values[CLI_TYPE] : "string";
	if (strcmp(type, "string") == 0) {
		*out = (bshm_value){BSHM_VALUE_STRING, text, length};
		return true;
	}
	if (strcmp(type, "null") == 0) {
		*out = (bshm_value){BSHM_VALUE_NULL, "", 0};
		return true;
	}
	if (strlen(text) != length) {
		return refuse(c, "without NUL bytes", text);
	}
	return strcmp(type, "bool") == 0  ? make_bool(c, text, out)
		   : strcmp(type, "int") == 0 ? make_int(c, text, number, out)
									  : make_float(c, text, number, out);
}

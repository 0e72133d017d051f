/*
 * cli_value.h - values of records: read, print, and make of text.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include "cli/cli_json.h"

/* "string", "int", ...; "php" and "igbinary" are serialized values of PHP. */
const char *cli_type_name(bshm_value_type type);

typedef struct {
	bshm_value_type type;
	char *bytes; /* freed by cli_value_free() */
	size_t length;
} cli_value;

/*
 * Attaches to a segment that has a record store: CLI_YES, or another status, and why was said.
 * `create` as cli_attach().
 */
int cli_attach_store(cli *c, bool create);

/* A key's value; flags: 0 or BSHM_FIND_USE. 1 = it is in *out, 0 = there is none, -1 = it could not
 * be read, which was said. */
int cli_value_read(const cli *c, const bshm_key *key, unsigned flags, cli_value *out);
void cli_value_free(cli_value *value);

#define CLI_VALUE_TEXT 32
/* The text of null, a bool or a number; NULL for others. */
const char *cli_value_text(char text[CLI_VALUE_TEXT], const cli_value *value);
/* Prints it, and a newline; with --null exactly, and a NUL byte. A serialized value as it is. */
void cli_value_print(const cli *c, const cli_value *value);
/* Adds it to an object: as "value"; bytes that are no text, or are serialized, are shown as
 * "bytes". */
void cli_value_json(json_t *object, const cli_value *value);

/*
 * Makes a value of the type that --type names. False: `text` is none of that type, and that was
 * said. value->bytes points into `text`, or to `number`.
 */
bool cli_value_of(const cli *c, const char *text, size_t length, int64_t *number, bshm_value *out);

#endif

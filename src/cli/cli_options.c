/*
 * cli_options.c - the table of options, and their values.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_options[CLI_OPTION_COUNT] = {
#define CLI_OPTION_ROW(id, letter, name, value, help) {letter, name, value, help},
	CLI_OPTION_LIST(CLI_OPTION_ROW)
#undef CLI_OPTION_ROW
};

/* Digits, and a unit where there may be one. */
static bool read_number(const char *text, bool unit, uint64_t *out)
{
	char *end;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (!isdigit((unsigned char) text[0]) || errno != 0) {
		return false;
	}
	const char *const at = strchr("KMG", toupper((unsigned char) *end));
	if (*end == '\0' || !unit || at == NULL || end[1] != '\0') {
		return *end == '\0';
	}
	const unsigned shift = 10 * (unsigned) (at - "KMG" + 1);
	const bool fits = *out <= UINT64_MAX >> shift;
	*out <<= shift;
	return fits;
}

static bool number(const cli *c, cli_option_id id, bool unit, uint64_t least, uint64_t most,
	uint64_t otherwise, uint64_t *out)
{
	*out = otherwise;
	if (!cli_given(c, id) ||
		(read_number(c->values[id], unit, out) && *out >= least && *out <= most)) {
		return true;
	}
	cli_say(c, CLI_USAGE, "--%s must be a number from %llu to %llu, \"%s\" given",
		cli_options[id].name, (unsigned long long) least, (unsigned long long) most, c->values[id]);
	return false;
}

bool cli_number(const cli *c, cli_option_id id, uint64_t least, uint64_t most, uint64_t otherwise,
	uint64_t *out)
{
	return number(c, id, false, least, most, otherwise, out);
}

bool cli_size(const cli *c, cli_option_id id, uint64_t least, uint64_t most, uint64_t otherwise,
	uint64_t *out)
{
	return number(c, id, true, least, most, otherwise, out);
}

bool cli_rate(const cli *c, cli_option_id id, double most, double otherwise, double *out)
{
	*out = otherwise;
	if (!cli_given(c, id)) {
		return true;
	}
	char *end;
	*out = strtod(c->values[id], &end);
	if (end != c->values[id] && *end == '\0' && *out > 0 && *out <= most) {
		return true;
	}
	cli_say(c, CLI_USAGE, "--%s must be greater than 0 and at most %g, \"%s\" given",
		cli_options[id].name, most, c->values[id]);
	return false;
}

bool cli_filter_name(const cli *c, int argument)
{
	const size_t length = strlen(c->arguments[argument]);
	if (length >= 1 && length <= BSHM_NAME_BYTES_MAX) {
		return true;
	}
	cli_say(
		c, CLI_USAGE, "a filter's name has 1 to %d bytes, %zu given", BSHM_NAME_BYTES_MAX, length);
	return false;
}

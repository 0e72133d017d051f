/*
 * cli_filter_args.c - the parameters of a filter, from options.
 *
 * The ranges are those of the PHP functions (php_arguments.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_filter_args.h"

#include <string.h>

#define ERROR_RATE_MAX     0.5
#define ERROR_RATE_DEFAULT 0.01
#define EXPANSION_MAX      32
#define EXPANSION_DEFAULT  2
#define SEED_BYTES_MAX     64

static bool read_capacity(const cli *c, cli_option_id option, bshm_parameters *out)
{
	if (option == CLI_CAPACITY_NEEDED && !cli_given(c, option)) {
		cli_say(c, CLI_USAGE, "--capacity is needed: how many keys is the filter for?");
		return false;
	}
	return cli_number(c, option, 1, BSHM_CAPACITY_MAX, 0, &out->capacity);
}

static bool read_expansion(const cli *c, bshm_parameters *out)
{
	uint64_t expansion;
	if (!cli_number(c, CLI_EXPANSION, 0, EXPANSION_MAX, EXPANSION_DEFAULT, &expansion)) {
		return false;
	}
	if (expansion == 1) {
		cli_say(c, CLI_USAGE, "--expansion must be 0, or a number from 2 to %d, \"1\" given",
			EXPANSION_MAX);
		return false;
	}
	out->expansion = (uint32_t) expansion;
	return true;
}

/* Filters with a window, and those that count, do not grow. */
static bool read_kind(const cli *c, bshm_parameters *out)
{
	uint64_t window;
	if (!cli_number(c, CLI_WINDOW, 0, BSHM_WINDOW_MAX_S, 0, &window)) {
		return false;
	}
	out->window_s = (uint32_t) window;
	out->counting = cli_given(c, CLI_COUNTING);
	if (window != 0 && out->counting) {
		cli_say(c, CLI_USAGE, "--window and --counting exclude each other");
		return false;
	}
	if (window == 0 && !out->counting) {
		return true;
	}
	if (cli_given(c, CLI_EXPANSION) && out->expansion != 0) {
		cli_say(c, CLI_USAGE, "--expansion must be 0 with --%s: such a filter does not grow",
			out->counting ? "counting" : "window");
		return false;
	}
	out->expansion = 0;
	return true;
}

static bool read_seed(const cli *c, bshm_parameters *out)
{
	out->seed = c->values[CLI_SEED];
	out->seed_length = out->seed == NULL ? 0 : strlen(out->seed);
	if (out->seed == NULL || (out->seed_length >= 1 && out->seed_length <= SEED_BYTES_MAX)) {
		return true;
	}
	cli_say(c, CLI_USAGE, "--seed must be between 1 and %d bytes long, %zu given", SEED_BYTES_MAX,
		out->seed_length);
	return false;
}

bool cli_filter_parameters(const cli *c, cli_option_id capacity, bshm_parameters *out)
{
	*out = (bshm_parameters){0};
	return read_capacity(c, capacity, out) &&
		   cli_rate(c, CLI_ERROR_RATE, ERROR_RATE_MAX, ERROR_RATE_DEFAULT, &out->error_rate) &&
		   read_expansion(c, out) && read_kind(c, out) && read_seed(c, out);
}

bool cli_without(const cli *c, uint64_t with, cli_option_id needed)
{
	for (int i = 0; i < CLI_OPTION_COUNT; i++) {
		if ((with >> i & 1) != 0 && cli_given(c, (cli_option_id) i)) {
			cli_say(c, CLI_USAGE, "--%s does nothing without --%s", cli_options[i].name,
				cli_options[needed].name);
			return false;
		}
	}
	return true;
}

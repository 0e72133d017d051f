/*
 * cli_filter_args.h - the parameters of a filter, from options.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_FILTER_ARGS_H
#define CLI_FILTER_ARGS_H

#include "cli/cli.h"

/* The options that cli_filter_parameters() reads, without the capacity. */
#define CLI_PARAMETERS                                                                             \
 (CLI_WITH(ERROR_RATE) | CLI_WITH(EXPANSION) | CLI_WITH(COUNTING) | CLI_WITH(SEED))

/*
 * `capacity`: CLI_CAPACITY, which may be left out, or CLI_CAPACITY_NEEDED. False: a value is out of
 * range, or two exclude each other, and that has been said: CLI_USAGE.
 */
bool cli_filter_parameters(const cli *c, cli_option_id capacity, bshm_parameters *out);
/* False: one of the options in `with` was given, which do nothing without `needed`; it was said. */
bool cli_without(const cli *c, uint64_t with, cli_option_id needed);

#endif

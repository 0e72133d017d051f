/*
 * cli_publish.c - publish: a filter for the hosts that follow it; and the keys of a fleet.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_run.h"

#include "fleet/fleet_key.h"

int cli_key(cli *c)
{
	fleet_error error;
	const int status = cli_become(c);
	if (status != CLI_YES) {
		return status;
	}
	return fleet_key_make(c->arguments[0], &error) ? CLI_YES
												   : cli_say(c, CLI_FAILED, "%s", error.text);
}

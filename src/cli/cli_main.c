/*
 * cli_main.c - the command `bloomshm`: one verb a call, for operators and batch jobs.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli.h"

int main(int argc, char **argv)
{
	cli c = {0};
	int status = CLI_YES;
	if (cli_parse(&c, argc, argv, &status)) {
		status = c.verb->run(&c);
		cli_detach(&c);
	}
	return cli_finish(&c, status);
}

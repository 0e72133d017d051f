/*
 * cli_verbs.c - the table of verbs.
 *
 * It drives the command line, --help, the man page and the completions, so none of them can say
 * what the others do not.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_run.h"

#define W CLI_WITH

const cli_verb cli_verbs[] = {
	{"status", "", 0, 0, W(JSON), cli_status, "show what the segment holds, and how it is",
		"The figures of bloom_status(), one a line."},
	{"verify", "", 0, 0, W(JSON), cli_verify, "check the whole segment",
		"Prints each problem on a line. Status 1: there are some."},
	{"ls", "", 0, 0, W(LONG) | W(NUL) | W(JSON), cli_ls, "list the filters",
		"With --long a line of figures each: kind, keys, share of the capacity, size, "
		"false-positive rate now and asked for, age, and the questions that were answered \"no\", "
		"so that the backend was not asked."},
	{"info", "FILTER", 1, 1, W(JSON), cli_info, "describe a filter",
		"The figures of bloom_info(), one a line. Reads every bit of the filter."},
	{"has", "FILTER [KEY...]", 1, -1, W(INVERT) | W(SILENT) | W(COUNT) | W(NUL) | W(JSON), cli_has,
		"print the keys that are maybe in a filter",
		"Keys are arguments, or else lines of the standard input (--null: each ends with a NUL "
		"byte); empty lines are skipped. Status 1: no key was printed. The answer to each key is "
		"true of the filter at that moment."},
	{"metrics", "", 0, 0, W(TEXT) | W(JSON), cli_metrics, "print the figures for Prometheus",
		"As OpenMetrics; docs/METRICS.md lists them. Without a segment that can be used "
		"bloomshm_up "
		"is 0, and the status too. A filter's error ratio is an estimate from 16 partitions of "
		"each "
		"layer."},
	{0},
};

/*
 * cli_verbs.c - the table of verbs.
 *
 * It drives the command line, --help, the man page and the completions, so none of them can say
 * what the others do not.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_filter_args.h"
#include "cli/cli_run.h"

#define W CLI_WITH

#define KEYS                                                                                       \
 "Keys are arguments, or else lines of the standard input (--null: each ends with a NUL byte); "   \
 "empty lines are skipped. "

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
		KEYS "Status 1: no key was printed. The answer to each key is true of the filter at that "
			 "moment."},
	{"load", "FILTER [FILE...]", 1, -1,
		CLI_PARAMETERS | W(CAPACITY) | W(MAX_ERROR_RATE) | W(LIKE) | W(NUL) | W(DELIMITER) |
			W(ALLOW_EMPTY) | W(PUBLISH) | CLI_ANNOUNCES | W(QUIET) | W(JSON) | CLI_CREATES,
		cli_load, "publish a filter of the keys in files",
		"Keys are the lines of the files, or of the standard input (-, or no file); empty lines "
		"are skipped. A file that gzip or zstd has compressed is decompressed. Prints a line "
		"about the new filter, which replaces the one before. A load that fails, or that SIGINT or "
		"SIGTERM ends, publishes nothing. With --like a parameter that is given must be that of "
		"the existing filter, and the others are taken from it; while the keys are 0.6 to 1.0 of "
		"its capacity, the size stays the same too. Else the size leaves room for more keys. "
		"--publish announces the filter once it is loaded; options that publish has are for that. "
		"With --stream and without --adds-after its place in the stream is that of a minute before "
		"the load began, so what writes into the pipe may read no older rows; for keys from files "
		"it is that of the last head."},
	{"add", "FILTER [KEY...]", 1, -1,
		CLI_PARAMETERS | W(CREATE) | W(CAPACITY_NEEDED) | W(WINDOW) | W(NUL) | W(JSON) |
			CLI_CREATES,
		cli_add, "add keys to a filter",
		KEYS
		"Prints how many keys were certainly not there before. With --create, which needs "
		"--capacity, makes the filter if there is none, as reserve does; one that exists is taken "
		"as it is."},
	{"remove", "FILTER [KEY...]", 1, -1, W(NUL) | W(JSON), cli_remove,
		"take one add of each key back (counting filters)",
		KEYS
		"Prints how many keys were maybe there, and were removed. A key that was never added but "
		"is maybe there takes counts from other keys. Status 1: none was there."},
	{"count", "FILTER [KEY...]", 1, -1, W(NUL) | W(JSON), cli_count,
		"print how often keys were added (counting filters)",
		KEYS "Prints the count, at most 15, a space and the key. Status 1: no key is there."},
	{"reserve", "FILTER", 1, 1,
		CLI_PARAMETERS | W(CAPACITY_NEEDED) | W(WINDOW) | W(JSON) | CLI_CREATES, cli_reserve,
		"make an empty filter",
		"Does nothing, and says so, if there is a filter with the same parameters. One with others "
		"is an error."},
	{"drop", "FILTER", 1, 1, 0, cli_drop, "remove a filter", "Status 1: there is no such filter."},
	{"clear", "FILTER", 1, 1, 0, cli_clear, "remove all keys of a filter",
		"Status 1: there is no such filter."},
	{"rename", "FROM TO", 2, 2, 0, cli_rename, "give a filter another name",
		"A filter that has that name already is replaced."},
	{"copy", "FROM TO", 2, 2, 0, cli_copy, "copy a filter",
		"A filter that has that name already is replaced."},
	{"merge", "INTO FROM...", 2, -1, 0, cli_merge, "add all keys of other filters to a filter",
		"All must be of one kind, seed, capacity and error rate. INTO is made if there is none."},
	{"dump", "FILTER FILE", 2, 2, 0, cli_dump, "write a filter to a file",
		"The file is complete, or it is not there. -: the standard output."},
	{"restore", "FILTER FILE", 2, 2, W(ADD) | W(NUL) | CLI_CREATES, cli_restore,
		"publish a filter from a file",
		"The whole file is checked before. A filter of that name is replaced. -: the standard "
		"input. With --add the keys in a file, as load reads them (-: the standard input), are in "
		"the filter when it is published; nothing is published if they do not all fit."},
	{"diff", "FROM TO [DELTA]", 2, 3, W(JSON), cli_diff,
		"write what two dumps of a filter differ in",
		"FROM and TO are files of dump, of a fixed or scalable filter with one seed and one "
		"capacity: two loads with --like, for instance. At 1 % of changed keys the delta is a "
		"fifteenth of the filter. Without DELTA, or with -, it goes to the standard output; else "
		"its figures are printed. FROM or TO may be -, the standard input."},
	{"patch", "FROM DELTA [TO]", 2, 3, 0, cli_patch, "make the other dump of one dump and a delta",
		"The file is that of diff, byte for byte, or it is not there; a delta leads back, too. "
		"Without TO, or with -, it goes to the standard output. FROM or DELTA may be -, the "
		"standard input."},
	{"cache get", "[KEY...]", 0, -1, W(NUL) | W(JSON), cli_cache_get, "print values of records",
		"Keys are arguments, or else lines of the standard input. The value of one argument is "
		"printed alone, those of several keys behind the key and a tab (--null: key and value in "
		"turn). A value of another type than string, int, float, bool and null was serialized by "
		"PHP and is printed as it is stored. JSON names the type, and shows bytes that are no text "
		"or are serialized under \"bytes\". Status 1: a key was absent."},
	{"cache set", "KEY [VALUE]", 1, 2, W(TYPE) | W(TTL), cli_cache_set, "store a record",
		"Without VALUE the value is all of the standard input. Words that begin with a dash come "
		"behind --. The bools are true and false; null has no value."},
	{"cache del", "[KEY...]", 0, -1, W(NUL), cli_cache_del, "remove records",
		"Keys are arguments, or else lines of the standard input. Status 1: a key was absent."},
	{"cache scan", "", 0, 0, W(PREFIX) | W(LIMIT) | W(NUL) | W(JSON), cli_cache_scan,
		"list the records",
		"In no order: type, size or value, and key; with --null only the keys. A record that is "
		"written meanwhile may be missing. \"php\" and \"igbinary\" are values that PHP has "
		"serialized. Status 1: there was none."},
	{"cache info", "", 0, 0, W(JSON), cli_cache_info, "describe the record store",
		"The figures of bloom_cache_info(), one a line."},
	{"cache clear", "[PREFIX]", 0, 1, W(PREFIX) | W(JSON), cli_cache_clear, "remove all records",
		"Or those whose keys begin with PREFIX. Prints how many it removed."},
	{"cache dump", "FILE", 1, 1, W(JSON), cli_cache_dump, "write the records to a file",
		"The file is whole, or not there; - is the standard output. Prints how many records it "
		"has, if it is not a pipe."},
	{"cache restore", "FILE", 1, 1, W(JSON) | CLI_CREATES, cli_cache_restore,
		"put the records of a file back",
		"Those that are absent and have not expired; - is the standard input. The whole file is "
		"checked before. Prints how many records were put."},
	{"save", "DIR", 1, 1, W(IF_EXISTS) | W(QUIET) | W(JSON), cli_save,
		"write the whole segment to a folder",
		"Every filter, the records, and a manifest with checksums. The folder is complete, or it "
		"is not there; one that an earlier save has made is replaced. A filter that is dropped or "
		"added meanwhile may be missing. What the filters are asked and told meanwhile goes on; a "
		"key that is added after its filter was written is not in the folder."},
	{"bring", "DIR", 1, 1, W(BOOT) | W(QUIET) | W(JSON) | CLI_CREATES, cli_bring,
		"take the segment back from a folder",
		"Checks the whole folder, and whether the filters fit, before it changes anything. Makes "
		"the segment if there is none, with the sizes and the mode of the saved one where no "
		"option says others. A filter that is there already is replaced, and so loses the keys "
		"that were added since the save. Of the records those that are absent are put."},
	{"publish", "FILTER", 1, 1,
		W(TO) | CLI_ANNOUNCES | W(MAX_RATE_NOW) | W(ANNOUNCE_EMPTY) | W(PIN) | W(MARK) | W(QUIET) |
			W(JSON),
		cli_publish, "announce a filter to the hosts that follow it",
		"Writes its image, and what has changed since the last one, into the folder of --to, or by "
		"PUT to the URL of a web server or of a bucket of S3, and then a signed head, which "
		"followers look at. At a server it has the credentials of the URL, of AWS_ACCESS_KEY_ID, "
		"AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION, or of ~/.netrc, and keeps in "
		"--state what it needs for the next time. If no bit has changed the head alone is signed "
		"again. A publisher that fails, or that another one has overtaken, announces nothing. "
		"--pin leads all followers back to an earlier version, and stays until --unpin. "
		"docs/FLEET.md has all of it."},
	{"follow", "URL FILTER...", 2, -1,
		W(STATE) | W(VERIFY_KEY) | W(CA) | W(MAX_LAG) | W(EVERY) | W(LOOK_ONCE) | W(SERVE) |
			W(STREAM) | W(METRICS) | W(QUIET) | CLI_CREATES,
		cli_follow, "keep filters as an origin announces them",
		"URL is of http, https or file, or a folder. Fetches what has changed, or the whole image, "
		"checks it, and publishes it in one step; if anything fails, what is published stands. "
		"Goes on until SIGTERM. The folder of --state belongs to one follower, which begins with "
		"it where the origin is away. docs/FLEET.md has all of it."},
	{"key", "FILE", 1, 1, 0, cli_key, "make the keys of a fleet",
		"The secret one for publish in FILE, the public one for follow in FILE.pub. Neither may "
		"be there."},
	{"top", "", 0, 0, W(ONCE) | W(INTERVAL) | W(JSON), cli_top, "watch the filters at work",
		"Filters by the questions a second that they answer, with what that saved; the record "
		"store, processes and locks. h shows the keys. --once prints a frame for a pipe or a log, "
		"after one interval; --json goes with it. Colours: not if NO_COLOR is set."},
	{"metrics", "", 0, 0, W(TEXT) | W(JSON), cli_metrics, "print the figures for Prometheus",
		"As OpenMetrics; docs/METRICS.md lists them. Without a segment that can be used "
		"bloomshm_up is 0, and the status too. A filter's error ratio is an estimate from 16 "
		"partitions of each layer."},
	{0},
};

/*
 * cli_parse.c - the command line: the verb, its options and arguments.
 *
 * An option that a verb does not have is an error, so an option never does nothing.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli.h"

#include <getopt.h>
#include <string.h>

#ifndef CLI_VERSION_TEXT /* the Makefile reads it from php_bloomshm.h */
# define CLI_VERSION_TEXT "of no version"
#endif

#define LETTERS  (2 * CLI_OPTION_COUNT + 2)
#define ID_FIRST 256 /* getopt's number of an option; below are letters */

/* getopt's two tables of the options in `with`. `first`: the options before the verb, which end at
 * the first word that is none. */
static void tell_getopt(uint64_t with, bool first, char *letters, struct option *names)
{
	if (first) {
		*letters++ = '+';
	}
	*letters++ = ':'; /* a missing value is told apart from an unknown option */
	for (int i = 0; i < CLI_OPTION_COUNT; i++) {
		if ((with >> i & 1) == 0) {
			continue;
		}
		const cli_option *o = &cli_options[i];
		*names++ = (struct option){
			o->name, o->value == NULL ? no_argument : required_argument, NULL, ID_FIRST + i};
		if (o->letter != 0) {
			*letters++ = (char) o->letter;
			*letters = ':';
			letters += o->value != NULL;
		}
	}
	*names = (struct option){0};
	*letters = '\0';
}

static cli_option_id id_of(uint64_t with, int found)
{
	int id = found - ID_FIRST;
	for (int i = 0; found < ID_FIRST && i < CLI_OPTION_COUNT; i++) {
		id = (with >> i & 1) != 0 && cli_options[i].letter == found ? i : id;
	}
	return (cli_option_id) id;
}

/* Says what is wrong with the option that getopt has stopped at. */
static int refuse_option(const cli *c, char **argv)
{
	const char *word = argv[optind - 1];
	const char *help = c->verb == NULL ? "" : c->verb->name;
	if (optopt >= ID_FIRST && strchr(word, '=') != NULL) {
		return cli_say(
			c, CLI_USAGE, "the option --%s takes no value", cli_options[optopt - ID_FIRST].name);
	}
	if (optopt == 0 || optopt >= ID_FIRST) {
		return cli_say(c, CLI_USAGE, "there is no option %s; try: bloomshm %s%s--help", word, help,
			*help == '\0' ? "" : " ");
	}
	return cli_say(c, CLI_USAGE, "there is no option -%c; try: bloomshm %s%s--help", optopt, help,
		*help == '\0' ? "" : " ");
}

/* Reads the options, from argv[1] on. */
static bool read_options(cli *c, uint64_t with, int argc, char **argv, int *status)
{
	char letters[LETTERS];
	struct option names[CLI_OPTION_COUNT + 1];
	int found;
	tell_getopt(with, c->verb == NULL, letters, names);
	opterr = 0;
	optind = 0; /* begins anew */
	while ((found = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (found == ':') {
			*status = cli_say(c, CLI_USAGE, "the option %s needs a value", argv[optind - 1]);
			return false;
		}
		if (found == '?') {
			*status = refuse_option(c, argv);
			return false;
		}
		c->values[id_of(with, found)] = optarg == NULL ? "" : optarg;
	}
	return true;
}

/* ------------------------------------------------------------------ the verb */

/* How many words of the arguments name this verb: 0, 1 or 2. */
static int words_of(const cli_verb *verb, char **arguments)
{
	const char *space = strchr(verb->name, ' ');
	if (space == NULL) {
		return strcmp(arguments[0], verb->name) == 0 ? 1 : 0;
	}
	const size_t first = (size_t) (space - verb->name);
	return strlen(arguments[0]) == first && memcmp(arguments[0], verb->name, first) == 0 &&
				   arguments[1] != NULL && strcmp(arguments[1], space + 1) == 0
			   ? 2
			   : 0;
}

static int find_verb(cli *c, char **arguments)
{
	for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
		const int words = words_of(verb, arguments);
		if (words != 0) {
			c->verb = verb;
			return words;
		}
	}
	return 0;
}

static bool is_enough(const cli *c, int *status)
{
	const cli_verb *verb = c->verb;
	if (c->argument_count >= verb->arguments_min &&
		(verb->arguments_max < 0 || c->argument_count <= verb->arguments_max)) {
		return true;
	}
	*status = cli_say(c, CLI_USAGE, "too %s arguments; usage: bloomshm %s [OPTION...]%s%s",
		c->argument_count < verb->arguments_min ? "few" : "many", verb->name,
		*verb->arguments == '\0' ? "" : " ", verb->arguments);
	return false;
}

static bool parse_verb(cli *c, int argc, char **argv, int *status)
{
	const int words = find_verb(c, argv);
	if (words == 0) {
		*status = cli_say(c, CLI_USAGE, "there is no verb \"%s%s%s\"; try: bloomshm --help",
			argv[0], strcmp(argv[0], "cache") == 0 && argc > 1 ? " " : "",
			strcmp(argv[0], "cache") == 0 && argc > 1 ? argv[1] : "");
		return false;
	}
	/* getopt skips the first word. */
	if (!read_options(
			c, CLI_COMMON | c->verb->options, argc - words + 1, argv + words - 1, status)) {
		return false;
	}
	c->arguments = argv + words - 1 + optind;
	c->argument_count = argc - words + 1 - optind;
	if (cli_given(c, CLI_HELP)) {
		cli_help_verb(stdout, c->verb);
		return false;
	}
	return is_enough(c, status);
}

bool cli_parse(cli *c, int argc, char **argv, int *status)
{
	if (!read_options(c, CLI_COMMON | CLI_WITH(VERSION), argc, argv, status)) {
		return false;
	}
	if (cli_given(c, CLI_VERSION)) {
		puts("bloomshm " CLI_VERSION_TEXT);
		return false;
	}
	const int left = argc - optind;
	if (left == 2 && strcmp(argv[optind], "generate") == 0 &&
		cli_generate(stdout, argv[optind + 1])) {
		return false;
	}
	if (cli_given(c, CLI_HELP) && left == 0) {
		cli_help(stdout);
		return false;
	}
	if (left == 0) {
		*status = cli_say(c, CLI_USAGE, "which verb? try: bloomshm --help");
		return false;
	}
	return parse_verb(c, left, argv + optind, status);
}

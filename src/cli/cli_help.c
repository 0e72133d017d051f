/*
 * cli_help.c - what the tables of verbs and options say: as --help, as a man page, as completions.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli.h"

#include <string.h>

#define COLUMNS 78
#define INDENT  26

static const char intro[] =
	"Bloom filters and records in shared memory, for every PHP process of a "
	"host.";
static const char environment[] =
	"The segment is --path, else $BLOOMSHM_PATH, else /dev/shm/bloomshm.%u of the user.";
static const char exits[] = "0: done, or yes; 1: no, nothing found, or problems found; 2: wrong "
							"usage; 3: refused or failed. A load that a signal ends: 128 and its "
							"number.";
static const uint64_t first_options = CLI_COMMON | CLI_WITH(VERSION);

/* Prints a text in lines of COLUMNS; the first begins at `column`, the others are indented. */
static void print_wrapped(FILE *to, const char *text, int column, int indent)
{
	int begin = column;
	while (*text != '\0') {
		const int word = (int) strcspn(text, " ");
		if (column > begin && column + 1 + word > COLUMNS) {
			fprintf(to, "\n%*s", indent, "");
			column = begin = indent;
		} else if (column > begin) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", word, text);
		column += word;
		text += text[word] == ' ' ? word + 1 : word;
	}
	fputc('\n', to);
}

static void print_option(FILE *to, const cli_option *o)
{
	int column = o->letter != 0 ? fprintf(to, "  -%c, ", o->letter) : fprintf(to, "      ");
	column += fprintf(
		to, "--%s%s%s", o->name, o->value == NULL ? "" : " ", o->value == NULL ? "" : o->value);
	if (column >= INDENT - 1) {
		fputc('\n', to);
		column = 0;
	}
	fprintf(to, "%*s", INDENT - column, "");
	print_wrapped(to, o->help, INDENT, INDENT);
}

static void print_options(FILE *to, uint64_t which)
{
	for (int i = 0; i < CLI_OPTION_COUNT; i++) {
		if ((which >> i & 1) != 0) {
			print_option(to, &cli_options[i]);
		}
	}
}

void cli_help(FILE *to)
{
	fprintf(to, "Usage: bloomshm [OPTION...] VERB [OPTION...] [ARGUMENT...]\n\n");
	print_wrapped(to, intro, 0, 0);
	fprintf(to, "\nVerbs:\n");
	for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
		fprintf(to, "  %-*s%s\n", INDENT - 2, verb->name, verb->summary);
	}
	fprintf(to, "\nOptions of every verb:\n");
	print_options(to, first_options);
	fputc('\n', to);
	print_wrapped(to, environment, 0, 0);
	print_wrapped(to, exits, 0, 0);
	fprintf(to, "Of one verb: bloomshm VERB --help\n");
}

void cli_help_verb(FILE *to, const cli_verb *verb)
{
	fprintf(to, "Usage: bloomshm %s [OPTION...]%s%s\n\n", verb->name,
		*verb->arguments == '\0' ? "" : " ", verb->arguments);
	print_wrapped(to, verb->details, 0, 0);
	if (verb->options != 0) {
		fprintf(to, "\nOptions:\n");
		print_options(to, verb->options);
	}
	fprintf(to, "\nOptions of every verb:\n");
	print_options(to, CLI_COMMON);
}

/* ------------------------------------------------------------------ man page */

/* A text in mdoc: a backslash, and a dot or quote at the begin of a line, mean something there. */
static void man_text(FILE *to, const char *text)
{
	if (*text == '.' || *text == '\'') {
		fputs("\\&", to);
	}
	for (; *text != '\0'; text++) {
		if (*text == '\\') {
			fputs("\\e", to);
		} else if (*text == '-') {
			fputs("\\-", to);
		} else {
			fputc(*text, to);
			if ((*text == '.' || *text == ';') && text[1] == ' ') { /* mdoc: a line a sentence */
				fputc('\n', to);
				text++;
			}
		}
	}
	fputc('\n', to);
}

static void man_options(FILE *to, uint64_t which)
{
	fputs(".Bl -tag -width Ds -compact\n", to);
	for (int i = 0; i < CLI_OPTION_COUNT; i++) {
		if ((which >> i & 1) == 0) {
			continue;
		}
		const cli_option *o = &cli_options[i];
		fputs(".It", to);
		if (o->letter != 0) {
			fprintf(to, " Fl %c ,", o->letter);
		}
		fprintf(to, " Fl \\-%s", o->name);
		fprintf(to, o->value == NULL ? "\n" : " Ar %s\n", o->value);
		man_text(to, o->help);
	}
	fputs(".El\n", to);
}

static void man_verb(FILE *to, const cli_verb *verb)
{
	fprintf(to, ".Ss %s", verb->name);
	fprintf(to, *verb->arguments == '\0' ? "\n" : " %s\n", verb->arguments);
	man_text(to, verb->summary);
	fputs(".Pp\n", to);
	man_text(to, verb->details);
	if (verb->options != 0) {
		fputs(".Pp\n", to);
		man_options(to, verb->options);
	}
}

static void man(FILE *to)
{
	fputs(".Dd November 23, 2026\n.Dt BLOOMSHM 1\n.Os\n.Sh NAME\n.Nm bloomshm\n"
		  ".Nd Bloom filters and records in shared memory\n.Sh SYNOPSIS\n.Nm\n.Op Ar option ...\n"
		  ".Ar verb\n.Op Ar option ...\n.Op Ar argument ...\n.Sh DESCRIPTION\n",
		to);
	man_text(to, intro);
	fputs("Options of every verb:\n.Pp\n", to);
	man_options(to, first_options);
	fputs(".Sh VERBS\n", to);
	for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
		man_verb(to, verb);
	}
	fputs(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev BLOOMSHM_PATH\n", to);
	man_text(to, environment);
	fputs(".El\n.Sh EXIT STATUS\n", to);
	man_text(to, exits);
}

/* ------------------------------------------------------------------ completions */

static void print_words(FILE *to, uint64_t which)
{
	for (int i = 0; i < CLI_OPTION_COUNT; i++) {
		if ((which >> i & 1) != 0) {
			fprintf(to, " --%s", cli_options[i].name);
		}
	}
}

/* Case labels have a two-word verb's words with a blank. */
static void bash(FILE *to)
{
	fputs("# Completion of bloomshm for bash.\n_bloomshm() {\n"
		  "\tlocal word=${COMP_WORDS[COMP_CWORD]} verb='' i\n"
		  "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		  "\t\t[[ ${COMP_WORDS[i]} == -* ]] || verb+=${verb:+ }${COMP_WORDS[i]}\n"
		  "\tdone\n\tcase \"$verb \" in\n",
		to);
	for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
		fprintf(to, "\t\t'%s '*) COMPREPLY=($(compgen -W '", verb->name);
		print_words(to, verb->options | CLI_COMMON);
		fputs("' -- \"$word\"))", to);
		if (strncmp(verb->arguments, "FILTER", 6) == 0) {
			fputs("\n\t\t\t[[ $word == -* ]] || COMPREPLY=($(compgen -W \"$(bloomshm ls "
				  "2>/dev/null)\" -- "
				  "\"$word\"))",
				to);
		}
		fputs(" ;;\n", to);
	}
	fputs("\t\t'cache '*) COMPREPLY=($(compgen -W '", to);
	for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
		fprintf(to, "%s", strncmp(verb->name, "cache ", 6) == 0 ? verb->name + 5 : "");
	}
	fputs("' -- \"$word\")) ;;\n\t\t*) COMPREPLY=($(compgen -W '", to);
	for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
		if (strchr(verb->name, ' ') == NULL) {
			fprintf(to, "%s ", verb->name);
		}
	}
	fputs("cache", to);
	print_words(to, first_options);
	fputs("' -- \"$word\")) ;;\n\tesac\n}\ncomplete -o default -F _bloomshm bloomshm\n", to);
}

/* The texts have no quote and no bracket. */
static void zsh_options(FILE *to, uint64_t which)
{
	for (int i = 0; i < CLI_OPTION_COUNT; i++) {
		const cli_option *o = &cli_options[i];
		if ((which >> i & 1) == 0) {
			continue;
		}
		if (o->letter != 0) {
			fprintf(to, " \\\n\t\t\t'-%c[%s]%s%s'", o->letter, o->help, o->value == NULL ? "" : ":",
				o->value == NULL ? "" : o->value);
		}
		fprintf(to, " \\\n\t\t\t'--%s[%s]%s%s'", o->name, o->help, o->value == NULL ? "" : ":",
			o->value == NULL ? "" : o->value);
	}
}

static void zsh(FILE *to)
{
	fputs("#compdef bloomshm\n# Completion of bloomshm for zsh.\n_bloomshm() {\n"
		  "\tlocal verb=${words[2]}\n\tif (( CURRENT == 2 )); then\n\t\tlocal -a verbs=(",
		to);
	for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
		if (strchr(verb->name, ' ') == NULL) {
			fprintf(to, "\n\t\t\t'%s:%s'", verb->name, verb->summary);
		}
	}
	fputs("\n\t\t\t'cache:the record store')\n\t\t_describe verb verbs\n\t\t_arguments", to);
	zsh_options(to, first_options);
	fputs("\n\t\treturn\n\tfi\n\tif [[ $verb == cache ]] && (( CURRENT == 3 )); then\n"
		  "\t\tlocal -a verbs=(",
		to);
	for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
		if (strncmp(verb->name, "cache ", 6) == 0) {
			fprintf(to, "\n\t\t\t'%s:%s'", verb->name + 6, verb->summary);
		}
	}
	fputs(")\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n"
		  "\t[[ $verb == cache ]] && verb=\"cache ${words[3]}\"\n\tcase $verb in\n",
		to);
	for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
		fprintf(to, "\t\t'%s') _arguments", verb->name);
		zsh_options(to, verb->options | CLI_COMMON);
		fputs(strncmp(verb->arguments, "FILTER", 6) == 0
				  ? " \\\n\t\t\t'*:filter:(${(f)\"$(bloomshm ls 2>/dev/null)\"})' ;;\n"
				  : " \\\n\t\t\t'*:file:_files' ;;\n",
			to);
	}
	fputs("\tesac\n}\n_bloomshm \"$@\"\n", to);
}

bool cli_generate(FILE *to, const char *what)
{
	if (strcmp(what, "man") == 0) {
		man(to);
	} else if (strcmp(what, "bash") == 0) {
		bash(to);
	} else if (strcmp(what, "zsh") == 0) {
		zsh(to);
	} else {
		return false;
	}
	return true;
}

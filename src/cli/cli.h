/*
 * cli.h - what the files of the command `bloomshm` share.
 *
 * A verb gets a `cli`: its options, its arguments, the segment once it has asked for it. It returns
 * an exit status. Every function that returns one has said on stderr, in one line, why it is not
 * CLI_YES or CLI_NO.
 *
 * The command stands on the engine's public headers and on message.h. It is a program of one thread
 * that does one thing and ends; memory that it holds until the end is left to the kernel.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_H
#define CLI_H

#include "core/bshm_records.h"

#include <stdio.h>

/* Exit statuses, as grep(1) has them; refusals are apart from wrong usage. */
enum {
	CLI_YES = 0,     /* done, or found */
	CLI_NO = 1,      /* nothing found, or problems found */
	CLI_USAGE = 2,   /* unknown verb or option, an argument out of range */
	CLI_FAILED = 3,  /* refused, or failed */
	CLI_SIGNAL = 128 /* and the signal's number */
};

/* X(id, letter or 0, long name, value or NULL, what it does). Two options may have one name, for
 * verbs for which it does different things. */
#define CLI_OPTION_LIST(X)                                                                         \
 X(HELP, 'h', "help", NULL, "show this help")                                                      \
 X(VERSION, 'V', "version", NULL, "show the version")                                              \
 X(PATH, 'p', "path", "FILE", "the segment; %u in it stands for the number of the user")           \
 X(USER, 'u', "user", "NAME", "as root: become this user first")                                   \
 X(MODE, 0, "mode", "OCTAL", "permission bits: a segment may not have more (default 0600)")        \
 X(READONLY, 0, "readonly", NULL, "map the filters read-only, as bloomshm.readonly does")          \
 X(JSON, 'j', "json", NULL, "print one JSON document")                                             \
 X(QUIET, 'q', "quiet", NULL, "show no progress")                                                  \
 X(SILENT, 'q', "quiet", NULL, "print nothing: the exit status is the answer")                     \
 X(LONG, 'l', "long", NULL, "one line of figures for each filter")                                 \
 X(NUL, '0', "null", NULL, "keys and names are exact, and each ends with a NUL byte")              \
 X(INVERT, 'v', "invert-match", NULL, "print the keys that are certainly not there")               \
 X(COUNT, 'c', "count", NULL, "print how many keys, not which")                                    \
 X(ERROR_RATE, 'e', "error-rate", "RATE", "false-positive rate, up to 0.5 (default 0.01)")         \
 X(CAPACITY, 'n', "capacity", "KEYS", "how many keys the filter is for (default: from the keys)")  \
 X(CAPACITY_NEEDED, 'n', "capacity", "KEYS", "how many keys the filter is for")                    \
 X(MAX_ERROR_RATE, 0, "max-error-rate", "RATE",                                                    \
	 "do not publish a worse filter (default: 1.5 times --error-rate)")                            \
 X(EXPANSION, 0, "expansion", "FACTOR", "how much larger each next layer is, 0: never grow")       \
 X(WINDOW, 'w', "window", "SECONDS", "a sliding filter: keys are forgotten after that time")       \
 X(COUNTING, 0, "counting", NULL, "a counting filter: keys can be removed")                        \
 X(SEED, 0, "seed", "TEXT", "seed of the hash (default: random, and secret)")                      \
 X(LIKE, 0, "like", NULL, "keep seed, rate and kind of the filter, and its size while it fits")    \
 X(ADD, 0, "add", "FILE", "also add the keys in this file before the filter is published")         \
 X(DELIMITER, 'd', "delimiter", "BYTE", "the byte after each key (default: a newline)")            \
 X(ALLOW_EMPTY, 0, "allow-empty", NULL, "publish also if there was no key")                        \
 X(CREATE, 0, "create", NULL, "make the filter, and the segment, if there is none")                \
 X(FILTER_MEMORY, 0, "filter-memory", "SIZE", "of a new segment, for filters (default 32M)")       \
 X(CACHE_MEMORY, 0, "cache-memory", "SIZE", "of a new segment, for records (default 16M)")         \
 X(CACHE_RECORDS, 0, "cache-records", "COUNT", "of a new segment: its limit (default 0: none)")    \
 X(TTL, 't', "ttl", "SECONDS", "time to live of the record (default 0: none)")                     \
 X(TYPE, 0, "type", "TYPE", "string (default), int, float, bool or null")                          \
 X(PREFIX, 0, "prefix", "TEXT", "only keys that begin with it")                                    \
 X(LIMIT, 0, "limit", "COUNT", "at most so many records (default: all)")                           \
 X(ONCE, 0, "once", NULL, "print one frame, and end")                                              \
 X(INTERVAL, 'i', "interval", "SECONDS", "between two frames (default 2)")                         \
 X(IF_EXISTS, 0, "if-exists", NULL, "do nothing, and succeed, if there is no segment")             \
 X(BOOT, 0, "boot", NULL,                                                                          \
	 "bring nothing if there is no folder, or the segment has filters; then remove it")            \
 X(PUBLISH, 0, "publish", "ORIGIN", "announce the filter there, as publish --to does")             \
 X(TO, 0, "to", "ORIGIN", "a folder that a web server offers, or the URL of one that takes PUT")   \
 X(KEY, 0, "key", "FILE", "the secret key that signs (bloomshm key makes it)")                     \
 X(EPOCH, 0, "epoch", "NUMBER",                                                                    \
	 "take over from publishers with a lower one (default: that of the last one)")                 \
 X(MAX_CHANGE, 0, "max-change", "PERCENT",                                                         \
	 "announce nothing if more of the keys have changed (default 20)")                             \
 X(MAX_RATE_NOW, 0, "max-error-rate", "RATE",                                                      \
	 "announce no worse filter (default: 1.5 times the rate it is for)")                           \
 X(ANNOUNCE_EMPTY, 0, "allow-empty", NULL, "announce also a filter without keys")                  \
 X(VALID, 0, "valid", "SECONDS", "followers believe the head so long (default 0: no end)")         \
 X(SPREAD, 0, "spread", "SECONDS", "followers fetch after a random wait up to this (default 0)")   \
 X(KEEP, 0, "keep", "COUNT", "earlier versions whose images stay at the origin (default 4)")       \
 X(PIN, 0, "pin", "VERSION", "announce the image of an earlier version again")                     \
 X(UNPIN, 0, "unpin", NULL, "publish although an earlier version is pinned")                       \
 X(STATE, 0, "state", "DIR", "keeps the newest image here, to begin with the next time")           \
 X(VERIFY_KEY, 0, "verify-key", "FILE", "the public key of the publisher")                         \
 X(CA, 0, "ca", "FILE", "authorities for https, as PEM (default: those that the host knows)")      \
 X(MAX_LAG, 0, "max-lag", "SECONDS",                                                               \
	 "answer maybe to all if the origin was not heard so long (default 0: never)")                 \
 X(EVERY, 0, "every", "SECONDS", "look for a new head so often (default 5)")                       \
 X(LOOK_ONCE, 0, "once", NULL, "look once, and end")                                               \
 X(SERVE, 0, "serve", "ADDRESS", "offer what is kept to other followers, at ADDRESS:PORT")         \
 X(METRICS, 0, "metrics", "FILE", "write what was done to this file, for the node exporter")       \
 X(STREAM, 0, "stream", "URL", "of Redis or Valkey: carries adds from each host to all others")    \
 X(ADDS_AFTER, 0, "adds-after", "ID",                                                              \
	 "what --mark printed before the batch read its first row (default: that of the last head)")   \
 X(MARK, 0, "mark", NULL, "print the newest entry of the stream, and end")                         \
 X(TEXT, 0, "text", NULL, "the older text format, which files for the node exporter have")

typedef enum {
#define CLI_OPTION_ID(id, letter, name, value, help) CLI_##id,
	CLI_OPTION_LIST(CLI_OPTION_ID)
#undef CLI_OPTION_ID
	CLI_OPTION_COUNT
} cli_option_id;

typedef struct {
	int letter;
	const char *name;
	const char *value;
	const char *help;
} cli_option;

extern const cli_option cli_options[CLI_OPTION_COUNT];

#define CLI_WITH(id) (UINT64_C(1) << CLI_##id)
/* Every verb has these. */
#define CLI_COMMON                                                                                 \
 (CLI_WITH(HELP) | CLI_WITH(PATH) | CLI_WITH(USER) | CLI_WITH(MODE) | CLI_WITH(READONLY))
/* Those that may create a segment. */
#define CLI_CREATES (CLI_WITH(FILTER_MEMORY) | CLI_WITH(CACHE_MEMORY) | CLI_WITH(CACHE_RECORDS))
/* Those of publish that load has, too. */
#define CLI_ANNOUNCES                                                                              \
 (CLI_WITH(KEY) | CLI_WITH(STATE) | CLI_WITH(CA) | CLI_WITH(EPOCH) | CLI_WITH(MAX_CHANGE) |        \
	 CLI_WITH(VALID) | CLI_WITH(SPREAD) | CLI_WITH(KEEP) | CLI_WITH(UNPIN) | CLI_WITH(STREAM) |    \
	 CLI_WITH(ADDS_AFTER))

typedef struct cli cli;

typedef struct {
	const char *name;      /* of one word, or of two: "cache get" */
	const char *arguments; /* as the help shows them */
	int arguments_min;
	int arguments_max; /* -1: any number */
	uint64_t options;  /* CLI_WITH(...), besides CLI_COMMON */
	int (*run)(cli *);
	const char *summary; /* of one line */
	const char *details; /* sentences; "" for none */
} cli_verb;

extern const cli_verb cli_verbs[]; /* the last one has no name */

struct cli {
	const cli_verb *verb;
	const char *values[CLI_OPTION_COUNT]; /* "" for one without a value; NULL: not given */
	char **arguments;
	int argument_count;
	char *path;
	bshm_segment *segment;
	bshm_views *views;
};

/* ------------------------------------------------------------------ command line (cli_parse.c) */

/*
 * Reads the command line: the verb, its options and arguments. False: *status is the exit status,
 * and what was wrong has been said, or the help has been shown.
 */
bool cli_parse(cli *c, int argc, char **argv, int *status);

/* ------------------------------------------------------------------ options (cli_options.c) */

static inline bool cli_given(const cli *c, cli_option_id id)
{
	return c->values[id] != NULL;
}
/* The values of options. False: it is not one, or out of range, and that has been said: CLI_USAGE.
 * Without the option *out is `otherwise`. A size may end in K, M or G, as in php.ini. */
bool cli_number(const cli *c, cli_option_id id, uint64_t least, uint64_t most, uint64_t otherwise,
	uint64_t *out);
bool cli_size(const cli *c, cli_option_id id, uint64_t least, uint64_t most, uint64_t otherwise,
	uint64_t *out);
/* Greater than 0, and at most `most`. */
bool cli_rate(const cli *c, cli_option_id id, double most, double otherwise, double *out);
/* The argument as the name of a filter. */
bool cli_filter_name(const cli *c, int argument);

/* ------------------------------------------------------------------ help (cli_help.c) */

void cli_help(FILE *to);
void cli_help_verb(FILE *to, const cli_verb *verb);
/* Writes what `make` installs beside the program: "man", "bash" or "zsh". False: another word. */
bool cli_generate(FILE *to, const char *what);

/* ------------------------------------------------------------------ segment (cli_segment.c) */

/* Becomes the user of --user: CLI_YES, CLI_USAGE or CLI_FAILED. cli_attach() does it, too. */
int cli_become(const cli *c);
/* The same, and c->path is where the segment is, or would be. */
int cli_place(cli *c);
/*
 * Attaches c->segment, and makes c->views. `create`: where there is no segment it makes one; else
 * it never does. CLI_YES, CLI_USAGE or CLI_FAILED. Waits a second while another process makes it.
 */
int cli_attach(cli *c, bool create);
/* The same; the error instead of a line on stderr. */
int cli_attach_or(cli *c, bool create, bshm_error *error);
/* What cli_attach() says after cli_attach_or() has returned `status`; returns it. */
int cli_attach_fail(const cli *c, int status, const bshm_error *error);
/* Is there no segment? */
bool cli_is_absent(const bshm_error *error);
void cli_detach(cli *c);
/* After a publication: is the segment still the one at the path? Else says that it is not. */
int cli_published(cli *c);

typedef struct {
	char bytes[BSHM_NAME_BYTES_MAX + 1];
	size_t length;
} cli_name;

/* The filters' names, sorted by their bytes; NULL: no memory, which was said. */
cli_name *cli_names(cli *c, size_t *count);

/* ------------------------------------------------------------------ text (cli_text.c) */

/* Says on stderr what was wrong: "bloomshm VERB: ...". Returns the status. */
int cli_say(const cli *c, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Says on stdout what has happened to a filter: "NAME: ...", unless --quiet was given. */
void cli_tell(const cli *c, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for an error of the engine. `name`: of the filter, or the record's key; or NULL. */
int cli_fail(const cli *c, const bshm_error *error, const char *name);
/* The same where it may be about the file of a dump. */
int cli_fail_file(
	const cli *c, const bshm_error *error, const char *name, const char *file, bool filter);
int cli_no_memory(const cli *c);

/*
 * Any bytes as printable UTF-8: a byte that cannot be printed is \xHH; so is each byte above 7F if
 * the bytes are not UTF-8, and a backslash before an x. Valid until the fourth call after it; NULL
 * only if there is no memory.
 */
const char *cli_shown(const char *bytes, size_t length);
/* How many bytes of such a text a terminal shows in `most` columns; *columns: those that they take,
 * as a character may take none or two. */
size_t cli_cut(const char *text, int most, int *columns);
/* Prints bytes so, and a newline; with --null as they are, and a NUL byte. */
void cli_print(const cli *c, const char *bytes, size_t length);
/* Prints a text with a backslash before each of the characters in `which`. */
void cli_print_escaped(FILE *out, const char *text, const char *which);
/* "3 min", "2.1 d": an age in at most 7 columns. */
const char *cli_age_text(char out[16], double seconds);
/* "1.50 %", "0.0012 %", "0": a share in at most 9 columns. */
const char *cli_percent_text(char out[16], double share);

/* Ends the output: CLI_FAILED if not all of it was written. */
int cli_finish(const cli *c, int status);

/* ------------------------------------------------------------------ signals (cli_signal.c) */

/* From now on SIGINT and SIGTERM only note that they came, and cli_wait() ends. */
void cli_signals_note(void);
/* They also make each write to a file fail from then on: the engine, which knows of no signal, then
 * ends a dump, and removes what it has begun. */
void cli_signals_stop_writes(void);
/*
 * They print the line, which has a newline, and end the process with their exit status, while
 * `undone` is true, which must be safe in a signal handler. After that, the first one is only
 * noted.
 */
void cli_signals_exit(const char *line, bool (*undone)(void));
/* They end the process again, at once. */
void cli_signals_end(void);
/* The signal that came; 0: none. */
int cli_signal(void);
/* Seconds since 1970. */
double cli_unix_now(void);
/* Waits so long. False: a signal was noted. */
bool cli_nap(uint64_t ns);
/* Waits until there is something to read, or the end of the file. False: a signal was noted. */
bool cli_wait(int fd);

#endif

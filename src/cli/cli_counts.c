/*
 * cli_counts.c - what a follower has done with its filters, as a file of metrics.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_counts.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNTER(name, help, at)                                                                    \
 {                                                                                                 \
  name "_total", "counter", help, offsetof(cli_counts, at), NULL                                   \
 }
#define GAUGE(name, help, at)                                                                      \
 {                                                                                                 \
  name, "gauge", help, offsetof(cli_counts, at), NULL                                              \
 }
#define FAILURES(kind, at)                                                                         \
 {                                                                                                 \
  "failures_total", "counter", "What failed, by its cause.", offsetof(cli_counts, failures[at]),   \
	  kind                                                                                         \
 }

/* docs/FLEET.md lists them. Those of one name stand together. */
static const struct {
	const char *name;
	const char *type;
	const char *help;
	size_t at;
	const char *kind; /* a label; NULL: none */
} metrics[] = {
	COUNTER("versions", "Versions that were published.", versions),
	COUNTER("deltas", "Deltas that were applied.", deltas),
	COUNTER("images", "Images that were fetched whole.", images),
	COUNTER("fetched_bytes", "Bytes of heads, deltas and images.", bytes),
	COUNTER("keys_sent", "Added keys that were sent to other hosts.", sent),
	COUNTER("keys_received", "Added keys that came from the stream.", received),
	FAILURES("network", CLI_FAILS_NETWORK),
	FAILURES("signature", CLI_FAILS_SIGNATURE),
	FAILURES("replay", CLI_FAILS_REPLAY),
	FAILURES("expired", CLI_FAILS_EXPIRED),
	FAILURES("hash", CLI_FAILS_HASH),
	FAILURES("stream", CLI_FAILS_STREAM),
	FAILURES("gap", CLI_FAILS_GAP),
	FAILURES("local", CLI_FAILS_LOCAL),
	GAUGE("announced_version", "The version of the last sound head.", announced),
	GAUGE("version", "The version that is published.", version),
	GAUGE("looked_timestamp_seconds", "When it last looked at the origin.", looked_s),
	GAUGE("success_timestamp_seconds", "When it last looked and nothing failed.", success_s),
};

static void print_metric(FILE *out, size_t m, const cli_counts *counts)
{
	uint64_t value;
	memcpy(&value, (const char *) counts + metrics[m].at, sizeof(value));
	const char *name = cli_shown(counts->filter, strlen(counts->filter));
	fprintf(out, "bloomshm_follow_%s{filter=\"", metrics[m].name);
	cli_print_escaped(out, name == NULL ? "" : name, "\\\"");
	fputs("\"", out);
	if (metrics[m].kind != NULL) {
		fprintf(out, ",kind=\"%s\"", metrics[m].kind);
	}
	fprintf(out, "} %" PRIu64 "\n", value);
}

static void print_all(FILE *out, const cli_counts *filters, size_t count)
{
	for (size_t m = 0; m < sizeof(metrics) / sizeof(metrics[0]); m++) {
		if (m == 0 || strcmp(metrics[m].name, metrics[m - 1].name) != 0) {
			fprintf(out, "# HELP bloomshm_follow_%s %s\n# TYPE bloomshm_follow_%s %s\n",
				metrics[m].name, metrics[m].help, metrics[m].name, metrics[m].type);
		}
		for (size_t i = 0; i < count; i++) {
			print_metric(out, m, &filters[i]);
		}
	}
}

bool cli_counts_write(const char *path, const cli_counts *filters, size_t count, fleet_error *error)
{
	char *part;
	if (asprintf(&part, "%s.new", path) < 0) {
		return fleet_fail(error, "no private memory left");
	}
	unlink(part); /* of a follower that was killed */
	const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool written = out != NULL;
	if (written) {
		print_all(out, filters, count);
		written = fchmod(fd, 0644) == 0 && !ferror(out);
		written = fclose(out) == 0 && written && rename(part, path) == 0;
	}
	if (!written) {
		fleet_fail(error, "cannot write the metrics to %s: %s", path, strerror(errno));
		unlink(part);
	}
	free(part);
	return written;
}

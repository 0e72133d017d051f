/*
 * cli_metrics.c - metrics: the figures for Prometheus and others that read OpenMetrics.
 *
 * The tables say what web/status.php says (docs/METRICS.md); tests/web/run.sh compares the two. But
 * a filter's rate is an estimate from some of its partitions, so that an answer costs the same for
 * a filter of any size.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_json.h"
#include "cli/cli_run.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of each layer of a filter: 128 kB of reading. */
#define PARTITIONS 16u

typedef enum {
	COUNT,
	SMALL,
	REAL
} figure_type; /* uint64_t, uint32_t, double */

typedef struct {
	const char *name; /* without the prefix, and a counter's suffix */
	bool counter;
	figure_type type;
	const char *unit;
	const char *help;
	size_t at;                          /* in the engine's struct */
	bool (*given)(const void *figures); /* NULL: in every sample */
} metric;

#define COUNTER(name, help, at)                                                                    \
 {                                                                                                 \
  name, true, COUNT, "", help, at, NULL                                                            \
 }
#define GAUGE(name, type, unit, help, at)                                                          \
 {                                                                                                 \
  name, false, type, unit, help, at, NULL                                                          \
 }

static const metric up_metrics[] = {GAUGE("up", SMALL, "", "1: the segment can be used.", 0)};

#define OF(field) offsetof(bshm_stat, field)
static const metric segment_metrics[] = {
	GAUGE("memory_bytes", COUNT, "bytes", "Memory for filters.", OF(filter_bytes)),
	GAUGE("memory_free_bytes", COUNT, "bytes", "Free memory for filters.", OF(filter_bytes_free)),
	GAUGE("processes", COUNT, "processes", "Processes that may write.", OF(attached)),
	COUNTER("repairs", "Repairs of what a dead process had left.", OF(repairs)),
	COUNTER("lock_timeouts", "Waits for a lock that ended without it.", OF(lock_timeouts)),
	GAUGE(
		"outbox_keys", COUNT, "keys", "Keys that wait to be sent to other hosts.", OF(outbox_keys)),
	GAUGE("outbox_bytes", COUNT, "bytes", "Memory for them.", OF(outbox_bytes)),
	GAUGE("outbox_free_bytes", COUNT, "bytes", "Free memory for them.", OF(outbox_bytes_free)),
};
#undef OF

#define OF(field) offsetof(bshm_store_info, field)
static const metric store_metrics[] = {
	GAUGE("records", COUNT, "records", "Records in the store.", OF(records)),
	COUNTER("cache_hits", "Reads that found a record.", OF(hits)),
	COUNTER("cache_misses", "Reads that found none.", OF(misses)),
	COUNTER("cache_sets", "Records that were stored.", OF(sets)),
	COUNTER("cache_evictions", "Records evicted to make room.", OF(evictions)),
	COUNTER("cache_expired", "Records removed after their time.", OF(expired)),
	COUNTER("cache_rejected", "Records that were too large.", OF(rejected)),
};
#undef OF

static bool is_followed(const void *figures)
{
	bool followed;
	memcpy(&followed, (const char *) figures + offsetof(bshm_info, followed), sizeof(followed));
	return followed;
}

static bool is_limited(const void *figures)
{
	uint32_t max_lag_s;
	memcpy(&max_lag_s, (const char *) figures + offsetof(bshm_info, max_lag_s), sizeof(max_lag_s));
	return max_lag_s != 0;
}

static bool is_sending(const void *figures)
{
	bool sends;
	memcpy(&sends, (const char *) figures + offsetof(bshm_info, sends), sizeof(sends));
	return sends;
}

#define OF(field) offsetof(bshm_info, field)
static const metric filter_metrics[] = {
	COUNTER("filter_questions", "Keys asked about since the publication.", OF(usage.questions)),
	COUNTER("filter_maybes", "Keys that were answered maybe.", OF(usage.maybes)),
	COUNTER(
		"filter_false_positives", "Wrong answers that bloom_fetch() found.", OF(false_positives)),
	GAUGE("filter_keys", COUNT, "keys", "Different keys in the filter.", OF(items)),
	GAUGE("filter_capacity_keys", COUNT, "keys", "Keys that it holds at its rate.", OF(capacity)),
	GAUGE("filter_size_bytes", COUNT, "bytes", "Memory of the filter.", OF(bytes)),
	GAUGE("filter_error_ratio", REAL, "ratio", "Share of absent keys that are answered maybe.",
		OF(estimated_error_rate)),
	GAUGE("filter_error_ratio_asked", REAL, "", "The share that was asked for.", OF(error_rate)),
	GAUGE("filter_published_timestamp_seconds", REAL, "seconds", "When it was published.",
		OF(published_s)),
	GAUGE("filter_layers", SMALL, "layers", "Layers of the filter.", OF(layer_count)),
	{"filter_lag_seconds", false, REAL, "seconds", "How old the word of its source is.", OF(lag_s),
		is_followed},
	{"filter_max_lag_seconds", false, SMALL, "seconds", "It is stale when the lag is above it.",
		OF(max_lag_s), is_limited},
	{"filter_unsent", true, COUNT, "", "Added keys that cannot be sent to other hosts.", OF(unsent),
		is_sending},
};
/* No metric shows a layer of its own, which is most of the struct. */
#define INFO_BYTES offsetof(bshm_info, layers)
#undef OF

/* Samples of the same metrics. */
typedef struct {
	const metric *metrics;
	size_t metric_count;
	char **names;        /* of the filters, as they are shown; NULL: the samples have no label */
	const char *figures; /* an engine's struct for each sample */
	size_t stride;
	size_t count;
} group;

#define GROUP(table, names, figures, stride, count)                                                \
 ((group){table, sizeof(table) / sizeof(metric), names, (const char *) (figures), stride, count})

typedef struct {
	json_t *json; /* NULL: text */
	bool open;    /* OpenMetrics; else the older text format */
} output;

/* ------------------------------------------------------------------ text */

/* The shortest text that is read as the same number. */
static void print_real(double value)
{
	char text[32];
	int digits = 15;
	do {
		snprintf(text, sizeof(text), "%.*g", digits, value);
	} while (strtod(text, NULL) != value && digits++ < 17);
	fputs(text, stdout);
}

static void print_figure(figure_type type, const void *figure)
{
	uint64_t count;
	uint32_t small;
	double real;
	switch (type) {
		case COUNT:
			memcpy(&count, figure, sizeof(count));
			printf("%" PRIu64 "\n", count);
			break;
		case SMALL:
			memcpy(&small, figure, sizeof(small));
			printf("%" PRIu32 "\n", small);
			break;
		case REAL:
			memcpy(&real, figure, sizeof(real));
			print_real(real);
			putchar('\n');
			break;
	}
}

/* The older format counts the suffix of a counter as a part of its name. */
static void print_family(const output *o, const metric *m, const group *g)
{
	const char *suffix = m->counter ? "_total" : "";
	const char *head = o->open ? "" : suffix;
	printf("# HELP bloomshm_%s%s ", m->name, head);
	cli_print_escaped(stdout, m->help, o->open ? "\\\"" : "\\");
	printf("\n# TYPE bloomshm_%s%s %s\n", m->name, head, m->counter ? "counter" : "gauge");
	if (o->open && *m->unit != '\0') {
		printf("# UNIT bloomshm_%s %s\n", m->name, m->unit);
	}
	for (size_t i = 0; i < g->count; i++) {
		const char *figures = g->figures + i * g->stride;
		if (m->given != NULL && !m->given(figures)) {
			continue;
		}
		printf("bloomshm_%s%s", m->name, suffix);
		if (g->names != NULL) {
			fputs("{filter=\"", stdout);
			cli_print_escaped(stdout, g->names[i], "\\\"");
			fputs("\"}", stdout);
		}
		putchar(' ');
		print_figure(m->type, figures + m->at);
	}
}

/* ------------------------------------------------------------------ JSON */

static json_t *json_figure(figure_type type, const void *figure)
{
	uint64_t count = 0;
	uint32_t small;
	double real;
	switch (type) {
		case COUNT:
			memcpy(&count, figure, sizeof(count));
			break;
		case SMALL:
			memcpy(&small, figure, sizeof(small));
			count = small;
			break;
		case REAL:
			memcpy(&real, figure, sizeof(real));
			return json_real(real);
	}
	return json_integer((json_int_t) count);
}

static void append_family(json_t *all, const metric *m, const group *g)
{
	char name[64];
	json_t *samples = json_array();
	for (size_t i = 0; i < g->count; i++) {
		const char *figures = g->figures + i * g->stride;
		if (m->given != NULL && !m->given(figures)) {
			continue;
		}
		json_t *labels =
			g->names == NULL ? json_object() : json_pack("{s:s}", "filter", g->names[i]);
		json_array_append_new(samples, json_pack("{s:o, s:o}", "labels", labels, "value",
										   json_figure(m->type, figures + m->at)));
	}
	snprintf(name, sizeof(name), "bloomshm_%s%s", m->name, m->counter ? "_total" : "");
	json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", name, "type",
								   m->counter ? "counter" : "gauge", "unit", m->unit, "help",
								   m->help, "samples", samples));
}

/* ------------------------------------------------------------------ the verb */

static void give(const output *o, group g)
{
	for (size_t i = 0; i < g.metric_count; i++) {
		if (o->json != NULL) {
			append_family(o->json, &g.metrics[i], &g);
		} else {
			print_family(o, &g.metrics[i], &g);
		}
	}
}

/* All filters but those that are being cleared, or are damaged. False: no memory. */
static bool survey(cli *c, const cli_name *names, size_t count, group *g, char *infos)
{
	bshm_info info;
	for (size_t i = 0; i < count; i++) {
		const cli_name *name = &names[i];
		if (bshm_filter_estimate(
				c->segment, c->views, name->bytes, name->length, PARTITIONS, &info) != BSHM_OK) {
			continue;
		}
		const char *text = cli_shown(name->bytes, name->length);
		g->names[g->count] = text == NULL ? NULL : strdup(text);
		if (g->names[g->count] == NULL) {
			return false;
		}
		memcpy(infos + g->count++ * INFO_BYTES, &info, INFO_BYTES);
	}
	return true;
}

static int give_filters(const output *o, cli *c)
{
	size_t count;
	cli_name *names = cli_names(c, &count);
	if (names == NULL) {
		return CLI_FAILED;
	}
	char *infos = malloc((count + 1) * INFO_BYTES);
	group g = GROUP(filter_metrics, calloc(count + 1, sizeof(char *)), infos, INFO_BYTES, 0);
	const bool enough = infos != NULL && g.names != NULL && survey(c, names, count, &g, infos);
	if (enough) {
		give(o, g);
	}
	while (g.count > 0) {
		free(g.names[--g.count]);
	}
	free(g.names);
	free(infos);
	free(names);
	return enough ? CLI_YES : cli_no_memory(c);
}

/* Attaches; 1: the segment can be used. */
static int find_segment(cli *c, bshm_stat *stat, uint32_t *up)
{
	bshm_error error;
	const int status = cli_attach_or(c, false, &error);
	if (status != CLI_YES && error.status == BSHM_OK) {
		return status; /* wrong usage, which was said */
	}
	*up = status == CLI_YES && bshm_segment_stat(c->segment, stat, &error) == BSHM_OK;
	return CLI_YES;
}

int cli_metrics(cli *c)
{
	uint32_t up;
	bshm_stat stat = {0};
	bshm_store_info store = {0};
	int status = find_segment(c, &stat, &up);
	if (status != CLI_YES) {
		return status;
	}
	const output o = {cli_given(c, CLI_JSON) ? json_array() : NULL, !cli_given(c, CLI_TEXT)};
	give(&o, GROUP(up_metrics, NULL, &up, sizeof(up), 1));
	if (up != 0) {
		bshm_store_stat(c->segment, &store);
		give(&o, GROUP(segment_metrics, NULL, &stat, sizeof(stat), 1));
		give(&o, GROUP(store_metrics, NULL, &store, sizeof(store), 1));
		status = give_filters(&o, c);
	}
	if (o.json != NULL) {
		return cli_json_print(c, o.json, status);
	}
	if (o.open) {
		puts("# EOF");
	}
	return status;
}

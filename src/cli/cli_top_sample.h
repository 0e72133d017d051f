/*
 * cli_top_sample.h - the figures of `bloomshm top`, and how fast they change.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_TOP_SAMPLE_H
#define CLI_TOP_SAMPLE_H

#include "cli/cli.h"

typedef struct {
	cli_name name;
	const char *type;
	uint64_t items;
	uint64_t capacity;
	uint64_t bytes;
	uint32_t expansion;
	double error_rate;
	double published_s;
	uint64_t generation;
	uint64_t questions;
	uint64_t maybes;
	double asked; /* keys a second, as all rates; 0 in the first sample */
	double saved;
} top_filter;

/* What was there at one moment, and how fast it has changed since the sample before. */
typedef struct {
	uint64_t at_ns;
	double seconds; /* since the sample before; 0: there was none */
	bshm_stat stat;
	bshm_store_info store;
	top_filter *filters;
	size_t count;
	double asked;
	double saved;
	double hits;
	double misses;
	double sets;
	double evictions;
} top_sample;

/* CLI_YES, or what was wrong in *error. `before` may be all zero. */
int cli_top_sample(cli *c, const top_sample *before, top_sample *out, bshm_error *error);
void cli_top_free(top_sample *sample);
/* How long a record is unused when it is evicted, in seconds; 0: none is evicted. All records are
 * replaced in that time, so it is that of one that is not used: the true age of a record that was
 * used once; those used often stay for longer, and the others for a little less. */
double cli_top_eviction_age(const top_sample *sample);
/* Shares that may have nothing to be a share of: -1. */
double cli_top_saved_share(double asked, double saved);
double cli_top_used(const top_filter *filter);

/* The columns of the list, which are also its orders. */
typedef enum {
	TOP_ASKED,
	TOP_SAVED,
	TOP_SHARE,
	TOP_KEYS,
	TOP_USED,
	TOP_RATE,
	TOP_SIZE,
	TOP_KIND,
	TOP_AGE,
	TOP_NAME,
	TOP_COLUMNS
} top_column;

/* The largest first, but names from A on; `reverse`: the other way. */
void cli_top_sort(top_sample *sample, top_column by, bool reverse);

#endif

/*
 * cli_top_sample.c - the figures of `bloomshm top`, and how fast they change.
 *
 * Processes hand their counts in about once a second, so a rate over less than that is rough.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_top_sample.h"

#include <stdlib.h>
#include <string.h>

/* Of each layer: what all filters cost together must not take a processor. */
#define PARTITIONS 1u

static void describe(top_filter *f, const bshm_info *info)
{
	f->type = info->type;
	f->items = info->items;
	f->capacity = info->capacity;
	f->bytes = info->bytes;
	f->expansion = info->expansion;
	f->error_rate = info->error_rate;
	f->published_s = info->published_s;
	f->generation = info->generation;
	f->questions = info->usage.questions;
	f->maybes = info->usage.maybes;
}

static double rate(uint64_t now, uint64_t before, double seconds)
{
	return seconds > 0 && now > before ? (double) (now - before) / seconds : 0;
}

/* Since it was seen; a filter that was published meanwhile begins at 0. */
static void set_rates(top_filter *f, const top_filter *seen, double seconds)
{
	const bool same = seen != NULL && seen->published_s == f->published_s &&
					  seen->questions <= f->questions && seen->maybes <= f->maybes;
	f->asked = rate(f->questions, same ? seen->questions : 0, seconds);
	f->saved = f->asked - rate(f->maybes, same ? seen->maybes : 0, seconds);
	if (f->saved < 0) {
		f->saved = 0;
	}
}

static int compare(const cli_name *a, const cli_name *b)
{
	const int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
	return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* The filters of both samples by name. The sample before may be in any order, so its filters are
 * found through `sorted`, which points to them. */
static int compare_pointers(const void *a, const void *b)
{
	return compare(
		&(*(const top_filter *const *) a)->name, &(*(const top_filter *const *) b)->name);
}

static const top_filter **by_name(const top_sample *s)
{
	const top_filter **sorted = malloc((s->count + 1) * sizeof(*sorted));
	for (size_t i = 0; i < s->count && sorted != NULL; i++) {
		sorted[i] = &s->filters[i];
	}
	if (sorted != NULL && s->count != 0) {
		qsort(sorted, s->count, sizeof(*sorted), compare_pointers);
	}
	return sorted;
}

/* A filter that is being cleared, or damaged, keeps what is known of it. */
static void read_filters(cli *c, const cli_name *names, size_t count, const top_sample *before,
	const top_filter **sorted, top_sample *out)
{
	size_t at = 0;
	for (size_t i = 0; i < count; i++) {
		bshm_info info;
		top_filter *f = &out->filters[out->count];
		while (at < before->count && compare(&sorted[at]->name, &names[i]) < 0) {
			at++;
		}
		const top_filter *seen =
			at < before->count && compare(&sorted[at]->name, &names[i]) == 0 ? sorted[at] : NULL;
		const bshm_status status = bshm_filter_estimate(
			c->segment, c->views, names[i].bytes, names[i].length, PARTITIONS, &info);
		if (status == BSHM_OK) {
			f->name = names[i];
			describe(f, &info);
			set_rates(f, seen, out->seconds);
		} else if (status != BSHM_E_NOT_FOUND && seen != NULL) {
			*f = *seen;
			f->asked = f->saved = 0;
		} else {
			continue;
		}
		out->asked += f->asked;
		out->saved += f->saved;
		out->count++;
	}
}

static void read_store(cli *c, const top_sample *before, top_sample *out)
{
	const bshm_store_info *then = &before->store;
	const bshm_store_info *now = &out->store;
	bshm_store_stat(c->segment, &out->store);
	out->hits = rate(now->hits, then->hits, out->seconds);
	out->misses = rate(now->misses, then->misses, out->seconds);
	out->sets = rate(now->sets, then->sets, out->seconds);
	out->evictions = rate(now->evictions, then->evictions, out->seconds);
}

int cli_top_sample(cli *c, const top_sample *before, top_sample *out, bshm_error *error)
{
	size_t count;
	*error = (bshm_error){0};
	*out = (top_sample){.at_ns = bshm_now_ns()};
	if (before->at_ns != 0) {
		out->seconds = (double) (out->at_ns - before->at_ns) / 1e9;
	}
	if (bshm_segment_stat(c->segment, &out->stat, error) != BSHM_OK) {
		return CLI_FAILED;
	}
	read_store(c, before, out);
	cli_name *names = cli_names(c, &count);
	const top_filter **sorted = by_name(before);
	out->filters = malloc((count + 1) * sizeof(*out->filters));
	const bool enough = names != NULL && sorted != NULL && out->filters != NULL;
	if (enough) {
		read_filters(c, names, count, before, sorted, out);
	}
	free(names);
	free(sorted);
	return enough ? CLI_YES : cli_no_memory(c);
}

void cli_top_free(top_sample *sample)
{
	free(sample->filters);
	*sample = (top_sample){0};
}

double cli_top_eviction_age(const top_sample *sample)
{
	return sample->evictions > 0 ? (double) sample->store.records / sample->evictions : 0;
}

double cli_top_saved_share(double asked, double saved)
{
	return asked > 0 ? saved / asked : -1;
}

double cli_top_used(const top_filter *filter)
{
	return filter->capacity == 0 ? -1 : (double) filter->items / (double) filter->capacity;
}

/* ------------------------------------------------------------------ order */

static double value_of(const top_filter *f, top_column by)
{
	switch (by) {
		case TOP_ASKED:
			return f->asked;
		case TOP_SAVED:
			return f->saved;
		case TOP_SHARE:
			return cli_top_saved_share(f->asked, f->saved);
		case TOP_KEYS:
			return (double) f->items;
		case TOP_USED:
			return cli_top_used(f);
		case TOP_RATE:
			return f->error_rate;
		case TOP_SIZE:
			return (double) f->bytes;
		case TOP_AGE:
			return -f->published_s;
		default:
			return 0;
	}
}

typedef struct {
	top_column order;
	bool reverse;
} compared;

/* Filters that are equal stay in the order of their names, so rows do not jump about. */
static int compare_filters(const void *a, const void *b, void *context)
{
	const top_filter *x = a;
	const top_filter *y = b;
	const compared *by = context;
	const double left = value_of(x, by->order);
	const double right = value_of(y, by->order);
	int order = (left < right) - (left > right);
	if (by->order == TOP_KIND) {
		order = strcmp(x->type, y->type);
	} else if (by->order == TOP_NAME) {
		order = compare(&x->name, &y->name);
	}
	if (order == 0) {
		return compare(&x->name, &y->name);
	}
	return by->reverse ? -order : order;
}

void cli_top_sort(top_sample *sample, top_column by, bool reverse)
{
	compared by_what = {by, reverse};
	if (sample->count != 0) {
		qsort_r(
			sample->filters, sample->count, sizeof(*sample->filters), compare_filters, &by_what);
	}
}

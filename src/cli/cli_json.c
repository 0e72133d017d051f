/*
 * cli_json.c - the figures as JSON documents, or as lines of text.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_json.h"

#include "message/message.h"

#include <string.h>
#include <time.h>

/* jansson takes signed integers; no figure of the engine has 63 bits. */
static json_t *whole(uint64_t value)
{
	return json_integer((json_int_t) value);
}

json_t *cli_json_text(const char *bytes, size_t length)
{
	const char *text = cli_shown(bytes, length);
	return text == NULL ? NULL : json_string(text);
}

static json_t *layers_of(const bshm_info *info)
{
	json_t *layers = json_array();
	for (uint32_t i = 0; i < info->layer_count; i++) {
		const bshm_layer_info *l = &info->layers[i];
		json_array_append_new(layers,
			json_pack("{s:o, s:o, s:f, s:i, s:i, s:o, s:f, s:f}", "capacity", whole(l->capacity),
				"items", whole(l->items), "error_rate", l->error_rate, "hashes",
				(int) l->hash_count, "partitions", (int) l->partition_count, "bytes",
				whole(l->bytes), "fill", l->fill, "estimated_error_rate", l->estimated_error_rate));
	}
	return layers;
}

static json_t *fetches_of(const bshm_info *info)
{
	const bshm_usage *u = &info->usage;
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "asked", whole(u->fetches), "denied",
		whole(u->denied), "found", whole(u->found), "loaded", whole(u->loaded), "confirmed",
		whole(info->false_positives));
}

json_t *cli_json_info(const cli_name *name, const bshm_info *info)
{
	json_t *bits = info->items == 0 ? json_null()
									: json_real(8.0 * (double) info->bytes / (double) info->items);
	return json_pack("{s:o, s:s, s:f, s:o, s:o, s:i, s:i, s:i, s:i, s:o, s:o, s:f, s:f, s:f, s:o, "
					 "s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
		"name", cli_json_text(name->bytes, name->length), "type", info->type, "error_rate",
		info->error_rate, "capacity", whole(info->capacity), "items", whole(info->items),
		"expansion", (int) info->expansion, "window", (int) info->window_s, "hashes",
		(int) info->hash_count, "partitions", (int) info->partition_count, "bytes",
		whole(info->bytes), "bits_per_key", bits, "fill", info->fill, "estimated_error_rate",
		info->estimated_error_rate, "worst_partition_error_rate", info->worst_partition_error_rate,
		"generation", whole(info->generation), "published_at", info->published_s, "questions",
		whole(info->usage.questions), "maybes", whole(info->usage.maybes), "fetches",
		fetches_of(info), "false_positives", whole(info->false_positives), "source",
		info->source[0] != '\0' ? cli_json_text(info->source, strlen(info->source)) : json_null(),
		"version", info->followed ? whole(info->version) : json_null(), "lag",
		info->followed ? json_real(info->lag_s) : json_null(), "max_lag",
		info->max_lag_s != 0 ? whole(info->max_lag_s) : json_null(), "stale", info->stale, "unsent",
		info->sends ? whole(info->unsent) : json_null(), "layers", layers_of(info));
}

json_t *cli_json_stat(
	const char *path, const char *reason, const bshm_stat *stat, const bshm_store_info *store)
{
	return json_pack("{s:b, s:o, s:o, s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
					 "s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:n}",
		"available", reason == NULL, "reason",
		reason == NULL ? json_null() : cli_json_text(reason, strlen(reason)), "path",
		cli_json_text(path, strlen(path)), "layout_version", (int) stat->layout_version,
		"owner_uid", whole(stat->owner_uid), "mode", (int) stat->mode, "filter_bytes",
		whole(stat->filter_bytes), "filter_bytes_free", whole(stat->filter_bytes_free),
		"largest_free_bytes", whole(stat->largest_free_bytes), "cache_bytes",
		whole(store->bytes_total), "cache_bytes_free",
		whole(store->bytes_total - store->bytes_used), "filters", whole(stat->filters), "attached",
		whole(stat->attached), "repairs", whole(stat->repairs), "lock_timeouts",
		whole(stat->lock_timeouts), "questions", whole(stat->questions), "maybes",
		whole(stat->maybes), "outbox_keys", whole(stat->outbox_keys), "outbox_bytes",
		whole(stat->outbox_bytes), "outbox_bytes_free", whole(stat->outbox_bytes_free), "unsent",
		whole(stat->unsent), "missing_answers", 0, "last_error");
}

json_t *cli_json_store(const bshm_store_info *s)
{
	const struct {
		const char *name;
		uint64_t value;
	} figures[] = {{"records", s->records}, {"max_records", s->max_records},
		{"bytes_used", s->bytes_used}, {"bytes_total", s->bytes_total},
		{"data_bytes", s->data_bytes}, {"hits", s->hits}, {"misses", s->misses}, {"sets", s->sets},
		{"evictions", s->evictions}, {"expired", s->expired}, {"rejected", s->rejected},
		{"lock_timeouts", s->lock_timeouts}, {"repairs", s->repairs}, {"shards", s->shards}};
	json_t *out = json_object();
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		json_object_set_new(out, figures[i].name, whole(figures[i].value));
	}
	return out;
}

int cli_json_print(const cli *c, json_t *document, int status)
{
	if (document == NULL) {
		return cli_no_memory(c);
	}
	json_dumpf(document, stdout, JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(document);
	return status;
}

/* ------------------------------------------------------------------ as text */

/* A time also in words. */
static void print_real(const char *name, double value)
{
	const time_t seconds = (time_t) value;
	char text[64] = "";
	if (strcmp(name, "published_at") != 0) {
		printf("%.6g\n", value);
		return;
	}
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", localtime(&seconds));
	printf("%.3f (%s)\n", value, text);
}

/* A figure of JSON on a line of its own, under its name; bytes also in larger units. */
static void print_figure(const char *name, const json_t *value, int indent)
{
	printf("%*s%-*s ", indent, "", 27 - indent, name);
	if (json_is_string(value)) {
		printf("%s\n", json_string_value(value));
	} else if (json_is_real(value)) {
		print_real(name, json_real_value(value));
	} else if (json_is_boolean(value)) {
		puts(json_is_true(value) ? "yes" : "no");
	} else if (json_is_null(value)) {
		puts("-");
	} else {
		char text[32];
		const json_int_t number = json_integer_value(value);
		if (strcmp(name, "mode") == 0) {
			printf("%04o\n", (unsigned) number);
		} else if (strstr(name, "bytes") != NULL && number >= 1000) {
			printf(
				"%" JSON_INTEGER_FORMAT " (%s)\n", number, bshm_size_text(text, (uint64_t) number));
		} else {
			printf("%" JSON_INTEGER_FORMAT "\n", number);
		}
	}
}

static void print_figures(json_t *figures, int indent)
{
	const char *name;
	json_t *value;
	json_object_foreach(figures, name, value)
	{
		size_t i;
		json_t *part;
		if (json_is_object(value)) {
			printf("%*s%s\n", indent, "", name);
			print_figures(value, indent + 2);
		} else if (json_is_array(value)) {
			json_array_foreach(value, i, part)
			{
				printf("%*slayer %zu\n", indent, "", i + 1);
				print_figures(part, indent + 2);
			}
		} else {
			print_figure(name, value, indent);
		}
	}
}

int cli_json_show(const cli *c, json_t *figures)
{
	if (cli_given(c, CLI_JSON) || figures == NULL) {
		return cli_json_print(c, figures, CLI_YES);
	}
	print_figures(figures, 0);
	json_decref(figures);
	return CLI_YES;
}

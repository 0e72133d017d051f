/*
 * cli_json.h - JSON documents of the figures; the keys are those of the PHP functions.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "cli/cli.h"

#include <jansson.h>

/* As bloom_info(). */
json_t *cli_json_info(const cli_name *name, const bshm_info *info);
/* As bloom_status() and bloom_cache_info(). */
json_t *cli_json_stat(
	const char *path, const char *reason, const bshm_stat *stat, const bshm_store_info *store);
json_t *cli_json_store(const bshm_store_info *store);
/* Bytes as a string that shows them: cli_shown(). */
json_t *cli_json_text(const char *bytes, size_t length);
/* Prints the document, frees it, and returns `status`; NULL stands for: no memory. */
int cli_json_print(const cli *c, json_t *document, int status);
/* Prints the figures: as JSON if that is asked for, else one a line, under their names. Frees them;
 * NULL stands for: no memory. Returns CLI_YES, or CLI_FAILED. */
int cli_json_show(const cli *c, json_t *figures);

#endif

/*
 * cli_run.h - the verbs' functions: for the table (cli_verbs.c).
 *
 * Each returns an exit status.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/cli.h"

/* cli_show.c */
int cli_status(cli *c);
int cli_verify(cli *c);
int cli_ls(cli *c);
int cli_info(cli *c);
/* cli_ask.c */
int cli_has(cli *c);
/* cli_load.c */
int cli_load(cli *c);
/* cli_change.c */
int cli_add(cli *c);
int cli_remove(cli *c);
int cli_count(cli *c);
/* cli_manage.c */
int cli_reserve(cli *c);
int cli_drop(cli *c);
int cli_clear(cli *c);
int cli_rename(cli *c);
int cli_copy(cli *c);
int cli_merge(cli *c);
/* cli_dump.c */
int cli_dump(cli *c);
int cli_restore(cli *c);
/* cli_diff.c */
int cli_diff(cli *c);
int cli_patch(cli *c);
/* cli_cache.c */
int cli_cache_get(cli *c);
int cli_cache_set(cli *c);
int cli_cache_del(cli *c);
/* cli_store.c */
int cli_cache_scan(cli *c);
int cli_cache_info(cli *c);
int cli_cache_clear(cli *c);
int cli_cache_dump(cli *c);
int cli_cache_restore(cli *c);
/* cli_save.c */
int cli_save(cli *c);
/* cli_bring.c */
int cli_bring(cli *c);
/* cli_follow.c */
int cli_follow(cli *c);
/* cli_publish.c */
int cli_publish(cli *c);
int cli_key(cli *c);
/* cli_top.c */
int cli_top(cli *c);
/* cli_metrics.c */
int cli_metrics(cli *c);

#endif

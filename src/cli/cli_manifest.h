/*
 * cli_manifest.h - a saved segment: a folder of dumps, and the manifest that describes them.
 *
 *      manifest.json    what the others are, with their sizes and checksums
 *      filter-00001     dumps of filters, in the order of the manifest
 *      ...
 *      records          the dump of the records, if the segment has a record store
 *
 * docs/FORMAT.md has the format.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_MANIFEST_H
#define CLI_MANIFEST_H

#include "cli/cli.h"

#define CLI_MANIFEST_FILE "manifest.json"
#define CLI_RECORDS_FILE  "records"
#define CLI_FILE_NAME     32 /* bytes of a file's name in the folder */

typedef struct {
	cli_name name; /* of the filter */
	char file[CLI_FILE_NAME];
	uint64_t bytes;
	uint64_t check; /* XXH3-64 of all bytes */
} cli_saved;

typedef struct {
	/* Of the segment. */
	uint64_t filter_bytes;
	uint64_t cache_bytes;
	uint64_t cache_records;
	uint32_t mode;
	uint32_t layout_version;
	double saved_s; /* unix time at which the save began */
	cli_saved *filters;
	size_t count;
	cli_saved records; /* .file is "" if there is none */
	uint64_t record_count;
} cli_manifest;

/* The name of the file of filter `i`, from 0 on. */
void cli_manifest_file(char out[CLI_FILE_NAME], size_t i);
/* Is it a name of a file in such a folder? */
bool cli_manifest_has_file(const char *name);

/* Reads the file's size and checksum. CLI_YES, or CLI_FAILED, which was said. `shown`: the folder's
 * path, for messages. */
int cli_manifest_measure(const cli *c, int folder, const char *shown, cli_saved *file);
/* Writes and syncs the manifest. The same. */
int cli_manifest_write(const cli *c, int folder, const char *shown, const cli_manifest *m);
/* Reads and checks the manifest, the names of all files, their sizes and checksums. The same. */
int cli_manifest_read(const cli *c, int folder, const char *shown, cli_manifest *m);

#endif

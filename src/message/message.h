/*
 * message.h - makes one English sentence of a bshm_error.
 *
 * For the bindings: the core prints nothing.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_MESSAGE_H
#define BSHM_MESSAGE_H

#include "core/bshm.h"

/* A sentence with a path and a name in it; a longer one is cut. */
typedef struct {
	char text[9216];
} bshm_message;

/* What the error is about. */
typedef struct {
	const char *path; /* of the segment */
	const char *name; /* of the filter, or the record's key; NULL: none */
	bool readonly;    /* this process never creates a segment */
	bool command;     /* parameters are named as options of the command, not of a PHP function */
} bshm_message_about;

/* Writes the sentence and returns its text. */
const char *bshm_message_say(
	bshm_message *m, const bshm_error *error, const bshm_message_about *about);

/*
 * For an error about the file of a dump, at `path`: of a filter (or of records). NULL: the error is
 * not about the file.
 */
const char *bshm_message_file(
	bshm_message *m, const bshm_error *error, const char *path, bool filter);

/* "12.8 MB": decimal, as the sizes of files are told. */
const char *bshm_size_text(char out[32], uint64_t bytes);

#endif

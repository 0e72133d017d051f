/*
 * test_segment.h - what the tests of the file share: one at a path of the test's own.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_SEGMENT_H
#define BSHM_TEST_SEGMENT_H

#include "platform/platform.h"
#include "test.h"

#include <sys/stat.h>

static bshm_status open_with(const bshm_options *options, bshm_segment **segment)
{
	*segment = NULL;
	last_error = (bshm_error){0};
	return bshm_segment_open(options, segment, &last_error);
}

static bshm_options standard(void)
{
	return (bshm_options){.path = test_path("segment"), .filter_bytes = MB(1), .mode = 0600};
}

/* Opens with the standard options, and closes again. */
static bshm_status try_open(void)
{
	const bshm_options options = standard();
	bshm_segment *segment;
	const bshm_status status = open_with(&options, &segment);
	CHECK((status == BSHM_OK) == (segment != NULL));
	CHECK_INT(last_error.status, status);
	bshm_segment_close(segment);
	return status;
}

static bool exists(const char *file)
{
	struct stat st;
	return lstat(test_path(file), &st) == 0;
}

static bshm_os_stat stat_file(void)
{
	bshm_os_stat st;
	REQUIRE(bshm_os_stat_path(test_path("segment"), &st) == 0);
	return st;
}

#endif

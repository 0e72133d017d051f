/*
 * test_status.c - statuses and their texts.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/status.h"

#include <string.h>

TEST(every_status_has_a_text_of_its_own)
{
	const char *texts[16];
	int count = 0;
#define REMEMBER(name, code, text)                                                                 \
 CHECK_INT(BSHM_E_##name, -(code));                                                                \
 CHECK(strcmp(bshm_status_str(BSHM_E_##name), text) == 0);                                         \
 texts[count++] = bshm_status_str(BSHM_E_##name);
	BSHM_STATUS_LIST(REMEMBER)
#undef REMEMBER
	for (int i = 0; i < count; i++) {
		for (int j = 0; j < i; j++) {
			CHECK(strcmp(texts[i], texts[j]) != 0);
		}
	}
	CHECK(strcmp(bshm_status_str(BSHM_OK), "ok") == 0);
	CHECK(strcmp(bshm_status_str(1), "ok") == 0);
	CHECK(strcmp(bshm_status_str(-1000), "unknown status") == 0);
}

TEST(a_failure_fills_the_whole_record)
{
	bshm_error error;
	memset(&error, 0xff, sizeof(error));
	CHECK_INT(bshm__fail_sizes(&error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY, 7, 5), BSHM_E_NO_SPACE);
	CHECK_INT(error.status, BSHM_E_NO_SPACE);
	CHECK_INT(error.os_code, 0);
	CHECK(error.cause == BSHM_CAUSE_MEMORY);
	CHECK_INT(error.asked, 7);
	CHECK_INT(error.available, 5);
	CHECK(error.rate == 0);
	CHECK_INT(bshm__fail(&error, BSHM_E_IO, BSHM_CAUSE_READ), BSHM_E_IO);
	CHECK_INT(error.asked, 0);
	CHECK_INT(error.available, 0);
}

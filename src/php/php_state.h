/*
 * php_state.h - the module globals: the INI settings, and what each thread keeps.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_STATE_H
#define PHP_BLOOMSHM_STATE_H

#include "php.h"

#include "core/bshm.h"

/* bloomshm.missing_filter: what a call does when its filter is not published. */
typedef enum {
	BLOOMSHM_MISSING_MAYBE,
	BLOOMSHM_MISSING_WARN,
	BLOOMSHM_MISSING_THROW
} php_bloomshm_missing;

/* bloomshm.serializer: what turns arrays and objects into bytes. */
typedef enum {
	BLOOMSHM_SERIALIZER_NONE,
	BLOOMSHM_SERIALIZER_PHP,
	BLOOMSHM_SERIALIZER_IGBINARY
} php_bloomshm_serializer;

typedef struct php_bloomshm_mapping php_bloomshm_mapping;

ZEND_BEGIN_MODULE_GLOBALS(bloomshm)
	/* The settings: php_settings.c. */
	bool enable;
	bool readonly;
	bool huge_pages;
	char *path;
	zend_long filter_memory;
	zend_long cache_memory;
	zend_long cache_records;
	zend_long serializer; /* php_bloomshm_serializer */
	zend_long mode;
	zend_long missing_filter; /* php_bloomshm_missing */
	/* The thread's segment: php_segment.c. */
	php_bloomshm_mapping *mapping;
	bshm_views *views;          /* the filters that the thread has resolved */
	bshm_segment *segment;      /* NULL: there is none, or it has to be looked for */
	double request_time;        /* `segment` holds for this request, */
	uint32_t questions_left;    /* and for so many questions */
	uint64_t looked_ns;         /* when it was taken last; the coarse clock */
	uint64_t hand_in_ns;        /* when the counts of questions are to be handed in */
	bshm_status segment_status; /* why `segment` is NULL */
	/* The thread's warnings: php_error.c. */
	HashTable *warned; /* the filters that the request at `warned_at` was warned about */
	double warned_at;
ZEND_END_MODULE_GLOBALS(bloomshm)

ZEND_EXTERN_MODULE_GLOBALS(bloomshm)
#define BLOOMSHM_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(bloomshm, v)

#if defined(ZTS) && defined(COMPILE_DL_BLOOMSHM)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

#endif

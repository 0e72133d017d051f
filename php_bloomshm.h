/*
 * php_bloomshm.h - the extension's module: globals and what its files share.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_H
#define PHP_BLOOMSHM_H

#include "php.h"

#include "SAPI.h"
#include "core/bshm.h"
#include "platform/atomic.h"

#define PHP_BLOOMSHM_VERSION "0.3.0"

extern zend_module_entry bloomshm_module_entry;
#define phpext_bloomshm_ptr &bloomshm_module_entry

/* What happens when a question or an add names a filter that is not published. */
typedef enum {
	BLOOMSHM_MISSING_MAYBE,
	BLOOMSHM_MISSING_WARN,
	BLOOMSHM_MISSING_THROW
} php_bloomshm_missing;

/* What makes bytes of arrays and objects. */
typedef enum {
	BLOOMSHM_SERIALIZER_NONE,
	BLOOMSHM_SERIALIZER_PHP,
	BLOOMSHM_SERIALIZER_IGBINARY
} php_bloomshm_serializer;

typedef struct php_bloomshm_mapping php_bloomshm_mapping;

ZEND_BEGIN_MODULE_GLOBALS(bloomshm)
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
	/* This thread's, of php_segment.c. */
	php_bloomshm_mapping *mapping;
	bshm_cache *cache;     /* resolved names */
	bshm_segment *segment; /* NULL: it must be taken anew */
	double request;        /* for this request, */
	uint32_t credit;       /* and for so many questions, it is taken as it is */
	bshm_status lack;      /* why there is none */
	HashTable *warned;     /* filters that were warned about in request `warned_at` */
	double warned_at;
ZEND_END_MODULE_GLOBALS(bloomshm)

ZEND_EXTERN_MODULE_GLOBALS(bloomshm)
#define BLOOMSHM_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(bloomshm, v)

#if defined(ZTS) && defined(COMPILE_DL_BLOOMSHM)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* ------------------------------------------------------------------ php_ini.c */

void php_bloomshm_ini_register(int module_number);

/* ------------------------------------------------------------------ php_segment.c */

bshm_segment *php_bloomshm_segment_now(void);

/*
 * This process's segment for a question: NULL when there is none (disabled, absent, unreachable). Never
 * waits, never throws, never creates one; a failed attach is tried again after a second. A call takes its
 * segment once, by one of the functions below: the next time it may be another, and the first one gone.
 */
static inline bshm_segment *php_bloomshm_segment(void)
{
	/* A request has another time than the one before it, 0 until it is asked for. */
	if (EXPECTED(BLOOMSHM_G(request) == SG(global_request_time)) &&
		EXPECTED(BLOOMSHM_G(credit) != 0)) {
		BLOOMSHM_G(credit)--;
		return BLOOMSHM_G(segment);
	}
	return php_bloomshm_segment_now();
}

/* The same for what changes a filter that stands: it looks at the clock each time. */
bshm_segment *php_bloomshm_segment_changing(void);

/* What php_bloomshm_unanswered() is to know when there is no segment: NOT_FOUND where none stands yet, so that
 * every filter is missing; UNAVAILABLE; or, when bloomshm is off, BUSY. */
static inline bshm_status php_bloomshm_lack(void)
{
	return BLOOMSHM_G(lack);
}

/* For calls that store something: creates it, or waits for a moment for another process that does; throws
 * when there is none. `surely`: looks whether it stands, whenever that was done last. */
bshm_segment *php_bloomshm_segment_or_throw(bool surely);
/* For status pages: why there is no segment. */
bshm_segment *php_bloomshm_segment_try(bshm_error *error);
/* For calls that need a standing filter: NOT_FOUND is thrown where no segment stands yet. */
bshm_segment *php_bloomshm_segment_of(const char *filter);
/* Was what has just been published in the segment published for others? False: its file has been removed
 * meanwhile, and an exception was thrown. */
bool php_bloomshm_published(const bshm_segment *segment, const char *filter);

/* This thread's cache of resolved names; only for who has a segment. */
static inline bshm_cache *php_bloomshm_cache(void)
{
	return BLOOMSHM_G(cache);
}

void php_bloomshm_segment_startup(int module_number);
void php_bloomshm_segment_shutdown(void);
void php_bloomshm_thread_leave(zend_bloomshm_globals *globals);

/* For calls that make filters; NULL: an exception was thrown (READ_ONLY, or no segment). */
bshm_segment *php_bloomshm_segment_to_change(bool surely);
/* The same for calls that only move what stands, which NOT_FOUND is thrown for where no segment is. */
bshm_segment *php_bloomshm_segment_to_move(const char *filter);
/* For adds and removals; NULL: there is none (they give false), or an exception was thrown. */
bshm_segment *php_bloomshm_segment_to_add(void);

/* ------------------------------------------------------------------ php_error.c */

#define BLOOMSHM_CODE_UNAVAILABLE  (-BSHM_E_UNAVAILABLE)
#define BLOOMSHM_CODE_NO_SPACE     (-BSHM_E_NO_SPACE)
#define BLOOMSHM_CODE_FULL         (-BSHM_E_FULL)
#define BLOOMSHM_CODE_EMPTY        (-BSHM_E_EMPTY)
#define BLOOMSHM_CODE_EXISTS       (-BSHM_E_EXISTS)
#define BLOOMSHM_CODE_NOT_FOUND    (-BSHM_E_NOT_FOUND)
#define BLOOMSHM_CODE_INCOMPATIBLE (-BSHM_E_INCOMPATIBLE)
#define BLOOMSHM_CODE_ERROR_RATE   (-BSHM_E_ERROR_RATE)
#define BLOOMSHM_CODE_CORRUPT      (-BSHM_E_CORRUPT)
#define BLOOMSHM_CODE_RANGE        (-BSHM_E_RANGE)
#define BLOOMSHM_CODE_READ_ONLY    (-BSHM_E_READ_ONLY)
#define BLOOMSHM_CODE_TIMEOUT      (-BSHM_E_TIMEOUT)
#define BLOOMSHM_CODE_IO           (-BSHM_E_IO)

extern zend_class_entry *php_bloomshm_exception_ce;

void php_bloomshm_throw(const bshm_error *error, const char *filter);
/* The same with the code UNAVAILABLE, whatever is wrong with the segment: what the record store's functions throw. */
void php_bloomshm_throw_unavailable(const bshm_error *error);
/* The same for a call that was to change one record: the message shows its key, escaped and cut to 64 bytes. */
void php_bloomshm_throw_record(const bshm_error *error, zend_string *key);
/* The same for an add: it is a standing filter, which had to grow, that does not fit. */
void php_bloomshm_throw_add(const bshm_error *error, const char *filter);
/* Writes why the segment cannot be used to the SAPI's log, once a minute and process. */
void php_bloomshm_log(const bshm_error *error);
/* Throws for a file that holds, or shall hold, a filter. */
void php_bloomshm_throw_file(const bshm_error *error, const char *filter, const char *path);
/*
 * A question or an add met a filter that cannot answer. Counts `questions` answers for a missing
 * one, or without a segment, and carries out bloomshm.missing_filter; false: an exception was thrown.
 */
bool php_bloomshm_unanswered(bshm_status status, const char *filter, uint64_t questions);
uint64_t php_bloomshm_missing_answers(void);
/* The newest error that was thrown or met while attaching, for bloom_status(); or NULL. */
const char *php_bloomshm_last_error(void);
void php_bloomshm_warned_free(HashTable *warned);

/* ------------------------------------------------------------------ php_keys.c */

/* A key's bytes: of `string`, or of `digits`. `owned` is the string where it had to be made. */
typedef struct {
	bshm_key key;
	zend_string *string;
	zend_string *owned;
	char digits[24];
} php_bloomshm_key;

/* Takes the key out of an element; false: a TypeError naming the element was thrown. */
bool php_bloomshm_key_of(
	php_bloomshm_key *out, zval *element, zend_ulong index, uint32_t argument, bool rows);
void php_bloomshm_key_release(php_bloomshm_key *key);

/* Calls `each` for every key of an array or Traversable, whose elements may be `rows`; false: an
 * exception is set. */
typedef bool (*php_bloomshm_each)(const php_bloomshm_key *key, void *context);
bool php_bloomshm_iterate(
	zval *keys, uint32_t argument, bool rows, php_bloomshm_each each, void *context);

/* A list of keys that outlives what it was made from. */
typedef struct {
	bshm_key *keys;
	zend_string **strings;
	size_t count;
	size_t room;
} php_bloomshm_list;

bool php_bloomshm_list_collect(php_bloomshm_list *list, zval *keys, uint32_t argument, bool rows);
void php_bloomshm_list_release(php_bloomshm_list *list);

/* ------------------------------------------------------------------ php_value.c */

/* A value as the record store keeps it; the bytes are of `number`, or of `string`. */
typedef struct {
	bshm_value value;
	zend_string *string; /* to be released; NULL: none */
	union {
		zend_long integer;
		double real;
	} number;
} php_bloomshm_value;

/* False: it cannot be kept, and an exception was thrown. May run user code. */
bool php_bloomshm_value_of(php_bloomshm_value *out, zval *value);
void php_bloomshm_value_release(php_bloomshm_value *value);
/* Copies what was found: 1 = it is in *out; 0 = it changed meanwhile; -1 = it cannot be read. */
int php_bloomshm_value_copy(const bshm_found *found, php_bloomshm_value *out);
/* Makes a PHP value of it, which takes its bytes; may run user code. False: it cannot be read (perhaps
 * an exception is set). */
bool php_bloomshm_value_take(php_bloomshm_value *value, zval *out);
/* Both: 1 = it is in *out; 0 = it changed meanwhile; -1 = it cannot be read. */
int php_bloomshm_value_make(const bshm_found *found, zval *out);
/* For up to BSHM_SHORT_MAX bytes. Where the size is a constant, the allocator need not look for its bin. */
static inline zend_string *php_bloomshm_short_string(size_t length)
{
	zend_string *string = length <= 15   ? zend_string_alloc(15, false)
						  : length <= 23 ? zend_string_alloc(23, false)
						  : length <= 31 ? zend_string_alloc(31, false)
										 : zend_string_alloc(BSHM_SHORT_MAX, false);
	ZSTR_LEN(string) = length;
	return string;
}

static inline int php_bloomshm_value_get(const bshm_found *found, zval *out)
{
	if (EXPECTED(found->fetched && found->type == BSHM_VALUE_STRING)) {
		zend_string *bytes = php_bloomshm_short_string((size_t) found->length);
		bshm_found_short(found, ZSTR_VAL(bytes));
		ZSTR_VAL(bytes)[ZSTR_LEN(bytes)] = '\0';
		ZVAL_NEW_STR(out, bytes);
		return 1;
	}
	return php_bloomshm_value_make(found, out);
}

/* ------------------------------------------------------------------ php_cache.c and others */

/* This process's segment, if it has a record store; else NULL. */
static inline bshm_segment *php_bloomshm_store(void)
{
	bshm_segment *segment = php_bloomshm_segment();
	return EXPECTED(segment != NULL && bshm_store_exists(segment)) ? segment : NULL;
}

/* The same for calls that store something: creates it, or waits for a moment for another process that does. */
bshm_segment *php_bloomshm_store_patient(void);
/* For calls that throw when there is no record store; NULL: an exception was thrown. `stores`: creates it. */
bshm_segment *php_bloomshm_store_or_throw(bool stores);
/* Finds a record's value: 1 = it is in *out, 0 = there is none (perhaps an exception is set). */
int php_bloomshm_record_get(bshm_segment *segment, uint32_t space, const bshm_key *key,
	unsigned flags, bshm_patience *patience, zval *out);
/*
 * What was found changed while it was copied: finds it again and copies it, as bshm_record_copy() does. True: *found
 * and *out are it. `patience`: NULL, or that of a call with many keys.
 */
bool php_bloomshm_value_again(bshm_found *found, const bshm_key *key, unsigned flags,
	bshm_patience *patience, php_bloomshm_value *out);
/* Keys were added to a filter: what is remembered of them is void. */
void php_bloomshm_forget_added(
	bshm_segment *segment, const zend_string *filter, const bshm_key *keys, size_t count);

#endif

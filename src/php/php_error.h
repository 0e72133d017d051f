/*
 * php_error.h - from a status to an exception, a warning or a line in the log.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_ERROR_H
#define PHP_BLOOMSHM_ERROR_H

#include "php.h"

#include "core/bshm.h"

/* The codes of BloomShm\Exception, for the stub. */
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

/* For what only the binding can say. */
void php_bloomshm_throw_format(bshm_status status, const char *format, ...)
	ZEND_ATTRIBUTE_FORMAT(printf, 2, 3);
/* `filter` may be NULL. */
void php_bloomshm_throw(const bshm_error *error, const char *filter);
/* For an add: NO_SPACE means that the filter had to grow. */
void php_bloomshm_throw_add(const bshm_error *error, const char *filter);
/* For a dump or a restore: the error may be about the file at `path`. */
void php_bloomshm_throw_file(const bshm_error *error, const char *filter, const char *path);
/* For a change of one record: the message shows its key, escaped and cut to 64 bytes. */
void php_bloomshm_throw_record(const bshm_error *error, zend_string *key);
/* For a call that needs the record store: the code is UNAVAILABLE, whatever the error's status. */
void php_bloomshm_throw_unavailable(const bshm_error *error);

/*
 * For a call that does not throw: writes to the SAPI's log why it has no segment, or that the file
 * is gone. A process writes each of the two once a minute at most.
 */
void php_bloomshm_log(const bshm_error *error);
/* The newest error that was thrown or logged, for bloom_status(); or NULL. */
const char *php_bloomshm_last_error(void);

/*
 * For a question or an add that its filter cannot answer. Counts `questions` answers where the
 * filter or the segment is missing, and carries out bloomshm.missing_filter. False: an exception
 * was thrown.
 */
bool php_bloomshm_unanswered(bshm_status status, const char *filter, uint64_t questions);
uint64_t php_bloomshm_missing_answers(void);
void php_bloomshm_warned_free(HashTable *warned);

#endif

/*
 * php_path.h - the path of this process's segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_PATH_H
#define PHP_BLOOMSHM_PATH_H

#include <stdbool.h>

/* May it be bloomshm.path? A relative one would be another file for each working folder. */
bool php_bloomshm_path_is_absolute(const char *path, size_t length);

/* bloomshm.path with the user's number, the same until it is forgotten; "" when there is no
 * memory. */
const char *php_bloomshm_path(void);
/* Was a preload script the first that needed it? */
bool php_bloomshm_path_of_preload(void);
/* Does this request have another setting than the path in use, which it fixes if there is none? A
 * virtual host of Apache may. */
bool php_bloomshm_path_is_other(void);
/* At the beginning of a fork's child. */
void php_bloomshm_path_in_child(void);
/* Is it still that of the process that this one was forked from, whatever is configured? */
bool php_bloomshm_path_is_inherited(void);
/* Is another path configured than the one in use, or none in use, or is the process another user?
 * Only by the thread that settles it. */
bool php_bloomshm_path_moved(void);
/* It is not inherited any more. */
void php_bloomshm_path_settle(void);
/* By one thread at a time. Other threads may go on reading the text; the next call frees it. */
void php_bloomshm_path_forget(void);

/* Is this a script on the command line, and so perhaps a batch job? */
bool php_bloomshm_is_command_line(void);
/* On the command line, once: warns if another user has a segment of the same pattern. */
void php_bloomshm_path_warn(void);

#endif

/*
 * embed.h - a program that runs PHP with threads.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef EMBED_H
#define EMBED_H

#include "php.h"

/* Starts PHP as the SAPI `name`, with lines of INI and functions of the program. The calling thread
 * gets no request. Any failure ends the program. */
void embed_start(const char *name, const char *ini, const zend_function_entry *functions);
/* After all other threads have ended. */
void embed_stop(void);

/* Runs `work(argument)` in a thread with a request of PHP. */
pthread_t embed_thread(void (*work)(void *argument), void *argument);
/* Ends the thread's request, and begins another one. */
void embed_next_request(void);
/* The value of a PHP expression, as an integer. An exception that is not caught ends the
 * program. */
zend_long embed_value(const char *expression);
/* The same in a new thread. */
zend_long embed_value_of_thread(const char *expression);

/* Prints a check, and counts it if it is not ok. */
void embed_check(const char *what, bool ok);
/* What main() returns: 1 if a check was not ok. */
int embed_status(void);

#endif

/*
 * fleet_link.h - the link to an origin, by libcurl, and one request over it.
 *
 * A server of https must have a certificate for its name, of an authority that is known. No
 * redirect is followed. fleet_fetch.h and fleet_put.h have what is asked for.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_LINK_H
#define FLEET_LINK_H

#include "fleet/fleet.h"

#include <curl/curl.h>

#define FLEET_ETAG_ROOM 256
#define FLEET_WORD_ROOM 128

/* Only fleet_link.c, and who logs in, look into it. */
typedef struct {
	CURL *curl;
	CURLM *multi;
	bool (*is_stopped)(void);         /* NULL: never */
	void (*meanwhile)(void *context); /* NULL: nothing */
	void *context;
	char *base;     /* URL without a slash at its end */
	char *source;   /* the same without a user and a password */
	bool is_signed; /* by SigV4 */
	char *token;    /* the header of a session; NULL: there is none */
	uint64_t bytes; /* that have come */
	char said[CURL_ERROR_SIZE];
} fleet_link;

/*
 * `url`: http://, https:// or file://, or a folder, which may be missing. `ca`: a file with the
 * authorities that are known, as PEM; NULL: those that the host knows. `is_stopped` is asked now
 * and then; when it holds, what is fetched fails. NULL: an URL of another kind, no memory.
 */
fleet_link *fleet_link_new(
	const char *url, const char *ca, bool (*is_stopped)(void), fleet_error *error);
/* NULL is allowed. */
void fleet_link_free(fleet_link *f);
/* Replaces `is_stopped`, NULL: it never is; returns the one from before. */
bool (*fleet_link_stopped_by(fleet_link *f, bool (*is_stopped)(void)))(void);
/*
 * Calls `meanwhile` while an answer comes: at most ten times a second, and again after as long as
 * it took, so that what comes has half of the time however slow it is. It must not use this link.
 */
void fleet_link_meanwhile(fleet_link *f, void (*meanwhile)(void *context), void *context);
/* From now on each answer must be whole after so many seconds. */
void fleet_link_limit(fleet_link *f, unsigned seconds);
/* The URL without a user and a password. */
const char *fleet_link_source(const fleet_link *f);

typedef struct {
	const char *method; /* NULL: GET */
	const char *path;
	const char *condition; /* a header; NULL: none */
	bool is_fresh;         /* a cache, which may hold a head for hours, asks the origin */
	const char *bytes;     /* of a PUT; NULL: */
	int fd;                /* a file, from its beginning on */
	uint64_t length;
} fleet_request;

/* What is filled by the answer. `room`, and `bytes` or `fd`, say where its body goes; `fd` -1:
 * nowhere. */
typedef struct {
	char *bytes; /* or: */
	int fd;
	crypto_generichash_state *hash; /* of what came; NULL: it is not wanted */
	uint64_t room;
	uint64_t count;
	bool is_too_long;
	int code;    /* of the system, if a write failed */
	long status; /* of the answer that is being read */
	char etag[FLEET_ETAG_ROOM];
	double age_s;
	time_t sent_s;              /* by the server's clock; 0: it does not say */
	time_t changed_s;           /* the file */
	uint64_t length;            /* that the body of a HEAD would have */
	char word[FLEET_WORD_ROOM]; /* what the server says beside an error */
	size_t word_length;
} fleet_answer;

/*
 * Sends it, and waits for the answer. Returns the status, which is 200 for a file; -1: there was no
 * whole answer.
 */
long fleet_link_send(fleet_link *f, const fleet_request *r, fleet_answer *a, fleet_error *error);
/* Says which status it was, and the server's word. Returns false. */
bool fleet_link_refused(const fleet_link *f, const fleet_request *r, long status,
	const fleet_answer *a, fleet_error *error);

#endif

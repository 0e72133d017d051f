/*
 * fleet_tls.h - a connection over TLS, for a library that knows descriptors only.
 *
 * hiredis speaks TLS from 1.0 on; Debian 12 has 0.14.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_TLS_H
#define FLEET_TLS_H

#include "fleet/fleet.h"

typedef struct fleet_tls fleet_tls;

typedef struct {
	const char *host;
	const char *port;
	const char *ca;   /* a file with the authorities that are known; NULL: those of the system */
	const char *cert; /* a file with the certificate of this client; NULL: none is shown */
	const char *key;  /* and its key */
} fleet_tls_place;

/*
 * Connects, by libcurl, and checks that the certificate is of that host and of a known authority.
 * Waits at most `patience_s` seconds.
 *
 * Returns a socket, or -1. What is written to it goes to the host, and so back: a thread carries
 * the bytes until either side has ended. The caller closes the socket, and then *out, whatever was
 * returned.
 */
int fleet_tls_open(
	fleet_tls **out, const fleet_tls_place *place, unsigned patience_s, fleet_error *error);
/* After its socket was closed. NULL is allowed. */
void fleet_tls_close(fleet_tls *t);

#endif

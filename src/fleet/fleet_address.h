/*
 * fleet_address.h - where the server of a stream is, and who logs in: an URL in parts.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_ADDRESS_H
#define FLEET_ADDRESS_H

#include <stdbool.h>

/* The parts that the URL lacks are NULL. */
typedef struct {
	char *host;
	char *port;
	char *path; /* of a socket */
	char *user;
	char *password;
	char *database;
	bool is_tls;
	char *ca; /* files, as in fleet_tls.h */
	char *cert;
	char *key;
} fleet_address;

/* redis://, rediss:// or unix://, as fleet_stream_open() has it. False: it is of another form.
 * *out is to be forgotten, whatever was returned. */
bool fleet_address_parse(const char *text, fleet_address *out);
void fleet_address_forget(fleet_address *a);

#endif

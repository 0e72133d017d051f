/*
 * fleet_serve.h - offers a folder of heads and blobs to other followers: a small web server.
 *
 * It answers GET and HEAD for /FILTER/head and /blobs/HASH, and nothing else.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_SERVE_H
#define FLEET_SERVE_H

#include "fleet/fleet_folder.h"

typedef struct fleet_server fleet_server;

/*
 * Begins to serve at "ADDRESS:PORT" ("[ADDRESS]:PORT" for IPv6) in a thread of its own, which takes
 * no signals. The folder must stay open. NULL: it cannot.
 */
fleet_server *fleet_serve_begin(
	const fleet_folder *folder, const char *address, fleet_error *error);
/* NULL is allowed. */
void fleet_serve_end(fleet_server *server);

#endif

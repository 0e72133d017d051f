/*
 * fleet_place.h - what a publisher does to an origin: to a folder, or through a web server.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_PLACE_H
#define FLEET_PLACE_H

#include "fleet/fleet_folder.h"
#include "fleet/fleet_head.h"
#include "fleet/fleet_link.h"

/* A publisher that found a blob there may need so long until it announces it. */
#define FLEET_GRACE_S 3600

/* The file of the epoch. */
#define FLEET_PUBLISHER_FILE "publisher"

typedef struct fleet_place fleet_place;

typedef struct {
	fleet_link *link;
	char etag[FLEET_ETAG_ROOM];  /* of the head that was read last; "": it had none */
	char epoch[FLEET_ETAG_ROOM]; /* of the file of the epoch; the same */
	bool has_epoch;              /* that file was there */
} fleet_web;

typedef struct {
	const fleet_place *place;
	fleet_web *web; /* NULL: the folder is the origin */
	fleet_folder folder;
	char filter[FLEET_FOLDER_ROOM]; /* its name in paths */
	fleet_secret_key key;
	uint64_t epoch;
	bool is_first;   /* nothing was announced yet */
	fleet_head last; /* else: the head when it began */
	fleet_text last_text;
	uint64_t next_version; /* above all that followers may have seen: a power loss may have taken
							  the head back, but not its copy head-N, which is synced before it */
} fleet_origin;

struct fleet_place {
	/* A small file of the filter: 1; 0: there is none; -1. */
	int (*read)(const fleet_origin *o, const char *file, fleet_text *out, fleet_error *error);
	/* The file of the epoch becomes this one, if it is still the one that was read. */
	bool (*take)(const fleet_origin *o, const char *bytes, size_t length, fleet_error *error);
	bool (*has)(const fleet_origin *o, const fleet_hash *hash, uint64_t bytes);
	/* A blob that o->folder or the origin has is at the origin afterwards. */
	bool (*deliver)(
		const fleet_origin *o, const fleet_hash *hash, uint64_t bytes, fleet_error *error);
	/* Writes what has to be there before the head is looked at for the last time. NULL: nothing. */
	bool (*prepare)(const fleet_origin *o, fleet_error *error);
	/* The last step: the head becomes this one, if it is still the last one. */
	bool (*announce)(const fleet_origin *o, uint64_t version, const char *bytes, size_t length,
		fleet_error *error);
	/* Removes heads of versions below `from`, and what no head names. `next`: the version that was
	 * announced. */
	void (*clean)(const fleet_origin *o, uint64_t from, uint64_t next);
};

extern const fleet_place fleet_place_folder;
extern const fleet_place fleet_place_web;

/* The folder has a file for each blob of this head: so it is known that they may be removed once no
 * head names them. */
void fleet_place_note(const fleet_origin *o, const fleet_head *head);

#endif

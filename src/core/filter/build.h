/*
 * build.h - the steps of making a filter, for build.c, load.c, add_layer.c, merge.c and
 * filter_file.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_BUILD_H
#define BSHM_BUILD_H

#include "core/filter/spool.h"
#include "core/filter/view.h"
#include "core/segment/name.h"

/* A filter being made aside; see the top of build.c. */
struct bshm_build {
	bshm_segment *segment;
	bshm__name name;
	bshm_op *op;
	uint64_t owner; /* of the op: the child of a fork must not end it */
	uint64_t serial;
	uint32_t entry;
	uint32_t op_kind; /* BSHM_OP_...: a RESERVE publishes only where there is no filter */
	uint64_t wait_ns; /* for the lock */
	bshm__spool *spool;
	uint64_t offered;
	uint64_t items;   /* of a build that began with a filter's file: keys, with those added */
	uint64_t look_at; /* at so many offered keys it is asked again whether they can fit */
	uint64_t hint;
	uint32_t compared;     /* BSHM_NAMED_...: parameters that an existing filter must have too */
	bool like;             /* the build takes after an existing filter, */
	bshm_descriptor model; /* this one; layer_count 0: there was none */
	bshm_descriptor descriptor;         /* of what will be published, */
	bshm_layer layers[BSHM_LAYERS_MAX]; /* and all of its layers, the oldest first */
	bshm_view view;                     /* of the partitions taken */
	bshm_run run;
	char source[BSHM_SOURCE_BYTES_MAX + 1]; /* of what follows an origin */
	bool sends;                             /* keys of adds to it go to the outbox */
	uint64_t *map;                          /* scratch: bshm__blocks_map() */
};

/* As BSHM_NAMED_...: what only a reservation compares. */
#define BSHM_NAMED_WINDOW   8u
#define BSHM_NAMED_CAPACITY 16u
#define BSHM_NAMED_SEED     32u
#define BSHM_NAMED_ALL      63u

/* NULL: no private memory. Batch jobs wait longer for the lock than requests do. */
bshm_build *bshm__build_new(
	bshm_segment *segment, const bshm__name *name, uint32_t op_kind, uint64_t wait_ns);
/*
 * Takes the lock and registers the op: 1. A reservation: 0 = the same filter exists, and no op. A
 * build with `like` takes after the existing filter first; EXISTS.
 */
int bshm__build_register(bshm_build *build, bshm_error *error);
/* Under the lock: begins the build's op on an entry. OK, or NO_SPACE. */
bshm_status bshm__build_begin_op(
	bshm_build *build, uint32_t index, uint64_t seed, bool counting, bshm_error *error);
/* Takes the lock. If the op is no longer the build's, fails and holds no lock. */
bshm_status bshm__build_lock(const bshm_build *build, bshm_error *error);
/*
 * Takes partitions for layers from..descriptor.layer_count-1, as many as their run.count says, and
 * lays the view over them. Gives back those that the build had. Their words are not changed.
 */
bshm_status bshm__build_take(bshm_build *build, uint32_t from, bshm_error *error);
/* Takes partitions for one more layer, layers[layer_count], and lays the view over all layers. */
bshm_status bshm__build_extend(bshm_build *build, bshm_error *error);
/* Zeroes the partitions of the layers from `from` on. */
void bshm__build_zero(const bshm_build *build, uint32_t from);
/* Under the lock: applies the journal and publishes with one store. Ends the op in any case. */
bshm_status bshm__build_publish_locked(bshm_build *build, uint64_t *items, bshm_error *error);
/* The same, taking the lock: 1. A reservation: 0 = the same filter exists by now. */
int bshm__build_publish(bshm_build *build, uint64_t *items, bshm_error *error);
/* Fills the error: NO_SPACE, so many partitions asked for. */
bshm_status bshm__build_fail_size(bshm_build *build, uint64_t partitions, bshm_error *error);
/* Fills the error: ERROR_RATE, above the limit. */
bshm_status bshm__build_fail_rate(
	uint64_t items, const bshm_info *measured, double limit, bshm_error *error);

#endif

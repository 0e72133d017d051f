/*
 * build.h - what the files that make filters share: build.c, grow.c, merge.c, snapshot.c.
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
	uint64_t owner; /* that began the build: a fork's child must not end it */
	uint64_t serial;
	uint32_t entry;
	uint32_t kind;    /* of the op: BSHM_OP_RESERVE publishes only where nothing stands */
	uint64_t wait_ns; /* for the lock */
	bshm__spool *spool;
	uint64_t offered;
	uint64_t look_at; /* how many keys are offered when it is next asked whether they can fit */
	uint64_t hint;
	bshm_descriptor descriptor;         /* of what will be published, */
	bshm_layer layers[BSHM_LAYERS_MAX]; /* and all of its layers, the oldest first */
	bshm_view view;                     /* of the partitions taken */
	bshm_run run;
	uint64_t *map; /* scratch: bshm__blocks_map() */
};

/* NULL: no private memory. `kind` is the op's; batch jobs wait longer for the lock than pages. */
bshm_build *bshm__build_new(
	bshm_segment *segment, const bshm__name *name, uint32_t kind, uint64_t wait_ns);
/* Registers the op, under the lock. For a reservation: 0 = the same filter stands, no op. */
int bshm__build_register(bshm_build *build, bool any_seed, bshm_error *error);
/* The lock, with the build's op in it: not the lock if the op is no longer this build's. */
bshm_status bshm__build_lock(const bshm_build *build, bshm_error *error);
/*
 * Takes partitions for layers from..descriptor.layer_count-1, whose run.count says how many, in
 * the place of those the build has, and lays the view over them. What is in them is not changed.
 */
bshm_status bshm__build_take(bshm_build *build, uint32_t from, bshm_error *error);
/* Zeroes the partitions of the layers from `from` on. */
void bshm__build_zero(const bshm_build *build, uint32_t from);
/*
 * Under the lock: sets the bits of all keys of the journal; returns how many were new there. Takes
 * nothing out, so it may be interrupted and done again.
 */
uint64_t bshm__journal_apply(bshm_segment *segment, const bshm_op *op, const bshm_view *view);
/* Under the lock: what was added meanwhile, and the one store. Ends the op, whatever it returns. */
bshm_status bshm__build_publish_locked(bshm_build *build, uint64_t *items, bshm_error *error);
/* The same, taking the lock. A reservation: 0 = the same filter stands by now. */
int bshm__build_publish(bshm_build *build, bool any_seed, uint64_t *items, bshm_error *error);
/* NO_SPACE: so many partitions are more than the segment has. */
bshm_status bshm__build_fail_size(bshm_build *build, uint64_t partitions, bshm_error *error);

#endif

/*
 * fuzz_segment.c - a libFuzzer target: a damaged segment is opened, checked, and used in every way.
 *
 * An input is a list of edits of a sound segment (template.c), so that a few bytes get past magic
 * numbers, sizes and checksums to what lies behind them:
 *
 *      +--------+--------+--------+--------+
 *      | flags  | order           | early  |  then the edits; `early` of them before it is opened
 *      +--------+--------+--------+--------+
 *      | kind   | how    | index           |
 *      +--------+--------+--------+--------+
 *      | field           | when            |  then `how AND 15` + 1 bytes, if the way takes bytes
 *      +-----------------+-----------------+
 *
 * `kind` names a region, `index` one of its structs, `field` a place in it. The edits that are not
 * early are made while the calls run, just before the load from the segment that `when` says: a
 * value that was checked is another one when it is used. The core is built with
 * -fsanitize-coverage=trace-loads, which calls us at each; a second thread would do the same, but
 * at no place that could be told.
 *
 * No call may crash, and no input take more than 10 s of the processor (no real time passes in a
 * wait: world.c).
 *
 * The oracle: when the edits left untouched what an answer of a filter is made of (its entry up to
 * the descriptor in force, that, its layers, partitions, links if it is scattered, epochs if it
 * slides, and the seed and clock of the header), none is late, and the validator finds no fault
 * right after the segment was opened, then no key of that filter may be denied, then and after all
 * calls. Edits of the filter's bits are out, for any bits are a filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fuzz.h"

#include "core/cache/slab.h"
#include "core/segment/name.h"
#include "core/segment/run.h"
#include "core/segment/sound.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FLAG_RESEAL   1u  /* after the early edits all checksums are made anew */
#define FLAG_READONLY 2u  /* the filters are mapped for reading */
#define FLAG_STRANGER 4u  /* owner slot 3 belongs to a process that lives */
#define FLAG_LOCKS    8u  /* all locks are a dead owner's */
#define FLAG_SIZE     16u /* the file is cut to `order` pages */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ------------------------------------------------------------------ regions */

typedef struct {
	const void *begin; /* in the template */
	size_t count;
	size_t bytes; /* of one */
} region;

#define SLOTS_MAX 4096u
#define REGIONS   27u
#define OLD       23u /* seeds count by this; what came later has the last kinds */

static fuzz_template sound;
static uint8_t *file; /* our own mapping of the file that is opened */
static int file_fd = -1;
static bshm_segment shape; /* where the regions are in the template */
static region regions[REGIONS];
static uint32_t slot_offsets[SLOTS_MAX]; /* of records and chunks, from the template's begin */
static uint32_t slot_count;
static uint32_t unit_offsets[64];
static uint32_t unit_count;

static uint32_t offset_of(const void *at)
{
	return (uint32_t) ((const uint8_t *) at - sound.bytes);
}

/* Rather than laying it out a second time: the engine's own view of the file, moved. */
static void learn_shape(void)
{
	const char *path = fuzz_path("segment");
	const bshm_options options = fuzz_options(path);
	bshm_segment *segment;
	bshm_error error;
	if (bshm_segment_open(&options, &segment, &error) != BSHM_OK) {
		fuzz_defect("the template is refused", bshm_cause_str(error.cause));
	}
	shape = *segment;
#define MOVE(field)                                                                                \
 shape.field = (void *) (sound.bytes +                                                             \
						 ((const uint8_t *) segment->field - (const uint8_t *) segment->header))
	MOVE(owners);
	MOVE(ops);
	MOVE(heads);
	MOVE(entries);
	MOVE(tags);
	MOVE(chunks);
	MOVE(layers);
	MOVE(links);
	MOVE(epochs);
	MOVE(partitions);
	MOVE(store);
	MOVE(tallies);
	MOVE(shards);
	MOVE(leases);
	MOVE(roots);
	MOVE(tables);
	MOVE(page_headers);
	MOVE(page_bitmaps);
	MOVE(pages);
	MOVE(outbox);
	shape.header = (void *) sound.bytes;
#undef MOVE
	bshm_segment_close(segment);
}

static void learn_slots(void)
{
	for (uint32_t page = 0; page < shape.shard_pages; page++) {
		if (shape.page_headers[page].size_class == 0) {
			continue;
		}
		const uint32_t size_class = shape.page_headers[page].size_class - 1;
		const uint32_t bytes = bshm__class_bytes(size_class);
		const uint8_t *end = shape.pages + (size_t) (page + 1) * BSHM_SLAB_BYTES;
		const uint32_t words = bshm__class_map_words(size_class);
		const uint64_t *taken = words != 0 ? (const uint64_t *) (const void *) end - words
										   : &shape.page_bitmaps[page].taken;
		const uint32_t begin = offset_of(end) - BSHM_SLAB_BYTES;
		for (uint32_t i = 0; i < bshm__class_slots(size_class); i++) {
			if ((taken[i / 64] >> (i % 64) & 1) == 0) {
				continue;
			}
			if (bshm__class_of_units(size_class) && unit_count < 64) {
				unit_offsets[unit_count++] = begin + i * bytes;
			} else if (slot_count < SLOTS_MAX) {
				slot_offsets[slot_count++] = begin + i * bytes;
			}
		}
	}
}

static void learn_regions(void)
{
	const bshm_segment *s = &shape;
	const region all[REGIONS] = {
		{s->header, 1, 320}, {&s->header->lock, 1, 88}, {s->owners, 16, sizeof(bshm_owner)},
		{s->ops, 4, sizeof(bshm_op)}, {s->heads, s->head_count, sizeof(uint32_t)},
		{s->entries, s->entry_count, sizeof(bshm_entry)}, {s->entries, s->entry_count, 16},
		{s->layers, 12, sizeof(bshm_layer)}, {s->tags, s->chunk_count, sizeof(uint64_t)},
		{s->chunks, s->chunk_count, sizeof(bshm_chunk)},
		{s->links, s->partition_count, sizeof(uint32_t)},
		{s->epochs, s->partition_count, sizeof(uint64_t)},
		{s->partitions, s->partition_count, BSHM_PARTITION_BYTES},
		{s->store, 1, sizeof(bshm_store)}, {s->shards, 1, sizeof(bshm_shard_header)},
		{&s->shards->intent, 1, sizeof(bshm_intent)},
		{s->leases, BSHM_LEASE_COUNT, sizeof(bshm_lease)},
		{s->tables, s->shard_tables, sizeof(bshm_table)},
		{s->page_headers, s->shard_pages, sizeof(bshm_page_header)},
		{NULL, slot_count, 32},                       /* records and chunks */
		{NULL, unit_count * 64, sizeof(bshm_bucket)}, /* buckets */
		{s->pages, s->shard_pages, BSHM_SLAB_BYTES},
		{s->page_bitmaps, s->shard_pages, sizeof(bshm_page_bitmap)},
		{s->outbox->marks, 1, sizeof(s->outbox->marks)},
		{s->outbox + 1, s->chunk_count * 64, BSHM_LETTER_BYTES_SMALL},
		{s->outbox + 1, s->chunk_count * 64, sizeof(bshm_letter)}, /* numbers of those */
		{s->roots, s->shard_tables, sizeof(uint64_t)},             /* of the tables */
	};
	memcpy(regions, all, sizeof(regions));
}

/* Which region an edit is of. */
static const region *region_of(uint8_t kind)
{
	return &regions[kind > UINT8_MAX - (REGIONS - OLD) ? OLD + UINT8_MAX - kind : kind % OLD];
}

static uint8_t *place_in(const region *r, uint32_t index, uint32_t field)
{
	const uint32_t i = index % (uint32_t) r->count;
	if (r == &regions[19]) {
		return file + slot_offsets[i] + field % r->bytes;
	}
	if (r == &regions[20]) {
		return file + unit_offsets[i / 64] + i % 64 * sizeof(bshm_bucket) + field % r->bytes;
	}
	const size_t stride = r == &regions[6]    ? sizeof(bshm_entry)
						  : r == &regions[25] ? BSHM_LETTER_BYTES_SMALL
											  : r->bytes;
	return file + offset_of(r->begin) + i * stride + field % r->bytes;
}

/* ------------------------------------------------------------------ edits */

typedef struct {
	uint8_t kind;
	uint8_t how;
	uint16_t index;
	uint16_t field;
	uint16_t when;
	const uint8_t *bytes;
	size_t count;
} edit;

typedef struct {
	const uint8_t *at;
	size_t left;
} input;

static bool next_edit(input *in, edit *e)
{
	if (in->left < 8) {
		return false;
	}
	memcpy(e, in->at, 8);
	in->at += 8;
	in->left -= 8;
	e->count = (size_t) (e->how & 15) + 1;
	if (e->how >= 64) {
		e->count = 1;
	}
	if (e->count > in->left) {
		e->count = in->left;
	}
	e->bytes = in->at;
	in->at += e->count;
	in->left -= e->count;
	return true;
}

static uint32_t last_ref(void)
{
	return (shape.shard_pages + 1) * BSHM_REF_PAGE;
}

/* Numbers that mean something in many places. */
static uint64_t telling(uint8_t which)
{
	const uint64_t numbers[] = {0, 1, UINT32_MAX, UINT64_MAX, INT64_MAX, 1u << 31, last_ref() - 4,
		last_ref() - 1, last_ref(), BSHM_REF_PAGE, BSHM_REF_PAGE * 2,
		UINT64_C(1) << 16 | (FUZZ_STRANGER_SLOT + 1), UINT64_C(2) << 16 | (FUZZ_OWN_SLOT + 1),
		UINT64_C(1) << 16 | (FUZZ_OWN_SLOT + 1), UINT64_C(9) << 16 | 100, shape.partition_count,
		shape.partition_count - 1, shape.entry_count, shape.layer_count, 32, 33, 64,
		UINT64_C(0x7ff8000000000000), UINT64_C(0x3ff0000000000000), 1u << 26,
		BSHM_SLOT_LIVE | BSHM_SLOT_CHAINED | BSHM_SLOT_EXPIRES, 4096, 0xfff};
	return numbers[which % (sizeof(numbers) / sizeof(numbers[0]))];
}

static void make_edit(const edit *e)
{
	const region *r = region_of(e->kind);
	uint8_t *to = place_in(r, e->index, (e->how & 16) != 0 ? e->field : e->field & ~3u);
	const uint8_t byte = e->count == 0 ? 0 : e->bytes[0];
	const size_t room = (size_t) (file + sound.count - to);
	uint64_t value = telling(byte);
	switch (e->how >> 5) {
		case 0:
		case 1: /* bytes */
			memcpy(to, e->bytes, e->count < room ? e->count : room);
			return;
		case 2: /* a telling word, of 4 bytes */
		case 3: /* or of 8 */
			memcpy(to, &value, (e->how >> 5) == 3 && room >= 8 ? 8 : 4);
			return;
		case 4: /* a bit */
			*to ^= (uint8_t) (1u << (byte & 7));
			return;
		case 5: { /* another one's words: of the same region */
			const uint8_t *from = place_in(r, byte, e->field & ~3u);
			memmove(to, from, (e->how & 8) != 0 && room >= 8 ? 8 : 4);
			return;
		}
		case 6: { /* another one, whole */
			const size_t bytes = r->bytes;
			memmove(place_in(r, e->index, 0), place_in(r, byte, 0), bytes);
			return;
		}
		default: { /* a ref of the template's slots */
			const uint32_t off =
				slot_offsets[(e->field + byte) % slot_count] - offset_of(shape.pages);
			const uint32_t ref = off / BSHM_SLOT_UNIT + BSHM_REF_PAGE;
			memcpy(place_in(r, e->index, e->field & ~3u), &ref, sizeof(ref));
			return;
		}
	}
}

/* ------------------------------------------------------------------ checksums made anew */

static void *moved(const void *in_template)
{
	return file + offset_of(in_template);
}

static void reseal_descriptor(const bshm_header *header, bshm_entry *entry, bshm_descriptor *d)
{
	bshm_layer *chain[BSHM_LAYERS_MAX] = {&d->newest};
	bshm_layer *layers = moved(shape.layers);
	uint32_t count = 1;
	while (count < BSHM_LAYERS_MAX && chain[count - 1]->older != 0 &&
		   chain[count - 1]->older <= shape.layer_count) {
		chain[count] = &layers[chain[count - 1]->older - 1];
		count++;
	}
	while (count-- > 0) {
		bshm_layer *layer = chain[count];
		if (layer->older != 0 && layer->older <= shape.layer_count) {
			layer->older_check = layers[layer->older - 1].check;
		}
		layer->check = bshm__checksum(layer, offsetof(bshm_layer, check), header->name_seed);
	}
	const uint64_t named = bshm__checksum(entry->name, sizeof(entry->name), header->name_seed);
	d->check = bshm__checksum(d, offsetof(bshm_descriptor, check),
		d->state == BSHM_STATE_ABSENT ? header->name_seed : named);
}

static void reseal(void)
{
	bshm_header *header = moved(shape.header);
	bshm_op *ops = moved(shape.ops);
	bshm_entry *entries = moved(shape.entries);
	header->check = bshm__checksum(header, offsetof(bshm_header, check), 0);
	header->cache_check = bshm__checksum(&header->shard_count,
		offsetof(bshm_header, cache_check) - offsetof(bshm_header, shard_count), header->name_seed);
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		ops[i].check = bshm__checksum(&ops[i].serial,
			offsetof(bshm_op, check) - offsetof(bshm_op, serial), header->name_seed);
	}
	for (uint32_t i = 0; i < shape.entry_count; i++) {
		bshm_descriptor *d = &entries[i].descriptor[entries[i].generation & 1];
		if (d->state != BSHM_STATE_ABSENT || d->generation != 0) {
			reseal_descriptor(header, &entries[i], d);
		}
	}
}

/* ------------------------------------------------------------------ late edits */

static input late; /* what is left of them */
static edit pending;
static bool waiting;
static uint64_t wait;  /* loads until it is made */
static size_t watched; /* the offset of the 8 bytes whose loads count; 0: all loads do */
static uint64_t delay; /* then: loads of any, after those */

static void before_load(const void *at);

/*
 * when: 0x0000 to 0x7fff, so many loads of anything, short waits exactly, long ones roughly. With
 * the highest bit: so many loads (8 bits) of the very word that will be changed, and then so many
 * of anything (7 bits): so a value is changed between two looks at it.
 */
static void next_late(void)
{
	waiting = next_edit(&late, &pending);
	world.before_load = waiting ? before_load : NULL;
	if (!waiting) {
		return;
	}
	const uint16_t when = pending.when;
	watched = 0;
	wait = (uint64_t) (when & 0x1fff) << (when >> 13) * 3;
	delay = 0;
	if ((when & 0x8000) != 0) {
		const region *r = region_of(pending.kind);
		watched = (size_t) (place_in(r, pending.index, pending.field & ~3u) - file) & ~(size_t) 7;
		wait = when & 0xff;
		delay = when >> 8 & 0x7f;
	}
}

static void before_load(const void *at)
{
	const size_t off = (size_t) ((const uint8_t *) at - world.begin);
	if ((const uint8_t *) at < world.begin || (const uint8_t *) at >= world.end ||
		(watched != 0 && off / 8 != watched / 8)) {
		return;
	}
	if (wait != 0) {
		wait--;
	} else if (delay != 0) {
		watched = 0;
		wait = delay - 1;
		delay = 0;
	} else {
		make_edit(&pending);
		next_late();
	}
}

/* ------------------------------------------------------------------ the oracle */

static bool same(const void *in_template, size_t bytes)
{
	return memcmp(in_template, moved(in_template), bytes) == 0;
}

static const bshm_entry *entry_named(const char *name)
{
	const bshm__name padded = bshm__name_of(name, strlen(name));
	for (uint32_t i = 0; i < shape.entry_count; i++) {
		if (memcmp(shape.entries[i].name, &padded, sizeof(padded)) == 0) {
			return &shape.entries[i];
		}
	}
	fuzz_defect("the template lacks a filter", name);
}

static bool same_run(const bshm_run *run, bool sliding)
{
	static uint32_t list[1024];
	if (!bshm__run_walk(&shape, run, list, NULL) ||
		(run->check != 0 && !same(shape.links, shape.partition_count * sizeof(uint32_t)))) {
		return false;
	}
	for (uint32_t i = 0; i < run->count; i++) {
		if (!same(
				shape.partitions + (size_t) list[i] * BSHM_PARTITION_BYTES, BSHM_PARTITION_BYTES) ||
			(sliding && !same(&shape.epochs[list[i]], sizeof(uint64_t)))) {
			return false;
		}
	}
	return true;
}

/* Is all there that an answer is made of? */
static bool is_untouched(const fuzz_filter *f)
{
	const bshm_entry *entry = entry_named(f->name);
	const bshm_descriptor *d = &entry->descriptor[entry->generation & 1];
	bshm_layer layers[BSHM_LAYERS_MAX];
	bool untouched = same(shape.header, offsetof(bshm_header, lock)) &&
					 same(&shape.header->clock_boot, 44) && same(entry, sizeof(uint64_t)) &&
					 same(entry->name, sizeof(entry->name)) && same(d, sizeof(*d)) &&
					 bshm__layers_read(&shape, d, layers);
	for (uint32_t i = 0; untouched && i < d->layer_count; i++) {
		const uint32_t older = layers[i].older;
		untouched = same_run(&layers[i].run, d->kind == BSHM_KIND_SLIDING) &&
					(older == 0 || same(&shape.layers[older - 1], sizeof(bshm_layer)));
	}
	return untouched;
}

static void deny_nothing(bshm_segment *segment, const bool *untouched, const char *when)
{
	bshm_views *views = bshm_views_new(); /* as one asks who has not asked before */
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		const fuzz_filter *f = &fuzz_filters[i];
		for (uint64_t k = 0; untouched[i] && k < FUZZ_KEY_COUNT; k++) {
			const bshm_key key = fuzz_key(k * (f->keys / FUZZ_KEY_COUNT));
			if (bshm_filter_has(segment, views, f->name, strlen(f->name), key.bytes, key.length) ==
				0) {
				fuzz_defect(when, f->name);
			}
		}
	}
	bshm_views_free(views);
}

/* ------------------------------------------------------------------ one input */

static void prepare(void)
{
	sound = fuzz_template_make();
	file_fd = open(fuzz_path("segment"), O_RDWR | O_CREAT | O_EXCL, 0600);
	if (file_fd < 0 || ftruncate(file_fd, (off_t) sound.count) != 0) {
		fuzz_defect("no file", "");
	}
	file = mmap(NULL, sound.count, PROT_READ | PROT_WRITE, MAP_SHARED, file_fd, 0);
	world.begin = world.end = NULL; /* it is not the engine's */
	memcpy(file, sound.bytes, sound.count);
	learn_shape();
	learn_slots();
	learn_regions();
}

static void ignore(void *context, const char *what, const char *name)
{
	(void) context;
	(void) what;
	(void) name;
}

static void use(const bshm_options *options, unsigned order, const bool *untouched)
{
	bshm_segment *segment;
	bshm_error error = {0};
	const bool still = !waiting;
	if (bshm_segment_open(options, &segment, &error) != BSHM_OK) {
		if (error.status == BSHM_OK || error.cause == BSHM_CAUSE_NONE) {
			fuzz_defect("refused without a reason", "");
		}
		return;
	}
	bshm_views *views = bshm_views_new();
	const bool judge = still && bshm_segment_check(segment, ignore, NULL, &(bshm_error){0}) == 0;
	if (judge) {
		deny_nothing(segment, untouched, "a sound filter denies a key");
	}
	fuzz_calls(segment, views, order);
	if (judge) {
		deny_nothing(segment, untouched, "after all calls a sound filter denies a key");
	}
	bshm_views_free(views);
	bshm_segment_close(segment);
}

static void lock_all(void)
{
	const uint64_t dead = UINT64_C(9) << 16 | 100;
	bshm_header *header = moved(shape.header);
	bshm_shard_header *shards = moved(shape.shards);
	header->lock = dead;
	shards[0].lock = dead;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (sound.bytes == NULL) {
		prepare();
	}
	if (size < 4) {
		return 0;
	}
	const unsigned flags = data[0];
	const unsigned order = data[1] | (unsigned) data[2] << 8;
	input early = {data + 4, size - 4};
	edit e;
	fuzz_world_reset();
	memcpy(file, sound.bytes, sound.count);
	for (unsigned i = 0; i < data[3] && next_edit(&early, &e); i++) {
		make_edit(&e);
	}
	if ((flags & FLAG_LOCKS) != 0) {
		lock_all();
	}
	if ((flags & FLAG_RESEAL) != 0) {
		reseal();
	}
	bool untouched[FUZZ_FILTER_COUNT];
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		untouched[i] = is_untouched(&fuzz_filters[i]);
	}
	world.stranger_lives = (flags & FLAG_STRANGER) != 0;
	bshm_options options = fuzz_options(fuzz_path("segment"));
	options.readonly = (flags & FLAG_READONLY) != 0;
	late = early;
	next_late();
	/* A file that is cut must be refused, and is not touched beyond its end. */
	const bool cut = (flags & FLAG_SIZE) != 0;
	if (cut && ftruncate(file_fd, (off_t) (order % (sound.count / 4096 + 9)) * 4096) != 0) {
		return 0;
	}
	use(&options, order, untouched);
	waiting = false;
	world.before_load = NULL;
	if (cut && ftruncate(file_fd, (off_t) sound.count) != 0) {
		fuzz_defect("no file", "");
	}
	return 0;
}

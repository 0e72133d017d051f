/*
 * core.h - all headers of the engine but the record store's.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CORE_H
#define BSHM_CORE_H

#include "core/base.h"
#include "core/bshm.h"
#include "core/filter/bits.h"
#include "core/filter/build.h"
#include "core/filter/counters.h"
#include "core/filter/geometry.h"
#include "core/filter/grow.h"
#include "core/filter/kinds.h"
#include "core/filter/mend.h"
#include "core/filter/partition.h"
#include "core/filter/query.h"
#include "core/filter/sliding.h"
#include "core/filter/spool.h"
#include "core/filter/view.h"
#include "core/format.h"
#include "core/format_store.h"
#include "core/hash.h"
#include "core/layout.h"
#include "core/segment/blocks.h"
#include "core/segment/clock.h"
#include "core/segment/create.h"
#include "core/segment/directory.h"
#include "core/segment/journal.h"
#include "core/segment/layers.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/owners.h"
#include "core/segment/regions.h"
#include "core/segment/rest.h"
#include "core/segment/run.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "core/segment/space.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#endif

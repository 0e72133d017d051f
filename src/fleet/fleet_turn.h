/*
 * fleet_turn.h - publishers of one filter that write to a web server from several hosts take turns.
 *
 * They take them at the server of the stream. A publisher that died, or was stopped, loses its turn
 * after a minute.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_TURN_H
#define FLEET_TURN_H

#include "fleet/fleet_folder.h"
#include "fleet/fleet_head.h"
#include "fleet/fleet_stream.h"

typedef struct {
	fleet_stream *stream; /* NULL: there are no turns */
	char who[160];
	double begun_s; /* by fleet_now_s() */
} fleet_turn;

/*
 * Waits a minute for the turn to announce `next`, unless `is_stopped` (NULL: never) holds. The lock
 * of `copy` is held: its next publisher goes on with the turn of one that died. `url`: of the
 * stream; NULL, or its server cannot be reached: it has the turn. If it is true the turn is to be
 * ended. A process has one turn at a time.
 */
bool fleet_turn_begin(fleet_turn *t, const char *url, const fleet_head *next,
	const fleet_folder *copy, bool (*is_stopped)(void), fleet_error *error);
/* Is there time left for the last step? */
bool fleet_turn_lasts(const fleet_turn *t, fleet_error *error);
/* Is it too late to send anything more? For fleet_link_stopped_by(). */
bool fleet_turn_is_over(void);
/* Ends it. False: it had ended before, so another publisher may have announced something, too. */
bool fleet_turn_end(fleet_turn *t, fleet_error *error);

#endif

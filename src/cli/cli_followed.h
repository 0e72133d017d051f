/*
 * cli_followed.h - one filter that is followed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_FOLLOWED_H
#define CLI_FOLLOWED_H

#include "cli/cli_follower.h"

/* Reads what the state folder has of the filter, and publishes it, unless the segment has it. */
void cli_followed_begin(cli_follower *all, cli_followed *f, const char *name);
/*
 * Looks at the origin's head, takes a new image, publishes it, and says to the segment that it is
 * the newest. False: something failed, and was said unless it was said before; what is published
 * stands. Sets f->due_ns to `every_ns` from now, or to f->wait_ns if it waits.
 *
 * In passing (all->is_passing) it takes only a head that names the image that is published. All
 * else waits, and is due.
 */
bool cli_followed_look(cli_follower *all, cli_followed *f, uint64_t every_ns);
/* The state folder is another one, without what was kept. */
void cli_followed_forget(cli_followed *f);

#endif

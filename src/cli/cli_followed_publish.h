/*
 * cli_followed_publish.h - a filter that is followed, in the segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_FOLLOWED_PUBLISH_H
#define CLI_FOLLOWED_PUBLISH_H

#include "cli/cli_follower.h"

#define CLI_SECOND_NS UINT64_C(1000000000)

/* Says why something failed, but not the same again and again. Returns false. */
bool cli_followed_say(const cli_follower *all, cli_followed *f, const fleet_error *error);
/* The same of something that is counted here. */
bool cli_followed_fail(
	const cli_follower *all, cli_followed *f, cli_failure kind, const fleet_error *error);

/* In passing: what is to be done now is left to the next look, which is due. Returns false. */
bool cli_followed_hold(cli_followed *f);
/* Attaches to the segment at its path: another process may have removed the one that is attached.
 * That is kept in passing, because another filter's build may be in it: then it returns false. */
bool cli_followed_attach(const cli_follower *all, cli_followed *f);
/* Ends f->build, if there is one. */
void cli_followed_end_build(cli_followed *f);
/* What costs much is tried ever later after failures. Returns whether it was done. */
bool cli_followed_costly(cli_followed *f, bool done);
/*
 * The segment has the image of f->head afterwards, as of the moment when it was heard. False, as
 * below: something failed, and was said.
 */
bool cli_followed_settle(const cli_follower *all, cli_followed *f);
/*
 * Sends what pages of this host have added, and adds what others have. `asks`: also if the stream's
 * server has not said that there is more, and if the segment is another one. To be called with it
 * once a second. If entries are gone, all is published anew; in passing it says maybe until then.
 */
bool cli_followed_exchange(cli_follower *all, cli_followed *f, bool asks);

#endif

/*
 * cli_followed_image.h - the images of a filter that is followed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_FOLLOWED_IMAGE_H
#define CLI_FOLLOWED_IMAGE_H

#include "cli/cli_follower.h"

/*
 * The image of the head is in the state folder afterwards; if deltas led to it, f->build may have
 * it, too. False: something failed, and was said.
 */
bool cli_followed_take(const cli_follower *all, cli_followed *f, const fleet_head *head);

#endif

/*
 * test_fencing.c - an origin: the publisher in charge announces, and nobody else.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "fleet/fleet_origin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fleet_secret_key key;
static fleet_error error;

/* A publisher of the filter "f". */
static fleet_origin begin(uint64_t epoch)
{
	fleet_origin o;
	static fleet_public_key made;
	static bool is_made;
	is_made = is_made || fleet_key_pair(&key, &made, &error);
	REQUIRE(is_made);
	REQUIRE(fleet_origin_begin(&o, test_path("origin"), NULL, "f", 1, &key, epoch, &error));
	return o;
}

/* The head of its next version, with a blob for an image. */
static fleet_head make_next(const fleet_origin *o, const char *image)
{
	fleet_head next = {.filter = "f",
		.filter_length = 1,
		.epoch = o->epoch,
		.version = o->next_version,
		.made_s = 1764000000};
	char *part = fleet_folder_part(&o->folder, &error);
	const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL, 0600);
	REQUIRE(fd >= 0 && write(fd, image, strlen(image)) == (ssize_t) strlen(image));
	close(fd);
	REQUIRE(fleet_folder_take(&o->folder, part, &next.image, &next.image_bytes, &error));
	free(part);
	return next;
}

static void announce(const char *image)
{
	fleet_origin o = begin(0);
	const fleet_head next = make_next(&o, image);
	CHECK(fleet_origin_announce(&o, &next, 2, NULL, &error));
	fleet_origin_end(&o);
}

TEST(versions_follow_each_other)
{
	announce("one");
	announce("two");
	fleet_origin o = begin(0);
	CHECK_INT(o.last.version, 2);
	CHECK_INT(o.epoch, 1);
	CHECK_INT(o.last.image_bytes, 3);
	fleet_origin_end(&o);
}

TEST(a_higher_epoch_takes_over_at_the_last_step)
{
	announce("one");
	fleet_origin slow = begin(0);
	const fleet_head next = make_next(&slow, "slow");
	fleet_origin other = begin(7);
	CHECK(!fleet_origin_announce(&slow, &next, 2, NULL, &error));
	CHECK(strstr(error.text, "epoch 7 has taken over") != NULL);
	const fleet_head its = make_next(&other, "its");
	CHECK(fleet_origin_announce(&other, &its, 2, NULL, &error));
	CHECK(!fleet_origin_announce(&slow, &next, 2, NULL, &error));
	fleet_origin_end(&slow);
	fleet_origin_end(&other);
	CHECK(!fleet_origin_begin(&slow, test_path("origin"), NULL, "f", 1, &key, 6, &error));
	CHECK(strstr(error.text, "too low") != NULL);
	fleet_origin_end(&slow);
}

TEST(of_two_in_one_epoch_the_first_one_announces)
{
	announce("one");
	fleet_origin a = begin(0);
	fleet_origin b = begin(0);
	const fleet_head mine = make_next(&a, "mine");
	const fleet_head its = make_next(&b, "its");
	CHECK(fleet_origin_announce(&b, &its, 2, NULL, &error));
	CHECK(!fleet_origin_announce(&a, &mine, 2, NULL, &error));
	CHECK(strstr(error.text, "meanwhile") != NULL);
	fleet_origin_end(&a);
	fleet_origin_end(&b);
}

TEST(two_that_both_begin_it_cannot_both_announce)
{
	fleet_origin a = begin(0);
	fleet_origin b = begin(0);
	CHECK(a.is_first && b.is_first);
	const fleet_head mine = make_next(&a, "mine");
	const fleet_head its = make_next(&b, "its");
	CHECK(fleet_origin_announce(&b, &its, 2, NULL, &error));
	CHECK(!fleet_origin_announce(&a, &mine, 2, NULL, &error));
	fleet_origin_end(&a);
	fleet_origin_end(&b);
}

/* Followers may have seen it: its number is not given to another image. */
TEST(a_version_that_a_power_loss_has_taken_back_is_passed_over)
{
	announce("one");
	announce("two");
	fleet_origin o = begin(0);
	const fleet_head third = make_next(&o, "three");
	CHECK(fleet_origin_announce(&o, &third, 2, NULL, &error));
	CHECK(fleet_folder_write(
		&o.folder, "f", "head", o.last_text.bytes, o.last_text.length, 0, &error));
	fleet_origin_end(&o);
	o = begin(0);
	CHECK_INT(o.last.version, 2);
	CHECK_INT(o.next_version, 4);
	fleet_origin_end(&o);
}

TEST(a_blob_that_is_gone_is_not_announced)
{
	fleet_origin o = begin(0);
	const fleet_head next = make_next(&o, "image");
	char *path = fleet_folder_blob(&o.folder, &next.image);
	CHECK(unlink(path) == 0);
	free(path);
	CHECK(!fleet_origin_announce(&o, &next, 2, NULL, &error));
	fleet_origin_end(&o);
}

TEST(the_earlier_versions_that_are_kept)
{
	fleet_head earlier;
	announce("one");
	announce("two");
	announce("three");
	announce("four");
	fleet_origin o = begin(0);
	CHECK(fleet_origin_earlier(&o, 2, &earlier, &error));
	CHECK_INT(earlier.version, 2);
	CHECK(fleet_origin_earlier(&o, 3, &earlier, &error));
	CHECK(!fleet_origin_earlier(&o, 1, &earlier, &error));
	CHECK(!fleet_origin_earlier(&o, 4, &earlier, &error));
	CHECK(!fleet_origin_earlier(&o, 5, &earlier, &error));
	fleet_origin_end(&o);
}

TEST(a_head_of_another_key_is_left_alone)
{
	fleet_origin o;
	fleet_secret_key other;
	fleet_public_key ignored;
	announce("one");
	REQUIRE(fleet_key_pair(&other, &ignored, &error));
	CHECK(!fleet_origin_begin(&o, test_path("origin"), NULL, "f", 1, &other, 0, &error));
	CHECK(strstr(error.text, "cannot be used") != NULL);
	fleet_origin_end(&o);
}

TEST(a_damaged_epoch_is_told)
{
	fleet_origin o;
	announce("one");
	const int fd = open(test_path("origin/f/publisher"), O_WRONLY | O_TRUNC);
	CHECK(write(fd, "epoch one\n", 10) == 10);
	close(fd);
	CHECK(!fleet_origin_begin(&o, test_path("origin"), NULL, "f", 1, &key, 0, &error));
	CHECK(strstr(error.text, "damaged") != NULL);
	fleet_origin_end(&o);
}

/*
 * fuzz_head.c - a libFuzzer target: the text of a head may be anything.
 *
 * The first 8 bytes are the image that is here. The rest is parsed as if its signature were right.
 * What is read is in its ranges, is written again as the same bytes, and is planned with: the route
 * ends, and is a way. Once it is signed it is read, and refused with another bit in it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fuzz.h"

#include "fleet/fleet_plan.h"

#include <sodium.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_route(const fleet_head *head, uint64_t image)
{
	fleet_route route;
	const uint64_t target = fleet_image_id(&head->image);
	if (image == target) {
		return;
	}
	fleet_plan(head, image, 0, &route);
	for (unsigned i = 0; i < route.count; i++) {
		const fleet_delta *d = &head->deltas[route.deltas[i]];
		if (d->from != image && d->to != image) {
			fuzz_defect("a route has a gap", "");
		}
		image = d->from == image ? d->to : d->from;
	}
	if (route.bytes > head->image_bytes || (route.count > 0 && image != target)) {
		fuzz_defect("a route leads elsewhere", "");
	}
}

/* `draw` says which bit is another one. */
static void check_signature(const fleet_head *head, uint64_t draw)
{
	static const uint8_t seed[crypto_sign_SEEDBYTES] = {1};
	fleet_secret_key secret;
	fleet_public_key public;
	fleet_head out;
	fleet_error error = {""};
	char text[FLEET_HEAD_BYTES_MAX + 1];
	crypto_sign_seed_keypair(public.bytes, secret.bytes, seed);
	const size_t length = fleet_head_sign(head, &secret, text);
	if (!fleet_head_open(text, length, &public, head->filter, head->filter_length, &out, &error)) {
		fuzz_defect("a signed head is refused", error.text);
	}
	text[draw / 8 % length] ^= (char) (1u << draw % 8);
	if (fleet_head_open(text, length, &public, head->filter, head->filter_length, &out, &error)) {
		fuzz_defect("a signed head may be changed", "");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t image;
	fleet_head head;
	fleet_error error = {""};
	char again[FLEET_HEAD_BYTES_MAX + 1];
	if (size < sizeof(image)) {
		return 0;
	}
	memcpy(&image, data, sizeof(image));
	const char *text = (const char *) data + sizeof(image);
	const size_t length = size - sizeof(image);
	if (!fleet_head_parse(text, length, &head, &error)) {
		if (*error.text == '\0') {
			fuzz_defect("refused without a reason", "");
		}
		return 0;
	}
	if (fleet_head_write(&head, again) != length || memcmp(again, text, length) != 0) {
		fuzz_defect("a head has two spellings", "");
	}
	if (head.epoch == 0 || head.version == 0 || head.pinned >= head.version ||
		head.filter_length == 0 || head.filter_length > FLEET_NAME_BYTES_MAX) {
		fuzz_defect("a number is out of range", "");
	}
	check_signature(&head, image);
	check_route(&head, image);
	if (head.delta_count > 0) {
		check_route(&head, head.deltas[head.delta_count - 1].from);
	}
	return 0;
}

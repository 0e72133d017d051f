#!/usr/bin/env bash
# Power losses: a segment on a file system in an image, which is copied while processes write, some
# pages having been written back and others not. The copies are mounted under another boot id (a
# file bound over the kernel's).
#
#   - A segment that was in use is not believed: no confirmed key is denied, no record comes back,
#     the reason is told, and the next call that stores makes a new one. What believing it would
#     have done is counted beside (the same copy under the boot that it was used in).
#   - A segment that was brought to rest is: every confirmed key is found, absent ones are denied,
#     nothing is damaged, though the file system was never unmounted.
#
#   tests/crash/run.sh [ROUNDS]      14 by default; needs root, loop devices and mount namespaces,
#   and is skipped without
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"

rounds=${1:-14}
if [[ ${BLOOMSHM_CRASH_INSIDE-} != 1 ]]; then
	need_packages e2fsprogs util-linux mount python3
	build_extension
	if [[ $EUID -ne 0 ]] || ! losetup -f >/dev/null 2>&1 || ! unshare -m true 2>/dev/null; then
		printf '0 passed, 0 failed; skipped: no loop devices or mount namespaces here\n'
		exit 0
	fi
	# A mount namespace of its own: whatever happens, no mount stays.
	BLOOMSHM_CRASH_INSIDE=1 BLOOMSHM_SO=$BLOOMSHM_SO exec unshare -m --propagation private "$0" \
		"$rounds"
fi

work=$(mktemp -d "$PWD/build/crash.XXXXXX")
writers=()
stop_all() {
	[[ ${#writers[@]} -eq 0 ]] || kill -9 "${writers[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
	umount -l "$work/copied" "$work/mounted" 2>/dev/null || true
	rm -rf "$work"
}
trap stop_all EXIT
mkdir "$work/mounted" "$work/copied"
printf '01234567-89ab-4cde-8f01-23456789abcd\n' >"$work/boot_id"

# in_php FOLDER CODE ARGUMENT...; with runner=exec, PHP takes the place of the shell that calls it.
in_php() {
	local folder=$1 code=$2
	shift 2
	${runner-timeout 120} php -n -d extension="$BLOOMSHM_SO" -d bloomshm.path="$folder/segment" \
		-d bloomshm.filter_memory=4M \
		-d bloomshm.cache_memory=4M -r "$code" -- "$@"
}

# The same as after a boot.
in_php_rebooted() {
	BLOOMSHM_SO=$BLOOMSHM_SO unshare -m bash -c \
		"$(declare -f in_php)"'; mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && in_php "$@"' - "$work/boot_id" "$@"
}

# Adds keys and stores records; notes a number once its call has returned. Ends well when the file
# "stop" is there. shellcheck disable=SC2016
writer='
[, $ledger, $stop, $own] = $argv;
$book = fopen($ledger, "r+");
stream_set_write_buffer($book, 0);
for ($i = 0; !file_exists($stop); $i++) {
	try {
		bloom_add("f", "$own:$i");
	} catch (BloomShm\Exception) {
		$i--;
		continue;
	}
	bloom_cache_set("r:$own:" . $i % 5000, str_repeat("$i,", 20));
	fseek($book, 0);
	fprintf($book, "%012d\n", $i + 1); // one write, of one length: it is never seen half
}'

# As the kernel does when it likes: some pages go to the disk, in any order.
cat >"$work/write_back.py" <<'PY'
import mmap, os, random, sys
fd = os.open(sys.argv[1], os.O_RDWR)
pages = os.fstat(fd).st_size // 4096
view = mmap.mmap(fd, pages * 4096)
for page in random.sample(range(pages), pages // 3):
    view.flush(page * 4096, 4096)
PY

# Denied keys of those that are in the ledgers; "-": the segment cannot be had, and why.
# shellcheck disable=SC2016
judge='
$denied = $absent = 0;
foreach (array_slice($argv, 1) as $own => $count) {
	for ($i = 0; $i < $count; $i++) {
		$denied += !bloom_maybe_has("f", "$own:$i");
	}
}
for ($i = 0; $i < 1000; $i++) {
	$absent += !bloom_maybe_has("f", "none:$i");
}
$status = bloom_status();
$names = array_map(fn ($i) => "r:0:$i", range(0, 4999));
$records = count(array_filter(bloom_cache_get_many($names)));
$reason = $status["available"] ? "-" : $status["reason"];
echo "$denied $absent $records ", count(bloom_verify()), " $reason\n";'

# Calls of a writer that have returned.
count() {
	printf '%d' "$((10#$(<"$work/ledger.$1")))"
}

start_round() {
	! mountpoint -q "$work/mounted" || umount "$work/mounted"
	rm -f "$work"/ledger.* "$work/stop" "$work/image"
	truncate -s 64M "$work/image"
	mkfs.ext4 -q -F "$work/image"
	mount -o loop "$work/image" "$work/mounted"
	in_php "$work/mounted" 'bloom_reserve("f", 400000);'
	writers=()
	local own
	for own in 0 1; do
		printf '%012d\n' 0 >"$work/ledger.$own"
		runner=exec in_php "$work/mounted" "$writer" "$work/ledger.$own" "$work/stop" "$own" &
		writers+=($!)
	done
	until (($(count 0) > 5000 && $(count 1) > 5000)); do
		sleep 0.05
	done
}

# The disk as it is at this moment, which the kernel's pages have not all reached.
copy_disk() {
	! mountpoint -q "$work/copied" || umount "$work/copied"
	cp --sparse=always "$work/image" "$work/copy"
	mount -o loop "$work/copy" "$work/copied"
}

passed=0 failed=0
# expect WHAT CONDITION...
expect() {
	local what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		printf 'ok - %s\n' "$what"
	else
		failed=$((failed + 1))
		printf 'not ok - %s\n' "$what"
	fi
}

not_believed() {
	[[ $denied -eq 0 && $absent -eq 0 && $records -eq 0 && $reason == *'not brought to rest'* ]]
}

believed() {
	[[ $denied -eq 0 && $absent -gt 900 && $records -gt 3000 && $faults -eq 0 && $reason == - ]]
}

harmful=0
for ((round = 1; round <= rounds; round++)); do
	start_round
	for _ in 1 2 3; do
		python3 "$work/write_back.py" "$work/mounted/segment"
		sleep "0.$((RANDOM % 10))"
	done
	counts=("$(count 0)" "$(count 1)")
	copy_disk
	kill -9 "${writers[@]}"
	wait "${writers[@]}" 2>/dev/null || true
	cp "$work/copied/segment" "$work/segment"
	read -r denied absent records faults reason \
		< <(in_php_rebooted "$work/copied" "$judge" "${counts[@]}")
	expect "round $round: in use, ${counts[*]} keys: $denied denied, $records records; $reason" \
		not_believed
	made=$(in_php_rebooted "$work/copied" 'bloom_reserve("f", 1000); echo bloom_status()["filters"], count(bloom_verify());')
	expect "round $round: a new one takes its place" test "$made" = 10
	mv "$work/segment" "$work/copied/segment"
	read -r denied absent records faults reason \
		< <(in_php "$work/copied" "$judge" "${counts[@]}") || denied=0
	((denied == 0)) || harmful=$((harmful + 1))
	printf '# the same, had it been believed: %s denied, %s faults found\n' "$denied" "$faults"
done
printf '# %d of %d would have denied confirmed keys\n' "$harmful" "$rounds"

for ((round = 1; round <= 3; round++)); do
	start_round
	touch "$work/stop"
	wait "${writers[@]}"
	counts=("$(count 0)" "$(count 1)")
	copy_disk # only the last writer has unmounted or synced anything
	read -r denied absent records faults reason \
		< <(in_php_rebooted "$work/copied" "$judge" "${counts[@]}")
	expect "at rest, ${counts[*]} keys: $denied denied, $records records, $faults faults" believed
done

printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 && $passed -gt 0 ]]

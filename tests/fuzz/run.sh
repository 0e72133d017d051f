#!/usr/bin/env bash
# Fuzzes the engine: hostile segments, also such whose words change all the time; hostile files of
# filters, records and deltas; and the heads of a fleet.
#
#   tests/fuzz/run.sh [SECONDS]     each target is fuzzed for so long (default
#                                   BLOOMSHM_FUZZ_SECONDS, or 30)
#
# First all seeds, and all inputs that ever crashed, are replayed: each must pass. A new crash's
# input is kept in build/fuzz. For hours, with the corpus kept from run to run:
#
#   BLOOMSHM_FUZZ_CORPUS=$HOME/fuzz tests/fuzz/run.sh 36000
#
# and afterwards, to take what was learnt into the seeds: build/fuzz/fuzz_segment -merge=1
# tests/data/fuzz/segment $HOME/fuzz/segment (the same with files).
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"

seconds=${1:-${BLOOMSHM_FUZZ_SECONDS:-30}}
out=$PWD/build/fuzz
data=$PWD/tests/data/fuzz
targets=(segment words files delta head)
passed=0
failed=0

# What the platform gives by chance, or by waiting, is the fuzzers' own: tests/fuzz/world.c.
wrapped=(mmap munmap bshm_os_monotonic_ns bshm_os_sleep_us bshm_os_wall_s bshm_os_random
	bshm_os_process_id bshm_os_thread_id bshm_os_host_now bshm_os_in_memory bshm_os_byte_taken)
sanitize=(-fsanitize=address,undefined -fno-sanitize-recover=all)
flags=(-std=c11 -D_GNU_SOURCE -DBSHM_DEBUG -O1 -g -fno-omit-frame-pointer -Wall -Wextra -Werror
	-Isrc -Itests/fuzz "${sanitize[@]}")
# Comparisons are not traced: a checksum cannot be guessed, and it would take half of the time.
coverage=-fsanitize-coverage=inline-8bit-counters,pc-table,trace-loads
# An input's time is the processor's: world.c.
limits=(-timeout=600 -rss_limit_mb=2000 -malloc_limit_mb=1000 -print_final_stats=1)

result() {
	if [[ $1 -eq 0 ]]; then
		printf 'ok - %s\n' "$2" && passed=$((passed + 1))
	else
		printf 'not ok - %s\n' "$2" && failed=$((failed + 1))
	fi
}

build() {
	local source object objects=() harness=() name
	echo "# building the fuzzers"
	for source in "${core[@]}" src/fleet/{fleet,fleet_head,fleet_plan}.c; do
		object=$out/$(basename "$source" .c).o
		clang "${flags[@]}" "$coverage" -c -o "$object" "$source"
		objects+=("$object")
	done
	for name in world template calls "${targets[@]/#/fuzz_}"; do
		clang "${flags[@]}" -c -o "$out/$name.o" "tests/fuzz/$name.c"
	done
	harness=("$out/world.o" "$out/template.o" "$out/calls.o")
	for name in "${targets[@]}"; do
		clang "${sanitize[@]}" -fsanitize=fuzzer "${wrapped[@]/#/-Wl,--wrap=}" \
			-o "$out/fuzz_$name" \
			"$out/fuzz_$name.o" "${harness[@]}" "${objects[@]}" -lsodium -lm -lpthread
	done
}

# replay TARGET: the seeds, and what crashed once (if anything did), together; one by one if that
# fails.
replay() {
	local target=$1 log=$out/replay-$1.log input inputs
	mapfile -t inputs < <(find "$data/$target" "$data/crashes/$target" -type f 2>/dev/null | sort)
	if "$out/fuzz_$target" "${limits[@]}" "-artifact_prefix=$out/$target-" "${inputs[@]}" \
		>"$log" 2>&1; then
		result 0 "$target: ${#inputs[@]} seeds and former crashes"
		return
	fi
	for input in "${inputs[@]}"; do
		"$out/fuzz_$target" "${limits[@]}" "-artifact_prefix=$out/$target-" "$input" >"$log" 2>&1 ||
			result 1 "$target: ${input#"$PWD/"} (see ${log#"$PWD/"})"
	done
}

# fuzz TARGET: for so many seconds, from the seeds on.
fuzz() {
	local target=$1 log=$out/fuzz-$1.log corpus=${BLOOMSHM_FUZZ_CORPUS:-$folder}/$1
	local status=0 runs covered
	mkdir -p "$corpus"
	echo "# fuzzing $target for $seconds s"
	"$out/fuzz_$target" "${limits[@]}" -max_total_time="$seconds" -max_len=4096 -len_control=50 \
		"-artifact_prefix=$out/$target-" "$corpus" "$data/$target" >"$log" 2>&1 || status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	covered=$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1)
	result "$status" \
		"$target: fuzzed for $seconds s, ${runs:-no} executions, ${covered#cov: } of $(edges "$log") edges"
	[[ $status -eq 0 ]] || grep -E 'SUMMARY|DEFECT|Test unit written' "$log" || true
}

edges() {
	sed -n 's/.*PC tables (\([0-9]*\) PCs).*/\1/p' "$1"
}

need_packages clang libxxhash-dev libsodium-dev
version=$(clang -dumpversion)
need_packages "libclang-rt-${version%%.*}-dev"
mkdir -p "$out"
# Segments lie in a folder of their own, also when a fuzzer crashes.
folder=$(mktemp -d /dev/shm/bloomshm-fuzz.XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BLOOMSHM_FUZZ_FOLDER=$folder UBSAN_OPTIONS=print_stacktrace=1
build
for target in "${targets[@]}"; do
	replay "$target"
	fuzz "$target"
done
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]

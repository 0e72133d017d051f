#!/usr/bin/env bash
# Builds the command with gcc, and with clang and its sanitizers, and tests both; then what is made
# from its tables. Prints one closing line.
#
#   tests/cli/run.sh [NAME...]     all tests, or those whose names contain a NAME
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"

need_packages python3 zstd gzip mandoc bash zsh python3-pyte systemd
passed=0
failed=0

# Adds the counts of a run of run.py.
add() {
	local line
	line=$(tail -n 1 "$1")
	[[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || die "the tests ended early; see $1"
	passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
}

check() {
	local name=$1
	shift
	if "$@"; then
		printf 'ok - %s\n' "$name" && passed=$((passed + 1))
	else
		printf 'not ok - %s\n' "$name" && failed=$((failed + 1))
	fi
}

# unit_is_sound NAME: the unit runs what was built.
unit_is_sound() {
	local said unit=$PWD/build/cli/$1@.service
	sed "s|/usr/bin/bloomshm|$PWD/build/cli/bloomshm|" "systemd/$1@.service" >"$unit"
	said=$(systemd-analyze verify --man=no "${unit/@/@www-data}" 2>&1) && [[ -z $said ]] || {
		printf '%s\n' "$said"
		return 1
	}
}

man_is_sound() {
	local said
	said=$(mandoc -T lint -W warning build/cli/bloomshm.1) && [[ -z $said ]]
}

build_command
build_command_asan
check 'the man page is sound' man_is_sound
check 'bash reads its completion' bash -n build/cli/bloomshm.bash
check 'zsh reads its completion' zsh -n build/cli/_bloomshm
for unit in bloomshm bloomshm-follow; do
	check "the systemd unit $unit is sound" unit_is_sound "$unit"
done
for binary in build/cli/bloomshm build/cli-asan/bloomshm; do
	printf '# %s\n' "$binary"
	# What a verb holds until its end is the kernel's to take back.
	log=build/cli-run.log
	ASAN_OPTIONS=detect_leaks=0 /usr/bin/python3 tests/cli/run.py "$binary" "$@" >"$log" || true
	sed '$d' "$log"
	add "$log"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]

#!/usr/bin/env bash
# Tests a fleet: the room src/fleet alone, built by clang with its sanitizers; then publishers and
# followers, with a real web server. Prints one closing line.
#
#   tests/fleet/run.sh
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"

need_packages gcc clang libclang-rt-14-dev make python3 nginx openssl redis-server strace curl \
	faketime "${command_libraries[@]}"
top=$PWD
out=$top/build/fleet
passed=0
failed=0

compile() { # FLAG... SOURCE...
	clang "${sanitize[@]}" -std=gnu11 -D_GNU_SOURCE -DBSHM_DEBUG -O1 -g -Wall -Wextra -Werror \
		-I"$top/src" -I"$top/tests/unit" "$@"
}

# What the unit tests need of src/fleet, in $out/room.
compile_room() {
	rm -rf "$out/room" && mkdir -p "$out/room"
	local room=$top/src/fleet/fleet
	(cd "$out/room" &&
		compile -c "$room"{,_head,_key,_plan,_folder,_origin,_stream,_entries,_address,_tls}.c \
			"$room"_{turn,link,library,fetch,put,place_folder,place_web}.c)
}

# unit NAME: tests/fleet/test_NAME.c
unit() {
	local objects
	mapfile -t objects < <(find "$core/core" "$out/room" -name '*.o')
	compile -o "$out/test_$1" "tests/fleet/test_$1.c" "$core/test.o" "$core/run_posix.o" \
		"${objects[@]}" -lsodium -lhiredis -lm -lpthread
	"$out/test_$1" >"$out/test_$1.log" 2>&1 || true
	grep -v '^1\.\.' "$out/test_$1.log"
	passed=$((passed + $(grep -c '^ok' "$out/test_$1.log" || true)))
	failed=$((failed + $(grep -c '^not ok' "$out/test_$1.log" || true)))
}

# fleet PROGRAM BINARY [NAME...]
fleet() {
	local line
	printf '# %s %s\n' "$1" "$2"
	/usr/bin/python3 "tests/fleet/$1.py" "${@:2}" >"$out/fleet.log" 2>&1 || true
	sed '$d' "$out/fleet.log"
	line=$(tail -n 1 "$out/fleet.log")
	[[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || die "the tests ended early: $line"
	passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
}

mkdir -p "$out"
sanitize=(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
core=$top/build/unit/asan-clang # as in script/test-unit
mkdir -p "$core"
locked unit/asan-clang make -f tests/unit/Makefile -j"$(nproc)" core OUT="$core" CC=clang \
	SANITIZE="${sanitize[*]}"
compile_room
for name in head plan folder fencing stream replies; do
	unit "$name"
done
build_command
fleet fleet "$BLOOMSHM_COMMAND"
fleet adds "$BLOOMSHM_COMMAND"
fleet hostile "$BLOOMSHM_COMMAND"
fleet slow "$BLOOMSHM_COMMAND"
fleet web "$BLOOMSHM_COMMAND"
build_command_asan
# What a verb holds until its end is the kernel's to take back.
export ASAN_OPTIONS=detect_leaks=0
fleet fleet build/cli-asan/bloomshm 'images then' hostile garbage pin 'of a follower' 'any bytes' \
	fenced
fleet hostile build/cli-asan/bloomshm answers streams 'who wait'
fleet adds build/cli-asan/bloomshm 'all hosts' 'next version' anew 'who wait' tls
fleet slow build/cli-asan/bloomshm
fleet web build/cli-asan/bloomshm 'head last' lost folders removed signatures passwords good signal \
	'of two' turns nginx
printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]

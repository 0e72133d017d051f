#!/usr/bin/env bash
# Makes the picture of `bloomshm top` of the README, docs/top.png: a frame of a segment that
# processes ask, in a terminal that pyte emulates, drawn by Chromium. Not part of script/test.
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"

need_packages php-cli python3 python3-pyte chromium fonts-dejavu-core
build_extension
build_command
segment=/dev/shm/bloomshm.demo
[[ ! -e $segment ]] || die "$segment is there already"
work=$(mktemp -d)
workers=()
trap '{ kill "${workers[@]}" && wait; } 2>/dev/null || true; rm -rf "$work" "$segment"' EXIT

traffic=(php -n -d "extension=$BLOOMSHM_SO" -d "bloomshm.path=$segment"
	-d bloomshm.filter_memory=32M -d bloomshm.cache_memory=16M tests/cli/traffic.php)

"${traffic[@]}" fill
for _ in 1 2 3 4; do
	"${traffic[@]}" ask 30 &
	workers+=($!)
done
/usr/bin/python3 tests/cli/picture.py "$BLOOMSHM_COMMAND" "$segment" 15 >"$work/top.html"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=940,434 \
	--screenshot="$PWD/docs/top.png" "file://$work/top.html" >"$work/chromium.log" 2>&1 ||
	die "chromium failed: $(tail -n 1 "$work/chromium.log")"
say 'docs/top.png is made'

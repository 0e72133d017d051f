#!/usr/bin/env bash
# Proves docs/FORMAT.md: read_segment.py, written from that page alone, reads what the extension wrote and gives the
# extension's answers; on a quiet segment, on one that is being written, and on damaged ones. read_dump.py does the same
# for the files of filters; those in tests/data pin the format.
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"

need_packages python3 python3-xxhash
build_extension

work=$(mktemp -d)
writer=
trap '[[ -z $writer ]] || kill "$writer" 2>/dev/null || true; rm -rf "$work"' EXIT
segment=$work/segment

# Debian's own Python: the one that python3-xxhash is for.
reader() {
	/usr/bin/python3 tests/format/read_segment.py "$@"
}

# with_extension SEGMENT ARGUMENT...: PHP with the extension on that segment.
with_extension() {
	local path=$1
	shift
	php -n -d extension="$BLOOMSHM_SO" -d bloomshm.path="$path" -d bloomshm.filter_memory=8M "$@"
}

passed=0 failed=0
# expect WHAT COMMAND...: the command must succeed; what it says is shown when it does not.
expect() {
	local what=$1
	shift
	if "$@" >"$work/output" 2>&1; then
		passed=$((passed + 1))
		printf 'ok - %s\n' "$what"
	else
		failed=$((failed + 1))
		printf 'not ok - %s\n' "$what"
		head -n 10 "$work/output" | sed 's/^/    /'
	fi
}

closing_line() {
	printf '%d passed, %d failed\n' "$passed" "$failed"
	[[ $failed -eq 0 ]]
}

# says WANTED COMMAND...: the command's output must be exactly that.
says() {
	local wanted=$1 output
	shift
	output=$("$@") || return 1
	printf 'said "%s" instead of "%s"\n' "$output" "$wanted"
	[[ $output == "$wanted" ]]
}

# exits STATUS COMMAND...
exits() {
	local wanted=$1 status=0
	shift
	"$@" || status=$?
	[[ $status -eq $wanted ]]
}

hex() {
	printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n'
}

# ---------------------------------------------------------------- the document's example

# Reads a hex dump (file offset, then bytes) and sets these bytes in a file of zeros.
undump() {
	local out=$1 bytes=$2 offset row
	truncate -s "$bytes" "$out"
	while read -r offset row; do
		printf '%b' "$(sed -E 's/ *([0-9a-f]{2})/\\x\1/g' <<<"$row")" |
			dd of="$out" bs=1 seek=$((16#$offset)) conv=notrunc status=none
	done
}

sed -nE 's/^    ([0-9a-f]{8}( {1,2}[0-9a-f]{2}){16})$/\1/p' docs/FORMAT.md | undump "$work/example" 1257472
expect 'the example is sound' reader check "$work/example"
expect 'the example: cat and tag' says $'maybe\nno' reader has "$work/example" tags cat tag
chmod 600 "$work/example"
expect 'the extension reads the example too' says '10' with_extension "$work/example" -r \
	'echo (int) bloom_maybe_has("tags", "cat"), (int) bloom_maybe_has("tags", "tag");'

# ---------------------------------------------------------------- a quiet segment

# finds_all SEGMENT QUESTIONS: no question may be answered with no.
finds_all() {
	reader ask "$1" <"$2" >"$work/found.txt" && ! grep -n no "$work/found.txt"
}

read_all() {
	reader list "$segment" >"$work/read.json" &&
		reader ask "$segment" <"$work/questions.txt" >"$work/read_answers.txt"
}

with_extension "$segment" tests/format/build.php "$work"
negatives=$(grep -c no "$work/answers.txt")

expect 'the reader reads it' read_all
expect 'the segment is sound' reader check "$segment"
expect 'the extension thinks so too' says '[]' with_extension "$segment" -r 'echo json_encode(bloom_verify());'
expect "$(wc -l <"$work/read.json") filters, with their figures" \
	php -n tests/format/compare_filters.php "$work/filters.json" "$work/read.json"
expect 'a scattered one of six probes' grep -E '"hashes": 6,.*"scattered": true' "$work/read.json"
expect 'a scattered one of seventeen probes' grep -E '"hashes": 17,.*"scattered": true' "$work/read.json"
expect "$(wc -l <"$work/answers.txt") answers are the extension's" diff "$work/answers.txt" "$work/read_answers.txt"
expect "$negatives of them are no" test "$negatives" -gt 10000
expect "$(wc -l <"$work/present.txt") keys that were added are found" finds_all "$segment" "$work/present.txt"

# ---------------------------------------------------------------- while it is being written

# Lines for "ask": SETS times the keys FIRST..LAST of the filter "moving".
moving() {
	# shellcheck disable=SC2016
	php -n -r '[, $sets, $first, $last] = $argv;
		$set = implode("", array_map(fn ($i) => bin2hex("moving") . " " . bin2hex((string) $i) . "\n", range($first, $last)));
		echo str_repeat($set, (int) $sets);' "$@"
}

# Asks for what is in every generation, in one process after another, as long as the writer republishes.
asks_while_republished() {
	local negatives=0 all_found=true
	with_extension "$segment" tests/format/republish.php &
	writer=$!
	while kill -0 "$writer" 2>/dev/null; do
		finds_all "$segment" "$work/moving.txt" || all_found=false
		negatives=$((negatives + $(reader ask "$segment" <"$work/never.txt" | grep -c no)))
	done
	wait "$writer" || return 1
	writer=
	printf '%d absent keys were answered no\n' "$negatives"
	$all_found && [[ $negatives -gt 0 ]]
}

moving 20 1 500 >"$work/moving.txt"
moving 1 50001 50500 >"$work/never.txt"
expect 'nothing is missed in a filter that is republished meanwhile' asks_while_republished
expect 'the segment is still sound' reader check "$segment"

# ---------------------------------------------------------------- damaged segments

# figure_of FILTER FIELD: a number that the reader listed.
figure_of() {
	sed -nE "/\"name\": \"$(hex "$1")\"/s/.*\"$2\": ([0-9]+).*/\1/p" "$work/read.json"
}

# no_of FILTER: a question about it that was answered with no.
no_of() {
	paste -d ' ' "$work/answers.txt" "$work/questions.txt" |
		awk -v name="$(hex "$1")" '$1 == "no" && $2 == name && !found++ { print $2, $3 }'
}

# damage OFFSET: makes a copy of the segment with one bit turned.
damage() {
	local byte
	cp "$segment" "$work/damaged"
	byte=$(od -An -tu1 -j "$1" -N 1 "$work/damaged")
	printf '%b' "$(printf '\\x%02x' $((byte ^ 64)))" | dd of="$work/damaged" bs=1 seek="$1" conv=notrunc status=none
}

extension_asks() {
	# shellcheck disable=SC2016
	with_extension "$work/damaged" -r \
		'echo bloom_maybe_has(hex2bin($argv[1]), hex2bin($argv[2])) ? "maybe" : "no";' "$@"
}

# expect_maybe WHAT QUESTION: both must say maybe where they said no.
expect_maybe() {
	local what=$1 name key
	read -r name key <<<"$2"
	expect "$what: the reader says maybe" says maybe reader ask "$work/damaged" <<<"$2"
	expect "$what: the extension says maybe" says maybe extension_asks "$name" "$key"
	expect "$what: the reader reports it" exits 3 reader check "$work/damaged"
}

# expect_refused WHAT: the whole file is useless.
expect_refused() {
	local name key
	read -r name key < <(no_of 'one percent')
	expect "$1: the reader refuses" exits 2 reader check "$work/damaged"
	expect "$1: the extension says maybe" says maybe extension_asks "$name" "$key"
}

# ---------------------------------------------------------------- files of filters

dump_reader() {
	/usr/bin/python3 tests/format/read_dump.py "$@"
}

# same_but_times FILE FILE: equal, but for when they were published and dumped, the phase, and the header's checksum.
same_but_times() {
	[[ $(stat -c %s "$1") -eq $(stat -c %s "$2") ]] || return 1
	{ cmp -l "$1" "$2" || true; } | awk '!($1 > 48 && $1 <= 64 || $1 > 72 && $1 <= 80 || $1 > 184 && $1 <= 192) { wrong++; print }
		END { exit wrong > 0 }'
}

# finds KEYS FILE: key 0 to key KEYS - 1 are found, and most of as many others are not.
finds() {
	local keys=() others=()
	mapfile -t keys < <(seq -f 'key %g' 0 $(($1 - 1)))
	mapfile -t others < <(seq -f 'other %g' 0 $(($1 - 1)))
	[[ $(dump_reader has "$2" "${keys[@]}" | grep -c maybe) -eq $1 &&
		$(dump_reader has "$2" "${others[@]}" | grep -c no) -gt $(($1 * 9 / 10)) ]]
}

restored() {
	# shellcheck disable=SC2016
	with_extension "$work/golden" -r '[, $kind, $from, $to, $count] = $argv;
		bloom_restore($kind, $from);
		bloom_dump($kind, $to);
		$keys = array_map(fn (int $i): string => "key $i", range(0, $count - 1));
		exit((int) in_array(false, bloom_maybe_has_many($kind, $keys), true));' "$@"
}

mkdir "$work/fresh"
with_extension "$work/golden" tests/format/golden.php "$work/fresh"
for kind in fixed:5000 growing:5000 sliding:3000 counting:1500; do
	file=tests/data/${kind%:*}.bloom
	expect "${kind%:*}: the golden file is sound" dump_reader check "$file"
	expect "${kind%:*}: its keys are found in it" finds "${kind#*:}" "$file"
	expect "${kind%:*}: the same keys make the same file" same_but_times "$file" "$work/fresh/${kind%:*}.bloom"
	expect "${kind%:*}: the extension restores it" restored "${kind%:*}" "$file" "$work/again" "${kind#*:}"
	expect "${kind%:*}: and dumps the same" same_but_times "$file" "$work/again"
done
expect 'counting: and how often' says $'3\n2\n1\n0' dump_reader count tests/data/counting.bloom \
	'key 1' 'key 700' 'key 1200' 'other 1'
head -c 5000 tests/data/fixed.bloom >"$work/cut"
expect 'a file that was cut short is refused' exits 3 dump_reader check "$work/cut"

if [[ $failed -ne 0 ]]; then # what follows is aimed with what was read
	closing_line
fi

entry=$(figure_of 'one percent' entry_off)
descriptor=$(figure_of 'one percent' descriptor_off)
question=$(no_of 'one percent')

damage 0
expect_refused 'another magic'
damage 8
expect_refused 'another layout'
damage 24
expect_refused 'another name seed'
damage 33
expect_refused 'another partition count'
cp "$segment" "$work/damaged"
truncate -s -8192 "$work/damaged"
expect_refused 'cut short'
cp "$segment" "$work/damaged"
truncate -s +8192 "$work/damaged"
expect_refused 'extended'

damage "$entry"
expect_maybe 'another generation' "$question"
damage $((entry + 65))
expect_maybe 'another name' "$question"
damage $((descriptor + 8))
expect_maybe 'another seed' "$question"
damage $((descriptor + 96 + 4))
expect_maybe 'another size' "$question"
damage "$(figure_of scattered first_link_off)"
expect_maybe 'another link' "$(no_of scattered)"
damage "$(figure_of grown older_off)"
expect_maybe 'another older layer' "$(no_of grown)"

closing_line

#!/usr/bin/env bash
# Proves docs/FORMAT.md: read_segment.py, written from that page alone, reads what the extension
# wrote and gives the extension's answers, and its records; on a quiet segment, on one that is being
# written, and on damaged ones. read_dump.py, read_delta.py and read_records.py do the same for the
# files of filters, of deltas and of records; those in tests/data pin the formats.
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"

need_packages python3 python3-xxhash
build_extension
build_command

# In memory, as the document's example was: on a disk it would count as a segment that was in use
# when the machine stopped.
work=$(mktemp -d /dev/shm/bloomshm-format.XXXXXX)
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
	timeout "${extension_seconds:-1200}" php -n -d memory_limit=1G -d extension="$BLOOMSHM_SO" \
		-d bloomshm.path="$path" -d bloomshm.filter_memory=8M \
		-d bloomshm.cache_memory=16M "$@"
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

sed -nE 's/^    ([0-9a-f]{8}( {1,2}[0-9a-f]{2}){16})$/\1/p' docs/FORMAT.md |
	undump "$work/example" 2510848
expect 'the document is of this layout' says \
	"$(sed -n 's/^#define BSHM_LAYOUT_VERSION //p' src/core/format.h)" \
	sed -n 's/^Layout version \([0-9]*\)\. .*/\1/p' docs/FORMAT.md
expect 'the example is sound' reader check "$work/example"
expect 'the example: cat and tag' says $'maybe\nno' reader has "$work/example" tags cat tag
chmod 600 "$work/example"
expect 'the extension reads the example too' says '10' with_extension "$work/example" -r \
	'echo (int) bloom_maybe_has("tags", "cat"), (int) bloom_maybe_has("tags", "tag");'
expect 'the example: greeting and farewell' says "string $(hex hello)"$'\nabsent' reader get \
	"$work/example" 0 \
	< <(hex greeting && echo && hex farewell)
expect 'the extension finds that too' says 'hello, [], 1' with_extension "$work/example" -r \
	'echo bloom_cache_get("greeting"), bloom_cache_get("farewell"), ", ",
		json_encode(bloom_verify()), ", ", bloom_cache_info()["records"];'

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
expect 'the extension thinks so too' says '[]' with_extension "$segment" \
	-r 'echo json_encode(bloom_verify());'
expect "$(wc -l <"$work/read.json") filters, with their figures" \
	php -n tests/format/compare_filters.php "$work/filters.json" "$work/read.json"
expect 'a scattered one of six probes' grep -E '"hashes": 6,.*"scattered": true' "$work/read.json"
expect 'a scattered one of seventeen probes' grep -E '"hashes": 17,.*"scattered": true' \
	"$work/read.json"
expect "$(wc -l <"$work/answers.txt") answers are the extension's" diff "$work/answers.txt" \
	"$work/read_answers.txt"
expect "$negatives of them are no" test "$negatives" -gt 10000
expect "$(wc -l <"$work/present.txt") keys that were added are found" finds_all "$segment" \
	"$work/present.txt"

# ---------------------------------------------------------------- records

records_reader() {
	/usr/bin/python3 tests/format/read_records.py "$@"
}

# reads_records SEGMENT SAID: the reader finds these records, and no others.
reads_records() {
	reader records "$1" >"$work/read_records.json" &&
		php -n -d memory_limit=1G tests/format/compare_records.php "$2" "$work/read_records.json"
}

# dumps_records SEGMENT SAID: those of them that are users' are in the file that the extension
# makes.
dumps_records() {
	# shellcheck disable=SC2016
	with_extension "$1" -r 'bloom_cache_dump($argv[1]);' "$work/records" &&
		records_reader check "$work/records" &&
			records_reader list "$work/records" >"$work/dumped_records.json" &&
		grep '"space":0' "$2" >"$work/users_records.json" &&
		php -n -d memory_limit=1G tests/format/compare_records.php "$work/users_records.json" \
			"$work/dumped_records.json"
}

# finds_none SEGMENT KEYS: records of none of them.
finds_none() {
	reader get "$1" 0 <"$2" >"$work/found.txt" && [[ $(sort -u "$work/found.txt") == absent ]]
}

expect "$(wc -l <"$work/records.json") records, each with its value" reads_records "$segment" \
	"$work/records.json"
expect "$(wc -l <"$work/absent.txt") keys have none" finds_none "$segment" "$work/absent.txt"
expect 'a file of them' dumps_records "$segment" "$work/records.json"

# churned MEMORY RECORDS KEYS CHANGES: a store in which much was changed and evicted.
churned() {
	local what="$1, $2 records, $4 changes" small=$work/churned
	rm -f "$small"
	with_extension "$small" -d bloomshm.filter_memory=1M -d bloomshm.cache_memory="$1" \
		-d bloomshm.cache_records="$2" \
		tests/format/churn_records.php "$work/churned.json" "$3" "$4"
	expect "$what: the store is sound" reader check "$small"
	expect "$what: $(wc -l <"$work/churned.json") records" reads_records "$small" \
		"$work/churned.json"
	expect "$what: a file of them" dumps_records "$small" "$work/churned.json"
	rm -f "$small"
}

churned 1M 0 3000 60000
churned 8M 500 3000 60000
churned 8M 6000 9000 60000
expect 'in several units of a table' grep -q '"unit": [1-9]' "$work/read_records.json"
churned 66M 0 300000 180000
expect 'in three shards' grep -q '"shard": 2' "$work/read_records.json"

# ---------------------------------------------------------------- while it is being written

# Lines for "ask": SETS times the keys FIRST..LAST of the filter "moving".
moving() {
	# shellcheck disable=SC2016
	php -n -r '[, $sets, $first, $last] = $argv;
		$set = implode("", array_map(fn ($i) => bin2hex("moving") . " " . bin2hex((string) $i)
			. "\n", range($first, $last)));
		echo str_repeat($set, (int) $sets);' "$@"
}

# Asks for what is in every generation, in one process after another, as long as the writer
# republishes.
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
	printf '%b' "$(printf '\\x%02x' $((byte ^ 64)))" |
		dd of="$work/damaged" bs=1 seek="$1" conv=notrunc status=none
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

# same_but_times FILE FILE: equal, but for when they were published and dumped, the phase, and the
# header's checksum.
same_but_times() {
	[[ $(stat -c %s "$1") -eq $(stat -c %s "$2") ]] || return 1
	{ cmp -l "$1" "$2" || true; } | awk '
		!($1 > 48 && $1 <= 64 || $1 > 72 && $1 <= 80 || $1 > 184 && $1 <= 192) { wrong++; print }
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
	expect "${kind%:*}: the same keys make the same file" same_but_times "$file" \
		"$work/fresh/${kind%:*}.bloom"
	expect "${kind%:*}: the extension restores it" restored "${kind%:*}" "$file" "$work/again" \
		"${kind#*:}"
	expect "${kind%:*}: and dumps the same" same_but_times "$file" "$work/again"
done
expect 'counting: and how often' says $'3\n2\n1\n0' dump_reader count tests/data/counting.bloom \
	'key 1' 'key 700' 'key 1200' 'other 1'
head -c 5000 tests/data/fixed.bloom >"$work/cut"
expect 'a file that was cut short is refused' exits 3 dump_reader check "$work/cut"

# ---------------------------------------------------------------- deltas

delta_reader() {
	/usr/bin/python3 tests/format/read_delta.py "$@"
}

# leads FROM DELTA TO: by the reader, and by the command.
leads() {
	delta_reader apply "$1" "$2" "$work/made" && cmp "$work/made" "$3" &&
		"$BLOOMSHM_COMMAND" patch "$1" "$2" "$work/made" && cmp "$work/made" "$3"
}

# makes FROM TO DELTA: the command does.
makes() {
	"$BLOOMSHM_COMMAND" diff "$1" "$2" "$work/made" && cmp "$work/made" "$3"
}

# refused DELTA: by both, and nothing is written.
refused() {
	rm -f "$work/made"
	exits 3 delta_reader apply tests/data/growing.bloom "$1" "$work/made" &&
		exits 3 "$BLOOMSHM_COMMAND" patch tests/data/growing.bloom "$1" "$work/made" &&
		[[ ! -e $work/made ]]
}

for kind in fixed growing; do
	file=tests/data/$kind
	expect "$kind-later: the golden file is sound" dump_reader check "$file-later.bloom"
	expect "$kind-later: the same keys make the same file" same_but_times "$file-later.bloom" \
		"$work/fresh/$kind-later.bloom"
	expect "$kind: its golden delta leads there" leads "$file.bloom" "$file.delta" \
		"$file-later.bloom"
	expect "$kind: and back" leads "$file-later.bloom" "$file.delta" "$file.bloom"
	expect "$kind: the same images make the same delta" makes "$file.bloom" "$file-later.bloom" \
		"$file.delta"
done
# Dumps of a few hundred partitions: many groups, raw ones, and what a load changes.
"$BLOOMSHM_COMMAND" --path "$work/deltas" load f -q --seed s --filter-memory 8M < <(seq 1 400000) \
	>"$work/output"
"$BLOOMSHM_COMMAND" --path "$work/deltas" dump f "$work/one"
for first in 2 41 40001 400001; do
	"$BLOOMSHM_COMMAND" --path "$work/deltas" load f -q --seed s \
		< <(seq "$first" $((first + 399999))) >"$work/output"
	"$BLOOMSHM_COMMAND" --path "$work/deltas" dump f "$work/two"
	"$BLOOMSHM_COMMAND" diff "$work/one" "$work/two" >"$work/delta"
	what="$((first - 1)) of 400,000 keys change"
	expect "$what: there" leads "$work/one" "$work/delta" "$work/two"
	expect "$what: and back" leads "$work/two" "$work/delta" "$work/one"
done
size=$(stat -c %s tests/data/growing.delta)
for ((i = 0; i < size; i += i < 200 ? 25 : size / 12)); do
	turned=$(od -An -tu1 -j "$i" -N 1 tests/data/growing.delta)
	{
		head -c "$i" tests/data/growing.delta
		printf '%b' "$(printf '\\x%02x' $((turned ^ 16)))"
		tail -c +$((i + 2)) tests/data/growing.delta
	} >"$work/bad"
	refused "$work/bad" >"$work/output" 2>&1 || break
done
expect 'a delta with one bit turned is refused' test "$i" -ge "$size"
head -c $((size - 1)) tests/data/growing.delta >"$work/bad"
expect 'a delta that was cut short is refused' refused "$work/bad"
expect 'a delta of another image is refused' refused tests/data/fixed.delta

# ---------------------------------------------------------------- the file of records

golden=tests/data/records.bloom-records

# has_golden_records FILE
has_golden_records() {
	with_extension "$work/none" tests/format/golden_records.php say "$work/golden.json" &&
		records_reader list "$1" >"$work/golden_read.json" &&
		php -n tests/format/compare_records.php "$work/golden.json" "$work/golden_read.json"
}

# same_records FILE FILE: of the same recency, too.
same_records() {
	diff <(records_reader order "$1") <(records_reader order "$2")
}

with_extension "$work/fresh_store" tests/format/golden_records.php dump "$work/fresh/records"
expect 'records: the golden file is sound' records_reader check "$golden"
expect 'records: it holds the fixed values' has_golden_records "$golden"
expect 'records: the same values make the same records' same_records "$golden" "$work/fresh/records"
expect 'records: the extension restores it' with_extension "$work/restored_store" \
	tests/format/golden_records.php restore \
	"$golden" "$work/again"
expect 'records: and dumps the same' same_records "$golden" "$work/again"

# expect_bad_records WHAT: $work/bad is refused, and nothing of it is restored.
expect_bad_records() {
	expect "records, $1: the reader refuses" exits 3 records_reader check "$work/bad"
	# shellcheck disable=SC2016
	expect "records, $1: the extension refuses" says 'refused, 0' with_extension \
		"$work/refusing_store" -r \
		'try { bloom_cache_restore($argv[1]); } catch (BloomShm\Exception) { echo "refused, ", bloom_cache_info()["records"]; }' \
		"$work/bad"
}

# turn OFFSET: $work/bad is the golden file with one bit turned.
turn() {
	local byte
	cp "$golden" "$work/bad"
	byte=$(od -An -tu1 -j "$1" -N 1 "$work/bad")
	printf '%b' "$(printf '\\x%02x' $((byte ^ 64)))" |
		dd of="$work/bad" bs=1 seek="$1" conv=notrunc status=none
}

size=$(stat -c %s "$golden")
turn 0
expect_bad_records 'another magic'
turn 8
expect_bad_records 'another version'
turn 48
expect_bad_records 'a longer key'
turn 57
expect_bad_records 'other flags'
turn 66
expect_bad_records 'another key'
turn $((size - 24))
expect_bad_records 'another count'
turn $((size - 1))
expect_bad_records 'another check'
head -c $((size - 1)) "$golden" >"$work/bad"
expect_bad_records 'cut short'
head -c $((size - 32)) "$golden" >"$work/bad"
expect_bad_records 'without its end'
{ cat "$golden" && echo; } >"$work/bad"
expect_bad_records 'with more behind it'
: >"$work/bad"
expect_bad_records 'empty'

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
damage 256
expect_refused 'another count of shards'
damage 282
expect_refused 'other memory for records'
damage 288
expect_refused 'another check of it'
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

# offset_of KEY FIELD: a number that the reader listed of a record.
offset_of() {
	sed -nE "/\"space\": 0, \"key\": \"$(hex "$1")\"/s/.*\"$2\": ([0-9]+).*/\1/p" \
		"$work/main_records.json"
}

# expect_absent WHAT KEY: neither finds the record any more, and the reader reports it.
expect_absent() {
	expect "$1: the reader finds no record" says absent reader get "$work/damaged" 0 < <(hex "$2")
	# shellcheck disable=SC2016
	extension_seconds=300 expect "$1: nor does the extension" says absent with_extension \
		"$work/damaged" -r \
		'echo bloom_cache_get($argv[1], "absent");' "$2"
	expect "$1: the reader reports it" exits 3 reader check "$work/damaged"
	# shellcheck disable=SC2016
	expect "$1: so does the extension" with_extension "$work/damaged" \
		-r 'exit((int) (bloom_verify() === []));'
}

reader records "$segment" >"$work/main_records.json"
damage "$(offset_of '100 kB' ref_off)"
expect_absent 'another ref' '100 kB'
damage $(($(offset_of '100 kB' ref_off) + 3))
expect_absent 'a ref of another page' '100 kB'
damage "$(offset_of '100 kB' tag_off)"
expect_absent 'another tag' '100 kB'
damage $(($(offset_of '100 kB' record_off) + 20))
expect_absent 'another key of a record' '100 kB'
damage $(($(offset_of '100 kB' record_off) + 19))
expect_absent 'another first chunk' '100 kB'
damage $(($(offset_of '100 kB' chunk_off) + 7))
expect_absent 'another second chunk' '100 kB'
damage $(($(offset_of '100 kB' record_off) + 9))
expect_absent 'a longer key of a record' '100 kB'
damage "$(offset_of '100 kB' root_off)"
expect_absent 'another root of a table' '100 kB'
damage $(($(offset_of '100 kB' unit_off) + 3))
expect_absent 'another unit' '100 kB'
damage "$(offset_of '100 kB' header_off)"
expect 'another class of a page: the reader reports it' exits 3 reader check "$work/damaged"
damage "$(offset_of '100 kB' bitmap_off)"
expect 'another slot taken: the reader reports it' exits 3 reader check "$work/damaged"

closing_line

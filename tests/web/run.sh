#!/usr/bin/env bash
# Tests web/status.php without a browser: who may ask, headers, names of any bytes, segments that
# cannot be used, many filters; its metrics by the parser of OpenMetrics, by promtool and by
# Prometheus itself, and against those of the command; the alert rules by promtool.
#
# Last line: N passed, N failed.
#
# shellcheck disable=SC2016 # PHP code is in single quotes
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"
. tests/web/serve.sh

need_packages redis-server curl php-cli prometheus python3 python3-prometheus-client
build_extension
build_command

work=$(mktemp -d)
segment=$(mktemp -u /dev/shm/bloomshm-web.XXXXXX)
prometheus=
passed=0 failed=0

trap 'stop; [[ -z $prometheus ]] || kill "$prometheus" 2>/dev/null || true
	rm -rf "$work" "$segment"' EXIT

check() { # WHAT WANTED GOT
	if [[ $2 == "$3" ]]; then
		printf 'ok - %s\n' "$1" && passed=$((passed + 1))
	else
		printf "not ok - %s: wanted '%s', got '%.300s'\n" "$1" "$2" "$3"
		failed=$((failed + 1))
	fi
}

expect() { # WHAT COMMAND...: the command succeeds
	local what=$1 status=0
	shift
	"$@" >"$work/output" 2>&1 || status=$?
	check "$what" 'status 0' "status $status$([[ $status -eq 0 ]] || head -c 250 "$work/output")"
}

extension=(-n -d "extension=$BLOOMSHM_SO" -d "bloomshm.path=$segment" -d bloomshm.filter_memory=160M
	-d display_errors=1 -d html_errors=0)

get() { # QUERY [CURL-OPTION...]
	local query=$1
	shift
	curl -sS --max-time 60 "$@" "http://127.0.0.1:$port/$query"
}

code() { # QUERY [CURL-OPTION...]
	get "$@" -o /dev/null -w '%{http_code}'
}

json() { # QUERY PHP-EXPRESSION of $a
	get "$1" | php -n -r '$a = json_decode(stream_get_contents(STDIN), true, 64,
		JSON_THROW_ON_ERROR); echo '"$2"';'
}

# ------------------------------------------------------------------------------- who may ask

php "${extension[@]}" tests/web/fill.php
digest() {
	php "${extension[@]}" -r 'echo md5(json_encode([array_map("bin2hex", bloom_list()),
		bloom_cache_info(), bloom_status()["questions"], bloom_verify()]));'
}
before=$(digest)

serve "${extension[@]}"
while read -r wanted address; do
	check "an answer for $address" "$wanted" "$(code '' -H "X-Test-Address: $address")"
done <<-'END'
	200 127.0.0.1
	200 127.255.0.1
	200 ::1
	200 ::ffff:127.0.0.1
	403 192.0.2.1
	403 128.0.0.1
	403 ::2
	403 ::ffff:192.0.2.1
	403 unix:
	403 127.0.0.1,192.0.2.1
END
for header in 'X-Forwarded-For: 127.0.0.1' 'Forwarded: for=127.0.0.1' 'X-Real-IP: 127.0.0.1' \
	'X-Forwarded-Proto: https' 'True-Client-IP: 192.0.2.1' 'CF-Connecting-IP: 192.0.2.1' \
	'Via: 1.1 proxy' 'Host: evil.example' 'Host: localhost.evil.example'; do
	check "a request from here with $header" 403 "$(code '' -H "$header")"
done
for host in localhost:80 LOCALHOST '[::1]:80' 127.0.0.1; do
	check "by the name $host" 200 "$(code '' -H "Host: $host")"
done
for form in '?json' '?metrics' '?verify=1' '?prefix='; do
	check "$form for others" 403 "$(code "$form" -H 'X-Test-Address: 192.0.2.1')"
done
check 'a refusal tells no figure' 0 \
	"$(get '' -H 'X-Test-Address: 192.0.2.1' | grep -c -e articles -e /dev/shm)"
for method in POST DELETE; do
	check "$method" 405 "$(code '' -X "$method")"
done
check 'HEAD' 200 "$(code '' -I)"

sed "s|^const ALLOWED = .*|const ALLOWED = ['192.0.2.16/28', '2001:db8::/33', '198.51.100.7',\
 '10.0.0.0/33', '/0', '0.0.0.0/x', '0.0.0.0/', ''];|" web/status.php >"$work/allowing.php"
page=$work/allowing.php serve "${extension[@]}"
while read -r wanted address; do
	check "with entries in ALLOWED, for $address" "$wanted" \
		"$(code '' -H "X-Test-Address: $address" -H 'Host: shop.example')"
done <<-'END'
	200 192.0.2.16
	200 192.0.2.31
	403 192.0.2.15
	403 192.0.2.32
	200 2001:db8:7fff::1
	403 2001:db8:8000::1
	200 198.51.100.7
	403 198.51.100.8
	403 10.0.0.1
	403 127.0.0.1
END

# ------------------------------------------------------------------------------- the page

serve "${extension[@]}"
get '' -D "$work/head" -o "$work/page"
policy=$(grep -i '^content-security-policy:' "$work/head")
nonce=$(grep -o "script-src 'nonce-[^']*'" <<<"$policy" | cut -d - -f 3- | tr -d "'")
expect 'the policy allows nothing by default' grep -q "default-src 'none'" <<<"$policy"
expect 'the policy allows no unsafe code' bash -c '! grep -q unsafe <<<"$0"' "$policy"
check 'the one script and the one style have its nonce' 2 \
	"$(grep -cE "<(script|style) nonce=\"${nonce//+/\\+}\">" "$work/page")"
check 'there is no other script' 1 "$(grep -o '<script' "$work/page" | wc -l)"
check 'no attribute has a style or code' 0 "$(grep -ciE '<[^>]* (style|on[a-z]+)=' "$work/page")"
check 'nothing comes from elsewhere' 0 "$(grep -ciE '(src|href)="?(https?:)?//' "$work/page")"
check 'each answer has a nonce of its own' 0 "$(get '' | grep -cF "$nonce")"
for header in 'X-Content-Type-Options: nosniff' 'Cache-Control: no-store' \
	'Referrer-Policy: no-referrer'; do
	expect "$header" grep -qi "^$header" "$work/head"
done

printable() { # FILE
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null && ! LC_ALL=C grep -qaP '[\x00-\x08\x0B-\x1F\x7F]' "$1"
}
get '?prefix=&verify=1&filter=grown' -o "$work/full"
get '?json&prefix=&verify=1&filter=grown' -o "$work/json"
get '?metrics' -D "$work/metrics.head" -o "$work/metrics"
for answer in page full json metrics; do
	expect "$answer is UTF-8 without control characters" printable "$work/$answer"
	for name in 'bad\\*xFF\\*xC3utf8' 'control\\*x01\\*x1B\[31m\\*x0A' \
		'order\\*xE2\\*x80\\*xAEgpj.exe' 'App\\*x5Cx01' 'App\\*x01'; do
		expect "$answer shows $name" grep -q "$name" "$work/$answer"
	done
done
for shown in '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;' '&lt;/main&gt;'; do
	expect "the page shows $shown" grep -qF "$shown" "$work/page"
done
check 'the settings are shown' 1 \
	"$(grep -o '<dt>bloomshm.filter_memory</dt><dd>160M</dd>' "$work/page" | wc -l)"
check 'main ends once' 1 "$(grep -o '</main>' "$work/full" | wc -l)"
check 'every name leads to its filter' 15 "$(grep -o 'href="?filter=[^"]*"' "$work/page" |
	sed 's/^href="//; s/"$//; s/&amp;/\&/g' | while read -r query; do
		get "$query" | grep -o 'error rate now'
	done | wc -l)"
for word in 'no more keys fit. Load it anew' 'Records found: ' ArrayObject \
	'The check found no fault' 'Layers, the oldest first' \
	'Some values cannot be read by this page: bloom_cache_scan(): Class &#039;Suit&#039;'; do
	expect "the page says: $word" grep -qF "$word" "$work/full"
done
for query in '?filter=none' '?filter[]=1&search[]=2&sort[]=3' '?from=-5' '?from=999999999999999999' \
	'?sort=-nothing' '?since=1.2' '?since=1.2.3.4.5.6.x&turn=-7&refresh' '?search=%FF%00' \
	'?prefix=%FF%00&cursor=x' '?cursor=-1&prefix=' '?filter=%00' "?filter=$(printf '%070d')"; do
	check "$query" 200 "$(code "$query" -g)"
done
check 'PHP says nothing in the page about a value that it cannot read' 0 \
	"$(grep -c '^Warning' "$work/full")"
check 'JSON says which values cannot be read' 1 "$(json '?json&prefix=an' 'count($a["unread"])')"
check 'and has the others' 'an object' "$(json '?json&prefix=an' '$a["records"][0][0]')"
check 'the search' '1 123' "$(json '?json&search=script' '$a["matching"]') $(
	json '?json&search=12' '$a["filters"][0]["name"]')"
for column in used estimated_error_rate bytes age questions saved; do
	expect "sorted by $column" bash -c "[[ $(json "?json&sort=-$column" \
		'(int) (max(array_column($a["filters"], "'$column'")) ===
			$a["filters"][0]["'$column'"])') -eq 1 ]]"
done
check 'questions and what they saved' 20000 "$(json '?json&filter=articles' \
	'$a["filter"]["maybes"] + $a["filter"]["saved"]')"
part=$(get '?part=1')
check 'what the script asks for is the middle' '<main data-now=' "${part:0:15}"
expect 'and nothing else' bash -c '[[ $0 != *"<script nonce"* && $0 != *"<style"* ]]' "$part"
check 'all this has changed nothing' "$before" "$(digest)"
since=$(get '' | grep -o 'data-now="[^"]*"' | cut -d '"' -f 2)
php "${extension[@]}" -r 'bloom_cache_get("42"); bloom_cache_get("none");'
expect 'hits while the page is open' bash -c '[[ $0 == *"50.0 %"*"2 reads"* ]]' \
	"$(get "?since=$since")"

# ------------------------------------------------------------------------------- metrics

check 'their type' 'application/openmetrics-text; version=1.0.0; charset=utf-8' \
	"$(sed -n 's/^Content-Type: \(.*\)\r$/\1/Ip' "$work/metrics.head")"
expect 'the parser of OpenMetrics reads them' /usr/bin/python3 tests/web/read_metrics.py \
	"$work/metrics" docs/METRICS.md
get '?metrics' -H 'Accept: text/plain' -o "$work/text"
expect 'promtool check metrics' promtool check metrics <"$work/text"
check 'promtool has nothing to say' '' "$(promtool check metrics <"$work/text" 2>&1)"
for form in '' --text; do
	get '?metrics' -H "Accept: ${form:+text/plain}" -o "$work/metrics.page"
	"$BLOOMSHM_COMMAND" --path "$segment" metrics $form >"$work/metrics.command"
	expect "the command says the same${form:+ with $form}" /usr/bin/python3 \
		tests/web/compare_metrics.py "$work/metrics.page" "$work/metrics.command" 100
done
check 'promtool has nothing to say to the command' '' \
	"$(promtool check metrics <"$work/metrics.command" 2>&1)"
expect 'promtool check rules' promtool check rules web/alerts.yml
expect 'promtool test rules' promtool test rules tests/web/alerts_test.yml
stored() { # EXPRESSION: what Prometheus has for it
	curl -sS -G --data-urlencode "query=$1" "http://127.0.0.1:$prometheus_port/api/v1/query" |
		php -n -r '$a = json_decode(stream_get_contents(STDIN), true);
			echo $a["data"]["result"][0]["value"][1] ?? "nothing";'
}
prometheus_port=$(free_port)
cat >"$work/prometheus.yml" <<-END
	global: {scrape_interval: 1s}
	rule_files: [$PWD/web/alerts.yml]
	scrape_configs:
	  - job_name: bloomshm
	    params: {metrics: ['']}
	    metrics_path: /
	    static_configs: [{targets: ['127.0.0.1:$port']}]
END
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
	--web.listen-address="127.0.0.1:$prometheus_port" >"$work/prometheus.log" 2>&1 &
prometheus=$!
# It gives a page a second to answer. What it has read once counts, whatever comes later.
for ((tries = 0; tries < 3000; tries++)); do
	[[ $(stored 'max_over_time(up[1h])' 2>/dev/null) != 1 ]] || break
	sleep 0.1
done
keys='last_over_time(bloomshm_filter_keys[1h])'
check 'Prometheus reads all filters' 15 "$(stored "count($keys)")"
check 'Prometheus has their names' 1000 "$(stored "${keys/[/'{filter="App\\x5Cx01"}['}")"
check 'Prometheus knows counters' 20000 \
	"$(stored 'last_over_time(bloomshm_filter_questions_total[1h]) > 0')"
kill "$prometheus" && wait "$prometheus" || true
check 'nine alerts' 9 "$(grep -c 'alert:' web/alerts.yml)"

# ------------------------------------------------------------------------------- large filters

sed 's/^const READ_SECONDS = .*/const READ_SECONDS = 0.0;/' web/status.php >"$work/slow.php"
page=$work/slow.php serve "${extension[@]}"
check 'where there is no time, one filter is read' '1 1' "$(get '?turn=0' |
	grep -o '<tr data-key="[^"]*">' | wc -l) $(get '?turn=0' | grep -o 'data-turn="[0-9]*"' |
	tr -dc 0-9)"
check 'then the next one' 2 "$(get '?turn=1' | grep -o 'data-turn="[0-9]*"' | tr -dc 0-9)"
check 'and after the last the first' 0 "$(get '?turn=14' | grep -o 'data-turn="[0-9]*"' |
	tr -dc 0-9)"

php "${extension[@]}" tests/web/fill.php 10000
php "${extension[@]}" -r 'for ($i = 0; $i < 20; $i++) {
	bloom_cache_set("large $i", str_repeat("x", 1 << 20));
}'
serve "${extension[@]}" -d memory_limit=16M
for query in '' '?sort=-bytes' '?filter=articles' '?prefix=large'; do
	expect "10,000 filters and records of 1 MB in 16 MB: page $query" \
		grep -q '</html>' <(get "$query")
done
expect '10,000 filters and records of 1 MB in 16 MB: JSON' bash -c "[[ $(
	json '?json&prefix=large&sort=-age' 'count($a["records"])') -ge 1 ]]"
get '' -o "$work/page"
expect "10,000 filters: $(wc -c <"$work/page") bytes are under 1 MB" \
	[ "$(wc -c <"$work/page")" -lt 1000000 ]
expect '10,000 filters: all in the metrics' bash -c "[[ \$(curl -s http://127.0.0.1:$port/?metrics |
	grep -c '^bloomshm_filter_keys{') -eq 10015 ]]"
check '10,000 filters: the last page' '10,015 of 10,015' \
	"$(get '?from=99999' | grep -o '[0-9,]* of 10,015')"

# ------------------------------------------------------------------------------- bad segments

bad() { # WHAT SENTENCE PHP-OPTION...
	local what=$1 sentence=$2
	shift 2
	serve "${extension[@]}" "$@"
	check "$what: the page" 200 "$(code '')"
	expect "$what: $sentence" grep -F "$sentence" <(get '')
	check "$what: JSON" 1 "$(json '?json&filter=articles&verify&prefix=' 'count($a["advice"])')"
	get '?metrics' -o "$work/metrics"
	expect "$what: metrics" /usr/bin/python3 tests/web/read_metrics.py "$work/metrics"
}

bad 'no segment' 'no segment yet' -d "bloomshm.path=$segment.none"
expect 'the page makes none' test ! -e "$segment.none"
bad 'switched off' 'bloomshm.enable is 0' -d bloomshm.enable=0
head -c 4M /dev/urandom >"$work/damaged" && chmod 600 "$work/damaged"
bad 'a damaged segment' 'There is no segment to look at' -d "bloomshm.path=$work/damaged"
truncate -s 100 "$work/damaged"
bad 'a short file' 'There is no segment to look at' -d "bloomshm.path=$work/damaged"

serve "${extension[@]}" -d bloomshm.readonly=1
expect 'read-only: the page' grep -F 'articles' <(get '?search=articles')
check 'read-only: JSON' articles "$(json '?json&filter=articles' '$a["filter"]["name"]')"

serve -n
check 'without the extension: the page' 503 "$(code '')"
expect 'without the extension: it says so' \
	grep -F 'The extension bloomshm is not loaded.' <(get '')
check 'without the extension: JSON' 503 "$(code '?json')"
check 'without the extension: metrics' 'bloomshm_up 0' "$(get '?metrics' | grep -v '^#')"
check 'without the extension: for others' 403 "$(code '' -H 'X-Test-Address: 192.0.2.1')"
stop

# ------------------------------------------------------------------------------- a follower's host

command=("$BLOOMSHM_COMMAND" --path "$work/publisher")
adds=unix://$work/adds
redis-server --port 0 --unixsocket "$work/adds" --save '' >/dev/null &
redis=$!
until redis-cli -s "$work/adds" ping >/dev/null 2>&1; do
	sleep 0.05
done
"${command[@]}" key "$work/key"
seq 1000 | "${command[@]}" load followed --quiet
"${command[@]}" publish followed --quiet --to "$work/origin" --key "$work/key"
command=("$BLOOMSHM_COMMAND" --path "$work/follower")
"${command[@]}" follow --once --quiet --state "$work/state" --verify-key "$work/key.pub" \
	--stream "$adds" --max-lag 3600 "$work/origin" followed
kill "$redis"
extension=(-n -d "extension=$BLOOMSHM_SO" -d "bloomshm.path=$work/follower")
serve "${extension[@]}"
now=$(get '' | grep -o 'data-now="[^"]*"' | cut -d '"' -f 2)
check 'nothing waits' 'Nothing needs to be done.' "$(get '' | grep -o 'Nothing needs[^<]*')"
php "${extension[@]}" -r 'bloom_add_many("followed", array_map(strval(...), range(5000, 24999)));'
expect 'keys wait to be sent' grep -q 'added keys wait to be sent' <(get '')
expect 'keys could not be sent' grep -q 'added keys could not be sent' <(get "?since=$now")
expect 'the page of the filter says from where, and how many' \
	grep -q "follows.*$work/origin, version 1.*stale after.*added keys that cannot" \
	<(get '?filter=followed')
check 'none is lost from the figures' 20000 "$(json '?json&filter=followed' \
	'$a["status"]["outbox_keys"] + $a["filter"]["unsent"]')"
get '?metrics' | grep -v filter_lag_seconds >"$work/metrics.page"
"${command[@]}" metrics | grep -v filter_lag_seconds >"$work/metrics.command"
expect 'the command says the same of a followed filter' /usr/bin/python3 \
	tests/web/compare_metrics.py "$work/metrics.page" "$work/metrics.command" 25
stop

check 'PHP had nothing to say' '' \
	"$(grep -ahE 'PHP (Warning|Notice|Deprecated|Fatal|Parse)' "$work"/server.* | head -n 3)"

printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]

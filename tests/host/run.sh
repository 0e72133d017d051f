#!/usr/bin/env bash
#
# What the host does to the segment: too little room in /dev/shm and on disk, limits of the process,
# containers whose processes have equal pids, other users, and requests to php-fpm that would move
# or change it.
#
# Everything happens in folders and mount namespaces of its own. What the system does not allow is
# skipped, and said. Last line: N passed, N failed.
#
# shellcheck disable=SC2016 # PHP code stands in single quotes

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../script/lib.sh"

passed=0
failed=0
complete=
dir=

check() { # WHAT WANTED GOT: GOT is a pattern
	# shellcheck disable=SC2053
	if [[ $3 == $2 ]]; then
		echo "ok - $1" && passed=$((passed + 1))
	else
		echo "not ok - $1: wanted '$2', got '$3'" && failed=$((failed + 1))
	fi
}

skip() { # WHAT WHY
	echo "# skipped: $1: $2"
}

clean_up() {
	local job
	for job in $(jobs -p); do
		kill -CONT "$job" 2>/dev/null
		kill -KILL "$job" 2>/dev/null
	done
	wait 2>/dev/null
	[[ -z $dir ]] || rm -rf "$dir"
}

finish() { # on every way out
	[[ $complete ]] || check "the script came to its end" yes no
	clean_up
	echo "$passed passed, $failed failed"
	exit $((failed > 0))
}

run_php() { # [-d SETTING...] -r CODE
	timeout 600 php -n -d extension="$dir/bloomshm.so" -d display_errors=stderr "$@" 2>&1
}

as_user() { # UID GID COMMAND...
	local uid=$1 gid=$2
	shift 2
	setpriv --reuid "$uid" --regid "$gid" --clear-groups "$@"
}

# with_mount FOLDER OPTIONS CODE...: runs shell code with a tmpfs at the folder, which no other
# process sees.
with_mount() {
	local folder=$1 options=$2
	shift 2
	timeout 600 unshare --mount --propagation private \
		bash -c 'mount -t tmpfs -o "$2" none "$1" && eval "$3"' - "$folder" "$options" "$*" 2>&1
}

try='try { echo json_encode(CALL); } catch (BloomShm\Exception $e) { echo $e->getCode() === BloomShm\Exception::NO_SPACE ? "NO_SPACE: " : "another code: ", $e->getMessage(); }'

# ------------------------------------------------------------------ room

# Less than Docker's 64 MB: the default settings want 54 MB.
test_small_shm() {
	local php="php -n -d extension=$dir/bloomshm.so"
	check 'a /dev/shm of 8 MB: a load says NO_SPACE, how much it wanted, and which settings to lower' \
		'NO_SPACE: cannot reserve 54.3 MB for /dev/shm/bloomshm.0: No space left on device; lower bloomshm.filter_memory or bloomshm.cache_memory*' \
		"$(with_mount /dev/shm size=8m "$php -r '${try/CALL/bloom_load(\"f\", [\"a\"])}'")"
	check 'a question says maybe, a read gives the default, a write false; bloom_status() says why' \
		'[[]true,[[]true],5,false,false,"cannot reserve 54.3 MB for \\/dev\\/shm*' \
		"$(with_mount /dev/shm size=8m "$php -r 'echo json_encode([bloom_maybe_has(\"f\", \"a\"), bloom_maybe_has_many(\"f\", [\"a\"]), bloom_cache_get(\"a\", 5), bloom_cache_set(\"a\", 1), bloom_status()[\"available\"], bloom_status()[\"reason\"]]);'")"
	check 'nothing is left in it, and not a byte of it is taken' '/dev/shm 0 0' \
		"$(with_mount /dev/shm size=8m "$php -r 'bloom_maybe_has(\"f\", \"a\"); bloom_status();'; echo /dev/shm \$(ls -A /dev/shm | wc -l) \$(df --output=used /dev/shm | tail -n 1)")"
	check 'with settings that fit, the same /dev/shm serves' '1 true' \
		"$(with_mount /dev/shm size=8m "$php -r 'bloom_status();'; $php -d bloomshm.filter_memory=2M -d bloomshm.cache_memory=2M -r 'bloom_load(\"f\", [\"a\"]); bloom_cache_set(\"a\", 1); echo bloom_cache_get(\"a\"), \" \", json_encode(bloom_maybe_has(\"f\", \"a\") && !bloom_maybe_has(\"f\", \"b\"));'")"
	check 'another user, for whom there is no room left, does not disturb the first' \
		'*NO_SPACE*first: true 4 [[]]' \
		"$(with_mount /dev/shm size=8m,mode=1777 "first=\"$php -d bloomshm.filter_memory=4M \
			-d bloomshm.cache_memory=2M\"; \$first -r 'bloom_load(\"f\", [\"a\"]);'
			setpriv --reuid 12001 --regid 12001 --clear-groups $php \
				-r '${try/CALL/bloom_load(\"f\", [\"a\"])}' 2>&1
			dd if=/dev/zero of=/dev/shm/rest bs=64k status=none 2>/dev/null
			\$first -r 'for (\$i = 0; \$i < 3000; \$i++) { bloom_cache_set(\"key \$i\", str_repeat(\"x\", 1000)); } bloom_load(\"g\", range(1, 300000)); bloom_cache_set(\"n\", 4); echo \"first: \", json_encode(bloom_maybe_has(\"f\", \"a\") && !bloom_maybe_has(\"f\", \"b\")), \" \", bloom_cache_get(\"n\"), \" \", json_encode(bloom_verify());'")"
}

test_huge_pages() {
	local php="php -n -d extension=$dir/bloomshm.so -d bloomshm.huge_pages=1"
	local huge='huge() { awk "/^ShmemHugePages/ { print \$2 }" /proc/meminfo; }; before=$(huge)'
	check 'huge pages do not fit where the segment does not: NO_SPACE, and nothing is left' \
		'NO_SPACE*lower bloomshm.filter_memory or bloomshm.cache_memory*0' \
		"$(with_mount /dev/shm size=8m,huge=advise "$php -r '${try/CALL/bloom_load(\"f\", [\"a\"])}'; ls -A /dev/shm | wc -l")"
	if [[ $(with_mount /dev/shm size=64m,huge=always "$huge; head -c 32M /dev/zero >/dev/shm/file; echo \$((\$(huge) - before > 20000))") != 1 ]]; then
		skip 'a segment in huge pages' 'there are none here'
		return
	fi
	check 'where the mount lets it be advised, a segment lies in huge pages' '1 20 1' \
		"$(with_mount /dev/shm size=256m,huge=advise "$huge; $php -r 'bloom_load(\"f\", range(1, 20)); echo bloom_cache_set(\"k\", 1), \" \", bloom_info(\"f\")[\"items\"];'; echo \" \$((\$(huge) - before > 40000))\"")"
}

test_full_disk() {
	local php="php -n -d extension=$dir/bloomshm.so -d bloomshm.path=$dir/disk/x.seg"
	local scene="truncate -s 24M $dir/disk.img && mkfs.ext4 -q $dir/disk.img && mount -o loop $dir/disk.img $dir/disk"
	mkdir -p "$dir/disk"
	if ! unshare --mount --propagation private bash -c "$scene" >/dev/null 2>&1; then
		skip 'a full ext4 file system' 'loop devices are not allowed here; tmpfs serves instead'
		scene="mount -t tmpfs -o size=24m none $dir/disk"
	fi
	check 'a full file system: NO_SPACE, nothing is left; later, with room, it works at once' \
		'NO_SPACE: cannot reserve * for */x.seg: No space left on device*0 files 1' \
		"$(unshare --mount --propagation private bash -c "$scene
			dd if=/dev/zero of=$dir/disk/rest bs=64k status=none 2>/dev/null
			$php -r '${try/CALL/bloom_load(\"f\", [\"a\"])}'
			echo; echo \$(ls $dir/disk | grep -c seg) files
			rm $dir/disk/rest
			$php -d bloomshm.filter_memory=2M -d bloomshm.cache_memory=2M \
				-r 'echo bloom_load(\"f\", [\"a\"])[\"keys\"];'" 2>&1 | tr '\n' ' ' | sed 's/ $//')"
	check 'a disk that is filled later: the segment has what it needs, every page of it' '[[]0,true,[[]]]' \
		"$(unshare --mount --propagation private bash -c "$scene
			set=\"$php -d bloomshm.filter_memory=4M -d bloomshm.cache_memory=4M\"
			\$set -r 'bloom_reserve(\"f\", 1000000);'
			dd if=/dev/zero of=$dir/disk/rest bs=64k status=none 2>/dev/null
			\$set -r 'bloom_add_many(\"f\", range(1, 100000));
				for (\$i = 0; \$i < 5000; \$i++) { bloom_cache_set(\$i, str_repeat(\"x\", 1000)); }
				echo json_encode([count(array_filter(bloom_maybe_has_many(\"f\", range(1, 1000)), fn (\$yes) => !\$yes)), bloom_cache_get(4999) === str_repeat(\"x\", 1000), bloom_verify()]);'" 2>&1)"
}

test_process_limits() {
	check 'a limit on file sizes (ulimit -f) is an answer, not the end of the process' \
		'[[]false,true,"cannot reserve 54.3 MB for *: File too large; lower *"] 0' \
		"$(ulimit -f 4096; run_php -d bloomshm.path="$dir/limited" -r 'echo json_encode([bloom_cache_set("k", 1), bloom_maybe_has("f", "a"), bloom_status()["reason"]], JSON_UNESCAPED_SLASHES);'; echo " $?")"
	check 'no descriptor left: maybe, and the segment is found a second later, when there is one' \
		'[[]true,"cannot * */limited (bloomshm.path): all 24 descriptors *",true,true]' \
		"$(run_php -d bloomshm.path="$dir/limited" -d bloomshm.filter_memory=1M -d bloomshm.cache_memory=1M -r 'bloom_reserve("f", 1);'
			ulimit -n 24
			run_php -d bloomshm.path="$dir/limited" -d bloomshm.filter_memory=1M \
				-d bloomshm.cache_memory=1M -r '
			while ($files[] = @fopen("/dev/null", "r"));
			$answers = [bloom_maybe_has("f", "a"), bloom_status()["reason"]];
			$files = [];
			$answers[] = bloom_status()["available"];
			$answers[] = bloom_load("f", ["a"])["keys"] === 1;
			echo json_encode($answers, JSON_UNESCAPED_SLASHES);')"
}

# ------------------------------------------------------------------ containers

in_container() { # COMMAND...: in a pid namespace of its own, in which it is process 2 and upwards
	exec setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount-proc --mount \
		--propagation private "$@"
}

container() { # NAME STOP
	in_container sh -c 'php -n -d extension="$1" -d bloomshm.path="$2" \
		-d bloomshm.filter_memory=4M -d bloomshm.cache_memory=4M "$3" "$4" "$5"; true' - \
		"$dir/bloomshm.so" "$dir/both.seg" "$here/container.php" "$1" "$dir/$2"
}

in_both() { # CODE: in the segment of the containers
	run_php -d bloomshm.path="$dir/both.seg" -d bloomshm.filter_memory=4M \
		-d bloomshm.cache_memory=4M -r "$1"
}

test_containers() {
	local a b killed=0 round
	if ! (in_container true) >/dev/null 2>&1; then
		skip 'two containers' 'pid namespaces are not allowed here'
		return
	fi
	in_both 'bloom_reserve("shared", 400000, expansion: 0);'
	container a stop >"$dir/a.out" 2>&1 &
	a=$!
	container b stop >"$dir/b.out" 2>&1 &
	b=$!
	for ((round = 0; round < 600; round++)); do # both have begun, or never will
		in_both 'exit((int) !(bloom_cache_has("counted by a") && bloom_cache_has("counted by b")));' &&
			break
		sleep 0.1
	done
	# A third one is killed again and again, with all that is in it, wherever it is.
	for ((round = 0; round < 10; round++)); do
		container "c$round" never >>"$dir/c.out" 2>&1 &
		sleep "0.1$((RANDOM % 10))"
		kill -KILL $! && wait $! 2>/dev/null
		killed=$((killed + 1))
	done
	touch "$dir/stop"
	wait "$a" "$b"
	check 'two containers: the processes in them have the same pid' \
		"$(sed 's/.*"pid":\([0-9]*\).*/pid \1/' "$dir/a.out")" \
		"$(sed 's/.*"pid":\([0-9]*\).*/pid \1/' "$dir/b.out")"
	check 'no key, value or swap of theirs was lost: a' '{"pid":*,"rounds":[1-9][0-9]*,"wrong":0}' \
		"$(cat "$dir/a.out")"
	check 'no key, value or swap of theirs was lost: b' '{"pid":*,"rounds":[1-9][0-9]*,"wrong":0}' \
		"$(cat "$dir/b.out")"
	check "what they counted and swapped together is the sum, but for what $killed killed containers had in hand" 'yes' "$(in_both '
		$sum = fn (string $what) => array_sum(array_map(
			fn ($who) => bloom_cache_get("$what by $who") ?? 0,
			["a", "b", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"]));
		$counted = bloom_cache_get("together") - $sum("counted");
		$swapped = bloom_cache_get("swapped") - $sum("swapped");
		$few = $counted >= 0 && $counted <= 10 && $swapped >= 0 && $swapped <= 10;
		echo $few ? "yes" : "$counted, $swapped";')"
	check 'the segment is sound, no other process is attached, hardly any lock timed out' '[[][[]],1,true]' \
		"$(in_both '$s = bloom_status(); echo json_encode([bloom_verify(), $s["attached"], $s["lock_timeouts"] + bloom_cache_info()["lock_timeouts"] < 50]);')"
	check 'all memory of the killed is back' 'true' "$(in_both '
		foreach (bloom_list() as $filter) { bloom_drop($filter); }
		$s = bloom_status();
		echo json_encode($s["filter_bytes_free"] === $s["filter_bytes"]
			&& $s["largest_free_bytes"] === $s["filter_bytes"]);')"
}

# A loader that is stopped in one container is alive for one in the other, in which its pid is
# that of another process.
test_stopped_container() {
	local loader tries state
	(in_container true) >/dev/null 2>&1 || return
	in_both 'bloom_load("f", ["old"]);'
	mkfifo "$dir/ready"
	(in_container php -n -d extension="$dir/bloomshm.so" -d bloomshm.path="$dir/both.seg" -r '
		bloom_load("f", (function (): Generator {
			yield "half";
			yield from range(1, 5000);
			bloom_cache_remember("leased", function () {
				file_put_contents($GLOBALS["argv"][1], "ready\n");
				sleep(600);
			});
		})());' "$dir/ready") &
	loader=$!
	read -r <"$dir/ready"
	pkill -STOP --parent "$loader"
	for ((tries = 0; tries < 6000; tries++)); do # a busy machine stops it later
		state=$(ps -o state= -p "$(pgrep --parent "$loader")")
		[[ $state != T ]] || break
		sleep 0.05
	done
	check 'a container is stopped in a load, and in a loader' 'T' "$state"
	check 'others load, add, ask and store meanwhile without waiting' \
		'[[]true,false,1,true,true,0,0]' "$(in_both '
		require "'"$here"'/../php/helper.inc";
		$timeouts = bloom_cache_info()["lock_timeouts"]; # of the test before
		$began = own_time();
		$answers = [bloom_maybe_has("f", "old"), bloom_maybe_has("f", "half"),
			bloom_load("g", ["a"])["keys"], bloom_add("f", "added"), bloom_cache_set("a", 1)];
		$took = own_time() - $began;
		$answers = [...$answers, $took < 1 ? 0 : $took,
			bloom_cache_info()["lock_timeouts"] - $timeouts];
		echo json_encode($answers);')"
	kill -KILL "$loader"
	wait "$loader" 2>/dev/null
	check 'when it is killed, its lease and its memory are back at once, and what was added stands' '[[]"mine",true,true,[[]]]' "$(in_both '
		require "'"$here"'/../php/helper.inc";
		$began = own_time();
		$mine = bloom_cache_remember("leased", fn () => "mine");
		$took = own_time() - $began;
		echo json_encode([$mine, $took < 1, bloom_maybe_has("f", "added"), bloom_verify()]);')"
}

# ------------------------------------------------------------------ php-fpm

pool() { # NAME USER SETTINGS...
	local name=$1 user=$2
	shift 2
	printf '[%s]\nuser = %s\ngroup = %s\nlisten = %s/%s.sock\npm = static\npm.max_children = 1\n' \
		"$name" "$user" "$user" "$dir" "$name"
	printf 'php_admin_value[bloomshm.filter_memory] = 1M\nphp_admin_value[bloomshm.cache_memory] = 1M\n'
	printf '%s\n' "$@"
}

ask() { # POOL PARAMETER...: path, answer to an add, questions
	local name=$1
	shift
	php -n "$here/fastcgi.php" "$dir/$name.sock" "$dir/site/page.php" "$@"
}

test_fpm() {
	local binary name
	binary=php-fpm$(php -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
	binary=$(PATH=$PATH:/usr/sbin command -v "$binary") || {
		skip 'php-fpm' 'there is none of this version'
		return
	}
	mkdir "$dir/site"
	install -d -m 1777 "$dir/shm"
	cat >"$dir/site/page.php" <<-'PHP'
		<?php
		try {
		    $added = bloom_load('f', ['a'])['keys'] === 1 && bloom_add('f', 'b');
		} catch (BloomShm\Exception $e) {
		    $added = $e->getMessage();
		}
		$s = bloom_status();
		echo json_encode([basename($s['path']), $added, bloom_maybe_has('f', 'x'),
			$s['available'], ini_set('bloomshm.path', '/tmp/x')]);
	PHP
	printf 'bloomshm.path = %s/shm/by-user-ini\nbloomshm.enable = 0\nprecision = 3\n' "$dir" \
		>"$dir/site/.user.ini"
	{
		printf '[global]\nerror_log = %s/fpm.log\ndaemonize = no\n' "$dir"
		for name in plain user value admin; do
			pool "$name" www-data "php_admin_value[bloomshm.path] = $dir/shm/$name"
		done
		pool readonly www-data "php_admin_value[bloomshm.path] = $dir/shm/readonly" \
			'php_admin_value[bloomshm.readonly] = 1'
		pool stranger nobody "php_admin_value[bloomshm.path] = $dir/shm/plain"
	} | sed 's/^group = nobody/group = nogroup/' >"$dir/fpm.conf"
	as_user www-data www-data php -n -d extension="$dir/bloomshm.so" \
		-d bloomshm.path="$dir/shm/readonly" \
		-d bloomshm.filter_memory=1M -d bloomshm.cache_memory=1M -r 'bloom_load("f", ["a"]);'
	"$binary" -n -d extension="$dir/bloomshm.so" --fpm-config "$dir/fpm.conf" >"$dir/fpm.out" 2>&1 &
	fpm=$!
	for ((tries = 0; tries < 6000; tries++)); do
		[[ -S $dir/stranger.sock ]] && break
		sleep 0.05
	done
	check 'php-fpm: a pool has the segment of its php_admin_value; ini_set() changes nothing' '[[]"plain",true,false,true,false]' "$(ask plain)"
	check '.user.ini beside the page changes nothing, in the first request either' '[[]"user",true,false,true,false]' "$(ask user)"
	check 'PHP_VALUE changes nothing, in the first request either' \
		'[[]"value",true,false,true,false]' \
		"$(ask value "PHP_VALUE=bloomshm.path=$dir/shm/moved
bloomshm.enable=0
bloomshm.readonly=1")"
	check 'nor does PHP_ADMIN_VALUE' '[[]"admin",true,false,true,false]' \
		"$(ask admin "PHP_ADMIN_VALUE=bloomshm.path=$dir/shm/moved
bloomshm.mode=0666")"
	check 'and the segment is private' '600' "$(stat --format %a "$dir/shm/admin")"
	check 'nor makes a read-only mapping writable: READ_ONLY, and no crash' '[[]"readonly","*read-only*",false,true,false] [[]"readonly","*read-only*",false,true,false]' \
		"$(ask readonly) $(ask readonly 'PHP_ADMIN_VALUE=bloomshm.readonly=0')"
	check 'a pool of another user is refused: maybe, and the reason names both uids' \
		'[[]"plain","*plain*",true,false,false]' "$(ask stranger)"
	check 'no segment was made elsewhere' 'admin plain readonly user value' \
		"$(ls -A "$dir/shm" | tr '\n' ' ' | sed 's/ $//')"
	check 'no worker crashed' '0' "$(grep -c 'exited on signal' "$dir/fpm.log")"
	kill -QUIT "$fpm"
	wait "$fpm"
	check 'the first pool'"'"'s segment is sound' '[[]]' \
		"$(as_user www-data www-data php -n -d extension="$dir/bloomshm.so" \
			-d bloomshm.path="$dir/shm/plain" -r 'echo json_encode(bloom_verify());')"
}

# The process may map no more than it has, and the libc's heap keeps no room: 60 kB cannot be had.
test_private_memory() {
	local call wanted tunables=glibc.malloc.mmap_threshold=16384:glibc.malloc.top_pad=0
	tunables+=:glibc.malloc.trim_threshold=0
	for call in 'bloom_cache_scan($cursor, 10, "none")' 'bloom_cache_clear("a")'; do
		# A clear needs none; a scan says so, and has touched no record.
		wanted='1 '
		[[ $call == *clear* ]] || wanted='NO_SPACE: *memory* 1'
		check "no private memory: ${call%%(*}" "$wanted" \
			"$(GLIBC_TUNABLES=$tunables run_php -d bloomshm.path="$dir/lean" -r '
				$key = str_repeat("a", 60000);
				bloom_cache_set($key, 1);
				$cursor = 0;
				preg_match("/VmSize:\\s+(\\d+)/", file_get_contents("/proc/self/status"),
					$kilobytes);
				exec("prlimit --pid " . getmypid() . " --as=" . $kilobytes[1] * 1024);
				'"${try/CALL/$call}"'
				echo " ", bloom_cache_get($key);')"
		rm -f "$dir/lean"
	done
}

# ------------------------------------------------------------------------------------------------

trap finish EXIT
trap 'exit 1' INT TERM
((EUID == 0)) || die 'must run as root, to mount and to act as other users'
need_packages php-cli php-dev php-fpm procps util-linux libxxhash-dev
build_extension
dir=$(mktemp -d /tmp/bloomshm-host.XXXXXX)
chmod 755 "$dir"
cp "$BLOOMSHM_SO" "$dir/bloomshm.so"

if unshare --mount --propagation private mount -t tmpfs none /mnt 2>/dev/null; then
	test_small_shm
	test_huge_pages
	test_full_disk
else
	skip 'a small /dev/shm and a full disk' 'mounting is not allowed here'
fi
test_process_limits
test_private_memory
test_containers
test_stopped_container
test_fpm
complete=yes

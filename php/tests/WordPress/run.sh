#!/usr/bin/env bash
#
# Tests the drop-in php/wordpress/object-cache.php in Debian's WordPress: three installations on one
# MariaDB, asked through nginx and php-fpm; and compares 20,000 random calls with the cache of
# WordPress itself. No service of the machine is touched.
#
#   BLOOMSHM_SEED   repeats the random calls of an earlier run
#
# Last line: N passed, N failed.

set -euo pipefail
. "$(dirname "$0")/../../../script/lib.sh"

here=php/tests/WordPress
seed=${BLOOMSHM_SEED:-$RANDOM}
passed=0
failed=0
complete=
dir=
shm=

tally() { # LINE: one line of a check, printed and counted
	echo "$1"
	case $1 in
	"ok - "*) passed=$((passed + 1)) ;;
	*) failed=$((failed + 1)) ;;
	esac
}

check() { # WHAT WANTED GOT
	if [[ $2 == "$3" ]]; then
		tally "ok - $1"
	else
		tally "not ok - $1: wanted '$2', got '$3'"
	fi
}

wait_for() { # COMMAND...: until it succeeds
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		"$@" >"$dir/waited" 2>&1 && return
		sleep 0.1
	done
	die "waited in vain for: $*: $(tail -n 3 "$dir/waited")"
}

fill_in() { # TEMPLATE FILE KIND
	sed -e "s|@dir@|$dir|g" -e "s|@shm@|$shm|g" -e "s|@port@|$port|g" -e "s|@kind@|${3-}|g" \
		"$here/site/$1" >"$dir/$2"
}

finish() { # on every way out
	set +e
	[[ $complete ]] || tally 'not ok - WordPress: stopped before its end'
	((failed == 0)) || tail -n 20 "$dir"/*.{log,out} | grep -v Deprecated
	# shellcheck disable=SC2046 # one word per process
	kill $(jobs -p) 2>/dev/null
	wait
	rm -rf "$dir" "$shm"
	echo "$passed passed, $failed failed"
	exit $((failed > 0))
}

start_database() {
	export TMPDIR=$dir # a server that starts removes temporary tables of others in its folder
	"${as_user[@]}" mariadb-install-db --no-defaults --datadir="$dir/db" --skip-test-db \
		--auth-root-authentication-method=normal >"$dir/db-install.log" 2>&1
	"${as_user[@]}" mariadbd --no-defaults --datadir="$dir/db" --socket="$dir/db.sock" \
		--pid-file="$dir/db.pid" --skip-networking --innodb-flush-log-at-trx-commit=0 \
		--innodb-buffer-pool-size=32M --innodb-log-file-size=8M >"$dir/db.log" 2>&1 &
	wait_for mariadb-admin --no-defaults --socket="$dir/db.sock" --user=root ping
	mariadb --no-defaults --socket="$dir/db.sock" --user=root <<'SQL'
CREATE USER wordpress@localhost;
CREATE DATABASE wp_one;
CREATE DATABASE wp_two;
CREATE DATABASE wp_net;
GRANT ALL ON `wp_%`.* TO wordpress@localhost;
SQL
}

# A copy of Debian's files, because WordPress finds wp-config.php beside them.
lay_out_wordpress() {
	cp -rL /usr/share/wordpress "$dir/wordpress" 2>/dev/null || true
	mkdir -p "$dir/wordpress/wp-content/themes/plain"
	echo '/* Theme Name: Plain */' >"$dir/wordpress/wp-content/themes/plain/style.css"
	cp $here/site/theme.php "$dir/wordpress/wp-content/themes/plain/index.php"
	cp $here/site/{wp-config,probe,install}.php "$dir/wordpress"
	cp php/wordpress/object-cache.php "$dir/wordpress/wp-content"
}

install_wordpress() { # HOST [network]
	WORDPRESS_HOST=$1.test "${user_php[@]}" "$dir/wordpress/install.php" "${2-}" \
		>"$dir/install.log" 2>&1
}

start_servers() {
	local kind pool
	fill_in nginx.conf nginx.conf
	for kind in with bare; do
		fill_in php-fpm.conf "fpm-$kind.conf" $kind
		local load=("${modules[@]}")
		[[ $kind == bare ]] || load+=("${extension[@]}")
		"${as_user[@]}" "$fpm_binary" -n -d zend_extension=opcache "${load[@]}" \
			--fpm-config "$dir/fpm-$kind.conf" >"$dir/$kind.out" 2>&1 &
	done
	"${as_user[@]}" nginx -e "$dir/nginx.log" -p "$dir" -c "$dir/nginx.conf" &
	for kind in with bare; do
		for pool in store small disabled; do
			wait_for test -S "$dir/$kind-$pool.sock"
		done
	done
	wait_for curl --silent --output /dev/null "http://127.0.0.1:$port/"
}

# The cache of WordPress itself says what is right.
compare_with_wordpress() {
	local core=/usr/share/wordpress/wp-includes/cache.php number mode
	for number in "$seed" $((seed + 1)); do
		php -n $here/site/model.php $core "$number" >"$dir/wanted"
		for mode in '' 'bloomshm.enable=0' "bloomshm.path=$shm/model"; do
			php -n ${mode:+"${extension[@]}" -d $mode} $here/site/model.php \
				"$PWD/php/wordpress/object-cache.php" "$number" >"$dir/got"
			check "$(wc -l <"$dir/wanted") answers of WordPress, seed $number, ${mode%%=*}" '' \
				"$(diff "$dir/wanted" "$dir/got" | head -n 4)"
		done
	done
}

need_packages curl libxxhash-dev mariadb-server nginx php-cli php-curl php-dev php-fpm php-igbinary \
	php-mbstring php-mysql php-xml wordpress
build_extension
export PATH="$PATH:/usr/sbin:/sbin"
version=$(php -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
fpm_binary=$(command -v "php-fpm$version") || die 'no php-fpm of the same version as php'
dir=$(mktemp -d /tmp/bloomshm-wordpress.XXXXXX)
shm=$(mktemp -d /dev/shm/bloomshm-wordpress.XXXXXX)
trap finish EXIT
chmod 755 "$dir"
as_user=()
((EUID != 0)) || as_user=(setpriv --reuid www-data --regid www-data --init-groups)
cp "$BLOOMSHM_SO" "$dir/bloomshm.so"
modules=()
for module in mysqlnd mysqli mbstring xml dom xmlreader simplexml tokenizer ctype igbinary posix \
	pcntl; do
	[[ ! -f $(php-config --extension-dir)/$module.so ]] || modules+=(-d "extension=$module")
done
extension=(-d "extension=$dir/bloomshm.so")
user_php=("${as_user[@]}" php -n -d sendmail_path=/bin/true "${modules[@]}" "${extension[@]}"
	-d "bloomshm.path=$shm/store" -d bloomshm.cache_memory=64M)
port=$(php -n -r '$s = stream_socket_server("tcp://127.0.0.1:0");
	echo substr(strrchr(stream_socket_get_name($s, false), ":"), 1);')
((EUID != 0)) || chown www-data: "$dir" "$shm"

compare_with_wordpress
lay_out_wordpress
((EUID != 0)) || chown -R www-data: "$dir"
start_database
start_servers
install_wordpress one
install_wordpress two
install_wordpress net network
while IFS= read -r line; do
	tally "$line"
done < <("${as_user[@]}" php -n "${modules[@]}" -d extension=curl "${extension[@]}" \
	-d "bloomshm.path=$shm/small" -d bloomshm.cache_memory=1M \
	$here/site/scenes.php "http://127.0.0.1:$port" "$shm" 2>&1 || echo 'not ok - a scene failed')
check 'WordPress reports nothing about the drop-in' '' \
	"$(grep object-cache "$dir/debug.log" 2>/dev/null | head -n 3)"
check 'no worker crashed' '' \
	"$(grep -hE 'exited (on signal|with code [1-9])' "$dir"/fpm-*.log | grep -v SIGKILL |
		head -n 3)"
complete=yes

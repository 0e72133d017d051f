#!/usr/bin/env bash
# Installs the packages in /packages, upgrades them under a running site, removes and purges them.
# It runs as root in a Debian tree of its own (script/package-deb).
#
#   site.sh PHP OLD NEW      for instance 8.2 0.4.0 0.4.1
set -euo pipefail

php=$1
old=$2
new=$3
module=php$php-bloomshm
segment=/dev/shm/bloomshm.33 # of www-data
page=/srv/page.php
seen=/srv/seen
failed=0

# check NAME COMMAND...: one check, by its exit code.
check() {
	local name=$1
	shift
	if "$@" >/srv/check.log 2>&1; then
		printf 'ok - %s\n' "$name"
	else
		printf 'not ok - %s\n' "$name" && tail -n 20 /srv/check.log && failed=1
	fi
}

as_web_user() {
	setpriv --reuid www-data --regid www-data --clear-groups env HOME=/tmp "$@"
}

packages() { # VERSION
	echo /packages/"$module"_"$1"-1_*.deb /packages/bloomshm_"$1"-1_*.deb
}

apt() {
	apt-get --yes --no-install-recommends "$@"
}

# What php-fpm answers, without the header.
ask_site() {
	SCRIPT_FILENAME=$page REQUEST_METHOD=GET cgi-fcgi -bind -connect "/run/php/php$php-fpm.sock" \
		2>/dev/null | tail -n 1
}

site_says() { # ANSWER: php-fpm may be starting
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		[[ $(ask_site) != "$1" ]] || return 0
		sleep 0.1
	done
	echo "the site says: $(ask_site)"
	return 1
}

version_of() { # VERSION of a package: as PHP writes it
	echo "${1/\~/-}"
}

# --- who asks while the packages are upgraded -----------------------------------------------------

# Pages: php-fpm is restarted once, so some find no server.
pages() {
	while [[ -e /srv/go ]]; do
		ask_site || echo 'no server'
		sleep 0.02
	done >"$seen.pages"
}

# One PHP process that lives through the upgrade.
one_process() {
	# shellcheck disable=SC2016 # PHP's variables
	as_web_user "php$php" -r '
		for ($n = 0; file_exists("/srv/go"); $n++) {
			if (!bloom_maybe_has("articles", "vim") || bloom_maybe_has("articles", "emacs")) {
				echo "wrong\n";
			}
			usleep(500);
		}
		echo $n > 100 ? "asked\n" : "asked too little\n";
	' >"$seen.process" 2>&1
}

# New PHP processes, one after the other, as cron starts them.
new_processes() {
	while [[ -e /srv/go ]]; do
		as_web_user "php$php" "$page" 2>&1 || echo 'died'
	done >"$seen.new"
}

# The answers of FILE without those that are right.
wrong_in() { # FILE RIGHT...
	local file=$1 right=()
	shift
	local answer
	for answer in "$@"; do
		right+=(-e "$answer")
	done
	! grep -vxF "${right[@]}" "$file"
}

# --- install --------------------------------------------------------------------------------------

old_answer="$(version_of "$old") maybe no"
new_answer="$(version_of "$new") maybe no"

cat >"$page" <<'PHP'
<?php
echo phpversion('bloomshm'), bloom_maybe_has('articles', 'vim') ? ' maybe' : ' no',
    bloom_maybe_has('articles', 'emacs') ? ' maybe' : ' no', "\n";
PHP
# Where no init runs, this permits that packages start and restart their services.
printf '#!/bin/sh\nexit 0\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
apt purge "$module" bloomshm >/dev/null 2>&1 || true
service "php$php-fpm" restart >/dev/null
# shellcheck disable=SC2046 # two names
check "apt installs $old" apt install $(packages "$old")
check 'php-fpm loads the extension' sh -c "php-fpm$php -m | grep -x bloomshm"
check 'php --ri names the version' \
	sh -c "php$php --ri bloomshm | grep 'Version => $(version_of "$old")'"
check 'the command has the same version' \
	test "$(bloomshm --version)" = "bloomshm $(version_of "$old")"
for file in /usr/share/man/man1/bloomshm.1.gz /usr/share/bash-completion/completions/bloomshm \
	/usr/share/zsh/vendor-completions/_bloomshm "/usr/share/doc/$module/examples/status.php"; do
	check "there is $file" test -s "$file"
done
check 'the systemd unit starts the command of the package' \
	grep -q '^ExecStart=/usr/bin/bloomshm bring' "/lib/systemd/system/bloomshm@.service"
check 'so does the one that follows' \
	grep -q '^ExecStart=/usr/bin/bloomshm follow' "/lib/systemd/system/bloomshm-follow@.service"
check 'systemctl enables it for a user' systemctl enable bloomshm@www-data
check 'the web user loads a filter' \
	as_web_user "php$php" -r 'bloom_load("articles", ["vim", "gimp"]);'
check 'the site asks it' site_says "$old_answer"
inode=$(stat -c %i "$segment")

# --- upgrade --------------------------------------------------------------------------------------

touch /srv/go
pages &
one_process &
new_processes &
sleep 1
# shellcheck disable=SC2046 # two names
check "apt upgrades to $new" apt install $(packages "$new")
check 'the site runs the new version, with the filter' site_says "$new_answer"
check 'php-fpm restarts' service "php$php-fpm" restart
check 'the site still has the filter' site_says "$new_answer"
sleep 1
rm /srv/go
wait
check 'the segment is the same file' test "$(stat -c %i "$segment")" = "$inode"
check 'no page got a wrong answer' wrong_in "$seen.pages" "$old_answer" "$new_answer" 'no server' ''
check 'a process that lived through the upgrade got no wrong answer' \
	wrong_in "$seen.process" asked
check 'each process that began meanwhile had the extension, and the filter' \
	wrong_in "$seen.new" "$old_answer" "$new_answer"
printf '# pages: %s by the old version, %s by the new, %s found php-fpm restarting; new processes: %s\n' \
	"$(grep -cxF "$old_answer" "$seen.pages")" "$(grep -cxF "$new_answer" "$seen.pages")" \
	"$(grep -cxF -e 'no server' -e '' "$seen.pages")" "$(wc -l <"$seen.new")"

# --- over a reboot --------------------------------------------------------------------------------

mkdir -p /var/lib/bloomshm/www-data
chown www-data: /var/lib/bloomshm/www-data
saved=/var/lib/bloomshm/www-data/segment
check 'the command saves the segment' as_web_user bloomshm save --if-exists --quiet "$saved"
rm "$segment"
check 'the command brings it back' as_web_user bloomshm bring --boot --quiet "$saved"
check 'php-fpm restarts' service "php$php-fpm" restart
check 'the site still has the filter' site_says "$new_answer"

# --- remove, purge --------------------------------------------------------------------------------

check 'apt removes the extension' apt remove "$module"
check 'no PHP loads it' sh -c "! php$php -m | grep bloomshm"
check 'PHP does not complain' test -z "$(php$php -r '' 2>&1)"
check 'the segment stays' test -e "$segment"
# shellcheck disable=SC2046 # two names
check 'apt installs it again' apt install $(packages "$new")
check 'the site still has the filter' site_says "$new_answer"
as_web_user bloomshm save --quiet "$saved" >/dev/null 2>&1
check 'apt purges both' apt purge "$module" bloomshm
check 'the segment is gone' test ! -e "$segment"
check 'nothing is left' \
	sh -c '! find / -xdev -path /packages -prune -o -iname "*bloomshm*" -print | grep .'
check 'php-fpm restarts' service "php$php-fpm" restart
exit $failed

# serve.sh - PHP's own server with the status page, for the tests. Source it after script/lib.sh.
#
# $segment and $work are the segment and a folder; $page another file than web/status.php.

server=

stop() {
	[[ -z $server ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true
	server=
}

free_port() {
	php -n -r '$s = stream_socket_server("tcp://127.0.0.1:0");
		echo substr(strrchr(stream_socket_get_name($s, false), ":"), 1);'
}

# A port that was free may be another server's a moment later: this one has it when it says so.
serve() { # PHP-OPTION...: the page, until the next
	stop
	local tries log
	for ((tries = 0; tries < 5; tries++)); do
		port=$(free_port)
		log=$(mktemp "$work/server.XXXXXX")
		STATUS_PAGE=${page:-$PWD/web/status.php} php "$@" -q -S "127.0.0.1:$port" \
			tests/web/router.php >>"$log" 2>&1 &
		server=$!
		while kill -0 "$server" 2>/dev/null; do
			! grep -aq ' started$' "$log" || return 0
			sleep 0.1
		done
	done
	die "the server does not answer: $(tail -n 1 "$log")"
}

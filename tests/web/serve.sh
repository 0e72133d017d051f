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

serve() { # PHP-OPTION...: the page, until the next
	stop
	port=$(free_port)
	STATUS_PAGE=${page:-$PWD/web/status.php} php "$@" -q -S "127.0.0.1:$port" \
		tests/web/router.php >>"$work/server.log" 2>&1 &
	server=$!
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		(: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
		sleep 0.1
	done
	die 'the server does not answer'
}

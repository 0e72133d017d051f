/*
 * fleet_tls.c - a connection over TLS, for a library that knows descriptors only.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_tls.h"

#include "fleet/fleet_library.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES 16384
#define LOOK_MS      1000 /* TLS may wait for the other direction than it is asked for */

/* Bytes that were read from one side, and not written to the other yet. */
typedef struct {
	size_t at;
	size_t count;
	char bytes[BUFFER_BYTES];
} buffer;

struct fleet_tls {
	CURL *curl;
	int fd; /* this end; the caller has the other one */
	bool is_carried;
	pthread_t thread;
	char reason[CURL_ERROR_SIZE];
	buffer in; /* from the host */
	buffer out;
};

/* How many bytes were moved; 0: none now; -1: the side has ended. */
static ssize_t of_curl(CURLcode code, size_t count)
{
	return code == CURLE_AGAIN ? 0 : code == CURLE_OK && count > 0 ? (ssize_t) count : -1;
}

static ssize_t of_socket(ssize_t count)
{
	return count > 0 ? count : count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

static ssize_t from_host(const fleet_tls *t, buffer *b)
{
	size_t count = 0;
	const CURLcode code = fleet_curl.easy_recv(t->curl, b->bytes, sizeof(b->bytes), &count);
	return of_curl(code, count);
}

static ssize_t to_host(const fleet_tls *t, const buffer *b)
{
	size_t count = 0;
	const CURLcode code = fleet_curl.easy_send(t->curl, b->bytes + b->at, b->count, &count);
	return of_curl(code, count);
}

static ssize_t from_caller(const fleet_tls *t, buffer *b)
{
	return of_socket(recv(t->fd, b->bytes, sizeof(b->bytes), 0));
}

static ssize_t to_caller(const fleet_tls *t, const buffer *b)
{
	return of_socket(send(t->fd, b->bytes + b->at, b->count, MSG_NOSIGNAL));
}

/* Moves what can be moved now. 0: nothing could be; -1: a side has ended. */
static ssize_t carry(const fleet_tls *t, buffer *b, ssize_t (*take)(const fleet_tls *, buffer *),
	ssize_t (*give)(const fleet_tls *, const buffer *))
{
	ssize_t moved;
	if (b->count == 0) {
		moved = take(t, b);
		b->at = 0;
		b->count = moved > 0 ? (size_t) moved : 0;
	} else {
		moved = give(t, b);
		b->at += moved > 0 ? (size_t) moved : 0;
		b->count -= moved > 0 ? (size_t) moved : 0;
	}
	return moved;
}

static short events_of(const buffer *in, const buffer *out)
{
	return (short) ((in->count == 0 ? POLLIN : 0) | (out->count != 0 ? POLLOUT : 0));
}

static void *carry_all(void *context)
{
	fleet_tls *t = context;
	curl_socket_t host = CURL_SOCKET_BAD;
	fleet_curl.easy_getinfo(t->curl, CURLINFO_ACTIVESOCKET, &host);
	for (;;) {
		const ssize_t received = carry(t, &t->in, from_host, to_caller);
		const ssize_t sent = carry(t, &t->out, from_caller, to_host);
		if (received < 0 || sent < 0) {
			break;
		}
		if (received == 0 && sent == 0) {
			/* A host that has ended would be told of at once, again and again. */
			const short host_events = events_of(&t->in, &t->out);
			struct pollfd fds[] = {{host_events == 0 ? -1 : host, host_events, 0},
				{t->fd, events_of(&t->out, &t->in), 0}};
			if (poll(fds, 2, LOOK_MS) > 0 && (fds[1].revents & (POLLHUP | POLLERR)) != 0) {
				break; /* the caller has closed its end, and waits for no answer */
			}
		}
	}
	shutdown(t->fd, SHUT_RDWR);
	return NULL;
}

static bool connect_to(fleet_tls *t, const fleet_tls_place *place, unsigned patience_s)
{
	char url[512];
	const char *form = strchr(place->host, ':') != NULL ? "https://[%s]:%s" : "https://%s:%s";
	t->curl = fleet_curl.easy_init();
	if (t->curl == NULL ||
		snprintf(url, sizeof(url), form, place->host, place->port) >= (int) sizeof(url)) {
		return false;
	}
	fleet_curl.easy_setopt(t->curl, CURLOPT_ERRORBUFFER, t->reason);
	fleet_curl.easy_setopt(t->curl, CURLOPT_URL, url);
	fleet_curl.easy_setopt(t->curl, CURLOPT_CONNECT_ONLY, 1L);
	fleet_curl.easy_setopt(t->curl, CURLOPT_CONNECTTIMEOUT, (long) patience_s);
	fleet_curl.easy_setopt(t->curl, CURLOPT_NOSIGNAL, 1L);
	fleet_curl.easy_setopt(t->curl, CURLOPT_PROXY, ""); /* it is no web server, */
	fleet_curl.easy_setopt(t->curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
	fleet_curl.easy_setopt(t->curl, CURLOPT_TCP_KEEPALIVE, 1L);
	if (place->ca != NULL) {
		fleet_curl.easy_setopt(t->curl, CURLOPT_CAINFO, place->ca);
		fleet_curl.easy_setopt(t->curl, CURLOPT_CAPATH, NULL);
	}
	fleet_curl.easy_setopt(t->curl, CURLOPT_SSLCERT, place->cert);
	fleet_curl.easy_setopt(t->curl, CURLOPT_SSLKEY, place->key);
	return fleet_curl.easy_perform(t->curl) == CURLE_OK;
}

static bool begin(fleet_tls *t)
{
	sigset_t all;
	sigset_t before;
	sigfillset(&all); /* signals are for the threads of the caller */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	t->is_carried = pthread_create(&t->thread, NULL, carry_all, t) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return t->is_carried;
}

int fleet_tls_open(
	fleet_tls **out, const fleet_tls_place *place, unsigned patience_s, fleet_error *error)
{
	int ends[2];
	fleet_tls *t = calloc(1, sizeof(*t));
	*out = t;
	if (t == NULL) {
		fleet_fail(error, "there is no memory for a connection");
		return -1;
	}
	t->fd = -1;
	if (!connect_to(t, place, patience_s)) {
		fleet_fail(error, "cannot reach the stream's server: %s",
			t->reason[0] != '\0' ? t->reason : "it has no address");
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		fleet_fail(error, "cannot make a socket: %s", strerror(errno));
		return -1;
	}
	t->fd = ends[0];
	if (fcntl(t->fd, F_SETFL, O_NONBLOCK) != 0 || !begin(t)) {
		close(ends[1]);
		fleet_fail(error, "cannot begin a thread");
		return -1;
	}
	return ends[1];
}

void fleet_tls_close(fleet_tls *t)
{
	if (t == NULL) {
		return;
	}
	if (t->is_carried) {
		pthread_join(t->thread, NULL);
	}
	if (t->fd >= 0) {
		close(t->fd);
	}
	fleet_curl.easy_cleanup(t->curl);
	free(t);
}

/*
 * fleet_serve.c - offers a folder of heads and blobs to other followers, by libmicrohttpd.
 *
 * The head's answer has an Age: how long ago this host heard from its own origin that the head is
 * the newest. So a chain of followers is as old as it is, and not as old as its last link.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_serve.h"

#include "fleet/fleet_library.h"

#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 256u
#define TIMEOUT_S   30u
#define ETAG_DIGITS 32 /* of the signature's end */

struct fleet_server {
	const fleet_folder *folder;
	struct MHD_Daemon *daemon;
};

/* ------------------------------------------------------------------ answers */

static enum MHD_Result answer(
	struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
	const enum MHD_Result queued = fleet_httpd.queue_response(connection, status, response);
	fleet_httpd.destroy_response(response);
	return queued;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status)
{
	static char none[] = "";
	struct MHD_Response *response =
		fleet_httpd.create_response_from_buffer(0, none, MHD_RESPMEM_PERSISTENT);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
		fleet_httpd.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	}
	return answer(connection, status, response);
}

/* Has the client the one with this tag? */
static bool is_known(struct MHD_Connection *connection, const char *etag)
{
	const char *known = fleet_httpd.lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);
	return known != NULL && strcmp(known, etag) == 0;
}

static enum MHD_Result answer_head(
	const fleet_server *s, struct MHD_Connection *connection, const char *filter)
{
	fleet_text text;
	fleet_error ignored = {""};
	char etag[ETAG_DIGITS + 3];
	char age[32];
	struct timespec now;
	if (fleet_folder_read(s->folder, filter, FLEET_HEAD_FILE, &text, &ignored) <= 0 ||
		text.length <= ETAG_DIGITS) {
		return refuse(connection, MHD_HTTP_NOT_FOUND);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	const double age_s = (double) now.tv_sec + (double) now.tv_nsec / 1e9 - text.changed_s;
	/* A clock that was set back does not say how long ago it was. */
	snprintf(age, sizeof(age), "%.0f", age_s >= 0 ? age_s + 1 : FLEET_AGE_UNKNOWN_S);
	snprintf(
		etag, sizeof(etag), "\"%.*s\"", ETAG_DIGITS, text.bytes + text.length - 1 - ETAG_DIGITS);
	const bool known = is_known(connection, etag);
	struct MHD_Response *response = fleet_httpd.create_response_from_buffer(
		known ? 0 : text.length, text.bytes, MHD_RESPMEM_MUST_COPY);
	fleet_httpd.add_response_header(response, MHD_HTTP_HEADER_ETAG, etag);
	fleet_httpd.add_response_header(response, MHD_HTTP_HEADER_AGE, age);
	fleet_httpd.add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	fleet_httpd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
	return answer(connection, known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response);
}

static enum MHD_Result answer_blob(
	const fleet_server *s, struct MHD_Connection *connection, const char *name)
{
	fleet_hash hash;
	struct stat st;
	snprintf(hash.text, sizeof(hash.text), "%s", name);
	const int fd = fleet_folder_open_blob(s->folder, &hash);
	if (fd < 0 || fstat(fd, &st) != 0) {
		if (fd >= 0) {
			close(fd);
		}
		return refuse(connection, MHD_HTTP_NOT_FOUND);
	}
	struct MHD_Response *response =
		fleet_httpd.create_response_from_fd64((uint64_t) st.st_size, fd);
	fleet_httpd.add_response_header(
		response, MHD_HTTP_HEADER_CACHE_CONTROL, "public, max-age=31536000, immutable");
	fleet_httpd.add_response_header(
		response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream");
	return answer(connection, MHD_HTTP_OK, response);
}

/* A name that fleet_folder_name() can have made. */
static bool is_filter(const char *name)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.=";
	return *name != '\0' && *name != '.' && name[strspn(name, plain)] == '\0' &&
		   strlen(name) < FLEET_FOLDER_ROOM && strcmp(name, FLEET_BLOBS) != 0;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_bytes, void **state)
{
	const fleet_server *s = context;
	char path[FLEET_FOLDER_ROOM + FLEET_HASH_CHARACTERS];
	(void) version;
	(void) upload;
	(void) state;
	if (*upload_bytes != 0 ||
		(strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)) {
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
	}
	char *slash =
		*url == '/' && strlen(url) < sizeof(path) ? strchr(strcpy(path, url + 1), '/') : NULL;
	if (slash == NULL) {
		return refuse(connection, MHD_HTTP_NOT_FOUND);
	}
	*slash = '\0';
	if (strcmp(path, FLEET_BLOBS) == 0 && fleet_is_hash(slash + 1)) {
		return answer_blob(s, connection, slash + 1);
	}
	return is_filter(path) && strcmp(slash + 1, FLEET_HEAD_FILE) == 0
			   ? answer_head(s, connection, path)
			   : refuse(connection, MHD_HTTP_NOT_FOUND);
}

/* ------------------------------------------------------------------ the address */

static bool resolve(const char *address, struct addrinfo **out, fleet_error *error)
{
	char host[256];
	const char *colon = strrchr(address, ':');
	const size_t length = colon == NULL ? 0 : (size_t) (colon - address);
	const struct addrinfo hints = {
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	if (length == 0 || length >= sizeof(host)) {
		return fleet_fail(error, "--serve needs ADDRESS:PORT, \"%s\" given", address);
	}
	snprintf(host, sizeof(host), "%.*s", (int) length, address);
	const bool bracketed = *host == '[' && host[length - 1] == ']';
	if (bracketed) {
		host[length - 1] = '\0';
	}
	const int code = getaddrinfo(host + bracketed, colon + 1, &hints, out);
	return code == 0 || fleet_fail(error, "cannot serve at %s: %s", address, gai_strerror(code));
}

fleet_server *fleet_serve_begin(const fleet_folder *folder, const char *address, fleet_error *error)
{
	struct addrinfo *at = NULL;
	sigset_t all;
	sigset_t before;
	if (!fleet_httpd_load(error) || !resolve(address, &at, error) || at == NULL) {
		return NULL;
	}
	fleet_server *s = calloc(1, sizeof(*s));
	if (s != NULL) {
		const unsigned flags =
			MHD_USE_AUTO_INTERNAL_THREAD | (at->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0u);
		s->folder = folder;
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread inherits it */
		s->daemon = fleet_httpd.start_daemon(flags, 0, NULL, NULL, on_request, s,
			MHD_OPTION_SOCK_ADDR, at->ai_addr, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
			MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
			MHD_OPTION_END);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	freeaddrinfo(at);
	if (s == NULL || s->daemon == NULL) {
		free(s);
		fleet_fail(error, "cannot serve at %s: is the port taken?", address);
		return NULL;
	}
	return s;
}

void fleet_serve_end(fleet_server *server)
{
	if (server != NULL) {
		fleet_httpd.stop_daemon(server->daemon);
		free(server);
	}
}

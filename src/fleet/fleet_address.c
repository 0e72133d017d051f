/*
 * fleet_address.c - where the server of a stream is, and who logs in: an URL in parts.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_address.h"

#include "fleet/fleet_library.h"

#include <string.h>

void fleet_address_forget(fleet_address *a)
{
	char *const parts[] = {
		a->host, a->port, a->path, a->user, a->password, a->database, a->ca, a->cert, a->key};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		fleet_curl.free(parts[i]);
	}
}

/* What stands behind NAME= in a query. */
static char *query_part(const char *query, const char *name)
{
	const size_t length = strlen(name);
	while (query != NULL && (strncmp(query, name, length) != 0 || query[length] != '=')) {
		const char *end = strchr(query, '&');
		query = end == NULL ? NULL : end + 1;
	}
	if (query == NULL) {
		return NULL;
	}
	query += length + 1;
	return fleet_curl.easy_unescape(NULL, query, (int) strcspn(query, "&"), NULL);
}

/* Has the query other names than these? What is not known would be missed: a database, say. */
static bool has_others(const char *query, const char *const *names)
{
	while (query != NULL) {
		const size_t length = strcspn(query, "=&");
		const char *const *name = names;
		while (*name != NULL && (strlen(*name) != length || memcmp(*name, query, length) != 0)) {
			name++;
		}
		if (*name == NULL || query[length] != '=') {
			return true;
		}
		const char *end = strchr(query, '&');
		query = end == NULL ? NULL : end + 1;
	}
	return false;
}

/* unix:///PATH?db=1, as several clients of Redis have it. */
static bool parse_socket(const char *text, fleet_address *out)
{
	static const char *const names[] = {"user", "password", "db", NULL};
	const size_t length = strcspn(text, "?");
	const char *query = text[length] == '?' ? text + length + 1 : NULL;
	if (text[0] != '/' || length < 2 || has_others(query, names)) {
		return false;
	}
	out->path = fleet_curl.easy_unescape(NULL, text, (int) length, NULL);
	out->user = query_part(query, "user");
	out->password = query_part(query, "password");
	out->database = query_part(query, "db");
	return out->path != NULL;
}

static char *part_of(CURLU *url, CURLUPart part, unsigned flags)
{
	char *text = NULL;
	return fleet_curl.url_get(url, part, &text, flags) == CURLUE_OK ? text : NULL;
}

static bool parse_url(const char *text, fleet_address *out)
{
	static const char *const tls_names[] = {"ca", "cert", "key", NULL};
	static const char *const no_names[] = {NULL};
	CURLU *url = fleet_curl.url();
	if (url == NULL ||
		fleet_curl.url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != 0) {
		fleet_curl.url_cleanup(url);
		return false;
	}
	out->host = part_of(url, CURLUPART_HOST, 0);
	out->port = part_of(url, CURLUPART_PORT, 0);
	out->user = part_of(url, CURLUPART_USER, CURLU_URLDECODE);
	out->password = part_of(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
	out->database = part_of(url, CURLUPART_PATH, CURLU_URLDECODE);
	char *query = part_of(url, CURLUPART_QUERY, 0);
	char *fragment = part_of(url, CURLUPART_FRAGMENT, 0); /* a password is spelled with %23 */
	const bool is_known =
		fragment == NULL && !has_others(query, out->is_tls ? tls_names : no_names);
	fleet_curl.free(fragment);
	fleet_curl.url_cleanup(url);
	out->ca = query_part(query, "ca");
	out->cert = query_part(query, "cert");
	out->key = query_part(query, "key");
	fleet_curl.free(query);
	if (out->host != NULL && out->host[0] == '[') { /* an address of IPv6, without its brackets */
		out->host[strlen(out->host) - 1] = '\0';
		memmove(out->host, out->host + 1, strlen(out->host));
	}
	if (out->database != NULL) { /* without its slash */
		memmove(out->database, out->database + 1, strlen(out->database));
	}
	return out->host != NULL && is_known;
}

bool fleet_address_parse(const char *text, fleet_address *out)
{
	*out = (fleet_address){0};
	const char *socket = "unix://";
	const char *host = "redis://";
	const char *tls = "rediss://";
	out->is_tls = strncmp(text, tls, strlen(tls)) == 0;
	return strncmp(text, socket, strlen(socket)) == 0
			   ? parse_socket(text + strlen(socket), out)
			   : (out->is_tls || strncmp(text, host, strlen(host)) == 0) && parse_url(text, out);
}

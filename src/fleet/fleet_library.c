/*
 * fleet_library.c - libcurl and libmicrohttpd, loaded when they are needed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_library.h"

#include <dlfcn.h>
#include <string.h>

/* Of the interface that the headers have: so named since 2006, and 2015. */
#define CURL_FILE  "libcurl.so.4"
#define HTTPD_FILE "libmicrohttpd.so.12"

fleet_curl_functions fleet_curl;
fleet_httpd_functions fleet_httpd;

/* A function, and where its address goes. */
typedef struct {
	const char *name;
	void *to;
} wanted;

static bool load(const char *file, const wanted *all, size_t count, fleet_error *error)
{
	void *library = dlopen(file, RTLD_NOW);
	bool found = library != NULL;
	for (size_t i = 0; i < count && found; i++) {
		void *function = dlsym(library, all[i].name);
		memcpy(all[i].to, &function, sizeof(function));
		found = function != NULL;
	}
	return found || fleet_fail(error, "%s", dlerror());
}

#define CURL_WANTED(name)  {"curl_" #name, &fleet_curl.name},
#define HTTPD_WANTED(name) {"MHD_" #name, &fleet_httpd.name},

bool fleet_curl_load(fleet_error *error)
{
	static const wanted all[] = {FLEET_CURL(CURL_WANTED)};
	static bool loaded;
	loaded = loaded || load(CURL_FILE, all, sizeof(all) / sizeof(all[0]), error);
	return loaded;
}

bool fleet_httpd_load(fleet_error *error)
{
	static const wanted all[] = {FLEET_HTTPD(HTTPD_WANTED)};
	static bool loaded;
	loaded = loaded || load(HTTPD_FILE, all, sizeof(all) / sizeof(all[0]), error);
	return loaded;
}

/*
 * fleet_library.h - libcurl and libmicrohttpd, loaded when they are needed.
 *
 * They bring 40 libraries, which take 4 ms to load: four times as long as all else that
 * `bloomshm has` does for a script. So the command is not linked with them. It calls their
 * functions by the members here: fleet_curl.easy_init() is curl_easy_init().
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_LIBRARY_H
#define FLEET_LIBRARY_H

#include "fleet/fleet.h"

#include <curl/curl.h>
#include <microhttpd.h>

#define FLEET_CURL(EACH)                                                                           \
 EACH(easy_cleanup)                                                                                \
 EACH(easy_getinfo)                                                                                \
 EACH(easy_init)                                                                                   \
 EACH(easy_perform)                                                                                \
 EACH(easy_recv)                                                                                   \
 EACH(easy_send)                                                                                   \
 EACH(easy_setopt)                                                                                 \
 EACH(easy_strerror)                                                                               \
 EACH(easy_unescape)                                                                               \
 EACH(free)                                                                                        \
 EACH(getdate)                                                                                     \
 EACH(global_init)                                                                                 \
 EACH(multi_add_handle)                                                                            \
 EACH(multi_cleanup)                                                                               \
 EACH(multi_info_read)                                                                             \
 EACH(multi_init)                                                                                  \
 EACH(multi_perform)                                                                               \
 EACH(multi_poll)                                                                                  \
 EACH(multi_remove_handle)                                                                         \
 EACH(slist_append)                                                                                \
 EACH(slist_free_all)                                                                              \
 EACH(url)                                                                                         \
 EACH(url_cleanup)                                                                                 \
 EACH(url_get)                                                                                     \
 EACH(url_set)

#define FLEET_HTTPD(EACH)                                                                          \
 EACH(add_response_header)                                                                         \
 EACH(create_response_from_buffer)                                                                 \
 EACH(create_response_from_fd64)                                                                   \
 EACH(destroy_response)                                                                            \
 EACH(lookup_connection_value)                                                                     \
 EACH(queue_response)                                                                              \
 EACH(start_daemon)                                                                                \
 EACH(stop_daemon)

#define FLEET_CURL_MEMBER(name)  __typeof__(curl_##name) *name;
#define FLEET_HTTPD_MEMBER(name) __typeof__(MHD_##name) *name;

typedef struct {
	FLEET_CURL(FLEET_CURL_MEMBER)
} fleet_curl_functions;

typedef struct {
	FLEET_HTTPD(FLEET_HTTPD_MEMBER)
} fleet_httpd_functions;

/* NULL until the library has been loaded. */
extern fleet_curl_functions fleet_curl;
extern fleet_httpd_functions fleet_httpd;

/* Each loads its library, once: not by two threads. */
bool fleet_curl_load(fleet_error *error);
bool fleet_httpd_load(fleet_error *error);

#endif

/*
 * fleet_notify.c - tells systemd how the service is.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void fleet_notify(const char *text)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	const size_t length = path == NULL ? 0 : strlen(path);
	if (length == 0 || length >= sizeof(to.sun_path)) {
		return;
	}
	memcpy(to.sun_path, path, length);
	if (*path == '@') { /* an address of no file */
		to.sun_path[0] = '\0';
	}
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		const socklen_t size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length);
		sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *) &to, size);
		close(fd);
	}
}

/*
 * fleet_notify.h - tells systemd how the service is, as sd_notify(3) does.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_NOTIFY_H
#define FLEET_NOTIFY_H

/* "READY=1", "STATUS=...". Does nothing where systemd does not listen. */
void fleet_notify(const char *text);

#endif

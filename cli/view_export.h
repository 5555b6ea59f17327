/* SPDX-License-Identifier: MIT */
/* Exports the timeline's window in a separate process, so that the timeline stays responsive. */
#ifndef TY_VIEW_EXPORT_H
#define TY_VIEW_EXPORT_H

#include <sys/types.h>

#include "session.h"
#include "view.h"

struct ty_view_export {
	struct ty_session *s;
	pid_t pid; /* 0: none is running */
	int fd;	   /* its messages */
	char path[256];
};

/* As in struct ty_view_host. */
int ty_view_export_start(struct ty_view_export *e, const char *path, uint64_t from_ns,
			 uint64_t to_ns, struct ty_err *err);
bool ty_view_export_poll(struct ty_view_export *e, char *said, size_t n);
/* Ends a running export and removes its output. */
void ty_view_export_stop(struct ty_view_export *e);

#endif

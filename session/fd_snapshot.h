/* SPDX-License-Identifier: MIT */
/* Descriptors open when the recording began, or inherited by the traced command (section.h,
 * TY_SEC_FDS). */
#ifndef TY_FD_SNAPSHOT_H
#define TY_FD_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ty_fd_snapshot;

struct ty_fd_name {
	int32_t pid, fd;
	bool cloexec;
	const char *target; /* "/etc/passwd", "TCP:[127.0.0.1:80->127.0.0.1:4711]" */
};

/* Parses the section's text (NULL: none). NULL: out of memory. Malformed lines are skipped. */
struct ty_fd_snapshot *ty_fd_snapshot_new(const char *section);
void ty_fd_snapshot_free(struct ty_fd_snapshot *n);
/* NULL: unknown. Borrowed. */
const struct ty_fd_name *ty_fd_snapshot_find(const struct ty_fd_snapshot *n, int32_t pid,
					     int32_t fd);
/* The first listed descriptor of the process, from fd on; INT32_MAX: none. */
int32_t ty_fd_snapshot_from(const struct ty_fd_snapshot *n, int32_t pid, int32_t fd);
/* When the list was complete (trace clock); 0: there is none. */
uint64_t ty_fd_snapshot_taken_ns(const struct ty_fd_snapshot *n);
/* When the list was begun. */
uint64_t ty_fd_snapshot_since_ns(const struct ty_fd_snapshot *n);
/* True when a listed socket of any process was listening at "127.0.0.1:80" (n bytes), or at that
 * port of any address. */
bool ty_fd_snapshot_listens(const struct ty_fd_snapshot *n, const char *at, size_t len);
/* True when the process had more descriptors than the list; in older recordings: may have had. */
bool ty_fd_snapshot_left_out(const struct ty_fd_snapshot *n, int32_t pid);

#endif

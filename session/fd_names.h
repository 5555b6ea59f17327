/* SPDX-License-Identifier: MIT */
/* Descriptors open when the recording began, or inherited by the traced command (section.h,
 * TY_SEC_FDS). */
#ifndef TY_FD_NAMES_H
#define TY_FD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ty_fd_names;

struct ty_fd_name {
	int32_t pid, fd;
	bool cloexec;
	const char *target; /* "/etc/passwd", "TCP:[127.0.0.1:80->127.0.0.1:4711]" */
};

/* Parses the section's text (NULL: none). NULL: out of memory. Malformed lines are skipped. */
struct ty_fd_names *ty_fd_names_new(const char *section);
void ty_fd_names_free(struct ty_fd_names *n);
/* NULL: unknown. Borrowed. */
const struct ty_fd_name *ty_fd_names_find(const struct ty_fd_names *n, int32_t pid, int32_t fd);
/* The first listed descriptor of the process, from fd on; INT32_MAX: none. */
int32_t ty_fd_names_from(const struct ty_fd_names *n, int32_t pid, int32_t fd);
/* When the list was complete (trace clock); 0: there is none. */
uint64_t ty_fd_names_taken_ns(const struct ty_fd_names *n);
/* When the list was begun. */
uint64_t ty_fd_names_since_ns(const struct ty_fd_names *n);
/* True when a listed socket of any process was listening at "127.0.0.1:80" (n bytes), or at that
 * port of any address. */
bool ty_fd_names_listens(const struct ty_fd_names *n, const char *at, size_t len);
/* True when the process had more descriptors than the list; in older recordings: may have had. */
bool ty_fd_names_left_out(const struct ty_fd_names *n, int32_t pid);

#endif

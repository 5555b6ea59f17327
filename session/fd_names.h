/* SPDX-License-Identifier: MIT */
/* The descriptors that were open when recording began, or that the traced command inherits
 * (section.h, TY_SEC_FDS). */
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

/* Of the section's text (NULL: none). NULL: out of memory. Lines that are no such are skipped. */
struct ty_fd_names *ty_fd_names_new(const char *section);
void ty_fd_names_free(struct ty_fd_names *n);
/* NULL: not known. Borrowed. */
const struct ty_fd_name *ty_fd_names_find(const struct ty_fd_names *n, int32_t pid, int32_t fd);
/* The list was taken up to this time (trace clock); 0: there is none. */
uint64_t ty_fd_names_taken_ns(const struct ty_fd_names *n);
/* It was begun at this time. */
uint64_t ty_fd_names_since_ns(const struct ty_fd_names *n);
/* Did a socket of any process listen at "127.0.0.1:80" (n bytes), or at that port of any address?
 * As far as the list tells. */
bool ty_fd_names_listens(const struct ty_fd_names *n, const char *at, size_t len);
/* The process had more descriptors than the list has; of older recordings: may have had. */
bool ty_fd_names_left_out(const struct ty_fd_names *n, int32_t pid);

#endif

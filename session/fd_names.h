/* SPDX-License-Identifier: MIT */
/* The descriptors that were open when recording began, or that the traced command inherits
 * (section.h, TY_SEC_FDS). */
#ifndef TY_FD_NAMES_H
#define TY_FD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "syscall_pair.h"

struct ty_fd_names;

struct ty_fd_name {
	int32_t pid, fd;
	bool cloexec;
	uint64_t gone_ns;   /* closed; UINT64_MAX: not as far as is known */
	const char *target; /* "/etc/passwd", "TCP:[127.0.0.1:80->127.0.0.1:4711]" */
};

/* Of the section's text (NULL: none). NULL: out of memory. Lines that are no such are skipped. */
struct ty_fd_names *ty_fd_names_new(const char *section);
void ty_fd_names_free(struct ty_fd_names *n);
/* NULL: not known. Borrowed. */
const struct ty_fd_name *ty_fd_names_find(const struct ty_fd_names *n, int32_t pid, int32_t fd);
/*
 * What descriptor fd of the process was at ts, as far as a stream of calls tells: it was looked at
 * by then, and no call that was fed has closed it. Children have what their parents had when they
 * were born; who shares descriptors without being a thread (CLONE_FILES) and who does so with it
 * have none from then on. NULL: not known.
 */
const char *ty_fd_names_at(const struct ty_fd_names *n, int32_t pid, int32_t fd, uint64_t ts_ns);
/* A call of the process that is over. */
void ty_fd_names_call(struct ty_fd_names *n, const struct ty_sysarch *arch, const struct ty_call *c,
		      int32_t pid);
/* Births and ends of processes; pid: of the process that the event happened in. 0 or -TY_ENOMEM. */
int ty_fd_names_event(struct ty_fd_names *n, const struct ty_event *ev, int32_t pid);
/* Events were lost from here on: nothing is known any more. */
void ty_fd_names_lost(struct ty_fd_names *n, uint64_t from_ns);
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

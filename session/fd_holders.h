/* SPDX-License-Identifier: MIT */
/* Which other processes have the other end of a pipe or unix socket open, or closed it lately,
 * while a stream of calls is processed: by the names that their descriptors have (fd_track.h), and
 * of pipes how they are used. Those whose descriptors are unknown are missing. Budget: 2 ns per
 * open descriptor. */
#ifndef TY_FD_HOLDERS_H
#define TY_FD_HOLDERS_H

#include "fd_track.h"
#include "vec.h"

enum { TY_FD_HOLDERS = 8 };

struct ty_fd_inodes {
	uint64_t own, peer;
	bool parsed;
};
/* Begins as {0}; to be freed by ty_fd_holders_fini. */
struct ty_fd_holders {
	VEC(struct ty_fd_inodes) of; /* of unix sockets, by ty_fd_track_name */
};
void ty_fd_holders_fini(struct ty_fd_holders *h);

/* Of the process' descriptor fd with that name: how many, TY_FD_HOLDERS at most, and
 * their numbers. 0:
 * unknown. */
unsigned ty_fd_holders_find(struct ty_fd_holders *h, const struct ty_fd_track *t, int32_t pid,
			    int32_t fd, uint32_t name, uint64_t since_ns,
			    int32_t out[TY_FD_HOLDERS]);

#endif

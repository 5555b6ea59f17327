/* SPDX-License-Identifier: MIT */
/* Finds the process at the other end of a pipe or socket. */
#ifndef TY_FD_PEER_H
#define TY_FD_PEER_H

#include "fd_kind.h"
#include "process_titles.h"

#define TY_FD_PEER (TY_WHO_MAX + 24) /* bytes */

/*
 * Which process held the other end of descriptor fd of the thread's process at t: "gzip/812",
 * "sh/12 and 2 more". table: the process's descriptors at t; NULL: unknown. name: the descriptor's
 * name; NULL: unknown. *access: 'r' or 'w', as the thread uses it, or 0: unknown; of a pipe set
 * where it is known. The other end was made by a recorded call, or was open when the recording
 * began; its holder is one that made it, or was forked by that, and has not closed it. False:
 * unknown, or no other process. Cost: as ty_fd_kind, for each of up to 32 processes.
 */
bool ty_fd_peer(const struct ty_explain *x, const struct ty_fd_table *table, uint32_t thread,
		uint64_t fd, uint64_t t_ns, const char *name, char *access, char out[TY_FD_PEER]);

#endif

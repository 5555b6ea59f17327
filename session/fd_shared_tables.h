/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of processes while a stream of calls is processed (fd_track.h): a table per process,
 * indexed by descriptor. Processes that share one (CLONE_FILES) share the table.
 */
#ifndef TY_FD_SHARED_TABLES_H
#define TY_FD_SHARED_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "pair_map.h"
#include "vec.h"

struct ty_fd_target {
	uint32_t name; /* 0: unknown */
	uint32_t net;  /* of an internet socket its network namespace; 0: unknown */
	char access;   /* of a pipe: 'r', 'w', 'b' (both); 0: unknown */
};

struct ty_fd_slot {
	uint64_t since_ns;   /* the end of the call that made it */
	uint64_t closing_ns; /* a call that closes or replaces it began; 0: none */
	struct ty_fd_target target;
	bool open, cloexec;
	bool listed; /* in /proc at since_ns; how long it had been open is unknown */
	bool fresh;  /* took the place of one that was open, as the lowest free number */
};

struct ty_fd_slots {
	struct ty_fd_slot *v;
	uint32_t n, users;
};

struct ty_fd_process {
	struct ty_fd_slots *table; /* NULL: nothing is known */
	uint32_t cwd;
	int32_t pid;
	bool gone; /* it ended: its number may be another one's */
};

struct ty_fd_processes {
	VEC(struct ty_fd_process) v;
	struct ty_pair_map by_pid; /* (pid, 0): index of its process */
	uint32_t slots;		   /* allocated */
};

/* NULL: nothing is known of it. */
struct ty_fd_process *ty_fd_process_find(const struct ty_fd_processes *all, int32_t pid);
/* NULL: out of memory. */
struct ty_fd_process *ty_fd_process_add(struct ty_fd_processes *all, int32_t pid);
/* The open descriptor; NULL. */
struct ty_fd_slot *ty_fd_slot_find(const struct ty_fd_process *p, uint64_t fd);
/* A slot to be written; NULL: there is no room. */
struct ty_fd_slot *ty_fd_slot_add(struct ty_fd_processes *all, struct ty_fd_process *p,
				  uint64_t fd);
/* The process has no table any more; one that others share stays theirs. */
void ty_fd_slots_drop(struct ty_fd_processes *all, struct ty_fd_process *p);
/* The process gets a copy of the table that it shares. -TY_ENOMEM, or 0, also where there was no
 * room: then it has none. */
int ty_fd_slots_unshare(struct ty_fd_processes *all, struct ty_fd_process *p);
void ty_fd_processes_fini(struct ty_fd_processes *all);

#endif

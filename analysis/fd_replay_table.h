/* SPDX-License-Identifier: MIT */
/* The descriptors of a process, and what its calls do to them. */
#ifndef TY_FD_REPLAY_TABLE_H
#define TY_FD_REPLAY_TABLE_H

#include "explain.h"

enum { TY_FDS = 1024 };

/* The call that gives a descriptor its name: one of its arguments points to it, or TY_POINTEE_FD.
 */
struct ty_fd_maker {
	uint32_t thread, call;
	int8_t arg; /* -1: none */
};
/* As arg: TY_POINTEE_FD, or, where that is not recorded, the address that it was given. */
#define TY_FD_BY_ADDRESS 64

struct ty_fd_table {
	bool open[TY_FDS];
	uint8_t cloexec[TY_FDS];
	uint8_t kind[TY_FDS];	  /* enum ty_fd_kind */
	const char *name[TY_FDS]; /* of one open before; NULL: unknown, or by a call */
	struct ty_fd_maker by[TY_FDS], opened[TY_FDS]; /* opened: whose flags say cloexec */
	bool left_out;				       /* others may be open, too */
};

/* A call that makes, closes or names descriptors. */
struct ty_fd_call {
	uint64_t end_ns;
	uint32_t thread, call;
	const struct ty_sysrow *row;
};

/* The table of a process that existed before the recording; true: as listed, else none. */
bool ty_fd_begin(const struct ty_explain *x, int32_t pid, struct ty_fd_table *t);
/* The table after the call. */
void ty_fd_replay(const struct ty_explain *x, const struct ty_fd_call *k, struct ty_fd_table *t);
/* The listed table without what the call, whose effect may or may not be in it, or is in it but
 * followed t, did. */
void ty_fd_unlearn(const struct ty_explain *x, const struct ty_fd_call *k, uint64_t t_ns,
		   struct ty_fd_table *t);
/* What a descriptor of it is, and its name, or NULL; t NULL: unknown. */
enum ty_fd_kind ty_fd_table_kind(const struct ty_explain *x, const struct ty_fd_table *t,
				 uint64_t fd, const char **name);

#endif

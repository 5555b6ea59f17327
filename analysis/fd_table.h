/* SPDX-License-Identifier: MIT */
/* The descriptors of a process at a time, from its recorded system calls and those of its parents.
 */
#ifndef TY_FD_TABLE_H
#define TY_FD_TABLE_H

#include "explain.h"
#include "fd_kind.h"

enum { TY_FDS = 1024, TY_FD_CALLS = 300000 };

/* The call that gives a descriptor its name: one of its arguments points to it, or TY_POINTEE_FD.
 */
struct ty_fd_maker {
	uint32_t thread, call;
	int8_t arg; /* -1: none */
};
/* As arg: TY_POINTEE_FD, or, where that is not recorded, the address that it was given. */
#define TY_FD_BY_ADDRESS 64

struct ty_fd_table {
	bool open[TY_FDS], cloexec[TY_FDS];
	uint8_t kind[TY_FDS];	  /* enum ty_fd_kind */
	const char *name[TY_FDS]; /* of one open before; NULL: unknown, or by a call */
	struct ty_fd_maker by[TY_FDS];
	bool left_out; /* others may be open, too */
};

/* The table of the thread's process at t. calls: how many calls to look at at most; what is left of
 * them. false: unknown. */
bool ty_fd_table_at(const struct ty_explain *x, uint32_t thread, uint64_t t_ns, uint32_t *calls,
		    struct ty_fd_table *t);
/* The same for one wait, freed by the caller; NULL: unknown. */
struct ty_fd_table *ty_fd_table_new(const struct ty_explain *x, uint32_t thread, uint64_t t_ns);
/* What a descriptor of it is, as ty_fd_kind; t NULL: unknown. */
enum ty_fd_kind ty_fd_table_kind(const struct ty_explain *x, const struct ty_fd_table *t,
				 uint64_t fd, const char **name);

#endif

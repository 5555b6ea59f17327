/* SPDX-License-Identifier: MIT */
/*
 * Structures and bytes behind the pointers of a system call (call_data_record.h, TY_EVK_VALUES), as
 * strace prints them and as JSON. They are untrusted: what a record does not hold in full is not
 * read.
 */
#ifndef TY_SYSCALL_VALUES_H
#define TY_SYSCALL_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call_data_index.h"
#include "json_out.h"
#include "syscalls.h"

/* Descriptors of a call that are named: at most this many. */
#define TY_VALUES_FDS 64

struct ty_values {
	const struct ty_sysarch *arch;
	const struct ty_call *call;
	const struct ty_sysrow *row;
	struct ty_call_data_values v;
	/* What ty_values_fds found, and the names that its caller gave them; NULL: unknown.
	 * Borrowed. */
	int32_t fds[TY_VALUES_FDS];
	unsigned fds_n;
	const char *fd_names[TY_VALUES_FDS];
};

/* Finds the call's values. after_ns: as for ty_call_data_of. False: none are recorded. */
bool ty_values_find(struct ty_values *o, const struct ty_sysarch *arch,
		    const struct ty_call_data_index *x, const struct ty_call *c, uint64_t after_ns);
/* Lists the descriptors in structures that the call reads (pollfd, sets of select, SCM_RIGHTS) in
 * o->fds, without names. Returns their number. */
unsigned ty_values_fds(struct ty_values *o);
/* The name of a descriptor in the list; NULL: unknown. */
static inline const char *ty_values_fd_name(const struct ty_values *o, int32_t fd)
{
	for (unsigned i = 0; i < o->fds_n; i++)
		if (o->fds[i] == fd)
			return o->fd_names[i];
	return NULL;
}
/* The only descriptor that was ready when poll or select returned; -1: none, several or unknown. */
int32_t ty_values_ready(const struct ty_values *o);
/* The only descriptor of a poll. room: its caller requested POLLOUT, and that alone was found.
 * False: there are several, or none is recorded. */
bool ty_values_polled(const struct ty_values *o, int32_t *fd, bool *room);
/* Appends argument i: "[{fd=3<pipe:[17]>, events=POLLIN}]". False: unknown, nothing is appended. */
bool ty_values_arg(const struct ty_values *o, unsigned i, struct ty_buf *out);
/* Appends what strace prints after a result: " ([{fd=3, revents=POLLIN}])". False: nothing. */
bool ty_values_after(const struct ty_values *o, struct ty_buf *out);
/* Writes the keys "values" and "values_out": an array with a value per argument, null where it is
 * unknown. out: those of poll and select that the kernel changed. "values_fd_names" and
 * "values_out_fd_names": the names of the descriptors in sets of select, if one is known. */
void ty_values_json(const struct ty_values *o, struct ty_buf *scratch, struct ty_json *j);

#endif

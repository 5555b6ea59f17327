/* SPDX-License-Identifier: MIT */
/* The other ends of pipes and sockets: which process had one before the recording, or which call
 * made it, by the names that descriptors have (call_data_index.h, TY_SEC_FDS). */
#ifndef TY_FD_OTHERS_H
#define TY_FD_OTHERS_H

#include "call_data_index.h"
#include "explain.h"

struct ty_fd_others;

/* fds: the text of TY_SEC_FDS; strings: as recorded; NULL: none. NULL: out of memory. */
struct ty_fd_others *ty_fd_others_new(const char *fds, const struct ty_call_data_index *strings);
void ty_fd_others_free(struct ty_fd_others *o);
/* As fd_other of struct ty_explain. o may be NULL. */
bool ty_fd_others_find(const struct ty_fd_others *o, const char *name, char access, uint64_t t_ns,
		       int32_t not_pid, int32_t by_tid, struct ty_fd_other *out);

#endif

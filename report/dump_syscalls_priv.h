/* SPDX-License-Identifier: MIT */
/* Shared by dump_syscalls.c (the order of lines) and dump_syscall_line.c (the content of a line).
 */
#ifndef TY_DUMP_SYSCALLS_PRIV_H
#define TY_DUMP_SYSCALLS_PRIV_H

#include <stdio.h>

#include "call_line.h"
#include "call_walk.h"
#include "fd_holders.h"
#include "session.h"
#include "strtab.h"
#include "thread_names.h"
#include "window_filter.h"

#define TY_DUMP_FDS 2 /* no call has more that are arguments */

enum kind { LINE_PENDING, LINE_CALL, LINE_RESUMED, LINE_GAP, LINE_DROPPED };

struct line {
	uint64_t key;
	union {
		struct ty_call call;
		struct {
			uint64_t from_ns, to_ns, count;
			uint32_t cpu;
			uint8_t what;
			bool to_end;
		} gap;
	} u;
	uint64_t after_ns; /* ty_call_data_after when it began */
	uint32_t fd[TY_DUMP_FDS],
		result; /* ty_fd_track_name of its first descriptors, and its result */
	uint32_t inner; /* in d->inner: names of the descriptors in structures */
	uint32_t peers; /* in d->inner: ty_arg_names.peers */
	int32_t pid;
	char comm[TY_COMM + 1];
	bool named; /* comm is the name at the call's beginning */
	bool shown; /* split: its beginning was shown */
	uint8_t kind;
};

struct dump {
	struct ty_session *s;
	const struct ty_window *w;
	FILE *out;
	bool json;
	bool loss_shown;
	struct ty_call_walk walk;
	struct ty_thread_names *comms;
	struct ty_buf strings_text;
	struct ty_fd_holders holders;
	struct ty_strtab *inner; /* lists of ty_fd_track_name in hex, a blank behind each */
	size_t inner_bytes;
	uint64_t paths, paths_unknown; /* calls with strings; calls with an unknown one */
	struct ty_wall wall;
	struct ty_json j;
	struct ty_buf text;
	struct line *ring; /* power of two */
	size_t cap, head, n;
	struct line *split; /* calls that the queue let go; LINE_DROPPED once they are over */
	size_t split_cap, split_n, split_open;
	uint64_t last_key;
	uint64_t now_ns;      /* of the current event */
	uint64_t sys_buffers; /* bit per buffer in which system calls were seen */
};

/* Finds the names of a call's descriptors at its start. */
void ty_dump_line_name(struct dump *d, struct line *l);
/* Finds the name of the descriptor that the call created, at its end. */
void ty_dump_line_result(struct dump *d, struct line *l);
/* Prints a line that is complete; the start of a call that has not ended (text only). */
void ty_dump_line(struct dump *d, const struct line *l);
void ty_dump_line_begun(struct dump *d, const struct line *l);

#endif

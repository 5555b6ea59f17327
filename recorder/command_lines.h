/* SPDX-License-Identifier: MIT */
/*
 * Command lines of processes, as /proc/PID/cmdline has them when it is read (section.h,
 * TY_SEC_COMMANDS): those that existed before the recording, and, because a process may change its
 * own (setproctitle), those of long waits; and of processes that are not traced, but held up traced
 * ones. Threads of its own read them: a process whose memory is
 * locked holds up no other one. Thread-safe.
 */
#ifndef TY_COMMAND_LINES_H
#define TY_COMMAND_LINES_H

#include <stdint.h>

#include "buf.h"

struct ty_command_lines;

/* proc: the folder, "/proc". NULL: out of memory. */
struct ty_command_lines *ty_command_lines_new(const char *proc);
/* Read it soon, unless that was done within the last 100 ms. Too many at a time are left out. NULL
 * does nothing. */
void ty_command_lines_request(struct ty_command_lines *c, int pid);
/* The same of a process that is not traced, at most 20 a second, with the parents (3) of one whose
 * line needs them (ty_needs_caller). */
void ty_command_lines_culprit(struct ty_command_lines *c, int pid);
/* The same of one whose line was read now: n bytes, a NUL after each argument. parent: 0: unknown.
 */
void ty_command_lines_add(struct ty_command_lines *c, int pid, const char *line, size_t n,
			  int parent);
/*
 * Appends lines of the section, for what was read and had changed since the last line of its
 * process. Waits wait_ms at most for what was requested. trace_ns: returns the current trace clock.
 * All lines together are at most 16 MB; further ones are left out.
 */
void ty_command_lines_take(struct ty_command_lines *c, unsigned wait_ms,
			   uint64_t (*trace_ns)(void *ctx), void *ctx, struct ty_buf *out);
/* Never waits: threads that are held up free what they use. NULL does nothing. */
void ty_command_lines_free(struct ty_command_lines *c);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Strings in the kernel's own events: since Linux 6.19 syscalls:sys_enter_NAME has, for an argument
 * ARG that points to a string, a field __ARG_val with its first bytes, at most
 * syscall_user_buf_size of the trace instance (by default 63). Source:
 * kernel/trace/trace_syscalls.c. A longer string ends there with "...", unprintable bytes are '.',
 * and a page that cannot be read leaves it empty.
 */
#ifndef TY_USER_STRINGS_H
#define TY_USER_STRINGS_H

#include <stdbool.h>

#include "err.h"
#include "formats.h"
#include "paged_bytes.h"
#include "syscalls.h"

/* True if events with such a field are in the file's formats. Whether one was recorded is unknown
 * until its events are read. */
bool ty_user_strings_in(const struct ty_formats *f);

/*
 * Reads all events and appends these strings as records of call_data_record.h, with the time of
 * their call's raw_syscalls:sys_enter where that came first. bytes: syscall_user_buf_size while
 * recording. 0: unknown, then the longest strings of the file are taken for truncated (INFERRED) if
 * they end with "..." and reach the kernel's default. At most 512 MB, the others count as lost. 0
 * or -TY_E... with err.
 */
int ty_user_strings_read(const struct ty_trace *t, const struct ty_formats *f,
			 const struct ty_sysarch *arch, unsigned bytes, struct ty_paged *out,
			 struct ty_err *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own user strings: since Linux 6.19 the events syscalls:sys_enter_NAME have the
 * strings behind a call's pointers (decoder/user_strings.h reads them). Recorded where BPF programs
 * cannot (call_data.h): they have less of each string, no structures and no socket addresses.
 */
#ifndef TY_STRING_EVENTS_H
#define TY_STRING_EVENTS_H

#include "buf.h"
#include "event_set.h"

/* Adds the events of root/events that have strings of the calls in call_data_table.h, and appends
 * these calls to names: "openat,execve". set may be NULL. 0 or -TY_ENOMEM. */
int ty_string_events_add(struct ty_event_set *set, const char *root, struct ty_buf *names);
/* Lets the instance record as much of each string as the kernel allows: how many bytes; 0:
 * unknown. */
unsigned ty_string_events_bytes(const struct ty_instance *inst);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What pointers of system calls pointed to: the section that BPF programs wrote (section.h,
 * TY_SEC_CALL_DATA), and strings that the kernel put into its own events (user_strings.h), as
 * records of the same form.
 */
#ifndef TY_CALL_DATA_SOURCE_H
#define TY_CALL_DATA_SOURCE_H

#include "session.h"

/* True if strings may be in events: their formats have them, and the recorder did not read them by
 * BPF, which is more exact. */
bool ty_session_event_strings(const struct ty_session *s);
/* The records; empty: none. Borrowed from s. The first call reads all events of a file that has
 * strings in events. Where they cannot be read: as if it had none, and ty_session_check reports it.
 * Thread-safe. */
struct ty_text ty_session_call_data(struct ty_session *s);

#endif

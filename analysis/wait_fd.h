/* SPDX-License-Identifier: MIT */
/* The descriptor that a wait is for: which one, of which kind, and its name as findings show it. */
#ifndef TY_WAIT_FD_H
#define TY_WAIT_FD_H

#include "waits.h"

/* A descriptor's name; of a longer one its end behind "...", of a unix socket the kind, too. */
#define TY_WAIT_NAME 76
const char *ty_wait_name(const char *name, char out[TY_WAIT_NAME]);
/*
 * After a wait for several or unknown descriptors (poll's are behind a pointer, epoll's were
 * registered before): the thread's next call, normally on the ready one. It receives from fd or
 * accepts on it; or sends, when the thread waited for room. Returns what the call does
 * (syscall_ipc.h); 0: none such.
 */
unsigned ty_wait_next_fd(const struct ty_explain *x, uint32_t thread, uint32_t call, bool room,
			 int64_t *fd);
/* "fd 5 <TCP:[a->b] to nginx/12>", "fd 1 <pipe to gzip/812>": a descriptor of the thread at t with
 * its name and the process at its other end, if that is known (fd_peer.h). fds: the process's at t;
 * NULL: unknown. access: 'r', 'w'; 0: unknown. False: it has no name. */
bool ty_wait_fd_text(const struct ty_explain *x, const struct ty_fd_table *fds, uint32_t thread,
		     int32_t fd, uint64_t t_ns, char access, char *out, size_t size);
/* Refines w when it only says "a descriptor": its kind, and its name if it was open before the
 * recording (fd_kind.h; expensive, for findings only). call: TY_NONE for the name only. room: the
 * waker is known to have received data, so the thread waited to send. */
void ty_wait_look_at_fd(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
			bool room, struct ty_wait_for *w);
/* The terminal that the thread reads from in this wait, as "/dev/pts/1"; NULL: none. Searches for
 * the descriptor (fd_kind.h). */
const char *ty_wait_terminal(const struct ty_explain *x, uint32_t thread, uint64_t t_ns,
			     const struct ty_wait_for *w);
/* Sets the path of a call, or the descriptor of an ioctl or close, as the wait's object if it has
 * none; for findings. */
void ty_wait_look_at_path(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
			  struct ty_wait_for *w);

#endif

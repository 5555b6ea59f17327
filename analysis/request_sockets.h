/* SPDX-License-Identifier: MIT */
/* Descriptors of all processes, collected during one pass over all calls in time order. */
#ifndef TY_REQUEST_SOCKETS_H
#define TY_REQUEST_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"
#include "fd_sides.h"

struct ty_sock {
	uint8_t kind; /* enum ty_fd_kind */
	uint8_t role; /* enum ty_sock_role */
	bool known;   /* kind was looked up */
	bool inferred;
	bool by_use;		    /* inferred from the end that sent first */
	bool used;		    /* data was sent or received */
	bool replied;		    /* a request was answered on it */
	bool open;		    /* a request is waiting for its reply: */
	uint64_t since_ns, last_ns; /* since when; the last receipt */
	uint32_t thread, last_by;
	uint32_t more; /* messages that an event loop awaited before it received them */
	/* It connected, or its port is ephemeral and its peer's is not (the names of both ends). A
	 * client whose role was inferred by use is not one of these. */
	bool client;
	bool heard;	   /* of a client: data was received on it */
	bool awaits_reply; /* it sent data, or connects, and has no reply yet: */
	bool connecting;
	uint64_t sent_ns;
	uint32_t sent_by;
	/* Copies (dup) of a descriptor are one socket, whose state the oldest of them has. */
	uint32_t copy_of; /* its number + 1; 0: this is it */
	uint32_t copies;  /* others that are copies of this one */
};

struct ty_sock_table {
	VEC(struct ty_sock) fd; /* by number */
	int32_t pid; /* process whose descriptors were in the snapshot: this one, or its nearest
		      * ancestor in it */
	bool before; /* there is one */
};

/* Socket of descriptor fd of a table; NULL: out of memory, or not a valid number. One open before
 * the recording gets its kind and role from its name. */
struct ty_sock *ty_sock_at(const struct ty_explain *x, struct ty_sock_table *t, int64_t fd);
/* The socket has that name, as the kernel lists it: its kind, and its role where that shows it. */
void ty_sock_is_named(const struct ty_explain *x, struct ty_sock *s, const char *name);
/* The descriptor is closed, or becomes another one: its copies keep the socket. */
void ty_sock_drop(struct ty_sock_table *t, int64_t fd);
/* Descriptor `to` becomes a copy of `from`. */
void ty_sock_copy(const struct ty_explain *x, struct ty_sock_table *t, int64_t from, int64_t to);
/* True if that is the name of a socket. */
bool ty_sock_named(const char *name);
/* Copies the parent's descriptors to a child. 0 or -TY_ENOMEM. */
int ty_sock_inherit(struct ty_sock_table *child, const struct ty_sock_table *parent);

#endif

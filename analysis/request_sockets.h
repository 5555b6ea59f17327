/* SPDX-License-Identifier: MIT */
/* The descriptors of all processes, as a pass over all calls in time order comes to know them. */
#ifndef TY_REQUEST_SOCKETS_H
#define TY_REQUEST_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"
#include "vec.h"

enum ty_sock_role { TY_SOCK_UNKNOWN, TY_SOCK_SERVER, TY_SOCK_CLIENT };

struct ty_sock {
	uint8_t kind; /* enum ty_fd_kind */
	uint8_t role; /* enum ty_sock_role */
	bool known;   /* kind was looked up */
	bool inferred;
	bool used;    /* something was sent or received */
	bool replied; /* some request was answered here */
	bool open;    /* a request waits for its reply: */
	uint64_t since_ns;
	uint32_t thread;
	/* Of a client: it connected, or the names of both ends tell. */
	bool client, heard; /* heard: something was received here */
	bool asked;	    /* it sent something, or connects, and has no reply yet: */
	bool connecting;
	uint64_t asked_ns;
	uint32_t asked_by;
};

struct ty_sock_table {
	VEC(struct ty_sock) fd; /* by number */
	int32_t pid; /* whose descriptors were listed before the recording: its own, or the first
			of its parents that it descends from */
	bool before; /* there is such a one */
};

/* fd of a table; NULL: no memory, or a number that no table holds. What was open before the
 * recording gets its kind and role by its name. */
struct ty_sock *ty_sock_at(const struct ty_explain *x, struct ty_sock_table *t, int64_t fd);
/* A child begins with what its parent has. 0 or -TY_ENOMEM. */
int ty_sock_inherit(struct ty_sock_table *child, const struct ty_sock_table *parent);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Which side of its connections a process is on, by descriptor and time, for a whole recording:
 * collected by the pass that finds requests.
 */
#ifndef TY_FD_SIDES_H
#define TY_FD_SIDES_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

enum ty_sock_role { TY_SOCK_UNKNOWN, TY_SOCK_SERVER, TY_SOCK_CLIENT };

/* The process has that side on the descriptor in [from, to). */
struct ty_fd_side {
	uint64_t from_ns, to_ns;
	uint32_t process; /* ty_process_of */
	int32_t fd;
	uint8_t role; /* enum ty_sock_role */
};

struct ty_fd_sides {
	VEC(struct ty_fd_side) v; /* in order once all are known */
};

/* Of one process: what its descriptors are at the current time of the pass, by number. */
struct ty_fd_sides_now {
	VEC(struct ty_fd_side) fd;
};

/* The descriptor has this side from t on: from the start where nothing was known of it, and on as
 * before where it was closed only for a moment. Negative ones are ignored. 0 or -TY_ENOMEM. */
int ty_fd_side_is(struct ty_fd_sides *s, struct ty_fd_sides_now *now, uint32_t process, int64_t fd,
		  uint8_t role, uint64_t t_ns);
/* It is closed, or is another one, from t on. 0 or -TY_ENOMEM. */
int ty_fd_side_ends(struct ty_fd_sides_now *now, int64_t fd, uint64_t t_ns);
/* Adds what the descriptors still are, up to to_ns, and frees `now`. 0 or -TY_ENOMEM. */
int ty_fd_sides_finish(struct ty_fd_sides *s, struct ty_fd_sides_now *now, uint64_t to_ns);
void ty_fd_sides_sort(struct ty_fd_sides *s);
/* What the descriptor was at t; NULL: unknown, or no connection. Cost: log(sides). */
const struct ty_fd_side *ty_fd_side_at(const struct ty_fd_sides *s, uint32_t process, int64_t fd,
				       uint64_t t_ns);
/* TY_SOCK_UNKNOWN: also where it is no connection. Cost: the same. */
enum ty_sock_role ty_fd_side(const struct ty_fd_sides *s, uint32_t process, int64_t fd,
			     uint64_t t_ns);

#endif

/* SPDX-License-Identifier: MIT */
/* See fd_sides.h. A number that is closed and soon used again for the same side, as those of
 * accepted connections are, needs one element for all of them. */
#include "fd_sides.h"

#include <string.h>

#include "compare.h"
#include "partition.h"

#define FDS_MOST   65536	     /* of a process */
#define SIDES_MOST (1u << 21)	     /* of a recording, 64 MB: what is left out is unknown */
#define MOMENT_NS  UINT64_C(1000000) /* shorter than any wait that is examined */

static struct ty_fd_side *at(struct ty_fd_sides_now *now, int64_t fd)
{
	size_t n = now->fd.n;

	if ((size_t)fd < n)
		return &now->fd.v[fd];
	if (vec_reserve(&now->fd, (size_t)fd + 1))
		return NULL;
	now->fd.n = (size_t)fd + 1;
	memset(now->fd.v + n, 0, (now->fd.n - n) * sizeof(*now->fd.v));
	return &now->fd.v[fd];
}

static int keep(struct ty_fd_sides *s, const struct ty_fd_side *was)
{
	return was->role && was->from_ns < was->to_ns && s->v.n < SIDES_MOST ? vec_push(&s->v, *was)
									     : 0;
}

int ty_fd_side_is(struct ty_fd_sides *s, struct ty_fd_sides_now *now, uint32_t process, int64_t fd,
		  uint8_t role, uint64_t t_ns)
{
	struct ty_fd_side *a, was;

	if (fd < 0 || fd >= FDS_MOST || !role)
		return 0;
	a = at(now, fd);
	if (!a)
		return -TY_ENOMEM;
	was = *a;
	if (was.role == role && (was.to_ns == UINT64_MAX || t_ns - was.to_ns < MOMENT_NS)) {
		a->to_ns = UINT64_MAX;
		return 0;
	}
	*a = (struct ty_fd_side){was.to_ns ? t_ns : 0, UINT64_MAX, process, (int32_t)fd, role};
	was.to_ns = was.to_ns < t_ns ? was.to_ns : t_ns;
	return keep(s, &was);
}

int ty_fd_side_ends(struct ty_fd_sides_now *now, int64_t fd, uint64_t t_ns)
{
	struct ty_fd_side *a = fd < 0 || fd >= FDS_MOST ? NULL : at(now, fd);

	if (a && (!a->to_ns || a->to_ns == UINT64_MAX))
		a->to_ns = t_ns;
	return a || fd < 0 || fd >= FDS_MOST ? 0 : -TY_ENOMEM;
}

int ty_fd_sides_finish(struct ty_fd_sides *s, struct ty_fd_sides_now *now, uint64_t to_ns)
{
	int rc = 0;

	vec_each (a, &now->fd) {
		a->to_ns = a->to_ns < to_ns ? a->to_ns : to_ns;
		rc = rc ? rc : keep(s, a);
	}
	vec_fini(&now->fd);
	return rc;
}

ORDER(by_time, struct ty_fd_side,
      compare(a->process, b->process) ?: compare(a->fd, b->fd) ?: compare(a->from_ns, b->from_ns))

void ty_fd_sides_sort(struct ty_fd_sides *s)
{
	vec_sort(&s->v, by_time);
}

const struct ty_fd_side *ty_fd_side_at(const struct ty_fd_sides *s, uint32_t process, int64_t fd,
				       uint64_t t_ns)
{
	const struct ty_fd_side key = {.from_ns = t_ns, .process = process, .fd = (int32_t)fd};
	const size_t i = partition_point(k, (size_t)0, s->v.n, by_time(&s->v.v[k], &key) <= 0);
	const struct ty_fd_side *at = i ? &s->v.v[i - 1] : NULL;

	return at && at->process == process && at->fd == fd && t_ns < at->to_ns ? at : NULL;
}

enum ty_sock_role ty_fd_side(const struct ty_fd_sides *s, uint32_t process, int64_t fd,
			     uint64_t t_ns)
{
	const struct ty_fd_side *at = ty_fd_side_at(s, process, fd, t_ns);

	return at ? (enum ty_sock_role)at->role : TY_SOCK_UNKNOWN;
}

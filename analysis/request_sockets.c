/* SPDX-License-Identifier: MIT */
/* See request_sockets.h. */
#include "request_sockets.h"

#include <stdlib.h>
#include <string.h>

#include "syscall_table.h"

#define FDS_MOST 65536 /* of a process */

/* "TCP:[127.0.0.1:3306->127.0.0.1:5120]": the end with the lower port serves, as ports that a
 * client is given by the kernel are high ones. */
static uint8_t tcp_role(const char *name)
{
	const char *arrow = strstr(name, "->"), *own, *peer;

	if (!arrow)
		return TY_SOCK_UNKNOWN;
	for (own = arrow; own > name && own[-1] != ':'; own--)
		;
	peer = strrchr(arrow, ':');
	if (own == name || !peer)
		return TY_SOCK_UNKNOWN;
	return atoi(own) < atoi(peer + 1) ? TY_SOCK_SERVER : TY_SOCK_CLIENT;
}

/* A unix socket has a name where it was bound: on the serving side. */
static void by_name(struct ty_sock *s, const char *name)
{
	s->inferred = true;
	if (!strncmp(name, "TCP", 3)) {
		s->kind = TY_FD_SOCKET;
		s->role = tcp_role(name);
	} else if (!strncmp(name, "UNIX:[", 6)) {
		s->kind = TY_FD_SOCKET;
		s->role = TY_SOCK_SERVER;
	} else if (!strncmp(name, "UDP", 3) || !strncmp(name, "socket:", 7)) {
		s->kind = TY_FD_SOCKET;
	} else {
		s->kind = TY_FD_OTHER;
	}
}

struct ty_sock *ty_sock_at(const struct ty_explain *x, struct ty_sock_table *t, int64_t fd)
{
	struct ty_sock *s;

	if (fd < 0 || fd >= FDS_MOST)
		return NULL;
	if ((size_t)fd >= t->fd.n) {
		size_t n = t->fd.n;

		if (vec_reserve(&t->fd, (size_t)fd + 1))
			return NULL;
		t->fd.n = (size_t)fd + 1;
		memset(t->fd.v + n, 0, (t->fd.n - n) * sizeof(*t->fd.v));
	}
	s = &t->fd.v[fd];
	if (!s->known && t->before && x->fd_before) {
		bool cloexec;
		const char *name = x->fd_before(x->ctx, t->pid, (int32_t)fd, &cloexec);

		if (name)
			by_name(s, name);
	}
	s->known = true;
	return s;
}

int ty_sock_inherit(struct ty_sock_table *child, const struct ty_sock_table *parent)
{
	vec_fini(&child->fd);
	child->pid = parent->pid;
	child->before = parent->before;
	if (!parent->fd.n)
		return 0;
	if (vec_reserve(&child->fd, parent->fd.n))
		return -TY_ENOMEM;
	memcpy(child->fd.v, parent->fd.v, parent->fd.n * sizeof(*parent->fd.v));
	child->fd.n = parent->fd.n;
	/* What the parent owes is the parent's. */
	vec_each (s, &child->fd)
		s->open = s->used = s->replied = false;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* See request_sockets.h. */
#include "request_sockets.h"

#include <stdlib.h>
#include <string.h>

#include "syscall_table.h"

#define FDS_MOST	65536 /* of a process */
#define FIRST_EPHEMERAL 32768 /* what a client is given by the kernel, unless configured */

/* "127.0.0.1:3306", "[::1]:3306"; -1: it has no port. */
static int port_of(const char *at, size_t n)
{
	while (n && at[n - 1] != ':')
		n--;
	return n ? atoi(at + n) : -1;
}

/*
 * "TCP:[127.0.0.1:3306->127.0.0.1:5120]". The end at which a socket listened when recording began
 * serves: the kernel gives a client no such port, though one may bind to it (SO_REUSEPORT). Where
 * no list of descriptors has that socket, a port that no client is given; else unknown: the end
 * that sends first is the client.
 */
static uint8_t tcp_role(const struct ty_explain *x, const char *name)
{
	const char *arrow = strstr(name, "->"), *own = strchr(name, '['), *peer, *end;
	bool here, there;

	if (!arrow || !own || ++own > arrow || !(end = strrchr(arrow, ']')))
		return TY_SOCK_UNKNOWN;
	peer = arrow + 2;
	here = x->listens && x->listens(x->ctx, own, (size_t)(arrow - own));
	there = x->listens && x->listens(x->ctx, peer, (size_t)(end - peer));
	if (here == there) {
		int own_port = port_of(own, (size_t)(arrow - own));
		int peer_port = port_of(peer, (size_t)(end - peer));

		if (own_port < 0 || peer_port < 0)
			return TY_SOCK_UNKNOWN;
		here = own_port < FIRST_EPHEMERAL;
		there = peer_port < FIRST_EPHEMERAL;
	}
	return here == there ? TY_SOCK_UNKNOWN : here ? TY_SOCK_SERVER : TY_SOCK_CLIENT;
}

bool ty_sock_named(const char *name)
{
	return !strncmp(name, "TCP", 3) || !strncmp(name, "UNIX", 4) || !strncmp(name, "UDP", 3) ||
	       !strncmp(name, "socket:", 7);
}

/* A unix socket has a name where it was bound: on the serving side. */
void ty_sock_is_named(const struct ty_explain *x, struct ty_sock *s, const char *name)
{
	s->inferred = true;
	if (!strncmp(name, "TCP", 3)) {
		s->kind = TY_FD_SOCKET;
		s->role = tcp_role(x, name);
		s->client = s->role == TY_SOCK_CLIENT;
	} else if (!strncmp(name, "UNIX:[", 6) ||
		   (!strncmp(name, "UNIX-", 5) && strchr(name, ','))) {
		s->kind = TY_FD_SOCKET;
		s->role = TY_SOCK_SERVER;
	} else if (!strncmp(name, "UNIX-", 5) || !strncmp(name, "UDP", 3) ||
		   !strncmp(name, "socket:", 7)) {
		s->kind = TY_FD_SOCKET;
	} else {
		s->kind = TY_FD_OTHER;
	}
}

static struct ty_sock *entry(const struct ty_explain *x, struct ty_sock_table *t, int64_t fd)
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
			ty_sock_is_named(x, s, name);
	}
	s->known = true;
	return s;
}

struct ty_sock *ty_sock_at(const struct ty_explain *x, struct ty_sock_table *t, int64_t fd)
{
	struct ty_sock *s = entry(x, t, fd);

	return s && s->copy_of ? &t->fd.v[s->copy_of - 1] : s;
}

void ty_sock_drop(struct ty_sock_table *t, int64_t fd)
{
	struct ty_sock *s;
	uint32_t heir = 0;

	if (fd < 0 || (size_t)fd >= t->fd.n)
		return;
	s = &t->fd.v[fd];
	if (s->copy_of)
		t->fd.v[s->copy_of - 1].copies--;
	for (size_t i = 0; s->copies && i < t->fd.n; i++) {
		struct ty_sock *c = &t->fd.v[i];

		if (c->copy_of != fd + 1)
			continue;
		if (!heir) {
			*c = *s;
			c->copies--;
			heir = (uint32_t)i + 1;
		} else {
			c->copy_of = heir;
		}
	}
	*s = (struct ty_sock){.known = true};
}

void ty_sock_copy(const struct ty_explain *x, struct ty_sock_table *t, int64_t from, int64_t to)
{
	uint32_t of;

	if (from == to || !entry(x, t, from) || !entry(x, t, to))
		return;
	ty_sock_drop(t, to);
	of = t->fd.v[from].copy_of ? t->fd.v[from].copy_of : (uint32_t)from + 1;
	t->fd.v[of - 1].copies++;
	t->fd.v[to].copy_of = of;
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
	/* The parent's open requests remain the parent's. */
	vec_each (s, &child->fd)
		s->open = s->used = s->replied = s->awaits_reply = s->connecting = false;
	return 0;
}

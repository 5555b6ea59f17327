/* SPDX-License-Identifier: MIT */
/* See fd_holders.h. */
#include "fd_holders.h"

#include <stdio.h>
#include <string.h>

void ty_fd_holders_fini(struct ty_fd_holders *h)
{
	vec_fini(&h->of);
}

/* "UNIX-STREAM:[17->18,..."; zeros: no unix socket, or out of memory. */
static struct ty_fd_inodes inodes_of(struct ty_fd_holders *h, const struct ty_fd_track *t,
				     uint32_t name)
{
	unsigned long long own = 0, peer = 0;
	const char *s;

	while (h->of.n <= name)
		if (vec_push(&h->of, (struct ty_fd_inodes){0}))
			return (struct ty_fd_inodes){0};
	if (!h->of.v[name].parsed) {
		s = ty_fd_track_text(t, name);
		if (s && !strncmp(s, "UNIX-", 5))
			sscanf(s, "UNIX-%*[A-Z]:[%llu->%llu", &own, &peer);
		h->of.v[name] = (struct ty_fd_inodes){own, peer, true};
	}
	return h->of.v[name];
}

struct look {
	struct ty_fd_holders *h;
	const struct ty_fd_track *t;
	int32_t pid;
	uint32_t name;
	char access; /* of the other end of a pipe; 0: it is a unix socket */
	struct ty_fd_inodes end;
	unsigned n;
	int32_t *out;
};

static bool is_other_end(const struct look *l, uint32_t name, char access)
{
	struct ty_fd_inodes e;

	if (l->access)
		return name == l->name && access == l->access;
	e = inodes_of(l->h, l->t, name);
	return e.own && e.own != l->end.own && (e.own == l->end.peer || e.peer == l->end.own);
}

static bool look_at(void *ctx, int32_t pid, uint32_t name, char access)
{
	struct look *l = ctx;

	if (pid == l->pid || !is_other_end(l, name, access))
		return true;
	for (unsigned i = 0; i < l->n; i++)
		if (l->out[i] == pid)
			return true;
	l->out[l->n++] = pid;
	return l->n < TY_FD_HOLDERS;
}

unsigned ty_fd_holders_find(struct ty_fd_holders *h, const struct ty_fd_track *t, int32_t pid,
			    int32_t fd, uint32_t name, uint64_t since_ns,
			    int32_t out[TY_FD_HOLDERS])
{
	const char *text = ty_fd_track_text(t, name);
	struct look l = {.h = h, .t = t, .pid = pid, .name = name, .out = out};
	char access;

	if (text && !strncmp(text, "pipe:[", 6)) {
		access = ty_fd_track_access(t, pid, fd);
		l.access = access == 'r' ? 'w' : access == 'w' ? 'r' : 0;
		if (!l.access)
			return 0;
	} else {
		l.end = inodes_of(h, t, name);
		if (!l.end.own)
			return 0;
	}
	ty_fd_track_each(t, since_ns, look_at, &l);
	return l.n;
}

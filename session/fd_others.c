/* SPDX-License-Identifier: MIT */
/*
 * See fd_others.h. Each end has keys, as text: of a pipe "pipe:[17] r", of a TCP socket
 * "TCP 10.0.0.1:80>10.0.0.2:4711", of one that listens or is not connected "TCP 10.0.0.1:80", of a
 * unix socket "unix 17", and "unix ? 18" for its peer's inode. A look-up makes the keys that the
 * other end has. At most ENDS_MAX ends.
 *
 * The same address may exist in several network namespaces. Of those with a key, the ones in this
 * end's namespace count. If there are none, those of others do, as between a container and its
 * host, but not for an address of a loopback device, which no packet leaves.
 */
#include "fd_others.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "call_data_record.h"
#include "field_text.h"
#include "partition.h"
#include "snapshot_text.h"
#include "strtab.h"
#include "unix_peer.h"
#include "vec.h"

#define ENDS_MAX (1u << 20)
#define KEY_MAX	 160

struct end {
	uint32_t key, name;
	uint32_t net; /* network namespace of an address; 0: unknown */
	uint64_t ns;  /* 0: before the recording */
	int32_t task; /* the thread, or the process before the recording */
};
struct ty_fd_others {
	struct ty_strtab *texts;
	VEC(struct end) v; /* by key, then by time */
};

/* "[::ffff:10.0.0.1]:80" is "10.0.0.1:80". Returns what is behind the address. */
static const char *address(const char *s, char *out, size_t size)
{
	static const char mapped[] = "[::ffff:";
	const size_t n = strcspn(s, " -]") + (*s == '[' ? strcspn(strchr(s, ']'), " -") : 0);
	const char *dot = memchr(s, '.', n), *bracket = memchr(s, ']', n);

	if (!strncmp(s, mapped, sizeof(mapped) - 1) && dot && bracket)
		snprintf(out, size, "%.*s%.*s", (int)(bracket - s - (int)sizeof(mapped) + 1),
			 s + sizeof(mapped) - 1, (int)(s + n - bracket - 1), bracket + 1);
	else
		snprintf(out, size, "%.*s", (int)n, s);
	return s + n;
}

struct inet {
	char protocol[4], own[64], peer[64];
};

/* "TCP:[A->B]", "TCPv6:[A listening]", "UDP:[A]" */
static bool parse_inet(const char *name, struct inet *i)
{
	const char *s = strchr(name, '[');
	char text[256];
	size_t n = strlen(name);

	if ((strncmp(name, "TCP", 3) && strncmp(name, "UDP", 3)) || !s || n > sizeof(text) ||
	    name[n - 1] != ']')
		return false;
	snprintf(i->protocol, sizeof(i->protocol), "%.3s", name);
	memcpy(text, s + 1, strlen(s + 1) + 1);
	text[strlen(text) - 1] = 0;
	s = text;
	if (*s == '[' && !strchr(s, ']'))
		return false;
	s = address(s, i->own, sizeof(i->own));
	i->peer[0] = 0;
	if (s[0] == '-' && s[1] == '>' && (s[2] != '[' || strchr(s + 2, ']')))
		address(s + 2, i->peer, sizeof(i->peer));
	return strchr(i->own, ':');
}

/* "UNIX-STREAM:[17->18,..." */
static bool parse_unix(const char *name, unsigned long long *own, unsigned long long *peer)
{
	*own = *peer = 0;
	return !strncmp(name, "UNIX-", 5) &&
	       sscanf(name, "UNIX-%*[A-Z]:[%llu->%llu", own, peer) >= 1;
}

static int put(struct ty_fd_others *o, const char *key, const char *name, struct end e)
{

	if (o->v.n >= ENDS_MAX)
		return 0;
	e.key = ty_strtab_add(o->texts, key, strlen(key));
	e.name = ty_strtab_add(o->texts, name, strlen(name));
	if (e.key == UINT32_MAX || e.name == UINT32_MAX || vec_push(&o->v, e))
		return -TY_ENOMEM;
	return 0;
}

/* access: 'r', 'w', 'b' (both), 0: unknown */
static int add(struct ty_fd_others *o, const char *name, char access, struct end e)
{
	unsigned long long own, peer;
	char key[KEY_MAX];
	struct inet i;
	int r = 0;

	if (!strncmp(name, "pipe:[", 6)) {
		for (const char *a = "rw"; *a && !r; a++) {
			snprintf(key, sizeof(key), "%s %c", name, *a);
			if (access == *a || access == 'b')
				r = put(o, key, name, e);
		}
	} else if (parse_inet(name, &i)) {
		snprintf(key, sizeof(key), "%s %s%s%s", i.protocol, i.own, *i.peer ? ">" : "",
			 i.peer);
		r = put(o, key, name, e);
	} else if (parse_unix(name, &own, &peer)) {
		snprintf(key, sizeof(key), "unix %llu", own);
		r = put(o, key, name, e);
		snprintf(key, sizeof(key), "unix ? %llu", peer);
		r = r || !peer ? r : put(o, key, name, e);
	}
	return r;
}

static int add_recorded(void *ctx, int32_t tid, uint64_t ns, const char *bytes, size_t n)
{
	const char *access = n == 2 * sizeof(struct ty_ev_fd) ? "rw" : "\0"; /* of a pipe */
	struct ty_ev_fd fd;
	struct ty_buf b;
	int r = 0;

	ty_buf_init(&b, 1024);
	for (; n >= sizeof(fd) && !r; bytes += sizeof(fd), n -= sizeof(fd), access++) {
		memcpy(&fd, bytes, sizeof(fd));
		ty_buf_reset(&b);
		if (!ty_call_data_fd_text(&fd, &b) && b.len)
			r = add(ctx, b.p, *access,
				(struct end){.task = tid, .ns = ns, .net = fd.net});
	}
	ty_buf_fini(&b);
	return r;
}

static int add_listed(struct ty_fd_others *o, const char *text)
{
	struct ty_snap_fd d;
	int r = 0;

	while (!r && (d = ty_snap_fd(&text)).is != TY_SNAP_FD_END) {
		char target[512];

		if (d.is != TY_SNAP_FD_OPEN || d.target.n >= sizeof(target))
			continue;
		ty_unescape_field(d.target.s, d.target.n, target, sizeof(target));
		r = add(o, target, d.access, (struct end){.task = d.pid, .net = d.net});
	}
	return r;
}

ORDER(by_key, struct end,
      compare(a->key, b->key) ?: compare(a->ns, b->ns) ?: compare(a->task, b->task))

struct ty_fd_others *ty_fd_others_new(const char *fds, const struct ty_call_data_index *strings)
{
	struct ty_fd_others *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->texts = ty_strtab_new();
	if (!o->texts || add_listed(o, fds ? fds : "") ||
	    (strings && ty_call_data_each(strings, TY_EVK_FDS, add_recorded, o))) {
		ty_fd_others_free(o);
		return NULL;
	}
	vec_sort(&o->v, by_key);
	return o;
}

void ty_fd_others_free(struct ty_fd_others *o)
{
	if (!o)
		return;
	ty_strtab_free(o->texts);
	vec_fini(&o->v);
	free(o);
}

/* What is looked for, and the end that looks. */
struct look {
	uint64_t t_ns;
	int32_t not_pid;
	uint32_t net; /* only ends of that namespace, or of an unknown one; 0: any */
};

/* The end with that key that was made last at t; else the first one after it: a connection may be
 * accepted while it is waited on. */
static bool find(const struct ty_fd_others *o, const char *key, const struct look *l,
		 struct ty_fd_other *out)
{
	const uint32_t id = ty_strtab_find(o->texts, key, strlen(key));
	const struct end *best = NULL;
	bool several = false, nets = false;
	size_t i = partition_point(k, (size_t)0, o->v.n, o->v.v[k].key < id);

	for (; id != UINT32_MAX && i < o->v.n && o->v.v[i].key == id; i++) {
		const struct end *e = &o->v.v[i];

		if ((!e->ns && e->task == l->not_pid) || (l->net && e->net && e->net != l->net))
			continue;
		if (best && e->ns > l->t_ns)
			break;
		several = best && !e->ns && (several || best->task != e->task);
		nets |= !l->net && best && e->net != best->net;
		best = e;
	}
	if (!best)
		return false;
	*out = (struct ty_fd_other){.pid = best->ns ? 0 : best->task,
				    .tid = best->ns ? best->task : 0,
				    .ns = best->ns,
				    .several = several || nets,
				    .name = ty_strtab_get(o->texts, best->name)};
	return true;
}

/* The namespace of this end: that of the one that the thread, or before the recording the process,
 * made; else the only one that has such an end. 0: unknown. */
static uint32_t own_net(const struct ty_fd_others *o, const char *key, const struct look *l,
			int32_t by_tid)
{
	const uint32_t id = ty_strtab_find(o->texts, key, strlen(key));
	uint32_t any = 0, own = 0;
	bool differ = false, unknown = false;

	for (size_t i = partition_point(k, (size_t)0, o->v.n, o->v.v[k].key < id);
	     id != UINT32_MAX && i < o->v.n && o->v.v[i].key == id; i++) {
		const struct end *e = &o->v.v[i];
		bool mine = e->ns <= l->t_ns &&
			    (by_tid ? e->ns && e->task == by_tid : !e->ns && e->task == l->not_pid);

		unknown |= mine && !e->net;
		if (!e->net)
			continue;
		differ |= any && e->net != any;
		any = e->net;
		own = mine ? e->net : own;
	}
	return own ? own : unknown || differ ? 0 : any;
}

static bool is_loopback(const char *own)
{
	return !strncmp(own, "127.", 4) || !strncmp(own, "[::1]", 5);
}

static bool find_inet(const struct ty_fd_others *o, const char *key, struct look l, bool loopback,
		      struct ty_fd_other *out)
{
	if (find(o, key, &l, out))
		return true;
	l.net = 0;
	return !loopback && find(o, key, &l, out);
}

bool ty_fd_others_find(const struct ty_fd_others *o, const char *name, char access, uint64_t t_ns,
		       int32_t not_pid, int32_t by_tid, struct ty_fd_other *out)
{
	struct look l = {t_ns, not_pid, 0};
	unsigned long long own, peer;
	char key[KEY_MAX];
	struct inet i;
	int32_t pid;

	if (!o)
		return false;
	if (!strncmp(name, "pipe:[", 6)) {
		snprintf(key, sizeof(key), "%s %c", name, access == 'w' ? 'r' : 'w');
		return access && find(o, key, &l, out);
	}
	if (parse_inet(name, &i) && *i.peer) {
		snprintf(key, sizeof(key), "%s %s>%s", i.protocol, i.own, i.peer);
		l.net = own_net(o, key, &l, by_tid);
		snprintf(key, sizeof(key), "%s %s>%s", i.protocol, i.peer, i.own);
		if (find_inet(o, key, l, is_loopback(i.peer), out))
			return true;
		/* A listening process may not be the one that accepted it. */
		snprintf(key, sizeof(key), "%s %s", i.protocol, i.peer);
		return *i.protocol == 'U' && find_inet(o, key, l, is_loopback(i.peer), out);
	}
	if (!parse_unix(name, &own, &peer))
		return false;
	snprintf(key, sizeof(key), "unix %llu", peer);
	if (peer && find(o, key, &l, out))
		return true;
	snprintf(key, sizeof(key), "unix ? %llu", own);
	if (find(o, key, &l, out))
		return true;
	/* the process that connected or listened */
	if (!ty_unix_peer(name, &pid) || pid == not_pid)
		return false;
	*out = (struct ty_fd_other){.pid = pid};
	return true;
}

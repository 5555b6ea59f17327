/* SPDX-License-Identifier: MIT */
/*
 * See fd_names.h. The list as it was taken is two allocations as large as the section, whatever is
 * in it; what children inherit are copies of what their parents have by then: COPIES_MAX
 * descriptors in all, for which those of processes that have ended make room.
 */
#include "fd_names.h"

#include "compare.h"
#include "field_text.h"
#include "int_set.h"
#include "pair_map.h"
#include "snapshot_text.h"
#include "trace.h"
#include "partition.h"
#include "vec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETFD	   2	 /* fcntl's F_SETFD, on all machines */
#define FILES	   0x400 /* CLONE_FILES, CLONE_THREAD */
#define THREAD	   0x10000
#define COPIES_MAX (1u << 19)
#define LOOKS_MAX  1000

/* The descriptors of a process, sorted. */
struct table {
	int32_t pid, parent;
	struct ty_fd_name *v;
	uint32_t n;
	bool copied, ended;
	uint64_t since_ns, forked_ns; /* its birth, when copied; that of its last child */
};

struct ty_fd_names {
	char *text; /* targets, each ended by NUL */
	struct ty_fd_name *v;
	uint32_t n;
	VEC(struct table) tables;
	struct ty_pair_map by_pid;	      /* (pid, 0): index of its table */
	uint32_t copies, copies_ended, looks; /* copied descriptors and tables */
	uint64_t since_ns, taken_ns, lost_ns; /* lost_ns: UINT64_MAX none */
	bool left_out;
	VEC(struct ty_text) listening; /* addresses, sorted */
	VEC(int) cut; /* a set: whose lists are not whole; empty in older recordings */
};

static int by_fd(const void *pa, const void *pb)
{
	const struct ty_fd_name *a = pa, *b = pb;

	return compare(a->pid, b->pid) ?: compare(a->fd, b->fd);
}

static int by_bytes(const void *pa, const void *pb)
{
	const struct ty_text *a = pa, *b = pb;

	return memcmp(a->s, b->s, a->n < b->n ? a->n : b->n) ?: compare(a->n, b->n);
}

/* "TCP:[127.0.0.1:80 listening]" */
static int add_listening(struct ty_fd_names *n, const char *target)
{
	static const char listening[] = " listening]";
	const char *end = strstr(target, listening);

	if (strncmp(target, "TCP:[", 5) || !end || end[sizeof(listening) - 1])
		return 0;
	return vec_push(&n->listening, ((struct ty_text){target + 5, (size_t)(end - target) - 5}));
}

static int parse(struct ty_fd_names *n, const char *text)
{
	char *to = n->text;
	struct ty_snap_fd d;

	ty_snap_taken(text, &n->since_ns, &n->taken_ns);
	while ((d = ty_snap_fd(&text)).is != TY_SNAP_FD_END) {
		struct ty_fd_name f = {.pid = d.pid,
				       .fd = d.fd,
				       .cloexec = d.cloexec,
				       .gone_ns = UINT64_MAX,
				       .target = to};

		if (d.is == TY_SNAP_FD_OPEN) {
			to += ty_unescape_field(d.target.s, d.target.n, to, d.target.n + 1) + 1;
			n->v[n->n++] = f;
			if (add_listening(n, f.target))
				return -TY_ENOMEM;
			continue;
		}
		n->left_out |= d.pid < 0;
		if (d.pid >= 0 && vec_push(&n->cut, d.pid))
			return -TY_ENOMEM;
	}
	if (n->n)
		qsort(n->v, n->n, sizeof(*n->v), by_fd);
	if (n->listening.n)
		qsort(n->listening.v, n->listening.n, sizeof(*n->listening.v), by_bytes);
	n->cut.n = ty_int_set(n->cut.v, n->cut.n);
	return 0;
}

static struct table *table_of(const struct ty_fd_names *n, int32_t pid)
{
	uint32_t i = n ? ty_pair_map_get(&n->by_pid, (uint32_t)pid, 0) : TY_PAIR_NONE;

	return i == TY_PAIR_NONE ? NULL : &n->tables.v[i];
}

/* An empty one where there was none. NULL: out of memory. */
static struct table *table_new(struct ty_fd_names *n, int32_t pid)
{
	uint32_t *i = ty_pair_map_add(&n->by_pid, (uint32_t)pid, 0);

	if (!i)
		return NULL;
	if (*i == TY_PAIR_NONE) {
		struct table t = {.pid = pid};

		if (vec_push(&n->tables, t))
			return NULL;
		*i = (uint32_t)n->tables.n - 1;
	}
	return &n->tables.v[*i];
}

static void empty(struct ty_fd_names *n, struct table *t)
{
	if (t->copied) {
		free(t->v);
		n->copies -= t->n;
		n->copies_ended -= t->ended ? t->n : 0;
	}
	*t = (struct table){.pid = t->pid};
}

static int add_listed(struct ty_fd_names *n)
{
	for (uint32_t i = 0; i < n->n; i++) {
		struct table *t = table_new(n, n->v[i].pid);

		if (!t)
			return -TY_ENOMEM;
		t->v = t->n ? t->v : &n->v[i];
		t->n++;
	}
	return 0;
}

struct ty_fd_names *ty_fd_names_new(const char *section)
{
	struct ty_fd_names *n = calloc(1, sizeof(*n));
	size_t lines = 0;

	section = section ? section : "";
	for (const char *p = section; (p = strchr(p, '\n')); p++)
		lines++;
	if (n) {
		/* A target is never longer than its line with the newline (or NUL) behind it. */
		n->text = malloc(strlen(section) + 1);
		n->v = calloc(lines + 1, sizeof(*n->v));
		n->lost_ns = UINT64_MAX;
	}
	if (!n || !n->text || !n->v) {
		ty_fd_names_free(n);
		return NULL;
	}
	if (parse(n, section) || add_listed(n)) {
		ty_fd_names_free(n);
		return NULL;
	}
	return n;
}

void ty_fd_names_free(struct ty_fd_names *n)
{
	if (!n)
		return;
	vec_each (t, &n->tables)
		empty(n, t);
	vec_fini(&n->tables);
	ty_pair_map_fini(&n->by_pid);
	vec_fini(&n->listening);
	vec_fini(&n->cut);
	free(n->text);
	free(n->v);
	free(n);
}

const struct ty_fd_name *ty_fd_names_find(const struct ty_fd_names *n, int32_t pid, int32_t fd)
{
	struct ty_fd_name key = {.pid = pid, .fd = fd};

	return n && n->n ? bsearch(&key, n->v, n->n, sizeof(*n->v), by_fd) : NULL;
}

uint64_t ty_fd_names_taken_ns(const struct ty_fd_names *n)
{
	return n ? n->taken_ns : 0;
}

uint64_t ty_fd_names_since_ns(const struct ty_fd_names *n)
{
	return n ? n->since_ns : 0;
}

bool ty_fd_names_left_out(const struct ty_fd_names *n, int32_t pid)
{
	if (!n || !n->left_out)
		return false;
	return !n->cut.n || bsearch(&pid, n->cut.v, n->cut.n, sizeof(*n->cut.v), ty_int_order);
}

static bool listed(const struct ty_fd_names *n, const char *at, size_t len)
{
	struct ty_text key = {at, len};

	return bsearch(&key, n->listening.v, n->listening.n, sizeof(*n->listening.v), by_bytes);
}

bool ty_fd_names_listens(const struct ty_fd_names *n, const char *at, size_t len)
{
	static const char *const any[] = {"0.0.0.0", "[::]"};
	const char *port = at + len;
	char text[32];

	if (!n || !n->listening.n)
		return false;
	while (port > at && *port != ':')
		port--;
	for (unsigned i = 0; i < 2; i++) {
		int k = snprintf(text, sizeof(text), "%s%.*s", any[i], (int)(at + len - port),
				 port);

		if (k > 0 && (size_t)k < sizeof(text) && listed(n, text, (size_t)k))
			return true;
	}
	return listed(n, at, len);
}

static struct ty_fd_name *first_of(const struct table *t, uint32_t fd)
{
	return vec_at(t, partition_point(i, 0, t->n, (uint32_t)t->v[i].fd < fd));
}

const char *ty_fd_names_at(const struct ty_fd_names *n, int32_t pid, int32_t fd, uint64_t ts_ns)
{
	const struct table *t = table_of(n, pid);
	const struct ty_fd_name *f;

	if (!t || !t->n || ts_ns < n->taken_ns || ts_ns < t->since_ns || ts_ns >= n->lost_ns)
		return NULL;
	f = first_of(t, (uint32_t)fd);
	return f < t->v + t->n && f->fd == fd && ts_ns < f->gone_ns ? f->target : NULL;
}

/* What a call did to a table. */
struct change {
	uint32_t from, to; /* descriptors */
	bool exec;	   /* those with close-on-exec are gone, else all */
	bool set, cloexec; /* none is gone: the flag was set */
};

/* Did it do anything? */
static bool apply(struct table *t, const struct change *c, uint64_t ts_ns)
{
	struct ty_fd_name *f, *end = vec_at(t, t->n);
	bool any = false;

	for (f = t->n ? first_of(t, c->from) : end; f < end && (uint32_t)f->fd <= c->to; f++) {
		if (ts_ns >= f->gone_ns || (c->exec && !f->cloexec))
			continue;
		any = true;
		if (c->set)
			f->cloexec = c->cloexec;
		else
			f->gone_ns = ts_ns + 1; /* the call itself was still about it */
	}
	return any;
}

/* Children that were born during the call have what was before it, or after. */
static void unlearn(struct ty_fd_names *n, int32_t pid, const struct change *c, uint64_t ts_ns)
{
	struct change either = {c->from, c->to, .exec = false};

	if (++n->looks > LOOKS_MAX) {
		ty_fd_names_lost(n, ts_ns);
		return;
	}
	vec_each (t, &n->tables)
		if (t->parent == pid && t->since_ns >= ts_ns)
			apply(t, &either, t->since_ns);
}

/* False: none. */
static bool change_of(const struct ty_sysarch *arch, const struct ty_call *c, struct change *out)
{
	uint32_t fd = (uint32_t)c->args[0];
	bool failed = c->how == TY_CALL_RETURNED && c->ret < 0;
	enum ty_fds_effect effect;

	/* What began before may have been anything. */
	if (ty_call_end_only(c))
		return false;
	*out = (struct change){fd, fd, .exec = false};
	effect = ty_syscall_row(arch, c->abi, c->nr)->as->fds;
	if (effect == TY_FDS_CLOSE) /* with an error (EINTR, EIO) it is closed, too */
		return !failed || c->ret != -EBADF;
	if (failed)
		return false;
	if (effect == TY_FDS_EXEC) {
		*out = (struct change){0, UINT32_MAX, .exec = true};
	} else if (effect == TY_FDS_FCNTL && c->args[1] == SETFD) {
		out->set = true;
		out->cloexec = c->args[2] & 1;
	} else if (effect == TY_FDS_DUP2) {
		out->from = out->to = (uint32_t)c->args[1];
	} else if (effect == TY_FDS_RANGE) {
		out->to = (uint32_t)c->args[1];
	} else {
		return false;
	}
	return true;
}

void ty_fd_names_call(struct ty_fd_names *n, const struct ty_sysarch *arch, const struct ty_call *c,
		      int32_t pid)
{
	struct table *t = table_of(n, pid);
	struct change what;

	if (t && t->n && change_of(arch, c, &what) && apply(t, &what, c->start_ns) && !what.exec &&
	    t->forked_ns >= c->start_ns)
		unlearn(n, pid, &what, c->start_ns);
}

/* Room for n more: false where there is none. */
static bool make_room(struct ty_fd_names *n, uint32_t more)
{
	/* Only where it gives much, so that it costs little for each process. */
	if (n->copies + more > COPIES_MAX && n->copies_ended > COPIES_MAX / 4)
		vec_each (t, &n->tables)
			if (t->ended)
				empty(n, t);
	return n->copies + more <= COPIES_MAX && n->tables.n < COPIES_MAX;
}

/* The child has what its parent has. */
static int inherit(struct ty_fd_names *n, int32_t parent, int32_t child, uint64_t ts_ns)
{
	struct table *p = table_of(n, parent), *t;
	struct ty_fd_name *v;
	uint32_t k = 0;

	for (uint32_t i = 0; p && i < p->n; i++)
		k += ts_ns < p->v[i].gone_ns;
	if (!k || ts_ns < n->taken_ns || ts_ns >= n->lost_ns || !make_room(n, k))
		return 0;
	v = malloc(k * sizeof(*v));
	t = v ? table_new(n, child) : NULL;
	if (!t) {
		free(v);
		return -TY_ENOMEM;
	}
	p = table_of(n, parent); /* they may have moved */
	p->forked_ns = ts_ns;
	*t = (struct table){
		.pid = child, .parent = parent, .v = v, .copied = true, .since_ns = ts_ns};
	for (uint32_t i = 0; i < p->n; i++)
		if (ts_ns < p->v[i].gone_ns)
			v[t->n++] = p->v[i];
	n->copies += t->n;
	return 0;
}

int ty_fd_names_event(struct ty_fd_names *n, const struct ty_event *ev, int32_t pid)
{
	static const struct change all = {0, UINT32_MAX, .exec = false};
	struct table *t;

	if (ev->decode_error)
		return 0;
	if (ev->kind == TY_EV_EXIT && (t = table_of(n, ev->u.tex.tid)) && t->copied && !t->ended) {
		t->ended = true;
		n->copies_ended += t->n;
	}
	if (ev->kind != TY_EV_NEWTASK || ev->u.newtask.clone_flags & THREAD ||
	    ev->u.newtask.tid == pid)
		return 0;
	if ((t = table_of(n, ev->u.newtask.tid)))
		empty(n, t); /* the number was somebody else's */
	if (!(ev->u.newtask.clone_flags & FILES))
		return inherit(n, pid, ev->u.newtask.tid, ev->ts_ns);
	/* One table for both: whose calls change it is not followed. */
	if ((t = table_of(n, pid)))
		apply(t, &all, ev->ts_ns);
	return 0;
}

void ty_fd_names_lost(struct ty_fd_names *n, uint64_t from_ns)
{
	if (n && from_ns < n->lost_ns)
		n->lost_ns = from_ns;
}

/* SPDX-License-Identifier: MIT */
/*
 * Open-addressing table tid -> name. Any event that has a name updates it. A rename changes it, an
 * exit does not (the dying thread's last events still carry its tid). Events state the name at
 * their time, so the latest one is right for the events that follow.
 *
 * Budget: 10 ns per event; 24 bytes per tid, at most half full.
 */
#include "thread_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "field_text.h"
#include "snapshot_text.h"

#define CAP_MAX (1u << 24) /* twice the largest pid_max there can be, and room to spare */

struct slot {
	int32_t tid; /* 0: free */
	char name[TY_COMM + 1];
};

struct ty_thread_names {
	struct slot *v;
	uint32_t cap, n; /* cap: a power of 2 */
};

static uint32_t place(const struct ty_thread_names *c, int32_t tid)
{
	uint32_t i = (uint32_t)tid * 2654435761u & (c->cap - 1);

	while (c->v[i].tid && c->v[i].tid != tid)
		i = (i + 1) & (c->cap - 1);
	return i;
}

static int grow(struct ty_thread_names *c)
{
	struct ty_thread_names next = {.cap = c->cap ? c->cap * 2 : 1024, .n = c->n};

	next.v = calloc(next.cap, sizeof(*next.v));
	if (!next.v)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < c->cap; i++)
		if (c->v[i].tid)
			next.v[place(&next, c->v[i].tid)] = c->v[i];
	free(c->v);
	*c = next;
	return 0;
}

static int set(struct ty_thread_names *c, int32_t tid, const char *name, size_t n)
{
	struct slot *s;

	if (tid <= 0 || !n)
		return 0;
	s = &c->v[place(c, tid)];
	if (!s->tid) {
		if (c->n >= c->cap / 2) {
			if (c->cap >= CAP_MAX)
				return 0; /* more tids than Linux has: a hostile file */
			if (grow(c))
				return -TY_ENOMEM;
			s = &c->v[place(c, tid)];
		}
		s->tid = tid;
		c->n++;
	}
	if (n > TY_COMM)
		n = TY_COMM;
	memcpy(s->name, name, n);
	s->name[n] = 0;
	return 0;
}

static int set_str(struct ty_thread_names *c, int32_t tid, const char *name)
{
	return set(c, tid, name, strlen(name));
}

/* A positive number at *p after blanks, stepping over it; 0 when there is none. Never steps over
 * the end of the line, as strtol alone would. */
static int32_t tid_at(const char **p)
{
	const char *digits = *p + strspn(*p, " ");
	char *end;
	long v;

	if (*digits < '0' || *digits > '9')
		return 0;
	v = strtol(digits, &end, 10);
	if (v <= 0 || v > INT32_MAX)
		return 0;
	*p = end;
	return (int32_t)v;
}

/* "PID COMM" lines; trace-cmd's have leading blanks. */
static int add_cmdlines(struct ty_thread_names *c, const char *p)
{
	while (*p) {
		const char *line = p, *end = p + strcspn(p, "\n");
		int32_t tid = tid_at(&line);

		if (tid && *line == ' ' && line < end &&
		    set(c, tid, line + 1, (size_t)(end - line - 1)))
			return -TY_ENOMEM;
		p = *end ? end + 1 : end;
	}
	return 0;
}

static int add_threads(struct ty_thread_names *c, const char *text)
{
	struct ty_snap_thread t;

	while (ty_snap_thread(&text, &t)) {
		char name[TY_COMM + 1];
		size_t n = ty_unescape_field(t.comm.s, t.comm.n, name, sizeof(name));

		if (set(c, t.tid, name, n))
			return -TY_ENOMEM;
	}
	return 0;
}

struct ty_thread_names *ty_thread_names_new(const char *cmdlines, const char *threads)
{
	struct ty_thread_names *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	if (grow(c) || (cmdlines && add_cmdlines(c, cmdlines)) ||
	    (threads && add_threads(c, threads))) {
		ty_thread_names_free(c);
		return NULL;
	}
	return c;
}

void ty_thread_names_free(struct ty_thread_names *c)
{
	if (!c)
		return;
	free(c->v);
	free(c);
}

int ty_thread_names_feed(struct ty_thread_names *c, const struct ty_event *ev)
{
	int r;

	if (ev->decode_error)
		return 0;
	switch (ev->kind) {
	case TY_EV_SWITCH:
		if (ev->u.sw.prev_prio == TY_PRIO_UNKNOWN)
			return 0;
		r = set_str(c, ev->u.sw.prev_tid, ev->u.sw.prev_comm);
		return r ? r : set_str(c, ev->u.sw.next_tid, ev->u.sw.next_comm);
	case TY_EV_WAKING:
	case TY_EV_WAKEUP:
	case TY_EV_WAKEUP_NEW: return set_str(c, ev->u.wake.tid, ev->u.wake.comm);
	case TY_EV_MIGRATE: return set_str(c, ev->u.migrate.tid, ev->u.migrate.comm);
	case TY_EV_FORK:
		r = set_str(c, ev->u.fork.parent_tid, ev->u.fork.parent_comm);
		return r ? r : set_str(c, ev->u.fork.child_tid, ev->u.fork.child_comm);
	case TY_EV_NEWTASK: {
		char parent[TY_COMM + 1];

		if (*ev->u.newtask.comm || !ty_thread_names_known(c, ev->tid))
			return set_str(c, ev->u.newtask.tid, ev->u.newtask.comm);
		/* perf's record of a birth has no name: it is the parent's. */
		snprintf(parent, sizeof(parent), "%s", ty_thread_names_get(c, ev->tid));
		return set_str(c, ev->u.newtask.tid, parent);
	}
	case TY_EV_RENAME: return set_str(c, ev->u.rename.tid, ev->u.rename.new_comm);
	case TY_EV_EXIT: return set_str(c, ev->u.tex.tid, ev->u.tex.comm);
	default: return 0;
	}
}

const char *ty_thread_names_get(const struct ty_thread_names *c, int32_t tid)
{
	const struct slot *s;

	if (tid == 0)
		return "<idle>";
	if (tid < 0)
		return "<...>";
	s = &c->v[place(c, tid)];
	return s->tid ? s->name : "<...>";
}

bool ty_thread_names_known(const struct ty_thread_names *c, int32_t tid)
{
	return !tid || (tid > 0 && c->v[place(c, tid)].tid);
}

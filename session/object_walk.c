/* SPDX-License-Identifier: MIT */
/*
 * See object_walk.h. Bound: 8 bytes per thread number seen.
 */
#include "object_walk.h"

#include <stdio.h>
#include <string.h>

#include "call_walk.h"
#include "pair_map.h"
#include "section.h"
#include "syscall_values.h"
#include "thread_names.h"

#define NO_OBJECT (TY_OBJECT_NONE + 1)
#define UNWANTED  (UINT32_MAX - 1)

struct work {
	struct ty_session *s;
	struct ty_object_walk *w;
	struct ty_events *events;
	struct ty_call_walk walk;
	struct ty_pair_map begun; /* (thread, 0): object of its call + 1; 0: none; UNWANTED */
	uint64_t now_ns;
};

static enum ty_object_kind kind_of(const char *name)
{
	static const char *const sockets[] = {"TCP", "UDP", "UNIX", "NETLINK", "socket"};

	if (*name == '/')
		return strncmp(name, "/dev/", 5) || !strncmp(name, "/dev/shm/", 9)
			       ? TY_OBJECT_FILE
			       : TY_OBJECT_DEVICE;
	if (!strncmp(name, "pipe:[", 6))
		return TY_OBJECT_PIPE;
	/* "TCP:[127.0.0.1:80]", "UNIX-STREAM:[17]", "socket 2:[17]"; a path may begin like one. */
	for (size_t i = 0; i < sizeof(sockets) / sizeof(*sockets); i++)
		if (!strncmp(name, sockets[i], strlen(sockets[i])) &&
		    name[strcspn(name, ":/")] == ':' && name[strcspn(name, ":/") + 1] == '[')
			return TY_OBJECT_SOCKET;
	return strncmp(name, "anon_inode:", 11) ? TY_OBJECT_FILE : TY_OBJECT_OTHER;
}

/* NO_OBJECT: the call has no object, or one that is known at its end only. */
static int64_t object_at_begin(struct work *k, const struct ty_call *c, int32_t pid)
{
	const struct ty_sysrow *row = ty_syscall_row(k->s->arch, c->abi, c->nr);
	const int i = row->object;
	const char *name;
	char text[64];
	int32_t fd;

	if (i < 0 || row->a[i] == TY_ARG_PATH || row->fds == TY_FDS_CLOSE)
		return NO_OBJECT;
	if (row->a[i] == TY_ARG_WORD) {
		snprintf(text, sizeof(text), "%#llx", (unsigned long long)c->args[i]);
		return k->w->object(k->w->ctx, TY_OBJECT_FUTEX, text, c->tid, pid, true);
	}
	if (row->a[i] != TY_ARG_FD)
		return NO_OBJECT;
	fd = (int32_t)c->args[i];
	if (fd < 0) /* mmap without a file */
		return NO_OBJECT;
	name = ty_fd_track_text(k->walk.fds, ty_fd_track_name(k->walk.fds, pid, fd, c->start_ns));
	if (!name) {
		snprintf(text, sizeof(text), "fd %d", (int)fd);
		return k->w->object(k->w->ctx, TY_OBJECT_UNKNOWN, text, c->tid, pid, true);
	}
	if (row->wait_on == TY_WAIT_ON_LOCK &&
	    (row->as->id != TY_SYS_fcntl || (c->args[1] >= 5 && c->args[1] <= 7) ||
	     (c->args[1] >= 36 && c->args[1] <= 38))) /* F_GETLK ... F_OFD_SETLKW */
		return k->w->object(k->w->ctx, TY_OBJECT_LOCK, name, c->tid, pid, false);
	return k->w->object(k->w->ctx, kind_of(name), name, c->tid, pid,
			    kind_of(name) == TY_OBJECT_OTHER);
}

/* By the path that was given. */
static int64_t object_at_end(struct work *k, const struct ty_call *c, int32_t pid)
{
	const struct ty_sysrow *row = ty_syscall_row(k->s->arch, c->abi, c->nr);
	const int i = ty_sysrow_object(row, c->ret);
	const char *name;

	if (ty_call_end_only(c) || i < 0 || row->a[i] != TY_ARG_PATH || !k->walk.strings)
		return NO_OBJECT;
	name = ty_fd_track_text(k->walk.fds, ty_fd_track_path(k->walk.fds, pid, c, (unsigned)i));
	return name ? k->w->object(k->w->ctx, kind_of(name), name, c->tid, pid, false) : NO_OBJECT;
}

/* poll, select: the descriptor that they wait for; of several the one that was ready. */
static int64_t object_polled(struct work *k, const struct ty_call *c, int32_t pid)
{
	int32_t ready;
	struct ty_values v;
	unsigned n;
	const char *name;

	if (ty_syscall_row(k->s->arch, c->abi, c->nr)->ret != TY_RET_POLL || !k->walk.strings ||
	    !ty_values_find(&v, k->s->arch, k->walk.strings, c,
			    ty_call_data_after(k->walk.strings, c->tid)))
		return NO_OBJECT;
	n = ty_values_fds(&v);
	ready = n == 1 ? v.fds[0] : ty_values_ready(&v);
	if (ready < 0)
		return NO_OBJECT;
	k->w->polled_fd = ready;
	name = ty_fd_track_text(k->walk.fds, ty_fd_track_name(k->walk.fds, pid, ready, k->now_ns));
	return name ? k->w->object(k->w->ctx, kind_of(name), name, c->tid, pid,
				   kind_of(name) == TY_OBJECT_OTHER)
		    : NO_OBJECT;
}

static int over(struct work *k, const struct ty_call *c, uint64_t end_ns)
{
	const int32_t pid = ty_tgid_map_get(k->walk.tgids, c->end_tid);
	const uint32_t begun = ty_pair_map_get(&k->begun, (uint32_t)c->tid, 0);
	int64_t at = !begun || begun == TY_PAIR_NONE ? NO_OBJECT
		     : begun == UNWANTED	     ? TY_OBJECT_NONE
						     : (int64_t)begun - 1;

	k->w->polled_fd = -1;
	if (at == NO_OBJECT)
		at = object_at_end(k, c, pid);
	if (at == NO_OBJECT)
		at = object_polled(k, c, pid);
	if (at == -TY_ENOMEM)
		return -TY_ENOMEM;
	return at == NO_OBJECT ? 0 : k->w->over(k->w->ctx, at, c, end_ns, pid);
}

static int begin(struct work *k, const struct ty_call *c)
{
	const int64_t at = object_at_begin(k, c, ty_tgid_map_get(k->walk.tgids, c->tid));
	uint32_t *slot = ty_pair_map_add(&k->begun, (uint32_t)c->tid, 0);

	if (!slot || at == -TY_ENOMEM)
		return -TY_ENOMEM;
	*slot = at == NO_OBJECT ? 0 : at == TY_OBJECT_NONE ? UNWANTED : (uint32_t)at + 1;
	return 0;
}

static int one(struct work *k, const struct ty_event *ev, struct ty_err *err)
{
	struct ty_pair_step step;
	int r;

	k->now_ns = ev->ts_ns;
	r = ty_thread_names_feed(k->w->comms, ev);
	if (!r)
		r = ty_call_walk_feed(&k->walk, ev, ev->kind == TY_EV_GAP, &step, err);
	if (r)
		return r;
	for (unsigned i = 0; i < step.done_n && !r; i++) {
		const struct ty_call *c = &step.done[i];

		r = over(k, c, c->end_ns);
		r = r ? r : ty_call_walk_end(&k->walk, c);
	}
	if (!r && step.started)
		r = begin(k, &step.call);
	if (!r && step.started)
		ty_call_walk_begin(&k->walk, &step.call);
	return r;
}

static int prepare(struct work *k, struct ty_err *err)
{
	struct ty_trace *t = k->s->trace;

	k->w->comms = ty_thread_names_new(t->cmdlines.s, ty_trace_section(t, TY_SEC_THREADS).s);
	if (ty_call_walk_init(&k->walk, k->s) || !k->w->comms)
		return -TY_ENOMEM;
	ty_pairs_command(k->walk.pairs, ty_trace_command(t));
	return ty_events_open(t, k->s->formats, &k->events, err);
}

/* True: it is to stop. */
static bool looked(const struct work *k, uint64_t now_ns)
{
	const struct ty_object_walk *w = k->w;

	if (w->permille && w->last_ns > w->first_ns && now_ns > w->first_ns)
		atomic_store(w->permille, (unsigned)((double)(now_ns - w->first_ns) * 1000 /
						     (double)(w->last_ns - w->first_ns)));
	return w->stop && atomic_load_explicit(w->stop, memory_order_relaxed);
}

static int run(struct work *k, struct ty_err *err)
{
	struct ty_event ev;
	struct ty_call c;
	uint32_t it = 0, n = 0;
	int r;

	while ((r = ty_events_next(k->events, &ev, err)) > 0) {
		if (!(++n & 4095) && looked(k, ev.ts_ns))
			return -TY_EINTR;
		if (ev.ts_ns >= k->w->to_ns && ty_events_past(k->events, k->w->to_ns))
			break;
		r = one(k, &ev, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	/* What had not ended; of what was lost nothing more is known. */
	for (r = 0; !r && ty_pairs_open_next(k->walk.pairs, &it, &c);)
		if (c.how == TY_CALL_OPEN)
			r = over(k, &c, k->now_ns);
	return r;
}

int ty_object_walk(struct ty_session *s, struct ty_object_walk *w, struct ty_err *err)
{
	struct work k = {.s = s, .w = w};
	int r = prepare(&k, err);

	if (!r)
		r = run(&k, err);
	if (r == -TY_ENOMEM)
		ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for the objects of calls",
			s->trace->path);
	ty_events_close(k.events);
	ty_call_walk_fini(&k.walk);
	ty_thread_names_free(w->comms);
	w->comms = NULL;
	ty_pair_map_fini(&k.begun);
	return r;
}

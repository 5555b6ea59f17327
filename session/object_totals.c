/* SPDX-License-Identifier: MIT */
/*
 * See object_totals.h. The object of a call is its first descriptor, path or futex word
 * (ty_sysrow.object), by the name that it has when the call begins (fd_track.h).
 *
 * Bounds: OBJECTS_MAX objects, then calls count as left out; 8 bytes per thread number seen.
 */
#include "object_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "fd_track.h"
#include "pair_map.h"
#include "strtab.h"
#include "section.h"
#include "tgids.h"
#include "thread_names.h"
#include "vec.h"
#include "window_filter.h"

#define OBJECTS_MAX (1u << 20)
#define NAME_BYTES  8192

struct work {
	struct ty_session *s;
	const struct ty_window *w;
	struct ty_events *events;
	struct ty_pairs *pairs;
	struct ty_thread_names *comms;
	struct ty_tgids *tgids;
	struct ty_fd_track *fds;
	struct ty_evidence_index *strings;
	struct ty_pair_map begun; /* (thread, 0): object of its call + 1; 0: none */
	VEC(struct ty_object) v;
	VEC(uint32_t) of; /* text in `texts`: object + 1; 0: none */
	struct ty_strtab *texts;
	uint64_t left_out, left_out_ns, now_ns;
	struct ty_buf key;
};

static const char *const kinds[] = {"file", "pipe",  "socket", "device",
				    "lock", "futex", "other",  "unknown"};
enum { FILE_, PIPE, SOCKET, DEVICE, LOCK, FUTEX, OTHER, UNKNOWN };

static unsigned kind_of(const char *name)
{
	static const char *const sockets[] = {"TCP", "UDP", "UNIX", "NETLINK", "socket"};

	if (*name == '/')
		return strncmp(name, "/dev/", 5) || !strncmp(name, "/dev/shm/", 9) ? FILE_ : DEVICE;
	if (!strncmp(name, "pipe:", 5))
		return PIPE;
	for (size_t i = 0; i < sizeof(sockets) / sizeof(*sockets); i++)
		if (!strncmp(name, sockets[i], strlen(sockets[i])))
			return SOCKET;
	return strncmp(name, "anon_inode:", 11) ? FILE_ : OTHER;
}

/* The object of that kind and name; -1: too many. -TY_ENOMEM. own: its name is unique only within
 * the process. */
static int64_t object(struct work *k, unsigned kind, const char *name, int32_t tid, int32_t pid,
		      bool own)
{
	uint32_t id;

	ty_buf_reset(&k->key);
	ty_buf_addf(&k->key, "%u%s", kind, name);
	if (own)
		ty_buf_addf(&k->key, " of %s/%d",
			    ty_thread_names_get(k->comms, pid > 0 ? pid : tid),
			    (int)(pid > 0 ? pid : tid));
	if (k->key.failed)
		return -TY_ENOMEM;
	if (k->v.n >= OBJECTS_MAX && ty_strtab_find(k->texts, k->key.p, k->key.len) == UINT32_MAX)
		return -1;
	id = ty_strtab_add(k->texts, k->key.p, k->key.len);
	if (id == UINT32_MAX)
		return -TY_ENOMEM;
	while (k->of.n <= id)
		if (vec_push(&k->of, 0))
			return -TY_ENOMEM;
	if (!k->of.v[id]) {
		const struct ty_object o = {.kind = kinds[kind], .pid = pid, .max_ns = 0};

		if (vec_push(&k->v, o))
			return -TY_ENOMEM;
		k->of.v[id] = (uint32_t)k->v.n;
	}
	return k->of.v[id] - 1;
}

/* -2: the call has no object, or one that is known at its end only. */
static int64_t object_at_begin(struct work *k, const struct ty_call *c, int32_t pid)
{
	const struct ty_sysrow *row = ty_syscall_row(k->s->arch, c->abi, c->nr);
	const int i = row->object;
	const char *name;
	char text[64];
	int32_t fd;

	if (i < 0 || row->a[i] == TY_ARG_PATH || row->fds == TY_FDS_CLOSE)
		return -2;
	if (row->a[i] == TY_ARG_WORD) {
		snprintf(text, sizeof(text), "%#llx", (unsigned long long)c->args[i]);
		return object(k, FUTEX, text, c->tid, pid, true);
	}
	if (row->a[i] != TY_ARG_FD)
		return -2;
	fd = (int32_t)c->args[i];
	if (fd < 0) /* mmap without a file */
		return -2;
	name = ty_fd_track_text(k->fds, ty_fd_track_name(k->fds, pid, fd, c->start_ns));
	if (!name) {
		snprintf(text, sizeof(text), "fd %d", (int)fd);
		return object(k, UNKNOWN, text, c->tid, pid, true);
	}
	if (row->wait_on == TY_WAIT_ON_LOCK &&
	    (row->as->id != TY_SYS_fcntl || (c->args[1] >= 5 && c->args[1] <= 7) ||
	     (c->args[1] >= 36 && c->args[1] <= 38))) /* F_GETLK ... F_OFD_SETLKW */
		return object(k, LOCK, name, c->tid, pid, false);
	return object(k, kind_of(name), name, c->tid, pid, kind_of(name) == OTHER);
}

/* By the path that was given. */
static int64_t object_at_end(struct work *k, const struct ty_call *c, int32_t pid)
{
	const struct ty_sysrow *row = ty_syscall_row(k->s->arch, c->abi, c->nr);
	const char *name;

	if (ty_call_end_only(c) || row->object < 0 || row->a[row->object] != TY_ARG_PATH ||
	    !k->strings)
		return -2;
	name = ty_fd_track_text(k->fds, ty_fd_track_path(k->fds, pid, c, (unsigned)row->object));
	return name ? object(k, kind_of(name), name, c->tid, pid, false) : -2;
}

static bool has(const struct ty_sysrow *row, uint8_t a, uint8_t b, uint8_t c)
{
	for (unsigned i = 0; i < row->n; i++)
		if (row->a[i] == a || row->a[i] == b || row->a[i] == c)
			return true;
	return false;
}

static void count(struct work *k, int64_t at, const struct ty_call *c, uint64_t end_ns, int32_t pid)
{
	const struct ty_sysrow *row = ty_syscall_row(k->s->arch, c->abi, c->nr);
	const uint64_t from = c->start_ns > k->w->from_ns ? c->start_ns : k->w->from_ns,
		       to = end_ns < k->w->to_ns ? end_ns : k->w->to_ns,
		       ns = to > from ? to - from : 0;
	struct ty_object *o;

	if (ty_call_end_only(c) || c->start_ns >= k->w->to_ns || end_ns < k->w->from_ns ||
	    !ty_window_has_tid(k->w, c->tid) || !ty_window_has_cpu(k->w, c->cpu) ||
	    !ty_window_has_comm(k->w, ty_thread_names_get(k->comms, c->tid)))
		return;
	if (at < 0) {
		k->left_out++;
		k->left_out_ns += ns;
		return;
	}
	o = &k->v.v[at];
	if (o->calls++ && o->pid != pid)
		o->several = true;
	o->total_ns += ns;
	o->max_ns = ns > o->max_ns ? ns : o->max_ns;
	if (c->how != TY_CALL_RETURNED)
		return;
	o->failed += c->ret < 0 && c->ret >= -4095;
	if (c->ret <= 0 || row->a[row->object] != TY_ARG_FD)
		return;
	if (has(row, TY_ARG_BUF_OUT, TY_ARG_IOV_OUT, TY_ARG_MSG_OUT) ||
	    (row->says & TY_TAKES && row->takes == row->object &&
	     !has(row, TY_ARG_MMSG_OUT, 0xff, 0xff)))
		o->received += (uint64_t)c->ret;
	else if (has(row, TY_ARG_BUF_IN, TY_ARG_IOV_IN, TY_ARG_MSG_IN) ||
		 (row->says & TY_GIVES && row->gives == row->object &&
		  !has(row, TY_ARG_MMSG_IN, 0xff, 0xff)))
		o->sent += (uint64_t)c->ret;
}

static int over(struct work *k, const struct ty_call *c, uint64_t end_ns)
{
	const int32_t pid = ty_tgids_get(k->tgids, c->end_tid);
	const uint32_t begun = ty_pair_map_get(&k->begun, (uint32_t)c->tid, 0);
	int64_t at = begun && begun != TY_PAIR_NONE ? (int64_t)begun - 1 : -2;

	if (at == -2)
		at = object_at_end(k, c, pid);
	if (at == -TY_ENOMEM)
		return -TY_ENOMEM;
	if (at != -2)
		count(k, at, c, end_ns, pid);
	return 0;
}

static int begin(struct work *k, const struct ty_call *c)
{
	const int64_t at = object_at_begin(k, c, ty_tgids_get(k->tgids, c->tid));
	uint32_t *slot = ty_pair_map_add(&k->begun, (uint32_t)c->tid, 0);

	if (!slot || at == -TY_ENOMEM)
		return -TY_ENOMEM;
	*slot = at < 0 ? 0 : (uint32_t)at + 1;
	return 0;
}

static int one(struct work *k, const struct ty_event *ev, struct ty_err *err)
{
	struct ty_pair_step step;
	int r;

	k->now_ns = ev->ts_ns;
	r = ty_thread_names_feed(k->comms, ev);
	if (!r)
		r = ty_tgids_feed(k->tgids, ev);
	if (!r && (ev->kind == TY_EV_NEWTASK || ev->kind == TY_EV_EXIT)) {
		const struct ty_call *makes = ty_pairs_current(k->pairs, ev->tid);

		r = ty_fd_track_event(k->fds, ev, ty_tgids_get(k->tgids, ev->tid),
				      makes ? makes->start_ns : 0);
	}
	if (!r && ev->kind == TY_EV_GAP) {
		ty_fd_track_lost(k->fds);
		if (k->strings)
			ty_evidence_gap(k->strings, ev->ts_ns);
	}
	if (!r)
		r = ty_pairs_feed(k->pairs, ev, &step, err);
	if (r)
		return r;
	for (unsigned i = 0; i < step.done_n && !r; i++) {
		const struct ty_call *c = &step.done[i];

		r = over(k, c, c->end_ns);
		if (!r && ty_fd_track_follows(k->fds, c))
			r = ty_fd_track_end(k->fds, ty_tgids_get(k->tgids, c->end_tid), c);
		if (k->strings)
			ty_evidence_over(k->strings, c->end_tid, c->end_ns);
	}
	if (!r && step.started)
		r = begin(k, &step.call);
	if (!r && step.started && ty_fd_track_follows(k->fds, &step.call))
		ty_fd_track_begin(k->fds, ty_tgids_get(k->tgids, step.call.tid), &step.call);
	return r;
}

static int prepare(struct work *k, struct ty_err *err)
{
	struct ty_trace *t = k->s->trace;
	const char *threads = ty_trace_section(t, TY_SEC_THREADS).s;
	const struct ty_text strings = ty_trace_section(t, TY_SEC_EVIDENCE);

	ty_buf_init(&k->key, NAME_BYTES + 64);
	k->pairs = ty_pairs_new(k->s->arch);
	k->comms = ty_thread_names_new(t->cmdlines.s, threads);
	k->tgids = ty_tgids_new(threads);
	k->strings = strings.n ? ty_evidence_index_new(strings.s, strings.n) : NULL;
	k->texts = ty_strtab_new();
	if (!k->pairs || !k->comms || !k->tgids || !k->texts || (strings.n && !k->strings))
		return -TY_ENOMEM;
	k->fds = ty_fd_track_new(t, k->s->arch, k->strings);
	if (!k->fds)
		return -TY_ENOMEM;
	ty_pairs_command(k->pairs, ty_trace_command(t));
	return ty_events_open(t, k->s->formats, &k->events, err);
}

static int run(struct work *k, struct ty_err *err)
{
	struct ty_event ev;
	struct ty_call c;
	uint32_t it = 0;
	int r;

	while ((r = ty_events_next(k->events, &ev, err)) > 0) {
		if (ev.ts_ns >= k->w->to_ns && ty_events_past(k->events, k->w->to_ns))
			break;
		r = one(k, &ev, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	/* Calls that had not ended; nothing more is known about lost ones. */
	for (r = 0; !r && ty_pairs_open_next(k->pairs, &it, &c);)
		if (c.how == TY_CALL_OPEN)
			r = over(k, &c, k->now_ns);
	return r;
}

static int by_time(const void *pa, const void *pb)
{
	const struct ty_object *a = pa, *b = pb;

	return compare(b->total_ns, a->total_ns) ?: compare(b->calls, a->calls)
							   ?: strcmp(a->name, b->name);
}

static void give(struct work *k, struct ty_object_totals *out)
{
	for (uint32_t id = 0; id < k->of.n; id++)
		if (k->of.v[id])
			k->v.v[k->of.v[id] - 1].name = ty_strtab_get(k->texts, id) + 1;
	for (size_t i = 0; i < k->v.n; i++)
		if (k->v.v[i].calls)
			k->v.v[out->n++] = k->v.v[i];
	if (out->n)
		qsort(k->v.v, out->n, sizeof(*k->v.v), by_time);
	out->v = k->v.v;
	out->texts = k->texts;
	out->left_out = k->left_out;
	out->left_out_ns = k->left_out_ns;
	k->texts = NULL;
	k->v.v = NULL;
	k->v.n = 0;
}

int ty_object_totals_find(struct ty_session *s, const struct ty_window *w,
			  struct ty_object_totals *out, struct ty_err *err)
{
	struct work k = {.s = s, .w = w};
	int r;

	*out = (struct ty_object_totals){0};
	r = prepare(&k, err);
	if (!r)
		r = run(&k, err);
	if (!r)
		give(&k, out);
	else if (r == -TY_ENOMEM)
		ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for the objects of calls",
			s->trace->path);
	ty_events_close(k.events);
	ty_fd_track_free(k.fds);
	ty_evidence_index_free(k.strings);
	ty_tgids_free(k.tgids);
	ty_thread_names_free(k.comms);
	ty_pairs_free(k.pairs);
	ty_pair_map_fini(&k.begun);
	ty_strtab_free(k.texts);
	vec_fini(&k.of);
	vec_fini(&k.v);
	ty_buf_fini(&k.key);
	return r;
}

void ty_object_totals_fini(struct ty_object_totals *o)
{
	free(o->v);
	ty_strtab_free(o->texts);
	*o = (struct ty_object_totals){0};
}

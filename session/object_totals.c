/* SPDX-License-Identifier: MIT */
/*
 * See object_totals.h. Bound: OBJECTS_MAX objects, then calls count as left out.
 */
#include "object_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "explain_session.h"
#include "object_walk.h"
#include "strtab.h"
#include "thread_names.h"
#include "vec.h"
#include "window_filter.h"

#define OBJECTS_MAX (1u << 20)
#define NAME_BYTES  8192
#define PEERS_MAX   100u

struct work {
	const struct ty_sysarch *arch;
	const struct ty_window *w;
	struct ty_object_walk walk;
	VEC(struct ty_object) v;
	VEC(uint32_t) of; /* text in `texts`: object + 1; 0: none */
	struct ty_strtab *texts;
	uint64_t left_out, left_out_ns;
	struct ty_buf key;
};

static const char *const kinds[] = {"file", "pipe",  "socket", "device",
				    "lock", "futex", "other",  "unknown"};

/* The object of that kind and name; TY_OBJECT_NONE: too many. -TY_ENOMEM. own: its name is unique
 * only within the process. */
static int64_t object(void *ctx, enum ty_object_kind kind, const char *name, int32_t tid,
		      int32_t pid, bool own)
{
	struct work *k = ctx;
	uint32_t id;

	ty_buf_reset(&k->key);
	ty_buf_addf(&k->key, "%u%s", kind, name);
	if (own)
		ty_buf_addf(&k->key, " of %s/%d",
			    ty_thread_names_get(k->walk.comms, pid > 0 ? pid : tid),
			    (int)(pid > 0 ? pid : tid));
	if (k->key.failed)
		return -TY_ENOMEM;
	if (k->v.n >= OBJECTS_MAX && ty_strtab_find(k->texts, k->key.p, k->key.len) == UINT32_MAX)
		return TY_OBJECT_NONE;
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

static bool has(const struct ty_sysrow *row, uint8_t a, uint8_t b, uint8_t c)
{
	for (unsigned i = 0; i < row->n; i++)
		if (row->a[i] == a || row->a[i] == b || row->a[i] == c)
			return true;
	return false;
}

static int count(void *ctx, int64_t at, const struct ty_call *c, uint64_t end_ns, int32_t pid)
{
	struct work *k = ctx;
	const struct ty_sysrow *row = ty_syscall_row(k->arch, c->abi, c->nr);
	const uint64_t from = c->start_ns > k->w->from_ns ? c->start_ns : k->w->from_ns,
		       to = end_ns < k->w->to_ns ? end_ns : k->w->to_ns,
		       ns = to > from ? to - from : 0;
	struct ty_object *o;

	if (ty_call_end_only(c) || c->start_ns >= k->w->to_ns || end_ns < k->w->from_ns ||
	    !ty_window_has_tid(k->w, c->tid) || !ty_window_has_cpu(k->w, c->cpu) ||
	    !ty_window_has_comm(k->w, ty_thread_names_get(k->walk.comms, c->tid)))
		return 0;
	if (at < 0) {
		k->left_out++;
		k->left_out_ns += ns;
		return 0;
	}
	o = &k->v.v[at];
	if (o->calls++ && o->pid != pid)
		o->several = true;
	o->total_ns += ns;
	if (ns >= o->max_ns) {
		o->max_ns = ns;
		o->max_tid = c->tid;
		o->max_at_ns = c->start_ns;
		o->max_fd = row->object >= 0 && row->a[row->object] == TY_ARG_FD
				    ? (int32_t)c->args[row->object]
				    : k->walk.polled_fd;
	}
	if (c->how != TY_CALL_RETURNED)
		return 0;
	o->failed += c->ret < 0 && c->ret >= -4095;
	if (c->ret <= 0 || row->object < 0 || row->a[row->object] != TY_ARG_FD)
		return 0;
	if (has(row, TY_ARG_BUF_OUT, TY_ARG_IOV_OUT, TY_ARG_MSG_OUT) ||
	    (row->says & TY_TAKES && row->takes == row->object &&
	     !has(row, TY_ARG_MMSG_OUT, 0xff, 0xff)))
		o->received += (uint64_t)c->ret;
	else if (has(row, TY_ARG_BUF_IN, TY_ARG_IOV_IN, TY_ARG_MSG_IN) ||
		 (row->says & TY_GIVES && row->gives == row->object &&
		  !has(row, TY_ARG_MMSG_IN, 0xff, 0xff)))
		o->sent += (uint64_t)c->ret;
	return 0;
}

ORDER(by_time, struct ty_object,
      compare(b->total_ns, a->total_ns) ?: compare(b->calls, a->calls) ?:
      strcmp(a->name, b->name))

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

static bool peer_of(const struct ty_explain *x, uint32_t thread, const struct ty_object *v,
		    char *access, char out[TY_FD_PEER])
{
	struct ty_fd_table *fds = ty_fd_table_new(x, thread, v->max_at_ns);
	const bool r =
		ty_fd_peer(x, fds, thread, (uint64_t)v->max_fd, v->max_at_ns, v->name, access, out);

	free(fds);
	return r;
}

/* Names the process at the other end of pipes and sockets. */
static int name_peers(struct ty_session *s, struct ty_object_totals *o)
{
	const struct ty_explain x = ty_explain_session(s);
	const size_t n = o->n < PEERS_MAX ? o->n : PEERS_MAX;

	o->peers = n ? calloc(n, sizeof(*o->peers)) : NULL;
	if (n && !o->peers)
		return -TY_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct ty_object *v = &o->v[i];
		const uint32_t thread = ty_model_thread_find(s->model, v->max_tid, v->max_at_ns);
		char peer[TY_FD_PEER], access = 0;
		const bool pipe = v->kind == kinds[TY_OBJECT_PIPE];

		if ((!pipe && v->kind != kinds[TY_OBJECT_SOCKET]) || v->max_fd < 0 ||
		    thread == TY_NONE || !peer_of(&x, thread, v, &access, peer))
			continue;
		snprintf(o->peers[i], sizeof(o->peers[i]), "%s %s",
			 !pipe || access == 'w' ? "to"
			 : access == 'r'	? "from"
						: "with",
			 peer);
		v->peer = o->peers[i];
	}
	return 0;
}

int ty_object_totals_find(struct ty_session *s, const struct ty_window *w,
			  struct ty_object_totals *out, struct ty_err *err)
{
	struct work k = {.arch = s->arch, .w = w, .texts = ty_strtab_new()};
	int r;

	*out = (struct ty_object_totals){0};
	ty_buf_init(&k.key, NAME_BYTES + 64);
	k.walk = (struct ty_object_walk){
		.ctx = &k, .to_ns = w->to_ns, .object = object, .over = count};
	if (k.texts)
		r = ty_object_walk(s, &k.walk, err);
	else
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
			    "%s: out of memory for the objects of calls", s->trace->path);
	if (!r) {
		give(&k, out);
		r = name_peers(s, out);
		if (r)
			ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
				"%s: out of memory for the objects of calls", s->trace->path);
	}
	ty_strtab_free(k.texts);
	vec_fini(&k.of);
	vec_fini(&k.v);
	ty_buf_fini(&k.key);
	return r;
}

void ty_object_totals_fini(struct ty_object_totals *o)
{
	free(o->v);
	free(o->peers);
	ty_strtab_free(o->texts);
	*o = (struct ty_object_totals){0};
}

/* SPDX-License-Identifier: MIT */
/* See stall_edges.h. */
#include "stall_edges.h"

#include "wait_call.h"
#include "waits.h"

const char *ty_edge_kind_name(enum ty_edge_kind k)
{
	static const char *const name[] = {
#define X(of, text) [TY_EDGE_##of] = text,
		TY_EDGE_KINDS(X)
#undef X
	};

	return k < TY_EDGE_KINDS_N ? name[k] : "";
}

struct list {
	struct ty_stall_edge *v;
	uint32_t n;
};

static struct ty_stall_edge *add(struct list *l, enum ty_edge_kind kind, uint32_t thread,
				 uint64_t from, uint64_t to)
{
	struct ty_stall_edge *e = &l->v[l->n++];

	*e = (struct ty_stall_edge){.kind = (uint8_t)kind,
				    .basis = TY_RECORDED,
				    .thread = thread,
				    .to = TY_NONE,
				    .call = TY_NONE,
				    .io = TY_NONE,
				    .start_ns = from,
				    .end_ns = to};
	return e;
}

/* one: the link sums several waits, of which this edge is one. Returns when the edge ends. */
static uint64_t waits(const struct ty_explain *x, struct list *l, const struct ty_link *k, bool one)
{
	struct ty_stall_edge *e = add(l, TY_EDGE_WAITS, k->thread, k->start_ns, k->end_ns);
	struct ty_span s;

	if (k->what == TY_SEG_RUNNABLE)
		e->kind = TY_EDGE_RUNNABLE;
	if (k->span == TY_NONE)
		return e->end_ns;
	s = ty_model_span(x->m, k->span);
	if (one && s.start_ns >= k->start_ns && s.end_ns <= k->end_ns) {
		e->start_ns = s.start_ns;
		e->end_ns = s.end_ns;
	}
	e->call = ty_wait_call(x, &s);
	ty_wait_object(x, &s, e->call, e->object);
	return e->end_ns;
}

static enum ty_edge_kind last_kind(uint8_t what)
{
	switch ((enum ty_seg_what)what) {
	case TY_SEG_RUNS:
	case TY_SEG_STOLEN: return TY_EDGE_RUNS;
	case TY_SEG_RUNNABLE: return TY_EDGE_RUNNABLE;
	case TY_SEG_LOST:
	case TY_SEG_UNKNOWN: return TY_EDGE_LOST;
	default: return TY_EDGE_WAITS;
	}
}

/* The last link: what it did; and what ended that, where it was no thread. */
static void root(const struct ty_explain *x, struct list *l, const struct ty_link *k, bool one)
{
	enum ty_edge_kind kind = last_kind(k->what);
	struct ty_stall_edge *e;
	uint64_t end_ns;

	if (kind != TY_EDGE_WAITS) {
		e = add(l, kind, k->thread, k->start_ns, k->end_ns);
		if (k->what == TY_SEG_STOLEN)
			e->basis = TY_BY_PROTOCOL;
		else if (kind == TY_EDGE_RUNS)
			e->call = ty_model_syscall_at(x->m, k->thread,
						      k->start_ns + (k->end_ns - k->start_ns) / 2);
		return;
	}
	end_ns = waits(x, l, k, one);
	if (k->waker.kind == TY_WAKER_TIMER || k->what == TY_SEG_TIMER) {
		e = add(l, TY_EDGE_EXPIRES, TY_NONE, end_ns, end_ns);
		e->to = k->thread;
		e->net = k->waker.net;
	} else if (k->waker.kind == TY_WAKER_DEVICE) {
		e = add(l, TY_EDGE_COMPLETES, TY_NONE, k->waker.ts_ns, k->waker.ts_ns);
		e->to = k->thread;
		e->io = k->waker.io;
		e->name = k->waker.name;
	}
}

uint32_t ty_stall_edges(const struct ty_explain *x, const struct ty_stall *s,
			struct ty_stall_edge out[TY_STALL_EDGES])
{
	struct list l = {.v = out};
	struct ty_stall_edge *e;

	if (s->request_ns)
		add(&l, TY_EDGE_RECEIVES, s->thread, s->request_ns, s->request_ns)->basis =
			TY_BY_PROTOCOL;
	if (s->sent_request_ns) {
		e = add(&l, TY_EDGE_SENDS, s->thread, s->sent_request_ns, s->sent_request_ns);
		e->to = s->request_to;
		e->call = ty_model_syscall_at(x->m, s->thread, s->sent_request_ns);
	}
	for (uint32_t i = 0; i < s->links && i < TY_STALL_LINKS; i++) {
		const struct ty_link *k = &s->link[i];

		if (i + 1 == s->links) {
			root(x, &l, k, !i && s->waits > 1);
			break;
		}
		waits(x, &l, k, false);
		if (k->waker.kind != TY_WAKER_THREAD)
			continue;
		e = add(&l, TY_EDGE_WAKES, k->waker.thread, k->waker.ts_ns, k->waker.ts_ns);
		e->to = k->thread;
		e->call = ty_model_syscall_at(x->m, k->waker.thread, k->waker.act_ns);
		if (k->waker.inferred)
			e->basis = TY_BY_PROTOCOL;
	}
	return l.n;
}

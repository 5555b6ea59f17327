/* SPDX-License-Identifier: MIT */
/*
 * The longest waits: a heap of the n best. The zoom forest finds the spans of the selected threads
 * that are longer than the shortest of them. Edges, system calls and rivals are looked up for the
 * result only.
 */
#include "longest_waits.h"

#include <stdlib.h>

#include "heap.h"
#include "thread_walk.h"

/* Worse waits are nearer to the heap's top: shorter, then later. */
static bool worse(const void *none, const struct ty_wait *a, const struct ty_wait *b)
{
	(void)none;
	if (a->duration_ns != b->duration_ns)
		return a->duration_ns < b->duration_ns;
	if (a->start_ns != b->start_ns)
		return a->start_ns > b->start_ns;
	return a->span > b->span;
}

/* The states of the thread that may be wanted; 0: none. */
static uint32_t states_of(const struct ty_thread *t, unsigned kinds)
{
	uint32_t states = kinds & ((1u << TY_ST_COUNT) - 1);

	if (t->kernel)
		states &= ~(1u << TY_ST_SLEEPING);
	if (kinds & TY_LONGEST_OURS && !t->traced)
		states &= ~(1u << TY_ST_SLEEPING | 1u << TY_ST_STOPPED);
	return states;
}

/* The next span of the thread behind `span` that may be better than `least` (NULL: any may). */
static uint32_t next_of(const struct ty_model *m, uint32_t thread, struct ty_seek *q,
			const struct ty_wait *least, uint32_t span)
{
	q->min_ns = least ? least->duration_ns : 0;
	return ty_row_behind(m, (struct ty_track){TY_TRACK_THREAD, thread}, q, span,
			     ty_model_span_brief(m, thread, span).start_ns);
}

static bool wanted(const struct ty_window *w, unsigned kinds, const struct ty_thread *t,
		   const struct ty_span *s)
{
	if (!(states_of(t, kinds) >> s->state & 1))
		return false;
	if (s->end_ns <= t->released_ns)
		return false; /* the command waiting for the recorder to be ready */
	if (!t->traced && s->flags & TY_SF_BEFORE && s->flags & TY_SF_OPEN)
		return false;
	return s->state != TY_ST_RUNNABLE || s->cpu == TY_NONE || ty_window_cpu(w, s->cpu);
}

/* The thread that had most of the CPU in [from, to), -1 none. ns: one counter per thread, all 0. */
static int32_t ran_most(const struct ty_model *m, uint32_t cpu, uint64_t from, uint64_t to,
			uint64_t *ns)
{
	uint32_t n = ty_model_cpu_spans(m, cpu), first = ty_model_cpu_span_find(m, cpu, from);
	uint32_t best = TY_NONE;

	for (uint32_t i = first; i < n; i++) {
		struct ty_span s = ty_model_cpu_span_brief(m, cpu, i);

		if (s.start_ns >= to)
			break;
		if (s.thread == TY_NONE || s.end_ns <= from)
			continue;
		ns[s.thread] +=
			(s.end_ns < to ? s.end_ns : to) - (s.start_ns > from ? s.start_ns : from);
		if (best == TY_NONE || ns[s.thread] > ns[best])
			best = s.thread;
	}
	for (uint32_t i = first; i < n; i++) {
		struct ty_span s = ty_model_cpu_span_brief(m, cpu, i);

		if (s.start_ns >= to)
			break;
		if (s.thread != TY_NONE)
			ns[s.thread] = 0;
	}
	return best == TY_NONE ? -1 : (int32_t)best;
}

/* ns: as above; NULL: out of memory, and the running threads stay unknown. */
static void explain(const struct ty_model *m, struct ty_wait *out, uint64_t *ns)
{
	struct ty_span s = ty_model_span(m, out->span);

	out->syscall = s.syscall == TY_NONE ? -1 : (int32_t)s.syscall;
	out->waker = out->ran = -1;
	out->end_lost = out->start_ns + out->duration_ns == s.end_ns &&
			ty_lost_behind(m, out->thread, out->span);
	if (s.edge != TY_NONE) {
		struct ty_edge e = ty_model_edge(m, s.edge);

		out->woken = true;
		out->waker = e.waker == TY_NONE ? -1 : (int32_t)e.waker;
		out->waker_context = e.context;
	}
	if (ns && s.state == TY_ST_RUNNABLE && s.cpu != TY_NONE)
		out->ran = ran_most(m, s.cpu, out->start_ns, out->start_ns + out->duration_ns, ns);
	if (out->ran == (int32_t)out->thread)
		out->ran = -1;
}

uint32_t ty_longest_find(const struct ty_model *m, const struct ty_window *w, unsigned kinds,
			 struct ty_wait *out, uint32_t n)
{
	uint32_t threads = ty_model_summary(m)->threads, have = 0;
	struct ty_seek q = {.nr = -1};

	for (uint32_t i = 0; n && i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		uint32_t k, to = t->spans_first + t->spans_n;
		struct ty_comm_memo memo = {0};

		if (!t->spans_n || t->end_ns <= w->from_ns || t->start_ns >= w->to_ns ||
		    !ty_window_thread(w, m, i))
			continue;
		q.states = states_of(t, kinds);
		for (k = q.states ? ty_model_span_find(m, i, w->from_ns) : to; k < to;
		     k = next_of(m, i, &q, have < n ? NULL : &out[0], k)) {
			struct ty_span s = ty_model_span_brief(m, i, k);
			uint64_t a = s.start_ns, b = s.end_ns;
			struct ty_wait e;

			if (a >= w->to_ns)
				break;
			if (!wanted(w, kinds, t, &s) || !ty_window_clip(w, &a, &b) ||
			    !ty_window_comm(w, m, i, s.start_ns, &memo))
				continue;
			e = (struct ty_wait){.span = k,
					     .thread = i,
					     .start_ns = a,
					     .duration_ns = b - a,
					     .state = s.state,
					     .flags = s.flags};
			heap_keep(out, have, n, &e, worse, NULL);
		}
	}
	/* Heap sort: the worst goes to the end. */
	for (uint32_t k = have; k-- > 1;) {
		const struct ty_wait worst = out[0];

		out[0] = out[k];
		heap_down(out, k, 0, worse, NULL);
		out[k] = worst;
	}
	return have;
}

void ty_longest_explain(const struct ty_model *m, struct ty_wait *v, uint32_t n)
{
	uint64_t *ns = NULL;

	for (uint32_t k = 0; k < n; k++) {
		if (!ns && v[k].state == TY_ST_RUNNABLE)
			ns = calloc(ty_model_summary(m)->threads, sizeof(*ns));
		explain(m, &v[k], ns);
	}
	free(ns);
}

uint32_t ty_longest(const struct ty_model *m, const struct ty_window *w, unsigned kinds,
		    struct ty_wait *out, uint32_t n)
{
	uint32_t have = ty_longest_find(m, w, kinds, out, n);

	ty_longest_explain(m, out, have);
	return have;
}

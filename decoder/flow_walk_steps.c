/* SPDX-License-Identifier: MIT */
/* See flow_walk_priv.h: memoised steps that were taken before, where the code is counted. */
#include "flow_walk_priv.h"

#ifdef TY_HAVE_IPT

#include <stdlib.h>
#include <string.h>

/* Different paths of a range. */
enum { PATHS_MAX = 4096 };

static inline void take_calls(struct ty_walk *w, const struct ty_memo_calls *m)
{
	const uint64_t *rets = ty_memo_rets(m);

	/* At its deepest, what did not fit any more was lost. */
	if (w->returns_n + m->deepest > TY_WALK_RETURNS)
		w->returns_n = TY_WALK_RETURNS - m->deepest;
	for (unsigned i = 0; i < m->rets_n; i++)
		w->returns[w->returns_at++ % TY_WALK_RETURNS] = rets[i];
	w->returns_n += m->rets_n;
}

/* The runs that end within a step: all but the first are of the time that is known. */
static inline int take_cuts(struct ty_walk *w, const struct ty_memo_calls *m)
{
	struct ty_walked *out = w->out;
	const struct ty_memo_cut *c = m->cuts, *end = c + m->cuts_n;
	const uint32_t marks = (uint32_t)out->marks.n;
	const uint64_t tsc = w->tsc;
	const uint8_t flags = w->timed ? 0 : TY_FF_NO_TIME;
	struct ty_walk_run *run;
	uint64_t ip;

	if (out->runs.n + m->cuts_n > out->runs.cap || out->runs.n >= TY_WALK_TAKEN_MAX) {
		int r = ty_walk_more_runs(w, m->cuts_n);

		if (r)
			return r;
	}
	run = &out->runs.v[out->runs.n];
	out->runs.n += m->cuts_n;
	ty_walk_put_run(w, run, c->insns, c->last, c->size, c->cls);
	for (ip = c->to, c++, run++; c < end; ip = c->to, c++, run++) {
		run->ip = ip;
		run->last = c->last;
		run->tsc = run->until = tsc;
		run->insns = c->insns;
		run->marks = marks;
		run->size = c->size;
		run->cls = c->cls;
		run->flags = flags;
	}
	w->run.insns = 0;
	ty_walk_begin_run(w, ip);
	return 0;
}

/* The runs of a step that is taken for the second time as one, from now on; false: it has to be
 * taken run by run. */
static bool make_path(struct ty_walk *w, struct ty_memo_calls *m)
{
	struct ty_walked *out = w->out;
	const size_t size = sizeof(*m->path) + m->cuts_n * sizeof(*m->cuts);
	struct ty_walk_path *p;

	if (m->walk != w->memos->walks) {
		m->walk = w->memos->walks;
		m->path = NULL;
		return false;
	}
	if (!m->repeats || out->paths.n >= PATHS_MAX)
		return false;
	p = malloc(size);
	if (!p || vec_push(&out->paths, p)) {
		free(p);
		return false;
	}
	out->paths_bytes += size;
	*p = (struct ty_walk_path){.cuts_n = m->cuts_n};
	memcpy(p->cuts, m->cuts, m->cuts_n * sizeof(*m->cuts));
	for (unsigned i = 1; i < m->cuts_n; i++)
		p->others += m->cuts[i].insns;
	m->path = p;
	return true;
}

/* All runs of a step as one; false: their times differ otherwise than those of a path. */
static inline bool take_path(struct ty_walk *w, struct ty_memo_calls *m)
{
	struct ty_walked *out = w->out;
	struct ty_walk_run *run;

	if (w->run.until != w->tsc || !(w->run.flags & TY_FF_NO_TIME) != w->timed ||
	    out->runs.n >= out->runs.cap || out->runs.n >= TY_WALK_TAKEN_MAX)
		return false;
	if (m->walk != w->memos->walks || !m->path) {
		if (!make_path(w, m))
			return false;
	}
	run = &out->runs.v[out->runs.n++];
	ty_walk_put_run(w, run, m->cuts[0].insns + m->path->others, 0, 0, TY_WALK_PATH);
	run->path = m->path;
	w->run.insns = 0;
	ty_walk_begin_run(w, m->cuts[m->cuts_n - 1].to);
	return true;
}

int ty_walk_take_calls(struct ty_walk *w, struct ty_memo_calls *m)
{
	int r = take_path(w, m) ? 0 : take_cuts(w, m);

	if (m->deepest)
		take_calls(w, m);
	return r;
}

/* What was taken last of a sequence of hops. */
struct hopped {
	const struct ty_memo *m; /* NULL: none */
	const struct ty_block *before;
	const uint8_t *tip;
	uint8_t tnt;
};

/* Writes back where the hops lead to. */
static void landed(struct ty_walk *w, const struct hopped *h, const uint8_t *p, uint64_t ip)
{
	const unsigned width = h->tnt ? ty_pt_tnt_width(h->tnt) : 0;
	const struct ty_memo *m = h->m;
	struct ty_pt_query *q = &w->q;

	q->ip = ip;
	q->suppressed = false;
	q->left = width ? width : 1;
	q->before = width ? p - 1 : h->tip;
	q->branches = width - m->used;
	q->bits = width ? ty_pt_tnt_bits(h->tnt) << m->used : 0;
	ty_pt_query_went(q, p);
	w->idle = m->idle;
	if (m->last)
		ty_walk_last_is(w, m->last, m->size, m->cls);
	else
		ty_walk_last_is(w, ty_block_last(h->before), h->before->last_size, h->before->cls);
	w->ip = m->next->ip;
}

struct ty_block *ty_walk_hops(struct ty_walk *w, struct ty_block *b, int *r)
{
	struct ty_pt_query *const q = &w->q;
	const struct ty_memos *const memos = w->memos;
	const uint64_t process = ty_memo_process(w->pid), t_ns = w->t_ns;
	const unsigned age = ty_blocks_age(w->blocks);
	struct hopped h = {0};
	const uint8_t *p = q->p;
	uint64_t ip = q->ip;
	uint32_t insns = w->run.insns;

	for (;;) {
		const unsigned ipc = *p >> 5;
		const uint64_t to = ty_pt_ip_of(ip, ipc, ty_u64_at(p + 1));
		const uint8_t *end = p + 1 + ty_pt_ip_sizes[ipc];
		const uint8_t tnt = ty_pt_query_quick_at(q, end) == 1 + TY_PT_TNT ? *end : 0;
		const uint8_t next = ty_pt_query_quick_at(q, end += tnt != 0);
		const uint64_t from = b->end.call ? (uintptr_t)b : process;
		const struct ty_memo *m;

		if (!next)
			break;
		m = ty_memo_hop(memos, from, to, tnt, t_ns);
		if (!m) {
			if (!h.m)
				ty_memo_learn(w->memos, b, w->pid, to, tnt, t_ns);
			break;
		}
		if (!b->end.call && !ty_block_cuts_indirect(b, to)) {
			insns += b->insns;
		} else if (!b->end.call) {
			w->run.insns = insns;
			*r = ty_walk_count_end(w, b, to, true);
			insns = w->run.insns;
			if (*r)
				return NULL;
		}
		if (m->calls) {
			w->run.insns = insns;
			*r = ty_walk_take_calls(w, m->calls);
			insns = w->run.insns;
			if (*r)
				return NULL;
		}
		insns += m->insns;
		h = (struct hopped){.m = m, .before = b, .tip = p, .tnt = tnt};
		p = end;
		ip = to;
		b = m->next;
		if (next != 1 + TY_PT_TIP || (tnt && m->used != ty_pt_tnt_width(tnt)) ||
		    !ty_walk_is_near(b))
			break;
	}
	if (h.m) {
		w->run.insns = insns;
		landed(w, &h, p, ip);
	}
	return age == ty_blocks_age(w->blocks) ? b : NULL;
}

#endif

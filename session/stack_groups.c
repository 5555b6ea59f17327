/* SPDX-License-Identifier: MIT */
/* See stack_groups.h. */
#include "stack_groups.h"

#include <stdlib.h>

#include "compare.h"
#include "plain_text.h"
#include "strtab.h"
#include "vec.h"
#include "wakeup.h"

bool ty_stack_wait_of(const struct ty_session *s, const struct ty_window *w,
		      const struct ty_stack_frames *f, struct ty_stack_wait *out)
{
	const uint32_t thread = ty_model_thread_find(s->model, f->tid, f->ns);
	uint32_t i = thread == TY_NONE ? TY_NONE : ty_model_span_find(s->model, thread, f->ns);
	struct ty_span span;

	if (i == TY_NONE)
		return false;
	span = ty_model_span(s->model, i);
	if (span.start_ns > f->ns || span.end_ns <= f->ns || span.state == TY_ST_RUNNING ||
	    span.start_ns >= w->to_ns || span.end_ns <= w->from_ns ||
	    !ty_window_thread(w, s->model, thread))
		return false;
	*out = (struct ty_stack_wait){.start_ns = span.start_ns,
				      .end_ns = span.end_ns,
				      .thread = thread,
				      .span = i,
				      .waker = ty_waker_find(s->model, span.edge).thread,
				      .comm = ty_model_comm(s->model, thread, span.start_ns)};
	return true;
}

/* A part of a folded stack: no separator in it. */
static void add_part(struct ty_buf *b, size_t from)
{
	ty_plain(b->p + from, b->len - from);
	for (size_t i = from; i < b->len; i++)
		if (b->p[i] == ';' || b->p[i] == '\n')
			b->p[i] = ':';
}

static void fold(const char *comm, const struct ty_stack_frames *f, struct ty_buf *b)
{
	size_t at = 0;

	b->len = 0;
	ty_buf_addf(b, "%s", comm);
	add_part(b, at);
	if (f->end != TY_STACK_COMPLETE)
		ty_buf_addf(b, ";[truncated]");
	for (unsigned i = f->n; i-- > 0 && !b->failed;) {
		ty_buf_addf(b, ";");
		at = b->len;
		ty_stack_frame_name(&f->v[i], b);
		add_part(b, at);
	}
}

ORDER(by_time, struct ty_stack_group,
      compare(b->total_ns, a->total_ns) ?: compare(a->start_ns, b->start_ns))

static void add(struct ty_stack_group *g, const struct ty_stack_wait *wait, int32_t tid, size_t nth)
{
	const uint64_t ns = wait->end_ns - wait->start_ns;

	g->total_ns += ns;
	g->waits++;
	if (ns <= g->max_ns && g->waits > 1)
		return;
	g->max_ns = ns;
	g->start_ns = wait->start_ns;
	g->tid = tid;
	g->comm = wait->comm;
	g->nth = nth;
}

int ty_stack_groups_find(struct ty_session *s, const struct ty_window *w,
			 struct ty_stack_groups *out)
{
	struct ty_wait_stacks *stacks = ty_session_stacks(s);
	struct ty_stack_frames *f = malloc(sizeof(*f));
	VEC(struct ty_stack_group) v = {0};
	struct ty_buf b;
	int e = 0;

	*out = (struct ty_stack_groups){.texts = ty_strtab_new()};
	ty_buf_init(&b, 1 << 20);
	if (!f || !out->texts || ty_buf_addf(&b, "-"))
		e = -TY_ENOMEM;
	for (size_t i = 0; !e && stacks && ty_wait_stacks_peek(stacks, i, f); i++) {
		struct ty_stack_wait wait;
		uint32_t id;

		if (!ty_stack_wait_of(s, w, f, &wait))
			continue;
		ty_wait_stacks_unwind(stacks, f);
		fold(wait.comm, f, &b);
		id = b.failed ? UINT32_MAX : ty_strtab_add(out->texts, b.p, b.len);
		if (id == UINT32_MAX)
			e = -TY_ENOMEM;
		/* Ids count from 1; each new one is the next. */
		while (!e && v.n < id)
			e = vec_push(&v, (struct ty_stack_group){0});
		if (!e)
			add(&v.v[id - 1], &wait, f->tid, i);
	}
	for (size_t i = 0; !e && i < v.n; i++)
		v.v[i].folded = ty_strtab_get(out->texts, (uint32_t)i + 1);
	vec_sort(&v, by_time);
	out->v = v.v;
	out->n = v.n;
	ty_buf_fini(&b);
	free(f);
	return e;
}

void ty_stack_groups_fini(struct ty_stack_groups *g)
{
	free(g->v);
	ty_strtab_free(g->texts);
	*g = (struct ty_stack_groups){0};
}

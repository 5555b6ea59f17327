/* SPDX-License-Identifier: MIT */
/* See outlier_parts.h. */
#include "outlier_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_args.h"
#include "compare.h"
#include "samples.h"
#include "vec.h"
#include "thread_walk.h"

typedef VEC(struct ty_outlier_part) parts;

static int add(parts *v, bool sample, bool slow, const char *what)
{
	struct ty_outlier_part *p = NULL;

	vec_each (k, v)
		if (k->sample == sample && !strcmp(k->what, what))
			p = k;
	if (!p) {
		struct ty_outlier_part fresh = {.sample = sample};

		snprintf(fresh.what, sizeof(fresh.what), "%s", what);
		if (vec_push(v, fresh))
			return -TY_ENOMEM;
		p = &v->v[v->n - 1];
	}
	*(slow ? &p->slow : &p->median) += 1;
	return 0;
}

static int add_calls(const struct ty_explain *x, uint32_t thread, uint64_t from, uint64_t to,
		     bool slow, parts *v)
{
	const uint32_t end = ty_thread_calls(x->m, thread).to;
	uint32_t i = ty_explain_call_after(x->m, thread, from);
	int r = 0;

	for (; !r && i < end; i++) {
		const struct ty_syscall c = ty_model_syscall_brief(x->m, thread, i);
		char buf[32];

		if (c.start_ns >= to)
			break;
		if (ty_explain_stopped(x))
			return -TY_EINTR;
		r = add(v, false, slow, ty_syscall_name(x->arch, c.abi, c.nr, buf));
	}
	return r;
}

static int add_samples(const struct ty_explain *x, uint32_t thread, uint64_t from, uint64_t to,
		       bool slow, parts *v)
{
	const struct ty_samples *s = x->samples;
	size_t i, end;
	int r = 0;

	ty_samples_of_thread(s, ty_model_tid(x->m, thread, from), from, to, &i, &end);
	for (; !r && i < end; i++) {
		const uint32_t node = s->v.v[s->by_thread.v[i]].node;
		const uint32_t name =
			node ? s->funcs.v[s->frames.v[s->nodes.v[node].frame].func].name : 0;

		r = add(v, true, slow, name ? ty_samples_str(s, name) : "[no symbol]");
	}
	return r;
}

static uint64_t gap(const struct ty_outlier_part *p)
{
	return p->slow > p->median ? p->slow - p->median : p->median - p->slow;
}

ORDER(by_gap, struct ty_outlier_part,
      compare(a->sample, b->sample) ?: compare(gap(b), gap(a)) ?: strcmp(a->what, b->what))

int ty_outlier_compare(const struct ty_explain *x, struct ty_outlier *o, uint32_t median_thread)
{
	parts v = {0};
	int r = ty_outlier_ledgers(x, o, median_thread);

	for (uint32_t i = 0; !r && i < o->n; i++)
		ty_call_name_row(x, o->rows[i].span, o->rows[i].row, sizeof(o->rows[i].row));
	for (unsigned k = 0; !r && k < 2; k++) {
		const uint32_t thread = k ? median_thread : o->thread;
		const uint64_t from = k ? o->median_start_ns : o->slow_start_ns,
			       to = from + (k ? o->median_ns : o->slow_ns);
		size_t first, end;

		r = add_calls(x, thread, from, to, !k, &v);
		if (!r && x->samples)
			r = add_samples(x, thread, from, to, !k, &v);
		if (x->counts && !o->elsewhere) {
			ty_counts_of(x->counts, ty_model_tid(x->m, thread, from), &first, &end);
			ty_counts_sum(x->counts, first, end, from, to, &o->counted[k]);
		}
	}
	vec_sort(&v, by_gap);
	o->parts = v.v;
	o->parts_n = (uint32_t)v.n;
	return r;
}

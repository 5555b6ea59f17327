/* SPDX-License-Identifier: MIT */
/* See answer.h. */
#include "answer_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command_path.h"
#include "compare.h"
#include "process.h"
#include "vec.h"

#define NAMESAKES 4 /* threads of one name that are told apart */

const char *ty_answer_part_key(enum ty_answer_part p)
{
	static const char *const key[] = {
#define X(name, json, text) json,
		TY_ANSWER_PARTS(X)
#undef X
	};

	return p < TY_ANSWER_PARTS_N ? key[p] : "";
}

const char *ty_answer_part_text(enum ty_answer_part p)
{
	static const char *const name[] = {
#define X(name, json, text) text,
		TY_ANSWER_PARTS(X)
#undef X
	};

	return p < TY_ANSWER_PARTS_N ? name[p] : "";
}

/* Four digits of the total. */
static const struct fixed {
	uint64_t from_ns, unit_ns, step_ns; /* of totals from here on; what one step is */
	unsigned decimals;
	const char *unit;
} scale[] = {
	{UINT64_C(100000000000), 1000000000, 100000000, 1, "s"},
	{UINT64_C(10000000000), 1000000000, 10000000, 2, "s"},
	{1000000000, 1000000000, 1000000, 3, "s"},
	{100000000, 1000000, 100000, 1, "ms"},
	{10000000, 1000000, 10000, 2, "ms"},
	{1000000, 1000000, 1000, 3, "ms"},
	{10000, 1000, 10, 2, "us"},
	{0, 1, 1, 0, "ns"},
};

static void fixed_text(const struct fixed *f, uint64_t steps, char out[TY_ANSWER_FIXED])
{
	uint64_t per = f->unit_ns / f->step_ns;

	if (f->decimals)
		snprintf(out, TY_ANSWER_FIXED, "%" PRIu64 ".%0*" PRIu64 " %s", steps / per,
			 (int)f->decimals, steps % per, f->unit);
	else
		snprintf(out, TY_ANSWER_FIXED, "%" PRIu64 " %s", steps, f->unit);
}

void ty_answer_fixed(const uint64_t *ns, uint32_t n, uint64_t total_ns,
		     char (*out)[TY_ANSWER_FIXED])
{
	const struct fixed *f = scale;
	uint64_t total, sum = 0, up;

	while (f->from_ns > total_ns)
		f++;
	total = (total_ns + f->step_ns / 2) / f->step_ns;
	for (uint32_t i = 0; i < n; i++)
		sum += ns[i] / f->step_ns;
	/* So many are rounded up: those that are nearest to it, of equal ones the first. */
	up = total > sum ? total - sum : 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t left = ns[i] % f->step_ns, before = 0;

		for (uint32_t k = 0; k < n; k++)
			before +=
				ns[k] % f->step_ns > left || (ns[k] % f->step_ns == left && k < i);
		fixed_text(f, ns[i] / f->step_ns + (before < up), out[i]);
	}
	fixed_text(f, total, out[n]);
}

/* command ------------------------------------------------------------------------------------ */

/* The command's process, those that it made, and theirs. Who made a thread may be known later than
 * the thread: as often as something new is found. */
static void find_mine(const struct ty_model *m, uint32_t root, uint8_t *mine)
{
	uint32_t n = ty_model_summary(m)->threads, process = ty_process_of(m, root);
	bool more = true;

	mine[root] = 1;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < n; i++) {
			const struct ty_thread *t = ty_model_thread(m, i);
			uint32_t by = t->forked_by >= 0 ? (uint32_t)t->forked_by : TY_NONE;

			if (mine[i] || t->kernel)
				continue;
			if ((by != TY_NONE && mine[by]) || ty_process_of(m, i) == process)
				mine[i] = more = true;
		}
	}
}

struct namesake {
	uint32_t name, thread;
	uint8_t mine;
};

static int by_name(const void *pa, const void *pb)
{
	const struct namesake *a = pa, *b = pb;

	return compare(a->mine, b->mine) ?: compare(a->name, b->name)
	       ?: compare(a->thread, b->thread);
}

/* More threads of one name than a few are one, of the command's apart from others. */
static int find_crowds(const struct ty_model *m, const struct ty_path *p, const uint8_t *mine,
		       struct ty_ledger_crowd *c)
{
	VEC(struct namesake) v = {0};
	int r = 0;

	for (size_t k = 0; k < p->seg.n && !r; k++) {
		uint32_t i = p->seg.v[k].thread;

		if (!c[i].n)
			r = vec_push(&v,
				     (struct namesake){ty_model_thread(m, i)->name, i, mine[i]});
		c[i] = (struct ty_ledger_crowd){i, 1};
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_name);
	for (size_t i = 0, n; i < v.n && !r; i += n) {
		for (n = 1; i + n < v.n && v.v[i + n].name == v.v[i].name &&
			    v.v[i + n].mine == v.v[i].mine;)
			n++;
		for (size_t k = i; n > NAMESAKES && k < i + n; k++)
			c[v.v[k].thread] = (struct ty_ledger_crowd){v.v[i].thread, (uint32_t)n};
	}
	vec_fini(&v);
	return r;
}

static int of_command(const struct ty_explain *x, const struct ty_window *w, struct ty_answer *out)
{
	size_t threads = (size_t)ty_model_summary(x->m)->threads + 1;
	struct ty_book book = {.x = x};
	struct ty_ledger_crowd *crowd = NULL;
	uint8_t *mine = NULL;
	struct ty_path p;
	uint32_t root;
	int r = ty_command_path(x, w->from_ns, w->to_ns, &out->start_ns, &out->end_ns, &p);

	if (!r) {
		crowd = calloc(threads, sizeof(*crowd));
		mine = calloc(threads, sizeof(*mine));
		r = crowd && mine ? 0 : -TY_ENOMEM;
	}
	if (!r) {
		root = ty_model_thread_find(x->m, x->command_tid, w->to_ns);
		out->of = TY_ANSWER_COMMAND;
		out->total_ns = out->end_ns - out->start_ns;
		out->inferred = p.inferred;
		find_mine(x->m, root, mine);
		r = find_crowds(x->m, &p, mine, crowd);
	}
	if (!r)
		r = ty_ledger_path(x, &p, crowd, out->start_ns, out->end_ns, &book);
	if (!r) {
		const struct ty_answer_work k = {x, &book, crowd, &p, mine};

		r = ty_answer_items(&k, out);
		if (!r)
			r = ty_answer_children(&k, ty_process_of(x->m, root), out->total_ns,
					       out->children, sizeof(out->children));
	}
	ty_path_fini(&p);
	ty_book_fini(&book);
	free(crowd);
	free(mine);
	return r;
}

int ty_answer_find(const struct ty_explain *x, const struct ty_window *w, struct ty_answer *out)
{
	int r = -TY_ENOTFOUND;

	*out = (struct ty_answer){.of = TY_ANSWER_NOTHING};
	if (!w->tids_n && !w->comms_n && !w->cpus_n)
		r = of_command(x, w, out);
	return r == -TY_ENOTFOUND ? 0 : r;
}

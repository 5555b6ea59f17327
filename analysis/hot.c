/* SPDX-License-Identifier: MIT */
/*
 * See hot.h. Samples are added up by node first, so that a stack is walked once, whatever the
 * number of its samples.
 */
#include "hot.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "err.h"

bool ty_hot_chosen(const struct ty_hot_of *of, const struct ty_sample *s)
{
	const struct ty_window *w = of->w;
	uint32_t k = 0;

	while (k < w->tids_n && w->tids[k] != s->tid)
		k++;
	if (w->tids_n && k == w->tids_n)
		return false;
	if (!ty_window_cpu(w, s->cpu == UINT16_MAX ? TY_NONE : s->cpu))
		return false;
	for (k = 0; k < w->comms_n; k++) {
		const uint32_t t =
			of->model ? ty_model_thread_find(of->model, s->tid, s->ns) : TY_NONE;
		const char *comm = t == TY_NONE ? ty_samples_str(of->s, s->comm)
						: ty_model_comm(of->model, t, s->ns);

		if (!fnmatch(w->comms[k], comm, 0))
			break;
	}
	return !w->comms_n || k < w->comms_n;
}

void ty_hot_interval(uint64_t count, uint64_t n, double *low, double *high)
{
	const double z = 1.959964, all = (double)n, s = n ? (double)count / all : 0;
	const double mid = s + z * z / (2 * all), d = 1 + z * z / all;
	const double half = z * sqrt(s * (1 - s) / all + z * z / (4 * all * all));

	*low = n && (mid - half) / d > 0 ? (mid - half) / d : 0;
	*high = n && (mid + half) / d < 1 ? (mid + half) / d : 1;
}

double ty_hot_share(uint64_t count, uint64_t n, uint64_t weight, uint64_t all_weight, double *low,
		    double *high)
{
	const double of_count = n ? (double)count / (double)n : 0;
	const double share = all_weight ? (double)weight / (double)all_weight : of_count;

	ty_hot_interval(count, n, low, high);
	*low = share - (of_count - *low) > 0 ? share - (of_count - *low) : 0;
	*high = share + (*high - of_count) < 1 ? share + (*high - of_count) : 1;
	return share;
}

/* What ended at a node. */
struct sum {
	uint64_t n, weight;
};

/* Periods come from the file: their sum stays at the highest. */
static void add_weight(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* A page fault is no call: only the sample shows that the kernel ran. */
static void count_faults(const struct ty_model *m, const struct ty_sample *s, struct ty_hot *h)
{
	uint32_t t = m ? ty_model_thread_find(m, s->tid, s->ns) : TY_NONE;

	if (t == TY_NONE || !ty_model_thread(m, t)->traced ||
	    ty_model_syscall_at(m, t, s->ns) != TY_NONE)
		return;
	h->no_call++;
	h->faults += s->in_kernel;
}

/* Sums by node; NULL: out of memory. */
static struct sum *by_node(const struct ty_hot_of *of, struct ty_hot *h)
{
	struct sum *v = calloc(of->s->nodes.n, sizeof(*v));
	struct ty_pair_map tids = {0};
	size_t first, end;

	ty_samples_range(of->s, of->w->from_ns, of->w->to_ns, &first, &end);
	for (size_t i = first; v && i < end; i++) {
		const struct ty_sample *s = &of->s->v.v[i];

		if (!ty_hot_chosen(of, s))
			continue;
		v[s->node].n++;
		add_weight(&v[s->node].weight, s->period);
		if (!h)
			continue;
		h->samples++;
		add_weight(&h->weight, s->period);
		h->in_kernel += s->in_kernel;
		count_faults(of->model, s, h);
		h->cut += s->cut;
		if (!ty_pair_map_add(&tids, (uint32_t)s->tid, 0)) {
			free(v);
			v = NULL;
		}
	}
	if (h)
		h->threads = (uint32_t)tids.pairs.n;
	ty_pair_map_fini(&tids);
	return v;
}

/* By name in the end: the numbers of functions depend on which samples were read first. */
static int by_self(const void *pa, const void *pb, void *ctx)
{
	const struct ty_hot_row *a = pa, *b = pb;
	const struct ty_samples *s = ctx;
	const struct ty_sample_func *fa = &s->funcs.v[a->func], *fb = &s->funcs.v[b->func];
	int d = compare(b->self_weight, a->self_weight)
			?: compare(b->total_weight, a->total_weight);

	if (!d && fa != fb)
		d = strcmp(ty_samples_str(s, fa->name), ty_samples_str(s, fb->name))
			    ?: strcmp(ty_samples_str(s, fa->module), ty_samples_str(s, fb->module));
	return d ?: compare(a->line, b->line);
}

struct table {
	VEC(struct ty_hot_row) v;
	VEC(uint32_t) seen; /* the stack that was counted last, by row */
	struct ty_pair_map row_of;
};

static struct ty_hot_row *row(struct table *t, uint64_t a, uint64_t b, struct ty_hot_row fresh,
			      uint32_t stack, bool *again)
{
	uint32_t *id = ty_pair_map_add(&t->row_of, a, b);

	if (!id)
		return NULL;
	if (*id == TY_PAIR_NONE) {
		if (vec_push(&t->v, fresh) || vec_push(&t->seen, UINT32_MAX))
			return NULL;
		*id = (uint32_t)t->v.n - 1;
	}
	*again = t->seen.v[*id] == stack;
	t->seen.v[*id] = stack;
	return &t->v.v[*id];
}

static bool count(struct table *t, uint64_t a, uint64_t b, struct ty_hot_row fresh, uint32_t stack,
		  const struct sum *sum, bool self)
{
	bool again;
	struct ty_hot_row *r = row(t, a, b, fresh, stack, &again);

	if (!r)
		return false;
	if (self) {
		r->self += sum->n;
		add_weight(&r->self_weight, sum->weight);
	}
	if (!again) {
		r->total += sum->n;
		add_weight(&r->total_weight, sum->weight);
	}
	return true;
}

/* All frames of the stack that ends at the node. */
static bool count_stack(const struct ty_samples *s, uint32_t node, const struct sum *sum,
			struct table *funcs, struct table *lines)
{
	for (uint32_t at = node; at; at = s->nodes.v[at].parent) {
		const struct ty_sample_frame *f = &s->frames.v[s->nodes.v[at].frame];
		const bool self = at == node;

		if (!count(funcs, f->func, 0, (struct ty_hot_row){.func = f->func}, node, sum,
			   self) ||
		    (f->file &&
		     !count(lines, (uint64_t)f->func << 32 | f->file, (uint32_t)f->line,
			    (struct ty_hot_row){.func = f->func, .file = f->file, .line = f->line},
			    node, sum, self)))
			return false;
	}
	return true;
}

static void finish(struct table *t, const struct ty_samples *s, const struct ty_hot *h,
		   struct ty_hot_row **rows, uint32_t *n)
{
	vec_each (r, &t->v)
		r->share = ty_hot_share(r->self, h->samples, r->self_weight, h->weight, &r->low,
					&r->high);
	if (t->v.n)
		qsort_r(t->v.v, t->v.n, sizeof(*t->v.v), by_self, (void *)s);
	*rows = t->v.v;
	*n = (uint32_t)t->v.n;
	vec_fini(&t->seen);
	ty_pair_map_fini(&t->row_of);
}

/* Lines are in order: the first of a function is its hottest. */
static int hottest_lines(struct ty_hot *h, size_t funcs)
{
	uint32_t *first = malloc(funcs * sizeof(*first));

	if (funcs && !first)
		return -TY_ENOMEM;
	for (size_t i = 0; i < funcs; i++)
		first[i] = UINT32_MAX;
	for (uint32_t i = 0; i < h->lines_n; i++)
		if (first[h->lines[i].func] == UINT32_MAX)
			first[h->lines[i].func] = i;
	for (uint32_t i = 0; i < h->funcs_n; i++)
		if (first[h->funcs[i].func] != UINT32_MAX) {
			h->funcs[i].hot_file = h->lines[first[h->funcs[i].func]].file;
			h->funcs[i].hot_line = h->lines[first[h->funcs[i].func]].line;
		}
	free(first);
	return 0;
}

int ty_hot_find(const struct ty_hot_of *of, struct ty_hot *out)
{
	struct table funcs = {0}, lines = {0};
	struct sum *sums;
	bool good;

	*out = (struct ty_hot){0};
	sums = by_node(of, out);
	good = sums;
	for (uint32_t i = 0; good && i < of->s->nodes.n; i++)
		if (sums[i].n)
			good = count_stack(of->s, i, &sums[i], &funcs, &lines);
	out->unnamed = sums ? sums[0].n : 0;
	for (uint32_t i = 1; good && i < of->s->nodes.n; i++)
		if (sums[i].n &&
		    !of->s->funcs.v[of->s->frames.v[of->s->nodes.v[i].frame].func].name)
			out->unnamed += sums[i].n;
	free(sums);
	finish(&funcs, of->s, out, &out->funcs, &out->funcs_n);
	finish(&lines, of->s, out, &out->lines, &out->lines_n);
	return good ? hottest_lines(out, of->s->funcs.n) : -TY_ENOMEM;
}

void ty_hot_fini(struct ty_hot *h)
{
	free(h->funcs);
	free(h->lines);
	*h = (struct ty_hot){0};
}

/* the tree of calls -------------------------------------------------------------------------------
 */

enum { STACK_MAX = 4096 };

static uint32_t child_of(struct ty_flame *f, uint32_t parent, uint32_t func)
{
	uint32_t *id = ty_pair_map_add(&f->child, parent, func);

	if (!id)
		return UINT32_MAX;
	if (*id == TY_PAIR_NONE) {
		const uint32_t depth = f->v.v[parent].depth + 1;

		if (vec_push(&f->v, ((struct ty_flame_node){
					    .func = func, .parent = parent, .depth = depth})))
			return UINT32_MAX;
		*id = (uint32_t)f->v.n - 1;
		f->depth = depth > f->depth ? depth : f->depth;
	}
	return *id;
}

static bool add_stack(struct ty_flame *f, const uint32_t *funcs, size_t n, const struct sum *sum)
{
	uint32_t at = 0;

	for (size_t i = 0;; i++) {
		f->v.v[at].total += sum->n;
		add_weight(&f->v.v[at].weight, sum->weight);
		if (i == n)
			break;
		at = child_of(f, at, funcs[i]);
		if (at == UINT32_MAX)
			return false;
	}
	f->v.v[at].self += sum->n;
	return true;
}

/* The functions of a stack as the tree has them, from its root on: how many; 0: it has no part. */
static size_t functions(const struct ty_samples *s, uint32_t node, enum ty_flame_kind kind,
			uint32_t focus, uint32_t funcs[STACK_MAX], bool *part)
{
	size_t n = 0, from = 0, to;

	for (uint32_t at = node; at && n < STACK_MAX; at = s->nodes.v[at].parent)
		funcs[n++] = s->frames.v[s->nodes.v[at].frame].func;
	to = n;
	if (focus != UINT32_MAX) {
		while (from < n && funcs[from] != focus)
			from++;
		*part = from < n;
		/* Callees: from the innermost up to its outermost occurrence. */
		while (to && funcs[to - 1] != focus)
			to--;
		if (kind == TY_FLAME_CALLEES)
			from = 0;
		else
			to = n;
	} else {
		*part = true;
	}
	n = to > from ? to - from : 0;
	memmove(funcs, funcs + from, n * sizeof(*funcs));
	for (size_t i = 0; kind == TY_FLAME_CALLEES && i < n / 2; i++) {
		const uint32_t v = funcs[i];

		funcs[i] = funcs[n - 1 - i];
		funcs[n - 1 - i] = v;
	}
	return n;
}

static int by_weight(const void *pa, const void *pb, void *ctx)
{
	const struct ty_flame *f = ctx;
	const struct ty_flame_node *a = &f->v.v[*(const uint32_t *)pa],
				   *b = &f->v.v[*(const uint32_t *)pb];

	return compare(a->parent, b->parent)
		       ?: compare(b->weight, a->weight)
		       ?: compare(a->func, b->func);
}

/* Chain the children of each node. */
static int link_children(struct ty_flame *f)
{
	uint32_t *order = malloc(f->v.n * sizeof(*order));

	if (!order)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < f->v.n; i++)
		order[i] = i;
	qsort_r(order + 1, f->v.n - 1, sizeof(*order), by_weight, f);
	for (size_t i = f->v.n; i-- > 1;) {
		struct ty_flame_node *n = &f->v.v[order[i]];

		n->next = f->v.v[n->parent].first;
		f->v.v[n->parent].first = order[i];
	}
	free(order);
	return 0;
}

int ty_flame_find(const struct ty_hot_of *of, enum ty_flame_kind kind, uint32_t focus,
		  struct ty_flame *out)
{
	uint32_t *funcs = malloc(STACK_MAX * sizeof(*funcs));
	struct sum *sums = by_node(of, NULL);
	bool good = funcs && sums;

	*out = (struct ty_flame){0};
	good = good && !vec_push(&out->v, (struct ty_flame_node){.func = UINT32_MAX});
	for (uint32_t i = 0; good && i < of->s->nodes.n; i++) {
		bool part;
		size_t n;

		if (!sums[i].n)
			continue;
		n = functions(of->s, i, kind, focus, funcs, &part);
		if (part)
			good = add_stack(out, funcs, n, &sums[i]);
	}
	free(funcs);
	free(sums);
	return good ? link_children(out) : -TY_ENOMEM;
}

void ty_flame_fini(struct ty_flame *f)
{
	vec_fini(&f->v);
	ty_pair_map_fini(&f->child);
	*f = (struct ty_flame){0};
}

int ty_hot_callers(const struct ty_hot_of *of, uint32_t func, struct ty_hot_callers *out)
{
	const struct ty_flame_node *n;
	struct ty_flame f;
	int e = ty_flame_find(of, TY_FLAME_CALLERS, func, &f);

	*out = (struct ty_hot_callers){0};
	if (!e && f.v.v[0].first) {
		n = &f.v.v[f.v.v[0].first];
		out->of = n->total;
		/* Children are in order: the first one is the heaviest. */
		while (n->first && out->n < TY_HOT_CALLERS) {
			n = &f.v.v[n->first];
			if (2 * n->total < out->of || n->total < 2)
				break;
			out->v[out->n++] = n->func;
			out->samples = n->total;
		}
	}
	ty_flame_fini(&f);
	return e;
}

bool ty_hot_note_text(const struct ty_hot *h, const char *place, char *out, size_t size)
{
	int n;

	if (h->samples < TY_HOT_LEAST)
		return false;
	n = snprintf(out, size,
		     "%.0f%% of %" PRIu64 " CPU samples (95%% interval %.0f to %.0f%%) in %s",
		     100 * h->funcs[0].share, h->samples, 100 * h->funcs[0].low,
		     100 * h->funcs[0].high, place);
	if (n > 0 && (size_t)n < size && h->no_call >= TY_HOT_LEAST && h->faults >= h->no_call / 5)
		snprintf(out + n, size - (size_t)n,
			 "; outside system calls %.0f%% of %" PRIu64
			 " samples are in the kernel (page faults, interrupts)",
			 100.0 * (double)h->faults / (double)h->no_call, h->no_call);
	return true;
}

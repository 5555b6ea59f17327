/* SPDX-License-Identifier: MIT */
/*
 * See hot_functions.h. Samples are added up by node first, so that a stack is walked once, whatever
 * the number of its samples.
 */
#include "hot_functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "err.h"
#include "units.h"
#include "confidence_interval.h"

enum { NOTE_LEAST = 3 }; /* samples of the function itself */

/* Any function may have run in the time that no sample stands for. */
double ty_hot_share(const struct ty_sample_weights *w, uint64_t time, uint64_t all, uint64_t n,
		    double *low, double *high)
{
	const double share = all ? (double)time / (double)all : 0,
		     unseen = all ? (double)w->unseen_ns / (double)all : 0,
		     of_seen = unseen < 1 ? share / (1 - unseen) : 0;

	ty_wilson(of_seen < 1 ? of_seen : 1, (double)n * w->even, low, high);
	*low *= 1 - unseen;
	*high = *high * (1 - unseen) + unseen;
	return share;
}

/* What ended at a node. */
struct sum {
	uint64_t n, weight, time;
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

/* The part of a wait that lies in the window. */
static void add_wait(const struct ty_window *w, const struct ty_sample *wait, struct sum *v)
{
	uint64_t from = wait->ns, to = wait->ns + wait->period;

	if (!ty_window_clip(w, &from, &to))
		return;
	v[wait->node].n++;
	add_weight(&v[wait->node].time, to - from);
}

/* What the samples with these weights are in all. */
static int count_samples(const struct ty_hot_of *of, const struct ty_sample *s, uint64_t time,
			 struct ty_pair_map *tids, struct ty_hot *h)
{
	h->samples++;
	add_weight(&h->weight, s->period);
	add_weight(&h->time, time);
	h->in_kernel += s->in_kernel;
	count_faults(of->model, s, h);
	h->cut += s->cut;
	return ty_pair_map_add(tids, (uint32_t)s->tid, 0) ? 0 : -TY_ENOMEM;
}

/* Sums by node, for h also of all; NULL: out of memory. */
static struct sum *by_node(const struct ty_hot_of *of, struct ty_sample_weights *weights,
			   struct ty_hot *h)
{
	struct sum *v = calloc(of->s->nodes.n, sizeof(*v));
	struct ty_pair_map tids = {0};
	int e = v ? ty_sample_weights_find(of, weights) : -TY_ENOMEM;
	size_t first, end;

	ty_hot_range(of, &first, &end);
	for (size_t i = first; !e && of->what != TY_HOT_WAITS && i < end; i++) {
		const struct ty_sample *s = &of->s->v.v[i];
		const uint64_t time = weights->by_time ? weights->v.v[i - first] : s->period;

		if (!ty_hot_chosen(of, s))
			continue;
		v[s->node].n++;
		add_weight(&v[s->node].weight, s->period);
		add_weight(&v[s->node].time, time);
		if (h)
			e = count_samples(of, s, time, &tids, h);
	}
	if (!e && of->what != TY_HOT_CPU)
		vec_each (s, &of->s->waits)
			if (ty_hot_chosen(of, s))
				add_wait(of->w, s, v);
	if (!e)
		v[TY_SAMPLES_UNSEEN].time = weights->unseen_ns;
	if (h) {
		h->threads = (uint32_t)tids.pairs.n;
		h->weights = *weights;
		add_weight(&h->time, weights->unseen_ns);
	}
	ty_pair_map_fini(&tids);
	ty_sample_weights_fini(weights);
	if (e)
		free(v);
	return e ? NULL : v;
}

/* By name in the end: the numbers of functions depend on which samples were read first. */
static int by_self(const void *pa, const void *pb, void *ctx)
{
	const struct ty_hot_row *a = pa, *b = pb;
	const struct ty_samples *s = ctx;
	const struct ty_sample_func *fa = &s->funcs.v[a->func], *fb = &s->funcs.v[b->func];
	int d = compare(b->self_time, a->self_time) ?: compare(b->total_time, a->total_time);

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
	const uint32_t i = vec_reserve(&t->seen, t->v.n + 1)
				   ? TY_PAIR_NONE
				   : pair_number(&t->row_of, a, b, &t->v, fresh);

	if (i == TY_PAIR_NONE)
		return NULL;
	if (i == t->seen.n)
		t->seen.v[t->seen.n++] = UINT32_MAX;
	*again = t->seen.v[i] == stack;
	t->seen.v[i] = stack;
	return &t->v.v[i];
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
		add_weight(&r->self_time, sum->time);
	}
	if (!again) {
		r->total += sum->n;
		add_weight(&r->total_weight, sum->weight);
		add_weight(&r->total_time, sum->time);
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
	vec_each (r, &t->v) {
		r->share = ty_hot_share(&h->weights, r->self_time, h->time, h->samples, &r->low,
					&r->high);
		/* How long threads ran is known. */
		if (!r->total)
			r->low = r->high = r->share;
	}
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
	struct ty_sample_weights weights;
	struct sum *sums;
	bool good;

	*out = (struct ty_hot){0};
	sums = by_node(of, &weights, out);
	good = sums;
	for (uint32_t i = 0; good && i < of->s->nodes.n; i++)
		if (sums[i].n || sums[i].time)
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
	const uint32_t depth = f->v.v[parent].depth + 1;
	const uint32_t child =
		pair_number(&f->child, parent, func, &f->v,
			    (struct ty_flame_node){.func = func, .parent = parent, .depth = depth});

	f->depth = child != TY_PAIR_NONE && depth > f->depth ? depth : f->depth;
	return child;
}

static bool add_stack(struct ty_flame *f, const uint32_t *funcs, size_t n, const struct sum *sum)
{
	uint32_t at = 0;

	for (size_t i = 0;; i++) {
		f->v.v[at].total += sum->n;
		add_weight(&f->v.v[at].weight, sum->time);
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
	struct sum *sums;
	bool good;

	*out = (struct ty_flame){0};
	sums = by_node(of, &out->weights, NULL);
	good = funcs && sums;
	/* Which of it the function had is unknown. */
	if (focus != UINT32_MAX)
		out->weights.unseen_ns = 0;
	good = good && !vec_push(&out->v, (struct ty_flame_node){.func = UINT32_MAX});
	for (uint32_t i = 0; good && i < of->s->nodes.n; i++) {
		bool part;
		size_t n;

		if (!sums[i].n && !sums[i].time)
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
	/* By counts: how long the threads ran does not matter. */
	const struct ty_hot_of counts = {.s = of->s, .w = of->w, .pid = of->pid};
	const struct ty_flame_node *n;
	struct ty_flame f;
	int e = ty_flame_find(of->w->comms_n ? of : &counts, TY_FLAME_CALLERS, func, &f);

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

struct above {
	uint32_t func, seen; /* seen: the stack that was counted last */
	uint64_t n, steps;   /* samples; of all of them, the named functions below it */
};

struct callers {
	VEC(struct above) v;
	struct ty_pair_map of_func;
};

/* Of them every function is called. */
static bool begins_program(const char *name)
{
	static const char *const names[] = {"main",	"_start",	   "start_thread",
					    "clone",	"clone3",	   "__clone",
					    "__clone3", "__clone_internal"};
	const size_t n = strcspn(name, "@"); /* clone@@GLIBC_2.2.5 */

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], n) && !names[i][n])
			return true;
	return !strncmp(name, "__libc_start_", 13);
}

/* The callers with names in the stack that ends at the node. */
static int count_named(const struct ty_samples *s, uint32_t node, uint64_t n, struct callers *c)
{
	uint64_t steps = 0;

	for (uint32_t at = s->nodes.v[node].parent; at; at = s->nodes.v[at].parent) {
		const uint32_t func = s->frames.v[s->nodes.v[at].frame].func;
		uint32_t i;

		if (!s->funcs.v[func].name ||
		    begins_program(ty_samples_str(s, s->funcs.v[func].name)))
			continue;
		i = pair_number(&c->of_func, func, 0, &c->v, (struct above){.func = func});
		if (i == TY_PAIR_NONE)
			return -TY_ENOMEM;
		if (c->v.v[i].seen == node)
			continue;
		c->v.v[i].seen = node;
		c->v.v[i].n += n;
		c->v.v[i].steps += n * steps++;
	}
	return 0;
}

int ty_hot_named_caller(const struct ty_hot_of *of, uint32_t func, struct ty_hot_named *out)
{
	const struct ty_hot_of counts = {.s = of->s, .w = of->w, .pid = of->pid};
	const struct ty_samples *s = of->s;
	struct ty_sample_weights weights;
	struct callers c = {0};
	struct sum *sums = by_node(of->w->comms_n ? of : &counts, &weights, NULL);
	double nearest = 0;
	int e = sums ? 0 : -TY_ENOMEM;

	*out = (struct ty_hot_named){.func = UINT32_MAX};
	for (uint32_t i = 1; !e && i < s->nodes.n; i++)
		if (sums[i].n && s->frames.v[s->nodes.v[i].frame].func == func) {
			out->of += sums[i].n;
			e = count_named(s, i, sums[i].n, &c);
		}
	vec_each (a, &c.v) {
		const double far = (double)a->steps / (double)a->n;

		if (e || a->n < 2 || 2 * a->n < out->of ||
		    (out->func != UINT32_MAX && far >= nearest))
			continue;
		nearest = far;
		out->func = a->func;
		out->samples = a->n;
	}
	free(sums);
	vec_fini(&c.v);
	ty_pair_map_fini(&c.of_func);
	return e;
}

const struct ty_hot_row *ty_hot_first(const struct ty_hot *h)
{
	for (uint32_t i = 0; i < h->funcs_n; i++)
		if (h->funcs[i].self)
			return &h->funcs[i];
	return NULL;
}

bool ty_hot_note_text(const struct ty_hot *h, const char *place, char *out, size_t size)
{
	const struct ty_hot_row *r = ty_hot_first(h);
	char time[TY_DURATION_MAX + 16], threads[40], d[TY_DURATION_MAX];
	int n;

	if (h->samples < TY_HOT_LEAST || !r || r->self < NOTE_LEAST)
		return false;
	if (h->weights.by_time)
		snprintf(time, sizeof(time), "%s of CPU time",
			 ty_fmt_duration(h->weights.on_cpu_ns, d));
	snprintf(threads, sizeof(threads), "%" PRIu64 " thread%s; ", h->weights.ran,
		 h->weights.ran == 1 ? "" : "s");
	n = snprintf(out, size,
		     "%s %s %.0f%% of the %s (%s%" PRIu64 " of %" PRIu64
		     " samples; 95%% interval %.0f to %.0f%%%s)",
		     place, h->weights.by_time ? "used about" : "took", 100 * r->share,
		     h->weights.by_time ? time : "CPU samples", h->weights.by_time ? threads : "",
		     r->self, h->samples, 100 * r->low, 100 * r->high,
		     h->weights.unseen_ns > h->time / 100
			     ? ", including threads that were not sampled"
			     : "");
	if (n > 0 && (size_t)n < size && h->no_call >= TY_HOT_LEAST && h->faults >= h->no_call / 5)
		snprintf(out + n, size - (size_t)n,
			 "; %" PRIu64 " of the samples are in the kernel without a system call "
			 "(page faults, interrupts)",
			 h->faults);
	return true;
}

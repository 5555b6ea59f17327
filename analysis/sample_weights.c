/* SPDX-License-Identifier: MIT */
/* See sample_weights.h. Cost: a look at each thread's zoom forest, and two passes over the samples.
 */
#include "sample_weights.h"

#include <stdlib.h>

#include "err.h"
#include "pair_map.h"
#include "window_filter.h"
#include "thread_walk.h"

void ty_hot_range(const struct ty_hot_of *of, size_t *first, size_t *end)
{
	const struct ty_summary *all = of->model ? ty_model_summary(of->model) : NULL;
	uint64_t from = of->w->from_ns, to = of->w->to_ns;

	if (all && from <= all->start_ns)
		from = 0;
	if (all && to > all->end_ns)
		to = UINT64_MAX;
	ty_samples_range(of->s, from, to, first, end);
}

bool ty_hot_chosen(const struct ty_hot_of *of, const struct ty_sample *s)
{
	const struct ty_window *w = of->w;
	uint32_t t;

	if (!ty_window_has_tid(w, s->tid) || (of->pid && s->pid != of->pid) ||
	    !ty_window_has_cpu(w, s->cpu == UINT16_MAX ? TY_NONE : s->cpu))
		return false;
	if (!w->comms_n)
		return true;
	t = of->model ? ty_model_thread_find(of->model, s->tid, s->ns) : TY_NONE;
	return ty_window_has_comm(w, t == TY_NONE ? ty_samples_str(of->s, s->comm)
						  : ty_model_comm(of->model, t, s->ns));
}

bool ty_hot_thread(const struct ty_hot_of *of, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(of->model, thread);

	return t->tid && (t->traced || of->s->all_threads) &&
	       (!of->pid || (t->tgid > 0 ? t->tgid : t->tid) == of->pid) &&
	       ty_window_thread(of->w, of->model, thread);
}

/* On the selected CPUs; of some only, a step per span. */
static uint64_t ran_in(const struct ty_hot_of *of, uint32_t thread, uint64_t from_ns,
		       uint64_t to_ns)
{
	const struct ty_model *m = of->model;
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t i = of->w->cpus_n ? ty_model_span_find(m, thread, from_ns) : TY_NONE;
	uint64_t ns = 0;

	if (!of->w->cpus_n)
		return ty_thread_time(m, thread, from_ns, to_ns).ns[TY_ST_RUNNING];
	for (; i != TY_NONE && i < t->spans_first + t->spans_n; i++) {
		const struct ty_span s = ty_model_span_brief(m, thread, i);
		const uint64_t from = s.start_ns > from_ns ? s.start_ns : from_ns,
			       to = s.end_ns < to_ns ? s.end_ns : to_ns;

		if (s.start_ns >= to_ns)
			break;
		if (s.state == TY_ST_RUNNING && from < to && ty_window_has_cpu(of->w, s.cpu))
			ns += to - from;
	}
	return ns;
}

/* On a CPU, under the selected names. */
static uint64_t time_of(const struct ty_hot_of *of, uint32_t thread)
{
	const struct ty_window *w = of->w;
	const struct ty_name_at *name;
	uint64_t ns = 0;
	uint32_t n;

	if (!ty_hot_thread(of, thread))
		return 0;
	if (!w->comms_n)
		return ran_in(of, thread, w->from_ns, w->to_ns);
	name = ty_model_names(of->model, thread, &n);
	for (uint32_t k = 0; k < n; k++) {
		/* The first name holds from the thread's first instant. */
		uint64_t from = k ? name[k].from_ns : 0,
			 to = k + 1 < n ? name[k + 1].from_ns : UINT64_MAX;

		if (ty_window_has_comm(w, ty_model_str(of->model, name[k].str)) &&
		    ty_window_clip(w, &from, &to))
			ns += ran_in(of, thread, from, to);
	}
	return ns;
}

/* A thread, or the first of several that are put together. */
struct share {
	uint64_t ns;		      /* of the thread itself */
	bool sampled;		      /* the thread itself */
	uint32_t with;		      /* where it is added up: */
	uint64_t all_ns, periods;     /* time to divide, sum of its samples' periods */
	uint64_t periods_done, given; /* of them, and what they have got */
};

/* Those that a time of `least` ns makes worth a share of their own; others by name. */
static int put_together(const struct ty_model *m, struct share *v, uint32_t n, double least)
{
	struct ty_pair_map by_name = {0};
	int e = 0;

	for (uint32_t i = 0; i < n && !e; i++) {
		uint32_t *first = NULL;

		v[i].with = i;
		if (v[i].ns && (double)v[i].ns < least) {
			first = ty_pair_map_add(&by_name, ty_model_thread(m, i)->name, 0);
			e = first ? 0 : -TY_ENOMEM;
		}
		if (first && *first == TY_PAIR_NONE)
			*first = i;
		v[i].with = first ? *first : i;
		v[v[i].with].all_ns += v[i].ns;
	}
	ty_pair_map_fini(&by_name);
	return e;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

/* A sample without a period counts, too. */
static uint64_t period(const struct ty_sample *s)
{
	return s->period ? s->period : 1;
}

/* What the next sample of the thread gets: of the last one, all that is left. */
static uint64_t next_part(struct share *with, const struct ty_sample *s)
{
	uint64_t upto;

	with->periods_done = add(with->periods_done, period(s));
	upto = (uint64_t)((unsigned __int128)with->all_ns * with->periods_done / with->periods);
	upto -= with->given;
	with->given += upto;
	return upto;
}

static int divide(const struct ty_hot_of *of, struct share *v, uint32_t threads,
		  struct ty_sample_weights *out)
{
	double sum = 0, squares = 0;
	size_t first, end, n = 0;
	uint32_t *of_thread;
	int e;

	ty_hot_range(of, &first, &end);
	of_thread = malloc((end - first + 1) * sizeof(*of_thread));
	if (!of_thread || vec_reserve(&out->v, end - first + 1)) {
		free(of_thread);
		return -TY_ENOMEM;
	}
	for (size_t i = first; i < end; i++) {
		const struct ty_sample *s = &of->s->v.v[i];
		const bool chosen = ty_hot_chosen(of, s);
		const uint32_t t =
			chosen ? ty_model_thread_find(of->model, s->tid, s->ns) : TY_NONE;

		of_thread[i - first] = t;
		if (t != TY_NONE)
			v[t].sampled = true;
		n += t != TY_NONE && v[t].ns;
		out->stray += chosen && t == TY_NONE;
	}
	e = put_together(of->model, v, threads,
			 n ? (double)TY_HOT_LEAST * (double)out->on_cpu_ns / (double)n : 0);
	for (size_t i = first; i < end && !e; i++)
		if (of_thread[i - first] != TY_NONE) {
			struct share *with = &v[v[of_thread[i - first]].with];

			with->periods = add(with->periods, period(&of->s->v.v[i]));
		}
	for (size_t i = first; i < end && !e; i++) {
		const uint32_t t = of_thread[i - first];
		uint64_t ns = 0;

		if (t != TY_NONE && v[v[t].with].all_ns)
			ns = next_part(&v[v[t].with], &of->s->v.v[i]);
		else if (t != TY_NONE)
			out->stray++;
		sum += (double)ns;
		squares += (double)ns * (double)ns;
		out->v.v[out->v.n++] = ns;
	}
	out->even = n && squares > 0 ? sum * sum / squares / (double)n : 1;
	free(of_thread);
	return e;
}

int ty_sample_weights_find(const struct ty_hot_of *of, struct ty_sample_weights *out)
{
	const struct ty_summary *sum = of->model ? ty_model_summary(of->model) : NULL;
	struct share *v;
	int e;

	*out = (struct ty_sample_weights){.even = 1};
	if (!sum || !sum->has_sched || !of->s->of_time || of->what == TY_HOT_WAITS)
		return 0;
	v = calloc((size_t)sum->threads + 1, sizeof(*v));
	if (!v)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < sum->threads; i++) {
		v[i].ns = time_of(of, i);
		out->on_cpu_ns += v[i].ns;
		out->ran += v[i].ns > 0;
	}
	out->by_time = out->on_cpu_ns > 0;
	e = out->by_time ? divide(of, v, sum->threads, out) : 0;
	for (uint32_t i = 0; i < sum->threads && !e; i++) {
		out->unseen_ns += v[i].periods ? 0 : v[i].all_ns;
		out->unsampled += v[i].ns && !v[i].sampled;
		out->unsampled_ns += v[i].sampled ? 0 : v[i].ns;
	}
	free(v);
	return e;
}

void ty_sample_weights_fini(struct ty_sample_weights *w)
{
	vec_fini(&w->v);
}

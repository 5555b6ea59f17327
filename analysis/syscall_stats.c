/* SPDX-License-Identifier: MIT */
/*
 * System call statistics: calls are grouped by (abi, number), then groups of one name are merged.
 *
 * Percentiles are exact in bounded memory. The first pass over the calls counts durations per group
 * in a histogram of increasing bar width (32 bars per power of two), which gives the bar of the
 * wanted rank and the number of calls below it. Short durations of the first groups are counted by
 * the nanosecond instead, which answers most ranks at once. For the others, further passes over the
 * blocks with calls of that length refine the bar (struct pick), by 1024 at a time, or store its
 * durations when they are few: one more pass for most, a few at worst.
 *
 * Budget of the first pass: 30 instructions per call besides decoding its row.
 */
#include "syscall_stats.h"

#include <stdlib.h>
#include <string.h>

#include "log_histogram.h"
#include "nth_element.h"
#include "compare.h"
#include "pair_map.h"
#include "vec.h"

/* The wanted duration is the rank-th (from 0) of those in [begin, begin + width), of which there
 * are `in`. */
#define PARTS 1024u
#define FEW   4096u
#define FINE  32768u /* durations below are counted by the nanosecond... */
#define FINES 512u   /* ...for so many groups (128 KB each, when touched) */
struct pick {
	uint64_t begin, width, rank, in;
	uint64_t *v; /* of FEW durations, or PARTS counts; NULL while nothing is to be found */
	uint64_t n;
	bool counts;
};

struct group {
	uint64_t key;
	struct ty_syscall_stats s;
	uint64_t *bar;	/* TY_BARS; NULL: none timed. What fine counts is missing until join() */
	uint32_t *fine; /* FINE; NULL: not counted so (a table has fewer than 2^32 calls) */
	struct pick pick[2];
	uint32_t joined; /* index + 1 of the group of the same name that has its calls; 0: itself */
};

struct groups {
	VEC(struct group) g;
	struct ty_pair_map by_key; /* (key, 0): its index */
	uint32_t last[16];	   /* group_of's last answers, by number */
	bool picking;		   /* not the first walk */
	uint64_t least;		   /* picking: shorter calls do not matter */
};

static __attribute__((noinline)) struct group *look_up(struct groups *t, uint64_t key)
{
	return pair_element(&t->by_key, key, 0, &t->g,
			    (struct group){.key = key, .s.max_call = TY_NONE});
}

static inline struct group *group_of(struct groups *t, uint64_t key)
{
	uint32_t *last = &t->last[key % 16];
	struct group *g;

	if (*last < t->g.n && t->g.v[*last].key == key)
		return &t->g.v[*last];
	g = look_up(t, key);
	*last = g ? (uint32_t)(g - t->g.v) : 0;
	return g;
}

/* picks ------------------------------------------------------------------------------------- */

/* The bar that holds the rank; or the very duration. */
static void pick_begin(struct pick *p, const struct group *g, uint64_t rank)
{
	unsigned k = 0;

	for (; k + 1 < TY_BARS && rank >= g->bar[k]; k++)
		rank -= g->bar[k];
	*p = (struct pick){.rank = rank, .in = g->bar[k]};
	p->begin = ty_bar_begin(k, &p->width);
	if (!g->fine || p->begin >= FINE)
		return;
	for (; p->width > 1 && p->rank >= g->fine[p->begin]; p->width--)
		p->rank -= g->fine[p->begin++];
	p->width = 1;
}

/* Is the next walk to look for more of it? 1: yes, p->v is ready; 0: p->begin is the answer. */
static int pick_prepare(struct pick *p)
{
	if (p->width == 1)
		return 0;
	p->n = 0;
	p->counts = p->in > FEW;
	if (p->counts && p->width < PARTS)
		p->width = PARTS; /* parts of 1; what is beyond the bar is above the rank */
	p->v = calloc(p->counts ? PARTS : FEW, sizeof(*p->v));
	return p->v ? 1 : -TY_ENOMEM;
}

static inline void pick_add(struct pick *p, uint64_t ns)
{
	if (!p->v || ns - p->begin >= p->width)
		return;
	if (p->counts)
		p->v[(ns - p->begin) / (p->width / PARTS)]++;
	else if (p->n < FEW)
		p->v[p->n++] = ns;
}

/* After the walk. */
static void pick_narrow(struct pick *p)
{
	unsigned k = 0;

	if (!p->v)
		return;
	if (p->counts) {
		for (; k + 1 < PARTS && p->rank >= p->v[k]; k++)
			p->rank -= p->v[k];
		p->width /= PARTS;
		p->begin += k * p->width;
		p->in = p->v[k];
	} else {
		if (p->n)
			p->begin = ty_nth_element(p->v, p->n, p->rank < p->n ? p->rank : p->n - 1);
		p->width = 1;
	}
	free(p->v);
	p->v = NULL;
}

/* walks ------------------------------------------------------------------------------------- */

static inline bool is_error(int64_t ret)
{
	return ret < 0 && ret >= -4095;
}

static inline void add_time(struct group *g, const struct ty_call_rows *c, uint32_t k,
			    uint32_t index, uint64_t ns)
{
	if (ns > g->s.max_ns || g->s.max_call == TY_NONE) {
		g->s.max_ns = ns;
		g->s.max_start_ns = c->start_ns[k];
		g->s.max_call = index;
	}
	g->s.total_ns += ns;
	if (g->fine && ns < FINE)
		g->fine[ns]++;
	else
		g->bar[ty_bar_of(ns)]++;
}

/* The first walk: what the call adds to its group. */
static int count(struct groups *t, struct group *g, const struct ty_call_rows *c, uint32_t k,
		 uint32_t index, uint64_t ns, bool timed)
{
	uint8_t flags = c->flags[k];

	g->s.count++;
	if (flags & TY_SF_OPEN)
		g->s.unfinished++;
	else if (!(flags & (TY_SF_LOST | TY_SF_ENDED)))
		g->s.errors += is_error(c->ret[k]);
	if (!timed) {
		if (flags & TY_SF_BEFORE)
			g->s.before++;
		else
			g->s.untimed++;
		return 0;
	}
	if (!g->bar) {
		g->bar = calloc(TY_BARS, sizeof(*g->bar));
		g->fine = t->g.n <= FINES ? calloc(FINE, sizeof(*g->fine)) : NULL;
		if (!g->bar)
			return -TY_ENOMEM;
	}
	add_time(g, c, k, index, ns);
	return 0;
}

static inline int add(struct groups *t, const struct ty_call_rows *c, uint32_t k, uint32_t index)
{
	/* ABI_UNSURE numbers are read as native ones. */
	unsigned abi = c->abi[k] == TY_ABI_UNSURE ? TY_ABI_NATIVE64 : c->abi[k];
	struct group *g = group_of(t, (uint64_t)abi << 32 | (uint32_t)c->nr[k]);
	uint64_t ns = c->end_ns[k] - c->start_ns[k];
	bool timed;

	if (!g)
		return -TY_ENOMEM;
	/* The usual call. */
	if (!t->picking && c->entered[k] && !c->flags[k] && g->bar) {
		g->s.count++;
		g->s.errors += is_error(c->ret[k]);
		add_time(g, c, k, index, ns);
		return 0;
	}
	timed = c->entered[k] && !(c->flags[k] & (TY_SF_BEFORE | TY_SF_LOST));
	if (!t->picking)
		return count(t, g, c, k, index, ns, timed);
	g = g->joined ? &t->g.v[g->joined - 1] : g;
	if (timed) {
		pick_add(&g->pick[0], ns);
		pick_add(&g->pick[1], ns);
	}
	return 0;
}

/* The call from which on to look, behind the n calls from k on that c holds; TY_NONE. */
static uint32_t next_rows(const struct ty_model *m, const struct groups *t, uint32_t thread,
			  uint32_t k, uint32_t n, const struct ty_call_rows *c)
{
	const struct ty_seek q = {.min_ns = t->least, .nr = -1};
	uint64_t last = c->start_ns[n - 1];
	uint32_t next;

	if (!t->least)
		return k + n;
	/* The next may begin with the last, if that took no time. */
	next = ty_model_seek(m, (struct ty_track){TY_TRACK_SYSCALLS, thread}, &q,
			     last ? last - 1 : 0, false);
	return next > k + n ? next : k + n;
}

/* All calls that the window chooses, to add(). */
static int collect(const struct ty_model *m, const struct ty_window *w, struct groups *t,
		   struct ty_call_rows *c)
{
	const struct ty_summary *sum = ty_model_summary(m);

	for (uint32_t i = 0; i < sum->threads; i++) {
		const struct ty_thread *th = ty_model_thread(m, i);
		uint32_t k, n, to = th->syscalls_first + th->syscalls_n;
		struct ty_comm_memo memo = {0};
		bool over = false;

		if (!th->syscalls_n || !ty_window_thread(w, m, i))
			continue;
		/* From the first that ends at or after the window's begin. */
		k = w->from_ns ? ty_model_syscall_after(m, i, w->from_ns - 1) : th->syscalls_first;
		for (; !over && k < to && (n = ty_model_call_rows(m, i, k, c)) > 0;
		     k = next_rows(m, t, i, k, n, c)) {
			/* Most often all are chosen. */
			bool all = !w->cpus_n && !w->comms_n && c->start_ns[0] >= w->from_ns &&
				   c->start_ns[n - 1] < w->to_ns;

			for (uint32_t j = 0; j < n; j++) {
				uint64_t start = c->start_ns[j];

				if (c->flags[j] & TY_SF_SNAPSHOT)
					continue;
				if (!all) {
					/* The last instant of the recording belongs to a window
					 * that reaches it. */
					over = start >= w->to_ns &&
					       (w->to_ns < sum->end_ns || start > w->to_ns);
					if (over)
						break;
					if (c->end_ns[j] <= w->from_ns && start < w->from_ns)
						continue;
					if (w->cpus_n &&
					    (c->cpu[j] == TY_NONE || !ty_window_cpu(w, c->cpu[j])))
						continue;
					if (!ty_window_comm(w, m, i, start, &memo))
						continue;
				}
				if (add(t, c, j, k + j))
					return -TY_ENOMEM;
			}
		}
	}
	return 0;
}

static uint64_t timed_of(const struct ty_syscall_stats *s)
{
	return s->count - s->before - s->untimed;
}

static int percentiles(const struct ty_model *m, const struct ty_window *w, struct groups *t,
		       struct ty_call_rows *rows)
{
	int r = 0, more = 1;

	for (size_t i = 0; i < t->g.n; i++) {
		struct group *g = &t->g.v[i];

		uint64_t n = timed_of(&g->s);

		if (g->joined || !n) {
			g->pick[0].width = g->pick[1].width = 1;
			continue;
		}
		pick_begin(&g->pick[0], g, (n + 1) / 2 - 1);
		pick_begin(&g->pick[1], g, n - 1 - n / 100);
	}
	t->picking = true;
	while (!r && more) {
		more = 0;
		t->least = UINT64_MAX;
		for (size_t i = 0; !r && i < 2 * t->g.n; i++) {
			struct pick *pick = &t->g.v[i / 2].pick[i % 2];
			int p = pick_prepare(pick);

			r = p < 0 ? p : 0;
			more |= p > 0;
			if (p > 0 && pick->begin < t->least)
				t->least = pick->begin;
		}
		if (!r && more)
			r = collect(m, w, t, rows);
		for (size_t i = 0; i < 2 * t->g.n; i++)
			pick_narrow(&t->g.v[i / 2].pick[i % 2]);
	}
	return r;
}

/* Groups of one name (a call has different numbers in different ABIs) become one: the first. */
static void join(struct groups *t)
{
	vec_each (g, &t->g)
		for (unsigned ns = 0; g->fine && ns < FINE; ns++)
			g->bar[ty_bar_of(ns)] += g->fine[ns];
	for (uint32_t i = 0; i < t->g.n; i++) {
		struct group *b = &t->g.v[i], *a = t->g.v;

		while (a < b && (a->joined || strcmp(a->s.name, b->s.name)))
			a++;
		if (a == b)
			continue;
		b->joined = (uint32_t)(a - t->g.v) + 1;
		if (!a->bar) {
			a->bar = b->bar;
			a->fine = b->fine;
			b->bar = NULL;
			b->fine = NULL;
		}
		for (unsigned k = 0; b->bar && k < TY_BARS; k++)
			a->bar[k] += b->bar[k];
		for (unsigned k = 0; a->fine && b->fine && k < FINE; k++)
			a->fine[k] += b->fine[k];
		if (b->bar && !b->fine) {
			free(a->fine);
			a->fine = NULL;
		}
		a->s.count += b->s.count;
		a->s.errors += b->s.errors;
		a->s.unfinished += b->s.unfinished;
		a->s.before += b->s.before;
		a->s.untimed += b->s.untimed;
		a->s.total_ns += b->s.total_ns;
		if (b->s.max_call != TY_NONE &&
		    (a->s.max_call == TY_NONE || b->s.max_ns > a->s.max_ns)) {
			a->s.max_ns = b->s.max_ns;
			a->s.max_start_ns = b->s.max_start_ns;
			a->s.max_call = b->s.max_call;
		}
	}
}

ORDER(by_total, struct ty_syscall_stats,
      compare(b->total_ns, a->total_ns) ?: strcmp(a->name, b->name))

int ty_syscall_stats(const struct ty_model *m, const struct ty_window *w,
		     const struct ty_sysarch *arch, struct ty_syscall_stats **out, uint32_t *n)
{
	struct groups t = {0};
	struct ty_call_rows *rows = malloc(sizeof(*rows));
	char buf[32];
	int r;

	*out = NULL;
	*n = 0;
	r = rows ? collect(m, w, &t, rows) : -TY_ENOMEM;
	for (size_t i = 0; !r && i < t.g.n; i++) {
		struct group *g = &t.g.v[i];
		const char *name = ty_syscall_name(arch, (enum ty_abi)(g->key >> 32),
						   (int32_t)(uint32_t)g->key, buf);
		size_t len = strnlen(name, sizeof(g->s.name) - 1);

		memcpy(g->s.name, name, len);
		g->s.name[len] = 0;
	}
	if (!r && t.g.n) {
		join(&t);
		r = percentiles(m, w, &t, rows);
		if (!r && !(*out = calloc(t.g.n, sizeof(**out))))
			r = -TY_ENOMEM;
	}
	for (size_t i = 0; !r && i < t.g.n; i++) {
		struct group *g = &t.g.v[i];

		if (g->joined)
			continue;
		if (timed_of(&g->s)) {
			g->s.mean_ns = g->s.total_ns / timed_of(&g->s);
			g->s.p50_ns = g->pick[0].begin;
			g->s.p99_ns = g->pick[1].begin;
		}
		(*out)[(*n)++] = g->s;
	}
	if (*n)
		qsort(*out, *n, sizeof(**out), by_total);
	for (size_t i = 0; i < t.g.n; i++) {
		free(t.g.v[i].bar);
		free(t.g.v[i].fine);
	}
	vec_fini(&t.g);
	ty_pair_map_fini(&t.by_key);
	free(rows);
	return r;
}

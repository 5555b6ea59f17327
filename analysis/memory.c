/* SPDX-License-Identifier: MIT */
/*
 * Tables over memory samples (memory.h). One pass numbers the keys and counts, a second one files
 * the values of the rows that are shown; percentiles are made of these by counting. Where the
 * values are too many for the memory that may be used, further passes file those of further rows;
 * a row of many samples takes counts instead of values. Tables know nothing of each other: several
 * are made at once. Budget: 15 ns per sample and pass.
 */
#include "memory.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LATENCIES 4 /* total, issue, exec, xlat */
#define VALUES	  65536u

struct count {
	uint64_t count, cycles;
	uint32_t row; /* UINT32_MAX: not shown */
};

/* What percentiles are made of. */
struct value {
	uint16_t total, issue, xlat, flags; /* TY_MP_* */
};

struct tab {
	const struct ty_mem_points *p;
	enum ty_memory_by by;
	const uint32_t *function_of_pc;
	const struct ty_mem_work *work;
	unsigned want;	       /* of a point, to know its key */
	struct ty_mem_ids ids; /* pages */
	VEC(struct count) counts;
	struct ty_memory_table *out;
};

static bool is_about(const struct tab *t, const struct ty_mem_point *o)
{
	switch (t->by) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_FUNCTION: return o->pc != UINT32_MAX;
	case TY_MEMORY_BY_SOURCE: return o->kind == TY_MEM_LOAD || o->kind == TY_MEM_STORE;
	case TY_MEMORY_BY_PAGE: return o->flags & TY_MP_HAS_VA;
	case TY_MEMORY_BY_THREAD: return o->thread != TY_MEM_NO_THREAD;
	default: return o->kind == TY_MEM_BRANCH && o->pc != UINT32_MAX;
	}
}

static int32_t page_pid(const struct tab *t, const struct ty_mem_point *o)
{
	return o->va >> 55 || o->thread == TY_MEM_NO_THREAD ? -1 : t->p->thread[o->thread].pid;
}

/* 22 bits of pid and 42 of page, as sharing.c has it. */
static uint64_t page_key(const struct tab *t, const struct ty_mem_point *o)
{
	return (uint64_t)((uint32_t)page_pid(t, o) & 0x3fffff) << 42 |
	       (o->va >> 12 & ((1ull << 42) - 1));
}

/* The number of a sample's key, but for pages. */
static uint32_t key_id(const struct tab *t, const struct ty_mem_point *o)
{
	switch (t->by) {
	case TY_MEMORY_BY_FUNCTION: return t->function_of_pc[o->pc];
	case TY_MEMORY_BY_SOURCE: return (uint32_t)o->level << 8 | o->src_flags;
	case TY_MEMORY_BY_THREAD: return o->thread;
	default: return o->pc;
	}
}

static int count_all(struct tab *t)
{
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint32_t n;

	for (uint64_t at = 0; (n = ty_mem_points_rows(t->p, at, t->want | TY_MEM_WANT_TOTAL, rows));
	     at += n) {
		if (ty_mem_stopped(t->work))
			return -TY_EINTR;
		for (uint32_t i = 0; i < n; i++) {
			const struct ty_mem_point *o = &rows[i];
			struct count *c;
			uint32_t id;
			bool fresh;

			if (!is_about(t, o))
				continue;
			if (t->by != TY_MEMORY_BY_PAGE)
				id = key_id(t, o);
			else if (ty_mem_id(&t->ids, page_key(t, o), &id, &fresh))
				return -TY_ENOMEM;
			if (id >= t->counts.n) {
				if (vec_reserve(&t->counts, (size_t)id + 1))
					return -TY_ENOMEM;
				memset(t->counts.v + t->counts.n, 0,
				       (id + 1 - t->counts.n) * sizeof(*t->counts.v));
				t->counts.n = (size_t)id + 1;
			}
			c = &t->counts.v[id];
			t->out->keys += !c->count++;
			c->cycles += o->flags & TY_MP_HAS_LAT ? o->total : 0;
			t->out->samples++;
		}
	}
	return 0;
}

struct rank {
	uint64_t cycles, count;
	uint32_t id;
};

static int rank_order(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Restore the heap below `at`: the one that comes last in order is on top. */
static void sift(struct rank *r, size_t n, size_t at)
{
	struct rank v = r[at];

	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && rank_order(&r[child + 1], &r[child]) > 0)
			child++;
		if (rank_order(&r[child], &v) <= 0)
			break;
		r[at] = r[child];
	}
	r[at] = v;
}

/* Number the rows that are shown: a heap holds the best so far, the least of them on top. */
static int choose(struct tab *t, uint32_t top)
{
	struct rank *r = malloc(((size_t)top + 1) * sizeof(*r));
	size_t n = 0;

	if (!r)
		return -TY_ENOMEM;
	for (size_t i = 0; i < t->counts.n; i++) {
		struct rank v = {t->counts.v[i].cycles, t->counts.v[i].count, (uint32_t)i};

		t->counts.v[i].row = UINT32_MAX;
		if (!v.count)
			continue;
		if (n < top) {
			r[n++] = v;
			if (n == top)
				for (size_t k = n / 2; k-- > 0;)
					sift(r, n, k);
		} else if (top && rank_order(&v, &r[0]) < 0) {
			r[0] = v;
			sift(r, n, 0);
		}
	}
	qsort(r, n, sizeof(*r), rank_order);
	t->out->rows_n = (uint32_t)n;
	for (uint32_t i = 0; i < t->out->rows_n; i++)
		t->counts.v[r[i].id].row = i;
	free(r);
	t->out->rows = calloc(t->out->rows_n + 1, sizeof(*t->out->rows));
	return t->out->rows ? 0 : -TY_ENOMEM;
}

static void tell(const struct tab *t, struct ty_memory_row *w, uint32_t id,
		 const struct ty_mem_point *o)
{
	if (!w->count++) {
		w->key = t->by == TY_MEMORY_BY_PAGE ? o->va >> 12 << 12 : id;
		w->pid = t->by == TY_MEMORY_BY_PAGE ? page_pid(t, o) : -1;
		w->ts_ns = o->ts_ns;
	}
	w->loads += o->kind == TY_MEM_LOAD;
	w->stores += o->kind == TY_MEM_STORE;
	if (o->events & (TY_MEM_EV_TLB_ACCESS | TY_MEM_EV_TLB_WALK)) {
		w->tlb++;
		w->walks += !!(o->events & TY_MEM_EV_TLB_WALK);
	}
	if (o->events & (TY_MEM_EV_L1_ACCESS | TY_MEM_EV_L1_MISS)) {
		w->l1++;
		w->l1_miss += !!(o->events & TY_MEM_EV_L1_MISS);
	}
	if (o->kind == TY_MEM_BRANCH) {
		w->mispredicts += !!(o->events & TY_MEM_EV_MISPREDICT);
		w->not_taken += !!(o->events & TY_MEM_EV_NOT_TAKEN);
	}
}

static struct ty_latency *latency_of(struct ty_memory_row *w, unsigned which)
{
	return which == 0 ? &w->total : which == 1 ? &w->issue : which == 2 ? &w->exec : &w->xlat;
}

static bool latency(const struct value *o, unsigned which, uint32_t *v)
{
	bool split = (o->flags & (TY_MP_HAS_LAT | TY_MP_HAS_SPLIT)) ==
			     (TY_MP_HAS_LAT | TY_MP_HAS_SPLIT) &&
		     o->total >= o->issue;

	*v = which == 0	  ? o->total
	     : which == 1 ? o->issue
	     : which == 2 ? (uint32_t)(o->total - o->issue)
			  : o->xlat;
	return which == 0   ? o->flags & TY_MP_HAS_LAT
	       : which == 1 ? o->flags & TY_MP_HAS_SPLIT
	       : which == 2 ? split
			    : o->flags & TY_MP_HAS_XLAT;
}

/* Nearest rank, from counts of values 0..max; the counts are cleared. */
static void percentiles(struct ty_latency *l, uint32_t *hist)
{
	const uint64_t at[] = {(l->n * 50 + 99) / 100, (l->n * 90 + 99) / 100,
			       (l->n * 99 + 99) / 100};
	uint32_t *const to[] = {&l->p50, &l->p90, &l->p99};
	unsigned k = 0;
	uint64_t seen = 0;

	for (uint32_t v = 0; l->n && v <= l->max; v++) {
		seen += hist[v];
		while (k < 3 && seen >= at[k])
			*to[k++] = v;
		hist[v] = 0;
	}
}

static void take(struct ty_latency *l, uint32_t v, uint32_t *hist)
{
	l->n++;
	l->sum += v;
	l->max = v > l->max ? v : l->max;
	hist[v]++;
}

/* What is kept of a row's samples while they are gathered. */
struct keep {
	struct value *value;	   /* all of them; NULL: counts */
	uint32_t *hist;		   /* VALUES for each latency */
	struct ty_mem_ids targets; /* of branches */
};
#define HIST_BYTES (LATENCIES * VALUES * sizeof(uint32_t))

static uint64_t keep_bytes(uint64_t samples)
{
	return samples * sizeof(struct value) < HIST_BYTES ? samples * sizeof(struct value)
							   : HIST_BYTES;
}

/* The number of the row that a sample belongs to; UINT32_MAX: to none that is shown. */
static uint32_t row_of(const struct tab *t, const struct ty_mem_ids *shown,
		       const struct ty_mem_point *o)
{
	if (!is_about(t, o))
		return UINT32_MAX;
	return t->by == TY_MEMORY_BY_PAGE ? ty_mem_id_find(shown, page_key(t, o))
					  : t->counts.v[key_id(t, o)].row;
}

/* Is one of the samples of rows [from, to)? Their keys are all that is decoded. */
static bool any_row(const struct tab *t, const struct ty_mem_ids *shown,
		    const struct ty_mem_point *o, uint32_t n, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = row_of(t, shown, &o[i]);

		if (row >= from && row < to)
			return true;
	}
	return false;
}

/* The values of rows [from, to). */
static int gather_rows(struct tab *t, const struct ty_mem_ids *shown, uint32_t from, uint32_t to,
		       struct keep *keep)
{
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	const unsigned want = t->want | TY_MEM_WANT_TIME | TY_MEM_WANT_EVENTS | TY_MEM_WANT_TOTAL |
			      TY_MEM_WANT_ISSUE | TY_MEM_WANT_XLAT |
			      (t->by == TY_MEMORY_BY_BRANCH ? TY_MEM_WANT_VA : 0);
	uint32_t n;

	for (uint64_t at = 0; (n = ty_mem_points_rows(t->p, at, t->want, rows)); at += n) {
		if (ty_mem_stopped(t->work))
			return -TY_EINTR;
		if (!any_row(t, shown, rows, n, from, to))
			continue;
		ty_mem_points_rows(t->p, at, want, rows);
		for (uint32_t i = 0; i < n; i++) {
			const struct ty_mem_point *o = &rows[i];
			uint32_t row = row_of(t, shown, o), v, id;
			struct ty_memory_row *w;
			struct value value;
			struct keep *k;
			bool fresh;

			if (row < from || row >= to)
				continue;
			k = &keep[row - from];
			w = &t->out->rows[row];
			value = (struct value){o->total, o->issue, o->xlat, o->flags};
			if (k->value)
				k->value[w->count] = value;
			else
				for (unsigned which = 0; which < LATENCIES; which++)
					if (latency(&value, which, &v))
						take(latency_of(w, which), v,
						     k->hist + which * VALUES);
			if (t->by == TY_MEMORY_BY_BRANCH && o->flags & TY_MP_HAS_TARGET &&
			    ty_mem_id(&k->targets, o->va, &id, &fresh))
				return -TY_ENOMEM;
			tell(t, w, t->by == TY_MEMORY_BY_PAGE ? 0 : key_id(t, o), o);
		}
	}
	return 0;
}

/* Rows [from, to), by one pass. */
static int gather_some(struct tab *t, const struct ty_mem_ids *shown, const uint64_t *samples,
		       uint32_t from, uint32_t to, uint32_t *hist)
{
	struct keep *keep = calloc(to - from, sizeof(*keep));
	int r = keep ? 0 : -TY_ENOMEM;

	for (uint32_t i = from; !r && i < to; i++) {
		struct keep *k = &keep[i - from];

		if (keep_bytes(samples[i]) == HIST_BYTES)
			k->hist = calloc(1, HIST_BYTES);
		else
			k->value = malloc((samples[i] + 1) * sizeof(*k->value));
		r = k->hist || k->value ? 0 : -TY_ENOMEM;
	}
	r = r ? r : gather_rows(t, shown, from, to, keep);
	for (uint32_t i = from; keep && i < to; i++) {
		struct ty_memory_row *w = &t->out->rows[i];
		struct keep *k = &keep[i - from];

		for (unsigned which = 0; !r && which < LATENCIES; which++) {
			struct ty_latency *l = latency_of(w, which);
			uint32_t v;

			for (uint64_t j = 0; k->value && j < w->count; j++)
				if (latency(&k->value[j], which, &v))
					take(l, v, hist);
			percentiles(l, k->value ? hist : k->hist + which * VALUES);
		}
		w->targets = k->targets.keys.n;
		free(k->value);
		free(k->hist);
		ty_mem_ids_fini(&k->targets);
	}
	free(keep);
	return r;
}

static int gather(struct tab *t)
{
	uint32_t n = t->out->rows_n;
	uint64_t *samples = calloc(n + 1, sizeof(*samples)), *page = calloc(n + 1, sizeof(*page));
	uint32_t *hist = calloc(VALUES, sizeof(*hist)), id;
	struct ty_mem_ids shown = {0};
	int r = samples && page && hist ? 0 : -TY_ENOMEM;
	bool fresh;

	for (size_t i = 0; !r && i < t->counts.n; i++)
		if (t->counts.v[i].count && t->counts.v[i].row != UINT32_MAX) {
			samples[t->counts.v[i].row] = t->counts.v[i].count;
			if (t->by == TY_MEMORY_BY_PAGE)
				page[t->counts.v[i].row] = t->ids.keys.v[i];
		}
	/* The few pages that are shown stay in the cache. */
	for (uint32_t i = 0; !r && i < n && t->by == TY_MEMORY_BY_PAGE; i++)
		r = ty_mem_id(&shown, page[i], &id, &fresh);
	for (uint32_t from = 0, to; !r && from < n; from = to) {
		uint64_t bytes = keep_bytes(samples[from]);

		for (to = from + 1; to < n; to++) {
			bytes += keep_bytes(samples[to]);
			if (bytes > ty_mem_work_bytes(t->work))
				break;
		}
		r = gather_some(t, &shown, samples, from, to, hist);
	}
	ty_mem_ids_fini(&shown);
	free(samples);
	free(page);
	free(hist);
	return r;
}

/* Wilson's interval: right for small counts, too. */
static void shares(struct ty_memory_table *t)
{
	const double z = 1.959964;

	for (uint32_t i = 0; i < t->rows_n; i++) {
		double n = (double)t->samples, s = (double)t->rows[i].count / n;
		double mid = s + z * z / (2 * n), d = 1 + z * z / n;
		double half = z * sqrt(s * (1 - s) / n + z * z / (4 * n * n));

		t->rows[i].share = s;
		t->rows[i].low = (mid - half) / d < 0 ? 0 : (mid - half) / d;
		t->rows[i].high = (mid + half) / d > 1 ? 1 : (mid + half) / d;
	}
}

int ty_memory_count(const struct ty_mem_points *p, enum ty_memory_by by,
		    const uint32_t *function_of_pc, uint32_t top, const struct ty_mem_work *work,
		    struct ty_memory_table *out)
{
	static const unsigned want[] = {
		[TY_MEMORY_BY_PC] = TY_MEM_WANT_PC,
		[TY_MEMORY_BY_FUNCTION] = TY_MEM_WANT_PC,
		[TY_MEMORY_BY_PAGE] = TY_MEM_WANT_VA | TY_MEM_WANT_THREAD,
		[TY_MEMORY_BY_THREAD] = TY_MEM_WANT_THREAD,
		[TY_MEMORY_BY_BRANCH] = TY_MEM_WANT_PC,
	};
	struct tab t = {.p = p,
			.by = by,
			.function_of_pc = function_of_pc,
			.work = work,
			.want = want[by],
			.out = out};
	int r;

	*out = (struct ty_memory_table){0};
	r = count_all(&t);
	if (!r)
		r = choose(&t, top);
	if (!r)
		r = gather(&t);
	if (!r)
		shares(out);
	ty_mem_ids_fini(&t.ids);
	vec_fini(&t.counts);
	if (r)
		ty_memory_fini(out);
	return r;
}

struct asked {
	const struct ty_mem_points *p;
	struct ty_memory_ask *asks;
	unsigned n;
	const struct ty_mem_work *work;
	atomic_uint next;
};

static void *answer(void *ctx)
{
	struct asked *a = ctx;
	unsigned i;

	while ((i = atomic_fetch_add(&a->next, 1)) < a->n)
		a->asks[i].failed = ty_memory_count(a->p, a->asks[i].by, a->asks[i].function_of_pc,
						    a->asks[i].top, a->work, &a->asks[i].table);
	return NULL;
}

int ty_memory_count_all(const struct ty_mem_points *p, struct ty_memory_ask *asks, unsigned n,
			unsigned threads, const struct ty_mem_work *work)
{
	struct asked a = {.p = p, .asks = asks, .n = n, .work = work};
	pthread_t t[16];
	unsigned made = 0;
	int r = 0;

	while (made + 1 < threads && made + 1 < n && made < sizeof(t) / sizeof(*t) &&
	       !pthread_create(&t[made], NULL, answer, &a))
		made++;
	answer(&a);
	while (made)
		pthread_join(t[--made], NULL);
	for (unsigned i = 0; i < n; i++)
		r = r ? r : asks[i].failed;
	return r;
}

void ty_memory_fini(struct ty_memory_table *t)
{
	free(t->rows);
	*t = (struct ty_memory_table){0};
}

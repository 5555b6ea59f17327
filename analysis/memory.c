/* SPDX-License-Identifier: MIT */
/*
 * Tables over memory samples (memory.h). One pass numbers the keys and counts, a second one files
 * the values of the rows that are shown; percentiles are made of these by counting. Where the
 * values are too many for the memory that may be used, further passes file those of further rows;
 * a row of many samples takes counts instead of values. Several tables are made by several threads,
 * those of one thread together: decoding is most of the work. Budget: 10 ns per sample and table.
 */
#include "memory.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD	  12 /* rows whose look-ups overlap */
#define LATENCIES 4  /* total, issue, exec, xlat */
#define VALUES	  65536u

struct count {
	uint64_t count, cycles;
};

/* What percentiles are made of. */
struct value {
	uint16_t total, issue, xlat, flags; /* TY_MP_* */
};

/* What is kept of a row's samples while they are gathered. */
struct keep {
	struct value *value;	   /* all of them; NULL: counts */
	uint32_t *hist;		   /* VALUES for each latency */
	struct ty_mem_ids targets; /* of branches */
};
#define HIST_BYTES (LATENCIES * VALUES * sizeof(uint32_t))

struct tab {
	const struct ty_mem_points *p;
	const struct ty_memory_ask *ask;
	uint64_t keep_bytes;	 /* that the values of rows may take at a time */
	struct ty_mem_ids pages; /* numbers of pages, while they are counted */
	VEC(struct count) counts;
	struct ty_mem_ids shown; /* keys of rows by their number: few, so that they stay cached */
	uint64_t *samples;	 /* by row */
	uint32_t from, to;	 /* rows that are gathered in this pass */
	struct keep *keep;	 /* of these */
	struct ty_memory_table *out;
};

#define INLINE static inline __attribute__((always_inline))

/* Does a table by `by` count this sample? */
INLINE bool is_about(enum ty_memory_by by, const struct ty_mem_point *o)
{
	switch (by) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_FUNCTION: return o->pc != UINT32_MAX;
	case TY_MEMORY_BY_SOURCE: return o->kind == TY_MEM_LOAD || o->kind == TY_MEM_STORE;
	case TY_MEMORY_BY_PAGE: return o->flags & TY_MP_HAS_VA;
	case TY_MEMORY_BY_THREAD: return o->thread != TY_MEM_NO_THREAD;
	default: return o->kind == TY_MEM_BRANCH && o->pc != UINT32_MAX;
	}
}

INLINE int32_t page_pid(const struct tab *t, const struct ty_mem_point *o)
{
	return o->va >> 55 || o->thread == TY_MEM_NO_THREAD ? -1 : t->p->thread[o->thread].pid;
}

/* The number of a sample's key; of a page 22 bits of pid and 42 of page, as sharing.c has it. */
INLINE uint64_t key_of(enum ty_memory_by by, const struct tab *t, const struct ty_mem_point *o)
{
	switch (by) {
	case TY_MEMORY_BY_FUNCTION: return t->ask->function_of_pc[o->pc];
	case TY_MEMORY_BY_SOURCE: return (uint64_t)o->level << 8 | o->src_flags;
	case TY_MEMORY_BY_PAGE:
		return (uint64_t)((uint32_t)page_pid(t, o) & 0x3fffff) << 42 |
		       (o->va >> 12 & ((1ull << 42) - 1));
	case TY_MEMORY_BY_THREAD: return o->thread;
	default: return o->pc;
	}
}

/* Each kind of table has loops of its own. */
#define BY_KIND(by, call)                                                                          \
	((by) == TY_MEMORY_BY_PC	 ? call(TY_MEMORY_BY_PC)                                   \
	 : (by) == TY_MEMORY_BY_FUNCTION ? call(TY_MEMORY_BY_FUNCTION)                             \
	 : (by) == TY_MEMORY_BY_SOURCE	 ? call(TY_MEMORY_BY_SOURCE)                               \
	 : (by) == TY_MEMORY_BY_PAGE	 ? call(TY_MEMORY_BY_PAGE)                                 \
	 : (by) == TY_MEMORY_BY_THREAD	 ? call(TY_MEMORY_BY_THREAD)                               \
					 : call(TY_MEMORY_BY_BRANCH))

INLINE int count_by(enum ty_memory_by by, struct tab *t, const struct ty_mem_point *o, uint32_t n)
{
	for (const struct ty_mem_point *end = o + n; o < end; o++) {
		struct count *c;
		uint64_t key;
		uint32_t id;
		bool fresh;

		if (by == TY_MEMORY_BY_PAGE && end - o > AHEAD && is_about(by, o + AHEAD))
			ty_mem_id_soon(&t->pages, key_of(by, t, o + AHEAD));
		if (!is_about(by, o))
			continue;
		key = key_of(by, t, o);
		id = (uint32_t)key;
		if (by == TY_MEMORY_BY_PAGE && ty_mem_id(&t->pages, key, &id, &fresh))
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
	return 0;
}

static int count_rows(struct tab *t, const struct ty_mem_point *rows, uint32_t n)
{
#define CALL(by) count_by(by, t, rows, n)
	return BY_KIND(t->ask->by, CALL);
#undef CALL
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
static int choose(struct tab *t)
{
	uint32_t top = t->ask->top, id;
	struct rank *r = malloc(((size_t)top + 1) * sizeof(*r));
	size_t n = 0;
	bool fresh;
	int e;

	if (!r)
		return -TY_ENOMEM;
	for (size_t i = 0; i < t->counts.n; i++) {
		struct rank v = {t->counts.v[i].cycles, t->counts.v[i].count, (uint32_t)i};

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
	t->out->rows = calloc(n + 1, sizeof(*t->out->rows));
	t->samples = calloc(n + 1, sizeof(*t->samples));
	e = t->out->rows && t->samples ? 0 : -TY_ENOMEM;
	for (uint32_t i = 0; !e && i < n; i++) {
		t->samples[i] = r[i].count;
		e = ty_mem_id(&t->shown,
			      t->ask->by == TY_MEMORY_BY_PAGE ? t->pages.keys.v[r[i].id] : r[i].id,
			      &id, &fresh);
	}
	free(r);
	vec_fini(&t->counts);
	ty_mem_ids_fini(&t->pages);
	return e;
}

/* `at`: of the sample among the points. */
static void tell(const struct tab *t, struct ty_memory_row *w, uint64_t at,
		 const struct ty_mem_point *o)
{
	if (!w->count++) {
		bool page = t->ask->by == TY_MEMORY_BY_PAGE;

		w->key = page ? o->va >> 12 << 12 : t->shown.keys.v[w - t->out->rows];
		w->pid = page ? page_pid(t, o) : -1;
		w->ts_ns = ty_mem_points_pick(t->p, at, TY_MEM_WANT_TIME).ts_ns;
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

INLINE struct ty_latency *latency_of(struct ty_memory_row *w, unsigned which)
{
	return which == 0 ? &w->total : which == 1 ? &w->issue : which == 2 ? &w->exec : &w->xlat;
}

INLINE bool latency(const struct value *o, unsigned which, uint32_t *v)
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
		if (!hist[v])
			continue;
		seen += hist[v];
		while (k < 3 && seen >= at[k])
			*to[k++] = v;
		hist[v] = 0;
	}
}

INLINE void take(struct ty_latency *l, uint32_t v, uint32_t *hist)
{
	l->n++;
	l->sum += v;
	l->max = v > l->max ? v : l->max;
	hist[v]++;
}

INLINE void take_one(struct ty_memory_row *w, const struct value *o, unsigned which, uint32_t *hist)
{
	uint32_t v;

	if (latency(o, which, &v))
		take(latency_of(w, which), v, hist + which * VALUES);
}

/* hist: VALUES for each latency. */
static void take_all(struct ty_memory_row *w, const struct value *o, uint32_t *hist)
{
	take_one(w, o, 0, hist);
	take_one(w, o, 1, hist);
	take_one(w, o, 2, hist);
	take_one(w, o, 3, hist);
}

static uint64_t keep_bytes(uint64_t samples)
{
	return samples * sizeof(struct value) < HIST_BYTES ? samples * sizeof(struct value)
							   : HIST_BYTES;
}

/* Rows of the table that the samples belong to, UINT32_MAX: none that is gathered now. Is there
 * one? */
INLINE bool rows_by(enum ty_memory_by by, const struct tab *t, const struct ty_mem_point *o,
		    uint32_t n, uint32_t *row)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = is_about(by, &o[i]) ? ty_mem_id_find(&t->shown, key_of(by, t, &o[i]))
						 : UINT32_MAX;

		row[i] = r >= t->from && r < t->to ? r : UINT32_MAX;
		any |= row[i] != UINT32_MAX;
	}
	return any;
}

static bool rows_of(const struct tab *t, const struct ty_mem_point *o, uint32_t n, uint32_t *row)
{
#define CALL(by) rows_by(by, t, o, n, row)
	return BY_KIND(t->ask->by, CALL);
#undef CALL
}

/* The values of samples whose rows are known; the first is number `at`. */
static int gather_rows(struct tab *t, uint64_t at, const struct ty_mem_point *rows, uint32_t n,
		       const uint32_t *row)
{
	bool branches = t->ask->by == TY_MEMORY_BY_BRANCH;

	for (uint32_t i = 0; i < n; i++) {
		const struct ty_mem_point *o = &rows[i];
		struct value value = {o->total, o->issue, o->xlat, o->flags};
		struct ty_memory_row *w;
		struct keep *k;
		uint32_t id;
		bool fresh;

		if (row[i] == UINT32_MAX)
			continue;
		k = &t->keep[row[i] - t->from];
		w = &t->out->rows[row[i]];
		if (k->value)
			k->value[w->count] = value;
		else
			take_all(w, &value, k->hist);
		if (branches && o->flags & TY_MP_HAS_TARGET &&
		    ty_mem_id(&k->targets, o->va, &id, &fresh))
			return -TY_ENOMEM;
		tell(t, w, at + i, o);
	}
	return 0;
}

/* The next rows, as many as there is room for; at least one. */
static int keep_some(struct tab *t)
{
	uint64_t bytes = 0;
	int r;

	t->from = t->to;
	while (t->to < t->out->rows_n) {
		bytes += keep_bytes(t->samples[t->to]);
		if (t->to > t->from && bytes > t->keep_bytes)
			break;
		t->to++;
	}
	t->keep = calloc(t->to - t->from + 1, sizeof(*t->keep));
	r = t->keep ? 0 : -TY_ENOMEM;
	for (uint32_t i = t->from; !r && i < t->to; i++) {
		struct keep *k = &t->keep[i - t->from];

		if (keep_bytes(t->samples[i]) == HIST_BYTES)
			k->hist = calloc(1, HIST_BYTES);
		else
			k->value = malloc((t->samples[i] + 1) * sizeof(*k->value));
		r = k->hist || k->value ? 0 : -TY_ENOMEM;
	}
	return r;
}

/* Percentiles of the rows that were gathered. hist: HIST_BYTES of 0, which it leaves. */
static void use_kept(struct tab *t, uint32_t *hist)
{
	for (uint32_t i = t->from; t->keep && i < t->to; i++) {
		struct ty_memory_row *w = &t->out->rows[i];
		struct keep *k = &t->keep[i - t->from];

		for (uint64_t j = 0; k->value && j < w->count; j++)
			take_all(w, &k->value[j], hist);
		for (unsigned which = 0; which < LATENCIES && (k->value || k->hist); which++)
			percentiles(latency_of(w, which),
				    (k->value ? hist : k->hist) + which * VALUES);
		w->targets = k->targets.keys.n;
		free(k->value);
		free(k->hist);
		ty_mem_ids_fini(&k->targets);
	}
	free(t->keep);
	t->keep = NULL;
}

/* One thread's tables: each block is decoded once for all of them. */
struct group {
	struct tab *tab;
	unsigned n, want; /* of a point, to know its keys */
	bool branches;	  /* there is a table of them */
	const struct ty_mem_work *work;
};

static int count_all(struct group *g)
{
	const struct ty_mem_points *p = g->tab->p;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint32_t n;
	int r = 0;

	for (uint64_t at = 0;
	     !r && (n = ty_mem_points_rows(p, at, g->want | TY_MEM_WANT_TOTAL, rows)); at += n) {
		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		for (unsigned i = 0; !r && i < g->n; i++)
			r = count_rows(&g->tab[i], rows, n);
	}
	return r;
}

/* The rows that each table keeps, by one pass. Blocks without any are decoded for their keys only.
 */
static int gather_pass(struct group *g)
{
	const unsigned rest = TY_MEM_WANT_EVENTS | TY_MEM_WANT_TOTAL | TY_MEM_WANT_ISSUE |
			      TY_MEM_WANT_XLAT | (g->branches ? TY_MEM_WANT_VA : 0);
	const struct ty_mem_points *p = g->tab->p;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint32_t row[TY_BLOCK_ROWS], n;
	int r = 0;

	for (uint64_t at = 0; !r && (n = ty_mem_points_rows(p, at, g->want, rows)); at += n) {
		bool whole = false;

		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		for (unsigned i = 0; !r && i < g->n; i++) {
			struct tab *t = &g->tab[i];

			if (t->from == t->to || !rows_of(t, rows, n, row))
				continue;
			if (!whole)
				ty_mem_points_rows(p, at, rest & ~g->want, rows);
			whole = true;
			r = gather_rows(t, at, rows, n, row);
		}
	}
	return r;
}

static int gather(struct group *g)
{
	uint32_t *hist = calloc(1, HIST_BYTES);
	int r = hist ? 0 : -TY_ENOMEM;
	bool more = true;

	while (!r && more) {
		more = false;
		for (unsigned i = 0; !r && i < g->n; i++) {
			r = keep_some(&g->tab[i]);
			more |= g->tab[i].from < g->tab[i].to;
		}
		if (!r && more)
			r = gather_pass(g);
		for (unsigned i = 0; i < g->n; i++)
			use_kept(&g->tab[i], hist);
	}
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

/* asks[0], asks[step] ... */
static int count_group(const struct ty_mem_points *p, struct ty_memory_ask *asks, unsigned n,
		       unsigned step, const struct ty_mem_work *work)
{
	static const unsigned want[] = {
		[TY_MEMORY_BY_PC] = TY_MEM_WANT_PC,
		[TY_MEMORY_BY_FUNCTION] = TY_MEM_WANT_PC,
		[TY_MEMORY_BY_PAGE] = TY_MEM_WANT_VA | TY_MEM_WANT_THREAD,
		[TY_MEMORY_BY_THREAD] = TY_MEM_WANT_THREAD,
		[TY_MEMORY_BY_BRANCH] = TY_MEM_WANT_PC,
	};
	struct group g = {.n = (n + step - 1) / step, .work = work};
	int r;

	g.tab = calloc(g.n, sizeof(*g.tab));
	if (!g.tab)
		return -TY_ENOMEM;
	for (unsigned i = 0; i < g.n; i++) {
		struct ty_memory_ask *a = &asks[i * step];

		g.tab[i] = (struct tab){.p = p,
					.ask = a,
					.keep_bytes = ty_mem_work_bytes(work) / g.n,
					.out = &a->table};
		g.want |= want[a->by];
		g.branches |= a->by == TY_MEMORY_BY_BRANCH;
	}
	r = count_all(&g);
	for (unsigned i = 0; !r && i < g.n; i++)
		r = choose(&g.tab[i]);
	if (!r)
		r = gather(&g);
	for (unsigned i = 0; i < g.n; i++) {
		struct tab *t = &g.tab[i];

		if (!r)
			shares(t->out);
		ty_mem_ids_fini(&t->pages);
		ty_mem_ids_fini(&t->shown);
		vec_fini(&t->counts);
		free(t->samples);
	}
	free(g.tab);
	return r;
}

int ty_memory_count(const struct ty_mem_points *p, enum ty_memory_by by,
		    const uint32_t *function_of_pc, uint32_t top, const struct ty_mem_work *work,
		    struct ty_memory_table *out)
{
	struct ty_memory_ask ask = {.by = by, .top = top, .function_of_pc = function_of_pc};
	int r = count_group(p, &ask, 1, 1, work);

	if (r)
		ty_memory_fini(&ask.table);
	*out = ask.table;
	return r;
}

struct part {
	const struct ty_mem_points *p;
	struct ty_memory_ask *asks;
	unsigned n, step;
	const struct ty_mem_work *work;
	int r;
};

static void *answer(void *ctx)
{
	struct part *a = ctx;

	a->r = count_group(a->p, a->asks, a->n, a->step, a->work);
	return NULL;
}

int ty_memory_count_all(const struct ty_mem_points *p, struct ty_memory_ask *asks, unsigned n,
			unsigned threads, const struct ty_mem_work *work)
{
	struct part part[16];
	pthread_t thread[16];
	bool made[16];
	int r = 0;

	threads = threads < n ? threads : n;
	threads = threads < 16 ? threads : 16;
	for (unsigned i = threads; i-- > 0;) {
		part[i] = (struct part){p, asks + i, n - i, threads, work, 0};
		made[i] = i && !pthread_create(&thread[i], NULL, answer, &part[i]);
		if (!made[i])
			answer(&part[i]);
	}
	for (unsigned i = 0; i < threads; i++) {
		if (made[i])
			pthread_join(thread[i], NULL);
		r = r ? r : part[i].r;
	}
	return r;
}

void ty_memory_fini(struct ty_memory_table *t)
{
	free(t->rows);
	*t = (struct ty_memory_table){0};
}

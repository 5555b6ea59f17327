/* SPDX-License-Identifier: MIT */
/*
 * Tables over memory samples (memory.h). One pass numbers the keys and counts, a second one files
 * the values of the rows that are shown; percentiles are made of these by counting. Tables know
 * nothing of each other: several are made at once. Budget: 15 ns and 12 bytes per sample and table
 * (20 bytes for branches) while it is made.
 */
#include "memory.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "big.h"

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
	struct ty_mem_ids ids; /* pages */
	VEC(struct count) counts;
	uint32_t *id; /* of each sample; NO_ID: the table is not about it */
	struct ty_memory_table *out;
};
#define NO_ID UINT32_MAX

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
	return o->va >> 55 || o->thread == TY_MEM_NO_THREAD ? -1 : t->p->threads.v[o->thread].pid;
}

/* The number of a sample's key; t->counts holds it. */
static int key_id(struct tab *t, const struct ty_mem_point *o, uint32_t *id)
{
	uint64_t key;
	bool fresh;

	switch (t->by) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_BRANCH: *id = o->pc; break;
	case TY_MEMORY_BY_FUNCTION: *id = t->function_of_pc[o->pc]; break;
	case TY_MEMORY_BY_SOURCE: *id = (uint32_t)o->level << 8 | o->src_flags; break;
	case TY_MEMORY_BY_THREAD: *id = o->thread; break;
	default:
		/* 22 bits of pid and 42 of page, as sharing.c has it. */
		key = (uint64_t)((uint32_t)page_pid(t, o) & 0x3fffff) << 42 |
		      (o->va >> 12 & ((1ull << 42) - 1));
		return ty_mem_id(&t->ids, key, id, &fresh);
	}
	return 0;
}

static int count_all(struct tab *t)
{
	t->id = ty_big_alloc((t->p->n + 1) * sizeof(*t->id));
	if (!t->id)
		return -TY_ENOMEM;
	for (uint64_t i = 0; i < t->p->n; i++) {
		const struct ty_mem_point *o = ty_mem_points_get(t->p, i);
		struct count *c;
		uint32_t id;

		t->id[i] = NO_ID;
		if (!is_about(t, o))
			continue;
		if (key_id(t, o, &id))
			return -TY_ENOMEM;
		t->id[i] = id;
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

static int target_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* How many different ones. */
static uint64_t different(uint64_t *v, uint64_t n)
{
	uint64_t d = 0;

	if (n)
		qsort(v, n, sizeof(*v), target_order);
	for (uint64_t i = 0; i < n; i++)
		d += !i || v[i] != v[i - 1];
	return d;
}

/* Values of the shown rows' samples, those of a row together; then each row by itself. */
static int gather(struct tab *t)
{
	uint64_t n = t->out->rows_n, all = 0, *at = calloc(n + 2, sizeof(*at)), *target = NULL,
		 *target_n = NULL;
	struct value *value = NULL;
	uint32_t *hist = calloc(VALUES, sizeof(*hist));
	bool branches = t->by == TY_MEMORY_BY_BRANCH;
	int r = -TY_ENOMEM;

	if (!at || !hist)
		goto out;
	vec_each (c, &t->counts)
		if (c->count && c->row != UINT32_MAX)
			at[c->row + 1] = c->count;
	for (uint64_t i = 0; i < n; i++)
		at[i + 1] += at[i];
	all = at[n];
	value = ty_big_alloc((all + 1) * sizeof(*value));
	target = branches ? ty_big_alloc((all + 1) * sizeof(*target)) : NULL;
	target_n = branches ? calloc(n + 1, sizeof(*target_n)) : NULL;
	if (!value || (branches && (!target || !target_n)))
		goto out;
	for (uint64_t i = 0; i < t->p->n; i++) {
		uint32_t row = t->id[i] == NO_ID ? UINT32_MAX : t->counts.v[t->id[i]].row;
		const struct ty_mem_point *o;

		if (row == UINT32_MAX)
			continue;
		o = ty_mem_points_get(t->p, i);
		value[at[row] + t->out->rows[row].count] =
			(struct value){o->total, o->issue, o->xlat, o->flags};
		if (branches && o->flags & TY_MP_HAS_TARGET)
			target[at[row] + target_n[row]++] = o->va;
		tell(t, &t->out->rows[row], t->id[i], o);
	}
	for (uint64_t i = 0; i < n; i++) {
		struct ty_memory_row *w = &t->out->rows[i];
		struct ty_latency *l[LATENCIES] = {&w->total, &w->issue, &w->exec, &w->xlat};

		for (unsigned which = 0; which < LATENCIES; which++) {
			for (uint64_t j = at[i]; j < at[i + 1]; j++) {
				uint32_t v;

				if (!latency(&value[j], which, &v))
					continue;
				l[which]->n++;
				l[which]->sum += v;
				l[which]->max = v > l[which]->max ? v : l[which]->max;
				hist[v]++;
			}
			percentiles(l[which], hist);
		}
		w->targets = branches ? different(target + at[i], target_n[i]) : 0;
	}
	r = 0;
out:
	free(at);
	free(value);
	free(target);
	free(target_n);
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
		    const uint32_t *function_of_pc, uint32_t top, struct ty_memory_table *out)
{
	struct tab t = {.p = p, .by = by, .function_of_pc = function_of_pc, .out = out};
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
	free(t.id);
	if (r)
		ty_memory_fini(out);
	return r;
}

struct asked {
	const struct ty_mem_points *p;
	struct ty_memory_ask *asks;
	unsigned n;
	atomic_uint next;
};

static void *answer(void *ctx)
{
	struct asked *a = ctx;
	unsigned i;

	while ((i = atomic_fetch_add(&a->next, 1)) < a->n)
		a->asks[i].failed = ty_memory_count(a->p, a->asks[i].by, a->asks[i].function_of_pc,
						    a->asks[i].top, &a->asks[i].table);
	return NULL;
}

int ty_memory_count_all(const struct ty_mem_points *p, struct ty_memory_ask *asks, unsigned n,
			unsigned threads)
{
	struct asked a = {.p = p, .asks = asks, .n = n};
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

struct ty_memory_sum ty_memory_sum(const struct ty_mem_points *p)
{
	struct ty_memory_sum s = {.samples = p->n};

	for (uint64_t i = 0; i < p->n; i++) {
		const struct ty_mem_point *o = ty_mem_points_get(p, i);

		s.loads += o->kind == TY_MEM_LOAD;
		s.stores += o->kind == TY_MEM_STORE;
		s.branches += o->kind == TY_MEM_BRANCH;
		s.others += o->kind == TY_MEM_OTHER;
		s.no_thread += o->thread == TY_MEM_NO_THREAD;
		s.with_pa += !!(o->flags & TY_MP_HAS_PA);
		s.with_source += o->level != TY_MEM_LV_UNKNOWN;
		s.by_events += !!(o->src_flags & TY_MEM_SRC_EVENTS);
		if (!(o->flags & TY_MP_HAS_TIME)) {
			s.no_time++;
			continue;
		}
		s.first_ns = s.first_ns && s.first_ns < o->ts_ns ? s.first_ns : o->ts_ns;
		s.last_ns = o->ts_ns > s.last_ns ? o->ts_ns : s.last_ns;
	}
	return s;
}

/* SPDX-License-Identifier: MIT */
/*
 * The end of the build: closes open spans, writes every table's directory and the small arrays to
 * the store after the blocks, and loads the model from it like an index that was opened.
 */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "key_value.h"
#include "vec.h"

#define LOOK_TRACKS 1024 /* between two checks whether to go on */

/* A trace without switches says nothing about states: one unknown span per thread and CPU. */
static void forget_states(struct ty_builder *b)
{
	ty_table_reset(&b->fill[TY_T_SPANS]);
	ty_table_reset(&b->fill[TY_T_CPU]);
	for (size_t i = 0; i < b->thread.n; i++) {
		struct ty_bthread *t = &b->thread.v[i];

		t->has_last = false;
		t->open_start = t->pub.start_ns;
		t->open_state = TY_ST_UNKNOWN;
		t->open_flags = 0;
		t->open_cpu = TY_NO_CPU;
		if (t->ended)
			ty_sched_close(b, (uint32_t)i, 0);
	}
	for (uint32_t c = 0; c < b->cpus; c++) {
		struct ty_bcpu *p = &b->cpu[c];

		p->open_start = b->start;
		p->open_thread = TY_NONE;
		p->open_state = TY_ST_UNKNOWN;
		p->open_flags = 0;
	}
}

/* Was the CPU that the thread waits for idle since then? Then it ran there, which was not
 * delivered, and what it did at the end is unknown. */
static void doubt_runnable(struct ty_builder *b, uint32_t thread)
{
	const struct ty_bthread *t = &b->thread.v[thread];
	const struct ty_bcpu *c = t->open_cpu < b->cpus ? &b->cpu[t->open_cpu] : NULL;

	if (t->open_state != TY_ST_RUNNABLE || !c || !c->no_idle || c->idle_to < t->open_start)
		return;
	if (c->idle_to - (c->idle_from > t->open_start ? c->idle_from : t->open_start) >=
	    TY_IDLE_NS)
		ty_sched_doubt(b, thread, t->open_start, 0);
}

static void close_all(struct ty_builder *b, uint64_t end)
{
	if (!b->sum.has_sched)
		forget_states(b);
	for (uint32_t c = 0; c < b->cpus; c++)
		if (b->cpu[c].open_state == TY_ST_IDLE &&
		    end - b->cpu[c].open_start >= TY_IDLE_NS) {
			b->cpu[c].idle_from = b->cpu[c].open_start;
			b->cpu[c].idle_to = end;
		}
	for (size_t i = 0; i < b->thread.n; i++) {
		if (!b->thread.v[i].ended)
			doubt_runnable(b, (uint32_t)i);
		if (!b->thread.v[i].ended) {
			b->thread.v[i].pub.end_ns = end;
			ty_sched_close(b, (uint32_t)i, TY_SF_OPEN);
		}
		ty_sched_finish(b, (uint32_t)i);
	}
	for (uint32_t c = 0; c < b->cpus; c++)
		ty_sched_cpu_close(b, c, TY_SF_OPEN);
}

/* n elements of `size` bytes in the store, zero; NULL: no room. */
static void *section(struct ty_builder *b, struct ty_index_body *body, enum ty_section_id id,
		     size_t n, size_t size)
{
	struct ty_index_part *p = &body->section[id];

	p->bytes = (uint64_t)n * size;
	p->off = ty_store_alloc(b->store, p->bytes);
	return p->off ? memset(ty_store_at(b->store, p->off), 0, p->bytes) : NULL;
}

static int copy(struct ty_builder *b, struct ty_index_body *body, enum ty_section_id id,
		const void *v, size_t n, size_t size)
{
	void *to = section(b, body, id, n, size);

	if (to && n)
		memcpy(to, v, n * size);
	return to ? 0 : -TY_ENOMEM;
}

/* Seal what is open and write the directory. ends: of the tracks; part: of finishing, done so far.
 */
static int table(struct ty_builder *b, struct ty_index_body *body, enum ty_table_id id,
		 struct ty_table_fill *f, uint32_t tracks, const uint64_t *ends, double part)
{
	struct ty_index_part *p = &body->table[id];
	int r = 0;

	for (uint32_t i = 0; !r && i < tracks; i++) {
		r = ty_table_seal(f, i, ends[i]);
		if (!r && i % LOOK_TRACKS == 0)
			r = ty_build_go_on(b, part);
	}
	return r ? r : ty_table_finish(f, tracks, ends, &p->off, &p->bytes);
}

/* All tables; the spans of threads once more where events were lost. */
static int tables(struct ty_builder *b, struct ty_index_body *body, uint64_t end)
{
	uint32_t threads = (uint32_t)b->thread.n, n = threads > b->cpus ? threads : b->cpus;
	uint64_t *ends = malloc(2 * ((size_t)n + 1) * sizeof(*ends)), *all = ends + n + 1;
	struct ty_table_fill sure;
	struct ty_model m = {.store = b->store, .threads = threads};
	int r = ends ? 0 : -TY_ENOMEM;

	for (uint32_t i = 0; !r && i < n; i++) {
		ends[i] = i < threads ? b->thread.v[i].pub.end_ns : 0;
		all[i] = end;
	}
	for (unsigned i = 0; !r && i < TY_TABLES; i++) {
		bool by_cpu = i == TY_T_CPU || i == TY_T_IRQS || i == TY_T_POINTS;

		r = table(b, body, i, &b->fill[i], by_cpu ? b->cpus : threads, by_cpu ? all : ends,
			  0);
	}
	if (!r && ty_gap_stack_any(&b->gaps)) {
		ty_table_fill_init(&sure, &ty_table_kinds[TY_T_SPANS], b->store);
		for (unsigned i = TY_T_SPANS; !r && i <= TY_T_CALLS; i++)
			r = ty_table_attach(&m.t[i], &ty_table_kinds[i], b->store,
					    body->table[i].off, body->table[i].bytes, false, NULL);
		r = r ? r : ty_gap_doubt(b, &m, &sure);
		r = r ? r : table(b, body, TY_T_SPANS, &sure, threads, ends, 1);
		ty_table_fill_fini(&sure);
	}
	free(ends);
	return r;
}

struct tid_range {
	int32_t from, to;
};
typedef VEC(struct tid_range) tid_ranges;

static int by_range(const void *key, const void *range)
{
	const int32_t tid = *(const int32_t *)key;
	const struct tid_range *r = range;

	return tid < r->from ? -1 : tid > r->to;
}

/* The threads that were traced when the recording begins ("traced=FROM TO", in order): their first
 * event may precede it, or they have none. */
static int traced_ranges(struct ty_builder *b, tid_ranges *out)
{
	const char *p = b->facts.begins_later ?: b->facts.machine, *v;
	size_t n;
	int r = 0;

	while (!r && ty_key_next(&p, "traced", &v, &n)) {
		uint64_t tid[2];

		if (ty_key_numbers(v, n, tid, 2) && tid[0] && tid[1] >= tid[0] &&
		    tid[1] <= INT32_MAX)
			r = vec_push(out, ((struct tid_range){(int32_t)tid[0], (int32_t)tid[1]}));
	}
	return r ? -TY_ENOMEM : 0;
}

static int threads(struct ty_builder *b, struct ty_index_body *body)
{
	tid_ranges traced = {0};
	uint32_t n = (uint32_t)b->thread.n;
	struct ty_thread *to = section(b, body, TY_S_THREADS, n, sizeof(*to));
	struct ty_table spans, calls;
	int r = to ? traced_ranges(b, &traced) : -TY_ENOMEM;

	r = r ? r
	      : ty_table_attach(&spans, &ty_table_kinds[TY_T_SPANS], b->store,
				body->table[TY_T_SPANS].off, body->table[TY_T_SPANS].bytes, false,
				NULL);
	r = r ? r
	      : ty_table_attach(&calls, &ty_table_kinds[TY_T_CALLS], b->store,
				body->table[TY_T_CALLS].off, body->table[TY_T_CALLS].bytes, false,
				NULL);
	for (uint32_t i = 0; !r && i < n; i++) {
		struct ty_thread *t = &b->thread.v[i].pub;

		/* With -a every user thread's calls are recorded. */
		if (b->all_mode && b->sum.has_syscalls && !t->kernel)
			t->traced = true;
		if (b->thread.v[i].in_snapshot && traced.n &&
		    bsearch(&t->tid, traced.v, traced.n, sizeof(*traced.v), by_range))
			t->traced = true;
		t->spans_first = spans.row_first[i];
		t->spans_n = ty_table_rows(&spans, i);
		t->syscalls_first = calls.row_first[i];
		t->syscalls_n = ty_table_rows(&calls, i);
		to[i] = *t;
	}
	vec_fini(&traced);
	return r;
}

/* Names by thread; each thread's are in time order. Before threads(). */
static int names(struct ty_builder *b, struct ty_index_body *body)
{
	struct ty_name_log *l = &b->names;
	struct ty_name_at *to = section(b, body, TY_S_NAMES, l->thread.n, sizeof(*to));
	uint32_t sum = 0;

	if (!to)
		return -TY_ENOMEM;
	for (size_t i = 0; i < l->thread.n; i++)
		b->thread.v[l->thread.v[i]].pub.names_n++;
	for (size_t i = 0; i < b->thread.n; i++) {
		struct ty_thread *t = &b->thread.v[i].pub;

		t->names_first = sum;
		sum += t->names_n;
		t->names_n = 0;
	}
	for (size_t i = 0; i < l->thread.n; i++) {
		struct ty_thread *t = &b->thread.v[l->thread.v[i]].pub;

		to[t->names_first + t->names_n++] = l->at.v[i];
	}
	return 0;
}

static int strings(struct ty_builder *b, struct ty_index_body *body)
{
	uint32_t n = ty_strtab_count(b->strs), at = 0;
	uint32_t *off = section(b, body, TY_S_STR_OFFSETS, n, sizeof(*off));
	char *to;

	/* Filled before more is requested (store.h). */
	for (uint32_t i = 0; off && i < n; i++) {
		off[i] = at;
		at += (uint32_t)strlen(ty_strtab_get(b->strs, i)) + 1;
	}
	to = off ? section(b, body, TY_S_STR_BYTES, at, 1) : NULL;
	for (uint32_t i = 0; to && i < n; i++) {
		const char *s = ty_strtab_get(b->strs, i);

		to = stpcpy(to, s) + 1;
	}
	return to ? 0 : -TY_ENOMEM;
}

ORDER(by_tid, struct ty_tid_entry,
      compare(a->tid, b->tid) ?: compare(a->from_ns, b->from_ns) ?:
      compare(a->thread, b->thread))

static int tids(struct ty_builder *b, struct ty_index_body *body)
{
	size_t n = b->thread.n, k = 0;
	struct ty_tid_entry *tid = section(b, body, TY_S_TIDS, n + b->alias.n, sizeof(*tid));

	if (!tid)
		return -TY_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct ty_thread *t = &b->thread.v[i].pub;

		tid[k++] = (struct ty_tid_entry){t->tid, (uint32_t)i, t->start_ns, t->end_ns};
	}
	for (size_t i = 0; i < b->alias.n; i++) {
		const struct ty_tid_entry *a = &b->alias.v[i];

		tid[k++] = *a;
		/* It has its present tid only since the exec. */
		if (tid[a->thread].from_ns < a->to_ns)
			tid[a->thread].from_ns = a->to_ns;
	}
	qsort(tid, k, sizeof(*tid), by_tid);
	return 0;
}

int ty_finish_model(struct ty_builder *b, uint64_t end, struct ty_model *m)
{
	struct ty_index_body *body = &m->body;
	int r;

	b->sum.end_ns = end;
	ty_calls_finish(b, end);
	ty_points_finish(b, end);
	close_all(b, end);
	ty_regions_finish(b, end);
	if (b->failed)
		return b->failed;
	r = tables(b, body, end);
	r = r ? r : names(b, body);
	r = r ? r : threads(b, body);
	r = r ? r : tids(b, body);
	r = r ? r : strings(b, body);
	r = r ? r
	      : copy(b, body, TY_S_GAPS, b->gap_spans.v, b->gap_spans.n, sizeof(*b->gap_spans.v));
	r = r ? r : copy(b, body, TY_S_CLOCK, b->clock.v, b->clock.n, sizeof(*b->clock.v));
	r = r ? r
	      : copy(b, body, TY_S_REGIONS, b->regions.done.v, b->regions.done.n,
		     sizeof(*b->regions.done.v));
	r = r ? r : copy(b, body, TY_S_IOS, b->ios.io.v, b->ios.io.n, sizeof(*b->ios.io.v));
	r = r ? r
	      : copy(b, body, TY_S_CALL_NRS, b->fill[TY_T_CALLS].nrs, TY_SEEK_NRS / 64,
		     sizeof(uint64_t));
	if (r)
		return r;
	b->sum.cpus = b->cpus;
	b->sum.threads = (uint32_t)b->thread.n;
	body->sum = b->sum;
	/* All that they held is in the store, which is the model's now. */
	for (unsigned i = 0; i < TY_TABLES; i++)
		ty_table_fill_fini(&b->fill[i]);
	ty_paged_pool_fini(&b->open_blocks);
	m->store = b->store;
	b->store = NULL;
	r = ty_model_load(m, false);
	if (!r && b->index && m->store->used >= b->facts.index_min)
		ty_index_commit_model(b->index, m);
	if (!r)
		ty_store_filled(m->store);
	return r;
}

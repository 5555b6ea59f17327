/* SPDX-License-Identifier: MIT */
/*
 * Logs to columns: a counting sort by thread, one column at a time (each log column is freed when
 * its own is filled, so that the peak is the logs plus one column). Records that turned out empty
 * are dropped, the forests built.
 */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

/* first[t] = number of records of threads before t; first[threads] = all. */
static uint32_t *firsts(const uint32_t *thread, size_t n, size_t threads)
{
	uint32_t *first = calloc(threads + 1, sizeof(*first)), sum = 0;

	if (!first)
		return NULL;
	for (size_t i = 0; i < n; i++)
		first[thread[i]]++;
	for (size_t t = 0; t <= threads; t++) {
		uint32_t c = first[t];

		first[t] = sum;
		sum += c;
	}
	return first;
}

/* Scatter log column `src` of n elements; NULL: out of memory. pos is scratch, threads long. */
static void *scatter(void *src, size_t size, const uint32_t *thread, size_t n,
		     const uint32_t *first, uint32_t *pos, size_t threads)
{
	char *dst = malloc(n ? n * size : 1);
	const char *from = src;

	if (!dst)
		return NULL;
	memcpy(pos, first, threads * sizeof(*pos));
	switch (size) {
	case 8:
		for (size_t i = 0; i < n; i++)
			((uint64_t *)dst)[pos[thread[i]]++] = ((const uint64_t *)src)[i];
		break;
	case 1:
		for (size_t i = 0; i < n; i++)
			dst[pos[thread[i]]++] = from[i];
		break;
	default:
		for (size_t i = 0; i < n; i++)
			memcpy(dst + size * pos[thread[i]]++, from + size * i, size);
	}
	return dst;
}

#define SCATTER(to, col, th)                                                                       \
	({                                                                                         \
		(to) = scatter((col).v, sizeof(*(col).v), (th).v, (th).n, first, pos, threads);    \
		vec_fini(&(col));                                                                  \
		(to) != NULL;                                                                      \
	})

/* A trace without switches says nothing about states: one unknown span per thread and CPU. */
static void forget_states(struct ty_builder *b)
{
	struct ty_span_log *l = &b->spans;

	l->start.n = l->thread.n = l->cpu.n = l->state.n = l->flags.n = 0;
	for (size_t i = 0; i < b->thread.n; i++) {
		struct ty_bthread *t = &b->thread.v[i];

		t->open_start = t->pub.start_ns;
		t->open_state = TY_ST_UNKNOWN;
		t->open_flags = 0;
		t->open_cpu = TY_NO_CPU;
		if (t->ended)
			ty_sched_close(b, (uint32_t)i, 0);
	}
	for (uint32_t c = 0; c < b->cpus; c++) {
		struct ty_bcpu *p = &b->cpu[c];

		p->track.start.n = p->track.thread.n = p->track.state.n = p->track.flags.n = 0;
		p->open_start = b->start;
		p->open_thread = TY_NONE;
		p->open_state = TY_ST_UNKNOWN;
		p->open_flags = 0;
	}
}

static void close_all(struct ty_builder *b, uint64_t end)
{
	if (!b->sum.has_sched)
		forget_states(b);
	for (size_t i = 0; i < b->thread.n; i++)
		if (!b->thread.v[i].ended) {
			b->thread.v[i].pub.end_ns = end;
			ty_sched_close(b, (uint32_t)i, TY_SF_OPEN);
		}
	for (uint32_t c = 0; c < b->cpus; c++)
		ty_sched_cpu_close(b, c, TY_SF_OPEN);
}

/* Drop spans of no length (never the last of a thread) and join unknown neighbours. */
static void compact(struct ty_model *m, const uint32_t *first)
{
	uint32_t w = 0;

	for (uint32_t t = 0; t < m->threads; t++) {
		uint32_t begin = w;

		for (uint32_t i = first[t]; i < first[t + 1]; i++) {
			if (i + 1 < first[t + 1] && m->span_start[i + 1] <= m->span_start[i])
				continue;
			if (w > begin && m->span_state[i] == TY_ST_UNKNOWN &&
			    m->span_state[w - 1] == TY_ST_UNKNOWN) {
				m->span_flags[w - 1] |= m->span_flags[i];
				continue;
			}
			m->span_start[w] = m->span_start[i];
			m->span_cpu[w] = m->span_cpu[i];
			m->span_state[w] = m->span_state[i];
			m->span_flags[w++] = m->span_flags[i];
		}
		m->thread[t].spans_first = begin;
		m->thread[t].spans_n = w - begin;
	}
	m->spans = w;
}

static int spans(struct ty_builder *b, struct ty_model *m, uint32_t *pos)
{
	struct ty_span_log *l = &b->spans;
	size_t threads = b->thread.n;
	uint32_t *first = firsts(l->thread.v, l->thread.n, threads);
	bool ok = first && SCATTER(m->span_start, l->start, l->thread) &&
		  SCATTER(m->span_cpu, l->cpu, l->thread) &&
		  SCATTER(m->span_state, l->state, l->thread) &&
		  SCATTER(m->span_flags, l->flags, l->thread);

	if (ok)
		compact(m, first);
	free(first);
	vec_fini(&l->thread);
	return ok ? 0 : -TY_ENOMEM;
}

static int calls(struct ty_builder *b, struct ty_model *m, uint32_t *pos)
{
	struct ty_call_log *l = &b->calls;
	size_t threads = b->thread.n;
	uint32_t *first = firsts(l->thread.v, l->thread.n, threads);
	bool ok = first && SCATTER(m->sc_start, l->start, l->thread) &&
		  SCATTER(m->sc_end, l->end, l->thread) && SCATTER(m->sc_ret, l->ret, l->thread) &&
		  SCATTER(m->sc_loc, l->loc, l->thread) && SCATTER(m->sc_nr, l->nr, l->thread) &&
		  SCATTER(m->sc_flags, l->flags, l->thread) &&
		  SCATTER(m->sc_abi, l->abi, l->thread) && SCATTER(m->sc_cpu, l->cpu, l->thread);

	for (size_t t = 0; ok && t < threads; t++) {
		m->thread[t].syscalls_first = first[t];
		m->thread[t].syscalls_n = first[t + 1] - first[t];
		/* Calls of one thread follow each other; what a damaged file makes overlap is cut,
		 * so that searches stay right. */
		for (uint32_t i = first[t] + 1; i < first[t + 1]; i++) {
			if (m->sc_start[i] < m->sc_end[i - 1])
				m->sc_start[i] = m->sc_end[i - 1];
			if (m->sc_end[i] < m->sc_start[i])
				m->sc_end[i] = m->sc_start[i];
		}
	}
	m->syscalls = (uint32_t)l->thread.n;
	free(first);
	vec_fini(&l->thread);
	return ok ? 0 : -TY_ENOMEM;
}

static int edges(struct ty_builder *b, struct ty_model *m, uint32_t *pos)
{
	struct ty_edge_log *l = &b->edges;
	size_t threads = b->thread.n;
	uint32_t *first = m->edge_first = firsts(l->target.v, l->target.n, threads);
	bool ok = first && SCATTER(m->edge_ts, l->ts, l->target) &&
		  SCATTER(m->edge_loc, l->loc, l->target) &&
		  SCATTER(m->edge_waker, l->waker, l->target) &&
		  SCATTER(m->edge_cpu, l->cpu, l->target) &&
		  SCATTER(m->edge_target_cpu, l->target_cpu, l->target) &&
		  SCATTER(m->edge_context, l->context, l->target);

	m->edges = (uint32_t)l->target.n;
	vec_fini(&l->target);
	return ok ? 0 : -TY_ENOMEM;
}

static int migrations(struct ty_builder *b, struct ty_model *m, uint32_t *pos)
{
	struct ty_mig_log *l = &b->migs;
	size_t threads = b->thread.n;
	uint32_t *first = m->mig_first = firsts(l->thread.v, l->thread.n, threads);
	bool ok = first && SCATTER(m->mig_ts, l->ts, l->thread);

	m->migs = (uint32_t)l->thread.n;
	vec_fini(&l->thread);
	return ok ? 0 : -TY_ENOMEM;
}

static int names(struct ty_builder *b, struct ty_model *m, uint32_t *pos)
{
	struct ty_name_log *l = &b->names;
	size_t threads = b->thread.n;
	uint32_t *first = firsts(l->thread.v, l->thread.n, threads);
	bool ok = first && SCATTER(m->name, l->at, l->thread);

	for (size_t t = 0; ok && t < threads; t++) {
		m->thread[t].names_first = first[t];
		m->thread[t].names_n = first[t + 1] - first[t];
	}
	m->names = (uint32_t)l->thread.n;
	free(first);
	vec_fini(&l->thread);
	return ok ? 0 : -TY_ENOMEM;
}

static int by_tid(const void *pa, const void *pb)
{
	const struct ty_tid_entry *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int tids(struct ty_builder *b, struct ty_model *m)
{
	size_t n = b->thread.n, k = 0;

	m->tid = malloc((n + b->alias.n + 1) * sizeof(*m->tid));
	if (!m->tid)
		return -TY_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct ty_thread *t = &b->thread.v[i].pub;

		m->tid[k++] = (struct ty_tid_entry){t->tid, (uint32_t)i, t->start_ns, t->end_ns};
	}
	for (size_t i = 0; i < b->alias.n; i++) {
		const struct ty_tid_entry *a = &b->alias.v[i];

		m->tid[k++] = *a;
		/* Under its present tid it lives since the exec only. */
		if (m->tid[a->thread].from_ns < a->to_ns)
			m->tid[a->thread].from_ns = a->to_ns;
	}
	m->tids = (uint32_t)k;
	qsort(m->tid, k, sizeof(*m->tid), by_tid);
	return 0;
}

static int forests(struct ty_model *m)
{
	m->span_forest = calloc(m->threads + 1, sizeof(*m->span_forest));
	m->sc_forest = calloc(m->threads + 1, sizeof(*m->sc_forest));
	if (!m->span_forest || !m->sc_forest)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < m->threads; i++) {
		const struct ty_thread *t = &m->thread[i];

		if (t->spans_n > TY_FOREST_SMALL) {
			struct ty_forest_column col = {m->span_start + t->spans_first,
						       NULL,
						       t->end_ns,
						       m->span_state + t->spans_first,
						       m->span_flags + t->spans_first,
						       t->spans_n};

			m->span_forest[i] = ty_forest_new(&col);
			if (!m->span_forest[i])
				return -TY_ENOMEM;
		}
		if (t->syscalls_n > TY_FOREST_SMALL) {
			struct ty_forest_column col = {m->sc_start + t->syscalls_first,
						       m->sc_end + t->syscalls_first,
						       0,
						       NULL,
						       m->sc_flags + t->syscalls_first,
						       t->syscalls_n};

			m->sc_forest[i] = ty_forest_new(&col);
			if (!m->sc_forest[i])
				return -TY_ENOMEM;
		}
	}
	for (uint32_t c = 0; c < m->sum.cpus; c++) {
		struct ty_cpu_track *t = &m->cpu[c];
		struct ty_forest_column col = {t->start.v, NULL,       m->sum.end_ns,
					       t->state.v, t->flags.v, (uint32_t)t->start.n};

		if (col.n > TY_FOREST_SMALL && !(t->forest = ty_forest_new(&col)))
			return -TY_ENOMEM;
	}
	return 0;
}

#define TRIM(vec)                                                                                  \
	do {                                                                                       \
		void *p_ = (vec)->n ? realloc((vec)->v, (vec)->n * sizeof(*(vec)->v)) : NULL;      \
		if (p_) {                                                                          \
			(vec)->v = p_;                                                             \
			(vec)->cap = (vec)->n;                                                     \
		}                                                                                  \
	} while (0)

/* CPU tracks, names and small tables are taken over as they are. */
static int take(struct ty_builder *b, struct ty_model *m)
{
	m->cpu = calloc(b->cpus + 1, sizeof(*m->cpu));
	m->thread = calloc(b->thread.n + 1, sizeof(*m->thread));
	if (!m->cpu || !m->thread)
		return -TY_ENOMEM;
	for (uint32_t c = 0; c < b->cpus; c++) {
		struct ty_cpu_track *t = &b->cpu[c].track;

		TRIM(&t->start);
		TRIM(&t->thread);
		TRIM(&t->state);
		TRIM(&t->flags);
		TRIM(&t->irq);
		TRIM(&t->point);
		m->cpu[c] = *t;
		memset(t, 0, sizeof(*t));
	}
	m->sum.cpus = b->cpus;
	for (size_t i = 0; i < b->thread.n; i++) {
		struct ty_thread *t = &b->thread.v[i].pub;

		/* With -a every user thread's calls are recorded. */
		if (b->all_mode && m->sum.has_syscalls && !t->kernel)
			t->traced = true;
		m->thread[i] = *t;
	}
	m->threads = m->sum.threads = (uint32_t)b->thread.n;
	m->strs = b->strs;
	b->strs = NULL;
	TRIM(&b->ios.io);
	memcpy(&m->io, &b->ios.io, sizeof(m->io));
	memset(&b->ios.io, 0, sizeof(b->ios.io));
	memcpy(&m->gaps, &b->gap_spans, sizeof(m->gaps));
	memset(&b->gap_spans, 0, sizeof(b->gap_spans));
	memcpy(&m->clock, &b->clock, sizeof(m->clock));
	memset(&b->clock, 0, sizeof(b->clock));
	m->event_count = b->event_count;
	b->event_count = NULL;
	for (m->event_ids = 65536; m->event_ids && !m->event_count[m->event_ids - 1];)
		m->event_ids--;
	return 0;
}

int ty_finish_columns(struct ty_builder *b, uint64_t end, struct ty_model *m)
{
	uint32_t *pos;
	int r;

	b->sum.end_ns = end;
	ty_calls_finish(b, end);
	ty_points_finish(b, end);
	close_all(b, end);
	if (b->failed)
		return b->failed;
	m->sum = b->sum;
	m->sum.cpus = 0;
	pos = malloc((b->thread.n + 1) * sizeof(*pos));
	r = pos ? take(b, m) : -TY_ENOMEM;
	r = r ? r : spans(b, m, pos);
	r = r ? r : calls(b, m, pos);
	r = r ? r : ty_gap_doubt(b, m);
	r = r ? r : edges(b, m, pos);
	r = r ? r : migrations(b, m, pos);
	r = r ? r : names(b, m, pos);
	r = r ? r : tids(b, m);
	r = r ? r : forests(m);
	free(pos);
	return r;
}

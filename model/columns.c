/* SPDX-License-Identifier: MIT */
/*
 * Reading the columns: every public question about a finished model. All are O(log n); none
 * allocates. Indices out of range give empty answers, never undefined ones.
 */
#include "model_priv.h"

#include <stdlib.h>
#include <string.h>

char ty_state_letter(enum ty_state s)
{
	switch (s) {
#define X(name, letter, text)                                                                      \
	case TY_ST_##name: return letter;
		TY_STATES(X)
#undef X
	default: return '?';
	}
}

const char *ty_state_name(enum ty_state s)
{
	switch (s) {
#define X(name, letter, text)                                                                      \
	case TY_ST_##name: return text;
		TY_STATES(X)
#undef X
	default: return "unknown";
	}
}

void ty_model_free(struct ty_model *m)
{
	if (!m)
		return;
	for (uint32_t c = 0; m->cpu && c < m->sum.cpus; c++) {
		struct ty_cpu_track *t = &m->cpu[c];

		vec_fini(&t->start);
		vec_fini(&t->thread);
		vec_fini(&t->state);
		vec_fini(&t->flags);
		vec_fini(&t->irq);
		vec_fini(&t->point);
		ty_forest_free(t->forest);
	}
	free(m->cpu);
	for (uint32_t i = 0; i < m->threads; i++) {
		if (m->span_forest)
			ty_forest_free(m->span_forest[i]);
		if (m->sc_forest)
			ty_forest_free(m->sc_forest[i]);
	}
	free(m->span_forest);
	free(m->sc_forest);
	ty_strtab_free(m->strs);
	free(m->thread);
	free(m->name);
	free(m->tid);
	free(m->span_start);
	free(m->span_cpu);
	free(m->span_state);
	free(m->span_flags);
	free(m->sc_start);
	free(m->sc_end);
	free(m->sc_ret);
	free(m->sc_loc);
	free(m->sc_nr);
	free(m->sc_flags);
	free(m->sc_abi);
	free(m->sc_cpu);
	free(m->edge_first);
	free(m->edge_ts);
	free(m->edge_loc);
	free(m->edge_waker);
	free(m->edge_cpu);
	free(m->edge_target_cpu);
	free(m->edge_context);
	free(m->mig_first);
	free(m->mig_ts);
	vec_fini(&m->io);
	vec_fini(&m->gaps);
	vec_fini(&m->clock);
	free(m->event_count);
	free(m);
}

const struct ty_summary *ty_model_summary(const struct ty_model *m)
{
	return &m->sum;
}

const char *ty_model_str(const struct ty_model *m, uint32_t id)
{
	return ty_strtab_get(m->strs, id);
}

/* threads ----------------------------------------------------------------------------------- */

const struct ty_thread *ty_model_thread(const struct ty_model *m, uint32_t thread)
{
	static const struct ty_thread none = {.tid = -1, .tgid = -1, .ppid = -1, .forked_by = -1};

	return thread < m->threads ? &m->thread[thread] : &none;
}

uint32_t ty_model_thread_find(const struct ty_model *m, int32_t tid, uint64_t t_ns)
{
	uint32_t lo = 0, hi = m->tids, best = TY_NONE;

	/* The last entry of this tid that begins at or before t, else its first. */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct ty_tid_entry *e = &m->tid[mid];

		if (e->tid < tid || (e->tid == tid && e->from_ns <= t_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && m->tid[lo - 1].tid == tid)
		best = lo - 1;
	if (lo < m->tids && m->tid[lo].tid == tid) {
		if (best == TY_NONE)
			best = lo;
		else if (t_ns >= m->tid[best].to_ns &&
			 m->tid[lo].from_ns - t_ns < t_ns - m->tid[best].to_ns)
			best = lo;
	}
	return best == TY_NONE ? TY_NONE : m->tid[best].thread;
}

const struct ty_name_at *ty_model_names(const struct ty_model *m, uint32_t thread, uint32_t *n)
{
	*n = thread < m->threads ? m->thread[thread].names_n : 0;
	return *n ? m->name + m->thread[thread].names_first : NULL;
}

const char *ty_model_comm(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	uint32_t n, lo = 0, hi;
	const struct ty_name_at *at = ty_model_names(m, thread, &n);

	for (hi = n; lo < hi;) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (at[mid].from_ns <= t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return n ? ty_model_str(m, at[lo ? lo - 1 : 0].str) : "";
}

/* edges ------------------------------------------------------------------------------------- */

/* Thread of an index into columns sorted by thread: the last one whose first[] is <= i. */
#define OWNER(m, i, FIRST)                                                                         \
	({                                                                                         \
		uint32_t lo_ = 0, hi_ = (m)->threads;                                              \
		while (lo_ < hi_) {                                                                \
			uint32_t mid_ = lo_ + (hi_ - lo_) / 2;                                     \
			if ((FIRST) <= (i))                                                        \
				lo_ = mid_ + 1;                                                    \
			else                                                                       \
				hi_ = mid_;                                                        \
		}                                                                                  \
		lo_ ? lo_ - 1 : TY_NONE;                                                           \
	})

/* The first of v[lo..hi) that is > t. */
static uint32_t after(const uint64_t *v, uint32_t lo, uint32_t hi, uint64_t t)
{
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v[mid] <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t ty_model_edges(const struct ty_model *m)
{
	return m->edges;
}

struct ty_edge ty_model_edge(const struct ty_model *m, uint32_t edge)
{
	if (edge >= m->edges)
		return (struct ty_edge){.waker = TY_NONE,
					.target = TY_NONE,
					.cpu = TY_NONE,
					.target_cpu = TY_NONE,
					.loc = TY_NO_LOC};
	return (struct ty_edge){
		.ts_ns = m->edge_ts[edge],
		.waker = m->edge_waker[edge],
		.target = OWNER(m, edge, m->edge_first[mid_]),
		.cpu = m->edge_cpu[edge] == TY_NO_CPU ? TY_NONE : m->edge_cpu[edge],
		.target_cpu =
			m->edge_target_cpu[edge] == TY_NO_CPU ? TY_NONE : m->edge_target_cpu[edge],
		.context = m->edge_context[edge],
		.loc = m->edge_loc[edge],
	};
}

/* The wakeup behind a RUNNABLE span that starts at t: the last one of the thread up to t. Preempted
 * and unsure spans have none. */
static uint32_t edge_of(const struct ty_model *m, uint32_t thread, uint64_t t, uint8_t flags)
{
	uint32_t first = m->edge_first[thread], i;

	if (flags & (TY_SF_PREEMPT | TY_SF_YIELD | TY_SF_BEFORE))
		return TY_NONE;
	i = after(m->edge_ts, first, m->edge_first[thread + 1], t);
	return i > first ? i - 1 : TY_NONE;
}

/* Elements of the sorted v[lo..hi) in [from, to). */
static uint32_t between(const uint64_t *v, uint32_t lo, uint32_t hi, uint64_t from, uint64_t to)
{
	uint32_t a = from ? after(v, lo, hi, from - 1) : lo, b = to ? after(v, lo, hi, to - 1) : lo;

	return b > a ? b - a : 0;
}

uint32_t ty_model_migrations(const struct ty_model *m, uint32_t thread, uint64_t from_ns,
			     uint64_t to_ns)
{
	if (thread >= m->threads)
		return 0;
	return between(m->mig_ts, m->mig_first[thread], m->mig_first[thread + 1], from_ns, to_ns);
}

uint32_t ty_model_wakeups(const struct ty_model *m, uint32_t thread, uint64_t from_ns,
			  uint64_t to_ns)
{
	if (thread >= m->threads)
		return 0;
	return between(m->edge_ts, m->edge_first[thread], m->edge_first[thread + 1], from_ns,
		       to_ns);
}

/* thread spans ------------------------------------------------------------------------------ */

struct ty_span ty_model_span_brief(const struct ty_model *m, uint32_t thread, uint32_t span)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t i = span - t->spans_first;

	if (i >= t->spans_n)
		return (struct ty_span){
			.thread = TY_NONE, .cpu = TY_NONE, .edge = TY_NONE, .syscall = TY_NONE};
	return (struct ty_span){
		.start_ns = m->span_start[span],
		.end_ns = i + 1 < t->spans_n ? m->span_start[span + 1] : t->end_ns,
		.thread = thread,
		.cpu = m->span_cpu[span] == TY_NO_CPU ? TY_NONE : m->span_cpu[span],
		.edge = TY_NONE,
		.syscall = TY_NONE,
		.state = m->span_state[span],
		.flags = m->span_flags[span],
	};
}

struct ty_span ty_model_span(const struct ty_model *m, uint32_t span)
{
	uint32_t thread = span < m->spans ? OWNER(m, span, m->thread[mid_].spans_first) : TY_NONE;
	struct ty_span s = ty_model_span_brief(m, thread, span);
	const struct ty_thread *t;

	if (s.thread == TY_NONE)
		return s;
	t = &m->thread[thread];
	s.syscall = ty_model_syscall_at(m, thread, s.start_ns);
	if (s.state == TY_ST_RUNNABLE) {
		s.edge = edge_of(m, thread, s.start_ns, s.flags);
	} else if (s.state == TY_ST_SLEEPING || s.state == TY_ST_BLOCKED ||
		   s.state == TY_ST_STOPPED) {
		uint32_t next = span + 1;

		if (next - t->spans_first < t->spans_n && m->span_state[next] == TY_ST_RUNNABLE)
			s.edge = edge_of(m, thread, m->span_start[next], m->span_flags[next]);
	}
	return s;
}

uint32_t ty_model_span_find(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t i = after(m->span_start, t->spans_first, t->spans_first + t->spans_n, t_ns);

	if (!t->spans_n)
		return TY_NONE;
	return i > t->spans_first ? i - 1 : i;
}

/* CPU tracks -------------------------------------------------------------------------------- */

uint32_t ty_model_cpu_spans(const struct ty_model *m, uint32_t cpu)
{
	return cpu < m->sum.cpus ? (uint32_t)m->cpu[cpu].start.n : 0;
}

struct ty_span ty_model_cpu_span_brief(const struct ty_model *m, uint32_t cpu, uint32_t i)
{
	const struct ty_cpu_track *c;

	if (i >= ty_model_cpu_spans(m, cpu))
		return (struct ty_span){
			.thread = TY_NONE, .cpu = TY_NONE, .edge = TY_NONE, .syscall = TY_NONE};
	c = &m->cpu[cpu];
	return (struct ty_span){
		.start_ns = c->start.v[i],
		.end_ns = i + 1 < c->start.n ? c->start.v[i + 1] : m->sum.end_ns,
		.thread = c->thread.v[i],
		.cpu = cpu,
		.edge = TY_NONE,
		.syscall = TY_NONE,
		.state = c->state.v[i],
		.flags = c->flags.v[i],
	};
}

struct ty_span ty_model_cpu_span(const struct ty_model *m, uint32_t cpu, uint32_t i)
{
	struct ty_span s = ty_model_cpu_span_brief(m, cpu, i);

	if (s.thread != TY_NONE)
		s.syscall = ty_model_syscall_at(m, s.thread, s.start_ns);
	return s;
}

uint32_t ty_model_cpu_span_find(const struct ty_model *m, uint32_t cpu, uint64_t t_ns)
{
	uint32_t n = ty_model_cpu_spans(m, cpu), i;

	if (!n)
		return TY_NONE;
	i = after(m->cpu[cpu].start.v, 0, n, t_ns);
	return i ? i - 1 : 0;
}

uint32_t ty_model_irq_spans(const struct ty_model *m, uint32_t cpu)
{
	return cpu < m->sum.cpus ? (uint32_t)m->cpu[cpu].irq.n : 0;
}

struct ty_irq_span ty_model_irq_span(const struct ty_model *m, uint32_t cpu, uint32_t i)
{
	const struct ty_irq_packed *p;

	if (i >= ty_model_irq_spans(m, cpu))
		return (struct ty_irq_span){0};
	p = &m->cpu[cpu].irq.v[i];
	return (struct ty_irq_span){p->start_ns, p->end_ns, p->vec, p->name, p->kind, p->flags};
}

/* system calls ------------------------------------------------------------------------------ */

struct ty_syscall ty_model_syscall_brief(const struct ty_model *m, uint32_t thread, uint32_t i)
{
	if (i >= m->syscalls)
		return (struct ty_syscall){
			.thread = TY_NONE, .cpu = TY_NONE, .nr = -1, .loc = TY_NO_LOC};
	return (struct ty_syscall){
		.start_ns = m->sc_start[i],
		.end_ns = m->sc_end[i],
		.thread = thread,
		.nr = m->sc_nr[i],
		.ret = m->sc_ret[i],
		.flags = m->sc_flags[i],
		.abi = m->sc_abi[i],
		.cpu = m->sc_cpu[i] == TY_NO_CPU ? TY_NONE : m->sc_cpu[i],
		.loc = m->sc_loc[i],
	};
}

struct ty_syscall ty_model_syscall(const struct ty_model *m, uint32_t i)
{
	uint32_t thread = i < m->syscalls ? OWNER(m, i, m->thread[mid_].syscalls_first) : TY_NONE;

	return ty_model_syscall_brief(m, thread, i);
}

uint32_t ty_model_syscall_after(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t to = t->syscalls_first + t->syscalls_n,
		 i = after(m->sc_end, t->syscalls_first, to, t_ns);

	return i < to ? i : TY_NONE;
}

uint32_t ty_model_syscall_at(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	uint32_t i = ty_model_syscall_after(m, thread, t_ns);

	return i != TY_NONE && m->sc_start[i] <= t_ns ? i : TY_NONE;
}

/* loss, clocks, counts ---------------------------------------------------------------------- */

const struct ty_gap_span *ty_model_gaps(const struct ty_model *m, uint32_t *n)
{
	*n = (uint32_t)m->gaps.n;
	return m->gaps.v;
}

const struct ty_clock_point *ty_model_clock(const struct ty_model *m, uint32_t *n)
{
	*n = (uint32_t)m->clock.n;
	return m->clock.v;
}

bool ty_model_realtime(const struct ty_model *m, uint64_t t_ns, uint64_t *realtime_ns)
{
	size_t lo = 0, hi = m->clock.n;
	const struct ty_clock_point *a, *b;

	if (!m->clock.n)
		return false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->clock.v[mid].ts_ns <= t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	a = &m->clock.v[lo ? lo - 1 : 0];
	*realtime_ns = a->realtime_ns + (t_ns - a->ts_ns); /* wraps rightly before the first */
	if (lo && lo < m->clock.n) {
		/* Between two points: both clocks may be steered, or set. */
		b = &m->clock.v[lo];
		if (b->ts_ns > a->ts_ns && b->realtime_ns >= a->realtime_ns)
			*realtime_ns =
				a->realtime_ns +
				(uint64_t)((unsigned __int128)(b->realtime_ns - a->realtime_ns) *
					   (t_ns - a->ts_ns) / (b->ts_ns - a->ts_ns));
	}
	return true;
}

const uint64_t *ty_model_event_counts(const struct ty_model *m, uint32_t *n)
{
	*n = m->event_ids;
	return m->event_count;
}

/* cells ------------------------------------------------------------------------------------- */

void ty_model_cells(const struct ty_model *m, struct ty_track track, uint64_t from_ns,
		    uint64_t to_ns, uint32_t n, struct ty_cell *out)
{
	struct ty_forest_column col = {0};
	const struct ty_forest *f = NULL;
	uint32_t base = 0;

	if (track.kind == TY_TRACK_CPU && track.id < m->sum.cpus) {
		const struct ty_cpu_track *c = &m->cpu[track.id];

		f = c->forest;
		col = (struct ty_forest_column){c->start.v, NULL,	m->sum.end_ns,
						c->state.v, c->flags.v, (uint32_t)c->start.n};
	} else if (track.id < m->threads && track.kind == TY_TRACK_THREAD) {
		const struct ty_thread *t = &m->thread[track.id];

		base = t->spans_first;
		f = m->span_forest[track.id];
		col = (struct ty_forest_column){
			m->span_start + base, NULL,	 t->end_ns, m->span_state + base,
			m->span_flags + base, t->spans_n};
	} else if (track.id < m->threads && track.kind == TY_TRACK_SYSCALLS) {
		const struct ty_thread *t = &m->thread[track.id];

		base = t->syscalls_first;
		f = m->sc_forest[track.id];
		col = (struct ty_forest_column){m->sc_start + base, m->sc_end + base, 0, NULL,
						m->sc_flags + base, t->syscalls_n};
	}
	for (uint32_t i = 0; i < n; i++) {
		unsigned __int128 w = to_ns > from_ns ? to_ns - from_ns : 0;
		uint64_t a = from_ns + (uint64_t)(w * i / n),
			 b = from_ns + (uint64_t)(w * (i + 1) / n);

		if (f)
			ty_forest_query(f, a, b, &out[i]);
		else
			ty_forest_scan(&col, a, b, &out[i]);
		if (out[i].longest != TY_NONE)
			out[i].longest += base;
		if (out[i].longest_whole != TY_NONE)
			out[i].longest_whole += base;
	}
}

uint64_t ty_model_bytes(const struct ty_model *m)
{
	uint64_t n = sizeof(*m);

	n += (uint64_t)m->threads *
	     (sizeof(*m->thread) + 2 * sizeof(*m->edge_first) + 2 * sizeof(void *));
	n += (uint64_t)m->names * sizeof(*m->name) + (uint64_t)m->tids * sizeof(*m->tid);
	n += (uint64_t)m->spans * (8 + 2 + 1 + 1);
	n += (uint64_t)m->syscalls * (8 + 8 + 8 + 8 + 4 + 2 + 1 + 1);
	n += (uint64_t)m->edges * (8 + 8 + 4 + 2 + 2 + 1) + (uint64_t)m->migs * 8;
	for (uint32_t c = 0; c < m->sum.cpus; c++) {
		const struct ty_cpu_track *t = &m->cpu[c];

		n += sizeof(*t) + t->start.cap * 8 + t->thread.cap * 4 + t->state.cap +
		     t->flags.cap + t->irq.cap * sizeof(*t->irq.v) +
		     t->point.cap * sizeof(*t->point.v) + ty_forest_bytes(t->forest);
	}
	for (uint32_t i = 0; i < m->threads; i++)
		n += ty_forest_bytes(m->span_forest[i]) + ty_forest_bytes(m->sc_forest[i]);
	n += m->io.cap * sizeof(*m->io.v);
	n += m->gaps.cap * sizeof(*m->gaps.v) + m->clock.cap * sizeof(*m->clock.v);
	return n + (uint64_t)m->event_ids * 8;
}

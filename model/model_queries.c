/* SPDX-License-Identifier: MIT */
/*
 * All public queries of a finished model. All are O(log n); none allocates. Indices out of range
 * give empty results, never undefined ones.
 */
#include "forest.h"
#include "model_priv.h"
#include "partition.h"

#include <stdlib.h>

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
	for (unsigned i = 0; i < TY_TABLES; i++)
		ty_table_detach(&m->t[i]);
	ty_store_free(m->store);
	ty_titles_free(m->titles);
	free(m);
}

void ty_model_leave(struct ty_model *m)
{
	if (m)
		m->store->leaving = true;
}

bool ty_model_damaged(const struct ty_model *m)
{
	return __atomic_load_n(&m->damaged, __ATOMIC_RELAXED);
}

const struct ty_summary *ty_model_summary(const struct ty_model *m)
{
	return &m->sum;
}

uint64_t ty_model_origin_ns(const struct ty_model *m)
{
	return m->origin_ns && m->origin_ns < m->sum.start_ns ? m->origin_ns : m->sum.start_ns;
}

void ty_model_set_origin(struct ty_model *m, uint64_t origin_ns)
{
	m->origin_ns = origin_ns;
}

const char *ty_model_noun(const struct ty_model *m)
{
	return m->part ? "part" : "recording";
}

bool ty_model_is_part(const struct ty_model *m)
{
	return m->part;
}

void ty_model_set_part(struct ty_model *m)
{
	m->part = true;
}

const char *ty_model_str(const struct ty_model *m, uint32_t id)
{
	return id < m->strs ? m->str + m->str_off[id] : "";
}

/* threads ----------------------------------------------------------------------------------- */

const struct ty_thread *ty_model_thread(const struct ty_model *m, uint32_t thread)
{
	static const struct ty_thread none = {.tid = -1, .tgid = -1, .ppid = -1, .forked_by = -1};

	return thread < m->threads ? &m->thread[thread] : &none;
}

uint32_t ty_model_thread_find(const struct ty_model *m, int32_t tid, uint64_t t_ns)
{
	uint32_t best = TY_NONE;
	/* The last entry of this tid that begins at or before t, else its first. */
	uint32_t lo = partition_point(i, 0, m->tids,
				      m->tid[i].tid < tid ||
					      (m->tid[i].tid == tid && m->tid[i].from_ns <= t_ns));

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

int32_t ty_model_tid(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	int32_t tid = ty_model_thread(m, thread)->tid;
	uint32_t lo = partition_point(i, 0, m->tids,
				      m->tid[i].tid < tid ||
					      (m->tid[i].tid == tid && m->tid[i].from_ns <= t_ns));

	if (lo && m->tid[lo - 1].tid == tid && m->tid[lo - 1].thread == thread)
		return tid;
	/* Before it lived under this tid. */
	for (uint32_t i = 0; i < m->tids; i++)
		if (m->tid[i].thread == thread && m->tid[i].from_ns <= t_ns &&
		    m->tid[i].to_ns > t_ns)
			return m->tid[i].tid;
	return tid;
}

const struct ty_name_at *ty_model_names(const struct ty_model *m, uint32_t thread, uint32_t *n)
{
	*n = thread < m->threads ? m->thread[thread].names_n : 0;
	return *n ? m->name + m->thread[thread].names_first : NULL;
}

const char *ty_model_comm(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	uint32_t n;
	const struct ty_name_at *at = ty_model_names(m, thread, &n);
	uint32_t lo = partition_point(i, 0, n, at[i].from_ns <= t_ns);

	return n ? ty_model_str(m, at[lo ? lo - 1 : 0].str) : "";
}

/* rows -------------------------------------------------------------------------------------- */

/* Numbers of threads, states and CPUs may come from a file: invalid ones are not passed on. */
static uint32_t thread_of(const struct ty_model *m, uint64_t thread1)
{
	return thread1 && thread1 <= m->threads ? (uint32_t)thread1 - 1 : TY_NONE;
}

static uint32_t cpu_of(uint64_t cpu1)
{
	return cpu1 && cpu1 <= TY_NO_CPU ? (uint32_t)cpu1 - 1 : TY_NONE;
}

static ty_loc loc_of(uint64_t high, uint64_t low)
{
	return (high << 52 | (low & TY_LOC_LOW)) - 1;
}

static uint8_t state_of(uint64_t state)
{
	return state < TY_ST_COUNT ? (uint8_t)state : TY_ST_UNKNOWN;
}

/* A row's columns: its block is looked up once. */
#define ROW(t, track, row)                                                                         \
	const uint8_t *block_ =                                                                    \
		ty_table_block((t), (t)->block_first[track] + (row) / TY_BLOCK_ROWS);              \
	uint32_t row_ = (row) % TY_BLOCK_ROWS
#define COL(c)		       ty_block_value(block_, c, row_)
#define ROW_END(t, track, row) ty_table_end(t, track, row, block_, COL(0))

/* Rows of the track in [from, to). */
static uint32_t between(const struct ty_table *t, uint32_t track, uint64_t from, uint64_t to)
{
	uint32_t a = ty_table_before(t, track, from), b = ty_table_before(t, track, to);

	return b > a ? b - a : 0;
}

/* Rows of the track with start <= t. */
static uint32_t up_to(const struct ty_table *t, uint32_t track, uint64_t t_ns)
{
	return t_ns == UINT64_MAX ? ty_table_rows(t, track) : ty_table_before(t, track, t_ns + 1);
}

/* edges ------------------------------------------------------------------------------------- */

struct ty_edge ty_model_edge(const struct ty_model *m, uint32_t edge)
{
	const struct ty_table *t = &m->t[TY_T_EDGES];
	uint32_t target = ty_table_owner(t, edge), i;

	if (target == TY_NONE)
		return (struct ty_edge){.waker = TY_NONE,
					.target = TY_NONE,
					.cpu = TY_NONE,
					.target_cpu = TY_NONE,
					.loc = TY_NO_LOC};
	i = edge - t->row_first[target];
	ROW(t, target, i);
	return (struct ty_edge){
		.ts_ns = COL(TY_EDGE_TS),
		.waker = thread_of(m, COL(TY_EDGE_WAKER)),
		.target = target,
		.cpu = cpu_of(COL(TY_EDGE_CPU)),
		.target_cpu = cpu_of(COL(TY_EDGE_TARGET_CPU)),
		.context = (uint8_t)COL(TY_EDGE_CONTEXT),
		.loc = loc_of(COL(TY_EDGE_LOC_HIGH), COL(TY_EDGE_LOC)),
	};
}

/* The wakeup behind a RUNNABLE span that starts at t: the last one of the thread up to t. Preempted
 * and unsure spans have none. */
static uint32_t edge_of(const struct ty_model *m, uint32_t thread, uint64_t t, uint8_t flags)
{
	uint32_t n;

	if (flags & (TY_SF_PREEMPT | TY_SF_YIELD | TY_SF_BEFORE))
		return TY_NONE;
	n = up_to(&m->t[TY_T_EDGES], thread, t);
	return n ? m->t[TY_T_EDGES].row_first[thread] + n - 1 : TY_NONE;
}

/* The wakeup at t: an inferred run begins with it if it is unknown how long the thread was
 * runnable. */
static uint32_t edge_at(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	uint32_t edge = edge_of(m, thread, t, 0);

	return edge != TY_NONE && ty_model_edge(m, edge).ts_ns == t ? edge : TY_NONE;
}

uint32_t ty_model_migrations(const struct ty_model *m, uint32_t thread, uint64_t from_ns,
			     uint64_t to_ns)
{
	return between(&m->t[TY_T_MIGS], thread, from_ns, to_ns);
}

uint32_t ty_model_wakeups(const struct ty_model *m, uint32_t thread, uint64_t from_ns,
			  uint64_t to_ns)
{
	return between(&m->t[TY_T_EDGES], thread, from_ns, to_ns);
}

/* thread spans ------------------------------------------------------------------------------ */

struct ty_span ty_model_span_brief(const struct ty_model *m, uint32_t thread, uint32_t span)
{
	const struct ty_table *t = &m->t[TY_T_SPANS];
	uint32_t i = span - ty_model_thread(m, thread)->spans_first;

	if (i >= ty_table_rows(t, thread))
		return (struct ty_span){
			.thread = TY_NONE, .cpu = TY_NONE, .edge = TY_NONE, .syscall = TY_NONE};
	ROW(t, thread, i);
	return (struct ty_span){
		.start_ns = COL(TY_SPAN_START),
		.end_ns = ROW_END(t, thread, i),
		.thread = thread,
		.cpu = cpu_of(COL(TY_SPAN_CPU)),
		.edge = TY_NONE,
		.syscall = TY_NONE,
		.state = state_of(COL(TY_SPAN_STATE)),
		.flags = (uint8_t)COL(TY_SPAN_FLAGS),
	};
}

uint32_t ty_model_span_edge(const struct ty_model *m, const struct ty_span *s, uint32_t span)
{
	struct ty_span next;

	if (s->thread == TY_NONE)
		return TY_NONE;
	if (s->state == TY_ST_RUNNABLE)
		return edge_of(m, s->thread, s->start_ns, s->flags);
	if (s->state != TY_ST_SLEEPING && s->state != TY_ST_BLOCKED && s->state != TY_ST_STOPPED)
		return TY_NONE;
	next = ty_model_span_brief(m, s->thread, span + 1);
	if (next.thread != TY_NONE && next.state == TY_ST_RUNNABLE)
		return edge_of(m, s->thread, next.start_ns, next.flags);
	if (next.thread != TY_NONE && next.state == TY_ST_RUNNING)
		return edge_at(m, s->thread, next.start_ns);
	return TY_NONE;
}

struct ty_span ty_model_span(const struct ty_model *m, uint32_t span)
{
	uint32_t thread = ty_table_owner(&m->t[TY_T_SPANS], span);
	struct ty_span s = ty_model_span_brief(m, thread, span);

	if (s.thread == TY_NONE)
		return s;
	s.syscall = ty_model_syscall_at(m, thread, s.start_ns);
	s.edge = ty_model_span_edge(m, &s, span);
	return s;
}

uint32_t ty_model_span_find(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	uint32_t i = up_to(&m->t[TY_T_SPANS], thread, t_ns);

	if (!ty_table_rows(&m->t[TY_T_SPANS], thread))
		return TY_NONE;
	return m->thread[thread].spans_first + (i ? i - 1 : 0);
}

/* CPU tracks -------------------------------------------------------------------------------- */

uint32_t ty_model_cpu_spans(const struct ty_model *m, uint32_t cpu)
{
	return ty_table_rows(&m->t[TY_T_CPU], cpu);
}

struct ty_span ty_model_cpu_span_brief(const struct ty_model *m, uint32_t cpu, uint32_t i)
{
	const struct ty_table *t = &m->t[TY_T_CPU];

	if (i >= ty_table_rows(t, cpu))
		return (struct ty_span){
			.thread = TY_NONE, .cpu = TY_NONE, .edge = TY_NONE, .syscall = TY_NONE};
	ROW(t, cpu, i);
	return (struct ty_span){
		.start_ns = COL(TY_CPU_START),
		.end_ns = ROW_END(t, cpu, i),
		.thread = thread_of(m, COL(TY_CPU_THREAD)),
		.cpu = cpu,
		.edge = TY_NONE,
		.syscall = TY_NONE,
		.state = state_of(COL(TY_CPU_STATE)),
		.flags = (uint8_t)COL(TY_CPU_FLAGS),
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
	uint32_t i = up_to(&m->t[TY_T_CPU], cpu, t_ns);

	if (!ty_model_cpu_spans(m, cpu))
		return TY_NONE;
	return i ? i - 1 : 0;
}

uint32_t ty_model_irq_spans(const struct ty_model *m, uint32_t cpu)
{
	return ty_table_rows(&m->t[TY_T_IRQS], cpu);
}

struct ty_irq_span ty_model_irq_span(const struct ty_model *m, uint32_t cpu, uint32_t i)
{
	const struct ty_table *t = &m->t[TY_T_IRQS];

	if (i >= ty_table_rows(t, cpu))
		return (struct ty_irq_span){0};
	ROW(t, cpu, i);
	return (struct ty_irq_span){COL(TY_IRQ_START),	       ROW_END(t, cpu, i),
				    (uint32_t)COL(TY_IRQ_VEC), (uint32_t)COL(TY_IRQ_NAME),
				    (uint8_t)COL(TY_IRQ_KIND), (uint8_t)COL(TY_IRQ_FLAGS)};
}

uint32_t ty_model_irq_at(const struct ty_model *m, uint32_t cpu, uint64_t t_ns)
{
	return ty_table_before(&m->t[TY_T_IRQS], cpu, t_ns);
}

uint8_t ty_model_irq_kind(const struct ty_model *m, uint32_t cpu, uint32_t i)
{
	ROW(&m->t[TY_T_IRQS], cpu, i);
	return (uint8_t)COL(TY_IRQ_KIND);
}

/* system calls ------------------------------------------------------------------------------ */

struct ty_syscall ty_model_syscall_brief(const struct ty_model *m, uint32_t thread, uint32_t call)
{
	const struct ty_table *t = &m->t[TY_T_CALLS];
	uint32_t i = call - ty_model_thread(m, thread)->syscalls_first;

	if (i >= ty_table_rows(t, thread))
		return (struct ty_syscall){.thread = TY_NONE,
					   .cpu = TY_NONE,
					   .nr = -1,
					   .loc = TY_NO_LOC,
					   .index = TY_NONE};
	ROW(t, thread, i);
	return (struct ty_syscall){
		.start_ns = COL(TY_CALL_START),
		.end_ns = ROW_END(t, thread, i),
		.thread = thread,
		.nr = (int32_t)COL(TY_CALL_NR),
		.ret = (int64_t)COL(TY_CALL_RET),
		.flags = (uint8_t)COL(TY_CALL_FLAGS),
		.abi = (uint8_t)COL(TY_CALL_ABI),
		.cpu = cpu_of(COL(TY_CALL_CPU)),
		.loc = loc_of(COL(TY_CALL_LOC_HIGH), COL(TY_CALL_LOC)),
		.index = call,
	};
}

unsigned ty_model_syscall_args(const struct ty_model *m, const struct ty_syscall *c,
			       uint64_t args[TY_MODEL_ARGS])
{
	const struct ty_table *t = &m->t[TY_T_CALLS];
	uint32_t i = c->index - ty_model_thread(m, c->thread)->syscalls_first;
	uint64_t arg;

	if (i >= ty_table_rows(t, c->thread))
		return 0;
	ROW(t, c->thread, i);
	arg = COL(TY_CALL_ARG);
	if (arg & 3)
		args[0] = arg >> 2;
	if (arg & 2) {
		args[1] = COL(TY_CALL_ARG1);
		args[2] = COL(TY_CALL_ARG2);
	}
	return arg & 3;
}

int32_t ty_model_syscall_nr(const struct ty_model *m, uint32_t thread, uint32_t call, uint8_t *abi)
{
	const struct ty_table *t = &m->t[TY_T_CALLS];
	uint32_t i = call - ty_model_thread(m, thread)->syscalls_first;

	*abi = 0;
	if (i >= ty_table_rows(t, thread))
		return -1;
	ROW(t, thread, i);
	*abi = (uint8_t)COL(TY_CALL_ABI);
	return (int32_t)COL(TY_CALL_NR);
}

uint32_t ty_model_syscall_thread(const struct ty_model *m, uint32_t call)
{
	return ty_table_owner(&m->t[TY_T_CALLS], call);
}

struct ty_syscall ty_model_syscall(const struct ty_model *m, uint32_t call)
{
	return ty_model_syscall_brief(m, ty_model_syscall_thread(m, call), call);
}

uint32_t ty_model_syscall_after(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	const struct ty_table *t = &m->t[TY_T_CALLS];
	uint32_t i = up_to(t, thread, t_ns);

	/* Those from i on begin after t; of those before, only the last can reach beyond it. */
	if (i && ty_table_row_end(t, thread, i - 1) > t_ns)
		i--;
	return i < ty_table_rows(t, thread) ? t->row_first[thread] + i : TY_NONE;
}

uint32_t ty_model_syscall_at(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	const struct ty_table *t = &m->t[TY_T_CALLS];
	uint32_t i = up_to(t, thread, t_ns);

	if (!i || ty_table_row_end(t, thread, i - 1) <= t_ns)
		return TY_NONE;
	return t->row_first[thread] + i - 1;
}

/* points and block requests ----------------------------------------------------------------- */

uint32_t ty_model_points(const struct ty_model *m, uint32_t cpu)
{
	return ty_table_rows(&m->t[TY_T_POINTS], cpu);
}

struct ty_point ty_model_point(const struct ty_model *m, uint32_t cpu, uint32_t i)
{
	const struct ty_table *t = &m->t[TY_T_POINTS];
	struct ty_point p;

	if (i >= ty_table_rows(t, cpu))
		return (struct ty_point){.thread = TY_NONE, .b = TY_NONE, .cpu = TY_NONE};
	ROW(t, cpu, i);
	p = (struct ty_point){COL(TY_POINT_TS),
			      COL(TY_POINT_A),
			      COL(TY_POINT_B),
			      thread_of(m, COL(TY_POINT_THREAD)),
			      cpu,
			      (uint8_t)COL(TY_POINT_KIND),
			      (uint8_t)COL(TY_POINT_CONTEXT)};
	if ((p.kind == TY_PT_SIGNAL || p.kind == TY_PT_PI_SETPRIO) && p.b >= m->threads)
		p.b = TY_NONE;
	return p;
}

uint32_t ty_model_point_after(const struct ty_model *m, uint32_t cpu, uint64_t t_ns)
{
	return ty_table_before(&m->t[TY_T_POINTS], cpu, t_ns);
}

uint32_t ty_model_regions(const struct ty_model *m)
{
	return m->regions;
}

struct ty_region ty_model_region(const struct ty_model *m, uint32_t i)
{
	struct ty_region r = {.thread = TY_NONE, .end_thread = TY_NONE};

	if (i < m->regions)
		r = m->region[i];
	if (r.thread >= m->threads)
		r.thread = TY_NONE;
	if (r.end_thread >= m->threads)
		r.end_thread = TY_NONE;
	if (r.end_ns < r.start_ns)
		r.end_ns = r.start_ns;
	return r;
}

static bool region_before(const struct ty_region *r, uint32_t thread, uint32_t lane, uint64_t t_ns)
{
	return r->thread != thread ? r->thread < thread
	       : r->lane != lane   ? r->lane < lane
				   : r->start_ns < t_ns;
}

uint32_t ty_model_region_from(const struct ty_model *m, uint32_t thread, uint32_t lane,
			      uint64_t start_ns)
{
	return partition_point(i, 0, m->regions,
			       region_before(&m->region[i], thread, lane, start_ns));
}

uint32_t ty_model_region_in(const struct ty_model *m, uint32_t thread, uint32_t lane,
			    uint64_t from_ns, uint64_t to_ns)
{
	uint32_t i = ty_model_region_from(m, thread, lane, from_ns);
	struct ty_region r;

	if (i) {
		r = ty_model_region(m, i - 1);
		if (r.thread == thread && r.lane == lane && r.end_ns > from_ns)
			return i - 1;
	}
	r = ty_model_region(m, i);
	return r.thread == thread && r.lane == lane && r.start_ns < to_ns ? i : TY_NONE;
}

uint32_t ty_model_ios(const struct ty_model *m)
{
	return m->ios;
}

struct ty_io ty_model_io(const struct ty_model *m, uint32_t i)
{
	struct ty_io io = {
		.thread = TY_NONE, .bio_thread = TY_NONE, .cpu = TY_NONE, .end_cpu = TY_NONE};

	if (i < m->ios)
		io = m->io[i];
	if (io.thread >= m->threads)
		io.thread = TY_NONE;
	if (io.bio_thread >= m->threads)
		io.bio_thread = TY_NONE;
	return io;
}

uint32_t ty_model_io_after(const struct ty_model *m, uint64_t t_ns)
{
	return partition_point(i, 0, m->ios, m->io[i].start_ns < t_ns);
}

/* loss, clocks, counts ---------------------------------------------------------------------- */

const struct ty_gap_span *ty_model_gaps(const struct ty_model *m, uint32_t *n)
{
	*n = m->gaps;
	return m->gap;
}

const struct ty_clock_point *ty_model_clock(const struct ty_model *m, uint32_t *n)
{
	*n = m->clocks;
	return m->clock;
}

bool ty_model_realtime(const struct ty_model *m, uint64_t t_ns, uint64_t *realtime_ns)
{
	const struct ty_clock_point *a, *b;
	size_t lo;

	if (!m->clocks)
		return false;
	lo = partition_point(i, 0, m->clocks, m->clock[i].ts_ns <= t_ns);
	a = &m->clock[lo ? lo - 1 : 0];
	*realtime_ns = a->realtime_ns + (t_ns - a->ts_ns); /* wraps rightly before the first */
	if (lo && lo < m->clocks) {
		/* Between two points: both clocks may be steered, or set. */
		b = &m->clock[lo];
		if (b->ts_ns > a->ts_ns && b->realtime_ns >= a->realtime_ns)
			*realtime_ns =
				a->realtime_ns +
				(uint64_t)((unsigned __int128)(b->realtime_ns - a->realtime_ns) *
					   (t_ns - a->ts_ns) / (b->ts_ns - a->ts_ns));
	}
	return true;
}

/* drawing and searching --------------------------------------------------------------------- */

/* The table and track of a row on the screen; the index of its first row in the API. */
static const struct ty_table *table_of(const struct ty_model *m, struct ty_track track,
				       uint32_t *base)
{
	bool of_cpu = track.kind == TY_TRACK_CPU || track.kind == TY_TRACK_IRQS;
	const struct ty_table *t = &m->t[track.kind == TY_TRACK_CPU	 ? TY_T_CPU
					 : track.kind == TY_TRACK_IRQS	 ? TY_T_IRQS
					 : track.kind == TY_TRACK_THREAD ? TY_T_SPANS
									 : TY_T_CALLS];

	*base = of_cpu || track.id >= t->tracks ? 0 : t->row_first[track.id];
	return t;
}

void ty_model_cells(const struct ty_model *m, struct ty_track track, uint64_t from_ns,
		    uint64_t to_ns, uint32_t n, struct ty_cell *out)
{
	uint32_t base;
	const struct ty_table *t = table_of(m, track, &base);

	(track.kind == TY_TRACK_IRQS ? ty_forest_nested_cells
				     : ty_forest_cells)(t, track.id, from_ns, to_ns, n, out);
	for (uint32_t i = 0; base && i < n; i++)
		if (out[i].longest != TY_NONE) {
			out[i].longest += base;
			out[i].longest_whole += base;
		}
}

uint32_t ty_model_seek(const struct ty_model *m, struct ty_track track, const struct ty_seek *q,
		       uint64_t t_ns, bool backward)
{
	uint32_t base, row;
	const struct ty_table *t = table_of(m, track, &base);

	row = ty_forest_seek(t, track.id, q, t_ns, backward);
	return row == TY_NONE ? TY_NONE : base + row;
}

bool ty_model_has_call(const struct ty_model *m, int32_t nr)
{
	unsigned bit = (unsigned)nr % TY_SEEK_NRS;

	return bit / 64 < m->call_nrs && m->call_nr[bit / 64] >> bit % 64 & 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * Converts samples to points (mem_points.h). Budget: 60 ns per sample added (three hash look-ups,
 * whose cache misses overlap those of preceding samples; a thread does the coding); 20 to 30 bytes
 * per point.
 */
#include "mem_build.h"

#include <stdlib.h>

#include "block_coder.h"

#define CODER_ROWS (1u << 15) /* from so many on a thread is worth its fresh memory */

_Static_assert(TY_MEM_GAP == 4 && TY_MEM_LV_COUNT <= 32, "they have 2 and 5 bits");

enum ty_mem_far ty_mem_far(const struct ty_mem_point *o)
{
	if (o->src_flags & (TY_MEM_SRC_PEER | TY_MEM_SRC_HITM | TY_MEM_SRC_REMOTE))
		return TY_MEM_FAR_OTHER;
	if (o->level >= TY_MEM_LV_RAM)
		return TY_MEM_FAR_RAM;
	return o->level == TY_MEM_LV_UNKNOWN ? TY_MEM_FAR_UNKNOWN : TY_MEM_FAR_CACHE;
}

/* filling ------------------------------------------------------------------------------------- */

static int begin(struct ty_mem_points *p, uint64_t memory_bytes)
{
	struct ty_mem_build *b = calloc(1, sizeof(*b));

	/* Half is for the points; the rest for codes, threads and analyses of the points. */
	p->build = b;
	p->store = b ? ty_store_new(memory_bytes ? memory_bytes / 2 : UINT64_MAX) : NULL;
	if (!p->store)
		return -TY_ENOMEM;
	b->max_bytes = memory_bytes / 2;
	ty_table_fill_init(&b->fill, &ty_mem_kind, p->store);
	return 0;
}

int ty_mem_points_begin(struct ty_mem_points *p, const struct ty_mem_stream *stream,
			uint64_t memory_bytes)
{
	int r;

	*p = (struct ty_mem_points){.stream = stream};
	r = begin(p, memory_bytes);
	if (r)
		return r;
	p->build->codes = ty_mem_codes_new(stream);
	return p->build->codes ? 0 : -TY_ENOMEM;
}

int ty_mem_points_part(struct ty_mem_points *p, const struct ty_mem_points *whole,
		       uint64_t memory_bytes)
{
	int r;

	*p = (struct ty_mem_points){.code = whole->code,
				    .codes = whole->codes,
				    .thread = whole->thread,
				    .threads = whole->threads,
				    .gaps_cut = whole->gaps_cut,
				    .stream = whole->stream,
				    .sum.loads_only = whole->sum.loads_only,
				    .width = whole->width};
	r = begin(p, memory_bytes);
	if (!r)
		p->build->part = true;
	return r;
}

static uint16_t cycles(uint32_t v)
{
	return v < UINT16_MAX ? (uint16_t)v : UINT16_MAX;
}

static int add_gap(struct ty_mem_points *p, const struct ty_mem *m)
{
	p->gaps_n++;
	p->unreadable_bytes += m->gap_bytes;
	if (p->gaps.n >= TY_MEM_GAPS_MAX)
		return 0;
	return vec_push(&p->gaps, (struct ty_mem_gap_point){
					  .ts_ns = m->ts_ns,
					  .off = m->off,
					  .bytes = m->gap_bytes,
					  .why = m->gap,
					  .cpu = m->has & TY_MEM_HAS_CPU && m->cpu < UINT16_MAX
							 ? (uint16_t)m->cpu
							 : UINT16_MAX});
}

/* Flags that have the same order in both. */
#define ADDRESSES (TY_MEM_HAS_VA | TY_MEM_HAS_PA)
#define LATENCIES (TY_MEM_HAS_TOTAL | TY_MEM_HAS_ISSUE | TY_MEM_HAS_XLAT)
_Static_assert(TY_MEM_HAS_VA >> 2 == TY_MP_HAS_VA && TY_MEM_HAS_PA >> 2 == TY_MP_HAS_PA &&
		       TY_MEM_HAS_TOTAL >> 4 == TY_MP_HAS_LAT &&
		       TY_MEM_HAS_ISSUE >> 4 == TY_MP_HAS_SPLIT &&
		       TY_MEM_HAS_XLAT >> 4 == TY_MP_HAS_XLAT &&
		       TY_MEM_HAS_TIME << 6 == TY_MP_HAS_TIME,
	       "flags() shifts them");

static unsigned flags(const struct ty_mem *m)
{
	unsigned f = (m->has & ADDRESSES) >> 2 | (m->has & LATENCIES) >> 4 |
		     (m->has & TY_MEM_HAS_TIME) << 6 | (ty_mem_writes(m) ? TY_MP_WRITES : 0);

	if (m->kind == TY_MEM_BRANCH)
		f = (f & ~(unsigned)TY_MP_HAS_VA) |
		    (m->has & TY_MEM_HAS_TARGET ? TY_MP_HAS_TARGET : 0);
	return f;
}

/* Sums over all points, from the counts by kind and level and from the groups. */
static void sum_up(struct ty_mem_points *p)
{
	struct ty_memory_sum *s = &p->sum;

	s->samples = s->no_time = p->n;
	s->part_pa = s->with_pa && p->build->no_pa & TY_MP_HAS_VA;
	s->unaligned = !!(p->build->any.events & TY_MEM_EV_UNALIGNED);
	if (!p->build->part)
		s->loads_only = !(p->build->any.flags & TY_MP_WRITES) &&
				!(p->stream && ty_mem_facts(p->stream)->stores);
	for (uint32_t what = 0; what < 256; what++) {
		const struct ty_mem_point o = {.what = what};
		uint64_t n = p->build->whats[what];

		s->loads += o.kind == TY_MEM_LOAD ? n : 0;
		s->stores += o.kind == TY_MEM_STORE ? n : 0;
		s->branches += o.kind == TY_MEM_BRANCH ? n : 0;
		s->others += o.kind == TY_MEM_OTHER ? n : 0;
		s->with_source += o.level != TY_MEM_LV_UNKNOWN ? n : 0;
	}
	vec_each (g, &p->own_groups) {
		if (!g->timed)
			continue;
		s->first_ns = s->no_time == s->samples || g->first_ns < s->first_ns ? g->first_ns
										    : s->first_ns;
		s->last_ns = g->last_ns > s->last_ns ? g->last_ns : s->last_ns;
		s->no_time -= g->timed;
	}
}

static inline int group(struct ty_mem_points *p, const struct ty_mem_point *o)
{
	unsigned octave, far;
	struct ty_mem_group *g;

	if (p->n % TY_BLOCK_ROWS == 0 && vec_push(&p->own_groups, (struct ty_mem_group){0}))
		return -TY_ENOMEM;
	if (!(o->flags & TY_MP_HAS_TIME))
		return 0;
	g = &p->own_groups.v[p->own_groups.n - 1];
	g->first_ns = g->timed && g->first_ns < o->ts_ns ? g->first_ns : o->ts_ns;
	g->last_ns = o->ts_ns > g->last_ns ? o->ts_ns : g->last_ns;
	g->timed++;
	if (!(o->flags & TY_MP_HAS_LAT))
		return 0;
	octave = ty_mem_octave(o->total);
	far = ty_mem_far(o);
	g->count[octave]++;
	g->far[octave] = far > g->far[octave] ? (uint8_t)far : g->far[octave];
	return 0;
}

/* The table has no room: its open block is full. */
static int push(struct ty_mem_points *p, const struct ty_mem_row *w)
{
	struct ty_mem_build *b = p->build;

	if (p->n == CODER_ROWS && !b->part)
		b->fill.coder = b->coder = ty_block_coder_new();
	return ty_table_push(&b->fill, 0, w);
}

static inline int take(struct ty_mem_points *p, const struct ty_mem_point *o)
{
	struct ty_mem_build *b = p->build;
	struct ty_mem_row *room, beside;
	uint64_t back = 0;
	int r = group(p, o);

	if (r)
		return r;
	/* A missing field keeps its previous value, so that the values of the column are close
	 * together. */
	if (o->flags & (TY_MP_HAS_VA | TY_MP_HAS_TARGET))
		b->va = o->va;
	if (o->flags & TY_MP_HAS_PA) {
		b->pa = o->pa;
		p->sum.with_pa++;
	} else {
		b->no_pa |= o->flags;
	}
	if (o->flags & TY_MP_HAS_TIME) {
		b->key_ns = o->ts_ns > b->key_ns ? o->ts_ns : b->key_ns;
		back = b->key_ns - o->ts_ns;
		p->back_ns = back > p->back_ns ? back : p->back_ns;
	}
	b->whats[o->what & 0xff]++;
	p->sum.no_thread += o->thread == TY_MEM_NO_THREAD;
	p->sum.by_events += !!(o->src_flags & TY_MEM_SRC_EVENTS);
	b->any.what |= o->what;
	b->any.events |= o->events;
	room = ty_table_room(&b->fill, 0, b->key_ns, sizeof(*room));
	*(room ? room : &beside) = (struct ty_mem_row){
		.key = b->key_ns,
		.back = back,
		.va = b->va,
		.pa = b->pa,
		.pc1 = o->pc + 1,
		.thread1 = o->thread + 1,
		.events = o->events,
		.what = o->what,
		.total = o->total,
		.issue = o->issue,
		.xlat = o->xlat,
		.cpu1 = (uint16_t)(o->cpu + 1u),
	};
	r = room ? 0 : push(p, &beside);
	p->n += !r;
	return r;
}

int ty_mem_points_take(struct ty_mem_points *p, const struct ty_mem_point *o)
{
	return take(p, o);
}

static uint64_t thread_key(const struct ty_mem_pending *w)
{
	return (uint64_t)(uint32_t)w->pid << 32 | (uint32_t)w->tid;
}

/* The sample's instruction is the first of its number. */
static int add_code(struct ty_mem_points *p, const struct ty_mem_pending *w)
{
	const struct ty_mem_build *b = p->build;

	if (vec_push(&p->own_code, (struct ty_mem_code){w->pc, w->o.ts_ns, w->pid, 0}))
		return -TY_ENOMEM;
	/* From time to time: are there too many different ones? */
	if (b->max_bytes && !(w->o.pc & 1023) &&
	    ty_mem_codes_bytes(b->codes) + p->own_code.cap * sizeof(*p->own_code.v) >
		    b->max_bytes + (1u << 20))
		return -TY_ELIMIT;
	return 0;
}

/* The sample that waits longest gets its numbers. */
static inline __attribute__((always_inline)) int settle(struct ty_mem_points *p)
{
	struct ty_mem_build *b = p->build;
	struct ty_mem_pending *w = &b->pending[b->taken++ % TY_MEM_PENDING];
	bool fresh;
	int r;

	if (w->has_pc) {
		r = ty_mem_code_id(b->codes, w->pid, w->pc, w->o.ts_ns, &w->o.pc, &fresh);
		if (!r && fresh)
			r = add_code(p, w);
		if (r)
			return r;
	}
	if (w->has_thread) {
		r = ty_mem_id(&b->threads, thread_key(w), &w->o.thread, &fresh);
		if (!r && fresh)
			r = vec_push(&p->own_threads,
				     (struct ty_mem_thread){w->tid, w->pid, w->comm});
		if (r)
			return r;
	}
	return take(p, &w->o);
}

/* All of it at once: bit by bit it would be waited for when it is read. */
static uint32_t what(const struct ty_mem *m, bool core)
{
	return (m->kind & 3u) | (m->level & 31u) << 2 | (uint32_t)core << 7 |
	       (uint32_t)m->src_flags << 8 | flags(m) << 16 | (uint32_t)m->size << 24;
}

int ty_mem_points_add(struct ty_mem_points *p, const struct ty_mem *m, const char *comm, bool core)
{
	struct ty_mem_build *b = p->build;
	struct ty_mem_pending *w;
	int r = 0;

	if (m->kind == TY_MEM_GAP)
		return add_gap(p, m);
	if (b->given - b->taken == TY_MEM_PENDING)
		r = settle(p);
	if (r)
		return r;
	w = &b->pending[b->given++ % TY_MEM_PENDING];
	*w = (struct ty_mem_pending){
		.o = {.ts_ns = m->ts_ns,
		      .va = m->kind == TY_MEM_BRANCH ? m->target : m->va,
		      .pa = m->pa,
		      .pc = UINT32_MAX,
		      .thread = TY_MEM_NO_THREAD,
		      .events = (uint32_t)m->events,
		      .total = cycles(m->lat_total),
		      .issue = cycles(m->lat_issue),
		      .xlat = cycles(m->lat_xlat),
		      .cpu = m->has & TY_MEM_HAS_CPU && m->cpu < UINT16_MAX ? (uint16_t)m->cpu
									    : UINT16_MAX,
		      .what = what(m, core)},
		.pc = m->pc,
		.comm = comm,
		.pid = m->pid,
		.tid = m->tid,
		.has_pc = m->has & TY_MEM_HAS_PC,
		.has_thread = m->who != TY_MEM_THREAD_UNKNOWN,
	};
	if (w->has_pc)
		ty_mem_code_soon(b->codes, w->pid, w->pc);
	if (w->has_thread)
		ty_mem_id_soon(&b->threads, thread_key(w));
	return 0;
}

int ty_mem_points_end(struct ty_mem_points *p)
{
	struct ty_mem_build *b = p->build;
	uint64_t off, bytes;
	int r = 0, e;

	while (!r && b->taken != b->given)
		r = settle(p);
	if (!r)
		r = ty_table_seal(&b->fill, 0, b->key_ns);
	e = ty_block_coder_free(b->coder);
	b->fill.coder = b->coder = NULL;
	r = r ? r : e;
	if (!r)
		r = ty_table_finish(&b->fill, 1, NULL, &off, &bytes);
	if (!r)
		r = ty_table_attach(&p->table, &ty_mem_kind, p->store, off, bytes, false, NULL);
	if (r)
		return r;
	sum_up(p);
	p->group = p->own_groups.v;
	if (!b->part) {
		p->code = p->own_code.v;
		p->codes = (uint32_t)p->own_code.n;
		p->thread = p->own_threads.v;
		p->threads = (uint32_t)p->own_threads.n;
	}
	if (b->index)
		ty_mem_index_save(p, off, bytes);
	ty_mem_build_free(p);
	return 0;
}

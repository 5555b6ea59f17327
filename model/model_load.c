/* SPDX-License-Identifier: MIT */
/*
 * Loads a model from a store with a body: finds tables and sections and checks every number that is
 * later used as an index, whatever its origin. References from rows to other rows (threads,
 * strings) are checked when they are read (model_queries.c).
 */
#include "model_priv.h"

#include <stdlib.h>
#include <string.h>

#include "builder.h"

#define COL(type, field)                                                                           \
	{                                                                                          \
		offsetof(type, field), sizeof(((type *)0)->field), false                           \
	}
#define SIGNED(type, field)                                                                        \
	{                                                                                          \
		offsetof(type, field), sizeof(((type *)0)->field), true                            \
	}

const struct ty_table_kind ty_table_kinds[TY_TABLES] = {
	[TY_T_SPANS] = {.cols = 4,
			.row_bytes = sizeof(struct ty_span_row),
			.col = {COL(struct ty_span_row, start), COL(struct ty_span_row, cpu1),
				COL(struct ty_span_row, state), COL(struct ty_span_row, flags)},
			.length = TY_LEN_NEXT,
			.forest = true,
			.state = TY_SPAN_STATE,
			.flags = TY_SPAN_FLAGS},
	[TY_T_CPU] = {.cols = 4,
		      .row_bytes = sizeof(struct ty_cpu_row),
		      .col = {COL(struct ty_cpu_row, start), COL(struct ty_cpu_row, thread1),
			      COL(struct ty_cpu_row, state), COL(struct ty_cpu_row, flags)},
		      .length = TY_LEN_NEXT,
		      .forest = true,
		      .state = TY_CPU_STATE,
		      .flags = TY_CPU_FLAGS},
	[TY_T_CALLS] = {.cols = 12,
			.row_bytes = sizeof(struct ty_call_row),
			.col = {COL(struct ty_call_row, start), COL(struct ty_call_row, length),
				SIGNED(struct ty_call_row, ret), COL(struct ty_call_row, loc1),
				COL(struct ty_call_row, loc1_high), SIGNED(struct ty_call_row, nr),
				COL(struct ty_call_row, cpu1), COL(struct ty_call_row, flags),
				COL(struct ty_call_row, abi), COL(struct ty_call_row, arg),
				COL(struct ty_call_row, arg1), COL(struct ty_call_row, arg2)},
			.length = TY_LEN_COLUMN,
			.forest = true,
			.flags = TY_CALL_FLAGS,
			.nr = TY_CALL_NR,
			.ret = TY_CALL_RET,
			.loc = TY_CALL_LOC},
	[TY_T_EDGES] = {.cols = 7,
			.row_bytes = sizeof(struct ty_edge_row),
			.col = {COL(struct ty_edge_row, ts), COL(struct ty_edge_row, loc1),
				COL(struct ty_edge_row, loc1_high), COL(struct ty_edge_row, waker1),
				COL(struct ty_edge_row, cpu1), COL(struct ty_edge_row, target_cpu1),
				COL(struct ty_edge_row, context)},
			.length = TY_LEN_NONE,
			.loc = TY_EDGE_LOC},
	[TY_T_MIGS] = {.cols = 1,
		       .row_bytes = sizeof(struct ty_mig_row),
		       .col = {COL(struct ty_mig_row, ts)},
		       .length = TY_LEN_NONE},
	[TY_T_IRQS] = {.cols = 7,
		       .row_bytes = sizeof(struct ty_irq_row),
		       .col = {COL(struct ty_irq_row, start), COL(struct ty_irq_row, length),
			       COL(struct ty_irq_row, vec), COL(struct ty_irq_row, name),
			       COL(struct ty_irq_row, kind), COL(struct ty_irq_row, flags),
			       COL(struct ty_irq_row, state)},
		       .length = TY_LEN_COLUMN,
		       .forest = true,
		       .state = TY_IRQ_STATE,
		       .flags = TY_IRQ_FLAGS},
	[TY_T_POINTS] = {.cols = 6,
			 .row_bytes = sizeof(struct ty_point_row),
			 .col = {COL(struct ty_point_row, ts), SIGNED(struct ty_point_row, a),
				 SIGNED(struct ty_point_row, b), COL(struct ty_point_row, thread1),
				 COL(struct ty_point_row, kind), COL(struct ty_point_row, context)},
			 .length = TY_LEN_NONE},
};

_Static_assert(TY_CALL_LOC < TY_STEP_COLS && TY_EDGE_LOC < TY_STEP_COLS, "a loc has a step");

static bool inside(const struct ty_store *s, const struct ty_index_part *p)
{
	return p->off >= TY_STORE_HEAD && p->off % 8 == 0 && p->off <= s->used &&
	       p->bytes <= s->used - p->off;
}

static bool good_section(const struct ty_model *m, const struct ty_index_part *p, size_t size,
			 bool check)
{
	return inside(m->store, p) && p->bytes % size == 0 && p->bytes / size < UINT32_MAX &&
	       (!check || ty_store_hash(ty_store_at(m->store, p->off), p->bytes) == p->hash);
}

/* A truth value out of a file. */
static bool sound_bool(const bool *b)
{
	uint8_t byte;

	memcpy(&byte, b, 1);
	return byte <= 1;
}

static bool sound_threads(const struct ty_model *m)
{
	const uint32_t *spans = m->t[TY_T_SPANS].row_first, *calls = m->t[TY_T_CALLS].row_first;

	for (uint32_t i = 0; i < m->threads; i++) {
		const struct ty_thread *t = &m->thread[i];

		if (!sound_bool(&t->born) || !sound_bool(&t->died) || !sound_bool(&t->kernel) ||
		    !sound_bool(&t->traced) || t->spans_first != spans[i] ||
		    t->spans_n != spans[i + 1] - spans[i] || t->syscalls_first != calls[i] ||
		    t->syscalls_n != calls[i + 1] - calls[i] || t->names_first > m->names ||
		    t->names_n > m->names - t->names_first || t->forked_by < -1 ||
		    (t->forked_by >= 0 && (uint32_t)t->forked_by >= m->threads))
			return false;
	}
	for (uint32_t i = 0; i < m->tids; i++)
		if (m->tid[i].thread >= m->threads)
			return false;
	return true;
}

static bool sound_strings(const struct ty_model *m)
{
	if (!m->str_bytes || m->str[m->str_bytes - 1] || !m->strs)
		return false;
	for (uint32_t i = 0; i < m->strs; i++)
		if (m->str_off[i] >= m->str_bytes)
			return false;
	return true;
}

int ty_model_load(struct ty_model *m, bool check)
{
	if (!sound_bool(&m->body.sum.has_sched) || !sound_bool(&m->body.sum.has_syscalls))
		return -TY_EFORMAT;
	m->sum = m->body.sum;
#define X(id, type, v, n)                                                                          \
	if (!good_section(m, &m->body.section[TY_S_##id], sizeof(type), check))                    \
		return -TY_EFORMAT;                                                                \
	m->v = ty_store_at(m->store, m->body.section[TY_S_##id].off);                              \
	m->n = (uint32_t)(m->body.section[TY_S_##id].bytes / sizeof(type));
	TY_SECTIONS(X)
#undef X
	if (m->sum.cpus > TY_MAX_CPUS || m->threads > TY_MAX_THREADS ||
	    m->sum.threads != m->threads || !sound_strings(m))
		return -TY_EFORMAT;
	for (unsigned i = 0; i < TY_TABLES; i++) {
		const struct ty_index_part *p = &m->body.table[i];
		bool by_cpu = i == TY_T_CPU || i == TY_T_IRQS || i == TY_T_POINTS;
		int r;

		if (!inside(m->store, p) ||
		    (check && ty_store_hash(ty_store_at(m->store, p->off), p->bytes) != p->hash))
			return -TY_EFORMAT;
		ty_table_detach(&m->t[i]);
		r = ty_table_attach(&m->t[i], &ty_table_kinds[i], m->store, p->off, p->bytes, check,
				    &m->damaged);
		if (r)
			return r;
		if (m->t[i].tracks != (by_cpu ? m->sum.cpus : m->threads))
			return -TY_EFORMAT;
	}
	return sound_threads(m) ? 0 : -TY_EFORMAT;
}

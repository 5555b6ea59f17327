/* SPDX-License-Identifier: MIT */
/* Bulk reads of rows by block: each column is decoded in its own loop. */
#include "block_column.h"
#include "model_priv.h"

static inline uint32_t clamp_cpu(uint64_t cpu)
{
	return cpu < TY_NO_CPU ? (uint32_t)cpu : TY_NONE; /* it may come from a file */
}

/* The CPUs of rows, most often one for all. */
static void cpus(uint32_t *cpu, const uint8_t *block, uint32_t i, uint32_t n, unsigned col)
{
	const struct ty_block_head *h = (const void *)block;

	if (h->width[col] & 15) {
		TY_BLOCK_COLUMN(cpu[k], block, i, n, col, -1);
		for (uint32_t k = 0; k < n; k++)
			cpu[k] = clamp_cpu(cpu[k]);
		return;
	}
	for (uint32_t k = 0, one = clamp_cpu((uint32_t)(h->base[col] - 1)); k < n; k++)
		cpu[k] = one;
}

uint32_t ty_model_span_rows(const struct ty_model *m, uint32_t thread, uint32_t span,
			    struct ty_span_rows *out)
{
	const struct ty_table *t = &m->t[TY_T_SPANS];
	uint32_t row = span - ty_model_thread(m, thread)->spans_first,
		 n = ty_block_together(t, thread, row), i = row % TY_BLOCK_ROWS;
	const uint8_t *block;

	if (!n)
		return 0;
	block = ty_table_block(t, t->block_first[thread] + row / TY_BLOCK_ROWS);
	TY_BLOCK_COLUMN(out->start_ns[k], block, i, n, TY_SPAN_START, 0);
	cpus(out->cpu, block, i, n, TY_SPAN_CPU);
	TY_BLOCK_COLUMN(out->state[k], block, i, n, TY_SPAN_STATE, 0);
	TY_BLOCK_COLUMN(out->flags[k], block, i, n, TY_SPAN_FLAGS, 0);
	for (uint32_t k = 0; k < n; k++)
		out->state[k] = out->state[k] < TY_ST_COUNT ? out->state[k] : TY_ST_UNKNOWN;
	out->start_ns[n] = ty_table_row_end(t, thread, row + n - 1);
	return n;
}

uint32_t ty_model_cpu_rows(const struct ty_model *m, uint32_t cpu, uint32_t span,
			   struct ty_cpu_rows *out)
{
	const struct ty_table *t = &m->t[TY_T_CPU];
	uint32_t n = ty_block_together(t, cpu, span), i = span % TY_BLOCK_ROWS;
	const uint8_t *block;

	if (!n)
		return 0;
	block = ty_table_block(t, t->block_first[cpu] + span / TY_BLOCK_ROWS);
	TY_BLOCK_COLUMN(out->start_ns[k], block, i, n, TY_CPU_START, 0);
	TY_BLOCK_COLUMN(out->thread[k], block, i, n, TY_CPU_THREAD, -1);
	TY_BLOCK_COLUMN(out->state[k], block, i, n, TY_CPU_STATE, 0);
	TY_BLOCK_COLUMN(out->flags[k], block, i, n, TY_CPU_FLAGS, 0);
	for (uint32_t k = 0; k < n; k++) {
		out->thread[k] = out->thread[k] < m->threads ? out->thread[k] : TY_NONE;
		out->state[k] = out->state[k] < TY_ST_COUNT ? out->state[k] : TY_ST_UNKNOWN;
	}
	out->start_ns[n] = ty_table_row_end(t, cpu, span + n - 1);
	return n;
}

uint32_t ty_model_call_rows(const struct ty_model *m, uint32_t thread, uint32_t call,
			    struct ty_call_rows *out)
{
	const struct ty_table *t = &m->t[TY_T_CALLS];
	uint32_t row = call - ty_model_thread(m, thread)->syscalls_first,
		 n = ty_block_together(t, thread, row), i = row % TY_BLOCK_ROWS;
	uint64_t low[TY_ROWS], high[TY_ROWS];
	const struct ty_block_head *h;
	const uint8_t *block;

	if (!n)
		return 0;
	block = ty_table_block(t, t->block_first[thread] + row / TY_BLOCK_ROWS);
	h = (const void *)block;
	TY_BLOCK_COLUMN(out->start_ns[k], block, i, n, TY_CALL_START, 0);
	TY_BLOCK_COLUMN(out->end_ns[k], block, i, n, TY_CALL_LENGTH, 0);
	TY_BLOCK_COLUMN(out->ret[k], block, i, n, TY_CALL_RET, 0);
	TY_BLOCK_COLUMN(out->nr[k], block, i, n, TY_CALL_NR, 0);
	cpus(out->cpu, block, i, n, TY_CALL_CPU);
	TY_BLOCK_COLUMN(out->flags[k], block, i, n, TY_CALL_FLAGS, 0);
	TY_BLOCK_COLUMN(out->abi[k], block, i, n, TY_CALL_ABI, 0);
	for (uint32_t k = 0; k < n; k++) {
		uint64_t end = out->start_ns[k] + out->end_ns[k];

		out->end_ns[k] = end >= out->start_ns[k] ? end : UINT64_MAX;
	}
	memset(out->entered, true, n * sizeof(*out->entered));
	/* Without a loc both parts are 0; most blocks hold none such, and show it at once. */
	if (!h->base[TY_CALL_LOC] && !h->base[TY_CALL_LOC_HIGH]) {
		TY_BLOCK_COLUMN(low[k], block, i, n, TY_CALL_LOC, 0);
		TY_BLOCK_COLUMN(high[k], block, i, n, TY_CALL_LOC_HIGH, 0);
		for (uint32_t k = 0; k < n; k++)
			out->entered[k] = low[k] || high[k];
	}
	return n;
}

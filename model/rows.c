/* SPDX-License-Identifier: MIT */
/* Rows by the block: each column is decoded in one loop of its own. */
#include "model_priv.h"

/* Rows [row, row + n) of one block, column c, into `to` of any integer type, plus `add`. */
#define COLUMN(to, c, add)                                                                         \
	do {                                                                                       \
		const struct ty_block_head *h_ = (const void *)block;                              \
		unsigned w_ = h_->width[c] & 15;                                                   \
		uint64_t base_ = h_->base[c] + (uint64_t)(add), v_;                                \
		const uint8_t *p_ = block + 2u * h_->off[c] + (size_t)i * w_;                      \
		uint64_t mask_ = w_ >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * w_) - 1;               \
		if (!w_)                                                                           \
			for (uint32_t k_ = 0; k_ < n; k_++)                                        \
				(to)[k_] = (typeof(*(to)))base_;                                   \
		else if (w_ == 1)                                                                  \
			for (uint32_t k_ = 0; k_ < n; k_++)                                        \
				(to)[k_] = (typeof(*(to)))(base_ + p_[k_]);                        \
		else                                                                               \
			for (uint32_t k_ = 0; k_ < n; k_++, p_ += w_) {                            \
				memcpy(&v_, p_, 8);                                                \
				(to)[k_] = (typeof(*(to)))(base_ + (v_ & mask_));                  \
			}                                                                          \
	} while (0)

/* How many rows from `row` on lie in its block; 0: there is no such row. */
static uint32_t together(const struct ty_table *t, uint32_t track, uint32_t row)
{
	uint32_t rows = ty_table_rows(t, track), n = TY_BLOCK_ROWS - row % TY_BLOCK_ROWS;

	if (row >= rows)
		return 0;
	return n < rows - row ? n : rows - row;
}

/* Numbers may come from a file. */
static void clamp_cpus(uint32_t *cpu, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		cpu[k] = cpu[k] < TY_NO_CPU ? cpu[k] : TY_NONE;
}

uint32_t ty_model_span_rows(const struct ty_model *m, uint32_t thread, uint32_t span,
			    struct ty_span_rows *out)
{
	const struct ty_table *t = &m->t[TY_T_SPANS];
	uint32_t row = span - ty_model_thread(m, thread)->spans_first, n = together(t, thread, row),
		 i = row % TY_BLOCK_ROWS;
	const uint8_t *block;

	if (!n)
		return 0;
	block = ty_table_block(t, t->block_first[thread] + row / TY_BLOCK_ROWS);
	COLUMN(out->start_ns, TY_SPAN_START, 0);
	COLUMN(out->cpu, TY_SPAN_CPU, -1);
	COLUMN(out->state, TY_SPAN_STATE, 0);
	COLUMN(out->flags, TY_SPAN_FLAGS, 0);
	clamp_cpus(out->cpu, n);
	for (uint32_t k = 0; k < n; k++)
		out->state[k] = out->state[k] < TY_ST_COUNT ? out->state[k] : TY_ST_UNKNOWN;
	out->start_ns[n] = ty_table_row_end(t, thread, row + n - 1);
	return n;
}

uint32_t ty_model_call_rows(const struct ty_model *m, uint32_t thread, uint32_t call,
			    struct ty_call_rows *out)
{
	const struct ty_table *t = &m->t[TY_T_CALLS];
	uint32_t row = call - ty_model_thread(m, thread)->syscalls_first,
		 n = together(t, thread, row), i = row % TY_BLOCK_ROWS;
	uint64_t low[TY_ROWS], high[TY_ROWS];
	const struct ty_block_head *h;
	const uint8_t *block;

	if (!n)
		return 0;
	block = ty_table_block(t, t->block_first[thread] + row / TY_BLOCK_ROWS);
	h = (const void *)block;
	COLUMN(out->start_ns, TY_CALL_START, 0);
	COLUMN(out->end_ns, TY_CALL_LENGTH, 0);
	COLUMN(out->ret, TY_CALL_RET, 0);
	COLUMN(out->nr, TY_CALL_NR, 0);
	COLUMN(out->cpu, TY_CALL_CPU, -1);
	COLUMN(out->flags, TY_CALL_FLAGS, 0);
	COLUMN(out->abi, TY_CALL_ABI, 0);
	clamp_cpus(out->cpu, n);
	for (uint32_t k = 0; k < n; k++) {
		uint64_t end = out->start_ns[k] + out->end_ns[k];

		out->end_ns[k] = end >= out->start_ns[k] ? end : UINT64_MAX;
		out->entered[k] = true;
	}
	/* Without a loc both parts are 0; most blocks hold none such, and show it at once. */
	if (!h->base[TY_CALL_LOC] && !h->base[TY_CALL_LOC_HIGH]) {
		COLUMN(low, TY_CALL_LOC, 0);
		COLUMN(high, TY_CALL_LOC_HIGH, 0);
		for (uint32_t k = 0; k < n; k++)
			out->entered[k] = low[k] || high[k];
	}
	return n;
}

/* SPDX-License-Identifier: MIT */
/* Decodes one column of a coded block (table.h) in one loop per width. */
#ifndef TY_BLOCK_COLUMN_H
#define TY_BLOCK_COLUMN_H

#include "table.h"

/* Rows [i, i + n) of the block, column c, plus `add`, into `to`: an lvalue of any integer type,
 * indexed by k, which counts rows from 0. */
#define TY_BLOCK_COLUMN(to, block, i, n, c, add)                                                   \
	do {                                                                                       \
		const struct ty_block_head *h_ = (const void *)(block);                            \
		unsigned w_ = h_->width[c] & 15;                                                   \
		uint64_t step_ = (c) < TY_STEP_COLS ? h_->step[c] : 0, v_;                         \
		uint64_t base_ = h_->base[c] + (uint64_t)(add) + (i)*step_;                        \
		const uint8_t *p_ = (block) + 2u * h_->off[c] + (size_t)(i)*w_;                    \
		uint64_t mask_ = ty_block_mask[w_];                                                \
		if (!w_)                                                                           \
			for (uint32_t k = 0; k < (n); k++, base_ += step_)                         \
				(to) = (typeof(to))base_;                                          \
		else if (w_ == 1)                                                                  \
			for (uint32_t k = 0; k < (n); k++, base_ += step_)                         \
				(to) = (typeof(to))(base_ + p_[k]);                                \
		else                                                                               \
			for (uint32_t k = 0; k < (n); k++, p_ += w_, base_ += step_) {             \
				memcpy(&v_, p_, 8);                                                \
				(to) = (typeof(to))(base_ + (v_ & mask_));                         \
			}                                                                          \
	} while (0)

/* How many rows of the track from `row` on are in its block; 0: there is no such row. */
static inline uint32_t ty_block_together(const struct ty_table *t, uint32_t track, uint32_t row)
{
	uint32_t rows = ty_table_rows(t, track), n = TY_BLOCK_ROWS - row % TY_BLOCK_ROWS;

	if (row >= rows)
		return 0;
	return n < rows - row ? n : rows - row;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "span_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "futex_waker.h"
#include "steal.h"

#define BLOCKS 32

struct ty_span_blocks {
	struct ty_span_block v[BLOCKS];
};

struct ty_span_blocks *ty_span_blocks_new(void)
{
	return calloc(1, sizeof(struct ty_span_blocks));
}

struct ty_span_block *ty_span_block(struct ty_span_blocks *b, const struct ty_model *m,
				    uint32_t thread, uint32_t span)
{
	uint32_t all = ty_model_thread(m, thread)->spans_first, id = (span - all) / TY_ROWS,
		 first = all + id * TY_ROWS;
	struct ty_span_block *v = &b->v[(thread * 31 + id) % BLOCKS];

	if (v->n && v->thread == thread && v->first == first)
		return v;
	v->thread = thread;
	v->first = first;
	v->n = ty_model_span_rows(m, thread, first, &v->rows);
	memset(v->own, 0, v->n);
	return v;
}

bool ty_span_own_run(const struct ty_explain *x, struct ty_span_block *b, uint32_t row)
{
	uint8_t *own = &b->own[row];
	struct ty_stolen stolen;
	struct ty_spin spin;

	if (!*own) {
		struct ty_span s = ty_model_span_brief(x->m, b->thread, b->first + row);

		*own = (s.end_ns - s.start_ns >= TY_SPIN_NS &&
			ty_spin_find(x, b->thread, s.start_ns, s.end_ns, &spin)) ||
				       ty_stolen_next(x, &s, s.start_ns, s.end_ns, &stolen)
			       ? 2
			       : 1;
	}
	return *own == 1;
}

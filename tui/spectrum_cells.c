/* SPDX-License-Identifier: MIT */
/* The spectrogram's cells: their bins and columns, and the counts. */
#include "process_of_thread.h"
#include "spectrum_priv.h"

unsigned ty_spec_row_begin(const struct ty_spectrum_view *v, unsigned k)
{
	return v->lo + (v->hi - v->lo) * k / (unsigned)(v->lay.heat_h > 0 ? v->lay.heat_h : 1);
}

unsigned ty_spec_row_of(const struct ty_spectrum_view *v, unsigned bin)
{
	unsigned k = 0;

	while (k + 1 < (unsigned)v->lay.heat_h && ty_spec_row_begin(v, k + 1) <= bin)
		k++;
	return k;
}

struct ty_spec_box ty_spec_box(const struct ty_spectrum_view *v)
{
	uint32_t n = (uint32_t)v->lay.cells_w,
		 c = ty_viewport_column(v->on.vp, *v->on.cursor_ns, n);
	unsigned k = ty_spec_row_of(v, v->bin);
	struct ty_spec_box b = {c, c, k, k};

	if (v->sel) {
		uint32_t c0 = ty_viewport_column(v->on.vp, v->sel_ns[0], n);
		uint32_t c1 = ty_viewport_column(v->on.vp, v->sel_ns[1] - 1, n);
		unsigned row = ty_spec_row_of(v, v->sel_bin);

		b.c0 = c0 < c ? c0 : c;
		b.c1 = c1 > c ? c1 : c;
		b.k0 = row < k ? row : k;
		b.k1 = row > k ? row : k;
	}
	return b;
}

uint64_t ty_spec_count(const struct ty_spectrum_view *v, const struct ty_spec_box *b)
{
	uint64_t sum = 0;

	for (unsigned bin = ty_spec_row_begin(v, b->k0); bin < ty_spec_row_begin(v, b->k1 + 1);
	     bin++)
		for (uint32_t c = b->c0; c <= b->c1 && c < v->s.cols; c++)
			sum += v->s.count[(size_t)bin * v->s.cols + c];
	return sum;
}

struct ty_spec_query ty_spec_query_of(const struct ty_spectrum_view *v, uint64_t from, uint64_t to)
{
	struct ty_spec_query a = {
		.window = v->on.in->window, .scope = v->scope, .thread = TY_NONE, .kind = v->kind};

	a.window.from_ns = from;
	a.window.to_ns = to;
	if (v->scope == TY_SPEC_THREAD)
		a.thread = v->on.thread;
	else if (v->scope == TY_SPEC_PROCESS)
		a.thread = ty_process_of(v->m, v->on.thread);
	return a;
}

bool ty_spec_query_same(const struct ty_spec_query *a, const struct ty_spec_query *b)
{
	return a->window.from_ns == b->window.from_ns && a->window.to_ns == b->window.to_ns &&
	       a->scope == b->scope && a->thread == b->thread && ty_spec_same(&a->kind, &b->kind);
}

bool ty_spec_is_counted(const struct ty_spectrum_view *v)
{
	struct ty_spec_query now = ty_spec_query_of(v, v->on.vp->from_ns, v->on.vp->to_ns);

	return v->s.cols == (uint32_t)v->lay.cells_w && ty_spec_query_same(&v->of, &now);
}

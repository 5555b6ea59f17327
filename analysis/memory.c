/* SPDX-License-Identifier: MIT */
/*
 * Tables over memory samples (memory.h). One pass counts by key (memory_keys.c), a second one
 * collects the values of the displayed rows (memory_rows.c); percentiles are computed from these by
 * counting. If memory does not suffice, each pass processes some of the keys or rows. Tables are
 * computed in several threads, those of one thread together: decoding dominates the cost. Budget:
 * 10 ns per sample and table.
 */
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>

#include "memory_table.h"
#include "confidence_interval.h"

#define PAGE_BYTES 96u /* of a page, while their table grows */

static void shares(struct ty_memory_table *t)
{
	for (uint32_t i = 0; i < t->rows_n; i++) {
		struct ty_memory_row *w = &t->rows[i];

		w->share = (double)w->count / (double)t->samples;
		ty_wilson(w->share, (double)t->samples, &w->low, &w->high);
	}
}

static int count_group(const struct ty_mem_points *p, struct ty_memory_request *requests,
		       unsigned n, const struct ty_mem_work *work)
{
	static const unsigned want[] = {
		[TY_MEMORY_BY_PC] = TY_MEM_WANT_PC,
		[TY_MEMORY_BY_FUNCTION] = TY_MEM_WANT_PC,
		[TY_MEMORY_BY_PAGE] = TY_MEM_WANT_VA | TY_MEM_WANT_THREAD,
		[TY_MEMORY_BY_THREAD] = TY_MEM_WANT_THREAD,
		[TY_MEMORY_BY_BRANCH] = TY_MEM_WANT_PC,
	};
	struct ty_memory_group g = {.n = n, .work = work};
	struct ty_memory_tab *by_pc = NULL;
	int r;

	g.tab = calloc(n, sizeof(*g.tab));
	if (!g.tab)
		return -TY_ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		struct ty_memory_tab *t = &g.tab[i];
		uint64_t bytes = ty_mem_work_bytes(work);

		*t = (struct ty_memory_tab){.p = p,
					    .request = &requests[i],
					    .same = requests[i].by == TY_MEMORY_BY_FUNCTION ? by_pc
											    : NULL,
					    .keep_bytes = bytes / n,
					    .keys_max = bytes / PAGE_BYTES,
					    .out = &requests[i].table};
		t->keys_max = t->keys_max > TY_MEMORY_KEYS_MIN ? t->keys_max : TY_MEMORY_KEYS_MIN;
		by_pc = requests[i].by == TY_MEMORY_BY_PC ? t : by_pc;
		g.want |= want[requests[i].by];
		g.branches = requests[i].by == TY_MEMORY_BY_BRANCH ? t : g.branches;
	}
	r = ty_memory_tab_keys(&g);
	if (!r)
		r = ty_memory_tab_rows(&g);
	for (unsigned i = 0; i < n; i++) {
		struct ty_memory_tab *t = &g.tab[i];

		if (!r)
			shares(t->out);
		ty_mem_ids_fini(&t->pages);
		ty_mem_ids_fini(&t->shown);
		free(t->row_of);
		ty_mem_ids_fini(&t->targets.addresses);
		ty_mem_ids_fini(&t->targets.pairs);
		vec_fini(&t->counts);
		free(t->best);
	}
	free(g.tab);
	return r;
}

int ty_memory_count(const struct ty_mem_points *p, enum ty_memory_by by,
		    const uint32_t *function_of_pc, uint32_t top, const struct ty_mem_work *work,
		    struct ty_memory_table *out)
{
	struct ty_memory_request request = {.by = by, .top = top, .function_of_pc = function_of_pc};
	int r = count_group(p, &request, 1, work);

	if (r)
		ty_memory_fini(&request.table);
	*out = request.table;
	return r;
}

struct part {
	const struct ty_mem_points *p;
	struct ty_memory_request *requests;
	unsigned n;
	const struct ty_mem_work *work;
	int r;
};

static void *answer(void *ctx)
{
	struct part *a = ctx;

	a->r = count_group(a->p, a->requests, a->n, a->work);
	return NULL;
}

int ty_memory_count_all(const struct ty_mem_points *p, struct ty_memory_request *requests,
			unsigned n, unsigned threads, const struct ty_mem_work *work)
{
	struct part part[16];
	pthread_t thread[16];
	bool made[16];
	int r = 0;

	threads = threads < n ? threads : n;
	threads = threads < 16 ? threads : 16;
	for (unsigned i = threads; i-- > 0;) {
		unsigned first = i * n / threads, end = (i + 1) * n / threads;

		part[i] = (struct part){p, requests + first, end - first, work, 0};
		made[i] = i && !pthread_create(&thread[i], NULL, answer, &part[i]);
		if (!made[i])
			answer(&part[i]);
	}
	for (unsigned i = 0; i < threads; i++) {
		if (made[i])
			pthread_join(thread[i], NULL);
		r = r ? r : part[i].r;
	}
	return r;
}

void ty_memory_fini(struct ty_memory_table *t)
{
	free(t->rows);
	*t = (struct ty_memory_table){0};
}

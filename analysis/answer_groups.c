/* SPDX-License-Identifier: MIT */
/* Groups threads of one name that an answer reports together. */
#include "answer_priv.h"

#include <stdlib.h>

#include "compare.h"

#define SAME_NAMES 4 /* are told apart */

struct same_name {
	uint32_t name, thread;
	uint8_t mine;
};

static int by_name(const void *pa, const void *pb)
{
	const struct same_name *a = pa, *b = pb;

	return compare(a->mine, b->mine) ?: compare(a->name, b->name)
	       ?: compare(a->thread, b->thread);
}

int ty_answer_groups(const struct ty_model *m, const uint8_t *mine, struct ty_ledger_group *c)
{
	uint32_t threads = ty_model_summary(m)->threads, n = 0;
	struct same_name *v = calloc((size_t)threads + 1, sizeof(*v));

	if (!v)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < threads; i++) {
		if (c[i].n)
			v[n++] = (struct same_name){ty_model_thread(m, i)->name, i,
						    mine ? mine[i] : 0};
		c[i].thread = i;
	}
	qsort(v, n, sizeof(*v), by_name);
	for (uint32_t i = 0, k; i < n; i += k) {
		for (k = 1; i + k < n && v[i + k].name == v[i].name && v[i + k].mine == v[i].mine;)
			k++;
		for (uint32_t g = i; k > SAME_NAMES && g < i + k; g++)
			c[v[g].thread] = (struct ty_ledger_group){v[i].thread, k};
	}
	free(v);
	return 0;
}

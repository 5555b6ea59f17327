/* SPDX-License-Identifier: MIT */
/* Groups threads of one name that a ledger or an answer reports together. Budget: a sort. */
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "ledger_rows.h"
#include "process_of_thread.h"
#include "process_titles.h"

#define SAME_NAMES 4 /* are listed separately */

struct same_name {
	uint32_t name, process, thread;
	uint8_t mine;
};

ORDER(by_name, struct same_name,
      compare(a->mine, b->mine) ?: compare(a->name, b->name) ?: compare(a->process, b->process) ?:
      compare(a->thread, b->thread))

/* Makes a group of n threads when they are many. */
static void make(struct ty_ledger_group *c, const struct same_name *v, uint32_t n,
		 uint32_t processes)
{
	uint32_t first = v->thread;

	if ((processes > 1 ? processes : n) <= SAME_NAMES)
		return;
	for (uint32_t i = 0; i < n; i++)
		first = v[i].thread < first ? v[i].thread : first;
	for (uint32_t i = 0; i < n; i++)
		c[v[i].thread] = (struct ty_ledger_group){first, n, processes};
}

/* The same name: many processes, or few, each perhaps with many threads. */
static void group(struct ty_ledger_group *c, const struct same_name *v, uint32_t n)
{
	uint32_t processes = 0;

	for (uint32_t i = 0; i < n; i++)
		processes += !i || v[i].process != v[i - 1].process;
	if (processes == 1 || processes > SAME_NAMES) {
		make(c, v, n, processes);
		return;
	}
	for (uint32_t i = 0, k; i < n; i += k) {
		for (k = 1; i + k < n && v[i + k].process == v[i].process; k++)
			;
		make(c, v + i, k, 1);
	}
}

int ty_ledger_groups(const struct ty_model *m, const uint8_t *mine, struct ty_ledger_group *c)
{
	uint32_t threads = ty_model_summary(m)->threads, n = 0;
	struct same_name *v = calloc((size_t)threads + 1, sizeof(*v));

	if (!v)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < threads; i++) {
		if (c[i].n)
			v[n++] = (struct same_name){ty_model_thread(m, i)->name,
						    ty_process_of(m, i), i, mine ? mine[i] : 0};
		c[i] = (struct ty_ledger_group){i, c[i].n, 1};
	}
	qsort(v, n, sizeof(*v), by_name);
	for (uint32_t i = 0, k; i < n; i += k) {
		for (k = 1; i + k < n && v[i + k].name == v[i].name && v[i + k].mine == v[i].mine;)
			k++;
		group(c, v + i, k);
	}
	free(v);
	return 0;
}

size_t ty_ledger_group_name(const struct ty_model *m, const struct ty_ledger_group *c, uint32_t who,
			    char *out, size_t size)
{
	const struct ty_thread *t = ty_model_thread(m, who);
	const char *name = *ty_model_str(m, t->name) ? ty_model_str(m, t->name) : TY_NO_NAME;
	uint32_t n = c ? c[who].n : 1;
	int len;

	if (n < 2) {
		len = snprintf(out, size, "%s", ty_who_last(m, who));
	} else if (c[who].processes > 1) {
		len = ty_comm_several(out, size, name, c[who].processes, "processes");
	} else {
		char what[32];

		snprintf(what, sizeof(what), "threads of process %d",
			 t->tgid > 0 ? t->tgid : t->tid);
		len = ty_comm_several(out, size, name, n, what);
	}
	return len < 0 ? 0 : (size_t)len < size ? (size_t)len : size - 1;
}

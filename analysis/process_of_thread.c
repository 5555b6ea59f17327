/* SPDX-License-Identifier: MIT */
#include "process_of_thread.h"

#include <stdlib.h>

#include "compare.h"
#include "partition.h"

uint32_t ty_process_of(const struct ty_model *m, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t leader;

	if (t->tgid < 0 || t->tgid == t->tid)
		return thread;
	leader = ty_model_thread_find(m, t->tgid, t->start_ns);
	return leader == TY_NONE ? thread : leader;
}

ORDER(by_process, struct ty_member,
      compare(a->process, b->process) ?: compare(a->thread, b->thread))

uint32_t ty_process_parent(const struct ty_model *m, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t by = t->forked_by >= 0 ? (uint32_t)t->forked_by
		      : t->ppid > 0	? ty_model_thread_find(m, t->ppid, t->start_ns)
					: TY_NONE;

	return by == TY_NONE ? TY_NONE : ty_process_of(m, by);
}

struct ty_member *ty_members_find(const struct ty_model *m)
{
	uint32_t n = ty_model_summary(m)->threads;
	struct ty_member *v = calloc((size_t)n + 1, sizeof(*v));

	for (uint32_t i = 0; v && i < n; i++)
		v[i] = (struct ty_member){ty_process_of(m, i), i};
	if (v)
		qsort(v, n, sizeof(*v), by_process);
	return v;
}

const struct ty_member *ty_members_of(const struct ty_model *m, const struct ty_member *all,
				      uint32_t process, uint32_t *n)
{
	uint32_t last = ty_model_summary(m)->threads,
		 first = partition_point(i, 0, last, all[i].process < process);

	*n = partition_point(i, first, last, all[i].process == process) - first;
	return all + first;
}

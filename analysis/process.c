/* SPDX-License-Identifier: MIT */
#include "process.h"

uint32_t ty_process_of(const struct ty_model *m, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t leader;

	if (t->tgid < 0 || t->tgid == t->tid)
		return thread;
	leader = ty_model_thread_find(m, t->tgid, t->start_ns);
	return leader == TY_NONE ? thread : leader;
}

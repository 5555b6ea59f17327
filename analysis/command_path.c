/* SPDX-License-Identifier: MIT */
#include "command_path.h"

int ty_command_path(const struct ty_explain *x, uint64_t from_ns, uint64_t to_ns,
		    uint64_t *start_ns, uint64_t *end_ns, struct ty_path *p)
{
	uint32_t i = x->command_tid ? ty_model_thread_find(x->m, x->command_tid, to_ns) : TY_NONE;
	const struct ty_thread *t;

	*p = (struct ty_path){0};
	if (i == TY_NONE)
		return -TY_ENOTFOUND;
	t = ty_model_thread(x->m, i);
	/* Before the recorder let it go it was the recorder. */
	*start_ns = t->released_ns > t->start_ns ? t->released_ns : t->start_ns;
	if (*start_ns < from_ns)
		*start_ns = from_ns;
	*end_ns = to_ns < t->end_ns ? to_ns : t->end_ns;
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
	return ty_path_find(x, i, *start_ns, *end_ns, p);
}

/* SPDX-License-Identifier: MIT */
#include "command_path.h"

/* The command's life in the file: before the recorder let it go it was the recorder. */
static uint64_t begin_of(const struct ty_thread *t)
{
	return t->released_ns > t->start_ns ? t->released_ns : t->start_ns;
}

static uint32_t command_at(const struct ty_explain *x, uint64_t t_ns)
{
	return x->command_tid ? ty_model_thread_find(x->m, x->command_tid, t_ns) : TY_NONE;
}

/* Where the path lies at the end of the file: on the command, unless it is a part of which more is
 * known. */
static uint32_t last_of(const struct ty_explain *x, uint32_t command, bool *inferred)
{
	const uint64_t end_ns = ty_model_summary(x->m)->end_ns;
	uint32_t i = TY_NONE;

	if (x->path_tid && ty_model_thread(x->m, command)->end_ns >= end_ns)
		i = ty_model_thread_find(x->m, x->path_tid, end_ns);
	*inferred = i != TY_NONE && x->path_inferred;
	return i == TY_NONE ? command : i;
}

int ty_command_path(const struct ty_explain *x, uint64_t from_ns, uint64_t to_ns,
		    uint64_t *start_ns, uint64_t *end_ns, struct ty_path *p)
{
	const uint32_t i = command_at(x, to_ns);
	const struct ty_thread *t;
	bool inferred;
	int r;

	*p = (struct ty_path){0};
	if (i == TY_NONE)
		return -TY_ENOTFOUND;
	t = ty_model_thread(x->m, i);
	*start_ns = begin_of(t);
	if (*start_ns < from_ns)
		*start_ns = from_ns;
	*end_ns = to_ns < t->end_ns ? to_ns : t->end_ns;
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
	if (*end_ns == *start_ns)
		return 0;
	/* From the command's end: it is defined by what it waits for at the end of the window. */
	r = ty_path_find(x, last_of(x, i, &inferred), *start_ns, t->end_ns, p);
	p->inferred |= inferred;
	if (!r && p->cut && *end_ns < t->end_ns) /* it does not reach the window */
		return ty_path_find(x, i, *start_ns, *end_ns, p);
	if (!r)
		ty_path_cut(p, *start_ns, *end_ns);
	return r;
}

uint64_t ty_command_ns(const struct ty_explain *x)
{
	const uint32_t i = command_at(x, UINT64_MAX);
	const struct ty_thread *t = i == TY_NONE ? NULL : ty_model_thread(x->m, i);

	return x->command_ns || !t ? x->command_ns : t->end_ns - begin_of(t);
}

int32_t ty_command_path_at(const struct ty_explain *x, uint64_t at_ns, bool *inferred)
{
	uint64_t start, end;
	struct ty_path p;
	int32_t tid = 0;

	if (at_ns && !ty_command_path(x, at_ns - 1, at_ns, &start, &end, &p) && p.seg.n &&
	    end == at_ns && p.seg.v[0].thread != TY_NONE)
		tid = ty_model_thread(x->m, p.seg.v[0].thread)->tid;
	*inferred = p.inferred;
	ty_path_fini(&p);
	return tid;
}

/* SPDX-License-Identifier: MIT */
/* See sample_marks.h. */
#include "sample_marks.h"

#include <stdlib.h>

#include "compare.h"
#include "partition.h"

struct ty_sample_marks *ty_sample_marks_new(void)
{
	return calloc(1, sizeof(struct ty_sample_marks));
}

void ty_sample_marks_free(struct ty_sample_marks *s)
{
	for (unsigned i = 0; s && i < TY_MARKS_KINDS; i++)
		vec_fini(&s->by[i]);
	free(s);
}

int ty_sample_marks_add(struct ty_sample_marks *s, uint64_t ns, uint32_t tid, uint32_t cpu)
{
	int e = vec_push(&s->by[TY_MARKS_THREAD], (struct ty_sample_mark){ns, tid});

	return e ? e : vec_push(&s->by[TY_MARKS_CPU], (struct ty_sample_mark){ns, cpu});
}

ORDER(by_id, struct ty_sample_mark, compare(a->id, b->id) ?: compare(a->ns, b->ns))

void ty_sample_marks_sort(struct ty_sample_marks *s)
{
	for (unsigned i = 0; i < TY_MARKS_KINDS; i++)
		if (s->by[i].n)
			qsort(s->by[i].v, s->by[i].n, sizeof(*s->by[i].v), by_id);
}

uint64_t ty_sample_marks_count(const struct ty_sample_marks *s, enum ty_sample_marks_by by,
			       uint32_t id, uint64_t from_ns, uint64_t to_ns)
{
	const struct ty_sample_mark *v = s->by[by].v;
	const size_t n = s->by[by].n,
		     first = partition_point(k, (size_t)0, n,
					     v[k].id < id || (v[k].id == id && v[k].ns < from_ns));

	return partition_point(k, first, n, v[k].id == id && v[k].ns < to_ns) - first;
}

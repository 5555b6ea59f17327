/* SPDX-License-Identifier: MIT */
/* See steal_recorded.h. */
#include "steal_recorded.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "partition.h"
#include "vec.h"

struct line {
	uint64_t from_ns, to_ns, cpu, ns;
};

struct ty_steal_lines {
	VEC(struct line) v; /* by CPU, then time */
};

ORDER(by_cpu_and_end, struct line, compare(a->cpu, b->cpu) ?: compare(a->to_ns, b->to_ns))

static bool number(const char **p, char behind, uint64_t *out)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	*out = strtoull(*p, &end, 10);
	if (*end != behind)
		return false;
	*p = end + 1;
	return true;
}

struct ty_steal_lines *ty_steal_lines_new(const char *section)
{
	struct ty_steal_lines *s = calloc(1, sizeof(*s));

	for (const char *p = section, *end; s && p && *p; p = end ? end + 1 : NULL) {
		const char *f = p;
		struct line l;

		end = strchr(p, '\n');
		if (!number(&f, '\t', &l.from_ns) || !number(&f, '\t', &l.to_ns) ||
		    !number(&f, '\t', &l.cpu) || !number(&f, '\n', &l.ns) || l.from_ns >= l.to_ns)
			continue;
		if (vec_push(&s->v, l)) {
			ty_steal_lines_free(s);
			return NULL;
		}
	}
	if (s)
		vec_sort(&s->v, by_cpu_and_end);
	return s;
}

void ty_steal_lines_free(struct ty_steal_lines *s)
{
	if (!s)
		return;
	vec_fini(&s->v);
	free(s);
}

uint64_t ty_steal_lines_sum(const struct ty_steal_lines *s, uint32_t cpu, uint64_t from_ns,
			    uint64_t to_ns)
{
	const struct line *v = s->v.v;
	size_t i = partition_point(k, 0, s->v.n,
				   v[k].cpu < cpu || (v[k].cpu == cpu && v[k].to_ns <= from_ns));
	uint64_t sum = 0, most = to_ns > from_ns ? to_ns - from_ns : 0;

	for (; i < s->v.n && v[i].cpu == cpu && v[i].from_ns < to_ns && sum < most; i++)
		sum = v[i].ns < most - sum ? sum + v[i].ns : most;
	return sum;
}

/* SPDX-License-Identifier: MIT */
/* See file_lock_release.h. */
#include "file_lock_release.h"

static bool of_one_process(const struct ty_model *m, uint32_t a, uint32_t b)
{
	const struct ty_thread *t = ty_model_thread(m, a), *u = ty_model_thread(m, b);

	return a == b || (t->tgid > 0 && t->tgid == u->tgid);
}

/* The first failed attempt of the thread (tried NULL), or the last release of the lock that `tried`
 * was for; thread TY_NONE: none. */
static struct ty_point find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns,
			    uint64_t to_ns, const struct ty_point *tried)
{
	struct ty_point best = {.thread = TY_NONE};

	for (uint32_t cpu = 0; cpu < ty_model_summary(x->m)->cpus; cpu++) {
		uint32_t n = ty_model_points(x->m, cpu);

		for (uint32_t i = ty_model_point_after(x->m, cpu, from_ns); i < n; i++) {
			struct ty_point p = ty_model_point(x->m, cpu, i);
			bool none = best.thread == TY_NONE;

			if (p.ts_ns > to_ns || ty_explain_stopped(x))
				break;
			if (p.thread == TY_NONE)
				continue;
			if (!tried) {
				if (p.kind == TY_PT_FILE_LOCK_FAILED && p.thread == thread &&
				    (none || p.ts_ns < best.ts_ns))
					best = p;
			} else if (p.kind == TY_PT_FILE_UNLOCK && p.a == tried->a &&
				   p.b == tried->b && (none || p.ts_ns >= best.ts_ns) &&
				   !of_one_process(x->m, p.thread, thread)) {
				best = p;
			}
		}
	}
	return best;
}

struct ty_release ty_file_lock_release(const struct ty_explain *x, uint32_t thread,
				       uint64_t from_ns, uint64_t to_ns)
{
	struct ty_point p = find(x, thread, from_ns, to_ns, NULL);

	if (p.thread != TY_NONE)
		p = find(x, thread, p.ts_ns, to_ns, &p);
	return (struct ty_release){p.thread, p.ts_ns};
}

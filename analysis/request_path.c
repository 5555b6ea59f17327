/* SPDX-License-Identifier: MIT */
/* See request_path.h. Threads of a runtime (Go) take turns: one polls for timers and events while
 * another one is in a call for the request. */
#include "request_path.h"

#define WORTH 10 /* of a request: shorter idle times do not matter */

/* How long waits that timers ended kept these threads from t until `to`, on the path. */
static uint64_t idle_ns(const struct ty_path *p, const uint8_t *mine, uint64_t t, uint64_t to)
{
	uint64_t ns = 0;

	vec_each (s, &p->seg) {
		const uint64_t a = s->start_ns > t ? s->start_ns : t,
			       b = s->end_ns < to ? s->end_ns : to;

		if (s->what == TY_SEG_TIMER && mine[s->thread] && a < b)
			ns += b - a;
	}
	return ns;
}

/* The last wait of the path that another thread ended which had the request; NULL. */
static const struct ty_hop *taken_over(const struct ty_explain *x, const struct ty_request *r,
				       const uint8_t *mine, const struct ty_path *p)
{
	const struct ty_model *m = x->m;
	const uint64_t worth = (r->end_ns - r->start_ns) / WORTH;

	/* From the end of the request backward. */
	vec_each (h, &p->hop) {
		const uint32_t by = h->waker.thread;
		struct ty_span s;
		uint64_t from;
		uint32_t call;

		if (h->waker.kind != TY_WAKER_THREAD || !mine[h->thread] || !mine[by] ||
		    h->start_ns <= r->start_ns + worth ||
		    ty_model_thread(m, by)->start_ns > h->start_ns)
			continue;
		s = ty_model_span_brief(m, by, ty_model_span_find(m, by, h->start_ns));
		call = ty_model_syscall_at(m, by, h->start_ns);
		from = call == TY_NONE ? s.start_ns : ty_model_syscall_brief(m, by, call).start_ns;
		from = from > r->start_ns ? from : r->start_ns;
		if ((s.state == TY_ST_SLEEPING || s.state == TY_ST_BLOCKED) &&
		    s.end_ns <= h->end_ns && h->start_ns > from + worth &&
		    idle_ns(p, mine, from, h->start_ns) > (h->start_ns - from) / 2)
			return h;
	}
	return NULL;
}

int ty_request_path(const struct ty_explain *x, const struct ty_request *r, const uint8_t *mine,
		    struct ty_path *p)
{
	const uint32_t thread = r->replied_by != TY_NONE ? r->replied_by : r->thread;
	struct ty_path before = {0}, behind;
	const struct ty_hop *h;
	int rc = ty_path_find(x, thread, r->start_ns, r->end_ns, p);

	h = rc ? NULL : taken_over(x, r, mine, p);
	if (!h)
		return rc;
	rc = ty_path_find(x, h->waker.thread, r->start_ns, h->end_ns, &before);
	if (!rc) {
		ty_path_cut(p, h->end_ns, r->end_ns);
		rc = ty_path_append(&before, p);
		before.inferred = true;
	}
	behind = *p;
	*p = before;
	ty_path_fini(&behind);
	return rc;
}

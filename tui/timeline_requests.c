/* SPDX-License-Identifier: MIT */
/* The slowest requests as a page (timeline_slowest.h). */
#include "timeline_priv.h"

static void add(struct ty_page_job *a, const struct ty_requests *q, const struct ty_request *r)
{
	const struct ty_request *median = ty_request_median(q, r);
	struct ty_slow s = {.thread = ty_request_thread(r),
			    .start_ns = r->start_ns,
			    .end_ns = r->end_ns,
			    .open = r->flags & TY_REQ_OPEN,
			    .median_thread = TY_NONE};

	if (median) {
		s.median_thread = ty_request_thread(median);
		s.median_start_ns = median->start_ns;
		s.median_end_ns = median->end_ns;
	}
	ty_slowest_add(a, &s);
}

static int make(struct ty_page_job *a)
{
	struct ty_requests q = {0};
	int r = ty_requests_find(&a->explain, &a->window, TY_SLOWEST_LISTED, TY_REQUESTS_CALLS, &q,
				 &a->err);

	a->slowest = (struct ty_timeline_slowest){
		.of = "request",
		.counted = "with a reply",
		.none = "no requests: no process received data on a socket and replied on it",
		.all = q.all,
		.cut_ns = q.cut_ns};
	r = r ? r : ty_slowest_room(a, q.n, q.services_n);
	for (uint32_t i = 0; !r && i < q.n; i++)
		add(a, &q, &q.v[i]);
	for (uint32_t i = 0; !r && i < q.services_n; i++) {
		const struct ty_service *s = &q.services[i];

		a->slowest.groups[a->slowest.groups_n++] = (struct ty_slow_group){
			s->process, s->inferred, s->n, s->p50_ns, s->p90_ns, s->p99_ns, s->max_ns};
	}
	ty_requests_fini(&q);
	return r;
}

static const struct ty_page_job_ops the_list = {
	.name = "requests",
	.title = "Requests",
	.about = "The slowest requests: from the receipt of data on a socket to the reply on it. "
		 "Duration, thread, start, and the state with most time. Below: each process that "
		 "replied, with percentiles.",
	.doing = "finding requests",
	.make = make,
	.page = ty_slowest_page,
	.forget = ty_slowest_forget,
	.left = ty_slowest_left};

bool ty_timeline_requests(struct ty_timeline *t)
{
	if (!t->in->explain) {
		ty_timeline_say(t, "this file has no system calls to find requests in");
		return false;
	}
	ty_timeline_stop_page(t);
	if (t->slowest.m == t->m && !*t->slowest.name)
		return ty_slowest_again(t);
	ty_page_reset(&t->page);
	return ty_timeline_start_page_job(t, &the_list, TY_NONE, t->vp.start_ns, t->vp.end_ns);
}

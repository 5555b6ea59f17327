/* SPDX-License-Identifier: MIT */
/*
 * The answer for a server process: its slowest requests, beside median ones. Each is the path of
 * the replying thread, from the reply back to the start of the request, and therefore contains the
 * thread or process that held it up.
 */
#include "answer_priv.h"
#include "request_backlog.h"
#include "path_part.h"
#include "request_path.h"

#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "process_of_thread.h"
#include "sentence.h"
#include "units.h"
#include "waits.h"
#include "process_titles.h"
#include "thread_walk.h"

#define MOST	 10 /* requests that are followed */
#define SLOW	 MOST
#define MEDIAN	 9
#define SLOW_DIV 2 /* at least a half of the slowest */
#define CLIENTS	 2 /* named */

static uint64_t length(const struct ty_request *r)
{
	return r->end_ns - r->start_ns;
}

/* The paths of requests one behind the other: one book, one list of segments. */
struct paths {
	struct ty_path all;
	uint64_t total_ns;
	uint32_t n;
};

static uint32_t served_by(const struct ty_request *r)
{
	return r->replied_by != TY_NONE ? r->replied_by : r->thread;
}

static bool overlap(const struct ty_request *const *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (v[i]->start_ns < v[k]->end_ns && v[k]->start_ns < v[i]->end_ns)
				return true;
	return false;
}

/* What n requests (MOST at most) did, in all, as items of out. */
static int explain(const struct ty_explain *x, const struct ty_requests *q,
		   const struct ty_request *const *v, uint32_t n, uint32_t process,
		   struct ty_answer *out)
{
	const struct ty_model *m = x->m;
	size_t threads = (size_t)ty_model_summary(m)->threads + 1;
	struct ty_ledger_group *group_of = calloc(threads, sizeof(*group_of));
	uint8_t *mine = calloc(threads, sizeof(*mine));
	struct ty_kept_paths kept = {0}; /* slow requests mostly wait for the same */
	struct ty_explain own = *x;
	struct ty_book book = {.x = x};
	struct paths p = {0};
	struct ty_path one = {0};
	size_t at[MOST + 1] = {0}; /* where the segments of each begin */
	int r = group_of && mine ? 0 : -TY_ENOMEM;

	own.paths = &kept;
	for (uint32_t i = 0; i + 1 < threads && !r; i++)
		mine[i] = ty_process_of(m, i) == process;
	for (uint32_t i = 0; i < n && !r; i++) {
		r = ty_request_path(&own, v[i], mine, &one);
		if (!r)
			vec_each (s, &one.seg)
				group_of[s->thread].n = 1;
		r = r ? r : ty_path_append(&p.all, &one);
		at[i + 1] = p.all.seg.n;
	}
	ty_path_fini(&one);
	ty_kept_paths_fini(&kept);
	if (!r)
		r = ty_ledger_groups(m, mine, group_of);
	for (size_t i = 0; i < n && !r; i++) {
		struct ty_path part = {0};

		part.seg.v = vec_at(&p.all.seg, at[i]);
		part.seg.n = at[i + 1] - at[i];
		r = ty_ledger_path(x, &part, group_of, v[i]->start_ns, v[i]->end_ns, &book);
		p.total_ns += length(v[i]);
	}
	if (!r) {
		const struct ty_answer_work k = {.requests = q,
						 .x = x,
						 .book = &book,
						 .group_of = group_of,
						 .path = &p.all,
						 .overlap = overlap(v, n),
						 .mine = mine};

		out->total_ns = p.total_ns;
		out->inferred |= p.all.inferred;
		r = ty_answer_items(&k, out);
	}
	ty_path_fini(&p.all);
	ty_book_fini(&book);
	free(group_of);
	free(mine);
	return r;
}

ORDER(by_length, typeof(const struct ty_request *),
      compare(length(*a), length(*b)) ?: compare((*a)->start_ns, (*b)->start_ns))

/* Those of the sample around its median, a third of them at most. */
static uint32_t median_ones(const struct ty_requests *q, const struct ty_service *s,
			    const struct ty_request **v)
{
	const struct ty_request *all[TY_REQUESTS_SAMPLE];
	uint32_t n = 0, some;

	for (uint32_t i = 0; i < s->sample_n && n < TY_REQUESTS_SAMPLE; i++)
		if (served_by(&q->sample[s->sample + i]) != TY_NONE)
			all[n++] = &q->sample[s->sample + i];
	if (!n)
		return 0;
	qsort(all, n, sizeof(*all), by_length);
	some = n / 3 ? n / 3 : 1;
	some = some < MEDIAN ? some : MEDIAN;
	for (uint32_t i = 0; i < some; i++)
		v[i] = all[(n - some) / 2 + i];
	return some;
}

/* Had the server one of those requests for half of that time, while it waited? */
static bool was_behind(const struct ty_request *const *slow, uint32_t n, const struct ty_backlog *b)
{
	const uint64_t end_ns = b->start_ns + b->wait_ns;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t from = slow[i]->start_ns > b->start_ns ? slow[i]->start_ns
								      : b->start_ns,
			       to = slow[i]->end_ns < end_ns ? slow[i]->end_ns : end_ns;

		if (slow[i]->end_ns != b->longest.end_ns && from < to && to - from > b->wait_ns / 2)
			return true;
	}
	return false;
}

/* The requests that the server received late: the times of requests begin only then. A
 * second note is what the server did until then, if one item is half of it. */
static int note_backlog(const struct ty_explain *x, const struct ty_requests *q,
			const struct ty_request *const *slow, uint32_t n,
			const struct ty_backlog *b, struct ty_answer *out)
{
	char d[2][TY_DURATION_MAX], who[TY_WHO_MAX], more[64] = "";
	struct ty_answer meanwhile = {0};
	const struct ty_request *before;
	const bool behind = was_behind(slow, n, b);
	struct ty_request until;
	int r;

	if (!b->n)
		return 0;
	if (b->n > 1)
		snprintf(more, sizeof(more), "; %u other request%s waited, too", b->n - 1,
			 b->n > 2 ? "s" : "");
	ty_model_who_process(x->m, b->client, who);
	ty_answer_note(out,
		       "these times exclude queueing: %s waited at least %s before its request was "
		       "received (%s), then %s for the reply%s (inferred)",
		       who, ty_fmt_duration(b->wait_ns, d[0]),
		       b->connecting ? "a packet of its connection was sent again: listen queue "
				       "full, or packet loss"
		       : behind	     ? n > 1 ? "queued behind one of the slowest requests"
					     : "queued behind the slowest request"
				     : "listen backlog or socket buffer",
		       ty_fmt_duration(length(&b->longest), d[1]), more);
	/* What the server did with the slowest one is in the items. */
	if (b->connecting || behind)
		return 0;
	until = b->longest;
	until.start_ns = b->start_ns;
	until.end_ns = b->start_ns + b->wait_ns;
	before = &until;
	r = explain(x, q, &before, 1, q->services[0].process, &meanwhile);
	if (!r && meanwhile.items && meanwhile.item[0].ns >= b->wait_ns / 2)
		ty_answer_note(out, "during %s of that queueing, %s",
			       ty_fmt_duration(meanwhile.item[0].ns, d[0]), meanwhile.item[0].text);
	return r;
}

/* Appends ", from get.py/12 and curl/15": the clients of these requests, each once. */
static void say_clients(const struct ty_model *m, const uint32_t *client, uint32_t n, char *out,
			size_t size)
{
	uint32_t named = 0;
	bool more = false;

	for (uint32_t i = 0; i < n; i++) {
		char who[TY_WHO_MAX];
		bool again = client[i] == TY_NONE;

		for (uint32_t k = 0; k < i && !again; k++)
			again = client[k] != TY_NONE &&
				ty_process_of(m, client[k]) == ty_process_of(m, client[i]);
		if (again)
			continue;
		if (named == CLIENTS) {
			more = true;
			break;
		}
		ty_put_behind(out, size, "%s%s", named++ ? " and " : ", from ",
			      ty_model_who_process(m, client[i], who));
	}
	if (more)
		ty_put_behind(out, size, " and others");
}

/* In the first line, behind how long the requests took: which client waited twice as long before
 * its request. That none waited is never certain: not every wait of a client is seen. */
static void head_clients(const struct ty_explain *x, const struct ty_backlog *b,
			 uint64_t longest_ns, struct ty_answer *out)
{
	char d[TY_DURATION_MAX], who[TY_WHO_MAX];

	if (b->n && b->wait_ns / 2 > longest_ns)
		ty_put_behind(out->head, sizeof(out->head),
			      "; %s waited %s before its request was received (inferred)",
			      ty_model_who_process(x->m, b->client, who),
			      ty_fmt_duration(b->wait_ns, d));
}

/* Of a request that began before the recording only the reply is recorded. If its thread waited for
 * any event until something arrived, and then sent, it may have passed that on, as a broker does.
 */
static bool may_be_none(const struct ty_explain *x, const struct ty_request *r)
{
	const struct ty_model *m = x->m;
	uint32_t k = ty_model_span_find(m, r->replied_by, r->end_ns - 1), left = 8;
	struct ty_span s = {.state = TY_ST_RUNNING};
	struct ty_waker by;

	if (!(r->flags & TY_REQ_BEFORE))
		return false;
	for (; s.state != TY_ST_SLEEPING && left-- && k >= ty_thread_spans(m, r->replied_by).from;
	     k--)
		s = ty_model_span(m, k);
	by = ty_waker_find(m, s.edge);
	return s.state == TY_ST_SLEEPING && s.end_ns - r->start_ns > length(r) / 2 &&
	       ty_wait_for(x, &s, s.syscall).kind == TY_STALL_EVENTS &&
	       (by.net || by.kind == TY_WAKER_THREAD) && !ty_waker_signal(m, r->replied_by, &by);
}

int ty_answer_requests(const struct ty_explain *x, const struct ty_window *w,
		       const struct ty_requests *q, struct ty_answer *out)
{
	const struct ty_service *s = &q->services[0];
	const struct ty_request *slow[SLOW], *median[MEDIAN];
	struct ty_answer beside = {0};
	char d[3][TY_DURATION_MAX], c[2][TY_COUNT_MAX], text[240] = "", who[TY_WHO_MAX];
	uint32_t n = 0, unsure = 0, medians, client[SLOW];
	struct ty_backlog backlog;
	int r;

	for (int sure = 1; sure >= 0 && !n; sure--) {
		unsure = 0;
		for (uint32_t i = 0; i < q->n && n < SLOW; i++) {
			if (q->v[i].service || served_by(&q->v[i]) == TY_NONE || !length(&q->v[i]))
				continue;
			if (sure && may_be_none(x, &q->v[i]))
				unsure += !n; /* longer than those that are explained */
			else if (!n || length(&q->v[i]) >= length(slow[0]) / SLOW_DIV)
				slow[n++] = &q->v[i];
		}
	}
	if (!n)
		return -TY_ENOTFOUND;
	out->of = TY_ANSWER_REQUESTS;
	r = explain(x, q, slow, n, s->process, out);
	medians = median_ones(q, s, median);
	if (!r && s->n && medians)
		r = explain(x, q, median, medians, s->process, &beside);
	if (r)
		return r;
	if (s->n)
		snprintf(text, sizeof(text), ": p50 %s, p99 %s, max %s",
			 ty_fmt_duration(s->p50_ns, d[0]), ty_fmt_duration(s->p99_ns, d[1]),
			 ty_fmt_duration(s->max_ns, d[2]));
	ty_fmt_count(s->open, c[1]);
	snprintf(out->head, sizeof(out->head), "%s replied to %s request%s%s%s%s%s",
		 ty_model_who_process(x->m, s->process, who), ty_fmt_count(s->n, c[0]),
		 s->n == 1 ? "" : "s", text, s->open ? "; " : "", s->open ? c[1] : "",
		 s->open ? " without a reply" : "");
	r = ty_request_backlog_find(x, q, w, slow, n, client, &backlog);
	if (r)
		return r;
	if (s->n && !s->open)
		head_clients(x, &backlog, s->max_ns, out);
	if (n > 1)
		snprintf(out->sum_of, sizeof(out->sum_of), "sum of the %u slowest requests", n);
	else
		snprintf(out->sum_of, sizeof(out->sum_of), "%srequest", s->n > 1 ? "slowest " : "");
	say_clients(x->m, client, n, out->sum_of, sizeof(out->sum_of));
	if (unsure)
		ty_put_behind(out->sum_of, sizeof(out->sum_of),
			      " (without %u that began before the recording)", unsure);
	ty_put_behind(out->sum_of, sizeof(out->sum_of), "%s: ",
		      n > 1 && overlap(slow, n) ? " (where they overlap, time counts twice)" : "");
	r = note_backlog(x, q, slow, n, &backlog, out);
	if (r)
		return r;
	if (beside.total_ns && s->n > 1) {
		uint64_t part[TY_ANSWER_PARTS_N], sum = 0;

		for (unsigned p = 0; p < TY_ANSWER_PARTS_N; p++)
			sum += part[p] = beside.part_ns[p] / medians;
		text[0] = 0;
		ty_answer_sum_text(part, sum, text, sizeof(text));
		ty_answer_note(out, "a typical request (mean of those near the median): %s", text);
	}
	if (q->services_n > 1)
		ty_answer_note(out,
			       "%u more process%s replied to requests: tarry report FILE requests",
			       q->services_n - 1, q->services_n > 2 ? "es" : "");
	return 0;
}

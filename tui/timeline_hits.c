/* SPDX-License-Identifier: MIT */
/* The hits of the search as a page, the longest first, with the files that calls act on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_args.h"
#include "now.h"
#include "ruler.h"
#include "timeline_priv.h"

/* In the thread: names cost reading calls of the whole process. */
static int make(struct ty_page_job *a)
{
	const int64_t start = ty_now_ms();

	memset(a->object, 0, sizeof(a->object));
	for (uint32_t i = 0;
	     i < a->hits.n && !ty_explain_stopped(&a->explain) && ty_now_ms() - start < TY_NAMES_MS;
	     i++) {
		struct ty_buf b;

		if (a->hits.v[i].what != TY_HIT_CALL)
			continue;
		ty_buf_init(&b, 8192);
		if (!ty_call_object(&a->explain, a->hits.v[i].idx, &b) && b.p)
			a->object[i] = strdup(b.p);
		ty_buf_fini(&b);
	}
	return 0;
}

static void forget(struct ty_page_job *a)
{
	for (uint32_t i = 0; i < TY_HITS_MAX; i++) {
		free(a->object[i]);
		a->object[i] = NULL;
	}
}

/* ">437.896 ms" of what began before the recording, or was not over. */
static const char *length_text(const struct ty_timeline *t, const struct ty_hit *h,
			       char out[TY_TIME_MAX + 1])
{
	const unsigned flags = h->what == TY_HIT_CALL	? ty_model_syscall(t->m, h->idx).flags
			       : h->what == TY_HIT_SPAN ? ty_model_span(t->m, h->idx).flags
							: 0;

	if (!h->ns)
		return "-";
	*out = '>';
	ty_fmt_length(h->ns, out + 1);
	return out + !(flags & (TY_SF_BEFORE | TY_SF_OPEN));
}

static bool page(struct ty_timeline *t, struct ty_page_job *a)
{
	char many[60], fewer[12] = "";

	if (t->hits_many)
		snprintf(many, sizeof(many), "more than %u hits", TY_SEARCH_MOST);
	else
		snprintf(many, sizeof(many), "%" PRIu64 " hit%s", t->hits_n,
			 t->hits_n == 1 ? "" : "s");
	if (t->hits_many || t->hits_n > a->hits.n)
		snprintf(fewer, sizeof(fewer), "%u ", (unsigned)a->hits.n);
	snprintf(t->page.title, sizeof(t->page.title),
		 "%s of '%s', the %slongest first (of traced threads before others)", many,
		 ty_query_text(t->query), fewer);
	for (uint32_t i = 0; i < a->hits.n; i++) {
		const struct ty_hit *h = &a->hits.v[i];
		char who[TY_THREAD_NAME_MAX], at[TY_TIME_MAX], what[TY_HIT_TEXT],
			len[TY_TIME_MAX + 1];

		ty_page_add(&t->page, TY_ROLE_TEXT, "%11s  %-16s %12s  %s%s%s",
			    length_text(t, h, len),
			    h->thread == TY_NONE
				    ? "-"
				    : ty_timeline_thread_within(t, h->thread, h->at_ns, 16, who),
			    ty_timeline_at(t, h->at_ns, 1000, at), ty_timeline_hit_text(t, h, what),
			    a->object[i] ? " " : "", a->object[i] ? a->object[i] : "");
		ty_page_link(&t->page, h->thread, h->at_ns);
		if (h->what == TY_HIT_CALL)
			ty_page_link_calls(&t->page);
	}
	if (t->hits_many || t->hits_n > a->hits.n)
		ty_page_add(&t->page, TY_ROLE_DIM, "%11s  and %s", "",
			    t->hits_many ? "others that were not counted" : "shorter ones");
	t->page.at = t->hits_place;
	return true;
}

static void left(struct ty_timeline *t)
{
	t->hits_place = t->page.at;
	ty_timeline_page_left(t);
}

static const struct ty_page_job_ops the_hits = {
	.name = "hits",
	.title = "Hits",
	.about = "All hits of the search, the longest first: length, thread, start, what it is, "
		 "and the file that a call acts on. Threads that were not traced come last. "
		 "> marks a length that the start or end of the recording cut off.",
	.doing = "reading the names of files",
	.make = make,
	.page = page,
	.forget = forget,
	.left = left};

static bool counted(struct ty_timeline *t)
{
	ty_timeline_take_count(t);
	ty_page_reset(&t->page);
	t->page_job.hits = t->longest;
	return ty_timeline_start_page_job(t, &the_hits, TY_NONE, t->vp.start_ns, t->vp.end_ns);
}

static void progress(struct ty_timeline *t)
{
	ty_timeline_say(t, "listing the hits of '%s'; Esc stops", ty_query_text(t->query));
}

static const struct ty_job list_job = {
	.makes_page = true, .step = ty_timeline_count_step, .done = counted, .progress = progress};

bool ty_timeline_hits(struct ty_timeline *t)
{
	if (!t->query || !t->hit_known) {
		ty_timeline_say(t, "no hits yet: press / to search");
		return false;
	}
	if (t->job == &list_job)
		return false;
	ty_search_count(&t->count, t->m, t->query, t->hit, &t->longest);
	ty_timeline_begin(t, &list_job);
	return false;
}

/* SPDX-License-Identifier: MIT */
/* Search and filter: jobs with slices of BUDGET candidates. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "irqs.h"
#include "query_word.h"
#include "timeline_priv.h"

#define BUDGET 32 /* candidates between two checks of the clock */

void ty_timeline_search(struct ty_timeline *t, const char *text)
{
	struct ty_query *q;
	struct ty_err err = {0};

	if (!*text)
		return;
	if (ty_query_new(t->m, t->in->arch, text, &q, &err)) {
		ty_timeline_say(t, "%s", err.msg);
		return;
	}
	ty_timeline_objects_stop(t);
	ty_query_free(t->query);
	t->query = q;
	t->hit_known = t->hits_known = t->hits_many = false;
	t->hits_place = 0;
	ty_timeline_next_hit(t, false);
}

/* A row below that of its thread or CPU is shown with that one. */
static void show_owner(struct ty_timeline *t)
{
	const struct ty_row *rows = t->tracks.rows.v;
	uint32_t up = t->row;

	while (up && rows[up].kind != TY_ROW_THREAD && rows[up].kind != TY_ROW_CPU)
		up--;
	if (up < t->top && (int)(t->row - up) < t->lay.rows_h)
		t->top = up;
}

/* The row that the hit lies on, unfolded as needed. */
static void show_hit_row(struct ty_timeline *t, const struct ty_hit *h)
{
	uint32_t row = TY_NONE;
	struct ty_track track;

	if (h->what == TY_HIT_IRQ)
		row = ty_tracks_reveal_irqs(&t->tracks, h->cpu);
	else if (h->thread == TY_NONE)
		row = ty_tracks_reveal_cpu(&t->tracks, h->cpu);
	else if (h->what == TY_HIT_REGION)
		row = ty_tracks_reveal_region(&t->tracks, h->thread,
					      ty_model_region(t->m, h->idx).lane);
	else if (h->what == TY_HIT_CALL)
		row = ty_tracks_reveal_calls(&t->tracks, h->thread);
	else
		row = ty_tracks_reveal(&t->tracks, h->thread);
	if (row == TY_NONE)
		return;
	t->row = row;
	t->list_focus = false;
	ty_timeline_show_row(t, 0);
	show_owner(t);
	if (h->what != TY_HIT_POINT && h->what != TY_HIT_GAP && h->what != TY_HIT_REGION &&
	    ty_timeline_track(t, row, &track))
		ty_timeline_pin(t, track, h->idx);
}

/* The number of the hit and of all hits, once known. */
static void hit_number(const struct ty_timeline *t, char out[60])
{
	out[0] = 0;
	if (t->hits_many)
		snprintf(out, 60, "one of more than %u hits: ", TY_SEARCH_MOST);
	else if (t->hits_known)
		snprintf(out, 60, "hit %" PRIu64 " of %" PRIu64 ": ", t->hit_at, t->hits_n);
}

const char *ty_timeline_hit_text(const struct ty_timeline *t, const struct ty_hit *h,
				 char what[TY_HIT_TEXT])
{
	char name[TY_IRQ_NAME_MAX];
	struct ty_irq_span irq;
	struct ty_point p;
	struct ty_syscall c;

	switch (h->what) {
	case TY_HIT_SPAN:
		snprintf(
			what, TY_HIT_TEXT, "%s",
			ty_state_name(
				(enum ty_state)ty_model_span_brief(t->m, h->thread, h->idx).state));
		break;
	case TY_HIT_CALL:
		c = ty_model_syscall_brief(t->m, h->thread, h->idx);
		snprintf(what, TY_HIT_TEXT, "%s",
			 ty_syscall_name(t->in->arch, (enum ty_abi)c.abi, c.nr, name));
		break;
	case TY_HIT_POINT:
		p = ty_model_point(t->m, h->cpu, h->idx);
		*name = 0;
		if ((p.kind == TY_PT_SIGNAL || p.kind == TY_PT_SIGNAL_DELIVER) && p.a < 65 &&
		    sigabbrev_np((int)p.a))
			snprintf(name, sizeof(name), " SIG%s", sigabbrev_np((int)p.a));
		snprintf(what, TY_HIT_TEXT, "%s%s on CPU %u", ty_point_name(p.kind), name, h->cpu);
		break;
	case TY_HIT_REGION:
		snprintf(what, TY_HIT_TEXT, "%s",
			 ty_model_str(t->m, ty_model_region(t->m, h->idx).name));
		break;
	case TY_HIT_IRQ:
		irq = ty_model_irq_span(t->m, h->cpu, h->idx);
		snprintf(what, TY_HIT_TEXT, "%s on CPU %u", ty_irq_name(t->m, &irq, name), h->cpu);
		break;
	default: snprintf(what, TY_HIT_TEXT, "events lost on CPU %u", h->cpu); break;
	}
	return what;
}

static void say_hit(struct ty_timeline *t)
{
	const struct ty_hit *h = &t->hit;
	const char *round = !t->search.wrapped	 ? ""
			    : t->search.backward ? "wrapped to the end: "
						 : "wrapped to the start: ";
	char who[TY_THREAD_NAME_MAX], at[TY_TIME_MAX], what[TY_HIT_TEXT], number[60];

	hit_number(t, number);
	ty_timeline_say(t, "%s%s%s%s%s at %s%s%s", number, round, ty_timeline_hit_text(t, h, what),
			h->thread == TY_NONE ? "" : " of ",
			h->thread == TY_NONE ? ""
					     : ty_timeline_thread_name(t, h->thread, h->at_ns, who),
			ty_timeline_at(t, h->at_ns, 1000, at),
			h->other && t->search.grouped ? " (not traced)" : "",
			t->hits_known && t->hits_n > 1 ? "; H lists them, the longest first" : "");
	t->hit_said = true;
}

/* All hits are counted while the first one is shown. */
bool ty_timeline_count_step(struct ty_timeline *t)
{
	return ty_search_step(&t->count, BUDGET);
}

void ty_timeline_take_count(struct ty_timeline *t)
{
	t->hits_many = t->count.many;
	t->hits_known = !t->count.many;
	t->hits_n = t->count.n;
	t->hit_at = t->count.upto;
}

static bool counted(struct ty_timeline *t)
{
	ty_timeline_take_count(t);
	if (t->hit_said) /* no other key meanwhile */
		say_hit(t);
	return false;
}

static void count_progress(struct ty_timeline *t)
{
}

static const struct ty_job count_job = {
	.step = ty_timeline_count_step, .done = counted, .progress = count_progress};

#define HINT_MAX 400

/* Behind a text that was not found: a number alone may be meant as a thread's. */
static const char *tid_hint(const char *text, char out[HINT_MAX])
{
	const char *number = ty_tid_meant(text);

	*out = 0;
	if (number)
		snprintf(out, HINT_MAX, " (tid:%.300s is the thread with that number)", number);
	return out;
}

static bool hit_found(struct ty_timeline *t)
{
	char hint[HINT_MAX];
	const struct ty_search *s = &t->search;

	if (!s->found) {
		ty_timeline_say(t, "'%s' not found in %s%s%s%s", ty_query_text(t->query),
				t->partial ? "the part indexed so far" : "the recording",
				t->partial && ty_query_needs_objects(t->query)
					? "; names of files are searched when all of it is indexed"
					: "",
				ty_query_hint(t->query), tid_hint(ty_query_text(t->query), hint));
		return false;
	}
	ty_timeline_keep_query(t, false, ty_query_text(t->query));
	t->vp.here = ty_timeline_place(t);
	ty_timeline_visit(t, TY_NONE, s->hit.at_ns);
	t->hit = s->hit;
	t->hit_known = true;
	show_hit_row(t, &s->hit);
	if (t->hits_known && t->hit_steps) /* from hit to hit: the next number */
		t->hit_at = s->backward ? (t->hit_at + t->hits_n - 2) % t->hits_n + 1
					: t->hit_at % t->hits_n + 1;
	else
		t->hits_known = false;
	say_hit(t);
	if (!t->hits_known && !t->hits_many) {
		ty_search_count(&t->count, t->m, t->query, t->hit, &t->longest);
		ty_timeline_begin(t, &count_job);
	}
	return false;
}

static bool search_step(struct ty_timeline *t)
{
	return ty_search_step(&t->search, BUDGET);
}

static void search_progress(struct ty_timeline *t)
{
	ty_timeline_say(t, "searching for '%s': %u %%; Esc stops", ty_query_text(t->query),
			ty_search_progress(&t->search) / 10);
}

static const struct ty_job search_job = {
	.step = search_step, .done = hit_found, .progress = search_progress};

static void begin_search(struct ty_timeline *t)
{
	const bool backward = t->backward;
	struct ty_hit from = {.at_ns = t->cursor_ns, .ord = backward ? 0 : UINT64_MAX};

	t->hit_steps = t->hit_known && t->hit.at_ns == t->cursor_ns;
	if (t->hit_steps)
		from = t->hit;
	ty_search_begin(&t->search, t->m, t->query, from, backward, !t->hit_steps);
	ty_timeline_begin(t, &search_job);
}

void ty_timeline_next_hit(struct ty_timeline *t, bool backward)
{
	if (!t->query) {
		ty_timeline_say(t, "no search yet: press / to search");
		return;
	}
	t->backward = backward;
	if (ty_timeline_objects(t, t->query, begin_search))
		begin_search(t);
}

/* One thread, or some of one CPU's events, which show their threads; true when all are done. */
static bool filter_step(struct ty_timeline *t)
{
	const struct ty_summary *s = ty_model_summary(t->m);
	uint32_t cpu, n;

	if (t->filter_i < s->threads) {
		uint32_t thread = (uint32_t)t->filter_i;
		int r = ty_query_thread_has(t->m, t->filter, thread, &t->filter_at, BUDGET);

		if (r < 0)
			return false;
		if (r)
			ty_tracks_filter_show(&t->tracks, thread);
		t->filter_at = 0;
		t->filter_i++;
		return false;
	}
	cpu = (uint32_t)(t->filter_i - s->threads);
	if (cpu >= s->cpus || !ty_query_points(t->filter))
		return true;
	n = ty_model_points(t->m, cpu);
	for (unsigned i = 0; i < BUDGET && t->filter_at < n; i++) {
		struct ty_point p = ty_model_point(t->m, cpu, (uint32_t)t->filter_at++);

		if (p.thread != TY_NONE && ty_query_point(t->filter, &p))
			ty_tracks_filter_show(&t->tracks, p.thread);
	}
	if (t->filter_at >= n) {
		t->filter_at = 0;
		t->filter_i++;
	}
	return false;
}

static bool filtered(struct ty_timeline *t)
{
	struct ty_place at = ty_timeline_place(t);
	char hint[HINT_MAX], none[HINT_MAX];
	const char *keys;

	ty_tracks_filter_end(&t->tracks);
	/* While the file is being indexed, threads that match may come later. */
	if (!t->partial && t->tracks.threads && t->tracks.hidden_n >= t->tracks.threads) {
		snprintf(none, sizeof(none), "%s", ty_query_text(t->filter));
		keys = ty_query_hint(t->filter);
		ty_timeline_filter(t, "");
		ty_timeline_say(t, "no thread matches '%s': all are shown%s%s", none, keys,
				tid_hint(none, hint));
		return false;
	}
	if (t->tracks.hidden_n < t->tracks.threads)
		ty_timeline_keep_query(t, true, ty_query_text(t->filter));
	t->vp.here = at;
	ty_timeline_restore(t);
	ty_timeline_say(t, "%u of %u threads shown; press f, then Enter, to show all",
			t->tracks.threads - t->tracks.hidden_n, t->tracks.threads);
	return false;
}

static void filter_progress(struct ty_timeline *t)
{
	uint64_t all = (uint64_t)ty_model_summary(t->m)->threads + ty_model_summary(t->m)->cpus;

	ty_timeline_say(t, "filtering by '%s': %u %%; Esc stops", ty_query_text(t->filter),
			(unsigned)(t->filter_i * 100 / (all ? all : 1)));
}

static void filter_stop(struct ty_timeline *t)
{
	ty_tracks_show_all(&t->tracks);
	ty_query_free(t->filter);
	t->filter = NULL;
}

static const struct ty_job filter_job = {.keeps_rows = true,
					 .step = filter_step,
					 .done = filtered,
					 .progress = filter_progress,
					 .stop = filter_stop};

static void begin_filter(struct ty_timeline *t)
{
	ty_tracks_filter_begin(&t->tracks);
	t->filter_i = 0;
	t->filter_at = 0;
	ty_timeline_begin(t, &filter_job);
}

void ty_timeline_filter(struct ty_timeline *t, const char *text)
{
	struct ty_query *q = NULL;
	struct ty_err err = {0};

	if (*text && ty_query_new(t->m, t->in->arch, text, &q, &err)) {
		ty_timeline_say(t, "%s", err.msg);
		return;
	}
	ty_timeline_objects_stop(t);
	ty_query_free(t->filter);
	t->filter = q;
	if (!q) {
		struct ty_place at = ty_timeline_place(t);
		struct ty_row ends[2];

		ty_timeline_selected_rows(t, ends);
		ty_tracks_show_all(&t->tracks);
		ty_timeline_select_rows(t, ends);
		t->vp.here = at;
		ty_timeline_restore(t);
		ty_timeline_drop_job(t);
		ty_timeline_say(t, "no filter: all %u threads are shown", t->tracks.threads);
		return;
	}
	ty_timeline_unselect(t);
	if (ty_timeline_objects(t, q, begin_filter))
		begin_filter(t);
}

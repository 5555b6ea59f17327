/* SPDX-License-Identifier: MIT */
/* The list of stalls and longest waits: computed in a thread when a file is opened; stepping
 * through it. */
#include "timeline_priv.h"

static void search_stalls(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_stall_searching *h = &t->stall_search;

	if (t->in->host.titles_load)
		t->in->host.titles_load(t->in->host.ctx);
	h->rc = ty_findings_init(&h->found, t->m, t->in->explain ? &h->explain : NULL, &h->window,
				 &h->err);
}

/* The first stall in the window, under the cursor, with its details; without one the foremost
 * thread, not CPU 0. */
void ty_timeline_to_foremost(struct ty_timeline *t)
{
	for (uint32_t i = 0; i < t->findings.stalls.n; i++) {
		const struct ty_stall *s = &t->findings.stalls.v[i];
		struct ty_span span = ty_model_span(t->m, s->span);
		uint64_t a = span.start_ns > t->vp.from_ns ? span.start_ns : t->vp.from_ns,
			 b = span.end_ns < t->vp.to_ns ? span.end_ns : t->vp.to_ns;
		uint32_t row = a < b ? ty_tracks_reveal(&t->tracks, s->thread) : TY_NONE;

		if (row == TY_NONE)
			continue;
		t->row = row;
		t->below = 1;
		t->cursor_ns = a + (b - a) / 2;
		return;
	}
	for (uint32_t i = 0; i < t->tracks.rows.n; i++)
		if (t->tracks.rows.v[i].kind == TY_ROW_THREAD) {
			t->row = i;
			break;
		}
}

static bool findings_work(struct ty_timeline *t)
{
	struct ty_stall_searching *h = &t->stall_search;
	struct ty_place at = ty_timeline_place(t);

	if (ty_timeline_keeps_rows(t) || !ty_background_wait(&h->aside, 0))
		return false;
	if (!h->rc)
		h->rc = ty_tracks_reorder(&t->tracks, t->m, &t->in->window, &h->found, &h->err);
	ty_group_bars_forget(&t->heads);
	if (h->rc) {
		ty_findings_fini(&h->found);
		ty_timeline_say(t, "%s", h->err.msg);
		return true;
	}
	ty_findings_fini(&t->findings);
	t->findings = h->found;
	memset(t->wait_text, 0, sizeof(t->wait_text));
	h->found = (struct ty_findings){0};
	ty_timeline_unselect(t);
	t->vp.here = at;
	ty_timeline_restore(t);
	if (!t->touched)
		ty_timeline_to_foremost(t);
	if (t->wanted)
		ty_timeline_step_finding(t, t->wanted);
	return true;
}

static int findings_wait_ms(const struct ty_timeline *t)
{
	return t->stall_search.aside.on ? TY_LAYER_POLL_MS : -1;
}

static void findings_fini(struct ty_timeline *t)
{
	if (ty_background_stop(&t->stall_search.aside))
		ty_findings_fini(&t->stall_search.found);
	ty_findings_fini(&t->findings);
}

void ty_timeline_find(struct ty_timeline *t)
{
	const struct ty_summary *s = ty_model_summary(t->m);
	struct ty_stall_searching *h = &t->stall_search;

	/* The list is about the whole recording: what lies outside the window is one key away. */
	h->window = t->in->window;
	h->window.from_ns = s->start_ns;
	h->window.to_ns = s->end_ns;
	if (t->in->explain) {
		h->explain = t->page_job.explain = *t->in->explain;
		h->explain.stop = &h->aside.stop;
		t->page_job.explain.stop = &t->page_job.aside.stop;
		t->page_job.explain.steps = NULL;
	}
	if (!t->partial)
		ty_background_start(&h->aside, t->in->aside && !t->in->at_finding, search_stalls,
				    t);
}

void ty_timeline_to_finding(struct ty_timeline *t)
{
	const struct ty_stall *stall;
	const struct ty_wait *f;
	uint32_t row;
	char who[TY_THREAD_NAME_MAX];

	if (t->finding >= t->findings.n) {
		ty_timeline_say(t, "the list is empty");
		return;
	}
	f = &t->findings.v[t->finding];
	stall = t->finding < t->findings.stalls.n ? &t->findings.stalls.v[t->finding] : NULL;
	ty_timeline_fit(t, f->start_ns,
			stall ? ty_stall_end_ns(stall) : f->start_ns + f->duration_ns);
	if (stall && stall->waits > 1) { /* in the chief one of them */
		struct ty_span s = ty_model_span_brief(t->m, stall->thread, stall->span);

		t->cursor_ns = s.start_ns + (s.end_ns - s.start_ns) / 2;
		ty_timeline_clamp(t);
		ty_timeline_exact(t);
	}
	row = ty_tracks_reveal(&t->tracks, f->thread);
	if (row == TY_NONE)
		return;
	t->row = row;
	if (t->tracks.rows.v[row].folded)
		ty_tracks_fold(&t->tracks, row);
	/* Its system calls, one row below, should be seen, too. */
	t->below = 1;
	ty_timeline_show_finding(t);
	/* The details give the reason, if there is space. */
	if (stall && t->lay.details_h >= 5)
		ty_timeline_say(t, "stall %u of %u", t->finding + 1, t->findings.stalls.n);
	else if (stall)
		ty_timeline_say(t, "stall %u of %u, %s: %s", t->finding + 1, t->findings.stalls.n,
				ty_stall_grade(stall), stall->text);
	else
		ty_timeline_say(t, "%u of %u in the list: a wait of %s", t->finding + 1,
				t->findings.n,
				ty_timeline_thread_name(t, f->thread, f->start_ns, who));
}

void ty_timeline_step_finding(struct ty_timeline *t, int by)
{
	uint32_t n, at;

	if (ty_timeline_indexing_waits(t, "searching for stalls")) {
		t->wanted = by;
		return;
	}
	if (t->stall_search.aside.on) {
		t->wanted = by;
		ty_timeline_say(t, "still searching for stalls: will go to the first one found");
		return;
	}
	ty_timeline_list(t);
	n = t->listed_n;
	if (!n) {
		ty_timeline_say(t, t->findings.n ? "the filter hides all entries of the list"
						 : "the list is empty");
		return;
	}
	/* The first step goes to the first one: nothing was visited yet. */
	at = ty_timeline_listed_at(t);
	if (at >= n)
		at = by > 0 ? 0 : n - 1;
	else
		at = (at + n + (uint32_t)by) % n;
	t->finding = t->listed[at];
	ty_timeline_to_finding(t);
}

const struct ty_layer ty_findings_layer = {
	.wait_ms = findings_wait_ms, .work = findings_work, .fini = findings_fini};

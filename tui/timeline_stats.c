/* SPDX-License-Identifier: MIT */
/* Statistics of the selection (or of the row in the window) as a page. */
#include <inttypes.h>
#include <stdio.h>

#include "counter_measures.h"
#include "ruler.h"
#include "timeline_priv.h"
#include "units.h"

#define BUDGET 32 /* candidates between two checks of the clock */

typedef VEC(struct ty_track) tracks;

/* A thread's states and its calls. */
static int add_thread(const struct ty_timeline *t, tracks *v, uint32_t thread)
{
	int rc = vec_push(v, (struct ty_track){.kind = TY_TRACK_THREAD, .id = thread});

	if (!rc && ty_model_thread(t->m, thread)->syscalls_n)
		rc = vec_push(v, (struct ty_track){.kind = TY_TRACK_SYSCALLS, .id = thread});
	return rc;
}

/* The tracks of a row; of a folded row, all that it contains. A thread's row includes its system
 * calls, so their own row adds nothing if both are selected. */
static int add_row(const struct ty_timeline *t, tracks *v, uint32_t row, uint32_t first)
{
	const struct ty_row *r = &t->tracks.rows.v[row];
	const uint32_t *ids;
	uint8_t kind;
	uint32_t n;
	int rc = 0;

	if (r->kind == TY_ROW_SYSCALLS)
		return row == first ? vec_push(v, (struct ty_track){.kind = TY_TRACK_SYSCALLS,
								    .id = r->id})
				    : 0;
	if (r->kind == TY_ROW_THREAD)
		return add_thread(t, v, r->id);
	if (r->foldable && !r->folded)
		return 0; /* its members have rows of their own */
	if (!ty_tracks_members(&t->tracks, r, &kind, &ids, &n))
		return 0;
	for (uint32_t i = 0; !rc && i < n; i++)
		rc = kind == TY_TRACK_THREAD
			     ? add_thread(t, v, ids[i])
			     : vec_push(v, (struct ty_track){.kind = kind, .id = ids[i]});
	return rc;
}

static void count(struct ty_timeline *t, const tracks *v, uint64_t from, uint64_t to)
{
	bool threads = false;

	t->stats_counted = (struct ty_count_sum){0};
	vec_each (k, v)
		threads |= k->kind == TY_TRACK_THREAD;
	vec_each (k, v) {
		struct ty_count_sum s = {0};

		if (k->kind == TY_TRACK_THREAD)
			s = ty_timeline_counted(t, k->id, from, to);
		else if (k->kind == TY_TRACK_CPU && !threads)
			s = ty_timeline_cpu_counted(t, k->id, from, to);
		ty_count_sum_add(&t->stats_counted, &s);
	}
}

static void add_kind(struct ty_timeline *t, const struct ty_range_kind *k)
{
	char name[40];
	const char *what = k->track == TY_TRACK_SYSCALLS
				   ? ty_syscall_name(t->in->arch, (enum ty_abi)k->abi, k->nr, name)
				   : ty_state_name((enum ty_state)k->state);

	ty_page_add(&t->page, TY_ROLE_TEXT, "%-17.17s %9" PRIu64 " %9s %9s %9s %9s %9s", what,
		    k->spans, ty_duration(k->total_ns), ty_duration(k->mean_ns),
		    ty_duration(k->p50_ns), ty_duration(k->p99_ns), ty_duration(k->max_ns));
	ty_page_link(&t->page, k->max_thread, k->max_at_ns);
}

/* Counters of the range's threads, of CPUs where it has no threads. */
static void add_counted(struct ty_timeline *t)
{
	const struct ty_counts *c = t->lanes.counts;
	const struct ty_count_sum *s = &t->stats_counted;
	char text[TY_COUNT_TEXT];

	if (!s->readings)
		return;
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	ty_page_add(&t->page, TY_ROLE_ACCENT, "%-30s %13s %9s", "Counters", "counted", "counting");
	for (uint32_t i = 0; i < ty_count_measures(c); i++) {
		const uint32_t g = ty_count_measure_group(c, i);
		const double share = s->enabled[g] > s->running[g]
					     ? 100 * (double)s->running[g] / (double)s->enabled[g]
					     : 100;

		ty_page_add(&t->page, TY_ROLE_TEXT, "%-30.30s %13s %8.1f%%",
			    ty_count_measure_name(c, i), ty_count_measure_text(c, s, i, text),
			    share < 100 && share > 99.9 ? 99.9 : share);
	}
	ty_page_add(&t->page, TY_ROLE_DIM, "%s",
		    "~: an estimate: scaled, or readings split at the ends of the range");
}

static bool stats_done(struct ty_timeline *t)
{
	static const char *const heads[] = {"CPUs", "Threads", "System calls"};
	const struct ty_range_kind *v;
	uint32_t n;
	int track = -1;

	v = ty_range_stats_kinds(t->stats, &n);
	if (!n) {
		ty_timeline_say(t, "nothing was recorded in this range");
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].track != track) {
			track = v[i].track;
			if (i)
				ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
			ty_page_add(&t->page, TY_ROLE_ACCENT, "%-17s %9s %9s %9s %9s %9s %9s",
				    heads[track], "count", "total", "mean", "p50", "p99",
				    "longest");
		}
		add_kind(t, &v[i]);
	}
	add_counted(t);
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	ty_page_add(&t->page, TY_ROLE_DIM, "%s",
		    "Times are clipped to the range. Enter goes to the longest.");
	t->page.at = 1;
	return ty_timeline_push_page(t);
}

static bool stats_step(struct ty_timeline *t)
{
	return ty_range_stats_step(t->stats, BUDGET) <= 0;
}

static void stats_progress(struct ty_timeline *t)
{
	ty_timeline_say(t, "counting; Esc stops");
}

static const struct ty_job stats_job = {
	.makes_page = true, .step = stats_step, .done = stats_done, .progress = stats_progress};

void ty_timeline_stats(struct ty_timeline *t)
{
	uint64_t from = t->vp.from_ns, to = t->vp.to_ns;
	uint32_t first = t->row, last = t->row;
	tracks v = {0};
	int rc = 0;

	(void)ty_timeline_selected(t, &from, &to, &first, &last);
	for (uint32_t row = first; !rc && row <= last && row < t->tracks.rows.n; row++)
		rc = add_row(t, &v, row, first);
	if (!rc && !v.n) {
		ty_timeline_say(t, "this row has nothing to count: unfold it or select other rows");
		return;
	}
	count(t, &v, from, to);
	ty_range_stats_free(t->stats);
	t->stats = rc ? NULL : ty_range_stats_new(t->m, v.v, (uint32_t)v.n, from, to);
	ty_page_reset(&t->page);
	if (!t->stats) {
		ty_timeline_say(t, "out of memory for the statistics");
	} else {
		char len[TY_TIME_MAX], at[TY_TIME_MAX];

		snprintf(t->page.title, sizeof(t->page.title), "%s: %s, starting at %s, %u row%s",
			 t->sel.on ? "Selection" : "Window, this row",
			 ty_fmt_length(to - from, len),
			 ty_timeline_at(t, from, (to - from) / 1000 + 1, at), last - first + 1,
			 last == first ? "" : "s");
		t->page.name = "Statistics";
		t->page.about = "The time in each state and the system calls of the selected rows, "
				"or of the row of the cursor in the window.";
		ty_timeline_begin(t, &stats_job);
	}
	vec_fini(&v);
}

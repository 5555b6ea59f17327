/* SPDX-License-Identifier: MIT */
/* See window_select.h. */
#include "window_select.h"

#include <stdio.h>
#include <string.h>

#include "log_file.h"
#include "log_timestamp.h"
#include "plain_text.h"
#include "units.h"
#include "wall_clock.h"

void ty_select_fini(struct ty_select *s)
{
	vec_fini(&s->tids);
	vec_fini(&s->comms);
	vec_fini(&s->cpus);
}

/* A number with a unit ("300ms") or bare seconds. */
static int offset(const char *s, uint64_t *ns)
{
	size_t n = strlen(s);

	if (n && (s[n - 1] < '0' || s[n - 1] > '9') && s[n - 1] != '.')
		return ty_parse_duration(s, ns);
	return ty_parse_seconds(s, ns);
}

/* What times are relative to. */
struct bounds {
	uint64_t start_ns, end_ns;
	uint64_t origin_ns; /* seconds from the start count from here; of a cut before its start */
	bool has_clock;
	uint64_t start_real_ns;	      /* wall clock at start */
	const struct ty_model *model; /* NULL: none */
};

/* Bare seconds that may be of the trace clock, as dump events prints them: not before the first
 * event. */
static bool is_trace_time(const char *s, const struct bounds *b)
{
	uint64_t ns;

	return s && *s >= '0' && *s <= '9' && !ty_parse_seconds(s, &ns) && ns >= b->start_ns;
}

/* Without a model: the first event, and the last one and the first clock marker only if
 * requested. */
static int scan_bounds(const struct ty_session *s, const struct ty_select *sel, bool want_end,
		       bool want_clock, struct bounds *b, struct ty_err *err)
{
	struct ty_wall wall;
	struct ty_event ev;
	bool first = true;
	int r;

	ty_wall_init(&wall);
	r = want_clock ? ty_wall_machine(&wall, ty_trace_section(s->trace, TY_SEC_MACHINE).s) : 0;
	while (!r && (r = ty_events_next(s->events, &ev, err)) > 0) {
		if (first) {
			b->start_ns = b->origin_ns = ev.ts_ns;
			if (s->trace->cut_origin_ns)
				b->origin_ns =
					s->trace->cut_origin_ns + (uint64_t)s->trace->ts_offset_ns;
			want_end |= is_trace_time(sel->from, b) || is_trace_time(sel->to, b);
		}
		first = false;
		b->end_ns = ev.ts_ns;
		r = want_clock && !wall.points.n ? ty_wall_feed(&wall, &ev) : 0;
		if (!want_end && (!want_clock || wall.points.n))
			break;
	}
	b->has_clock = ty_wall_realtime(&wall, b->start_ns, &b->start_real_ns);
	ty_wall_fini(&wall);
	if (r == -TY_ENOMEM)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->trace->path);
	return r < 0 ? r : ty_events_seek(s->events, 0, err);
}

static bool is_wall(const char *s)
{
	return s && ty_wall_time_like(s);
}

/* A clock time; *early: it lies before the start, which is given instead. */
static int wall_instant(const char *path, const struct bounds *b, const char *opt, const char *arg,
			uint64_t *out, bool *early, struct ty_err *err)
{
	uint64_t real, ts = 0;
	int r;

	if (!b->has_clock)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: %s %s is a clock time, but the file does not relate its "
			       "clock to the time of day: use seconds from the start",
			       path, opt, arg);
	r = ty_wall_time(arg, b->start_real_ns, b->end_ns - b->start_ns, &real);
	if (r < 0)
		return r;
	if (r)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s %s: this local time is ambiguous or does not exist, because "
			       "clocks were changed: add the zone (2026-10-25T02:30:00+02:00)",
			       opt, arg);
	/* By the points of the recording, as times are shown: its clock may have been set. */
	if (b->model && ty_log_trace_time(b->model, TY_LOG_REALTIME, real, &ts))
		*early = ts < b->start_ns;
	else if (!(*early = real < b->start_real_ns))
		ts = b->start_ns + (real - b->start_real_ns);
	*out = *early ? b->start_ns : ts;
	return 0;
}

/* One of --from / --to: from the start (12.5), + from the start, - from the end, or clock time. A
 * number beyond the end is of the trace clock, where it lies in the recording. */
static int instant(const char *path, const struct bounds *b, const char *opt, const char *arg,
		   uint64_t *out, bool *early, struct ty_err *err)
{
	uint64_t ns;

	*early = false;
	err->code = 0;
	if (is_wall(arg)) {
		int r = wall_instant(path, b, opt, arg, out, early, err);

		if (!r || err->code)
			return r;
	} else if (*arg == '-' ? !offset(arg + 1, &ns) : !offset(arg + (*arg == '+'), &ns)) {
		if (*arg == '-')
			*out = ns < b->end_ns - b->start_ns ? b->end_ns - ns : b->start_ns;
		else if (is_trace_time(arg, b) && ns <= b->end_ns && ns > b->end_ns - b->origin_ns)
			*out = ns;
		else
			*out = ns < UINT64_MAX - b->origin_ns ? b->origin_ns + ns : UINT64_MAX;
		/* Of a cut: from the start of the whole. */
		*early = *out < b->start_ns;
		if (*early)
			*out = b->start_ns;
		return 0;
	}
	return ty_fail(
		err, TY_EUSAGE, TY_NO_OFFSET,
		"%s '%s' is not a time: give seconds from the start (12.5), +12.5, -3 (before the "
		"end), a clock time (14:03:22.5), or one with its date (2026-05-06T14:03:22.5Z)",
		opt, arg);
}

/* length_ns: of the recording; 0: unknown. */
static int after_end(const char *opt, const char *arg, uint64_t length_ns, struct ty_err *err)
{
	char text[TY_DURATION_MAX];

	return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
		       "%s %s is after the end of this recording%s%s%s", opt, arg,
		       length_ns ? ", which is " : "",
		       length_ns ? ty_fmt_duration(length_ns, text) : "", length_ns ? " long" : "");
}

static int nothing(const struct ty_select *sel, bool recording, struct ty_err *err)
{
	return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
		       "nothing is recorded between --from %s and --to %s%s",
		       sel->from ? sel->from : "0", sel->to ? sel->to : "the end",
		       recording ? " of this recording" : "");
}

/* recording: the end of b is the last instant, which belongs to the window; else it is open. */
static int window(const struct ty_select *sel, const char *path, const struct bounds *b,
		  bool recording, struct ty_window *w, struct ty_err *err)
{
	bool early = false;
	int r;

	*w = (struct ty_window){
		.from_ns = b->start_ns,
		.to_ns = UINT64_MAX,
		.tids = sel->tids.v,
		.tids_n = (uint32_t)sel->tids.n,
		.comms = sel->comms.v,
		.comms_n = (uint32_t)sel->comms.n,
		.cpus = sel->cpus.v,
		.cpus_n = (uint32_t)sel->cpus.n,
	};
	if (recording)
		w->to_ns = b->end_ns + 1; /* the last event belongs to it */
	if (sel->from && (r = instant(path, b, "--from", sel->from, &w->from_ns, &early, err)))
		return r;
	if (early)
		ty_say("tarry: note: --from %s is before the start of this recording, which is "
		       "shown from its start\n",
		       sel->from);
	if (sel->to && (r = instant(path, b, "--to", sel->to, &w->to_ns, &early, err)))
		return r;
	if (w->from_ns < w->to_ns)
		return 0;
	if (sel->from && recording && w->from_ns > b->end_ns)
		return after_end("--from", sel->from, b->end_ns - b->start_ns, err);
	if (sel->from && sel->to && !early)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "--from %s is not before --to %s",
			       sel->from, sel->to);
	if (sel->to && recording && (early || *sel->to == '-'))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--to %s is before the start of this recording, which is %s long",
			       sel->to, ty_duration(b->end_ns - b->start_ns));
	return nothing(sel, recording, err);
}

static bool chooses(const struct ty_model *m, const struct ty_window *w)
{
	uint32_t i = 0, n = ty_model_summary(m)->threads;

	while (i < n && !ty_window_thread(w, m, i))
		i++;
	return i < n;
}

static bool has_cpu(const struct ty_model *m, const struct ty_window *w)
{
	uint32_t k = 0;

	while (k < w->cpus_n && w->cpus[k] >= ty_model_summary(m)->cpus)
		k++;
	return k < w->cpus_n;
}

/* An empty selection would look like "all is well". Lists may be ranges: print a note for each
 * option that selects nothing at all. */
static void tell_unmatched(const struct ty_model *m, const struct ty_window *w)
{
	struct ty_window tids = {
		.from_ns = w->from_ns, .to_ns = w->to_ns, .tids = w->tids, .tids_n = w->tids_n};
	const struct ty_summary *all = ty_model_summary(m);
	const char *part = w->from_ns <= all->start_ns && w->to_ns >= all->end_ns
				   ? "this recording"
				   : "the selected part";

	if (w->tids_n && !chooses(m, &tids))
		ty_say("tarry: note: no thread %d%s in %s (--tid)\n", w->tids[0],
		       w->tids_n > 1 ? " and none of the others given" : "", part);
	for (uint32_t k = 0; k < w->comms_n; k++) {
		struct ty_window one = {.from_ns = w->from_ns,
					.to_ns = w->to_ns,
					.comms = &w->comms[k],
					.comms_n = 1};

		if (!chooses(m, &one))
			ty_say("tarry: note: no thread named '%s' in %s (--comm)\n", w->comms[k],
			       part);
	}
	if (w->cpus_n && !has_cpu(m, w))
		ty_say("tarry: note: no CPU %u%s in this recording (--cpu)\n", w->cpus[0],
		       w->cpus_n > 1 ? " and none of the others given" : "");
}

static void model_bounds(const struct ty_session *s, struct bounds *b)
{
	b->start_ns = ty_model_summary(s->model)->start_ns;
	b->origin_ns = ty_model_origin_ns(s->model);
	b->end_ns = ty_model_summary(s->model)->end_ns;
	b->model = s->model;
	b->has_clock = ty_model_realtime(s->model, b->start_ns, &b->start_real_ns);
}

int ty_select_instant(const struct ty_session *s, const char *opt, const char *arg, uint64_t *ts_ns,
		      struct ty_err *err)
{
	struct bounds b;
	bool early;
	int r;

	model_bounds(s, &b);
	r = instant(s->trace->path, &b, opt, arg, ts_ns, &early, err);
	if (!r && early)
		r = ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			    "%s %s is before the start of this recording", opt, arg);
	if (!r && *ts_ns > b.end_ns)
		r = after_end(opt, arg, b.end_ns - b.start_ns, err);
	return r;
}

int ty_select_window(const struct ty_select *sel, const struct ty_session *s, struct ty_window *w,
		     struct ty_err *err)
{
	struct bounds b = {.end_ns = UINT64_MAX};
	int r;

	if (s->model) {
		model_bounds(s, &b);
	} else if (sel->from || sel->to) {
		bool clock = is_wall(sel->from) || is_wall(sel->to);
		bool end =
			clock || (sel->from && *sel->from == '-') || (sel->to && *sel->to == '-');

		r = scan_bounds(s, sel, end, clock, &b, err);
		if (r)
			return r;
	}
	r = window(sel, s->trace->path, &b, s->model, w, err);
	if (!r && s->model)
		tell_unmatched(s->model, w);
	return r;
}

int ty_select_no_wall(const char *path, struct ty_err *err)
{
	return ty_fail(
		err, TY_EUSAGE, TY_NO_OFFSET,
		"%s: --clock wall: the file does not relate its clock to the time of day: use "
		"--clock start or trace",
		path);
}

int ty_select_clock(const struct ty_select *sel, struct ty_session *s, struct ty_err *err)
{
	uint64_t real;

	if (sel->json)
		return 0;
	if (sel->clock == TY_CLOCK_WALL &&
	    !ty_model_realtime(s->model, ty_model_summary(s->model)->start_ns, &real))
		return ty_select_no_wall(s->trace->path, err);
	s->clock = sel->clock;
	return 0;
}

int ty_select_range(const struct ty_select *sel, const char *path, uint64_t start_ns,
		    uint64_t end_ns, struct ty_window *w, struct ty_err *err)
{
	struct bounds b = {.start_ns = start_ns, .end_ns = end_ns, .origin_ns = start_ns};

	return window(sel, path, &b, true, w, err);
}

int ty_select_inside(const struct ty_select *sel, const struct ty_window *w, uint64_t last_ns,
		     struct ty_err *err)
{
	return sel->from && w->from_ns > last_ns ? after_end("--from", sel->from, 0, err) : 0;
}

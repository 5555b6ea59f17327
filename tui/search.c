/* SPDX-License-Identifier: MIT */
/*
 * Search; see search.h. Tracks in order: every thread's spans, every thread's calls, every CPU's
 * points, the gaps, every CPU's interrupts, every lane of regions of every thread. Each is searched
 * for its first match after the start; the nearest one wins.
 */
#include "search.h"

#define LANES	     (UINT16_MAX + 1ull) /* of regions, in the numbers of tracks */
#define FROM_REGIONS (UINT64_C(1) << 63) /* in the state of ty_query_thread_has: a region */

static uint64_t first_lane(const struct ty_search *s)
{
	const struct ty_summary *sum = ty_model_summary(s->m);

	return 2ull * sum->threads + 2ull * sum->cpus + 1;
}

static uint64_t tracks(const struct ty_search *s)
{
	return first_lane(s) +
	       (ty_query_regions(s->q) ? LANES * ty_model_summary(s->m)->threads : 0);
}

/* Are there threads of both kinds? */
static bool has_groups(const struct ty_model *m)
{
	const struct ty_summary *sum = ty_model_summary(m);
	uint32_t traced = 0;

	for (uint32_t i = 0; i < sum->threads; i++)
		traced += ty_model_thread(m, i)->traced;
	return traced && traced < sum->threads;
}

void ty_search_begin(struct ty_search *s, const struct ty_model *m, struct ty_query *q,
		     struct ty_hit from, bool backward, bool fresh)
{
	*s = (struct ty_search){.m = m, .q = q, .from = from, .backward = backward};
	(void)ty_model_gaps(m, &s->gaps_n);
	s->grouped = has_groups(m);
	s->fresh = fresh;
	s->other = s->grouped && from.other;
}

void ty_search_count(struct ty_search *s, const struct ty_model *m, struct ty_query *q,
		     struct ty_hit at, struct ty_hits *longest)
{
	ty_search_begin(s, m, q, at, false, false);
	s->counting = true;
	s->longest = longest;
	if (longest)
		longest->n = 0;
	s->other = false;
}

/* True if items of this thread belong to the current group. */
static bool in_group(const struct ty_search *s, uint32_t thread)
{
	return !s->grouped ||
	       s->other != (thread != TY_NONE && ty_model_thread(s->m, thread)->traced);
}

unsigned ty_search_progress(const struct ty_search *s)
{
	const uint64_t first = first_lane(s), all = first + (tracks(s) - first) / LANES;

	return (unsigned)((s->ord < first ? s->ord : first + (s->ord - first) / LANES) * 1000 /
			  all);
}

/* Is a before b in the direction of the search? */
static bool nearer(const struct ty_search *s, uint64_t at, uint64_t ord, const struct ty_hit *b)
{
	if (at != b->at_ns)
		return s->backward ? at > b->at_ns : at < b->at_ns;
	return s->backward ? ord > b->ord : ord < b->ord;
}

/* No candidate of this time or behind it can win any more. */
static bool too_far(const struct ty_search *s, uint64_t at)
{
	return s->found && !nearer(s, at, s->ord, &s->hit);
}

/* Traced threads first, as in the search; then the longest; of equal ones the first. */
static bool goes_before(const struct ty_hit *a, const struct ty_hit *b)
{
	return a->other != b->other ? !a->other : a->ns > b->ns;
}

static void keep_long(struct ty_search *s, const struct ty_hit *h)
{
	struct ty_hits *l = s->longest;
	uint32_t i;

	if (!l || (l->n == TY_HITS_MAX && !goes_before(h, &l->v[l->n - 1])))
		return;
	i = l->n < TY_HITS_MAX ? l->n++ : l->n - 1;
	for (; i && goes_before(h, &l->v[i - 1]); i--)
		l->v[i] = l->v[i - 1];
	l->v[i] = *h;
}

static void take(struct ty_search *s, struct ty_hit h)
{
	h.ord = s->ord;
	h.other = s->other;
	if (s->counting) {
		const struct ty_hit *at = &s->from;
		bool before = h.at_ns != at->at_ns ? h.at_ns < at->at_ns : h.ord <= at->ord;

		/* Hits that a step cannot distinguish count as one. */
		if (s->n && s->last_ns == h.at_ns && s->last_ord == h.ord)
			return;
		s->last_ns = h.at_ns;
		s->last_ord = h.ord;
		keep_long(s, &h);
		s->upto += h.other != at->other ? at->other : before;
		s->many = s->n++ == TY_SEARCH_MOST;
		return;
	}
	if (s->found && !nearer(s, h.at_ns, h.ord, &s->hit))
		return;
	s->hit = h;
	s->found = true;
}

/* Where the search of a track begins: at items that start after (before) this. At the start's own
 * instant, only tracks after (before) the start's track count. */
static uint64_t entry(const struct ty_search *s)
{
	bool same = s->backward ? s->ord < s->from.ord : s->ord > s->from.ord;

	if (s->counting)
		return 0;
	if (s->backward)
		return s->from.at_ns + (same && s->from.at_ns < UINT64_MAX);
	return s->from.at_ns - (same && s->from.at_ns);
}

/* One candidate of a thread's spans or calls; true: this track is finished. */
static bool thread_step(struct ty_search *s, uint32_t thread, bool calls)
{
	struct ty_query_part part = ty_query_part(s->q, thread);
	struct ty_track track = {.kind = calls ? TY_TRACK_SYSCALLS : TY_TRACK_THREAD, .id = thread};
	struct ty_seek seek = {.min_ns = part.min_ns, .nr = -1};
	struct ty_hit h = {
		.what = calls ? TY_HIT_CALL : TY_HIT_SPAN, .thread = thread, .cpu = TY_NONE};
	struct ty_syscall c;
	bool ok = true;

	if ((calls ? !part.calls : !part.states) || !in_group(s, thread))
		return true;
	if (!s->scanning)
		s->scan_ns = entry(s);
	s->scanning = true;
	if (calls) {
		seek.nr = part.nr;
		seek.nrs = part.nrs;
		seek.errors = part.errors_only;
	} else {
		seek.states = part.states;
	}
	h.idx = ty_model_seek(s->m, track, &seek, s->scan_ns, s->backward);
	if (h.idx == TY_NONE)
		return true;
	if (calls) {
		c = ty_model_syscall_brief(s->m, thread, h.idx);
		h.at_ns = c.start_ns;
		ok = ty_query_call(s->q, &c, h.idx);
		h.ns = c.end_ns - c.start_ns;
	} else {
		const struct ty_span span = ty_model_span_brief(s->m, thread, h.idx);

		h.at_ns = span.start_ns;
		h.ns = span.end_ns - span.start_ns;
	}
	if (ok)
		take(s, h);
	s->scan_ns = h.at_ns;
	return !s->counting && (ok || too_far(s, h.at_ns));
}

/* First index with time > t (forward), or one behind the last with time < t (backward). */
static uint64_t point_entry(const struct ty_search *s, uint32_t cpu, uint64_t t)
{
	return ty_model_point_after(s->m, cpu, s->backward ? t : t == UINT64_MAX ? t : t + 1);
}

static bool point_step(struct ty_search *s, uint32_t cpu)
{
	struct ty_point p;
	struct ty_hit h = {.what = TY_HIT_POINT, .cpu = cpu};

	if (!ty_query_points(s->q))
		return true;
	if (!s->scanning)
		s->scan_i = point_entry(s, cpu, entry(s));
	s->scanning = true;
	if (s->backward ? !s->scan_i : s->scan_i >= ty_model_points(s->m, cpu))
		return true;
	h.idx = (uint32_t)(s->backward ? --s->scan_i : s->scan_i++);
	p = ty_model_point(s->m, cpu, h.idx);
	h.at_ns = p.ts_ns;
	h.thread = p.thread;
	if (!in_group(s, p.thread) || !ty_query_point(s->q, &p))
		return too_far(s, p.ts_ns);
	take(s, h);
	return !s->counting;
}

static bool gap_step(struct ty_search *s)
{
	uint32_t n;
	const struct ty_gap_span *v = ty_model_gaps(s->m, &n);
	uint64_t t = entry(s);
	struct ty_hit h = {.what = TY_HIT_GAP, .thread = TY_NONE};

	if (!ty_query_gaps(s->q) || !in_group(s, TY_NONE))
		return true;
	if (!s->scanning)
		s->scan_i = 0;
	s->scanning = true;
	if (s->scan_i >= n)
		return true;
	h.idx = (uint32_t)s->scan_i++;
	h.at_ns = v[h.idx].from_ns;
	h.ns = v[h.idx].to_ns - v[h.idx].from_ns;
	h.cpu = v[h.idx].cpu;
	if (s->backward ? h.at_ns < t : h.at_ns > t)
		take(s, h);
	return false;
}

/* Skips from a short interrupt to the next one that is long enough, after those of the same
 * instant, which are examined one by one. */
static void skip_short(struct ty_search *s, uint32_t cpu, const struct ty_irq_span *irq)
{
	struct ty_track track = {.kind = TY_TRACK_IRQS, .id = cpu};
	struct ty_seek q = {.min_ns = ty_query_min_ns(s->q), .nr = -1};
	uint32_t n = ty_model_irq_spans(s->m, cpu), i;

	if (s->backward ? !s->scan_i : s->scan_i >= n)
		return;
	i = (uint32_t)(s->backward ? s->scan_i - 1 : s->scan_i);
	if (ty_model_irq_span(s->m, cpu, i).start_ns == irq->start_ns)
		return;
	i = ty_model_seek(s->m, track, &q, irq->start_ns, s->backward);
	s->scan_i = i != TY_NONE ? i + s->backward : s->backward ? 0 : n;
}

static bool irq_step(struct ty_search *s, uint32_t cpu)
{
	struct ty_hit h = {.what = TY_HIT_IRQ, .cpu = cpu, .thread = TY_NONE};
	struct ty_irq_span irq;
	uint64_t t = entry(s);

	if (!ty_query_irqs(s->q) || !in_group(s, TY_NONE))
		return true;
	if (!s->scanning)
		s->scan_i = ty_model_irq_at(s->m, cpu, s->backward || t == UINT64_MAX ? t : t + 1);
	s->scanning = true;
	if (s->backward ? !s->scan_i : s->scan_i >= ty_model_irq_spans(s->m, cpu))
		return true;
	h.idx = (uint32_t)(s->backward ? --s->scan_i : s->scan_i++);
	irq = ty_model_irq_span(s->m, cpu, h.idx);
	h.at_ns = irq.start_ns;
	h.ns = irq.end_ns - irq.start_ns;
	if (irq.end_ns - irq.start_ns < ty_query_min_ns(s->q))
		skip_short(s, cpu, &irq);
	if (!ty_query_irq(s->q, &irq))
		return too_far(s, irq.start_ns);
	take(s, h);
	return !s->counting;
}

/* One candidate of a lane. Numbers of lanes that do not exist are skipped: s->ord moves to the lane
 * before the next one. */
static bool region_step(struct ty_search *s)
{
	const uint64_t first = first_lane(s), t = entry(s);
	const uint32_t thread = (uint32_t)((s->ord - first) / LANES),
		       lane = (uint32_t)((s->ord - first) % LANES);
	struct ty_hit h = {.what = TY_HIT_REGION, .thread = thread, .cpu = TY_NONE};
	struct ty_region r;

	if (!s->scanning) {
		r = ty_model_region(s->m, ty_model_region_from(s->m, thread, lane, 0));
		if (r.thread == TY_NONE)
			s->ord = tracks(s) - 1;
		else if (r.thread != thread || r.lane != lane)
			s->ord = first + r.thread * LANES + r.lane - 1;
		if (r.thread != thread || r.lane != lane || !in_group(s, thread))
			return true;
		s->scan_i = ty_model_region_from(
			s->m, thread, lane,
			s->backward || s->counting || t == UINT64_MAX ? t : t + 1);
	}
	s->scanning = true;
	if (s->backward && !s->scan_i)
		return true;
	h.idx = (uint32_t)(s->backward ? --s->scan_i : s->scan_i++);
	r = ty_model_region(s->m, h.idx);
	if (r.thread != thread || r.lane != lane)
		return true;
	h.at_ns = r.start_ns;
	h.ns = r.end_ns - r.start_ns;
	if (!ty_query_region(s->q, &r))
		return too_far(s, r.start_ns);
	take(s, h);
	return !s->counting;
}

static bool track_step(struct ty_search *s)
{
	const struct ty_summary *sum = ty_model_summary(s->m);

	if (s->ord < sum->threads)
		return thread_step(s, (uint32_t)s->ord, false);
	if (s->ord < 2ull * sum->threads)
		return thread_step(s, (uint32_t)(s->ord - sum->threads), true);
	if (s->ord < 2ull * sum->threads + sum->cpus)
		return point_step(s, (uint32_t)(s->ord - 2ull * sum->threads));
	if (s->ord == 2ull * sum->threads + sum->cpus)
		return gap_step(s);
	if (s->ord >= first_lane(s))
		return region_step(s);
	return irq_step(s, (uint32_t)(s->ord - 2ull * sum->threads - sum->cpus - 1));
}

/* All tracks are done: continue with the next part in the order of hits. False: none is left. */
static bool next_round(struct ty_search *s)
{
	const unsigned rounds =
		s->grouped ? 3 : 2; /* the group of the start twice: round the end */

	if (s->counting) {
		if (!s->grouped || s->other)
			return false;
		s->other = true;
		return true;
	}
	if (s->found || ++s->round == rounds)
		return false;
	if (s->fresh) {
		s->wrapped = s->round == 1;
		s->other = s->round == 2;
	} else {
		s->wrapped |= !s->grouped || s->round == 2 || s->other == !s->backward;
		s->other = s->grouped && !s->other;
	}
	/* What lies at the very start counts, too. */
	s->from = (struct ty_hit){.at_ns = s->backward ? UINT64_MAX : 0,
				  .ord = s->backward ? 0 : UINT64_MAX};
	return true;
}

bool ty_search_step(struct ty_search *s, uint32_t budget)
{
	while (!s->done && budget--) {
		if (s->many) {
			s->done = true;
			break;
		}
		if (!track_step(s))
			continue;
		s->scanning = false;
		if (++s->ord < tracks(s))
			continue;
		s->ord = 0;
		s->done = !next_round(s);
	}
	return s->done;
}

/* Regions from that one on; as ty_query_thread_has. */
static int has_region(const struct ty_model *m, struct ty_query *q, uint32_t thread,
		      uint64_t *state, uint32_t budget)
{
	if (*state < FROM_REGIONS)
		*state = FROM_REGIONS | ty_model_region_from(m, thread, 0, 0);
	while (budget--) {
		struct ty_region r = ty_model_region(m, (uint32_t)*state);

		if (r.thread != thread)
			return 0;
		if (ty_query_region(q, &r))
			return 1;
		++*state;
	}
	return -1;
}

int ty_query_thread_has(const struct ty_model *m, struct ty_query *q, uint32_t thread,
			uint64_t *at_ns, uint32_t budget)
{
	struct ty_query_part part = ty_query_part(q, thread);
	struct ty_track track = {.kind = TY_TRACK_THREAD, .id = thread};
	struct ty_seek seek = {.states = part.states, .min_ns = part.min_ns, .nr = -1};

	if (!ty_query_thread(q, thread))
		return 0;
	/* Named by the query: its row is meant, whether or not it ran. */
	if (part.named && !part.min_ns)
		return 1;
	if (part.states && !*at_ns && ty_model_seek(m, track, &seek, 0, false) != TY_NONE)
		return 1;
	if (!part.calls || *at_ns >= FROM_REGIONS)
		return part.regions ? has_region(m, q, thread, at_ns, budget) : 0;
	track.kind = TY_TRACK_SYSCALLS;
	seek = (struct ty_seek){
		.min_ns = part.min_ns, .nr = part.nr, .nrs = part.nrs, .errors = part.errors_only};
	while (budget--) {
		uint32_t idx = ty_model_seek(m, track, &seek, *at_ns, false);
		struct ty_syscall c;

		if (idx == TY_NONE)
			return part.regions ? has_region(m, q, thread, at_ns, budget + 1) : 0;
		c = ty_model_syscall_brief(m, thread, idx);
		if (ty_query_call(q, &c, idx))
			return 1;
		*at_ns = c.start_ns;
	}
	return -1;
}

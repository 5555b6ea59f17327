/* SPDX-License-Identifier: MIT */
/* Rows; see tracks.h. Their order is made once (tracks_order.c); folding rebuilds the rows:
 * O(rows).
 */
#include "tracks.h"

#include <stdlib.h>
#include <string.h>

#include "tracks_order.h"

/* More CPUs than this have a head that folds them, folded at first. */
#define CPUS_SHOWN 4
/* A process of more threads than the first shows as many as the second; the others fold. */
#define THREADS_MOST  12
#define THREADS_SHOWN 8

static int add_row(struct ty_tracks *t, uint8_t kind, unsigned depth, bool foldable, bool folded,
		   uint32_t id)
{
	return vec_push(&t->rows, (struct ty_row){.kind = kind,
						  .depth = (uint8_t)depth,
						  .foldable = foldable,
						  .folded = folded,
						  .id = id});
}

uint32_t ty_tracks_calls_at(const struct ty_tracks *t, uint32_t thread)
{
	for (uint32_t i = 0; i < TY_TRACKS_FLOW; i++)
		if (t->flow[i].thread == thread)
			return i;
	return TY_NONE;
}

/* Has the thread regions in the lane? */
static bool has_lane(const struct ty_tracks *t, uint32_t thread, uint32_t lane)
{
	return ty_model_region_in(t->m, thread, lane, 0, UINT64_MAX) != TY_NONE;
}

static bool has_regions(const struct ty_tracks *t, uint32_t thread)
{
	struct ty_region r = ty_model_region(t->m, ty_model_region_from(t->m, thread, 0, 0));

	return r.thread == thread && r.lane < TY_LANE_INSTANT;
}

static int add_regions(struct ty_tracks *t, uint32_t thread, unsigned depth)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < TY_TRACKS_NESTED + TY_TRACKS_ASYNC; i++) {
		struct ty_row r = {.sub = (uint8_t)i};

		if (!has_lane(t, thread, ty_tracks_lane(&r)))
			continue;
		rc = add_row(t, TY_ROW_REGIONS, depth, true, false, thread);
		if (!rc)
			t->rows.v[t->rows.n - 1].sub = (uint8_t)i;
	}
	return rc;
}

static int add_counters(struct ty_tracks *t, unsigned kind, unsigned depth, uint32_t id)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < t->counters; i++) {
		rc = add_row(t, kind, depth, true, false, id);
		if (!rc)
			t->rows.v[t->rows.n - 1].sub = (uint8_t)i;
	}
	return rc;
}

static int add_thread(struct ty_tracks *t, uint32_t thread, unsigned depth)
{
	bool calls = ty_model_thread(t->m, thread)->syscalls_n > 0, open = t->calls_open[thread];
	bool samples = t->samples && t->samples[thread], regions = has_regions(t, thread);
	const uint8_t lanes = t->lanes ? t->lanes[thread] : 0;
	bool more = calls || samples || regions || lanes;
	uint32_t flow = ty_tracks_calls_at(t, thread);
	int rc;

	if (t->hidden[thread])
		return 0;
	rc = add_row(t, TY_ROW_THREAD, depth, more, more && !open, thread);
	if (!rc && regions && open)
		rc = add_regions(t, thread, depth);
	for (uint32_t i = 0; !rc && flow != TY_NONE && i < t->flow[flow].rows; i++) {
		rc = add_row(t, TY_ROW_FLOW, depth, true, false, thread);
		if (!rc)
			t->rows.v[t->rows.n - 1].sub = (uint8_t)i;
	}
	if (!rc && samples && open)
		rc = add_row(t, TY_ROW_MEMORY, depth, true, false, thread);
	if (!rc && lanes & TY_LANE_SAMPLES && open)
		rc = add_row(t, TY_ROW_SAMPLES, depth, true, false, thread);
	if (!rc && lanes & TY_LANE_COUNTERS && open)
		rc = add_counters(t, TY_ROW_COUNTER, depth, thread);
	return !rc && calls && open ? add_row(t, TY_ROW_SYSCALLS, depth, true, false, thread) : rc;
}

static int add_cpu(struct ty_tracks *t, uint32_t cpu, unsigned depth)
{
	bool irqs = ty_model_irq_spans(t->m, cpu) > 0, open = t->irqs_open[cpu];
	bool samples = t->cpu_samples && cpu < UINT16_MAX && t->cpu_samples[cpu];
	const uint8_t lanes = t->cpu_lanes ? t->cpu_lanes[cpu] : 0;
	bool more = irqs || samples || lanes;
	int rc = add_row(t, TY_ROW_CPU, depth, more, more && !open, cpu);

	if (!rc && lanes & TY_LANE_SAMPLES && open)
		rc = add_row(t, TY_ROW_CPU_SAMPLES, depth, true, false, cpu);
	if (!rc && lanes & TY_LANE_COUNTERS && open)
		rc = add_counters(t, TY_ROW_CPU_COUNTER, depth, cpu);
	if (!rc && samples && open)
		rc = add_row(t, TY_ROW_CPU_MEMORY, depth, true, false, cpu);
	return !rc && irqs && open ? add_row(t, TY_ROW_IRQS, depth, true, false, cpu) : rc;
}

/* Some thread of the process is shown. */
static bool any_shown(const struct ty_tracks *t, const struct ty_process *p)
{
	for (uint32_t k = 0; k < p->n; k++)
		if (!t->hidden[t->members[p->first + k]])
			return true;
	return false;
}

static int add_process(struct ty_tracks *t, uint32_t i, unsigned depth)
{
	struct ty_process *p = &t->processes.v[i];
	/* All rows that pass the filter are visible. */
	const bool folds = p->n > THREADS_MOST && !t->hidden_n;
	int rc = 0;

	p->more_n = 0;
	if (!any_shown(t, p))
		return 0;
	if (p->n == 1)
		return add_thread(t, t->members[p->first], depth);
	rc = add_row(t, TY_ROW_PROCESS, depth, true, p->folded, i);
	for (uint32_t k = 0; !rc && !p->folded && k < p->n; k++) {
		const uint32_t thread = t->members[p->first + k];

		if (folds && k >= THREADS_SHOWN && !t->up[thread])
			t->more[p->first + p->more_n++] = thread;
		else
			rc = add_thread(t, thread, depth + 1);
	}
	if (rc || !p->more_n)
		return rc;
	rc = add_row(t, TY_ROW_MORE, depth + 1, true, !p->more, i);
	for (uint32_t k = 0; !rc && p->more && k < p->more_n; k++)
		rc = add_thread(t, t->more[p->first + k], depth + 2);
	return rc;
}

/* The processes of one kind, under a head of their own when it has one. */
static int add_processes(struct ty_tracks *t, bool other, bool quiet, unsigned depth)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < t->processes.n; i++) {
		const struct ty_process *p = &t->processes.v[i];

		if (p->quiet == quiet && (quiet || p->other == other))
			rc = add_process(t, i, depth);
	}
	return rc;
}

static void count_folded(struct ty_tracks *t)
{
	t->quiet_n = t->others_n = t->others_threads = 0;
	for (uint32_t i = 0; i < t->processes.n; i++) {
		const struct ty_process *p = &t->processes.v[i];

		t->quiet_n += p->quiet && any_shown(t, p);
		if (p->quiet || !p->other)
			continue;
		t->others_n += any_shown(t, p);
		memcpy(t->others + t->others_threads, t->members + p->first,
		       p->n * sizeof(*t->others));
		t->others_threads += p->n;
	}
}

static int rebuild(struct ty_tracks *t)
{
	bool head = t->cpus_n > CPUS_SHOWN;
	int rc = 0;

	t->rows.n = 0;
	count_folded(t);
	if (head)
		rc = add_row(t, TY_ROW_CPUS, 0, true, t->cpus_folded, 0);
	for (uint32_t i = 0; !rc && i < t->cpus_n && !(head && t->cpus_folded); i++)
		rc = add_cpu(t, t->cpus[i], head);
	rc = rc ? rc : add_processes(t, false, false, 0);
	if (!rc && t->others_n)
		rc = add_row(t, TY_ROW_OTHERS, 0, true, t->others_folded, 0);
	if (!rc && !t->others_folded)
		rc = add_processes(t, true, false, 1);
	if (!rc && t->quiet_n)
		rc = add_row(t, TY_ROW_QUIET, 0, true, t->quiet_folded, 0);
	return !rc && !t->quiet_folded ? add_processes(t, false, true, 1) : rc;
}

int ty_tracks_init(struct ty_tracks *t, const struct ty_model *m, const struct ty_window *choice,
		   const struct ty_findings *f, struct ty_err *err)
{
	const struct ty_summary *s = ty_model_summary(m);
	int rc;

	*t = (struct ty_tracks){
		.m = m, .cpus_folded = true, .quiet_folded = true, .others_folded = true};
	for (uint32_t i = 0; i < TY_TRACKS_FLOW; i++)
		t->flow[i].thread = TY_NONE;
	t->members = calloc(s->threads + 1, sizeof(*t->members));
	t->more = calloc(s->threads + 1, sizeof(*t->more));
	t->up = calloc(s->threads + 1, 1);
	t->others = calloc(s->threads + 1, sizeof(*t->others));
	t->calls_open = calloc(s->threads + 1, 1);
	t->cpus = calloc(s->cpus + 1, sizeof(*t->cpus));
	t->irqs_open = calloc(s->cpus + 1, 1);
	t->hidden = calloc(s->threads + 1, 1);
	t->next = calloc(s->threads + 1, 1);
	rc = t->members && t->more && t->up && t->others && t->calls_open && t->cpus &&
			     t->irqs_open && t->hidden && t->next
		     ? 0
		     : -TY_ENOMEM;
	for (uint32_t c = 0; !rc && c < s->cpus; c++)
		if (ty_window_cpu(choice, c))
			t->cpus[t->cpus_n++] = c;
	if (!rc)
		rc = ty_tracks_order(t, choice, f);
	if (!rc)
		rc = rebuild(t);
	if (rc) {
		ty_tracks_fini(t);
		return ty_fail(err, -rc, TY_NO_OFFSET, "out of memory for %u threads' rows",
			       s->threads);
	}
	return 0;
}

void ty_tracks_fini(struct ty_tracks *t)
{
	vec_fini(&t->rows);
	vec_fini(&t->processes);
	free(t->members);
	free(t->more);
	free(t->others);
	free(t->up);
	free(t->calls_open);
	free(t->cpus);
	free(t->irqs_open);
	free(t->samples);
	free(t->lanes);
	free(t->cpu_lanes);
	free(t->hidden);
	free(t->next);
	*t = (struct ty_tracks){0};
}

/* A thread with lanes ran, whatever the model knows. */
static void lanes_ran(struct ty_tracks *t)
{
	for (uint32_t i = 0; t->lanes && i < t->processes.n; i++) {
		struct ty_process *p = &t->processes.v[i];

		for (uint32_t k = 0; k < p->n; k++)
			p->quiet &= !t->lanes[t->members[p->first + k]];
	}
}

int ty_tracks_reorder(struct ty_tracks *t, const struct ty_model *m, const struct ty_window *choice,
		      const struct ty_findings *f, struct ty_err *err)
{
	const struct ty_summary *was = ty_model_summary(t->m), *is = ty_model_summary(m);
	uint32_t threads = was->threads < is->threads ? was->threads : is->threads;
	struct ty_tracks now;
	int rc = ty_tracks_init(&now, m, choice, f, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < t->processes.n; i++)
		now.next[t->processes.v[i].leader] =
			(uint8_t)(t->processes.v[i].folded | t->processes.v[i].up << 1 |
				  t->processes.v[i].more << 2);
	for (size_t i = 0; i < now.processes.n; i++) {
		struct ty_process *p = &now.processes.v[i];

		p->folded = now.next[p->leader] & 1;
		p->up = now.next[p->leader] >> 1 & 1;
		p->more = now.next[p->leader] >> 2;
		p->other &= !p->up;
	}
	memcpy(now.hidden, t->hidden, threads);
	memcpy(now.up, t->up, threads);
	now.samples = t->samples ? calloc(is->threads + 1, 1) : NULL;
	for (uint32_t i = 0; now.samples && i < threads; i++) {
		now.samples[i] = t->samples[i];
		now.calls_open[i] |= t->samples[i] && t->calls_open[i];
	}
	now.lanes = t->lanes ? calloc(is->threads + 1, 1) : NULL;
	now.cpu_lanes = t->cpu_lanes ? calloc(is->cpus + 1, 1) : NULL;
	now.counters = t->counters;
	for (uint32_t i = 0; now.lanes && i < threads; i++) {
		now.lanes[i] = t->lanes[i];
		now.calls_open[i] |= t->lanes[i] && t->calls_open[i];
	}
	lanes_ran(&now);
	if (now.cpu_lanes)
		memcpy(now.cpu_lanes, t->cpu_lanes, was->cpus < is->cpus ? was->cpus : is->cpus);
	memcpy(now.irqs_open, t->irqs_open, was->cpus < is->cpus ? was->cpus : is->cpus);
	now.cpu_samples = t->cpu_samples;
	memcpy(now.flow, t->flow, sizeof(now.flow));
	now.hidden_n = t->hidden_n;
	now.cpus_folded = t->cpus_folded;
	now.quiet_folded = t->quiet_folded;
	now.others_folded = t->others_folded;
	rc = rebuild(&now);
	if (rc) {
		ty_tracks_fini(&now);
		return ty_fail(err, -rc, TY_NO_OFFSET, "out of memory for %u threads' rows",
			       threads);
	}
	ty_tracks_fini(t);
	*t = now;
	return 0;
}

uint32_t ty_tracks_find(const struct ty_tracks *t, uint8_t kind, uint32_t id)
{
	for (uint32_t i = 0; i < t->rows.n; i++)
		if (t->rows.v[i].kind == kind && t->rows.v[i].id == id)
			return i;
	return TY_NONE;
}

/* The nearest group row above a row that does not fold itself; TY_NONE: none. */
static uint32_t head_of(const struct ty_tracks *t, uint32_t row)
{
	uint8_t depth = t->rows.v[row].depth;

	while (row-- > 0)
		if (t->rows.v[row].foldable && t->rows.v[row].depth < depth)
			return row;
	return TY_NONE;
}

uint32_t ty_tracks_fold(struct ty_tracks *t, uint32_t row)
{
	struct ty_row r;
	uint32_t at;

	if (row < t->rows.n && !t->rows.v[row].foldable)
		row = head_of(t, row);
	if (row >= t->rows.n)
		return TY_NONE;
	r = t->rows.v[row];
	switch (r.kind) {
	case TY_ROW_CPUS: t->cpus_folded ^= true; break;
	case TY_ROW_QUIET: t->quiet_folded ^= true; break;
	case TY_ROW_OTHERS: t->others_folded ^= true; break;
	case TY_ROW_MORE: t->processes.v[r.id].more ^= true; break;
	case TY_ROW_PROCESS: t->processes.v[r.id].folded ^= true; break;
	case TY_ROW_CPU_MEMORY:
	case TY_ROW_CPU_SAMPLES:
	case TY_ROW_CPU_COUNTER:
	case TY_ROW_IRQS: r.kind = TY_ROW_CPU; /* fall through */
	case TY_ROW_CPU: t->irqs_open[r.id] ^= 1; break;
	case TY_ROW_FLOW:
		r.kind = TY_ROW_THREAD;
		t->flow[ty_tracks_calls_at(t, r.id)].thread = TY_NONE;
		break;
	case TY_ROW_REGIONS:
	case TY_ROW_MEMORY:
	case TY_ROW_SAMPLES:
	case TY_ROW_COUNTER:
	case TY_ROW_SYSCALLS: r.kind = TY_ROW_THREAD; /* fall through */
	default: t->calls_open[r.id] ^= 1; break;
	}
	/* Out of memory keeps the rows that fit: fewer rows, nothing wrong. */
	if (rebuild(t) && !t->rows.n)
		return 0;
	at = ty_tracks_find(t, r.kind, r.id);
	return at == TY_NONE ? 0 : at;
}

bool ty_tracks_calls(struct ty_tracks *t, uint32_t thread, uint32_t rows)
{
	uint32_t at = ty_tracks_calls_at(t, thread);

	if (at == TY_NONE)
		at = ty_tracks_calls_at(t, TY_NONE);
	if (at == TY_NONE)
		return false;
	t->flow[at].thread = rows ? thread : TY_NONE;
	t->flow[at].rows = rows;
	(void)rebuild(t);
	return true;
}

void ty_tracks_filter_begin(struct ty_tracks *t)
{
	memset(t->next, 1, ty_model_summary(t->m)->threads + 1);
}

void ty_tracks_filter_show(struct ty_tracks *t, uint32_t thread)
{
	t->next[thread] = 0;
}

void ty_tracks_filter_end(struct ty_tracks *t)
{
	memcpy(t->hidden, t->next, ty_model_summary(t->m)->threads + 1);
	t->hidden_n = 0;
	for (uint32_t i = 0; i < t->threads; i++)
		t->hidden_n += t->hidden[t->members[i]];
	t->others_folded = false; /* the requested row is visible */
	(void)rebuild(t);
}

void ty_tracks_show_all(struct ty_tracks *t)
{
	memset(t->hidden, 0, ty_model_summary(t->m)->threads + 1);
	t->hidden_n = 0;
	t->others_folded = true;
	(void)rebuild(t);
}

void ty_tracks_sampled(struct ty_tracks *t, const uint32_t *strip, uint32_t open,
		       const uint8_t *cpus)
{
	uint32_t threads = ty_model_summary(t->m)->threads;

	t->cpu_samples = cpus;
	free(t->samples);
	t->samples = calloc((size_t)threads + 1, 1);
	for (uint32_t i = 0; t->samples && i < threads; i++)
		t->samples[i] = strip[i] != TY_NONE;
	for (uint32_t i = 0; t->samples && i < t->threads && open; i++)
		if (t->samples[t->members[i]]) {
			t->calls_open[t->members[i]] = 1;
			open--;
		}
	(void)rebuild(t);
}

/* All of CPUs, and of the foremost threads. */
static void open_lanes(struct ty_tracks *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; t->cpu_lanes && i < t->cpus_n; i++) {
		t->irqs_open[t->cpus[i]] |= t->cpu_lanes[t->cpus[i]] != 0;
		t->cpus_folded &= !t->cpu_lanes[t->cpus[i]];
	}
	for (uint32_t i = 0; t->lanes && i < t->threads && n < TY_TRACKS_CALLS; i++)
		if (t->lanes[t->members[i]]) {
			t->calls_open[t->members[i]] = 1;
			n++;
		}
}

void ty_tracks_lanes(struct ty_tracks *t, uint8_t *threads, uint8_t *cpus, uint32_t counters,
		     bool open)
{
	free(t->lanes);
	free(t->cpu_lanes);
	t->lanes = threads;
	t->cpu_lanes = cpus;
	t->counters = counters;
	lanes_ran(t);
	if (open)
		open_lanes(t);
	(void)rebuild(t);
}

uint32_t ty_tracks_reveal(struct ty_tracks *t, uint32_t thread)
{
	uint32_t at = ty_tracks_find(t, TY_ROW_THREAD, thread);

	if (at != TY_NONE)
		return at;
	for (uint32_t i = 0; i < t->processes.n; i++) {
		struct ty_process *p = &t->processes.v[i];

		for (uint32_t k = 0; k < p->n; k++)
			if (t->members[p->first + k] == thread) {
				p->folded = false;
				t->up[thread] |= !p->more && k >= THREADS_SHOWN;
				if (p->quiet)
					t->quiet_folded = false;
				else if (p->other && t->others_folded)
					p->up = true;
				p->other &= !p->up;
				t->hidden_n -= t->hidden[thread];
				t->hidden[thread] = 0;
			}
	}
	(void)rebuild(t);
	return ty_tracks_find(t, TY_ROW_THREAD, thread);
}

uint32_t ty_tracks_reveal_calls(struct ty_tracks *t, uint32_t thread)
{
	uint32_t row = ty_tracks_reveal(t, thread);

	if (row == TY_NONE || !ty_model_thread(t->m, thread)->syscalls_n)
		return row;
	if (!t->calls_open[thread]) {
		t->calls_open[thread] = 1;
		(void)rebuild(t);
	}
	return ty_tracks_find(t, TY_ROW_SYSCALLS, thread);
}

uint32_t ty_tracks_reveal_region(struct ty_tracks *t, uint32_t thread, uint32_t lane)
{
	uint32_t row = ty_tracks_reveal(t, thread);

	if (row == TY_NONE)
		return row;
	if (!t->calls_open[thread]) {
		t->calls_open[thread] = 1;
		(void)rebuild(t);
	}
	for (uint32_t i = 0; i < t->rows.n; i++)
		if (t->rows.v[i].kind == TY_ROW_REGIONS && t->rows.v[i].id == thread &&
		    ty_tracks_lane(&t->rows.v[i]) == lane)
			return i;
	return ty_tracks_find(t, TY_ROW_THREAD, thread);
}

uint32_t ty_tracks_reveal_cpu(struct ty_tracks *t, uint32_t cpu)
{
	if (ty_tracks_find(t, TY_ROW_CPU, cpu) == TY_NONE && t->cpus_folded) {
		t->cpus_folded = false;
		(void)rebuild(t);
	}
	return ty_tracks_find(t, TY_ROW_CPU, cpu);
}

uint32_t ty_tracks_reveal_irqs(struct ty_tracks *t, uint32_t cpu)
{
	t->cpus_folded = false;
	t->irqs_open[cpu] = 1;
	(void)rebuild(t);
	return ty_tracks_find(t, TY_ROW_IRQS, cpu);
}

uint32_t ty_tracks_reveal_row(struct ty_tracks *t, uint8_t kind, uint32_t id)
{
	switch (kind) {
	case TY_ROW_THREAD: return ty_tracks_reveal(t, id);
	case TY_ROW_SYSCALLS: return ty_tracks_reveal_calls(t, id);
	case TY_ROW_CPU: return ty_tracks_reveal_cpu(t, id);
	case TY_ROW_IRQS: return ty_tracks_reveal_irqs(t, id);
	default: return ty_tracks_find(t, kind, id);
	}
}

bool ty_tracks_members(const struct ty_tracks *t, const struct ty_row *r, uint8_t *kind,
		       const uint32_t **ids, uint32_t *n)
{
	*n = 1;
	*ids = &r->id;
	*kind = TY_TRACK_THREAD;
	switch (r->kind) {
	case TY_ROW_CPUS:
		*kind = TY_TRACK_CPU;
		*ids = t->cpus;
		*n = t->cpus_n;
		return true;
	case TY_ROW_CPU: *kind = TY_TRACK_CPU; return true;
	case TY_ROW_SYSCALLS: *kind = TY_TRACK_SYSCALLS; return true;
	case TY_ROW_THREAD: return true;
	case TY_ROW_PROCESS:
		*ids = t->members + t->processes.v[r->id].first;
		*n = t->processes.v[r->id].n;
		return true;
	case TY_ROW_MORE:
		*ids = t->more + t->processes.v[r->id].first;
		*n = t->processes.v[r->id].more_n;
		return true;
	case TY_ROW_OTHERS:
		*ids = t->others;
		*n = t->others_threads;
		return true;
	default: return false;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * See range_stats.h. Percentiles from a histogram with buckets of 1/1024 of their octave, exact
 * below 2048 ns, allocated per octave: bounded memory for any range.
 */
#include "range_stats.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "log_histogram.h"
#include "vec.h"

#define BITS	10
#define BUCKETS (1u << BITS)
#define OCTAVES (TY_BARS_OF(BITS) / BUCKETS)

struct kind {
	struct ty_range_kind k;
	uint32_t *octave[OCTAVES];
};

struct ty_range_stats {
	const struct ty_model *m;
	struct ty_track *tracks;
	uint32_t n, at;	 /* the track that is being examined */
	uint32_t i, end; /* its next span, and one behind its last */
	bool entered;
	uint64_t from_ns, to_ns;
	VEC(struct kind) kinds;
	size_t last; /* the kind used last: spans of one kind come in a row */
	struct ty_range_kind *out;
};

struct ty_range_stats *ty_range_stats_new(const struct ty_model *m, const struct ty_track *tracks,
					  uint32_t n, uint64_t from_ns, uint64_t to_ns)
{
	struct ty_range_stats *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->tracks = malloc((n + 1) * sizeof(*tracks));
	if (!s->tracks) {
		free(s);
		return NULL;
	}
	if (n)
		memcpy(s->tracks, tracks, n * sizeof(*tracks));
	s->m = m;
	s->n = n;
	s->from_ns = from_ns;
	s->to_ns = to_ns;
	return s;
}

void ty_range_stats_free(struct ty_range_stats *s)
{
	if (!s)
		return;
	vec_each (k, &s->kinds)
		for (unsigned o = 0; o < OCTAVES; o++)
			free(k->octave[o]);
	vec_fini(&s->kinds);
	free(s->tracks);
	free(s->out);
	free(s);
}

static bool same_kind(const struct ty_range_kind *a, const struct ty_range_kind *b)
{
	return a->track == b->track && a->state == b->state && a->nr == b->nr && a->abi == b->abi;
}

static struct kind *kind_of(struct ty_range_stats *s, const struct ty_range_kind *want)
{
	if (s->last < s->kinds.n && same_kind(&s->kinds.v[s->last].k, want))
		return &s->kinds.v[s->last];
	for (s->last = 0; s->last < s->kinds.n; s->last++)
		if (same_kind(&s->kinds.v[s->last].k, want))
			return &s->kinds.v[s->last];
	return vec_push(&s->kinds, (struct kind){.k = *want}) ? NULL : &s->kinds.v[s->last];
}

static int count(struct ty_range_stats *s, const struct ty_range_kind *want, uint32_t thread,
		 uint64_t start, uint64_t end)
{
	struct kind *k;
	unsigned bar, o;
	uint64_t ns;

	if (start >= s->to_ns || end < s->from_ns || (end == s->from_ns && start < end))
		return 0;
	start = start > s->from_ns ? start : s->from_ns;
	end = end < s->to_ns ? end : s->to_ns;
	k = kind_of(s, want);
	if (!k)
		return -TY_ENOMEM;
	ns = end - start;
	bar = ty_bar_in(ns, BITS);
	o = bar / BUCKETS;
	if (!k->octave[o] && !(k->octave[o] = calloc(BUCKETS, sizeof(**k->octave))))
		return -TY_ENOMEM;
	k->octave[o][bar % BUCKETS]++;
	if (!k->k.spans++ || ns > k->k.max_ns) {
		k->k.max_ns = ns;
		k->k.max_thread = thread;
		k->k.max_at_ns = start;
	}
	k->k.total_ns += ns;
	return 0;
}

/* First and last span of the track that touch the range. */
static void enter(struct ty_range_stats *s)
{
	const struct ty_track *t = &s->tracks[s->at];
	const struct ty_thread *th;

	s->entered = true;
	s->i = s->end = 0;
	switch (t->kind) {
	case TY_TRACK_CPU:
		s->end = ty_model_cpu_spans(s->m, t->id);
		s->i = s->end ? ty_model_cpu_span_find(s->m, t->id, s->from_ns) : 0;
		break;
	case TY_TRACK_THREAD:
		th = ty_model_thread(s->m, t->id);
		s->end = th->spans_first + th->spans_n;
		s->i = th->spans_n ? ty_model_span_find(s->m, t->id, s->from_ns) : s->end;
		break;
	default:
		th = ty_model_thread(s->m, t->id);
		s->end = th->syscalls_first + th->syscalls_n;
		s->i = ty_model_syscall_after(s->m, t->id, s->from_ns);
		break;
	}
	if (s->i == TY_NONE)
		s->i = s->end;
}

/* One span: its start; -TY_ENOMEM by *rc. */
static uint64_t one(struct ty_range_stats *s, int *rc)
{
	const struct ty_track *t = &s->tracks[s->at];
	struct ty_range_kind k = {.track = t->kind, .nr = -1};
	struct ty_syscall c;
	struct ty_span sp;

	if (t->kind == TY_TRACK_SYSCALLS) {
		c = ty_model_syscall_brief(s->m, t->id, s->i);
		k.state = TY_ST_RUNNING;
		k.nr = c.nr;
		k.abi = c.abi;
		*rc = count(s, &k, t->id, c.start_ns, c.end_ns);
		return c.start_ns;
	}
	sp = t->kind == TY_TRACK_CPU ? ty_model_cpu_span_brief(s->m, t->id, s->i)
				     : ty_model_span_brief(s->m, t->id, s->i);
	k.state = sp.state;
	*rc = count(s, &k, sp.thread, sp.start_ns, sp.end_ns);
	return sp.start_ns;
}

static uint64_t percentile(const struct kind *k, unsigned percent)
{
	uint64_t rank = (k->k.spans * percent + 99) / 100, seen = 0, width;

	for (unsigned o = 0; o < OCTAVES; o++)
		for (unsigned b = 0; k->octave[o] && b < BUCKETS; b++) {
			seen += k->octave[o][b];
			if (seen >= rank && seen)
				return ty_bar_first(o * BUCKETS + b, BITS, &width);
		}
	return k->k.max_ns;
}

ORDER(by_total, struct ty_range_kind,
      compare(a->track == TY_TRACK_SYSCALLS, b->track == TY_TRACK_SYSCALLS) ?:
      compare(a->track, b->track) ?: compare(b->total_ns, a->total_ns) ?:
      compare(a->nr, b->nr) ?: compare(a->state, b->state))

static int finish(struct ty_range_stats *s)
{
	s->out = calloc(s->kinds.n + 1, sizeof(*s->out));
	if (!s->out)
		return -TY_ENOMEM;
	for (size_t i = 0; i < s->kinds.n; i++) {
		struct ty_range_kind *k = &s->out[i];

		*k = s->kinds.v[i].k;
		k->mean_ns = k->total_ns / k->spans;
		k->p50_ns = percentile(&s->kinds.v[i], 50);
		k->p99_ns = percentile(&s->kinds.v[i], 99);
	}
	qsort(s->out, s->kinds.n, sizeof(*s->out), by_total);
	return 0;
}

int ty_range_stats_step(struct ty_range_stats *s, uint32_t budget)
{
	int rc = 0;

	if (s->out)
		return 0;
	for (; s->at < s->n; budget--) {
		if (!budget)
			return 1;
		if (!s->entered)
			enter(s);
		if (s->i >= s->end || one(s, &rc) >= s->to_ns) {
			s->at++;
			s->entered = false;
			continue;
		}
		if (rc)
			return rc;
		s->i++;
	}
	return finish(s);
}

const struct ty_range_kind *ty_range_stats_kinds(const struct ty_range_stats *s, uint32_t *n)
{
	*n = s->out ? (uint32_t)s->kinds.n : 0;
	return s->out;
}

/* SPDX-License-Identifier: MIT */
/* The order of threads and processes on the timeline; see tracks_order.h. */
#include "tracks_order.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "process_of_thread.h"

/* The criteria of the order. */
struct relevance {
	uint32_t thread, process; /* process: leader's thread index, or own when unknown */
	uint32_t wait;		  /* place of its first finding; TY_NONE */
	uint64_t ran_ns;
	bool traced;
	bool named; /* by a stall, as what it waited for */
};

static int by_relevance(const struct relevance *a, const struct relevance *b)
{
	return compare(b->traced, a->traced) ?:
	       compare(a->wait, b->wait) ?:
	       compare(b->named, a->named) ?:
	       compare(b->ran_ns, a->ran_ns) ?:
	       compare(a->thread, b->thread);
}

static int cmp_thread(const void *a, const void *b)
{
	return by_relevance(a, b);
}

/* Threads in the order of relevance, gathered by process: a process has the position of its first
 * thread. asked: the traced threads are those of a command or of given processes. */
static int gather(struct ty_tracks *t, struct relevance *r, uint32_t n, uint32_t all, bool asked)
{
	uint32_t *place = malloc(all * sizeof(*place)), *fill;

	if (!place)
		return -TY_ENOMEM;
	memset(place, 0xff, all * sizeof(*place));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = r[i].process;

		if (place[p] == TY_NONE) {
			const struct ty_thread *th = ty_model_thread(t->m, r[i].thread);

			place[p] = (uint32_t)t->processes.n;
			if (vec_push(&t->processes, (struct ty_process){.leader = p,
									.tgid = th->tgid,
									.quiet = true,
									.other = true})) {
				free(place);
				return -TY_ENOMEM;
			}
		}
		t->processes.v[place[p]].n++;
		if (r[i].ran_ns || r[i].wait != TY_NONE || (r[i].traced && asked) ||
		    ty_model_thread(t->m, r[i].thread)->syscalls_n)
			t->processes.v[place[p]].quiet = false;
		if (r[i].traced || r[i].named || !r[0].traced)
			t->processes.v[place[p]].other = false;
	}
	fill = malloc((t->processes.n + 1) * sizeof(*fill));
	if (!fill) {
		free(place);
		return -TY_ENOMEM;
	}
	for (uint32_t i = 0, at = 0; i < t->processes.n; i++) {
		t->processes.v[i].first = fill[i] = at;
		at += t->processes.v[i].n;
	}
	for (uint32_t i = 0; i < n; i++)
		t->members[fill[place[r[i].process]]++] = r[i].thread;
	free(fill);
	free(place);
	return 0;
}

int ty_tracks_order(struct ty_tracks *t, const struct ty_window *choice,
		    const struct ty_findings *f)
{
	const struct ty_summary *s = ty_model_summary(t->m);
	struct relevance *r = calloc(s->threads + 1, sizeof(*r));
	uint32_t *wait = malloc((s->threads + 1) * sizeof(*wait));
	uint8_t *named = calloc(s->threads + 1, 1);
	uint32_t n = 0;
	int rc = -TY_ENOMEM;

	if (!r || !wait || !named)
		goto out;
	memset(wait, 0xff, (s->threads + 1) * sizeof(*wait));
	for (uint32_t i = f->n; i-- > 0;)
		if (!ty_findings_still(f, &f->v[i]))
			wait[f->v[i].thread] = i;
	for (uint32_t i = 0; i < f->stalls.n; i++) {
		const struct ty_stall *stall = &f->stalls.v[i];

		if (stall->culprit < s->threads)
			named[stall->culprit] = 1;
		if (stall->links && stall->link[stall->links - 1].thread < s->threads)
			named[stall->link[stall->links - 1].thread] = 1;
	}
	for (uint32_t i = 0; i < s->threads; i++) {
		const struct ty_thread *th = ty_model_thread(t->m, i);
		struct ty_track track = {.kind = TY_TRACK_THREAD, .id = i};
		struct ty_cell all;

		if (!ty_window_thread(choice, t->m, i))
			continue;
		ty_model_cells(t->m, track, s->start_ns, s->end_ns, 1, &all);
		r[n++] = (struct relevance){.thread = i,
					    .process = ty_process_of(t->m, i),
					    .wait = wait[i],
					    .ran_ns = all.ns[TY_ST_RUNNING],
					    .traced = th->traced,
					    .named = named[i]};
	}
	t->threads = n;
	qsort(r, n, sizeof(*r), cmp_thread);
	rc = gather(t, r, n, s->threads + 1, f->traced_only);
	for (uint32_t i = 0; !rc && i < n && i < TY_TRACKS_CALLS; i++)
		t->calls_open[r[i].thread] = 1;
out:
	free(r);
	free(wait);
	free(named);
	return rc;
}

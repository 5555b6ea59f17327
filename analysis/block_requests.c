/* SPDX-License-Identifier: MIT */
/* See block_requests.h. */
#include "block_requests.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define BEFORE	 512   /* requests issued before the wait that are examined */
#define REQUESTS 65536 /* in all */
#define KEPT	 1024  /* requests of one wait, the last ones */

bool ty_block_is_of(const struct ty_model *m, const struct ty_io *io, uint32_t thread)
{
	return thread != TY_NONE && (io->thread == thread || io->bio_thread == thread) &&
	       !strchr(ty_model_str(m, io->rwbs), 'A');
}

ORDER(by_begin, struct ty_flight, compare(a->from_ns, b->from_ns))

/* Cut to [from, to). */
static unsigned add(struct ty_flight *v, unsigned n, uint64_t from, uint64_t to, uint64_t a,
		    uint64_t b, uint32_t io, bool queued)
{
	a = a > from ? a : from;
	b = b < to ? b : to;
	if (a < b && n < KEPT)
		v[n++] = (struct ty_flight){a, b, io, queued};
	return n;
}

/* Sorts by begin; merges requests that overlap or touch. */
static unsigned merge(struct ty_flight *v, unsigned n)
{
	unsigned w = 0;

	qsort(v, n, sizeof(*v), by_begin);
	for (unsigned i = 0; i < n; i++) {
		struct ty_flight *last = &v[w ? w - 1 : 0];

		if (!w || v[i].from_ns > last->to_ns) {
			v[w++] = v[i];
			continue;
		}
		if (v[i].to_ns - v[i].from_ns > last->to_ns - last->from_ns)
			last->io = v[i].io;
		last->to_ns = v[i].to_ns > last->to_ns ? v[i].to_ns : last->to_ns;
	}
	return w;
}

/* The parts of q that no flight of v covers, behind the n of v; room for TY_FLIGHTS more. */
static unsigned put_between(struct ty_flight *v, unsigned n, const struct ty_flight *q, unsigned qs)
{
	unsigned all = n;

	for (unsigned i = 0; i < qs; i++) {
		uint64_t at = q[i].from_ns;

		for (unsigned k = 0; k <= n && at < q[i].to_ns && all < n + TY_FLIGHTS; k++) {
			uint64_t end =
				k < n && v[k].from_ns < q[i].to_ns ? v[k].from_ns : q[i].to_ns;

			if (end > at)
				v[all++] = (struct ty_flight){at, end, q[i].io, true};
			if (k < n)
				at = v[k].to_ns > at ? v[k].to_ns : at;
			else
				at = q[i].to_ns;
		}
	}
	qsort(v, all, sizeof(*v), by_begin);
	return all;
}

unsigned ty_block_flights(const struct ty_model *m, uint32_t thread, const struct ty_waker *k,
			  uint64_t from_ns, uint64_t to_ns, struct ty_flight out[TY_FLIGHTS])
{
	struct ty_flight *v, *q;
	unsigned n = 0, qs = 0, before = 0, first;

	if (!ty_model_ios(m) || from_ns >= to_ns)
		return 0;
	if (k->io != TY_NONE) {
		struct ty_io io = ty_model_io(m, k->io);

		/* The usual case needs no search. */
		if (io.start_ns <= from_ns && io.end_ns >= to_ns - (to_ns - from_ns) / 16) {
			out[0] = (struct ty_flight){from_ns, io.end_ns < to_ns ? io.end_ns : to_ns,
						    k->io, false};
			return 1;
		}
	}
	v = malloc(2 * KEPT * sizeof(*v));
	if (!v)
		return 0;
	q = v + KEPT;
	for (uint32_t i = ty_model_io_after(m, to_ns), looks = 0;
	     i && looks < REQUESTS && before < BEFORE; looks++) {
		struct ty_io io = ty_model_io(m, --i);

		if (io.busy_to_ns <= from_ns)
			break;
		before += io.start_ns < from_ns;
		if (i != k->io && !ty_block_is_of(m, &io, thread))
			continue;
		n = add(v, n, from_ns, to_ns, io.start_ns, io.end_ns, i, false);
		if (io.queue_ns)
			qs = add(q, qs, from_ns, to_ns, io.queue_ns, io.start_ns, i, true);
	}
	/* It may be older than the ones examined. */
	if (k->io != TY_NONE) {
		struct ty_io io = ty_model_io(m, k->io);

		n = add(v, n, from_ns, to_ns, io.start_ns, io.end_ns, k->io, false);
		if (io.queue_ns)
			qs = add(q, qs, from_ns, to_ns, io.queue_ns, io.start_ns, k->io, true);
	}
	n = merge(v, n);
	qs = merge(q, qs);
	first = n > TY_FLIGHTS / 2 ? n - TY_FLIGHTS / 2 : 0;
	memmove(v, v + first, (n - first) * sizeof(*v));
	n -= first;
	first = qs > TY_FLIGHTS / 4 ? qs - TY_FLIGHTS / 4 : 0;
	n = put_between(v, n, q + first, qs - first);
	first = n > TY_FLIGHTS ? n - TY_FLIGHTS : 0;
	memcpy(out, v + first, (n - first) * sizeof(*v));
	free(v);
	return n - first;
}

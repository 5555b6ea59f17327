/* SPDX-License-Identifier: MIT */
/* Findings about requests: outliers, and a steady increase of their length. */
#include "findings_priv.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "units.h"

#define TIMES	10 /* the median */
#define LONG_NS UINT64_C(20000000)

static uint64_t length(const struct ty_request *r)
{
	return r->end_ns - r->start_ns;
}

static void outliers(const struct ty_finding_work *k, uint32_t service)
{
	const struct ty_service *s = &k->requests->services[service];
	uint64_t from = s->p50_ns * TIMES > LONG_NS ? s->p50_ns * TIMES : LONG_NS;
	struct ty_finding f = {
		.kind = TY_FINDING_OUTLIERS, .thread = s->process, .culprit = TY_NONE};
	char who[TY_WHO_MAX];
	const struct ty_request *longest = NULL;
	bool more = k->requests->n < k->requests->all && k->requests->n &&
		    length(&k->requests->v[k->requests->n - 1]) >= from;
	struct ty_finding *to;

	for (uint32_t i = 0; i < k->requests->n; i++) {
		const struct ty_request *r = &k->requests->v[i];

		if (r->service != service || length(r) < from ||
		    r->flags & (TY_REQ_OPEN | TY_REQ_BEFORE))
			continue;
		longest = longest ? longest : r;
		f.n++;
		f.ns += length(r) - s->p50_ns;
	}
	/* Where many are as long that is what such requests take. */
	if (!f.n || s->n < TY_FINDING_REQUESTS || f.n > s->n / 4)
		return;
	f.at_ns = longest->start_ns;
	f.inferred = s->inferred;
	to = ty_finding_add(k, &f);
	if (!to)
		return;
	ty_finding_say(to, "%s: %s%s of %s requests took %s",
		       ty_finding_thread_name(k->x->m, s->process, false, who),
		       more ? "at least " : "", ty_count(f.n), ty_count(s->n),
		       ty_duration(more || f.n > 1 ? from : length(longest)));
	if (more || f.n > 1)
		ty_finding_say(to, " or more, the longest %s", ty_duration(length(longest)));
	ty_finding_say(to, " (median %s", ty_duration(s->p50_ns));
	if (f.n > 1)
		ty_finding_say(to, "; together %s above it", ty_duration(f.ns));
	ty_finding_say(to, ")");
	ty_finding_next(to, "tarry report FILE requests");
}

ORDER(by_value, uint64_t, compare(*a, *b))

/* Of the n lengths, in time order. */
static uint64_t median(const uint64_t *ns, uint32_t n)
{
	uint64_t v[TY_REQUESTS_SAMPLE];

	memcpy(v, ns, n * sizeof(*v));
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static void grew(const struct ty_finding_work *k, const struct ty_service *s)
{
	struct ty_finding f = {.kind = TY_FINDING_GREW, .thread = s->process, .culprit = TY_NONE};
	uint64_t ns[TY_REQUESTS_SAMPLE], first, middle, last, up = 0, pairs = 0, more = 0;
	char who[TY_WHO_MAX];
	uint32_t n = s->sample_n < TY_REQUESTS_SAMPLE ? s->sample_n : TY_REQUESTS_SAMPLE;
	struct ty_finding *to;

	if (n < TY_FINDING_REQUESTS)
		return;
	for (uint32_t i = 0; i < n; i++)
		ns[i] = length(&k->requests->sample[s->sample + i]);
	first = median(ns, n / 3);
	middle = median(ns + n / 3, n / 3);
	last = median(ns + n - n / 3, n / 3);
	for (uint32_t i = 0; i < n; i++) {
		more += ns[i] > first ? ns[i] - first : 0;
		for (uint32_t j = i + 1; j < n; j++, pairs++)
			up += ns[j] > ns[i];
	}
	/* Not by a step, nor by chance: the middle lies between, and later ones are longer in
	 * three of four pairs. */
	if (last < 2 * first || middle < first + (last - first) / 8 || middle >= last ||
	    up < pairs / 4 * 3)
		return;
	f.n = s->n;
	f.ns = more / n * s->n;
	f.at_ns = k->requests->sample[s->sample].start_ns;
	f.inferred = true;
	if (f.ns < k->wall_ns / 100)
		return;
	to = ty_finding_add(k, &f);
	if (!to)
		return;
	ty_finding_say(to,
		       "%s: requests took longer and longer: medians of the first, second and last "
		       "third of %s "
		       "are %s, %s and %s",
		       ty_finding_thread_name(k->x->m, s->process, false, who), ty_count(s->n),
		       ty_duration(first), ty_duration(middle), ty_duration(last));
	ty_finding_next(to, "tarry report FILE requests --from T --to T (compare early with late)");
}

int ty_findings_of_requests(const struct ty_finding_work *k)
{
	for (uint32_t i = 0; i < k->requests->services_n; i++) {
		outliers(k, i);
		grew(k, &k->requests->services[i]);
	}
	return 0;
}

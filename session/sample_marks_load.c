/* SPDX-License-Identifier: MIT */
/* See sample_marks_load.h. */
#include "sample_marks_load.h"

#include <stdlib.h>

#include "perf_data.h"
#include "section.h"

/* A sample of an event; what cannot be parsed is counted by the report (sample_load.h). */
static int add(const struct ty_trace *t, const struct ty_perf_event *ev,
	       const struct ty_perf_rec *r, struct ty_sample_marks *out)
{
	const unsigned need = TY_PERF_S_TIME | TY_PERF_S_TID;
	struct ty_perf_sample s;

	if (ty_perf_sample_parse(r, &ev->attr, &s) || (s.have & need) != need)
		return 0;
	return ty_sample_marks_add(out, s.id.time + (uint64_t)t->ts_offset_ns, (uint32_t)s.id.tid,
				   s.have & TY_PERF_S_CPU ? (uint32_t)s.id.cpu : UINT32_MAX);
}

static bool stopped(const atomic_bool *stop)
{
	return stop && atomic_load(stop);
}

/* Up to what is damaged. */
static int read_section(const struct ty_trace *t, const atomic_bool *stop,
			struct ty_sample_marks *out)
{
	const struct ty_text head = ty_trace_section(t, TY_SEC_SAMPLING),
			     text = ty_trace_section(t, TY_SEC_SAMPLES);
	struct ty_perf *f = NULL;
	struct ty_perf_rec r;
	size_t pos = 0;
	int e = ty_perf_open_bytes(t->path, head.s, head.n, &f, NULL);

	if (!e && !f->events.n)
		e = -TY_EFORMAT;
	if (!e)
		out->period_ns = ty_perf_event_period_ns(&f->events.v[0]);
	while (!e && ty_perf_buf_next((const uint8_t *)text.s, text.n, &pos, &r) > 0)
		if (stopped(stop))
			e = -TY_EINTR;
		else if (r.type == TY_PERF_SAMPLE)
			e = add(t, &f->events.v[0], &r, out);
	ty_perf_close(f);
	return e;
}

/* Of a perf.data file, those of the event that has the most: as the report chooses. */
static int read_file(const struct ty_trace *t, const atomic_bool *stop, struct ty_sample_marks *out)
{
	struct ty_perf *f = NULL;
	struct ty_perf_rec r;
	uint64_t *count = NULL;
	size_t best = 0;
	int e = ty_perf_open(t->path, &f, NULL);

	for (unsigned pass = 0; !e && pass < 2; pass++) {
		ty_perf_rewind(f);
		while (!e && ty_perf_next(f, &r, NULL) > 0) {
			const struct ty_perf_event *ev =
				r.type == TY_PERF_SAMPLE ? ty_perf_event_of(f, &r) : NULL;
			const size_t at = ev ? (size_t)(ev - f->events.v) : 0;

			if (stopped(stop))
				e = -TY_EINTR;
			else if (!ev || !ty_perf_event_samples(ev))
				continue;
			else if (pass)
				e = at == best ? add(t, ev, &r, out) : 0;
			else if (!count && !(count = calloc(f->events.n, sizeof(*count))))
				e = -TY_ENOMEM;
			else if (++count[at] > count[best])
				best = at;
		}
		if (!count)
			break;
	}
	if (!e && count)
		out->period_ns = ty_perf_event_period_ns(&f->events.v[best]);
	free(count);
	ty_perf_close(f);
	return e;
}

int ty_sample_marks_of_trace(const struct ty_trace *t, const atomic_bool *stop,
			     struct ty_sample_marks **out)
{
	int e;

	*out = ty_sample_marks_new();
	e = !*out	      ? -TY_ENOMEM
	    : t->perf_samples ? read_file(t, stop, *out)
			      : read_section(t, stop, *out);
	if (e) {
		ty_sample_marks_free(*out);
		*out = NULL;
	} else {
		ty_sample_marks_sort(*out);
	}
	return e;
}

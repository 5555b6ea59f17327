/* SPDX-License-Identifier: MIT */
/* See sample_marks_load.h. */
#include "sample_marks_load.h"

#include "perf_data.h"
#include "section.h"

enum { SOFTWARE = 1 };

bool ty_sample_marks_recorded(const struct ty_trace *t)
{
	return ty_trace_section(t, TY_SEC_SAMPLES).n && ty_trace_section(t, TY_SEC_SAMPLING).n;
}

static int read_all(const struct ty_trace *t, const struct ty_perf_event *ev,
		    const atomic_bool *stop, struct ty_sample_marks *out)
{
	const struct ty_text text = ty_trace_section(t, TY_SEC_SAMPLES);
	struct ty_perf_rec r;
	size_t pos = 0;
	int e = 0;

	/* Up to what is damaged: the report counts the rest (sample_load.h). */
	while (!e && ty_perf_buf_next((const uint8_t *)text.s, text.n, &pos, &r) > 0) {
		const unsigned need = TY_PERF_S_TIME | TY_PERF_S_TID;
		struct ty_perf_sample s;

		if (stop && atomic_load(stop))
			return -TY_EINTR;
		if (r.type == TY_PERF_SAMPLE && !ty_perf_sample_parse(&r, &ev->attr, &s) &&
		    (s.have & need) == need)
			e = ty_sample_marks_add(
				out, s.id.time + (uint64_t)t->ts_offset_ns, (uint32_t)s.id.tid,
				s.have & TY_PERF_S_CPU ? (uint32_t)s.id.cpu : UINT32_MAX);
	}
	return e;
}

int ty_sample_marks_of_trace(const struct ty_trace *t, const atomic_bool *stop,
			     struct ty_sample_marks **out)
{
	const struct ty_text head = ty_trace_section(t, TY_SEC_SAMPLING);
	struct ty_perf *f = NULL;
	int e;

	*out = ty_sample_marks_new();
	e = *out ? ty_perf_open_bytes(t->path, head.s, head.n, &f, NULL) : -TY_ENOMEM;
	if (!e && !f->events.n)
		e = -TY_EFORMAT;
	if (!e) {
		const struct ty_perf_attr *a = &f->events.v[0].attr;

		if (a->type == SOFTWARE)
			(*out)->period_ns = a->sample_period;
		e = read_all(t, &f->events.v[0], stop, *out);
	}
	ty_perf_close(f);
	if (e) {
		ty_sample_marks_free(*out);
		*out = NULL;
	} else {
		ty_sample_marks_sort(*out);
	}
	return e;
}

/* SPDX-License-Identifier: MIT */
/*
 * See export_side.h. Records without a time (what perf, or tarry in its place, puts in front) come
 * first, in the order they had; so do AUX data, which perf finds by an index.
 */
#include "export_side.h"

#include <stdio.h>
#include <stdlib.h>

#include "rd.h"
#include "section.h"
#include "vec.h"

#define BODIES (1u << 30) /* only a hostile file has more */
#define PIECE  (1u << 20)

struct rec {
	uint64_t time;
	uint64_t data_off, data_n; /* AUXTRACE */
	size_t body;
	uint32_t n, type, order;
	uint16_t misc;
};

struct ty_export_side {
	struct ty_perf *f;
	struct ty_perf_out *out;
	VEC(struct rec) recs;
	struct ty_buf bodies;
	size_t next;
	uint64_t aux_bytes;
	uint8_t *piece;
};

static int by_time(const void *a, const void *b)
{
	const struct rec *x = a, *y = b;

	return x->time != y->time ? (x->time < y->time ? -1 : 1)
				  : (x->order > y->order) - (x->order < y->order);
}

/* A name such as perf has it where the file has none: that of its PMU. */
static void event_name(const struct ty_perf *f, const struct ty_perf_event *e, char out[64])
{
	const char *pmu = ty_perf_pmu(f, e->attr.type);

	if (*e->name)
		snprintf(out, 64, "%s", e->name);
	else if (pmu)
		snprintf(out, 64, "%s//", pmu);
	else
		snprintf(out, 64, "event of type %u", e->attr.type);
}

/* In the pipe form events are records of their own, with ids behind the attribute. */
static void add_event(struct ty_export_side *s, const struct ty_perf_rec *r)
{
	struct ty_perf_event known = {.name = ""};
	struct ty_perf_attr attr;
	const struct ty_perf_event *e;
	VEC(uint64_t) ids = {0};
	char name[64];
	size_t n = r->n >= 8 ? ty_load(r->body + 4, 4, false) : 0;

	n = n < TY_PERF_ATTR_MIN ? TY_PERF_ATTR_MIN : n;
	if (n > r->n || ty_perf_attr_parse(r->body, n, &attr))
		return; /* not so: it was taken up before */
	for (size_t i = n; i + 8 <= r->n; i += 8)
		vec_push(&ids, ty_load(r->body + i, 8, false));
	e = ids.n ? ty_perf_event_find(s->f, ids.v[0]) : NULL;
	known.attr = attr;
	event_name(s->f, e ? e : &known, name);
	ty_perf_out_event(s->out, r->body, n, ids.v, ids.n, name);
	vec_fini(&ids);
}

static int add_record(struct ty_export_side *s, const struct ty_perf_rec *r)
{
	struct rec rec = {.type = r->type,
			  .misc = r->misc,
			  .n = r->n,
			  .body = s->bodies.len,
			  .data_off = r->data_off,
			  .data_n = r->data_n,
			  .order = (uint32_t)s->recs.n};
	struct ty_perf_id id;

	switch (r->type) {
	case TY_PERF_HEADER_ATTR: add_event(s, r); return 0;
	case TY_PERF_HEADER_EVENT_TYPE:
	case TY_PERF_HEADER_TRACING_DATA:
	case TY_PERF_HEADER_BUILD_ID:
	case TY_PERF_HEADER_FEATURE:
	case TY_PERF_FINISHED_ROUND:
	case TY_PERF_FINISHED_INIT: return 0;
	default: break;
	}
	if (r->type == TY_PERF_SAMPLE) {
		const struct ty_perf_event *e = ty_perf_event_of(s->f, r);
		struct ty_perf_sample sample;

		if (e && !ty_perf_sample_parse(r, &e->attr, &sample) &&
		    sample.have & TY_PERF_S_TIME)
			rec.time = sample.id.time;
	} else {
		ty_perf_id(s->f, r, &id);
		if (id.have & TY_PERF_S_TIME)
			rec.time = id.time;
	}
	if (ty_buf_add(&s->bodies, r->body, r->n))
		return s->bodies.failed;
	/* perf takes no time from a stream whose reference is zero, and fails. */
	if (r->type == TY_PERF_AUXTRACE && r->n >= 24 && !ty_load(r->body + 16, 8, false))
		s->bodies.p[rec.body + 16] = 1;
	return vec_push(&s->recs, rec);
}

int ty_export_side_new(const struct ty_trace *t, struct ty_perf_out *out,
		       struct ty_export_side **side, struct ty_err *err)
{
	struct ty_text section = ty_trace_section(t, TY_SEC_PERF);
	struct ty_export_side *s;
	struct ty_perf_rec r;
	int e;

	*side = NULL;
	if (!section.n)
		return 0;
	s = calloc(1, sizeof(*s));
	if (s)
		s->piece = malloc(PIECE);
	if (!s || !s->piece) {
		free(s);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	}
	s->out = out;
	ty_buf_init(&s->bodies, BODIES);
	e = ty_perf_open_bytes(t->path, section.s, section.n, &s->f, err);
	while (!e && (e = ty_perf_next(s->f, &r, err)) > 0) {
		e = add_record(s, &r);
		if (e)
			ty_fail(err, -e, TY_NO_OFFSET,
				"%s: the records of its instructions or samples: %s", t->path,
				ty_strerror(e));
	}
	for (unsigned i = 0; !e && i < TY_PERF_F_COUNT; i++) {
		size_t n;
		const uint8_t *p = ty_perf_feature(s->f, i, &n);

		if (p && i != TY_PERF_F_COMPRESSED)
			ty_perf_out_feature(out, i, p, n);
	}
	if (e) {
		ty_export_side_free(s);
		return e;
	}
	if (s->recs.n)
		qsort(s->recs.v, s->recs.n, sizeof(*s->recs.v), by_time);
	*side = s;
	return 0;
}

void ty_export_side_free(struct ty_export_side *s)
{
	if (!s)
		return;
	ty_perf_close(s->f);
	vec_fini(&s->recs);
	ty_buf_fini(&s->bodies);
	free(s->piece);
	free(s);
}

static int put_aux(struct ty_export_side *s, const struct rec *r, struct ty_err *err)
{
	for (uint64_t at = 0; at < r->data_n;) {
		size_t n = r->data_n - at < PIECE ? (size_t)(r->data_n - at) : PIECE;
		int e = ty_perf_read(s->f, r->data_off + at, s->piece, n, err);

		if (e)
			return e;
		ty_perf_out_aux(s->out, s->piece, n);
		at += n;
	}
	s->aux_bytes += r->data_n;
	return 0;
}

int ty_export_side_until(struct ty_export_side *s, uint64_t ns, struct ty_err *err)
{
	int e = 0;

	for (; s && !e && s->next < s->recs.n && s->recs.v[s->next].time <= ns; s->next++) {
		const struct rec *r = &s->recs.v[s->next];

		ty_perf_out_rec(s->out, r->type, r->misc, s->bodies.p + r->body, r->n);
		if (r->type == TY_PERF_AUXTRACE)
			e = put_aux(s, r, err);
	}
	return e;
}

uint64_t ty_export_side_aux(const struct ty_export_side *s)
{
	return s ? s->aux_bytes : 0;
}

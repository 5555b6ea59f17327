/* SPDX-License-Identifier: MIT */
/*
 * See export_sideband.h. Records without a time (which perf, or tarry in its place, writes first)
 * come first, in their original order, followed by AUX data, which perf finds by an index.
 *
 * Intel PT is cut at PSBs, where a decoder can begin: from the last PSB before the window to the
 * first PSB after it.
 */
#include "export_sideband.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "window_filter.h"
#include "compare.h"
#include "pt_stream.h"
#include "checked_read.h"
#include "section.h"
#include "vec.h"

#define BODIES (1u << 30) /* of records that a section of ours never has: compressed ones */
#define PIECE  (1u << 20)
enum { AUXTRACE_BYTES = 40 }; /* struct perf_record_auxtrace without its head */

struct rec {
	uint64_t time;
	uint64_t data_off, data_n; /* AUXTRACE */
	uint64_t cut;		   /* AUXTRACE: bytes that are left out in front */
	size_t body;		   /* in the section, or behind its end, in `bodies` */
	uint32_t n, type, order;
	uint32_t stream; /* AUXTRACE: a number of its own */
	int32_t tid;	 /* SAMPLE; -1: unknown */
	uint16_t misc;
};

struct ty_export_sideband {
	struct ty_perf *f;
	struct ty_perf_out *out;
	const struct ty_window *w;
	const struct ty_thread_names *comms;
	struct ty_text section;
	VEC(struct rec) recs;
	struct ty_buf bodies;
	size_t next;
	uint64_t aux_bytes;
	uint8_t *piece;
	struct ty_perf_time_conv time; /* of Intel PT */
	bool pt, timed;
};

static const uint8_t *body_of(const struct ty_export_sideband *s, const struct rec *r)
{
	return r->body < s->section.n ? (const uint8_t *)s->section.s + r->body
				      : (const uint8_t *)s->bodies.p + (r->body - s->section.n);
}

ORDER(by_time, struct rec, compare(a->time, b->time) ?: compare(a->order, b->order))

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
static void add_event(struct ty_export_sideband *s, const struct ty_perf_rec *r)
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

/* Words of intel_pt's AUXTRACE_INFO (linux tools/perf/util/intel-pt.h). */
static void learn_time(struct ty_export_sideband *s, const struct ty_perf_rec *r)
{
	enum { SHIFT = 1, MULT = 2, ZERO = 3, HAVE_ZERO = 4 };
	struct ty_perf_auxtrace_info i;

	if (ty_perf_auxtrace_info(r, &i) || i.type != TY_PERF_AUXTRACE_INTEL_PT)
		return;
	s->pt = true;
	s->time = (struct ty_perf_time_conv){.shift = ty_perf_word(&i, SHIFT),
					     .mult = ty_perf_word(&i, MULT),
					     .zero = ty_perf_word(&i, ZERO)};
	s->timed = ty_perf_word(&i, HAVE_ZERO) && s->time.mult && s->time.shift < 64;
}

/* Is a sample selected by its time, thread and CPU? Records the first two. */
static bool chosen(const struct ty_export_sideband *s, const struct ty_perf_rec *r, struct rec *rec)
{
	const struct ty_perf_event *e = ty_perf_event_of(s->f, r);
	struct ty_perf_sample sample = {0};
	const struct ty_window *w = s->w;
	uint32_t cpu = UINT32_MAX;

	if (e && !ty_perf_sample_parse(r, &e->attr, &sample)) {
		if (sample.have & TY_PERF_S_TIME)
			rec->time = sample.id.time;
		if (sample.have & TY_PERF_S_TID)
			rec->tid = sample.id.tid;
		if (sample.have & TY_PERF_S_CPU)
			cpu = sample.id.cpu;
	}
	return rec->time >= w->from_ns && rec->time < w->to_ns && ty_window_has_tid(w, rec->tid) &&
	       ty_window_has_cpu(w, cpu);
}

static int add_record(struct ty_export_sideband *s, const struct ty_perf_rec *r)
{
	struct rec rec = {.type = r->type,
			  .misc = r->misc,
			  .n = r->n,
			  .data_off = r->data_off,
			  .data_n = r->data_n,
			  .tid = -1,
			  .order = (uint32_t)s->recs.n};
	const uint8_t *section = (const uint8_t *)s->section.s;
	struct ty_perf_id id;

	switch (r->type) {
	case TY_PERF_HEADER_ATTR: add_event(s, r); return 0;
	case TY_PERF_AUXTRACE_INFO: learn_time(s, r); break;
	case TY_PERF_HEADER_EVENT_TYPE:
	case TY_PERF_HEADER_TRACING_DATA:
	case TY_PERF_HEADER_BUILD_ID:
	case TY_PERF_HEADER_FEATURE:
	case TY_PERF_FINISHED_ROUND:
	case TY_PERF_FINISHED_INIT: return 0;
	default: break;
	}
	if (r->type == TY_PERF_SAMPLE) {
		if (!chosen(s, r, &rec))
			return 0;
	} else {
		ty_perf_id(s->f, r, &id);
		if (id.have & TY_PERF_S_TIME)
			rec.time = id.time;
	}
	if (r->body >= section && r->body < section + s->section.n) {
		rec.body = (size_t)(r->body - section);
	} else {
		rec.body = s->section.n + s->bodies.len;
		if (ty_buf_add(&s->bodies, r->body, r->n))
			return s->bodies.failed;
	}
	return vec_push(&s->recs, rec);
}

/* What is done with a stream's pieces, one after the other. */
struct stream {
	uint32_t idx;
	int32_t tid, cpu;
	size_t begun; /* the piece that contains the window's begin, if known */
	bool any, ended;
};

/* The bytes of a piece that are needed, given those before it. */
static void cut_piece(struct ty_export_sideband *s, struct stream *st, size_t at, const uint8_t *p,
		      uint64_t from_ns, uint64_t to_ns)
{
	struct rec *r = &s->recs.v[at];

	if (st->ended)
		r->data_n = 0;
	for (size_t off = 0; (off = ty_pt_psb_after(p, r->data_n, off)) < r->data_n; off++) {
		struct ty_pt_point psb = ty_pt_point_at(p, r->data_n, off);
		uint64_t ns = psb.timed ? ty_perf_time_ns(&s->time, psb.tsc) : 0;

		if (!ns)
			continue;
		if (ns <= from_ns) {
			/* Nothing before is needed. */
			for (size_t k = st->begun; st->any && k < at; k++)
				if (s->recs.v[k].stream == r->stream)
					s->recs.v[k].data_n = 0;
			st->begun = at;
			st->any = true;
			r->cut = off;
		} else if (ns >= to_ns) {
			r->data_n = off;
			st->ended = true;
			break;
		}
	}
	if (!st->any) {
		st->begun = at;
		st->any = true;
	}
}

static int cut(struct ty_export_sideband *s, uint64_t from_ns, uint64_t to_ns, struct ty_err *err)
{
	VEC(struct stream) streams = {0};
	uint8_t *p = NULL;
	int e = 0;

	for (size_t i = 0; !e && i < s->recs.n; i++) {
		struct rec *r = &s->recs.v[i];
		struct ty_perf_rec rec = {.type = r->type, .n = r->n};
		struct ty_perf_auxtrace a;
		uint32_t k = 0;

		rec.body = body_of(s, r);
		if (r->type != TY_PERF_AUXTRACE || ty_perf_auxtrace(&rec, &a))
			continue;
		while (k < streams.n && (streams.v[k].idx != a.idx || streams.v[k].tid != a.tid ||
					 streams.v[k].cpu != a.cpu))
			k++;
		if (k == streams.n &&
		    vec_push(&streams, (struct stream){.idx = a.idx, .tid = a.tid, .cpu = a.cpu}))
			e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
		r->stream = k;
		p = e ? NULL : malloc(r->data_n + 1);
		if (!e && !p)
			e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
		e = e ? e : ty_perf_read(s->f, r->data_off, p, r->data_n, err);
		if (!e)
			cut_piece(s, &streams.v[k], i, p, from_ns, to_ns);
		free(p);
	}
	vec_fini(&streams);
	return e;
}

int ty_export_sideband_new(const struct ty_trace *t, struct ty_perf_out *out,
			   const struct ty_window *w, const struct ty_thread_names *comms,
			   struct ty_export_sideband **side, struct ty_err *err)
{
	struct ty_text section = ty_trace_section(t, TY_SEC_PERF);
	struct ty_export_sideband *s;
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
	s->section = section;
	s->out = out;
	s->w = w;
	s->comms = comms;
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
	if (!e)
		vec_sort(&s->recs, by_time);
	if (!e && s->pt && s->timed && (w->from_ns || w->to_ns != UINT64_MAX))
		e = cut(s, w->from_ns, w->to_ns, err);
	if (e) {
		ty_export_sideband_free(s);
		return e;
	}
	*side = s;
	return 0;
}

void ty_export_sideband_free(struct ty_export_sideband *s)
{
	if (!s)
		return;
	ty_perf_close(s->f);
	vec_fini(&s->recs);
	ty_buf_fini(&s->bodies);
	free(s->piece);
	free(s);
}

static void le64(uint8_t *p, uint64_t v)
{
	for (unsigned i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* A piece with its data, without what is cut away; zeros to a whole word are PAD packets. */
static int put_aux(struct ty_export_sideband *s, const struct rec *r, struct ty_err *err)
{
	static const uint8_t zeros[8];
	uint64_t n = r->data_n - r->cut, pad = -n & 7;
	uint8_t body[AUXTRACE_BYTES];
	size_t size = r->n < sizeof(body) ? r->n : sizeof(body);

	if (r->data_n <= r->cut || size < 16)
		return 0;
	memcpy(body, body_of(s, r), size);
	le64(body, n + pad);
	le64(body + 8, ty_load(body + 8, 8, false) + r->cut);
	/* perf takes no time from a stream whose reference is zero, and fails. */
	if (size >= 24 && !ty_load(body + 16, 8, false))
		body[16] = 1;
	ty_perf_out_rec(s->out, r->type, r->misc, body, size);
	for (uint64_t at = 0; at < n;) {
		size_t part = n - at < PIECE ? (size_t)(n - at) : PIECE;
		int e = ty_perf_read(s->f, r->data_off + r->cut + at, s->piece, part, err);

		if (e)
			return e;
		ty_perf_out_aux(s->out, s->piece, part);
		at += part;
	}
	ty_perf_out_aux(s->out, zeros, pad);
	s->aux_bytes += n;
	return 0;
}

int ty_export_sideband_until(struct ty_export_sideband *s, uint64_t ns, struct ty_err *err)
{
	int e = 0;

	for (; s && !e && s->next < s->recs.n && s->recs.v[s->next].time <= ns; s->next++) {
		const struct rec *r = &s->recs.v[s->next];

		if (r->type == TY_PERF_AUXTRACE)
			e = put_aux(s, r, err);
		else if (r->type != TY_PERF_SAMPLE || !s->w->comms_n ||
			 ty_window_has_comm(s->w, ty_thread_names_get(s->comms, r->tid)))
			ty_perf_out_rec(s->out, r->type, r->misc, body_of(s, r), r->n);
	}
	return e;
}

bool ty_export_sideband_uncut(const struct ty_export_sideband *s)
{
	return s && s->aux_bytes && !(s->pt && s->timed) &&
	       (s->w->from_ns || s->w->to_ns != UINT64_MAX);
}

uint64_t ty_export_sideband_aux(const struct ty_export_sideband *s)
{
	return s ? s->aux_bytes : 0;
}

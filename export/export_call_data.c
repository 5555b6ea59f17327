/* SPDX-License-Identifier: MIT */
/*
 * See export_call_data.h. What the window begins with (open descriptors, calls under way) is found
 * by reading the events before it, as `tarry dump syscalls` does.
 */
#include "export_call_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "counter_record.h"
#include "counter_readings.h"
#include "call_walk.h"
#include "field_text.h"
#include "partition.h"
#include "perf_data.h"
#include "process_of_thread.h"
#include "process_titles.h"
#include "snapshot_text.h"
#include "stack_record.h"
#include "vec.h"

#define PART (1u << 20)

/* One section that is being put, in parts. */
struct part {
	const struct ty_export_cut *c;
	enum ty_section section;
	struct ty_buf b;
};

static int no_memory(const struct ty_export_cut *c)
{
	return ty_fail(c->err, TY_ENOMEM, TY_NO_OFFSET,
		       "out of memory while exporting a part of %s", c->s->trace->path);
}

static void part_init(struct part *p, const struct ty_export_cut *c, enum ty_section section)
{
	*p = (struct part){.c = c, .section = section};
	ty_buf_init(&p->b, 2 * PART);
}

static int part_flush(struct part *p)
{
	int r = p->b.failed ? no_memory(p->c)
		: p->b.len  ? p->c->put(p->c->ctx, p->section, p->b.p, p->b.len)
			    : 0;

	ty_buf_reset(&p->b);
	return r;
}

/* A record: its head, and what follows it. */
static int part_add(struct part *p, const void *head, size_t head_n, const void *more, size_t n)
{
	ty_buf_add(&p->b, head, head_n);
	ty_buf_add(&p->b, more, n);
	return p->b.len > PART ? part_flush(p) : 0;
}

/* What cannot be read of p[0..n), from `at` on, however much it is. */
static int part_rest(struct part *part, const char *p, size_t at, size_t n)
{
	int r = part_flush(part);

	return r || at >= n ? r : part->c->put(part->c->ctx, part->section, p + at, n - at);
}

static int part_end(struct part *p, int r)
{
	r = r ? r : part_flush(p);
	ty_buf_fini(&p->b);
	return r;
}

/* Records of a head and bytes that follow it, one after the other. */
struct records {
	struct ty_text t;
	size_t at, n; /* of the record */
};

/* The next record, its head into *head; `more` says how many bytes follow that. false: there is
 * none. What lies from `at` on then is damaged: so it is in the new file, which gets it as it is.
 */
static bool next_record(struct records *r, void *head, size_t head_n,
			size_t (*more)(const void *head))
{
	const size_t left = r->t.n - (r->at += r->n);

	r->n = 0;
	if (left < head_n)
		return false;
	memcpy(head, r->t.s + r->at, head_n);
	if (more(head) > left - head_n)
		return false;
	r->n = head_n + more(head);
	return true;
}

/* the start of the window --------------------------------------------------------------------- */

struct begin {
	struct ty_call_walk walk;
	uint64_t first_ns; /* of the window's first event */
	bool lost;	   /* events, before it */
};

static int begin_one(struct begin *b, const struct ty_event *ev, struct ty_err *err)
{
	struct ty_pair_step step;
	int r = ty_call_walk_feed(&b->walk, ev, ev->kind == TY_EV_GAP, &step, err);

	b->lost |= ev->kind == TY_EV_GAP;
	for (unsigned i = 0; !r && i < step.done_n; i++)
		r = ty_call_walk_end(&b->walk, &step.done[i]);
	if (!r && step.started)
		ty_call_walk_begin(&b->walk, &step.call);
	return r;
}

/* Reads all events before the window. */
static int begin_find(const struct ty_export_cut *c, struct begin *b)
{
	struct ty_trace *t = c->s->trace;
	const uint64_t from_ns = c->from_ns + (uint64_t)t->ts_offset_ns;
	struct ty_event ev;
	int r;

	b->first_ns = c->from_ns;
	if (ty_call_walk_init(&b->walk, c->s))
		return no_memory(c);
	r = ty_events_seek(c->s->events, 0, c->err);
	while (!r && (r = ty_events_next(c->s->events, &ev, c->err)) > 0) {
		if (ev.ts_ns >= from_ns) {
			b->first_ns = ev.ts_ns - (uint64_t)t->ts_offset_ns;
			return 0;
		}
		r = begin_one(b, &ev, c->err);
		if (r == -TY_ENOMEM)
			return no_memory(c);
	}
	return r;
}

static int put_fds(const struct ty_export_cut *c, const struct begin *b)
{
	struct ty_text was = ty_trace_section(c->s->trace, TY_SEC_FDS);
	struct ty_buf text;
	int r;

	ty_buf_init(&text, 256u << 20);
	ty_fd_track_list(b->walk.fds, c->from_ns, was.s, b->lost, &text);
	r = text.failed ? no_memory(c) : c->put(c->ctx, TY_SEC_FDS, text.p, text.len);
	ty_buf_fini(&text);
	return r;
}

/* Command lines before the window, as text in the section's form. */
struct command {
	uint64_t ns;
	uint32_t process; /* in the model */
	size_t at;	  /* of its arguments in `text`, with a NUL behind them */
};
struct commands {
	const struct ty_export_cut *c;
	VEC(struct command) v; /* by process, then by time */
	struct ty_buf text;
};

static int add_command(struct commands *k, int32_t tid, uint64_t ns)
{
	const uint32_t p = ty_model_thread_find(k->c->s->model, tid, ns);
	const struct command x = {.ns = ns, .process = p, .at = k->text.len};

	return ns > k->c->from_ns || p == TY_NONE ? 0 : vec_push(&k->v, x);
}

static int add_executed(void *ctx, int32_t tid, uint64_t ns, const char *argv, size_t n)
{
	struct commands *k = ctx;
	int r = add_command(k, tid, ns);

	for (const char *p = argv, *end = argv + n; p < end;) {
		const size_t len = strnlen(p, (size_t)(end - p));

		if (p > argv)
			ty_buf_addc(&k->text, '\t');
		ty_escape_field(&k->text, p, len);
		p += len + 1;
	}
	return r || ty_buf_addc(&k->text, 0) ? -TY_ENOMEM : 0;
}

static int add_listed(struct commands *k, const char *text)
{
	struct ty_snap_command x;
	int r = 0;

	while (!r && ty_snap_command(&text, &x)) {
		r = add_command(k, x.pid, x.ns);
		ty_buf_add(&k->text, x.arguments.s, x.arguments.n);
		ty_buf_addc(&k->text, 0);
	}
	return r;
}

ORDER(by_process, struct command, compare(a->process, b->process) ?: compare(a->ns, b->ns))

/* That of the process at t, or of the one that forked it, if it has executed nothing since. */
static const char *command_at(const struct commands *k, uint32_t process, uint64_t t_ns)
{
	enum {
		FORKS = 16,
		NEAR_NS = 1000000 /* a line is read at the exec, not at its very time */
	};
	const struct ty_model *m = k->c->s->model;

	for (unsigned i = 0; i < FORKS; i++) {
		const struct ty_thread *t = ty_model_thread(m, process);
		const size_t end = partition_point(
			e, (size_t)0, k->v.n,
			k->v.v[e].process < process ||
				(k->v.v[e].process == process && k->v.v[e].ns <= t_ns));

		if (end && k->v.v[end - 1].process == process)
			return ty_model_executed(m, process, k->v.v[end - 1].ns + NEAR_NS, t_ns) ==
					       UINT64_MAX
				       ? k->text.p + k->v.v[end - 1].at
				       : NULL;
		if (!t->born || t->forked_by < 0 ||
		    ty_model_executed(m, process, t->start_ns, t_ns) != UINT64_MAX)
			return NULL;
		t_ns = t->start_ns;
		process = ty_process_of(m, (uint32_t)t->forked_by);
	}
	return NULL;
}

/* The last one of each process that lives where the window begins: others may hold secrets. */
static int put_commands(const struct ty_export_cut *c, const struct begin *b)
{
	const struct ty_text was = ty_trace_section(c->s->trace, TY_SEC_COMMANDS);
	const uint32_t threads = ty_model_summary(c->s->model)->threads;
	struct commands k = {.c = c};
	struct ty_snap_command x;
	struct ty_buf out;
	int r;

	ty_buf_init(&k.text, 256u << 20);
	ty_buf_init(&out, 256u << 20);
	r = add_listed(&k, was.s ? was.s : "");
	if (!r && b->walk.strings)
		r = ty_call_data_each(b->walk.strings, TY_EVK_ARGV, add_executed, &k);
	vec_sort(&k.v, by_process);
	for (uint32_t i = 0; !r && i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(c->s->model, i);
		const char *args = NULL;

		if (ty_process_of(c->s->model, i) == i && t->start_ns <= c->from_ns &&
		    (t->end_ns > c->from_ns || !t->died))
			args = command_at(&k, i, c->from_ns);
		if (args)
			ty_buf_addf(&out, "%" PRIu64 "\t%" PRId32 "\t%s\n", c->from_ns, t->tid,
				    args);
	}
	/* Those that were read again inside the window; those of execs are among the strings. */
	for (const char *text = was.s ? was.s : ""; !r && ty_snap_command(&text, &x);)
		if (x.ns > c->from_ns && x.ns <= c->to_ns) {
			ty_buf_addf(&out, "%" PRIu64 "\t%" PRId32 "\t", x.ns, x.pid);
			ty_buf_add(&out, x.arguments.s, x.arguments.n);
			ty_buf_addc(&out, '\n');
		}
	if (r || k.text.failed || out.failed)
		r = no_memory(c);
	else if (out.len)
		r = c->put(c->ctx, TY_SEC_COMMANDS, out.p, out.len);
	ty_buf_fini(&out);
	ty_buf_fini(&k.text);
	vec_fini(&k.v);
	return r;
}

/* strings -------------------------------------------------------------------------------------- */

/* What the arguments of a call point to that is under way where the window begins. */
static int put_open_call(struct part *p, const struct begin *b, const struct ty_call *call)
{
	struct ty_call_data_item item[6];
	int r = 0;

	ty_call_data_of(b->walk.strings, call, ty_call_data_after(b->walk.strings, call->tid),
			item);
	for (unsigned i = 0; !r && i < 6; i++) {
		const struct ty_ev_record h = {
			.ns = b->first_ns,
			.ptr = call->args[i],
			.tid = (uint32_t)call->tid,
			.nr = (uint16_t)call->nr,
			.len = (uint16_t)(item[i].len + (item[i].kind == TY_EVK_STRING)),
			.kind = item[i].kind,
			.arg = (uint8_t)i,
			.flags = item[i].flags};

		if (item[i].p)
			r = part_add(p, &h, sizeof(h), item[i].p, h.len);
	}
	return r;
}

/* A record read at a call's enter lies a moment before it. */
static bool is_kept(const struct ty_export_cut *c, const struct begin *b,
		    const struct ty_ev_record *h)
{
	if (h->ns >= c->to_ns)
		return false;
	if (h->ns >= c->from_ns || !b)
		return true;
	return !(h->flags & TY_EVF_EXIT) && h->kind != TY_EVK_ARGV &&
	       h->ns > ty_call_data_after(b->walk.strings, (int32_t)h->tid) &&
	       !ty_pairs_current(b->walk.pairs, (int32_t)h->tid);
}

static size_t string_more(const void *head)
{
	return ((const struct ty_ev_record *)head)->len;
}

static int put_strings(const struct ty_export_cut *c, const struct begin *b)
{
	struct records rec = {.t = ty_trace_section(c->s->trace, TY_SEC_CALL_DATA)};
	struct ty_ev_record h;
	struct ty_call call;
	uint32_t it = 0;
	struct part p;
	int r = 0;

	part_init(&p, c, TY_SEC_CALL_DATA);
	while (!r && next_record(&rec, &h, sizeof(h), string_more))
		if (h.kind == TY_EVK_PIECE || is_kept(c, b, &h))
			r = part_add(&p, rec.t.s + rec.at, rec.n, NULL, 0);
	r = r ? r : part_rest(&p, rec.t.s, rec.at, rec.t.n);
	while (!r && b && b->walk.strings && ty_pairs_open_next(b->walk.pairs, &it, &call))
		if (call.how == TY_CALL_OPEN)
			r = put_open_call(&p, b, &call);
	return part_end(&p, r);
}

/* stacks --------------------------------------------------------------------------------------- */

/* The wait that a stack was taken in overlaps the window: it is the stack of that part, too. */
static bool move_wait(const struct ty_export_cut *c, uint64_t first_ns, struct ty_stk_head *h)
{
	const uint64_t offset = (uint64_t)c->s->trace->ts_offset_ns, ns = h->ns + offset;
	const struct ty_model *m = c->s->model;
	const uint32_t thread = ty_model_thread_find(m, (int32_t)h->tid, ns),
		       i = thread == TY_NONE ? TY_NONE : ty_model_span_find(m, thread, ns);
	struct ty_span s;

	if (i == TY_NONE)
		return false;
	s = ty_model_span(m, i);
	if (s.state == TY_ST_RUNNING || s.start_ns > ns || s.end_ns <= ns ||
	    s.start_ns >= c->to_ns + offset || s.end_ns <= first_ns + offset)
		return false;
	if (h->ns < first_ns) {
		h->wait_ms += (uint32_t)((first_ns - h->ns) / 1000000);
		h->ns = first_ns;
	} else if (h->ns >= c->to_ns) {
		const uint64_t less = (h->ns - c->to_ns) / 1000000 + 1;

		h->wait_ms = h->wait_ms > less ? h->wait_ms - (uint32_t)less : 0;
		h->ns = c->to_ns - 1;
	}
	return true;
}

static size_t stack_more(const void *head)
{
	return ((const struct ty_stk_head *)head)->len;
}

static int put_stacks(const struct ty_export_cut *c, uint64_t first_ns)
{
	struct records rec = {.t = ty_trace_section(c->s->trace, TY_SEC_STACKS)};
	struct ty_stk_head h;
	struct part p;
	int r = 0;

	part_init(&p, c, TY_SEC_STACKS);
	while (!r && next_record(&rec, &h, sizeof(h), stack_more))
		if (h.kind == TY_STK_PIECE || (h.kind == TY_STK_WAIT || h.kind == TY_STK_PYTHON
						       ? move_wait(c, first_ns, &h)
						       : h.ns >= c->from_ns && h.ns < c->to_ns))
			r = part_add(&p, &h, sizeof(h), rec.t.s + rec.at + sizeof(h), h.len);
	r = r ? r : part_rest(&p, rec.t.s, rec.at, rec.t.n);
	return part_end(&p, r);
}

/* samples -------------------------------------------------------------------------------------- */

/* The time of a sample, or of a loss; a record that cannot be parsed is kept, so that readers
 * report the damage. */
static bool is_inside(const struct ty_export_cut *c, struct ty_perf *f, const struct ty_perf_rec *r)
{
	struct ty_perf_sample s;
	struct ty_perf_id id = {0};

	if (r->type != TY_PERF_SAMPLE)
		ty_perf_id(f, r, &id);
	else if (!ty_perf_sample_parse(r, &f->events.v[0].attr, &s))
		id = s.id;
	return !(id.have & TY_PERF_S_TIME) || (id.time >= c->from_ns && id.time < c->to_ns);
}

static int put_samples(const struct ty_export_cut *c)
{
	const struct ty_trace *t = c->s->trace;
	const struct ty_text head = ty_trace_section(t, TY_SEC_SAMPLING),
			     samples = ty_trace_section(t, TY_SEC_SAMPLES);
	const uint8_t *bytes = (const uint8_t *)samples.s;
	struct ty_perf *f = NULL;
	struct ty_perf_rec rec;
	size_t pos = 0;
	struct part p;
	int r = 0;

	if (!samples.n)
		return 0;
	part_init(&p, c, TY_SEC_SAMPLES);
	/* What they are of is damaged or missing, and so it is in the new file: their times are
	 * unknown. */
	if (ty_perf_open_bytes(t->path, head.s, head.n, &f, NULL) || !f->events.n) {
		r = part_rest(&p, samples.s, 0, samples.n);
		pos = samples.n;
	}
	while (!r && pos < samples.n) {
		const size_t at = pos;
		const int more = ty_perf_buf_next(bytes, samples.n, &pos, &rec);

		if (!more)
			break;
		if (more < 0) { /* damaged from there on, and so it is in the new file */
			r = part_rest(&p, samples.s, at, samples.n);
			break;
		}
		if (is_inside(c, f, &rec))
			r = part_add(&p, bytes + at, pos - at, NULL, 0);
	}
	ty_perf_close(f);
	return part_end(&p, r);
}

/* counters ------------------------------------------------------------------------------------- */

/* Readings that touch the window, whole: the readers of a part divide those at its ends. */
static int put_counters(const struct ty_export_cut *c)
{
	const struct ty_trace *t = c->s->trace;
	const struct ty_text text = ty_trace_section(t, TY_SEC_COUNTERS);
	struct ty_counts *counts;
	struct part p;
	size_t n;
	int r = text.n ? ty_session_counts(c->s, NULL) : -TY_ENOTFOUND;

	/* What they are of is damaged: so it is in the new file. */
	if (r == -TY_EFORMAT)
		return c->put(c->ctx, TY_SEC_COUNTERS, text.s, text.n);
	if (r)
		return r == -TY_ENOTFOUND ? 0 : r;
	counts = c->s->counts;
	n = TY_COUNTER_RECORD(counts->n, counts->groups);
	part_init(&p, c, TY_SEC_COUNTERS);
	for (size_t at = 0; !r && at < text.n; at += n) {
		struct ty_counter_head h = {0};

		n = text.n - at < n ? text.n - at : n;
		memcpy(&h, text.s + at, n < sizeof(h) ? n : sizeof(h));
		if (h.flags & TY_CT_LOST || h.dur_ns > h.ns ||
		    (h.ns > c->from_ns && h.ns - h.dur_ns < c->to_ns))
			r = part_add(&p, text.s + at, n, NULL, 0);
	}
	return part_end(&p, r);
}

static int put_whole(const struct ty_export_cut *c, enum ty_section section)
{
	const struct ty_text text = ty_trace_section(c->s->trace, section);

	return text.n ? c->put(c->ctx, section, text.s, text.n) : 0;
}

int ty_export_call_data(const struct ty_export_cut *c, bool from_start)
{
	static const enum ty_section whole[] = {TY_SEC_VDSO, TY_SEC_KALLSYMS, TY_SEC_MAPS,
						TY_SEC_SAMPLING};
	struct begin b = {.first_ns = c->from_ns};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(whole) / sizeof(*whole); i++)
		r = put_whole(c, whole[i]);
	if (!r && from_start)
		r = put_whole(c, TY_SEC_COMMANDS);
	if (!from_start)
		r = r ? r : begin_find(c, &b);
	if (!r && !from_start)
		r = put_fds(c, &b);
	if (!r && !from_start)
		r = put_commands(c, &b);
	r = r ? r : put_strings(c, from_start ? NULL : &b);
	r = r ? r : put_stacks(c, b.first_ns);
	r = r ? r : put_samples(c);
	r = r ? r : put_counters(c);
	ty_call_walk_fini(&b.walk);
	return r;
}

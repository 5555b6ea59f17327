/* SPDX-License-Identifier: MIT */
/* CPU samples, each with its stack and, where the CPU recorded some, its branches. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dump.h"
#include "hot_functions.h"
#include "json_out.h"
#include "model_time.h"
#include "plain_text.h"
#include "sample_load.h"

struct dump {
	const struct ty_select *sel;
	struct ty_session session; /* of a recording */
	struct ty_samples *s;
	struct ty_window w;
};

static const char *text_of(const struct ty_samples *s, uint32_t text)
{
	return text ? ty_samples_str(s, text) : NULL;
}

/* As perf script -F brstack: from/to, mispredicted or predicted, in a transaction, abort, cycles.
 */
static void branches_text(const struct ty_samples *s, const struct ty_sample *x, FILE *out)
{
	const struct ty_sample_branches *set = &s->branch_sets.v[x->branches];

	fputs("    branches:", out);
	for (uint32_t i = 0; i < set->n; i++) {
		const struct ty_sample_branch *b = &s->branch_v.v[set->first + i];

		fprintf(out, " 0x%" PRIx64 "/0x%" PRIx64 "/%c/%c/%c/%u", b->from, b->to,
			b->mispredicted ? 'M'
			: b->predicted	? 'P'
					: '-',
			b->in_transaction ? 'X' : '-', b->abort ? 'A' : '-', b->cycles);
	}
	fputc('\n', out);
}

static void frame_text(const struct ty_samples *s, const struct ty_sample_frame *f, FILE *out)
{
	const struct ty_sample_func *fn = &s->funcs.v[f->func];
	const char *name = text_of(s, fn->name), *module = text_of(s, fn->module),
		   *file = text_of(s, f->file);
	char text[512];

	if (file)
		snprintf(text, sizeof(text), "%s (%s:%d)%s", name ? name : "[no symbol]", file,
			 f->line, f->inlined ? " inlined" : "");
	else
		snprintf(text, sizeof(text), "%s (%s)", name ? name : "[no symbol]",
			 module ? module : "unknown");
	ty_plain(text, strlen(text));
	fprintf(out, "    %s\n", text);
}

/* The recording may know what the samples' own records do not: threads that ran before them. */
static const char *comm_of(const struct dump *d, const struct ty_sample *x)
{
	const struct ty_model *m = d->session.model;
	const uint32_t t = m ? ty_model_thread_find(m, x->tid, x->ns) : TY_NONE;

	return t == TY_NONE ? ty_samples_str(d->s, x->comm) : ty_model_comm(m, t, x->ns);
}

static void text_sample(const struct dump *d, const struct ty_sample *x, FILE *out)
{
	const struct ty_samples *s = d->s;
	char at[TY_TIME_MAX], who[64], event[sizeof(s->event)], cpu[16] = "-";

	snprintf(who, sizeof(who), "%s/%d", comm_of(d, x), x->tid);
	snprintf(event, sizeof(event), "%s", s->event);
	ty_plain(who, strlen(who));
	ty_plain(event, strlen(event));
	if (x->cpu != UINT16_MAX)
		snprintf(cpu, sizeof(cpu), "%u", x->cpu);
	if (d->sel->clock_chosen)
		ty_time_digits(d->session.model, d->session.clock, x->ns, 1, at);
	else
		snprintf(at, sizeof(at), "%" PRIu64 ".%09" PRIu64, x->ns / 1000000000,
			 x->ns % 1000000000);
	fprintf(out, "%s %s CPU %s %" PRIu64 " %s%s\n", at, who, cpu, x->period, event,
		x->cut ? "  [truncated]" : "");
	for (uint32_t i = x->node; i; i = s->nodes.v[i].parent)
		frame_text(s, &s->frames.v[s->nodes.v[i].frame], out);
	if (x->branches)
		branches_text(s, x, out);
}

static void json_sample(const struct dump *d, const struct ty_sample *x, FILE *out)
{
	const struct ty_samples *s = d->s;
	struct ty_json j;

	ty_json_init(&j, out);
	ty_json_object(&j, NULL);
	ty_json_u64(&j, "ts_ns", x->ns);
	ty_json_i64(&j, "pid", x->pid);
	ty_json_i64(&j, "tid", x->tid);
	ty_json_str(&j, "comm", comm_of(d, x));
	if (x->cpu != UINT16_MAX)
		ty_json_u64(&j, "cpu", x->cpu);
	ty_json_str(&j, "event", s->event);
	ty_json_u64(&j, "period", x->period);
	ty_json_bool(&j, "truncated", x->cut);
	ty_json_array(&j, "stack");
	for (uint32_t i = x->node; i; i = s->nodes.v[i].parent) {
		const struct ty_sample_frame *f = &s->frames.v[s->nodes.v[i].frame];
		const struct ty_sample_func *fn = &s->funcs.v[f->func];

		ty_json_object(&j, NULL);
		if (fn->name)
			ty_json_str(&j, "function", ty_samples_str(s, fn->name));
		if (fn->module)
			ty_json_str(&j, "module", ty_samples_str(s, fn->module));
		if (f->file) {
			ty_json_str(&j, "file", ty_samples_str(s, f->file));
			ty_json_i64(&j, "line", f->line);
		}
		ty_json_bool(&j, "inlined", f->inlined);
		ty_json_end_object(&j);
	}
	ty_json_end_array(&j);
	ty_json_array(&j, "branches");
	for (uint32_t i = 0; x->branches && i < s->branch_sets.v[x->branches].n; i++) {
		const struct ty_sample_branch *b =
			&s->branch_v.v[s->branch_sets.v[x->branches].first + i];
		char hex[32];

		ty_json_object(&j, NULL);
		snprintf(hex, sizeof(hex), "0x%" PRIx64, b->from);
		ty_json_str(&j, "from", hex);
		snprintf(hex, sizeof(hex), "0x%" PRIx64, b->to);
		ty_json_str(&j, "to", hex);
		ty_json_bool(&j, "mispredicted", b->mispredicted);
		ty_json_bool(&j, "predicted", b->predicted);
		ty_json_bool(&j, "in_transaction", b->in_transaction);
		ty_json_bool(&j, "abort", b->abort);
		ty_json_u64(&j, "cycles", b->cycles);
		ty_json_end_object(&j);
	}
	ty_json_end_array(&j);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
}

/* Of a perf.data file without a timeline: it is selected from its first sample on. */
static int open_perf(struct dump *d, const char *path, const struct ty_sample_load_opts *o,
		     struct ty_err *err)
{
	int e;

	if (d->sel->clock_chosen)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: --clock needs a recording of events, not samples", path);
	e = ty_samples_of_perf(path, o, &d->s, err);
	return e || !d->s->v.n ? e
			       : ty_select_range(d->sel, path, d->s->v.v[0].ns,
						 d->s->v.v[d->s->v.n - 1].ns, &d->w, err);
}

static int open_recording(struct dump *d, const char *path, const struct ty_sample_load_opts *o,
			  struct ty_err *err)
{
	int e = ty_session_open(&d->session, path,
				TY_OPEN_MODEL | (d->sel->no_index ? TY_OPEN_NO_INDEX : 0),
				d->sel->memory_bytes, err);

	e = e ? e : ty_select_window(d->sel, &d->session, &d->w, err);
	if (!e && d->sel->clock_chosen)
		e = ty_select_clock(d->sel, &d->session, err);
	return e ? e : ty_samples_of_trace(d->session.trace, o, &d->s, err);
}

int ty_dump_samples(const char *path, const struct ty_texts *roots, const struct ty_select *sel,
		    FILE *out, struct ty_err *err)
{
	const struct ty_sample_load_opts o = {.roots = roots, .branches = true};
	struct dump d = {.sel = sel};
	struct ty_hot_of of;
	size_t first, end;
	int e;

	path = path ? path : "tarry.dat";
	e = (ty_mem_session_is_perf(path) && !ty_trace_in_perf(path) ? open_perf : open_recording)(
		&d, path, &o, err);
	if (!e && !d.s->v.n)
		e = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			    "%s: it has no samples with a time and a thread", path);
	if (!e) {
		of = (struct ty_hot_of){.s = d.s, .w = &d.w, .model = d.session.model};
		ty_hot_range(&of, &first, &end);
		for (size_t i = first; i < end && !ferror(out); i++)
			if (ty_hot_chosen(&of, &d.s->v.v[i]))
				(sel->json ? json_sample : text_sample)(&d, &d.s->v.v[i], out);
		if (d.s->others)
			fprintf(stderr, "tarry: %" PRIu64 " samples of other events are left out\n",
				d.s->others);
	}
	ty_samples_free(d.s);
	ty_session_fini(&d.session);
	return e;
}

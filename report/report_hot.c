/* SPDX-License-Identifier: MIT */
/* The report's section "hot": functions and lines by samples, compared with exact times of the
 * trace. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base_name.h"
#include "fields.h"
#include "plain_text.h"
#include "put_text.h"
#include "report.h"
#include "sample_load.h"
#include "units.h"

/* At most; those with a single sample only where there are not ROWS_LEAST others. */
enum { FUNCS_SHOWN = 20, LINES_SHOWN = 10, ROWS_LEAST = 3 };
enum { NOTE_UNWOUND = 5000 }; /* samples whose stacks the answer's note takes: 0.1 ms each */

/* Context for printing the rows. */
struct hot_ctx {
	const struct ty_samples *s;
	const struct ty_hot *hot;
	const struct ty_hot_of *of; /* for callers; NULL: none are shown */
};

static const char *function(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct hot_ctx *c = ctx;
	const struct ty_hot_row *r = record;
	const uint32_t name = c->s->funcs.v[r->func].name;

	return name ? ty_samples_str(c->s, name) : NULL;
}

static const char *module(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct hot_ctx *c = ctx;
	const struct ty_hot_row *r = record;
	const uint32_t module = c->s->funcs.v[r->func].module;

	return module ? ty_samples_str(c->s, module) : NULL;
}

/* ", below Perl_pp_subst (97%)", of a function without a symbol. */
static void named_caller(const struct ty_hot_of *of, uint32_t func, char *out, size_t size)
{
	struct ty_hot_named by;
	char name[100];

	*out = 0;
	if (of->s->funcs.v[func].name || ty_hot_named_caller(of, func, &by) ||
	    by.func == UINT32_MAX)
		return;
	snprintf(name, sizeof(name), "%s", ty_samples_str(of->s, of->s->funcs.v[by.func].name));
	ty_plain(name, strlen(name));
	snprintf(out, size, ", below %s (%.0f%%)", name,
		 100.0 * (double)by.samples / (double)by.of);
}

/* "big (known.c:9)"; without a line "memcpy (libc.so.6)". */
static const char *place(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct hot_ctx *c = ctx;
	const struct ty_hot_row *r = record;
	const char *name = function(ctx, record, buf, n), *mod = module(ctx, record, buf, n);
	const uint32_t file = r->file ? r->file : r->hot_file;

	if (file)
		snprintf(buf, n, "%s (%s:%d)", name ? name : "[no symbol]",
			 ty_base_name(ty_samples_str(c->s, file)), r->file ? r->line : r->hot_line);
	else if (mod)
		snprintf(buf, n, "%s (%s)", name ? name : "[no symbol]", ty_base_name(mod));
	else
		snprintf(buf, n, "%s", name ? name : "[unknown]");
	ty_plain(buf, strlen(buf));
	if (c->of)
		named_caller(c->of, r->func, buf + strlen(buf), n - strlen(buf));
	return buf;
}

static const char *self_share(const void *ctx, const void *record, char *buf, size_t n)
{
	snprintf(buf, n, "%.1f%%", 100 * ((const struct ty_hot_row *)record)->share);
	return buf;
}

static const char *interval(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_hot_row *r = record;

	snprintf(buf, n, "%.1f to %.1f", 100 * r->low, 100 * r->high);
	return buf;
}

static const char *total_share(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct hot_ctx *c = ctx;
	const struct ty_hot_row *r = record;

	snprintf(buf, n, "%.1f%%",
		 c->hot->time ? 100.0 * (double)r->total_time / (double)c->hot->time : 0.0);
	return buf;
}

static const char *file_of(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct hot_ctx *c = ctx;
	const struct ty_hot_row *r = record;
	const uint32_t file = r->file ? r->file : r->hot_file;

	return file ? ty_samples_str(c->s, file) : NULL;
}

#define OF(member) offsetof(struct ty_hot_row, member)
static const struct ty_field fields[] = {
	{TY_F_TEXT, NULL, "self", 7, .text = self_share},
	{TY_F_TEXT, NULL, "95% interval", 14, .text = interval},
	{TY_F_U64, "self", "samples", 9, .at = OF(self)},
	{TY_F_TEXT, NULL, "total", 7, .text = total_share},
	{TY_F_TEXT, NULL, "function (line)", 0, .text = place},
	{TY_F_TEXT, "function", NULL, 0, .text = function},
	{TY_F_TEXT, "module", NULL, 0, .text = module},
	{TY_F_TEXT, "file", NULL, 0, .text = file_of},
	{TY_F_U64, "total", NULL, 0, .at = OF(total)},
	{TY_F_U64, "self_weight", NULL, 0, .at = OF(self_weight)},
	{TY_F_U64, "total_weight", NULL, 0, .at = OF(total_weight)},
	{.type = TY_F_END}};
#undef OF

/* Times of the window from the trace, beside those on a CPU; not divided by CPUs. */
struct exact {
	bool known;
	uint64_t waiting_ns, runnable_ns, unknown_ns;
};

static struct exact find_exact(const struct ty_report *r, const struct ty_hot_of *of)
{
	const struct ty_model *m = r->s->model;
	struct exact x = {.known = !r->w.cpus_n};

	for (uint32_t i = 0; x.known && i < ty_model_summary(m)->threads; i++) {
		struct ty_cell c;

		if (!ty_hot_thread(of, i))
			continue;
		ty_model_cells(m, (struct ty_track){TY_TRACK_THREAD, i}, r->w.from_ns, r->w.to_ns,
			       1, &c);
		x.runnable_ns += c.ns[TY_ST_RUNNABLE];
		x.waiting_ns += c.ns[TY_ST_SLEEPING] + c.ns[TY_ST_BLOCKED];
		x.unknown_ns += c.ns[TY_ST_UNKNOWN];
	}
	return x;
}

static void tell_samples(const struct ty_samples *s, const struct ty_hot *h, FILE *f)
{
	char event[sizeof(s->event)];

	snprintf(event, sizeof(event), "%s", s->event);
	ty_plain(event, strlen(event));
	fprintf(f, "%" PRIu64 " sample%s of %s", h->samples, h->samples == 1 ? "" : "s", event);
	if (s->hz)
		fprintf(f, " at %u Hz", s->hz);
	fprintf(f, ", %u thread%s", h->threads, h->threads == 1 ? "" : "s");
	if (h->samples)
		fprintf(f, ", %.1f%% in the kernel",
			100.0 * (double)h->in_kernel / (double)h->samples);
	fprintf(f, ". Shares %sare estimates.\n", h->weights.by_time ? "of the time on CPU " : "");
	if (s->how)
		fprintf(f, "callers found by %s%s\n", s->how,
			!strcmp(s->how, "frame pointers")
				? ": wrong where code was compiled without them"
				: "");
	if (h->cut)
		fprintf(f,
			"%" PRIu64 " samples have truncated stacks: totals of their outer callers "
			"are too low\n",
			h->cut);
	if (h->unnamed)
		fprintf(f, "%" PRIu64 " sample%s of code without a symbol (--symfs DIR)\n",
			h->unnamed, h->unnamed == 1 ? " is" : "s are");
	if (s->lost || s->damaged)
		fprintf(f, "%" PRIu64 " samples were lost%s\n", s->lost,
			s->damaged ? "; parts of the recorded ones are damaged" : "");
	if (s->no_time)
		fprintf(f, "%" PRIu64 " samples have no time or thread and are left out\n",
			s->no_time);
	if (s->others)
		fprintf(f, "%" PRIu64 " samples of other events are left out\n", s->others);
	if (s->branches)
		fprintf(f,
			"%" PRIu64 " entries of branch stacks are not counted (tarry dump FILE "
			"samples lists them)\n",
			s->branches);
}

static const char *func_name(const struct ty_samples *s, uint32_t func)
{
	const struct ty_sample_func *f = &s->funcs.v[func];

	return f->name	   ? ty_samples_str(s, f->name)
	       : f->module ? ty_base_name(ty_samples_str(s, f->module))
			   : "[unknown]";
}

/* "called by b <- a (12 of 14 samples)", where most of its samples have these callers. */
static void callers_text(const struct hot_ctx *c, const struct ty_hot_row *row, FILE *f)
{
	struct ty_hot_callers by;

	if (!c->of || ty_hot_callers(c->of, row->func, &by) || !by.n)
		return;
	fputs("          called by ", f);
	for (uint32_t i = 0; i < by.n; i++) {
		fputs(i ? " <- " : "", f);
		ty_put_plain(f, func_name(c->s, by.v[i]));
	}
	if (by.samples < by.of)
		fprintf(f, " (%" PRIu64 " of %" PRIu64 " samples)", by.samples, by.of);
	putc('\n', f);
}

static void callers_json(const struct hot_ctx *c, const struct ty_hot_row *row, struct ty_json *j)
{
	struct ty_hot_callers by;

	struct ty_hot_named named;

	if (!c->of)
		return;
	if (!c->s->funcs.v[row->func].name && !ty_hot_named_caller(c->of, row->func, &named) &&
	    named.func != UINT32_MAX) {
		ty_json_str(j, "named_caller", func_name(c->s, named.func));
		ty_json_u64(j, "named_caller_samples", named.samples);
	}
	if (ty_hot_callers(c->of, row->func, &by) || !by.n)
		return;
	ty_json_array(j, "called_by");
	for (uint32_t i = 0; i < by.n; i++)
		ty_json_str(j, NULL, func_name(c->s, by.v[i]));
	ty_json_end_array(j);
	ty_json_u64(j, "called_by_samples", by.samples);
}

static void rows_text(const struct ty_hot_row *rows, uint32_t n, uint32_t most,
		      const struct hot_ctx *c, FILE *f)
{
	const struct ty_field_ctx ctx = {.ctx = c};
	uint32_t shown = 0, single = 0, callers = 0, several = n;

	/* They are sorted by weight: one of many samples may come behind a single heavy one. */
	while (several && rows[several - 1].self <= 1)
		several--;
	ty_fields_head(fields, &ctx, f);
	for (; shown < n && shown < most && (shown < ROWS_LEAST || shown < several); shown++) {
		ty_fields_text(fields, &ctx, &rows[shown], f);
		callers_text(c, &rows[shown], f);
	}
	for (uint32_t i = shown; i < n; i++) {
		single += rows[i].self == 1;
		callers += !rows[i].self;
	}
	if (shown < n)
		fprintf(f, "and %u more", n - shown);
	if (shown < n && single == n - shown)
		fputs(" with one sample each", f);
	else if (single)
		fprintf(f, ": %u with one sample each", single);
	if (callers && callers == n - shown)
		fputs(", all of them only callers", f);
	else if (callers)
		fprintf(f, "%s %u only as callers", single ? "," : ":", callers);
	if (shown < n)
		fputs(" (--json has all)\n", f);
}

static void tables_text(const struct ty_hot_of *of, const struct ty_hot *h, FILE *f)
{
	const struct hot_ctx c = {of->s, h, of}, lines = {of->s, h, NULL};
	uint32_t own = 0;

	if (!h->samples)
		return;
	fputs("\nfunctions, each with its hottest line\n", f);
	rows_text(h->funcs, h->funcs_n, FUNCS_SHOWN, &c, f);
	/* A caller's line has no self samples. */
	while (own < h->lines_n && h->lines[own].self)
		own++;
	if (!own)
		return;
	fputs("\nlines\n", f);
	rows_text(h->lines, own, LINES_SHOWN, &lines, f);
}

static void rows_json(const char *key, const struct ty_hot_row *rows, uint32_t n,
		      const struct hot_ctx *c, struct ty_json *j)
{
	const struct ty_field_ctx ctx = {.ctx = c};

	ty_json_array(j, key);
	for (uint32_t i = 0; i < n; i++) {
		ty_json_object(j, NULL);
		ty_fields_json(fields, &ctx, &rows[i], j);
		if (rows[i].file || rows[i].hot_file)
			ty_json_i64(j, "line", rows[i].file ? rows[i].line : rows[i].hot_line);
		if (c->hot->weights.by_time) {
			ty_json_u64(j, "self_ns", rows[i].self_time);
			ty_json_u64(j, "total_ns", rows[i].total_time);
		}
		ty_json_f64(j, "share", rows[i].share);
		ty_json_f64(j, "share_low", rows[i].low);
		ty_json_f64(j, "share_high", rows[i].high);
		if (i < FUNCS_SHOWN)
			callers_json(c, &rows[i], j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

static void tables_json(const struct ty_hot_of *of, const struct ty_hot *h, struct ty_json *j)
{
	const struct hot_ctx c = {of->s, h, of}, lines = {of->s, h, NULL};
	const struct ty_samples *s = of->s;

	ty_json_str(j, "event", s->event);
	ty_json_u64(j, "hz", s->hz);
	ty_json_str(j, "callers", s->how);
	ty_json_u64(j, "samples", h->samples);
	ty_json_u64(j, "weight", h->weight);
	ty_json_u64(j, "in_kernel", h->in_kernel);
	ty_json_u64(j, "cut", h->cut);
	ty_json_u64(j, "unnamed", h->unnamed);
	ty_json_u64(j, "lost", s->lost);
	ty_json_u64(j, "other_events", s->others);
	ty_json_u64(j, "branches", s->branches);
	rows_json("functions", h->funcs, h->funcs_n, &c, j);
	rows_json("lines", h->lines, h->lines_n, &lines, j);
}

static struct ty_hot_of hot_of(const struct ty_report *r, const struct ty_samples *s)
{
	return (struct ty_hot_of){.s = s, .w = &r->w, .model = r->s->model};
}

int ty_hot_section_find(struct ty_report *r, struct ty_err *err)
{
	int e = ty_session_samples(r->s, err);
	struct ty_hot_of of;

	if (e == -TY_ENOTFOUND)
		return 0;
	if (e)
		return e;
	of = hot_of(r, r->s->samples);
	return ty_hot_find(&of, &r->hot)
		       ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for the samples",
				 r->s->trace->path)
		       : 0;
}

/* The nearest caller with a name, of the function without one, in which few samples were: their
 * stacks are unwound for that. */
static void note_caller(const struct ty_report *r, uint32_t func, char *out, size_t size)
{
	const uint32_t module = r->s->functions->funcs.v[func].module;
	const struct ty_sample_load_opts o = {
		.roots = r->s->roots,
		.nameless = module ? ty_samples_str(r->s->functions, module) : "",
		.quiet = true};
	struct ty_samples *s = NULL;
	struct ty_hot_of of;

	*out = 0;
	if (r->s->functions->v.n > NOTE_UNWOUND || ty_samples_of_trace(r->s->trace, &o, &s, NULL))
		return;
	of = hot_of(r, s);
	for (uint32_t i = 0; i < s->funcs.n && !*out; i++)
		if (!s->funcs.v[i].name &&
		    !strcmp(s->funcs.v[i].module ? ty_samples_str(s, s->funcs.v[i].module) : "",
			    o.nameless))
			named_caller(&of, i, out, size);
	ty_samples_free(s);
}

int ty_hot_note(struct ty_report *r)
{
	const struct ty_samples *s = r->s->functions;
	const struct ty_hot_of of = hot_of(r, s);
	struct ty_answer *a = &r->answer;
	struct ty_hot h;
	char text[200];
	int e;

	if (a->notes >= TY_ANSWER_NOTES || !s)
		return 0;
	e = ty_hot_find(&of, &h);
	if (!e && h.samples >= TY_HOT_LEAST && ty_hot_first(&h)) {
		const struct hot_ctx c = {s, &h, NULL};
		const struct ty_hot_row *top = ty_hot_first(&h);
		char by[140] = "";

		place(&c, top, text, sizeof(text));
		if (!s->funcs.v[top->func].name)
			note_caller(r, top->func, by, sizeof(by));
		if (*by)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s,", by);
		a->notes += ty_hot_note_text(&h, text, a->note[a->notes], sizeof(a->note[0]));
	}
	ty_hot_fini(&h);
	return e;
}

/* How far samples alone would have been wrong. */
static void exact_text(const struct ty_samples *s, const struct ty_hot *h, const struct exact *x,
		       FILE *f)
{
	const struct ty_sample_weights *w = &h->weights;
	const double off = w->on_cpu_ns ? 100.0 * ((double)h->weight - (double)w->on_cpu_ns) /
						  (double)w->on_cpu_ns
					: 0;

	fprintf(f, "from the trace (exact): %s on CPU in %" PRIu64 " thread%s",
		ty_duration(w->on_cpu_ns), w->ran, w->ran == 1 ? "" : "s");
	if (x->known)
		fprintf(f, ", %s runnable, %s waiting", ty_duration(x->runnable_ns),
			ty_duration(x->waiting_ns));
	putc('\n', f);
	if (s->clock && w->on_cpu_ns)
		fprintf(f, "samples alone count %s on CPU (%.0f%% too %s) and no waits\n",
			ty_duration(h->weight), off < 0 ? -off : off, off < 0 ? "low" : "high");
	if (w->unsampled)
		fprintf(f, "%" PRIu64 " thread%s without a sample ran for %s%s", w->unsampled,
			w->unsampled == 1 ? "" : "s", ty_duration(w->unsampled_ns),
			w->unseen_ns == w->unsampled_ns ? "\n" : "");
	if (w->unsampled && w->unseen_ns && w->unseen_ns < w->unsampled_ns)
		fprintf(f, ". %s of it is shown as [threads without samples]",
			ty_duration(w->unseen_ns));
	if (w->unsampled && w->unseen_ns < w->unsampled_ns)
		fprintf(f, ". %s is split by samples of threads of the same name\n",
			w->unseen_ns ? "The rest" : "This time");
	if (w->unseen_ns)
		fputs("upper ends of intervals include the time of [threads without samples]\n", f);
	if (x->unknown_ns)
		fprintf(f, "what threads did is unknown for %s\n", ty_duration(x->unknown_ns));
	if (w->by_time)
		fputs("the exact time on CPU of each thread is split by its samples; short-lived "
		      "threads of one name count as one\n",
		      f);
	if (w->stray)
		fprintf(f,
			"%" PRIu64
			" samples were ignored: their thread is not recorded as running\n",
			w->stray);
}

void ty_hot_text(const struct ty_report *r, FILE *f)
{
	const struct ty_samples *s = r->s->samples;
	const struct ty_hot_of of = hot_of(r, s);
	struct exact x;
	char why[300];

	fputs("\nhot: functions by CPU samples\n", f);
	if (!s) {
		ty_samples_why_none(r->s->trace, why, sizeof(why));
		fprintf(f, "none recorded: %s\n", why);
		return;
	}
	tell_samples(s, &r->hot, f);
	x = find_exact(r, &of);
	exact_text(s, &r->hot, &x, f);
	tables_text(&of, &r->hot, f);
}

void ty_hot_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_samples *s = r->s->samples;
	const struct ty_sample_weights *w = &r->hot.weights;
	const struct ty_hot_of of = hot_of(r, s);
	struct exact x;

	if (!s) {
		ty_json_null(j, "hot");
		return;
	}
	x = find_exact(r, &of);
	ty_json_object(j, "hot");
	tables_json(&of, &r->hot, j);
	ty_json_object(j, "exact");
	ty_json_u64(j, "on_cpu_ns", w->on_cpu_ns);
	ty_json_u64_if(j, "runnable_ns", x.known, x.runnable_ns);
	ty_json_u64_if(j, "waiting_ns", x.known, x.waiting_ns);
	ty_json_u64_if(j, "unknown_ns", x.known, x.unknown_ns);
	ty_json_u64(j, "threads_ran", w->ran);
	ty_json_u64(j, "threads_without_sample", w->unsampled);
	ty_json_u64(j, "without_sample_ns", w->unsampled_ns);
	ty_json_u64(j, "unseen_ns", w->unseen_ns);
	ty_json_u64(j, "samples_not_running", w->stray);
	ty_json_end_object(j);
	ty_json_end_object(j);
}

int ty_hot_perf(const char *path, const struct ty_select *sel, const struct ty_texts *roots,
		FILE *f, struct ty_err *err)
{
	const struct ty_sample_load_opts o = {.roots = roots};
	struct ty_samples *s = NULL;
	struct ty_hot h = {0};
	struct ty_hot_of of = {0};
	struct ty_window w;
	struct ty_json j;
	int e = ty_samples_of_perf(path, &o, &s, err);

	if (!e && !s->v.n)
		e = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			    "%s: it has no samples with a time and a thread", path);
	e = e ? e : ty_select_range(sel, path, s->v.v[0].ns, s->v.v[s->v.n - 1].ns, &w, err);
	if (!e) {
		of = (struct ty_hot_of){.s = s, .w = &w};
		if (ty_hot_find(&of, &h))
			e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
				    "%s: out of memory for the samples", path);
	}
	if (!e && sel->json) {
		ty_json_init(&j, f);
		ty_json_object(&j, NULL);
		ty_json_object(&j, "hot");
		tables_json(&of, &h, &j);
		ty_json_end_object(&j);
		ty_json_end_object(&j);
		ty_json_line(&j);
		ty_json_fini(&j);
	} else if (!e) {
		fputs("hot: functions by CPU samples\n", f);
		tell_samples(s, &h, f);
		tables_text(&of, &h, f);
	}
	ty_hot_fini(&h);
	ty_samples_free(s);
	return e;
}

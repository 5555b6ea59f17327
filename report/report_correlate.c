/* SPDX-License-Identifier: MIT */
/* Outliers and comparison of the report, as text and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "counter_measures.h"
#include "fields.h"
#include "process_titles.h"
#include "put_text.h"
#include "text_page.h"
#include "report.h"
#include "model_time.h"
#include "units.h"

#define OUTLIERS_SHOWN	   20
#define OUTLIER_ROWS_SHOWN 4
#define DIFF_SHOWN	   40
#define PARTS_SHOWN	   6

static void when(const struct ty_report *r, uint64_t t, FILE *f)
{
	fputs(ty_time_in(r->s->model, r->s->clock, t, 1000), f);
}

/* outliers ---------------------------------------------------------------------------------- */

#define OF(member) offsetof(struct ty_outlier_row, member)
static const struct ty_field row_fields[] = {
	{TY_F_CHARS, "row", NULL, 0, .at = OF(row)},
	{TY_F_ELAPSED, "slow_ns", "slowest", 9, .at = OF(slow_ns), .gap = 2},
	{TY_F_ELAPSED, "median_ns", "median", 9, .at = OF(median_ns), .gap = 1},
	{TY_F_CHARS, NULL, "time spent", 0, .at = OF(row)},
	{.type = TY_F_END}};
#undef OF

void ty_outlier_rows(const struct ty_outlier *o, uint32_t n, FILE *f)
{
	if (o->n && n)
		ty_fields_head(row_fields, &(struct ty_field_ctx){0}, f);
	for (uint32_t k = 0; k < o->n && k < n; k++)
		ty_fields_text(row_fields, &(struct ty_field_ctx){0}, &o->rows[k], f);
}

void ty_outlier_parts_text(const struct ty_report *r, const struct ty_outlier *o, FILE *f)
{
	const struct ty_counts *c = r->s->counts;
	char a[TY_COUNT_TEXT], b[TY_COUNT_TEXT];
	bool sample = false;
	unsigned shown = 0;

	for (uint32_t i = 0; i < o->parts_n; i++) {
		const struct ty_outlier_part *p = &o->parts[i];

		if (!i || p->sample != sample) {
			fprintf(f, "  %9s %9s  %s\n", "slowest", "median",
				p->sample ? "CPU samples" : "system calls");
			shown = 0;
		}
		sample = p->sample;
		if (shown++ >= PARTS_SHOWN)
			continue;
		fprintf(f, "  %9" PRIu64 " %9" PRIu64 "  ", p->slow, p->median);
		ty_put_plain(f, p->what);
		putc('\n', f);
	}
	if (c && o->elsewhere)
		fputs("  no counters: one of the two ended in another thread\n", f);
	if (!c || !(o->counted[0].readings | o->counted[1].readings))
		return;
	fprintf(f, "  %9s %9s  counters\n", "slowest", "median");
	for (uint32_t i = 0; i < ty_count_measures(c); i++)
		fprintf(f, "  %9s %9s  %s\n", ty_count_measure_text(c, &o->counted[0], i, a),
			ty_count_measure_text(c, &o->counted[1], i, b),
			ty_count_measure_name(c, i));
}

static void parts_json(const struct ty_outlier *o, bool sample, const char *key, struct ty_json *j)
{
	ty_json_array(j, key);
	for (uint32_t i = 0; i < o->parts_n; i++) {
		if (o->parts[i].sample != sample)
			continue;
		ty_json_object(j, NULL);
		ty_json_str(j, sample ? "function" : "call", o->parts[i].what);
		ty_json_u64(j, "slow", o->parts[i].slow);
		ty_json_u64(j, "median", o->parts[i].median);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

static void counted_json(const struct ty_report *r, const struct ty_count_sum *s, const char *key,
			 struct ty_json *j)
{
	if (!r->s->counts || !s->readings)
		return;
	ty_json_object(j, key);
	ty_count_measures_json(r->s->counts, s, 0, j);
	ty_json_end_object(j);
}

void ty_outlier_json(const struct ty_report *r, const struct ty_outlier *o, struct ty_json *j)
{
	ty_json_u64(j, "slow_start_ns", o->slow_start_ns);
	ty_json_u64(j, "slow_ns", o->slow_ns);
	ty_json_u64(j, "median_start_ns", o->median_start_ns);
	ty_json_u64(j, "median_ns", o->median_ns);
	ty_fields_array(row_fields, &(struct ty_field_ctx){0}, "rows", o->rows, o->n,
			sizeof(*o->rows), j);
	if (!o->parts && !o->counted[0].readings)
		return;
	parts_json(o, false, "calls", j);
	parts_json(o, true, "samples", j);
	counted_json(r, &o->counted[0], "slow_counters", j);
	counted_json(r, &o->counted[1], "median_counters", j);
}

void ty_outliers_text(const struct ty_report *r, FILE *f)
{
	const struct ty_model *m = r->s->model;
	char buf[32], d[TY_DURATION_MAX];

	putc('\n', f);
	ty_put_heading(f, "outliers",
		       "the slowest call compared with a median one of the same thread; files, "
		       "sockets and locks are named only in waits of at least 1 ms");
	for (uint32_t i = 0; i < r->outliers.n && i < OUTLIERS_SHOWN; i++) {
		const struct ty_outlier *o = &r->outliers.v[i];
		uint32_t shown = o->n > 0;

		ty_put_plain(f, ty_who(m, o->thread, o->slow_start_ns));
		putc(' ', f);
		ty_put_plain(f, ty_syscall_name(r->s->arch, o->abi, o->nr, buf));
		fprintf(f, ": slowest %s (at ", ty_fmt_duration(o->slow_ns, d));
		when(r, o->slow_start_ns, f);
		fprintf(f, "), median %s (at ", ty_fmt_duration(o->median_ns, d));
		when(r, o->median_start_ns, f);
		fprintf(f, ", of %" PRIu64 " calls)\n", o->count);
		while (shown < o->n && shown < OUTLIER_ROWS_SHOWN &&
		       o->rows[shown].slow_ns != o->rows[shown].median_ns)
			shown++;
		ty_outlier_rows(o, shown, f);
		if (o->n > shown)
			fprintf(f, "  and %u more with smaller differences\n", o->n - shown);
	}
	if (!r->outliers.n)
		fprintf(f,
			"  none: no call took twice the median of its kind in its thread (of %d "
			"calls or more)\n",
			TY_OUTLIER_CALLS);
	if (r->outliers.n > OUTLIERS_SHOWN || r->outliers.more)
		fprintf(f, "and %" PRIu64 " more (--json has %s)\n",
			r->outliers.n - OUTLIERS_SHOWN + r->outliers.more,
			r->outliers.more ? "the first thousand" : "all");
	if (r->outliers.left_out)
		fprintf(f,
			"not analysed: %" PRIu64
			" calls, beyond 512 different system calls per thread\n",
			r->outliers.left_out);
}

void ty_outliers_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_model *m = r->s->model;
	char buf[32];

	ty_json_array(j, "outliers");
	for (uint32_t i = 0; i < r->outliers.n; i++) {
		const struct ty_outlier *o = &r->outliers.v[i];

		ty_json_object(j, NULL);
		ty_json_i64(j, "tid", ty_model_thread(m, o->thread)->tid);
		ty_json_str(j, "comm", ty_model_comm(m, o->thread, o->slow_start_ns));
		ty_json_str(j, "syscall", ty_syscall_name(r->s->arch, o->abi, o->nr, buf));
		ty_json_u64(j, "count", o->count);
		ty_outlier_json(r, o, j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

/* diff -------------------------------------------------------------------------------------- */

static const char *selected(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_diff_row *q = record;

	return ty_diff_rate(q, q->in_rate, buf);
}

static const char *rest(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_diff_row *q = record;

	return ty_diff_rate(q, q->out_rate, buf);
}

static const char *ratio(const void *ctx, const void *record, char *buf, size_t n)
{
	return ty_diff_change(record, buf);
}

static const char *kind(const void *ctx, const void *record, char *buf, size_t n)
{
	return ty_diff_kind_name(((const struct ty_diff_row *)record)->kind);
}

static const char *unit(const void *ctx, const void *record, char *buf, size_t n)
{
	return ty_diff_kind_unit(((const struct ty_diff_row *)record)->kind);
}

#define OF(member) offsetof(struct ty_diff_row, member)
static const struct ty_field diff_fields[] = {
	{TY_F_TEXT, NULL, "selected", 11, .gap = 2, .text = selected},
	{TY_F_TEXT, NULL, "rest", 11, .gap = 1, .text = rest},
	{TY_F_TEXT, NULL, "ratio", 12, .gap = 1, .text = ratio},
	{TY_F_TEXT, "kind", "metric", -9, .text = kind},
	{TY_F_CHARS, "what", "of", 0, .at = OF(what), .gap = 1},
	{TY_F_TEXT, "unit", NULL, 0, .text = unit},
	{TY_F_U64, "in", NULL, 0, .at = OF(in)},
	{TY_F_U64, "out", NULL, 0, .at = OF(out)},
	{TY_F_F64, "in_per_s", NULL, 0, .at = OF(in_rate)},
	{TY_F_F64, "out_per_s", NULL, 0, .at = OF(out_rate)},
	{TY_F_F64, "share", NULL, 0, .at = OF(share)},
	{TY_F_BOOL, "significant", NULL, 0, .at = OF(significant)},
	{.type = TY_F_END}};

void ty_diff_text(const struct ty_report *r, FILE *f)
{
	const struct ty_diff *d = &r->diff;
	const struct ty_field_ctx c = {0};
	char a[TY_DIFF_TEXT_MAX];
	uint32_t i;

	fprintf(f, "\n%sdiff%s: %s, starting at ", ty_style(TY_STYLE_HEADING),
		ty_style(TY_STYLE_END), ty_fmt_duration(d->in_ns, a));
	when(r, r->w.from_ns, f);
	fprintf(f, "%s, compared with the rest (%s)\n", r->s->clock == TY_CLOCK_WALL ? "" : " s",
		ty_fmt_duration(d->out_ns, a));
	if (d->in_lost || d->out_lost)
		fprintf(f, "  events were lost %s: its rates may be too low\n",
			!d->out_lost  ? "in the selected part"
			: !d->in_lost ? "in the rest"
				      : "in both parts");
	ty_fields_head(diff_fields, &c, f);
	for (i = 0; i < d->n && i < DIFF_SHOWN && d->v[i].significant; i++)
		ty_fields_text(diff_fields, &c, &d->v[i], f);
	if (!i)
		fputs("  no statistically significant difference\n", f);
	if (i < d->n)
		fprintf(f,
			"  and %u smaller or not statistically significant differences (--json has "
			"all)\n",
			d->n - i);
}

void ty_diff_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_diff *d = &r->diff;

	ty_json_object(j, "diff");
	ty_json_u64(j, "in_ns", d->in_ns);
	ty_json_u64(j, "out_ns", d->out_ns);
	ty_json_bool(j, "in_lost", d->in_lost);
	ty_json_bool(j, "out_lost", d->out_lost);
	ty_fields_array(diff_fields, &(struct ty_field_ctx){0}, "rows", d->v, d->n, sizeof(*d->v),
			j);
	ty_json_end_object(j);
}

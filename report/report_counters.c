/* SPDX-License-Identifier: MIT */
/*
 * The report's section "counters": performance counters by thread and CPU. What was counted stands
 * beside what it was scaled to, which is an estimate and marked as such.
 */
#include <inttypes.h>
#include <string.h>

#include "counter_load.h"
#include "counter_measures.h"
#include "fields.h"
#include "put_text.h"
#include "report.h"
#include "units.h"

enum { ROWS_SHOWN = 40, TEXT_WIDTH = 80 };

/* A counter of a thread or CPU. */
struct row {
	const struct ty_count_row *of;
	const struct ty_count_def *def;
	uint64_t raw, enabled_ns, running_ns;
};

static struct row row_of(const struct ty_counts *c, const struct ty_count_row *of, uint32_t i)
{
	const struct ty_count_def *d = &c->def[i];

	return (struct row){of, d, of->sum.v[i], of->sum.enabled[d->group],
			    of->sum.running[d->group]};
}

static const char *thread(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const struct ty_count_row *of = ((const struct row *)record)->of;
	const uint32_t name =
		of->thread == TY_NONE ? 0 : ty_model_thread(r->s->model, of->thread)->name;

	snprintf(buf, n, "%s/%d", ty_model_str(r->s->model, name), of->tid);
	return buf;
}

static const char *name(const void *ctx, const void *record, char *buf, size_t n)
{
	return ((const struct row *)record)->def->name;
}

static const char *unit(const void *ctx, const void *record, char *buf, size_t n)
{
	return ((const struct row *)record)->def->is_time ? "ns" : "count";
}

static const char *amount(const struct row *r, uint64_t v, char *buf, size_t n)
{
	char b[TY_DURATION_MAX + TY_COUNT_MAX];

	snprintf(buf, n, "%s%s", r->of->sum.cut ? "~" : "",
		 r->def->is_time ? ty_fmt_duration(v, b) : ty_fmt_count(v, b));
	return buf;
}

static const char *counted(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *r = record;

	return r->enabled_ns && !r->running_ns ? NULL : amount(r, r->raw, buf, n);
}

static bool is_scaled(const struct row *r)
{
	return r->running_ns < r->enabled_ns;
}

/* "~1,234": only what is an estimate. */
static const char *scaled(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *r = record;
	uint64_t v;

	if (!is_scaled(r) || !ty_count_scaled(r->raw, r->enabled_ns, r->running_ns, &v))
		return NULL;
	*buf = '~';
	amount(r, v, r->of->sum.cut ? buf : buf + 1, n - 1);
	return buf;
}

static double share_of(const struct row *r)
{
	return is_scaled(r) ? (double)r->running_ns / (double)r->enabled_ns : 1;
}

/* A share below 100% never reads as such. */
static const char *share(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *r = record;
	const double s = 100 * share_of(r);

	snprintf(buf, n, "%.1f%%", is_scaled(r) && s > 99.9 ? 99.9 : s);
	return buf;
}

static const char *rate(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *r = record;
	uint64_t v;

	if (r->def->is_time || !r->of->sum.on_ns ||
	    !ty_count_scaled(r->raw, r->enabled_ns, r->running_ns, &v))
		return NULL;
	snprintf(buf, n, "%s%s", is_scaled(r) || r->of->sum.cut ? "~" : "",
		 ty_count((uint64_t)((double)v * 1e9 / (double)r->of->sum.on_ns + 0.5)));
	return buf;
}

#define OF(member) offsetof(struct row, member)
#define VALUES                                                                                     \
	{TY_F_TEXT, "counter", "counter", -24, .text = name},                                      \
		{TY_F_TEXT, "unit", NULL, 0, .text = unit},                                        \
		{TY_F_TEXT, NULL, "counted", 12, .text = counted},                                 \
		{TY_F_TEXT, NULL, "scaled", 13, .text = scaled},                                   \
		{TY_F_TEXT, NULL, "counting", 8, .text = share},                                   \
		{TY_F_TEXT, NULL, "per s on CPU", 12, .text = rate},                               \
		{TY_F_U64, "raw", NULL, 0, .at = OF(raw)},                                         \
		{TY_F_DURATION, "enabled_ns", NULL, 0, .at = OF(enabled_ns)},                      \
		{TY_F_DURATION, "running_ns", NULL, 0, .at = OF(running_ns)},                      \
	{                                                                                          \
		.type = TY_F_END                                                                   \
	}

static const struct ty_field thread_fields[] = {{TY_F_TEXT, "thread", NULL, 0, .text = thread},
						VALUES};
static const struct ty_field cpu_fields[] = {VALUES};
#undef OF

void ty_count_measures_text(const struct ty_counts *c, const struct ty_count_sum *s, int indent,
			    FILE *f)
{
	char text[TY_COUNT_TEXT];
	int at = 0;

	for (uint32_t i = 0; i < ty_count_measures(c); i++) {
		const char *what = ty_count_measure_name(c, i);
		int n;

		ty_count_measure_text(c, s, i, text);
		n = (int)(strlen(what) + strlen(text)) + 3;
		if (!at || at + n > TEXT_WIDTH) {
			fprintf(f, "%s%*s", at ? "\n" : "", indent, "");
			at = indent;
		}
		fprintf(f, "%s %s  ", what, text);
		at += n;
	}
	putc('\n', f);
}

void ty_count_measures_json(const struct ty_counts *c, const struct ty_count_sum *s, uint32_t from,
			    struct ty_json *j)
{
	bool estimated;
	double v;

	ty_json_array(j, "measures");
	for (uint32_t i = from; i < ty_count_measures(c); i++) {
		const bool known = ty_count_measure(c, s, i, &v, &estimated);

		ty_json_object(j, NULL);
		ty_json_str(j, "name", ty_count_measure_name(c, i));
		if (i < c->n)
			ty_json_u64(j, "raw", s->v[i]);
		if (known)
			ty_json_f64(j, "value", v);
		else
			ty_json_null(j, "value");
		ty_json_bool(j, "estimated", estimated);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

int ty_counters_section_find(struct ty_report *r, struct ty_err *err)
{
	int e;

	if (!ty_counts_recorded(r->s->trace))
		return 0;
	e = ty_session_counts(r->s, err);
	if (!e && ty_count_stats_find(r->s->counts, r->s->model, &r->w, &r->counters))
		e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for its counters",
			    r->s->trace->path);
	return e;
}

static void rows_text(const struct ty_report *r, const struct ty_field *fields,
		      const struct ty_count_row *v, uint32_t n, const char *what, FILE *f)
{
	const struct ty_field_ctx c = {.ctx = r};
	const struct ty_counts *all = r->s->counts;
	const uint32_t most = ROWS_SHOWN / ty_count_measures(all) ?: 1;

	if (!n)
		return;
	ty_fields_head(fields, &c, f);
	for (uint32_t i = 0; i < n && i < most; i++) {
		char who[64], on[TY_DURATION_MAX];
		const struct row first = row_of(all, &v[i], 0);

		if (v[i].cpu == TY_NONE)
			ty_put_plain(f, thread(r, &first, who, sizeof(who)));
		else
			fprintf(f, "CPU %" PRIu32, v[i].cpu);
		fprintf(f, ", %s%s\n", ty_fmt_duration(v[i].sum.on_ns, on),
			v[i].cpu == TY_NONE ? " on CPU" : "");
		for (uint32_t k = 0; k < all->n; k++) {
			const struct row row = row_of(all, &v[i], k);

			ty_fields_text(fields, &c, &row, f);
		}
		for (uint32_t k = all->n; k < ty_count_measures(all); k++)
			fprintf(f, "%-24s %12s\n", ty_count_measure_name(all, k),
				ty_count_measure_text(all, &v[i].sum, k, who));
	}
	if (n > most)
		fprintf(f, "and %u more %s (--json has all)\n", n - most, what);
	putc('\n', f);
}

static void losses(const struct ty_counts *c, const struct ty_count_sum *all, FILE *f)
{
	if (c->lost)
		fprintf(f, "%" PRIu64 " readings were lost: counts are too low\n", c->lost);
	if (c->unread)
		fprintf(f, "%" PRIu64 " readings failed: counts are too low\n", c->unread);
	if (c->damaged)
		fputs("readings in the file are damaged: counts are too low\n", f);
	if (all->cut)
		fprintf(f,
			"%" PRIu64 " of %" PRIu64
			" readings reach beyond the window: they count in "
			"proportion to the time inside (~)\n",
			all->cut, all->readings);
}

void ty_counters_text(const struct ty_report *r, FILE *f)
{
	const struct ty_counts *c = r->s->counts;
	bool estimates = false;

	if (!c && !(r->requested & TY_REP_COUNTERS))
		return;
	if (!c) {
		fputs("performance counters: none (record --counter EVENT)\n\n", f);
		return;
	}
	fputs(c->intervals ? "performance counters (read by perf stat)\n"
			   : "performance counters (read when a thread is switched in or out, and "
			     "at 100 Hz)\n",
	      f);
	losses(c, &r->counters.all, f);
	for (uint32_t g = 0; g < c->groups; g++)
		estimates |= r->counters.all.running[g] < r->counters.all.enabled[g];
	if (estimates)
		fputs("~: an estimate. The group counted only part of the time (column counting), "
		      "because other events used the hardware counters\n",
		      f);
	if (c->ratios)
		fputs("ratios use counters of one group, over the time that the group was "
		      "counting\n",
		      f);
	if (!r->counters.threads_n && !r->counters.cpus_n)
		fputs("no thread was counted in this window\n\n", f);
	rows_text(r, thread_fields, r->counters.threads, r->counters.threads_n, "threads", f);
	rows_text(r, cpu_fields, r->counters.cpus, r->counters.cpus_n, "CPUs", f);
}

static void whose(const struct ty_count_row *r, struct ty_json *j)
{
	if (r->cpu == TY_NONE)
		ty_json_i64(j, "tid", r->tid);
	else
		ty_json_u64(j, "cpu", r->cpu);
}

/* The ratios of the rows. */
static void ratios_json(const struct ty_counts *c, const char *key, const struct ty_count_row *v,
			uint32_t n, struct ty_json *j)
{
	if (!c->ratios)
		return;
	ty_json_array(j, key);
	for (uint32_t i = 0; i < n; i++) {
		ty_json_object(j, NULL);
		whose(&v[i], j);
		ty_count_measures_json(c, &v[i].sum, c->n, j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

static void rows_json(const struct ty_report *r, const char *key, const struct ty_field *fields,
		      const struct ty_count_row *v, uint32_t n, struct ty_json *j)
{
	const struct ty_field_ctx c = {.ctx = r};

	ty_json_array(j, key);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < r->s->counts->n; k++) {
			const struct row row = row_of(r->s->counts, &v[i], k);
			uint64_t scaled_to;

			ty_json_object(j, NULL);
			whose(&v[i], j);
			ty_fields_json(fields, &c, &row, j);
			ty_json_u64(j, "group", row.def->group);
			if (ty_count_scaled(row.raw, row.enabled_ns, row.running_ns, &scaled_to))
				ty_json_u64(j, "scaled", scaled_to);
			else
				ty_json_null(j, "scaled");
			ty_json_bool(j, "estimated", is_scaled(&row) || v[i].sum.cut);
			ty_json_u64(j, "divided", v[i].sum.cut);
			ty_json_f64(j, "counting", share_of(&row));
			ty_json_u64(j, "on_cpu_ns", v[i].sum.on_ns);
			ty_json_end_object(j);
		}
	ty_json_end_array(j);
}

void ty_counters_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_counts *c = r->s->counts;

	if (!c) {
		if (r->requested & TY_REP_COUNTERS)
			ty_json_null(j, "counters");
		return;
	}
	ty_json_object(j, "counters");
	ty_json_u64(j, "readings", r->counters.all.readings);
	ty_json_u64(j, "divided", r->counters.all.cut);
	ty_json_u64(j, "lost", c->lost);
	ty_json_u64(j, "unread", c->unread);
	ty_json_bool(j, "damaged", c->damaged);
	rows_json(r, "threads", thread_fields, r->counters.threads, r->counters.threads_n, j);
	rows_json(r, "cpus", cpu_fields, r->counters.cpus, r->counters.cpus_n, j);
	ratios_json(c, "thread_ratios", r->counters.threads, r->counters.threads_n, j);
	ratios_json(c, "cpu_ratios", r->counters.cpus, r->counters.cpus_n, j);
	ty_json_end_object(j);
}

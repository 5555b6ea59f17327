/* SPDX-License-Identifier: MIT */
/* The report's section "regions": regions of user code by name, and one name in depth. */
#include <inttypes.h>
#include <string.h>

#include "event.h"
#include "fields.h"
#include "report.h"
#include "units.h"

#define NAMES_SHOWN   40
#define THREADS_SHOWN 20
#define ROWS_SHOWN    8
#define BAR_WIDTH     40

static const char *kind_name(const void *ctx, const void *record, char *buf, size_t n)
{
	return ty_region_kind_name(((const struct ty_region_stats *)record)->kind);
}

static const char *name(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const struct ty_region_stats *s = record;
	const char *text = ty_model_str(r->s->model, s->name);

	return *text ? text : NULL;
}

static const char *thread(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const struct ty_region_stats *s = record;
	const struct ty_thread *t;

	if (s->thread == TY_NONE)
		return NULL;
	t = ty_model_thread(r->s->model, s->thread);
	snprintf(buf, n, "%s/%d", ty_model_str(r->s->model, t->name), t->tid);
	return buf;
}

/* Regions without a length, and why. */
static const char *unknown(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_region_stats *s = record;
	size_t k = 0;

	*buf = 0;
	if (s->kind == TY_REG_COUNTER)
		snprintf(buf, n, "values %" PRId64 " to %" PRId64 ", last %" PRId64, s->min, s->max,
			 s->last);
	if (s->unended)
		k += (size_t)snprintf(buf, n, "%" PRIu64 " without an end", s->unended);
	if (s->unbegun && k < n)
		k += (size_t)snprintf(buf + k, n - k, "%s%" PRIu64 " without a start",
				      k ? ", " : "", s->unbegun);
	if (s->lost && k < n)
		snprintf(buf + k, n - k, "%s%" PRIu64 " unknown because of lost events",
			 k ? ", " : "", s->lost);
	return buf;
}

#define OF(member) offsetof(struct ty_region_stats, member)
#define LENGTHS                                                                                    \
	{TY_F_U64, "count", "count", 9, .at = OF(count)},                                          \
		{TY_F_U64, "timed", NULL, 0, .at = OF(timed)},                                     \
		{TY_F_DURATION, "p50_ns", "p50", 9, .at = OF(p50_ns)},                             \
		{TY_F_DURATION, "p90_ns", "p90", 9, .at = OF(p90_ns)},                             \
		{TY_F_DURATION, "p99_ns", "p99", 9, .at = OF(p99_ns)},                             \
		{TY_F_DURATION, "max_ns", "max", 9, .at = OF(max_ns)},                             \
		{TY_F_DURATION, "total_ns", "total", 9, .at = OF(total_ns)},                       \
		{TY_F_DURATION, "self_ns", "self", 9, .at = OF(self_ns)},                          \
		{TY_F_U64, "without_end", NULL, 0, .at = OF(unended)},                             \
		{TY_F_U64, "without_begin", NULL, 0, .at = OF(unbegun)},                           \
		{TY_F_U64, "lost", NULL, 0, .at = OF(lost)},                                       \
	{                                                                                          \
		TY_F_TEXT, NULL, "", 0, .text = unknown                                            \
	}

static const struct ty_field name_fields[] = {{TY_F_TEXT, "name", "name", -24, .text = name},
					      {TY_F_TEXT, "kind", "kind", -8, .text = kind_name},
					      LENGTHS,
					      {TY_F_U32, "threads", NULL, 0, .at = OF(threads)},
					      {.type = TY_F_END}};
static const struct ty_field thread_fields[] = {
	{TY_F_TEXT, "thread", "thread", -24, .text = thread},
	{TY_F_TEXT, "kind", "kind", -8, .text = kind_name},
	LENGTHS,
	{.type = TY_F_END}};

static void beside(const struct ty_report *r, FILE *f)
{
	const struct ty_outlier *o = &r->regions.beside;
	char at[TY_TIME_MAX];

	fprintf(f, "\nthe slowest: %s at %s, ", ty_duration(o->slow_ns),
		ty_report_instant(r, o->slow_start_ns, at, sizeof(at)));
	fprintf(f, "compared with a median one: %s at %s\n", ty_duration(o->median_ns),
		ty_report_instant(r, o->median_start_ns, at, sizeof(at)));
	ty_outlier_rows(o, ROWS_SHOWN, f);
	if (o->n > ROWS_SHOWN)
		fprintf(f, "  and %u more with smaller differences\n", o->n - ROWS_SHOWN);
	ty_outlier_parts_text(r, o, f);
}

static void counts_text(const struct ty_report *r, const struct ty_region_stats *s, FILE *f)
{
	if (s->counts.readings)
		ty_count_measures_text(r->s->counts, &s->counts, 4, f);
	if (r->s->counts && s->elsewhere)
		fprintf(f, "    %" PRIu64 " ended in another thread: no counters\n", s->elsewhere);
}

static void counts_json(const struct ty_report *r, const struct ty_region_stats *s,
			struct ty_json *j)
{
	if (s->counts.readings)
		ty_count_measures_json(r->s->counts, &s->counts, 0, j);
	if (r->s->counts)
		ty_json_u64(j, "ended_elsewhere", s->elsewhere);
}

/* From the first power of two with a length to the last one. */
static bool range(const struct ty_region_lengths *l, unsigned *first, unsigned *end)
{
	*first = TY_REGION_POWERS;
	*end = 0;
	for (unsigned k = 0; k < TY_REGION_POWERS; k++)
		if (l->count[k]) {
			*first = k < *first ? k : *first;
			*end = k + 1;
		}
	return *end;
}

static uint64_t from_ns(unsigned power)
{
	return power ? UINT64_C(1) << (power - 1) : 0;
}

static uint64_t below_ns(unsigned power)
{
	return power < 64 ? UINT64_C(1) << power : UINT64_MAX;
}

static void lengths_text(const struct ty_region_lengths *l, unsigned kind, FILE *f)
{
	static const char bar[] = "########################################";
	char from[TY_DURATION_MAX], below[TY_DURATION_MAX];
	unsigned first, end;
	uint64_t most = 0;

	_Static_assert(sizeof(bar) == BAR_WIDTH + 1, "as long as the longest");
	if (!range(l, &first, &end))
		return;
	for (unsigned k = first; k < end; k++)
		most = l->count[k] > most ? l->count[k] : most;
	fprintf(f, "\nlengths (%s)\n%11s %11s %9s\n", ty_region_kind_name(kind), "from", "below",
		"count");
	for (unsigned k = first; k < end; k++) {
		/* One sign for any that is not none. */
		int n = (int)((l->count[k] * BAR_WIDTH + most - 1) / most);

		fprintf(f, "%11s %11s %9" PRIu64 "%s%.*s\n", ty_fmt_duration(from_ns(k), from),
			ty_fmt_duration(below_ns(k), below), l->count[k], n ? "  " : "", n, bar);
	}
}

static void lengths_json(const struct ty_region_lengths *l, struct ty_json *j)
{
	unsigned first, end;

	ty_json_array(j, "lengths");
	if (range(l, &first, &end))
		for (unsigned k = first; k < end; k++) {
			ty_json_object(j, NULL);
			ty_json_u64(j, "from_ns", from_ns(k));
			ty_json_u64(j, "below_ns", below_ns(k));
			ty_json_u64(j, "count", l->count[k]);
			ty_json_end_object(j);
		}
	ty_json_end_array(j);
}

void ty_regions_text(const struct ty_report *r, FILE *f)
{
	const struct ty_field_ctx c = {.ctx = r, .instant = ty_report_instant};
	const struct ty_region_report *q = &r->regions;

	if (!q->n && !(r->requested & TY_REP_REGIONS))
		return;
	fputs("regions of user code: lengths only where start and end are recorded\n", f);
	if (!q->n) {
		fputs("none\n\n", f);
		return;
	}
	if (r->s->counts)
		fputs("below a name: counters, the sum of all its regions (~: an estimate)\n", f);
	ty_fields_head(name_fields, &c, f);
	for (uint32_t i = 0; i < q->n && i < NAMES_SHOWN; i++) {
		ty_fields_text(name_fields, &c, &q->v[i], f);
		counts_text(r, &q->v[i], f);
	}
	if (q->n > NAMES_SHOWN)
		fprintf(f, "and %u more name%s (--json has all)\n", q->n - NAMES_SHOWN,
			q->n - NAMES_SHOWN == 1 ? "" : "s");
	if (q->left_out)
		fprintf(f,
			"%" PRIu64 " regions are not counted: too many. Narrow the recording, or "
			"give more --memory\n",
			q->left_out);
	for (uint32_t i = 0; q->lengths && i < q->n; i++)
		lengths_text(&q->lengths[i], q->v[i].kind, f);
	if (q->by_thread_n) {
		putc('\n', f);
		ty_fields_head(thread_fields, &c, f);
	}
	for (uint32_t i = 0; i < q->by_thread_n && i < THREADS_SHOWN; i++) {
		ty_fields_text(thread_fields, &c, &q->by_thread[i], f);
		counts_text(r, &q->by_thread[i], f);
	}
	if (q->by_thread_n > THREADS_SHOWN)
		fprintf(f, "and %u more thread%s (--json has all)\n",
			q->by_thread_n - THREADS_SHOWN,
			q->by_thread_n - THREADS_SHOWN == 1 ? "" : "s");
	if (q->beside.n)
		beside(r, f);
	putc('\n', f);
}

void ty_regions_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_field_ctx c = {.ctx = r, .instant = ty_report_instant};
	const struct ty_region_report *q = &r->regions;
	const struct ty_outlier *o = &q->beside;

	ty_json_object(j, "regions");
	ty_json_u64(j, "left_out", q->left_out);
	ty_json_array(j, "names");
	for (uint32_t i = 0; i < q->n; i++) {
		ty_json_object(j, NULL);
		ty_fields_json(name_fields, &c, &q->v[i], j);
		if (q->v[i].kind == TY_REG_COUNTER) {
			ty_json_i64(j, "min", q->v[i].min);
			ty_json_i64(j, "max", q->v[i].max);
			ty_json_i64(j, "last", q->v[i].last);
		}
		counts_json(r, &q->v[i], j);
		if (q->lengths)
			lengths_json(&q->lengths[i], j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	if (q->by_thread) {
		ty_json_array(j, "by_thread");
		for (uint32_t i = 0; i < q->by_thread_n; i++) {
			ty_json_object(j, NULL);
			ty_fields_json(thread_fields, &c, &q->by_thread[i], j);
			counts_json(r, &q->by_thread[i], j);
			ty_json_end_object(j);
		}
		ty_json_end_array(j);
	}
	if (o->n) {
		ty_json_object(j, "slowest");
		ty_outlier_json(r, o, j);
		ty_json_end_object(j);
	}
	ty_json_end_object(j);
}

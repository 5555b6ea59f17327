/* SPDX-License-Identifier: MIT */
/* See flow_functions.h. */
#include "flow_functions.h"

#include <inttypes.h>

#include "fields.h"
#include "sentence.h"
#include "time_format.h"
#include "units.h"

enum { CALLERS = 3 };

static const char *func_name(const struct ty_flow_stats *st, uint32_t func)
{
	return func == TY_NO_FUNC ? "(outside)" : ty_flow_calls_function(st->calls_of, func)->name;
}

static const char *name(const void *ctx, const void *record, char *buf, size_t n)
{
	return func_name(ctx, ((const struct ty_flow_func *)record)->func);
}

static const char *file(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_flow_stats *st = ctx;

	return ty_flow_calls_function(st->calls_of, ((const struct ty_flow_func *)record)->func)
		->file;
}

static const char *caller_name(const struct ty_flow_stats *st, uint32_t func)
{
	return func == TY_NO_FUNC ? "outside the traced code" : func_name(st, func);
}

static const char *with_callers(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_flow_func *f = record;
	struct ty_sentence o = {.p = buf, .size = n};

	ty_put(&o, "%s", func_name(ctx, f->func));
	for (size_t i = 0; i < f->callers.n && i < CALLERS; i++)
		ty_put(&o, "%s%" PRIu64 " from %s", i ? ", " : " (", f->callers.v[i].count,
		       caller_name(ctx, f->callers.v[i].func));
	if (f->callers.n)
		ty_put(&o, ")");
	if (f->not_whole)
		ty_put(&o, " [%" PRIu64 " incomplete]", f->not_whole);
	return buf;
}

#define OF(member) offsetof(struct ty_flow_func, member)
static const struct ty_field fields[] = {
	{TY_F_TEXT, "name", NULL, 0, .text = name},
	{TY_F_TEXT, "file", NULL, 0, .text = file},
	{TY_F_DIGITS, "count", "calls", 9, .at = OF(count)},
	{TY_F_U64, "not_whole", NULL, 0, .at = OF(not_whole)},
	{TY_F_DIGITS, NULL, "self insns", 11, .at = OF(self_insns), .gap = 1},
	{TY_F_DIGITS, "insns", "all insns", 11, .at = OF(insns), .gap = 1},
	{TY_F_U64, "self_insns", NULL, 0, .at = OF(self_insns)},
	{TY_F_DIGITS, "p50_insns", "p50 insns", 9, .at = OF(p50_insns), .gap = 1},
	{TY_F_DIGITS, "p99_insns", "p99 insns", 9, .at = OF(p99_insns), .gap = 1},
	{TY_F_DIGITS, "max_insns", "max insns", 9, .at = OF(max_insns), .gap = 1},
	{TY_F_DIGITS, "total_ns", NULL, 0, .at = OF(total_ns)},
	{TY_F_DIGITS, "self_ns", NULL, 0, .at = OF(self_ns)},
	{TY_F_DIGITS, "p50_ns", NULL, 0, .at = OF(p50_ns)},
	{TY_F_DIGITS, "p99_ns", NULL, 0, .at = OF(p99_ns)},
	{TY_F_DIGITS, "max_ns", NULL, 0, .at = OF(max_ns)},
	{TY_F_DIGITS, "max_start_ns", NULL, 0, .at = OF(max_start_ns)},
	{TY_F_I32, "max_tid", NULL, 0, .at = OF(max_tid)},
	{TY_F_TEXT, NULL, "function (callers)", 0, .text = with_callers},
	{.type = TY_F_END}};

/* The part that the rest excludes. */
static void print_not_decoded(const struct ty_flow_stats *st, uint64_t start_ns, FILE *o)
{
	char all[TY_DURATION_MAX], at[TY_TIME_MAX];

	ty_fmt_bytes(st->bytes, all);
	if (st->not_decoded)
		fprintf(o, "not decoded: %.3g%% of %s of packets (%s)",
			st->bytes ? 100.0 * (double)st->not_decoded / (double)st->bytes : 0.0, all,
			ty_byte_count(st->not_decoded));
	else
		fprintf(o, "all %s of packets decoded", all);
	if (st->headless)
		fprintf(o, "; before the first PSB: %s", ty_byte_count(st->headless));
	if (st->lost)
		fprintf(o, "; never recorded: %s", ty_byte_count(st->lost));
	if (st->overflows)
		fprintf(o, "; of unknown size: %" PRIu64 " overflow%s", st->overflows,
			st->overflows == 1 ? "" : "s");
	if (st->gaps && st->first_gap_ns != TY_FLOW_NO_TIME)
		fprintf(o, "; first gap at %s s", ty_fmt_since(st->first_gap_ns, start_ns, 1, at));
	putc('\n', o);
}

void ty_flow_functions_text(const struct ty_flow_stats *st, bool software, uint64_t start_ns,
			    FILE *o)
{
	char at[TY_TIME_MAX], d[TY_DURATION_MAX];
	const struct ty_field_ctx ctx = {.ctx = st};

	print_not_decoded(st, start_ns, o);
	fprintf(o,
		"flow%s: %" PRIu64 " instruction%s, %" PRIu64 " call%s of %zu function%s, %" PRIu64
		" gap%s\n",
		software
			? " (single-stepped: times are not the program's own; compare instructions)"
			: "",
		st->insns, st->insns == 1 ? "" : "s", st->calls, st->calls == 1 ? "" : "s",
		st->functions, st->functions == 1 ? "" : "s", st->gaps, st->gaps == 1 ? "" : "s");
	ty_fields_head(fields, &ctx, o);
	vec_each (f, &st->funcs) {
		ty_fields_text(fields, &ctx, f, o);
		fprintf(o, "%9s time: self %s, p50 %s, p99 %s, max %s", "", ty_duration(f->self_ns),
			ty_duration(f->p50_ns), ty_duration(f->p99_ns),
			ty_fmt_duration(f->max_ns, d));
		if (f->max_ns && f->max_start_ns != TY_FLOW_NO_TIME)
			fprintf(o, " at %s s tid %d",
				ty_fmt_since(f->max_start_ns, start_ns, 1, at), f->max_tid);
		putc('\n', o);
	}
	if (st->beyond)
		fprintf(o,
			"p50 and p99 cover the first %" PRIu64 " calls; %" PRIu64
			" more are only in counts, sums and maxima (narrow with --from and --to, "
			"or give more --memory)\n",
			st->kept, st->beyond);
	if (st->many_funcs)
		fprintf(o,
			"more than %u functions: the later ones are combined as \"%s\" (narrow "
			"with "
			"--from and --to)\n",
			TY_CALLS_FUNCS - 1, func_name(st, TY_CALLS_FUNCS - 1));
	if (st->many_pairs)
		fputs("callers are incomplete, and \"all insns\" may count recursion more than "
		      "once: more than 4 million pairs of functions, or of threads and functions "
		      "(narrow with --from and --to)\n",
		      o);
	if (st->functions > st->funcs.n)
		fprintf(o, "and %zu more function%s (--json has all)\n",
			st->functions - st->funcs.n, st->functions - st->funcs.n == 1 ? "" : "s");
}

void ty_flow_functions_json(const struct ty_flow_stats *st, bool software, FILE *out)
{
	const struct ty_field_ctx ctx = {.ctx = st};
	struct ty_json o;

	ty_json_init(&o, out);
	ty_json_object(&o, NULL);
	ty_json_object(&o, "flow");
	ty_json_bool(&o, "software", software);
	ty_json_u64(&o, "instructions", st->insns);
	ty_json_u64(&o, "calls", st->calls);
	ty_json_u64(&o, "gaps", st->gaps);
	ty_json_u64(&o, "overflows", st->overflows);
	ty_json_u64(&o, "bytes", st->bytes);
	ty_json_u64(&o, "bytes_not_decoded", st->not_decoded);
	ty_json_u64(&o, "bytes_before_first_psb", st->headless);
	ty_json_u64(&o, "bytes_never_recorded", st->lost);
	ty_json_u64(&o, "not_in_percentiles", st->beyond);
	ty_json_bool(&o, "many_functions", st->many_funcs);
	ty_json_bool(&o, "many_pairs", st->many_pairs);
	ty_json_array(&o, "functions");
	vec_each (f, &st->funcs) {
		ty_json_object(&o, NULL);
		ty_fields_json(fields, &ctx, f, &o);
		ty_json_array(&o, "callers");
		vec_each (c, &f->callers) {
			ty_json_object(&o, NULL);
			ty_json_str(&o, "name", func_name(st, c->func));
			ty_json_u64(&o, "count", c->count);
			ty_json_end_object(&o);
		}
		ty_json_end_array(&o);
		ty_json_end_object(&o);
	}
	ty_json_end_array(&o);
	ty_json_end_object(&o);
	ty_json_end_object(&o);
	ty_json_line(&o);
	ty_json_fini(&o);
}

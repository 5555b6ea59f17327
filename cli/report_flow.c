/* SPDX-License-Identifier: MIT */
/* tarry report FILE flow: functions by the cost of their calls. */
#include "report_flow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow_args.h"
#include "flow_choice.h"
#include "flow_stats.h"
#include "json_out.h"
#include "plain_text.h"
#include "report_slowest.h"
#include "text_output.h"
#include "units.h"
#include "cli.h"
#include "reader_options.h"

enum { ROWS = 40, CALLERS = 3 };

static const char head[] =
	"usage: tarry report [FILE] flow [options]\n"
	"\n"
	"Rank functions by executed instructions: calls, instructions (total and self),\n"
	"p50, p99 and maximum per call, and the most frequent callers. Only the packets\n"
	"around the selected time are decoded. With --tid or --cpu, a call counts where\n"
	"it began.\n"
	"\n";

struct job {
	struct ty_flow_args a;
	struct ty_flow_names *names;
	struct ty_flow_stats st;
	struct ty_flow_choice choice;
	bool software;
	const char *slowest;
	struct ty_text_options text;
};

static const char *func_name(const struct job *j, uint32_t func)
{
	return func == TY_NO_FUNC ? "(outside)"
				  : ty_flow_calls_function(j->st.calls_of, func)->name;
}

static void plain(FILE *o, const char *s)
{
	char text[300];

	snprintf(text, sizeof(text), "%s", s);
	ty_plain(text, strlen(text));
	fputs(text, o);
}

/* What the rest is not of. */
static void print_not_decoded(const struct job *j, FILE *o)
{
	const struct ty_flow_stats *st = &j->st;
	char all[TY_DURATION_MAX], part[TY_DURATION_MAX];

	ty_fmt_bytes(st->bytes, all);
	if (st->not_decoded)
		fprintf(o, "not decoded: %.3g%% of %s of packets (%s)",
			st->bytes ? 100.0 * (double)st->not_decoded / (double)st->bytes : 0.0, all,
			ty_fmt_bytes(st->not_decoded, part));
	else
		fprintf(o, "not decoded: nothing of %s of packets", all);
	if (st->headless)
		fprintf(o, "; before the first PSB: %s", ty_fmt_bytes(st->headless, part));
	if (st->lost)
		fprintf(o, "; never recorded: %s", ty_fmt_bytes(st->lost, part));
	if (st->overflows)
		fprintf(o, "; of unknown size: %" PRIu64 " overflow%s", st->overflows,
			st->overflows == 1 ? "" : "s");
	if (st->gaps && st->first_gap_ns != TY_FLOW_NO_TIME)
		fprintf(o, "; first gap at %" PRIu64 ".%09" PRIu64, st->first_gap_ns / 1000000000,
			st->first_gap_ns % 1000000000);
	putc('\n', o);
}

static void print_text(const struct job *j, FILE *o)
{
	char a[TY_DURATION_MAX], b[TY_DURATION_MAX], c[TY_DURATION_MAX], d[TY_DURATION_MAX];
	size_t shown = 0;

	print_not_decoded(j, o);
	fprintf(o,
		"flow%s: %" PRIu64 " instruction%s, %" PRIu64 " call%s of %zu function%s, %" PRIu64
		" gap%s\n",
		j->software
			? " (single-stepped: times are not the program's own; compare instructions)"
			: "",
		j->st.insns, j->st.insns == 1 ? "" : "s", j->st.calls, j->st.calls == 1 ? "" : "s",
		j->st.funcs.n, j->st.funcs.n == 1 ? "" : "s", j->st.gaps,
		j->st.gaps == 1 ? "" : "s");
	fprintf(o, "%9s %11s %11s %9s %9s %9s  %s\n", "calls", "self insns", "all insns",
		"p50 insns", "p99 insns", "max insns", "function (callers)");
	vec_each (f, &j->st.funcs) {
		if (shown++ == ROWS)
			break;
		fprintf(o,
			"%9" PRIu64 " %11" PRIu64 " %11" PRIu64 " %9" PRIu64 " %9" PRIu64
			" %9" PRIu64 "  ",
			f->count, f->self_insns, f->insns, f->p50_insns, f->p99_insns,
			f->max_insns);
		plain(o, func_name(j, f->func));
		for (size_t i = 0; i < f->callers.n && i < CALLERS; i++) {
			fputs(i ? ", " : " (", o);
			plain(o, func_name(j, f->callers.v[i].func));
			fprintf(o, " %" PRIu64, f->callers.v[i].count);
		}
		if (f->callers.n)
			putc(')', o);
		if (f->not_whole)
			fprintf(o, " [%" PRIu64 " not whole]", f->not_whole);
		fprintf(o, "\n%9s time: self %s, p50 %s, p99 %s, max %s", "",
			ty_fmt_duration(f->self_ns, a), ty_fmt_duration(f->p50_ns, b),
			ty_fmt_duration(f->p99_ns, c), ty_fmt_duration(f->max_ns, d));
		if (f->max_ns && f->max_start_ns != TY_FLOW_NO_TIME)
			fprintf(o, " at %" PRIu64 ".%09" PRIu64 " tid %d",
				f->max_start_ns / 1000000000, f->max_start_ns % 1000000000,
				f->max_tid);
		putc('\n', o);
	}
	if (j->st.beyond)
		fprintf(o,
			"p50 and p99 cover the first 8 million calls; %" PRIu64
			" more are only in counts, sums and maxima (narrow with --from and --to)\n",
			j->st.beyond);
	if (j->st.many_funcs)
		fprintf(o,
			"more than %u functions: the later ones are combined as \"%s\" (narrow "
			"with "
			"--from and --to)\n",
			TY_CALLS_FUNCS - 1, func_name(j, TY_CALLS_FUNCS - 1));
	if (j->st.many_pairs)
		fputs("callers are incomplete, and \"all insns\" may count recursion more than "
		      "once: more than 4 million pairs of functions, or of threads and functions "
		      "(narrow with --from and --to)\n",
		      o);
	if (j->st.funcs.n > ROWS)
		fprintf(o, "and %zu more functions (--json has all)\n", j->st.funcs.n - ROWS);
}

static void print_json(const struct job *j)
{
	struct ty_json o;

	ty_json_init(&o, stdout);
	ty_json_object(&o, NULL);
	ty_json_object(&o, "flow");
	ty_json_bool(&o, "software", j->software);
	ty_json_u64(&o, "instructions", j->st.insns);
	ty_json_u64(&o, "calls", j->st.calls);
	ty_json_u64(&o, "gaps", j->st.gaps);
	ty_json_u64(&o, "overflows", j->st.overflows);
	ty_json_u64(&o, "bytes", j->st.bytes);
	ty_json_u64(&o, "bytes_not_decoded", j->st.not_decoded);
	ty_json_u64(&o, "bytes_before_first_psb", j->st.headless);
	ty_json_u64(&o, "bytes_never_recorded", j->st.lost);
	ty_json_u64(&o, "not_in_percentiles", j->st.beyond);
	ty_json_bool(&o, "many_functions", j->st.many_funcs);
	ty_json_bool(&o, "many_pairs", j->st.many_pairs);
	ty_json_array(&o, "functions");
	vec_each (f, &j->st.funcs) {
		ty_json_object(&o, NULL);
		ty_json_str(&o, "name", func_name(j, f->func));
		ty_json_str(&o, "file", ty_flow_calls_function(j->st.calls_of, f->func)->file);
		ty_json_u64(&o, "count", f->count);
		ty_json_u64(&o, "not_whole", f->not_whole);
		ty_json_u64(&o, "insns", f->insns);
		ty_json_u64(&o, "self_insns", f->self_insns);
		ty_json_u64(&o, "p50_insns", f->p50_insns);
		ty_json_u64(&o, "p99_insns", f->p99_insns);
		ty_json_u64(&o, "max_insns", f->max_insns);
		ty_json_u64(&o, "total_ns", f->total_ns);
		ty_json_u64(&o, "self_ns", f->self_ns);
		ty_json_u64(&o, "p50_ns", f->p50_ns);
		ty_json_u64(&o, "p99_ns", f->p99_ns);
		ty_json_u64(&o, "max_ns", f->max_ns);
		ty_json_u64(&o, "max_start_ns", f->max_start_ns);
		ty_json_i64(&o, "max_tid", f->max_tid);
		ty_json_array(&o, "callers");
		vec_each (c, &f->callers) {
			ty_json_object(&o, NULL);
			ty_json_str(&o, "name", func_name(j, c->func));
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

static bool choose(void *ctx, const struct ty_flow_at *at)
{
	return ty_flow_chosen(&((struct job *)ctx)->choice, at);
}

static int report(struct job *j, const char *path, struct ty_err *err)
{
	struct ty_text_output out;
	struct ty_flow_count count = {.extent_of = ty_flow_names_extent,
				      .each_time = j->a.sel.comms.n};
	int r = ty_flow_source_open(&j->a.src, path, err);

	if (r)
		return r;
	j->software = ty_flow_software(j->a.src.flow);
	count.ctx = j->names = ty_flow_source_names(&j->a.src, err);
	if (!j->names || ty_flow_choice_init(&j->choice, &j->a.sel, &j->a.src))
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	/* The slowest call is found again among instructions: its number must be theirs. */
	r = ty_flow_source_window(&j->a.src, path, &j->a.sel, false, j->slowest ? NULL : &count,
				  err);
	if (r)
		return r;
	r = ty_flow_stats(j->a.src.flow, j->names, j->slowest,
			  ty_flow_choosy(&j->choice) ? choose : NULL, j, &j->st, err);
	if (r)
		return r;
	if (j->slowest)
		r = ty_report_slowest(&j->a, j->names, &j->st, j->software, j->slowest, err);
	else if (j->a.sel.json)
		print_json(j);
	else {
		ty_text_output_open(&out, &j->text);
		print_text(j, out.f);
		r = ty_text_output_close(&out, err);
	}
	ty_flow_source_note(&j->a.src);
	return r ? r : ty_cli_written(err);
}

const struct ty_option ty_report_flow_options[] = {
	{0, "slowest", "FUNC",
	 "compare the slowest complete call of FUNC with the median one: where their paths "
	 "diverge, and which functions account for the difference (single-stepping: the call with "
	 "most "
	 "instructions)",
	 .take = ty_take_text, .at = offsetof(struct job, slowest)},
	{0}};

int ty_cmd_report_flow(int argc, char **argv)
{
	struct job j = {0};
	struct ty_err err = {0};
	int status = ty_flow_args_parse(
		&j.a, "report", head, (struct ty_option_group){ty_report_flow_options, .to = &j},
		(struct ty_option_group){ty_text_option_list, .to = &j.text}, argc, argv);

	if (status < 0)
		status = report(&j, j.a.path, &err) ? ty_cli_fail(&err) : TY_EXIT_GOOD;
	ty_flow_stats_fini(&j.st);
	ty_flow_names_free(j.names);
	ty_flow_choice_fini(&j.choice);
	ty_flow_args_fini(&j.a);
	return status;
}

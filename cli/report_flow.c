/* SPDX-License-Identifier: MIT */
/* tarry report FILE flow: functions by the cost of their calls. */
#include "report_flow.h"

#include <stdio.h>

#include "flow_args.h"
#include "flow_select.h"
#include "flow_functions.h"
#include "flow_slowest.h"
#include "flow_stats.h"
#include "text_output.h"
#include "cli.h"

static const char head[] =
	"usage: tarry report [FILE] flow [options]\n"
	"\n"
	"Rank functions by executed instructions: calls, instructions (total and self),\n"
	"p50, p99 and maximum per call, and the most frequent callers. Decoding starts\n"
	"at the PSB packet before --from and ends after --to. With --tid or --cpu, a call\n"
	"counts where it began.\n"
	"\n";

enum { ROWS = 40 };

struct job {
	struct ty_flow_args a;
	struct ty_flow_names *names;
	struct ty_flow_stats st;
	struct ty_flow_choice choice;
	bool software;
	const char *slowest;
	struct ty_text_options text;
};

static bool choose(void *ctx, const struct ty_flow_at *at)
{
	return ty_flow_chosen(&((struct job *)ctx)->choice, at);
}

static int report(struct job *j, const char *path, struct ty_err *err)
{
	struct ty_text_output out;
	struct ty_flow_count count = {.extent_of = ty_flow_names_extent,
				      .each_time = j->a.sel.comms.n};
	uint64_t start_ns;
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
			  j->slowest || j->a.sel.json ? SIZE_MAX : ROWS,
			  ty_flow_choosy(&j->choice) ? choose : NULL, j, &j->st, err);
	if (r)
		return r;
	if (j->slowest)
		r = ty_flow_slowest(&j->a.src, j->a.path, &j->a.sel, j->names, &j->st, j->software,
				    j->slowest, err);
	else if (j->a.sel.json)
		ty_flow_functions_json(&j->st, j->software, stdout);
	else {
		r = ty_flow_source_start(&j->a.src, path, &start_ns, err);
		if (r)
			return r;
		ty_text_output_open(&out, &j->text);
		ty_flow_functions_text(&j->st, j->software, start_ns, out.f);
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

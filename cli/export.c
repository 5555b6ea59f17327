/* SPDX-License-Identifier: MIT */
/* tarry export: converts a recording to another program's format. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explain_session.h"
#include "export_perf.h"
#include "export_trace.h"
#include "cli.h"
#include "ends_with.h"
#include "plain_text.h"
#include "process_titles.h"
#include "reader_options.h"
#include "stalls.h"

#define STALLS_MAX 1000u

static const char head[] =
	"usage: tarry export [FILE] -o OUT [--format perf|dat] [options]\n"
	"       tarry export [FILE] --format perf [options]\n"
	"\n"
	"perf: write a perf.data file for perf script, perf sched and perf trace -i.\n"
	"Events become tracepoint samples. Intel PT, single-stepped instructions (as\n"
	"Intel PT packets; read with perf script --itrace=b) and memory samples are\n"
	"included. --tid, --comm and --cpu select events and samples (perf only). Intel\n"
	"PT is copied from a little before --from to a little after --to, for all threads\n"
	"and CPUs. Arm SPE is copied whole.\n"
	"\n"
	"dat: write a smaller recording, which opens in tarry, trace-cmd and KernelShark.\n"
	"It has the events between --from and --to with their strings, CPU samples and\n"
	"stacks, and the state of every thread and the open descriptors at --from. Intel\n"
	"PT and memory samples are left out.\n"
	"\n";

struct args {
	struct ty_select sel;
	const char *out;
	const char *form; /* --format, or a --to that is no time */
	bool twice;	  /* given two different formats */
};

/* --to names the format, or a time as for all readers: no format begins as a time does. */
static bool is_form(const char *arg)
{
	return (*arg >= 'a' && *arg <= 'z') || (*arg >= 'A' && *arg <= 'Z');
}

static int take_form(void *to, const char *arg, struct ty_err *err)
{
	struct args *a = to;

	a->twice |= a->form && strcmp(a->form, arg);
	a->form = arg;
	return 0;
}

static int take_to(void *to, const char *arg, struct ty_err *err)
{
	struct args *a = to;

	if (is_form(arg))
		return take_form(to, arg, err);
	a->sel.to = arg;
	return 0;
}

/* The format implied by the output's name: x.dat, perf.data, x.perf.data. NULL: none. */
static const char *form_of_name(const char *out)
{
	return !out				? NULL
	       : ty_ends_with(out, ".dat")	? "dat"
	       : ty_ends_with(out, "perf.data") ? "perf"
						: NULL;
}

static const struct ty_option options[] = {
	{0, "format", "FORMAT",
	 "write perf (perf.data) or dat (a smaller recording); default: what the name OUT ends in, "
	 ".dat or perf.data",
	 .take = take_form},
	{0, "to", "T", NULL, .take = take_to}, /* or a format, as in older versions */
	{'o', "output", "OUT",
	 "write to OUT (default for perf: perf.data). With -o an existing perf file is replaced. "
	 "Without -o, ./perf.data is never overwritten. A dat file is never overwritten",
	 .take = ty_take_text, .at = offsetof(struct args, out)},
	{0}};

static int same_file(const char *in, const char *out, struct ty_err *err)
{
	char a[4096], b[4096];

	if (realpath(in, a) && realpath(out, b) && !strcmp(a, b))
		return ty_fail(
			err, TY_EUSAGE, TY_NO_OFFSET,
			"input and output are the same file, %s. Choose another output with -o",
			in);
	return 0;
}

/* Of a stall that continues beyond the part, the cause may not be in it. */
static void say_stalled(struct ty_session *s, const struct ty_window *w, const char *out)
{
	const struct ty_explain x = ty_explain_session(s);
	const uint64_t origin = ty_model_origin_ns(s->model),
		       ended = ty_model_summary(s->model)->end_ns;
	const struct ty_stalls_opts usual = {0};
	struct ty_stalls stalls = {0};
	struct ty_err err = {0};
	uint64_t until = 0;
	uint32_t n = 0, first = 0;
	char t[2][TY_TIME_MAX];

	if (w->to_ns >= ended)
		return;
	if (!ty_stalls_find(&x, w, &usual, STALLS_MAX, &stalls, &err))
		for (uint32_t i = 0; i < stalls.n; i++) {
			const struct ty_span span = ty_model_span(s->model, stalls.v[i].span);

			if (span.end_ns <= w->to_ns)
				continue;
			first = n++ ? first : i;
			until = span.end_ns > until ? span.end_ns : until;
		}
	if (n)
		ty_say("tarry: %s ends during %u stall%s (%s%s), whose cause%s may be missing: "
		       "%s until %s s%s%s\n",
		       out, n, n > 1 ? "s" : "",
		       ty_who(s->model, stalls.v[first].thread, stalls.v[first].start_ns),
		       n > 1 ? " and others" : "", n > 1 ? "s" : "",
		       n > 1 ? "they last" : "it lasts", ty_fmt_since(until, origin, 1000, t[0]),
		       until < ended ? ". Include the end with --to " : "",
		       until < ended ? ty_fmt_since(until + 1000, origin, 1000, t[1]) : "");
	ty_stalls_fini(&stalls);
}

static int export_dat(const char *path, const char *out, const struct ty_select *sel,
		      struct ty_err *err)
{
	struct ty_session s = {0};
	struct ty_window w;
	int r = ty_session_open(&s, path, TY_OPEN_MODEL | (sel->no_index ? TY_OPEN_NO_INDEX : 0),
				sel->memory_bytes, err);

	r = r ? r : ty_select_window(sel, &s, &w, err);
	r = r ? r : ty_export_trace(&s, out, w.from_ns, w.to_ns, err);
	r = r ? r : ty_session_check(&s, err);
	if (!r)
		say_stalled(&s, &w, out);
	if (!r && (ty_trace_section_bytes(s.trace, TY_SEC_PERF) || s.trace->perf_pt ||
		   s.trace->perf_memory))
		ty_say("tarry: %s does not contain the executed instructions and memory samples\n",
		       out);
	if (!r && s.trace->perf_samples)
		ty_say("tarry: %s does not contain the CPU samples of %s\n", out, s.trace->path);
	ty_session_fini(&s);
	return r;
}

static int export_perf(const char *path, const char *out, const struct ty_select *sel,
		       struct ty_err *err)
{
	struct ty_session s = {0};
	struct ty_perf_exported done;
	struct ty_window w;
	int r = 0;

	if (out)
		r = same_file(path ? path : "tarry.dat", out, err);
	else if (!access("perf.data", F_OK))
		r = ty_wrong_value(err,
				   "perf.data already exists: choose another file with -o OUT");
	out = out ? out : "perf.data";
	r = r ? r : ty_session_open(&s, path, TY_OPEN_EVENTS, sel->memory_bytes, err);
	r = r ? r : ty_select_window(sel, &s, &w, err);
	/* Instructions may have been recorded before the first event and after the last. */
	if (!r && !sel->from)
		w.from_ns = 0;
	if (!r && !sel->to)
		w.to_ns = UINT64_MAX;
	r = r ? r : ty_export_perf(&s, &w, out, &done, err);
	if (!r) {
		ty_say("tarry: %" PRIu64 " events", done.events);
		if (done.lost)
			ty_say(" (%" PRIu64 " or more were lost)", done.lost);
		if (done.aux_bytes)
			ty_say(", %" PRIu64 " bytes of AUX data", done.aux_bytes);
		ty_say(" -> %s\n", out);
	}
	if (!r && done.uncut)
		ty_say("tarry: Arm SPE data, and Intel PT without times, is exported whole. --from "
		       "and --to apply to events and to Intel PT with times only.\n");
	if (!r && done.images)
		ty_say("tarry: %s has images of code that is in no file (vdso, JIT), which perf "
		       "cannot decode\n",
		       s.trace->path);
	ty_session_fini(&s);
	return r;
}

/* The file, and whether all is there: -1, or the exit status. */
static int check(struct args *a, char **words, int n)
{
	if (n > 1)
		return ty_cli_usage("export", "unexpected argument %s: only one FILE can be given",
				    words[1]);
	if (a->twice)
		return ty_cli_usage("export", "two formats are given: choose --format perf or dat");
	if (!a->form)
		a->form = form_of_name(a->out);
	if (!a->form)
		return ty_cli_usage("export", "the format is missing: give --format perf or dat, "
					      "or an output name that ends in .dat or perf.data");
	if (strcmp(a->form, "perf") && strcmp(a->form, "dat"))
		return ty_cli_usage("export", "unknown format %s: give --format perf or dat",
				    a->form);
	if (!strcmp(a->form, "perf"))
		return -1;
	if (a->sel.tids.n || a->sel.comms.n || a->sel.cpus.n)
		return ty_cli_usage("export",
				    "--tid, --comm and --cpu cannot be used with format dat");
	return a->out ? -1 : ty_cli_usage("export", "format dat needs -o OUT");
}

int ty_cmd_export(int argc, char **argv)
{
	struct args a = {0};
	const struct ty_command_line line = {
		"export", head,
		.groups = {{options, .to = &a},
			   {ty_select_options, .to = &a.sel, .title = "Select a part:"},
			   {ty_memory_option, .to = &a.sel},
			   {ty_unused_options, .to = &a.sel}}};
	struct ty_err err = {0};
	int status = ty_options_parse(&line, argc, argv);

	if (status < 0)
		status = check(&a, argv + optind, argc - optind);
	if (status < 0)
		status = (strcmp(a.form, "dat") ? export_perf : export_dat)(argv[optind], a.out,
									    &a.sel, &err)
				 ? ty_cli_fail(&err)
				 : TY_EXIT_GOOD;
	ty_select_fini(&a.sel);
	return status;
}

/* SPDX-License-Identifier: MIT */
/* tarry report: arguments, and the selection of sections. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "flow_args.h"
#include "reader_options.h"
#include "report.h"
#include "report_flow.h"
#include "mem_session.h"
#include "perf_contents.h"
#include "text_output.h"
#include "report_memory.h"
#include "trace.h"
#include "units.h"

static const char head[] =
	"usage: tarry report [FILE] [SECTION...] [options]\n"
	"       tarry report [FILE] regions [NAME]\n"
	"       tarry report [FILE] memory|sharing: see tarry report memory --help\n"
	"       tarry report [FILE] flow: see tarry report flow --help\n"
	"\n"
	"  answer     say where the time went, in ten lines at most\n"
	"  findings   rank repeated small costs by total time: failing calls, polled\n"
	"             locks, fsync storms, short-lived children. Also calls that failed\n"
	"             at a limit (EMFILE, ENOSPC), and requests far slower than others\n"
	"  stalls     rank waits that kept threads from making progress; name causes\n"
	"  ledger     account for every nanosecond of the command and of each thread\n"
	"  chain      show the wakeup chain of the wait at --at T of thread --tid N\n"
	"  header     show what was recorded, when, on which machine, at what cost\n"
	"  syscalls   count and time system calls by name (full durations, even\n"
	"             beyond --from and --to)\n"
	"  threads    split each thread's time by state (alias: sched)\n"
	"  longest    list the ten longest waits, and the ten longest waits for a CPU\n"
	"  loss       list where events were lost\n"
	"  outliers   compare the slowest call with a median one, per thread and\n"
	"             system call\n"
	"  diff       compare --from..--to with the rest, as rates, ranked by change\n"
	"  stacks     sum off-CPU time of long waits by user stack\n"
	"  objects    sum time, calls and bytes by file, pipe, socket, device and lock\n"
	"  hot        rank functions and source lines by CPU samples\n"
	"  requests   count and time requests of servers, and explain the slowest\n"
	"  regions    count and time regions of user code; with a NAME also by thread,\n"
	"             and the slowest compared with a median one\n"
	"  counters   list performance counters by thread and CPU (record --counter)\n"
	"Default: all sections except chain, outliers, diff, stacks, objects and hot.\n"
	"Empty ones are left out. Of the ledger, only the largest rows of a\n"
	"traced command are shown (none with -p or -a).\n"
	"\n";

static const struct {
	const char *name;
	unsigned bit;
} section_names[] = {
	{"answer", TY_REP_ANSWER},     {"findings", TY_REP_FINDINGS}, {"stalls", TY_REP_STALLS},
	{"ledger", TY_REP_LEDGER},     {"chain", TY_REP_CHAIN},	      {"header", TY_REP_HEADER},
	{"syscalls", TY_REP_SYSCALLS}, {"threads", TY_REP_THREADS},   {"sched", TY_REP_THREADS},
	{"longest", TY_REP_LONGEST},   {"loss", TY_REP_LOSS},	      {"outliers", TY_REP_OUTLIERS},
	{"diff", TY_REP_DIFF},	       {"requests", TY_REP_REQUESTS}, {"stacks", TY_REP_STACKS},
	{"objects", TY_REP_OBJECTS},   {"hot", TY_REP_HOT},	      {"regions", TY_REP_REGIONS},
	{"counters", TY_REP_COUNTERS}};

static unsigned section_bit(const char *s)
{
	for (size_t i = 0; i < sizeof(section_names) / sizeof(*section_names); i++)
		if (!strcmp(s, section_names[i].name))
			return section_names[i].bit;
	return 0;
}

struct args {
	struct ty_select sel;
	struct ty_report_query q;
	const char *path;
	struct ty_report r;
	struct ty_texts roots;
	struct ty_text_options text;
};

static int take_min(void *to, const char *arg, struct ty_err *err)
{
	uint64_t *ns = to;

	if (ty_parse_duration(arg, ns) || !*ns)
		return ty_wrong_value(err, "--min %s is not a duration such as 20ms or 1s", arg);
	return 0;
}

static int take_why(void *to, const char *arg, struct ty_err *err)
{
	uint32_t *n = to;
	uint64_t v;

	if (ty_parse_count(arg, UINT32_MAX, &v))
		return ty_wrong_value(err, "--why %s is not the number of a stall such as 1", arg);
	*n = (uint32_t)v;
	return 0;
}

static const struct ty_option options[] = {
	{0, "all", NULL, "stalls: also show the waits that are not stalls", .take = ty_take_flag,
	 .at = offsetof(struct args, q.stalls.all)},
	{0, "min", "T",
	 "stalls: show waits of at least T (default 20ms). Waits for a CPU and on-CPU system "
	 "calls must last 2.5 times T",
	 .take = take_min, .at = offsetof(struct args, q.stalls.min_ns)},
	{0, "why", "N",
	 "stalls: show the evidence for stall N: the rule that classified it, and the recorded "
	 "events from victim to root cause",
	 .take = take_why, .at = offsetof(struct args, r.why)},
	{0, "not-stalls", NULL,
	 "stalls: list only the waits that are not stalls, each with its rule",
	 .take = ty_take_flag, .at = offsetof(struct args, r.rejected)},
	/* Its former name. */
	{0, "rejected", NULL, NULL, .take = ty_take_flag, .at = offsetof(struct args, r.rejected)},
	{0, "process", NULL, "ledger: add up the threads of each process", .take = ty_take_flag,
	 .at = offsetof(struct args, r.processes)},
	{0, "at", "T", "chain: start from the wait at T", .take = ty_take_text,
	 .at = offsetof(struct args, q.at)},
	{0, "symfs", "DIR",
	 "stalls, stacks, hot: look for the recorded machine's files in DIR (repeatable)",
	 .take = ty_take_texts, .at = offsetof(struct args, roots)},
	{0, "log", "FILE",
	 "stalls: show the lines of a log file around each stall (by timestamp; repeatable)",
	 .take = ty_take_texts, .at = offsetof(struct args, r.logs.path)},
	{0}};

/* The file and the sections: -1, or the exit status. */
static int take_words(struct args *a, char **words, int n)
{
	for (int i = 0; i < n; i++) {
		unsigned bit = section_bit(words[i]);

		/* The first word is the file; with no other word it may be a section. */
		if (!a->path && (i + 1 < n || !bit))
			a->path = words[i];
		else if (bit)
			a->q.sections |= bit;
		else if (i && !strcmp(words[i - 1], "regions") && a->q.sections & TY_REP_REGIONS)
			a->q.region = words[i];
		else if (!access(words[i], F_OK))
			return ty_cli_usage(
				"report",
				"only one FILE can be given, before the sections (found %s "
				"and %s)",
				a->path ? a->path : words[0], words[i]);
		else
			return ty_cli_usage(
				"report",
				"unknown section %s: give answer, findings, stalls, ledger, "
				"chain, header, syscalls, "
				"threads, longest, loss, outliers, diff, requests, stacks, "
				"objects, hot, regions, counters, memory, sharing, flow",
				words[i]);
	}
	if (a->r.why && a->r.rejected)
		return ty_cli_usage("report", "give --why or --not-stalls, not both");
	if ((a->r.why || a->r.rejected) && !a->q.sections)
		a->q.sections = TY_REP_STALLS;
	if ((a->r.why || a->r.rejected) && !(a->q.sections & TY_REP_STALLS))
		return ty_cli_usage("report", "--why and --not-stalls need the stalls section");
	if (a->q.sections & TY_REP_CHAIN && (!a->q.at || a->sel.tids.n != 1))
		return ty_cli_usage("report", "chain needs --at T and --tid N");
	return -1;
}

static int report(struct args *a)
{
	struct ty_session s = {0};
	struct ty_report *r = &a->r;
	struct ty_err err = {0};
	unsigned shown = a->q.sections ? a->q.sections : TY_REP_ALL;
	struct ty_text_output out;
	int status = TY_EXIT_GOOD;

	r->s = &s;
	if (a->path && !a->q.sections && !a->q.at && ty_mem_session_is_perf(a->path) &&
	    !ty_trace_in_perf(a->path))
		return ty_perf_contents(a->path, a->sel.json, stdout, &err) || ty_cli_written(&err)
			       ? ty_cli_fail(&err)
			       : TY_EXIT_GOOD;
	if (a->path && a->q.sections == TY_REP_HOT && ty_mem_session_is_perf(a->path) &&
	    !ty_trace_in_perf(a->path))
		return ty_hot_perf(a->path, &a->sel, &a->roots, stdout, &err) ||
				       ty_cli_written(&err)
			       ? ty_cli_fail(&err)
			       : TY_EXIT_GOOD;
	if (ty_session_open(&s, a->path, TY_OPEN_MODEL | (a->sel.no_index ? TY_OPEN_NO_INDEX : 0),
			    a->sel.memory_bytes, &err) ||
	    ty_session_symfs(&s, &a->roots) || ty_select_clock(&a->sel, &s, &err) ||
	    ty_select_window(&a->sel, &s, &r->w, &err) ||
	    ty_report_logs_read(&r->logs, s.model, &err) ||
	    ty_report_find(r, &a->sel, &a->q, &err)) {
		status = ty_cli_fail(&err);
	} else {
		r->explained.logs = &r->logs;
		if (a->sel.json) {
			ty_report_json(r, stdout);
		} else {
			ty_text_output_open(&out, &a->text);
			ty_report_text(r, shown, out.f);
			if (ty_text_output_close(&out, &err))
				status = ty_cli_fail(&err);
		}
		if (ty_session_check(&s, &err) || ty_cli_written(&err))
			status = ty_cli_fail(&err);
	}
	ty_report_fini(r);
	ty_session_fini(&s);
	return status;
}

int ty_cmd_report(int argc, char **argv)
{
	struct args a = {0};
	const struct ty_command_line line = {"report", head,
					     .groups = {{options, .to = &a},
							{ty_json_option, .to = &a.sel},
							{ty_text_option_list, .to = &a.text},
							{ty_select_options, .to = &a.sel},
							{ty_clock_option, .to = &a.sel},
							{ty_memory_option, .to = &a.sel},
							{ty_index_option, .to = &a.sel}}};
	const struct ty_command_line any = {.groups = {{.options = options},
						       {.options = ty_json_option},
						       {.options = ty_text_option_list},
						       {.options = ty_select_options},
						       {.options = ty_clock_option},
						       {.options = ty_memory_option},
						       {.options = ty_index_option},
						       {.options = ty_report_memory_options},
						       {.options = ty_mem_options},
						       {.options = ty_report_flow_options},
						       {.options = ty_packet_options},
						       {.options = ty_code_options}}};
	int status;

	if (ty_options_have(&any, (const char *const[]){"memory", "sharing", NULL}, argc, argv))
		return ty_cmd_report_memory(argc, argv);
	if (ty_options_have(&any, (const char *const[]){"flow", "--slowest", NULL}, argc, argv))
		return ty_cmd_report_flow(argc, argv);
	status = ty_flow_options_refuse("report", &any, argc, argv);
	if (status < 0)
		status = ty_options_parse(&line, argc, argv);
	if (status < 0)
		status = take_words(&a, argv + optind, argc - optind);
	if (status < 0)
		status = report(&a);
	ty_report_logs_fini(&a.r.logs);
	vec_fini(&a.roots);
	ty_select_fini(&a.sel);
	return status;
}

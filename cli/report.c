/* SPDX-License-Identifier: MIT */
/* tarry report: arguments, and the findings that text (report_text.c) and JSON share. */
#include "report.h"
#include "flow_args.h"
#include "mem_session.h"
#include "report_flow.h"
#include "report_memory.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aside.h"
#include "explain_session.h"
#include "units.h"

static const char head[] =
	"usage: tarry report [FILE] [SECTION...] [options]\n"
	"       tarry report [FILE] memory|sharing: see tarry report memory --help\n"
	"       tarry report [FILE] flow [options]: executed instructions, see tarry report flow "
	"--help\n\n"
	"  stalls     who or what held a thread up, ranked: one sentence each\n"
	"  ledger     where every nanosecond went: of the command, of each thread (or --process)\n"
	"  chain      with --at T --tid N: who ended that wait, what it did meanwhile, and so on\n"
	"  header     what was recorded, where and when, and what it cost\n"
	"  syscalls   system calls by name: how many, how long (whole durations)\n"
	"  threads    where each thread's time went (also: sched)\n"
	"  longest    the ten longest blocked and runnable spans\n"
	"  loss       where events were lost\n"
	"  outliers   per system call and thread, the slowest beside a median one, and what "
	"differed\n"
	"  diff       with --from, --to: that part against the rest, per second, ranked by change\n"
	"Without a section: all but ledger, chain, outliers and diff.\n\n";

static const struct {
	const char *name;
	unsigned bit;
} section_names[] = {
	{"stalls", TY_REP_STALLS},     {"ledger", TY_REP_LEDGER},     {"chain", TY_REP_CHAIN},
	{"header", TY_REP_HEADER},     {"syscalls", TY_REP_SYSCALLS}, {"threads", TY_REP_THREADS},
	{"sched", TY_REP_THREADS},     {"longest", TY_REP_LONGEST},   {"loss", TY_REP_LOSS},
	{"outliers", TY_REP_OUTLIERS}, {"diff", TY_REP_DIFF}};

static unsigned section_bit(const char *s)
{
	for (size_t i = 0; i < sizeof(section_names) / sizeof(*section_names); i++)
		if (!strcmp(s, section_names[i].name))
			return section_names[i].bit;
	return 0;
}

void ty_report_call(const struct ty_report *r, uint32_t call, struct ty_buf *out)
{
	struct ty_syscall c = ty_model_syscall(r->s->model, call);
	struct ty_event ev;
	char name[32];

	ty_buf_adds(out, ty_syscall_name(r->s->arch, c.abi, c.nr, name));
	if (c.loc == TY_NO_LOC || ty_events_read_at(r->s->events, c.loc, &ev, NULL) ||
	    ev.kind != TY_EV_SYS_ENTER)
		return;
	ty_buf_addc(out, '(');
	ty_syscall_fmt_args(r->s->arch, c.abi, c.nr, ev.u.enter.args, out);
	ty_buf_addc(out, ')');
}

const char *ty_report_context(uint8_t context)
{
	if (context & TY_EVF_NMI)
		return "nmi";
	if (context & TY_EVF_HARDIRQ)
		return "irq";
	return context & TY_EVF_SOFTIRQ ? "softirq" : NULL;
}

/* What the sections (bits) show, but for what explained() and correlated() find. */
static int find(struct ty_report *r, unsigned sections, struct ty_err *err)
{
	const struct ty_model *m = r->s->model;
	const struct ty_summary *sum = ty_model_summary(m);
	unsigned blocked = 1u << TY_ST_SLEEPING | 1u << TY_ST_BLOCKED | 1u << TY_ST_STOPPED;
	bool any_traced = false;

	r->whole = r->w.from_ns <= sum->start_ns && r->w.to_ns >= sum->end_ns;
	r->selected = r->w.tids_n || r->w.comms_n || r->w.cpus_n;
	for (uint32_t i = 0; i < sum->threads && !any_traced; i++)
		any_traced = ty_model_thread(m, i)->traced;
	/* Somebody else's sleep is not what the recording was made for; somebody else's work, that
	 * kept ours from running, or wait for a device may well be. */
	r->blocked_ours = any_traced && !r->selected;
	if (sections & TY_REP_LONGEST) {
		r->blocked_n =
			ty_longest(m, &r->w, blocked | (r->blocked_ours ? TY_LONGEST_OURS : 0),
				   r->blocked, TY_REP_WAITS);
		r->runnable_n =
			ty_longest(m, &r->w, 1u << TY_ST_RUNNABLE, r->runnable, TY_REP_WAITS);
	}
	if ((sections & TY_REP_SYSCALLS &&
	     ty_syscall_stats(m, &r->w, r->s->arch, &r->calls, &r->calls_n)) ||
	    (sections & TY_REP_THREADS && ty_thread_stats(m, &r->w, &r->threads, &r->threads_n)))
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory",
			       r->s->trace->path);
	return 0;
}

/* Stalls, ledgers, chain: as far as they are asked for. */
static int explained(struct ty_report *r, const struct ty_select *sel, const char *at,
		     unsigned sections, const struct ty_stalls_opts *o, struct ty_err *err)
{
	struct ty_explain_at when = {0};
	unsigned what = 0;

	if (sel->json || !sections || sections & TY_REP_STALLS)
		what |= TY_EXPLAIN_STALLS;
	if (sel->json || sections & TY_REP_LEDGER)
		what |= TY_EXPLAIN_LEDGER | (r->processes ? TY_EXPLAIN_PROCESSES : 0) |
			(sel->json ? 0 : TY_EXPLAIN_FEW);
	if (sections & TY_REP_CHAIN) {
		uint64_t at_ns;
		int status = ty_select_instant(r->s, "--at", at, &at_ns, err);

		if (status)
			return status;
		what |= TY_EXPLAIN_CHAIN;
		when = (struct ty_explain_at){at_ns, sel->tids.v[0]};
	}
	return ty_explained_find(r->s, &r->w, what, o, &when, &r->explained, err);
}

/* Outliers and comparison: when asked for. */
static int correlated(struct ty_report *r, unsigned sections, struct ty_err *err)
{
	struct ty_explain x = ty_explain_session(r->s);
	int status = 0;

	r->asked = sections;
	if (sections & TY_REP_OUTLIERS)
		status = ty_outliers_find(&x, &r->w, TY_REP_OUTLIERS_MAX, &r->outliers, err);
	if (!status && sections & TY_REP_DIFF)
		status = ty_diff_find(&x, &r->w, &r->diff, err);
	return status;
}

struct args {
	struct ty_select sel;
	struct ty_stalls_opts stalls;
	const char *path, *at;
	unsigned sections;
	struct ty_report r;
};

static int take_min(void *to, const char *arg, struct ty_err *err)
{
	uint64_t *ns = to;

	if (ty_parse_duration(arg, ns) || !*ns)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "--min %s: a duration, as 20ms or 1s",
			       arg);
	return 0;
}

static const struct ty_option options[] = {
	{0, "all", NULL, "stalls: waiting for work, too", .take = ty_take_flag,
	 .at = offsetof(struct args, stalls.all)},
	{0, "min", "T", "stalls: from this length on (default 20ms)", .take = take_min,
	 .at = offsetof(struct args, stalls.min_ns)},
	{0, "process", NULL, "ledger: of each process, its threads together", .take = ty_take_flag,
	 .at = offsetof(struct args, r.processes)},
	{0, "at", "T", "chain: a time within the wait", .take = ty_take_text,
	 .at = offsetof(struct args, at)},
	{0, "log", "FILE",
	 "stalls: lines of a log file around each, by the times in them; may be repeated",
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
			a->sections |= bit;
		else
			return ty_cli_usage(
				"report",
				"'%s' is no section: stalls, ledger, chain, header, syscalls, "
				"threads, longest, loss, outliers, diff",
				words[i]);
	}
	if (a->sections & TY_REP_CHAIN && (!a->at || a->sel.tids.n != 1))
		return ty_cli_usage("report", "chain needs --at T and --tid N");
	return -1;
}

/* find() beside explained(): both only read the model. */
struct beside {
	struct ty_aside aside;
	struct ty_report *r;
	unsigned sections;
	int status;
	struct ty_err err;
};

static void find_beside(void *ctx)
{
	struct beside *b = ctx;

	b->status = find(b->r, b->sections, &b->err);
}

static int find_all(struct args *a, unsigned shown, struct ty_err *err)
{
	struct beside b = {.r = &a->r, .sections = a->sel.json ? TY_REP_ALL : shown};
	int status;

	ty_aside_start(&b.aside, b.sections & (TY_REP_SYSCALLS | TY_REP_THREADS), find_beside, &b);
	status = explained(&a->r, &a->sel, a->at, a->sections, &a->stalls, err);
	ty_aside_stop(&b.aside);
	if (!status && b.status) {
		status = b.status;
		*err = b.err;
	}
	return status ? status : correlated(&a->r, a->sections, err);
}

static int report(struct args *a)
{
	struct ty_session s = {0};
	struct ty_report *r = &a->r;
	struct ty_err err = {0};
	unsigned shown = a->sections ? a->sections : TY_REP_ALL;
	int status;

	r->s = &s;
	if (ty_session_open(&s, a->path, TY_OPEN_MODEL | (a->sel.no_index ? TY_OPEN_NO_INDEX : 0),
			    a->sel.memory_bytes, &err) ||
	    ty_select_clock(&a->sel, &s, &err) || ty_select_window(&a->sel, &s, &r->w, &err) ||
	    ty_report_logs_read(&r->logs, s.model, &err) || find_all(a, shown, &err)) {
		status = ty_cli_fail(&err);
	} else {
		r->explained.logs = &r->logs;
		if (a->sel.json)
			ty_report_json(r, stdout);
		else
			ty_report_text(r, shown, stdout);
		status = ty_session_check(&s, &err) ? ty_cli_fail(&err) : TY_EXIT_GOOD;
		if (ty_cli_written(&err))
			status = ty_cli_fail(&err);
	}
	ty_explained_fini(&r->explained);
	ty_outliers_fini(&r->outliers);
	ty_diff_fini(&r->diff);
	free(r->calls);
	free(r->threads);
	ty_session_fini(&s);
	return status;
}

int ty_cmd_report(int argc, char **argv)
{
	struct args a = {0};
	const struct ty_command_line line = {"report", head,
					     .groups = {{options, .to = &a},
							{ty_json_option, .to = &a.sel},
							{ty_select_options, .to = &a.sel},
							{ty_clock_option, .to = &a.sel},
							{ty_memory_option, .to = &a.sel},
							{ty_index_option, .to = &a.sel}}};
	const struct ty_command_line any = {.groups = {{.options = options},
						       {.options = ty_json_option},
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
	status = ty_options_parse(&line, argc, argv);
	if (status < 0)
		status = take_words(&a, argv + optind, argc - optind);
	if (status < 0)
		status = report(&a);
	ty_report_logs_fini(&a.r.logs);
	ty_select_fini(&a.sel);
	return status;
}

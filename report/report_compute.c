/* SPDX-License-Identifier: MIT */
/* Computes the contents of a report once, for text (report_text.c) and JSON (report_json.c). */
#include "report.h"

#include <stdlib.h>

#include "background.h"
#include "explain_session.h"
#include "shell_word.h"
#include "trace.h"

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

/* Computes the sections (bits), except those of explained() and correlated(). */
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
	/* Sleeps of processes that were not traced are not reported; their work that kept a traced
	 * thread from running, or their waits for a device, are. */
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

/* Stalls, ledgers, chain: those that were requested. */
static int explained(struct ty_report *r, const struct ty_select *sel,
		     const struct ty_report_query *q, struct ty_err *err)
{
	struct ty_stalls_opts stalls = q->stalls;
	struct ty_explain_at when = {0};
	unsigned what = 0;
	int status;

	if (!sel->json && q->sections == TY_REP_HEADER) /* reads no strings */
		return 0;
	if (sel->json || !q->sections || q->sections & TY_REP_STALLS)
		what |= TY_EXPLAIN_STALLS;
	if (sel->json || q->sections & TY_REP_LEDGER)
		what |= TY_EXPLAIN_LEDGER | (r->processes ? TY_EXPLAIN_PROCESSES : 0) |
			(sel->json ? 0 : TY_EXPLAIN_FEW);
	if (q->sections & TY_REP_CHAIN) {
		uint64_t at_ns;
		status = ty_select_instant(r->s, "--at", q->at, &at_ns, err);

		if (status)
			return status;
		what |= TY_EXPLAIN_CHAIN;
		when = (struct ty_explain_at){at_ns, sel->tids.v[0]};
	}
	if (what & TY_EXPLAIN_STALLS ||
	    q->sections & (TY_REP_REQUESTS | TY_REP_ANSWER | TY_REP_FINDINGS)) {
		struct ty_explain x = ty_explain_session(r->s);
		status = ty_requests_find(&x, &r->w, TY_REQUESTS_KEPT,
					  q->sections & TY_REP_REQUESTS ? 0 : TY_REQUESTS_CALLS,
					  &r->requests, err);

		if (status)
			return status;
		stalls.requests = &r->requests;
	}
	stalls.rejected = r->rejected;
	status = ty_explained_find(r->s, &r->w, what, &stalls, &when, &r->explained, err);
	if (!status && r->why > r->explained.stalls.n) {
		char file[400];

		status =
			ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				"--why %u: there %s %u stall%s (tarry report %s stalls lists them)",
				r->why, r->explained.stalls.n == 1 ? "is" : "are",
				r->explained.stalls.n, r->explained.stalls.n == 1 ? "" : "s",
				ty_shell_word(r->s->trace->path, "FILE", file, sizeof(file)));
	}
	return status;
}

static int answered(struct ty_report *r, struct ty_err *err)
{
	struct ty_explain x = ty_explain_session(r->s);
	const struct ty_stalls *stalls = &r->explained.stalls;
	int status;

	x.paths = &r->explained.paths;
	status = ty_answer_find(&x, &r->w, &r->requests, &r->answer);
	ty_kept_paths_fini(x.paths);
	x.paths = NULL;
	if (!status)
		ty_answer_stalls(&x, stalls, &r->answer);
	if (!status)
		status = ty_findings_find(&x, &r->w, &r->answer, &r->requests, &r->findings);
	if (!status) /* without the section of stalls there are none */
		ty_findings_leave(&r->findings, stalls->v,
				  stalls->n < TY_EXPLAINED_SHOWN ? stalls->n : TY_EXPLAINED_SHOWN);
	if (!status)
		status = ty_hot_note(r);
	return status ? ty_fail(err, -status, TY_NO_OFFSET, "answer: %s", ty_strerror(status)) : 0;
}

static int regions(struct ty_report *r, const struct ty_report_query *q, struct ty_err *err)
{
	struct ty_explain x;
	int status;

	x = ty_explain_session(r->s);
	status = ty_region_report_find(&x, &r->w, q->region, &r->regions);

	if (status == -TY_ENOTFOUND && !ty_model_regions(r->s->model))
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "%s: no regions were recorded (record them with tarry.h, --span or "
			       "--usdt)",
			       r->s->trace->path);
	if (status == -TY_ENOTFOUND)
		return ty_fail(
			err, TY_ENOTFOUND, TY_NO_OFFSET,
			"%s: no region is called '%s' in %s (tarry report FILE regions lists the "
			"names)",
			r->s->trace->path, q->region,
			r->whole ? "this recording" : "the selected part");
	return status ? ty_fail(err, -status, TY_NO_OFFSET, "%s: regions: %s", r->s->trace->path,
				ty_strerror(status))
		      : 0;
}

/* Outliers and comparison: when requested. */
static int correlated(struct ty_report *r, unsigned sections, struct ty_err *err)
{
	struct ty_explain x;
	int status = 0;

	r->requested = sections;
	if (!(sections & (TY_REP_OUTLIERS | TY_REP_DIFF)))
		return 0;
	x = ty_explain_session(r->s);
	if (sections & TY_REP_OUTLIERS)
		status = ty_outliers_find(&x, &r->w, TY_REP_OUTLIERS_MAX, &r->outliers, err);
	if (!status && sections & TY_REP_DIFF)
		status = ty_diff_find(&x, &r->w, &r->diff, err);
	return status;
}

/* find() beside explained(): both only read the model. */
struct beside {
	struct ty_background aside;
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

int ty_report_find(struct ty_report *r, const struct ty_select *sel,
		   const struct ty_report_query *q, struct ty_err *err)
{
	unsigned shown = q->sections ? q->sections : TY_REP_ALL;
	struct beside b = {.r = r, .sections = sel->json ? TY_REP_ALL : shown};
	int status;

	if (b.sections & (TY_REP_LEDGER | TY_REP_ANSWER | TY_REP_REGIONS | TY_REP_REQUESTS) &&
	    ty_session_functions(r->s, NULL))
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for the samples",
			       r->s->trace->path);
	/* Where they are damaged, the section of counters says so. */
	if (b.sections & (TY_REP_REGIONS | TY_REP_REQUESTS) &&
	    ty_session_counts(r->s, NULL) == -TY_ENOMEM)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for its counters",
			       r->s->trace->path);
	ty_background_start(&b.aside, b.sections & (TY_REP_SYSCALLS | TY_REP_THREADS), find_beside,
			    &b);
	status = explained(r, sel, q, err);
	if (!status && b.sections & (TY_REP_ANSWER | TY_REP_FINDINGS))
		status = answered(r, err);
	ty_background_stop(&b.aside);
	if (!status && b.status) {
		status = b.status;
		*err = b.err;
	}
	if (!status && b.sections & TY_REP_REGIONS)
		status = regions(r, q, err);
	if (!status && q->sections & TY_REP_STACKS && ty_stack_groups_find(r->s, &r->w, &r->stacks))
		status = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for the stacks",
				 r->s->trace->path);
	if (!status && q->sections & TY_REP_OBJECTS)
		status = ty_object_totals_find(r->s, &r->w, &r->objects, err);
	if (!status && q->sections & TY_REP_HOT)
		status = ty_hot_section_find(r, err);
	if (!status && b.sections & TY_REP_COUNTERS)
		status = ty_counters_section_find(r, err);
	return status ? status : correlated(r, q->sections, err);
}

void ty_report_fini(struct ty_report *r)
{
	ty_explained_fini(&r->explained);
	ty_outliers_fini(&r->outliers);
	ty_diff_fini(&r->diff);
	ty_requests_fini(&r->requests);
	ty_region_report_fini(&r->regions);
	ty_stack_groups_fini(&r->stacks);
	ty_hot_fini(&r->hot);
	ty_count_stats_fini(&r->counters);
	ty_object_totals_fini(&r->objects);
	free(r->calls);
	free(r->threads);
}

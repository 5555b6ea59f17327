/* SPDX-License-Identifier: MIT */
/* Pages of waits: the wakeup chain of a wait, and a thread's ledger. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glyphs.h"
#include "ledger_samples.h"
#include "ruler.h"
#include "timeline_priv.h"

static void add_link(struct ty_timeline *t, const struct ty_link *l, unsigned depth)
{
	char who[TY_THREAD_NAME_MAX], len[TY_TIME_MAX], at[TY_TIME_MAX], what[TY_LINK_TEXT];
	char piece[TY_TIME_MAX];
	uint64_t ns = l->end_ns - l->start_ns;

	ty_link_text(t->in->explain, l, "", what, sizeof(what));
	ty_page_add(&t->page, depth ? TY_ROLE_TEXT : TY_ROLE_STRONG,
		    "%11s  %*s%s%s %s, %s%s%sstarting at %s",
		    ty_fmt_length(l->all_ns > ns ? l->all_ns : ns, len), (int)(depth * 2), "",
		    depth ? "<- " : "", ty_timeline_thread_name(t, l->thread, l->start_ns, who),
		    what,
		    l->all_ns <= ns	      ? ""
		    : l->what == TY_SEG_WHATS ? "in several stretches, one ("
					      : "in several stretches, the longest (",
		    l->all_ns > ns ? ty_fmt_length(ns, piece) : "", l->all_ns > ns ? ") " : "",
		    ty_timeline_at(t, l->start_ns, 1000, at));
	ty_page_link(&t->page, l->thread, l->start_ns + (l->end_ns - l->start_ns) / 2);
}

/* The time of the path by thread, which one line of causes cannot show. */
static void add_root(struct ty_timeline *t, const struct ty_path *p, const struct ty_root *r,
		     uint64_t wait_ns)
{
	char who[TY_THREAD_NAME_MAX], len[TY_TIME_MAX];

	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	ty_page_add(&t->page, TY_ROLE_ACCENT, "What %s did during the first wait above (%s%s):",
		    ty_timeline_thread_name(t, r->thread, p->seg.v[r->seg].start_ns, who),
		    ty_fmt_length(r->ns, len), r->ns < wait_ns ? " of it" : "");
	for (unsigned w = 0; w < TY_SEG_WHATS; w++)
		if (r->what_ns[w])
			ty_page_add(&t->page, TY_ROLE_TEXT, "  %-12s %s",
				    ty_fmt_length(r->what_ns[w], len),
				    ty_seg_text(t->m, (enum ty_seg_what)w));
	if (p->cut)
		ty_page_add(&t->page, TY_ROLE_WARN,
			    "The path is too long to show: its beginning is missing.");
}

/* What the thread at the end of the chain did during the wait, by call and file. */
static void add_calls(struct ty_timeline *t, const struct ty_call_sums *s, uint32_t thread,
		      uint64_t at_ns)
{
	char who[TY_THREAD_NAME_MAX], len[TY_TIME_MAX], name[32];

	if (!s->n)
		return;
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	ty_page_add(&t->page, TY_ROLE_ACCENT, "System calls of %s during the first wait above:",
		    ty_timeline_thread_name(t, thread, at_ns, who));
	for (uint32_t i = 0; i < s->n; i++) {
		const struct ty_call_sum *c = &s->v[i];

		ty_page_add(&t->page, TY_ROLE_TEXT, "%11s %5" PRIu64 " x  %s%s%s",
			    ty_fmt_length(c->ns, len), c->n,
			    ty_syscall_name(t->in->arch, (enum ty_abi)c->abi, c->nr, name),
			    c->object ? " " : "", c->object ? c->object : "");
		ty_page_link(&t->page, thread, c->max_at_ns);
		ty_page_link_calls(&t->page);
	}
	if (s->cut)
		ty_page_add(&t->page, TY_ROLE_DIM, "%11s        later calls were not counted", "");
	if (s->unnamed)
		ty_page_add(&t->page, TY_ROLE_DIM,
			    "%11s        file names of %" PRIu64
			    " shorter calls were not looked up",
			    "", s->unnamed);
}

/* Why the wait is a stall, which has a basis of its own; and how sure the chain is. */
static void add_rule(struct ty_timeline *t, const struct ty_rule *r, bool proven)
{
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	ty_page_add(&t->page, TY_ROLE_ACCENT, "Classified as %s by rule %s. Evidence: %s",
		    ty_verdict_text((enum ty_verdict)r->verdict), r->id,
		    ty_basis_text((enum ty_basis)r->basis));
	ty_page_add(&t->page, TY_ROLE_TEXT, "  %s", r->says);
	ty_page_add(
		&t->page, TY_ROLE_TEXT, "%s",
		proven ? "  The cause is proven: it follows from recorded events alone."
		       : "  The cause is inferred: it does not follow from recorded events alone.");
}

/* The chain ----------------------------------------------------------------------------------- */

static int make_chain(struct ty_page_job *a)
{
	int r = ty_path_find(&a->explain, a->thread, a->window.from_ns, a->window.to_ns, &a->path);
	uint32_t last;

	a->sums = (struct ty_call_sums){0};
	if (r)
		return r;
	last = a->links ? a->link[a->links - 1].thread : ty_path_root(&a->path).thread;
	if (last == TY_NONE || last == a->thread)
		return 0;
	return ty_call_sums_find(&a->explain, last, a->window.from_ns, a->window.to_ns, &a->sums);
}

static void forget_chain(struct ty_page_job *a)
{
	ty_path_fini(&a->path);
	ty_call_sums_fini(&a->sums);
}

static bool chain_page(struct ty_timeline *t, struct ty_page_job *a)
{
	const struct ty_path *path = &a->path;
	struct ty_link links[TY_STALL_LINKS];
	struct ty_root root = ty_path_root(path);
	uint32_t n;

	if (root.thread == TY_NONE) {
		ty_timeline_say(t, "nothing was recorded about the cause of this wait");
		return false;
	}
	n = a->links;
	if (n)
		memcpy(links, a->link, sizeof(links)); /* the same as in the finding */
	else
		n = ty_path_links(t->m, path, root.seg, links, TY_STALL_LINKS);
	for (uint32_t i = 0; i < n; i++)
		add_link(t, &links[i], i);
	if (links[n - 1].thread == root.thread)
		add_root(t, path, &root, links->end_ns - links->start_ns);
	if (a->links)
		add_calls(t, &a->sums, links[n - 1].thread, links[n - 1].start_ns);
	else /* the links may end before it: there are at most TY_STALL_LINKS */
		add_calls(t, &a->sums, root.thread, path->seg.v[root.seg].start_ns);
	if (a->links)
		add_rule(t, a->rule, a->proven);
	ty_timeline_log_page(t, a->window.from_ns, a->window.to_ns);
	return true;
}

static const struct ty_page_job_ops the_chain = {
	.name = "chain",
	.title = "Wakeup chain",
	.about = "What held up the wait under the cursor. Each thread waited for the thread on "
		 "the next line, back to the root cause. Below: what the last thread did "
		 "meanwhile, by state and by system call; then the rule that classified the "
		 "wait, with its evidence.",
	.doing = "following the chain",
	.make = make_chain,
	.page = chain_page,
	.forget = forget_chain};

bool ty_timeline_chain(struct ty_timeline *t)
{
	const struct ty_stall *found;
	struct ty_track track;
	struct ty_cell cell;
	struct ty_span s;
	uint32_t idx, thread;
	uint64_t from, to;
	char who[TY_THREAD_NAME_MAX], len[TY_TIME_MAX], at[TY_TIME_MAX];

	if (!t->in->explain || !ty_timeline_subject(t, &track, &cell, &idx, &from, &to)) {
		ty_timeline_say(t, "no span is under the cursor");
		return false;
	}
	s = ty_track_span(t->m, track, idx);
	thread = track.kind == TY_TRACK_CPU || track.kind == TY_TRACK_IRQS ? s.thread : track.id;
	if (thread == TY_NONE) {
		ty_timeline_say(t, "no thread is under the cursor");
		return false;
	}
	found = ty_stalls_around(&t->findings.stalls, thread, s.start_ns, s.end_ns);
	t->page_job.links = found ? found->links : 0;
	if (found) {
		/* One of several tries, perhaps: the whole wait. */
		memcpy(t->page_job.link, found->link, sizeof(found->link));
		t->page_job.rule = found->rule;
		t->page_job.proven = found->proven;
		s.start_ns = found->link[0].start_ns;
		s.end_ns = found->link[0].end_ns;
	}
	ty_page_reset(&t->page);
	snprintf(t->page.title, sizeof(t->page.title),
		 "Wakeup chain of %s %s for %s, starting at %s",
		 ty_timeline_thread_name(t, thread, s.start_ns, who),
		 track.kind == TY_TRACK_SYSCALLS ? "in a system call"
						 : ty_state_name((enum ty_state)s.state),
		 ty_fmt_length(s.end_ns - s.start_ns, len),
		 ty_timeline_at(t, s.start_ns, 1000, at));
	return ty_timeline_start_page_job(t, &the_chain, thread, s.start_ns, s.end_ns);
}

int ty_timeline_page_functions(struct ty_page_job *a)
{
	return a->explain.samples || !a->host->functions_load
		       ? 0
		       : a->host->functions_load(a->host->ctx, a->explain.stop, &a->explain.samples,
						 &a->err);
}

static int make_ledger(struct ty_page_job *a)
{
	uint64_t from = a->window.from_ns, to = a->window.to_ns;
	int r = ty_timeline_page_functions(a);

	if (r)
		return r;
	if (a->thread == TY_NONE)
		return ty_ledger_command(&a->explain, from, to, &a->ledger);
	return ty_ledger_thread(&a->explain, a->thread, from, to, &a->ledger);
}

static int make_process_ledger(struct ty_page_job *a)
{
	const struct ty_model *m = a->explain.m;
	struct ty_member *all = ty_members_find(m);
	const struct ty_member *of;
	uint32_t n;
	int r = all ? ty_timeline_page_functions(a) : -TY_ENOMEM;

	if (!r) {
		of = ty_members_of(m, all, a->thread, &n);
		r = ty_ledger_process(&a->explain, of, n, a->window.from_ns, a->window.to_ns,
				      &a->ledger);
	}
	free(all);
	return r;
}

static void forget_ledger(struct ty_page_job *a)
{
	ty_ledger_fini(&a->ledger);
}

static bool ledger_page(struct ty_timeline *t, struct ty_page_job *a)
{
	const struct ty_ledger *l = &a->ledger;
	bool process = a->what->make == make_process_ledger;
	char who[TY_THREAD_NAME_MAX], len[TY_TIME_MAX], at[TY_TIME_MAX], many[32] = "", share[200];

	if (!l->n) {
		ty_timeline_say(t, "%s did not exist then",
				l->thread == TY_NONE ? "the command"
				: process	     ? "the process"
						     : "the thread");
		return false;
	}
	if (process)
		snprintf(many, sizeof(many), " of %u threads", l->threads);
	snprintf(t->page.title, sizeof(t->page.title), "Ledger of %s%s: %s%s, starting at %s",
		 process ? "process " : "",
		 l->thread == TY_NONE && l->inferred
			 ? "the command (critical path), partly inferred"
		 : l->thread == TY_NONE ? "the command (critical path)"
		 : process		? ty_model_who_process(t->m, l->thread, who)
					: ty_model_who_last(t->m, l->thread, who),
		 ty_fmt_length(l->total_ns, len), many,
		 ty_timeline_at(t, l->start_ns, (a->window.to_ns - a->window.from_ns) / 1000 + 1,
				at));
	for (uint32_t i = 0; i < l->n; i++) {
		const struct ty_ledger_row *r = &l->rows[i];

		ty_page_add(&t->page, TY_ROLE_TEXT, "%12s %5.1f %%  %s", ty_fmt_length(r->ns, len),
			    100.0 * (double)r->ns / (double)l->total_ns,
			    ty_ledger_row_text(t->m, r, (char[TY_LEDGER_ROW_TEXT]){0}));
		if (r->span != TY_NONE) {
			struct ty_span s = ty_model_span(t->m, r->span);

			ty_page_link(&t->page, s.thread, s.start_ns);
		}
		for (uint32_t k = 0; k < ty_ledger_shares_shown(r); k++) {
			ty_ledger_share_text(a->explain.samples, r, k, share, sizeof(share));
			ty_page_add(&t->page, TY_ROLE_DIM, "%23s%s", "", share);
		}
	}
	ty_page_add(&t->page, TY_ROLE_DIM,
		    "%12s        total; Enter goes to the longest span of a row",
		    ty_fmt_length(l->total_ns, len));
	return true;
}

static const char about_ledger[] =
	"Where the time of a thread, a process or the command went. Each nanosecond of the "
	"selection or window is in one row; the row with most time comes first. Below rows of "
	"CPU time are functions, by their share of the CPU samples.";
static const struct ty_page_job_ops the_ledger = {.name = "ledger",
						  .title = "Ledger",
						  .about = about_ledger,
						  .doing = "computing the ledger",
						  .make = make_ledger,
						  .page = ledger_page,
						  .forget = forget_ledger};
static const struct ty_page_job_ops the_process_ledger = {.name = "ledger",
							  .title = "Ledger",
							  .about = about_ledger,
							  .doing = "computing the ledger",
							  .make = make_process_ledger,
							  .page = ledger_page,
							  .forget = forget_ledger};

/* Of the row's thread; of a process's head all of its threads; elsewhere of the traced command. */
bool ty_timeline_ledger(struct ty_timeline *t)
{
	const struct ty_row *r = t->row < t->tracks.rows.n ? &t->tracks.rows.v[t->row] : NULL;
	uint64_t from = t->vp.from_ns, to = t->vp.to_ns;
	uint32_t first, last, thread = ty_timeline_row_thread(t);
	bool process = r && r->kind == TY_ROW_PROCESS;

	if (!t->in->explain) {
		ty_timeline_say(t, "no thread to show a ledger for");
		return false;
	}
	if (thread == TY_NONE && !t->in->explain->command_tid) {
		ty_timeline_say(
			t, "put the cursor on the row of a thread or process to see its ledger");
		return false;
	}
	(void)ty_timeline_selected(t, &from, &to, &first, &last);
	ty_page_reset(&t->page);
	return ty_timeline_start_page_job(t, process ? &the_process_ledger : &the_ledger, thread,
					  from, to);
}

/* SPDX-License-Identifier: MIT */
/* The explaining sections of the report: stalls, ledger, chain; as text and as JSON. */
#include "report_explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "cpu_gaps.h"
#include "explain_session.h"
#include "hot_functions.h"
#include "ledger_samples.h"
#include "put_text.h"
#include "report_commands.h"
#include "text_page.h"
#include "process_of_thread.h"
#include "model_time.h"
#include "units.h"
#include "process_titles.h"
#include "report_renamed.h"

#define LEDGERS_SHOWN 20
#define ROWS_SHOWN    25

/* The subject of a ledger: a thread, or a process by its first member. */
struct entry {
	uint32_t first, n; /* of the members by process */
	uint32_t rank;	   /* by running_ns */
	uint64_t running_ns, start_ns;
};

static uint64_t ran(const struct ty_model *m, const struct ty_window *w, uint32_t i)
{
	struct ty_cell c;

	ty_model_cells(m, (struct ty_track){TY_TRACK_THREAD, i}, w->from_ns, w->to_ns, 1, &c);
	return c.ns[TY_ST_RUNNING];
}

/* What --tid, --comm choose; else the traced ones, or all of user mode that ran. */
static bool has_ledger(const struct ty_model *m, const struct ty_window *w, uint32_t i,
		       bool traced_only, uint64_t running_ns)
{
	const struct ty_thread *t = ty_model_thread(m, i);

	if (t->end_ns <= w->from_ns || t->start_ns >= w->to_ns)
		return false;
	if (w->tids_n || w->comms_n)
		return ty_window_thread(w, m, i);
	if (traced_only || t->kernel)
		return t->traced;
	return running_ns > 0;
}

ORDER(by_running, struct entry,
      compare(b->running_ns, a->running_ns) ?: compare(a->first, b->first))

/* Arguments of calls are read from the file, chunk by chunk; the latest chunks are kept. So the
 * ledgers of threads that lived at the same time are computed one after the other. */
ORDER(by_start, struct entry, compare(a->start_ns, b->start_ns) ?: compare(a->rank, b->rank))

/* The entries, most time on CPU first; a process has one when one of its threads would have it. */
static uint32_t entries(const struct ty_explained *e, const struct ty_window *w,
			const struct ty_member *all, struct entry *out)
{
	const struct ty_model *m = e->x.m;
	uint32_t threads = ty_model_summary(m)->threads, n = 0;
	bool traced_only = false;

	for (uint32_t i = 0; i < threads && !traced_only; i++)
		traced_only = ty_model_thread(m, i)->traced;
	for (uint32_t i = 0, k; i < threads; i += k) {
		struct entry of = {.first = i,
				   .start_ns = ty_model_thread(m, all[i].thread)->start_ns};
		bool has = false;

		for (k = 0; i + k < threads &&
			    (!k || (e->processes && all[i + k].process == all[i].process));
		     k++) {
			uint64_t ns = ran(m, w, all[i + k].thread);

			of.running_ns += ns;
			has |= has_ledger(m, w, all[i + k].thread, traced_only, ns);
		}
		of.n = k;
		if (has)
			out[n++] = of;
	}
	qsort(out, n, sizeof(*out), by_running);
	for (uint32_t i = 0; i < n; i++)
		out[i].rank = i;
	return n;
}

static int ledgers(struct ty_explained *e, const struct ty_window *w, bool few, struct ty_err *err)
{
	const struct ty_model *m = e->x.m;
	uint32_t threads = ty_model_summary(m)->threads, n = 0, made = 0;
	struct entry *entry = calloc((size_t)threads + 1, sizeof(*entry));
	struct ty_member *all = ty_members_find(m);
	struct ty_ledger command = {0};
	struct ty_cpu_gaps gaps = {0};
	struct ty_explain x = e->x;
	int r = entry && all ? ty_cpu_gaps_find(m, w->from_ns, w->to_ns, &gaps) : -TY_ENOMEM;

	x.gaps = &gaps;
	if (!r) {
		r = ty_ledger_command(&x, w->from_ns, w->to_ns, &command);
		e->ledgers = !r;
		r = r == -TY_ENOTFOUND ? 0 : r;
	}
	if (!r) {
		n = entries(e, w, all, entry);
		made = few && n > LEDGERS_SHOWN - e->ledgers ? LEDGERS_SHOWN - e->ledgers : n;
		e->ledgers_left = n - made;
		e->ledger = calloc((size_t)made + 1, sizeof(*e->ledger));
		r = e->ledger ? 0 : -TY_ENOMEM;
	}
	if (e->ledger)
		e->ledger[0] = command;
	else
		e->ledgers = 0, ty_ledger_fini(&command);
	if (made && !r)
		qsort(entry, made, sizeof(*entry), by_start);
	for (uint32_t i = 0; i < made && !r; i++) {
		const struct ty_member *of = &all[entry[i].first];
		struct ty_ledger *l = &e->ledger[e->ledgers + entry[i].rank];

		r = e->processes ? ty_ledger_process(&x, of, entry[i].n, w->from_ns, w->to_ns, l)
				 : ty_ledger_thread(&x, of->thread, w->from_ns, w->to_ns, l);
	}
	e->ledgers += e->ledger ? made : 0;
	ty_cpu_gaps_fini(&gaps);
	free(entry);
	free(all);
	return r ? ty_fail(err, -r, TY_NO_OFFSET, "ledger: %s", ty_strerror(r)) : 0;
}

/* The chain of the finding that contains the wait [from, to), so that both are the same. 1; 0: no
 * finding contains it; -TY_E... with err. */
static int finding_chain(struct ty_explained *e, const struct ty_window *w, uint32_t thread,
			 const struct ty_span *s, struct ty_err *err)
{
	const struct ty_stalls_opts all = {.all = true};
	const struct ty_stall *v;
	struct ty_stalls found;
	int r = ty_stalls_find(&e->x, w, &all, TY_EXPLAINED_STALLS, &found, err);

	if (r)
		return r;
	v = ty_stalls_around(&found, thread, s->start_ns, s->end_ns);
	if (v) {
		e->links = v->links;
		memcpy(e->link, v->link, sizeof(e->link));
	}
	ty_stalls_fini(&found);
	return v != NULL;
}

static int chain(struct ty_explained *e, const struct ty_window *w, const struct ty_explain_at *at,
		 struct ty_err *err)
{
	const struct ty_model *m = e->x.m;
	uint32_t i = ty_model_thread_find(m, at->tid, at->at_ns), k;
	struct ty_path p = {0};
	struct ty_span s;
	int r;

	if (i == TY_NONE)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET, "no thread %d in this recording",
			       at->tid);
	k = ty_model_span_find(m, i, at->at_ns);
	s = ty_model_span(m, k);
	if (k == TY_NONE || at->at_ns < s.start_ns || at->at_ns >= s.end_ns)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "thread %d did not exist at that time", at->tid);
	r = finding_chain(e, w, i, &s, err);
	if (r)
		return r < 0 ? r : 0;
	r = ty_path_find(&e->x, i, s.start_ns, s.end_ns, &p);
	if (!r)
		e->links = ty_path_links(m, &p, ty_path_root(&p).seg, e->link, TY_STALL_LINKS);
	ty_path_fini(&p);
	return r ? ty_fail(err, -r, TY_NO_OFFSET, "chain: %s", ty_strerror(r)) : 0;
}

int ty_explained_find(struct ty_session *s, const struct ty_window *w, unsigned what,
		      const struct ty_stalls_opts *o, const struct ty_explain_at *at,
		      struct ty_explained *out, struct ty_err *err)
{
	int r = 0;

	*out = (struct ty_explained){.x = ty_explain_session(s),
				     .min_ns = o && o->min_ns ? o->min_ns : TY_STALLS_MIN_NS,
				     .from_ns = w->from_ns,
				     .to_ns = w->to_ns,
				     .processes = what & TY_EXPLAIN_PROCESSES};
	out->paths.bytes = s->memory_bytes / 16;
	out->x.paths = &out->paths;
	if (what & TY_EXPLAIN_STALLS)
		r = ty_stalls_find(&out->x, w, o, TY_EXPLAINED_STALLS, &out->stalls, err);
	if (!r && what & TY_EXPLAIN_LEDGER)
		r = ledgers(out, w, what & TY_EXPLAIN_FEW, err);
	if (!r && what & TY_EXPLAIN_CHAIN)
		r = chain(out, w, at, err);
	return r;
}

void ty_explained_fini(struct ty_explained *e)
{
	ty_kept_paths_fini(&e->paths);
	ty_stalls_fini(&e->stalls);
	for (uint32_t i = 0; i < e->ledgers; i++)
		ty_ledger_fini(&e->ledger[i]);
	free(e->ledger);
}

static void text_or_null(struct ty_json *j, const char *key, const char *text)
{
	if (text && *text)
		ty_json_str(j, key, text);
	else
		ty_json_null(j, key);
}

/* stalls ------------------------------------------------------------------------------------ */

void ty_report_holder_json(const struct ty_explain *x, const struct ty_wait_holder *h,
			   struct ty_json *j)
{
	ty_json_object(j, "lock");
	ty_json_str(j, "kind", h->seen.kind);
	if (h->seen.word)
		ty_json_hex(j, "address", h->seen.word);
	if (*h->seen.name)
		ty_json_str(j, "name", h->seen.name);
	ty_json_i64(j, h->seen.process ? "holder_pid" : "holder_tid", h->seen.holder);
	if (h->thread != TY_NONE)
		ty_json_str(j, "holder_comm", ty_model_comm(x->m, h->thread, h->seen.at_ns));
	ty_json_str(j, "evidence", h->proven ? "proven" : "inferred");
	ty_json_end_object(j);
}

/* Where in its program the thread waited. Between several waits lie others: the chief one's place
 * then. */
static bool where(const struct ty_explain *x, const struct ty_stall *s, char *buf, size_t n)
{
	uint64_t a = s->start_ns, b = ty_stall_end_ns(s);

	if (!x->where)
		return false;
	if (s->waits > 1) {
		struct ty_span of = ty_model_span_brief(x->m, s->thread, s->span);

		a = of.start_ns > a ? of.start_ns : a;
		b = of.end_ns < b ? of.end_ns : b;
	}
	return a < b && x->where(x->ctx, ty_model_tid(x->m, s->thread, a), a, b, buf, n);
}

/* The same of a thread that the wait goes back to: its own wait may have begun before. */
static bool where_link(const struct ty_explain *x, const struct ty_link *l, char *buf, size_t n)
{
	const uint32_t span = ty_model_span_find(x->m, l->thread, l->start_ns);
	uint64_t a = l->start_ns, b = l->end_ns;

	if (span != TY_NONE) {
		const struct ty_span of = ty_model_span_brief(x->m, l->thread, span);

		a = of.start_ns < a ? of.start_ns : a;
		b = of.end_ns > b ? of.end_ns : b;
	}
	return x->where && a < b &&
	       x->where(x->ctx, ty_model_tid(x->m, l->thread, a), a, b, buf, n);
}

/* "<- flock/13188 waited 1.6 s for the lock on fd 9 </x> (flock)" */
static void put_link(const struct ty_explain *x, const struct ty_link *l, const char *what,
		     uint32_t indent, bool first, FILE *f)
{
	fprintf(f, "%*s%s", (int)indent, "", first ? "" : "<- ");
	ty_put_plain(f, ty_who(x->m, l->thread, l->start_ns + (l->end_ns - l->start_ns) / 2));
	putc(' ', f);
	ty_put_plain(f, what);
}

/* Within a hundredth: printed with three digits, they are the same. */
static bool near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= b / 100;
}

/* With --all. */
static bool others_too(const struct ty_stalls *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->v[i].rule && v->v[i].rule->verdict != TY_STALL)
			return true;
	return false;
}

void ty_stalls_text(const struct ty_explained *e, FILE *f)
{
	char d[TY_DURATION_MAX], in[300], what[TY_LINK_TEXT];
	struct ty_commands commands = {0};
	struct ty_wait_holder h;
	bool last = false;

	ty_put_heading(f, "stalls", "%s%s",
		       others_too(&e->stalls)
			       ? "all long waits, stalls or not (numbered differently than without "
				 "--all; for details use --why N --all)"
			       : "waits that kept a thread from making progress",
		       !e->stalls.n	      ? ""
		       : e->stalls.by_command ? ", ranked by delay of the command "
						"(stalls without a stated delay: by their length)"
					      : ", ranked by the victim's time in all waits with "
						"that cause");
	for (uint32_t i = 0; i < e->stalls.n && i < TY_EXPLAINED_SHOWN; i++) {
		const struct ty_stall *s = &e->stalls.v[i];

		if (s->ranks_last && !last && i)
			fprintf(f,
				"     The %s below come last, even if they are longer: waits for a "
				"CPU that several threads shared, and waits that a stall above "
				"explains.\n",
				others_too(&e->stalls) ? "waits" : "stalls");
		last = s->ranks_last;
		fprintf(f, "%4u %s%9s%s  ", i + 1, ty_style(TY_STYLE_STRONG),
			ty_fmt_duration(s->duration_ns, d), ty_style(TY_STYLE_END));
		/* The number by which it ranks, where that is another one. */
		if (e->stalls.by_command && !s->path_ns && !s->ranks_last)
			fputs("(did not delay the command) ", f);
		else if (e->stalls.by_command && !near(s->rank_ns, s->duration_ns))
			fprintf(f,
				s->rank_ns < s->duration_ns
					? "(delayed the command by %s) "
					: "(all waits with this cause delayed the command by %s) ",
				ty_fmt_duration(s->rank_ns, d));
		if (s->rule && s->rule->verdict != TY_STALL)
			fprintf(f, "(%s) ", ty_verdict_text((enum ty_verdict)s->rule->verdict));
		ty_put_graded(f, s->sentence);
		putc('\n', f);
		if (s->waits <= 1 && s->span != TY_NONE) {
			const struct ty_span whole = ty_model_span(e->x.m, s->span);

			/* Not those that begin later because the holder was idle at first. */
			if ((s->start_ns == e->from_ns && whole.start_ns < s->start_ns) ||
			    (ty_stall_end_ns(s) == e->to_ns && whole.end_ns > e->to_ns))
				fprintf(f,
					"                clipped to the selection: the wait took "
					"%s, "
					"from %s\n",
					ty_fmt_duration(whole.end_ns - whole.start_ns, d),
					ty_time(e->x.m, e->x.clock, whole.start_ns, 1000000));
		}
		if (where(&e->x, s, in, sizeof(in))) {
			fputs("                in function: ", f);
			ty_put_plain(f, in);
			fputs(s->waits > 1 ? " (one of these waits)\n" : "\n", f);
		}
		if (s->waits <= 1 && ty_wait_holder(&e->x, s->thread, s->span, &h)) {
			ty_wait_holder_text(&e->x, &h, in, sizeof(in));
			fputs("                ", f);
			ty_put_plain(f, in);
			fprintf(f, " [%s]\n", h.proven ? "proven" : "inferred");
		}
		/* Two are in the sentence, but not where in its program the second one waited. */
		for (uint32_t k = 1; k < s->links; k++) {
			const bool known = where_link(&e->x, &s->link[k], in, sizeof(in));

			if (s->links <= 2 && !known)
				continue;
			ty_stall_link_text(&e->x, s->link, k, what);
			put_link(&e->x, &s->link[k], what, 16, false, f);
			if (known) {
				fputs("; in function: ", f);
				ty_put_plain(f, in);
			}
			putc('\n', f);
		}
		ty_put_stall_commands(&commands, e->x.m, s, 16, f);
		if (e->logs)
			ty_report_logs_near_text(e->logs, &e->x, s->start_ns, ty_stall_end_ns(s),
						 f);
	}
	if (!e->stalls.n && !ty_model_summary(e->x.m)->has_sched)
		fputs("     unknown: no scheduler events were recorded\n", f);
	else if (!e->stalls.n)
		fprintf(f,
			"     none of %s or longer (waits for a CPU: %s or longer; --all also "
			"shows "
			"idle waits, voluntary sleeps and waits that CPU load explains)\n",
			ty_fmt_duration(e->min_ns, d), ty_fmt_duration(e->min_ns / 2 * 5, in));
	if (e->stalls.n > TY_EXPLAINED_SHOWN)
		fprintf(f, "     and %u more (--json has %s)\n", e->stalls.n - TY_EXPLAINED_SHOWN,
			e->stalls.n == TY_EXPLAINED_STALLS ? "the first thousand" : "all");
	ty_report_renamed(e->x.m, e->stalls.v,
			  e->stalls.n < TY_EXPLAINED_SHOWN ? e->stalls.n : TY_EXPLAINED_SHOWN, f);
	if (e->stalls.jobs_left)
		fprintf(f, "     %u finished process%s not analysed; narrow with --from and --to\n",
			e->stalls.jobs_left, e->stalls.jobs_left == 1 ? " was" : "es were");
}

/* tid and comm, or null both. */
static void who(const struct ty_model *m, struct ty_json *j, uint32_t thread, uint64_t t)
{
	if (thread == TY_NONE) {
		ty_json_null(j, "tid");
		ty_json_null(j, "comm");
		return;
	}
	ty_json_i64(j, "tid", ty_model_tid(m, thread, t));
	ty_json_str(j, "comm", ty_model_comm(m, thread, t));
}

static void json_link(const struct ty_explain *x, struct ty_json *j, const struct ty_link *l)
{
	char what[TY_LINK_TEXT];

	ty_json_object(j, NULL);
	who(x->m, j, l->thread, l->start_ns + (l->end_ns - l->start_ns) / 2);
	ty_command_json(x->m, l->thread, l->start_ns + (l->end_ns - l->start_ns) / 2, j);
	ty_link_text(x, l, "", what, sizeof(what));
	ty_json_str(j, "what", what);
	if (where_link(x, l, what, sizeof(what)))
		ty_json_str(j, "in", what);
	ty_json_u64(j, "start_ns", l->start_ns);
	ty_json_u64(j, "duration_ns", l->end_ns - l->start_ns);
	ty_json_bool(j, "inferred", l->waker.inferred);
	ty_json_end_object(j);
}

/* chain ------------------------------------------------------------------------------------- */

void ty_chain_text(const struct ty_explained *e, FILE *f)
{
	const struct ty_model *m = e->x.m;
	char what[TY_LINK_TEXT], at[TY_TIME_MAX];

	putc('\n', f);
	ty_put_heading(f, "chain", "each wait, and below it (<-) what its waker was doing");
	for (uint32_t i = 0; i < e->links; i++) {
		const struct ty_link *l = &e->link[i];
		uint64_t ns = l->end_ns - l->start_ns;

		ty_stall_link_text(&e->x, e->link, i, what);
		put_link(&e->x, l, what, 2 * i + 2, !i, f);
		fputs(", ", f);
		if (l->all_ns > ns)
			fprintf(f, "in several stretches, %s (%s) ",
				l->what == TY_SEG_WHATS ? "one" : "the longest", ty_duration(ns));
		fprintf(f, "starting at %s\n", ty_time_text(m, e->x.clock, l->start_ns, 1000, at));
	}
}

void ty_chain_json(const struct ty_explained *e, struct ty_json *j)
{
	ty_json_array(j, "chain");
	for (uint32_t i = 0; i < e->links; i++)
		json_link(&e->x, j, &e->link[i]);
	ty_json_end_array(j);
}

/* ledger ------------------------------------------------------------------------------------ */

void ty_ledger_shares_text(const struct ty_samples *s, const struct ty_ledger_row *row, int indent,
			   FILE *f)
{
	char text[200];

	for (uint32_t i = 0; i < ty_ledger_shares_shown(row); i++) {
		ty_ledger_share_text(s, row, i, text, sizeof(text));
		fprintf(f, "%*s", indent, "");
		ty_put_plain(f, text);
		putc('\n', f);
	}
}

static void shares_json(const struct ty_samples *s, const struct ty_ledger_row *row,
			struct ty_json *j)
{
	if (!row->samples)
		return;
	ty_json_u64(j, "samples", row->samples);
	ty_json_bool(j, "too_few_samples", row->samples < TY_HOT_LEAST);
	ty_json_array(j, "functions");
	for (uint32_t i = 0; i < row->funcs_n; i++) {
		const struct ty_ledger_share v = ty_ledger_share(s, row, i);

		ty_json_object(j, NULL);
		text_or_null(j, "function", v.function);
		text_or_null(j, "module", v.module);
		ty_json_u64(j, "samples", row->func[i].samples);
		ty_json_f64(j, "share", v.share);
		ty_json_f64(j, "share_low", v.low);
		ty_json_f64(j, "share_high", v.high);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	ty_json_u64(j, "functions_left", row->funcs_left);
}

void ty_ledgers_text(const struct ty_explained *e, FILE *f)
{
	const struct ty_model *m = e->x.m;
	char name[96], who[TY_WHO_MAX], row[TY_LEDGER_ROW_TEXT];

	for (uint32_t i = 0; i < e->ledgers; i++) {
		const struct ty_ledger *l = &e->ledger[i];
		uint64_t all = l->total_ns;
		const struct ty_thread *t =
			l->thread == TY_NONE ? NULL : ty_model_thread(m, l->thread);
		bool process = t && e->processes;

		if (!t)
			snprintf(name, sizeof(name), "the command (critical path%s)",
				 l->inferred ? ", partly inferred" : "");
		else
			snprintf(name, sizeof(name), "%s%s", process ? "process " : "",
				 process ? ty_model_who_process(m, l->thread, who)
					 : ty_model_who_last(m, l->thread, who));
		fprintf(f, "\n%sledger%s of ", ty_style(TY_STYLE_HEADING), ty_style(TY_STYLE_END));
		ty_put_plain(f, name);
		fprintf(f, ": %s", ty_duration(all));
		if (process)
			fprintf(f, " of %u thread%s", l->threads, l->threads == 1 ? "" : "s");
		fputs(", ", f);
		fprintf(f, "starting at %s\n", ty_time(m, e->x.clock, l->start_ns, 1000));
		for (uint32_t k = 0; k < l->n && k < ROWS_SHOWN; k++) {
			fprintf(f, "  %9s %6.2f%%  ", ty_duration(l->rows[k].ns),
				all ? 100.0 * (double)l->rows[k].ns / (double)all : 0.0);
			ty_put_plain(f, ty_ledger_row_text(m, &l->rows[k], row));
			putc('\n', f);
			ty_ledger_shares_text(e->x.samples, &l->rows[k], 21, f);
		}
		if (l->n > ROWS_SHOWN)
			fprintf(f, "  and %u smaller rows (--json has all)\n", l->n - ROWS_SHOWN);
	}
	if (e->ledgers_left)
		fprintf(f, "\n%u more %s ran less (--tid and --json show them)\n", e->ledgers_left,
			e->processes ? "processes" : "threads");
}

static void json_rows(const struct ty_explained *e, struct ty_json *j, const struct ty_ledger *l)
{
	ty_json_u64(j, "start_ns", l->start_ns);
	ty_json_u64(j, "end_ns", l->end_ns);
	ty_json_bool(j, "inferred", l->inferred);
	ty_json_array(j, "rows");
	for (uint32_t k = 0; k < l->n; k++) {
		ty_json_object(j, NULL);
		ty_json_str(j, "row", l->rows[k].row);
		ty_json_u64(j, "ns", l->rows[k].ns);
		shares_json(e->x.samples, &l->rows[k], j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

/* Rows of "ledger" sum to end - start; those of processes, which have several threads, to total_ns:
 * they are an array of their own. */
void ty_ledgers_json(const struct ty_explained *e, struct ty_json *j)
{
	const struct ty_model *m = e->x.m;

	ty_json_array(j, "ledger");
	for (uint32_t i = 0; i < e->ledgers; i++) {
		const struct ty_ledger *l = &e->ledger[i];
		uint32_t t = l->thread == TY_NONE
				     ? ty_model_thread_find(m, e->x.command_tid, l->end_ns)
				     : l->thread;

		if (l->thread != TY_NONE && e->processes)
			continue;
		ty_json_object(j, NULL);
		ty_json_i64(j, "tid", l->thread == TY_NONE ? 0 : ty_model_thread(m, t)->tid);
		ty_json_str(j, "comm", ty_model_str(m, ty_model_thread(m, t)->name));
		json_rows(e, j, l);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	if (!e->processes)
		return;
	ty_json_array(j, "processes");
	for (uint32_t i = 0; i < e->ledgers; i++) {
		const struct ty_ledger *l = &e->ledger[i];
		const struct ty_thread *t;

		if (l->thread == TY_NONE)
			continue;
		t = ty_model_thread(m, l->thread);
		ty_json_object(j, NULL);
		ty_json_i64(j, "pid", t->tgid > 0 ? t->tgid : t->tid);
		ty_json_str(j, "comm", ty_model_str(m, t->name));
		ty_json_u64(j, "threads", l->threads);
		ty_json_u64(j, "total_ns", l->total_ns);
		json_rows(e, j, l);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

void ty_stalls_json(const struct ty_explained *e, struct ty_json *j)
{
	const struct ty_model *m = e->x.m;

	ty_json_array(j, "stalls");
	for (uint32_t i = 0; i < e->stalls.n; i++) {
		const struct ty_stall *s = &e->stalls.v[i];
		char buf[32], in[300];
		struct ty_wait_holder h;

		ty_json_object(j, NULL);
		ty_json_u64(j, "rank", i + 1);
		who(m, j, s->thread, s->named_ns);
		ty_json_u64(j, "start_ns", s->start_ns);
		ty_json_u64(j, "duration_ns", s->duration_ns);
		ty_json_str(j, "state", ty_state_name(s->state));
		text_or_null(j, "syscall", ty_stall_call(&e->x, s, buf));
		text_or_null(j, "object", s->object);
		text_or_null(j, "peer", s->peer);
		text_or_null(j, "in", where(&e->x, s, in, sizeof(in)) ? in : NULL);
		if (s->waits <= 1 && ty_wait_holder(&e->x, s->thread, s->span, &h))
			ty_report_holder_json(&e->x, &h, j);
		ty_json_u64(j, "waits", s->waits);
		ty_json_u64(j, "threads", s->threads > 1 ? s->threads : 1);
		ty_json_u64(j, "more_waits", s->more_waits);
		ty_json_u64(j, "sum_ns", s->sum_ns ? s->sum_ns : s->duration_ns);
		ty_json_bool(j, "sum_proven", s->proven && !s->sum_inferred);
		ty_json_u64(j, "path_ns", s->path_ns);
		ty_json_u64(j, "rank_ns", s->rank_ns);
		ty_json_object(j, "cause");
		ty_json_str(j, "kind", ty_stall_kind_name(s->kind));
		who(m, j, s->culprit, s->culprit_ns);
		ty_command_json(m, s->culprit, s->culprit_ns, j);
		ty_callers_json(m, s->culprit, s->culprit_ns, j);
		ty_json_str(j, "text", s->text);
		ty_json_str(j, "evidence", s->proven ? "proven" : "inferred");
		ty_json_u64(j, "steal_ns", s->steal_ns);
		ty_json_u64(j, "steal_counted_ns", s->steal_counted_ns);
		ty_json_end_object(j);
		ty_json_array(j, "chain");
		for (uint32_t k = 0; k < s->links; k++)
			json_link(&e->x, j, &s->link[k]);
		ty_json_end_array(j);
		ty_rule_json(s->rule, j);
		ty_edges_json(e, s, j);
		ty_json_str(j, "sentence", s->sentence);
		if (e->logs)
			ty_report_logs_near_json(e->logs, s->start_ns, ty_stall_end_ns(s), j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	ty_json_u64(j, "jobs_left", e->stalls.jobs_left);
}

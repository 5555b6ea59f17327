/* SPDX-License-Identifier: MIT */
/* Why a stall is one: its rule, the relations that the rule needs, the edges with their times;
 * and the idle waits with their rules. */
#include <stdlib.h>
#include <string.h>

#include "put_text.h"
#include "report_commands.h"
#include "report_explain.h"
#include "stall_edges.h"
#include "model_time.h"
#include "units.h"
#include "process_titles.h"
#include "wait_fd.h"

#define REJECTED_SHOWN 40

static void put_who(const struct ty_model *m, uint32_t thread, uint64_t t, FILE *f)
{
	ty_put_plain(f, ty_who(m, thread, t));
}

/* What woke a thread, where that was no thread. */
static void put_waker(const struct ty_model *m, const struct ty_stall_edge *e, FILE *f)
{
	struct ty_waker by = {.kind = e->kind == TY_EDGE_EXPIRES ? TY_WAKER_TIMER : TY_WAKER_DEVICE,
			      .name = e->kind == TY_EDGE_EXPIRES ? 0 : e->name,
			      .io = e->io,
			      .net = e->net};
	char text[TY_WAKER_TEXT];

	ty_put_plain(f, ty_waker_text(m, &by, text));
}

/* Of many stretches the edges have one: of the root the longest. */
static void put_all(const struct ty_stall *s, const struct ty_stall_edge *e, FILE *f)
{
	for (uint32_t i = 0; i < s->links; i++) {
		const struct ty_link *l = &s->link[i];
		const char *all = ty_duration(l->all_ns);

		if (e->thread == l->thread && e->start_ns == l->start_ns &&
		    l->all_ns > e->end_ns - e->start_ns && e->end_ns > e->start_ns &&
		    strcmp(all, ty_duration(e->end_ns - e->start_ns)) != 0)
			fprintf(f, " (%s stretch; %s in total)",
				l->what == TY_SEG_WHATS ? "one" : "longest", all);
	}
}

static void put_edge(const struct ty_explain *x, const struct ty_stall *s,
		     const struct ty_stall_edge *e, FILE *f)
{
	char buf[32], disk[TY_DISK_TEXT];
	/* The victim has the name that it has in the sentence above. */
	uint64_t mid = e->start_ns + (e->end_ns - e->start_ns) / 2,
		 at = e->thread == s->thread ? s->named_ns : mid,
		 to = e->to == s->thread ? s->named_ns : mid;
	const char *call = ty_explain_call(x, e->call, buf);
	struct ty_wait_for w = {.fd = -1};
	const char *object;
	bool wakes;

	fprintf(f, "    %11s  %9s  ", ty_time(x->m, x->clock, e->start_ns, 1000),
		e->end_ns > e->start_ns ? ty_duration(e->end_ns - e->start_ns) : "");
	if (e->thread != TY_NONE)
		put_who(x->m, e->thread, at, f);
	else if (e->kind == TY_EDGE_COMPLETES && e->io != TY_NONE)
		ty_put_plain(f, ty_explain_disk(x, ty_model_io(x->m, e->io).major,
						ty_model_io(x->m, e->io).minor, disk));
	else
		put_waker(x->m, e, f);
	/* A futex sends nothing. */
	wakes = e->kind == TY_EDGE_EXPIRES || (e->kind == TY_EDGE_COMPLETES && e->io == TY_NONE) ||
		(e->kind == TY_EDGE_SENDS && e->to != TY_NONE && !strcmp(call, "futex"));
	fprintf(f, " %s",
		e->kind == TY_EDGE_RUNNABLE ? "is runnable"
		: e->kind == TY_EDGE_LOST
			? "is in an unknown state"
			: ty_edge_kind_name(wakes ? TY_EDGE_WAKES : (enum ty_edge_kind)e->kind));
	if (e->kind == TY_EDGE_RECEIVES)
		fputs(" a request", f);
	if (e->kind == TY_EDGE_SENDS && e->to == TY_NONE)
		fputs(" data", f);
	if (e->kind == TY_EDGE_COMPLETES && e->io != TY_NONE) {
		struct ty_io io = ty_model_io(x->m, e->io);

		fprintf(f, " the request issued at %s (%s)",
			ty_time(x->m, x->clock, io.start_ns, 1000),
			ty_duration(io.end_ns - io.start_ns));
	}
	if (e->to != TY_NONE) {
		fputs(wakes || e->kind == TY_EDGE_WAKES ? " "
		      : e->kind == TY_EDGE_SENDS	? " to "
							: " for ",
		      f);
		put_who(x->m, e->to, to, f);
	}
	if (*call)
		fprintf(f, " in %s", call);
	if (!*e->object && e->call != TY_NONE && ty_explain_row(x, e->call)->id == TY_SYS_ioctl)
		ty_wait_look_at_path(x, &(struct ty_span){.thread = e->thread}, e->call, &w);
	if (*e->object || *w.object) {
		putc('(', f);
		object = *e->object ? e->object : w.object;
		ty_put_plain(f, ty_wait_argument(call, object));
		putc(')', f);
	}
	put_all(s, e, f);
	fprintf(f, "  [%s%s]\n", e->basis == TY_RECORDED ? "" : "inferred, ",
		ty_basis_name((enum ty_basis)e->basis));
}

/* What the thread waited for, of all that TY_R_DEFINITE lists. */
static const char *resource(const struct ty_stall *s)
{
	if (s->state == TY_ST_STOPPED)
		return "the thread was stopped";
	switch ((enum ty_stall_kind)s->kind) {
	case TY_STALL_LOCK: return "the thread waited for a lock";
	case TY_STALL_IO: return "the thread waited for a device";
	case TY_STALL_FAULT: return "the thread waited for a page";
	case TY_STALL_CHILD: return "the thread waited for its child (vfork)";
	case TY_STALL_UNINTERRUPTIBLE: return "the thread was blocked (uninterruptible)";
	case TY_STALL_PIPE:
	case TY_STALL_SOCKET:
	case TY_STALL_QUEUE: return "the thread waited for buffer space";
	default: return ty_relation_text(TY_R_DEFINITE);
	}
}

/* NULL: says nothing of this wait. */
static const char *term(const struct ty_stall *s, bool futex, enum ty_relation r)
{
	if (r == TY_R_DEFINITE)
		return resource(s);
	if (r == TY_R_CPU_EXPLAINED && s->kind == TY_STALL_THROTTLED)
		return "its CPU quota explains why the thread had no CPU";
	if (r == TY_R_CPU_EXPLAINED && s->kind == TY_STALL_RUNQUEUE && s->culprit != TY_NONE)
		return "other threads explain why the thread had no CPU";
	if (futex || (r != TY_R_RUNTIME_SLEEP && r != TY_R_WAKE_EXPECTED && r != TY_R_SENT_OR_WOKE))
		return ty_relation_text(r);
	return r == TY_R_SENT_OR_WOKE ? ty_relation_text(TY_R_SENT) : NULL;
}

static void put_terms(const struct ty_explain *x, const struct ty_stall *s, bool hold, FILE *f)
{
	const struct ty_rule *r = s->rule;
	char buf[32];
	bool first = true, futex = !strcmp(ty_stall_call(x, s, buf), "futex");

	for (unsigned i = 0; i < TY_RULE_TERMS && r->when[i]; i++) {
		const char *text = term(s, futex, (enum ty_relation)abs(r->when[i]));

		if ((r->when[i] > 0) != hold || !text)
			continue;
		fprintf(f, "    %-10s %s\n", !first ? "" : hold ? "because" : "ruled out", text);
		first = false;
	}
}

static void put_rule(const struct ty_rule *r, FILE *f)
{
	fprintf(f, "    rule       %s: %s\n    verdict    %s (evidence: %s)\n", r->id, r->says,
		ty_verdict_text((enum ty_verdict)r->verdict),
		ty_basis_text((enum ty_basis)r->basis));
}

static bool some_inferred(const struct ty_stall_edge *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].basis != TY_RECORDED)
			return true;
	return false;
}

void ty_why_text(const struct ty_explained *e, uint32_t n, FILE *f)
{
	const struct ty_stall *s = &e->stalls.v[n - 1];
	struct ty_stall_edge edge[TY_STALL_EDGES];
	uint32_t edges = ty_stall_edges(&e->x, s, edge);
	struct ty_commands commands = {0};

	fprintf(f, "why #%u is %s\n%9s  ", n,
		s->rule->verdict == TY_STALL ? "a stall" : "not a stall (--all shows it)",
		ty_duration(s->duration_ns));
	ty_put_plain(f, s->sentence);
	putc('\n', f);
	ty_put_command(&commands, e->x.m, s->thread, s->named_ns, 11, f);
	ty_put_stall_commands(&commands, e->x.m, s, 11, f);
	put_rule(s->rule, f);
	put_terms(&e->x, s, true, f);
	put_terms(&e->x, s, false, f);
	fprintf(f, "    cause      %s\n",
		s->proven ? "proven: it follows from recorded events alone"
		: !strcmp(ty_stall_grade(s), "inferred")
			? some_inferred(edge, edges)
				  ? "inferred: not all of the evidence below is recorded"
				  : "inferred: each event below is recorded; which caused which is "
				    "inferred"
			: "unknown: the wait had not ended");
	fprintf(f, "    evidence%s, from the victim to the root cause\n",
		s->waits > 1 && s->links ? " of one of its waits" : "");
	for (uint32_t i = 0; i < edges; i++)
		put_edge(&e->x, s, &edge[i], f);
}

void ty_rejected_text(const struct ty_explained *e, FILE *f)
{
	ty_put_heading(
		f, "waits that are not stalls",
		"idle, voluntary, or explained by CPU load or shared work; each with its rule");
	for (uint32_t i = 0; i < e->stalls.rejected_n && i < REJECTED_SHOWN; i++) {
		const struct ty_stall *s = &e->stalls.rejected[i];

		fprintf(f, "%14s  ", ty_duration(s->duration_ns));
		ty_put_plain(f, s->sentence);
		putc('\n', f);
		put_rule(s->rule, f);
	}
	if (!e->stalls.rejected_n)
		fputs("     none\n", f);
	if (e->stalls.rejected_n > REJECTED_SHOWN)
		fprintf(f, "     and %u more (--json has %s)\n",
			e->stalls.rejected_n - REJECTED_SHOWN,
			e->stalls.rejected_n == TY_EXPLAINED_STALLS ? "the first thousand" : "all");
}

void ty_rule_json(const struct ty_rule *r, struct ty_json *j)
{
	ty_json_object(j, "rule");
	ty_json_str(j, "id", r->id);
	ty_json_str(j, "verdict", ty_verdict_name((enum ty_verdict)r->verdict));
	ty_json_str(j, "grade", ty_basis_name((enum ty_basis)r->basis));
	ty_json_str(j, "sentence", r->says);
	for (unsigned not = 0; not < 2; not ++) {
		ty_json_array(j, not ? "not" : "holds");
		for (unsigned i = 0; i < TY_RULE_TERMS && r->when[i]; i++)
			if ((r->when[i] < 0) == not )
				ty_json_str(j, NULL,
					    ty_relation_text((enum ty_relation)abs(r->when[i])));
		ty_json_end_array(j);
	}
	ty_json_end_object(j);
}

static void json_tid(const struct ty_model *m, struct ty_json *j, const char *key, uint32_t thread,
		     uint64_t t)
{
	const bool known = thread != TY_NONE;

	ty_json_i64_if(j, key, known, known ? ty_model_tid(m, thread, t) : 0);
}

void ty_edges_json(const struct ty_explained *e, const struct ty_stall *s, struct ty_json *j)
{
	struct ty_stall_edge edge[TY_STALL_EDGES];
	uint32_t edges = ty_stall_edges(&e->x, s, edge);
	char buf[32];

	ty_json_array(j, "edges");
	for (uint32_t i = 0; i < edges; i++) {
		const struct ty_stall_edge *g = &edge[i];
		const char *call = ty_explain_call(&e->x, g->call, buf);

		ty_json_object(j, NULL);
		ty_json_str(j, "kind", ty_edge_kind_name((enum ty_edge_kind)g->kind));
		ty_json_str(j, "grade", ty_basis_name((enum ty_basis)g->basis));
		json_tid(e->x.m, j, "tid", g->thread, g->start_ns);
		json_tid(e->x.m, j, "to", g->to, g->start_ns);
		ty_json_str(j, "syscall", *call ? call : NULL);
		ty_json_str(j, "object", *g->object ? g->object : NULL);
		ty_json_u64(j, "start_ns", g->start_ns);
		ty_json_u64(j, "end_ns", g->end_ns);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

void ty_rejected_json(const struct ty_explained *e, struct ty_json *j)
{
	ty_json_array(j, "rejected");
	for (uint32_t i = 0; i < e->stalls.rejected_n; i++) {
		const struct ty_stall *s = &e->stalls.rejected[i];

		ty_json_object(j, NULL);
		ty_json_i64(j, "tid", ty_model_tid(e->x.m, s->thread, s->named_ns));
		ty_json_str(j, "comm", ty_model_comm(e->x.m, s->thread, s->named_ns));
		ty_json_u64(j, "start_ns", s->start_ns);
		ty_json_u64(j, "duration_ns", s->duration_ns);
		ty_json_str(j, "sentence", s->sentence);
		ty_rule_json(s->rule, j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

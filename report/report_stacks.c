/* SPDX-License-Identifier: MIT */
/* The report's section "stacks": time off the CPU in long waits by user stack; and the dump of
 * stacks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "explain_session.h"
#include "fields.h"
#include "key_value.h"
#include "plain_text.h"
#include "process_titles.h"
#include "put_text.h"
#include "report.h"
#include "report_explain.h"
#include "stack_groups.h"
#include "units.h"

#define GROUPS_SHOWN 20
#define FRAMES_SHOWN 24

static void put_frames(const struct ty_stack_frames *s, FILE *out)
{
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	ty_stack_frames_text(s, FRAMES_SHOWN, &b);
	for (const char *l = b.p, *end; l && (end = memchr(l, '\n', (size_t)(b.p + b.len - l)));
	     l = end + 1)
		fprintf(out, "                %.*s%s\n", (int)(end - l), l,
			s->n > FRAMES_SHOWN && end + 1 == b.p + b.len ? " (--json has all)" : "");
	ty_buf_fini(&b);
}

static void frames_json(const struct ty_stack_frames *s, struct ty_json *j)
{
	ty_json_array(j, "frames");
	for (unsigned i = 0; i < s->n; i++) {
		const struct ty_stack_frame *f = &s->v[i];

		ty_json_object(j, NULL);
		ty_json_str(j, "function", f->function);
		if (f->module) {
			ty_json_str(j, "module", f->module);
			if (f->pc)
				ty_json_hex(j, "offset", f->off);
		} else {
			ty_json_null(j, "module");
		}
		if (f->pc)
			ty_json_hex(j, "address", f->pc);
		if (f->file) {
			ty_json_str(j, "file", f->file);
			ty_json_i64(j, "line", f->line);
		}
		if (f->inlined)
			ty_json_bool(j, "inlined", true);
		if (f->by_pointer)
			ty_json_bool(j, "by_frame_pointer", true);
		ty_json_bool(j, "runtime", f->runtime);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	ty_json_str(j, "end", ty_stack_end_text(s->end));
}

static const char *who(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const struct ty_stack_group *g = record;
	const uint32_t thread = ty_model_thread_find(r->s->model, g->tid, g->start_ns);

	if (thread == TY_NONE)
		snprintf(buf, n, "%s/%d", g->comm, (int)g->tid);
	else
		snprintf(buf, n, "%s", ty_who(r->s->model, thread, g->start_ns));
	return buf;
}

#define OF(member) offsetof(struct ty_stack_group, member)
static const struct ty_field fields[] = {
	{TY_F_DURATION, "total_ns", "total", 9, .at = OF(total_ns)},
	{TY_F_U64, "waits", "waits", 7, .at = OF(waits)},
	{TY_F_DURATION, "max_ns", "longest", 9, .at = OF(max_ns)},
	{TY_F_INSTANT, "start_ns", "start", 10, .at = OF(start_ns)},
	{TY_F_TEXT, NULL, "thread of the longest", 0, .text = who},
	{TY_F_STR, "comm", NULL, 0, .at = OF(comm)},
	{TY_F_I32, "tid", NULL, 0, .at = OF(tid)},
	{TY_F_STR, "folded", NULL, 0, .at = OF(folded)},
	{.type = TY_F_END}};

/* Prints what was not captured; false: nothing is known to be missing. */
static void tell_missing(const struct ty_session *s, struct ty_wait_stacks *w, FILE *f)
{
	const struct ty_stack_counts n = ty_wait_stacks_counts(w);

	if (n.limited)
		fprintf(f, "%" PRIu64 " wait%s no stack: the rate limit was exceeded\n", n.limited,
			n.limited == 1 ? " has" : "s have");
	if (n.left_out > n.limited)
		fprintf(f, "%" PRIu64 " wait%s no stack: it did not fit into the buffer\n",
			n.left_out - n.limited, n.left_out - n.limited == 1 ? " has" : "s have");
	if (n.damaged || n.pieces_missing)
		fprintf(f, "some of the recorded stacks are %s\n",
			n.damaged ? "damaged" : "missing");
}

static void why_none(const struct ty_session *s, FILE *f)
{
	const char *facts = ty_trace_section(s->trace, TY_SEC_MACHINE).s;
	char why[300] = "", least[TY_DURATION_MAX];

	ty_key_value(facts, "stacks_why", why, sizeof(why));
	ty_plain(why, strlen(why));
	if (!*why && !ty_trace_cut_keeps(s->trace))
		snprintf(why, sizeof(why), "not kept when this part of a recording was exported");
	if (!*why && ty_key_u64(facts, "stacks_ns"))
		snprintf(why, sizeof(why), "no wait lasted %s or longer",
			 ty_fmt_duration(ty_key_u64(facts, "stacks_ns"), least));
	fprintf(f, "none recorded%s%s\n", *why ? ": " : "", why);
}

void ty_stacks_text(const struct ty_report *r, FILE *f)
{
	struct ty_wait_stacks *w = ty_session_stacks(r->s);
	const struct ty_field_ctx c = {.ctx = r, .instant = ty_report_instant};
	struct ty_stack_frames *s = malloc(sizeof(*s));

	putc('\n', f);
	ty_put_heading(f, "stacks", "off-CPU time of waits whose user stack was recorded");
	if (!w)
		why_none(r->s, f);
	else if (!r->stacks.n)
		fputs("none in this window\n", f);
	for (size_t i = 0; w && s && i < r->stacks.n && i < GROUPS_SHOWN; i++) {
		ty_fields_head(fields, &c, f);
		ty_fields_text(fields, &c, &r->stacks.v[i], f);
		if (ty_wait_stacks_nth(w, r->stacks.v[i].nth, s))
			put_frames(s, f);
	}
	if (r->stacks.n > GROUPS_SHOWN)
		fprintf(f, "and %zu more stack%s (--json has all)\n", r->stacks.n - GROUPS_SHOWN,
			r->stacks.n - GROUPS_SHOWN == 1 ? "" : "s");
	if (w)
		tell_missing(r->s, w, f);
	free(s);
}

void ty_stacks_json(const struct ty_report *r, struct ty_json *j)
{
	struct ty_wait_stacks *w = ty_session_stacks(r->s);
	const struct ty_field_ctx c = {.ctx = r, .instant = ty_report_instant};
	struct ty_stack_frames *s = malloc(sizeof(*s));
	const struct ty_stack_counts n = w ? ty_wait_stacks_counts(w) : (struct ty_stack_counts){0};

	ty_json_object(j, "stacks");
	ty_json_u64(j, "least_ns",
		    ty_key_u64(ty_trace_section(r->s->trace, TY_SEC_MACHINE).s, "stacks_ns"));
	ty_json_u64(j, "left_out", n.left_out);
	ty_json_array(j, "groups");
	for (size_t i = 0; w && s && i < r->stacks.n; i++) {
		ty_json_object(j, NULL);
		ty_fields_json(fields, &c, &r->stacks.v[i], j);
		if (ty_wait_stacks_nth(w, r->stacks.v[i].nth, s))
			frames_json(s, j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	ty_json_end_object(j);
	free(s);
}

/* dump --------------------------------------------------------------------------------------------
 */

static void dump_one(struct ty_session *s, const struct ty_explain *x,
		     const struct ty_stack_wait *wait, const struct ty_stack_frames *f,
		     struct ty_stack_frames *waker, struct ty_json *j)
{
	struct ty_wait_holder h;

	ty_json_object(j, NULL);
	ty_json_u64(j, "start_ns", wait->start_ns);
	ty_json_u64(j, "duration_ns", wait->end_ns - wait->start_ns);
	ty_json_i64(j, "tid", f->tid);
	ty_json_i64(j, "pid", (int32_t)f->stack.head.pid);
	ty_json_str(j, "comm", wait->comm);
	if (ty_wait_holder(x, wait->thread, wait->span, &h))
		ty_report_holder_json(x, &h, j);
	frames_json(f, j);
	/* Its record lies a moment before the event of the wakeup, which ends the wait. An
	 * interrupt that wakes a thread finds another one's stack, which has nothing to do with it.
	 */
	if (wait->waker != TY_NONE &&
	    ty_wait_stacks_of(s->stacks, f->tid, f->ns, wait->end_ns, true, waker) &&
	    waker->tid == ty_model_thread(s->model, wait->waker)->tid) {
		ty_json_object(j, "waker");
		ty_json_i64(j, "tid", waker->tid);
		ty_json_i64(j, "pid", (int32_t)waker->stack.head.pid);
		frames_json(waker, j);
		ty_json_end_object(j);
	}
	ty_json_end_object(j);
	ty_json_line(j);
}

static void dump_json(struct ty_session *s, const struct ty_window *w, FILE *out)
{
	struct ty_stack_frames *f = malloc(2 * sizeof(*f));
	struct ty_wait_stacks *stacks = ty_session_stacks(s);
	const struct ty_explain x = ty_explain_session(s);
	struct ty_json j;

	ty_json_init(&j, out);
	for (size_t i = 0; f && stacks && ty_wait_stacks_peek(stacks, i, f); i++) {
		struct ty_stack_wait wait;

		if (!ty_stack_wait_of(s, w, f, &wait))
			continue;
		ty_wait_stacks_unwind(stacks, f);
		dump_one(s, &x, &wait, f, f + 1, &j);
	}
	ty_json_fini(&j);
	free(f);
}

int ty_dump_stacks(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		   FILE *out, struct ty_err *err)
{
	struct ty_stack_groups g = {0};
	int e = 0;

	if (!ty_session_stacks(s)) {
		fprintf(stderr, "tarry: %s: user stacks of waits: ", s->trace->path);
		why_none(s, stderr);
		return 0;
	}
	if (sel->json) {
		dump_json(s, w, out);
	} else {
		e = ty_stack_groups_find(s, w, &g);
		for (size_t i = 0; !e && i < g.n; i++)
			fprintf(out, "%s %" PRIu64 "\n", g.v[i].folded, g.v[i].total_ns / 1000);
		ty_stack_groups_fini(&g);
		if (e)
			return ty_fail(err, -e, TY_NO_OFFSET, "%s: out of memory for the stacks",
				       s->trace->path);
	}
	fflush(out);
	tell_missing(s, s->stacks, stderr);
	ty_wait_stacks_note(s->stacks);
	return 0;
}

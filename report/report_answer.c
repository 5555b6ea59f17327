/* SPDX-License-Identifier: MIT */
/* The report's first lines: the answer (analysis/answer.h), ten lines at most. */
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "key_value.h"
#include "process_titles.h"
#include "put_text.h"
#include "report_commands.h"
#include "text_page.h"
#include "report.h"
#include "shell_word.h"
#include "trace.h"
#include "units.h"

#define LINES	   10
#define NAME_SHOWN 60 /* of a command line */
#define COMMANDS   10 /* percent that an item has to be for its own */
#define FUNCTION   200

/* A part or an item as it is shown. */
struct shown {
	const char *part, *text, *command, *in; /* NULL: none */
	uint64_t ns, longest_ns, pieces;
	uint32_t threads;
	int32_t tid;
	uint64_t of_ns;
};

static const char *share(uint64_t ns, uint64_t of_ns, char *buf, size_t n)
{
	const double percent = of_ns ? 100.0 * (double)ns / (double)of_ns : 0.0;

	if (ns && percent < 0.5)
		return "<1%";
	snprintf(buf, n, "%.0f%%", percent);
	return buf;
}

static const char *share_of(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct shown *s = record;

	(void)ctx;
	return share(s->ns, s->of_ns, buf, n);
}

#define OF(member) offsetof(struct shown, member)
static const struct ty_field part_fields[] = {{TY_F_STR, "part", NULL, 0, .at = OF(part)},
					      {TY_F_DURATION, "ns", NULL, 0, .at = OF(ns)},
					      {.type = TY_F_END}};
static const struct ty_field item_fields[] = {
	{TY_F_STR, "part", NULL, 0, .at = OF(part)},
	{TY_F_DURATION, "ns", "time", 11, .at = OF(ns)},
	{TY_F_TEXT, NULL, "share", 4, .text = share_of},
	{TY_F_DURATION, "longest_ns", NULL, 0, .at = OF(longest_ns)},
	{TY_F_U64, "pieces", NULL, 0, .at = OF(pieces)},
	{TY_F_I32, "tid", NULL, 0, .at = OF(tid)},
	{TY_F_U32, "threads", NULL, 0, .at = OF(threads)},
	{TY_F_STR, "text", "what", 0, .at = OF(text)},
	{TY_F_STR, "in", NULL, 0, .at = OF(in), .optional = true},
	{TY_F_STR, "command_line", NULL, 0, .at = OF(command), .optional = true},
	{.type = TY_F_END}};
#undef OF

/* Of the process that an item is about; NULL: of several, or not recorded. */
static const char *command_of(const struct ty_report *r, const struct ty_answer_item *t)
{
	const struct ty_model *m = r->s->model;

	return t->thread == TY_NONE || t->threads > 1
		       ? NULL
		       : ty_model_command_line(m, t->thread, ty_model_thread(m, t->thread)->end_ns);
}

/* The function that the thread waited in; NULL: unknown, or not a wait. */
static const char *function_of(const struct ty_report *r, const struct ty_answer_item *t,
			       char in[FUNCTION])
{
	const struct ty_explain *x = &r->explained.x;
	struct ty_span s;

	if ((t->part != TY_PART_SLEEP && t->part != TY_PART_TIMEOUT && t->part != TY_PART_WAIT) ||
	    t->thread == TY_NONE || t->threads > 1 || t->span == TY_NONE || !x->where)
		return NULL;
	s = ty_model_span(x->m, t->span);
	return s.thread == t->thread && x->where(x->ctx, ty_model_tid(x->m, s.thread, s.start_ns),
						 s.start_ns, s.end_ns, in, FUNCTION)
		       ? in
		       : NULL;
}

static struct shown show(const struct ty_report *r, const struct ty_answer_item *t,
			 char in[FUNCTION])
{
	return (struct shown){
		.in = function_of(r, t, in),
		.part = ty_answer_part_key(t->part),
		.text = t->text,
		.command = command_of(r, t),
		.ns = t->ns,
		.longest_ns = t->longest_ns,
		.pieces = t->pieces,
		.threads = t->threads,
		.tid = t->thread == TY_NONE ? 0 : ty_model_thread(r->s->model, t->thread)->tid,
		.of_ns = r->answer.total_ns};
}

/* The command line, its end left out where it is long. */
static void put_command(const struct ty_report *r, FILE *f)
{
	char v[NAME_SHOWN + 1] = "";
	struct ty_text facts = ty_trace_section(r->s->trace, TY_SEC_MACHINE);

	ty_key_value(facts.s, "command", v, sizeof(v));
	ty_put_plain(f, *v ? v : "the command");
	if (strlen(v) == NAME_SHOWN)
		fputs("...", f);
}

/* Of chosen threads what they waited for comes behind what they did (answer_items.c). */
static bool waits_last(const struct ty_answer *a)
{
	for (uint32_t i = 1; i < a->items; i++)
		if (a->item[i].ns > a->item[i - 1].ns)
			return true;
	return false;
}

static void put_notes(const struct ty_answer *a, FILE *f)
{
	for (uint32_t i = 0; i < a->notes; i++) {
		fputs("  ", f);
		ty_put_plain(f, a->note[i]);
		putc('\n', f);
	}
}

/* Its line would say something; that of the command itself is in the title. */
static bool needs_command(const struct ty_report *r, const struct ty_answer_item *t)
{
	const struct ty_model *m = r->s->model;

	return t->ns >= r->answer.total_ns / 100 * COMMANDS && command_of(r, t) &&
	       ty_model_thread(m, t->thread)->tid != r->explained.x.command_tid &&
	       ty_telling_command(m, t->thread, ty_model_thread(m, t->thread)->end_ns);
}

void ty_answer_text(const struct ty_report *r, FILE *f)
{
	const struct ty_answer *a = &r->answer;
	const struct ty_field_ctx c = {.ctx = r};
	char d[TY_DURATION_MAX], all[TY_DURATION_MAX], of[8], sum[480] = "";
	uint64_t rest_ns = a->rest_ns, least_ns = UINT64_MAX;
	uint32_t rest = a->rest, room, spare;
	struct ty_commands commands = {0};

	fprintf(f, "%sanswer%s: ", ty_style(TY_STYLE_HEADING), ty_style(TY_STYLE_END));
	if (a->of == TY_ANSWER_COMMAND) {
		put_command(r, f);
		ty_fmt_duration(a->total_ns, d);
		if (a->total_ns == a->command_ns)
			fprintf(f, " took %s", d);
		else if (a->command_ns == TY_COMMAND_UNKNOWN)
			fprintf(f, ": %s of it in %s", d,
				r->whole ? "this recording" : "the selected part");
		else
			fprintf(f, ": %s of the command's %s", d,
				ty_fmt_duration(a->command_ns, all));
		fprintf(f, " (critical path%s)", a->inferred ? ", partly inferred" : "");
	} else {
		ty_put_plain(f, a->head);
	}
	ty_answer_sum_text(a->part_ns, a->total_ns, sum, sizeof(sum));
	fprintf(f, "\n  %s%s%s\n", a->sum_of, sum,
		waits_last(a) ? " (sleeps and waits are listed last)" : "");
	if (*a->children) {
		fputs("  ", f);
		ty_put_plain(f, a->children);
		putc('\n', f);
	}
	/* The rows are of the slowest requests, not of the median one that a note gives. */
	if (a->of != TY_ANSWER_REQUESTS)
		put_notes(a, f);
	/* The title, the sum, the smaller items. */
	room = LINES - 3 - (*a->children != 0) - a->notes;
	spare = room > a->items ? room - a->items : 0;
	if (!spare && room > 1 && a->items &&
	    needs_command(r, &a->item[0])) { /* rather than the least item */
		room--;
		spare++;
	}
	for (uint32_t i = 0; i < a->items; i++) {
		char in[FUNCTION];
		struct shown s = show(r, &a->item[i], in);

		/* A single one is shown instead of a line that counts it. */
		if (i >= room && (rest || i + 1 < a->items)) {
			rest_ns += s.ns;
			rest++;
			continue;
		}
		least_ns = s.ns < least_ns ? s.ns : least_ns;
		ty_fields_text(item_fields, &c, &s, f);
		if (spare && s.in) {
			fprintf(f, "%21sin function: ", "");
			ty_put_plain(f, s.in);
			fputs(s.pieces > 1 ? " (the longest wait)\n" : "\n", f);
			spare--;
		}
		if (spare && needs_command(r, &a->item[i]))
			spare -= ty_put_command(
				&commands, r->s->model, a->item[i].thread,
				ty_model_thread(r->s->model, a->item[i].thread)->end_ns, 21, f);
	}
	/* Sleeps and waits, which are listed last, may be longer than those above. */
	if (rest)
		fprintf(f, "%11s  %4s  %u %s item%s\n", ty_fmt_duration(rest_ns, d),
			share(rest_ns, a->total_ns, of, sizeof(of)), rest,
			rest_ns / rest > least_ns ? "other" : "smaller", rest > 1 ? "s" : "");
	if (a->of == TY_ANSWER_REQUESTS)
		put_notes(a, f);
	putc('\n', f);
}

void ty_answer_ledger_text(const struct ty_report *r, FILE *f)
{
	const struct ty_answer *a = &r->answer;
	double of = a->total_ns ? 100.0 / (double)a->total_ns : 0;
	char file[400], row[TY_LEDGER_ROW_TEXT];

	if (!a->rows)
		return;
	ty_put_heading(f, "ledger", "where the command's critical path went; rows add up exactly");
	for (uint32_t i = 0; i < a->rows; i++) {
		fprintf(f, "%11s  %5.1f%%  ", ty_duration(a->row[i].ns), of * (double)a->row[i].ns);
		ty_put_plain(f, ty_ledger_row_text(r->s->model, &a->row[i], row));
		putc('\n', f);
		ty_ledger_shares_text(r->s->functions, &a->row[i], 22, f);
	}
	if (a->rows_left) {
		fprintf(f, "%11s  %5.1f%%  %u smaller rows: %starry report ",
			ty_duration(a->rows_left_ns), of * (double)a->rows_left_ns, a->rows_left,
			ty_style(TY_STYLE_NEXT));
		ty_put_plain(f, ty_shell_word(r->s->trace->path, "FILE", file, sizeof(file)));
		fprintf(f, " ledger%s\n", ty_style(TY_STYLE_END));
	}
	putc('\n', f);
}

void ty_answer_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_answer *a = &r->answer;
	const struct ty_field_ctx c = {.ctx = r};

	ty_json_object(j, "answer");
	ty_json_str(j, "of", ty_answer_of_key(a->of));
	ty_json_u64(j, "start_ns", a->start_ns);
	ty_json_u64(j, "end_ns", a->end_ns);
	ty_json_u64(j, "total_ns", a->total_ns);
	if (a->of == TY_ANSWER_COMMAND && a->command_ns != TY_COMMAND_UNKNOWN)
		ty_json_u64(j, "command_ns", a->command_ns);
	ty_json_bool(j, "inferred", a->inferred);
	ty_json_array(j, "parts");
	for (unsigned p = 0; p < TY_ANSWER_PARTS_N; p++) {
		struct shown s = {.part = ty_answer_part_key(p), .ns = a->part_ns[p]};

		if (!s.ns)
			continue;
		ty_fields_object(part_fields, &c, &s, j);
	}
	ty_json_end_array(j);
	ty_json_array(j, "items");
	for (uint32_t i = 0; i < a->items; i++) {
		char in[FUNCTION];
		struct shown s = show(r, &a->item[i], in);

		ty_fields_object(item_fields, &c, &s, j);
	}
	ty_json_end_array(j);
	ty_json_u64(j, "rest_ns", a->rest_ns);
	ty_json_str(j, "children", a->children);
	ty_json_str(j, "head", a->head);
	ty_json_array(j, "notes");
	for (uint32_t i = 0; i < a->notes; i++)
		ty_json_str(j, NULL, a->note[i]);
	ty_json_end_array(j);
	ty_json_end_object(j);
}

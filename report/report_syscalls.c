/* SPDX-License-Identifier: MIT */
/* The report's section "system calls": number, errors and durations by name. */
#include "fields.h"
#include "model_time.h"
#include "put_text.h"
#include "report.h"
#include "shell_word.h"
#include "text_page.h"
#include "units.h"

/* A row as it is shown. */
struct shown {
	struct ty_syscall_stats s;
	uint64_t max_start_ns; /* UINT64_MAX: no call was timed */
	int32_t max_tid;       /* -1: the same */
};

static struct shown show(const struct ty_report *r, const struct ty_syscall_stats *c)
{
	struct shown s = {*c, c->max_start_ns, -1};

	if (c->max_call == TY_NONE)
		s.max_start_ns = UINT64_MAX;
	else
		s.max_tid = ty_model_thread(r->s->model,
					    ty_model_syscall(r->s->model, c->max_call).thread)
				    ->tid;
	return s;
}

static const char *errors(const void *ctx, const void *record, char *buf, size_t n)
{
	const uint64_t count = ((const struct shown *)record)->s.errors;

	return count ? ty_fmt_count(count, buf) : "";
}

static const char *instant(const void *ctx, uint64_t t_ns, char *buf, size_t n)
{
	const struct ty_report *r = ctx;

	return ty_time_digits(r->s->model, r->s->clock, t_ns, 1000000, buf);
}

#define OF(member) offsetof(struct shown, member)
#define TIMED	   0xf8 /* columns of calls with a known length */
static const struct ty_field fields[] = {
	{TY_F_CHARS, "name", "system call", -16, .at = OF(s.name)},
	{TY_F_U64, "count", "count", 9, .at = OF(s.count), .gap = 1},
	{TY_F_TEXT, NULL, "errors", 6, .gap = 1, .text = errors},
	{TY_F_U64, "errors", NULL, 0, .at = OF(s.errors)},
	{TY_F_DURATION, "total_ns", "total", 8, .at = OF(s.total_ns), .gap = 1},
	{TY_F_DURATION, "mean_ns", NULL, 0, .at = OF(s.mean_ns)},
	{TY_F_DURATION, "p50_ns", "p50", 7, .at = OF(s.p50_ns), .gap = 1},
	{TY_F_DURATION, "p99_ns", "p99", 7, .at = OF(s.p99_ns), .gap = 1},
	{TY_F_DURATION, "max_ns", "max", 7, .at = OF(s.max_ns), .gap = 1},
	{TY_F_INSTANT, "max_start_ns", "at", 0, .at = OF(max_start_ns)},
	{TY_F_ID, "max_tid", NULL, 0, .at = OF(max_tid)},
	{TY_F_U64, "unfinished", NULL, 0, .at = OF(s.unfinished)},
	{TY_F_U64, "before", NULL, 0, .at = OF(s.before)},
	{TY_F_U64, "untimed", NULL, 0, .at = OF(s.untimed)},
	{.type = TY_F_END}};

/* Behind a row where it has some, in a line of their own. */
static bool call_notes(const struct ty_syscall_stats *c, FILE *f)
{
	const struct {
		uint64_t n;
		const char *what;
	} notes[] = {{c->unfinished, "still in progress at the end"},
		     {c->before, "began before the recording (excluded)"},
		     {c->untimed, "without a recorded start or end (excluded)"}};
	bool any = false;
	char n[32];

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		if (notes[i].n) {
			fprintf(f, "%s%s %s", any ? ", " : "    ", ty_fmt_count(notes[i].n, n),
				notes[i].what);
			any = true;
		}
	if (any)
		putc('\n', f);
	return any;
}

/* How to see the longest call of the first row that has one, with its arguments. */
static void how_to_see(const struct ty_report *r, FILE *f)
{
	uint64_t start = ty_model_origin_ns(r->s->model);
	char file[400];

	for (uint32_t i = 0; i < r->calls_n; i++) {
		uint64_t us = (r->calls[i].max_start_ns - start) / 1000;

		if (r->calls[i].count <= r->calls[i].untimed + r->calls[i].before ||
		    r->calls[i].max_start_ns < start)
			continue;
		fprintf(f, "the longest %s: %starry dump ", r->calls[i].name,
			ty_style(TY_STYLE_NEXT));
		ty_put_plain(f, ty_shell_word(r->s->trace->path, "FILE", file, sizeof(file)));
		fprintf(f, " syscalls --from %.6f --to %.6f%s\n", (double)us / 1e6,
			(double)(us + 1) / 1e6, ty_style(TY_STYLE_END));
		return;
	}
}

void ty_syscalls_text(const struct ty_report *r, FILE *f)
{
	struct ty_field_ctx c = {.ctx = r, .instant = instant};
	bool notes = false;

	putc('\n', f);
	if (!r->calls_n) {
		ty_put_heading(f, "system calls", "none recorded here");
		return;
	}
	ty_put_heading(f, "system calls", "from entry to exit%s; at: when the longest began%s",
		       r->whole ? "" : ", also outside the window",
		       ty_report_in_seconds(r) ? " (s)" : "");
	ty_fields_head(fields, &c, f);
	for (uint32_t i = 0; i < r->calls_n; i++) {
		const struct shown s = show(r, &r->calls[i]);

		c.hide = s.s.count > s.s.untimed + s.s.before ? 0 : TIMED;
		ty_fields_text(fields, &c, &s, f);
		notes |= call_notes(&s.s, f);
	}
	if (notes)
		ty_put_note(f, "still in progress at the end: counted until the recording ended.\n"
			       "excluded: neither in times nor in percentiles.");
	how_to_see(r, f);
}

void ty_syscalls_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_field_ctx c = {.ctx = r};

	ty_json_array(j, "syscalls");
	for (uint32_t i = 0; i < r->calls_n; i++) {
		const struct shown s = show(r, &r->calls[i]);

		ty_fields_object(fields, &c, &s, j);
	}
	ty_json_end_array(j);
}

/* SPDX-License-Identifier: MIT */
/* The report's section "lost events": where and why. */
#include "fields.h"
#include "put_text.h"
#include "report.h"
#include "text_page.h"
#include "units.h"

#define GAP_ROWS 20

static const struct {
	const char *key, *text;
} why[] = {[TY_GAP_OVERRUN] = {"overrun", "overwritten before they were read"},
	   [TY_GAP_DAMAGED] = {"damaged", "damaged in the file"},
	   [TY_GAP_UNFINISHED] = {"unfinished", "never written"}};

static const char *buffer(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const struct ty_gap_span *g = record;

	return g->buffer < r->s->trace->buffers.n ? r->s->trace->buffers.v[g->buffer].name : "";
}

static const char *buffer_text(const void *ctx, const void *record, char *buf, size_t n)
{
	const char *name = buffer(ctx, record, buf, n);

	return *name ? name : "main";
}

static const char *count(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_gap_span *g = record;

	return g->count == UINT64_MAX ? "unknown" : ty_fmt_count(g->count, buf);
}

static const char *what(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_gap_span *g = record;

	return g->what <= TY_GAP_UNFINISHED ? why[g->what].key : "unknown";
}

static const char *what_text(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_gap_span *g = record;

	return g->what <= TY_GAP_UNFINISHED ? why[g->what].text : "";
}

#define OF(member) offsetof(struct ty_gap_span, member)
#define GAP_FIELDS(from, to, width)                                                                \
	{                                                                                          \
		{TY_F_U32, "cpu", "CPU", 4, .at = OF(cpu)},                                        \
			{TY_F_TEXT, "buffer", NULL, 0, .text = buffer},                            \
			{TY_F_TEXT, NULL, "buffer", -10, .gap = 1, .text = buffer_text},           \
			{TY_F_INSTANT, "from_ns", from, width, .at = OF(from_ns), .gap = 1},       \
			{TY_F_INSTANT, "to_ns", to, width, .at = OF(to_ns), .gap = 1},             \
			{TY_F_U64, "count", NULL, 0, .at = OF(count)},                             \
			{TY_F_TEXT, NULL, "events", 12, .gap = 1, .text = count},                  \
			{TY_F_TEXT, "what", NULL, 0, .text = what},                                \
			{TY_F_TEXT, NULL, "why", 0, .text = what_text},                            \
		{                                                                                  \
			.type = TY_F_END                                                           \
		}                                                                                  \
	}
static const struct ty_field in_seconds[] = GAP_FIELDS("from (s)", "to (s)", 14);
static const struct ty_field as_time[] = GAP_FIELDS("from", "to", 15);

static bool is_shown(const struct ty_report *r, const struct ty_gap_span *g)
{
	return g->to_ns >= r->w.from_ns && g->from_ns <= r->w.to_ns && ty_window_cpu(&r->w, g->cpu);
}

void ty_loss_text(const struct ty_report *r, FILE *f)
{
	const struct ty_field *fields = ty_report_in_seconds(r) ? in_seconds : as_time;
	const struct ty_field_ctx c = {.ctx = r, .instant = ty_report_instant};
	const struct ty_trace *t = r->s->trace;
	uint32_t n, shown = 0;
	const struct ty_gap_span *g = ty_model_gaps(r->s->model, &n);
	uint64_t unplaced = ty_model_summary(r->s->model)->lost_unplaced;
	char buf[32];

	if (unplaced)
		fprintf(f, "\n%s events were lost at unknown times (from the kernel's counters)\n",
			ty_fmt_count(unplaced, buf));
	if (!n && unplaced)
		return;
	putc('\n', f);
	if (!n) {
		ty_put_heading(f, "lost events", "none");
		return;
	}
	ty_put_heading(f, "lost events", "%sevents are missing between these times%s",
		       ty_style(TY_STYLE_LOSS), ty_style(TY_STYLE_END));
	ty_fields_head(fields, &c, f);
	for (; n; n--, g++)
		if (is_shown(r, g) && shown++ < GAP_ROWS)
			ty_fields_text(fields, &c, g, f);
	if (!shown)
		fputs("none in this window\n", f);
	if (shown > GAP_ROWS)
		fprintf(f, "and %u more gap%s (--json has all)\n", shown - GAP_ROWS,
			shown - GAP_ROWS == 1 ? "" : "s");
	if (t->unfinished || t->truncated)
		fputs("the file is incomplete: see header\n", f);
}

void ty_loss_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_field_ctx c = {.ctx = r};
	uint32_t n;
	const struct ty_gap_span *g = ty_model_gaps(r->s->model, &n);

	ty_json_array(j, "gaps");
	for (; n; n--, g++) {
		if (!is_shown(r, g))
			continue;
		ty_fields_object(in_seconds, &c, g, j);
	}
	ty_json_end_array(j);
}

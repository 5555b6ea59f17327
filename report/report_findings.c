/* SPDX-License-Identifier: MIT */
/* The report's section "findings": findings other than stalls (analysis/findings.h). */
#include "fields.h"
#include "process_titles.h"
#include "put_text.h"
#include "report_commands.h"
#include "text_page.h"
#include "report.h"
#include "units.h"

#define SHOWN 10 /* as text */

static const char *kind_of(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_finding *f = record;

	(void)ctx, (void)buf, (void)n;
	return ty_finding_kind_key(f->kind);
}

static int32_t tid_of(const struct ty_report *r, uint32_t thread)
{
	return thread == TY_NONE ? 0 : ty_model_thread(r->s->model, thread)->tid;
}

/* A finding names threads as they were at their end. */
static uint64_t end_of(const struct ty_report *r, uint32_t thread)
{
	return thread == TY_NONE ? 0 : ty_model_thread(r->s->model, thread)->end_ns;
}

static const char *text_of(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_finding *f = record;

	(void)ctx;
	snprintf(buf, n, "%s%s", f->text, f->inferred ? " [inferred]" : " [proven]");
	return buf;
}

static const char *evidence_of(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_finding *f = record;

	(void)ctx, (void)buf, (void)n;
	return f->inferred ? "inferred" : "proven";
}

#define OF(member) offsetof(struct ty_finding, member)
static const struct ty_field fields[] = {{TY_F_TEXT, "kind", NULL, 0, .text = kind_of},
					 {TY_F_DURATION, "ns", "time", 14, .at = OF(ns)},
					 {TY_F_U64, "count", NULL, 0, .at = OF(n)},
					 {TY_F_INSTANT, "start_ns", NULL, 0, .at = OF(at_ns)},
					 {TY_F_TEXT, "evidence", NULL, 0, .text = evidence_of},
					 {TY_F_TEXT, NULL, "what", 0, .text = text_of},
					 {TY_F_CHARS, "text", NULL, 0, .at = OF(text)},
					 {TY_F_CHARS, "next", NULL, 0, .at = OF(next)},
					 {.type = TY_F_END}};
#undef OF

/* Of the process with most time in requests: that there were too few to judge. */
static void put_few_requests(const struct ty_report *r, FILE *f)
{
	const struct ty_service *s = r->requests.services;
	char who[TY_WHO_MAX];

	if (!r->requests.services_n || !s->n || s->n >= TY_FINDING_REQUESTS)
		return;
	fputs("     ", f);
	ty_put_plain(f, ty_model_who_process(r->s->model, s->process, who));
	fprintf(f, " replied to %s request%s: at least %d are needed to judge their times\n",
		ty_count(s->n), s->n == 1 ? "" : "s", TY_FINDING_REQUESTS);
}

void ty_findings_text(const struct ty_report *r, FILE *f)
{
	const struct ty_field_ctx c = {.ctx = r, .instant = ty_report_instant};
	struct ty_commands commands = {0};

	if (!r->findings.n && !(r->requested & TY_REP_FINDINGS))
		return;
	ty_put_heading(
		f, "findings",
		"repeated small costs, limits reached, and requests far slower than the median");
	for (uint32_t i = 0; i < r->findings.n && i < SHOWN; i++) {
		const struct ty_finding *v = &r->findings.v[i];

		ty_fields_text(fields, &c, v, f);
		/* Of children it is only one of many. */
		if (v->kind != TY_FINDING_CHILDREN)
			ty_put_command(&commands, r->s->model, v->culprit, end_of(r, v->culprit),
				       16, f);
		fprintf(f, "%14s  see: %s%s%s\n", "", ty_style(TY_STYLE_NEXT), v->next,
			ty_style(TY_STYLE_END));
	}
	if (!r->findings.n) {
		fputs("     none (tarry(1) lists the thresholds)\n", f);
		put_few_requests(r, f);
	}
	if (r->findings.n > SHOWN)
		fprintf(f, "     and %u more (--json has them)\n", r->findings.n - SHOWN);
	putc('\n', f);
}

void ty_findings_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_field_ctx c = {.ctx = r, .instant = ty_report_instant};

	ty_json_array(j, "findings");
	for (uint32_t i = 0; i < r->findings.n; i++) {
		const struct ty_finding *f = &r->findings.v[i];

		ty_json_object(j, NULL);
		ty_fields_json(fields, &c, f, j);
		ty_json_i64(j, "tid", tid_of(r, f->thread));
		ty_json_i64(j, "culprit_tid", tid_of(r, f->culprit));
		ty_command_json(r->s->model, f->culprit, end_of(r, f->culprit), j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

/* SPDX-License-Identifier: MIT */
/* See first_finding.h. Uses the results of the report (report_compute.c). */
#include "first_finding.h"

#include <stdio.h>
#include <string.h>

#include "plain_text.h"
#include "report.h"
#include "units.h"
#include "process_titles.h"

/* Up to the first break of a long sentence. */
#define WORDS_MAX 120

static void of_stall(const struct ty_report *r, char *out, size_t size)
{
	const struct ty_explain *x = &r->explained.x;
	const struct ty_stall *s = &r->explained.stalls.v[0];
	char d[TY_DURATION_MAX], buf[32], who[TY_WHO_MAX];
	const char *call = ty_stall_call(x, s, buf);
	size_t n;

	n = (size_t)snprintf(out, size, "%s waited %s%s%s",
			     ty_model_who(x->m, s->thread, s->named_ns, who),
			     ty_fmt_duration(s->duration_ns, d), *call ? " in " : "", call);
	if (s->waits > 1 && n < size)
		n += (size_t)snprintf(out + n, size - n, " (%s waits)", ty_count(s->waits));
	if (s->culprit != TY_NONE && n < size)
		n += (size_t)snprintf(out + n, size - n, " because of %s",
				      ty_model_who(x->m, s->culprit, s->culprit_ns, who));
	if (n < size)
		snprintf(out + n, size - n, "%s", s->proven ? "" : " (inferred)");
}

static void of_text(const char *text, char *out, size_t size)
{
	size_t n = strcspn(text, ";");

	/* Not between a number and its unit. */
	if (n > WORDS_MAX)
		for (n = WORDS_MAX;
		     n && !(text[n] == ' ' && !(n && text[n - 1] >= '0' && text[n - 1] <= '9'));)
			n--;
	snprintf(out, size, "%.*s%s", (int)n, text, text[n] && text[n] != ';' ? " ..." : "");
}

bool ty_first_finding(struct ty_session *s, char *out, size_t size)
{
	const struct ty_report_query q = {.sections =
						  TY_REP_ANSWER | TY_REP_FINDINGS | TY_REP_STALLS};
	const struct ty_select all = {0};
	struct ty_report r = {.s = s};
	struct ty_err err = {0};
	char d[TY_DURATION_MAX], of[TY_DURATION_MAX], text[2 * WORDS_MAX];
	bool any = false;

	if (!ty_select_window(&all, s, &r.w, &err) && !ty_report_find(&r, &all, &q, &err)) {
		any = true;
		if (r.explained.stalls.n)
			of_stall(&r, out, size);
		else if (r.findings.n)
			of_text(r.findings.v[0].text, out, size);
		else if (!ty_model_summary(s->model)->has_sched)
			snprintf(out, size, "stalls unknown: scheduling was not recorded");
		else if (r.answer.items && r.answer.of == TY_ANSWER_COMMAND) {
			of_text(r.answer.item[0].text, text, sizeof(text));
			ty_fmt_duration(r.answer.item[0].ns, d);
			ty_fmt_duration(r.answer.total_ns, of);
			if (!strcmp(d, of))
				strcpy(d, "all");
			snprintf(out, size, "no stalls. For %s of the command's %s, %s", d, of,
				 text);
		} else
			any = false;
	}
	ty_report_fini(&r);
	if (any)
		ty_plain(out, strlen(out));
	return any;
}

/* SPDX-License-Identifier: MIT */
/*
 * What is kept of a recording: marks with their windows, and the searches and filters that were
 * requested. Written by the program around it (struct ty_view_host) whenever it changes, as lines:
 *
 *   tarry-view 1
 *   mark AT FROM TO KIND ID NAME     times in ns of the trace, a row's kind and id (tracks.h)
 *   filtered TEXT                    the filter in force at the mark before it
 *   search TEXT                      filter TEXT          in the order in which they were asked
 *
 * It is read again by timeline_marks_read.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "timeline_priv.h"

void ty_timeline_remember(struct ty_timeline *t, bool filter, const char *text)
{
	struct ty_past_query q = {.filter = filter}, *v = t->history.v;
	size_t n = t->history.n;

	if (!*text)
		return;
	snprintf(q.text, sizeof(q.text), "%s", text);
	for (size_t i = 0; i < n; i++)
		if (v[i].filter == filter && !strcmp(v[i].text, q.text)) {
			memmove(v + i, v + i + 1, (n - i - 1) * sizeof(*v));
			n--;
			break;
		}
	if (n == TY_HISTORY) {
		memmove(v, v + 1, (n - 1) * sizeof(*v));
		n--;
	}
	t->history.n = n;
	(void)vec_push(&t->history, q);
}

bool ty_timeline_recall(struct ty_timeline *t, bool filter, bool older)
{
	size_t i = t->recalled < t->history.n ? t->recalled : t->history.n;

	while (older ? i > 0 : i + 1 < t->history.n) {
		i += older ? -1 : 1;
		if (t->history.v[i].filter != filter)
			continue;
		t->recalled = i;
		snprintf(t->input, sizeof(t->input), "%s", t->history.v[i].text);
		return true;
	}
	if (older)
		return false;
	t->recalled = t->history.n;
	t->input[0] = 0;
	return true;
}

void ty_timeline_keep(struct ty_timeline *t)
{
	struct ty_err err = {0};
	struct ty_buf b;

	if (!t->in->host.keep_save || t->partial)
		return;
	ty_buf_init(&b, TY_KEEP_MAX);
	ty_buf_adds(&b, "tarry-view 1\n");
	vec_each (m, &t->marks) {
		ty_buf_addf(&b, "mark %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %s\n", m->at_ns,
			    m->from_ns, m->to_ns, m->row_kind, m->row_id, m->name);
		if (*m->filter)
			ty_buf_addf(&b, "filtered %s\n", m->filter);
	}
	vec_each (q, &t->history)
		ty_buf_addf(&b, "%s %s\n", q->filter ? "filter" : "search", q->text);
	if (b.failed)
		ty_fail(&err, TY_ELIMIT, TY_NO_OFFSET, "there are too many marks");
	else
		(void)t->in->host.keep_save(t->in->host.ctx, b.p, b.len, &err);
	if (err.msg[0]) { /* behind the present position */
		size_t n = strlen(t->message);

		snprintf(t->message + n, sizeof(t->message) - n, "%snot kept: %s", n ? "; " : "",
			 err.msg);
	}
	ty_buf_fini(&b);
}

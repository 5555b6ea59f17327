/* SPDX-License-Identifier: MIT */
/*
 * What is kept of a recording: marks with their windows, and the searches and filters that were
 * requested. Written by the program around it (struct ty_view_host) whenever it changes. Other
 * views of the recording do so, too: what they kept is read again first, under a lock. The lines:
 *
 *   tarry-view 1
 *   mark AT FROM TO KIND ID NAME     times in ns of the trace, a row's kind and id (tracks.h)
 *   filtered TEXT                    the filter in force at the mark before it
 *   search TEXT                      filter TEXT          in the order in which they were entered
 *
 * It is read again by timeline_marks_read.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "timeline_priv.h"

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

void ty_timeline_keep_begin(struct ty_timeline *t)
{
	if (!t->in->host.keep_save || t->partial)
		return;
	t->in->host.keep_lock(t->in->host.ctx, true);
	ty_timeline_keep_load(t);
}

static void save(struct ty_timeline *t)
{
	struct ty_err err = {0};
	struct ty_buf b;

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
	t->unkept = err.msg[0];
	if (err.msg[0]) { /* behind the present position */
		size_t n = strlen(t->message);

		snprintf(t->message + n, sizeof(t->message) - n, "%snot kept: %s", n ? "; " : "",
			 err.msg);
	}
	ty_buf_fini(&b);
}

void ty_timeline_keep_end(struct ty_timeline *t, bool changed)
{
	t->unkept |= changed;
	if (!t->in->host.keep_save || t->partial)
		return;
	if (t->unkept)
		save(t);
	t->in->host.keep_lock(t->in->host.ctx, false);
}

void ty_timeline_keep_query(struct ty_timeline *t, bool filter, const char *text)
{
	ty_timeline_keep_begin(t);
	ty_timeline_remember(t, filter, text);
	ty_timeline_keep_end(t, true);
}

/* SPDX-License-Identifier: MIT */
/*
 * What was kept of a recording (timeline_marks_write.c): the lists of it, and how they are read
 * again. Nothing in the file is trusted: a line that this recording cannot contain is ignored.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plain_text.h"
#include "timeline_priv.h"

struct ty_mark *ty_timeline_find_mark(struct ty_timeline *t, const char *name)
{
	vec_each (m, &t->marks)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

int ty_timeline_add_mark(struct ty_timeline *t, const struct ty_mark *m)
{
	struct ty_mark *old = ty_timeline_find_mark(t, m->name);
	size_t i;

	if (old)
		memmove(old, old + 1, (size_t)(t->marks.v + --t->marks.n - old) * sizeof(*old));
	if (vec_push(&t->marks, *m))
		return -TY_ENOMEM;
	for (i = t->marks.n - 1; i && t->marks.v[i - 1].at_ns > m->at_ns; i--)
		t->marks.v[i] = t->marks.v[i - 1];
	t->marks.v[i] = *m;
	return 0;
}

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

/* May a row of this kind have this id here? */
static bool is_row(const struct ty_timeline *t, unsigned kind, uint32_t id)
{
	const struct ty_summary *s = ty_model_summary(t->m);

	switch (kind) {
	case TY_ROW_CPUS:
	case TY_ROW_OTHERS:
	case TY_ROW_QUIET: return !id;
	case TY_ROW_CPU:
	case TY_ROW_IRQS:
	case TY_ROW_CPU_SAMPLES:
	case TY_ROW_CPU_COUNTER:
	case TY_ROW_CPU_MEMORY: return id < s->cpus;
	case TY_ROW_MORE:
	case TY_ROW_PROCESS: return id < t->tracks.processes.n;
	case TY_ROW_THREAD:
	case TY_ROW_FLOW:
	case TY_ROW_MEMORY:
	case TY_ROW_SAMPLES:
	case TY_ROW_COUNTER:
	case TY_ROW_SYSCALLS: return id < s->threads;
	default: return false;
	}
}

/* name: of the mark, for what belongs to it; "": it was left. */
static void take_mark(struct ty_timeline *t, const char *s, char name[24])
{
	const uint64_t from = t->vp.start_ns, to = t->vp.end_ns;
	struct ty_mark m = {0};
	unsigned kind;
	int n = 0;

	*name = 0;
	if (sscanf(s, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %u %" SCNu32 " %n", &m.at_ns, &m.from_ns,
		   &m.to_ns, &kind, &m.row_id, &n) != 5 ||
	    !n || !s[n] || m.at_ns < from || m.at_ns >= to || m.from_ns < from ||
	    m.from_ns >= m.to_ns || m.to_ns > to || !is_row(t, kind, m.row_id))
		return;
	m.row_kind = (uint8_t)kind;
	snprintf(m.name, sizeof(m.name), "%s", s + n);
	if (!ty_timeline_add_mark(t, &m))
		memcpy(name, m.name, sizeof(m.name));
}

void ty_timeline_keep_load(struct ty_timeline *t)
{
	struct ty_buf b;
	char *line, *end, name[24] = "";

	if (!t->in->host.keep_load || t->partial)
		return;
	ty_buf_init(&b, TY_KEEP_MAX);
	t->in->host.keep_load(t->in->host.ctx, &b);
	ty_buf_addc(&b, 0);
	line = b.failed ? NULL : b.p;
	if (line && strncmp(line, "tarry-view 1\n", 13))
		line = NULL;	/* of another version */
	if (line && !t->unkept) /* what another view removed is gone here, too */
		t->marks.n = t->history.n = 0;
	for (; line && (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		ty_plain(line, (size_t)(end - line));
		if (!strncmp(line, "mark ", 5))
			take_mark(t, line + 5, name);
		else if (!strncmp(line, "filtered ", 9) && *name)
			vec_each (m, &t->marks) {
				if (!strcmp(m->name, name))
					snprintf(m->filter, sizeof(m->filter), "%s", line + 9);
			}
		else if (!strncmp(line, "search ", 7) || !strncmp(line, "filter ", 7))
			ty_timeline_remember(t, *line == 'f', line + 7);
	}
	ty_buf_fini(&b);
}

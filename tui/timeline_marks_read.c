/* SPDX-License-Identifier: MIT */
/*
 * What was kept of a recording (timeline_marks_write.c): read again, and its page. Nothing in it is
 * trusted: a line that this recording cannot contain is ignored.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plain_text.h"
#include "ruler.h"
#include "timeline_priv.h"

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
		line = NULL; /* of another version */
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

/* The page of kept entries: a line leads to its mark, or repeats its search. ------------------- */

static void kept_left(struct ty_timeline *t)
{
	const struct ty_page_line *l;
	struct ty_past_query q;
	size_t i;

	if (!t->page.chosen)
		return;
	t->page.chosen = false;
	l = &t->page.lines.v[t->page.at];
	i = l->thread;
	if (l->at_ns == 0 && i < t->marks.n)
		ty_timeline_mark_jump(t, t->marks.v[i].name);
	if (l->at_ns != 1 || i >= t->history.n)
		return;
	q = t->history.v[i]; /* asking again moves it */
	if (q.filter)
		ty_timeline_filter(t, q.text);
	else
		ty_timeline_search(t, q.text);
}

static void add_queries(struct ty_timeline *t, bool filter)
{
	bool first = true;

	for (size_t i = t->history.n; i-- > 0;) {
		if (t->history.v[i].filter != filter)
			continue;
		if (first) {
			ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
			ty_page_add(&t->page, TY_ROLE_ACCENT, "%s",
				    filter ? "Filters (Enter filters by it)"
					   : "Searches (Enter searches again)");
		}
		first = false;
		ty_page_add(&t->page, TY_ROLE_TEXT, "  %s", t->history.v[i].text);
		ty_page_link(&t->page, (uint32_t)i, 1);
	}
}

bool ty_timeline_kept(struct ty_timeline *t)
{
	char at[TY_TIME_MAX], len[TY_TIME_MAX];

	if (!t->marks.n && !t->history.n) {
		ty_timeline_say(t, "nothing is kept yet: m sets a mark, / searches, f filters");
		return false;
	}
	ty_page_reset(&t->page);
	snprintf(t->page.title, sizeof(t->page.title), "Kept for this recording");
	ty_page_add(&t->page, TY_ROLE_ACCENT, "%s",
		    t->marks.n ? "Marks (Enter goes there; m with -NAME removes one)"
			       : "No marks: m sets one");
	for (size_t i = 0; i < t->marks.n; i++) {
		const struct ty_mark *m = &t->marks.v[i];

		ty_page_add(&t->page, TY_ROLE_TEXT, "  %-24s at %s, window %s%s%s", m->name,
			    ty_timeline_at(t, m->at_ns, 1000, at),
			    ty_fmt_length(m->to_ns - m->from_ns, len),
			    *m->filter ? ", filter " : "", m->filter);
		ty_page_link(&t->page, (uint32_t)i, 0);
	}
	add_queries(t, false);
	add_queries(t, true);
	t->page.at = t->marks.n ? 1 : 3;
	return ty_timeline_push(t, &ty_page_ops, &t->page, kept_left);
}

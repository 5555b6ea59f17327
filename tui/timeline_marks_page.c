/* SPDX-License-Identifier: MIT */
/* The page of what is kept of a recording: a line leads to its mark, or repeats its search. */
#include <stdio.h>

#include "ruler.h"
#include "timeline_priv.h"

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
	q = t->history.v[i]; /* a second request moves it */
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

	ty_timeline_keep_load(t);
	if (!t->marks.n && !t->history.n) {
		ty_timeline_say(t, "nothing is kept yet: m sets a mark, / searches, f filters");
		return false;
	}
	ty_page_reset(&t->page);
	snprintf(t->page.title, sizeof(t->page.title), "Kept for this recording");
	t->page.name = "Kept for this recording";
	t->page.about =
		"Marks, searches and filters, kept for this file. Enter goes to a mark, with "
		"its window, or repeats a search or filter.";
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

/* SPDX-License-Identifier: MIT */
/* The page of the stack of the wait under the cursor, and of its waker: side by side on a wide
 * screen. */
#include <stdio.h>
#include <string.h>

#include "glyphs.h"
#include "ruler.h"
#include "timeline_priv.h"
#include "wakeup.h"

#define SIDE_BY_SIDE 160 /* columns of the screen */
#define STACK_BYTES  (1 << 20)

/* The next line of the n bytes at *p, without its end; NULL: there are no more. */
static const char *next_line(const char **p, size_t *left, int *n)
{
	const char *line = *p, *end = *left ? memchr(line, '\n', *left) : NULL;

	if (!end)
		return NULL;
	*n = (int)(end - line);
	*left -= (size_t)(end + 1 - line);
	*p = end + 1;
	return line;
}

static void add_below(struct ty_timeline *t, const struct ty_buf *b)
{
	const char *p = b->p, *l;
	size_t left = b->len;
	int n;

	while ((l = next_line(&p, &left, &n)))
		ty_page_add(&t->page, TY_ROLE_TEXT, "  %.*s", n, l);
}

static void add_beside(struct ty_timeline *t, int width, const struct ty_buf *a,
		       const struct ty_buf *b)
{
	const char *pa = a->p, *pb = b->p, *la, *lb;
	size_t left_a = a->len, left_b = b->len;
	int na = 0, nb = 0;

	for (;;) {
		la = next_line(&pa, &left_a, &na);
		lb = next_line(&pb, &left_b, &nb);
		if (!la && !lb)
			return;
		ty_page_add(&t->page, TY_ROLE_TEXT, "  %-*.*s  %.*s", width, la ? na : 0,
			    la ? la : "", lb ? nb : 0, lb ? lb : "");
	}
}

/* The waker's recorded stack. An interrupt that wakes a thread finds another thread's, which has
 * nothing to do with the wait. */
static bool waker_stack(const struct ty_timeline *t, int32_t tid, const struct ty_span *s,
			uint32_t waker, struct ty_buf *out)
{
	const struct ty_explain *x = t->in->explain;
	int32_t who;

	if (waker == TY_NONE || !x->stack(x->ctx, tid, s->start_ns, s->end_ns, true, &who, out))
		return false;
	if (who == ty_model_thread(t->m, waker)->tid)
		return true;
	ty_buf_reset(out);
	return false;
}

static void fill(struct ty_timeline *t, uint32_t thread, const struct ty_span *s,
		 const struct ty_buf *own, const struct ty_buf *of_waker)
{
	const uint32_t waker = ty_waker_find(t->m, s->edge).thread;
	const int width = of_waker->len && t->lay.w >= SIDE_BY_SIDE ? (t->lay.w - 8) / 2 : 0;
	char who[TY_THREAD_NAME_MAX], by[TY_THREAD_NAME_MAX] = "", len[TY_TIME_MAX],
				      at[TY_TIME_MAX], title[120];

	ty_page_reset(&t->page);
	ty_timeline_thread_name(t, thread, s->start_ns, who);
	snprintf(t->page.title, sizeof(t->page.title), "Stack of %s, %s for %s, starting at %s",
		 who, ty_state_name((enum ty_state)s->state),
		 ty_fmt_length(s->end_ns - s->start_ns, len),
		 ty_timeline_at(t, s->start_ns, 1000, at));
	t->page.name = "Stack";
	t->page.about =
		"The user stack of the wait under the cursor, innermost function first, and "
		"that of the thread that woke it. Recorded for waits of 20 ms or more "
		"(record --stacks T).";
	if (waker != TY_NONE)
		ty_timeline_thread_name(t, waker, s->end_ns, by);
	snprintf(title, sizeof(title), *by ? "Woken by %s%s" : "%s", *by ? by : "",
		 !*by || of_waker->len ? "" : ", whose stack was not recorded");
	ty_page_add(&t->page, TY_ROLE_ACCENT, width ? "%-*s    %s" : "%*s%s", width, who,
		    width ? title : "");
	ty_page_link(&t->page, thread, s->start_ns);
	if (width) {
		add_beside(t, width, own, of_waker);
		return;
	}
	add_below(t, own);
	if (!*by)
		return;
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	ty_page_add(&t->page, TY_ROLE_ACCENT, "%s", title);
	ty_page_link(&t->page, waker, s->end_ns);
	add_below(t, of_waker);
}

bool ty_timeline_stack(struct ty_timeline *t)
{
	const struct ty_explain *x = t->in->explain;
	struct ty_track track;
	struct ty_cell cell;
	struct ty_buf own, of_waker;
	struct ty_span s;
	uint32_t idx, thread;
	uint64_t from, to;
	int32_t tid, who;
	bool found;

	if (!ty_timeline_subject(t, &track, &cell, &idx, &from, &to)) {
		ty_timeline_say(t, "no span is under the cursor");
		return false;
	}
	s = ty_track_span(t->m, track, idx);
	if (track.kind != TY_TRACK_THREAD)
		s.edge = TY_NONE;
	thread = track.kind == TY_TRACK_THREAD || track.kind == TY_TRACK_SYSCALLS ? track.id
										  : TY_NONE;
	if (thread == TY_NONE) {
		ty_timeline_say(t, "stacks are of waits: move to a thread's row");
		return false;
	}
	tid = ty_model_tid(t->m, thread, s.start_ns);
	ty_buf_init(&own, STACK_BYTES);
	ty_buf_init(&of_waker, STACK_BYTES);
	found = x && x->stack && x->stack(x->ctx, tid, s.start_ns, s.end_ns, false, &who, &own);
	if (found) {
		waker_stack(t, tid, &s, ty_waker_find(t->m, s.edge).thread, &of_waker);
		fill(t, thread, &s, &own, &of_waker);
	} else {
		ty_timeline_say(t, "no stack was recorded here: only waits of 20 ms or more have "
				   "one (record --stacks)");
	}
	ty_buf_fini(&own);
	ty_buf_fini(&of_waker);
	return found && ty_timeline_push_page(t);
}

/* SPDX-License-Identifier: MIT */
/* The view opened above the timeline, and the return from it. */
#include "timeline_priv.h"

bool ty_timeline_push(struct ty_timeline *t, const struct ty_view_ops *ops, void *view,
		      void (*left)(struct ty_timeline *t))
{
	t->child = (struct ty_timeline_child){ops, view, left};
	t->no_page = false;
	return true;
}

void ty_timeline_child(void *self, const struct ty_view_ops **ops, void **view)
{
	const struct ty_timeline *t = self;

	*ops = t->child.ops;
	*view = t->child.view;
}

enum ty_view_result ty_timeline_resumed(void *self)
{
	struct ty_timeline *t = self;
	void (*left)(struct ty_timeline * t) = t->child.left;

	t->child = (struct ty_timeline_child){0};
	if (left)
		left(t);
	ty_timeline_clamp(t);
	return t->child.ops ? TY_VIEW_PUSH : TY_VIEW_CHANGED; /* another one in its place */
}

/* Left by a choice: go where it leads. */
void ty_timeline_page_left(struct ty_timeline *t)
{
	const struct ty_page_line *l;

	if (!t->page.chosen)
		return;
	t->page.chosen = false;
	t->no_page = true; /* a q that follows was meant for it */
	l = &t->page.lines.v[t->page.at];
	t->message[0] = 0;
	t->vp.here = ty_timeline_place(t);
	ty_timeline_unselect(t);
	ty_timeline_visit(t, l->thread, l->at_ns);
	if (l->calls && l->thread != TY_NONE) {
		const uint32_t row = ty_tracks_reveal_calls(&t->tracks, l->thread);

		t->row = row == TY_NONE ? t->row : row;
		ty_timeline_show_row(t, 0);
	}
}

bool ty_timeline_push_page(struct ty_timeline *t)
{
	return ty_timeline_push(t, &ty_page_ops, &t->page, ty_timeline_page_left);
}

/* SPDX-License-Identifier: MIT */
/* The wakeup chain of the stall under the cursor, beside the list of a wide and tall screen. */
#include <stdio.h>

#include "ruler.h"
#include "timeline_priv.h"

#define LIST_H 8   /* lines of the list, its headline included, */
#define WIDE   160 /* and columns of the screen, that leave room for it */

bool ty_timeline_chain_pane(const struct ty_timeline *t, struct ty_grid *g,
			    const struct ty_palette *p, int x)
{
	const struct ty_layout *l = &t->lay;
	const struct ty_stall *s;
	struct ty_explain brief;
	int y = l->list_y + 1, end = l->list_y + l->list_h;

	if (l->w < WIDE || l->list_h < LIST_H || !t->in->explain || !t->stall_here ||
	    t->stall_here > t->findings.stalls.n)
		return false;
	if (!g)
		return true;
	s = &t->findings.stalls.v[t->stall_here - 1];
	/* Nothing is read from the file for a frame: c has the arguments, too. */
	brief = *t->in->explain;
	brief.args = NULL;
	brief.pointee = NULL;
	brief.received = NULL;
	brief.ready = NULL;
	for (int i = y; i < end; i++)
		ty_grid_put(g, x, i, p->utf8 ? 0x2502 : '|', ty_palette_role(p, TY_ROLE_DIM));
	for (uint32_t i = 0; i < s->links && y < end; i++) {
		const struct ty_link *k = &s->link[i];
		char who[TY_THREAD_NAME_MAX], what[TY_LINK_TEXT], text[TY_LINK_TEXT + 120];

		ty_stall_link_text(&brief, s->link, i, what);
		snprintf(text, sizeof(text), "%s%s %s", i ? "<- " : "",
			 ty_timeline_thread_name(t, k->thread, k->start_ns, who), what);
		y += ty_grid_wrap(g, p, x + 2, y, end - y, TY_CHAIN_PANE_W - 3, text,
				  ty_palette_role(p, i ? TY_ROLE_TEXT : TY_ROLE_STRONG));
	}
	return true;
}

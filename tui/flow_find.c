/* SPDX-License-Identifier: MIT */
/* The instruction view's search for a function by name: prompt, and matches among the decoded
 * calls. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "flow_view_priv.h"
#include "input_line.h"

/* Lower-case letters match both cases, as in less -i. */
static bool matches(const char *name, const char *wanted)
{
	for (const char *p = wanted; *p; p++)
		if (isupper((unsigned char)*p))
			return strstr(name, wanted);
	return strcasestr(name, wanted);
}

/* The next call of a function with the wanted name behind the cursor, else the first of all. */
static void find(struct ty_flow_view *v)
{
	const struct ty_flow_part *part = v->part;
	uint32_t first = TY_NO_CALL, next = TY_NO_CALL;
	size_t n = 0, nth = 0;
	bool all = !part->cut && part->from_ns <= v->on.start_ns && part->to_ns >= v->on.end_ns;
	char name[256];

	for (uint32_t i = 0; i < part->calls.n; i++) {
		uint32_t at = part->calls.v[i].first;

		if (!matches(ty_flow_part_function(part, i), v->wanted))
			continue;
		n++;
		if (first == TY_NO_CALL)
			first = i;
		if (next == TY_NO_CALL && at > v->at && at < part->steps.n) {
			next = i;
			nth = n;
		}
	}
	if (first == TY_NO_CALL) {
		snprintf(v->message, sizeof(v->message),
			 "no call of a function named like '%.60s' %s", v->wanted,
			 all ? "in this recording" : "in the decoded part");
		return;
	}
	if (next == TY_NO_CALL) {
		next = first;
		nth = 1;
	}
	ty_flow_view_go(v, part->calls.v[next].first);
	snprintf(v->message, sizeof(v->message),
		 "%.80s: call %zu of %zu with '%.40s'%s; / Enter: next",
		 ty_flow_bare(ty_flow_part_function(part, next), name), nth, n, v->wanted,
		 all ? "" : " in the decoded part");
}

void ty_flow_find_prompt(struct ty_flow_view *v)
{
	v->prompting = v->part && v->part->calls.n && !v->aside.on;
	v->input[0] = 0;
	if (!v->prompting)
		snprintf(v->message, sizeof(v->message),
			 "no calls were decoded here: nothing to search");
}

enum ty_view_result ty_flow_find_key(struct ty_flow_view *v, uint32_t key)
{
	enum ty_input_key k = ty_input_prompt_key(&v->prompting, v->input, sizeof(v->input), key);

	if (k == TY_INPUT_IGNORED)
		return TY_VIEW_IGNORED;
	if (k != TY_INPUT_ENTERED)
		return TY_VIEW_CHANGED;
	if (*v->input)
		snprintf(v->wanted, sizeof(v->wanted), "%s", v->input);
	if (*v->wanted && v->part && !v->aside.on)
		find(v);
	return TY_VIEW_CHANGED;
}

void ty_flow_find_draw(const struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	char ask[180];
	int y = g->h - 1, x = 1;

	snprintf(ask, sizeof(ask),
		 "function name or part of it%s%.60s: ", *v->wanted ? "; Enter: " : "", v->wanted);
	ty_grid_fill(g, 0, y, g->w, 1, ' ', bar);
	x += ty_grid_text(g, x, y, ty_text_width(ask) > g->w - 20 ? 8 : g->w, ask, bar);
	x += x == 9;
	ty_grid_input(g, x, y, v->input, bar);
}

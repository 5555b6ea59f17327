/* SPDX-License-Identifier: MIT */
/* Scrolling lines; see page.h. */
#include "page.h"

#include "footer.h"
#include "input_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ty_page_reset(struct ty_page *p)
{
	vec_each (l, &p->lines)
		free(l->text);
	vec_fini(&p->lines);
	*p = (struct ty_page){0};
}

void ty_page_add(struct ty_page *p, enum ty_role role, const char *fmt, ...)
{
	struct ty_page_line l = {.role = (uint8_t)role};
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&l.text, fmt, ap) < 0)
		l.text = NULL;
	va_end(ap);
	if (!l.text || vec_push(&p->lines, l)) {
		free(l.text);
		p->failed = true;
	}
}

void ty_page_help(struct ty_page *p, const char *title, const struct ty_page_key *keys, size_t n,
		  const char *const *lines, size_t lines_n)
{
	ty_page_reset(p);
	snprintf(p->title, sizeof(p->title), "%s", title);
	for (size_t i = 0; i < n; i++) {
		char a[TY_KEY_NAMES_MAX], b[TY_KEY_NAMES_MAX] = "", both[2 * TY_KEY_NAMES_MAX + 4];
		const struct ty_key_row *second = ty_keys_row(keys[i].b);

		ty_key_names(ty_keys_row(keys[i].a), 0, a);
		if (second)
			ty_key_names(second, 0, b);
		snprintf(both, sizeof(both), "%s%s%s", a, second ? " / " : "", b);
		ty_page_add(p, TY_ROLE_TEXT, "  %-18s %s", both, keys[i].what);
	}
	ty_page_add(p, TY_ROLE_TEXT, "%s", "");
	for (size_t i = 0; i < lines_n; i++)
		ty_page_add(p, TY_ROLE_TEXT, "%s", lines[i]);
}

void ty_page_link(struct ty_page *p, uint32_t thread, uint64_t at_ns)
{
	struct ty_page_line *l = p->lines.n ? &p->lines.v[p->lines.n - 1] : NULL;

	if (!l)
		return;
	l->link = true;
	l->thread = thread;
	l->at_ns = at_ns;
}

void ty_page_link_calls(struct ty_page *p)
{
	if (p->lines.n)
		p->lines.v[p->lines.n - 1].calls = true;
}

/* The lines of the screen that a line takes. */
static int rows_of(const struct ty_page *p, int line)
{
	int n = ty_grid_wrap(NULL, NULL, 0, 0, p->height, p->width, p->lines.v[line].text,
			     (struct ty_style){0});

	return n > 1 ? n : 1;
}

/* The line `at` is on the screen. */
static void settle(struct ty_page *p)
{
	int n = (int)p->lines.n, rows = 0, first;

	if (p->at >= n)
		p->at = n - 1;
	if (p->at < 0)
		p->at = 0;
	if (p->top > p->at)
		p->top = p->at;
	for (first = p->at; n && first >= p->top; first--) {
		rows += rows_of(p, first);
		if (rows > p->height)
			break;
	}
	if (first >= p->top && first < p->at)
		p->top = first + 1;
}

/* The line at a row of the screen; -1: none. */
static int line_at(const struct ty_page *p, int y)
{
	int line = p->top, n = (int)p->lines.n;

	if (y < 1 || y > p->height)
		return -1;
	for (int end = 1; line < n && (end += rows_of(p, line)) <= y;)
		line++;
	return line < n ? line : -1;
}

static const enum ty_action goes[] = {TY_ACT_OPEN, TY_ACT_UP, TY_ACT_PAGE_UP, TY_ACT_SEARCH,
				      TY_ACT_NONE};
static const enum ty_action *const keys = goes + 1; /* of a line that leads nowhere */

static void draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	const char *words[] = {"", "+lines", "+pages", "find"};
	struct ty_page *pg = self;
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	bool link;

	pg->height = g->h > 2 ? g->h - 2 : 1;
	pg->width = g->w - 2;
	settle(pg);
	ty_grid_clear(g);
	ty_grid_fill(g, 0, 0, g->w, 1, ' ', bar);
	ty_grid_elide(g, p, 1, 0, g->w - 2, pg->title, bar);
	for (int y = 1, i = pg->top; y <= pg->height && i < (int)pg->lines.n; i++) {
		const struct ty_page_line *l = &pg->lines.v[i];
		int n = ty_grid_wrap(g, p, 1, y, pg->height + 1 - y, pg->width, l->text,
				     ty_palette_role(p, (enum ty_role)l->role));

		if (i == pg->at)
			ty_grid_put(g, 0, y, '>', (struct ty_style){0});
		y += n > 1 ? n : 1;
		for (int k = 1; i == pg->at && k <= (n > 1 ? n : 1); k++)
			ty_grid_tint(g, 0, y - k, g->w, ty_palette_role(p, TY_ROLE_SELECT));
	}
	link = pg->at < (int)pg->lines.n && pg->lines.v[pg->at].link;
	words[0] = pg->enter ? pg->enter : "go there";
	ty_footer_draw(g, p, g->h - 1, link ? goes : keys, words + !link, "close");
	if (pg->typing || *pg->find) {
		char text[120];

		snprintf(text, sizeof(text),
			 pg->typing ? "find: %s_" : "find: %s  n/N next  q close", pg->find);
		ty_grid_fill(g, 0, g->h - 1, g->w, 1, ' ', bar);
		ty_grid_elide(g, p, 1, g->h - 1, g->w - 2, text, bar);
	}
	if (pg->failed)
		ty_grid_elide(g, p, 1, g->h - 1, g->w - 2,
			      "out of memory: some lines are missing; q closes this page",
			      ty_palette_role(p, TY_ROLE_WARN));
}

static enum ty_view_result move(struct ty_page *p, int by)
{
	p->at += by;
	settle(p);
	return TY_VIEW_CHANGED;
}

/* To the next line (by 1 or -1) from `from` on that holds the text, in either case; round the end.
 */
static enum ty_view_result find_line(struct ty_page *p, int from, int by)
{
	const int n = (int)p->lines.n;

	for (int i = 0; *p->find && i < n; i++) {
		const int at = ((from + i * by) % n + n) % n;

		if (!strcasestr(p->lines.v[at].text, p->find))
			continue;
		p->at = at;
		break;
	}
	settle(p);
	return TY_VIEW_CHANGED;
}

static bool wants_text(const void *self)
{
	return ((const struct ty_page *)self)->typing;
}

static enum ty_view_result text(void *self, uint32_t key)
{
	struct ty_page *p = self;

	switch (ty_input_line_key(p->find, sizeof(p->find), key)) {
	case TY_INPUT_CANCELLED:
		p->find[0] = 0;
		p->typing = false;
		return TY_VIEW_CHANGED;
	case TY_INPUT_ENTERED: p->typing = false; return TY_VIEW_CHANGED;
	case TY_INPUT_CHANGED: return find_line(p, p->find_from, 1);
	default: return TY_VIEW_IGNORED;
	}
}

static enum ty_view_result open_line(struct ty_page *p)
{
	p->chosen = p->at < (int)p->lines.n && p->lines.v[p->at].link;
	return p->chosen ? TY_VIEW_CLOSE : TY_VIEW_IGNORED;
}

static enum ty_view_result act(void *self, enum ty_action a)
{
	struct ty_page *p = self;
	int n = (int)p->lines.n;

	switch (a) {
	case TY_ACT_UP: return move(p, -1);
	case TY_ACT_DOWN: return move(p, 1);
	case TY_ACT_PAGE_UP: return move(p, 1 - p->height);
	case TY_ACT_PAGE_DOWN: return move(p, p->height - 1);
	case TY_ACT_ROW_FIRST:
	case TY_ACT_TIME_FIRST: return move(p, -n);
	case TY_ACT_ROW_LAST:
	case TY_ACT_TIME_LAST: return move(p, n);
	case TY_ACT_SEARCH:
		p->typing = true;
		p->find[0] = 0;
		p->find_from = p->at;
		return TY_VIEW_CHANGED;
	case TY_ACT_HIT_NEXT:
	case TY_ACT_NEXT: return find_line(p, p->at + 1, 1);
	case TY_ACT_HIT_PREV:
	case TY_ACT_PREV: return find_line(p, p->at - 1, -1);
	case TY_ACT_OPEN: return open_line(p);
	case TY_ACT_REDRAW: return TY_VIEW_REDRAW;
	case TY_ACT_HELP: return TY_VIEW_HELP;
	case TY_ACT_BACK:
		if (!*p->find)
			return TY_VIEW_CLOSE;
		p->find[0] = 0; /* one thing at a time */
		return TY_VIEW_CHANGED;
	case TY_ACT_QUIT: return TY_VIEW_CLOSE;
	default: return TY_VIEW_IGNORED;
	}
}

static enum ty_view_result mouse(void *self, const struct ty_mouse *m)
{
	struct ty_page *p = self;
	int line = line_at(p, m->y);

	switch (m->what) {
	case TY_MOUSE_WHEEL_UP: return move(p, -3);
	case TY_MOUSE_WHEEL_DOWN: return move(p, 3);
	case TY_MOUSE_CLICK:
	case TY_MOUSE_DOUBLE:
		if (line < 0)
			return TY_VIEW_IGNORED;
		p->at = line;
		return m->what == TY_MOUSE_DOUBLE ? open_line(p) : TY_VIEW_CHANGED;
	default: return TY_VIEW_IGNORED;
	}
}

const struct ty_view_ops ty_page_ops = {
	.name = "page",
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.wants_text = wants_text,
	.text = text,
};

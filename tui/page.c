/* SPDX-License-Identifier: MIT */
/* Scrolling lines; see page.h. */
#include "page.h"

#include "footer.h"
#include "input_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_MOST 2  /* lines */
#define BRIEF_MIN  12 /* columns of a shortened word */

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

/* Lines of calls end with a path often. They take one row each, so that lists of them stay lists;
 * the chosen one is shown in whole. */
static bool is_brief(const struct ty_page *p, int line)
{
	return p->lines.v[line].calls && line != p->at;
}

/* One row: of a last word that does not fit, the last folders and the name. */
static void draw_brief(struct ty_grid *g, const struct ty_palette *p, int y, int w,
		       const char *text, struct ty_style st)
{
	const char *blank = strrchr(text, ' '), *word = blank ? blank + 1 : text, *tail = word;
	const int head = ty_text_width(text) - ty_text_width(word), room = w - head - 1;
	const char *folder;

	if (room < BRIEF_MIN || ty_text_width(word) <= room + 1) {
		ty_grid_elide(g, p, 1, y, w, text, st);
		return;
	}
	while (ty_text_width(tail) > room)
		ty_utf8_next(&tail);
	folder = strchr(tail, '/');
	tail = folder && folder[1] ? folder : tail;
	ty_grid_text(g, 1, y, head, text, st);
	ty_grid_put(g, 1 + head, y, p->utf8 ? 0x2026 : '~', st);
	ty_grid_text(g, 2 + head, y, room, tail, st);
}

/* The lines of the screen that a line takes. */
static int rows_of(const struct ty_page *p, int line)
{
	int n = is_brief(p, line) ? 1
				  : ty_grid_wrap(NULL, NULL, 0, 0, p->height, p->width,
						 p->lines.v[line].text, (struct ty_style){0});

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

	if (y < p->head || y >= p->head + p->height)
		return -1;
	for (int end = p->head; line < n && (end += rows_of(p, line)) <= y;)
		line++;
	return line < n ? line : -1;
}

static const enum ty_action goes[] = {TY_ACT_OPEN, TY_ACT_UP, TY_ACT_PAGE_UP, TY_ACT_SEARCH,
				      TY_ACT_NONE};
static const enum ty_action *const keys = goes + 1; /* of a line that leads nowhere */

/* Does the line hold what is looked for? */
static bool is_found(const struct ty_page *p)
{
	return !*p->find.text ||
	       (p->at < (int)p->lines.n && ty_list_find_is(&p->find, p->lines.v[p->at].text));
}

static void draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	const char *words[] = {"", "+lines", "+pages", "find"};
	struct ty_page *pg = self;
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	char close[48] = "close";
	int i;
	bool link;

	pg->width = g->w - 2;
	pg->head = ty_grid_wrap(NULL, p, 1, 0, TITLE_MOST, pg->width, pg->title, bar);
	pg->head = pg->head > 1 ? pg->head : 1;
	pg->height = g->h > pg->head + 1 ? g->h - pg->head - 1 : 1;
	settle(pg);
	ty_grid_clear(g);
	ty_grid_fill(g, 0, 0, g->w, pg->head, ' ', bar);
	ty_grid_wrap(g, p, 1, 0, pg->head, pg->width, pg->title, bar);
	i = pg->top;
	for (int y = pg->head; y < g->h - 1 && i < (int)pg->lines.n; i++) {
		const struct ty_page_line *l = &pg->lines.v[i];
		const struct ty_style st = ty_palette_role(p, (enum ty_role)l->role);
		int n = 1;

		if (is_brief(pg, i))
			draw_brief(g, p, y, pg->width, l->text, st);
		else
			n = ty_grid_wrap(g, p, 1, y, g->h - 1 - y, pg->width, l->text, st);
		if (i == pg->at)
			ty_grid_put(g, 0, y, '>', (struct ty_style){0});
		n = n > 1 ? n : 1;
		y += n;
		for (int k = 1; i == pg->at && k <= n; k++)
			ty_grid_tint(g, 0, y - k, g->w, ty_palette_role(p, TY_ROLE_SELECT));
		if (rows_of(pg, i) > n)
			break; /* not all of it is shown */
	}
	link = pg->at < (int)pg->lines.n && pg->lines.v[pg->at].link;
	words[0] = pg->enter ? pg->enter : "go there";
	if (g->w >= 60 && (pg->top || i < (int)pg->lines.n)) /* as in the help */
		snprintf(close, sizeof(close), "close  %d-%d of %d", pg->top + 1,
			 i > pg->top ? i : pg->top + 1, (int)pg->lines.n);
	ty_footer_draw(g, p, g->h - 1, link ? goes : keys, words + !link, close);
	if (pg->find.typing || *pg->find.text) {
		char text[120];

		snprintf(text, sizeof(text),
			 pg->find.typing && !is_found(pg) ? "find: %s_  no such line"
			 : pg->find.typing && pg->quick
				 ? "find: %s_  Enter chooses, Up and Down move"
			 : pg->find.typing ? "find: %s_"
					   : "find: %s  n/N next  q close",
			 pg->find.text);
		ty_grid_fill(g, 0, g->h - 1, g->w, 1, ' ', bar);
		ty_grid_elide(g, p, 1, g->h - 1, g->w - 2, text, bar);
	}
	if (pg->no_key)
		ty_footer_say(g, p, TY_NO_KEY);
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

static const char *text_of(void *ctx, int i)
{
	const struct ty_page *p = ctx;

	return p->lines.v[i].text;
}

/* To the next line (by 1 or -1) from `from` on that holds the text. */
static enum ty_view_result find_line(struct ty_page *p, int from, int by)
{
	const int at = ty_list_find_next(&p->find, (int)p->lines.n, from, by, text_of, p);

	p->at = at < 0 ? p->at : at;
	settle(p);
	return TY_VIEW_CHANGED;
}

static bool wants_text(const void *self)
{
	return ((const struct ty_page *)self)->find.typing;
}

static enum ty_view_result open_line(struct ty_page *p)
{
	p->chosen = p->at < (int)p->lines.n && p->lines.v[p->at].link;
	p->no_key = !p->chosen;
	return p->chosen ? TY_VIEW_CLOSE : TY_VIEW_CHANGED;
}

static enum ty_view_result text(void *self, uint32_t key)
{
	struct ty_page *p = self;

	if (key == TY_KEY_UP || key == TY_KEY_DOWN) {
		p->find.from = p->at;
		return move(p, key == TY_KEY_UP ? -1 : 1);
	}
	switch (ty_list_find_key(&p->find, key)) {
	case TY_INPUT_CANCELLED: return TY_VIEW_CHANGED;
	case TY_INPUT_ENTERED:
		p->find.typing = p->quick && !is_found(p); /* no line that was not meant */
		return p->quick && !p->find.typing ? open_line(p) : TY_VIEW_CHANGED;
	case TY_INPUT_CHANGED: return find_line(p, p->find.from, 1);
	default: return TY_VIEW_IGNORED;
	}
}

static struct ty_help_topic help(const void *self)
{
	static const struct ty_help_key all[] = {
		{TY_ACT_UP, TY_ACT_DOWN, "a line up, down"},
		{TY_ACT_PAGE_UP, TY_ACT_PAGE_DOWN, "a page up, down"},
		{TY_ACT_GOTO, TY_ACT_ROW_LAST, "the first line, the last one (Home, End, too)"},
		{TY_ACT_SEARCH, TY_ACT_NONE, "find lines that hold a text, in either case"},
		{TY_ACT_NEXT, TY_ACT_PREV, "the next, the previous such line"},
		{TY_ACT_BACK, TY_ACT_QUIT, "close this page"},
	};
	static const char *const lines[] = {
		"Wide lines are wrapped; lines of calls only when they are chosen. A click "
		"chooses a line, a double click opens it."};
	const struct ty_page *p = self;
	bool link = false;

	vec_each (l, &p->lines)
		link |= l->link;
	return (struct ty_help_topic){
		.title = p->name ? p->name : "This page",
		.enter = !link	    ? NULL
			 : p->enter ? p->enter
				    : "go to the time and thread of the line; a line that leads "
				      "nowhere says so in the footer",
		.keys = all,
		.keys_n = sizeof(all) / sizeof(*all),
		.lines = lines,
		.lines_n = sizeof(lines) / sizeof(*lines),
		.about = p->about};
}

static enum ty_view_result act(void *self, enum ty_action a)
{
	struct ty_page *p = self;
	int n = (int)p->lines.n;

	p->no_key = false;
	switch (a) {
	case TY_ACT_UP: return move(p, -1);
	case TY_ACT_DOWN: return move(p, 1);
	case TY_ACT_PAGE_UP: return move(p, 1 - p->height);
	case TY_ACT_PAGE_DOWN: return move(p, p->height - 1);
	case TY_ACT_GOTO:
	case TY_ACT_ROW_FIRST:
	case TY_ACT_TIME_FIRST: return move(p, -n);
	case TY_ACT_ROW_LAST:
	case TY_ACT_TIME_LAST: return move(p, n);
	case TY_ACT_SEARCH: ty_list_find_start(&p->find, p->at); return TY_VIEW_CHANGED;
	case TY_ACT_HIT_NEXT:
	case TY_ACT_NEXT: return find_line(p, p->at + 1, 1);
	case TY_ACT_HIT_PREV:
	case TY_ACT_PREV: return find_line(p, p->at - 1, -1);
	case TY_ACT_OPEN: return open_line(p);
	case TY_ACT_REDRAW: return TY_VIEW_REDRAW;
	case TY_ACT_HELP: return TY_VIEW_HELP;
	case TY_ACT_BACK:
		if (!*p->find.text)
			return TY_VIEW_CLOSE;
		p->find.text[0] = 0; /* one thing at a time */
		return TY_VIEW_CHANGED;
	case TY_ACT_QUIT: return TY_VIEW_CLOSE;
	default: p->no_key = true; return TY_VIEW_CHANGED;
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
	.help = help,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.wants_text = wants_text,
	.text = text,
};

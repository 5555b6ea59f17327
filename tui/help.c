/* SPDX-License-Identifier: MIT */
/* The help screen; see help.h. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "glyphs.h"

/* Where the next line goes; lines above or below the screen are counted, not drawn. */
struct page {
	struct ty_grid *g;
	const struct ty_palette *p;
	int top, line;
	const struct ty_list_find *find;
	const char *topic; /* its title, drawn with its first line */
	bool titled;
};

static bool holds(const struct page *pg, const char *s)
{
	return ty_list_find_is(pg->find, s);
}

static int at(const struct page *pg)
{
	int y = pg->line - pg->top + 1;

	return y >= 1 && y < pg->g->h - 1 ? y : -1;
}

/* A topic begins: its title is seen when a line of it is. */
static void title(struct page *pg, const char *s)
{
	pg->topic = s;
	pg->titled = false;
}

/* True if this line is shown: its text matches, or its topic does. */
static bool begin_line(struct page *pg, const char *a, const char *b)
{
	if (!holds(pg, pg->topic) && !holds(pg, a) && !holds(pg, b))
		return false;
	if (!pg->titled) {
		if (pg->line)
			pg->line++;
		ty_grid_text(pg->g, 1, at(pg), pg->g->w - 2, pg->topic,
			     ty_palette_role(pg->p, TY_ROLE_ACCENT));
		pg->line++;
	}
	pg->titled = true;
	return true;
}

/* Text over as many lines as it needs. */
static void para(struct page *pg, int x, const char *s, struct ty_style st)
{
	size_t n;

	do {
		int cols;

		n = ty_text_break(s, pg->g->w - x - 1, &cols);
		ty_grid_text(pg->g, x, at(pg), cols, s, st);
		pg->line++;
		s += n;
		s += strspn(s, " ");
	} while (*s && n);
}

static void keys(struct page *pg)
{
	const char *group = "";
	unsigned n;
	const struct ty_key_row *t = ty_keys_table(&n);

	for (unsigned i = 0; i < n; i++) {
		char names[TY_KEY_NAMES_MAX];

		if (strcmp(group, t[i].group))
			title(pg, group = t[i].group);
		ty_key_names(&t[i], pg->p->utf8, names);
		if (!begin_line(pg, names, t[i].help))
			continue;
		ty_grid_text(pg->g, 3, at(pg), 15, names, ty_palette_role(pg->p, TY_ROLE_STRONG));
		para(pg, 18, t[i].help, ty_palette_role(pg->p, TY_ROLE_TEXT));
	}
}

/* A page's own. */
static void topic(struct page *pg, const struct ty_help_topic *t)
{
	const struct ty_help_key enter = {TY_ACT_OPEN, TY_ACT_NONE, t->enter};

	title(pg, "Keys");
	for (size_t i = t->enter ? 0 : 1; i <= t->keys_n; i++) {
		const struct ty_help_key *k = i ? &t->keys[i - 1] : &enter;
		char a[TY_KEY_NAMES_MAX], b[TY_KEY_NAMES_MAX] = "", both[2 * TY_KEY_NAMES_MAX + 4];
		const struct ty_key_row *second = ty_keys_row(k->b);

		ty_key_names(ty_keys_row(k->a), pg->p->utf8, a);
		if (second)
			ty_key_names(second, pg->p->utf8, b);
		snprintf(both, sizeof(both), "%s%s%s", a, second ? " / " : "", b);
		if (!begin_line(pg, both, k->what))
			continue;
		ty_grid_text(pg->g, 3, at(pg), 19, both, ty_palette_role(pg->p, TY_ROLE_STRONG));
		para(pg, 23, k->what, ty_palette_role(pg->p, TY_ROLE_TEXT));
	}
	title(pg, "What is shown");
	for (size_t i = t->about ? 0 : 1; i <= t->lines_n; i++) {
		const char *line = i ? t->lines[i - 1] : t->about;

		if (begin_line(pg, line, ""))
			para(pg, 3, line, ty_palette_role(pg->p, TY_ROLE_TEXT));
	}
}

static void language(struct page *pg)
{
	static const char *const lines[][2] = {
		{"webserver", "any name: of a thread, process, system call, state, event, error, "
			      "interrupt, region; files only if nothing else matches; a|b: either"},
		{"thread: process:", "name of a thread or process, or the words after it "
				     "(worker.py); tid:N[,N...], pid:N[,N...]"},
		{"call:^f.*sync", "a system call; patterns are POSIX extended regular expressions"},
		{"file:/srv/x",
		 "system calls on a file, pipe, socket or device of this name; peers by "
		 "address"},
		{"error:ENOENT", "system calls that returned this error (error:. for any)"},
		{"state:sleeping", "running, runnable, uninterruptible, stopped, unknown"},
		{"event:SIGKILL", "signals, softirq_raise, hrtimer, exec, lost..."},
		{"irq:virtio", "an interrupt handler, softirq or vector by name"},
		{"region:parse", "a region of user code, an instant or a counter by name"},
		{">10ms", "longer than this"},
	};

	title(pg, "Searching and filtering: all words must match");
	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (!begin_line(pg, lines[i][0], lines[i][1]))
			continue;
		ty_grid_text(pg->g, 3, at(pg), 16, lines[i][0],
			     ty_palette_role(pg->p, TY_ROLE_STRONG));
		para(pg, 20, lines[i][1], ty_palette_role(pg->p, TY_ROLE_TEXT));
	}
}

static void sign(struct page *pg, struct ty_glyph gl, int times, const char *what)
{
	if (!begin_line(pg, what, ""))
		return;
	for (int i = 0; i < times; i++)
		ty_grid_put(pg->g, 3 + i, at(pg), gl.ch, gl.st);
	para(pg, 18, what, ty_palette_role(pg->p, TY_ROLE_TEXT));
}

static void signs(struct page *pg)
{
	static const struct {
		enum ty_state s;
		const char *what;
	} states[] = {
		{TY_ST_RUNNING, "running"},
		{TY_ST_RUNNABLE, "runnable: waiting for a CPU"},
		{TY_ST_SLEEPING, "sleeping: waiting; a signal can interrupt it"},
		{TY_ST_BLOCKED,
		 "uninterruptible: blocked (D), waiting for a device or a kernel lock"},
		{TY_ST_STOPPED, "stopped by a signal or a debugger"},
		{TY_ST_UNKNOWN, "unknown (lost events, or before the recording)"},
		{TY_ST_IDLE, "idle (a CPU)"},
	};
	const struct ty_palette *p = pg->p;

	title(pg, "Symbols");
	for (unsigned i = 0; i < sizeof(states) / sizeof(*states); i++)
		sign(pg, ty_glyph_state(p, states[i].s), 6, states[i].what);
	sign(pg, (struct ty_glyph){.ch = '!', .st = ty_palette_role(p, TY_ROLE_LOST)}, 1,
	     "events were lost here");
	if (p->mode >= TY_COLOR_16)
		sign(pg,
		     (struct ty_glyph){.ch = p->utf8 ? 0x2588 : 'R',
				       .st = {.fg = TY_C_RUNNING_ODD}},
		     6, "a CPU's runs alternate between two shades");
	else
		sign(pg, (struct ty_glyph){.ch = p->utf8 ? 0x2503 : '|'}, 1,
		     "on a CPU: one run ended and the next one began");
	sign(pg,
	     (struct ty_glyph){.ch = p->utf8 ? 0x25a0 : '=',
			       .st = ty_palette_role(p, TY_ROLE_STRONG)},
	     1, "many system calls, one of them much longer than the others");
	if (p->utf8) {
		sign(pg, ty_glyph_bar(p, 3, TY_C_RUNNING), 6,
		     "many spans in a cell: the height is the share of running time");
		sign(pg, (struct ty_glyph){.ch = 0x2593, .st = {.fg = TY_C_RUNNING}}, 1,
		     "a run whose start or end was not recorded (inferred)");
	} else {
		sign(pg, (struct ty_glyph){.ch = 'r', .st = {.fg = TY_C_RUNNING}}, 6,
		     "running for less than half of the cell");
		sign(pg, (struct ty_glyph){.ch = '~', .st = {.fg = TY_C_RUNNING}}, 1,
		     "a run whose start or end was not recorded (inferred)");
	}
	sign(pg, (struct ty_glyph){.ch = '~', .st = ty_palette_role(p, TY_ROLE_WARN)}, 1,
	     "beside a CPU: some start times of runs on it are inferred");
	sign(pg, (struct ty_glyph){.ch = '~', .st = ty_palette_role(p, TY_ROLE_WARN)}, 1,
	     "in the list: the cause of the stall is inferred (?: unknown)");
	title(pg, "Mouse");
	sign(pg, (struct ty_glyph){.ch = ' '}, 0,
	     "wheel: zooms over the ruler, scrolls elsewhere; Ctrl+wheel: zooms over the rows; "
	     "click: moves the cursor; double click: fits the span; dragging: selects");
}

static void draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_help *h = self;
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	struct page pg = {.g = g, .p = p, .find = &h->find};
	char text[160], find[80];

	h->page = g->h > 2 ? g->h - 2 : 1;
	if (h->top > h->lines - h->page && h->lines)
		h->top = h->lines - h->page;
	if (h->top < 0)
		h->top = 0;
	pg.top = h->top;
	ty_grid_clear(g);
	ty_grid_fill(g, 0, 0, g->w, 1, ' ', bar);
	snprintf(text, sizeof(text), "%s: keys and symbols",
		 h->topic.title ? h->topic.title : "tarry view");
	ty_grid_text(g, 1, 0, g->w - 1, text, bar);
	if (h->note && !h->topic.title) {
		title(&pg, "This recording is incomplete");
		if (begin_line(&pg, h->note, ""))
			para(&pg, 3, h->note, ty_palette_role(p, TY_ROLE_WARN));
	}
	if (h->scope && !h->topic.title) {
		title(&pg, "What this recording covers");
		if (begin_line(&pg, h->scope, ""))
			para(&pg, 3, h->scope, ty_palette_role(p, TY_ROLE_WARN));
	}
	if (h->topic.title) {
		topic(&pg, &h->topic);
	} else {
		keys(&pg);
		language(&pg);
		signs(&pg);
	}
	h->lines = pg.line;
	ty_grid_fill(g, 0, g->h - 1, g->w, 1, ' ', bar);
	if (!h->lines)
		ty_grid_text(g, 3, 2, g->w - 4, "no match in this help; Esc shows all again",
			     ty_palette_role(p, TY_ROLE_WARN));
	if (h->find.typing || *h->find.text)
		snprintf(find, sizeof(find), "find: %s%s  ", h->find.text,
			 h->find.typing ? "_" : "");
	else
		snprintf(find, sizeof(find), "/ find  ");
	snprintf(text, sizeof(text), "%s%sq close  %d-%d of %d", find,
		 h->lines > h->page ? "j/k scroll  " : "", h->lines ? h->top + 1 : 0,
		 h->top + h->page < h->lines ? h->top + h->page : h->lines, h->lines);
	ty_grid_text(g, 1, g->h - 1, g->w - 1, text, bar);
}

static enum ty_view_result scroll(struct ty_help *h, int by)
{
	h->top += by;
	if (h->top > h->lines - h->page)
		h->top = h->lines - h->page;
	if (h->top < 0)
		h->top = 0;
	return TY_VIEW_CHANGED;
}

static enum ty_view_result act(void *self, enum ty_action a)
{
	struct ty_help *h = self;

	switch (a) {
	case TY_ACT_UP: return scroll(h, -1);
	case TY_ACT_DOWN: return scroll(h, 1);
	case TY_ACT_PAGE_UP: return scroll(h, 1 - h->page);
	case TY_ACT_PAGE_DOWN:
	case TY_ACT_FOLD: return scroll(h, h->page - 1);
	case TY_ACT_ROW_FIRST:
	case TY_ACT_TIME_FIRST: return scroll(h, -h->lines);
	case TY_ACT_ROW_LAST:
	case TY_ACT_TIME_LAST: return scroll(h, h->lines);
	case TY_ACT_REDRAW: return TY_VIEW_REDRAW;
	case TY_ACT_SEARCH: ty_list_find_start(&h->find, 0); return TY_VIEW_CHANGED;
	case TY_ACT_BACK:
		if (!*h->find.text)
			return TY_VIEW_CLOSE;
		h->find.text[0] = 0; /* one thing at a time */
		return TY_VIEW_CHANGED;
	case TY_ACT_HELP:
	case TY_ACT_OPEN:
	case TY_ACT_QUIT: return TY_VIEW_CLOSE;
	default: return TY_VIEW_IGNORED;
	}
}

static bool wants_text(const void *self)
{
	return ((const struct ty_help *)self)->find.typing;
}

static enum ty_view_result text(void *self, uint32_t key)
{
	struct ty_help *h = self;

	h->top = 0;
	return ty_list_find_key(&h->find, key) == TY_INPUT_IGNORED ? TY_VIEW_IGNORED
								   : TY_VIEW_CHANGED;
}

static enum ty_view_result mouse(void *self, const struct ty_mouse *m)
{
	if (m->what != TY_MOUSE_WHEEL_UP && m->what != TY_MOUSE_WHEEL_DOWN)
		return TY_VIEW_IGNORED;
	return scroll(self, m->what == TY_MOUSE_WHEEL_UP ? -3 : 3);
}

const struct ty_view_ops ty_help_ops = {
	.name = "help",
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.wants_text = wants_text,
	.text = text,
};

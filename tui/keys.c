/* SPDX-License-Identifier: MIT */
/* The table of keys; see keys.h. */
#include "keys.h"

#include <stdio.h>
#include <string.h>

/* One line per action, so that a key is added in one place. */
static const uint32_t bound[TY_ACT_COUNT][TY_KEYS_PER_ACTION] = {
	[TY_ACT_ZOOM_IN] = {'w', '+', '='},
	[TY_ACT_ZOOM_OUT] = {'s', '-'},
	[TY_ACT_PAN_LEFT] = {'a'},
	[TY_ACT_PAN_RIGHT] = {'d'},
	[TY_ACT_ALL] = {'0'},
	[TY_ACT_ZOOM_SPAN] = {'z'},
	[TY_ACT_UNDO] = {'u'},
	[TY_ACT_REDO] = {'U', TY_KEY_CTRL('R')},
	[TY_ACT_GOTO] = {'g'},
	[TY_ACT_TIME_FIRST] = {TY_KEY_HOME, '^'},
	[TY_ACT_TIME_LAST] = {TY_KEY_END, '$'},
	[TY_ACT_CLOCK] = {'T'},
	[TY_ACT_LEFT] = {'h', TY_KEY_LEFT},
	[TY_ACT_RIGHT] = {'l', TY_KEY_RIGHT},
	[TY_ACT_SPAN_PREV] = {','},
	[TY_ACT_SPAN_NEXT] = {'.'},
	[TY_ACT_UP] = {'k', TY_KEY_UP},
	[TY_ACT_DOWN] = {'j', TY_KEY_DOWN},
	[TY_ACT_PAGE_UP] = {TY_KEY_PGUP, TY_KEY_CTRL('B')},
	[TY_ACT_PAGE_DOWN] = {TY_KEY_PGDN, TY_KEY_CTRL('F')},
	[TY_ACT_ROW_FIRST] = {'{'},
	[TY_ACT_ROW_LAST] = {'}', 'G'},
	[TY_ACT_FOLD] = {' '},
	[TY_ACT_DETAILS_DOWN] = {'J'},
	[TY_ACT_DETAILS_UP] = {'K'},
	[TY_ACT_NEXT] = {'n'},
	[TY_ACT_PREV] = {'N'},
	[TY_ACT_OPEN] = {TY_KEY_ENTER},
	[TY_ACT_FOCUS] = {TY_KEY_TAB, TY_KEY_BACKTAB},
	[TY_ACT_LINK_1] = {'1'},
	[TY_ACT_LINK_2] = {'2'},
	[TY_ACT_LINK_3] = {'3'},
	[TY_ACT_LINK_4] = {'4'},
	[TY_ACT_CHAIN] = {'c'},
	[TY_ACT_STACK] = {'b'},
	[TY_ACT_ARROWS] = {'A'},
	[TY_ACT_ONLY] = {'C'},
	[TY_ACT_PATH] = {'P'},
	[TY_ACT_LEDGER] = {'t'},
	[TY_ACT_DIFF] = {'D'},
	[TY_ACT_REQUESTS] = {'R'},
	[TY_ACT_SPECTRUM] = {'L'},
	[TY_ACT_FLAME] = {'F'},
	[TY_ACT_LOG_NEXT] = {'>'},
	[TY_ACT_LOG_PREV] = {'<'},
	[TY_ACT_CALLS] = {'I'},
	[TY_ACT_INSNS] = {'i'},
	[TY_ACT_MEMORY] = {'y'},
	[TY_ACT_SEARCH] = {'/'},
	[TY_ACT_HIT_NEXT] = {']'},
	[TY_ACT_HIT_PREV] = {'['},
	[TY_ACT_HITS] = {'H'},
	[TY_ACT_FILTER] = {'f'},
	[TY_ACT_SELECT] = {'v'},
	[TY_ACT_STATS] = {'S'},
	[TY_ACT_EXPORT] = {'e'},
	[TY_ACT_MARK] = {'m'},
	[TY_ACT_MARK_JUMP] = {'\''},
	[TY_ACT_KEPT] = {'M'},
	[TY_ACT_HELP] = {'?', TY_KEY_F1},
	[TY_ACT_BACK] = {TY_KEY_ESC, TY_KEY_BACKSPACE},
	[TY_ACT_REDRAW] = {TY_KEY_CTRL('L')},
	[TY_ACT_QUIT] = {'q'},
};

static struct ty_key_row table[TY_ACT_COUNT - 1] = {
#define X(name, g, f, h) {.action = TY_ACT_##name, .group = g, .footer = f, .help = h},
	TY_ACTIONS(X)
#undef X
};

const struct ty_key_row *ty_keys_table(unsigned *n)
{
	if (!table[0].keys[0])
		for (unsigned i = 0; i < TY_ACT_COUNT - 1; i++)
			memcpy(table[i].keys, bound[table[i].action], sizeof(table[i].keys));
	*n = TY_ACT_COUNT - 1;
	return table;
}

const struct ty_key_row *ty_keys_row(enum ty_action a)
{
	unsigned n;
	const struct ty_key_row *t = ty_keys_table(&n);

	return a > TY_ACT_NONE && a < TY_ACT_COUNT ? t + (a - 1) : NULL;
}

enum ty_action ty_keys_action(uint32_t key)
{
	for (int a = 1; key && a < TY_ACT_COUNT; a++)
		for (int i = 0; i < TY_KEYS_PER_ACTION; i++)
			if (bound[a][i] == key)
				return (enum ty_action)a;
	return TY_ACT_NONE;
}

const char *ty_key_name(uint32_t key, int utf8, char out[TY_KEY_NAME_MAX])
{
	static const struct {
		uint32_t key;
		const char *name, *glyph;
	} names[] = {
		{TY_KEY_UP, "Up", "↑"},
		{TY_KEY_DOWN, "Down", "↓"},
		{TY_KEY_LEFT, "Left", "←"},
		{TY_KEY_RIGHT, "Right", "→"},
		{TY_KEY_PGUP, "PgUp", NULL},
		{TY_KEY_PGDN, "PgDn", NULL},
		{TY_KEY_HOME, "Home", NULL},
		{TY_KEY_END, "End", NULL},
		{TY_KEY_F1, "F1", NULL},
		{TY_KEY_BACKSPACE, "Backspace", NULL},
		{TY_KEY_BACKTAB, "S-Tab", NULL},
		{TY_KEY_ESC, "Esc", NULL},
		{TY_KEY_ENTER, "Enter", NULL},
		{TY_KEY_TAB, "Tab", NULL},
		{' ', "Space", NULL},
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].key == key) {
			snprintf(out, TY_KEY_NAME_MAX, "%s",
				 utf8 && names[i].glyph ? names[i].glyph : names[i].name);
			return out;
		}
	if (key < 0x20)
		snprintf(out, TY_KEY_NAME_MAX, "Ctrl-%c", (int)(key + '@'));
	else
		snprintf(out, TY_KEY_NAME_MAX, "%c", (int)(key < 0x7f ? key : '?'));
	return out;
}

const char *ty_key_names(const struct ty_key_row *r, int utf8, char out[TY_KEY_NAMES_MAX])
{
	size_t n = 0;

	out[0] = 0;
	for (int i = 0; i < TY_KEYS_PER_ACTION && r->keys[i]; i++) {
		char name[TY_KEY_NAME_MAX];

		n += (size_t)snprintf(out + n, TY_KEY_NAMES_MAX - n, "%s%s", i ? ", " : "",
				      ty_key_name(r->keys[i], utf8, name));
	}
	return out;
}

/* man(7): a backslash and a minus are special, and so is a dot at the start of a line. */
static void add_roff(struct ty_buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\')
			ty_buf_adds(out, "\\e");
		else if (*s == '-')
			ty_buf_adds(out, "\\-");
		else if (*s == '\'')
			ty_buf_adds(out, "\\(aq");
		else if (*s == '^')
			ty_buf_adds(out, "\\(ha");
		else
			ty_buf_addc(out, *s);
	}
}

int ty_keys_man(struct ty_buf *out)
{
	unsigned n;
	const struct ty_key_row *t = ty_keys_table(&n);
	const char *group = "";

	for (unsigned i = 0; i < n; i++) {
		char names[TY_KEY_NAMES_MAX];

		if (strcmp(group, t[i].group)) {
			group = t[i].group;
			ty_buf_addf(out, ".SS %s\n", group);
		}
		ty_buf_adds(out, ".TP\n\\fB");
		add_roff(out, ty_key_names(&t[i], 0, names));
		ty_buf_adds(out, "\\fR\n");
		add_roff(out, t[i].help);
		ty_buf_adds(out, "\n");
	}
	return out->failed;
}

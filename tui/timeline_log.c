/* SPDX-License-Identifier: MIT */
/*
 * Lines of log files on the axis: a strip under the ruler, with a symbol at lines and the beginning
 * of a line's text where there is space; jumps between them; lines around a wait. Budget: one
 * binary search per cell.
 */
#include <stdio.h>
#include <string.h>

#include "base_name.h"
#include "timeline_priv.h"

#define NEAR_SHOWN 12 /* lines around a wait */

static const char *file_name(const struct ty_timeline *t, uint32_t file)
{
	return ty_base_name(t->in->log_names[file]);
}

/* The first line of its text, without the time where `body`. */
static void text_of(const struct ty_log_line *k, bool body, char *out, size_t n)
{
	const char *s = k->text + (body ? k->body : 0);

	snprintf(out, n, "%.*s%s", (int)strcspn(s, "\n"), s, strchr(s, '\n') ? " ..." : "");
}

static void draw_label(const struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_log *log = t->in->log;
	uint32_t files = 1;
	char text[80];

	vec_each (k, &log->line)
		if (k->file != log->line.v[0].file) {
			files = 2;
			break;
		}
	if (!log->line.n)
		snprintf(text, sizeof(text), "log");
	else
		snprintf(text, sizeof(text), "%s",
			 files > 1 ? "logs" : file_name(t, log->line.v[0].file));
	ty_grid_elide(g, p, 1, t->lay.log_y, t->lay.label_w - 2, text,
		      ty_palette_role(p, TY_ROLE_DIM));
	ty_grid_put(g, t->lay.label_w - 1, t->lay.log_y, p->utf8 ? 0x2502 : '|',
		    ty_palette_role(p, TY_ROLE_DIM));
}

static void draw(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_layout *l = &t->lay;
	const struct ty_log *log = t->in->log;
	struct ty_style sign = ty_palette_role(p, TY_ROLE_ACCENT),
			dim = ty_palette_role(p, TY_ROLE_DIM);
	uint32_t n = (uint32_t)l->cells_w;
	size_t at, next;

	if (l->log_y < 0)
		return;
	draw_label(t, g, p);
	sign.attr |= TY_A_BOLD;
	if (!log->line.n) {
		ty_grid_elide(g, p, l->cells_x, l->log_y, l->cells_w,
			      "the log has no line within the recording", dim);
		return;
	}
	at = ty_log_after(log, t->vp.from_ns);
	while (at < log->line.n && log->line.v[at].ts_ns < t->vp.to_ns) {
		uint32_t c = ty_viewport_column(&t->vp, log->line.v[at].ts_ns, n), end = n;
		uint32_t many;
		char text[TY_DETAIL_MAX];

		next = ty_log_after(log, ty_viewport_edge(&t->vp, c + 1, n));
		if (next <= at)
			next = at + 1;
		many = next - at > 9 ? 10 : (uint32_t)(next - at);
		if (next < log->line.n && log->line.v[next].ts_ns < t->vp.to_ns)
			end = ty_viewport_column(&t->vp, log->line.v[next].ts_ns, n);
		ty_grid_put(g, l->cells_x + (int)c, l->log_y,
			    many > 9   ? '+'
			    : many > 1 ? '0' + many
			    : p->utf8  ? 0x25c6
				       : '*',
			    sign);
		/* A few letters are useless. */
		if (end > c + 6) {
			text_of(&log->line.v[next - 1], true, text, sizeof(text));
			ty_grid_elide(g, p, l->cells_x + (int)c + 1, l->log_y, (int)(end - c) - 2,
				      text, dim);
		}
		at = next;
	}
	ty_grid_tint(g, l->cells_x + (int)ty_viewport_column(&t->vp, t->cursor_ns, n), l->log_y, 1,
		     (struct ty_style){.attr = TY_A_REVERSE});
}

/* "app.log:12 at 3.214 s: text" */
static void line_text(const struct ty_timeline *t, const struct ty_log_line *k, char *out, size_t n)
{
	uint64_t cell = (t->vp.to_ns - t->vp.from_ns) / 1000;
	char at[TY_TIME_MAX], text[TY_DETAIL_MAX];

	text_of(k, true, text, sizeof(text));
	snprintf(out, n, "%s:%llu at %s%s: %s", file_name(t, k->file),
		 (unsigned long long)k->number, k->doubtful ? "about " : "",
		 ty_timeline_at(t, k->ts_ns, cell < 1000 ? 1 : 1000, at), text);
}

bool ty_timeline_log_text(const struct ty_timeline *t, char *out, size_t n)
{
	const struct ty_log *log = t->in->log;
	uint32_t cells = ty_timeline_cells(t), c;
	size_t first, end, used;

	if (!log)
		return false;
	c = ty_viewport_column(&t->vp, t->cursor_ns, cells);
	first = ty_log_after(log, ty_viewport_edge(&t->vp, c, cells));
	end = ty_log_after(log, ty_viewport_edge(&t->vp, c + 1, cells));
	if (first >= end)
		return false;
	/* Of several the one that was jumped to. */
	for (size_t i = first; i < end; i++)
		if (log->line.v[i].ts_ns == t->cursor_ns) {
			line_text(t, &log->line.v[i], out, n);
			used = strlen(out);
			if (end - first > 1)
				snprintf(out + used, n - used, " (%zu of %zu here)", i - first + 1,
					 end - first);
			return true;
		}
	line_text(t, &log->line.v[first], out, n);
	used = strlen(out);
	if (end - first > 1)
		snprintf(out + used, n - used, " (and %zu more here)", end - first - 1);
	return true;
}

void ty_timeline_log_step(struct ty_timeline *t, int by)
{
	const struct ty_log *log = t->in->log;
	char text[sizeof(t->message) - 40];
	size_t i, n;

	if (!log || !log->line.n) {
		ty_timeline_say(t, log ? "the log has no line within the recording"
				       : "no log file: start with tarry view FILE --log LOG");
		return;
	}
	n = log->line.n;
	/* Lines of one instant are stepped through one by one. */
	if (t->log_at < n && log->line.v[t->log_at].ts_ns == t->cursor_ns)
		i = (t->log_at + n + (size_t)(by > 0 ? 1 : n - 1)) % n;
	else if (by > 0)
		i = ty_log_after(log, t->cursor_ns + 1) % n;
	else
		i = (ty_log_after(log, t->cursor_ns) + n - 1) % n;
	t->log_at = i;
	ty_timeline_visit(t, TY_NONE, log->line.v[i].ts_ns);
	line_text(t, &log->line.v[i], text, sizeof(text));
	ty_timeline_say(t, "%zu of %zu: %s", i + 1, n, text);
}

void ty_timeline_log_page(struct ty_timeline *t, uint64_t from_ns, uint64_t to_ns)
{
	const struct ty_log *log = t->in->log;
	size_t first, n = log ? ty_log_near(log, from_ns, to_ns, &first) : 0;
	char text[TY_DETAIL_MAX];

	if (!n)
		return;
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	ty_page_add(&t->page, TY_ROLE_ACCENT, "Log lines around it:");
	for (size_t i = first; i < first + n && i < first + NEAR_SHOWN; i++) {
		line_text(t, &log->line.v[i], text, sizeof(text));
		ty_page_add(&t->page, TY_ROLE_TEXT, "  %s", text);
		ty_page_link(&t->page, TY_NONE, log->line.v[i].ts_ns);
	}
	if (n > NEAR_SHOWN)
		ty_page_add(&t->page, TY_ROLE_DIM, "  and %zu more", n - NEAR_SHOWN);
}

const struct ty_layer ty_log_layer = {.draw = draw};

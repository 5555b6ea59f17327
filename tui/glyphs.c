/* SPDX-License-Identifier: MIT */
/* Maps cells to glyphs; see glyphs.h. Constant cost per cell (at most two spans are read). */
#include "glyphs.h"

/* A wait hides in a cell when it is this many times longer than the cell's mean span... */
#define OUTLIER 8
/* ...but longer than this many cells it fills a cell of its own. */
#define OWN_CELL 2

static const struct {
	uint32_t glyph;
	uint8_t color; /* enum ty_color */
	bool solid;    /* fills its part of a shared cell with colour */
} look[TY_ST_COUNT] = {
	[TY_ST_UNKNOWN] = {0x2591, TY_C_UNKNOWN, false},   /* light shade: a hatch */
	[TY_ST_RUNNING] = {0x2588, TY_C_RUNNING, true},	   /* full block */
	[TY_ST_RUNNABLE] = {0x2592, TY_C_RUNNABLE, true},  /* medium shade */
	[TY_ST_SLEEPING] = {0x2500, TY_C_SLEEPING, false}, /* line */
	[TY_ST_BLOCKED] = {0x2550, TY_C_BLOCKED, false},   /* double line */
	[TY_ST_STOPPED] = {0x254c, TY_C_STOPPED, false},   /* dashed line */
	[TY_ST_DEAD] = {' ', TY_C_DEFAULT, false},
	[TY_ST_IDLE] = {0xb7, TY_C_IDLE, false}, /* middle dot */
};

enum ty_color ty_state_color(enum ty_state s)
{
	return s < TY_ST_COUNT ? (enum ty_color)look[s].color : TY_C_DEFAULT;
}

struct ty_glyph ty_glyph_state(const struct ty_palette *p, enum ty_state s)
{
	if (s >= TY_ST_COUNT)
		s = TY_ST_UNKNOWN;
	return (struct ty_glyph){
		.ch = p->utf8 ? look[s].glyph
			      : (s == TY_ST_DEAD ? ' ' : (uint32_t)ty_state_letter(s)),
		.st = {.fg = look[s].color, .attr = s == TY_ST_BLOCKED ? TY_A_BOLD : 0}};
}

struct ty_glyph ty_glyph_bar(const struct ty_palette *p, unsigned eighths, uint8_t fg)
{
	static const char ascii[] = " ..:::###";
	struct ty_glyph g = {.ch = ' ', .st = {.fg = fg}};

	if (eighths > 8)
		eighths = 8;
	if (!p->utf8)
		g.ch = (uint32_t)ascii[eighths];
	else if (eighths)
		g.ch = 0x2580 + eighths; /* lower one eighth block .. full block */
	return g;
}

struct ty_span ty_track_span(const struct ty_model *m, struct ty_track t, uint32_t idx)
{
	struct ty_irq_span irq;
	struct ty_syscall c;

	switch (t.kind) {
	case TY_TRACK_CPU: return ty_model_cpu_span(m, t.id, idx);
	case TY_TRACK_THREAD: return ty_model_span(m, idx);
	case TY_TRACK_IRQS:
		irq = ty_model_irq_span(m, t.id, idx);
		return (struct ty_span){.start_ns = irq.start_ns,
					.end_ns = irq.end_ns,
					.thread = TY_NONE,
					.cpu = t.id,
					.edge = TY_NONE,
					.syscall = TY_NONE,
					.state = TY_ST_RUNNING,
					.flags = irq.flags};
	default: break;
	}
	c = ty_model_syscall(m, idx);
	return (struct ty_span){.start_ns = c.start_ns,
				.end_ns = c.end_ns,
				.thread = c.thread,
				.cpu = TY_NONE,
				.edge = TY_NONE,
				.syscall = idx,
				.state = TY_ST_RUNNING,
				.flags = c.flags};
}

static bool is_wait(uint8_t s)
{
	return s == TY_ST_RUNNABLE || s == TY_ST_SLEEPING || s == TY_ST_BLOCKED ||
	       s == TY_ST_STOPPED || s == TY_ST_UNKNOWN;
}

bool ty_cell_hides(const struct ty_model *m, struct ty_track t, const struct ty_cell *c,
		   uint64_t width_ns)
{
	if (c->spans <= 2 || c->longest_whole == TY_NONE || c->longest_ns / OWN_CELL >= width_ns ||
	    c->longest_ns / OUTLIER < width_ns / c->spans)
		return false;
	return t.kind == TY_TRACK_SYSCALLS || t.kind == TY_TRACK_IRQS ||
	       is_wait(ty_track_span(m, t, c->longest_whole).state);
}

uint32_t ty_cell_subject(const struct ty_model *m, struct ty_track t, const struct ty_cell *c,
			 uint64_t from_ns, uint64_t to_ns)
{
	return ty_cell_hides(m, t, c, to_ns - from_ns) ? c->longest_whole : c->longest;
}

/* The state that has most of the cell; with skip left out. TY_ST_COUNT: none. */
static unsigned most(const struct ty_cell *c, unsigned skip)
{
	unsigned best = TY_ST_COUNT;

	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		if (s != skip && c->ns[s] && (best == TY_ST_COUNT || c->ns[s] > c->ns[best]))
			best = s;
	return best;
}

static unsigned eighths(uint64_t part, uint64_t whole)
{
	unsigned e = whole ? (unsigned)(((unsigned __int128)part * 16 + whole) / whole / 2) : 0;

	return e < 1 ? 1 : e > 7 ? 7 : e;
}

/* Left e eighths in state l, the rest in state r, at least one of them solid. */
static struct ty_glyph split(const struct ty_palette *p, unsigned l, unsigned r, unsigned e)
{
	struct ty_glyph g = {.ch = 0x2590 - e}; /* left e eighths: U+258F is one, U+2588 eight */

	if (look[l].solid && look[r].solid && p->mode >= TY_COLOR_16) {
		g.st = (struct ty_style){.fg = look[l].color, .bg = look[r].color};
	} else if (look[l].solid) {
		g.ch = 0x2590 - e;
		g.st.fg = look[l].color;
	} else if (p->mode >= TY_COLOR_MONO) {
		/* The left part is the background: paint it, then exchange the two. */
		g.ch = 0x2590 - e;
		g.st = (struct ty_style){.fg = look[r].color, .attr = TY_A_REVERSE};
	} else {
		g.ch = e <= 2	? 0x2588
		       : e <= 5 ? 0x2590
				: 0x2595; /* full, right half, right edge */
		g.st.fg = look[r].color;
	}
	return g;
}

/* Two spans: where one ends and the other begins. */
static struct ty_glyph transition(const struct ty_palette *p, const struct ty_model *m,
				  struct ty_track t, const struct ty_cell *c, unsigned a,
				  unsigned b, uint64_t from, uint64_t to)
{
	struct ty_span s = ty_track_span(m, t, c->longest);
	unsigned other = s.state == a ? b : a, l, r;

	if (!look[a].solid && !look[b].solid)
		return ty_glyph_state(p, c->ns[a] >= c->ns[b] ? a : b);
	if (s.start_ns <= from) {
		l = s.state;
		r = other;
	} else {
		l = other;
		r = s.state;
	}
	return split(p, l, r, eighths(c->ns[l], to - from));
}

enum ty_color ty_run_color(uint32_t idx)
{
	return idx & 1 ? TY_C_RUNNING_ODD : TY_C_RUNNING;
}

/* A CPU ran without a break: whose turn ended where, by shade; without colours by a line. */
static struct ty_glyph runs(const struct ty_palette *p, const struct ty_model *m, struct ty_track t,
			    const struct ty_cell *c, uint64_t from, uint64_t to)
{
	struct ty_glyph g = ty_glyph_state(p, TY_ST_RUNNING);
	struct ty_span s;

	if (c->spans > 2 || c->longest == TY_NONE)
		return g;
	if (p->mode < TY_COLOR_16) {
		if (c->spans == 2)
			g.ch = p->utf8 ? 0x2503 : '|'; /* heavy vertical line */
		return g;
	}
	g.st.fg = ty_run_color(c->longest);
	if (c->spans == 1 || !p->utf8)
		return g;
	s = ty_track_span(m, t, c->longest);
	if (s.start_ns <= from) {
		g.ch = 0x2590 - eighths(s.end_ns - from, to - from);
		g.st.bg = ty_run_color(c->longest + 1);
	} else {
		g.ch = 0x2590 - eighths(s.start_ns - from, to - from);
		g.st.bg = g.st.fg;
		g.st.fg = ty_run_color(c->longest + 1);
	}
	return g;
}

static struct ty_glyph letter(const struct ty_palette *p, const struct ty_cell *c)
{
	unsigned s = most(c, TY_ST_COUNT);
	struct ty_glyph g = ty_glyph_state(p, s);

	if (s != TY_ST_RUNNING && s != TY_ST_RUNNABLE && c->ns[TY_ST_RUNNING]) {
		g = ty_glyph_state(p, TY_ST_RUNNING);
		g.ch = 'r';
	}
	return g;
}

/* Many spans: running time as a bar before the state that has most of the rest. */
static struct ty_glyph mixture(const struct ty_palette *p, const struct ty_cell *c, uint64_t width)
{
	unsigned top = c->ns[TY_ST_RUNNING] ? TY_ST_RUNNING : TY_ST_RUNNABLE;
	unsigned rest = most(c, top);
	struct ty_glyph g;
	bool quiet = rest == TY_ST_COUNT || rest == TY_ST_SLEEPING || rest == TY_ST_IDLE ||
		     rest == TY_ST_DEAD;

	if (!c->ns[top])
		return ty_glyph_state(p, most(c, TY_ST_COUNT));
	if (!quiet && p->mode < TY_COLOR_16 && c->ns[rest] >= c->ns[top] / 2)
		return ty_glyph_state(p, rest);
	g = ty_glyph_bar(p, eighths(c->ns[top], width), look[top].color);
	if (!quiet)
		g.st.bg = look[rest].color;
	return g;
}

static struct ty_glyph base_glyph(const struct ty_palette *p, const struct ty_model *m,
				  struct ty_track t, const struct ty_cell *c, uint64_t from,
				  uint64_t to)
{
	unsigned a = most(c, TY_ST_COUNT), b = most(c, a);
	struct ty_glyph g;

	if (ty_cell_hides(m, t, c, to - from)) {
		g = ty_glyph_state(p, ty_track_span(m, t, c->longest_whole).state);
		g.st.attr |= TY_A_BOLD;
		if (a == TY_ST_RUNNING && p->utf8)
			g.st.bg = TY_C_RUNNING;
		return g;
	}
	if (b == TY_ST_COUNT)
		return t.kind == TY_TRACK_CPU && a == TY_ST_RUNNING ? runs(p, m, t, c, from, to)
								    : ty_glyph_state(p, a);
	if (!p->utf8)
		return letter(p, c);
	if (c->spans == 2 && c->longest != TY_NONE)
		return transition(p, m, t, c, a, b, from, to);
	return mixture(p, c, to - from);
}

bool ty_cell_lost(const struct ty_gaps *gaps, struct ty_track t, const struct ty_cell *c,
		  uint64_t from_ns, uint64_t to_ns)
{
	bool of_cpu = t.kind == TY_TRACK_CPU || t.kind == TY_TRACK_IRQS;

	return c->flags & TY_SF_LOST &&
	       ty_gaps_touch(gaps, from_ns, to_ns > from_ns ? to_ns - 1 : from_ns,
			     of_cpu ? t.id : TY_NONE);
}

/* True if calls of the thread in [from, to) may be lost: the buffer of its CPU lost events, or, if
 * the CPU is unknown, any buffer. */
static bool may_have_called(const struct ty_model *m, const struct ty_gaps *gaps,
			    const struct ty_cell *state, uint64_t from, uint64_t to)
{
	struct ty_span s;

	if (!ty_gaps_touch(gaps, from, to - 1, TY_NONE))
		return false;
	if (state->ns[TY_ST_UNKNOWN])
		return true;
	if (!state->ns[TY_ST_RUNNING])
		return false;
	s = ty_model_span(m, state->longest);
	return state->spans > 1 || s.cpu == TY_NONE || ty_gaps_touch(gaps, from, to - 1, s.cpu);
}

enum ty_known ty_calls_known(const struct ty_model *m, const struct ty_gaps *gaps,
			     struct ty_track t, const struct ty_cell *c,
			     const struct ty_cell *state, uint64_t from, uint64_t to)
{
	if (to <= from)
		to = from + 1;
	if (ty_cell_lost(gaps, t, c, from, to))
		return TY_KNOWN_LOST;
	if (c->spans == 1 && c->ns[TY_ST_RUNNING] >= to - from)
		return TY_KNOWN; /* in one call all the time */
	if (t.kind == TY_TRACK_IRQS)
		return ty_gaps_touch(gaps, from, to - 1, t.id) ? TY_KNOWN_LOST : TY_KNOWN;
	if (!state)
		return TY_KNOWN;
	if (may_have_called(m, gaps, state, from, to))
		return TY_KNOWN_LOST;
	return c->longest == TY_NONE && most(state, TY_ST_COUNT) == TY_ST_UNKNOWN ? TY_KNOWN_NOT
										  : TY_KNOWN;
}

/* Lost events are marked where they cut something, not along all of the unknown that follows. */
static bool lost_here(const struct ty_model *m, const struct ty_gaps *gaps, struct ty_track t,
		      const struct ty_cell *c, uint64_t from, uint64_t to)
{
	struct ty_span s;

	if (!ty_cell_lost(gaps, t, c, from, to))
		return false;
	if (c->spans != 1 || c->longest == TY_NONE)
		return true;
	s = ty_track_span(m, t, c->longest);
	return s.start_ns >= from || s.end_ns <= to;
}

/* The cell is mostly a run of which one end was not recorded and lies here. */
static bool run_is_cut(const struct ty_model *m, struct ty_track t, const struct ty_cell *c,
		       uint64_t from, uint64_t to)
{
	struct ty_span s;

	if (!(c->flags & (TY_SF_INFERRED | TY_SF_LOST)) || c->spans > 2 || c->longest == TY_NONE)
		return false;
	s = ty_track_span(m, t, c->longest);
	if (s.state != TY_ST_RUNNING)
		return false;
	if (s.flags & TY_SF_INFERRED && s.start_ns >= from)
		return true;
	return s.flags & TY_SF_LOST &&
	       (s.start_ns >= from || (s.end_ns <= to && !(s.flags & TY_SF_OPEN)));
}

struct ty_glyph ty_glyph_cell(const struct ty_palette *p, const struct ty_model *m,
			      const struct ty_gaps *gaps, struct ty_track t,
			      const struct ty_cell *c, uint64_t from_ns, uint64_t to_ns)
{
	struct ty_glyph g;

	if (most(c, TY_ST_COUNT) == TY_ST_COUNT)
		return (struct ty_glyph){.ch = ' '};
	g = base_glyph(p, m, t, c, from_ns, to_ns);
	if (lost_here(m, gaps, t, c, from_ns, to_ns))
		return (struct ty_glyph){.ch = '!', .st = ty_palette_role(p, TY_ROLE_LOST)};
	if (run_is_cut(m, t, c, from_ns, to_ns)) { /* starts or ends with a dark shade */
		g.ch = p->utf8 ? 0x2593 : '~';
		g.st = (struct ty_style){.fg = TY_C_RUNNING};
	}
	return g;
}

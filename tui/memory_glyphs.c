/* SPDX-License-Identifier: MIT */
/* Cells of memory samples; see memory_glyphs.h. */
#include "memory_glyphs.h"

/* The colour of n samples in a cell, in four steps. */
static struct ty_style density(uint32_t n)
{
	return n < 4	 ? (struct ty_style){.fg = TY_C_DIM}
	       : n < 16	 ? (struct ty_style){.fg = TY_C_ACCENT}
	       : n < 128 ? (struct ty_style){.fg = TY_C_RUNNABLE}
			 : (struct ty_style){.fg = TY_C_BLOCKED, .attr = TY_A_BOLD};
}

struct ty_style ty_memory_source_style(unsigned far)
{
	static const uint8_t fg[] = {TY_C_UNKNOWN, TY_C_RUNNING, TY_C_RUNNABLE, TY_C_BLOCKED};

	return (struct ty_style){.fg = fg[far < 4 ? far : 0]};
}

struct ty_glyph ty_memory_glyph(const struct ty_palette *p, const struct ty_mem_heat_cell *c,
				bool by_source)
{
	static const char ascii[] = " .:-=+*%@";
	unsigned height = (ty_mem_octave(c->worst) + 1) / 2;
	struct ty_glyph g = {.ch = ' '};

	if (!c->n)
		return g;
	height = height < 1 ? 1 : height > 8 ? 8 : height;
	g.st = by_source ? ty_memory_source_style(c->far) : density(c->n);
	if (by_source && p->mode <= TY_COLOR_MONO)
		g.ch = (uint32_t) "?cmo"[c->far < 4 ? c->far : 0];
	else if (!c->timed)
		g.ch = p->utf8 ? 0xb7 : ',';
	else
		g.ch = p->utf8 ? 0x2580 + height : (uint32_t)ascii[height];
	return g;
}

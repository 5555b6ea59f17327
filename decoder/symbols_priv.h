/* SPDX-License-Identifier: MIT */
/* Between the files of symbols.h. */
#ifndef TY_SYMBOLS_PRIV_H
#define TY_SYMBOLS_PRIV_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "buf.h"
#include "pair_map.h"
#include "symbols.h"
#include "vec.h"

enum { TY_SYMBOLS_MAX = 1 << 24 };

/* Small, because large programs have many: its name begins at `name` of the strings of a table. */
struct ty_sym {
	uint64_t addr, size;
	uint32_t name;
	uint16_t table; /* of ty_symbols.tables */
	bool weak, ifunc;
};

struct ty_symbol_seg {
	uint64_t off, addr, n;
	uint32_t flags; /* PF_* */
};

/* Code of a compilation unit, where the file has no .debug_aranges for it. */
struct ty_symbol_unit {
	uint64_t from, to, before; /* before: the largest `to` up to here */
	Dwarf_Off die;
};

struct ty_symbols {
	Elf *elf, *debug; /* debug: what was stripped of elf; or NULL */
	Dwarf *dw;
	bool dw_tried, symtab, lines;	  /* what elf has */
	bool units_made, fixed;		  /* fixed: addresses are those of the file (ET_EXEC) */
	VEC(struct ty_symbol_unit) units; /* by from */
	VEC(struct ty_symbol_seg) segs;
	VEC(struct ty_sym) syms;  /* functions */
	size_t last;		  /* of them, where the last look-up ended */
	VEC(struct ty_sym) data;  /* variables */
	VEC(const char *) tables; /* where the strings of each begin; the first is: */
	struct ty_buf names;
	struct ty_pair_map shown; /* mangled names that were looked up: those shown instead */
	VEC(char *) plain;
	unsigned slow; /* names that took too long */
};

/* The address of a file offset; false: it is not loaded. */
bool ty_symbols_to_addr(const struct ty_symbols *s, uint64_t off, uint64_t *addr);

/* symbols_lines.c */

/* The unit of the code at a file offset, and the address of the offset. False: no debug
 * information. */
bool ty_symbols_unit(struct ty_symbols *s, uint64_t off, Dwarf_Die *cu, uint64_t *addr);

#endif

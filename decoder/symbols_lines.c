/* SPDX-License-Identifier: MIT */
/* Source lines, inlined calls and declarations, by libdw; see symbols.h. Debug information is
 * opened when it is first needed. */
#include <dwarf.h>
#include <stdlib.h>

#include "compare.h"
#include "partition.h"
#include "symbols_priv.h"

ORDER(unit_order, struct ty_symbol_unit, a->from != b->from ? (a->from < b->from ? -1 : 1) : 0)

/* Whose code lies where, by the units themselves. */
static void make_units(struct ty_symbols *s)
{
	Dwarf_Off off = 0, next;
	size_t head;

	s->units_made = true;
	for (; !dwarf_nextcu(s->dw, off, &next, &head, NULL, NULL, NULL); off = next) {
		Dwarf_Addr base, from, to;
		ptrdiff_t at = 0;
		Dwarf_Die die;

		if (next <= off || !dwarf_offdie(s->dw, off + head, &die))
			break;
		while ((at = dwarf_ranges(&die, at, &base, &from, &to)) > 0)
			if (from < to && s->units.n < TY_SYMBOLS_MAX)
				(void)vec_push(&s->units,
					       (struct ty_symbol_unit){
						       .from = from, .to = to, .die = off + head});
	}
	vec_sort(&s->units, unit_order);
	for (size_t i = 0; i < s->units.n; i++) {
		struct ty_symbol_unit *u = &s->units.v[i];

		u->before = i && u[-1].before > u->to ? u[-1].before : u->to;
	}
}

/* The unit of the code at an address: by .debug_aranges, which clang leaves out, else by all. */
static bool unit_at(struct ty_symbols *s, uint64_t addr, Dwarf_Die *die)
{
	size_t lo;

	if (dwarf_addrdie(s->dw, addr, die))
		return true;
	if (!s->units_made)
		make_units(s);
	lo = partition_point(i, 0, s->units.n, s->units.v[i].from <= addr);
	for (; lo && s->units.v[lo - 1].before > addr; lo--)
		if (s->units.v[lo - 1].to > addr)
			return dwarf_offdie(s->dw, s->units.v[lo - 1].die, die);
	return false;
}

static Dwarf *dwarf(struct ty_symbols *s)
{
	Elf *elf = s->debug && !s->lines ? s->debug : s->elf;

	if (!s->dw_tried) {
		s->dw_tried = true;
		if (elf && elf_kind(elf) == ELF_K_ELF)
			s->dw = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	}
	return s->dw;
}

bool ty_symbols_unit(struct ty_symbols *s, uint64_t off, Dwarf_Die *cu, uint64_t *addr)
{
	return dwarf(s) && ty_symbols_to_addr(s, off, addr) && unit_at(s, *addr, cu);
}

/* Is it the definition of what lies at addr? */
static bool defines(Dwarf_Die *die, uint64_t addr)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_tag(die) == DW_TAG_variable && dwarf_attr(die, DW_AT_location, &a) &&
	       !dwarf_getlocation(&a, &ops, &n) && n == 1 && ops[0].atom == DW_OP_addr &&
	       ops[0].number == addr;
}

/* Limit of definitions outside of functions that are searched. */
enum { DECLARED_MAX = 500000 };

bool ty_symbols_declared(struct ty_symbols *s, const struct ty_symbol *variable, const char **file,
			 int *line)
{
	Dwarf_Off off = 0, next;
	size_t head;
	unsigned left = DECLARED_MAX;

	*file = NULL;
	if (!dwarf(s))
		return false;
	for (; left && !dwarf_nextcu(s->dw, off, &next, &head, NULL, NULL, NULL); off = next) {
		Dwarf_Die cu, die;

		if (next <= off || !dwarf_offdie(s->dw, off + head, &cu) || dwarf_child(&cu, &die))
			continue;
		do {
			if (!defines(&die, variable->start))
				continue;
			*file = dwarf_decl_file(&die);
			return *file && !dwarf_decl_line(&die, line);
		} while (left && left-- && !dwarf_siblingof(&die, &die));
	}
	return false;
}

bool ty_symbols_line(struct ty_symbols *s, uint64_t off, const char **file, int *line)
{
	Dwarf_Die cu;
	Dwarf_Line *l;
	uint64_t addr;

	if (!ty_symbols_unit(s, off, &cu, &addr))
		return false;
	l = dwarf_getsrc_die(&cu, addr);
	*file = l ? dwarf_linesrc(l, NULL, NULL) : NULL;
	return *file && !dwarf_lineno(l, line);
}

/* A number of an inlined call: its line or its file. */
static bool call_at(Dwarf_Die *die, unsigned name, Dwarf_Word *out)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, name, &a) && !dwarf_formudata(&a, out);
}

size_t ty_symbols_inlined(struct ty_symbols *s, uint64_t off, struct ty_inlined *out, size_t max,
			  struct ty_inlined *caller)
{
	struct ty_inlined at = {0};
	Dwarf_Die cu, *scopes = NULL;
	Dwarf_Files *files = NULL;
	size_t n = 0, files_n = 0;
	uint64_t addr;
	int scopes_n;

	*caller = at;
	if (!ty_symbols_line(s, off, &at.file, &at.line) || !ty_symbols_unit(s, off, &cu, &addr))
		return 0;
	*caller = at;
	scopes_n = dwarf_getscopes(&cu, addr, &scopes);
	/* Of an inlined function these go on in its definition; its callers are its own parents. */
	if (scopes_n > 0) {
		Dwarf_Die innermost = scopes[0];

		free(scopes);
		scopes = NULL;
		scopes_n = dwarf_getscopes_die(&innermost, &scopes);
	}
	if (scopes_n > 0 && dwarf_getsrcfiles(&cu, &files, &files_n))
		files_n = 0;
	for (int i = 0; i < scopes_n && n < max; i++) {
		const int tag = dwarf_tag(&scopes[i]);
		Dwarf_Word line, file;

		if (tag == DW_TAG_subprogram)
			break;
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		at.name = dwarf_diename(&scopes[i]);
		out[n++] = at;
		at.file = call_at(&scopes[i], DW_AT_call_file, &file) && file < files_n
				  ? dwarf_filesrc(files, file, NULL, NULL)
				  : NULL;
		at.line = call_at(&scopes[i], DW_AT_call_line, &line) && line <= INT32_MAX
				  ? (int)line
				  : 0;
	}
	free(scopes);
	*caller = at;
	return n;
}

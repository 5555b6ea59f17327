/* SPDX-License-Identifier: MIT */
/*
 * See symbols.h. Symbols of .symtab, else .dynsym; entries of the procedure linkage table are named
 * after the relocations that fill them (System V ABI, AMD64 supplement, "Procedure Linkage Table").
 */
#include "symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "compare.h"
#include "symbols_priv.h"
#include "vec.h"

enum { SYMBOLS_MAX = 1 << 24, NAMES_LIMIT = 64 << 20, PLT_ENTRY = 16 };

struct sym {
	uint64_t addr, size;
	const char *name; /* of the file, or NULL: plt name at `plt` in names */
	size_t plt;
	bool weak;
};

struct seg {
	uint64_t off, addr, n;
	uint32_t flags; /* PF_* */
};

/* Code of a compilation unit, where the file has no .debug_aranges for it. */
struct unit {
	uint64_t from, to, before; /* before: the largest `to` up to here */
	Dwarf_Off die;
};

struct ty_symbols {
	Elf *elf, *debug; /* debug: what was stripped of elf; or NULL */
	Dwarf *dw;
	bool dw_tried, symtab, lines; /* what elf has */
	bool units_made, fixed;	      /* fixed: addresses are those of the file (ET_EXEC) */
	VEC(struct unit) units;	      /* by from */
	VEC(struct seg) segs;
	VEC(struct sym) syms; /* functions */
	size_t last;	      /* of them, where the last look-up ended */
	VEC(struct sym) data; /* variables */
	struct ty_buf names;
};

/* The one that is found (the last) is the global one with a size. */
ORDER(by_addr, struct sym,
      compare(a->addr, b->addr) ?: compare(!b->size, !a->size) ?: compare(b->weak, a->weak))

/* Mapping symbols of Arm and RISC-V ($x, $d) separate code from data, and are no names. */
static bool is_mark(const char *name)
{
	return name[0] == '$' && name[1] && (!name[2] || name[2] == '.' || name[1] == 'x');
}

/* A label without a type names code where its section holds code, and never data. */
static bool names_code(Elf *elf, const GElf_Sym *sym, const char *name)
{
	GElf_Shdr sh;
	Elf_Scn *scn;

	if (GELF_ST_TYPE(sym->st_info) != STT_NOTYPE)
		return true;
	scn = is_mark(name) ? NULL : elf_getscn(elf, sym->st_shndx);
	return scn && gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR;
}

static void add_table(struct ty_symbols *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;

	for (size_t i = 0; d && i < n && i < INT32_MAX && s->syms.n + s->data.n < SYMBOLS_MAX;
	     i++) {
		GElf_Sym sym;
		struct sym fresh;
		const char *name;
		bool variable;

		if (!gelf_getsym(d, (int)i, &sym))
			break;
		variable = GELF_ST_TYPE(sym.st_info) == STT_OBJECT && sym.st_size;
		if (!variable && GELF_ST_TYPE(sym.st_info) != STT_FUNC &&
		    GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC &&
		    !(GELF_ST_TYPE(sym.st_info) == STT_NOTYPE && sym.st_value))
			continue;
		if (sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS || !sym.st_value)
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (!name || !*name || !names_code(elf, &sym, name))
			continue;
		fresh = (struct sym){.addr = sym.st_value,
				     .size = sym.st_size,
				     .name = name,
				     .weak = GELF_ST_BIND(sym.st_info) != STB_GLOBAL};
		if (variable)
			(void)vec_push(&s->data, fresh);
		else
			(void)vec_push(&s->syms, fresh);
	}
}

static Elf_Scn *section_named(Elf *elf, const char *want, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const char *name;

		if (!gelf_getshdr(scn, sh))
			continue;
		name = elf_strptr(elf, names, sh->sh_name);
		if (name && !strcmp(name, want))
			return scn;
	}
	return NULL;
}

/* One entry of .plt.sec (or .plt behind its head) per relocation of .rela.plt, in order. */
static void add_plt(struct ty_symbols *s)
{
	GElf_Shdr rel, plt, dyn;
	Elf_Scn *rs = section_named(s->elf, ".rela.plt", &rel);
	Elf_Scn *ps = section_named(s->elf, ".plt.sec", &plt), *ds;
	uint64_t head = 0;
	Elf_Data *rd, *dd;

	if (!ps) {
		ps = section_named(s->elf, ".plt", &plt);
		head = PLT_ENTRY;
	}
	if (!rs || !ps || !rel.sh_entsize)
		return;
	ds = elf_getscn(s->elf, rel.sh_link);
	if (!ds || !gelf_getshdr(ds, &dyn))
		return;
	rd = elf_getdata(rs, NULL);
	dd = elf_getdata(ds, NULL);
	for (size_t i = 0; rd && dd && i < rel.sh_size / rel.sh_entsize && i < INT32_MAX; i++) {
		uint64_t at = head + i * PLT_ENTRY;
		const char *name;
		GElf_Rela r;
		GElf_Sym sym;
		struct sym fresh = {.addr = plt.sh_addr + at, .size = PLT_ENTRY};

		if (at + PLT_ENTRY > plt.sh_size || !gelf_getrela(rd, (int)i, &r))
			break;
		if (!gelf_getsym(dd, (int)GELF_R_SYM(r.r_info), &sym))
			continue;
		name = elf_strptr(s->elf, dyn.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		fresh.plt = s->names.len;
		if (ty_buf_addf(&s->names, "%s@plt", name) || ty_buf_addc(&s->names, 0))
			break;
		(void)vec_push(&s->syms, fresh);
	}
}

/* The tables of symbols of this type; whether there are any. */
static bool add_tables(struct ty_symbols *s, Elf *elf, uint32_t type)
{
	Elf_Scn *scn = NULL;
	bool any = false;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) && sh.sh_type == type) {
			add_table(s, elf, scn, &sh);
			any = true;
		}
	return any;
}

/* All, anew: of elf, else of debug, else the dynamic ones. */
static void add_symbols(struct ty_symbols *s)
{
	s->syms.n = s->data.n = 0;
	ty_buf_reset(&s->names);
	s->symtab = add_tables(s, s->elf, SHT_SYMTAB) ||
		    (s->debug && add_tables(s, s->debug, SHT_SYMTAB));
	if (!s->syms.n)
		(void)add_tables(s, s->elf, SHT_DYNSYM);
	add_plt(s);
	if (s->syms.n)
		qsort(s->syms.v, s->syms.n, sizeof(*s->syms.v), by_addr);
	if (s->data.n)
		qsort(s->data.v, s->data.n, sizeof(*s->data.v), by_addr);
}

static void load(struct ty_symbols *s)
{
	GElf_Shdr sh;
	GElf_Ehdr eh;
	size_t n;

	if (elf_getphdrnum(s->elf, &n))
		return;
	for (size_t i = 0; i < n && i < 65536; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(s->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		(void)vec_push(&s->segs, (struct seg){.off = ph.p_offset,
						      .addr = ph.p_vaddr,
						      .n = ph.p_filesz,
						      .flags = ph.p_flags});
	}
	s->fixed = gelf_getehdr(s->elf, &eh) && eh.e_type == ET_EXEC;
	s->lines = section_named(s->elf, ".debug_line", &sh);
	add_symbols(s);
}

struct ty_symbols *ty_symbols_new(const uint8_t *p, size_t n)
{
	struct ty_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	ty_buf_init(&s->names, NAMES_LIMIT);
	elf_version(EV_CURRENT);
	s->elf = n ? elf_memory((char *)p, n) : NULL;
	if (s->elf && elf_kind(s->elf) == ELF_K_ELF)
		load(s);
	return s;
}

bool ty_symbols_usable(const struct ty_symbols *s)
{
	return s->segs.n > 0;
}

bool ty_symbols_whole(const struct ty_symbols *s)
{
	return s->symtab && s->lines;
}

const char *ty_symbols_link(const struct ty_symbols *s, uint32_t *crc)
{
	GElf_Shdr sh;
	Elf_Scn *scn = s->elf ? section_named(s->elf, ".gnu_debuglink", &sh) : NULL;
	Elf_Data *d = scn ? elf_rawdata(scn, NULL) : NULL;
	size_t n = d && d->d_buf ? strnlen(d->d_buf, d->d_size) : 0, at = (n + 4) & ~(size_t)3;

	/* The name, NUL, to a multiple of 4, the sum. */
	if (!n || memchr(d->d_buf, '/', n) || at + sizeof(*crc) > d->d_size)
		return NULL;
	memcpy(crc, (char *)d->d_buf + at, sizeof(*crc));
	return d->d_buf;
}

void ty_symbols_debug(struct ty_symbols *s, const uint8_t *p, size_t n)
{
	Elf *elf = n && s->elf && !s->debug ? elf_memory((char *)p, n) : NULL;

	if (!elf)
		return;
	s->debug = elf;
	if (!s->symtab)
		add_symbols(s);
}

void ty_symbols_free(struct ty_symbols *s)
{
	if (!s)
		return;
	if (s->dw)
		dwarf_end(s->dw);
	if (s->debug)
		elf_end(s->debug);
	if (s->elf)
		elf_end(s->elf);
	vec_fini(&s->segs);
	vec_fini(&s->syms);
	vec_fini(&s->data);
	vec_fini(&s->units);
	ty_buf_fini(&s->names);
	free(s);
}

static bool to_addr(const struct ty_symbols *s, uint64_t off, uint64_t *addr)
{
	vec_each (g, &s->segs)
		if (off >= g->off && off - g->off < g->n) {
			*addr = g->addr + (off - g->off);
			return true;
		}
	return false;
}

static bool to_off(const struct ty_symbols *s, uint64_t addr, uint64_t *off)
{
	vec_each (g, &s->segs)
		if (addr >= g->addr && addr - g->addr < g->n) {
			*off = g->off + (addr - g->addr);
			return true;
		}
	return false;
}

static bool give(const struct ty_symbols *s, const struct sym *y, struct ty_symbol *out)
{
	out->name = y->name ? y->name : s->names.p + y->plt;
	out->size = y->size;
	return to_off(s, y->addr, &out->start);
}

/* The number of symbols that begin at the address or before it; often the last answer, or the next.
 */
static size_t begun_at(struct ty_symbols *s, uint64_t addr)
{
	size_t lo = 0, hi = s->syms.n;

	for (size_t i = s->last; i <= s->last + 1 && i <= hi; i++)
		if ((!i || s->syms.v[i - 1].addr <= addr) && (i == hi || s->syms.v[i].addr > addr))
			return s->last = i;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->syms.v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return s->last = lo;
}

bool ty_symbols_find(struct ty_symbols *s, uint64_t off, struct ty_symbol *out)
{
	uint64_t addr;
	size_t lo;

	if (!to_addr(s, off, &addr))
		return false;
	lo = begun_at(s, addr);
	/* A few may begin inside a larger one that continues behind them. */
	for (unsigned k = 0; k < 8 && lo > k; k++) {
		const struct sym *y = &s->syms.v[lo - 1 - k];

		if (y->size ? addr - y->addr < y->size : !k && addr - y->addr < 4096)
			return give(s, y, out);
	}
	return false;
}

/* The variable at an address of the file. */
static bool variable_at(const struct ty_symbols *s, uint64_t addr, struct ty_symbol *out,
			uint64_t *in)
{
	size_t lo = 0, hi = s->data.n;
	const struct sym *y;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->data.v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	y = lo ? &s->data.v[lo - 1] : NULL;
	if (!y || addr - y->addr >= y->size)
		return false;
	*out = (struct ty_symbol){.name = y->name, .start = y->addr, .size = y->size};
	*in = addr - y->addr;
	return true;
}

/*
 * The address of the file that is mapped where a mapping begins at offset `off`. Mappings begin
 * with a page, segments need not: the page may hold the end of another one. Code has one segment
 * there; other pages do only if no two fit.
 */
static bool mapped_addr(const struct ty_symbols *s, uint64_t off, bool code, uint64_t *addr)
{
	const struct seg *fits = NULL;

	vec_each (g, &s->segs) {
		if (off < (g->off & ~UINT64_C(4095)) || off >= g->off + g->n ||
		    (code && !(g->flags & PF_X)))
			continue;
		if (fits)
			return false;
		fits = g;
	}
	if (fits)
		*addr = fits->addr - (fits->off - off);
	return fits;
}

bool ty_symbols_variable(struct ty_symbols *s, uint64_t off, bool code, int64_t delta,
			 struct ty_symbol *out, uint64_t *in)
{
	uint64_t addr;

	return mapped_addr(s, off, code, &addr) && variable_at(s, addr + (uint64_t)delta, out, in);
}

bool ty_symbols_variable_of(struct ty_symbols *s, uint64_t off, struct ty_symbol *out, uint64_t *in)
{
	uint64_t addr;

	return to_addr(s, off, &addr) && variable_at(s, addr, out, in);
}

bool ty_symbols_variable_fixed(struct ty_symbols *s, uint64_t addr, struct ty_symbol *out,
			       uint64_t *in)
{
	return s->fixed && variable_at(s, addr, out, in);
}

bool ty_symbols_named(struct ty_symbols *s, const char *name, struct ty_symbol *out)
{
	vec_each (y, &s->syms)
		if (y->name && y->size && !strcmp(y->name, name))
			return give(s, y, out);
	vec_each (y, &s->syms)
		if (y->name && !strcmp(y->name, name))
			return give(s, y, out);
	return false;
}

ORDER(unit_order, struct unit, a->from != b->from ? (a->from < b->from ? -1 : 1) : 0)

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
			if (from < to && s->units.n < SYMBOLS_MAX)
				(void)vec_push(
					&s->units,
					(struct unit){.from = from, .to = to, .die = off + head});
	}
	if (s->units.n)
		qsort(s->units.v, s->units.n, sizeof(*s->units.v), unit_order);
	for (size_t i = 0; i < s->units.n; i++) {
		struct unit *u = &s->units.v[i];

		u->before = i && u[-1].before > u->to ? u[-1].before : u->to;
	}
}

/* The unit of the code at an address: by .debug_aranges, which clang leaves out, else by all. */
static bool unit_at(struct ty_symbols *s, uint64_t addr, Dwarf_Die *die)
{
	size_t lo = 0, hi;

	if (dwarf_addrdie(s->dw, addr, die))
		return true;
	if (!s->units_made)
		make_units(s);
	for (hi = s->units.n; lo < hi;) {
		size_t mid = (lo + hi) / 2;

		if (s->units.v[mid].from <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
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
	return dwarf(s) && to_addr(s, off, addr) && unit_at(s, *addr, cu);
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

size_t ty_elf_build_id(const uint8_t *p, size_t n, uint8_t out[20])
{
	Elf *elf;
	size_t phs = 0, got = 0;

	elf_version(EV_CURRENT);
	elf = n ? elf_memory((char *)p, n) : NULL;
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &phs))
		phs = 0;
	for (size_t i = 0; i < phs && i < 65536 && !got; i++) {
		GElf_Phdr ph;
		GElf_Nhdr nh;
		Elf_Data *d;
		size_t at = 0, name, desc;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE)
			continue;
		d = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_NHDR);
		while (d && !got && (at = gelf_getnote(d, at, &nh, &name, &desc)) > 0) {
			if (nh.n_type != NT_GNU_BUILD_ID || nh.n_namesz != 4 ||
			    memcmp((char *)d->d_buf + name, "GNU", 4) || !nh.n_descsz)
				continue;
			got = nh.n_descsz < 20 ? nh.n_descsz : 20;
			memcpy(out, (char *)d->d_buf + desc, got);
		}
	}
	if (elf)
		elf_end(elf);
	return got;
}

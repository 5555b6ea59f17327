/* SPDX-License-Identifier: MIT */
/*
 * See symbols.h. Symbols of .symtab, else .dynsym; entries of the procedure linkage table are named
 * after the relocations that fill them (System V ABI, AMD64 supplement, "Procedure Linkage Table").
 */
#include "symbols.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "partition.h"
#include "demangle.h"
#include "symbols_priv.h"
#include "vec.h"

enum { NAMES_LIMIT = 64 << 20, PLT_ENTRY = 16, SLOW = 64 };
enum { NAMES_OF_PLT, TABLES_MAX = UINT16_MAX };

/* The one that is found (the last) is the global one with a size. */
ORDER(by_addr, struct ty_sym,
      compare(a->addr, b->addr) ?: compare(!b->size, !a->size) ?: compare(b->weak, a->weak))

/* Bytes of the addresses that differ are sorted one by one, the lowest first (radix sort): a large
 * program has 100,000 symbols. Those of one address are then put in order. */
static void sort_symbols(struct ty_sym *v, size_t n)
{
	struct ty_sym *from = v, *to, *room;
	uint64_t differ = 0;
	bool ordered = true;

	for (size_t i = 1; i < n; i++) {
		differ |= v[i].addr ^ v[0].addr;
		ordered &= v[i].addr >= v[i - 1].addr;
	}
	to = room = ordered ? NULL : malloc(n * sizeof(*to));
	if (!ordered && !to) {
		qsort(v, n, sizeof(*v), by_addr);
		return;
	}
	for (unsigned shift = 0; shift < 64 && !ordered; shift += 8) {
		size_t at[257] = {0};
		struct ty_sym *was = from;

		if (!(differ >> shift & 0xff))
			continue;
		for (size_t i = 0; i < n; i++)
			at[(from[i].addr >> shift & 0xff) + 1]++;
		for (unsigned k = 1; k < 256; k++)
			at[k] += at[k - 1];
		for (size_t i = 0; i < n; i++)
			to[at[from[i].addr >> shift & 0xff]++] = from[i];
		from = to;
		to = was;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
	free(room);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && v[end].addr == v[i].addr;)
			end++;
		if (end - i > 1)
			qsort(&v[i], end - i, sizeof(*v), by_addr);
	}
}

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

/* The strings of a section: any below `n` begins in it and ends. */
struct strings {
	Elf *elf;
	size_t section, n; /* n 0: to be checked one by one */
	const char *first;
};

static struct strings strings_of(Elf *elf, size_t section)
{
	struct strings t = {.elf = elf, .section = section, .first = elf_strptr(elf, section, 0)};
	Elf_Scn *scn = t.first ? elf_getscn(elf, section) : NULL;
	GElf_Shdr sh;

	if (scn && gelf_getshdr(scn, &sh) && !(sh.sh_flags & SHF_COMPRESSED) && sh.sh_size &&
	    !t.first[sh.sh_size - 1])
		t.n = sh.sh_size;
	return t;
}

static const char *string_at(const struct strings *t, size_t at)
{
	return at < t->n ? t->first + at : elf_strptr(t->elf, t->section, at);
}

static void add_table(struct ty_symbols *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	const struct strings names = strings_of(elf, sh->sh_link);
	Elf_Data *d = elf_getdata(scn, NULL);
	const size_t entry =
		sh->sh_entsize > sizeof(Elf32_Sym) ? sh->sh_entsize : sizeof(Elf32_Sym);
	const size_t all = d ? d->d_size / entry : 0,
		     n = all < TY_SYMBOLS_MAX ? all : TY_SYMBOLS_MAX;
	const uint16_t table = (uint16_t)s->tables.n;

	if (!names.first || s->tables.n > TABLES_MAX || vec_push(&s->tables, names.first) ||
	    vec_reserve(&s->syms, s->syms.n + n))
		return;
	for (size_t i = 0; i < n && s->syms.n + s->data.n < TY_SYMBOLS_MAX; i++) {
		GElf_Sym sym;
		struct ty_sym fresh;
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
		name = string_at(&names, sym.st_name);
		if (!name || !*name || !names_code(elf, &sym, name))
			continue;
		fresh = (struct ty_sym){.addr = sym.st_value,
					.size = sym.st_size,
					.name = sym.st_name,
					.table = table,
					.weak = GELF_ST_BIND(sym.st_info) != STB_GLOBAL,
					.ifunc = GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC};
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
		struct ty_sym fresh = {.addr = plt.sh_addr + at, .size = PLT_ENTRY};

		if (at + PLT_ENTRY > plt.sh_size || !gelf_getrela(rd, (int)i, &r))
			break;
		if (!gelf_getsym(dd, (int)GELF_R_SYM(r.r_info), &sym))
			continue;
		name = elf_strptr(s->elf, dyn.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		fresh.name = (uint32_t)s->names.len;
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
	s->syms.n = s->data.n = s->tables.n = 0;
	ty_buf_reset(&s->names);
	if (vec_push(&s->tables, NULL))
		return;
	s->symtab = add_tables(s, s->elf, SHT_SYMTAB) ||
		    (s->debug && add_tables(s, s->debug, SHT_SYMTAB));
	if (!s->syms.n)
		(void)add_tables(s, s->elf, SHT_DYNSYM);
	add_plt(s);
	sort_symbols(s->syms.v, s->syms.n);
	sort_symbols(s->data.v, s->data.n);
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
		(void)vec_push(&s->segs, (struct ty_symbol_seg){.off = ph.p_offset,
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
	vec_fini(&s->tables);
	vec_fini(&s->units);
	ty_buf_fini(&s->names);
	ty_pair_map_fini(&s->shown);
	vec_each (p, &s->plain)
		free(*p);
	vec_fini(&s->plain);
	free(s);
}

/* The segment that holds the offset; NULL: none. */
static const struct ty_symbol_seg *segment_at(const struct ty_symbols *s, uint64_t off)
{
	vec_each (g, &s->segs)
		if (off >= g->off && off - g->off < g->n)
			return g;
	return NULL;
}

bool ty_symbols_to_addr(const struct ty_symbols *s, uint64_t off, uint64_t *addr)
{
	const struct ty_symbol_seg *g = segment_at(s, off);

	if (g)
		*addr = g->addr + (off - g->off);
	return g;
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

static const char *name_of(const struct ty_symbols *s, const struct ty_sym *y)
{
	return (y->table == NAMES_OF_PLT ? s->names.p : s->tables.v[y->table]) + y->name;
}

/* Appends a name as its author wrote it. After SLOW names that took too long the file is hostile.
 */
static bool plain(struct ty_symbols *s, const char *name, struct ty_buf *out)
{
	int r = s->slow < SLOW ? ty_demangle(name, out) : 0;

	s->slow += r < 0;
	return r > 0;
}

/* The name as its author wrote it; that of the file when there is no memory. */
static const char *shown(struct ty_symbols *s, const struct ty_sym *y)
{
	const char *name = name_of(s, y);
	uint32_t *k;
	struct ty_buf b;

	if (!ty_is_mangled(name))
		return name;
	k = ty_pair_map_add(&s->shown, y->table, y->name);
	if (!k || *k != TY_PAIR_NONE)
		return k ? s->plain.v[*k] : name;
	ty_buf_init(&b, 1 << 16);
	if (!plain(s, name, &b))
		ty_buf_adds(&b, name);
	if (b.failed || !b.p || vec_push(&s->plain, b.p)) {
		ty_buf_fini(&b);
		return name;
	}
	*k = (uint32_t)s->plain.n - 1;
	return b.p;
}

/* All but where it is. */
static void describe(struct ty_symbols *s, const struct ty_sym *y, struct ty_symbol *out)
{
	out->name = shown(s, y);
	out->own = name_of(s, y);
	out->size = y->size;
	out->ifunc = y->ifunc;
}

/* The number of symbols that begin at the address or before it; often the last answer, or a little
 * more. */
static size_t begun_at(struct ty_symbols *s, uint64_t addr)
{
	const struct ty_sym *v = s->syms.v;
	const size_t n = s->syms.n;
	size_t lo = 0, hi = s->last;

	if (!hi || v[hi - 1].addr <= addr) {
		lo = hi;
		for (size_t step = 1; hi < n && v[hi].addr <= addr; step *= 2) {
			lo = hi + 1;
			hi = n - hi > step ? hi + step : n;
		}
	}
	return s->last = partition_point(i, lo, hi, v[i].addr <= addr);
}

/* The symbol at an offset, which begins at *start; NULL: there is none. */
static const struct ty_sym *sym_at(struct ty_symbols *s, uint64_t off, uint64_t *start)
{
	const struct ty_symbol_seg *g = segment_at(s, off);
	uint64_t addr;
	size_t lo;

	if (!g)
		return NULL;
	addr = g->addr + (off - g->off);
	lo = begun_at(s, addr);
	/* A few may begin inside a larger one that continues behind them. */
	for (unsigned k = 0; k < 8 && lo > k; k++) {
		const struct ty_sym *y = &s->syms.v[lo - 1 - k];

		if (y->size ? addr - y->addr >= y->size : k || addr - y->addr >= 4096)
			continue;
		if (y->addr < g->addr)
			return to_off(s, y->addr, start) ? y : NULL;
		*start = off - (addr - y->addr);
		return y;
	}
	return NULL;
}

bool ty_symbols_find(struct ty_symbols *s, uint64_t off, struct ty_symbol *out)
{
	const struct ty_sym *y = sym_at(s, off, &out->start);

	if (y)
		describe(s, y, out);
	return y;
}

bool ty_symbols_extent(struct ty_symbols *s, uint64_t off, uint64_t *start, uint64_t *size)
{
	const struct ty_sym *y = sym_at(s, off, start);

	if (y)
		*size = y->size;
	return y;
}

/* The variable at an address of the file. */
static bool variable_at(struct ty_symbols *s, uint64_t addr, struct ty_symbol *out, uint64_t *in)
{
	const size_t lo = partition_point(i, 0, s->data.n, s->data.v[i].addr <= addr);
	const struct ty_sym *y;

	y = lo ? &s->data.v[lo - 1] : NULL;
	if (!y || addr - y->addr >= y->size)
		return false;
	*out = (struct ty_symbol){
		.name = shown(s, y), .own = name_of(s, y), .start = y->addr, .size = y->size};
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
	const struct ty_symbol_seg *fits = NULL;

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

	return ty_symbols_to_addr(s, off, &addr) && variable_at(s, addr, out, in);
}

bool ty_symbols_variable_fixed(struct ty_symbols *s, uint64_t addr, struct ty_symbol *out,
			       uint64_t *in)
{
	return s->fixed && variable_at(s, addr, out, in);
}

/* By its name in the file or as shown. */
static bool is_named(struct ty_symbols *s, const struct ty_sym *y, const char *name)
{
	const char *own = name_of(s, y);
	struct ty_buf b;
	bool is;

	if (!strcmp(own, name))
		return true;
	if (!ty_is_mangled(own))
		return false;
	ty_buf_init(&b, 1 << 16);
	is = plain(s, own, &b) && !strcmp(b.p, name);
	ty_buf_fini(&b);
	return is;
}

size_t ty_symbols_named(struct ty_symbols *s, const char *name, struct ty_symbol *out, size_t max)
{
	size_t n = 0;

	/* Without a size only where none has one. */
	for (unsigned sized = 2; !n && sized--;)
		vec_each (y, &s->syms) {
			struct ty_symbol of;

			if (y->table == NAMES_OF_PLT || !!y->size != sized ||
			    !is_named(s, y, name) || !to_off(s, y->addr, &of.start))
				continue;
			describe(s, y, &of);
			if (n < max)
				out[n] = of;
			n++;
		}
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

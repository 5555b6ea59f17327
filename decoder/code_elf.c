/* SPDX-License-Identifier: MIT */
/*
 * See code_map.h: mappings from ELF files and core dumps. ELF: System V ABI, "ELF Header", "Program
 * Header", "Note Section"; NT_FILE: linux fs/binfmt_elf.c, fill_files_note().
 */
#include <elf.h>
#include <string.h>

#include "checked_read.h"
#include "code_priv.h"
#include "partition.h"

enum { NAME_CORE = 5, GNU_NAME = 4 };

struct elf {
	const char *name;
	struct ty_bytes b;
	uint64_t ph_off;
	unsigned ph_n;
};

static int elf_open(struct ty_code *c, int file, struct elf *e, struct ty_err *err)
{
	Elf64_Ehdr eh;

	*e = (struct elf){.name = ty_code_file_name(c, file), .b = ty_code_file_bytes(c, file)};
	if (e->b.n < sizeof(eh) || memcmp(e->b.p, ELFMAG, SELFMAG) ||
	    e->b.p[EI_CLASS] != ELFCLASS64 || e->b.p[EI_DATA] != ELFDATA2LSB)
		return ty_fail(err, TY_EFORMAT, 0,
			       "%s is not a 64-bit little-endian ELF file: give it as "
			       "FILE@ADDRESS:OFFSET:SIZE",
			       e->name);
	memcpy(&eh, e->b.p, sizeof(eh));
	e->ph_off = eh.e_phoff;
	e->ph_n = eh.e_phnum;
	/* More than 65534: their number is in the first section header. */
	if (e->ph_n == PN_XNUM && eh.e_shoff < e->b.n &&
	    e->b.n - eh.e_shoff >= sizeof(Elf64_Shdr)) {
		Elf64_Shdr sh;

		memcpy(&sh, e->b.p + eh.e_shoff, sizeof(sh));
		e->ph_n = sh.sh_info;
	}
	if (eh.e_phentsize != sizeof(Elf64_Phdr) || e->ph_off > e->b.n ||
	    (uint64_t)e->ph_n * sizeof(Elf64_Phdr) > e->b.n - e->ph_off)
		return ty_fail(err, TY_EFORMAT, e->ph_off,
			       "%s: its program headers are beyond the end of the file", e->name);
	return 0;
}

static Elf64_Phdr phdr(const struct elf *e, unsigned i)
{
	Elf64_Phdr ph;

	memcpy(&ph, e->b.p + e->ph_off + i * sizeof(ph), sizeof(ph));
	return ph;
}

/* The segments' bytes, `delta` from where the file has them. */
static int map_segments(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t delta, int file,
			const struct elf *e, struct ty_err *err)
{
	for (unsigned i = 0; i < e->ph_n; i++) {
		Elf64_Phdr ph = phdr(e, i);
		int r;

		if (ph.p_type != PT_LOAD || !ph.p_filesz)
			continue;
		r = ty_code_map(c, pid, t_ns, ph.p_vaddr + delta, ph.p_filesz, ph.p_offset, file);
		if (r)
			return ty_fail(err, -r, e->ph_off, "%s: segment %u: %s", e->name, i,
				       ty_strerror(r));
	}
	return 0;
}

int ty_code_map_elf(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t base, int file,
		    struct ty_err *err)
{
	uint64_t lowest = UINT64_MAX;
	struct elf e;
	int r = elf_open(c, file, &e, err);

	for (unsigned i = 0; !r && i < e.ph_n; i++) {
		Elf64_Phdr ph = phdr(&e, i);

		if (ph.p_type == PT_LOAD && (ph.p_vaddr & -(uint64_t)TY_CODE_PAGE) < lowest)
			lowest = ph.p_vaddr & -(uint64_t)TY_CODE_PAGE;
	}
	return r ? r : map_segments(c, pid, t_ns, base ? base - lowest : 0, file, &e, err);
}

/* The next note of p[0..n): its type, name and content; false at the end. */
static bool next_note(struct ty_rd *r, uint32_t *type, const uint8_t **name, uint32_t *name_n,
		      struct ty_bytes *desc)
{
	uint32_t desc_n;

	if (ty_rd_left(r) < 12)
		return false;
	*name_n = ty_rd_u32(r);
	desc_n = ty_rd_u32(r);
	*type = ty_rd_u32(r);
	*name = ty_rd_bytes(r, *name_n);
	ty_rd_bytes(r, -*name_n & 3);
	desc->n = desc_n;
	desc->p = ty_rd_bytes(r, desc_n);
	if (ty_rd_left(r) >= (-desc_n & 3))
		ty_rd_bytes(r, -desc_n & 3);
	return *name && desc->p;
}

/* The bytes that the dump has at an address: as many as lie in a row. Segments of dumps are in the
 * order of their addresses; of one whose are not, none may be found. */
static struct ty_bytes dumped(const struct elf *e, uint64_t addr)
{
	Elf64_Phdr ph;
	uint64_t in, n;
	const unsigned lo = partition_point(
		k, 0, e->ph_n, (ph = phdr(e, k), ph.p_type != PT_LOAD || ph.p_vaddr <= addr));

	if (!lo)
		return (struct ty_bytes){0};
	ph = phdr(e, lo - 1);
	in = addr - ph.p_vaddr;
	if (ph.p_type != PT_LOAD || in >= ph.p_filesz || ph.p_offset >= e->b.n ||
	    in >= e->b.n - ph.p_offset)
		return (struct ty_bytes){0};
	n = e->b.n - ph.p_offset - in;
	return (struct ty_bytes){.p = e->b.p + ph.p_offset + in,
				 .n = n < ph.p_filesz - in ? n : ph.p_filesz - in};
}

/* The GNU build id in the first page of a mapped file; returns its length; 0: none found. Headers
 * may name the same notes repeatedly: at most one page of notes is read in all. */
static size_t build_id(struct ty_bytes b, const uint8_t **id)
{
	size_t left = TY_CODE_PAGE;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	b.n = b.n < TY_CODE_PAGE ? b.n : TY_CODE_PAGE;
	if (b.n < sizeof(eh) || memcmp(b.p, ELFMAG, SELFMAG) || b.p[EI_CLASS] != ELFCLASS64)
		return 0;
	memcpy(&eh, b.p, sizeof(eh));
	if (eh.e_phentsize != sizeof(ph) || eh.e_phoff > b.n ||
	    eh.e_phnum * sizeof(ph) > b.n - eh.e_phoff)
		return 0;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		struct ty_bytes desc;
		const uint8_t *name;
		uint32_t type, name_n;
		struct ty_rd r;

		memcpy(&ph, b.p + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type != PT_NOTE || ph.p_offset > b.n || ph.p_filesz > b.n - ph.p_offset ||
		    ph.p_filesz > left)
			continue;
		left -= ph.p_filesz;
		r = ty_rd_init(b.p + ph.p_offset, ph.p_filesz, false);
		while (next_note(&r, &type, &name, &name_n, &desc))
			if (type == NT_GNU_BUILD_ID && name_n == GNU_NAME &&
			    !memcmp(name, "GNU", GNU_NAME)) {
				*id = desc.p;
				return desc.n < TY_BUILD_ID_MAX ? desc.n : TY_BUILD_ID_MAX;
			}
	}
	return 0;
}

/* NT_FILE: number, page size; begin, end and offset in pages of each; names. */
static int map_files(struct ty_code *c, const struct elf *e, struct ty_bytes desc,
		     struct ty_err *err)
{
	struct ty_rd r = ty_rd_init(desc.p, desc.n, false), names;
	uint64_t n = ty_rd_u64(&r), page = ty_rd_u64(&r);
	const uint8_t *id = NULL;
	const char *before = "";
	size_t id_n = 0;

	if (n > ty_rd_left(&r) / 24 || page > 1u << 30)
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
			       "%s: its list of mapped files is malformed", e->name);
	names = r;
	ty_rd_bytes(&names, n * 24);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t lo = ty_rd_u64(&r), hi = ty_rd_u64(&r), off = ty_rd_u64(&r);
		const char *name = ty_rd_str(&names);
		int file, m;

		if (!name || __builtin_mul_overflow(off, page, &off))
			return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
				       "%s: its list of mapped files is truncated", e->name);
		/* A file's first page identifies it, for its other mappings, too. */
		if (!off || strcmp(name, before))
			id_n = off ? 0 : build_id(dumped(e, lo), &id);
		before = name;
		file = ty_code_file(c, name, id, id_n);
		m = file < 0 ? file : ty_code_map(c, TY_CODE_CORE_FILES, 0, lo, hi - lo, off, file);
		if (m && m != -TY_EFORMAT)
			return ty_fail(err, -m, TY_NO_OFFSET, "%s: %s", e->name, ty_strerror(m));
	}
	return 0;
}

/* A dump has one list of files, and its notes lie once in the file. */
int ty_code_map_core(struct ty_code *c, int file, struct ty_err *err)
{
	struct elf e;
	int r = elf_open(c, file, &e, err);
	size_t left = r ? 0 : e.b.n;
	bool listed = false;

	for (unsigned i = 0; !r && !listed && i < e.ph_n; i++) {
		Elf64_Phdr ph = phdr(&e, i);
		struct ty_bytes desc;
		const uint8_t *name;
		uint32_t type, name_n;
		struct ty_rd notes;

		if (ph.p_type != PT_NOTE || ph.p_offset > e.b.n ||
		    ph.p_filesz > e.b.n - ph.p_offset || ph.p_filesz > left)
			continue;
		left -= ph.p_filesz;
		notes = ty_rd_init(e.b.p + ph.p_offset, ph.p_filesz, false);
		while (!listed && next_note(&notes, &type, &name, &name_n, &desc))
			if (type == NT_FILE && name_n == NAME_CORE &&
			    !memcmp(name, "CORE", NAME_CORE)) {
				r = map_files(c, &e, desc, err);
				listed = true;
			}
	}
	return r ? r : map_segments(c, TY_CODE_CORE, 0, 0, file, &e, err);
}

/* SPDX-License-Identifier: MIT */
/*
 * See sdt_notes.h. The format: "UserSpaceProbeImplementation" of SystemTap's wiki; three addresses
 * (place, .stapsdt.base at link time, semaphore) and three strings (provider, name, arguments). The
 * files are the traced programs': nothing in them is taken on trust.
 */
#include "sdt_notes.h"

#include <ctype.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_TYPE 3u
/* Notes of the largest programs have some 100 KB. */
#define SECTION_MAX (4u << 20)
/* Linked programs have some 50. */
#define SECTIONS_MAX 65536u
#define NAMES_MAX    (1u << 20)

/* Where a virtual address lies in the file; 0: nowhere. */
static uint64_t file_offset(Elf *elf, uint64_t addr)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) || n > 1024)
		return 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && addr >= ph.p_vaddr &&
		    addr - ph.p_vaddr < ph.p_filesz &&
		    ph.p_offset <= UINT64_MAX - (addr - ph.p_vaddr))
			return ph.p_offset + (addr - ph.p_vaddr);
	}
	return 0;
}

/* The next string of [*p, end) into out; false: it has no end, or is too long. */
static bool take_string(const char **p, const char *end, char *out, size_t n)
{
	size_t k = strnlen(*p, (size_t)(end - *p));

	if (k == (size_t)(end - *p) || k >= n)
		return false;
	memcpy(out, *p, k + 1);
	*p += k + 1;
	return true;
}

static bool is_word(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_.-", *s))
			return false;
	return true;
}

/* A note's content as a probe. base: where .stapsdt.base is in the file as it stands. */
static bool probe_of(Elf *elf, uint64_t base, const char *p, size_t n, struct ty_sdt *out)
{
	const char *end = p + n;
	uint64_t at[3], moved;

	if (n <= sizeof(at))
		return false;
	memcpy(at, p, sizeof(at));
	p += sizeof(at);
	if (!take_string(&p, end, out->provider, sizeof(out->provider)) ||
	    !take_string(&p, end, out->name, sizeof(out->name)) ||
	    !take_string(&p, end, out->args, sizeof(out->args)) || !is_word(out->provider) ||
	    !is_word(out->name))
		return false;
	moved = base && at[1] ? base - at[1] : 0; /* prelink moves sections, not notes */
	out->offset = file_offset(elf, at[0] + moved);
	out->semaphore = at[2] ? file_offset(elf, at[2] + moved) : 0;
	return out->offset && (!at[2] || out->semaphore);
}

static int read_notes(Elf *elf, Elf_Scn *scn, uint64_t base, ty_sdts *out)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t at = 0, next, name, desc;
	int found = 0;
	GElf_Nhdr nh;

	if (!d || !d->d_buf || d->d_size > SECTION_MAX)
		return 0;
	while (at < d->d_size && (next = gelf_getnote(d, at, &nh, &name, &desc)) > at) {
		struct ty_sdt s;

		if (nh.n_type == NOTE_TYPE && nh.n_namesz == sizeof("stapsdt") &&
		    name <= d->d_size && nh.n_namesz <= d->d_size - name && desc <= d->d_size &&
		    nh.n_descsz <= d->d_size - desc &&
		    !memcmp((char *)d->d_buf + name, "stapsdt", sizeof("stapsdt")) &&
		    probe_of(elf, base, (char *)d->d_buf + desc, nh.n_descsz, &s)) {
			if (found == TY_SDT_MAX)
				break;
			if (vec_push(out, s))
				return -TY_ENOMEM;
			found++;
		}
		at = next;
	}
	return found;
}

/* The file, with the index of its section names; NULL: not one of ours, or with a table that is
 * larger than any linker's: libelf reads that as a whole. */
static Elf *open_elf(int fd, size_t *names)
{
	size_t sections;
	GElf_Ehdr eh;
	GElf_Shdr sh;
	Elf_Scn *scn;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &eh) &&
	    eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_ident[EI_DATA] == ELFDATA2LSB &&
	    !elf_getshdrnum(elf, &sections) && sections <= SECTIONS_MAX &&
	    !elf_getshdrstrndx(elf, names) && (scn = elf_getscn(elf, *names)) &&
	    gelf_getshdr(scn, &sh) && sh.sh_size <= NAMES_MAX)
		return elf;
	elf_end(elf);
	return NULL;
}

bool ty_elf_is_go(int fd)
{
	Elf_Scn *scn = NULL;
	bool found = false;
	size_t names;
	Elf *elf = open_elf(fd, &names);

	while (elf && !found && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		found = name && (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".gopclntab") ||
				 !strcmp(name, ".data.rel.ro.gopclntab"));
	}
	elf_end(elf);
	return found;
}

int ty_sdt_read(int fd, ty_sdts *out)
{
	Elf_Scn *scn = NULL, *notes = NULL;
	uint64_t base = 0;
	size_t names;
	int found = 0;
	Elf *elf = open_elf(fd, &names);

	if (elf)
		while ((scn = elf_nextscn(elf, scn))) {
			GElf_Shdr sh;
			const char *name =
				gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

			if (name && !strcmp(name, ".note.stapsdt") && sh.sh_type == SHT_NOTE &&
			    sh.sh_size <= SECTION_MAX)
				notes = scn;
			else if (name && !strcmp(name, ".stapsdt.base"))
				base = sh.sh_addr;
		}
	if (notes)
		found = read_notes(elf, notes, base, out);
	elf_end(elf);
	return found;
}

#if defined(__x86_64__)
static const char *const registers[][5] = {
	{"ax", "rax", "eax", "ax", "al"},	{"bx", "rbx", "ebx", "bx", "bl"},
	{"cx", "rcx", "ecx", "cx", "cl"},	{"dx", "rdx", "edx", "dx", "dl"},
	{"si", "rsi", "esi", "si", "sil"},	{"di", "rdi", "edi", "di", "dil"},
	{"bp", "rbp", "ebp", "bp", "bpl"},	{"sp", "rsp", "esp", "sp", "spl"},
	{"r8", "r8", "r8d", "r8w", "r8b"},	{"r9", "r9", "r9d", "r9w", "r9b"},
	{"r10", "r10", "r10d", "r10w", "r10b"}, {"r11", "r11", "r11d", "r11w", "r11b"},
	{"r12", "r12", "r12d", "r12w", "r12b"}, {"r13", "r13", "r13d", "r13w", "r13b"},
	{"r14", "r14", "r14d", "r14w", "r14b"}, {"r15", "r15", "r15d", "r15w", "r15b"}};

/* The kernel's name of a register; NULL. */
static const char *kernel_register(const char *p, size_t n)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		for (unsigned k = 1; k < 5; k++)
			if (strlen(registers[i][k]) == n && !memcmp(registers[i][k], p, n))
				return registers[i][0];
	return NULL;
}

/* "%reg", "off(%reg)", "$imm". */
static int operand(const char *p, size_t n, char *out, size_t size)
{
	const char *reg, *open = memchr(p, '(', n);
	char *end;
	long long off;

	if (n > 1 && *p == '%' && !open && (reg = kernel_register(p + 1, n - 1)))
		return snprintf(out, size, "%%%s", reg);
	if (n > 1 && *p == '$') {
		off = strtoll(p + 1, &end, 10);
		return end == p + n ? snprintf(out, size, "\\%lld", off) : -1;
	}
	if (!open || n < 4 || p[n - 1] != ')' || open[1] != '%')
		return -1;
	off = open == p ? 0 : strtoll(p, &end, 10);
	reg = kernel_register(open + 2, (size_t)(p + n - 1 - open - 2));
	if (!reg || (open != p && end != open))
		return -1;
	return snprintf(out, size, "%+lld(%%%s)", off, reg);
}
#elif defined(__aarch64__)
/* "x0", "w0", "[sp, 8]", "[x1]", "5". */
static int operand(const char *p, size_t n, char *out, size_t size)
{
	char *end;
	long long v;
	unsigned long reg;

	if (n > 1 && (*p == 'x' || *p == 'w') && isdigit((unsigned char)p[1])) {
		reg = strtoul(p + 1, &end, 10);
		return end == p + n && reg < 31 ? snprintf(out, size, "%%x%lu", reg) : -1;
	}
	if (n > 3 && *p == '[' && p[n - 1] == ']') {
		bool sp = p[1] == 's' && p[2] == 'p';
		const char *rest = p + 3;

		reg = 31;
		if (!sp) {
			reg = p[1] == 'x' ? strtoul(p + 2, &end, 10) : 32;
			if (reg > 30)
				return -1;
			rest = end;
		}
		v = 0;
		if (*rest == ',') {
			v = strtoll(rest + 1, &end, 10);
			rest = end;
		}
		if (rest != p + n - 1)
			return -1;
		return sp ? snprintf(out, size, "%+lld(%%sp)", v)
			  : snprintf(out, size, "%+lld(%%x%lu)", v, reg);
	}
	v = strtoll(p, &end, 10);
	return n && end == p + n ? snprintf(out, size, "\\%lld", v) : -1;
}
#else
static int operand(const char *p, size_t n, char *out, size_t size)
{
	return -1;
}
#endif

int ty_sdt_arg(const char **args, char *out, size_t n)
{
	const char *p = *args + strspn(*args, " "), *at, *end;
	char fetch[96];
	long bytes;
	char *stop;
	int k;

	if (!*p) {
		*args = p;
		return 0;
	}
	end = strchr(p, '@');
	at = end ? end + 1 : p + strlen(p);
	end = at +
	      (*at == '[' ? strcspn(at, "]") + (at[strcspn(at, "]")] == ']') : strcspn(at, " "));
	*args = end;
	bytes = strtol(p, &stop, 10);
	if (*stop != '@' || stop + 1 != at ||
	    (labs(bytes) != 1 && labs(bytes) != 2 && labs(bytes) != 4 && labs(bytes) != 8))
		return -TY_EUNSUPPORTED;
	k = operand(at, (size_t)(end - at), fetch, sizeof(fetch));
	if (k < 0 || (size_t)k >= sizeof(fetch))
		return -TY_EUNSUPPORTED;
	k = snprintf(out, n, "%s:%c%ld", fetch, bytes < 0 ? 's' : 'u', labs(bytes) * 8);
	return k >= 0 && (size_t)k < n ? 1 : -TY_EUNSUPPORTED;
}

/* SPDX-License-Identifier: MIT */
/* See elf_symbols.h. System V ABI, "Symbol Table". */
#include "elf_symbols.h"

#include <gelf.h>
#include <string.h>

enum { PHDRS_MAX = 1024, SECTIONS_MAX = 65536, TABLE_MAX = 64 << 20 };

/* Of the segment that holds the start of the file. */
static bool base_of(Elf *elf, uint64_t *base)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) || n > PHDRS_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && !ph.p_offset) {
			*base = ph.p_vaddr;
			return true;
		}
	}
	return false;
}

static Elf_Data *data_of(Elf_Scn *scn, GElf_Shdr *sh, uint32_t type)
{
	Elf_Data *d =
		scn && gelf_getshdr(scn, sh) && sh->sh_type == type && sh->sh_size <= TABLE_MAX
			? elf_getdata(scn, NULL)
			: NULL;

	return d && d->d_buf && d->d_size ? d : NULL;
}

static void find(Elf_Data *symbols, Elf_Data *text, const char *const *names, size_t n,
		 uint64_t *values)
{
	const char *strings = text->d_buf;
	GElf_Sym s;

	for (int i = 0; gelf_getsym(symbols, i, &s); i++) {
		if (s.st_shndx == SHN_UNDEF || s.st_name >= text->d_size)
			continue;
		for (size_t k = 0; k < n; k++) {
			const size_t bytes = strlen(names[k]) + 1;

			if (bytes <= text->d_size - s.st_name &&
			    !memcmp(strings + s.st_name, names[k], bytes))
				values[k] = s.st_value;
		}
	}
}

bool ty_elf_symbols(int fd, const char *const *names, size_t n, uint64_t *values, uint64_t *base)
{
	Elf_Data *symbols = NULL, *text = NULL;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh, sh2;
	GElf_Ehdr eh;
	size_t sections;
	Elf *elf;

	memset(values, 0, n * sizeof(*values));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &eh) &&
	    eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_ident[EI_DATA] == ELFDATA2LSB &&
	    !elf_getshdrnum(elf, &sections) && sections <= SECTIONS_MAX && base_of(elf, base))
		while (!symbols && (scn = elf_nextscn(elf, scn)))
			symbols = data_of(scn, &sh, SHT_DYNSYM);
	if (symbols)
		text = data_of(elf_getscn(elf, sh.sh_link), &sh2, SHT_STRTAB);
	if (text)
		find(symbols, text, names, n, values);
	elf_end(elf);
	return text;
}

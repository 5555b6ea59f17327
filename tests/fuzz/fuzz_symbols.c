/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an ELF file with symbols and source lines, which libelf and libdw read. They were
 * not built with AddressSanitizer: the file ends at a page that cannot be read.
 */
#include "flow.h"
#include "fuzz.h"
#include "symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *p = fuzz_guarded(data, size);
	struct ty_symbols *s;
	struct ty_param params[8];
	const char *why;
	struct ty_inlined inlined[8], caller;
	struct ty_symbol sym;
	uint8_t id[20];
	uint64_t in;
	uint32_t crc;
	int line;

	if (!p)
		return 0;
	if (ty_elf_build_id(p, size, id) > sizeof(id))
		abort();
	s = ty_symbols_new(p, size);
	if (!s)
		abort();
	ty_symbols_link(s, &crc);
	for (uint64_t off = 0; off < 0x3000; off += 0x100) {
		const char *file = NULL;

		if (ty_symbols_find(s, off, &sym) && !strlen(sym.name))
			abort();
		ty_symbols_variable(s, off, off & 0x100, 0, &sym, &in);
		if (ty_symbols_line(s, off, &file, &line) && !strlen(file))
			abort();
		if (ty_symbols_inlined(s, off, inlined, 8, &caller) > 8)
			abort();
	}
	if (ty_symbols_named(s, "main", &sym, 1) && ty_symbols_params(s, &sym, params, 8, &why) > 8)
		abort();
	ty_symbols_debug(s, p, size);
	ty_symbols_find(s, 0x1000, &sym);
	ty_symbols_free(s);
	return 0;
}

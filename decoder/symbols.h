/* SPDX-License-Identifier: MIT */
/*
 * Names and source lines of an ELF file's code, by file offset (which is how a memory mapping knows
 * it). By elfutils (libelf, libdw); bytes in, no I/O. Not thread-safe.
 */
#ifndef TY_SYMBOLS_H
#define TY_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ty_symbols;

struct ty_symbol {
	const char *name; /* borrowed from the symbols */
	uint64_t start;	  /* file offset of its first byte */
	uint64_t size;	  /* 0: not known */
};

/* Bytes must stay, and be writable where sections of debug information are compressed: libdw marks
 * what it has decompressed. NULL when out of memory; a file that is no ELF file has no symbols. */
struct ty_symbols *ty_symbols_new(const uint8_t *p, size_t n);
void ty_symbols_free(struct ty_symbols *s);

/* Is it an ELF file with something to be loaded? */
bool ty_symbols_usable(const struct ty_symbols *s);
/* Has the file its whole symbol table and its line table? If not, another file may have what was
 * stripped. */
bool ty_symbols_whole(const struct ty_symbols *s);
/* The name of that file, without a directory, and its CRC-32, where the stripped one tells
 * (.gnu_debuglink). Borrowed; NULL: it does not. */
const char *ty_symbols_link(const struct ty_symbols *s, uint32_t *crc);
/* That file: the stripped one's symbols and lines are taken from it. Before anything is asked,
 * once; bytes must stay. The caller has seen that both belong together. */
void ty_symbols_debug(struct ty_symbols *s, const uint8_t *p, size_t n);

/* The function that holds the byte at this offset; "NAME@plt" for a procedure linkage entry. */
bool ty_symbols_find(struct ty_symbols *s, uint64_t off, struct ty_symbol *out);
/*
 * The variable that lies `delta` bytes from where a mapping of the file begins, with the page at
 * file offset `off` (code: it is mapped to be executed), *in bytes into it; also where the file
 * holds no bytes (.bss). false, too, where the page is of two segments, so that it is not known
 * which one is mapped. out->start is its address as the file has it.
 */
bool ty_symbols_variable(struct ty_symbols *s, uint64_t off, bool code, int64_t delta,
			 struct ty_symbol *out, uint64_t *in);
/* The same of the byte at this offset. */
bool ty_symbols_variable_of(struct ty_symbols *s, uint64_t off, struct ty_symbol *out,
			    uint64_t *in);
/* The same at an address of a file that is always at its own addresses; false: it is not. */
bool ty_symbols_variable_fixed(struct ty_symbols *s, uint64_t addr, struct ty_symbol *out,
			       uint64_t *in);
/* The first function of this name: by its whole name. */
bool ty_symbols_named(struct ty_symbols *s, const char *name, struct ty_symbol *out);
/* Source file and line; false when there is no line table for it. */
bool ty_symbols_line(struct ty_symbols *s, uint64_t off, const char **file, int *line);

/*
 * The functions that were inlined at this offset, the innermost first: how many, at most max. Each
 * has the line at which it is there, the last one that in the function that holds them all is
 * *caller.
 */
struct ty_inlined {
	const char *name; /* borrowed */
	const char *file; /* of the line in it; NULL */
	int line;
};
size_t ty_symbols_inlined(struct ty_symbols *s, uint64_t off, struct ty_inlined *out, size_t max,
			  struct ty_inlined *caller);

/* The GNU build id of an ELF file; its length, 0 when there is none. */
size_t ty_elf_build_id(const uint8_t *p, size_t n, uint8_t out[20]);

#endif

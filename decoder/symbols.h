/* SPDX-License-Identifier: MIT */
/*
 * Names and source lines of an ELF file's code, by file offset (as a memory mapping gives it). By
 * elfutils (libelf, libdw); no I/O. Not thread-safe.
 */
#ifndef TY_SYMBOLS_H
#define TY_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ty_symbols;

struct ty_symbol {
	const char *name; /* borrowed from the symbols, as the other one */
	const char *own;  /* what the file has: of two functions it differs, even if name does not
			   * (overloads; parts that the compiler has split off) */
	uint64_t start;	  /* file offset of its first byte */
	uint64_t size;	  /* 0: unknown */
	bool ifunc;	  /* it runs once, and returns the function that is called */
};

/* The bytes must stay valid, and be writable when sections of debug information are compressed:
 * libdw marks what it has decompressed. NULL when out of memory; a file that is not ELF has no
 * symbols. */
struct ty_symbols *ty_symbols_new(const uint8_t *p, size_t n);
void ty_symbols_free(struct ty_symbols *s);

/* True for an ELF file with a loadable segment. */
bool ty_symbols_usable(const struct ty_symbols *s);
/* True when the file has a full symbol table and a line table. If not, a separate debug file may
 * have them. */
bool ty_symbols_whole(const struct ty_symbols *s);
/* Name of the debug file, without a directory, and its CRC-32, according to .gnu_debuglink.
 * Borrowed; NULL: none. */
const char *ty_symbols_link(const struct ty_symbols *s, uint32_t *crc);
/* Adds the debug file: the stripped file's symbols and lines are taken from it. Call once, before
 * any look-up; the bytes must stay valid. The caller has checked that both belong together. */
void ty_symbols_debug(struct ty_symbols *s, const uint8_t *p, size_t n);

/* The function that contains the byte at this offset; "NAME@plt" for an entry of the procedure
 * linkage table. */
bool ty_symbols_find(struct ty_symbols *s, uint64_t off, struct ty_symbol *out);
/* Its offset and size alone; 0: unknown. */
bool ty_symbols_extent(struct ty_symbols *s, uint64_t off, uint64_t *start, uint64_t *size);
/*
 * The variable located `delta` bytes from the start of a mapping of the file that begins with the
 * page at file offset `off` (code: mapped executable), at offset *in of it; including parts without
 * bytes in the file (.bss). False also when two segments share the page, so that it is unknown
 * which one is mapped. out->start is its address in the file.
 */
bool ty_symbols_variable(struct ty_symbols *s, uint64_t off, bool code, int64_t delta,
			 struct ty_symbol *out, uint64_t *in);
/* Where such a variable is declared; false: not in the debug information. */
bool ty_symbols_declared(struct ty_symbols *s, const struct ty_symbol *variable, const char **file,
			 int *line);
/* The same for the byte at this offset. */
bool ty_symbols_variable_of(struct ty_symbols *s, uint64_t off, struct ty_symbol *out,
			    uint64_t *in);
/* The same for an address in a file that is always loaded at its own addresses; false when it is
 * not. */
bool ty_symbols_variable_fixed(struct ty_symbols *s, uint64_t addr, struct ty_symbol *out,
			       uint64_t *in);
/* The functions of this exact name, by address: returns how many there are (static functions of
 * several source files, versions of a symbol); at most max are in out. */
size_t ty_symbols_named(struct ty_symbols *s, const char *name, struct ty_symbol *out, size_t max);
/* A parameter of a function. */
struct ty_param {
	const char *name; /* borrowed */
	int reg;      /* integer register of the ABI that holds it at the entry, from 0; -1: none,
			 or not known */
	uint8_t size; /* bytes */
	char sort;    /* s, u: signed, unsigned; x: an address */
};
/* The named parameters of a function, in order: returns how many, at most max. With 0 *why says why
 * they are not known; NULL: it has none. */
size_t ty_symbols_params(struct ty_symbols *s, const struct ty_symbol *function,
			 struct ty_param *out, size_t max, const char **why);
/* Source file and line; false when there is no line information. */
bool ty_symbols_line(struct ty_symbols *s, uint64_t off, const char **file, int *line);

/*
 * The functions inlined at this offset, innermost first: returns how many, at most max. Each has
 * its current line; *caller is the line in the function that contains them all.
 */
struct ty_inlined {
	const char *name; /* borrowed */
	const char *file; /* of the line in it; NULL */
	int line;
};
size_t ty_symbols_inlined(struct ty_symbols *s, uint64_t off, struct ty_inlined *out, size_t max,
			  struct ty_inlined *caller);

/* Copies the GNU build id of an ELF file; returns its length, 0 when there is none. */
size_t ty_elf_build_id(const uint8_t *p, size_t n, uint8_t out[20]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Executable bytes by process, address and time. A process's address space is a list of mappings
 * with the time from which each is valid; exec starts a new list, fork continues with the parent's.
 * A look-up uses the newest mapping that covers the address. When there is none, or its bytes are
 * unavailable, it uses the mappings of all processes (the kernel), then user-supplied images, the
 * bytes of core dumps, and the files that these name. An older mapping under a newer one is never
 * used: its bytes were gone. A mapping newer than the look-up is used only where nothing was mapped
 * before, and only of the same program, because time stamps of packets lag behind.
 *
 * No I/O here: the caller's `load` provides the bytes of a file on first use, once per file. Built
 * first, then read: reading is thread-safe while nothing is added. Adding is O(1); preparing costs
 * n log(n), a look-up log(n)^2 of an address space's mappings, however they overlap.
 */
#ifndef TY_CODE_MAP_H
#define TY_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

enum {
	TY_BUILD_ID_MAX = 20,
	/* Address spaces searched after the process's own, in this order. */
	TY_CODE_EVERYBODY = -1,
	TY_CODE_GIVEN = -2,
	TY_CODE_CORE = -3, /* bytes only: names come from the other spaces */
	TY_CODE_CORE_FILES = -4
};

/* Bytes that stay valid until the map is freed. */
struct ty_bytes {
	const uint8_t *p;
	size_t n;
};

/*
 * The bytes of a file of the traced machine, by path and build id (build_id_n 0: unknown). 0, or
 * -TY_ENOTFOUND (also when a file of that path has another build id). Called once per file; calls
 * are serialised.
 */
typedef int ty_code_load(void *ctx, const char *path, const uint8_t *build_id, size_t build_id_n,
			 struct ty_bytes *out);

struct ty_code;

struct ty_code *ty_code_new(ty_code_load *load, void *ctx); /* NULL: out of memory */
void ty_code_free(struct ty_code *c);
/* Frees p together with c. 0 or -TY_ENOMEM. */
int ty_code_own(struct ty_code *c, void *p);

/* Adds a file by path (and build id), or bytes under a name (copied name, borrowed bytes). Returns
 * its number, or -TY_ENOMEM / -TY_ELIMIT. */
int ty_code_file(struct ty_code *c, const char *path, const uint8_t *build_id, size_t build_id_n);
int ty_code_blob(struct ty_code *c, const char *name, const void *p, size_t n);
/* Adds a function of a JIT compiler: its name, and its bytes, borrowed. */
int ty_code_function(struct ty_code *c, const char *name, const void *p, size_t n);
/* Source line of a function from offset `off` on. */
struct ty_code_line {
	uint64_t off;
	const char *file; /* borrowed */
	int line;
};
/* Sets a function's lines, sorted by offset; borrowed. */
void ty_code_set_lines(struct ty_code *c, int function, const struct ty_code_line *lines, size_t n);
/* The line at an offset of a function; NULL: unknown. */
const struct ty_code_line *ty_code_line_at(const struct ty_code *c, int function, uint64_t off);

/* From t_ns on, [addr, addr+len) of the process maps the file at offset `off`. 0 or -TY_E... */
int ty_code_map(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, uint64_t len,
		uint64_t off, int file);
/* From t_ns on, a function (ty_code_function) is at addr, regardless of the process's mappings, as
 * reported by a JIT compiler. 0 or -TY_E... */
int ty_code_jit(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, int function);
int ty_code_exec(struct ty_code *c, int32_t pid, uint64_t t_ns);
int ty_code_fork(struct ty_code *c, int32_t parent, int32_t pid, uint64_t t_ns);
/* From t_ns on, these bytes were at addr in the process, regardless of its mappings; borrowed. For
 * reading only: names come from the mappings. 0 or -TY_E... */
int ty_code_image(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, const void *p,
		  size_t n);
/* Maps all loadable segments of an ELF file, its lowest page at `base` (base 0: at the addresses of
 * its program headers). 0; -TY_EFORMAT when it is not a 64-bit little-endian ELF file. */
int ty_code_map_elf(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t base, int file,
		    struct ty_err *err);
/*
 * Maps a core dump (also a copy of /proc/kcore): the bytes of its segments, and the file mappings
 * in its notes; a file's build id is known when the dump holds the file's first page. Errors as
 * ty_code_map_elf.
 */
int ty_code_map_core(struct ty_code *c, int file, struct ty_err *err);
/* Call after the last addition and before the first read. 0 or -TY_ENOMEM. */
int ty_code_ready(struct ty_code *c);

/* Cache of the last look-up, kept by a reader so that most reads need no search. Zeroed at
 * first. */
struct ty_code_at {
	const uint8_t *p; /* the byte at lo */
	uint64_t lo, hi;
	uint64_t from_ns, until_ns;
	int32_t pid;
	int file;     /* -1: an image */
	uint64_t off; /* file offset of lo */
};

static inline bool ty_code_is_at(const struct ty_code_at *at, int32_t pid, uint64_t t_ns,
				 uint64_t addr)
{
	return at->p && at->pid == pid && addr >= at->lo && addr < at->hi && t_ns >= at->from_ns &&
	       t_ns < at->until_ns;
}

/* Finds the mapping that holds addr at time t; false when none is known. */
bool ty_code_find(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr,
		  struct ty_code_at *at);
/* The mapping of addr, even when its bytes are unavailable: file number, and the address's offset
 * in the file; -1 when there is none. For names and symbols. *until_ns: end of this answer's
 * validity. */
int ty_code_mapping_of(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, uint64_t *off,
		       uint64_t *until_ns);
/* The same, for [lo, hi) and [from_ns, until_ns); a cache that the caller keeps, zeroed at first.
 */
struct ty_code_where {
	uint64_t lo, hi, from_ns, until_ns;
	uint64_t bias; /* offset in the file = address + bias */
	int32_t pid;
	int file; /* -1: none */
	bool known;
};
void ty_code_where(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr,
		   struct ty_code_where *w);
/* Copies up to n bytes at addr; returns how many were available (0: none). */
size_t ty_code_read(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, void *buf,
		    size_t n, struct ty_code_at *at);

/* Identifies the program that the process runs at time t: it changes after an exec and when the pid
 * is reused. -1: unknown. */
int32_t ty_code_program(const struct ty_code *c, int32_t pid, uint64_t t_ns);

const char *ty_code_file_name(const struct ty_code *c, int file);
/* True for the number of a ty_code_function. */
bool ty_code_is_function(const struct ty_code *c, int file);
/* The file's bytes, loaded if needed; {NULL, 0} when unavailable. */
struct ty_bytes ty_code_file_bytes(struct ty_code *c, int file);
/* Runs `call` while no file is being loaded, for code that opens files as `load` does. */
void ty_code_alone(struct ty_code *c, void (*call)(void *ctx), void *ctx);
/* Loads a file that accompanies the code (names of a JIT compiler), as `load`. At any time. */
int ty_code_other(struct ty_code *c, const char *path, struct ty_bytes *out);

#endif

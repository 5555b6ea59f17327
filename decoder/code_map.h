/* SPDX-License-Identifier: MIT */
/*
 * Which bytes were executable where, in which process, when. A process's address space is a list of
 * mappings with the time from which each holds; exec begins a new list, fork goes on with the
 * parent's. What is asked for is answered by the newest mapping that covers the address; where
 * there is none, or its bytes cannot be had, by those of everybody (the kernel), then by images
 * given by hand, by the bytes of core dumps, and by the files that these name. An older mapping
 * below a newer one is never used: its bytes were not there any more. A newer one is used only
 * where nothing was mapped yet, and of the same program: time stamps of packets lag behind.
 *
 * No I/O here: the bytes of a file come from the caller's `load`, when first needed, once per file.
 * Built first, read afterwards: reading is thread-safe as long as nothing is added. Adding costs
 * the same whatever there is; making ready n log(n), finding log(n)^2 of an address space's
 * mappings, however they lie.
 */
#ifndef TY_CODE_MAP_H
#define TY_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

enum {
	TY_BUILD_ID_MAX = 20,
	/* Address spaces that are looked at after the process' own, in this order. */
	TY_CODE_EVERYBODY = -1,
	TY_CODE_GIVEN = -2,
	TY_CODE_CORE = -3, /* bytes only: names come from the others */
	TY_CODE_CORE_FILES = -4
};

/* Bytes that stay where they are until the map is freed. */
struct ty_bytes {
	const uint8_t *p;
	size_t n;
};

/*
 * The bytes of a file of the traced machine, by path and build id (build_id_n 0: not known). 0, or
 * -TY_ENOTFOUND (also when a file of that path has another build id). Called once per file; calls
 * are serialised.
 */
typedef int ty_code_load(void *ctx, const char *path, const uint8_t *build_id, size_t build_id_n,
			 struct ty_bytes *out);

struct ty_code;

struct ty_code *ty_code_new(ty_code_load *load, void *ctx); /* NULL: out of memory */
void ty_code_free(struct ty_code *c);
/* Something of the heap that others have borrowed is freed with c. 0 or -TY_ENOMEM. */
int ty_code_own(struct ty_code *c, void *p);

/* A file known by path (and build id), or bytes at hand under a name (copied name, borrowed bytes).
 * Its number, or -TY_ENOMEM / -TY_ELIMIT. */
int ty_code_file(struct ty_code *c, const char *path, const uint8_t *build_id, size_t build_id_n);
int ty_code_blob(struct ty_code *c, const char *name, const void *p, size_t n);
/* A function of its own (of a JIT compiler): its name, and its bytes, borrowed. */
int ty_code_function(struct ty_code *c, const char *name, const void *p, size_t n);
/* From `off` bytes into a function on it is this source line. */
struct ty_code_line {
	uint64_t off;
	const char *file; /* borrowed */
	int line;
};
/* A function's lines, by their offsets; borrowed. */
void ty_code_set_lines(struct ty_code *c, int function, const struct ty_code_line *lines, size_t n);
/* The line of a function's byte; NULL: none is told. */
const struct ty_code_line *ty_code_line_at(const struct ty_code *c, int function, uint64_t off);

/* From t_ns on, [addr, addr+len) of the process shows the file from `off` on. 0 or -TY_E... */
int ty_code_map(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, uint64_t len,
		uint64_t off, int file);
/* From t_ns on, a function (ty_code_function) is at addr, whatever the process' mappings say: a JIT
 * compiler told. 0 or -TY_E... */
int ty_code_jit(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, int function);
int ty_code_exec(struct ty_code *c, int32_t pid, uint64_t t_ns);
int ty_code_fork(struct ty_code *c, int32_t parent, int32_t pid, uint64_t t_ns);
/* From t_ns on, these bytes were at addr in the process, whatever its mappings say; they stay
 * borrowed. For reading only: names come from the mappings. 0 or -TY_E... */
int ty_code_image(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, const void *p,
		  size_t n);
/* All loadable segments of an ELF file, its lowest page at `base` (base 0: where its program
 * headers say). 0; -TY_EFORMAT when it is no 64-bit little-endian ELF file. */
int ty_code_map_elf(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t base, int file,
		    struct ty_err *err);
/*
 * A core dump (a copy of /proc/kcore, too): its segments' bytes, and of its notes which files were
 * mapped where; a file's build id where the dump holds the file's first page. As ty_code_map_elf.
 */
int ty_code_map_core(struct ty_code *c, int file, struct ty_err *err);
/* After the last addition and before the first read. 0 or -TY_ENOMEM. */
int ty_code_ready(struct ty_code *c);

/* Where an address was found: kept by a reader between reads, so that most need no search. Zeroed
 * at first. */
struct ty_code_at {
	const uint8_t *p; /* the byte at lo */
	uint64_t lo, hi;
	uint64_t from_ns, until_ns;
	int32_t pid;
	int file;     /* -1: an image */
	uint64_t off; /* file offset of lo */
};

/* Find the mapping that holds addr at time t; false when nothing is known of it. */
bool ty_code_find(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr,
		  struct ty_code_at *at);
/* The mapping that should hold addr, whether or not its bytes can be had: file number and offset of
 * the address in it; -1 when none. For names and symbols. *until_ns: something else may hold it
 * then. */
int ty_code_whose(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, uint64_t *off,
		  uint64_t *until_ns);
/* Copy up to n bytes at addr; how many could be had (0: none). */
size_t ty_code_read(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, void *buf,
		    size_t n, struct ty_code_at *at);

/* A number for the program that the process is at time t: another one after an exec, or when the
 * pid is another process's. -1: nothing is known of it. */
int32_t ty_code_program(const struct ty_code *c, int32_t pid, uint64_t t_ns);

const char *ty_code_file_name(const struct ty_code *c, int file);
/* Is it a ty_code_function? */
bool ty_code_is_function(const struct ty_code *c, int file);
/* The file's bytes, loaded if needed; {NULL, 0} when they cannot be had. */
struct ty_bytes ty_code_file_bytes(struct ty_code *c, int file);
/* Call while no file is being loaded: for what opens files as `load` does. */
void ty_code_alone(struct ty_code *c, void (*call)(void *ctx), void *ctx);
/* A file beside the code (names of a JIT compiler): as `load`. Any time. */
int ty_code_other(struct ty_code *c, const char *path, struct ty_bytes *out);

#endif

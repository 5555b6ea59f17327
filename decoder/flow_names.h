/* SPDX-License-Identifier: MIT */
/* Names and source lines of the addresses of a flow. Thread-safe. */
#ifndef TY_FLOW_NAMES_H
#define TY_FLOW_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "flow.h"
#include "symbols.h"

struct ty_flow_names;

struct ty_flow_names *ty_flow_names_new(struct ty_code *code); /* NULL: out of memory */
void ty_flow_names_free(struct ty_flow_names *n);

/* Creates the symbols of a file of this path from its bytes, like ty_symbols_new, which is the
 * default. Set before the first look-up. */
typedef struct ty_symbols *ty_flow_symbols(void *ctx, const char *path, struct ty_bytes b);
void ty_flow_names_symbols(struct ty_flow_names *n, ty_flow_symbols *make, void *ctx);

/* Adds a copy of /proc/kallsyms: names of kernel code. Returns their number; 0: none, or out of
 * memory. */
size_t ty_flow_names_kernel(struct ty_flow_names *n, const char *text, size_t bytes);

struct ty_flow_name {
	const char *function; /* NULL: no symbol */
	const char *own;      /* its name in the file, as in struct ty_symbol */
	uint64_t start;	      /* address of the function's first instruction (function != NULL) */
	uint64_t size;	      /* in bytes; 0: unknown */
	const char *file;  /* path of the mapped file, or of the list that names the function (perf
			    * map, kallsyms); NULL: nothing is known to be mapped */
	int file_id;	   /* in the code map; -1 */
	uint64_t off;	   /* of the address in the file */
	uint64_t until_ns; /* end of this answer's validity */
};
/* Looks up ip of a process at time t. */
struct ty_flow_name ty_flow_names_at(struct ty_flow_names *n, int32_t pid, uint64_t t_ns,
				     uint64_t ip);
/* A ty_extent_of based on names: the function at ip, as ty_flow_names_at. */
void ty_flow_names_extent(void *names, int32_t pid, uint64_t t_ns, uint64_t ip,
			  struct ty_extent *out);
/* Identifies the program that the process runs at time t: it changes after an exec. -1: unknown. */
int32_t ty_flow_names_program(struct ty_flow_names *n, int32_t pid, uint64_t t_ns);
/* "main+0x12", "[libc.so.6+0x1234]" or "0x7f..." into out. */
void ty_flow_names_text(struct ty_flow_names *n, int32_t pid, uint64_t t_ns, uint64_t ip, char *out,
			size_t size);
struct ty_flow_variable {
	const char *name;
	uint64_t in;	  /* bytes into it */
	const char *file; /* where it is declared; NULL: unknown */
	int line;
};
/* The variable at addr, if it is one of the file that has the code at ip. */
bool ty_flow_names_variable(struct ty_flow_names *n, int32_t pid, uint64_t t_ns, uint64_t ip,
			    uint64_t addr, struct ty_flow_variable *out);
/* Source line of a result of ty_flow_names_at. */
bool ty_flow_names_line(struct ty_flow_names *n, const struct ty_flow_name *at, const char **file,
			int *line);
/* Inlined functions there, as ty_symbols_inlined. */
size_t ty_flow_names_inlined(struct ty_flow_names *n, const struct ty_flow_name *at,
			     struct ty_inlined *out, size_t max, struct ty_inlined *caller);

#endif

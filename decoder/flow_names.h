/* SPDX-License-Identifier: MIT */
/* Names and source lines of the addresses of a flow. Several threads may ask at a time. */
#ifndef TY_FLOW_NAMES_H
#define TY_FLOW_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "flow.h"
#include "symbols.h"

struct ty_flow_names;

struct ty_flow_names *ty_flow_names_new(struct ty_code *code); /* NULL: out of memory */
void ty_flow_names_free(struct ty_flow_names *n);

/* Makes the symbols of a file of this path from its bytes, as ty_symbols_new does, which is what is
 * asked otherwise. Before any name is asked for. */
typedef struct ty_symbols *ty_flow_symbols(void *ctx, const char *path, struct ty_bytes b);
void ty_flow_names_symbols(struct ty_flow_names *n, ty_flow_symbols *make, void *ctx);

/* The text of a copy of /proc/kallsyms: names of kernel code. How many they are; 0: there is none,
 * or out of memory. */
size_t ty_flow_names_kernel(struct ty_flow_names *n, const char *text, size_t bytes);

struct ty_flow_name {
	const char *function; /* NULL: no symbol */
	uint64_t start;	      /* address of the function's first instruction (function != NULL) */
	uint64_t size;	      /* its bytes; 0: not known */
	const char *file; /* the mapped file's path; what named it, where that is another (perf map,
			     kallsyms); NULL: nothing is known to be there */
	int file_id;	  /* in the code map; -1 */
	uint64_t off;	  /* of the address in the file */
	uint64_t until_ns; /* something else may be there then */
};
/* What is at ip of a process at time t. */
struct ty_flow_name ty_flow_names_at(struct ty_flow_names *n, int32_t pid, uint64_t t_ns,
				     uint64_t ip);
/* ty_extent_of, of names: the function at ip, as ty_flow_names_at tells. */
void ty_flow_names_extent(void *names, int32_t pid, uint64_t t_ns, uint64_t ip,
			  struct ty_extent *out);
/* A number for the program that the process is at time t: another one after an exec. -1: not known.
 */
int32_t ty_flow_names_program(struct ty_flow_names *n, int32_t pid, uint64_t t_ns);
/* "main+0x12", "[libc.so.6+0x1234]" or "0x7f..." into out. */
void ty_flow_names_text(struct ty_flow_names *n, int32_t pid, uint64_t t_ns, uint64_t ip, char *out,
			size_t size);
/* Source line of what ty_flow_names_at gave. */
bool ty_flow_names_line(struct ty_flow_names *n, const struct ty_flow_name *at, const char **file,
			int *line);
/* What was inlined there, as ty_symbols_inlined. */
size_t ty_flow_names_inlined(struct ty_flow_names *n, const struct ty_flow_name *at,
			     struct ty_inlined *out, size_t max, struct ty_inlined *caller);

#endif

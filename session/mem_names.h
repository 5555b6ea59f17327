/* SPDX-License-Identifier: MIT */
/* Names for addresses in memory samples: mapping, function and source line, when the recording has
 * mappings and the files are found (flow_files.h). Thread-safe; a caller waits at most for one
 * look-up of another thread, which may include loading a file. */
#ifndef TY_MEM_NAMES_H
#define TY_MEM_NAMES_H

#include "flow_files.h"
#include "mem_points.h"
#include "mem_stream.h"

struct ty_mem_names;

/* roots: --symfs, borrowed. local: the recording is of this machine. NULL: out of memory. */
struct ty_mem_names *ty_mem_names_new(const struct ty_mem_stream *s, const char *const *roots,
				      size_t roots_n, bool local);
void ty_mem_names_free(struct ty_mem_names *n);
/* Adds kernel function names from a copy of /proc/kallsyms. Call before any look-up. 0 or
 * -TY_E.... */
int ty_mem_names_kernel(struct ty_mem_names *n, const char *path, struct ty_err *err);
/* Prints a line on stderr for each file that was found but unusable, with the remedy. */
void ty_mem_names_note(struct ty_mem_names *n);

struct ty_mem_name_of {
	const char *symbol; /* NULL: unknown */
	uint64_t offset;    /* in the symbol */
	const char *file;   /* source; NULL */
	int line;
	const char *mapping; /* NULL: none recorded */
	uint64_t mapping_off;
	/* Only likely: the mapping was recorded later, or, for data, its position was derived from
	 * the distance to its code in the file. */
	bool assumed;
};
/* Looks up an address of a process at a time: code, otherwise data. Strings are valid as long as
 * n. */
void ty_mem_name(struct ty_mem_names *n, int32_t pid, uint64_t addr, uint64_t ts_ns,
		 struct ty_mem_name_of *out);
/* The same for `count` instructions, without interruption by other threads. */
void ty_mem_name_codes(struct ty_mem_names *n, const struct ty_mem_code *c, uint32_t count,
		       struct ty_mem_name_of *out);
static inline void ty_mem_name_code(struct ty_mem_names *n, const struct ty_mem_code *c,
				    struct ty_mem_name_of *out)
{
	ty_mem_name_codes(n, c, 1, out);
}
#define TY_MEM_NAMES_TURN 64u /* batch size after which other threads get their turn */
/* The instruction at its address in the thread's own process at that time. False: that address is
 * unknown; *out is that of another process. */
bool ty_mem_names_own_code(const struct ty_mem_names *n, const struct ty_mem_code *c,
			   const struct ty_mem_thread *t, uint64_t ts_ns, struct ty_mem_code *out);
/* Access size in bytes of each code of the points, from its file (0: unknown or none), for
 * ty_mem_points.width; computed once and owned by n; other look-ups may run meanwhile. stop: set by
 * another thread to cancel; NULL. NULL: out of memory, or stopped. */
const uint8_t *ty_mem_access_widths(struct ty_mem_names *n, const struct ty_mem_points *p,
				    const atomic_bool *stop);

#endif

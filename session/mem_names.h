/* SPDX-License-Identifier: MIT */
/* Names for addresses in memory samples: the mapping, the function and the source line, as far as
 * the recording has mappings and the files are found (flow_files.h). Several threads may ask at
 * once; nobody waits for more than one answer of another's, which may be the first of its file. */
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
/* Before anything is asked: names of the kernel's functions out of a copy of /proc/kallsyms. 0 or
 * -TY_E.... */
int ty_mem_names_kernel(struct ty_mem_names *n, const char *path, struct ty_err *err);
/* Which files were there, but could not be used: a line each on stderr, with what would help. */
void ty_mem_names_note(struct ty_mem_names *n);

struct ty_mem_name_of {
	const char *symbol; /* NULL: not known */
	uint64_t offset;    /* in the symbol */
	const char *file;   /* source; NULL */
	int line;
	const char *mapping; /* NULL: none recorded */
	uint64_t mapping_off;
	/* No more than likely: the mapping was recorded only later, or, of data, it is where it
	 * lies as far from its code as in the file. */
	bool assumed;
};
/* Of an address of a process at a time: code, else data. Texts last as long as n. */
void ty_mem_name(struct ty_mem_names *n, int32_t pid, uint64_t addr, uint64_t ts_ns,
		 struct ty_mem_name_of *out);
/* The same of `count` instructions; meanwhile nobody else is answered. */
void ty_mem_name_codes(struct ty_mem_names *n, const struct ty_mem_code *c, uint32_t count,
		       struct ty_mem_name_of *out);
static inline void ty_mem_name_code(struct ty_mem_names *n, const struct ty_mem_code *c,
				    struct ty_mem_name_of *out)
{
	ty_mem_name_codes(n, c, 1, out);
}
#define TY_MEM_NAMES_TURN 64u /* so many at a time let others have their turn */
/* The instruction as the thread's own process has it at that time. false: where it has it is not
 * known; *out is as another process has it. */
bool ty_mem_names_own_code(const struct ty_mem_names *n, const struct ty_mem_code *c,
			   const struct ty_mem_thread *t, uint64_t ts_ns, struct ty_mem_code *out);
/* Bytes that each code of the points accesses, as its file has it (0: not known, or none), for
 * ty_mem_points.width; made once and n's; meanwhile others
 * may ask. stop: set by another thread, gives up; NULL. NULL: out of memory, or stopped. */
const uint8_t *ty_mem_access_widths(struct ty_mem_names *n, const struct ty_mem_points *p,
				    const atomic_bool *stop);

#endif

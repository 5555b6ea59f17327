/* SPDX-License-Identifier: MIT */
/*
 * Numbers instructions. The same offset in the same file (by build id, otherwise by name and inode)
 * is one instruction in all processes. Code without a file, or without a recorded mapping, belongs
 * to its process; kernel code is shared by all.
 */
#ifndef TY_MEM_CODE_H
#define TY_MEM_CODE_H

#include "mem_ids.h"
#include "mem_stream.h"

struct ty_mem_codes;

/* stream: NULL: no mappings are available. Returns NULL when out of memory. */
struct ty_mem_codes *ty_mem_codes_new(const struct ty_mem_stream *stream);
void ty_mem_codes_free(struct ty_mem_codes *c);
/* The number of the instruction at an address of a process at a time. 0, -TY_ENOMEM, -TY_ELIMIT.
 */
int ty_mem_code_id(struct ty_mem_codes *c, int32_t pid, uint64_t pc, uint64_t ts_ns, uint32_t *id,
		   bool *fresh);
/* Prefetch hint for a later look-up (ty_mem_id_soon). */
void ty_mem_code_soon(const struct ty_mem_codes *c, int32_t pid, uint64_t pc);
/* Bytes held. */
uint64_t ty_mem_codes_bytes(const struct ty_mem_codes *c);

#endif

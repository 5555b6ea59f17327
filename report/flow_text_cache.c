/* SPDX-License-Identifier: MIT */
/* See flow_text_cache.h. A direct-mapped table. */
#include "flow_text_cache.h"

#include <stdlib.h>
#include <string.h>

#include "hash_index.h"

enum { LINES_BITS = 12 };

struct ty_flow_lines {
	struct ty_flow_line v[1 << LINES_BITS];
};

struct ty_flow_lines *ty_flow_lines_new(void)
{
	return calloc(1, sizeof(struct ty_flow_lines));
}

void ty_flow_lines_free(struct ty_flow_lines *l)
{
	free(l);
}

struct ty_flow_line *ty_flow_line(struct ty_flow_lines *l, int32_t pid, uint64_t t_ns, uint64_t ip,
				  const struct ty_flow_item *insn, bool *known)
{
	uint64_t key = ip ^ (uint64_t)(uint32_t)pid << 48 ^ (uint64_t)!insn << 47;
	struct ty_flow_line *o = &l->v[ty_hash_bits(key, LINES_BITS)];
	uint8_t size = insn ? insn->size : 0, flags = insn ? insn->flags & TY_FF_32BIT : 0;

	*known = o->len && o->ip == ip && o->pid == pid && t_ns >= o->from_ns &&
		 t_ns < o->until_ns && o->size == size && o->flags == flags &&
		 (!size || !memcmp(o->raw, insn->raw, size));
	if (*known)
		return o;
	o->ip = ip;
	o->pid = pid;
	o->from_ns = t_ns;
	o->until_ns = UINT64_MAX;
	o->len = 0;
	o->size = size;
	o->flags = flags;
	if (size)
		memcpy(o->raw, insn->raw, size);
	return o;
}

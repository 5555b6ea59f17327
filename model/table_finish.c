/* SPDX-License-Identifier: MIT */
/* Finishes a filled table: writes its directory and the forest's levels above the blocks; see
 * table.h. */
#include "table.h"

static void node_add(struct ty_node *a, uint64_t *best, const struct ty_node *b, uint64_t len)
{
	for (unsigned s = 0; s < TY_ST_COUNT; s++) {
		a->ns[s] += b->ns[s];
		if (b->max[s] > a->max[s])
			a->max[s] = b->max[s];
	}
	a->nrs |= b->nrs;
	a->states |= b->states;
	a->flags |= b->flags;
	a->errors |= b->errors;
	if (len > *best) {
		*best = len;
		a->longest_block = b->longest_block;
		a->longest_row = b->longest_row;
	}
}

static void inner(struct ty_node *node, const uint64_t *first, const uint32_t *n, unsigned levels)
{
	for (unsigned d = 1; d < levels; d++)
		for (uint32_t k = 0; k < n[d]; k++) {
			struct ty_node *a = &node[first[d] + k];
			const struct ty_node *b = &node[first[d - 1]];
			uint32_t i = k * TY_NODE_FAN, to = i + TY_NODE_FAN;
			uint64_t best = 0;

			*a = (struct ty_node){.longest_block = b[i].longest_block,
					      .longest_row = b[i].longest_row};
			for (; i < to && i < n[d - 1]; i++)
				node_add(a, &best, &b[i], ty_node_len(&b[i]));
		}
}

int ty_table_finish(struct ty_table_fill *f, uint32_t tracks, const uint64_t *end_ns, uint64_t *off,
		    uint64_t *bytes)
{
	bool ends = f->kind->length == TY_LEN_NEXT;
	uint32_t blocks = 0, rows = 0, *row_first, *block_first, n[TY_LEVELS];
	uint64_t first[TY_LEVELS], nodes = 0, *end;
	struct ty_table_dir *dir;
	struct ty_block_ref *ref;
	struct ty_node *node;
	unsigned levels = 0;

	for (size_t i = 0; i < f->chain.n; i++)
		blocks += f->chain.v[i].blocks;
	if (f->kind->forest)
		nodes = ty_table_nodes(blocks, first, n, &levels);
	*bytes = ty_table_dir_bytes(f->kind, tracks, blocks, nodes);
	*off = ty_store_alloc(f->store, *bytes);
	if (!*off)
		return -TY_ENOMEM;
	dir = ty_store_at(f->store, *off);
	memset(dir, 0, *bytes);
	end = (uint64_t *)(dir + 1);
	ref = (struct ty_block_ref *)(end + (ends ? tracks : 0));
	node = (struct ty_node *)(ref + blocks);
	row_first = (uint32_t *)(node + nodes);
	block_first = row_first + tracks + 1;
	blocks = 0;
	for (uint32_t i = 0; i < tracks; i++) {
		const struct ty_track_chain *t = i < f->chain.n ? &f->chain.v[i] : NULL;
		uint32_t b = t ? t->first : 0;

		row_first[i] = rows;
		block_first[i] = blocks;
		if (ends)
			end[i] = end_ns[i];
		for (uint32_t k = 0; t && k < t->blocks; k++, b = f->next.v[b], blocks++) {
			ref[blocks] = f->ref.v[b];
			rows += ref[blocks].rows;
			if (nodes) {
				node[blocks] = f->node.v[b];
				node[blocks].longest_block = blocks;
			}
		}
	}
	row_first[tracks] = rows;
	block_first[tracks] = blocks;
	*dir = (struct ty_table_dir){tracks, rows, blocks, 0};
	inner(node, first, n, levels);
	return 0;
}

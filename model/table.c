/* SPDX-License-Identifier: MIT */
/* Reading tables: the directory, single values, searches, whole columns; see table.h. */
#include "table.h"

#include "partition.h"

#include <stdlib.h>

/* The substitute for a damaged block: every column 0. */
static const uint64_t
	nothing[(sizeof(struct ty_block_head) + 8 * (TY_COLS_MAX + TY_GROUP_COLS) + 16) / 8];

const uint64_t ty_block_mask[16] = {0,
				    0xff,
				    0xffff,
				    0xffffff,
				    0xffffffff,
				    0xffffffffff,
				    0xffffffffffff,
				    0xffffffffffffff,
				    [8 ... 15] = UINT64_MAX};

uint64_t ty_table_dir_bytes(const struct ty_table_kind *kind, uint32_t tracks, uint32_t blocks,
			    uint64_t nodes)
{
	uint64_t ends = kind->length == TY_LEN_NEXT ? tracks : 0;

	return sizeof(struct ty_table_dir) + ends * 8 + blocks * sizeof(struct ty_block_ref) +
	       nodes * sizeof(struct ty_node) + 2 * ((uint64_t)tracks + 1) * 4;
}

static uint32_t parents(uint32_t n)
{
	return n / TY_NODE_FAN + (n % TY_NODE_FAN != 0);
}

uint64_t ty_table_nodes(uint32_t blocks, uint64_t first[TY_LEVELS], uint32_t n[TY_LEVELS],
			unsigned *levels)
{
	uint64_t all = 0;

	*levels = 0;
	for (uint32_t k = blocks; k && *levels < TY_LEVELS; k = parents(k)) {
		first[*levels] = all;
		n[(*levels)++] = k;
		all += k;
		if (k <= TY_NODE_FAN)
			break;
	}
	return all;
}

/* Every number that is used as an index or offset later. */
static bool sound(const struct ty_table *t)
{
	uint64_t used = t->store->used;
	const uint32_t *rf = t->row_first, *bf = t->block_first;

	if (rf[0] || bf[0] || rf[t->tracks] != t->rows || bf[t->tracks] != t->blocks)
		return false;
	for (uint32_t i = 0; i < t->tracks; i++) {
		uint32_t rows = 0;

		if (bf[i + 1] < bf[i] || bf[i + 1] > t->blocks || rf[i + 1] < rf[i])
			return false;
		for (uint32_t b = bf[i]; b < bf[i + 1]; b++) {
			const struct ty_block_ref *r = &t->ref[b];

			if (r->off < TY_STORE_HEAD || r->off % 8 || r->off > used ||
			    r->bytes > used - r->off || r->bytes < sizeof(struct ty_block_head) ||
			    r->bytes > TY_STORE_GUARD || !r->rows || r->rows > TY_BLOCK_ROWS ||
			    (b + 1 < bf[i + 1] &&
			     (r->rows != TY_BLOCK_ROWS || r->first_ns > t->ref[b + 1].first_ns)))
				return false;
			rows += r->rows;
			if (rows > t->rows)
				return false;
		}
		if (rf[i + 1] - rf[i] != rows)
			return false;
	}
	return true;
}

int ty_table_attach(struct ty_table *t, const struct ty_table_kind *kind,
		    const struct ty_store *store, uint64_t off, uint64_t bytes, bool check,
		    bool *damaged)
{
	const struct ty_table_dir *dir;
	uint64_t nodes = 0;

	*t = (struct ty_table){.kind = kind, .store = store};
	if (off % 8 || off > store->used || bytes > store->used - off || bytes < sizeof(*dir))
		return -TY_EFORMAT;
	dir = ty_store_at(store, off);
	if (dir->tracks >= UINT32_MAX - 1)
		return -TY_EFORMAT;
	t->tracks = dir->tracks;
	t->rows = dir->rows;
	t->blocks = dir->blocks;
	if (kind->forest)
		nodes = ty_table_nodes(t->blocks, t->level_first, t->level_n, &t->levels);
	if (bytes != ty_table_dir_bytes(kind, t->tracks, t->blocks, nodes))
		return -TY_EFORMAT;
	t->end = (const uint64_t *)(dir + 1);
	t->ref = (const struct ty_block_ref *)(t->end +
					       (kind->length == TY_LEN_NEXT ? t->tracks : 0));
	t->node = (const struct ty_node *)(t->ref + t->blocks);
	t->row_first = (const uint32_t *)(t->node + nodes);
	t->block_first = t->row_first + t->tracks + 1;
	if (!sound(t))
		return -TY_EFORMAT;
	if (check) {
		t->damaged = damaged;
		t->checked = calloc(t->blocks + 1, 1);
		if (!t->checked)
			return -TY_ENOMEM;
	}
	return 0;
}

void ty_table_detach(struct ty_table *t)
{
	free(t->checked);
	*t = (struct ty_table){0};
}

const uint8_t *ty_table_block_check(const struct ty_table *t, uint32_t block)
{
	const struct ty_block_ref *r = &t->ref[block];
	const uint8_t *p = t->store->base + r->off;
	uint8_t was = __atomic_load_n(&t->checked[block], __ATOMIC_RELAXED);

	if (!was) {
		was = ty_store_hash(p, r->bytes) == r->hash ? 1 : 2;
		__atomic_store_n(&t->checked[block], was, __ATOMIC_RELAXED);
	}
	if (was == 1)
		return p;
	__atomic_store_n(t->damaged, true, __ATOMIC_RELAXED);
	return (const uint8_t *)nothing;
}

uint64_t ty_table_row_end(const struct ty_table *t, uint32_t track, uint32_t row)
{
	const uint8_t *block = ty_table_block(t, t->block_first[track] + row / TY_BLOCK_ROWS);

	return ty_table_end(t, track, row, block, ty_block_value(block, 0, row % TY_BLOCK_ROWS));
}

uint32_t ty_block_before(const uint8_t *block, uint32_t lo, uint32_t hi, uint64_t t_ns)
{
	const struct ty_block_head *h = (const void *)block;
	const uint8_t *p = block + 2u * h->off[0], w = h->width[0] & 15;
	const uint64_t mask = ty_block_mask[w], base = h->base[0], step = h->step[0];

	/* As ty_block_value, for which the head is read again for each. */
	while (lo < hi) {
		uint32_t i = (lo + hi) / 2;
		uint64_t v;

		memcpy(&v, p + (size_t)i * w, 8);
		if (base + step * i + (v & mask) < t_ns)
			lo = i + 1;
		else
			hi = i;
	}
	return lo;
}

uint32_t ty_table_before(const struct ty_table *t, uint32_t track, uint64_t t_ns)
{
	uint32_t first, lo;

	if (track >= t->tracks)
		return 0;
	first = t->block_first[track];
	lo = partition_point(i, first, t->block_first[track + 1], t->ref[i].first_ns < t_ns);
	if (lo == first)
		return 0;
	return (lo - 1 - first) * TY_BLOCK_ROWS +
	       ty_block_before(ty_table_block(t, lo - 1), 0, t->ref[lo - 1].rows, t_ns);
}

uint32_t ty_table_owner(const struct ty_table *t, uint32_t row)
{
	if (row >= t->rows)
		return TY_NONE;
	return partition_point(i, 0, t->tracks, t->row_first[i] <= row) - 1;
}

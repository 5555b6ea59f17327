/* SPDX-License-Identifier: MIT */
/*
 * Tables: rows of fixed columns, appended per track (a thread, a CPU) in time order, read by
 * (track, row). Column 0 of every table is the row's start in ns; starts of a track never decrease.
 *
 * A track's rows lie in coded blocks of TY_BLOCK_ROWS (its last may hold fewer), so that row i is
 * in the track's block i / TY_BLOCK_ROWS. A coded column is a base, a step and values of one of the
 * widths 0 to 8 bytes; the step is for what grows evenly, as starts and places in the file do:
 *
 *   block  struct ty_block_head, base[columns], then column by column TY_BLOCK_ROWS or fewer values
 *          of width[c] bytes each (little endian): row i has base[c] + i * step[c] + value i; only
 *          the first TY_STEP_COLS columns have a step
 *   groups of 32 rows follow as columns of the same kind, in tables with a forest: ns per state,
 *          the longest row of the group, the OR of the flags
 *   refs   one struct ty_block_ref per block, tracks one after the other
 *   nodes  one struct ty_node per block (level 0), per TY_NODE_FAN blocks (level 1), ...
 *
 * Filling (struct ty_table_fill): one open block per track, uncoded, that begins small; coded once,
 * when the row behind its last arrives. Budget: 3 ns to push a row, 15 to code it, no allocation
 * but a block's.
 *
 * Reading takes no trust: offsets are checked against the store, widths and counts cannot lead
 * outside block and guard (store.h), and a block of an opened index is checked against its checksum
 * when it is first read; a damaged one reads as rows of nothing and is remembered (`damaged`).
 */
#ifndef TY_TABLE_H
#define TY_TABLE_H

#include <string.h>

#include "model.h"
#include "store.h"
#include "vec.h"

#define TY_BLOCK_ROWS 512u
#define TY_GROUP_ROWS 32u
#define TY_NODE_FAN   16u
#define TY_COLS_MAX   12u
#define TY_GROUP_COLS 10u /* ns per state, longest, flags */
#define TY_STEP_COLS  4u
#define TY_LEVELS     8u /* 512 * 16^7 > 2^32 */

enum ty_length {
	TY_LEN_NEXT,   /* a row lasts until the next one starts, the last until the track's end */
	TY_LEN_COLUMN, /* column 1 is its length */
	TY_LEN_NONE,   /* rows are instants: no forest */
};

/* Describes a table's rows: how they are passed (packed, fixed size), and which columns the forest
 * interprets (0: the table has none). */
struct ty_table_kind {
	uint8_t cols, row_bytes; /* row_bytes: 8 at least, of the start (column 0) */
	struct {
		uint8_t off, bytes;
		bool is_signed;
	} col[TY_COLS_MAX];
	uint8_t length; /* enum ty_length */
	bool forest;
	uint8_t state, flags, nr, ret;
	uint8_t loc; /* below TY_STEP_COLS; increases as evenly as starts; where it is 0, its base
		      * is 0, too */
};

struct ty_block_ref {
	uint64_t off, first_ns, hash;
	uint32_t bytes, rows;
};

/* Aggregate over the rows of some blocks. Slots: the state, or nr % 8 in tables with system call
 * numbers. */
struct ty_node {
	uint64_t ns[TY_ST_COUNT];  /* by state */
	uint64_t max[TY_ST_COUNT]; /* longest row, by slot */
	uint64_t nrs;		   /* bits 1 << nr % 64 */
	uint32_t longest_block;	   /* index of its ref in the table */
	uint16_t longest_row;	   /* in that block */
	uint8_t states;		   /* bits 1 << state */
	uint8_t flags;
	uint8_t errors; /* has a failed call */
	uint8_t pad[7];
};

/* The longest row. */
static inline uint64_t ty_node_len(const struct ty_node *n)
{
	uint64_t best = 0;

	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		best = n->max[s] > best ? n->max[s] : best;
	return best;
}

struct ty_block_head {
	uint8_t width[TY_COLS_MAX + TY_GROUP_COLS]; /* rows, then groups */
	uint16_t off[TY_COLS_MAX + TY_GROUP_COLS];  /* offset from the block's start, in units of 2
						     * bytes */
	uint32_t step[TY_STEP_COLS];
	uint64_t base[];
};

struct ty_table {
	const struct ty_table_kind *kind;
	const struct ty_store *store;
	uint32_t tracks, rows, blocks;
	const uint32_t *row_first;   /* tracks + 1: number of rows of the preceding tracks */
	const uint32_t *block_first; /* tracks + 1 */
	const uint64_t *end;	     /* tracks: end of the last row (TY_LEN_NEXT) */
	const struct ty_block_ref *ref;
	const struct ty_node *node; /* all levels, level 0 first */
	uint64_t level_first[TY_LEVELS];
	uint32_t level_n[TY_LEVELS];
	unsigned levels;
	uint8_t *checked; /* one per block: 1 good, 2 damaged; NULL: built by this process, all good
			   */
	bool *damaged;	  /* set when a block is found damaged; NULL with checked */
};

/* Head of the directory, followed by ends, refs, nodes, row_first, block_first. */
struct ty_table_dir {
	uint32_t tracks, rows, blocks, pad;
};
uint64_t ty_table_dir_bytes(const struct ty_table_kind *kind, uint32_t tracks, uint32_t blocks,
			    uint64_t nodes);
/* Computes the levels over this many blocks: start and node count of each. Returns the total. */
uint64_t ty_table_nodes(uint32_t blocks, uint64_t first[TY_LEVELS], uint32_t n[TY_LEVELS],
			unsigned *levels);

/* filling ----------------------------------------------------------------------------------- */

struct ty_paged_pool;

struct ty_track_fill {
	uint8_t *open;
	uint32_t n, cap;
	uint64_t last_ns;
};

/* Coded blocks of a track, in the fill's list, linked by `next`. */
struct ty_track_chain {
	uint32_t blocks, first, last;
};

struct ty_table_fill {
	const struct ty_table_kind *kind;
	struct ty_store *store;
	uint64_t rows;
	VEC(struct ty_track_fill) track;
	struct ty_block_coder
		*coder; /* borrowed; codes full blocks in the background. NULL: no thread */
	struct ty_paged_pool *pool; /* of open blocks; borrowed. NULL: all are in memory */
	uint8_t *spare;		    /* free full-sized buffers returned by the coder, linked */
	/* Owned by the coder while there is one: */
	VEC(struct ty_track_chain) chain;
	VEC(struct ty_block_ref) ref; /* in the order of coding */
	VEC(uint32_t) next;
	VEC(struct ty_node) node;
	uint64_t nrs[TY_SEEK_NRS / 64]; /* numbers that occur, modulo TY_SEEK_NRS */
};

void ty_table_fill_init(struct ty_table_fill *f, const struct ty_table_kind *kind,
			struct ty_store *store);
void ty_table_fill_fini(struct ty_table_fill *f);
/* Appends a row of row_bytes bytes; a start before the track's last one is raised to it. 0,
 * -TY_ENOMEM, -TY_ELIMIT (2^32 rows). */
int ty_table_push(struct ty_table_fill *f, uint32_t track, const void *row);
/* Fast path: returns where to write the row that starts at `start`; the caller fills all of it at
 * once. NULL: use ty_table_push. */
static inline void *ty_table_room(struct ty_table_fill *f, uint32_t track, uint64_t start,
				  size_t row_bytes)
{
	struct ty_track_fill *t = track < f->track.n ? &f->track.v[track] : NULL;

	if (!t || t->n >= t->cap || start < t->last_ns || f->rows >= UINT32_MAX - 1)
		return NULL;
	t->last_ns = start;
	f->rows++;
	return t->open + t->n++ * row_bytes;
}
/* The same for many rows: returns where to write the next *n rows (possibly none), whose starts
 * must not decrease or precede the track's last; then call ty_table_filled with the number
 * written. */
static inline void *ty_table_rooms(struct ty_table_fill *f, uint32_t track, size_t row_bytes,
				   uint32_t *n)
{
	struct ty_track_fill *t = track < f->track.n ? &f->track.v[track] : NULL;

	*n = t && f->rows < UINT32_MAX - 1 - TY_BLOCK_ROWS ? t->cap - t->n : 0;
	return *n ? t->open + t->n * row_bytes : NULL;
}
static inline void ty_table_filled(struct ty_table_fill *f, uint32_t track, uint32_t n,
				   uint64_t last_start)
{
	f->rows += n;
	f->track.v[track].n += n;
	f->track.v[track].last_ns = last_start;
}
/* ty_table_push with a row size known at compile time. */
static inline int ty_table_add(struct ty_table_fill *f, uint32_t track, const void *row,
			       size_t row_bytes)
{
	uint64_t start;
	void *p;

	memcpy(&start, row, sizeof(start));
	p = ty_table_room(f, track, start, row_bytes);
	if (!p)
		return ty_table_push(f, track, row);
	memcpy(p, row, row_bytes);
	return 0;
}
/* Memory that the fill keeps per block until the directory is written. */
static inline size_t ty_table_fill_block_bytes(const struct ty_table_fill *f)
{
	return sizeof(struct ty_block_ref) + sizeof(uint32_t) +
	       (f->kind->forest ? sizeof(struct ty_node) : 0);
}

/* table_code.c: code rows as the next block of the track (block_coder.h). */
int ty_table_code(struct ty_table_fill *f, uint32_t track, const uint8_t *rows, uint32_t n,
		  uint64_t end_ns);
/* Appends the latest block of f->ref to the track. 0 or -TY_ENOMEM. */
int ty_table_chain(struct ty_table_fill *f, uint32_t track);
/* Removes all rows. */
void ty_table_reset(struct ty_table_fill *f);
/* Moves all rows of a finished table's track, whose blocks are in the same store, to a track
 * without rows, and seals it. 0 or -TY_ENOMEM. */
int ty_table_adopt(struct ty_table_fill *f, const struct ty_table *t, uint32_t track);
/* Codes the open block of the track, whose last row ends at end_ns; no row may follow. 0 or
 * -TY_ENOMEM. */
int ty_table_seal(struct ty_table_fill *f, uint32_t track, uint64_t end_ns);
/*
 * After all tracks are sealed, writes directory and forest to the store, at *off and *bytes (one
 * range, as ty_table_attach expects). end_ns: ends of `tracks` tracks. 0 or -TY_E....
 */
int ty_table_finish(struct ty_table_fill *f, uint32_t tracks, const uint64_t *end_ns, uint64_t *off,
		    uint64_t *bytes);

/* reading ----------------------------------------------------------------------------------- */

/*
 * Opens the table in [off, off + bytes) of the store and checks every number of the directory.
 * checked: an opened index; blocks are verified when first read. 0, -TY_EFORMAT, -TY_ENOMEM.
 */
int ty_table_attach(struct ty_table *t, const struct ty_table_kind *kind,
		    const struct ty_store *store, uint64_t off, uint64_t bytes, bool check,
		    bool *damaged);
void ty_table_detach(struct ty_table *t);

/* Slow path of ty_table_block: verifies, and returns an empty block for a damaged one. */
const uint8_t *ty_table_block_check(const struct ty_table *t, uint32_t block);

/* The coded block of that number, counted over all tracks. */
static inline const uint8_t *ty_table_block(const struct ty_table *t, uint32_t block)
{
	if (__builtin_expect(
		    t->checked && __atomic_load_n(&t->checked[block], __ATOMIC_RELAXED) != 1, 0))
		return ty_table_block_check(t, block);
	return t->store->base + t->ref[block].off;
}

/* The bits of a value by its width; of widths that do not exist as of 8. */
extern const uint64_t ty_block_mask[16];

static inline uint64_t ty_block_value(const uint8_t *block, unsigned col, uint32_t i)
{
	const struct ty_block_head *h = (const void *)block;
	unsigned w = h->width[col] & 15;
	uint64_t v;

	memcpy(&v, block + 2u * h->off[col] + (size_t)i * w, 8);
	v &= ty_block_mask[w];
	if (col < TY_STEP_COLS)
		v += (uint64_t)h->step[col] * i;
	return h->base[col] + v;
}

static inline uint32_t ty_table_rows(const struct ty_table *t, uint32_t track)
{
	return track < t->tracks ? t->row_first[track + 1] - t->row_first[track] : 0;
}

/* Value of a column; row < ty_table_rows. */
static inline uint64_t ty_table_value(const struct ty_table *t, uint32_t track, uint32_t row,
				      unsigned col)
{
	return ty_block_value(ty_table_block(t, t->block_first[track] + row / TY_BLOCK_ROWS), col,
			      row % TY_BLOCK_ROWS);
}

/* End of a row (its start when it has no length), whose block and start are known. Never before its
 * start. */
static inline uint64_t ty_table_end(const struct ty_table *t, uint32_t track, uint32_t row,
				    const uint8_t *block, uint64_t start)
{
	uint32_t i = row % TY_BLOCK_ROWS;
	uint64_t end = start;

	if (t->kind->length == TY_LEN_COLUMN) {
		if (__builtin_add_overflow(start, ty_block_value(block, 1, i), &end))
			end = UINT64_MAX;
	} else if (t->kind->length == TY_LEN_NEXT) {
		if (row + 1 >= ty_table_rows(t, track))
			end = t->end[track];
		else if (i + 1 < TY_BLOCK_ROWS)
			end = ty_block_value(block, 0, i + 1);
		else
			end = ty_table_value(t, track, row + 1, 0);
	}
	return end > start ? end : start;
}
uint64_t ty_table_row_end(const struct ty_table *t, uint32_t track, uint32_t row);
/* Number of rows of a block, within [lo, hi), with start < t, and lo. */
uint32_t ty_block_before(const uint8_t *block, uint32_t lo, uint32_t hi, uint64_t t_ns);
/* Number of the track's rows with start < t. */
uint32_t ty_table_before(const struct ty_table *t, uint32_t track, uint64_t t_ns);
/* The track of a row counted over all tracks; TY_NONE. */
uint32_t ty_table_owner(const struct ty_table *t, uint32_t row);

#endif

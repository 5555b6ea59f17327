/* SPDX-License-Identifier: MIT */
/*
 * Zoom forest over a table's rows; see forest.h.
 *
 * Invariants: starts and ends of a track never decrease and rows do not overlap, so the rows that
 * overlap [from, to) are a contiguous range. The first and the last of them are clipped
 * individually, so that times are exact at the edges; all others are inside entirely.
 *
 * The nodes of all levels above the groups count blocks of the whole table; a node is used only
 * when all its blocks are in the range, hence in the track.
 */
#include "forest.h"
#include "partition.h"

#define GROUPS (TY_BLOCK_ROWS / TY_GROUP_ROWS)

/* One track under examination. */
struct walk {
	const struct ty_table *t;
	uint32_t track, first, rows; /* first: its first block */
	uint64_t nrs;		     /* searches: what a node's nrs must have in common with */
};

static struct walk walk_of(const struct ty_table *t, uint32_t track)
{
	return (struct walk){t, track, track < t->tracks ? t->block_first[track] : 0,
			     ty_table_rows(t, track), UINT64_MAX};
}

static inline const uint8_t *block_of(const struct walk *w, uint32_t row)
{
	return ty_table_block(w->t, w->first + row / TY_BLOCK_ROWS);
}

static inline uint64_t start_of(const struct walk *w, uint32_t row)
{
	return ty_block_value(block_of(w, row), 0, row % TY_BLOCK_ROWS);
}

/* Rows with start < t, of which `from` are known. Near ones are found in few steps. */
static uint32_t before(const struct walk *w, uint32_t from, uint64_t t)
{
	uint32_t b = from / TY_BLOCK_ROWS, blocks = w->t->block_first[w->track + 1] - w->first;
	uint32_t step = 1, lo, hi;
	const struct ty_block_ref *ref = w->t->ref + w->first;

	if (from >= w->rows || start_of(w, from) >= t)
		return from;
	/* The last block that begins before t. */
	for (lo = b, hi = b + 1; hi < blocks && ref[hi].first_ns < t; step *= 2) {
		lo = hi;
		hi = blocks - hi > step ? hi + step : blocks;
	}
	lo = partition_point(k, lo + 1, hi, ref[k].first_ns < t) - 1;
	return lo * TY_BLOCK_ROWS + ty_block_before(ty_table_block(w->t, w->first + lo),
						    lo == b ? from % TY_BLOCK_ROWS : 0,
						    ref[lo].rows, t);
}

static inline unsigned state_of(const struct walk *w, const uint8_t *block, uint32_t i)
{
	unsigned s = w->t->kind->state ? (unsigned)ty_block_value(block, w->t->kind->state, i)
				       : TY_ST_RUNNING;

	return s < TY_ST_COUNT ? s : TY_ST_UNKNOWN;
}

static inline unsigned flags_of(const struct walk *w, const uint8_t *block, uint32_t i)
{
	return w->t->kind->flags ? (uint8_t)ty_block_value(block, w->t->kind->flags, i) : 0;
}

static inline uint64_t len_of(const struct walk *w, uint32_t row)
{
	const uint8_t *block;
	uint64_t a, b;

	if (w->t->kind->length == TY_LEN_COLUMN)
		return ty_block_value(block_of(w, row), 1, row % TY_BLOCK_ROWS);
	if (w->t->kind->length == TY_LEN_NONE)
		return 0;
	if (row % TY_BLOCK_ROWS == TY_BLOCK_ROWS - 1 || row + 1 >= w->rows)
		return ty_table_row_end(w->t, w->track, row) - start_of(w, row);
	block = block_of(w, row);
	a = ty_block_value(block, 0, row % TY_BLOCK_ROWS);
	b = ty_block_value(block, 0, row % TY_BLOCK_ROWS + 1);
	return b > a ? b - a : 0;
}

/* cells ------------------------------------------------------------------------------------- */

struct best {
	uint64_t in, whole; /* lengths of the best so far */
	bool any;
};

/* Rows are offered in their order: of equal ones the first stays. */
static inline void offer(struct ty_cell *out, struct best *b, uint32_t row, uint64_t in,
			 uint64_t whole)
{
	if (!b->any || in > b->in) {
		b->in = in;
		out->longest = row;
	}
	if (!b->any || whole > b->whole) {
		b->whole = whole;
		out->longest_whole = row;
		out->longest_ns = whole;
	}
	b->any = true;
}

static void cut(const struct walk *w, uint32_t row, uint64_t from, uint64_t to, struct ty_cell *out,
		struct best *b)
{
	const uint8_t *block = block_of(w, row);
	uint64_t s = start_of(w, row), e = s + len_of(w, row);
	uint64_t cs = s < from ? from : s, ce = e > to ? to : e;
	uint64_t in = ce > cs ? ce - cs : 0;

	out->ns[state_of(w, block, row % TY_BLOCK_ROWS)] += in;
	out->flags |= (uint8_t)flags_of(w, block, row % TY_BLOCK_ROWS);
	offer(out, b, row, in, e - s);
}

/* Rows [lo, hi) of one block, wholly inside. */
static void rows(const struct walk *w, uint32_t lo, uint32_t hi, struct ty_cell *out,
		 struct best *b)
{
	const uint8_t *block = lo < hi ? block_of(w, lo) : NULL;
	const bool next = w->t->kind->length == TY_LEN_NEXT;
	uint64_t start = next && block ? ty_block_value(block, 0, lo % TY_BLOCK_ROWS) : 0;

	for (; lo < hi; lo++) {
		uint32_t i = lo % TY_BLOCK_ROWS;
		uint64_t len;

		if (next && lo + 1 < hi) {
			uint64_t end = ty_block_value(block, 0, i + 1);

			len = end > start ? end - start : 0;
			start = end;
		} else {
			len = len_of(w, lo);
		}
		out->ns[state_of(w, block, i)] += len;
		out->flags |= (uint8_t)flags_of(w, block, i);
		offer(out, b, lo, len, len);
	}
}

/* Groups [lo, hi), counted in the track, of one block. */
static void groups(const struct walk *w, uint32_t lo, uint32_t hi, struct ty_cell *out,
		   struct best *b)
{
	unsigned c = w->t->kind->cols;

	for (; lo < hi; lo++) {
		const uint8_t *block = block_of(w, lo * TY_GROUP_ROWS);
		uint32_t g = lo % GROUPS;
		uint32_t row = lo * TY_GROUP_ROWS +
			       (uint32_t)ty_block_value(block, c + TY_ST_COUNT, g) % TY_GROUP_ROWS;
		uint64_t len = len_of(w, row < w->rows ? row : w->rows - 1);

		for (unsigned s = 0; s < TY_ST_COUNT; s++)
			out->ns[s] += ty_block_value(block, c + s, g);
		out->flags |= (uint8_t)ty_block_value(block, c + TY_ST_COUNT + 1, g);
		offer(out, b, row, len, len);
	}
}

static void node(const struct walk *w, const struct ty_node *n, struct ty_cell *out, struct best *b)
{
	uint32_t row = (n->longest_block - w->first) * TY_BLOCK_ROWS + n->longest_row;
	uint64_t len = ty_node_len(n);

	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		out->ns[s] += n->ns[s];
	out->flags |= n->flags;
	offer(out, b, row < w->rows ? row : w->rows - 1, len, len);
}

/* Blocks [lo, hi), counted in the table, by level d's nodes where they are whole. */
static void blocks(const struct walk *w, unsigned d, uint32_t lo, uint32_t hi, struct ty_cell *out,
		   struct best *b)
{
	const struct ty_node *n = w->t->node + w->t->level_first[d];
	uint32_t up = (lo + TY_NODE_FAN - 1) / TY_NODE_FAN, down = hi / TY_NODE_FAN;
	bool top = d + 1 >= w->t->levels || up >= down;
	uint32_t to = top ? hi : up * TY_NODE_FAN;

	for (; lo < to; lo++)
		node(w, &n[lo], out, b);
	if (top)
		return;
	blocks(w, d + 1, up, down, out, b);
	for (lo = down * TY_NODE_FAN; lo < hi; lo++)
		node(w, &n[lo], out, b);
}

/* Rows [lo, hi) lie wholly inside the range. */
static void interior(const struct walk *w, uint32_t lo, uint32_t hi, struct ty_cell *out,
		     struct best *b)
{
	uint32_t glo = (lo + TY_GROUP_ROWS - 1) / TY_GROUP_ROWS, ghi = hi / TY_GROUP_ROWS;
	uint32_t blo, bhi;

	if (glo >= ghi) {
		uint32_t mid = (lo / TY_BLOCK_ROWS + 1) * TY_BLOCK_ROWS;

		mid = mid < hi ? mid : hi;
		rows(w, lo, mid, out, b);
		rows(w, mid, hi, out, b);
		return;
	}
	rows(w, lo, glo * TY_GROUP_ROWS, out, b);
	blo = (glo + GROUPS - 1) / GROUPS;
	bhi = ghi / GROUPS;
	if (blo >= bhi) {
		groups(w, glo, ghi, out, b);
	} else {
		groups(w, glo, blo * GROUPS, out, b);
		blocks(w, 0, w->first + blo, w->first + bhi, out, b);
		groups(w, bhi * GROUPS, ghi, out, b);
	}
	rows(w, ghi * TY_GROUP_ROWS, hi, out, b);
}

/* a, z: rows that start before from, before to. */
static void cell(const struct walk *w, uint32_t a, uint32_t z, uint64_t from, uint64_t to,
		 struct ty_cell *out)
{
	struct best b = {0};

	*out = (struct ty_cell){.longest = TY_NONE, .longest_whole = TY_NONE};
	if (from >= to)
		return;
	/* Of those that start before, only the last can reach inside. */
	if (a && start_of(w, a - 1) + len_of(w, a - 1) > from)
		a--;
	if (a >= z)
		return;
	out->spans = z - a;
	cut(w, a, from, to, out, &b);
	if (z - a > 2)
		interior(w, a + 1, z - 1, out, &b);
	if (z - a > 1)
		cut(w, z - 1, from, to, out, &b);
}

/* The content of a cell in which no row begins: a part of the previous row, or nothing. */
struct going_on {
	uint64_t end_ns, next_ns; /* ends of that row and of the stretch without starts */
	unsigned state;
	struct ty_cell cell; /* without its time */
};

/* a: rows that start before the cell. */
static struct going_on going_on(const struct walk *w, uint32_t a)
{
	struct going_on g = {.next_ns = a < w->rows ? start_of(w, a) : UINT64_MAX};

	if (a) {
		const uint8_t *block = block_of(w, a - 1);
		uint64_t len = len_of(w, a - 1);

		g.end_ns = start_of(w, a - 1) + len;
		g.cell = (struct ty_cell){
			.spans = 1, .longest = a - 1, .longest_whole = a - 1, .longest_ns = len};
		g.state = state_of(w, block, (a - 1) % TY_BLOCK_ROWS);
		g.cell.flags = (uint8_t)flags_of(w, block, (a - 1) % TY_BLOCK_ROWS);
	}
	return g;
}

/* Budget: no search, division or read of the table for a cell in which no row begins: most cells of
 * most threads are such. */
void ty_forest_cells(const struct ty_table *t, uint32_t track, uint64_t from_ns, uint64_t to_ns,
		     uint32_t n, struct ty_cell *out)
{
	struct walk w = walk_of(t, track);
	uint64_t width = to_ns > from_ns ? to_ns - from_ns : 0, from = from_ns;
	uint64_t step = n ? width / n : 0, rest = n ? width % n : 0, over = 0;
	uint32_t a = w.rows ? ty_table_before(t, track, from_ns) : 0;
	struct going_on g = going_on(&w, a);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t to = from + step; /* from_ns + width * (i + 1) / n */

		over += rest;
		if (over >= n) {
			over -= n;
			to++;
		}
		if (to > g.next_ns) {
			uint32_t z = before(&w, a, to);

			cell(&w, a, z, from, to, &out[i]);
			a = z;
			if (i + 1 < n)
				g = going_on(&w, a);
		} else if (from < to && from < g.end_ns) {
			out[i] = g.cell;
			out[i].ns[g.state] = (to < g.end_ns ? to : g.end_ns) - from;
		} else {
			out[i] = (struct ty_cell){.longest = TY_NONE, .longest_whole = TY_NONE};
		}
		from = to;
	}
}

/* nested rows ------------------------------------------------------------------------------- */

/* The builder nests no deeper (TY_IRQ_DEPTH), and puts no more into one row (TY_IRQ_INSIDE). */
#define NEST   8
#define INSIDE 65536u

/* Rows that have begun and not ended where a cell begins, from the outermost inwards. */
struct open_rows {
	uint32_t row[NEST];
	unsigned n;
};

static bool is_outermost(const struct walk *w, uint32_t row)
{
	return state_of(w, block_of(w, row), row % TY_BLOCK_ROWS) == TY_ST_RUNNING;
}

/* The last outermost row of [lo, hi), lo when there is none. */
static uint32_t outermost_before(const struct walk *w, uint32_t lo, uint32_t hi)
{
	uint32_t row = hi;

	if (hi - lo > INSIDE)
		lo = hi - INSIDE;
	while (row > lo)
		if (is_outermost(w, --row))
			return row;
	return lo;
}

/* Those of rows [lo, hi) that go on after t. */
static void add_open(const struct walk *w, struct open_rows *o, uint32_t lo, uint32_t hi,
		     uint64_t t)
{
	for (; lo < hi && o->n < NEST; lo++)
		if (start_of(w, lo) + len_of(w, lo) > t)
			o->row[o->n++] = lo;
}

/* As cut, but of equal ones the last, which is the innermost, is taken. */
static void cut_inner(const struct walk *w, uint32_t row, uint64_t from, uint64_t to,
		      struct ty_cell *out, struct best *b)
{
	uint64_t had = b->in;

	cut(w, row, from, to, out, b);
	if (b->in == had) {
		uint64_t s = start_of(w, row), e = s + len_of(w, row);
		uint64_t cs = s < from ? from : s, ce = e > to ? to : e;

		if ((ce > cs ? ce - cs : 0) == had)
			out->longest = row;
	}
}

/* a, z: rows that start before from, before to; o: those open at from, and then at to. */
static void nested_cell(const struct walk *w, struct open_rows *o, uint32_t a, uint32_t z,
			uint64_t from, uint64_t to, struct ty_cell *out)
{
	struct open_rows then = {.n = 0};
	uint32_t last = outermost_before(w, a, z);
	struct best b = {0};

	*out = (struct ty_cell){.longest = TY_NONE, .longest_whole = TY_NONE};
	if (from >= to)
		return;
	for (unsigned i = 0; i < o->n; i++) {
		cut_inner(w, o->row[i], from, to, out, &b);
		add_open(w, &then, o->row[i], o->row[i] + 1, to);
	}
	out->spans = o->n + (z - a);
	/* Before the last outermost one all have ended. */
	interior(w, a, last, out, &b);
	for (uint32_t row = last; row < z; row++)
		cut_inner(w, row, from, to, out, &b);
	add_open(w, &then, last, z, to);
	*o = then;
	out->ns[TY_ST_UNKNOWN] = 0;
	if (out->ns[TY_ST_RUNNING] > to - from) /* only a damaged file */
		out->ns[TY_ST_RUNNING] = to - from;
}

void ty_forest_nested_cells(const struct ty_table *t, uint32_t track, uint64_t from_ns,
			    uint64_t to_ns, uint32_t n, struct ty_cell *out)
{
	struct walk w = walk_of(t, track);
	unsigned __int128 width = to_ns > from_ns ? to_ns - from_ns : 0;
	uint64_t from = from_ns;
	uint32_t a = w.rows ? ty_table_before(t, track, from_ns) : 0;
	struct open_rows o = {.n = 0};

	add_open(&w, &o, outermost_before(&w, 0, a), a, from_ns);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t to = from_ns + (uint64_t)(width * (i + 1) / n);
		uint32_t z = w.rows ? before(&w, a, to) : 0;

		nested_cell(&w, &o, a, z, from, to, &out[i]);
		a = z;
		from = to;
	}
}

/* searches ---------------------------------------------------------------------------------- */

/* The numbers that q accepts, as a node keeps them. */
static uint64_t folded(const struct ty_seek *q)
{
	uint64_t all = 0;

	if (q->nr >= 0)
		return UINT64_C(1) << q->nr % 64;
	for (unsigned i = 0; q->nrs && i < TY_SEEK_NRS / 64; i++)
		all |= q->nrs[i];
	return q->nrs ? all : UINT64_MAX;
}

static bool has_number(const struct ty_seek *q, int32_t nr)
{
	unsigned bit = (unsigned)nr % TY_SEEK_NRS;

	return (q->nr < 0 || nr == q->nr) && (!q->nrs || q->nrs[bit / 64] >> bit % 64 & 1);
}

static bool accepts(const struct walk *w, const struct ty_seek *q, uint32_t row)
{
	const struct ty_table_kind *k = w->t->kind;
	const uint8_t *block = block_of(w, row);
	uint32_t i = row % TY_BLOCK_ROWS;
	unsigned flags = flags_of(w, block, i);

	if (q->states && !(q->states >> state_of(w, block, i) & 1))
		return false;
	if (q->flags_any && !(flags & q->flags_any))
		return false;
	if (k->nr) {
		int64_t ret = (int64_t)ty_block_value(block, k->ret, i);

		if ((q->nr >= 0 || q->nrs) &&
		    !has_number(q, (int32_t)ty_block_value(block, k->nr, i)))
			return false;
		if (q->errors &&
		    (ret >= 0 || ret < -4095 || flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED)))
			return false;
	}
	return len_of(w, row) >= q->min_ns;
}

/* The numbers whose lengths a node keeps in its first slot. */
#define SLOT UINT64_C(0x0101010101010101)
_Static_assert(TY_ST_COUNT == 8, "slots are numbers modulo 8");

/* May the node hold a row that q accepts? */
static bool promises(const struct walk *w, const struct ty_seek *q, const struct ty_node *n)
{
	uint64_t longest = 0;

	if (q->states && !(n->states & q->states))
		return false;
	if (q->flags_any && !(n->flags & q->flags_any))
		return false;
	if (w->t->kind->nr) {
		if (q->errors && !n->errors)
			return false;
		if (!(n->nrs & w->nrs))
			return false;
		for (unsigned s = 0; s < TY_ST_COUNT; s++)
			if (w->nrs & SLOT << s && n->max[s] > longest)
				longest = n->max[s];
		return longest >= q->min_ns;
	} else if (q->states) {
		for (unsigned s = 0; s < TY_ST_COUNT; s++)
			if (q->states >> s & 1 && n->max[s] > longest)
				longest = n->max[s];
		return longest >= q->min_ns;
	}
	return ty_node_len(n) >= q->min_ns;
}

/* The first accepted of rows [lo, hi) of one block, or the last. */
static uint32_t seek_rows(const struct walk *w, const struct ty_seek *q, uint32_t lo, uint32_t hi,
			  bool backward)
{
	for (uint32_t k = 0; k < hi - lo; k++) {
		uint32_t row = backward ? hi - 1 - k : lo + k;

		if (accepts(w, q, row))
			return row;
	}
	return TY_NONE;
}

/* The next block from b on (b: the first to be examined) in the direction, within [lo, hi), that
 * may match: nodes without a match are skipped as a whole. TY_NONE. */
static uint32_t seek_block(const struct walk *w, const struct ty_seek *q, uint32_t b, uint32_t lo,
			   uint32_t hi, bool backward)
{
	unsigned d = 0;
	uint32_t size = 1; /* blocks of a node of level d */

	while (b >= lo && b < hi) {
		uint32_t k = b / size;

		if (promises(w, q, &w->t->node[w->t->level_first[d] + k])) {
			if (!d)
				return b;
			/* Down, to the side of the previous node. */
			d--;
			size /= TY_NODE_FAN;
			continue;
		}
		b = backward ? k * size - 1 : (k + 1) * size; /* may wrap: ends the loop */
		/* Up, where the next node begins one of the level above. */
		while (d + 1 < w->t->levels && (backward ? (b + 1) % (size * TY_NODE_FAN) == 0
							 : b % (size * TY_NODE_FAN) == 0)) {
			d++;
			size *= TY_NODE_FAN;
		}
	}
	return TY_NONE;
}

uint32_t ty_forest_seek(const struct ty_table *t, uint32_t track, const struct ty_seek *q,
			uint64_t t_ns, bool backward)
{
	struct walk w = walk_of(t, track);
	uint32_t row, b, lo = w.first, hi = track < t->tracks ? t->block_first[track + 1] : 0,
			 found;

	if (!w.rows || (!backward && t_ns == UINT64_MAX))
		return TY_NONE;
	w.nrs = folded(q);
	/* Rows [0, row) start before t; forward those with start > t are examined. */
	row = ty_table_before(t, track, backward ? t_ns : t_ns + 1);
	if (backward ? !row : row >= w.rows)
		return TY_NONE;
	if (backward)
		row--;
	b = w.first + row / TY_BLOCK_ROWS;
	for (;;) {
		uint32_t begin = (b - w.first) * TY_BLOCK_ROWS, end = begin + t->ref[b].rows;

		if (backward && end > row + 1)
			end = row + 1;
		if (!backward && begin < row)
			begin = row;
		if (promises(&w, q, &t->node[b])) {
			found = seek_rows(&w, q, begin, end, backward);
			if (found != TY_NONE)
				return found;
		}
		if (backward ? b == lo : b + 1 == hi)
			return TY_NONE;
		b = seek_block(&w, q, backward ? b - 1 : b + 1, lo, hi, backward);
		if (b == TY_NONE)
			return TY_NONE;
	}
}

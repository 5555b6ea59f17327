/* SPDX-License-Identifier: MIT */
/* Codes rows as a block of a table, with its groups and the node above it; see table.h. */
#include "table.h"

#define GROUPS (TY_BLOCK_ROWS / TY_GROUP_ROWS)

struct range {
	uint64_t lo, hi; /* the least and the greatest; of signed columns so, too */
};

static struct range range_of(const uint64_t *v, uint32_t n)
{
	struct range r = {v[0], v[0]};

	for (uint32_t i = 1; i < n; i++) {
		r.lo = v[i] < r.lo ? v[i] : r.lo;
		r.hi = v[i] > r.hi ? v[i] : r.hi;
	}
	return r;
}

/* The columns of a block's rows, sign extended, and their ranges. Of a column of one value all
 * through there is the range alone. */
struct columns {
	uint64_t v[TY_COLS_MAX][TY_BLOCK_ROWS];
	struct range r[TY_COLS_MAX];
};

static inline bool one_value(const struct columns *c, unsigned col)
{
	return c->r[col].lo == c->r[col].hi;
}

/* The bits in which some of the n rows differ from the first, byte by byte of a row. unit: 16, or 8
 * where rows are shorter; a constant. */
static inline __attribute__((always_inline)) void differ(const uint8_t *rows, size_t step,
							 uint32_t n, size_t unit, uint8_t *bits)
{
	typedef uint64_t pair __attribute__((vector_size(16)));

	for (size_t at = 0; at < step; at += unit) {
		pair first = {0}, x = {0}, any = {0};
		const uint8_t *p;

		at = at + unit > step ? step - unit : at;
		p = rows + at;
		memcpy(&first, p, unit);
		for (uint32_t i = 1; i < n; i++) {
			p += step;
			memcpy(&x, p, unit);
			any |= x ^ first;
		}
		memcpy(bits + at, &any, unit);
	}
}

/* True if column c, according to differ, is the same in all rows. */
static bool all_same(const struct ty_table_kind *k, unsigned c, const uint8_t *bits)
{
	uint64_t any = 0;

	memcpy(&any, bits + k->col[c].off, k->col[c].bytes);
	return !any;
}

/* Column c of n packed rows into `out`, and its range: of the first alone where all are the same.
 */
static struct range gather(const struct ty_table_kind *k, unsigned c, const uint8_t *row,
			   uint32_t n, uint64_t *out)
{
	const uint8_t *p = row + k->col[c].off;
	size_t step = k->row_bytes;

	if (c == 0) { /* starts never decrease */
		for (uint32_t i = 0; i < n; i++)
			memcpy(&out[i], p + i * step, sizeof(out[i]));
		return (struct range){out[0], out[n - 1]};
	}

	/* Even and odd values have a minimum and maximum each, which halves the dependency
	 * chain. */
#define LOOP(type)                                                                                 \
	{                                                                                          \
		type v_, w_, lo_, hi_, lo2_, hi2_;                                                 \
		uint32_t i = n & 1;                                                                \
                                                                                                   \
		memcpy(&v_, p, sizeof(v_));                                                        \
		lo_ = hi_ = lo2_ = hi2_ = v_;                                                      \
		out[0] = (uint64_t)v_;                                                             \
		for (p += i * step; i < n; i += 2, p += 2 * step) {                                \
			memcpy(&v_, p, sizeof(v_));                                                \
			memcpy(&w_, p + step, sizeof(w_));                                         \
			out[i] = (uint64_t)v_;                                                     \
			out[i + 1] = (uint64_t)w_;                                                 \
			lo_ = v_ < lo_ ? v_ : lo_;                                                 \
			hi_ = v_ > hi_ ? v_ : hi_;                                                 \
			lo2_ = w_ < lo2_ ? w_ : lo2_;                                              \
			hi2_ = w_ > hi2_ ? w_ : hi2_;                                              \
		}                                                                                  \
		lo_ = lo2_ < lo_ ? lo2_ : lo_;                                                     \
		hi_ = hi2_ > hi_ ? hi2_ : hi_;                                                     \
		return (struct range){(uint64_t)lo_, (uint64_t)hi_};                               \
	}
	switch (k->col[c].bytes) {
	case 1: LOOP(uint8_t)
	case 2: LOOP(uint16_t)
	case 4:
		if (k->col[c].is_signed)
			LOOP(int32_t)
		LOOP(uint32_t)
	default:
		if (k->col[c].is_signed)
			LOOP(int64_t)
		LOOP(uint64_t)
	}
#undef LOOP
}

static unsigned width_of(uint64_t range)
{
	return range ? (unsigned)(64 - __builtin_clzll(range) + 7) / 8 : 0;
}

/* Code n values as column c of the block; `at` is where its bytes go. Returns where they end. May
 * write up to 7 bytes further. */
static uint8_t *code(uint8_t *block, unsigned c, const uint64_t *v, uint32_t n, struct range r,
		     uint8_t *at)
{
	struct ty_block_head *h = (void *)block;
	unsigned w = width_of(r.hi - r.lo);

	h->base[c] = r.lo;
	h->width[c] = (uint8_t)w;
	h->off[c] = (uint16_t)((size_t)(at - block) / 2);
	/* Each value overwrites the excess bytes of the previous one. */
#define LOOP(bytes)                                                                                \
	for (uint32_t i = 0; i < n; i++) {                                                         \
		uint64_t x = v[i] - r.lo;                                                          \
                                                                                                   \
		memcpy(at + (size_t)i * (bytes), &x, 8);                                           \
	}
	switch (w) {
	case 0: return at;
	case 1:
		for (uint32_t i = 0; i < n; i++)
			at[i] = (uint8_t)(v[i] - r.lo);
		break;
	case 2: LOOP(2) break;
	case 3: LOOP(3) break;
	case 4: LOOP(4) break;
	default: LOOP(w)
	}
#undef LOOP
	return at + (((size_t)n * w + 1) & ~(size_t)1);
}

/* What the values are beyond even steps from the first to the last, where that is narrower: they go
 * to out and their range to *r. Returns the step; 0: nothing has changed. */
static uint32_t level(const uint64_t *v, uint32_t n, uint64_t *out, struct range *r)
{
	uint64_t step = n > 1 && v[n - 1] > v[0] ? (v[n - 1] - v[0]) / (n - 1) : 0, at = step;
	int64_t lo, hi, x;

	/* Nothing is gained where the whole is narrow, and little where it is very wide. */
	if (!r->lo || !step || (r->hi - r->lo) >> 8 == 0 || (r->hi - r->lo) >> 31)
		return 0;
	out[0] = v[0];
	lo = hi = (int64_t)v[0];
	for (uint32_t i = 1; i < n; i++, at += step) {
		x = (int64_t)(v[i] - at);
		out[i] = (uint64_t)x;
		lo = x < lo ? x : lo;
		hi = x > hi ? x : hi;
	}
	if (width_of((uint64_t)hi - (uint64_t)lo) >= width_of(r->hi - r->lo))
		return 0;
	*r = (struct range){(uint64_t)lo, (uint64_t)hi};
	return (uint32_t)step;
}

/* The forest's aggregates of the rows: per group, and of all in *node. */
struct groups {
	uint64_t ns[TY_ST_COUNT][GROUPS], longest[GROUPS], flags[GROUPS];
};

/* The rows' lengths: they may lie in `out` or be a column. */
static const uint64_t *lengths(const struct ty_table_kind *k, const struct columns *c, uint32_t n,
			       uint64_t end, uint64_t *out)
{
	if (k->length == TY_LEN_COLUMN && !one_value(c, 1))
		return c->v[1];
	if (k->length == TY_LEN_COLUMN) {
		for (uint32_t i = 0; i < n; i++)
			out[i] = c->r[1].lo;
		return out;
	}
	if (one_value(c, 0)) {
		memset(out, 0, n * sizeof(*out));
	} else {
		for (uint32_t i = 1; i < n; i++)
			out[i - 1] = c->v[0][i] - c->v[0][i - 1];
	}
	out[n - 1] = end - (one_value(c, 0) ? c->r[0].lo : c->v[0][n - 1]);
	return out;
}

static inline unsigned state_slot(uint64_t state)
{
	return state < TY_ST_COUNT ? (unsigned)state : TY_ST_UNKNOWN;
}

/*
 * Times and longest rows. state: of each row, NULL: `one` of all; by_nr: slots are those of the
 * numbers in nr (NULL: one_nr of all), else those of the states. Called with constants, so that
 * each case is a loop of its own.
 */
static inline __attribute__((always_inline)) void times(const uint64_t *len, uint32_t n,
							const uint64_t *state, uint64_t one,
							bool by_nr, const uint64_t *nr,
							uint64_t one_nr, struct groups *g,
							struct ty_node *node)
{
	unsigned same = state_slot(one);
	uint64_t best_all = 0;
	uint32_t i = 0;

	for (uint32_t gi = 0; i < n; gi++) {
		uint32_t first = i, to = n - i < TY_GROUP_ROWS ? n : i + TY_GROUP_ROWS, longest = i;
		uint64_t best = len[i], sum = 0;

		for (; i < to; i++) {
			unsigned s = state ? state_slot(state[i]) : same;
			unsigned slot = by_nr ? (nr ? nr[i] : one_nr) % TY_ST_COUNT : s;

			if (state) {
				g->ns[s][gi] += len[i];
				node->states |= (uint8_t)(1u << s);
			}
			sum += len[i];
			if (len[i] > node->max[slot])
				node->max[slot] = len[i];
			if (len[i] > best) {
				best = len[i];
				longest = i;
			}
		}
		if (!state)
			g->ns[same][gi] = sum;
		g->longest[gi] = longest - first;
		if (!gi || best > best_all) {
			best_all = best;
			node->longest_row = (uint16_t)longest;
		}
		for (unsigned s = 0; s < TY_ST_COUNT; s++)
			node->ns[s] += g->ns[s][gi];
	}
	if (!state)
		node->states = (uint8_t)(1u << same);
}

static void note_flags(const struct columns *c, unsigned col, uint32_t n, struct groups *g,
		       struct ty_node *node)
{
	for (uint32_t i = 0; i < n; i += TY_GROUP_ROWS) {
		uint32_t to = n - i < TY_GROUP_ROWS ? n : i + TY_GROUP_ROWS;
		uint64_t flags = c->r[col].lo;

		if (!one_value(c, col))
			for (uint32_t k = i; k < to; k++)
				flags |= c->v[col][k];
		g->flags[i / TY_GROUP_ROWS] = (uint8_t)flags;
		node->flags |= (uint8_t)flags;
	}
}

/* Which numbers occur. */
static void note_nrs(const struct columns *c, unsigned col, uint32_t n, uint64_t *nrs,
		     struct ty_node *node)
{
	for (uint32_t i = 0; i < (one_value(c, col) ? 1 : n); i++) {
		uint64_t nr = one_value(c, col) ? c->r[col].lo : c->v[col][i];
		uint64_t bit = UINT64_C(1) << nr % 64;

		nrs[nr % TY_SEEK_NRS / 64] |= bit;
		node->nrs |= bit;
	}
}

/* Did one of the calls return an error? */
static bool any_error(const struct ty_table_kind *k, const struct columns *c, uint32_t n)
{
	const uint64_t lowest = (uint64_t)-4095;

	if (c->r[k->ret].hi < lowest && (int64_t)c->r[k->ret].lo >= 0)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ret = one_value(c, k->ret) ? c->r[k->ret].lo : c->v[k->ret][i];
		uint64_t flags = one_value(c, k->flags) ? c->r[k->flags].lo : c->v[k->flags][i];

		if (ret >= lowest && !(flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED)))
			return true;
	}
	return false;
}

static void aggregate(const struct ty_table_kind *k, const struct columns *c, uint32_t n,
		      uint64_t end, uint64_t *nrs, struct groups *g, struct ty_node *node)
{
	uint64_t room[TY_BLOCK_ROWS], one = TY_ST_RUNNING;
	const uint64_t *len = lengths(k, c, n, end, room), *state = NULL;

	memset(g, 0, sizeof(*g));
	if (k->state) {
		one = c->r[k->state].lo;
		state = one_value(c, k->state) ? NULL : c->v[k->state];
	}
	if (!k->nr && state)
		times(len, n, state, 0, false, NULL, 0, g, node);
	else if (!k->nr)
		times(len, n, NULL, one, false, NULL, 0, g, node);
	else if (one_value(c, k->nr))
		times(len, n, state, one, true, NULL, c->r[k->nr].lo, g, node);
	else
		times(len, n, state, one, true, c->v[k->nr], 0, g, node);
	if (k->flags)
		note_flags(c, k->flags, n, g, node);
	if (k->nr) {
		note_nrs(c, k->nr, n, nrs, node);
		node->errors = any_error(k, c, n);
	}
}

/* The newest block is the track's next. */
int ty_table_chain(struct ty_table_fill *f, uint32_t track)
{
	uint32_t block = (uint32_t)f->ref.n - 1;
	struct ty_track_chain *t;

	if (track >= f->chain.n) {
		if (vec_reserve(&f->chain, track + 1))
			return -TY_ENOMEM;
		memset(f->chain.v + f->chain.n, 0, (track + 1 - f->chain.n) * sizeof(*f->chain.v));
		f->chain.n = track + 1;
	}
	t = &f->chain.v[track];
	if (t->blocks++)
		f->next.v[t->last] = block;
	else
		t->first = block;
	t->last = block;
	ty_store_beside(f->store, ty_table_fill_block_bytes(f), 0);
	return 0;
}

int ty_table_code(struct ty_table_fill *f, uint32_t track, const uint8_t *rows, uint32_t n,
		  uint64_t end)
{
	const struct ty_table_kind *k = f->kind;
	struct columns col;
	unsigned cols = k->cols + (k->forest ? TY_GROUP_COLS : 0);
	size_t head = sizeof(struct ty_block_head) + cols * sizeof(uint64_t);
	struct groups g;
	struct ty_node node = {0};
	struct ty_block_ref ref = {.rows = n};
	uint8_t differs[UINT8_MAX];
	uint64_t even[TY_BLOCK_ROWS];
	struct ty_block_head *h;
	uint8_t *block, *at;

	ref.off = ty_store_alloc(f->store, head + (size_t)n * k->cols * 8 + sizeof(g) + 64);
	if (!ref.off)
		return -TY_ENOMEM;
	block = ty_store_at(f->store, ref.off);
	h = (void *)block;
	memset(block, 0, head);
	at = block + head;
	if (k->row_bytes < 16)
		differ(rows, k->row_bytes, n, 8, differs);
	else
		differ(rows, k->row_bytes, n, 16, differs);
	for (unsigned c = 0; c < k->cols; c++) {
		struct range r = gather(k, c, rows, all_same(k, c, differs) ? 1 : n, col.v[c]);
		const uint64_t *v = col.v[c];

		col.r[c] = r;
		if ((!c || c == k->loc) && r.lo != r.hi) {
			h->step[c] = level(v, n, even, &r);
			v = h->step[c] ? even : v;
		}
		at = code(block, c, v, n, r, at);
	}
	if (k->forest) {
		uint32_t gn = (n + TY_GROUP_ROWS - 1) / TY_GROUP_ROWS;

		aggregate(k, &col, n, end, f->nrs, &g, &node);
		for (unsigned s = 0; s < TY_ST_COUNT; s++)
			at = code(block, k->cols + s, g.ns[s], gn, range_of(g.ns[s], gn), at);
		at = code(block, k->cols + TY_ST_COUNT, g.longest, gn, range_of(g.longest, gn), at);
		at = code(block, k->cols + TY_ST_COUNT + 1, g.flags, gn, range_of(g.flags, gn), at);
	}
	memset(at, 0, 8); /* padding read behind the last value, checked with the rest */
	ref.bytes = (uint32_t)(at + 8 - block);
	ref.first_ns = col.r[0].lo;
	ref.hash = ty_store_hash(block, ref.bytes);
	f->store->used = ref.off + ref.bytes;
	if (f->ref.n >= UINT32_MAX - 1 || vec_push(&f->ref, ref) ||
	    vec_push(&f->next, UINT32_MAX) || (k->forest && vec_push(&f->node, node)))
		return -TY_ENOMEM;
	return ty_table_chain(f, track);
}

/* SPDX-License-Identifier: MIT */
/*
 * See code_priv.h. Mappings are laid over each other in the order of time. What is visible at that
 * moment is kept by its first stretch; a new mapping ends what it covers and begins anew what it
 * leaves of it, so that n mappings make at most 3 n + 1 pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "code_priv.h"

#include "partition.h"

/* Numbers out of 0..n-1, to find the last one not above another: a tree of words, 64 wide. */
struct marks {
	uint64_t *level[6]; /* 64^6 stretches are more than there can be */
	unsigned levels;
};

struct laying {
	struct ty_code_index *x;
	struct marks starts;
	uint32_t *piece; /* that begins with a stretch, where that is marked */
	bool nomem;
};

static bool marks_init(struct marks *m, uint32_t n)
{
	do {
		n = n / 64 + 1;
		m->level[m->levels] = calloc(n, sizeof(uint64_t));
		if (!m->level[m->levels++])
			return false;
	} while (n > 1);
	return true;
}

static void mark(struct marks *m, uint32_t i)
{
	for (unsigned l = 0; l < m->levels; l++, i /= 64)
		m->level[l][i / 64] |= 1ull << i % 64;
}

static void unmark(struct marks *m, uint32_t i)
{
	for (unsigned l = 0; l < m->levels; l++, i /= 64) {
		m->level[l][i / 64] &= ~(1ull << i % 64);
		if (m->level[l][i / 64])
			return;
	}
}

/* The last marked one at or before i; 0 is always marked. */
static uint32_t last_mark(const struct marks *m, uint32_t i)
{
	unsigned l = 0;
	uint64_t w;

	while (!(w = m->level[l][i / 64] & (~0ull >> (63 - i % 64)))) {
		i = i / 64 - 1;
		l++;
	}
	i = i / 64 * 64 + (63 - (uint32_t)__builtin_clzll(w));
	while (l--)
		i = i * 64 + (63 - (uint32_t)__builtin_clzll(m->level[l][i]));
	return i;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int by_time(const void *a, const void *b)
{
	const struct ty_code_mapping *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The stretch that holds addr. */
static uint32_t stretch(const struct ty_code_index *x, uint64_t addr)
{
	return partition_point(i, 1, x->n, x->edge[i] <= addr) - 1;
}

static uint64_t edge_of(const struct ty_code_index *x, uint32_t i)
{
	return i < x->n ? x->edge[i] : UINT64_MAX;
}

static bool edges(struct ty_code_life *l)
{
	struct ty_code_index *x = &l->index;
	uint32_t n = 0;

	x->edge = malloc((2 * l->maps.n + 1) * sizeof(*x->edge));
	if (!x->edge)
		return false;
	x->edge[n++] = 0;
	vec_each (m, &l->maps) {
		x->edge[n++] = m->lo;
		if (m->hi != UINT64_MAX)
			x->edge[n++] = m->hi;
	}
	qsort(x->edge, n, sizeof(*x->edge), by_value);
	x->n = 1;
	for (uint32_t i = 1; i < n; i++)
		if (x->edge[i] != x->edge[x->n - 1])
			x->edge[x->n++] = x->edge[i];
	return true;
}

static void put(struct laying *y, uint32_t a, uint32_t b, uint64_t t_ns, uint32_t map)
{
	struct ty_code_index *x = y->x;

	y->piece[a] = (uint32_t)x->pieces.n;
	mark(&y->starts, a);
	y->nomem |= vec_push(&x->pieces, (struct ty_code_piece){.lo = edge_of(x, a),
								.hi = edge_of(x, b),
								.from_ns = t_ns,
								.until_ns = UINT64_MAX,
								.map = map}) != 0;
}

static void lay(struct laying *y, const struct ty_code_mapping *m, uint32_t number)
{
	struct ty_code_index *x = y->x;
	uint32_t a = stretch(x, m->lo), b = m->hi == UINT64_MAX ? x->n : stretch(x, m->hi);
	uint32_t s = last_mark(&y->starts, a);

	while (s < b && !y->nomem) {
		struct ty_code_piece *p = &x->pieces.v[y->piece[s]];
		uint32_t e = p->hi == UINT64_MAX ? x->n : stretch(x, p->hi), map = p->map;

		p->until_ns = m->t_ns;
		if (s < a)
			put(y, s, a, m->t_ns, map);
		else
			unmark(&y->starts, s);
		if (e > b && !y->nomem)
			put(y, b, e, m->t_ns, map);
		s = e;
	}
	if (!y->nomem)
		put(y, a, b, m->t_ns, number);
}

/* At a node: list the piece there, or (no list yet) count it. */
static void at_node(struct ty_code_index *x, uint64_t node, uint32_t number)
{
	if (x->entry)
		x->entry[x->first[node]++] = number;
	else
		x->first[node + 1]++;
}

/* The nodes that make up a piece's addresses, from the bottom up. */
static void at_nodes(struct ty_code_index *x, uint32_t number)
{
	const struct ty_code_piece *p = &x->pieces.v[number];
	uint64_t a = (uint64_t)stretch(x, p->lo) + x->n;
	uint64_t b = (p->hi == UINT64_MAX ? x->n : (uint64_t)stretch(x, p->hi)) + x->n;

	if (p->from_ns >= p->until_ns)
		return; /* covered at once */
	for (; a < b; a /= 2, b /= 2) {
		if (a & 1)
			at_node(x, a++, number);
		if (b & 1)
			at_node(x, --b, number);
	}
}

/* Lists of pieces at the nodes, one behind the other. */
static bool lists(struct ty_code_index *x)
{
	uint64_t all = 0, nodes_n = 2 * (uint64_t)x->n;

	x->first = calloc(nodes_n + 1, sizeof(*x->first));
	if (!x->first)
		return false;
	for (uint32_t i = 0; i < x->pieces.n; i++)
		at_nodes(x, i);
	for (uint64_t i = 0; i <= nodes_n; i++) {
		all += x->first[i];
		if (all > UINT32_MAX)
			return false;
		x->first[i] = (uint32_t)all;
	}
	x->entry = malloc((all + 1) * sizeof(*x->entry));
	if (!x->entry)
		return false;
	for (uint32_t i = 0; i < x->pieces.n; i++)
		at_nodes(x, i);
	/* Each begin has become its end, which is the next one's begin. */
	memmove(x->first + 1, x->first, nodes_n * sizeof(*x->first));
	x->first[0] = 0;
	return true;
}

int ty_code_index_make(struct ty_code_life *l)
{
	struct ty_code_index *x = &l->index;
	struct laying y = {.x = x};
	bool good;

	if (!l->maps.n)
		return 0;
	qsort(l->maps.v, l->maps.n, sizeof(*l->maps.v), by_time);
	if (!edges(l))
		return -TY_ENOMEM;
	y.piece = malloc(x->n * sizeof(*y.piece));
	good = y.piece && marks_init(&y.starts, x->n);
	if (good)
		put(&y, 0, x->n, 0, TY_CODE_HOLE);
	for (uint32_t i = 0; good && !y.nomem && i < l->maps.n; i++)
		lay(&y, &l->maps.v[i], i);
	for (unsigned i = 0; i < y.starts.levels; i++)
		free(y.starts.level[i]);
	free(y.piece);
	return good && !y.nomem && lists(x) ? 0 : -TY_ENOMEM;
}

void ty_code_index_fini(struct ty_code_index *x)
{
	free(x->edge);
	free(x->first);
	free(x->entry);
	vec_fini(&x->pieces);
}

struct ty_code_piece ty_code_index_at(const struct ty_code_index *x, uint64_t t_ns, uint64_t addr)
{
	for (uint64_t node = x->n ? (uint64_t)stretch(x, addr) + x->n : 0; node; node /= 2) {
		uint32_t begin = x->first[node];
		uint32_t lo = partition_point(i, begin, x->first[node + 1],
					      x->pieces.v[x->entry[i]].from_ns <= t_ns);

		if (lo > begin && t_ns < x->pieces.v[x->entry[lo - 1]].until_ns)
			return x->pieces.v[x->entry[lo - 1]];
	}
	return (struct ty_code_piece){
		.hi = UINT64_MAX, .until_ns = UINT64_MAX, .map = TY_CODE_HOLE};
}

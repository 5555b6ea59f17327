/* SPDX-License-Identifier: MIT */
/*
 * See code_priv.h. Mappings are applied in time order. The visible mappings are kept by their first
 * stretch; a new mapping ends the ones it covers and restarts the parts of them that remain, so n
 * mappings make at most 3 n + 1 pieces.
 */
#include <stdlib.h>

#include "code_priv.h"

#include "compare.h"
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

ORDER(by_value, uint64_t, compare(*a, *b))

ORDER(by_time, struct ty_code_mapping, compare(a->t_ns, b->t_ns) ?: compare(a->order, b->order))

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

/* The stretches that make up a piece's addresses. */
static void list(struct ty_code_index *x, uint32_t number)
{
	const struct ty_code_piece *p = &x->pieces.v[number];

	if (p->from_ns < p->until_ns) /* not covered at once */
		ty_interval_tree_add(&x->lists, stretch(x, p->lo),
				     p->hi == UINT64_MAX ? x->n : stretch(x, p->hi), number);
}

static int lists(struct ty_code_index *x)
{
	int r = ty_interval_tree_begin(&x->lists, x->n);

	for (uint32_t i = 0; !r && i < x->pieces.n; i++)
		list(x, i);
	r = r ? r : ty_interval_tree_turn(&x->lists);
	for (uint32_t i = 0; !r && i < x->pieces.n; i++)
		list(x, i);
	if (!r)
		ty_interval_tree_end(&x->lists);
	return r;
}

/* Sorts a life's mappings and builds their index. 0 or -TY_ENOMEM. */
static int make_index(struct ty_code_life *l)
{
	struct ty_code_index *x = &l->index;
	struct laying y = {.x = x};
	bool good;

	if (!l->maps.n)
		return 0;
	vec_sort(&l->maps, by_time);
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
	return good && !y.nomem ? lists(x) : -TY_ENOMEM;
}

const struct ty_code_index *ty_code_index_of(struct ty_code *c, struct ty_code_life *l)
{
	if (__atomic_load_n(&l->made, __ATOMIC_ACQUIRE))
		return &l->index;
	pthread_mutex_lock(&c->index_lock);
	if (!l->made && make_index(l)) {
		ty_code_index_fini(&l->index);
		l->index = (struct ty_code_index){0};
	}
	__atomic_store_n(&l->made, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&c->index_lock);
	return &l->index;
}

void ty_code_index_fini(struct ty_code_index *x)
{
	free(x->edge);
	ty_interval_tree_fini(&x->lists);
	vec_fini(&x->pieces);
}

struct ty_code_piece ty_code_index_at(const struct ty_code_index *x, uint64_t t_ns, uint64_t addr)
{
	const struct ty_interval_tree *l = &x->lists;
	uint64_t node = x->n ? ty_interval_tree_node(l, stretch(x, addr)) : 0;

	for (; node; node /= 2) {
		uint32_t begin = l->first[node];
		uint32_t lo = partition_point(i, begin, l->first[node + 1],
					      x->pieces.v[l->entry[i]].from_ns <= t_ns);

		if (lo > begin && t_ns < x->pieces.v[l->entry[lo - 1]].until_ns)
			return x->pieces.v[l->entry[lo - 1]];
	}
	return (struct ty_code_piece){
		.hi = UINT64_MAX, .until_ns = UINT64_MAX, .map = TY_CODE_HOLE};
}

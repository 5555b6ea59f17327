/* SPDX-License-Identifier: MIT */
/* The zoom forest against brute force: random columns and windows, cell edges, empty spans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "forest.h"

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Rows as threads' spans, and as system calls. */
struct call {
	uint64_t start, length;
	int64_t ret;
	int32_t nr;
	uint8_t flags;
} __attribute__((packed));
struct span {
	uint64_t start;
	uint8_t state, flags;
} __attribute__((packed));

static const struct ty_table_kind span_kind = {.cols = 3,
					       .row_bytes = sizeof(struct span),
					       .col = {{0, 8, false}, {8, 1, false}, {9, 1, false}},
					       .length = TY_LEN_NEXT,
					       .forest = true,
					       .state = 1,
					       .flags = 2},
				  call_kind = {.cols = 5,
					       .row_bytes = sizeof(struct call),
					       .col = {{0, 8, false},
						       {8, 8, false},
						       {16, 8, true},
						       {24, 4, true},
						       {28, 1, false}},
					       .length = TY_LEN_COLUMN,
					       .forest = true,
					       .flags = 4,
					       .nr = 3,
					       .ret = 2};

/* The truth, and the same as track 1 of a table between two others. */
struct column {
	uint64_t *start, *end, last_end;
	uint8_t *state, *flags;
	int32_t *nr;
	int64_t *ret;
	uint32_t n;
	bool contiguous;
	struct ty_store *store;
	struct ty_table t;
};

static void store(struct column *c)
{
	struct ty_table_fill f;
	uint64_t end[3] = {5000, c->last_end, 700}, off, bytes;

	c->store = ty_store_new(UINT64_MAX);
	assert_non_null(c->store);
	ty_table_fill_init(&f, c->contiguous ? &span_kind : &call_kind, c->store);
	for (uint32_t i = 0; i < c->n; i++) {
		struct call call = {c->start[i], c->end[i] - c->start[i], c->ret[i], c->nr[i],
				    c->flags[i]};
		struct span span = {c->start[i], c->state[i], c->flags[i]};
		const void *row = c->contiguous ? (void *)&span : (void *)&call;

		assert_int_equal(ty_table_push(&f, 1, row), 0);
		/* Neighbours whose blocks share nodes with ours. */
		if (i < 700)
			assert_int_equal(ty_table_push(&f, i % 2 ? 0 : 2, row), 0);
	}
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ty_table_seal(&f, i, end[i]), 0);
	assert_int_equal(ty_table_finish(&f, 3, end, &off, &bytes), 0);
	ty_table_fill_fini(&f);
	assert_int_equal(ty_table_attach(&c->t, c->contiguous ? &span_kind : &call_kind, c->store,
					 off, bytes, false, NULL),
			 0);
	assert_int_equal(ty_table_rows(&c->t, 1), c->n);
}

/* contiguous: as thread spans; else with holes and empty spans, as system calls. */
static struct column make(uint32_t n, bool contiguous)
{
	struct column c = {.start = malloc((n + 1) * 8),
			   .end = malloc((n + 1) * 8),
			   .state = malloc(n + 1),
			   .flags = malloc(n + 1),
			   .nr = malloc((n + 1) * 4),
			   .ret = malloc((n + 1) * 8),
			   .n = n,
			   .contiguous = contiguous};
	uint64_t t = 1000;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t len = rnd() % 50 == 0 ? rnd() % 100000 : rnd() % 100;

		if (!contiguous)
			t += rnd() % 3 ? rnd() % 40 : 0;
		else if (!len)
			len = 1;
		c.start[i] = t;
		t += len;
		c.end[i] = t;
		c.state[i] = contiguous ? (uint8_t)(rnd() % TY_ST_COUNT) : TY_ST_RUNNING;
		c.flags[i] = (uint8_t)(1u << rnd() % 8);
		c.nr[i] = rnd() % 40 ? (int32_t)(rnd() % 5) : (int32_t)(rnd() % 500);
		c.ret[i] = rnd() % 30 ? (int64_t)(rnd() >> rnd() % 64) : -(int64_t)(rnd() % 5000);
	}
	c.last_end = t;
	return c;
}

static void drop(struct column *c)
{
	free(c->start);
	free(c->end);
	free(c->state);
	free(c->flags);
	free(c->nr);
	free(c->ret);
	ty_table_detach(&c->t);
	ty_store_free(c->store);
}

static struct ty_cell brute(const struct column *c, uint64_t from, uint64_t to)
{
	struct ty_cell o = {.longest = TY_NONE, .longest_whole = TY_NONE};
	uint64_t best = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t s = c->start[i], e = c->end[i];
		bool touches = s < to && (e > from || s >= from);
		uint64_t a = s < from ? from : s, b = e > to ? to : e, in = b > a ? b - a : 0;

		if (!touches)
			continue;
		o.spans++;
		o.ns[c->state[i]] += in;
		o.flags |= c->flags[i];
		if (o.longest == TY_NONE || in > best) {
			best = in;
			o.longest = i;
		}
		if (o.longest_whole == TY_NONE || e - s > o.longest_ns) {
			o.longest_ns = e - s;
			o.longest_whole = i;
		}
	}
	return o;
}

static void same(const struct ty_cell *got, const struct ty_cell *want)
{
	assert_int_equal(got->spans, want->spans);
	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		assert_int_equal(got->ns[s], want->ns[s]);
	assert_int_equal(got->longest, want->longest);
	assert_int_equal(got->longest_whole, want->longest_whole);
	assert_int_equal(got->longest_ns, want->longest_ns);
	assert_int_equal(got->flags, want->flags);
}

/* Cells over [from, to), each as if asked for alone. */
static void compare(const struct column *c, uint64_t from, uint64_t to, uint32_t n)
{
	struct ty_cell *got = malloc(n * sizeof(*got));

	ty_forest_cells(&c->t, 1, from, to, n, got);
	for (uint32_t i = 0; i < n; i++) {
		unsigned __int128 w = to - from;
		uint64_t a = from + (uint64_t)(w * i / n), b = from + (uint64_t)(w * (i + 1) / n);
		struct ty_cell want = brute(c, a, b);

		if (a == b)
			want = (struct ty_cell){.longest = TY_NONE, .longest_whole = TY_NONE};
		same(&got[i], &want);
	}
	free(got);
}

static bool accepted(const struct column *c, const struct ty_seek *q, uint32_t i)
{
	uint8_t bad = TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED;

	if (q->states && !(q->states >> c->state[i] & 1))
		return false;
	if (q->flags_any && !(q->flags_any & c->flags[i]))
		return false;
	if (!c->contiguous && q->nr >= 0 && c->nr[i] != q->nr)
		return false;
	if (!c->contiguous && q->nrs && !(q->nrs[c->nr[i] / 64] >> c->nr[i] % 64 & 1))
		return false;
	if (!c->contiguous && q->errors &&
	    (c->ret[i] >= 0 || c->ret[i] < -4095 || c->flags[i] & bad))
		return false;
	return c->end[i] - c->start[i] >= q->min_ns;
}

static void seek(const struct column *c, uint64_t t, bool backward)
{
	struct ty_seek q = {.states = rnd() % 2 ? (uint32_t)rnd() & 0xff : 0,
			    .min_ns = rnd() % 3	  ? 0
				      : rnd() % 3 ? rnd() % 100000
						  : rnd() % 90,
			    .nr = rnd() % 2 ? -1 : (int32_t)(rnd() % 500),
			    .flags_any = rnd() % 3 ? 0 : (uint8_t)rnd(),
			    .errors = rnd() % 4 == 0};
	uint64_t nrs[TY_SEEK_NRS / 64] = {0};
	uint32_t want = TY_NONE;

	if (q.nr < 0 && rnd() % 2) {
		for (unsigned k = rnd() % 6; k; k--) {
			unsigned nr = rnd() % 3 ? rnd() % 500 : rnd() % 6;

			nrs[nr / 64] |= UINT64_C(1) << nr % 64;
		}
		if (rnd() % 8 == 0) /* all but one */
			for (unsigned k = 0; k < TY_SEEK_NRS / 64; k++)
				nrs[k] = ~nrs[k];
		q.nrs = nrs;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		if (backward ? c->start[i] >= t : c->start[i] <= t)
			continue;
		if (accepted(c, &q, i)) {
			want = i;
			if (!backward)
				break;
		}
	}
	assert_int_equal(ty_forest_seek(&c->t, 1, &q, t, backward), want);
}

static void random_columns(void **state)
{
	static const uint32_t sizes[] = {1,   2,   31,	33,   63,   64,	  65,	 511,
					 512, 513, 544, 1024, 3000, 8192, 16385, 40000};

	for (unsigned k = 0; k < sizeof(sizes) / sizeof(*sizes); k++)
		for (unsigned contiguous = 0; contiguous < 2; contiguous++) {
			struct column c = make(sizes[k], contiguous);
			uint64_t end = c.last_end + 100;
			unsigned rounds = sizes[k] > 2000 ? 60 : 300;

			store(&c);
			for (uint32_t i = 0; i < c.n; i += 1 + c.n / 1000) {
				assert_int_equal(ty_table_value(&c.t, 1, i, 0), c.start[i]);
				assert_int_equal(ty_table_row_end(&c.t, 1, i), c.end[i]);
				if (!contiguous) {
					assert_int_equal(ty_table_value(&c.t, 1, i, 2), c.ret[i]);
					assert_int_equal((int32_t)ty_table_value(&c.t, 1, i, 3),
							 c.nr[i]);
				}
			}
			for (unsigned q = 0; q < rounds; q++) {
				uint64_t a = rnd() % end, b = a + 1 + rnd() % (q % 3 ? 500 : end);

				/* Edges of spans are the places where mistakes live. */
				if (q % 4 == 0)
					a = c.start[rnd() % sizes[k]];
				if (q % 5 == 0)
					b = c.end[rnd() % sizes[k]];
				if (a >= b)
					b = a + 1;
				compare(&c, a, b, q % 7 ? 1 : 17);
				seek(&c, a, q % 2);
			}
			compare(&c, 0, UINT64_MAX, 1);
			compare(&c, 900, c.last_end + 100, 40);
			drop(&c);
		}
}

/* Windows of nothing, of one instant, beside everything, of more cells than nanoseconds; and rows
 * of no length, all at one time; and times far from 0. */
static void degenerate_windows(void **state)
{
	static const uint32_t cells[] = {1, 2, 3, 64, 1000};

	for (unsigned round = 0; round < 60; round++) {
		struct column c = make(1 + (uint32_t)(rnd() % 1500), round % 2);
		uint64_t far = round % 5 ? 0 : UINT64_C(1) << (40 + rnd() % 23), late = UINT64_MAX;
		uint64_t t;

		for (uint32_t i = 0; i < c.n; i++) {
			c.start[i] += far;
			c.end[i] += far;
		}
		c.last_end += far;
		t = c.start[rnd() % c.n];
		if (round % 6 == 0) {
			for (uint32_t i = 0; i < c.n; i++)
				c.start[i] = c.end[i] = t;
			c.last_end = t;
		}
		store(&c);
		for (unsigned k = 0; k < sizeof(cells) / sizeof(*cells); k++) {
			uint32_t n = cells[k];

			for (uint64_t w = 0; w < 4; w++) {
				compare(&c, t, t + w, n);
				compare(&c, t - 1, t - 1 + w, n);
				compare(&c, c.last_end, c.last_end + w, n);
				compare(&c, c.last_end - 1, c.last_end - 1 + w, n);
				compare(&c, c.start[0] - w, c.start[0], n);
				compare(&c, w, w, n);
				compare(&c, late - w, late, n);
				compare(&c, w, late - w, n);
			}
			compare(&c, t, t + n - 1, n);
		}
		for (unsigned k = 0; k < 40; k++) {
			static const uint64_t ends[] = {0, 1, UINT64_MAX - 1, UINT64_MAX};

			seek(&c, k < 4 ? ends[k] : k < 30 ? t : c.last_end, k % 2);
		}
		drop(&c);
	}
}

static void empty(void **state)
{
	struct column c = make(0, true);
	struct ty_seek q = {.nr = -1};
	struct ty_cell out;

	store(&c);
	ty_forest_cells(&c.t, 1, 0, 100, 1, &out);
	assert_int_equal(out.longest, TY_NONE);
	assert_int_equal(out.spans, 0);
	assert_int_equal(ty_forest_seek(&c.t, 1, &q, 0, false), TY_NONE);
	assert_int_equal(ty_forest_seek(&c.t, 1, &q, UINT64_MAX, true), TY_NONE);
	/* No such track. */
	ty_forest_cells(&c.t, 7, 0, 100, 1, &out);
	assert_int_equal(out.longest, TY_NONE);
	assert_int_equal(ty_forest_seek(&c.t, 7, &q, 0, false), TY_NONE);
	drop(&c);
}

/* A long span among a million short ones is seen from any height, and found from any place. */
static void stall_never_disappears(void **state)
{
	uint32_t n = 1000000, stall = 654321;
	struct column c = make(n, true);
	struct ty_seek q = {.min_ns = 1000000000u, .nr = -1};
	struct ty_cell out;

	for (uint32_t i = stall + 1; i < n; i++)
		c.start[i] += 2000000000u;
	for (uint32_t i = stall; i < n; i++)
		c.end[i] += 2000000000u;
	c.last_end += 2000000000u;
	store(&c);
	ty_forest_cells(&c.t, 1, 0, UINT64_MAX, 1, &out);
	assert_int_equal(out.longest_whole, stall);
	assert_true(out.longest_ns >= 2000000000u);
	assert_int_equal(ty_forest_seek(&c.t, 1, &q, 0, false), stall);
	assert_int_equal(ty_forest_seek(&c.t, 1, &q, UINT64_MAX, true), stall);
	assert_int_equal(ty_forest_seek(&c.t, 1, &q, c.start[stall], false), TY_NONE);
	/* A start of 3 bytes, state and flags of one each; the forest within a byte. */
	assert_true(c.store->used < (uint64_t)n * 7);
	drop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_columns),
		cmocka_unit_test(degenerate_windows),
		cmocka_unit_test(empty),
		cmocka_unit_test(stall_never_disappears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

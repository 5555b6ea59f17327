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

struct column {
	uint64_t *start, *end;
	uint8_t *state, *flags;
	struct ty_forest_column col;
};

/* contiguous: as thread spans; else with holes and empty spans, as system calls. */
static struct column make(uint32_t n, bool contiguous)
{
	struct column c = {
		malloc((n + 1) * 8), malloc((n + 1) * 8), malloc(n + 1), malloc(n + 1), {0}};
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
		c.state[i] = (uint8_t)(rnd() % TY_ST_COUNT);
		c.flags[i] = (uint8_t)(1u << rnd() % 8);
	}
	c.col = (struct ty_forest_column){c.start, contiguous ? NULL : c.end, t, c.state, c.flags,
					  n};
	if (!contiguous && rnd() % 2)
		c.col.state = NULL;
	return c;
}

static void drop(struct column *c)
{
	free(c->start);
	free(c->end);
	free(c->state);
	free(c->flags);
}

static struct ty_cell brute(const struct column *c, uint64_t from, uint64_t to)
{
	struct ty_cell o = {.longest = TY_NONE, .longest_whole = TY_NONE};
	uint64_t best = 0;

	for (uint32_t i = 0; i < c->col.n; i++) {
		uint64_t s = c->start[i], e = c->end[i];
		bool touches = s < to && (e > from || s >= from);
		uint64_t a = s < from ? from : s, b = e > to ? to : e, in = b > a ? b - a : 0;

		if (!touches)
			continue;
		o.spans++;
		o.ns[c->col.state ? c->state[i] : TY_ST_RUNNING] += in;
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

static void compare(const struct column *c, const struct ty_forest *f, uint64_t from, uint64_t to)
{
	struct ty_cell want = brute(c, from, to), got, scan;

	ty_forest_query(f, from, to, &got);
	ty_forest_scan(&c->col, from, to, &scan);
	assert_int_equal(got.spans, want.spans);
	for (unsigned s = 0; s < TY_ST_COUNT; s++) {
		assert_int_equal(got.ns[s], want.ns[s]);
		assert_int_equal(scan.ns[s], want.ns[s]);
	}
	assert_int_equal(got.longest, want.longest);
	assert_int_equal(got.longest_whole, want.longest_whole);
	assert_int_equal(got.longest_ns, want.longest_ns);
	assert_int_equal(got.flags, want.flags);
	assert_int_equal(scan.longest, want.longest);
	assert_int_equal(scan.longest_whole, want.longest_whole);
	assert_int_equal(scan.flags, want.flags);
}

static void random_columns(void **state)
{
	static const uint32_t sizes[] = {1,  2,	   31,	 32,   33,   63,   64,
					 65, 1023, 1024, 1025, 3000, 40000};

	for (unsigned k = 0; k < sizeof(sizes) / sizeof(*sizes); k++)
		for (unsigned contiguous = 0; contiguous < 2; contiguous++) {
			struct column c = make(sizes[k], contiguous);
			struct ty_forest *f = ty_forest_new(&c.col);
			uint64_t end = c.col.last_end_ns + 100;
			unsigned rounds = sizes[k] > 2000 ? 60 : 300;

			assert_non_null(f);
			for (unsigned q = 0; q < rounds; q++) {
				uint64_t a = rnd() % end, b = a + 1 + rnd() % (q % 3 ? 500 : end);

				/* Edges of spans are the places where mistakes live. */
				if (q % 4 == 0)
					a = c.start[rnd() % sizes[k]];
				if (q % 5 == 0)
					b = c.end[rnd() % sizes[k]];
				if (a >= b)
					b = a + 1;
				compare(&c, f, a, b);
			}
			compare(&c, f, 0, UINT64_MAX);
			ty_forest_free(f);
			drop(&c);
		}
}

static void empty(void **state)
{
	struct ty_forest_column col = {0};
	struct ty_forest *f = ty_forest_new(&col);
	struct ty_cell out;

	assert_non_null(f);
	ty_forest_query(f, 0, 100, &out);
	assert_int_equal(out.longest, TY_NONE);
	assert_int_equal(out.spans, 0);
	ty_forest_free(f);
}

/* A long span among a million short ones is seen from any height. */
static void stall_never_disappears(void **state)
{
	uint32_t n = 1000000, stall = 654321;
	struct column c = make(n, true);
	struct ty_forest *f;
	struct ty_cell out;

	for (uint32_t i = stall + 1; i < n; i++)
		c.start[i] += 2000000000u;
	for (uint32_t i = stall; i < n; i++)
		c.end[i] += 2000000000u;
	c.col.last_end_ns += 2000000000u;
	f = ty_forest_new(&c.col);
	ty_forest_query(f, 0, UINT64_MAX, &out);
	assert_int_equal(out.longest_whole, stall);
	assert_true(out.longest_ns >= 2000000000u);
	/* 5 bytes and 8 states per 32 spans, and the levels above. */
	assert_true(ty_forest_bytes(f) < (uint64_t)n * 9 / 4);
	ty_forest_free(f);
	drop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_columns),
		cmocka_unit_test(empty),
		cmocka_unit_test(stall_never_disappears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

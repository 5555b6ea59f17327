/* SPDX-License-Identifier: MIT */
/* What is pushed to a table is read from it, value by value and column by column, whatever the
 * columns are like: even steps with and without jitter, jumps, one value, none, extremes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "block_column.h"

#define ROWS  (3 * TY_BLOCK_ROWS + 77)
#define KINDS 10

struct row {
	uint64_t start, loc;
	int32_t number;
	uint8_t flag;
} __attribute__((packed));

static const struct ty_table_kind kind = {
	.cols = 4,
	.row_bytes = sizeof(struct row),
	.col = {{0, 8, false}, {8, 8, false}, {16, 4, true}, {20, 1, false}},
	.length = TY_LEN_NONE,
	.loc = 1};

static struct row row[KINDS][ROWS];
static uint64_t seed = 88172645463325252u;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return n ? seed % n : seed;
}

/* The value behind v in a column of that kind. */
static uint64_t grown(unsigned like, uint32_t i, uint64_t v)
{
	switch (like) {
	case 0: return v + 560;
	case 1: return v + 500 + rnd(100);
	case 2: return v + (rnd(200) ? 400 + rnd(50) : 60000);
	case 3: return v; /* all the same */
	case 4: return v + (i % 200 ? 1 : UINT64_C(1) << 33);
	case 5: return v + rnd(UINT64_C(1) << 40);
	case 6: return i == 600 ? UINT64_MAX : v + 3; /* there it stays, or wraps */
	case 7: return UINT64_C(0x7fffffffffff0000) + i * 300;
	case 8: return v + (i < 256 ? 0 : 700);
	default: return v + rnd(3) * rnd(1000);
	}
}

static void fill(unsigned like)
{
	uint64_t start = like == 5 ? 0 : 1 + rnd(UINT64_C(1) << 40),
		 loc = like % 3 ? rnd(0) >> 20 : 0;

	for (uint32_t i = 0; i < ROWS; i++) {
		struct row *r = &row[like][i];

		r->start = start;
		r->loc = like == 9 && !rnd(50) ? 0 : loc;
		r->number = (int32_t)rnd(like % 2 ? 0 : 200);
		r->flag = (uint8_t)(like == 1 ? rnd(2) : like);
		loc = like == 8 && !rnd(100) ? rnd(0) >> 12 : grown((like + 3) % KINDS, i, loc);
		start = grown(like, i, start);
		start = start < r->start ? r->start : start;
	}
}

static void read_again(void **state)
{
	struct ty_store *s = ty_store_new(UINT64_MAX);
	uint64_t off, bytes, col[TY_BLOCK_ROWS];
	struct ty_table_fill f;
	struct ty_table t;

	assert_non_null(s);
	ty_table_fill_init(&f, &kind, s);
	for (unsigned tr = 0; tr < KINDS; tr++) {
		fill(tr);
		for (uint32_t i = 0; i < ROWS; i++)
			assert_int_equal(ty_table_push(&f, tr, &row[tr][i]), 0);
		assert_int_equal(ty_table_seal(&f, tr, row[tr][ROWS - 1].start), 0);
	}
	assert_int_equal(ty_table_finish(&f, KINDS, NULL, &off, &bytes), 0);
	assert_int_equal(ty_table_attach(&t, &kind, s, off, bytes, false, NULL), 0);
	for (unsigned tr = 0; tr < KINDS; tr++) {
		assert_int_equal(ty_table_rows(&t, tr), ROWS);
		for (uint32_t i = 0; i < ROWS; i++) {
			const struct row *r = &row[tr][i];
			const uint64_t want[] = {r->start, r->loc, (uint64_t)r->number, r->flag};
			uint32_t at = i % TY_BLOCK_ROWS, n = ty_block_together(&t, tr, i);
			const uint8_t *block =
				ty_table_block(&t, t.block_first[tr] + i / TY_BLOCK_ROWS);

			for (unsigned c = 0; c < kind.cols; c++)
				assert_true(ty_table_value(&t, tr, i, c) == want[c]);
			/* Where it is 0, its base is, too. */
			if (!r->loc)
				assert_true(!((const struct ty_block_head *)block)->base[1]);
			if (i % 100)
				continue;
			TY_BLOCK_COLUMN(col[k], block, at, n, 0, 0);
			for (uint32_t j = 0; j < n; j++)
				assert_true(col[j] == row[tr][i + j].start);
			TY_BLOCK_COLUMN(col[k], block, at, n, 1, -1);
			for (uint32_t j = 0; j < n; j++)
				assert_true(col[j] == row[tr][i + j].loc - 1);
			TY_BLOCK_COLUMN(col[k], block, at, n, 2, 0);
			for (uint32_t j = 0; j < n; j++)
				assert_true((int32_t)col[j] == row[tr][i + j].number);
		}
	}
	ty_table_detach(&t);
	ty_table_fill_fini(&f);
	ty_store_free(s);
}

/* Even steps take no bytes, nearly even ones few: what the size of an index rests on. */
static void even_is_small(void **state)
{
	struct ty_store *s = ty_store_new(UINT64_MAX);
	const struct ty_block_head *h;
	struct ty_table_fill f;

	assert_non_null(s);
	ty_table_fill_init(&f, &kind, s);
	for (uint32_t i = 0; i <= TY_BLOCK_ROWS; i++) {
		struct row r = {.start = 1000000 + i * 560 + rnd(1000), .loc = 5 + i * 25};

		assert_int_equal(ty_table_push(&f, 0, &r), 0);
	}
	assert_int_equal(f.ref.n, 1);
	h = ty_store_at(s, f.ref.v[0].off);
	assert_int_equal(h->width[0], 2);
	assert_int_equal(h->width[1], 0);
	ty_table_fill_fini(&f);
	ty_store_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_again),
		cmocka_unit_test(even_is_small),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

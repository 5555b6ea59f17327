/* SPDX-License-Identifier: MIT */
/* Every kind of record in every byte order and word size, and every byte of a page damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "ring_page.h"
#include "ring_pages.h"

#define PAGE 4096

static const struct {
	unsigned long_size;
	bool be;
} machines[] = {{8, false}, {8, true}, {4, false}, {4, true}};

static struct ty_ring_layout layout(unsigned i)
{
	struct ty_ring_layout l;

	assert_int_equal(ty_ring_layout_init(&l, NULL, machines[i].long_size, machines[i].be), 0);
	return l;
}

static void expect(struct ty_ring_page *it, uint64_t ts, const void *data, uint32_t n)
{
	struct ty_ring_record r;

	assert_int_equal(ty_ring_page_next(it, &r), 1);
	assert_int_equal(r.ts, ts);
	assert_int_equal(r.size, n);
	assert_memory_equal(r.data, data, n);
	assert_ptr_equal(it->base + r.off + (n > 112 || n % 4 ? 8 : 4), r.data);
}

static void every_type(void **state)
{
	static const uint8_t data[300] = "abcdefghijklmnopqrstuvwxyz";
	uint8_t page[PAGE];

	for (unsigned i = 0; i < 4; i++) {
		struct ty_ring_layout l = layout(i);
		struct ty_ring_record r;
		struct ty_ring_page it;
		struct page_maker m;

		ty_page_begin(&m, page, PAGE, 1000, machines[i].long_size, machines[i].be);
		ty_page_data(&m, 0, data, 4);
		ty_page_data(&m, 7, data, 112);
		ty_page_extend(&m, UINT64_C(5) << 27 | 3);
		ty_page_data(&m, 10, data, 8);
		ty_page_long(&m, 1, data, 300);
		ty_page_long(&m, 1, data, 13);
		ty_page_padding(&m, 100, 24);
		ty_page_data(&m, 0, data, 12);
		ty_page_stamp(&m, UINT64_C(0x123456789abcd));
		ty_page_data(&m, 0, data, 4);
		ty_page_raw(&m, 29, 0, 0xffffffff); /* the rest of the page is unused */
		ty_page_data(&m, 0, data, 4);
		ty_page_end(&m, 0);

		assert_int_equal(ty_ring_page_init(&it, &l, page, PAGE), 0);
		assert_int_equal(it.missed, 0);
		assert_int_equal(ty_ring_page_ts(&l, page), 1000);
		expect(&it, 1000, data, 4);
		expect(&it, 1007, data, 112);
		expect(&it, 1020 + (UINT64_C(5) << 27), data, 8);
		expect(&it, 1021 + (UINT64_C(5) << 27), data, 300);
		expect(&it, 1022 + (UINT64_C(5) << 27), data, 13);
		expect(&it, 1122 + (UINT64_C(5) << 27), data, 12);
		expect(&it, UINT64_C(0x123456789abcd), data, 4);
		assert_int_equal(ty_ring_page_next(&it, &r), 0);
		assert_int_equal(ty_ring_page_next(&it, &r), 0);
	}
}

/* An absolute time has 59 bits; the others come from the time before, with a carry. */
static void absolute_times(void **state)
{
	const uint64_t top = UINT64_C(0x18) << 56, low = UINT64_C(0x7fffffffffffff0);
	static const uint8_t data[4];
	uint8_t page[PAGE];

	for (unsigned i = 0; i < 4; i++) {
		struct ty_ring_layout l = layout(i);
		struct ty_ring_page it;
		struct page_maker m;

		ty_page_begin(&m, page, PAGE, top | low, machines[i].long_size, machines[i].be);
		ty_page_stamp(&m, low + 5);
		ty_page_data(&m, 0, data, 4);
		ty_page_stamp(&m, 7); /* wrapped */
		ty_page_data(&m, 0, data, 4);
		ty_page_end(&m, 0);
		assert_int_equal(ty_ring_page_init(&it, &l, page, PAGE), 0);
		expect(&it, (top | low) + 5, data, 4);
		expect(&it, (UINT64_C(0x20) << 56) + 7, data, 4);
	}
}

static void lost_events(void **state)
{
	static const uint8_t data[16];
	uint8_t page[PAGE];

	for (unsigned i = 0; i < 4; i++) {
		struct ty_ring_layout l = layout(i);
		struct ty_ring_page it;
		struct page_maker m;

		ty_page_begin(&m, page, PAGE, 1, machines[i].long_size, machines[i].be);
		ty_page_data(&m, 0, data, 16);
		ty_page_end(&m, 4711);
		assert_int_equal(ty_ring_page_init(&it, &l, page, PAGE), 0);
		assert_int_equal(it.missed, 4711);
		expect(&it, 1, data, 16);
		/* the number would not fit behind the data: it is not read */
		assert_int_equal(
			ty_ring_page_init(&it, &l, page, m.pos + machines[i].long_size - 1), 0);
		assert_true(it.missed == TY_MISSED_UNKNOWN);
		ty_page_end(&m, UINT64_MAX);
		assert_int_equal(ty_ring_page_init(&it, &l, page, PAGE), 0);
		assert_true(it.missed == TY_MISSED_UNKNOWN);
	}
}

static void damaged_heads(void **state)
{
	uint8_t page[PAGE];

	for (unsigned i = 0; i < 4; i++) {
		struct ty_ring_layout l = layout(i);
		struct ty_ring_page it;
		struct ty_ring_record r;
		struct page_maker m;

		ty_page_begin(&m, page, PAGE, 1, machines[i].long_size, machines[i].be);
		ty_page_end(&m, 0);
		assert_int_equal(ty_ring_page_init(&it, &l, page, PAGE), 0);
		assert_int_equal(ty_ring_page_next(&it, &r), 0);
		for (uint32_t size = 0; size < l.data_off; size++)
			assert_int_equal(ty_ring_page_init(&it, &l, page, size), -TY_EFORMAT);
		ty_page_put(&m, page + 8, PAGE - l.data_off + 1, machines[i].long_size);
		assert_int_equal(ty_ring_page_init(&it, &l, page, PAGE), -TY_EFORMAT);
		ty_page_put(&m, page + 8, (1u << 27) - 1, machines[i].long_size);
		assert_int_equal(ty_ring_page_init(&it, &l, page, PAGE), -TY_EFORMAT);
	}
}

/* Lengths that reach behind the data: the records before are given, then an error, for good. */
static void damaged_lengths(void **state)
{
	static const struct {
		uint32_t type, delta, word;
	} bad[] = {{28, 1, 0}, {4, 1, 0},	    {0, 1, 3},		{0, 1, 0},
		   {0, 1, 9},  {0, 1, 13},	    {0, 1, 0xffffffff}, {29, 1, 9},
		   {29, 1, 0}, {29, 1, 0xfffffffe}, {0, 1, 1 << 31}};
	static const uint8_t data[8] = "good";
	uint8_t page[PAGE];

	for (unsigned i = 0; i < 4; i++)
		for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
			struct ty_ring_layout l = layout(i);
			struct ty_ring_page it;
			struct ty_ring_record r;
			struct page_maker m;

			ty_page_begin(&m, page, PAGE, 5, machines[i].long_size, machines[i].be);
			ty_page_data(&m, 1, data, 8);
			ty_page_raw(&m, bad[k].type, bad[k].delta, bad[k].word);
			m.pos += 4;
			ty_page_end(&m, 0);
			assert_int_equal(ty_ring_page_init(&it, &l, page, PAGE), 0);
			expect(&it, 6, data, 8);
			assert_int_equal(ty_ring_page_next(&it, &r), -TY_EFORMAT);
			assert_int_equal(ty_ring_page_next(&it, &r), -TY_EFORMAT);
		}
}

/* A page with every byte set to every value, and cut at every byte: records stay inside. (The page
 * lies at the end of its own allocation, so that ASan sees a step too far.) */
static void every_byte(void **state)
{
	static const uint8_t data[64];

	for (unsigned i = 0; i < 4; i++) {
		struct ty_ring_layout l = layout(i);
		uint8_t whole[512], *page;
		struct page_maker m;

		ty_page_begin(&m, whole, sizeof(whole), 5, machines[i].long_size, machines[i].be);
		ty_page_data(&m, 1, data, 8);
		ty_page_long(&m, 1, data, 41);
		ty_page_padding(&m, 1, 12);
		ty_page_extend(&m, 1000);
		ty_page_data(&m, 1, data, 64);
		ty_page_stamp(&m, 2000);
		ty_page_data(&m, 1, data, 4);
		ty_page_end(&m, 3);
		for (uint32_t n = 0; n <= m.pos + 8; n++) {
			page = malloc(n ? n : 1);
			assert_non_null(page);
			for (unsigned v = 0; v < 256; v++) {
				struct ty_ring_page it;
				struct ty_ring_record r;
				int k = 0;

				memcpy(page, whole, n);
				if (n > l.data_off) {
					m.p = page;
					if (v & 1) /* cut, and the head says so */
						ty_page_put(&m, page + 8, n - l.data_off,
							    m.long_size);
					page[(n * 7 + v) % n] = (uint8_t)v;
				}
				if (ty_ring_page_init(&it, &l, page, n))
					continue;
				while (ty_ring_page_next(&it, &r) > 0) {
					assert_true(r.data >= page && r.data + r.size <= page + n);
					assert_true(++k < 512);
				}
			}
			free(page);
		}
	}
}

static void header_page_texts(void **state)
{
	static const char usual[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
	static const char small[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				    "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				    "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
	static const char *const hostile[] = {
		"\tfield: local_t commit;\toffset:8;\tsize:3;\n\tfield: char "
		"data;\toffset:16;\tsize:1;\n",
		"\tfield: local_t commit;\toffset:8;\tsize:8;\n\tfield: char "
		"data;\toffset:8;\tsize:1;\n",
		"\tfield: local_t commit;\toffset:8;\tsize:8;\n\tfield: char "
		"data;\toffset:4000;\tsize:1;\n",
		"\tfield: local_t commit;\toffset:0;\tsize:8;\n\tfield: char "
		"data;\toffset:16;\tsize:1;\n",
		"\tfield: local_t commit;\toffset:8;\tsize:8;\n\tfield: char "
		"data;\toffset:18;\tsize:1;\n"};
	struct ty_ring_layout l;

	assert_int_equal(ty_ring_layout_init(&l, usual, 8, false), 0);
	assert_int_equal(l.commit_size, 8);
	assert_int_equal(l.data_off, 16);
	assert_int_equal(ty_ring_layout_init(&l, small, 4, true), 0);
	assert_int_equal(l.commit_size, 4);
	assert_int_equal(l.data_off, 12);
	assert_int_equal(ty_ring_layout_init(&l, "nonsense", 4, true), 0);
	assert_int_equal(l.data_off, 12);
	assert_int_equal(ty_ring_layout_init(&l, usual, 5, true), -TY_EFORMAT);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
		assert_int_equal(ty_ring_layout_init(&l, hostile[i], 8, false), -TY_EFORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type),	     cmocka_unit_test(absolute_times),
		cmocka_unit_test(lost_events),	     cmocka_unit_test(damaged_heads),
		cmocka_unit_test(damaged_lengths),   cmocka_unit_test(every_byte),
		cmocka_unit_test(header_page_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

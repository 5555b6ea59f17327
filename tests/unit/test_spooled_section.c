/* SPDX-License-Identifier: MIT */
/* Pieces of a spooled section: whole records, numbered; limits, and a disk that is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "fixture_trace.h"
#include "section.h"
#include "spooled_section.h"

enum { RECORD = 300000, HEAD = 8 };

static struct ty_spool *spool;
static struct ty_spool_writer *writer;
static struct ty_spooled_section section;
static uint64_t heads; /* pieces that got a head */

static void put_head(void *ctx, uint64_t piece, void *head)
{
	assert_int_equal(piece, heads++);
	memset(head, 0xee, HEAD);
}

/* A record begins with its length. */
static size_t record_bytes(const void *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	assert_true(n == RECORD || n == RECORD + 1);
	return n;
}

static unsigned unwritten; /* records */
static void on_unwritten(void *ctx, const void *p)
{
	unwritten += record_bytes(p) > 0;
}

static const struct ty_section_form whole = {.section = TY_SEC_STACKS,
					     .most = 4 * (uint64_t)TY_SPOOLED_PIECE,
					     .raw_part = 1,
					     .head_bytes = HEAD,
					     .put_head = put_head,
					     .record_bytes = record_bytes,
					     .unwritten = on_unwritten};
static const struct ty_section_form loose = {
	.section = TY_SEC_SAMPLES, .most = 4 * (uint64_t)TY_SPOOLED_PIECE, .raw_part = 4};

static void begin(const char *name, const struct ty_section_form *form, bool at_end)
{
	struct ty_err err = {0};

	assert_int_equal(ty_spool_create(ty_fx_path(name), TY_FX_PAGE, &spool, &err), 0);
	assert_int_equal(ty_spool_publish(spool, &err), 0);
	writer = ty_spool_writer_new(spool, TY_SPOOLED_PIECE);
	assert_non_null(writer);
	heads = 0;
	ty_spooled_section_init(&section, form, NULL);
	ty_spooled_section_start(&section, writer, at_end);
}

static void end(void)
{
	ty_spooled_section_fini(&section);
	ty_spool_writer_free(writer);
	ty_spool_discard(spool);
	ty_spool_close(spool);
}

static bool add(uint32_t n)
{
	static char record[RECORD + 1];

	if (!ty_spooled_section_room(&section, n))
		return false;
	memcpy(record, &n, sizeof(n));
	assert_int_equal(ty_buf_add(&section.b, record, n), 0);
	return true;
}

static void a_piece_is_written_before_it_is_too_long(void **state)
{
	begin("pieces", &whole, false);
	for (unsigned i = 0; i < 7; i++)
		assert_true(add(RECORD + i % 2));
	/* Three fit each. */
	assert_int_equal(section.pieces, 2);
	assert_int_equal(ty_spooled_section_held(&section), 7 * RECORD + 3 + 3 * HEAD);
	ty_spooled_section_put(&section);
	assert_int_equal(section.pieces, 3);
	assert_int_equal(heads, 3);
	assert_int_equal(section.bytes, 7 * RECORD + 3 + 3 * HEAD);
	ty_spooled_section_put(&section); /* nothing is left */
	assert_int_equal(section.pieces, 3);
	end();
}

static void what_waits_for_the_end_is_cut_between_records(void **state)
{
	begin("at-end", &whole, true);
	for (unsigned i = 0; i < 7; i++)
		assert_true(add(RECORD + i % 2));
	ty_spooled_section_tick(&section);
	assert_int_equal(section.pieces, 0);
	ty_spooled_section_put(&section);
	assert_int_equal(section.pieces, 3);
	assert_int_equal(section.bytes, 7 * RECORD + 3 + 3 * HEAD);
	end();
}

static void compressed_bytes_count_but_no_less_than_a_part_of_the_raw_ones(void **state)
{
	begin("loose", &loose, true);
	for (unsigned i = 0; i < 7; i++)
		assert_true(add(RECORD));
	ty_spooled_section_put(&section);
	assert_int_equal(section.pieces, 3);
	assert_int_equal(section.bytes,
			 TY_SPOOLED_PIECE / 4 * 2 + (7 * RECORD - 2 * TY_SPOOLED_PIECE) / 4);
	end();
}

static void a_full_section_takes_more_once_parts_are_dropped(void **state)
{
	unsigned n = 0;

	begin("full-section", &whole, false);
	while (add(RECORD))
		assert_true(++n < 100);
	assert_int_equal(n, whole.most / RECORD);
	atomic_store(&section.dropped, TY_SPOOLED_PIECE);
	assert_true(add(RECORD));
	end();
}

/* What was refused is noted in the file. */
static void a_full_section_takes_a_last_record(void **state)
{
	const char record[] = "lost";
	uint64_t held;

	begin("last-record", &loose, false);
	for (unsigned n = 0; add(TY_SPOOLED_LAST); n++)
		assert_true(n < 100000);
	while (add(100))
		;
	held = ty_spooled_section_held(&section);
	assert_true(held + TY_SPOOLED_LAST <= loose.most);
	assert_false(ty_spooled_section_last(&section, TY_SPOOLED_LAST + 1));
	assert_true(ty_spooled_section_last(&section, sizeof(record)));
	ty_buf_add(&section.b, record, sizeof(record));
	ty_spooled_section_put(&section);
	assert_false(section.failed);
	assert_true(section.bytes <= loose.most);
	end();
}

/* Counts of the owner that no head has yet: in a head without records, also of a full section. */
static void a_last_head_tells_what_was_refused(void **state)
{
	begin("last-head", &whole, false);
	while (add(RECORD))
		;
	ty_spooled_section_put(&section);
	assert_int_equal(section.pieces, heads);
	ty_spooled_section_tell(&section);
	assert_int_equal(section.pieces, heads);
	assert_int_equal(heads, 1 + (whole.most / RECORD + 2) / 3);
	assert_false(section.failed);
	end();
}

static void there_is_no_room_once_the_disk_is_full(void **state)
{
	struct rlimit old, small;

	begin("full-disk", &whole, false);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){1, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &small);
	for (unsigned i = 0; i < 9; i++) {
		/* Three fit the piece that cannot be written; the others get no room. */
		assert_int_equal(add(RECORD), i < 3);
		assert_true(section.b.len <= TY_SPOOLED_PIECE);
	}
	setrlimit(RLIMIT_FSIZE, &old);
	assert_true(section.failed);
	assert_int_equal(section.bytes, 0);
	assert_int_equal(unwritten, 3);
	ty_spooled_section_put(&section);
	assert_int_equal(unwritten, 3);
	end();
}

/* Only what is not in the file counts. */
static void later_pieces_do_not_fit(void **state)
{
	struct rlimit old, small;

	begin("nearly-full-disk", &whole, true);
	unwritten = 0;
	for (unsigned i = 0; i < 7; i++) {
		assert_true(add(RECORD));
		for (unsigned k = 4; k < RECORD; k++) /* what cannot be compressed */
			section.b.p[HEAD + i * RECORD + k] = (char)(rand() >> 8);
	}
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){TY_SPOOLED_PIECE * 3 / 2, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &small);
	ty_spooled_section_put(&section);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_true(section.failed);
	assert_int_equal(section.bytes, 3 * RECORD + HEAD);
	assert_int_equal(unwritten, 4);
	end();
}

static int teardown(void **state)
{
	ty_fx_remove_dir();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_piece_is_written_before_it_is_too_long),
		cmocka_unit_test(what_waits_for_the_end_is_cut_between_records),
		cmocka_unit_test(compressed_bytes_count_but_no_less_than_a_part_of_the_raw_ones),
		cmocka_unit_test(a_full_section_takes_more_once_parts_are_dropped),
		cmocka_unit_test(a_full_section_takes_a_last_record),
		cmocka_unit_test(a_last_head_tells_what_was_refused),
		cmocka_unit_test(there_is_no_room_once_the_disk_is_full),
		cmocka_unit_test(later_pieces_do_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}

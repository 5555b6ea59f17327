/* SPDX-License-Identifier: MIT */
/* The window of time: always inside the recording, cells that tile it, undo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "ruler.h"

#define S 1000000000ull

static void zoom_keeps_the_instant_in_place(void **state)
{
	struct ty_viewport v;
	uint64_t at = 5 * S + 5 * S / 2;

	ty_viewport_init(&v, 5 * S, 15 * S);
	for (int i = 0; i < 4; i++) {
		ty_viewport_zoom(&v, at, 1, 2);
		assert_int_equal((at - v.from_ns) * 4, v.to_ns - v.from_ns);
	}
	assert_int_equal(v.to_ns - v.from_ns, 10 * S / 16);
	for (int i = 0; i < 200; i++)
		ty_viewport_zoom(&v, at, 1, 2);
	assert_int_equal(v.to_ns - v.from_ns, TY_VIEW_MIN_NS);
	assert_true(v.from_ns <= at && at <= v.to_ns);
	for (int i = 0; i < 200; i++)
		ty_viewport_zoom(&v, at, 2, 1);
	assert_int_equal(v.from_ns, 5 * S);
	assert_int_equal(v.to_ns, 15 * S);
	/* a run of zooms is one step back, and none where it ended as it began */
	assert_false(ty_viewport_undo(&v));
	ty_viewport_zoom(&v, at, 1, 2);
	ty_viewport_zoom(&v, at, 1, 2);
	assert_true(ty_viewport_undo(&v));
	assert_int_equal(v.to_ns - v.from_ns, 10 * S);
	assert_false(ty_viewport_undo(&v));
}

static void pan_stops_at_the_edges(void **state)
{
	struct ty_viewport v;

	ty_viewport_init(&v, S, 11 * S);
	ty_viewport_jump(&v, 2 * S, 4 * S);
	ty_viewport_pan(&v, -(int64_t)(S / 2));
	assert_int_equal(v.from_ns, S + S / 2);
	ty_viewport_pan(&v, INT64_MIN);
	assert_int_equal(v.from_ns, S);
	ty_viewport_pan(&v, INT64_MAX);
	assert_int_equal(v.to_ns, 11 * S);
	assert_int_equal(v.from_ns, 9 * S);
	assert_true(ty_viewport_undo(&v));
	assert_int_equal(v.from_ns, 2 * S);
	assert_true(ty_viewport_undo(&v));
	assert_int_equal(v.to_ns, 11 * S);
	assert_int_equal(v.from_ns, S);
}

static void odd_windows_are_placed(void **state)
{
	struct ty_viewport v;

	ty_viewport_init(&v, 10, 10);
	assert_int_equal(v.to_ns, 11);
	ty_viewport_jump(&v, 5, 4);
	assert_int_equal(v.from_ns, 10);
	ty_viewport_init(&v, 1000000, 2000000);
	ty_viewport_jump(&v, 1500000, 9000000);
	assert_int_equal(v.from_ns, 1000000);
	assert_int_equal(v.to_ns, 2000000);
	ty_viewport_init(&v, UINT64_MAX, UINT64_MAX);
	assert_true(v.from_ns < v.to_ns);
	ty_viewport_init(&v, 0, UINT64_MAX);
	ty_viewport_zoom(&v, UINT64_MAX / 2, 1, 3);
	ty_viewport_jump(&v, UINT64_MAX - 5, UINT64_MAX);
	assert_int_equal(v.to_ns, UINT64_MAX);
	assert_int_equal(v.to_ns - v.from_ns, TY_VIEW_MIN_NS);
}

static void columns_and_edges_agree(void **state)
{
	struct ty_viewport v;

	ty_viewport_init(&v, 1000, 1000 + 777);
	for (uint32_t n = 1; n < 200; n += 7)
		for (uint64_t t = 1000; t < 1777; t++) {
			uint32_t i = ty_viewport_column(&v, t, n);

			assert_true(ty_viewport_edge(&v, i, n) <= t);
			assert_true(t < ty_viewport_edge(&v, i + 1, n));
		}
	assert_int_equal(ty_viewport_column(&v, 5, 80), 0);
	assert_int_equal(ty_viewport_column(&v, 1777, 80), 79);
	assert_int_equal(ty_viewport_column(&v, UINT64_MAX, 80), 79);
	assert_int_equal(ty_viewport_edge(&v, 0, 80), 1000);
	assert_int_equal(ty_viewport_edge(&v, 80, 80), 1777);
	/* Products of over 64 bits. */
	ty_viewport_init(&v, 0, UINT64_MAX);
	for (uint32_t i = 0; i <= 200; i++)
		assert_int_equal(ty_viewport_edge(&v, i, 200),
				 (uint64_t)((unsigned __int128)UINT64_MAX * i / 200));
}

static void undo_forgets_the_oldest(void **state)
{
	struct ty_viewport v;
	unsigned n = 0;

	ty_viewport_init(&v, 0, 1000 * S);
	for (unsigned i = 0; i < 3 * TY_VIEW_UNDO; i++)
		ty_viewport_jump(&v, i * S, (i + 1) * S);
	while (ty_viewport_undo(&v))
		n++;
	assert_int_equal(n, TY_VIEW_UNDO);
}

/* Back and forward pass over what looks the same; a moved cursor is another view. */
static void undo_is_always_seen(void **state)
{
	struct ty_viewport v;

	ty_viewport_init(&v, 0, 10 * S);
	ty_viewport_jump(&v, S, 2 * S);
	ty_viewport_jump(&v, S, 2 * S);
	ty_viewport_jump(&v, S, 2 * S);
	assert_true(ty_viewport_undo(&v));
	assert_int_equal(v.to_ns, 10 * S);
	assert_true(ty_viewport_redo(&v));
	assert_int_equal(v.to_ns, 2 * S);
	assert_false(ty_viewport_redo(&v));
	ty_viewport_visit(&v, S + 5);
	v.here.cursor_ns = S + 5;
	assert_true(ty_viewport_undo(&v));
	assert_int_equal(v.here.cursor_ns, 0);
	assert_int_equal(v.from_ns, S);
}

static void steps_are_round(void **state)
{
	assert_int_equal(ty_round_step(0), 1);
	assert_int_equal(ty_round_step(3), 5);
	assert_int_equal(ty_round_step(6), 10);
	assert_int_equal(ty_round_step(199), 200);
	assert_int_equal(ty_round_step(200), 200);
	assert_int_equal(ty_round_step(201), 500);
	assert_true(ty_round_step(UINT64_MAX) > S);
}

/* Damaged time stamps make windows as long as there are numbers: ticks end there, too. */
static void a_ruler_ends_with_the_numbers(void **state)
{
	struct ty_palette p = {0};
	struct ty_viewport v;
	struct ty_grid g;
	int ticks = 0;

	(void)state;
	assert_int_equal(ty_grid_init(&g, 80, 1), 0);
	for (uint64_t from = 0; from < 2; from++) {
		ty_viewport_init(&v, from, UINT64_MAX);
		alarm(20); /* it did not end */
		ty_ruler_draw(&g, &p, 0, 0, 80, &v, NULL, TY_CLOCK_TRACE, -1, NULL);
		alarm(0);
	}
	for (int x = 0; x < 80; x++)
		ticks += ty_grid_at(&g, x, 0)->ch == '+';
	assert_int_equal(ticks, 3);
	ty_grid_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zoom_keeps_the_instant_in_place),
		cmocka_unit_test(pan_stops_at_the_edges),
		cmocka_unit_test(odd_windows_are_placed),
		cmocka_unit_test(columns_and_edges_agree),
		cmocka_unit_test(undo_forgets_the_oldest),
		cmocka_unit_test(undo_is_always_seen),
		cmocka_unit_test(steps_are_round),
		cmocka_unit_test(a_ruler_ends_with_the_numbers),
	};

	return cmocka_run_group_tests_name("viewport", tests, NULL, NULL);
}

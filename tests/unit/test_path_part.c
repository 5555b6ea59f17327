/* SPDX-License-Identifier: MIT */
/* The path of a wait that a longer path passes is the same as the one that is found by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "path_part.h"

static uint32_t thread_of(const struct ty_explain *x, int tid)
{
	return ty_model_thread_find(x->m, tid, t);
}

/* The wait of the thread around t. */
static struct ty_span wait_at(const struct ty_explain *x, int tid, uint64_t at, uint32_t *span)
{
	*span = ty_model_span_find(x->m, thread_of(x, tid), at);
	return ty_model_span(x->m, *span);
}

/* 11 waits for 12 twice; the second time 12 waits for 13 (which sleeps), and 13 for 14 before. */
static struct ty_explain nested(uint64_t *from, uint64_t *to)
{
	begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "a") ROW("12", "12", "1", "b")
				    ROW("13", "13", "1", "c") ROW("14", "14", "1", "d"));
	ty_mx_switch(0, t, 0, R, 12);
	sleeps(12, NR_READ, 2, 0, 11);
	*from = t;
	sleeps(11, NR_READ, 1, 0, 14);
	t += 20 * MS;
	wakes(14, NR_WRITE, 1, 0, 12);
	sleeps(14, NR_READ, 4, 0, 12);
	ty_mx_exit(0, t += 1000, 12, NR_READ, 1);
	t += 10 * MS;
	wakes(12, NR_WRITE, 1, 0, 11);
	goes_on(12, R, 11, NR_READ, 1);
	wakes(11, NR_WRITE, 4, 0, 14);
	sleeps(11, NR_READ, 1, 0, 12);
	sleeps(12, NR_READ, 2, 0, 13);
	sleeps(13, NR_READ, 3, 0, 14);
	ty_mx_exit(0, t += 1000, 14, NR_READ, 1);
	t += 30 * MS;
	wakes(14, NR_WRITE, 3, 0, 13);
	sleeps(14, NR_READ, 4, 0, 13);
	ty_mx_exit(0, t += 1000, 13, NR_READ, 1);
	sleeps(13, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(13, NR_NANOSLEEP, 0, 50);
	wakes(13, NR_WRITE, 2, 0, 12);
	goes_on(13, S, 12, NR_READ, 1);
	t += 5 * MS;
	wakes(12, NR_WRITE, 1, 0, 11);
	goes_on(12, S, 11, NR_READ, 1);
	*to = t;
	ty_mx_switch(0, t += MS, 11, S, 0);
	return explain(ty_mx_end(), 0);
}

static bool same_seg(const struct ty_seg *a, const struct ty_seg *b)
{
	return a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->thread == b->thread &&
	       a->span == b->span && a->hop == b->hop && a->what == b->what &&
	       a->flags == b->flags && a->waker.kind == b->waker.kind;
}

static bool same_hop(const struct ty_hop *a, const struct ty_hop *b)
{
	return a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->thread == b->thread &&
	       a->span == b->span && a->parent == b->parent && a->waker.thread == b->waker.thread &&
	       a->waker.act_ns == b->waker.act_ns;
}

/* With the whole path kept, each part of it is found as without. */
static void a_part_is_as_if_found(void **state)
{
	struct ty_path all = {0}, part = {0}, found = {0};
	struct ty_kept_paths kept = {0};
	uint64_t from, to;
	struct ty_explain x = nested(&from, &to), with = x;
	unsigned windows = 0;

	with.paths = &kept;
	assert_int_equal(ty_path_find(&x, thread_of(&x, 11), from, to, &all), 0);
	assert_true(all.hop.n >= 4);
	kept.bytes = all.seg.n * sizeof(*all.seg.v); /* without its hops */
	assert_int_equal(ty_path_keep(&kept, &all, 100), 0);
	assert_int_equal(kept.v[0].found, 0);
	kept.bytes = 0;
	assert_int_equal(ty_path_keep(&kept, &all, 100), 0);
	for (uint32_t i = 0; i < all.hop.n; i++) {
		const struct ty_hop *h = &all.hop.v[i];
		const uint64_t starts[] = {h->start_ns, h->start_ns + MS, from, from + MS,
					   to - 10 * MS};

		for (unsigned k = 0; k < 5; k++) {
			if (starts[k] >= h->end_ns)
				continue;
			windows++;
			assert_int_equal(ty_path_find(&x, h->thread, starts[k], h->end_ns, &found),
					 0);
			assert_int_equal(
				ty_path_find(&with, h->thread, starts[k], h->end_ns, &part), 0);
			assert_int_equal(part.seg.n, found.seg.n);
			assert_int_equal(part.hop.n, found.hop.n);
			for (size_t n = 0; n < found.seg.n; n++)
				assert_true(same_seg(&part.seg.v[n], &found.seg.v[n]));
			for (size_t n = 0; n < found.hop.n; n++)
				assert_true(same_hop(&part.hop.v[n], &found.hop.v[n]));
			assert_false(part.cut || part.inferred || part.bound);
		}
	}
	assert_true(windows >= 10);
	ty_path_fini(&all);
	ty_path_fini(&part);
	ty_path_fini(&found);
	ty_kept_paths_fini(&kept);
	ty_mx_drop();
}

/* Another window, another wait; a cycle, which may be none by itself; what is inferred or cut, or
 * not worth it. */
static void what_may_differ_is_no_part(void **state)
{
	struct ty_path all = {0}, part = {0};
	struct ty_kept_paths kept = {0};
	uint64_t from, to;
	struct ty_explain x = nested(&from, &to);
	struct ty_span s;
	uint32_t span;

	assert_int_equal(ty_path_find(&x, thread_of(&x, 11), from, to, &all), 0);
	s = wait_at(&x, 12, to - 20 * MS, &span);
	assert_int_equal(ty_path_keep(&kept, &all, 1), 0);
	assert_int_equal(ty_path_part(&kept, &s, span, s.start_ns, s.end_ns, TY_NONE, &part), 0);
	all.inferred = true;
	assert_int_equal(ty_path_keep(&kept, &all, 100), 0);
	assert_int_equal(ty_path_part(&kept, &s, span, s.start_ns, s.end_ns, TY_NONE, &part), 0);
	all.inferred = false;
	assert_int_equal(ty_path_keep(&kept, &all, 100), 0);
	assert_true(ty_path_part(&kept, &s, span, s.start_ns, s.end_ns, TY_NONE, &part) > 0);
	assert_int_equal(part.seg.v[part.seg.n - 1].start_ns, s.start_ns);
	assert_int_equal(part.hop.v[0].depth, 0);
	assert_int_equal(ty_path_part(&kept, &s, span, s.start_ns + 1, s.end_ns, TY_NONE, &part),
			 0);
	assert_int_equal(ty_path_part(&kept, &s, span + 1, s.start_ns, s.end_ns, TY_NONE, &part),
			 0);
	assert_int_equal(ty_path_part(&kept, &s, span, s.start_ns, s.end_ns - 1, TY_NONE, &part),
			 0);
	vec_each (g, &kept.v[0].p.seg)
		g->what = g->what == TY_SEG_TIMER ? TY_SEG_LOOP : g->what;
	assert_int_equal(ty_path_part(&kept, &s, span, s.start_ns, s.end_ns, TY_NONE, &part), 0);
	ty_path_fini(&all);
	ty_path_fini(&part);
	ty_kept_paths_fini(&kept);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_as_if_found),
		cmocka_unit_test(what_may_differ_is_no_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

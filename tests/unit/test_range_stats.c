/* SPDX-License-Identifier: MIT */
/* Range statistics against sorting everything: random recordings, random ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "fixture_model.h"
#include "range_stats.h"
#include "vec.h"

typedef VEC(uint64_t) lengths;

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void add(lengths *v, uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	if (start >= to || end < from || (end == from && start < end))
		return;
	start = start > from ? start : from;
	end = end < to ? end : to;
	assert_int_equal(vec_push(v, end - start), 0);
}

static void expect(const struct ty_range_stats *s, struct ty_range_kind want, lengths *v)
{
	const struct ty_range_kind *k = NULL, *all;
	uint64_t total = 0, exact;
	uint32_t n;

	all = ty_range_stats_kinds(s, &n);
	for (uint32_t i = 0; i < n; i++)
		if (all[i].track == want.track && all[i].state == want.state &&
		    all[i].nr == want.nr)
			k = &all[i];
	if (!v->n) {
		assert_null(k);
		return;
	}
	assert_non_null(k);
	qsort(v->v, v->n, sizeof(*v->v), by_length);
	for (size_t i = 0; i < v->n; i++)
		total += v->v[i];
	assert_int_equal(k->spans, v->n);
	assert_int_equal(k->total_ns, total);
	assert_int_equal(k->mean_ns, total / v->n);
	assert_int_equal(k->max_ns, v->v[v->n - 1]);
	exact = v->v[(v->n * 50 + 99) / 100 - 1];
	assert_true(k->p50_ns <= exact && exact - k->p50_ns <= exact / 1024);
	exact = v->v[(v->n * 99 + 99) / 100 - 1];
	assert_true(k->p99_ns <= exact && exact - k->p99_ns <= exact / 1024);
}

static void they_are_what_sorting_gives(void **state)
{
	static const int nr[] = {0, 1, 73};
	unsigned seed = 11;
	uint64_t ts = 1000, end;
	int on = 0;
	const struct ty_model *m;

	ty_mx_begin(NULL, NULL);
	for (int i = 0; i < 3000; i++) {
		int tid = 10 + rand_r(&seed) % 4, call = nr[rand_r(&seed) % 3];

		ts += 1 + (uint64_t)rand_r(&seed) % (i % 50 ? 3000 : 900000);
		if (on && rand_r(&seed) % 2) {
			ty_mx_enter(0, ts, on, call);
			ts += 1 + (uint64_t)rand_r(&seed) % 5000;
			ty_mx_exit(0, ts, on, call, 0);
		} else {
			ty_mx_switch(0, ts, on, rand_r(&seed) % 2 ? S : D, tid);
			on = tid;
		}
	}
	m = ty_mx_end();
	end = ty_model_summary(m)->end_ns;
	for (int round = 0; round < 60; round++) {
		uint64_t from = 1000 + (uint64_t)rand_r(&seed) % (end - 1000),
			 to = from + 1 + (uint64_t)rand_r(&seed) % (round % 2 ? 20000 : end);
		struct ty_track tracks[8];
		struct ty_range_stats *s;
		uint32_t n = ty_model_summary(m)->threads;
		unsigned steps = 0;

		for (uint32_t i = 0; i < n; i++) {
			tracks[2 * i] = (struct ty_track){.kind = TY_TRACK_THREAD, .id = i};
			tracks[2 * i + 1] = (struct ty_track){.kind = TY_TRACK_SYSCALLS, .id = i};
		}
		assert_int_equal(n, 4);
		s = ty_range_stats_new(m, tracks, 2 * n, from, to);
		assert_non_null(s);
		while (ty_range_stats_step(s, 7) > 0)
			assert_true(steps++ < 10000);
		for (unsigned st = 0; st < TY_ST_COUNT; st++) {
			lengths v = {0};

			for (uint32_t i = 0; i < n; i++) {
				const struct ty_thread *t = ty_model_thread(m, i);

				for (uint32_t k = 0; k < t->spans_n; k++) {
					struct ty_span sp = ty_model_span(m, t->spans_first + k);

					if (sp.state == st)
						add(&v, sp.start_ns, sp.end_ns, from, to);
				}
			}
			expect(s,
			       (struct ty_range_kind){
				       .track = TY_TRACK_THREAD, .state = (uint8_t)st, .nr = -1},
			       &v);
			vec_fini(&v);
		}
		for (unsigned c = 0; c < 3; c++) {
			lengths v = {0};

			for (uint32_t i = 0; i < n; i++) {
				const struct ty_thread *t = ty_model_thread(m, i);

				for (uint32_t k = 0; k < t->syscalls_n; k++) {
					struct ty_syscall sc =
						ty_model_syscall(m, t->syscalls_first + k);

					if (sc.nr == nr[c])
						add(&v, sc.start_ns, sc.end_ns, from, to);
				}
			}
			expect(s,
			       (struct ty_range_kind){.track = TY_TRACK_SYSCALLS,
						      .state = TY_ST_RUNNING,
						      .nr = nr[c]},
			       &v);
			vec_fini(&v);
		}
		ty_range_stats_free(s);
	}
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(they_are_what_sorting_gives)};

	return cmocka_run_group_tests_name("range_stats", tests, NULL, NULL);
}

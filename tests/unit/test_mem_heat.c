/* SPDX-License-Identifier: MIT */
/* Strips of memory samples against counting one by one, on random samples and windows, with times
 * that step back, threads and CPUs that are not known, and samples without a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "mem_heat.h"

enum { SAMPLES = 20000, THREADS = 7, CELLS = 90 };

static uint64_t state = 0x9e3779b97f4a7c15ull;

static unsigned rnd(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 11) % below;
}

static uint64_t edge(uint64_t from, uint64_t to, unsigned i)
{
	return from + (uint64_t)((unsigned __int128)(to - from) * i / CELLS);
}

static void by_hand(const struct ty_mem_points *p, enum ty_mem_heat_by by, uint32_t strip,
		    uint64_t from, uint64_t to, struct ty_mem_heat_cell *out)
{
	memset(out, 0, CELLS * sizeof(*out));
	for (uint64_t i = 0; i < p->n; i++) {
		const struct ty_mem_point point = ty_mem_points_get(p, i), *o = &point;
		unsigned c = CELLS;

		if (!(o->flags & TY_MP_HAS_TIME) || o->ts_ns < from || o->ts_ns >= to ||
		    (by == TY_MEM_HEAT_CPU ? o->cpu : o->thread) != strip)
			continue;
		while (edge(from, to, --c) > o->ts_ns)
			;
		out[c].n++;
		if (o->flags & TY_MP_HAS_LAT) {
			out[c].timed = true;
			out[c].worst = o->total > out[c].worst ? o->total : out[c].worst;
		}
		out[c].far = ty_mem_far(o) > out[c].far ? (uint8_t)ty_mem_far(o) : out[c].far;
	}
}

static void test_cells(void **st)
{
	struct ty_mem_heat_cell got[CELLS], want[CELLS];
	struct ty_mem_points p = {0};
	struct ty_mem_heat *h;
	uint64_t t = 1000;

	assert_int_equal(ty_mem_points_begin(&p, NULL, 0), 0);
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct ty_mem m = {.pid = 1,
				   .tid = (int32_t)rnd(THREADS),
				   .who = rnd(10) ? TY_MEM_THREAD_CONTEXT : TY_MEM_THREAD_UNKNOWN,
				   .cpu = rnd(4),
				   .kind = TY_MEM_LOAD,
				   .level = (uint8_t)rnd(TY_MEM_LV_COUNT),
				   .src_flags = rnd(20) ? 0 : TY_MEM_SRC_PEER,
				   .lat_total = rnd(500) ? rnd(300) : 40000 + rnd(90000)};

		/* Bursts, and the end of a time unit stepping back. */
		t += rnd(500) ? rnd(5) : rnd(5000);
		m.ts_ns = rnd(40) ? t : t - rnd(900);
		m.has = (rnd(30) ? TY_MEM_HAS_TIME : 0) | (rnd(5) ? TY_MEM_HAS_TOTAL : 0) |
			(rnd(9) ? TY_MEM_HAS_CPU : 0);
		assert_int_equal(ty_mem_points_add(&p, &m, "", true), 0);
	}
	assert_int_equal(ty_mem_points_end(&p), 0);
	for (unsigned by = 0; by < 2; by++) {
		assert_int_equal(ty_mem_heat_new(&p, (enum ty_mem_heat_by)by, NULL, &h), 0);
		assert_int_equal(ty_mem_heat_strips(h), by ? 4 : p.threads);
		for (unsigned i = 0; i < 60; i++) {
			uint64_t from = i ? rnd((unsigned)t) : 0,
				 to = i ? from + 1 + rnd((unsigned)t / (1 + rnd(50))) : t + 1;
			uint32_t s = rnd(ty_mem_heat_strips(h));
			uint64_t n = 0;

			ty_mem_heat_cells(h, s, from, to, CELLS, got);
			by_hand(&p, (enum ty_mem_heat_by)by, s, from, to, want);
			for (unsigned c = 0; c < CELLS; c++) {
				assert_int_equal(got[c].n, want[c].n);
				assert_int_equal(got[c].worst, want[c].worst);
				assert_int_equal(got[c].far, want[c].far);
				assert_int_equal(got[c].timed, want[c].timed);
				n += want[c].n;
			}
			assert_int_equal(ty_mem_heat_count(h, s, from, to), n);
		}
		ty_mem_heat_free(h);
	}
	ty_mem_points_fini(&p);
}

/* One strip of many pieces, in which time steps back a little, and far. */
static void test_far_back(void **st)
{
	enum { N = 90000 };
	static bool seen[N];
	struct ty_mem_points p = {0};
	struct ty_mem_heat *h;

	(void)st;
	assert_int_equal(ty_mem_points_begin(&p, NULL, 0), 0);
	for (unsigned i = 0; i < N; i++) {
		struct ty_mem m = {.tid = 1,
				   .pid = 1,
				   .who = TY_MEM_THREAD_CONTEXT,
				   .kind = TY_MEM_LOAD,
				   .has = TY_MEM_HAS_TIME};
		unsigned at;

		/* Every time once: the next ones, and, in the midst, those of all the rest. */
		do
			at = rnd(i < N / 3 || i > N / 2 ? i / 2 + 200 : N);
		while (at < N && seen[at] && rnd(20));
		while (at >= N || seen[at])
			at = at + 1 < N ? at + 1 : 0;
		seen[at] = true;
		m.ts_ns = 10 + at;
		assert_int_equal(ty_mem_points_add(&p, &m, "", true), 0);
	}
	assert_int_equal(ty_mem_points_end(&p), 0);
	assert_int_equal(ty_mem_heat_new(&p, TY_MEM_HEAT_THREAD, NULL, &h), 0);
	for (unsigned i = 0; i <= N; i += 9)
		assert_int_equal(ty_mem_heat_count(h, 0, 10, 10 + i), i);
	ty_mem_heat_free(h);
	ty_mem_points_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_far_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

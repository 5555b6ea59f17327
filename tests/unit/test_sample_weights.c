/* SPDX-License-Identifier: MIT */
/* Samples divide the exact time on a CPU: in functions, in the flame graph and in ledgers it is the
 * same to the nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "hot_functions.h"
#include "ledger.h"

#define MS UINT64_C(1000000)

static struct ty_samples *samples;

static void sample(uint64_t ns, int tid, const char *function, uint64_t period)
{
	const struct ty_sample_frame f = {
		.func = ty_samples_func(samples, function, "/bin/prog", false)};
	const uint32_t node = ty_samples_node(samples, 0, ty_samples_frame(samples, &f));

	assert_int_equal(vec_push(&samples->v, (struct ty_sample){.ns = ns,
								  .tid = tid,
								  .pid = tid < 20 ? 10 : 20,
								  .cpu = tid == 12 ? 1 : 0,
								  .period = period,
								  .node = node}),
			 0);
}

static const char *name(int tid)
{
	return tid == 11 ? "long" : tid == 21 || tid == 22 ? "short" : tid == 23 ? "lone" : "other";
}

static void turn(unsigned cpu, uint64_t ts, int prev, uint64_t state, int next)
{
	struct ty_event ev = {.ts_ns = ts, .cpu = cpu, .tid = prev, .kind = TY_EV_SWITCH, .id = 1};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = state;
	strcpy(ev.u.sw.prev_comm, name(prev));
	strcpy(ev.u.sw.next_comm, name(next));
	ty_mx_feed(ev);
}

/* On CPU 0: 11 (100 ms and 3 ns), 21 and 22 (of one name, 2 ms each), 23 (1 ms). On CPU 1: 12 (50
 * ms). 11 has ten samples, 12 forty, 21 one. */
static const struct ty_model *machine(void)
{
	const struct ty_model *m;

	ty_mx_begin("mode=all\n", ROW("11", "10", "1", "long") ROW("12", "10", "1", "other"));
	turn(0, 1 * MS, 0, R, 11);
	turn(1, 1 * MS, 0, R, 12);
	turn(1, 51 * MS, 12, S, 0);
	turn(0, 101 * MS + 3, 11, S, 21);
	turn(0, 103 * MS + 3, 21, S, 22);
	turn(0, 105 * MS + 3, 22, S, 23);
	turn(0, 106 * MS + 3, 23, S, 0);
	m = ty_mx_end();
	samples = ty_samples_new();
	assert_non_null(samples);
	samples->of_time = samples->all_threads = true;
	for (unsigned i = 0; i < 10; i++)
		sample((1 + i * 10) * MS, 11, i < 7 ? "a" : "b", 1000 + i);
	for (unsigned i = 0; i < 40; i++)
		sample((2 + i) * MS, 12, i < 10 ? "a" : "c", 10);
	sample(102 * MS, 21, "s", 10);
	ty_samples_sort(samples);
	return m;
}

static void drop(void)
{
	ty_samples_free(samples);
	ty_mx_drop();
}

static const struct ty_hot_row *row(const struct ty_hot *h, const char *name)
{
	for (uint32_t i = 0; i < h->funcs_n; i++)
		if (!strcmp(ty_samples_str(samples, samples->funcs.v[h->funcs[i].func].name), name))
			return &h->funcs[i];
	return NULL;
}

/* Time on a CPU of the ledgers of the window's threads. */
static uint64_t of_ledgers(const struct ty_model *m, const struct ty_window *w)
{
	struct ty_explain x = explain(m, 0);
	uint64_t ns = 0;

	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		struct ty_ledger l;

		if (!ty_model_thread(m, i)->tid || !ty_window_thread(w, m, i))
			continue;
		assert_int_equal(ty_ledger_thread(&x, i, w->from_ns, w->to_ns, &l), 0);
		for (uint32_t k = 0; k < l.n; k++)
			ns += l.rows[k].state == TY_ST_RUNNING ? l.rows[k].ns : 0;
		ty_ledger_fini(&l);
	}
	return ns;
}

static void sums_are_those_of_the_ledgers(void **state)
{
	static const uint64_t window[][2] = {{0, UINT64_MAX},	       {1 * MS, 52 * MS + 1},
					     {7 * MS + 13, 33 * MS},   {99 * MS, 103 * MS},
					     {103 * MS + 1, 107 * MS}, {51 * MS, 51 * MS + 1}};
	const struct ty_model *m = machine();
	const int32_t tid = 12;

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(window) / sizeof(*window); i++) {
		const struct ty_window w = {.from_ns = window[i / 2][0],
					    .to_ns = window[i / 2][1],
					    .tids = &tid,
					    .tids_n = i & 1};
		const struct ty_hot_of of = {.s = samples, .w = &w, .model = m};
		const uint64_t want = of_ledgers(m, &w);
		uint64_t sum = 0;
		struct ty_flame f;
		struct ty_hot h;

		assert_int_equal(ty_hot_find(&of, &h), 0);
		for (uint32_t k = 0; k < h.funcs_n; k++)
			sum += h.funcs[k].self_time;
		assert_int_equal(h.time, want);
		assert_int_equal(sum, want);
		for (unsigned kind = 0; kind < 2; kind++) {
			assert_int_equal(ty_flame_find(&of, kind, UINT32_MAX, &f), 0);
			sum = 0;
			for (uint32_t c = f.v.v[0].first; c; c = f.v.v[c].next)
				sum += f.v.v[c].weight;
			assert_int_equal(f.v.v[0].weight, want);
			assert_int_equal(sum, want);
			ty_flame_fini(&f);
		}
		ty_hot_fini(&h);
	}
	drop();
}

/* By its thread's time, not by its number: 7 of 10 of 11's, and 10 of 40 of 12's. Counts stay. */
static void a_sample_is_worth_its_threads_time(void **state)
{
	const struct ty_model *m = machine();
	const struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_hot_of of = {.s = samples, .w = &w, .model = m};
	const struct ty_hot_row *r;
	struct ty_hot h;

	(void)state;
	assert_int_equal(ty_hot_find(&of, &h), 0);
	assert_true(h.weights.by_time);
	assert_int_equal(h.samples, 51);
	r = row(&h, "a");
	assert_int_equal(r->self, 17);
	assert_int_equal(r->self_weight, 7021 + 100);
	/* 100 ms and 3 ns by periods, of which a has 7021 of 10045. */
	assert_int_equal(r->self_time, (100 * MS + 3) * 7021 / 10045 + 50 * MS / 4);
	assert_true(r->low < r->share && r->share < r->high);
	/* 22 has no sample, but 21 is of its name; 23 has none. */
	assert_int_equal(row(&h, "s")->self_time, 4 * MS);
	r = row(&h, "[threads without samples]");
	assert_non_null(r);
	assert_int_equal(r->self_time, MS);
	assert_int_equal(r->self + r->total, 0);
	assert_true(r->low == r->share && r->high == r->share);
	assert_int_equal(h.weights.ran, 5);
	assert_int_equal(h.weights.unsampled, 2);
	assert_int_equal(h.weights.unsampled_ns, 3 * MS);
	assert_int_equal(h.weights.stray, 0);
	/* Ten of 51 hold two thirds of the time: they say less than 51 equal ones. */
	assert_true(h.weights.even < 0.6 && h.weights.even > 0.2);
	ty_hot_fini(&h);

	/* Without switches, and of an event that is not of time: by period, without such a row. */
	of.model = NULL;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ty_hot_find(&of, &h), 0);
		assert_false(h.weights.by_time);
		assert_int_equal(row(&h, "a")->self_time, 7021 + 100);
		assert_null(row(&h, "[threads without samples]"));
		ty_hot_fini(&h);
		of.model = m;
		samples->of_time = false;
	}
	drop();
}

/* Of a process, of a name, of a CPU, and where no switch says that the thread ran. */
static void parts(void **state)
{
	const struct ty_model *m = machine();
	const char *const comm = "sh*";
	const uint32_t cpu = 1;
	struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_hot_of of = {.s = samples, .w = &w, .model = m, .pid = 10};
	struct ty_hot h;

	(void)state;
	assert_int_equal(ty_hot_find(&of, &h), 0);
	assert_int_equal(h.samples, 50);
	assert_int_equal(h.time, 150 * MS + 3);
	ty_hot_fini(&h);
	of.pid = 0;
	w = (struct ty_window){.to_ns = UINT64_MAX, .comms = &comm, .comms_n = 1};
	assert_int_equal(ty_hot_find(&of, &h), 0);
	assert_int_equal(h.samples, 1);
	assert_int_equal(h.time, 4 * MS);
	ty_hot_fini(&h);
	w = (struct ty_window){.to_ns = 20 * MS + 7, .cpus = &cpu, .cpus_n = 1};
	assert_int_equal(ty_hot_find(&of, &h), 0);
	assert_int_equal(h.samples, 19);
	assert_int_equal(h.time, 19 * MS + 7);
	ty_hot_fini(&h);
	w = (struct ty_window){.to_ns = UINT64_MAX};
	sample(104 * MS, 77, "nobody", 10);
	ty_samples_sort(samples);
	assert_int_equal(ty_hot_find(&of, &h), 0);
	assert_int_equal(h.weights.stray, 1);
	assert_int_equal(row(&h, "nobody")->self, 1);
	assert_int_equal(row(&h, "nobody")->self_time, 0);
	assert_int_equal(h.time, 155 * MS + 3);
	ty_hot_fini(&h);
	drop();
}

/* Samples before the first event and behind the last are of windows to there, and of no other. */
static void beyond_the_trace(void **state)
{
	const struct ty_model *m = machine();
	const uint64_t start = ty_model_summary(m)->start_ns, end = ty_model_summary(m)->end_ns;
	static const struct {
		unsigned later, earlier; /* the window's ends, in ns from those of the trace */
		uint64_t more;
	} cases[] = {{0, 0, 2}, {1, 0, 1}, {0, 1, 1}, {1, 1, 0}};
	struct ty_hot h;

	(void)state;
	sample(start - 5, 11, "a", 10);
	sample(end + 5 * MS, 11, "a", 10);
	ty_samples_sort(samples);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct ty_window w = {.from_ns = start + cases[i].later,
					    .to_ns = end + 1 - cases[i].earlier};
		const struct ty_hot_of of = {.s = samples, .w = &w, .model = m};
		size_t first, last;

		ty_hot_range(&of, &first, &last);
		assert_int_equal(last - first + cases[i].later, 51 + cases[i].more);
		assert_int_equal(ty_hot_find(&of, &h), 0);
		assert_int_equal(h.samples, last - first);
		ty_hot_fini(&h);
	}
	drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_those_of_the_ledgers),
					   cmocka_unit_test(a_sample_is_worth_its_threads_time),
					   cmocka_unit_test(parts),
					   cmocka_unit_test(beyond_the_trace)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

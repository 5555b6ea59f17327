/* SPDX-License-Identifier: MIT */
/* A slow time beside a median one: calls, samples and counters of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "outlier_parts.h"
#include "samples.h"

#define MS UINT64_C(1000000)

static void sample(struct ty_samples *s, uint64_t ns, int tid, const char *function)
{
	const struct ty_sample_frame f = {.func = ty_samples_func(s, function, "prog", false)};

	assert_int_equal(
		vec_push(&s->v,
			 (struct ty_sample){
				 .ns = ns,
				 .tid = tid,
				 .node = *function ? ty_samples_node(s, 0, ty_samples_frame(s, &f))
						   : 0}),
		0);
}

static void part_is(const struct ty_outlier *o, bool sample, const char *what, uint64_t slow,
		    uint64_t median)
{
	for (uint32_t i = 0; i < o->parts_n; i++)
		if (o->parts[i].sample == sample && !strcmp(o->parts[i].what, what)) {
			assert_int_equal(o->parts[i].slow, slow);
			assert_int_equal(o->parts[i].median, median);
			return;
		}
	fail_msg("no %s", what);
}

/* Thread 11 is slow in [10, 20) ms, 12 is the median in [30, 32). */
static void both(void **state)
{
	struct ty_outlier o = {.slow_start_ns = 10 * MS,
			       .slow_ns = 10 * MS,
			       .median_start_ns = 30 * MS,
			       .median_ns = 2 * MS};
	struct ty_samples *s = ty_samples_new();
	struct ty_counts *c = ty_counts_new();
	struct ty_explain x;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(9 * MS, 11, 0, 0, 3); /* read: before */
	for (unsigned i = 0; i < 3; i++)
		call((11 + i) * MS, 11, 0, 0, 3);
	call(15 * MS, 11, 1, 0, 3); /* write */
	call(20 * MS, 11, 1, 0, 3); /* behind */
	ty_mx_switch(0, 25 * MS, 11, S, 12);
	call(31 * MS, 12, 1, 0, 3);
	ty_mx_switch(0, 40 * MS, 12, S, 0);
	x = explain(ty_mx_end(), 0);
	for (unsigned i = 9; i < 21; i++)
		sample(s, i * MS, 11, i % 2 ? "odd" : "");
	sample(s, 15 * MS, 12, "other");
	sample(s, 31 * MS, 12, "odd");
	ty_samples_sort(s);
	assert_int_equal(ty_samples_by_thread(s), 0);
	c->n = c->groups = 1;
	assert_true(ty_counts_add(c, (struct ty_count_reading){10 * MS, 20 * MS, 11, 0},
				  (uint64_t[]){70, 10, 10}));
	assert_true(ty_counts_add(c, (struct ty_count_reading){30 * MS, 34 * MS, 12, 0},
				  (uint64_t[]){8, 4, 4}));
	assert_int_equal(ty_counts_finish(c), 0);
	x.samples = s;
	x.counts = c;
	o.thread = ty_model_thread_find(x.m, 11, 10 * MS);
	assert_int_equal(ty_outlier_compare(&x, &o, ty_model_thread_find(x.m, 12, 30 * MS)), 0);
	assert_int_equal(o.parts_n, 4);
	part_is(&o, false, "read", 3, 0);
	part_is(&o, false, "write", 1, 1);
	part_is(&o, true, "odd", 5, 1);
	part_is(&o, true, "[no symbol]", 5, 0);
	assert_string_equal(o.parts[0].what, "read");
	assert_true(!o.parts[1].sample && o.parts[2].sample);
	assert_int_equal(o.counted[0].v[0], 70);
	assert_int_equal(o.counted[0].cut, 0);
	assert_int_equal(o.counted[1].v[0], 4);
	assert_int_equal(o.counted[1].cut, 1);
	ty_outlier_fini(&o);
	ty_samples_free(s);
	ty_counts_free(c);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(both)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

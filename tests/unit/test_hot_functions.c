/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "hot_functions.h"
#include "perf_record.h"
#include "confidence_interval.h"

/* A sample of a stack of functions, the outermost first: "main>a>b". */
static void sample(struct ty_samples *s, uint64_t ns, int32_t tid, const char *stack)
{
	struct ty_sample v = {.ns = ns, .period = 10, .tid = tid, .pid = 1, .cpu = 0};
	char text[100], *save = NULL;

	strcpy(text, stack);
	for (char *f = strtok_r(text, ">", &save); f; f = strtok_r(NULL, ">", &save)) {
		const char *name = strcmp(f, "?") ? f : "";
		struct ty_sample_frame frame = {.func = ty_samples_func(s, name, "prog", false),
						.file = ty_samples_text(s, "prog.c"),
						.line = f[0]};

		v.node = ty_samples_node(s, v.node, ty_samples_frame(s, &frame));
	}
	assert_int_equal(vec_push(&s->v, v), 0);
}

static struct ty_samples *some(void)
{
	struct ty_samples *s = ty_samples_new();

	assert_non_null(s);
	sample(s, 50, 7, "main>a>a>b");
	sample(s, 10, 7, "main>a>b");
	sample(s, 20, 7, "main>a");
	sample(s, 30, 8, "main>c");
	sample(s, 40, 8, "main>a>b");
	sample(s, 60, 8, "");
	ty_samples_sort(s);
	return s;
}

static const struct ty_hot_row *row(const struct ty_samples *s, const struct ty_hot *h,
				    const char *name)
{
	for (uint32_t i = 0; i < h->funcs_n; i++)
		if (!strcmp(ty_samples_str(s, s->funcs.v[h->funcs[i].func].name), name))
			return &h->funcs[i];
	fail_msg("no row of %s", name);
	return NULL;
}

static void functions_and_lines(void **state)
{
	struct ty_samples *s = some();
	struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_hot_of of = {.s = s, .w = &w};
	struct ty_hot h;
	int32_t tid = 8;

	assert_int_equal(ty_hot_find(&of, &h), 0);
	assert_int_equal(h.samples, 6);
	assert_int_equal(h.weight, 60);
	assert_int_equal(h.threads, 2);
	assert_int_equal(h.unnamed, 1);
	assert_string_equal(ty_samples_str(s, s->funcs.v[h.funcs[0].func].name), "b");
	assert_int_equal(row(s, &h, "b")->self, 3);
	assert_int_equal(row(s, &h, "b")->hot_line, 'b');
	assert_int_equal(row(s, &h, "a")->self, 1);
	assert_int_equal(row(s, &h, "a")->total, 4); /* once, where it calls itself */
	assert_int_equal(row(s, &h, "main")->self, 0);
	assert_int_equal(row(s, &h, "main")->total, 5);
	assert_int_equal(row(s, &h, "main")->total_weight, 50);
	assert_int_equal(h.lines_n, 4);
	assert_int_equal(h.lines[0].line, 'b');
	assert_true(h.funcs[0].low < 0.5 && h.funcs[0].high > 0.5);
	ty_hot_fini(&h);

	/* [from, to), of a thread */
	w = (struct ty_window){.from_ns = 30, .to_ns = 60, .tids = &tid, .tids_n = 1};
	assert_int_equal(ty_hot_find(&of, &h), 0);
	assert_int_equal(h.samples, 2);
	assert_int_equal(row(s, &h, "c")->self, 1);
	assert_int_equal(row(s, &h, "a")->total, 1);
	ty_hot_fini(&h);
	ty_samples_free(s);
}

static void intervals(void **state)
{
	double low, high;

	/* Wilson's, of 10 in 100: 0.0552 to 0.1744 */
	ty_wilson(0.1, 100, &low, &high);
	assert_true(low > 0.0551 && low < 0.0553 && high > 0.1743 && high < 0.1745);
	ty_wilson(0, 0, &low, &high);
	assert_true(low == 0 && high == 1);
	ty_wilson(1, 100, &low, &high);
	assert_true(low > 0.96 && high == 1);
}

static uint32_t child(const struct ty_samples *s, const struct ty_flame *f, uint32_t parent,
		      const char *name)
{
	uint32_t i = f->v.v[parent].first;

	while (i && strcmp(ty_samples_str(s, s->funcs.v[f->v.v[i].func].name), name))
		i = f->v.v[i].next;
	return i;
}

static void trees(void **state)
{
	struct ty_samples *s = some();
	struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_hot_of of = {.s = s, .w = &w};
	struct ty_flame f;
	uint32_t main_, a, sum = 0;

	assert_int_equal(ty_flame_find(&of, TY_FLAME_CALLEES, UINT32_MAX, &f), 0);
	assert_int_equal(f.v.v[0].total, 6);
	vec_each (n, &f.v)
		sum += (uint32_t)n->self;
	assert_int_equal(sum, 6); /* the tree holds each sample once */
	assert_int_equal(f.depth, 4);
	main_ = child(s, &f, 0, "main");
	assert_int_equal(f.v.v[main_].total, 5);
	a = child(s, &f, main_, "a");
	assert_int_equal(f.v.v[main_].first, a); /* the largest first */
	assert_int_equal(f.v.v[a].total, 4);
	assert_int_equal(f.v.v[a].self, 1);
	assert_int_equal(f.v.v[child(s, &f, a, "b")].total, 2);
	assert_int_equal(f.v.v[child(s, &f, child(s, &f, a, "a"), "b")].total, 1);
	ty_flame_fini(&f);

	assert_int_equal(ty_flame_find(&of, TY_FLAME_CALLERS, UINT32_MAX, &f), 0);
	a = child(s, &f, child(s, &f, 0, "b"), "a");
	assert_int_equal(f.v.v[a].total, 3);
	assert_int_equal(f.v.v[child(s, &f, a, "main")].total, 2);
	ty_flame_fini(&f);

	/* One function: what it calls, from its outermost call on; and its callers. */
	assert_int_equal(
		ty_flame_find(&of, TY_FLAME_CALLEES, ty_samples_func(s, "a", "prog", false), &f),
		0);
	assert_int_equal(f.v.v[0].total, 4);
	a = child(s, &f, 0, "a");
	assert_int_equal(f.v.v[a].total, 4);
	assert_int_equal(f.v.v[child(s, &f, a, "b")].total, 2);
	assert_int_equal(child(s, &f, 0, "main"), 0);
	ty_flame_fini(&f);
	assert_int_equal(
		ty_flame_find(&of, TY_FLAME_CALLERS, ty_samples_func(s, "a", "prog", false), &f),
		0);
	a = child(s, &f, 0, "a");
	assert_int_equal(f.v.v[a].total, 4);
	assert_int_equal(f.v.v[child(s, &f, a, "main")].total, 3);
	ty_flame_fini(&f);
	ty_samples_free(s);
}

/* A sample with registers and a stack, cut off everywhere. */
static void parts_of_a_sample(void **state)
{
	const struct ty_perf_attr attr = {.sample_type = TY_PERF_S_IP | TY_PERF_S_CALLCHAIN |
							 TY_PERF_S_BRANCH_STACK |
							 TY_PERF_S_REGS_USER | TY_PERF_S_STACK_USER,
					  .sample_regs_user = 0x5};
	uint64_t words[] = {0x1234, 2, (uint64_t)-512,	       0x1234, 1,  1,  2, 3, /* a branch */
			    2,	    8, 9 /* abi, registers */, 16,     77, 88, 12};
	struct ty_perf_rec r = {
		.type = TY_PERF_SAMPLE, .body = (const uint8_t *)words, .n = sizeof(words)};
	struct ty_perf_sample s;

	assert_int_equal(ty_perf_sample_parse(&r, &attr, &s), 0);
	assert_int_equal(s.ip, 0x1234);
	assert_int_equal(s.ips_n, 2);
	assert_int_equal(s.branches_n, 1);
	assert_int_equal(ty_perf_branch_at(&s, 0).to, 2);
	assert_true(ty_perf_branch_at(&s, 0).predicted);
	assert_true(ty_perf_branch_at(&s, 0).mispredicted);
	assert_int_equal(s.regs_abi, 2);
	assert_memory_equal(s.regs, &words[9], 16);
	assert_memory_equal(s.stack, &words[12], 16);
	assert_int_equal(s.stack_n, 12);
	words[14] = 17; /* more counts than is there */
	assert_int_equal(ty_perf_sample_parse(&r, &attr, &s), 0);
	assert_int_equal(s.stack_n, 16);
	for (r.n = 0; r.n < sizeof(words); r.n += 8)
		assert_true(ty_perf_sample_parse(&r, &attr, &s) < 0);
}

/* Periods that no sum can hold: it stays at the highest, and shares at one or below. */
static void sums_of_periods_do_not_wrap(void **state)
{
	struct ty_samples *s = some();
	struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_hot_of of = {.s = s, .w = &w};
	struct ty_flame f;
	struct ty_hot h;

	vec_each (v, &s->v)
		v->period = UINT64_MAX - 5;
	assert_int_equal(ty_hot_find(&of, &h), 0);
	assert_true(h.weight == UINT64_MAX);
	assert_true(row(s, &h, "main")->total_weight == UINT64_MAX);
	for (uint32_t i = 0; i < h.funcs_n; i++)
		assert_true(h.funcs[i].share <= 1);
	ty_hot_fini(&h);
	assert_int_equal(ty_flame_find(&of, TY_FLAME_CALLEES, UINT32_MAX, &f), 0);
	vec_each (n, &f.v)
		assert_true(n->weight >= UINT64_MAX - 5 && n->weight <= f.v.v[0].weight);
	ty_flame_fini(&f);
	ty_samples_free(s);
}

static void most_frequent_callers(void **state)
{
	struct ty_samples *s = some();
	struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_hot_of of = {.s = s, .w = &w};
	struct ty_hot_callers by;

	(void)state;
	/* main>a>a>b, main>a>b, main>a>b: main calls the last a in two of the three. */
	assert_int_equal(ty_hot_callers(&of, ty_samples_func(s, "b", "prog", false), &by), 0);
	assert_int_equal(by.of, 3);
	assert_int_equal(by.n, 2);
	assert_int_equal(by.samples, 2);
	assert_string_equal(ty_samples_str(s, s->funcs.v[by.v[0]].name), "a");
	assert_string_equal(ty_samples_str(s, s->funcs.v[by.v[1]].name), "main");
	assert_int_equal(ty_hot_callers(&of, ty_samples_func(s, "main", "prog", false), &by), 0);
	assert_int_equal(by.n, 0);
	ty_samples_free(s);
}

/* Of few samples nothing is noted; of page faults that the kernel ran. */
static void note_of_the_answer(void **state)
{
	/* That no sample stands for the most time is of no function. */
	struct ty_hot_row row[] = {{.share = 0.5, .low = 0.5, .high = 0.5},
				   {.self = 5, .share = 0.26, .low = 0.15, .high = 0.4}};
	struct ty_hot h = {.samples = 9, .in_kernel = 9, .funcs = row, .funcs_n = 2};
	char text[200];

	(void)state;
	assert_false(ty_hot_note_text(&h, "clear (prog)", text, sizeof(text)));
	h.samples = 20;
	row[1].self = 2;
	assert_false(ty_hot_note_text(&h, "clear (prog)", text, sizeof(text)));
	row[1].self = 5;
	assert_true(ty_hot_note_text(&h, "clear (prog)", text, sizeof(text)));
	assert_string_equal(text, "clear (prog) took 26% of the CPU samples (5 of 20 samples; 95% "
				  "interval 15 to 40%)");
	h.weights.by_time = true;
	h.weights.on_cpu_ns = 1200000000;
	h.weights.ran = 3;
	h.no_call = 15;
	h.faults = 2;
	assert_true(ty_hot_note_text(&h, "clear (prog)", text, sizeof(text)));
	assert_null(strstr(text, "kernel"));
	h.faults = 12;
	assert_true(ty_hot_note_text(&h, "clear (prog)", text, sizeof(text)));
	assert_string_equal(text,
			    "clear (prog) used about 26% of the 1.200 s of CPU time (3 threads; "
			    "5 of 20 samples; 95% interval 15 to 40%); 12 of the samples are in "
			    "the kernel without a "
			    "system call (page faults, interrupts)");
}

/* Of code without a symbol the nearest caller with a name that most samples share. */
static void unnamed_has_a_named_caller(void **state)
{
	struct ty_samples *s = ty_samples_new();
	struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_hot_of of = {.s = s, .w = &w};
	struct ty_hot_named by;

	(void)state;
	assert_non_null(s);
	for (unsigned i = 0; i < 8; i++)
		sample(s, i, 7, "main>pp_subst>regexec>?>?");
	sample(s, 9, 7, "main>pp_subst>rare>?");
	sample(s, 10, 7, "main>regexec>?>pp_subst>?"); /* far from it */
	sample(s, 11, 7, "main>pp_add");
	for (unsigned i = 12; i < 15; i++)
		sample(s, i, 8, "_start>__libc_start_call_main>main>?>low");
	ty_samples_sort(s);
	assert_int_equal(ty_hot_named_caller(&of, ty_samples_func(s, "", "prog", false), &by), 0);
	assert_string_equal(ty_samples_str(s, s->funcs.v[by.func].name), "regexec");
	assert_int_equal(by.samples, 9);
	assert_int_equal(by.of, 10);
	/* One sample is not enough. */
	assert_int_equal(ty_hot_named_caller(&of, ty_samples_func(s, "pp_add", "prog", false), &by),
			 0);
	assert_int_equal(by.of, 1);
	assert_int_equal(by.func, UINT32_MAX);
	/* Below main is everything. */
	assert_int_equal(ty_hot_named_caller(&of, ty_samples_func(s, "low", "prog", false), &by),
			 0);
	assert_int_equal(by.of, 3);
	assert_int_equal(by.func, UINT32_MAX);
	/* A function of the program that begins like one of the C library's. */
	for (unsigned i = 15; i < 18; i++)
		sample(s, i, 9, "__clone3@@GLIBC_2.38>start_thread>clone_row>?>deep");
	ty_samples_sort(s);
	assert_int_equal(ty_hot_named_caller(&of, ty_samples_func(s, "deep", "prog", false), &by),
			 0);
	assert_string_equal(ty_samples_str(s, s->funcs.v[by.func].name), "clone_row");
	ty_samples_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(unnamed_has_a_named_caller),
					   cmocka_unit_test(note_of_the_answer),
					   cmocka_unit_test(sums_of_periods_do_not_wrap),
					   cmocka_unit_test(functions_and_lines),
					   cmocka_unit_test(intervals),
					   cmocka_unit_test(trees),
					   cmocka_unit_test(most_frequent_callers),
					   cmocka_unit_test(parts_of_a_sample)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

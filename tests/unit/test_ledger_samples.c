/* SPDX-License-Identifier: MIT */
/* A ledger's user mode divided by CPU samples: which samples lie in it, and their shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "ledger_samples.h"

#define MS UINT64_C(1000000)

enum { NR_READ = 0 };

static struct ty_samples *samples;

static void sample(uint64_t ns, int tid, const char *function, bool kernel)
{
	const struct ty_sample_frame f = {
		.func = ty_samples_func(samples, function,
					kernel ? "[kernel.kallsyms]" : "/bin/prog", kernel)};
	const uint32_t node = ty_samples_node(samples, 0, ty_samples_frame(samples, &f));

	assert_int_equal(vec_push(&samples->v, (struct ty_sample){.ns = ns,
								  .tid = tid,
								  .period = 10,
								  .in_kernel = kernel,
								  .node = *function ? node : 0}),
			 0);
}

static struct ty_ledger ledger_of(const struct ty_explain *x, int tid, uint64_t from, uint64_t to)
{
	struct ty_ledger l;

	assert_int_equal(ty_ledger_thread(x, ty_model_thread_find(x->m, tid, from), from, to, &l),
			 0);
	return l;
}

static const struct ty_ledger_row *user_row(const struct ty_ledger *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (!strcmp(l->rows[i].row, "on CPU outside system calls"))
			return &l->rows[i];
		assert_int_equal(l->rows[i].samples, 0);
	}
	fail_msg("no user mode");
	return NULL;
}

/* 11 is in user mode from 1 to 15, in a call to 16, in user mode to 20; then 12 runs, whose calls
 * were not recorded. */
static struct ty_explain machine(void)
{
	struct ty_explain x;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 15 * MS, 11, NR_READ);
	ty_mx_exit(0, 16 * MS, 11, NR_READ, 0);
	ty_mx_switch(0, 20 * MS, 11, S, 12);
	ty_mx_switch(0, 30 * MS, 12, S, 0);
	x = explain(ty_mx_end(), 0);
	samples = ty_samples_new();
	assert_non_null(samples);
	return x;
}

static void only_user_mode_of_the_thread(void **state)
{
	struct ty_explain x = machine();
	const struct ty_ledger_row *r;
	struct ty_ledger l;
	char text[200];

	(void)state;
	for (unsigned i = 0; i < 9; i++)
		sample(2 * MS + i * MS, 11, i < 6 ? "a" : "b", false);
	sample(15 * MS + MS / 2, 11, "vfs_read", true); /* in the call */
	sample(17 * MS, 11, "page_fault", true);
	sample(18 * MS, 11, "", false);
	sample(19 * MS, 12, "b", false); /* 12 did not run then */
	sample(25 * MS, 11, "b", false); /* nor did 11 */
	sample(26 * MS, 12, "b", false); /* its mode is not known */
	ty_samples_sort(samples);
	assert_int_equal(ty_samples_by_thread(samples), 0);
	x.samples = samples;
	l = ledger_of(&x, 11, 0, UINT64_MAX);
	r = user_row(&l);
	assert_int_equal(r->ns, 18 * MS);
	assert_int_equal(r->samples, 11);
	assert_int_equal(r->weight, 110);
	assert_int_equal(r->funcs_n, 4);
	assert_int_equal(r->funcs_left, 0);
	ty_ledger_share_text(samples, r, 0, text, sizeof(text));
	assert_string_equal(text, "~55% (28 to 79%, 6 of 11 samples) a (prog)");
	assert_int_equal(r->func[3].samples, 1);
	assert_true(r->func[2].func == UINT32_MAX || r->func[3].func == UINT32_MAX);
	for (uint32_t i = 2; i < 4; i++) {
		ty_ledger_share_text(samples, r, i, text, sizeof(text));
		assert_non_null(strstr(text, r->func[i].func == UINT32_MAX
						     ? " samples) [no symbol]"
						     : " samples) page_fault ([kernel.kallsyms])"));
	}
	/* A single sample says nothing, a few of all neither. */
	assert_int_equal(ty_ledger_shares_shown(r), 2);
	ty_ledger_fini(&l);
	l = ledger_of(&x, 11, 7 * MS, 10 * MS);
	r = user_row(&l);
	assert_int_equal(r->samples, 3);
	assert_int_equal(r->funcs_n, 2);
	assert_int_equal(r->func[1].samples, 1);
	assert_int_equal(ty_ledger_shares_shown(r), 0);
	ty_ledger_fini(&l);
	l = ledger_of(&x, 12, 0, UINT64_MAX);
	for (uint32_t i = 0; i < l.n; i++)
		assert_int_equal(l.rows[i].samples, 0);
	ty_ledger_fini(&l);
	ty_samples_free(samples);
	ty_mx_drop();
}

/* More functions than a row names: their samples count in the shares of the others. */
static void many_functions(void **state)
{
	struct ty_explain x = machine();
	const struct ty_ledger_row *r;
	struct ty_ledger l;
	char name[] = "f";

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		name[0] = (char)('a' + i);
		for (unsigned k = 0; k < 13 - i; k++)
			sample(2 * MS + i * 100000 + k, 11, name, false);
	}
	ty_samples_sort(samples);
	assert_int_equal(ty_samples_by_thread(samples), 0);
	x.samples = samples;
	l = ledger_of(&x, 11, 0, UINT64_MAX);
	r = user_row(&l);
	assert_int_equal(r->samples, 90);
	assert_int_equal(r->funcs_n, TY_LEDGER_FUNCS);
	assert_int_equal(r->funcs_left, 12 - TY_LEDGER_FUNCS);
	for (uint32_t i = 0; i < r->funcs_n; i++) {
		const struct ty_ledger_share v = ty_ledger_share(samples, r, i);

		assert_int_equal(r->func[i].samples, 13 - i);
		assert_int_equal(v.function[0], 'a' + (int)i);
		assert_true(v.low < v.share && v.share < v.high);
	}
	ty_ledger_fini(&l);
	ty_samples_free(samples);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(only_user_mode_of_the_thread),
					   cmocka_unit_test(many_functions)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

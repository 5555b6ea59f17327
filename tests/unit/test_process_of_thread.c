/* SPDX-License-Identifier: MIT */
/* Processes: which thread is whose, and the ledger of all threads of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fixture_model.h"
#include "ledger.h"
#include "process_of_thread.h"

#define THREAD (0x10000 | 0x100) /* CLONE_THREAD | CLONE_VM */

/* Two processes, 10 with threads 11 to 13 and 20 with thread 21, that run and sleep at random. */
static const struct ty_model *random_model(unsigned seed)
{
	static const int tids[] = {10, 11, 12, 13, 20, 21};
	int on = 10;
	uint64_t ts = 1000;

	ty_mx_begin("mode=all\n", "taken 0 0\n10\t10\t1\t5\tR\t0\t0\t0\t-\t-\t-\t-\tten\n");
	ty_mx_switch(0, ts++, 0, R, 10);
	for (int i = 1; i < 6; i++)
		ty_mx_fork(0, ts++, i == 5 ? 20 : 10, tids[i], tids[i] == 20 ? 0 : THREAD);
	for (int i = 0; i < 3000; i++) {
		int next = tids[rand_r(&seed) % 6];

		ts += 1 + ((uint64_t)rand_r(&seed) >> (10 + rand_r(&seed) % 20));
		if (rand_r(&seed) % 300 == 0) {
			ty_mx_gap(0, ts, ts + 50, 2);
			ts += 100;
		} else if (rand_r(&seed) % 3 && next != on) {
			if (rand_r(&seed) % 2)
				ty_mx_waking(0, ts++, on, next, 0);
			ty_mx_switch(0, ts, on, rand_r(&seed) % 2 ? S : RP, next);
			on = next;
		} else {
			ty_mx_enter(0, ts++, on, rand_r(&seed) % 4);
			ty_mx_exit(0, ts, on, 0, 0);
		}
	}
	return ty_mx_end();
}

static uint32_t of(const struct ty_model *m, int32_t tid)
{
	return ty_model_thread_find(m, tid, ty_model_summary(m)->end_ns);
}

static void threads_belong_to_their_leader(void **state)
{
	const struct ty_model *m = random_model(1);

	assert_int_equal(ty_process_of(m, of(m, 13)), of(m, 10));
	assert_int_equal(ty_process_of(m, of(m, 10)), of(m, 10));
	assert_int_equal(ty_process_of(m, of(m, 21)), of(m, 20));
	assert_int_equal(ty_process_of(m, of(m, 20)), of(m, 20));
	ty_mx_drop();
}

static uint64_t row_ns(const struct ty_ledger *l, const char *row)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!strcmp(l->rows[i].row, row))
			return l->rows[i].ns;
	return 0;
}

static int ledger_of(const struct ty_explain *x, uint32_t process, uint64_t from, uint64_t to,
		     struct ty_ledger *out)
{
	struct ty_member *all = ty_members_find(x->m);
	const struct ty_member *of;
	uint32_t n;
	int r;

	assert_non_null(all);
	of = ty_members_of(x->m, all, process, &n);
	assert_int_equal(of->process, process);
	r = ty_ledger_process(x, of, n, from, to, out);
	free(all);
	return r;
}

/* Row by row what its threads' ledgers say, in any window. */
static void a_process_is_the_sum_of_its_threads(void **state)
{
	for (unsigned seed = 1; seed < 8; seed++) {
		const struct ty_model *m = random_model(seed);
		const struct ty_summary *s = ty_model_summary(m);
		struct ty_explain x = {.m = m};
		uint64_t from = s->start_ns + (s->end_ns - s->start_ns) / 16 * (seed - 1),
			 to = s->end_ns - (s->end_ns - s->start_ns) / 32 * (seed - 1), sum = 0,
			 first = UINT64_MAX, last = 0;
		struct ty_ledger p, t[4];

		assert_int_equal(ledger_of(&x, of(m, 10), from, to, &p), 0);
		assert_int_equal(p.threads, 4);
		for (int i = 0; i < 4; i++) {
			assert_int_equal(ty_ledger_thread(&x, of(m, 10 + i), from, to, &t[i]), 0);
			assert_int_equal(t[i].total_ns, t[i].end_ns - t[i].start_ns);
			sum += t[i].total_ns;
			first = t[i].start_ns < first ? t[i].start_ns : first;
			last = t[i].end_ns > last ? t[i].end_ns : last;
		}
		assert_int_equal(p.total_ns, sum);
		assert_int_equal(p.start_ns, first);
		assert_int_equal(p.end_ns, last);
		sum = 0;
		for (uint32_t i = 0; i < p.n; i++) {
			uint64_t parts = 0;

			for (int k = 0; k < 4; k++)
				parts += row_ns(&t[k], p.rows[i].row);
			assert_int_equal(p.rows[i].ns, parts);
			sum += p.rows[i].ns;
		}
		assert_int_equal(sum, p.total_ns);
		for (int i = 0; i < 4; i++)
			ty_ledger_fini(&t[i]);
		ty_ledger_fini(&p);
		ty_mx_drop();
	}
}

static void nobody_lived_then(void **state)
{
	const struct ty_model *m = random_model(2);
	struct ty_explain x = {.m = m};
	struct ty_ledger p;

	assert_int_equal(ledger_of(&x, of(m, 20), 0, 10, &p), 0);
	assert_int_equal(p.n, 0);
	assert_int_equal(p.threads, 0);
	assert_int_equal(p.total_ns, 0);
	ty_ledger_fini(&p);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_belong_to_their_leader),
		cmocka_unit_test(a_process_is_the_sum_of_its_threads),
		cmocka_unit_test(nobody_lived_then),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}

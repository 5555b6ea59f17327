/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "paged_bytes.h"

enum { N = 300000 };

static void fill(struct ty_paged *b)
{
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(ty_paged_add(b, &i, sizeof(i)), 0);
	assert_int_equal(b->n, N * sizeof(uint32_t));
	for (uint32_t i = 0; i < N; i++)
		assert_memory_equal(b->p + i * sizeof(i), &i, sizeof(i));
}

/* It grows in memory, and from the limit on in a file. */
static void beyond_the_limit_it_is_mapped(void **state)
{
	static const uint64_t limits[] = {0, N * sizeof(uint32_t) * 2, 1000, 1};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct ty_paged b = {.limit = limits[i]};

		fill(&b);
		assert_int_equal(b.mapped, i >= 2);
		ty_paged_fini(&b);
		assert_null(b.p);
		assert_int_equal(b.n + b.room, 0);
	}
}

static void without_a_file_it_stays_in_memory(void **state)
{
	struct ty_paged b = {.limit = 1000};

	(void)state;
	assert_int_equal(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
	fill(&b);
	assert_false(b.mapped);
	unsetenv("TMPDIR");
	ty_paged_fini(&b);
}

/* A file that cannot grow, as on a full disk: what it holds returns to memory. */
static void a_full_disk_returns_it_to_memory(void **state)
{
	struct ty_paged b = {.limit = 1000};
	struct rlimit was;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){N, was.rlim_max}), 0);
	assert_int_equal(ty_paged_reserve(&b, 2000), 0);
	assert_true(b.mapped);
	fill(&b);
	assert_false(b.mapped);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	ty_paged_fini(&b);
}

static void one_that_is_too_large_leaves_what_there_is(void **state)
{
	(void)state;
	for (unsigned mapped = 0; mapped < 2; mapped++) {
		struct ty_paged b = {.limit = mapped};

		assert_int_equal(ty_paged_add(&b, "abc", 4), 0);
		assert_int_equal(b.mapped, mapped);
		assert_int_equal(ty_paged_reserve(&b, SIZE_MAX / 2), -TY_ENOMEM);
		assert_string_equal(b.p, "abc");
		ty_paged_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beyond_the_limit_it_is_mapped),
		cmocka_unit_test(without_a_file_it_stays_in_memory),
		cmocka_unit_test(a_full_disk_returns_it_to_memory),
		cmocka_unit_test(one_that_is_too_large_leaves_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

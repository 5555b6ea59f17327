/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample_parts.h"

enum { IPS = 3, REGS = 2, STACK = 16 };

static uint64_t words[64];
static size_t n;

/* id, address, pid and tid, time, CPU, period, and the callchain */
static void begin(uint64_t ips)
{
	const uint64_t head[] = {1, 0, 9ull << 32 | 8, 777, 0, 5, ips};

	memcpy(words, head, sizeof(head));
	n = sizeof(head) / 8;
	for (unsigned i = 0; i < IPS; i++)
		words[n++] = 0x1000 + i;
}

static void add(uint64_t word)
{
	words[n++] = word;
}

/* In memory of exactly this size: valgrind and ASan see each read beyond it. */
static bool parts(size_t bytes, bool user, struct ty_sample_parts *x)
{
	char *p = malloc(bytes + 1);
	bool good;

	memcpy(p, words, bytes);
	p = realloc(p, bytes ? bytes : 1);
	good = ty_sample_parts(p, bytes, user, REGS, x);
	free(p);
	return good;
}

static void of_a_callchain(void **state)
{
	struct ty_sample_parts x;

	(void)state;
	begin(IPS);
	assert_true(parts(8 * n, false, &x));
	assert_int_equal(x.pid, 8);
	assert_int_equal(x.ns, 777);
	assert_int_equal(x.ips, IPS);
	assert_int_equal(words[x.chain_at / 8], 0x1000);
	for (size_t less = 0; less < 8 * n; less++)
		assert_false(parts(less, false, &x));
	begin(IPS + 1);
	assert_false(parts(8 * n, false, &x));
	begin(UINT64_MAX / 8 + 2); /* overflows */
	assert_false(parts(8 * n, false, &x));
}

/* Any that is too short is malformed, wherever it ends. */
static void of_registers_and_stack(void **state)
{
	struct ty_sample_parts x;

	(void)state;
	for (unsigned abi = 0; abi < 2; abi++) {
		begin(IPS);
		add(abi);
		for (unsigned i = 0; abi && i < REGS; i++)
			add(0x2000 + i);
		add(STACK);
		add(1);
		add(2);
		add(STACK - 8); /* filled */
		assert_true(parts(8 * n, true, &x));
		assert_int_equal(!x.regs_at, !abi);
		if (abi)
			assert_int_equal(words[x.regs_at / 8], 0x2000);
		assert_int_equal(words[x.stack_at / 8], STACK);
		assert_int_equal(x.size, STACK);
		assert_int_equal(x.used, STACK - 8);
		for (size_t less = 0; less < 8 * n; less++)
			assert_false(parts(less, true, &x));
		words[n - 1] = UINT64_MAX; /* no more than there are */
		assert_true(parts(8 * n, true, &x));
		assert_int_equal(x.used, STACK);
		words[n - 4] = UINT64_MAX - 7; /* overflows */
		assert_false(parts(8 * n, true, &x));
	}
	/* Of a kernel thread: neither. */
	begin(IPS);
	add(0);
	add(0);
	assert_true(parts(8 * n, true, &x));
	assert_int_equal(x.size + x.used + x.regs_at, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_callchain),
		cmocka_unit_test(of_registers_and_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Parameters by name in this program, which is built with -g: the registers of the ABI. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols.h"

enum mood { GOOD, BAD };
struct pair {
	long a, b;
};
typedef const signed char tiny;

#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noinline, noclone, used, externally_visible))
#endif
int params_plain(short s, double d, const char *text, enum mood m, tiny t, _Bool yes,
		 uint64_t sixth, long seventh, long ninth, long tenth);
int params_pair(int before, struct pair by_value, int behind);
struct pair params_returned(int a);
void params_none(void);

KEPT int params_plain(short s, double d, const char *text, enum mood m, tiny t, _Bool yes,
		      uint64_t sixth, long seventh, long ninth, long tenth)
{
	return s + (int)d + *text + (int)m + t + yes + (int)(sixth + (uint64_t)seventh) +
	       (int)(ninth + tenth);
}

KEPT int params_pair(int before, struct pair by_value, int behind)
{
	return before + (int)by_value.a + behind;
}

KEPT struct pair params_returned(int a)
{
	return (struct pair){a, a};
}

KEPT void params_none(void)
{
	__asm__ volatile("");
}

static struct ty_symbols *own(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	assert_true(fd >= 0 && !fstat(fd, &st));
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED);
	close(fd);
	return ty_symbols_new(p, (size_t)st.st_size);
}

static size_t params(struct ty_symbols *s, const char *name, struct ty_param *p, const char **why)
{
	struct ty_symbol f;

	assert_int_equal(ty_symbols_named(s, name, &f, 1), 1);
	return ty_symbols_params(s, &f, p, 16, why);
}

static void is(const struct ty_param *p, const char *name, int reg, char sort, unsigned size)
{
	assert_string_equal(p->name, name);
	assert_int_equal(p->reg, reg);
	assert_true(reg < 0 || (p->sort == sort && p->size == size));
}

static void registers(void **state)
{
	struct ty_symbols *s = own();
	struct ty_param p[16];
	const char *why;
#if defined(__x86_64__)
	const bool more = false;
#else
	const bool more = true;
#endif

	assert_int_equal(params(s, "params_plain", p, &why), 10);
	is(&p[0], "s", 0, 's', 2);
	is(&p[1], "d", -1, 0, 0);
	is(&p[2], "text", 1, 'x', 8);
	is(&p[3], "m", 2, 'u', 4);
	is(&p[4], "t", 3, 's', 1);
	is(&p[5], "yes", 4, 'u', 1);
	is(&p[6], "sixth", 5, 'u', 8);
	is(&p[7], "seventh", more ? 6 : -1, 's', 8);
	is(&p[8], "ninth", more ? 7 : -1, 's', 8);
	is(&p[9], "tenth", -1, 's', 8);
	ty_symbols_free(s);
}

static void not_known(void **state)
{
	struct ty_symbols *s = own();
	struct ty_param p[16];
	const char *why;

	assert_int_equal(params(s, "params_pair", p, &why), 3);
	is(&p[0], "before", 0, 's', 4);
	is(&p[1], "by_value", -1, 0, 0);
	is(&p[2], "behind", -1, 0, 0);
	assert_int_equal(params(s, "params_returned", p, &why), 0);
	assert_string_equal(why, "it returns a struct");
	assert_int_equal(params(s, "params_none", p, &why), 0);
	assert_null(why);
	ty_symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(registers),
					   cmocka_unit_test(not_known)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

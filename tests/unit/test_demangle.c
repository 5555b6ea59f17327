/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust as authors wrote them; what is none, or would grow without end, stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "demangle.h"

static int slow;

static const char *shown(const char *name)
{
	static struct ty_buf b;

	ty_buf_fini(&b);
	ty_buf_init(&b, 1 << 16);
	ty_buf_adds(&b, "=");
	if ((slow = ty_demangle(name, &b)) <= 0)
		assert_string_equal(b.p, "=");
	return b.p;
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(shown("_ZN3Box4takeEv"), "=Box::take");
	assert_string_equal(shown("_Z3maxIiET_S0_S0_"), "=max<int>");
	assert_string_equal(shown("_ZN4core3fmt5write17h0123456789abcdefE"), "=core::fmt::write");
	assert_string_equal(shown("_RNvC7mycrate3foo"), "=mycrate::foo");
	assert_string_equal(shown("_ZN3Box4takeEv@plt"), "=Box::take@plt");
	assert_string_equal(shown("main"), "=");
	assert_string_equal(shown("_start"), "=");
	assert_string_equal(shown("_Zap"), "=");
	assert_string_equal(shown("_R"), "=");
	assert_string_equal(shown(""), "=");
}

/* Each of 30 arguments has the one before it twice: a gigabyte of text. */
static void grows(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1fI1AIiiE", *p = name + strlen(name);

	(void)state;
	for (unsigned i = 1; i <= 30; i++)
		p += sprintf(p, "S0_IS%c_S%c_E", digits[i], digits[i]);
	strcpy(p, "Evv");
	assert_string_equal(shown(name), "=");
	/* With two of them it is a name. */
	strcpy(name, "_Z1fI1AIiiES0_IS1_S1_ES0_IS2_S2_EEvv");
	assert_string_equal(shown(name), "=f<A<int, int>, A<A<int, int>, A<int, int> >, "
					 "A<A<A<int, int>, A<int, int> >, A<A<int, int>, A<int, "
					 "int> > > >");
}

/* A pack is searched in 2^40 copies of a type: it would take hours. */
static void searches(void **state)
{
	enum { N = 40 };
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[2048] = "_Z1fIDp1aI", *p = name + strlen(name);

	(void)state;
	for (unsigned i = 1; i < N; i++)
		p += sprintf(p, "S_I");
	p += sprintf(p, "iiE");
	for (unsigned i = 0; i + 1 < N; i++)
		p += i < 36 ? sprintf(p, "S%c_E", digits[i]) : sprintf(p, "S1%c_E", digits[i - 36]);
	strcpy(p, "EvT_");
	assert_string_equal(shown(name), "=");
	assert_true(slow < 0);
	/* So are arguments of a conversion that are read, taken back and read again. */
	p = name + sprintf(name, "_ZN1Acv");
	for (unsigned i = 0; i < 60; i++)
		p += sprintf(p, "T_I");
	*p++ = 'i';
	memset(p, 'E', 60);
	strcpy(p + 60, "IiEEv");
	assert_string_equal(shown(name), "=");
	assert_true(slow < 0);
	assert_string_equal(shown("_ZSt8for_eachIJidEEvDpT_"), "=std::for_each<int, double>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(grows),
		cmocka_unit_test(searches),
	};

#ifndef TY_HAVE_IBERTY
	printf("ok 1 - names of C++ and Rust # SKIP built without libiberty\n1..1\n");
	return 0;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}

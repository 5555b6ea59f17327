/* SPDX-License-Identifier: MIT */
/* Functions of addresses: of many at once, of two programs in turn, and after being forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "flow_places.h"
#include "pt_machine.h"

#define BASE 0x400000ull
enum { TID = 7, OTHER = 8, LATER = 1000 };

/* Two functions of `blocks` blocks each, as an ELF file; where the second begins. */
static uint64_t program(struct pm *m, const char *first, const char *second, unsigned blocks,
			struct ty_buf *elf)
{
	uint64_t middle = 0;

	pm_init(m, BASE, (struct pm_options){0});
	for (unsigned k = 0; k < 2; k++) {
		pm_function(m, k ? second : first);
		middle = pm_here(m);
		for (unsigned i = 0; i < blocks; i++)
			pm_block(m, PM_RETURN, 3, 0);
	}
	ty_buf_init(elf, SIZE_MAX / 2);
	pm_elf(m, elf);
	return middle;
}

static const char *name(const struct ty_flow_places *ps, const struct ty_flow_place *p)
{
	return ps->funcs.v[p->func].name;
}

static void test_places(void **state)
{
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);
	struct ty_flow_names *names = ty_flow_names_new(c);
	struct ty_flow_places ps = {0};
	const struct ty_flow_place *p;
	struct ty_buf old, young;
	struct pm m[2];
	uint64_t middle = program(&m[0], "_setjmp", "work.cold", 60000, &old), end;
	uint32_t setjmps;

	end = BASE + m[0].code.len;
	program(&m[1], "_start", "_Unwind_Resume", 60000, &young);
	assert_int_equal(
		0, ty_code_map_elf(c, TID, 0, 0, ty_code_blob(c, "old", old.p, old.len), NULL));
	assert_int_equal(0, ty_code_map_elf(c, TID, LATER, 0,
					    ty_code_blob(c, "young", young.p, young.len), NULL));
	assert_int_equal(0, ty_code_map_elf(c, OTHER, 0, 0,
					    ty_code_blob(c, "young", young.p, young.len), NULL));
	assert_int_equal(0, ty_code_ready(c));
	assert_int_equal(0, ty_flow_places_init(&ps, names));
	p = ty_flow_place_at(&ps, TID, 1, BASE);
	setjmps = p->func;
	assert_true(p->start && !p->entry);
	assert_int_equal(TY_FUNC_SETS_JUMP, ty_flow_trait_of(&ps, setjmps));
	/* More than there is room for: every one of them, twice, in both programs and processes. */
	for (unsigned round = 0; round < 2; round++)
		for (uint64_t ip = BASE; ip < end; ip++) {
			const struct pm_symbol *first = &m[0].symbols.v[0];
			const char *was = ip < middle ? "_setjmp" : "work";
			const char *is = ip < middle ? "_start" : "_Unwind_Resume";

			/* Padding belongs to no function. */
			if (ip >= first->ip + first->size && ip < middle)
				continue;
			p = ty_flow_place_at(&ps, TID, LATER - 1, ip);
			assert_int_equal(ip, p->ip);
			assert_string_equal(was, name(&ps, p));
			/* A part that the compiler put elsewhere begins no function. */
			assert_int_equal(ip == BASE, p->start);
			p = ty_flow_place_at(&ps, round ? OTHER : TID, LATER, ip);
			assert_string_equal(is, name(&ps, p));
			assert_int_equal(ip == BASE || ip == middle, p->start);
			assert_int_equal(ip == BASE, p->entry);
			ip += ip % 3;
		}
	assert_true(ps.places.n < (1 << 18) + 1);
	assert_int_equal(4, ps.funcs.n);
	/* The same function, asked for anew. */
	p = ty_flow_place_at(&ps, TID, 1, BASE);
	assert_int_equal(1, p->from_ns);
	p = ty_flow_place_at(&ps, TID, 2, BASE);
	assert_int_equal(1, p->from_ns);
	ty_flow_places_forget(&ps);
	p = ty_flow_place_at(&ps, TID, 2, BASE);
	assert_int_equal(2, p->from_ns);
	assert_int_equal(setjmps, p->func);
	assert_int_equal(TY_FUNC_PLAIN, ty_flow_trait_of(&ps, TY_NO_FUNC));
	assert_false(ps.nomem);
	ty_flow_places_fini(&ps);
	ty_flow_names_free(names);
	ty_flow_free(f);
	ty_buf_fini(&old);
	ty_buf_fini(&young);
	pm_fini(&m[0]);
	pm_fini(&m[1]);
}

/* Several at once, as one by one: known ones, the same twice, of no function, of no file. */
static void test_ahead(void **state)
{
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);
	struct ty_flow_names *names = ty_flow_names_new(c);
	struct ty_flow_places each = {0}, ahead = {0};
	struct ty_buf elf;
	struct pm m;
	const uint64_t middle = program(&m, "first", "second.cold", 20, &elf);
	const uint64_t ip[] = {middle,	BASE,	    BASE + 1,	  BASE, BASE + m.symbols.v[0].size,
			       1 << 20, middle + 3, (1 << 20) + 5};
	enum { N = sizeof(ip) / sizeof(*ip) };
	size_t n;

	assert_int_equal(
		0, ty_code_map_elf(c, TID, 0, 0, ty_code_blob(c, "it", elf.p, elf.len), NULL));
	assert_int_equal(0, ty_code_ready(c));
	assert_int_equal(0, ty_flow_places_init(&each, names));
	assert_int_equal(0, ty_flow_places_init(&ahead, names));
	(void)ty_flow_place_at(&ahead, TID, 1, ip[0]);
	assert_true(ahead.fresh);
	ahead.fresh = false;
	ty_flow_places_ahead(&ahead, TID, 1, ip, N);
	n = ahead.places.n;
	assert_int_equal(N - 1, n);
	for (unsigned i = 0; i < N; i++) {
		const struct ty_flow_place *a = ty_flow_place_at(&ahead, TID, 1, ip[i]);
		const struct ty_flow_place *e = ty_flow_place_at(&each, TID, 1, ip[i]);

		assert_string_equal(name(&each, e), name(&ahead, a));
		assert_int_equal(e->func, a->func);
		assert_int_equal(e->lo, a->lo);
		assert_int_equal(e->hi, a->hi);
		assert_int_equal(e->until_ns, a->until_ns);
		assert_int_equal(e->start, a->start);
	}
	assert_int_equal(n, ahead.places.n);
	assert_false(ahead.fresh);
	ty_flow_places_fini(&each);
	ty_flow_places_fini(&ahead);
	ty_flow_names_free(names);
	ty_flow_free(f);
	ty_buf_fini(&elf);
	pm_fini(&m);
}

/* Overloads are shown alike and are different functions; a part of one, placed elsewhere, is not.
 */
static void test_overloads(void **state)
{
	static const char *const own[] = {"_Z4takei", "_Z4taked", "_Z4takei.cold"};
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);
	struct ty_flow_names *names = ty_flow_names_new(c);
	struct ty_flow_places ps = {0};
	struct ty_flow_place p[3];
	uint64_t at[3];
	struct ty_buf elf;
	struct pm m;

	pm_init(&m, BASE, (struct pm_options){0});
	for (unsigned k = 0; k < 3; k++) {
		pm_function(&m, own[k]);
		at[k] = pm_here(&m);
		pm_block(&m, PM_RETURN, 3, 0);
	}
	ty_buf_init(&elf, SIZE_MAX / 2);
	pm_elf(&m, &elf);
	assert_int_equal(
		0, ty_code_map_elf(c, TID, 0, 0, ty_code_blob(c, "it", elf.p, elf.len), NULL));
	assert_int_equal(0, ty_code_ready(c));
	assert_int_equal(0, ty_flow_places_init(&ps, names));
	for (unsigned k = 0; k < 3; k++)
		p[k] = *ty_flow_place_at(&ps, TID, 1, at[k]);
	assert_int_not_equal(p[0].func, p[1].func);
	assert_int_equal(p[0].func, p[2].func);
	assert_true(p[0].start && p[1].start && !p[2].start);
#ifdef TY_HAVE_IBERTY
	assert_string_equal("take", name(&ps, &p[0]));
	assert_string_equal("take", name(&ps, &p[1]));
#endif
	ty_flow_places_fini(&ps);
	ty_flow_names_free(names);
	ty_flow_free(f);
	ty_buf_fini(&elf);
	pm_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_overloads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

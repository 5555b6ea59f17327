/* SPDX-License-Identifier: MIT */
/*
 * Levels of calls out of hand-written instructions, for what a program does not do on request: gaps
 * in the middle of calls, overflows, an exec in the middle, returns that fit nothing in great
 * number. The functions are this program's own (64 bytes each), for their symbols.
 */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow_calls.h"
#include "vec.h"

#define PROGRAM	    0x10000000ull
#define NO_SYMBOLS  0x20000000ull
#define FUNCTION(f) ".type " f ", %function\n" f ": .zero 64\n.size " f ", 64\n"
__asm__(".pushsection .text\n.balign 64\nfunctions:\n" FUNCTION("f0") FUNCTION("f1") FUNCTION("f2")
		FUNCTION("f3") FUNCTION("f4") ".popsection");
extern const char functions[];

struct seen {
	char name[32];
	uint32_t depth;
	uint8_t flags;
};

struct fixture {
	struct ty_flow *f;
	struct ty_flow_names *names;
	struct ty_flow_calls *calls;
	uint64_t at; /* address of f0 */
	uint64_t ts_ns;
	VEC(struct seen) ended;
	uint8_t *file;
};

static void ends(void *ctx, const struct ty_flow_call *c)
{
	struct fixture *x = ctx;
	struct seen s = {.depth = c->depth, .flags = c->flags};

	snprintf(s.name, sizeof(s.name), "%s", ty_flow_calls_function(x->calls, c->func)->name);
	assert_int_equal(0, vec_push(&x->ended, s));
}

static uint8_t *read_self(size_t *n)
{
	FILE *f = fopen("/proc/self/exe", "re");
	uint8_t *p;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*n = (size_t)ftell(f);
	rewind(f);
	p = malloc(*n);
	assert_int_equal(*n, fread(p, 1, *n, f));
	fclose(f);
	return p;
}

/* Where this program lies. */
static int base_of(struct dl_phdr_info *info, size_t n, void *ctx)
{
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

/* In the place of f0, long after all else. */
#define LATE (1ull << 40)
static const uint8_t late[64];

static void begin(struct fixture *x)
{
	struct ty_code *c;
	uint64_t base = 0;
	size_t n;
	int file;

	memset(x, 0, sizeof(*x));
	x->file = read_self(&n);
	x->f = ty_flow_new(NULL, NULL);
	c = ty_flow_code(x->f);
	file = ty_code_blob(c, "program", x->file, n);
	assert_int_equal(0, ty_code_map_elf(c, 7, 0, PROGRAM, file, NULL));
	assert_int_equal(0, ty_code_exec(c, 7, 1000));
	assert_int_equal(0, ty_code_map_elf(c, 7, 1000, PROGRAM, file, NULL));
	dl_iterate_phdr(base_of, &base);
	x->at = PROGRAM + ((uint64_t)(uintptr_t)functions - base);
	assert_int_equal(0, ty_code_jit(c, 7, LATE, x->at, ty_code_function(c, "late", late, 64)));
	ty_code_ready(c);
	x->names = ty_flow_names_new(c);
	x->calls = ty_flow_calls_new(x->names, NULL, ends, x);
	assert_non_null(x->calls);
}

static void feed(struct fixture *x, struct ty_flow_item it)
{
	struct ty_flow_at at = {.item = it, .ts_ns = ++x->ts_ns, .tid = 7, .pid = 7, .cpu = -1};

	assert_int_equal(0, ty_flow_calls_feed(x->calls, &at));
}

/* An instruction of function f, `off` bytes into it. */
static uint64_t in(const struct fixture *x, unsigned f, unsigned off)
{
	return x->at + 64 * f + off;
}

static void insn(struct fixture *x, uint64_t ip, enum ty_flow_class cls, unsigned size)
{
	feed(x, (struct ty_flow_item){
			.kind = TY_FLOW_INSN, .ip = ip, .cls = cls, .size = (uint8_t)size});
}

static void call(struct fixture *x, uint64_t ip)
{
	insn(x, ip, TY_FC_CALL, 5);
}

static void ret(struct fixture *x, uint64_t ip)
{
	insn(x, ip, TY_FC_RETURN, 1);
}

static void nop(struct fixture *x, uint64_t ip)
{
	insn(x, ip, TY_FC_OTHER, 1);
}

static void off(struct fixture *x, enum ty_flow_kind kind)
{
	feed(x, (struct ty_flow_item){.kind = kind, .text = "test"});
}

/* f0 calls f1 calls f2. */
static void three_deep(struct fixture *x)
{
	nop(x, in(x, 0, 0));
	call(x, in(x, 0, 10));
	call(x, in(x, 1, 0));
	nop(x, in(x, 2, 0));
}

static void finish(struct fixture *x, const char *want)
{
	char text[1000] = "";
	size_t n = 0;

	ty_flow_calls_finish(x->calls);
	vec_each (s, &x->ended)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n, "%s%s@%u%s%s%s%s%s%s", n ? " " : "", s->name,
			s->depth, s->flags & TY_CALL_BEFORE ? "b" : "",
			s->flags & TY_CALL_OPEN ? "o" : "", s->flags & TY_CALL_CUT ? "c" : "",
			s->flags & TY_CALL_GAP ? "g" : "", s->flags & TY_CALL_TAIL ? "t" : "",
			s->flags & TY_CALL_SIGNAL ? "s" : "");
	assert_string_equal(want, text);
	vec_fini(&x->ended);
	ty_flow_calls_free(x->calls);
	ty_flow_names_free(x->names);
	ty_flow_free(x->f);
	free(x->file);
}

/* Calls behind a gap, which ends nothing: f0 calls f3, returns to the end. */
static void one_more(struct fixture *x)
{
	call(x, in(x, 0, 30));
	ret(x, in(x, 3, 0));
	nop(x, in(x, 0, 35));
}

/* Returns lost: it continues two levels higher. */
static void test_gap_returns(void **state)
{
	struct fixture x;

	begin(&x);
	three_deep(&x);
	off(&x, TY_FLOW_GAP);
	nop(&x, in(&x, 0, 20));
	one_more(&x);
	finish(&x, "f2@2cg f1@1cg f3@1 f0@0og");
}

/* Calls lost: it continues further down, in a function that returns to one that is known. */
static void test_gap_calls(void **state)
{
	struct fixture x;

	begin(&x);
	three_deep(&x);
	off(&x, TY_FLOW_OVERFLOW);
	nop(&x, in(&x, 4, 20)); /* called by f2, or by what f2 called: the level is at least this */
	ret(&x, in(&x, 4, 30));
	nop(&x, in(&x, 2, 20));
	ret(&x, in(&x, 2, 21));
	ret(&x, in(&x, 1, 5));
	nop(&x, in(&x, 0, 15));
	one_more(&x);
	finish(&x, "f4@3b f2@2g f1@1g f3@1 f0@0og");
}

/* The same without a symbol: the level stays, and the first return that fits decides. */
static void test_gap_no_symbol(void **state)
{
	struct fixture x;

	begin(&x);
	three_deep(&x);
	off(&x, TY_FLOW_GAP);
	nop(&x, NO_SYMBOLS);
	ret(&x, NO_SYMBOLS + 1);
	nop(&x, in(&x, 0, 15));
	one_more(&x);
	finish(&x, "f2@2cg f1@1g f3@1 f0@0og");
}

/* In doubt, a call from where one was made before shows that that one is over. */
static void test_gap_settled(void **state)
{
	struct fixture x;

	begin(&x);
	nop(&x, NO_SYMBOLS);
	call(&x, NO_SYMBOLS + 1);
	call(&x, in(&x, 1, 0));
	off(&x, TY_FLOW_GAP);
	nop(&x, NO_SYMBOLS + 0);
	call(&x, NO_SYMBOLS + 1);
	ret(&x, in(&x, 3, 0));
	nop(&x, NO_SYMBOLS + 6);
	finish(&x, "f1@1cg f3@1 0x20000000@0bog");
}

/* Another program under the same addresses. */
/* What has no time is looked up as of the end; that does not name what ran before. */
static void test_no_time(void **state)
{
	struct fixture x;

	begin(&x);
	x.ts_ns = TY_FLOW_NO_TIME - 1;
	call(&x, in(&x, 0, 0));
	x.ts_ns = 1;
	nop(&x, in(&x, 0, 0));
	finish(&x, "f0@1o late@0o");
}

static void test_exec(void **state)
{
	struct fixture x;

	begin(&x);
	three_deep(&x);
	insn(&x, in(&x, 2, 1), TY_FC_FAR_CALL, 2);
	off(&x, TY_FLOW_STOP);
	x.ts_ns = 2000;
	nop(&x, in(&x, 0, 0));
	call(&x, in(&x, 0, 1));
	nop(&x, in(&x, 1, 0));
	finish(&x, "f2@2c f1@1c f0@0c f1@1o f0@0o");
}

/* A system call continues where it was, and a signal's handler is a call of its own. */
static void test_signal(void **state)
{
	struct fixture x;

	begin(&x);
	three_deep(&x);
	insn(&x, in(&x, 2, 1), TY_FC_FAR_CALL, 2);
	off(&x, TY_FLOW_STOP);
	nop(&x, in(&x, 4, 0));
	ret(&x, in(&x, 4, 1));
	insn(&x, NO_SYMBOLS, TY_FC_FAR_CALL, 2);
	off(&x, TY_FLOW_STOP);
	nop(&x, in(&x, 2, 3));
	ret(&x, in(&x, 2, 4));
	ret(&x, in(&x, 1, 5));
	nop(&x, in(&x, 0, 15));
	finish(&x, "f4@3s f2@2 f1@1 f0@0o");
}

/* A return that fits nothing keeps the level. */
static void test_unmatched(void **state)
{
	struct fixture x;

	begin(&x);
	three_deep(&x);
	for (unsigned i = 0; i < 5; i++)
		ret(&x, NO_SYMBOLS + 16 * i);
	ret(&x, NO_SYMBOLS + 100);
	nop(&x, in(&x, 1, 5));
	ret(&x, in(&x, 1, 6));
	nop(&x, in(&x, 0, 15));
	one_more(&x);
	finish(&x, "f2@2 f1@1 f3@1 f0@0o");
}

/* Deep, and with returns that fit nothing all the time: the work stays in proportion (under
 * valgrind, too: with a search of the whole stack each, this takes minutes). */
static void test_deep(void **state)
{
	enum { DEEP = 300000 };
	struct fixture x;

	begin(&x);
	nop(&x, in(&x, 0, 0));
	for (unsigned i = 0; i < DEEP; i++)
		call(&x, in(&x, 1, 0));
	nop(&x, in(&x, 1, 0));
	for (unsigned i = 0; i < DEEP; i++)
		ret(&x, in(&x, 2 + i % 3, 32));
	x.ended.n = 0;
	ty_flow_calls_finish(x.calls);
	assert_true(x.ended.n > DEEP);
	x.ended.n = 0;
	finish(&x, "");
}

/* More functions than are kept apart: the first ones stay what they are, memory does not grow. */
static void test_functions(void **state)
{
	const struct ty_flow_calls_function *last;
	struct fixture x;

	begin(&x);
	nop(&x, in(&x, 0, 0));
	for (unsigned i = 0; i < TY_CALLS_FUNCS + 100; i++) {
		call(&x, in(&x, 0, 10));
		ret(&x, NO_SYMBOLS + 16 * i);
	}
	call(&x, in(&x, 0, 10));
	ret(&x, NO_SYMBOLS);
	nop(&x, in(&x, 0, 15));
	assert_int_equal(TY_CALLS_FUNCS, ty_flow_calls_functions(x.calls));
	last = ty_flow_calls_function(x.calls, TY_CALLS_FUNCS - 1);
	assert_string_equal("(later functions)", last->name);
	assert_int_equal(TY_CALLS_FUNCS + 101, x.ended.n);
	assert_string_equal("0x20000000", x.ended.v[0].name);
	assert_string_equal("0x20000000", x.ended.v[TY_CALLS_FUNCS + 100].name);
	assert_string_equal(last->name, x.ended.v[TY_CALLS_FUNCS + 99].name);
	assert_string_equal(last->name, x.ended.v[TY_CALLS_FUNCS - 2].name);
	assert_string_not_equal(last->name, x.ended.v[TY_CALLS_FUNCS - 3].name);
	x.ended.n = 0;
	finish(&x, "f0@0o");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gap_returns),   cmocka_unit_test(test_gap_calls),
		cmocka_unit_test(test_gap_no_symbol), cmocka_unit_test(test_gap_settled),
		cmocka_unit_test(test_no_time),	      cmocka_unit_test(test_exec),
		cmocka_unit_test(test_signal),	      cmocka_unit_test(test_unmatched),
		cmocka_unit_test(test_deep),	      cmocka_unit_test(test_functions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

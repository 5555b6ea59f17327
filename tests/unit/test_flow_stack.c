/* SPDX-License-Identifier: MIT */
/* The stack of calls of a thread: levels, sums handed to callers, returns, longjmp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow_calls.h"
#include "flow_stack.h"

static struct ty_flow_call ended[16];
static unsigned ends;

static void end(void *ctx, const struct ty_flow_call *c)
{
	ended[ends++ % 16] = *c;
}

static struct ty_flow_stack stack(void)
{
	ends = 0;
	return (struct ty_flow_stack){.end = end, .base = TY_NO_LEVEL};
}

static void push(struct ty_flow_stack *s, uint32_t func, uint64_t ret, uint64_t start_ns)
{
	struct ty_flow_call c = {.func = func, .ret = ret, .start_ns = start_ns};

	assert_int_equal(
		ty_flow_stack_push(s, &c, 0x1000 * (func + 1), 0x1000 * (func + 1) + 0x100), 0);
}

static void sums_go_to_the_caller(void **state)
{
	struct ty_flow_stack s = stack();

	push(&s, 0, 0, 100);
	s.insns += 3;
	push(&s, 1, 0x1010, 200);
	s.insns += 5;
	ty_flow_stack_pop(&s, 250, TY_CALL_GAP);
	assert_int_equal(ends, 1);
	assert_int_equal(ended[0].insns, 5);
	assert_int_equal(ended[0].self_insns, 5);
	assert_int_equal(ended[0].end_ns, 250);
	assert_int_equal(ended[0].depth, 1);
	assert_int_equal(ended[0].caller, 0);
	assert_int_equal(ty_flow_stack_top(&s)->call.children_ns, 50);
	assert_true(ty_flow_stack_top(&s)->call.flags & TY_CALL_GAP);
	s.insns += 2;
	ty_flow_stack_pop(&s, 250, 0);
	assert_int_equal(ended[1].insns, 10);
	assert_int_equal(ended[1].self_insns, 5);
	ty_flow_stack_fini(&s);
}

static void levels_are_found_from_the_top(void **state)
{
	struct ty_flow_stack s = stack();

	push(&s, 0, 0x10, 1);
	push(&s, 1, 0x1010, 2);
	push(&s, 2, 0x2020, 3);
	push(&s, 1, 0x3030, 4); /* a recursion */
	assert_int_equal(ty_flow_stack_returns_to(&s, 4, 0x2020), 2);
	assert_int_equal(ty_flow_stack_returns_to(&s, 2, 0x2020), TY_NO_LEVEL);
	assert_int_equal(ty_flow_stack_returns_to(&s, 4, 0x4711), TY_NO_LEVEL);
	assert_int_equal(ty_flow_stack_level_of(&s, 4, 1, 0), 3);
	assert_int_equal(ty_flow_stack_level_of(&s, 3, 1, 0), 1);
	assert_int_equal(ty_flow_stack_level_of(&s, 4, TY_NO_FUNC - 1, 0x3050), 2);
	ty_flow_stack_unwind(&s, 1, 10, TY_CALL_CUT);
	assert_int_equal(s.frames.n, 1);
	assert_int_equal(ends, 3);
	assert_true(ended[2].flags & TY_CALL_CUT);
	ty_flow_stack_fini(&s);
}

static void longjmp_goes_to_the_call_of_setjmp(void **state)
{
	struct ty_flow_stack s = stack();

	push(&s, 0, 0, 1);
	push(&s, 1, 0x1010, 2);
	ty_flow_stack_jump_set(&s, 0x2040);
	push(&s, 2, 0x2050, 3);
	assert_int_equal(ty_flow_stack_jump_to(&s, 0x2040), 1);
	assert_int_equal(ty_flow_stack_jump_to(&s, 0x2041), TY_NO_LEVEL);
	/* It ends with its call. */
	ty_flow_stack_unwind(&s, 1, 10, 0);
	assert_int_equal(ty_flow_stack_jump_to(&s, 0x2040), TY_NO_LEVEL);
	ty_flow_stack_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_go_to_the_caller),
		cmocka_unit_test(levels_are_found_from_the_top),
		cmocka_unit_test(longjmp_goes_to_the_call_of_setjmp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

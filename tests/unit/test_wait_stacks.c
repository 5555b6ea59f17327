/* SPDX-License-Identifier: MIT */
/* Which frames of a stack are shown for a wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wait_stacks.h"

static const char *named(const struct ty_stack_frame *v, unsigned n)
{
	static struct ty_stack_frames s;
	const struct ty_stack_frame *own, *f;

	memcpy(s.v, v, n * sizeof(*v));
	s.n = n;
	own = ty_stack_frames_own(&s);
	assert_non_null(own);
	f = ty_stack_frames_named(&s, own);
	return f ? f->function : "";
}

static void what_has_no_function_is_inside_one(void **state)
{
	const struct ty_stack_frame libc = {.function = "fcntl", .module = "libc", .runtime = true},
				    none = {.module = "lib"},
				    lock = {.function = "mbox_lock", .module = "lib"},
				    other = {.function = "f", .module = "prog"},
				    start = {.function = "main", .module = "lib"};

	(void)state;
	assert_string_equal(named((struct ty_stack_frame[]){libc, none, none, lock}, 4),
			    "mbox_lock");
	/* The frame that is shown has one. */
	assert_string_equal(named((struct ty_stack_frame[]){libc, lock, lock}, 3), "");
	/* What another file called says little, as does main. */
	assert_string_equal(named((struct ty_stack_frame[]){libc, none, other, lock}, 4), "");
	assert_string_equal(named((struct ty_stack_frame[]){libc, none, start, lock}, 4), "");
	/* Too far away. */
	assert_string_equal(named((struct ty_stack_frame[]){none, none, none, none, none, none,
							    none, none, none, lock},
				  10),
			    "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_function_is_inside_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

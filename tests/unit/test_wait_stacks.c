/* SPDX-License-Identifier: MIT */
/* Which frames of a stack are shown for a wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "python_merge.h"
#include "runtime_code.h"
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

static void a_python_function_is_named_before_its_extension(void **state)
{
	const struct ty_stack_frame c = {.pc = 1,
					 .function = "internal_connect",
					 .module = "/_socket.so",
					 .file = "socketmodule.c",
					 .line = 3253},
				    library = {.function = "connect",
					       .module = "/usr/lib/python3.11/socket.py",
					       .file = "/usr/lib/python3.11/socket.py",
					       .runtime = true},
				    own = {.function = "handle",
					   .module = "/srv/app.py",
					   .file = "/srv/app.py"};
	static struct ty_stack_frames s;

	(void)state;
	s = (struct ty_stack_frames){.v = {c, library, own}, .n = 3};
	assert_string_equal(ty_stack_frames_own(&s)->function, "handle");
	s.n = 2;
	assert_string_equal(ty_stack_frames_own(&s)->function, "internal_connect");
}

static void inlined_functions_of_libraries(void **state)
{
	static const struct {
		const char *name, *source;
		bool runtime;
	} of[] = {
		{"sleep_for<long>", "/usr/include/c++/12/bits/this_thread_sleep.h", true},
		{"wait", "/usr/lib/llvm-14/bin/../include/c++/v1/mutex", true},
		{"__gthread_cond_wait", "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr.h", true},
		{"read", "/usr/include/x86_64-linux-gnu/bits/unistd.h", true},
		{"sleep", "/rustc/90b35a6/library/std/src/thread/mod.rs", true},
		{"call", "/usr/src/rustc-1.63.0/library/core/src/ops/function.rs", true},
		{"box", "/lib/rustlib/src/rust/library/alloc/src/boxed.rs", true},
		{"runtime.gopark", "/usr/local/go/src/runtime/proc.go", true},
		{"std::thread::sleep", NULL, true},
		{"core::ops::call", NULL, true},
		{"alloc::boxed::f", NULL, true},
		{"runtime.gopark", NULL, true},
		{"__nanosleep", NULL, true},
		{"sleep", NULL, true},
		{"sleep", "/srv/app.c", false},
		{"__own", "/srv/app.c", false},
		{"std::own", "/srv/app.cc", false},
		{"own", "/usr/include/boost/asio.hpp", false},
		{"own", "/srv/library/core/src/a.rs", false},
		{"main.own", "/srv/src/runtime/own.go", false},
		{"own", NULL, false},
		{NULL, NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		assert_int_equal(ty_is_runtime_function(of[i].name, of[i].source), of[i].runtime);
}

/* The names of the frames, in one line. */
static const char *merged(const char *const *c, unsigned c_n, enum ty_stack_end c_end,
			  const char *py, enum ty_stk_python_end end)
{
	static const char *const names[] = {"f0", "f1", "f2", "f3"};
	static struct ty_stack_frames s;
	struct ty_python_frame f[4];
	static char text[400];
	unsigned n = 0;

	s = (struct ty_stack_frames){.end = c_end, .n = c_n};
	for (unsigned i = 0; i < c_n; i++)
		s.v[i] = (struct ty_stack_frame){.pc = 1,
						 .function = c[i],
						 .module = *c[i] == 'n' ? "/numpy.so"
									: "/bin/python3.11"};
	for (; py[n]; n++)
		f[n] = (struct ty_python_frame){.file = n == 1 ? "/usr/lib/python3.11/queue.py"
							       : "/srv/a.py",
						.name = names[n],
						.line = n,
						.entry = py[n] == 'e'};
	ty_python_merge(&s, f, n, end);
	*text = 0;
	for (unsigned i = 0; i < s.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s ",
			 s.v[i].runtime ? "-" : "", s.v[i].function);
	return text;
}

static void python_functions_are_where_they_ran(void **state)
{
	static const char loop[] = "_PyEval_EvalFrameDefault";
	const char *const c[] = {"sleep", loop, "call", "numpy_call", loop, "py::f2:/srv/a.py",
				 "start"};

	/* f0 and f1 in one loop; the outer interpreter's frames are left out. */
	assert_string_equal(merged(c, 7, TY_STACK_COMPLETE, ".ee", 0),
			    "-sleep f0 -f1 numpy_call f2 ");
	/* Loops and functions do not match: all where the first loop is. */
	assert_string_equal(merged(c, 7, TY_STACK_COMPLETE, "eee", 0),
			    "-sleep f0 -f1 f2 numpy_call ");
	assert_string_equal(merged(c, 7, TY_STACK_COMPLETE, "..e", 0),
			    "-sleep f0 -f1 f2 numpy_call ");
	/* A stack that was cut. */
	assert_string_equal(merged(c, 4, TY_STACK_CUT, ".ee", 0), "-sleep f0 -f1 numpy_call f2 ");
	assert_string_equal(merged(c, 1, TY_STACK_CUT, ".ee", 0), "f0 -f1 f2 ");
	/* Functions that are missing. */
	assert_string_equal(merged(c, 7, TY_STACK_COMPLETE, ".e", TY_STK_PYTHON_INVALID),
			    "-sleep f0 -f1 numpy_call -[unknown Python functions] ");
	/* No loop is known by name. */
	assert_string_equal(merged((const char *const[]){"nsleep", "call", "main"}, 3,
				   TY_STACK_COMPLETE, "e", 0),
			    "nsleep f0 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_function_is_inside_one),
		cmocka_unit_test(a_python_function_is_named_before_its_extension),
		cmocka_unit_test(inlined_functions_of_libraries),
		cmocka_unit_test(python_functions_are_where_they_ran),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

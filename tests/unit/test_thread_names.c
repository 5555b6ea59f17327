/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "thread_names.h"

#define LINE(tid, comm) tid "\t1\t1\t0\tS\t0\t0\t0\t-\t-\t-\t-\t" comm

static void texts(void **state)
{
	struct ty_thread_names *c = ty_thread_names_new(
		"1 systemd\n  22 a b\n0 x\n-3 y\nnonsense\n99999999999 z\n7 last",
		"taken 1 2\n22\t22\t1\t0\tS\t0\t0\t0\t-\t-\t-\t-\ta\\tb\\\\\n" LINE(
			"5", "bare") "\n6\t\nnot a number\tx\n9\tcut\n" LINE("8",
									     "0123456789abcdefgh"));

	assert_non_null(c);
	assert_string_equal(ty_thread_names_get(c, 0), "<idle>");
	assert_string_equal(ty_thread_names_get(c, 1), "systemd");
	assert_string_equal(ty_thread_names_get(c, 22), "a\tb\\"); /* the thread section wins */
	assert_string_equal(ty_thread_names_get(c, 7), "last");
	assert_string_equal(ty_thread_names_get(c, 5), "bare");
	assert_string_equal(ty_thread_names_get(c, 6), "<...>");
	assert_string_equal(ty_thread_names_get(c, 9), "<...>");
	assert_string_equal(ty_thread_names_get(c, 8), "0123456789abcdef");
	assert_string_equal(ty_thread_names_get(c, -3), "<...>");
	assert_string_equal(ty_thread_names_get(c, 12345), "<...>");
	ty_thread_names_free(c);
}

/* Numbers are looked for in their own line only. */
static void hostile_texts(void **state)
{
	static const char *const threads[] = {
		"\n" LINE("5", "x") "\n",
		"\n\n\n5",
		"  \n " LINE("5", "x") "\n",
		"\t" LINE("5", "x"),
		LINE("+5", "x") "\n" LINE("5", "x"),
		"\v\f\r\n" LINE("5", "x"),
		"5\t1\t1\t0\tS\t0\t0\t0\t-\t-\t-\t-\n\tx",
	};

	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		struct ty_thread_names *c = ty_thread_names_new(threads[i], threads[i]);

		assert_non_null(c);
		assert_string_equal(ty_thread_names_get(c, 5),
				    strstr(threads[i], "\n" LINE("5", "x")) ? "x" : "<...>");
		ty_thread_names_free(c);
	}
}

static void events(void **state)
{
	struct ty_thread_names *c = ty_thread_names_new(NULL, NULL);
	struct ty_event ev = {.kind = TY_EV_FORK};

	ev.u.fork.parent_tid = 10;
	strcpy(ev.u.fork.parent_comm, "bash");
	ev.u.fork.child_tid = 11;
	strcpy(ev.u.fork.child_comm, "bash");
	assert_int_equal(ty_thread_names_feed(c, &ev), 0);
	assert_string_equal(ty_thread_names_get(c, 11), "bash");
	memset(&ev, 0, sizeof(ev));
	ev.kind = TY_EV_RENAME;
	ev.u.rename.tid = 11;
	strcpy(ev.u.rename.old_comm, "bash");
	strcpy(ev.u.rename.new_comm, "ls");
	ev.decode_error = 1; /* not to be believed */
	assert_int_equal(ty_thread_names_feed(c, &ev), 0);
	assert_string_equal(ty_thread_names_get(c, 11), "bash");
	ev.decode_error = 0;
	assert_int_equal(ty_thread_names_feed(c, &ev), 0);
	assert_string_equal(ty_thread_names_get(c, 11), "ls");
	memset(&ev, 0, sizeof(ev));
	ev.kind = TY_EV_SWITCH;
	strcpy(ev.u.sw.prev_comm, "swapper/0"); /* tid 0 stays <idle> */
	ev.u.sw.next_tid = 12;
	strcpy(ev.u.sw.next_comm, "kworker");
	assert_int_equal(ty_thread_names_feed(c, &ev), 0);
	assert_string_equal(ty_thread_names_get(c, 0), "<idle>");
	assert_string_equal(ty_thread_names_get(c, 12), "kworker");
	ty_thread_names_free(c);
}

/* Many tids: the table grows and keeps them all. */
static void many(void **state)
{
	struct ty_thread_names *c = ty_thread_names_new(NULL, NULL);
	struct ty_event ev = {.kind = TY_EV_WAKING};

	for (int32_t t = 1; t < 100000; t++) {
		ev.u.wake.tid = t * 7;
		ev.u.wake.comm[0] = (char)('a' + t % 26);
		assert_int_equal(ty_thread_names_feed(c, &ev), 0);
	}
	for (int32_t t = 1; t < 100000; t++)
		assert_int_equal(ty_thread_names_get(c, t * 7)[0], 'a' + t % 26);
	assert_string_equal(ty_thread_names_get(c, 8), "<...>");
	ty_thread_names_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(hostile_texts),
		cmocka_unit_test(events),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

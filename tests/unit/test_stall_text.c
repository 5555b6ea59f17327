/* SPDX-License-Identifier: MIT */
/* The words of a stall: its object, the call, the sentence, and the grade. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_lock.h"
#include "stall_edges.h"
#include "stalls.h"

static const char *file(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	(void)ctx;
	(void)pid;
	*cloexec = false;
	return fd == 3 ? "/site.lock" : NULL;
}

static bool none_left_out(void *ctx, int32_t pid)
{
	(void)ctx;
	(void)pid;
	return false;
}

/* 12 waits for a lock that 13 holds asleep; named: with the file's name. */
static struct ty_stall lock_stall(bool named)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;
	static char sentence[TY_STALL_SENTENCE];
	struct ty_stall first;

	givens = 0;
	if (named)
		give(4 * MS, 3, 2, 0);
	m = lock_and_sleep();
	x = explain(m, 0);
	if (named) {
		x.fd_before = file;
		x.fds_left_out = none_left_out;
		x.fds_since_ns = 1;
		x.fds_ns = 2;
	}
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	first = s.v[0];
	snprintf(sentence, sizeof(sentence), "%s", first.sentence);
	first.sentence = sentence;
	ty_stalls_fini(&s);
	ty_mx_drop();
	givens = 0;
	return first;
}

static void a_lock(void **state)
{
	struct ty_stall s = lock_stall(false);

	assert_string_equal(s.object, "");
	assert_string_equal(s.sentence,
			    "t12/12 waited in flock at 0.004 s, held by t13/13, which slept "
			    "100 ms in nanosleep [proven]");
	s = lock_stall(true);
	assert_string_equal(s.object, "fd 3 </site.lock>");
	assert_string_equal(
		s.sentence,
		"t12/12 waited for the lock on fd 3 </site.lock> (flock) at 0.004 s, held by "
		"t13/13, which slept 100 ms in nanosleep [proven]");
}

/* 12 waits for a lock that 13 holds: stopped until 14 sends SIGCONT; or (0) runnable behind 14. */
static void held(int state, const char *says)
{
	struct ty_event cont = {.ts_ns = 107 * MS + 2000,
				.tid = 14,
				.kind = TY_EV_SIGNAL_GENERATE,
				.u.sig = {.sig = SIGCONT, .tid = 13}};
	const struct ty_model *m;
	char what[TY_LINK_TEXT];
	struct ty_explain x;
	struct ty_stalls s;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 12);
	ty_mx_enter(0, 4 * MS, 12, NR_FLOCK);
	ty_mx_switch(0, 5 * MS, 12, S, 13);
	ty_mx_switch(0, (state ? 7 : 65) * MS, 13, state ? (uint64_t)state : R, 14);
	if (state) {
		ty_mx_waking(0, 107 * MS, 14, 13, 0);
		ty_mx_feed(cont);
	}
	ty_mx_switch(0, 107 * MS + 3000, 14, S, 13);
	ty_mx_waking(0, 108 * MS, 13, 12, 0);
	ty_mx_switch(0, 109 * MS, 13, S, 12);
	ty_mx_exit(0, 110 * MS, 12, NR_FLOCK, 0);
	ty_mx_switch(0, 120 * MS, 12, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_true(s.n >= 1);
	ty_stall_link_text(&x, s.v[0].link, 1, what);
	if (!strstr(state ? what : s.v[0].sentence, says))
		fail_msg("'%s' is not in: %s, %s", says, s.v[0].sentence, what);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void what_kept_the_holder(void **state)
{
	(void)state;
	held(TY_TASK_STOPPED, "was stopped for 100 ms until SIGCONT");
	held(0, "held by t13/13, which ran 61.0 ms of the 103 ms and waited 42.0 ms for a CPU");
}

/* 13 holds the lock, runnable in two stretches; most of that time 14 runs, else 15. */
static void a_runnable_holder(void **state)
{
	struct ty_stall_edge edge[TY_STALL_EDGES];
	const struct ty_model *m;
	char what[TY_LINK_TEXT];
	struct ty_explain x;
	struct ty_stalls s;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 12);
	ty_mx_enter(0, 4 * MS, 12, NR_FLOCK);
	ty_mx_switch(0, 5 * MS, 12, S, 13);
	ty_mx_switch(0, 7 * MS, 13, R, 14);
	ty_mx_switch(0, 67 * MS, 14, R, 13);
	ty_mx_switch(0, 68 * MS, 13, R, 15);
	ty_mx_switch(0, 88 * MS, 15, R, 14);
	ty_mx_switch(0, 107 * MS, 14, R, 13);
	ty_mx_waking(0, 108 * MS, 13, 12, 0);
	ty_mx_switch(0, 109 * MS, 13, S, 12);
	ty_mx_exit(0, 110 * MS, 12, NR_FLOCK, 0);
	ty_mx_switch(0, 120 * MS, 12, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_true(s.n >= 1);
	assert_non_null(strstr(s.v[0].sentence,
			       "held by t13/13, which waited 99.0 ms of the 103 ms for a CPU, "
			       "79.0 ms of it while t14/14 ran there"));
	assert_int_equal(s.v[0].links, 3);
	ty_stall_link_text(&x, s.v[0].link, 1, what);
	assert_string_equal(what, "waited 99.0 ms of the 103 ms for a CPU");
	ty_stall_link_text(&x, s.v[0].link, 2, what);
	assert_string_equal(what, "ran 79.0 ms of the 103 ms");
	assert_int_equal(ty_stall_edges(&x, &s.v[0], edge), 4);
	assert_int_equal(edge[2].kind, TY_EDGE_RUNNABLE);
	assert_int_equal(edge[3].kind, TY_EDGE_RUNS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* A wait that never ends has no cause: nothing is inferred of it. */
static void not_over(void **state)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 12);
	ty_mx_enter(0, 4 * MS, 12, NR_FLOCK);
	ty_mx_switch(0, 5 * MS, 12, S, 13);
	ty_mx_switch(0, 120 * MS, 13, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].sentence,
			    "t12/12 waited in flock at 0.004 s, still waiting when the recording "
			    "ended [cause unknown]");
	assert_string_equal(ty_stall_grade(&s.v[0]), "cause unknown");
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* The call by its name; none where it waited outside of calls, or on an unknown architecture. */
static void the_call(void **state)
{
	struct ty_stall s = lock_stall(false);
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 0);
	char buf[32];

	assert_string_equal(ty_stall_call(&x, &s, buf), "flock");
	s.syscall = TY_NONE;
	assert_string_equal(ty_stall_call(&x, &s, buf), "");
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock),
		cmocka_unit_test(what_kept_the_holder),
		cmocka_unit_test(a_runnable_holder),
		cmocka_unit_test(not_over),
		cmocka_unit_test(the_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

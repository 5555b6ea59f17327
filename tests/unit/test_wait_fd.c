/* SPDX-License-Identifier: MIT */
/* The descriptor that a wait is for: by the call that follows, by what was ready, and its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_model.h"
#include "stalls.h"
#include "wait_fd.h"
#include "window_all.h"

#define MS UINT64_C(1000000)

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_CLOSE = 3,
	NR_POLL = 7,
	NR_IOCTL = 16,
	NR_GETPID = 39,
	NR_SOCKET = 41,
	NR_CONNECT = 42,
};

/* 11 polls one descriptor for 100 ms, then writes to 7 (its log) and, `next`, to or from 5; 12 ends
 * the wait inside a call `by`. again_ns: before that it polls again, for so long. */
static const struct ty_model *one_poll(int by, int next, uint64_t again_ns)
{
	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(2 * MS, 0x7000, 1, UINT64_MAX);
	ty_mx_enter(0, 2 * MS, 11, NR_POLL);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_enter(0, 102 * MS, 12, by);
	ty_mx_waking(0, 103 * MS, 12, 11, 0);
	ty_mx_exit(0, 104 * MS, 12, by, 1);
	ty_mx_switch(0, 105 * MS, 12, S, 11);
	ty_mx_exit(0, 106 * MS, 11, NR_POLL, 1);
	if (again_ns) {
		ty_mx_enter(0, 106 * MS + 1000, 11, NR_POLL);
		ty_mx_exit(0, 106 * MS + 1000 + again_ns, 11, NR_POLL, 1);
	}
	if (next != NR_WRITE)
		call(106 * MS + again_ns + 5000, 11, NR_WRITE, 1, 7);
	call(106 * MS + again_ns + 9000, 11, next, 1, 5);
	ty_mx_switch(0, 120 * MS, 11, S, 0);
	return ty_mx_end();
}

static struct ty_stalls poller_again(int by, int next, uint64_t again_ns)
{
	return stalls_of(one_poll(by, next, again_ns), 0, true);
}

static struct ty_stalls poller(int by, int next)
{
	return poller_again(by, next, 0);
}

static void polls_descriptor_is_a_guess(void **state)
{
	struct ty_stalls s = poller(NR_WRITE, NR_READ);

	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].object, "fd 5"); /* not the log's */
	assert_false(s.v[0].proven);
	assert_non_null(
		strstr(s.v[0].sentence, "poll, probably for fd 5 (inferred from its next call), "));
	ty_stalls_fini(&s);
	/* The reader made room: the other one waited to write. */
	s = poller(NR_READ, NR_WRITE);
	assert_string_equal(s.v[0].object, "fd 5");
	assert_false(s.v[0].proven);
	ty_stalls_fini(&s);
	/* A write after something was handed over says nothing of what was waited for. */
	s = poller(NR_WRITE, NR_WRITE);
	assert_string_equal(s.v[0].object, "");
	assert_true(s.v[0].proven);
	ty_stalls_fini(&s);
	/* A poll that returns at once only checks again what is ready; after one that lasts it may
	 * be another. */
	s = poller_again(NR_WRITE, NR_READ, 1000);
	assert_string_equal(s.v[0].object, "fd 5");
	ty_stalls_fini(&s);
	s = poller_again(NR_WRITE, NR_READ, 900000);
	assert_string_equal(s.v[0].object, "");
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static int32_t five(void *ctx, uint32_t thread, uint32_t call)
{
	return 5;
}

static int32_t six(void *ctx, uint32_t thread, uint32_t call)
{
	return 6;
}

/* The structure that the call returned is recorded. */
static void what_was_ready(void **state)
{
	struct ty_explain x = explain(one_poll(NR_WRITE, NR_READ, 0), 0);
	struct ty_stalls s;

	x.ready = five;
	s = stalls_by(&x, true);
	assert_true(s.v[0].proven);
	assert_non_null(strstr(s.v[0].sentence, " until fd 5 was ready, "));
	ty_stalls_fini(&s);
	x.ready = six; /* not what the next call reads */
	s = stalls_by(&x, true);
	assert_string_equal(s.v[0].object, "fd 6");
	ty_stalls_fini(&s);
	x = explain(one_poll(NR_WRITE, NR_WRITE, 0), 0);
	x.ready = six;
	s = stalls_by(&x, true);
	assert_string_equal(s.v[0].object, "fd 6");
	assert_true(s.v[0].proven);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

#define CONNECTED "TCP:[10.0.0.1:5000->10.0.0.2:80]"

static const struct ty_model *made;

static const char *socket_of(void *ctx, uint32_t thread, uint32_t call, unsigned arg)
{
	(void)ctx, (void)thread;
	return arg != TY_POINTEE_FD			       ? NULL
	       : ty_model_syscall(made, call).nr == NR_CONNECT ? CONNECTED
							       : "TCP:[77]";
}

/* 11 waits 100 ms in a call on fd 5, until 12 wakes it. */
static void object_in(int nr, uint64_t second, char *object)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(1 * MS + 1000, 11, NR_SOCKET, 5, 2);
	give(2 * MS, 5, second, 0);
	ty_mx_enter(0, 2 * MS, 11, nr);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_waking(0, 103 * MS, 12, 11, 0);
	ty_mx_switch(0, 105 * MS, 12, S, 11);
	ty_mx_exit(0, 106 * MS, 11, nr, 0);
	ty_mx_switch(0, 120 * MS, 11, S, 0);
	m = made = ty_mx_end();
	x = explain(m, 0);
	x.pointee = socket_of;
	s = stalls_by(&x, true);
	*object = 0;
	for (uint32_t i = 0; i < s.n; i++)
		if (ty_model_thread(m, s.v[i].thread)->tid == 11 && s.v[i].state == TY_ST_SLEEPING)
			snprintf(object, TY_WAIT_OBJECT, "%s", s.v[i].object);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void descriptors_of_rare_waits(void **state)
{
	char object[TY_WAIT_OBJECT];

	(void)state;
	object_in(NR_CLOSE, 0, object);
	assert_string_equal(object, "fd 5 <TCP:[77]>");
	object_in(NR_IOCTL, 0xc0045877, object);
	assert_string_equal(object, "fd 5 <TCP:[77]>, FIFREEZE");
	object_in(NR_IOCTL, 0x12345678, object);
	assert_string_equal(object, "fd 5 <TCP:[77]>");
	object_in(NR_GETPID, 0, object);
	assert_string_equal(object, "");
	object_in(NR_CONNECT, 0, object);
	assert_string_equal(object, "fd 5 <" CONNECTED ">");
}

static void long_names(void **state)
{
	char out[TY_WAIT_NAME];

	(void)state;
	assert_string_equal(ty_wait_name("UNIX-STREAM:[17 to \"/s\"]", out),
			    "UNIX-STREAM:[17 to \"/s\"]");
	assert_string_equal(
		ty_wait_name("UNIX-STREAM:[14517558 to \"/tmp/rs-10-pg-idle-in-transaction.TN6ECa/"
			     ".s.PGSQL.5432\"]",
			     out),
		"UNIX-STREAM:[14517558 to \"...-pg-idle-in-transaction.TN6ECa/.s.PGSQL.5432\"]");
	/* Whole characters, wherever the cut is. */
	for (unsigned i = 0; i < 4; i++) {
		char name[256], *cut;

		snprintf(name, sizeof(name), "%sUNIX-DGRAM:[17 to \"", i & 1 ? "" : "/");
		for (unsigned k = 0; k < 60; k++)
			strcat(name, "\xe2\x82\xac");
		strcat(name, &"/ab\"]"[i]);
		cut = strstr(ty_wait_name(name, out), "...");
		assert_non_null(cut);
		assert_int_equal((unsigned char)cut[3], 0xe2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_names),
		cmocka_unit_test(descriptors_of_rare_waits),
		cmocka_unit_test(polls_descriptor_is_a_guess),
		cmocka_unit_test(what_was_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

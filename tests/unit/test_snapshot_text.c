/* SPDX-License-Identifier: MIT */
/* Lines of the snapshot sections: whole ones, cut ones, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "snapshot_text.h"

static void is(struct ty_snap_field f, const char *text)
{
	assert_int_equal(f.n, strlen(text));
	assert_memory_equal(f.s, text, f.n);
}

static void threads(void **state)
{
	const char *text = "taken 10 20\n\nno thread\n"
			   "7\t5\t-\t99\tS\tfifo\t0\t3\t35 0x1 0 0xfF 3 4 5\t-\t0-3\t/a\tna\\tme\n"
			   "8\t-1\t1\t99\t\tother\t0\t3\trunning\t-\t0\t-\t\n"
			   "99999999999\t1\t1\t0\tS\tother\t0\t0\t-\t-\t-\t-\tx\n"
			   "9\t9\t12";
	struct ty_snap_thread t;
	uint64_t args[6], from, to;

	assert_true(ty_snap_taken(text, &from, &to));
	assert_int_equal(from, 10);
	assert_int_equal(to, 20);
	assert_true(ty_snap_thread(&text, &t));
	assert_int_equal(t.tid, 7);
	assert_int_equal(t.tgid, 5);
	assert_int_equal(t.ppid, -1);
	assert_int_equal(t.state, 'S');
	assert_int_equal(t.nr, 35);
	is(t.policy, "fifo");
	is(t.affinity, "0-3");
	is(t.cgroup, "/a");
	is(t.comm, "na\\tme");
	assert_true(ty_snap_args(&t, args));
	assert_int_equal(args[0], 1);
	assert_int_equal(args[2], 0xff);
	assert_int_equal(args[5], 5);
	assert_true(ty_snap_thread(&text, &t));
	assert_int_equal(t.tid, 8);
	assert_int_equal(t.tgid, -1);
	assert_int_equal(t.state, '?');
	assert_int_equal(t.nr, -1);
	assert_false(ty_snap_args(&t, args));
	is(t.comm, "");
	/* Cut in its third field: 12 may be the start of 1234. */
	assert_true(ty_snap_thread(&text, &t));
	assert_int_equal(t.tid, 9);
	assert_int_equal(t.tgid, 9);
	assert_int_equal(t.ppid, -1);
	assert_int_equal(t.comm.n, 0);
	assert_false(ty_snap_thread(&text, &t));
	text = NULL;
	assert_false(ty_snap_thread(&text, &t));
	assert_false(ty_snap_taken(NULL, &from, &to));
}

/* Those that are not there, or no numbers. */
static void arguments(void **state)
{
	static const char *const calls[] = {"0 1 2 3 4 5",    "0 1 2 3 4 5 ",  "0  1 2 3 4 5 6",
					    "0 0x 1 2 3 4 5", "0 1 2 3 4 5 g", "0,1 2 3 4 5 6",
					    "0 -1 1 2 3 4 5"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		char line[200];
		const char *p = line;
		struct ty_snap_thread t;
		uint64_t args[6];

		snprintf(line, sizeof(line), "1\t1\t1\t0\tS\to\t0\t0\t%s\t-\t-\t-\tx", calls[i]);
		assert_true(ty_snap_thread(&p, &t));
		if (ty_snap_args(&t, args))
			fail_msg("%s", calls[i]);
	}
}

static void descriptors(void **state)
{
	const char *text = "taken 1 2\n7\t3\tcloexec\t/a\\nb\n7\t4\t-\t\n7\t5\t-\n-1\t3\t-\tx\n"
			   "7\tleft_out\nleft_out\t12\n7\t2147483648\t-\tx\n";
	struct ty_snap_fd d = ty_snap_fd(&text);

	assert_int_equal(d.is, TY_SNAP_FD_TAKEN);
	assert_int_equal(d.taken_ns, 2);
	d = ty_snap_fd(&text);
	assert_int_equal(d.is, TY_SNAP_FD_OPEN);
	assert_int_equal(d.pid, 7);
	assert_int_equal(d.fd, 3);
	assert_true(d.cloexec);
	is(d.target, "/a\\nb");
	d = ty_snap_fd(&text);
	assert_int_equal(d.is, TY_SNAP_FD_OPEN);
	assert_int_equal(d.fd, 4);
	assert_false(d.cloexec);
	is(d.target, "");
	d = ty_snap_fd(&text);
	assert_int_equal(d.is, TY_SNAP_FD_LEFT_OUT);
	assert_int_equal(d.pid, 7);
	d = ty_snap_fd(&text);
	assert_int_equal(d.is, TY_SNAP_FD_LEFT_OUT);
	assert_true(d.pid < 0);
	assert_int_equal(ty_snap_fd(&text).is, TY_SNAP_FD_END);
}

static void quotas(void **state)
{
	const char *text = "5\t5\t1\t2\t3\t/a\t 1\n1\t9\tx\t2\t3\t/a\t 1\n1\t9\t1\t2\t3\t/a\n"
			   "1\t9\t-\t2\t3\t/a\\\\b\t 1 99999999999 0 2x 3\n1\t9\t4\t2\t3\t/a\t=\n"
			   "left_out 7\n";
	struct ty_snap_quota q;
	int32_t tid;

	assert_true(ty_snap_quota(&text, &q));
	assert_true(q.unknown);
	assert_int_equal(q.from_ns, 1);
	assert_int_equal(q.to_ns, 9);
	assert_int_equal(q.quota_us, 2);
	assert_int_equal(q.period_us, 3);
	is(q.path, "/a\\\\b");
	assert_false(q.same_tids);
	assert_true(ty_snap_tid(&q.tids, &tid));
	assert_int_equal(tid, 1);
	assert_true(ty_snap_tid(&q.tids, &tid)); /* what no thread has is passed over */
	assert_int_equal(tid, 2);
	assert_false(ty_snap_tid(&q.tids, &tid)); /* nothing counts behind another byte */
	assert_true(ty_snap_quota(&text, &q));
	assert_true(q.same_tids);
	assert_int_equal(q.throttled_ns, 4);
	assert_false(ty_snap_quota(&text, &q));
}

static void commands(void **state)
{
	const char *text = "5\t7\tsh\t-c\ta\\tb\nx\t7\tsh\n5\t0\tsh\n5\t7\n9\t8\t\n6\t9\tend";
	struct ty_snap_command c;

	assert_true(ty_snap_command(&text, &c));
	assert_int_equal(c.ns, 5);
	assert_int_equal(c.pid, 7);
	is(c.arguments, "sh\t-c\ta\\tb");
	assert_true(ty_snap_command(&text, &c));
	assert_int_equal(c.pid, 8);
	is(c.arguments, "");
	assert_true(ty_snap_command(&text, &c));
	assert_int_equal(c.pid, 9);
	is(c.arguments, "end");
	assert_false(ty_snap_command(&text, &c));
	text = NULL;
	assert_false(ty_snap_command(&text, &c));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands),  cmocka_unit_test(threads),
		cmocka_unit_test(arguments), cmocka_unit_test(descriptors),
		cmocka_unit_test(quotas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

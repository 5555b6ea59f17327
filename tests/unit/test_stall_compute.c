/* SPDX-License-Identifier: MIT */
/* A thread that computes before it replies holds its clients up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "requests.h"

enum { NR_ACCEPT = 43 };

static struct blocked {
	unsigned quick; /* earlier requests, of 1 ms */
	unsigned ms;	/* on the CPU for the one of 13 */
	bool another;	/* 14 sends a request meanwhile */
	bool open;	/* no reply before the recording ends */
	bool pauses;	/* it sleeps for twice as long before */
} with;

static void reply(int fd, int client)
{
	give(t += 1000, (uint64_t)fd, 0, 10);
	ty_mx_enter(0, t, 11, NR_WRITE);
	if (client) {
		ty_mx_waking(0, t += 500, 11, client, 1);
		ty_mx_switch(1, t += 500, 0, R, client);
		ty_mx_switch(1, t += 500, client, S, 0);
	}
	ty_mx_exit(0, t += 1000, 11, NR_WRITE, 10);
}

/* 11 is an event loop: the stalls, with their sentences. */
static unsigned stalls_with(struct blocked of, char *text, size_t size)
{
	struct ty_requests q;
	struct ty_stalls_opts o = {.requests = &q};
	struct ty_explain x;
	struct ty_window w;
	struct ty_stalls s;
	unsigned n;

	with = of;
	begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "loop"));
	ty_mx_switch(0, t, 0, R, 11);
	call(t += 1000, 11, NR_ACCEPT, 9, 3);
	call(t += 2000, 11, NR_ACCEPT, 10, 3);
	ty_mx_switch(1, t, 0, R, 13);
	for (unsigned i = 0; i < with.quick; i++) {
		call(t += 2000, 11, NR_READ, 100, 9);
		t += MS;
		reply(9, 0);
	}
	ty_mx_switch(1, t += MS, 13, S, 14);
	call(t += MS, 11, NR_READ, 100, 9);
	if (with.pauses) {
		sleeps(11, NR_EPOLL_WAIT, 4, 0, 0);
		ty_mx_waking(1, t += 2 * with.ms * MS, 14, 11, 0);
		goes_on(0, R, 11, NR_EPOLL_WAIT, 0);
	}
	ty_mx_switch(1, t += MS, 14, S, 0);
	t += with.ms * MS;
	if (!with.open)
		reply(9, 13);
	if (with.another) {
		call(t += 2000, 11, NR_READ, 100, 10);
		t += MS;
		reply(10, 14);
	}
	ty_mx_event(0, t += 1000, 11, TY_EV_OTHER);
	x = explain(ty_mx_end(), 0);
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 10, 0, &q, NULL), 0);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 10, &s, NULL), 0);
	n = s.n;
	assert_true(n <= 1);
	snprintf(text, size, "%s", n ? s.v[0].sentence : "");
	if (n) {
		assert_string_equal(s.v[0].rule->id, "loop-blocked");
		assert_int_equal(s.v[0].culprit, s.v[0].thread);
		assert_in_range(s.v[0].duration_ns, with.ms * MS, (with.ms + 2) * MS);
		assert_false(s.v[0].proven);
	}
	ty_stalls_fini(&s);
	ty_requests_fini(&q);
	ty_mx_drop();
	return n;
}

static void a_blocked_loop_is_a_stall_of_its_clients(void **state)
{
	char text[960];

	assert_int_equal(
		stalls_with((struct blocked){.ms = 400, .another = true}, text, sizeof(text)), 1);
	assert_non_null(strstr(text, " before it replied. Meanwhile "));
	assert_non_null(strstr(text, "13"));
	assert_non_null(strstr(text, "14"));
	assert_non_null(strstr(text, " waited for replies from process "));
	/* Far longer than usual. */
	assert_int_equal(stalls_with((struct blocked){.ms = 400, .quick = 12}, text, sizeof(text)),
			 1);
	assert_non_null(strstr(text, "waited for a reply from process "));
	assert_int_equal(stalls_with((struct blocked){.ms = 400, .quick = 12, .open = true}, text,
				     sizeof(text)),
			 1);
	assert_non_null(strstr(text, " without a reply. Meanwhile a client waited"));
	assert_non_null(strstr(text, "It was still running when the recording ended"));
}

/* What one client asked for takes its time; and not all of the time was that. */
static void work_is_no_stall(void **state)
{
	char text[960];

	assert_int_equal(stalls_with((struct blocked){.ms = 400}, text, sizeof(text)), 0);
	assert_int_equal(stalls_with((struct blocked){.ms = 9, .quick = 12, .another = true}, text,
				     sizeof(text)),
			 0);
	assert_int_equal(stalls_with((struct blocked){.ms = 400, .quick = 12, .pauses = true}, text,
				     sizeof(text)),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_blocked_loop_is_a_stall_of_its_clients),
		cmocka_unit_test(work_is_no_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

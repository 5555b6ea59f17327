/* SPDX-License-Identifier: MIT */
/* Which waits may be stalls: of which threads, and short ones that add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"
#include "own_name.h"
#include "stalls.h"

/* A thread waits uninterruptibly; it is tarry's own, or not. */
static uint32_t blocked(const char *name)
{
	struct ty_event ev = {.kind = TY_EV_SWITCH, .id = 1, .tid = 12, .ts_ns = 10 * MS};
	struct ty_stalls s;
	uint32_t n;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 12);
	ev.u.sw.prev_tid = 12;
	ev.u.sw.prev_state = D;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), "%s", name);
	ty_mx_feed(ev);
	ty_mx_event(0, 401 * MS, 0, TY_EV_OTHER);
	s = stalls_of(ty_mx_end(), 0, false);
	n = s.n;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void waits_of_tarry_are_not_the_systems(void **state)
{
	(void)state;
	assert_int_equal(blocked("other"), 1);
	assert_int_equal(blocked(TY_UNHOOK_NAME), 0);
}

/* The waits of one call count together, though each is too short: by a kernel thread, 2. */
static void short_waits_of_a_call_add_up(void **state)
{
	enum { NR_UNLINK = 87, WAITS = 12 };
	struct ty_stalls s;
	uint64_t at = 2 * MS;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, at, 11, NR_UNLINK);
	for (unsigned i = 0; i < WAITS; i++) {
		ty_mx_switch(0, at += 1000, 11, D, 2);
		ty_mx_waking(0, at += 10 * MS, 2, 11, 0);
		ty_mx_switch(0, at += 1000, 2, S, 11);
	}
	ty_mx_exit(0, at + 1000, 11, NR_UNLINK, 0);
	ty_mx_switch(0, at + 2000, 11, S, 0);
	s = stalls_of(ty_mx_end(), 0, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].waits, WAITS);
	assert_in_range(s.v[0].duration_ns, WAITS * 10 * MS, WAITS * 10 * MS + MS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_of_tarry_are_not_the_systems),
		cmocka_unit_test(short_waits_of_a_call_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

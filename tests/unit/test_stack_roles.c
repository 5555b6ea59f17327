/* SPDX-License-Identifier: MIT */
/* What functions are known to wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stack_roles.h"

static void functions_have_roles(void **state)
{
	static const struct {
		const char *name;
		enum ty_stack_role role;
	} of[] = {
		{"___pthread_mutex_lock", TY_ROLE_LOCK},
		{"__GI___pthread_rwlock_wrlock", TY_ROLE_LOCK},
		{"_ZN13ObjectMonitor5EnterIEP10JavaThread", TY_ROLE_LOCK},
		{"_ZN18ObjectSynchronizer5enterE6HandleP9BasicLockP10JavaThread", TY_ROLE_NONE},
		{"_ZN13ObjectMonitor4waitElbP10JavaThread", TY_ROLE_NONE}, /* Object.wait() */
		/* of lock() and of LockWhen(condition) alike */
		{"_ZN4absl5Mutex8LockSlowEPKNS_6MuHowSEPKNS_9ConditionEi", TY_ROLE_NONE},
		{"JVM_Sleep", TY_ROLE_SLEEP},
		{"pthread_cond_timedwait@@GLIBC_2.3.2", TY_ROLE_NONE},
		{"_Z9lock_waitP9que_thr_t", TY_ROLE_LOCK},
		{"_Z24lock_wait_suspend_threadP9que_thr_t", TY_ROLE_LOCK},
		{"__GI___lll_lock_wait_private", TY_ROLE_LOCK},
		{"take_gil.lto_priv.0", TY_ROLE_LOCK},
		{"_ZN11parking_lot9raw_mutex8RawMutex9lock_slow17h0123456789abcdefE", TY_ROLE_LOCK},
		/* As shown: without parameters. */
		{"ObjectMonitor::enter", TY_ROLE_LOCK},
		{"ObjectMonitor::EnterI", TY_ROLE_LOCK},
		{"ObjectMonitor::wait", TY_ROLE_NONE},
		{"ObjectSynchronizer::enter", TY_ROLE_NONE},
		{"MyObjectMonitor::enter", TY_ROLE_NONE},
		{"lock_wait", TY_ROLE_LOCK},
		{"lock_wait_suspend_thread", TY_ROLE_LOCK},
		{"block_wait", TY_ROLE_NONE},
		{"std::sys::sync::mutex::futex::Mutex::lock_contended", TY_ROLE_LOCK},
		{"parking_lot::raw_mutex::RawMutex::lock_slow", TY_ROLE_LOCK},
		{"absl::Mutex::LockSlow", TY_ROLE_NONE},
		{"Queue::lock_slow_and_queue", TY_ROLE_NONE},
		/* Functions of the program whose names hold those of the table. */
		{"bench_pthread_mutex_queue", TY_ROLE_NONE},
		{"mistake_gil", TY_ROLE_NONE},
		{"queue_take_gil", TY_ROLE_NONE},
		{"old_JVM_Sleep", TY_ROLE_NONE},
		{"do_9lock_slow", TY_ROLE_NONE},
		{"9lock_slow", TY_ROLE_NONE},
		{"_ZN5Queue19lock_slow_and_queueEv", TY_ROLE_NONE},
		{"", TY_ROLE_NONE},
		{NULL, TY_ROLE_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		if (ty_stack_role(&of[i].name, 1) != of[i].role)
			fail_msg("%s", of[i].name);
}

/* A function far from the wait called something that waits. */
static void only_functions_beside_the_wait_count(void **state)
{
	const char *stack[12];

	(void)state;
	for (unsigned at = 0; at < 12; at++) {
		for (unsigned i = 0; i < 12; i++)
			stack[i] = i == at ? "take_gil" : i % 3 ? "run" : NULL;
		assert_int_equal(ty_stack_role(stack, 12),
				 at < TY_ROLE_FRAMES ? TY_ROLE_LOCK : TY_ROLE_NONE);
	}
	assert_int_equal(ty_stack_role(stack, 0), TY_ROLE_NONE);
}

/* Only these have the layout in which the C library notes an owner. */
static void locks_of_the_c_library(void **state)
{
	static const char *const mutex[] = {"__futex_wait", "__GI___lll_lock_wait",
					    "___pthread_mutex_lock", "work"},
				 *const rwlock[] = {NULL, "__GI___pthread_rwlock_wrlock"},
				 *const rust[] = {"syscall", "std::sys::sync::mutex::futex::Mutex::"
							     "lock_contended"},
				 *const inside[] = {"__lll_lock_wait_private", "malloc"};

	(void)state;
	assert_true(ty_stack_locks_pthread(mutex, 4));
	assert_true(ty_stack_locks_pthread(rwlock, 2));
	assert_false(ty_stack_locks_pthread(rust, 2));
	assert_false(ty_stack_locks_pthread(inside, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_roles),
		cmocka_unit_test(only_functions_beside_the_wait_count),
		cmocka_unit_test(locks_of_the_c_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

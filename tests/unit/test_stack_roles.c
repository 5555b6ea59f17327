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
		if (ty_stack_role(of[i].name) != of[i].role)
			fail_msg("%s", of[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* See stack_roles.h. */
#include "stack_roles.h"

#include <string.h>

/* A part of the name, mangled or not. */
static const struct {
	const char *name;
	enum ty_stack_role role;
} roles[] = {
	/* glibc: pthread_mutex_lock, pthread_rwlock_wrlock and their internal names */
	{"pthread_mutex_", TY_ROLE_LOCK},
	{"pthread_rwlock_", TY_ROLE_LOCK},
	{"__lll_lock_wait", TY_ROLE_LOCK},
	/* OpenJDK (objectMonitor.cpp): entering a synchronized block; and Thread.sleep (jvm.cpp) */
	{"13ObjectMonitor5enterE", TY_ROLE_LOCK},
	{"13ObjectMonitor5EnterIE", TY_ROLE_LOCK},
	{"JVM_Sleep", TY_ROLE_SLEEP},
	/* CPython (ceval_gil.h), Ruby (thread_pthread.c): the interpreter's lock */
	{"take_gil", TY_ROLE_LOCK},
	{"gvl_acquire", TY_ROLE_LOCK},
	/* InnoDB (lock0lock.cc): a row's or a table's lock */
	{"lock_wait_suspend_thread", TY_ROLE_LOCK},
	{"_Z9lock_wait", TY_ROLE_LOCK},
	/* Rust's std and parking_lot. Not Abseil's Mutex: it waits for conditions in the same one.
	 */
	{"14lock_contended", TY_ROLE_LOCK},
	{"9lock_slow", TY_ROLE_LOCK},
};

enum ty_stack_role ty_stack_role(const char *function)
{
	for (size_t k = 0; function && k < sizeof(roles) / sizeof(*roles); k++)
		if (strstr(function, roles[k].name))
			return roles[k].role;
	return TY_ROLE_NONE;
}

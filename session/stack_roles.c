/* SPDX-License-Identifier: MIT */
/* See stack_roles.h. */
#include "stack_roles.h"

#include <string.h>

/* How a name begins, without underscores of libraries; with a digit: a part of a mangled name with
 * its length. */
static const struct {
	const char *name;
	enum ty_stack_role role;
} roles[] = {
	/* glibc: pthread_mutex_lock, pthread_rwlock_wrlock and their internal names */
	{"pthread_mutex_", TY_ROLE_LOCK},
	{"pthread_rwlock_", TY_ROLE_LOCK},
	{"lll_lock_wait", TY_ROLE_LOCK},
	/* OpenJDK (objectMonitor.cpp): entering a synchronized block; and Thread.sleep (jvm.cpp) */
	{"13ObjectMonitor5enterE", TY_ROLE_LOCK},
	{"13ObjectMonitor5EnterIE", TY_ROLE_LOCK},
	{"JVM_Sleep", TY_ROLE_SLEEP},
	/* CPython (ceval_gil.h), Ruby (thread_pthread.c): the interpreter's lock */
	{"take_gil", TY_ROLE_LOCK},
	{"gvl_acquire", TY_ROLE_LOCK},
	/* InnoDB (lock0lock.cc): a row's or a table's lock */
	{"_Z24lock_wait_suspend_thread", TY_ROLE_LOCK},
	{"_Z9lock_wait", TY_ROLE_LOCK},
	/* Rust's std and parking_lot. Not Abseil's Mutex: it waits for conditions in the same one.
	 */
	{"14lock_contended", TY_ROLE_LOCK},
	{"9lock_slow", TY_ROLE_LOCK},
};

/* How a demangled name (decoder/demangle.h) ends, at a whole name: the same functions of C++ and
 * Rust.
 */
static const struct {
	const char *name;
	enum ty_stack_role role;
} shown[] = {
	{"ObjectMonitor::enter", TY_ROLE_LOCK},	    {"ObjectMonitor::EnterI", TY_ROLE_LOCK},
	{"lock_wait_suspend_thread", TY_ROLE_LOCK}, {"lock_wait", TY_ROLE_LOCK},
	{"::lock_contended", TY_ROLE_LOCK},	    {"::lock_slow", TY_ROLE_LOCK},
};

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool has_name(const char *function, const char *name)
{
	const bool mangled = begins(function, "_Z") || begins(function, "_R");

	if (*name == '_')
		return begins(function, name);
	if (!is_digit(*name)) {
		function += strspn(function, "_");
		function += begins(function, "GI_") ? 3 : 0;
		return begins(function + strspn(function, "_"), name);
	}
	for (const char *at = function; mangled && (at = strstr(at, name)); at++)
		if (!is_digit(at[-1])) /* else of another length: the name starts with _ */
			return true;
	return false;
}

static bool ends(const char *function, const char *name)
{
	const size_t n = strlen(function), len = strlen(name);
	const char *at = len <= n ? function + n - len : function;

	return !strcmp(at, name) && (at == function || *name == ':' || at[-1] == ':');
}

static enum ty_stack_role role_of(const char *function)
{
	for (size_t k = 0; function && k < sizeof(shown) / sizeof(*shown); k++)
		if (ends(function, shown[k].name))
			return shown[k].role;
	for (size_t k = 0; function && k < sizeof(roles) / sizeof(*roles); k++)
		if (has_name(function, roles[k].name))
			return roles[k].role;
	return TY_ROLE_NONE;
}

enum ty_stack_role ty_stack_role(const char *const *functions, size_t n)
{
	enum ty_stack_role role = TY_ROLE_NONE;

	for (size_t i = 0; i < n && i < TY_ROLE_FRAMES && role == TY_ROLE_NONE; i++)
		role = role_of(functions[i]);
	return role;
}

bool ty_stack_locks_pthread(const char *const *functions, size_t n)
{
	for (size_t i = 0; i < n && i < TY_ROLE_FRAMES; i++)
		if (functions[i] && (has_name(functions[i], "pthread_mutex_") ||
				     has_name(functions[i], "pthread_rwlock_")))
			return true;
	return false;
}

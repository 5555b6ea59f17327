/* SPDX-License-Identifier: MIT */
/* Locks that are polled: with sleeps between failed attempts only, and which thread released them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_findings.h"
#include "fixture_given.h"
#include "findings.h"

static void sleep_ms(uint64_t ms)
{
	ty_mx_enter(0, at, 11, NR_NANOSLEEP);
	ty_mx_switch(0, at, 11, S, 12);
	at += ms * MS;
	ty_mx_waking(0, at, 12, 11, 0);
	ty_mx_switch(0, at, 12, S, 11);
	ty_mx_exit(0, at, 11, NR_NANOSLEEP, 0);
	at += US;
}

/* A thread that removes the file is named, also one that a link would have had to make. A thread
 * that closes a descriptor of which only the number is known, or opens a busy file, is not. */
static void who_released(void **state)
{
	(void)state;
	for (unsigned file = 0; file < 4; file++) {
		const int try = file == 2 ? NR_LINK : file ? NR_OPENAT : NR_FLOCK;
		const int error = file > 2 ? EBUSY : file ? EEXIST : EAGAIN;
		const int other = file > 2 ? NR_OPENAT : file ? NR_UNLINKAT : NR_CLOSE;
		const bool named = file == 1 || file == 2;
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < 4; i++) {
			one(11, try, -error, US, US);
			ty_mx_enter(0, at, 11, NR_NANOSLEEP);
			ty_mx_switch(0, at, 11, S, 12);
			at += 10 * MS;
			if (i == 3)
				one(12, other, 0, US, US);
			ty_mx_waking(0, at, 12, 11, 0);
			ty_mx_switch(0, at, 12, S, 11);
			ty_mx_exit(0, at, 11, NR_NANOSLEEP, 0);
			at += US;
		}
		one(11, try, file == 2 ? 0 : 3, US, MS);
		f = find(11);
		assert_int_equal(f.n, 1);
		assert_int_equal(f.v[0].kind, TY_FINDING_POLLED);
		assert_int_equal(f.v[0].culprit != TY_NONE, named);
		assert_int_equal(f.v[0].inferred, named);
		assert_int_equal(!!strstr(f.v[0].text, "polled \"/etc/absent\":"), !!file);
		assert_int_equal(!!strstr(f.v[0].text, ". Released by t12/12"), named);
	}
}

/* With no sleep between, or with too short a time, it is not polled. */
static void lock_that_is_polled(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < 4; i++) {
			one(11, NR_FLOCK, -EAGAIN, US, US);
			if (k == 1)
				at += 10 * MS;
			else
				sleep_ms(k ? 4 : 10);
		}
		one(11, NR_FLOCK, 0, US, MS);
		f = find(11);
		assert_int_equal(f.n, k == 0);
		if (k)
			continue;
		assert_int_equal(f.v[0].kind, TY_FINDING_POLLED);
		assert_int_equal(f.v[0].n, 4);
		assert_true(f.v[0].ns >= 40 * MS && f.v[0].ns < 41 * MS);
		assert_string_equal(f.v[0].text,
				    "t11/11 polled the lock on fd 5: flock failed 4 times with "
				    "EAGAIN. It slept "
				    "40.0 ms in between. The release of the lock is not recorded");
	}
}

/* A folder that cannot be removed, and one that is there already, are no locks; one that can be
 * made in the end was. */
static void failures_of_which_nobody_is_the_holder(void **state)
{
	enum { NR_EXECVE = 59, NR_RENAME = 82, NR_MKDIR = 83, NR_RMDIR = 84, NR_UMOUNT = 166 };
	static const struct {
		int nr, error;
		bool succeeds, found;
	} v[] = {{NR_RMDIR, ENOTEMPTY, false, false}, {NR_RMDIR, ENOTEMPTY, true, false},
		 {NR_RMDIR, EBUSY, true, false},      {NR_UMOUNT, EBUSY, true, false},
		 {NR_MKDIR, EEXIST, false, false},    {NR_MKDIR, EEXIST, true, true},
		 {NR_RENAME, ENOTEMPTY, false, true}, {NR_RENAME, ENOTEMPTY, true, true},
		 {NR_LINK, EEXIST, false, true},      {NR_OPENAT, ETXTBSY, true, true},
		 {NR_EXECVE, ETXTBSY, true, true},    {NR_EXECVE, EACCES, true, false}};

	(void)state;
	for (size_t k = 0; k < sizeof(v) / sizeof(*v); k++) {
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < 4; i++) {
			one(11, v[k].nr, -v[k].error, US, US);
			sleep_ms(10);
		}
		if (v[k].succeeds)
			one(11, v[k].nr, 0, US, MS);
		f = find(11);
		assert_int_equal(f.n, v[k].found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock_that_is_polled),
		cmocka_unit_test(who_released),
		cmocka_unit_test(failures_of_which_nobody_is_the_holder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

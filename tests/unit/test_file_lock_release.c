/* SPDX-License-Identifier: MIT */
/* The process that released a file's lock, by the kernel's events of file locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "file_lock_release.h"
#include "fixture_given.h"

enum { FILE_A = 100, FILE_B = 200 };

static void lock(unsigned cpu, uint64_t ts, int tid, uint64_t ino, uint64_t dev, int type, int ret)
{
	struct ty_event ev = {
		.ts_ns = ts, .cpu = cpu, .tid = tid, .kind = TY_EV_POSIX_LOCK, .id = 31};

	ev.u.file_lock.ino = ino;
	ev.u.file_lock.dev = dev;
	ev.u.file_lock.type = (uint32_t)type;
	ev.u.file_lock.ret = ret;
	ty_mx_feed(ev);
}

static int releaser(const struct ty_model *m, uint64_t from, uint64_t to, uint64_t *ts)
{
	struct ty_explain x = explain(m, 0);
	struct ty_release r = ty_file_lock_release(&x, ty_model_thread_find(m, 11, from), from, to);

	*ts = r.ts_ns;
	return r.thread == TY_NONE ? 0 : ty_model_thread(m, r.thread)->tid;
}

static void the_last_release_of_the_same_file(void **state)
{
	const struct ty_model *m;
	uint64_t ts;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=all\n", "taken 1 2\n" ROW("11", "10", "1", "job") ROW(
					  "12", "12", "1", "other") ROW("19", "10", "1", "job"));
	ty_mx_switch(0, 50, 0, R, 11);
	ty_mx_switch(1, 50, 0, R, 12);
	lock(1, 90, 12, FILE_A, 1, F_UNLCK, 0); /* before the attempt */
	lock(0, 100, 11, FILE_A, 1, F_WRLCK, -EAGAIN);
	lock(1, 110, 12, FILE_A, 1, F_WRLCK, 0); /* not released */
	lock(1, 120, 12, FILE_A, 1, F_UNLCK, 0);
	lock(1, 130, 12, FILE_A, 1, F_UNLCK, 0);
	lock(1, 140, 12, FILE_B, 1, F_UNLCK, 0);
	lock(1, 150, 12, FILE_A, 2, F_UNLCK, 0); /* another device */
	ty_mx_switch(1, 155, 12, R, 19);
	lock(1, 160, 19, FILE_A, 1, F_UNLCK, 0); /* of the same process */
	lock(0, 165, 11, FILE_A, 1, F_UNLCK, 0);
	lock(0, 170, 11, FILE_A, 1, F_WRLCK, 0);
	ty_mx_switch(0, 180, 11, S, 0);
	m = ty_mx_end();
	assert_int_equal(releaser(m, 95, 170, &ts), 12);
	assert_int_equal(ts, 130);
	assert_int_equal(releaser(m, 95, 125, &ts), 12);
	assert_int_equal(ts, 120);
	assert_int_equal(releaser(m, 95, 115, &ts), 0);	 /* not yet */
	assert_int_equal(releaser(m, 135, 170, &ts), 0); /* no attempt failed then */
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_release_of_the_same_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

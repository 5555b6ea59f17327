/* SPDX-License-Identifier: MIT */
/* Locks that are polled, and threads that their tracer stops again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "fixture_turns.h"
#include "stall_edges.h"

enum {
	NR_READ = 0,
	NR_CLOSE = 3,
	NR_NANOSLEEP = 35,
	NR_GETPID = 39,
	NR_KILL = 62,
	NR_RENAME = 82,
	NR_FCNTL = 72,
	NR_PTRACE = 101,
	SETFD = 2,
	GETLK = 5,
	SETLK = 6,
	TRACED = 8,
	WRITE_LOCK = 1, /* F_WRLCK, F_UNLCK */
	UNLOCK = 2
};

#define TWO "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other")

static const char *file_of_12 = "/data";

static const char *fd_before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	*cloexec = false;
	return fd != 5 ? NULL : pid == 12 ? file_of_12 : "/data";
}

static bool left_out(void *ctx, int32_t pid)
{
	return false;
}

/* Calls that 11 makes between a try and its sleep, and between that and the next try: some of them
 * the same, for something else. */
static unsigned beside;

static void others(void)
{
	for (unsigned i = 0; i < beside; i++) {
		give(t += 1000, 5, i % 2 ? GETLK : SETFD, 0);
		ty_mx_enter(0, t, 11, NR_FCNTL);
		ty_mx_exit(0, t += 1000, 11, NR_FCNTL, 0);
	}
}

/* 11 tries for the lock n times, in vain, and sleeps after each for so long. */
static void tries(unsigned n, int64_t ret, unsigned ms)
{
	for (unsigned i = 0; i < n; i++) {
		others();
		give(t += 1000, 5, SETLK, 0);
		ty_mx_enter(0, t, 11, NR_FCNTL);
		ty_mx_exit(0, t += 1000, 11, NR_FCNTL, ret);
		others();
		sleeps(11, NR_NANOSLEEP, 0, 0, 0);
		time_is_up(11, NR_NANOSLEEP, 0, ms);
	}
}

static unsigned group_of; /* threads that make calls, too, before the LAST one releases the lock */
#define LAST 999

static struct ty_explain polled(unsigned n, int64_t ret, unsigned ms, bool released)
{
	struct ty_explain x;

	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 12);
	ty_mx_switch(0, t += MS, 12, S, 11);
	tries(n, ret, ms);
	/* A busy machine: others close files meanwhile. */
	for (unsigned i = 0; i < group_of; i++) {
		int tid = 100 + (int)i;

		ty_mx_switch(0, t += 1000, i ? tid - 1 : 11, R, tid);
		call(t += 1000, tid, NR_CLOSE, 0, 9);
		t += 2000;
	}
	if (released) {
		int by = group_of ? LAST : 12;

		ty_mx_switch(0, t += 1000, group_of ? 99 + (int)group_of : 11, R, by);
		give(t += 1000, 5, SETLK, 0);
		ty_mx_enter(0, t, by, NR_FCNTL);
		ty_mx_exit(0, t += 1000, by, NR_FCNTL, 0);
		ty_mx_switch(0, t += 1000, by, S, 11);
	}
	give(t += 1000, 5, SETLK, 0);
	ty_mx_enter(0, t, 11, NR_FCNTL);
	ty_mx_exit(0, t += 1000, 11, NR_FCNTL, 0);
	ty_mx_switch(0, t += MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.fd_before = fd_before;
	x.fds_left_out = left_out;
	x.fds_since_ns = x.fds_ns = 1;
	return x;
}

static struct ty_stalls of(const struct ty_explain *x)
{
	return stalls_by(x, false);
}

static void sleeps_between_tries_are_one_wait(void **state)
{
	struct ty_explain x = polled(6, -EAGAIN, 10, false);
	struct ty_stalls s = of(&x);

	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].rule->id, "polled-lock");
	assert_int_equal(s.v[0].kind, TY_STALL_LOCK);
	assert_int_equal(s.v[0].waits, 6);
	assert_in_range(s.v[0].duration_ns, 60 * MS, 62 * MS);
	assert_int_equal(s.v[0].culprit, TY_NONE);
	assert_true(s.v[0].proven);
	assert_non_null(strstr(s.v[0].sentence, "6 attempts failed with EAGAIN"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* As apt does, which opens the file anew, queries the holder of the lock, and writes a message. */
static void calls_around_a_try_do_not_matter(void **state)
{
	for (beside = 5; beside; beside = beside > 5 ? 0 : 40) {
		struct ty_explain x = polled(6, -EAGAIN, 10, false);
		struct ty_stalls s = of(&x);

		assert_int_equal(s.n, beside == 5);
		if (s.n)
			assert_int_equal(s.v[0].waits, 6);
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

static void who_lets_it_go_is_the_holder(void **state)
{
	struct ty_explain x = polled(6, -EACCES, 30, true);
	struct ty_stalls s = of(&x);
	struct ty_stall_edge e[TY_STALL_EDGES];

	assert_int_equal(s.n, 1);
	assert_int_equal(ty_model_tid(x.m, s.v[0].culprit, s.v[0].start_ns), 12);
	assert_false(s.v[0].proven);
	assert_true(ty_stall_edges(&x, &s.v[0], e) >= 2);
	assert_int_equal(e[1].kind, TY_EDGE_WAKES);
	assert_int_equal(e[1].basis, TY_BY_PROTOCOL);
	ty_stalls_fini(&s);
	ty_mx_drop();
	/* Another file is another lock. */
	file_of_12 = "/other";
	x = polled(6, -EACCES, 30, true);
	s = of(&x);
	file_of_12 = "/data";
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].culprit, TY_NONE);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void file_lock(uint64_t ts, int tid, int type, int ret)
{
	struct ty_event ev = {.ts_ns = ts, .tid = tid, .kind = TY_EV_POSIX_LOCK, .id = 31};

	ev.u.file_lock.ino = 7;
	ev.u.file_lock.type = (uint32_t)type;
	ev.u.file_lock.ret = ret;
	ty_mx_feed(ev);
}

/* The holder's calls are not recorded, but its release is. */
static void the_release_is_recorded(void **state)
{
	struct ty_explain x;
	struct ty_stalls s;

	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 12);
	ty_mx_switch(0, t += MS, 12, S, 11);
	for (unsigned i = 0; i < 6; i++) {
		give(t += 1000, 5, SETLK, 0);
		ty_mx_enter(0, t, 11, NR_FCNTL);
		file_lock(t += 500, 11, WRITE_LOCK, -EAGAIN);
		ty_mx_exit(0, t += 500, 11, NR_FCNTL, -EAGAIN);
		sleeps(11, NR_NANOSLEEP, 0, 0, 0);
		time_is_up(11, NR_NANOSLEEP, 0, 10);
	}
	ty_mx_switch(0, t += 1000, 11, R, 12);
	file_lock(t += 1000, 12, UNLOCK, 0);
	ty_mx_switch(0, t += 1000, 12, S, 11);
	give(t += 1000, 5, SETLK, 0);
	ty_mx_enter(0, t, 11, NR_FCNTL);
	file_lock(t += 500, 11, WRITE_LOCK, 0);
	ty_mx_exit(0, t += 500, 11, NR_FCNTL, 0);
	ty_mx_switch(0, t += MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	s = of(&x);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].rule->id, "polled-lock");
	assert_true(s.v[0].culprit != TY_NONE);
	assert_int_equal(ty_model_thread(x.m, s.v[0].culprit)->tid, 12);
	assert_false(s.v[0].proven);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void the_releaser_is_found_among_many(void **state)
{
	struct ty_explain x;
	struct ty_stalls s;

	group_of = 200;
	x = polled(6, -EACCES, 30, true);
	s = of(&x);
	group_of = 0;
	assert_true(s.n > 0);
	assert_string_equal(s.v[0].rule->id, "polled-lock");
	assert_true(s.v[0].culprit != TY_NONE);
	assert_int_equal(ty_model_thread(x.m, s.v[0].culprit)->tid, LAST);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static const char *second_path(void *ctx, uint32_t thread, uint32_t call, unsigned arg)
{
	return arg == 1 ? "/repo/lock" : arg ? NULL : "/repo/mine.tmp";
}

/* A folder is renamed from another address each time, to the name that the holder's folder has; in
 * between, the thread checks whether the process 12 still exists. 0: no call of it returns its own
 * number. */
static struct ty_stalls renames(int own_pid)
{
	struct ty_explain x;

	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 12);
	ty_mx_switch(0, t += MS, 12, S, 11);
	if (own_pid) {
		ty_mx_enter(0, t, 11, NR_GETPID);
		ty_mx_exit(0, t += 1000, 11, NR_GETPID, own_pid);
	}
	for (unsigned i = 0; i < 4; i++) {
		give(t += 1000, 0x1000 + 0x100 * i, 0x9000, 0);
		ty_mx_enter(0, t, 11, NR_RENAME);
		ty_mx_exit(0, t += 1000, 11, NR_RENAME, i < 3 ? -ENOTEMPTY : 0);
		if (i == 3)
			break;
		give(t += 1000, 12, 0, 0);
		ty_mx_enter(0, t, 11, NR_KILL);
		ty_mx_exit(0, t += 1000, 11, NR_KILL, 0);
		sleeps(11, NR_NANOSLEEP, 0, 0, 0);
		time_is_up(11, NR_NANOSLEEP, 0, 3000);
	}
	ty_mx_switch(0, t += MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.pointee = second_path;
	return of(&x);
}

static void a_rename_to_a_folder_that_exists_is_polled(void **state)
{
	struct ty_stalls s = renames(11);

	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].rule->id, "polled-lock");
	assert_int_equal(s.v[0].waits, 3);
	assert_non_null(strstr(s.v[0].sentence, "rename(\"/repo/lock\")"));
	assert_non_null(strstr(s.v[0].sentence, "3 attempts failed with ENOTEMPTY"));
	assert_non_null(strstr(s.v[0].sentence, "/12 (kill with signal 0)"));
	ty_stalls_fini(&s);
	ty_mx_drop();
	/* In another PID namespace, or it may be: 12 may be another process there. */
	for (int own = 0; own < 10; own += 7) {
		s = renames(own);
		assert_int_equal(s.n, 1);
		assert_null(strstr(s.v[0].sentence, "kill with signal 0"));
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

/* One that removes a folder in vain, or makes one that is there, each second: nothing holds it up.
 */
static void a_folder_that_is_not_empty_is_no_lock(void **state)
{
	enum { NR_MKDIR = 83, NR_RMDIR = 84 };

	(void)state;
	for (unsigned made = 0; made < 3; made++) {
		const int nr = made ? NR_MKDIR : NR_RMDIR;
		struct ty_explain x;
		struct ty_stalls s;

		begin("mode=all\n", TWO);
		ty_mx_switch(0, t, 0, R, 12);
		ty_mx_switch(0, t += MS, 12, S, 11);
		for (unsigned i = 0; i < 4; i++) {
			give(t += 1000, 0x9000, 0, 0);
			ty_mx_enter(0, t, 11, nr);
			ty_mx_exit(0, t += 1000, 11, nr,
				   made > 1 && i == 3 ? 0
				   : made	      ? -EEXIST
						      : -ENOTEMPTY);
			sleeps(11, NR_NANOSLEEP, 0, 0, 0);
			time_is_up(11, NR_NANOSLEEP, 0, 3000);
		}
		ty_mx_switch(0, t += MS, 11, S, 0);
		x = explain(ty_mx_end(), 0);
		s = of(&x);
		for (uint32_t i = 0; i < s.n; i++)
			assert_int_equal(!strcmp(s.v[i].rule->id, "polled-lock"), made > 1);
		assert_true(made < 2 || s.n);
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

static void other_sleeps_are_no_polls(void **state)
{
	struct ty_explain x = polled(6, -EBADF, 10, false);
	struct ty_stalls s = of(&x);

	assert_int_equal(s.n, 0);
	ty_stalls_fini(&s);
	ty_mx_drop();
	x = polled(1, -EAGAIN, 10, false);
	s = of(&x);
	assert_int_equal(s.n, 0);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* 12 stops 11 n times for 2 ms each, by ptrace if it says so; busy: it waits for a CPU meanwhile.
 */
static struct ty_stalls stopped(unsigned n, bool by_ptrace, bool busy)
{
	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 11);
	for (unsigned i = 0; i < n; i++) {
		ty_mx_switch(0, t += 100000, 11, TRACED, 12);
		if (busy)
			ty_mx_switch(0, t += 1000, 12, R, 13);
		t += 2 * MS;
		if (busy)
			ty_mx_switch(0, t, 13, R, 12);
		wakes(12, by_ptrace ? NR_PTRACE : NR_READ, 0, 0, 11);
		ty_mx_switch(0, t += 1000, 12, S, 11);
	}
	ty_mx_switch(0, t += MS, 11, S, 0);
	return stalls_of(ty_mx_end(), 0, false);
}

static void short_stops_add_up(void **state)
{
	struct ty_stalls s = stopped(20, true, false);

	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_STOPPED);
	assert_int_equal(s.v[0].waits, 20);
	assert_in_range(s.v[0].duration_ns, 40 * MS, 41 * MS);
	assert_non_null(strstr(s.v[0].sentence, " (20 stops, longest 2."));
	assert_non_null(strstr(s.v[0].sentence, "stopped by its tracer t12/12 [proven]"));
	ty_stalls_fini(&s);
	ty_mx_drop();
	/* Whatever else woke it is no tracer. */
	s = stopped(20, false, false);
	assert_int_equal(s.n, 1);
	assert_null(strstr(s.v[0].sentence, "stopped by its tracer"));
	ty_stalls_fini(&s);
	ty_mx_drop();
	/* Each is due to the load of the CPU; the sum is the tracer's. */
	s = stopped(20, true, true);
	assert_true(s.n >= 1);
	assert_non_null(strstr(s.v[0].sentence, "stopped by its tracer t12/12"));
	ty_stalls_fini(&s);
	ty_mx_drop();
	s = stopped(5, true, false);
	assert_int_equal(s.n, 0);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleeps_between_tries_are_one_wait),
		cmocka_unit_test(calls_around_a_try_do_not_matter),
		cmocka_unit_test(who_lets_it_go_is_the_holder),
		cmocka_unit_test(the_release_is_recorded),
		cmocka_unit_test(the_releaser_is_found_among_many),
		cmocka_unit_test(a_rename_to_a_folder_that_exists_is_polled),
		cmocka_unit_test(a_folder_that_is_not_empty_is_no_lock),
		cmocka_unit_test(other_sleeps_are_no_polls),
		cmocka_unit_test(short_stops_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

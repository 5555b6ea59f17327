/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "read_pool.h"
#include "proc_maps.h"

enum { STUCK = 1 };
static sem_t go;

/* Process STUCK cannot be read until `go`. */
static void read_maps(void *ctx, struct ty_reading *r)
{
	assert_ptr_equal(ctx, &go);
	if (r->pid == STUCK)
		while (sem_wait(&go))
			;
	r->pid = (uint32_t)getpid();
	ty_proc_maps_read(NULL, r);
}

static sem_t freed;
static void done(void *ctx)
{
	sem_post(&freed);
}

static void others_are_read_while_one_is_stuck(void **state)
{
	struct ty_read_pool *r = ty_read_pool_new(TY_READ_THREADS, read_maps, done, &go);
	struct ty_reading m;

	assert_int_equal(sem_init(&go, 0, 0) | sem_init(&freed, 0, 0), 0);
	assert_false(ty_read_pool_take(r, 100000, &m)); /* nothing is requested: no wait */
	assert_true(ty_read_pool_request(r, STUCK, 7));
	assert_false(ty_read_pool_take(r, 20, &m));
	for (uint32_t i = 2; i < 20; i++) {
		assert_true(ty_read_pool_request(r, i, i + 100));
		assert_true(ty_read_pool_take(r, 20000, &m));
		assert_int_equal(m.number, i + 100);
		assert_true(m.bytes.len > sizeof(struct ty_stk_map));
		assert_false(m.full);
		ty_buf_fini(&m.bytes);
	}
	assert_int_equal(ty_read_pool_left(r), 1);
	sem_post(&go);
	assert_true(ty_read_pool_take(r, 20000, &m));
	assert_int_equal(m.number, 7);
	ty_buf_fini(&m.bytes);
	assert_int_equal(ty_read_pool_left(r), 0);
	assert_int_equal(sem_trywait(&freed), -1); /* the threads use it */
	ty_read_pool_free(r);
	assert_int_equal(sem_wait(&freed), 0);
}

/* All its threads are held up: the end does not wait for them, and they free what they use. */
static void end_does_not_wait(void **state)
{
	struct ty_read_pool *r = ty_read_pool_new(TY_READ_THREADS, read_maps, done, &go);
	struct ty_reading m;

	assert_int_equal(sem_init(&go, 0, 0) | sem_init(&freed, 0, 0), 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_true(ty_read_pool_request(r, STUCK, i));
	assert_false(ty_read_pool_take(r, 20, &m));
	assert_int_equal(ty_read_pool_left(r), 10);
	ty_read_pool_free(r);
	for (unsigned i = 0; i < 10; i++)
		sem_post(&go);
	assert_int_equal(sem_wait(&freed), 0); /* by the last of them */
}

/* In a process of its own, of a user who may have no more threads for a time. What failed. */
static int without_threads(void)
{
	struct ty_read_pool *r = ty_read_pool_new(1, read_maps, done, &go);
	struct rlimit was, none = {0};
	struct ty_reading m;

	if (!geteuid() && setresuid(65534, 65534, 65534))
		return 1;
	if (!r || sem_init(&freed, 0, 0) || getrlimit(RLIMIT_NPROC, &was))
		return 2;
	none.rlim_max = was.rlim_max;
	if (setrlimit(RLIMIT_NPROC, &none) || !ty_read_pool_request(r, 2, 3))
		return 3;
	if (ty_read_pool_take(r, 100000, &m) || ty_read_pool_left(r) != 1)
		return 4; /* there was a thread */
	if (setrlimit(RLIMIT_NPROC, &was) || !ty_read_pool_take(r, 20000, &m) || m.number != 3)
		return 5;
	ty_buf_fini(&m.bytes);
	if (ty_read_pool_left(r))
		return 6;
	ty_read_pool_free(r);
	return sem_wait(&freed) ? 7 : 0;
}

static void a_thread_is_tried_for_again(void **state)
{
	const pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(without_threads());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_tried_for_again),
		cmocka_unit_test(others_are_read_while_one_is_stuck),
		cmocka_unit_test(end_does_not_wait),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("read_pool", tests, NULL, NULL);
}

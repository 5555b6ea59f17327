/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc_reader.h"
#include "proc_maps.h"

enum { STUCK = 1 };
static sem_t go;

/* Process STUCK cannot be read until `go`. */
static void read_maps(const char *proc, struct ty_proc_reading *r)
{
	assert_string_equal(proc, "/proc");
	if (r->pid == STUCK)
		while (sem_wait(&go))
			;
	r->pid = (uint32_t)getpid();
	ty_proc_maps_read(proc, r);
}

static void others_are_read_while_one_is_stuck(void **state)
{
	struct ty_proc_reader *r = ty_proc_reader_new(read_maps, "/proc");
	struct ty_proc_reading m;

	assert_int_equal(sem_init(&go, 0, 0), 0);
	assert_false(ty_proc_reader_take(r, 100000, &m)); /* nothing is asked for: no wait */
	assert_true(ty_proc_reader_request(r, STUCK, 7));
	assert_false(ty_proc_reader_take(r, 20, &m));
	for (uint32_t i = 2; i < 20; i++) {
		assert_true(ty_proc_reader_request(r, i, i + 100));
		assert_true(ty_proc_reader_take(r, 20000, &m));
		assert_int_equal(m.number, i + 100);
		assert_true(m.bytes.len > sizeof(struct ty_stk_map));
		assert_false(m.full);
		ty_buf_fini(&m.bytes);
	}
	assert_int_equal(ty_proc_reader_left(r), 1);
	sem_post(&go);
	assert_true(ty_proc_reader_take(r, 20000, &m));
	assert_int_equal(m.number, 7);
	ty_buf_fini(&m.bytes);
	assert_int_equal(ty_proc_reader_left(r), 0);
	ty_proc_reader_free(r);
}

/* All its threads are held up: the end does not wait for them, and they free what they use. */
static void end_does_not_wait(void **state)
{
	struct ty_proc_reader *r = ty_proc_reader_new(read_maps, "/proc");
	struct ty_proc_reading m;

	assert_int_equal(sem_init(&go, 0, 0), 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_true(ty_proc_reader_request(r, STUCK, i));
	assert_false(ty_proc_reader_take(r, 20, &m));
	assert_int_equal(ty_proc_reader_left(r), 10);
	ty_proc_reader_free(r);
	for (unsigned i = 0; i < 10; i++)
		sem_post(&go);
	usleep(10000); /* a sanitizer sees what they do now */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_are_read_while_one_is_stuck),
		cmocka_unit_test(end_does_not_wait),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("proc_reader", tests, NULL, NULL);
}

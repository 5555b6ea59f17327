/* SPDX-License-Identifier: MIT */
/* What is known of the code of sampled processes, from events and from /proc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf_record.h"
#include "sample_maps.h"

enum { SHELL = 4194000, CHILD, OTHER, EXITED = 4096 }; /* processes that do not exist */

static struct ty_sample_maps *maps;

static void begin(bool trace_all)
{
	maps = ty_sample_maps_new(trace_all);
	assert_non_null(maps);
}

static void end(void)
{
	bool full;

	assert_int_equal(ty_sample_maps_end(maps, &full), 0);
	assert_false(full);
	ty_sample_maps_free(maps);
}

static void on_exec(uint32_t pid, uint64_t ns)
{
	ty_sample_maps_event(
		maps,
		&(struct ty_map_event){
			.kind = TY_MAP_EV_EXEC, .pid = pid, .ns = ns, .text = "prog", .text_n = 4});
}

static void on_map(uint32_t pid, uint64_t ns, uint64_t start)
{
	ty_sample_maps_event(maps, &(struct ty_map_event){.kind = TY_MAP_EV_MAP,
							  .pid = pid,
							  .ns = ns,
							  .map = {.start = start, .bytes = 0x1000},
							  .text = "/bin/prog",
							  .text_n = 9});
}

static void on(int kind, uint32_t pid, uint64_t ns, uint32_t parent)
{
	struct ty_map_event e = {.pid = pid, .ns = ns, .parent = parent, .parent_tid = parent};

	e.kind = kind;
	ty_sample_maps_event(maps, &e);
}

static bool is_code(uint32_t pid, uint64_t addr)
{
	return ty_is_code(ty_sample_maps_code(maps, pid), addr);
}

/* How many records of that type the file gets. */
static unsigned written(uint32_t type)
{
	const struct ty_buf *b = &ty_sample_maps_section(maps)->b;
	struct perf_event_header h;
	unsigned n = 0;

	for (size_t at = 0; at < b->len; at += h.size) {
		memcpy(&h, b->p + at, sizeof(h));
		n += h.type == type;
	}
	return n;
}

/* Until when the mappings of the process hold: the time, 16 bytes before the end of its newest
 * record of an exec. */
static uint64_t last_comm(uint32_t pid)
{
	const struct ty_buf *b = &ty_sample_maps_section(maps)->b;
	struct perf_event_header h;
	uint64_t ns = 0;
	uint32_t of;

	for (size_t at = 0; at < b->len; at += h.size) {
		memcpy(&h, b->p + at, sizeof(h));
		memcpy(&of, b->p + at + sizeof(h), sizeof(of));
		if (h.type == PERF_RECORD_COMM && of == pid)
			memcpy(&ns, b->p + at + h.size - 16, sizeof(ns));
	}
	return ns;
}

static void mappings_are_those_since_the_exec(void **state)
{
	begin(true);
	on_exec(SHELL, 10);
	on_map(SHELL, 11, 0x1000);
	on_map(SHELL, 12, 0x2000); /* touches the one before */
	assert_true(is_code(SHELL, 0x1000) && is_code(SHELL, 0x2fff));
	assert_false(is_code(SHELL, 0xfff) || is_code(SHELL, 0x3000) || is_code(OTHER, 0x1000));
	on_exec(SHELL, 20);
	on_map(SHELL, 21, 0x8000);
	assert_true(is_code(SHELL, 0x8000));
	assert_false(is_code(SHELL, 0x1000));
	assert_int_equal(written(TY_PERF_COMM), 2);
	assert_int_equal(written(TY_PERF_MMAP2), 3);
	end();
}

static void a_child_has_its_parents_mappings(void **state)
{
	begin(true);
	on_exec(SHELL, 10);
	on_map(SHELL, 11, 0x1000);
	on(TY_MAP_EV_FORK, CHILD, 20, SHELL);
	on_map(SHELL, 21, 0x8000);
	assert_true(is_code(CHILD, 0x1000));
	assert_false(is_code(CHILD, 0x8000));
	assert_int_equal(written(TY_PERF_FORK), 1);
	/* Its number goes to a process of which nothing is known. */
	on(TY_MAP_EV_FORK, CHILD, 30, OTHER);
	assert_null(ty_sample_maps_code(maps, CHILD));
	end();
}

static void code_stays_for_a_time_after_the_end(void **state)
{
	begin(true);
	on_exec(SHELL, 10);
	on_map(SHELL, 11, 0x1000);
	on(TY_MAP_EV_EXIT, SHELL, 20, 0);
	assert_true(is_code(SHELL, 0x1000));
	for (uint32_t i = 0; i < EXITED; i++) {
		on_exec(CHILD + i, 30 + i);
		on(TY_MAP_EV_EXIT, CHILD + i, 30 + i, 0);
	}
	assert_false(is_code(SHELL, 0x1000));
	end();
}

static void after_a_loss_nothing_is_known_until_it_is_read_again(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)is_code;
	const uint32_t self = (uint32_t)getpid();

	begin(true);
	ty_sample_maps_know(maps, self, 100);
	on_exec(SHELL, 110);
	on_map(SHELL, 111, 0x1000);
	assert_true(is_code(self, here) && is_code(SHELL, 0x1000));
	ty_sample_maps_event(
		maps, &(struct ty_map_event){.kind = TY_MAP_EV_LOST, .since_ns = 120, .ns = 130});
	assert_null(ty_sample_maps_code(maps, self));
	assert_null(ty_sample_maps_code(maps, SHELL));
	assert_int_equal(last_comm(SHELL), 120);
	ty_sample_maps_know(maps, self, 140); /* too soon after the reading before */
	assert_null(ty_sample_maps_code(maps, self));
	ty_sample_maps_know(maps, self, 2000000000);
	assert_true(is_code(self, here));
	/* The first record of its CPU: what was learnt since any time may have changed. */
	on_exec(SHELL, 2000000110);
	on_map(SHELL, 2000000111, 0x1000);
	on(TY_MAP_EV_LOST, 0, 2000000130, 0);
	assert_null(ty_sample_maps_code(maps, SHELL));
	assert_int_equal(last_comm(SHELL), 2000000111);
	end();
}

/* An event that is older than a reading does not extend it beyond a loss. */
static void a_loss_ends_a_reading_that_an_older_event_followed(void **state)
{
	const uint32_t self = (uint32_t)getpid();

	begin(true);
	ty_sample_maps_know(maps, self, 100);
	on_map(self, 90, 0x1000);
	on(TY_MAP_EV_LOST, 0, 110, 0);
	assert_int_equal(last_comm(self), 100);
	end();
}

static void of_chosen_processes_others_are_not_followed(void **state)
{
	begin(false);
	on_exec(OTHER, 10);
	on_map(OTHER, 11, 0x1000);
	assert_null(ty_sample_maps_code(maps, OTHER));
	ty_sample_maps_know(maps, (uint32_t)getpid(), 20);
	on(TY_MAP_EV_FORK, CHILD, 30, (uint32_t)getpid());
	on_exec(CHILD, 40);
	on_map(CHILD, 41, 0x1000);
	assert_true(is_code(CHILD, 0x1000));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_are_those_since_the_exec),
		cmocka_unit_test(a_child_has_its_parents_mappings),
		cmocka_unit_test(code_stays_for_a_time_after_the_end),
		cmocka_unit_test(after_a_loss_nothing_is_known_until_it_is_read_again),
		cmocka_unit_test(a_loss_ends_a_reading_that_an_older_event_followed),
		cmocka_unit_test(of_chosen_processes_others_are_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

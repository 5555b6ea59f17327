/* SPDX-License-Identifier: MIT */
/* Tables of descriptors: growth, bounds, and processes that share one until one of them leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fd_shared_tables.h"

static void slots_grow_within_bounds(void **state)
{
	struct ty_fd_processes all = {0};
	struct ty_fd_process *p;
	struct ty_fd_slot *s;

	assert_null(ty_fd_process_find(&all, 7));
	assert_null(ty_fd_slot_find(NULL, 3));
	p = ty_fd_process_add(&all, 7);
	assert_ptr_equal(p, ty_fd_process_find(&all, 7));
	assert_null(ty_fd_slot_find(p, 3));
	s = ty_fd_slot_add(&all, p, 3);
	assert_non_null(s);
	assert_null(ty_fd_slot_find(p, 3)); /* not open yet */
	s->open = true;
	s->target.name = 5;
	assert_int_equal(all.slots, 16);
	assert_non_null(ty_fd_slot_add(&all, p, 1000));
	assert_int_equal(all.slots, 1024);
	assert_int_equal(ty_fd_slot_find(p, 3)->target.name, 5);
	assert_null(ty_fd_slot_find(p, 1000));
	assert_null(ty_fd_slot_add(&all, p, 1u << 20));
	assert_null(ty_fd_slot_find(p, UINT64_MAX));
	/* No more than four million in all: room for four processes with a million each. */
	for (int32_t pid = 8; pid <= 12; pid++) {
		struct ty_fd_process *of = ty_fd_process_add(&all, pid);

		s = ty_fd_slot_add(&all, of, (1u << 20) - 1);
		assert_int_equal(!!s, pid < 11);
	}
	ty_fd_processes_fini(&all);
}

static void sharing_ends(void **state)
{
	struct ty_fd_processes all = {0};
	struct ty_fd_process *parent, *child;

	ty_fd_process_add(&all, 1);
	child = ty_fd_process_add(&all, 2);
	parent = ty_fd_process_find(&all, 1);
	ty_fd_slot_add(&all, parent, 3)->open = true;
	child->table = parent->table;
	parent->table->users++;
	assert_non_null(ty_fd_slot_find(child, 3));
	assert_int_equal(ty_fd_slots_unshare(&all, child), 0);
	assert_ptr_not_equal(child->table, parent->table);
	assert_int_equal(all.slots, 32);
	assert_int_equal(parent->table->users, 1);
	ty_fd_slot_find(child, 3)->open = false;
	assert_non_null(ty_fd_slot_find(parent, 3));
	assert_int_equal(ty_fd_slots_unshare(&all, parent), 0); /* it is its own */
	assert_non_null(ty_fd_slot_find(parent, 3));
	/* A table that another process still has is kept. */
	ty_fd_slots_drop(&all, child);
	child->table = parent->table;
	parent->table->users++;
	ty_fd_slots_drop(&all, parent);
	assert_int_equal(all.slots, 16);
	assert_null(ty_fd_slot_find(parent, 3));
	assert_non_null(ty_fd_slot_find(child, 3));
	ty_fd_processes_fini(&all);
	assert_int_equal(all.slots, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_grow_within_bounds),
		cmocka_unit_test(sharing_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

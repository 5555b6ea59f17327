/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "code_map.h"
#include "stack_index.h"
#include "stack_maps.h"

enum { SHELL = 1u << 21, CHILD, OTHER }; /* above every pid of this machine's */

static struct ty_buf file;
static bool no_room;

static bool put(void *ctx, const void *p, size_t n)
{
	return !no_room && !ty_buf_add(&file, p, n);
}

static struct ty_stack_maps *begin(bool trace_all)
{
	ty_buf_init(&file, 1 << 20);
	no_room = false;
	return ty_stack_maps_new(trace_all, put, NULL);
}

static void map(struct ty_stack_maps *m, uint32_t pid, uint64_t ns, uint64_t addr, const char *path)
{
	const struct ty_stk_map k = {.start = addr, .bytes = 0x1000};

	ty_stack_maps_mmap(m, pid, ns, &k, path, strlen(path));
}

/* What the file says is at addr; "": nothing. */
static const char *at(uint32_t pid, uint64_t ns, uint64_t addr)
{
	static char name[64];
	struct ty_code *c = ty_code_new(NULL, NULL);
	uint64_t off, until;
	int f;

	*name = 0;
	assert_int_equal(ty_stack_maps(file.p, file.len, c), 1);
	assert_int_equal(ty_code_ready(c), 0);
	f = ty_code_mapping_of(c, (int32_t)pid, ns, addr, &off, &until);
	if (f >= 0)
		snprintf(name, sizeof(name), "%s", ty_code_file_name(c, f));
	ty_code_free(c);
	return name;
}

static void end(struct ty_stack_maps *m)
{
	bool full;

	assert_int_equal(ty_stack_maps_finish(m, 10000, &full), 0);
	assert_int_equal(full, no_room);
	ty_buf_fini(&file);
}

/* Only a process with a stack costs bytes: with all that it had mapped before and what it maps
 * after. */
static void needed_only(void **state)
{
	struct ty_stack_maps *m = begin(true);

	ty_stack_maps_exec(m, SHELL, 10);
	map(m, SHELL, 11, 0x1000, "/shell");
	ty_stack_maps_exec(m, OTHER, 10);
	map(m, OTHER, 11, 0x1000, "/other");
	assert_int_equal(file.len, 0);
	ty_stack_maps_need(m, SHELL, 20);
	assert_string_equal(at(SHELL, 20, 0x1800), "/shell");
	map(m, SHELL, 30, 0x5000, "/late");
	assert_string_equal(at(SHELL, 31, 0x5000), "/late");
	assert_string_equal(at(OTHER, 20, 0x1800), "");
	end(m);
}

/* A child has what its parent had when it was made, not what the parent mapped or was later. */
static void child_of_a_known_process(void **state)
{
	struct ty_stack_maps *m = begin(true);

	ty_stack_maps_exec(m, SHELL, 10);
	map(m, SHELL, 11, 0x1000, "/shell");
	ty_stack_maps_need(m, SHELL, 12);
	ty_stack_maps_fork(m, SHELL, CHILD, 20);
	map(m, SHELL, 30, 0x5000, "/late");
	ty_stack_maps_exec(m, SHELL, 40);
	map(m, SHELL, 41, 0x1000, "/new");
	ty_stack_maps_need(m, CHILD, 50);
	assert_string_equal(at(CHILD, 50, 0x1000), "/shell");
	assert_string_equal(at(CHILD, 50, 0x5000), "");
	assert_string_equal(at(SHELL, 50, 0x1000), "");
	assert_string_equal(at(SHELL, 35, 0x1000), "/shell");
	ty_stack_maps_need(m, SHELL, 55);
	assert_string_equal(at(SHELL, 55, 0x1000), "/new");
	/* Its program's mappings are gone with the exec. */
	ty_stack_maps_exec(m, CHILD, 60);
	map(m, CHILD, 61, 0x9000, "/program");
	assert_string_equal(at(CHILD, 62, 0x1000), "");
	ty_stack_maps_need(m, CHILD, 70);
	assert_string_equal(at(CHILD, 70, 0x9000), "/program");
	assert_string_equal(at(CHILD, 55, 0x1000), "/shell");
	end(m);
}

/* A pid's second process has nothing of the first one's. */
static void reused_pid(void **state)
{
	struct ty_stack_maps *m = begin(true);

	ty_stack_maps_exec(m, CHILD, 10);
	map(m, CHILD, 11, 0x1000, "/first");
	ty_stack_maps_exit(m, CHILD, 20);
	ty_stack_maps_exec(m, SHELL, 25);
	map(m, SHELL, 26, 0x2000, "/shell");
	ty_stack_maps_fork(m, SHELL, CHILD, 30);
	ty_stack_maps_need(m, CHILD, 40);
	assert_string_equal(at(CHILD, 40, 0x1000), "");
	assert_string_equal(at(CHILD, 40, 0x2000), "/shell");
	end(m);
}

/* The stack may be seen before the exec that it follows. */
static void stack_before_its_exec(void **state)
{
	struct ty_stack_maps *m = begin(true);

	ty_stack_maps_need(m, CHILD, 50);
	ty_stack_maps_exec(m, CHILD, 40);
	map(m, CHILD, 41, 0x1000, "/program");
	assert_string_equal(at(CHILD, 50, 0x1000), "/program");
	/* Also one that is not the process' first. */
	ty_stack_maps_need(m, CHILD, 70);
	ty_stack_maps_exec(m, CHILD, 60);
	map(m, CHILD, 61, 0x2000, "/next");
	assert_string_equal(at(CHILD, 70, 0x2000), "/next");
	assert_string_equal(at(CHILD, 70, 0x1000), "");
	end(m);
}

/* Where events are missing, so are mappings: never old ones. */
static void lost_events(void **state)
{
	struct ty_stack_maps *m = begin(true);

	ty_stack_maps_exec(m, CHILD, 10);
	map(m, CHILD, 11, 0x1000, "/program");
	ty_stack_maps_need(m, CHILD, 20);
	ty_stack_maps_lost(m, 30, 40);
	map(m, CHILD, 45, 0x5000, "/late");
	assert_string_equal(at(CHILD, 25, 0x1000), "/program");
	assert_string_equal(at(CHILD, 35, 0x1000), "");
	end(m);
	/* What was learnt since then ends, too, although an older event followed it. */
	m = begin(true);
	ty_stack_maps_exec(m, CHILD, 50);
	ty_stack_maps_need(m, CHILD, 50);
	map(m, CHILD, 50, 0x1000, "/program");
	map(m, CHILD, 30, 0x5000, "/older");
	ty_stack_maps_lost(m, 40, 60);
	assert_string_equal(at(CHILD, 55, 0x1000), "");
	end(m);
	/* The first record of its CPU: since when is unknown. */
	m = begin(true);
	ty_stack_maps_exec(m, CHILD, 10);
	map(m, CHILD, 11, 0x1000, "/program");
	ty_stack_maps_need(m, CHILD, 20);
	ty_stack_maps_lost(m, 0, 40);
	ty_stack_maps_need(m, CHILD, 45);
	assert_string_equal(at(CHILD, 25, 0x1000), "");
	assert_string_equal(at(CHILD, 50, 0x1000), "");
	end(m);
	/* Nor of a process without a stack yet. */
	m = begin(true);
	ty_stack_maps_exec(m, CHILD, 10);
	map(m, CHILD, 11, 0x1000, "/program");
	ty_stack_maps_lost(m, 30, 40);
	ty_stack_maps_fork(m, CHILD, OTHER, 50);
	ty_stack_maps_need(m, OTHER, 60);
	ty_stack_maps_need(m, CHILD, 60);
	assert_string_equal(at(OTHER, 60, 0x1000), "");
	assert_string_equal(at(CHILD, 60, 0x1000), "");
	end(m);
}

/* Only traced processes and their descendants. */
static void descendants(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct ty_stack_maps *m = begin(false);

	ty_stack_maps_exec(m, OTHER, 10);
	map(m, OTHER, 11, 0x1000, "/other");
	ty_stack_maps_read(m, self, 0);
	ty_stack_maps_fork(m, self, SHELL, 20);
	ty_stack_maps_fork(m, SHELL, CHILD, 30);
	ty_stack_maps_exec(m, CHILD, 40);
	map(m, CHILD, 41, 0x1000, "/program");
	ty_stack_maps_need(m, CHILD, 50);
	assert_string_equal(at(CHILD, 50, 0x1000), "/program");
	end(m);
}

/* What a process had mapped before is read from /proc, and holds from the given time on. */
static void reads_what_is_there(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct ty_stack_maps *m = begin(false);
	char path[64];
	bool full;

	ty_stack_maps_need(m, self, 1000);
	map(m, self, 1010, 0x1000, "/meanwhile");
	assert_int_equal(ty_stack_maps_finish(m, 10000, &full), 0);
	assert_false(full);
	snprintf(path, sizeof(path), "%s",
		 at(self, 2000, (uint64_t)(uintptr_t)&reads_what_is_there));
	assert_non_null(strstr(path, "test_stack_maps"));
	assert_string_equal(at(self, 2000, 0x1000), "/meanwhile");
	ty_buf_fini(&file);
}

/* A compiler's program maps code without end: its parent's child has none rather than a part. */
static void too_many_mappings(void **state)
{
	struct ty_stack_maps *m = begin(true);

	ty_stack_maps_exec(m, SHELL, 10);
	map(m, SHELL, 11, 0x1000, "/shell");
	ty_stack_maps_need(m, SHELL, 12);
	for (uint64_t i = 0; i < 3000; i++)
		map(m, SHELL, 20 + i, 0x100000 + i * 0x1000, "//anon");
	assert_string_equal(at(SHELL, 5000, 0x1000), "/shell");
	assert_string_equal(at(SHELL, 5000, 0x100000 + 2999 * 0x1000), "//anon");
	ty_stack_maps_fork(m, SHELL, CHILD, 6000);
	ty_stack_maps_need(m, CHILD, 6001);
	assert_string_equal(at(CHILD, 6001, 0x1000), "");
	no_room = true;
	map(m, SHELL, 7000, 0x1000, "/new");
	end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needed_only),	       cmocka_unit_test(child_of_a_known_process),
		cmocka_unit_test(reused_pid),	       cmocka_unit_test(stack_before_its_exec),
		cmocka_unit_test(lost_events),	       cmocka_unit_test(descendants),
		cmocka_unit_test(reads_what_is_there), cmocka_unit_test(too_many_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Which events have user strings, from format texts as kernels write them, and the size that the
 * recorder sets and reads back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <tracefs.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture_trace.h"
#include "string_events.h"

#define HEAD                                                                                       \
	"name: x\nID: 700\nformat:\n"                                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"                   \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"                               \
	"\tfield:const char * filename;\toffset:16;\tsize:8;\tsigned:0;\n"
#define VALUE "\tfield:__data_loc char[] __filename_val;\toffset:24;\tsize:4;\tsigned:0;\n"
#define OTHER "\tfield:__data_loc char[] __filename_value;\toffset:24;\tsize:4;\tsigned:0;\n"
#define PRINT "\nprint fmt: \"%s\", __get_str(__filename_val)\n"

static void format(const char *event, const char *text)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/events/syscalls/%s", ty_fx_dir(), event);
	mkdir(path, 0700);
	strcat(path, "/format");
	ty_fx_write(path, text, strlen(text));
}

static void found_by_their_formats(void **state)
{
	struct ty_event_set set = {0};
	struct ty_buf names;
	char path[300];

	ty_buf_init(&names, 4096);
	assert_int_equal(ty_string_events_add(&set, ty_fx_dir(), &names), 0);
	assert_int_equal(names.len, 0);
	snprintf(path, sizeof(path), "%s/events", ty_fx_dir());
	mkdir(path, 0700);
	strcat(path, "/syscalls");
	mkdir(path, 0700);
	format("sys_enter_openat", HEAD VALUE PRINT);
	format("sys_enter_chdir", HEAD OTHER VALUE PRINT);
	format("sys_enter_statx", HEAD PRINT); /* as before 6.19 */
	format("sys_enter_execve", HEAD OTHER PRINT);
	format("sys_enter_write", HEAD VALUE PRINT); /* what is written may be secret */
	assert_int_equal(ty_string_events_add(&set, ty_fx_dir(), &names), 0);
	assert_string_equal(names.p, "openat,chdir");
	assert_int_equal(set.items.n, 2);
	assert_string_equal(set.items.v[0].system, "syscalls");
	assert_string_equal(set.items.v[0].event, "sys_enter_openat");
	assert_true(set.items.v[0].syscalls);
	assert_false(set.items.v[0].requested);
	ty_event_set_fini(&set);
	ty_buf_reset(&names);
	assert_int_equal(ty_string_events_add(NULL, ty_fx_dir(), &names), 0);
	assert_string_equal(names.p, "openat,chdir");
	ty_buf_fini(&names);
}

static void as_much_as_the_kernel_allows(void **state)
{
	struct ty_instance inst = {.dir = open(ty_fx_dir(), O_RDONLY | O_DIRECTORY),
				   .lib = tracefs_instance_alloc(ty_fx_dir(), NULL)};
	struct ty_buf b;

	assert_int_equal(ty_string_events_bytes(&inst), 0); /* there is no such file */
	ty_fx_write(ty_fx_path("syscall_user_buf_size"), "63\n", 3);
	assert_int_equal(ty_string_events_bytes(&inst), 165);
	ty_fx_read(ty_fx_path("syscall_user_buf_size"), &b);
	assert_int_equal(strtol(b.p, NULL, 10), 165);
	ty_buf_fini(&b);
	tracefs_instance_free(inst.lib);
	close(inst.dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_their_formats),
		cmocka_unit_test(as_much_as_the_kernel_allows),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	ty_fx_remove_dir();
	return r;
}

/* SPDX-License-Identifier: MIT */
/* Probes as they are written to the kernel's list, which is a file here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "user_probes.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A file that is not the one whose symbols were read is refused. */
static void a_changed_file(void **state)
{
	char dir[] = "/tmp/tarry-test-XXXXXX", list[64], line[200] = "";
	struct ty_span_point p = {.name = "work", .offset = 0x40};
	const struct ty_user_probe_opts o = {.no_regions = true, .spans = &p, .spans_n = 1};
	struct ty_user_probes u = {0};
	struct ty_event_set set = {0};
	struct ty_err err = {0};
	struct stat st;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(list, sizeof(list), "%s/uprobe_events", dir);
	snprintf(p.path, sizeof(p.path), "%s/prog", dir);
	write_file(list, "");
	write_file(p.path, "a program");
	assert_int_equal(stat(p.path, &st), 0);
	p.dev = st.st_dev;
	p.ino = st.st_ino;
	p.changed = st.st_mtim;
	if (ty_user_probes_define(&u, dir, &o, NULL, NULL, false, &set, &err))
		fail_msg("%s", err.msg);
	f = fopen(list, "r");
	assert_true(f && fgets(line, sizeof(line), f) &&
		    strstr(line, "/span_0_entry /proc/self/fd/"));
	fclose(f);
	ty_user_probes_remove(&u);
	p.ino++;
	assert_int_equal(ty_user_probes_define(&u, dir, &o, NULL, NULL, false, &set, &err),
			 -TY_EUNSUPPORTED);
	assert_non_null(strstr(err.msg, "was changed after its symbols were read"));
	p.ino--;
	p.changed.tv_nsec ^= 1;
	assert_int_equal(ty_user_probes_define(&u, dir, &o, NULL, NULL, false, &set, &err),
			 -TY_EUNSUPPORTED);
	ty_user_probes_remove(&u);
	ty_event_set_fini(&set);
	unlink(p.path);
	unlink(list);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_changed_file)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

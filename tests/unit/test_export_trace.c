/* SPDX-License-Identifier: MIT */
/* A part of a recording as a recording of its own: who was traced where it begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "export_trace.h"
#include "fixture_story.h"
#include "fixture_trace.h"
#include "section.h"

#define TRACED "traced=7 7\ntraced=100 101\n"

/* From then on; 0: all. */
static void cut(const char *path, uint64_t from, const char *out)
{
	struct ty_session s = {0};
	struct ty_err err = {0};

	if (ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err) ||
	    ty_export_trace(&s, out, from ? from : ty_model_summary(s.model)->start_ns, UINT64_MAX,
			    &err))
		fail_msg("%s", err.msg);
	ty_session_fini(&s);
}

/* The file's lines of who was traced, whole. */
static void check(const char *path, const char *want)
{
	struct ty_err err = {0};
	struct ty_trace *t;
	const char *p;

	if (ty_trace_open(path, &t, &err))
		fail_msg("%s", err.msg);
	p = strstr(ty_trace_section(t, TY_SEC_MACHINE).s, "traced=");
	assert_non_null(p);
	assert_memory_equal(p, want, strlen(want));
	assert_null(strstr(p + strlen(want), "traced="));
	ty_trace_close(t);
}

/* A recording that begins later than it was begun, and, again, all of what was cut out of it. */
static void test_traced_from_start(void **state)
{
	const char *path = ty_fx_path("later.dat"), *all = ty_fx_path("all.dat"),
		   *again = ty_fx_path("again.dat"), *part = ty_fx_path("part.dat");

	(void)state;
	for (unsigned kept = 0; kept < 2; kept++) {
		static const char *const machine[] = {
			"arch=x86_64\ncut_from_ns=1000000000000\n" TRACED, "arch=x86_64\n"};
		static const char facts[] = "from_ns=1000000000000\nbegan_ns=1\n" TRACED;

		ty_story_begin(path, 4, machine[kept], TY_STORY_THREADS);
		if (kept)
			ty_story_section(TY_SEC_KEPT, facts, strlen(facts));
		ty_story_stall(ty_story_event);
		ty_story_end();
		cut(path, 0, all);
		check(all, TRACED);
		cut(all, 0, again);
		check(again, TRACED);
		/* Later: those that live then and have recorded calls. */
		cut(path, TY_STORY_START + 1000000000, part);
		check(part, "traced=100 102\n");
		unlink(all);
		unlink(again);
		unlink(part);
	}
}

static int remove_all(void **state)
{
	(void)state;
	ty_fx_remove_dir();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_traced_from_start)};

	return cmocka_run_group_tests(tests, NULL, remove_all);
}

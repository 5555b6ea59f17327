/* SPDX-License-Identifier: MIT */
/* Memory samples inside a recording of tarry's: read from its section, on its clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_story.h"
#include "fixture_trace.h"
#include "mem_session.h"
#include "perf_write.h"
#include "section.h"
#include "spe_encode.h"

/* A sample of thread 101 every millisecond, from a second into the story. */
static void write_samples(struct ty_buf *pipe)
{
	struct perf_write w;
	struct ty_buf spe;
	uint64_t words[2] = {8, 1};

	pw_init(&w);
	pw_time_conv(&w, 0, 1, 0);
	pw_words(&w, TY_PERF_AUXTRACE_ARM_SPE, words, 2);
	pw_comm(&w, (struct pw_at){.pid = 101, .tid = 101, .time = 1}, "backup");
	ty_buf_init(&spe, 1 << 20);
	for (unsigned i = 0; i < 100; i++)
		spe_mem(&spe, (struct spe_mem){.pc = 0x4000,
					       .va = 0x7000 + 8 * i,
					       .ts = TY_STORY_START + 1000000000 + i * 1000000ull,
					       .ctx = 101,
					       .source = -1,
					       .total = 10,
					       .issue = 4});
	pw_auxtrace(&w, 0, 0, -1, spe.p, spe.len);
	pw_pipe(&w, pipe);
	ty_buf_fini(&spe);
	pw_fini(&w);
}

static const char *recording(bool with)
{
	const char *path = ty_fx_path(with ? "with.dat" : "without.dat");
	struct ty_buf pipe;

	ty_story_begin(path, 4, "host=box\narch=x86_64\n", TY_STORY_THREADS);
	ty_buf_init(&pipe, 1 << 20);
	write_samples(&pipe);
	if (with)
		ty_story_section(TY_SEC_PERF, pipe.p, pipe.len);
	ty_buf_fini(&pipe);
	ty_story_stall(ty_story_event);
	ty_story_end();
	return path;
}

static uint64_t count(struct ty_mem_session *s, const char *from, const char *to)
{
	struct ty_select sel = {.from = from, .to = to};
	const struct ty_mem_points *p;
	struct ty_err err = {0};
	uint64_t n;

	if (ty_mem_session_points(s, &sel, &p, &err))
		fail_msg("%s", err.msg);
	n = p->n;
	if (n) {
		assert_int_equal(p->threads, 1);
		assert_int_equal(p->thread[0].tid, 101);
		assert_string_equal(p->thread[0].comm, "backup");
	}
	return n;
}

static void test_section(void **state)
{
	const struct ty_mem_options none = {0};
	struct ty_mem_session s;
	struct ty_err err = {0};
	struct ty_trace *t;
	const char *path = recording(true);
	const atomic_bool stop = true;

	if (ty_mem_session_open(&s, path, &none, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(count(&s, NULL, NULL), 100);
	/* Seconds from the recording's start, as everywhere else, not from the first sample. */
	assert_int_equal(count(&s, "1.05", NULL), 50);
	assert_int_equal(count(&s, NULL, "1.01"), 10);
	ty_mem_session_fini(&s);

	/* A trace that is open stays so. */
	assert_int_equal(ty_trace_open(path, &t, &err), 0);
	/* Quitting meanwhile does not wait. */
	assert_int_equal(ty_mem_session_of_trace(&s, t, &stop, &err), -TY_EINTR);
	ty_mem_session_fini(&s);
	assert_int_equal(ty_mem_session_of_trace(&s, t, NULL, &err), 0);
	assert_int_equal(count(&s, NULL, NULL), 100);
	ty_mem_session_fini(&s);
	assert_non_null(ty_trace_section(t, TY_SEC_PERF).s);
	ty_trace_close(t);
}

static void test_none(void **state)
{
	const struct ty_mem_options none = {0};
	struct ty_mem_session s;
	struct ty_err err = {0};

	assert_int_equal(ty_mem_session_open(&s, recording(false), &none, &err), -TY_ENOTFOUND);
	assert_non_null(strstr(err.msg, "has no memory samples"));
	ty_mem_session_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_section),
		cmocka_unit_test(test_none),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	ty_fx_remove_dir();
	return r;
}

/* SPDX-License-Identifier: MIT */
/* What `tarry export` takes of a recording's samples: those of the window's time, threads, names
 * and CPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "export_perf.h"
#include "fixture_story.h"
#include "fixture_trace.h"
#include "perf_data.h"
#include "perf_write.h"
#include "section.h"

/* Two samples every millisecond, from a second into the story: of 100 (webserver) on CPU 0, and of
 * 101 (backup) on CPU 1. */
static void record(const char *path)
{
	struct perf_write w;
	struct ty_buf pipe;

	pw_init(&w);
	w.type = 4;
	pw_comm(&w, (struct pw_at){.pid = 101, .tid = 101, .time = 1}, "backup");
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t cpu = i % 2, tid = TY_STORY_WEB + cpu;
		uint64_t body[8] = {PW_ID,
				    0x4000,
				    tid << 32 | tid,
				    TY_STORY_START + 1000000000 + i / 2 * 1000000,
				    0x7000,
				    cpu,
				    12,
				    0x2 | 0x0aull << 5};

		pw_rec(&w, TY_PERF_SAMPLE, 2, body, sizeof(body));
	}
	ty_buf_init(&pipe, 1 << 20);
	pw_pipe(&w, &pipe);
	ty_story_begin(path, 4, "host=box\narch=x86_64\n", TY_STORY_THREADS);
	ty_story_section(TY_SEC_PERF, pipe.p, pipe.len);
	ty_story_stall(ty_story_event);
	ty_story_end();
	ty_buf_fini(&pipe);
	pw_fini(&w);
}

/* The samples and names that were exported. */
static void exported(struct ty_window w, unsigned *samples, unsigned *comms)
{
	const char *path = ty_fx_path("exported");
	struct ty_perf_exported done;
	struct ty_session s = {0};
	struct ty_err err = {0};
	struct ty_perf_rec r;
	struct ty_perf *f;

	w.to_ns = w.to_ns ? w.to_ns : UINT64_MAX;
	if (ty_session_open(&s, ty_fx_path("story.dat"), TY_OPEN_EVENTS, 0, &err) ||
	    ty_export_perf(&s, &w, path, &done, &err) || ty_perf_open(path, &f, &err))
		fail_msg("%s", err.msg);
	ty_session_fini(&s);
	*samples = *comms = 0;
	while (ty_perf_next(f, &r, &err) > 0) {
		const struct ty_perf_event *e = ty_perf_event_of(f, &r);
		struct ty_perf_comm comm;

		*samples += r.type == TY_PERF_SAMPLE && e && e->attr.type == 4;
		*comms += r.type == TY_PERF_COMM && !ty_perf_comm(&r, &comm) && comm.pid == 101;
	}
	ty_perf_close(f);
	assert_int_equal(0, err.code);
}

static void test_samples(void **state)
{
	const char *backup = "back*", *nobody = "nobody";
	const int32_t tid = 101;
	const uint32_t cpu = 0;
	const uint64_t t = TY_STORY_START + 1000000000;
	const struct {
		struct ty_window w;
		unsigned samples;
	} cases[] = {
		{{0}, 200},
		{{.from_ns = t + 50000000}, 100},
		{{.to_ns = t + 10000000}, 20},
		{{.from_ns = t + 10000000, .to_ns = t + 30000000, .tids = &tid, .tids_n = 1}, 20},
		{{.cpus = &cpu, .cpus_n = 1, .from_ns = t + 90000000}, 10},
		{{.comms = &backup, .comms_n = 1}, 100},
		{{.comms = &nobody, .comms_n = 1}, 0},
	};
	unsigned samples, comms;

	record(ty_fx_path("story.dat"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		exported(cases[i].w, &samples, &comms);
		assert_int_equal(cases[i].samples, samples);
		/* What names and places them goes along, whenever it was. */
		assert_true(comms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples)};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	ty_fx_remove_dir();
	return r;
}

/* SPDX-License-Identifier: MIT */
/* What `tarry export` takes of a recording's samples: those of the window's time, threads, names
 * and CPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "export_perf.h"
#include "fixture_story.h"
#include "fixture_trace.h"
#include "perf_data.h"
#include "perf_events.h"
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
	struct ty_perf *f = NULL;

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

/* Every event of the file as text. */
static char *told(const char *path)
{
	static char text[2][4096];
	static unsigned which;
	char *out = text[which++ % 2];
	struct ty_session s = {0};
	struct ty_err err = {0};
	struct ty_event ev;
	size_t n = 0;

	if (ty_session_open(&s, path, TY_OPEN_EVENTS, 0, &err))
		fail_msg("%s", err.msg);
	while (ty_events_next(s.events, &ev, NULL) > 0) {
		n += (size_t)snprintf(out + n, sizeof(text[0]) - n, "%llu %u %d %s",
				      (unsigned long long)ev.ts_ns, ev.cpu, ev.tid,
				      ty_formats_name(s.formats, ev.id));
		for (uint32_t i = 8; i + 4 <= ev.size && ev.kind == TY_EV_SWITCH; i += 4)
			n += (size_t)snprintf(out + n, sizeof(text[0]) - n, " %d%d",
					      (int8_t)ev.data[i], ev.data[i + 1]);
		n += (size_t)snprintf(out + n, sizeof(text[0]) - n, "\n");
	}
	ty_session_fini(&s);
	return out;
}

/* perf's own records of threads and switches are such records again, and nothing else. */
static void test_own_records(void **state)
{
	const char *path = ty_fx_path("exported");
	struct ty_perf_exported done;
	struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_session s = {0};
	struct ty_err err = {0};
	struct perf_write pw;
	struct ty_buf b;
	char perf[32];

	pe_init(&pw);
	pw.switches = true;
	pw.config = PE_ENTER;
	pe_call(&pw, (struct pw_at){7, 7, 1000, 0}, true, 56);
	pe_task(&pw, (struct pw_at){7, 7, 1100, 0}, true, 8, 8);
	pw_switch(&pw, (struct pw_at){7, 7, 2000, 0}, true, 8, 8);
	pw_rec_at(&pw, TY_PERF_SWITCH_CPU_WIDE,
		  TY_PERF_MISC_SWITCH_OUT | TY_PERF_MISC_SWITCH_PREEMPT, (int32_t[]){7, 7}, 8,
		  (struct pw_at){8, 8, 3000, 0});
	pe_task(&pw, (struct pw_at){7, 7, 3500, 0}, false, 7, 7);
	pw_switch(&pw, (struct pw_at){-1, -1, 4000, 0}, true, 0, 0);
	ty_buf_init(&b, 1 << 20);
	pw_pipe(&pw, &b);
	pw_save(&b, perf);
	ty_buf_fini(&b);
	pw_fini(&pw);
	if (ty_session_open(&s, perf, TY_OPEN_EVENTS, 0, &err) ||
	    ty_export_perf(&s, &w, path, &done, &err))
		fail_msg("%s", err.msg);
	ty_session_fini(&s);
	assert_string_equal(told(perf), told(path));
	assert_int_equal(1, done.events);
	unlink(perf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples),
					   cmocka_unit_test(test_own_records)};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	ty_fx_remove_dir();
	return r;
}

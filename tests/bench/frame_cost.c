/* SPDX-License-Identifier: MIT */
/*
 * frame_cost FILE: what one frame of the timeline at 200x60 costs at several zooms, in the middle
 * of an indexed recording. Under callgrind: a dump per frame, named by its
 * zoom; "first" is the first frame there, whose blocks are read and checked for the first time.
 * Otherwise microseconds.
 *
 * frame_cost --make FILE: writes a recording of 10,000 threads and 256 CPUs.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS	      (void)0
#define CALLGRIND_DUMP_STATS_AT(name) (void)(name)
#endif

#include "session.h"
#include "fixture_story.h"
#include "timeline_priv.h"
#include "window_all.h"

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void frame(struct ty_timeline *t, struct ty_grid *g, const char *name)
{
	const struct ty_palette p = {.mode = TY_COLOR_256, .utf8 = true};
	double at;

	CALLGRIND_ZERO_STATS;
	at = now_us();
	ty_timeline_ops.draw(t, g, &p);
	at = now_us() - at;
	CALLGRIND_DUMP_STATS_AT(name);
	printf("%s %.0f\n", name, at);
}

static int cost(const char *path)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} zooms[] = {{"whole", UINT64_MAX},
		     {"1s", 1000000000},
		     {"100ms", 100000000},
		     {"1ms", 1000000},
		     {"10us", 10000}};
	struct ty_session s;
	struct ty_view_input in = {0};
	struct ty_timeline *t;
	struct ty_grid g;
	struct ty_err err = {0};
	char name[40];
	double at = now_us();

	if (ty_session_open(&s, path, TY_OPEN_MODEL, 0, &err)) {
		fprintf(stderr, "frame_cost: %s\n", err.msg);
		return 1;
	}
	in = (struct ty_view_input){.model = s.model,
				    .path = path,
				    .window = window_all(s.model),
				    .arch = s.arch,
				    .recorder_cpu_ns = UINT64_MAX};
	printf("open %.0f\n", now_us() - at);
	at = now_us();
	if (ty_timeline_new(&in, &t, &err) || ty_grid_init(&g, 200, 60)) {
		fprintf(stderr, "frame_cost: %s\n", err.msg);
		return 1;
	}
	printf("timeline %.0f\n", now_us() - at);
	for (unsigned i = 0; i < sizeof(zooms) / sizeof(*zooms); i++) {
		uint64_t all = t->vp.end_ns - t->vp.start_ns,
			 ns = zooms[i].ns < all ? zooms[i].ns : all,
			 from = t->vp.start_ns + (all - ns) / 2;

		ty_viewport_jump(&t->vp, from, from + ns);
		t->cursor_ns = from + ns / 2;
		snprintf(name, sizeof(name), "%s-first", zooms[i].name);
		frame(t, &g, name);
		frame(t, &g, zooms[i].name);
	}
	printf("rows %zu\n", (size_t)t->tracks.rows.n);
	ty_grid_fini(&g);
	ty_timeline_free(t);
	ty_session_fini(&s);
	return 0;
}

/* Every thread runs now and then, on CPUs in turn, woken by the one before it. */
static void make(const char *path)
{
	enum { CPUS = 256, THREADS = 10000, ROUNDS = 40 };
	struct ty_event ev;
	uint64_t ts = TY_STORY_START;

	ty_story_begin(path, CPUS, "tarry=bench\narch=x86_64\nmode=all\ncpus=0-255\n", NULL);
	for (int i = 0; i < THREADS; i++) {
		ev = (struct ty_event){
			.ts_ns = ts += 1000, .cpu = 0, .kind = TY_EV_NEWTASK, .tid = 999 + i};
		ev.u.newtask.tid = 1000 + i;
		ev.u.newtask.clone_flags = i % 40 ? 0x10000 | 0x100 : 0;
		snprintf(ev.u.newtask.comm, sizeof(ev.u.newtask.comm), "worker-%d", i / 40);
		ty_story_event(&ev);
	}
	for (int i = 0; i < THREADS * ROUNDS; i++) {
		int tid = 1000 + (int)((unsigned)i * 7919u % THREADS);

		for (int on = 0; on < 2; on++) {
			ev = (struct ty_event){.ts_ns = ts += 500,
					       .cpu = (uint32_t)i % CPUS,
					       .kind = TY_EV_SWITCH,
					       .tid = on ? tid : 0};
			ev.u.sw.prev_tid = on ? tid : 0;
			ev.u.sw.next_tid = on ? 0 : tid;
			ev.u.sw.prev_state = on ? TY_TASK_INTERRUPTIBLE : 0;
			snprintf(ev.u.sw.prev_comm, 16, on ? "worker-%d" : "swapper",
				 (tid - 1000) / 40);
			snprintf(ev.u.sw.next_comm, 16, on ? "swapper" : "worker-%d",
				 (tid - 1000) / 40);
			ty_story_event(&ev);
		}
	}
	ty_story_end();
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	if (argc == 3 && !strcmp(argv[1], "--make")) {
		make(argv[2]);
		return 0;
	}
	if (argc != 2) {
		fprintf(stderr, "usage: frame_cost [--make] FILE\n");
		return 2;
	}
	return cost(argv[1]);
}

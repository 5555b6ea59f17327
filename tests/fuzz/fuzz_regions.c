/* SPDX-License-Identifier: MIT */
/*
 * Any sequence of begins, ends, lines of trace_marker, losses, forks and execs: regions must come
 * out in order, inside the recording, without overlap in a lane, and their searches must agree.
 * Input: 8 bytes per event: what, thread, name, value, time to the next (2), place of a line in the
 * rest (2).
 */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "event.h"
#include "fuzz.h"
#include "region_stats.h"

static void check(const struct ty_model *m)
{
	const struct ty_summary *s = ty_model_summary(m);
	uint32_t n = ty_model_regions(m);
	struct ty_region last = {0};

	for (uint32_t i = 0; i < n; i++) {
		struct ty_region r = ty_model_region(m, i);

		if (r.thread >= s->threads || r.end_ns < r.start_ns || r.end_ns > s->end_ns ||
		    r.self_ns > r.end_ns - r.start_ns || r.lane > TY_LANE_INSTANT)
			abort();
		if (i &&
		    (r.thread < last.thread || (r.thread == last.thread && r.lane < last.lane)))
			abort();
		if (i && r.thread == last.thread && r.lane == last.lane &&
		    (r.start_ns < last.start_ns ||
		     (r.lane < TY_LANE_INSTANT && r.start_ns < last.end_ns)))
			abort();
		if (r.lane < TY_LANE_INSTANT && r.end_ns > r.start_ns &&
		    ty_model_region_in(m, r.thread, r.lane, r.start_ns, r.end_ns) > i)
			abort();
		last = r;
	}
}

static void report(const struct ty_model *m)
{
	struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_explain x = {.m = m};
	struct ty_region_report r;
	uint64_t count = 0;

	if (ty_region_report_find(&x, &w, NULL, &r) < 0)
		abort();
	for (uint32_t i = 0; i < r.n; i++) {
		count += r.v[i].count;
		if (r.v[i].timed > r.v[i].count ||
		    (r.v[i].timed &&
		     (r.v[i].p50_ns > r.v[i].p90_ns || r.v[i].p99_ns > r.v[i].max_ns ||
		      r.v[i].self_ns > r.v[i].total_ns)))
			abort();
	}
	if (count != ty_model_regions(m))
		abort();
	ty_region_report_fini(&r);
	(void)ty_region_report_find(&x, &w, "b", &r);
	ty_region_report_fini(&r);
}

static void feed(struct ty_builder *b, const uint8_t *p, const char *line, uint64_t ts)
{
	static const char *const names[] = {"", "a", "b", "c"};
	struct ty_event ev = {.ts_ns = ts, .tid = 5 + p[1] % 4, .id = 30, .buffer = p[1] >> 7};

	switch (p[0] % 16) {
	case 12:
		ev.kind = TY_EV_PRINT;
		ev.u.print.text = line;
		break;
	case 13:
		ev.kind = TY_EV_GAP;
		ev.u.gap.from_ns = ts > p[3] ? ts - p[3] : 0;
		ev.u.gap.count = p[2];
		ev.cpu = p[2] % 2;
		break;
	case 14:
		ev.kind = TY_EV_EXEC;
		ev.u.exec.tid = ev.tid;
		ev.u.exec.old_tid = 5 + p[2] % 4;
		ev.u.exec.filename = "x";
		break;
	case 15:
		ev.kind = TY_EV_EXIT;
		ev.u.tex.tid = ev.tid;
		break;
	default:
		ev.kind = TY_EV_REGION;
		ev.u.region.kind = p[0] % 16;
		ev.u.region.name = names[p[2] % 4];
		ev.u.region.value = (int8_t)p[3] % 4;
		break;
	}
	if (ty_builder_feed(b, &ev, NULL) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ty_build_facts facts = {.arch = "x86_64", .cpus = 2};
	struct ty_builder *b = ty_builder_new(&facts);
	struct ty_model *m = NULL;
	uint64_t ts = 1000;
	char line[300];

	for (size_t i = 0; i + 8 <= size; i += 8) {
		size_t at = (size_t)data[i + 6] << 8 | data[i + 7], n;

		at = size ? at % size : 0;
		n = size - at < sizeof(line) - 1 ? size - at : sizeof(line) - 1;
		memcpy(line, data + at, n);
		line[n] = 0;
		ts += (uint64_t)data[i + 4] << 8 | data[i + 5];
		feed(b, data + i, line, ts);
	}
	if (!ty_builder_finish(b, &m, NULL) && m) {
		check(m);
		report(m);
		ty_model_free(m);
	}
	ty_builder_free(b);
	return 0;
}

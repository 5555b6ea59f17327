/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a perf.data file: it opens or is refused, its records end, every decoder of a record
 * stays inside it; memory samples in it are merged, and shared lines found; its tracepoints are
 * read as a trace. Input: the file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "events.h"
#include "fuzz.h"
#include "mem_points.h"
#include "mem_stream.h"
#include "perf_data.h"
#include "sharing.h"
#include "trace.h"

static volatile uint64_t sink;

static void touch(const char *s)
{
	sink += strlen(s);
}

static void decode(struct ty_perf *p, const struct ty_perf_rec *r)
{
	const struct ty_perf_event *e = ty_perf_event_of(p, r);
	struct ty_perf_id id;
	struct ty_perf_mmap map;
	struct ty_perf_comm comm;
	struct ty_perf_task task;
	struct ty_perf_aux aux;
	struct ty_perf_itrace_start start;
	struct ty_perf_lost lost;
	struct ty_perf_switch sw;
	struct ty_perf_stat stat;
	struct ty_perf_auxtrace_info info;
	struct ty_perf_auxtrace at;
	struct ty_perf_time_conv tc;
	struct ty_perf_sample s;

	ty_perf_id(p, r, &id);
	if (!ty_perf_mmap(r, &map))
		touch(map.name);
	if (!ty_perf_comm(r, &comm))
		touch(comm.comm);
	ty_perf_task(r, &task);
	ty_perf_aux(r, &aux);
	ty_perf_itrace_start(r, &start);
	ty_perf_lost(r, &lost);
	ty_perf_switch(r, &sw);
	ty_perf_stat(r, &stat);
	if (!ty_perf_auxtrace_info(r, &info))
		sink += ty_perf_word(&info, info.words ? info.words - 1 : 0);
	ty_perf_auxtrace(r, &at);
	if (!ty_perf_time_conv(r, &tc))
		sink += ty_perf_time_ns(&tc, UINT64_MAX);
	if (e && !ty_perf_sample_parse(r, &e->attr, &s)) {
		if (s.ips_n)
			sink += s.ips[s.ips_n * 8 - 1];
		if (s.raw_n)
			sink += s.raw[s.raw_n - 1];
		if (s.branches_n)
			sink += ty_perf_branch_at(&s, s.branches_n - 1).to;
	}
}

#define ITEMS_MAX 20000u

static void samples(struct ty_perf *p)
{
	struct ty_mem_points points = {0};
	struct ty_mem_stream *s;
	struct ty_sharing sharing;
	struct ty_err err;
	const struct ty_mem *m;
	uint32_t n = 0;

	if (ty_mem_open(p, &s, &err))
		return;
	if (ty_mem_points_begin(&points, s, 0))
		abort();
	while (n++ < ITEMS_MAX && ty_mem_next(s, &m, &err) > 0) {
		const struct ty_mem_map *map = ty_mem_map_find(s, m->pid, m->pc, m->ts_ns);
		const char *comm = ty_mem_comm(s, m->tid, m->ts_ns);

		if (map)
			touch(map->name);
		if (ty_mem_points_add(&points, m, comm ? comm : "", true))
			abort();
	}
	if (ty_mem_points_end(&points) ||
	    ty_sharing_find(&points, ty_mem_facts(s)->line_bytes, NULL, &sharing))
		abort();
	ty_sharing_fini(&sharing);
	ty_mem_points_fini(&points);
	ty_mem_close(s);
}

/* The same file as a trace. */
static void events(const char *path)
{
	struct ty_formats *f = NULL;
	struct ty_events *es = NULL;
	struct ty_trace *t;
	struct ty_event ev;
	uint64_t last = 0;
	uint32_t n = 0;

	if (ty_trace_open(path, &t, NULL))
		return;
	if (!ty_formats_new(t, &f, NULL) && !ty_events_open(t, f, &es, NULL))
		while (n++ < ITEMS_MAX && ty_events_next(es, &ev, NULL) > 0) {
			if (ev.ts_ns < last)
				abort();
			last = ev.ts_ns;
		}
	ty_events_close(es);
	ty_formats_free(f);
	ty_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ty_perf *p;
	struct ty_perf_rec r;
	struct ty_perf_build_id b;
	char path[64];
	uint32_t a, c;
	size_t pos = 0;

	fuzz_file(data, size, path);
	if (!ty_perf_open(path, &p, NULL)) {
		while (ty_perf_next(p, &r, NULL) > 0) {
			uint8_t last;

			if (r.data_n && ty_perf_read(p, r.data_off + r.data_n - 1, &last, 1, NULL))
				abort();
			decode(p, &r);
		}
		vec_each (e, &p->events)
			touch(e->name);
		for (unsigned f = 0; f < TY_PERF_F_COUNT; f++)
			if (ty_perf_text(p, f))
				touch(ty_perf_text(p, f));
		for (uint32_t i = 0; ty_perf_cmdline(p, i); i++)
			touch(ty_perf_cmdline(p, i));
		for (uint32_t i = 0; i < 16; i++)
			if (ty_perf_pmu(p, i))
				touch(ty_perf_pmu(p, i));
		while (ty_perf_build_id_next(p, &pos, &b))
			touch(b.name);
		ty_perf_cpus(p, &a, &c);
		samples(p);
		ty_perf_close(p);
	}
	events(path);
	return 0;
}

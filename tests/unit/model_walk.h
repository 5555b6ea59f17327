/* SPDX-License-Identifier: MIT */
/* Every question to a model, the answers as one number: equal models give equal numbers, and no
 * model may crash it. In a header, for the fuzzers use it, too. */
#ifndef TY_MODEL_WALK_H
#define TY_MODEL_WALK_H

#include <stdlib.h>
#include <string.h>

#include "longest_waits.h"
#include "model_priv.h"
#include "syscall_stats.h"
#include "thread_stats.h"
#include "window_all.h"

static inline uint64_t walk_add(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 31;
}

static inline uint64_t walk_str(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = walk_add(h, (uint8_t)*s);
	return h;
}

static inline uint64_t walk_span(uint64_t h, struct ty_span s)
{
	h = walk_add(walk_add(h, s.start_ns), s.end_ns);
	h = walk_add(walk_add(h, s.thread), s.cpu);
	h = walk_add(walk_add(h, s.edge), s.syscall);
	return walk_add(h, (uint64_t)s.state << 8 | s.flags);
}

static inline uint64_t walk_track(uint64_t h, const struct ty_model *m, struct ty_track t)
{
	const struct ty_summary *sum = ty_model_summary(m);
	struct ty_cell cell[40];
	const uint64_t nrs[TY_SEEK_NRS / 64] = {6, 1};
	struct ty_seek q[] = {{.nr = -1},
			      {.nr = -1, .nrs = nrs},
			      {.nr = -1, .min_ns = 1000},
			      {.nr = 1},
			      {.nr = -1, .errors = true},
			      {.nr = -1, .states = 1u << TY_ST_SLEEPING},
			      {.nr = -1, .flags_any = TY_SF_PREEMPT}};

	for (unsigned z = 0; z < 2; z++) {
		uint64_t from = sum->start_ns, to = sum->end_ns;

		ty_model_cells(m, t, z ? from + (to - from) / 3 : from,
			       z ? from + (to - from) / 2 : to, 40, cell);
		for (unsigned i = 0; i < 40; i++) {
			for (unsigned s = 0; s < TY_ST_COUNT; s++)
				h = walk_add(h, cell[i].ns[s]);
			h = walk_add(walk_add(h, cell[i].longest), cell[i].longest_whole);
			h = walk_add(walk_add(h, cell[i].spans), cell[i].flags);
		}
	}
	for (unsigned i = 0; i < sizeof(q) / sizeof(*q); i++) {
		h = walk_add(h, ty_model_seek(m, t, &q[i], sum->start_ns, false));
		h = walk_add(h, ty_model_seek(m, t, &q[i], sum->end_ns, true));
	}
	return h;
}

static inline uint64_t walk_findings(uint64_t h, const struct ty_model *m)
{
	struct ty_window w = window_all(m);
	struct ty_syscall_stats *calls;
	struct ty_thread_stats *threads;
	struct ty_wait wait[10];
	uint32_t n = ty_longest(m, &w, UINT32_MAX, wait, 10);

	for (uint32_t i = 0; i < n; i++)
		h = walk_add(walk_add(h, wait[i].span), wait[i].duration_ns);
	if (!ty_syscall_stats(m, &w, ty_sysarch_find("x86_64"), &calls, &n)) {
		for (uint32_t i = 0; i < n; i++)
			h = walk_add(walk_add(walk_add(walk_str(h, calls[i].name), calls[i].p50_ns),
					      calls[i].p99_ns),
				     calls[i].total_ns);
		free(calls);
	}
	if (!ty_thread_stats(m, &w, &threads, &n)) {
		for (uint32_t i = 0; i < n; i++)
			h = walk_add(walk_add(h, threads[i].ns[TY_ST_RUNNING]), threads[i].runs);
		free(threads);
	}
	return h;
}

static inline uint64_t walk_model(const struct ty_model *m)
{
	const struct ty_summary *sum = ty_model_summary(m);
	uint64_t h = walk_add(walk_add(sum->start_ns, sum->end_ns), sum->events), real;
	const struct ty_gap_span *gap;
	uint32_t n;

	for (uint32_t i = 0; i < sum->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		h = walk_add(walk_add(h, (uint64_t)t->tid), t->start_ns);
		h = walk_str(walk_str(h, ty_model_str(m, t->name)),
			     ty_model_comm(m, i, sum->end_ns));
		h = walk_str(walk_str(h, ty_model_str(m, t->cgroup)), ty_model_str(m, t->affinity));
		h = walk_add(h, ty_model_thread_find(m, t->tid, t->start_ns));
		for (uint32_t k = 0; k <= t->spans_n; k++) {
			struct ty_span s = ty_model_span(m, t->spans_first + k);

			h = walk_span(h, s);
			h = walk_add(h, ty_model_span_find(m, i, s.start_ns));
		}
		for (uint32_t k = 0; k <= t->syscalls_n; k++) {
			struct ty_syscall c = ty_model_syscall(m, t->syscalls_first + k);
			uint64_t args[TY_MODEL_ARGS];

			for (unsigned a = ty_model_syscall_args(m, &c, args); a-- > 0;)
				h = walk_add(h, args[a]);
			h = walk_add(walk_add(h, c.start_ns), c.end_ns);
			h = walk_add(walk_add(h, (uint64_t)c.ret), (uint64_t)c.nr);
			h = walk_add(walk_add(h, c.loc), c.cpu);
			h = walk_add(h, (uint64_t)c.thread << 16 | (unsigned)c.flags << 8 | c.abi);
			h = walk_add(h, ty_model_syscall_at(m, i, c.end_ns));
		}
		h = walk_add(h, ty_model_migrations(m, i, sum->start_ns, sum->end_ns));
		h = walk_add(h, ty_model_wakeups(m, i, sum->start_ns, sum->end_ns));
		h = walk_track(h, m, (struct ty_track){TY_TRACK_THREAD, i});
		h = walk_track(h, m, (struct ty_track){TY_TRACK_SYSCALLS, i});
	}
	for (uint32_t c = 0; c < sum->cpus; c++) {
		for (uint32_t k = 0; k <= ty_model_cpu_spans(m, c); k++)
			h = walk_span(h, ty_model_cpu_span(m, c, k));
		for (uint32_t k = 0; k <= ty_model_irq_spans(m, c); k++) {
			struct ty_irq_span s = ty_model_irq_span(m, c, k);

			h = walk_str(walk_add(walk_add(h, s.start_ns), s.end_ns),
				     ty_model_str(m, s.name));
		}
		for (uint32_t k = 0; k <= ty_model_points(m, c); k++) {
			struct ty_point p = ty_model_point(m, c, k);

			h = walk_add(walk_add(walk_add(h, p.ts_ns), p.a), p.b);
			h = walk_add(walk_add(h, p.thread), p.kind);
		}
		h = walk_track(h, m, (struct ty_track){TY_TRACK_CPU, c});
		h = walk_track(h, m, (struct ty_track){TY_TRACK_IRQS, c});
	}
	for (uint32_t i = 0; i <= m->t[TY_T_EDGES].rows; i++) {
		struct ty_edge e = ty_model_edge(m, i);

		h = walk_add(walk_add(walk_add(h, e.ts_ns), e.waker), e.target);
		h = walk_add(walk_add(walk_add(h, e.cpu), e.target_cpu), e.loc);
	}
	for (uint32_t i = 0; i <= ty_model_ios(m); i++) {
		struct ty_io io = ty_model_io(m, i);

		h = walk_str(walk_add(walk_add(h, io.start_ns), io.thread),
			     ty_model_str(m, io.rwbs));
	}
	gap = ty_model_gaps(m, &n);
	for (uint32_t i = 0; i < n; i++)
		h = walk_add(walk_add(h, gap[i].from_ns), gap[i].to_ns);
	h = walk_add(h, ty_model_realtime(m, sum->end_ns, &real) ? real : 0);
	return walk_findings(h, m);
}

#endif

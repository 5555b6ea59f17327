/* SPDX-License-Identifier: MIT */
/* perf.data files with tracepoints as traces: order, losses, threads, what is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"
#include "export_trace.h"
#include "perf_events.h"

static char path[32];

/* Open what was written; the file is gone at once. */
static void open_it(struct ty_session *s, struct perf_write *w, unsigned flags)
{
	struct ty_err err = {0};
	struct ty_buf b;

	ty_buf_init(&b, 64 << 20);
	pw_pipe(w, &b);
	pw_save(&b, path);
	ty_buf_fini(&b);
	pw_fini(w);
	if (ty_session_open(s, path, flags | TY_OPEN_NO_INDEX, 0, &err))
		fail_msg("%s", err.msg);
	unlink(path);
}

/* "TIME CPU TID KIND" of all events; "gap N" for a loss. */
static char *told(struct ty_session *s)
{
	static char text[65536];
	struct ty_event ev;
	size_t n = 0;

	*text = 0;
	while (ty_events_next(s->events, &ev, NULL) > 0)
		if (ev.kind == TY_EV_GAP)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "gap %lld cpu %u%s\n",
					      (long long)ev.u.gap.count, ev.cpu,
					      ev.u.gap.to_end ? " to the end" : "");
		else
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%llu %u %d %s\n",
					      (unsigned long long)ev.ts_ns, ev.cpu, ev.tid,
					      ty_formats_name(s->formats, ev.id));
	return text;
}

/* CPUs one after the other, and what a round allows to come late. */
static void test_order(void **state)
{
	struct ty_session s = {0};
	struct perf_write w;

	pe_init(&w);
	pe_call(&w, (struct pw_at){7, 7, 1000, 0}, true, 0);
	pe_call(&w, (struct pw_at){7, 7, 1500, 0}, false, 0);
	pe_call(&w, (struct pw_at){9, 9, 1200, 1}, true, 1);
	pe_round(&w);
	/* Of the second round: earlier than the last of the first one, on the same CPU. */
	pe_call(&w, (struct pw_at){7, 7, 1300, 0}, true, 2);
	pe_call(&w, (struct pw_at){9, 9, 900, 1}, true, 3);
	pe_round(&w);
	pe_call(&w, (struct pw_at){7, 7, 5000000000000, 0}, true, 4);
	open_it(&s, &w, TY_OPEN_EVENTS);
	assert_string_equal(told(&s), "900 1 9 sys_enter\n"
				      "1000 0 7 sys_enter\n"
				      "1200 1 9 sys_enter\n"
				      "1300 0 7 sys_enter\n"
				      "1500 0 7 sys_exit\n"
				      "5000000000000 0 7 sys_enter\n");
	assert_null(s.trace->note.s);
	assert_int_equal(s.trace->cpu_count, 2);
	assert_string_equal(s.arch_name, "x86_64");
	ty_session_fini(&s);
}

/* How far it is: upwards, and how often. */
struct heard {
	double last;
	unsigned n;
};

static void hear(void *ctx, double part)
{
	struct heard *h = ctx;

	assert_true(part > h->last && part <= 1);
	h->last = part;
	h->n++;
}

static void test_telling(void **state)
{
	struct ty_trace *t = NULL;
	struct heard heard = {0};
	struct perf_write w;
	struct ty_buf b;

	pe_init(&w);
	for (unsigned i = 0; i < 40000; i++)
		pe_call(&w, (struct pw_at){5, 5, 1000 + 777ull * i, 0}, i % 2, 0);
	ty_buf_init(&b, 64 << 20);
	pw_pipe(&w, &b);
	pw_save(&b, path);
	assert_int_equal(0, ty_trace_open_progress(path, hear, &heard, &t, NULL));
	assert_int_equal(2, heard.n); /* every 16384 records */
	assert_true(heard.last > 0.7);
	ty_trace_close(t);
	unlink(path);
	ty_buf_fini(&b);
	pw_fini(&w);
}

/* Many events in many pages and chunks, each with its time; looked up again by its place. */
static void test_many(void **state)
{
	enum { N = 40000 };
	struct ty_session s = {0};
	struct perf_write w;
	struct ty_event ev, again;
	uint64_t n = 0;

	pe_init(&w);
	for (unsigned i = 0; i < N; i++) {
		pe_call(&w, (struct pw_at){5, 5, 1000 + 777ull * i, i % 2}, i % 4 < 2, i % 300);
		if (i % 1000 == 999)
			pe_round(&w);
	}
	open_it(&s, &w, TY_OPEN_EVENTS);
	assert_true(s.trace->streams.v[0].chunks > 1);
	for (; ty_events_next(s.events, &ev, NULL) > 0; n++) {
		assert_int_equal(ev.ts_ns, 1000 + 777 * n);
		assert_int_equal(ev.cpu, n % 2);
		assert_int_equal(ev.kind, n % 4 < 2 ? TY_EV_SYS_ENTER : TY_EV_SYS_EXIT);
		assert_int_equal(ev.kind == TY_EV_SYS_ENTER ? ev.u.enter.nr : ev.u.exit.nr,
				 n % 300);
		if (n % 997)
			continue;
		assert_int_equal(ty_events_read_at(s.events, ev.loc, &again, NULL), 0);
		assert_int_equal(again.ts_ns, ev.ts_ns);
	}
	assert_int_equal(n, N);
	assert_int_equal(ty_events_seek(s.events, 1000 + 777 * 30001, NULL), 0);
	assert_int_equal(ty_events_next(s.events, &ev, NULL), 1);
	assert_int_equal(ev.ts_ns, 1000 + 777 * 30001);
	ty_session_fini(&s);
}

static void test_losses(void **state)
{
	uint64_t all[2] = {60}; /* LOST_SAMPLES: a count, and the tail below */
	struct ty_session s = {0};
	struct perf_write w;

	pe_init(&w);
	pe_index(&w, 0, -1);
	pe_call(&w, (struct pw_at){7, 7, 1000, 0}, true, 0);
	pe_lost(&w, (struct pw_at){7, 7, 2000, 0}, 42);
	pe_call(&w, (struct pw_at){7, 7, 2000, 0}, false, 0);
	pe_round(&w);
	pe_round(&w);
	/* What perf counts in the end is more by 18: they were lost behind the last event. The
	 * record's event is that of the index, its time 0. */
	w.sample_type = TY_PERF_S_IDENTIFIER;
	all[1] = 0;
	{
		uint8_t body[8 + 32] = {0};
		uint64_t id = PW_ID;

		memcpy(body, all, 8);
		memcpy(body + sizeof(body) - 8, &id, 8);
		pw_rec(&w, TY_PERF_LOST_SAMPLES, 0, body, sizeof(body));
	}
	w.sample_type = TY_PERF_S_IDENTIFIER | TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_CPU |
			TY_PERF_S_RAW;
	open_it(&s, &w, TY_OPEN_EVENTS | TY_OPEN_MODEL);
	assert_string_equal(told(&s), "1000 0 7 sys_enter\n"
				      "gap 42 cpu 0\n"
				      "2000 0 7 sys_exit\n"
				      "gap 18 cpu 0 to the end\n");
	assert_int_equal(ty_model_summary(s.model)->lost, 60);
	assert_false(s.trace->own_only);
	ty_session_fini(&s);
}

/* More losses than a kernel writes into so few bytes: none is forgotten, nor is the file refused.
 */
static void test_many_losses(void **state)
{
	enum { N = 1000 };
	struct ty_session s = {0};
	struct perf_write w;
	struct ty_event ev;
	uint64_t lost = 0;
	unsigned n = 0;

	pe_init(&w);
	pe_index(&w, 0, -1);
	for (unsigned i = 0; i < N; i++) {
		pe_lost(&w, (struct pw_at){7, 7, 1000 + 10 * i, 0}, 3);
		pe_call(&w, (struct pw_at){7, 7, 1005 + 10 * i, 0}, i % 2 == 0, 0);
	}
	open_it(&s, &w, TY_OPEN_EVENTS);
	while (ty_events_next(s.events, &ev, NULL) > 0)
		if (ev.kind == TY_EV_GAP)
			lost += ev.u.gap.count;
		else
			n++;
	assert_int_equal(n, N);
	assert_int_equal(lost, 3 * N);
	ty_session_fini(&s);
}

/* Threads that were there, births, deaths and names, where no tracepoint records them. */
static void test_threads(void **state)
{
	struct ty_session s = {0};
	struct perf_write w;
	const struct ty_model *m;
	bool child = false, old = false;

	pe_init(&w);
	pe_task(&w, (struct pw_at){1, 1, 0, 0}, true, 7, 7);
	pw_comm(&w, (struct pw_at){7, 7, 0, 0}, "shell");
	pe_call(&w, (struct pw_at){7, 7, 1000, 0}, true, 56);
	pe_task(&w, (struct pw_at){7, 7, 1100, 0}, true, 8, 8);
	pe_call(&w, (struct pw_at){8, 8, 1200, 1}, true, 59);
	pw_comm(&w, (struct pw_at){8, 8, 1300, 1}, "ls");
	pe_call(&w, (struct pw_at){8, 8, 1400, 1}, false, 59);
	pe_task(&w, (struct pw_at){8, 8, 1500, 1}, false, 8, 8);
	open_it(&s, &w, TY_OPEN_EVENTS | TY_OPEN_MODEL);
	assert_string_equal(told(&s), "1000 0 7 sys_enter\n"
				      "1100 0 7 fork\n"
				      "1200 1 8 sys_enter\n"
				      "1300 1 8 comm\n"
				      "1400 1 8 sys_exit\n"
				      "1500 1 8 exit\n");
	m = s.model;
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		if (t->tid == 8) {
			child = true;
			assert_true(t->born);
			assert_int_equal(t->tgid, 8);
			assert_int_equal(t->ppid, 7);
			assert_string_equal(ty_model_comm(m, i, 1200), "shell");
			assert_string_equal(ty_model_comm(m, i, 1400), "ls");
		} else if (t->tid == 7) {
			old = true;
			assert_int_equal(t->tgid, 7);
			assert_int_equal(t->ppid, 1);
			assert_string_equal(ty_model_comm(m, i, 1000), "shell");
		}
	}
	assert_true(child && old);
	ty_session_fini(&s);
}

static uint8_t state_at(const struct ty_model *m, int32_t tid, uint64_t t)
{
	struct ty_span_rows rows;

	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		const struct ty_thread *th = ty_model_thread(m, i);
		uint32_t n;

		if (th->tid != tid)
			continue;
		for (uint32_t k = th->spans_first; (n = ty_model_span_rows(m, i, k, &rows)); k += n)
			for (uint32_t j = 0; j < n; j++)
				if (rows.start_ns[j] <= t && t < rows.start_ns[j + 1])
					return rows.state[j];
	}
	return TY_ST_UNKNOWN;
}

/*
 * One thread, 7, was recorded. It sleeps, and 9 is next: of 9 nothing is known, nor how long it
 * stays. 7 runs again unrecorded and leaves to the idle task: when that ends is unknown.
 */
static void chosen(struct ty_session *s, bool all)
{
	struct perf_write w;

	pe_init(&w);
	pe_index(&w, 0, all ? -1 : 7);
	pe_call(&w, (struct pw_at){7, 7, 1000, 0}, true, 0);
	pe_switch(&w, (struct pw_at){7, 7, 2000, 0}, 9, 1);
	pe_call(&w, (struct pw_at){7, 7, 5000, 0}, false, 0);
	pe_switch(&w, (struct pw_at){7, 7, 6000, 0}, 0, 1);
	pe_call(&w, (struct pw_at){7, 7, 9000, 0}, true, 0);
	pe_switch(&w, (struct pw_at){7, 7, 9500, 0}, 9, 1);
	pe_call(&w, (struct pw_at){7, 7, 9900, 1}, true, 0);
	open_it(s, &w, TY_OPEN_EVENTS | TY_OPEN_MODEL);
}

/* All of it as a recording of tarry's. */
static void cut_and_open(struct ty_session *s)
{
	const struct ty_summary *m = ty_model_summary(s->model);
	char out[] = "/tmp/tarry-test-XXXXXX";
	struct ty_err err = {0};

	close(mkstemp(out));
	unlink(out);
	if (ty_export_trace(s, out, m->start_ns, m->end_ns + 1, &err))
		fail_msg("%s", err.msg);
	ty_session_fini(s);
	if (ty_session_open(s, out, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err))
		fail_msg("%s", err.msg);
	unlink(out);
}

static void test_chosen_threads(void **state)
{
	struct ty_session s = {0};
	struct ty_cell cell;

	chosen(&s, false);
	assert_true(s.trace->own_only);
	assert_int_equal(state_at(s.model, 7, 1500), TY_ST_RUNNING);
	assert_int_equal(state_at(s.model, 7, 3000), TY_ST_SLEEPING);
	assert_int_equal(state_at(s.model, 7, 5500), TY_ST_RUNNING);
	assert_int_equal(state_at(s.model, 9, 2500), TY_ST_UNKNOWN);
	assert_int_equal(state_at(s.model, 9, 9600), TY_ST_UNKNOWN);
	ty_model_cells(s.model, (struct ty_track){TY_TRACK_CPU, 0}, 2000, 5000, 1, &cell);
	assert_int_equal(cell.ns[TY_ST_UNKNOWN], 3000);
	ty_model_cells(s.model, (struct ty_track){TY_TRACK_CPU, 0}, 6000, 9000, 1, &cell);
	assert_int_equal(cell.ns[TY_ST_UNKNOWN], 3000);
	cut_and_open(&s);
	assert_true(s.trace->own_only && !s.trace->perf);
	assert_non_null(ty_session_scope(&s));
	assert_int_equal(state_at(s.model, 9, 9600), TY_ST_UNKNOWN);
	ty_model_cells(s.model, (struct ty_track){TY_TRACK_CPU, 0}, 6000, 9000, 1, &cell);
	assert_int_equal(cell.ns[TY_ST_UNKNOWN], 3000);
	cut_and_open(&s); /* of a cut another one */
	assert_true(s.trace->own_only);
	ty_session_fini(&s);
	chosen(&s, true);
	assert_false(s.trace->own_only);
	assert_int_equal(state_at(s.model, 9, 9600), TY_ST_RUNNING);
	ty_model_cells(s.model, (struct ty_track){TY_TRACK_CPU, 0}, 6000, 8000, 1, &cell);
	assert_int_equal(cell.ns[TY_ST_IDLE], 2000);
	ty_session_fini(&s);
}

/* Intel PT without any tracepoint: perf's own records show which thread runs when. They do not show
 * why a thread leaves a CPU, except for preemption; nor, of one that has ended, which it was. */
static void pt_begin(struct perf_write *w)
{
	const uint64_t none[2] = {0};

	pw_init(w);
	w->switches = true;
	pw_words(w, TY_PERF_AUXTRACE_INTEL_PT, none, 2);
}

static void test_switches(void **state)
{
	struct ty_session s = {0};
	struct perf_write w;
	struct ty_cell cell;

	pt_begin(&w);
	pw_comm(&w, (struct pw_at){7, 7, 0, 0}, "work");
	pw_switch(&w, (struct pw_at){0, 0, 1000, 0}, true, 7, 7);
	pw_switch(&w, (struct pw_at){7, 7, 1010, 0}, false, 0, 0);
	pw_switch(&w, (struct pw_at){7, 7, 2000, 0}, true, 0, 0);
	pw_switch(&w, (struct pw_at){0, 0, 3000, 0}, true, 7, 7);
	pw_rec_at(&w, TY_PERF_SWITCH_CPU_WIDE,
		  TY_PERF_MISC_SWITCH_OUT | TY_PERF_MISC_SWITCH_PREEMPT, (int32_t[]){9, 9}, 8,
		  (struct pw_at){7, 7, 4000, 0});
	pw_switch(&w, (struct pw_at){9, 9, 5000, 0}, true, 7, 7);
	pe_task(&w, (struct pw_at){7, 7, 5500, 0}, false, 7, 7);
	pw_switch(&w, (struct pw_at){-1, -1, 6000, 0}, true, 0, 0);
	pw_switch(&w, (struct pw_at){0, 0, 7000, 0}, true, 9, 9);
	open_it(&s, &w, TY_OPEN_EVENTS | TY_OPEN_MODEL);
	assert_true(s.trace->perf_pt && s.trace->switches_only);
	assert_false(s.trace->own_only);
	assert_string_equal(told(&s), "1000 0 0 switch\n"
				      "2000 0 7 switch\n"
				      "3000 0 0 switch\n"
				      "4000 0 7 switch\n"
				      "5000 0 9 switch\n"
				      "5500 0 7 exit\n"
				      "6000 0 7 switch\n"
				      "7000 0 0 switch\n");
	assert_int_equal(state_at(s.model, 7, 1500), TY_ST_RUNNING);
	assert_int_equal(state_at(s.model, 7, 2500), TY_ST_UNKNOWN);
	assert_int_equal(state_at(s.model, 7, 4500), TY_ST_RUNNABLE);
	assert_int_equal(state_at(s.model, 7, 5900), TY_ST_RUNNING);
	assert_int_equal(state_at(s.model, 9, 4500), TY_ST_RUNNING);
	assert_int_equal(state_at(s.model, 9, 5500), TY_ST_UNKNOWN);
	for (uint32_t i = 0; i < ty_model_summary(s.model)->threads; i++)
		if (ty_model_thread(s.model, i)->tid == 7) {
			assert_string_equal(ty_model_comm(s.model, i, 3500), "work");
			assert_int_equal(ty_model_thread(s.model, i)->end_ns, 6000);
		}
	ty_model_cells(s.model, (struct ty_track){TY_TRACK_CPU, 0}, 2000, 3000, 1, &cell);
	assert_int_equal(cell.ns[TY_ST_IDLE], 1000);
	ty_session_fini(&s);
}

/*
 * After lost records the thread on the CPU is unknown: the one that then leaves it for good is not
 * the one that came last, and the next one is known by the second record of the pair, where the
 * first was lost.
 */
static void test_lost_switches(void **state)
{
	struct ty_session s = {0};
	struct perf_write w;

	pt_begin(&w);
	pw_switch(&w, (struct pw_at){-1, -1, 900, 0}, true, 7, 7);
	pw_switch(&w, (struct pw_at){7, 7, 1000, 0}, true, 8, 8);
	pe_lost(&w, (struct pw_at){8, 8, 2000, 0}, 3);
	pw_switch(&w, (struct pw_at){-1, -1, 3000, 0}, true, 9, 9);
	pw_switch(&w, (struct pw_at){9, 9, 3010, 0}, false, -1, -1);
	pw_switch(&w, (struct pw_at){9, 9, 3500, 0}, true, 8, 8);
	pe_lost(&w, (struct pw_at){9, 9, 4000, 0}, 3);
	pw_switch(&w, (struct pw_at){10, 10, 5000, 0}, false, 11, 11);
	pw_switch(&w, (struct pw_at){10, 10, 6000, 0}, true, 0, 0);
	open_it(&s, &w, TY_OPEN_EVENTS | TY_OPEN_MODEL);
	assert_string_equal(told(&s), "900 0 -1 switch\n"
				      "1000 0 7 switch\n"
				      "gap 3 cpu 0\n"
				      "3000 0 -1 switch\n"
				      "3500 0 9 switch\n"
				      "gap 3 cpu 0\n"
				      "5000 0 11 switch\n"
				      "6000 0 10 switch\n");
	assert_int_equal(state_at(s.model, 7, 950), TY_ST_RUNNING);
	assert_int_equal(state_at(s.model, 8, 2500), TY_ST_UNKNOWN);
	assert_int_equal(state_at(s.model, 9, 3200), TY_ST_RUNNING);
	assert_int_equal(state_at(s.model, 10, 5500), TY_ST_RUNNING);
	ty_session_fini(&s);
}

/* Samples that were not written are no switches: the thread on the CPU stays known. */
static void test_lost_samples(void **state)
{
	struct ty_session s = {0};
	struct perf_write w;
	uint64_t count = 3;

	pt_begin(&w);
	pw_switch(&w, (struct pw_at){-1, -1, 900, 0}, true, 7, 7);
	pw_switch(&w, (struct pw_at){7, 7, 1000, 0}, true, 8, 8);
	pw_rec_at(&w, TY_PERF_LOST_SAMPLES, 0, &count, sizeof(count),
		  (struct pw_at){8, 8, 1005, 0});
	pw_switch(&w, (struct pw_at){8, 8, 1010, 0}, false, 7, 7);
	pw_rec_at(&w, TY_PERF_LOST_SAMPLES, 0, &count, sizeof(count),
		  (struct pw_at){8, 8, 1500, 0});
	pw_switch(&w, (struct pw_at){-1, -1, 2000, 0}, true, 9, 9);
	open_it(&s, &w, TY_OPEN_EVENTS | TY_OPEN_MODEL);
	assert_string_equal(told(&s), "900 0 -1 switch\n"
				      "1000 0 7 switch\n"
				      "gap 6 cpu 0\n"
				      "2000 0 8 switch\n");
	ty_session_fini(&s);
}

/* System calls as tracepoints, and which thread runs when by perf's records only. */
static void test_calls_and_switches(void **state)
{
	struct ty_session s = {0};
	struct perf_write w;

	pe_init(&w);
	w.switches = true;
	w.config = PE_ENTER;
	pe_call(&w, (struct pw_at){7, 7, 1000, 0}, true, 0);
	pw_switch(&w, (struct pw_at){7, 7, 2000, 0}, true, 0, 0);
	open_it(&s, &w, TY_OPEN_EVENTS | TY_OPEN_MODEL);
	assert_true(s.trace->switches_only);
	assert_non_null(strstr(ty_session_scope(&s), "not why it left the CPU"));
	ty_session_fini(&s);
	chosen(&s, true);
	assert_false(s.trace->switches_only);
	assert_null(ty_session_scope(&s));
	ty_session_fini(&s);
}

/* The same of one thread: when it comes and goes, and nothing of others. */
static void test_own_switches(void **state)
{
	struct ty_session s = {0};
	struct perf_write w;
	struct ty_cell cell;

	pt_begin(&w);
	pw_rec_at(&w, TY_PERF_SWITCH, 0, NULL, 0, (struct pw_at){7, 7, 1000, 0});
	pw_rec_at(&w, TY_PERF_SWITCH, TY_PERF_MISC_SWITCH_OUT, NULL, 0,
		  (struct pw_at){7, 7, 2000, 0});
	pw_rec_at(&w, TY_PERF_SWITCH, 0, NULL, 0, (struct pw_at){7, 7, 3000, 1});
	pw_rec_at(&w, TY_PERF_SWITCH, TY_PERF_MISC_SWITCH_OUT, NULL, 0,
		  (struct pw_at){7, 7, 4000, 1});
	open_it(&s, &w, TY_OPEN_EVENTS | TY_OPEN_MODEL);
	assert_true(s.trace->own_only);
	assert_int_equal(state_at(s.model, 7, 1500), TY_ST_RUNNING);
	assert_int_equal(state_at(s.model, 7, 2500), TY_ST_UNKNOWN);
	assert_int_equal(state_at(s.model, 7, 3500), TY_ST_RUNNING);
	ty_model_cells(s.model, (struct ty_track){TY_TRACK_CPU, 0}, 2000, 4000, 1, &cell);
	assert_int_equal(cell.ns[TY_ST_UNKNOWN], 2000);
	ty_session_fini(&s);
}

/* Cut anywhere and with any byte changed: it opens with what is whole, or is refused. */
static void test_damage(void **state)
{
	struct perf_write w;
	struct ty_buf whole;
	char *copy;
	uint32_t seed = 1;

	pe_init(&w);
	pe_index(&w, 0, -1);
	for (unsigned i = 0; i < 20; i++) {
		pe_switch(&w, (struct pw_at){7, 7, 1000 + 10 * i, i % 2}, 9, 1);
		pe_lost(&w, (struct pw_at){7, 7, 1005 + 10 * i, i % 2}, i);
		pe_task(&w, (struct pw_at){7, 7, 1006 + 10 * i, i % 2}, i % 2, 8, 8);
		pe_round(&w);
	}
	ty_buf_init(&whole, 64 << 20);
	pw_pipe(&w, &whole);
	pw_fini(&w);
	copy = malloc(whole.len);
	for (unsigned i = 0; i < 1500; i++) {
		struct ty_session s = {0};
		struct ty_err err = {0};
		struct ty_buf b = whole;

		memcpy(copy, whole.p, whole.len);
		seed = seed * 1103515245 + 12345;
		if (i % 3)
			copy[(seed >> 8) % whole.len] ^= (char)(1 << (seed >> 4) % 8);
		else
			b.len = (seed >> 8) % whole.len;
		b.p = copy;
		pw_save(&b, path);
		if (!ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err))
			told(&s);
		else
			assert_non_null(strstr(err.msg, path));
		ty_session_fini(&s);
		unlink(path);
	}
	free(copy);
	ty_buf_fini(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_telling),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_many_losses),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_chosen_threads),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_own_switches),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_lost_switches),
		cmocka_unit_test(test_lost_samples),
		cmocka_unit_test(test_calls_and_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

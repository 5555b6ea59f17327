/* SPDX-License-Identifier: MIT */
#include "fixture_model.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ty_builder *b;
static struct ty_model *model;

void ty_mx_begin(const char *machine, const char *threads)
{
	ty_mx_begin_self(machine, threads, NULL);
}

void ty_mx_begin_self(const char *machine, const char *threads, const char *self)
{
	struct ty_build_facts facts = {.machine = machine,
				       .threads = threads,
				       .self = self,
				       .long_size = 8,
				       .arch = "x86_64"};

	ty_mx_drop();
	b = ty_builder_new(&facts);
	assert_non_null(b);
}

void ty_mx_drop(void)
{
	ty_builder_free(b);
	ty_model_free(model);
	b = NULL;
	model = NULL;
}

void ty_mx_feed(struct ty_event ev)
{
	struct ty_err err = {0};

	if (!ev.loc)
		ev.loc = ev.ts_ns << 8 | ev.cpu;
	assert_int_equal(ty_builder_feed(b, &ev, &err), 0);
}

const struct ty_model *ty_mx_end(void)
{
	struct ty_err err = {0};

	assert_int_equal(ty_builder_finish(b, &model, &err), 0);
	ty_builder_free(b);
	b = NULL;
	ty_mx_check(model);
	return model;
}

void ty_mx_switch(unsigned cpu, uint64_t ts, int prev, uint64_t state, int next)
{
	struct ty_event ev = {.ts_ns = ts, .cpu = cpu, .tid = prev, .kind = TY_EV_SWITCH, .id = 1};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = state;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), "t%d", prev);
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), "t%d", next);
	ty_mx_feed(ev);
}

static void wake(unsigned cpu, uint64_t ts, int current, int target, int target_cpu, uint8_t flags)
{
	struct ty_event ev = {.ts_ns = ts,
			      .cpu = cpu,
			      .tid = current,
			      .kind = TY_EV_WAKING,
			      .id = 2,
			      .flags = flags};

	ev.u.wake.tid = target;
	ev.u.wake.target_cpu = target_cpu;
	snprintf(ev.u.wake.comm, sizeof(ev.u.wake.comm), "t%d", target);
	ty_mx_feed(ev);
}

void ty_mx_waking(unsigned cpu, uint64_t ts, int current, int target, int target_cpu)
{
	wake(cpu, ts, current, target, target_cpu, 0);
}

void ty_mx_waking_irq(unsigned cpu, uint64_t ts, int current, int target, int target_cpu)
{
	wake(cpu, ts, current, target, target_cpu, TY_EVF_HARDIRQ);
}

void ty_mx_event(unsigned cpu, uint64_t ts, int current, int kind)
{
	ty_mx_feed((struct ty_event){
		.ts_ns = ts, .cpu = cpu, .tid = current, .kind = (uint8_t)kind, .id = 9});
}

void ty_mx_enter(unsigned cpu, uint64_t ts, int tid, int64_t nr)
{
	struct ty_event ev = {
		.ts_ns = ts, .cpu = cpu, .tid = tid, .kind = TY_EV_SYS_ENTER, .id = 3};

	ev.u.enter.nr = nr;
	ev.u.enter.args[0] = UINT64_C(0x7fff00000000); /* a 64-bit caller */
	ty_mx_feed(ev);
}

void ty_mx_exit(unsigned cpu, uint64_t ts, int tid, int64_t nr, int64_t ret)
{
	struct ty_event ev = {.ts_ns = ts, .cpu = cpu, .tid = tid, .kind = TY_EV_SYS_EXIT, .id = 4};

	ev.u.exit.nr = nr;
	ev.u.exit.ret = ret;
	ty_mx_feed(ev);
}

void ty_mx_fork(unsigned cpu, uint64_t ts, int parent, int child, uint64_t clone_flags)
{
	struct ty_event ev = {
		.ts_ns = ts, .cpu = cpu, .tid = parent, .kind = TY_EV_NEWTASK, .id = 5};

	ev.u.newtask.tid = child;
	ev.u.newtask.clone_flags = clone_flags;
	snprintf(ev.u.newtask.comm, sizeof(ev.u.newtask.comm), "t%d", parent);
	ty_mx_feed(ev);
	ev = (struct ty_event){.ts_ns = ts, .cpu = cpu, .tid = parent, .kind = TY_EV_FORK, .id = 6};
	ev.u.fork.parent_tid = parent;
	ev.u.fork.child_tid = child;
	snprintf(ev.u.fork.child_comm, sizeof(ev.u.fork.child_comm), "t%d", parent);
	ty_mx_feed(ev);
	ev = (struct ty_event){
		.ts_ns = ts + 1, .cpu = cpu, .tid = parent, .kind = TY_EV_WAKEUP_NEW, .id = 7};
	ev.u.wake.tid = child;
	ev.u.wake.target_cpu = (int)cpu;
	ty_mx_feed(ev);
}

void ty_mx_gap(unsigned cpu, uint64_t from, uint64_t to, uint64_t count)
{
	struct ty_event ev = {.ts_ns = to, .cpu = cpu, .kind = TY_EV_GAP};

	ev.u.gap.from_ns = from;
	ev.u.gap.count = count;
	ty_mx_feed(ev);
}

static void render(char *out, size_t size, struct ty_span s)
{
	static const struct {
		unsigned bit;
		char c;
	} marks[] = {{TY_SF_BEFORE, '<'},   {TY_SF_OPEN, '>'},	  {TY_SF_LOST, '!'},
		     {TY_SF_INFERRED, '~'}, {TY_SF_PREEMPT, '+'}, {TY_SF_YIELD, 'y'},
		     {TY_SF_NEW, 'n'},	    {TY_SF_SNAPSHOT, 's'}};
	size_t n = strlen(out);

	n += (size_t)snprintf(out + n, size - n, "%s%c", n ? " " : "", ty_state_letter(s.state));
	if (s.cpu != TY_NONE)
		n += (size_t)snprintf(out + n, size - n, "@%u:", s.cpu);
	n += (size_t)snprintf(out + n, size - n, "%" PRIu64 "-%" PRIu64, s.start_ns, s.end_ns);
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks) && n + 2 < size; i++)
		if (s.flags & marks[i].bit) {
			out[n++] = marks[i].c;
			out[n] = 0;
		}
}

const char *ty_mx_thread(int tid, unsigned gen)
{
	static char out[4096];

	out[0] = 0;
	for (uint32_t i = 0; i < ty_model_summary(model)->threads; i++) {
		const struct ty_thread *t = ty_model_thread(model, i);

		if (t->tid == tid && t->gen == gen)
			for (uint32_t k = 0; k < t->spans_n; k++)
				render(out, sizeof(out), ty_model_span(model, t->spans_first + k));
	}
	return out;
}

const char *ty_mx_cpu(unsigned cpu)
{
	static char out[4096];

	out[0] = 0;
	for (uint32_t i = 0; i < ty_model_cpu_spans(model, cpu); i++) {
		struct ty_span s = ty_model_cpu_span(model, cpu, i);
		char who[32];

		s.cpu = TY_NONE;
		render(out, sizeof(out), s);
		if (s.thread != TY_NONE) {
			snprintf(who, sizeof(who), ":%d", ty_model_thread(model, s.thread)->tid);
			strncat(out, who, sizeof(out) - strlen(out) - 1);
		}
	}
	return out;
}

void ty_mx_check(const struct ty_model *m)
{
	const struct ty_summary *sum = ty_model_summary(m);

	assert_true(sum->start_ns <= sum->end_ns);
	for (uint32_t i = 0; i < sum->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		uint64_t at = t->start_ns, in = 0;

		assert_true(t->spans_n > 0);
		assert_true(t->start_ns >= sum->start_ns && t->end_ns <= sum->end_ns);
		for (uint32_t k = 0; k < t->spans_n; k++) {
			struct ty_span s = ty_model_span(m, t->spans_first + k);

			assert_int_equal(s.thread, i);
			assert_int_equal(s.start_ns, at);
			assert_true(s.end_ns > s.start_ns || k == t->spans_n - 1);
			assert_true(s.state < TY_ST_COUNT && s.state != TY_ST_IDLE);
			if (s.state == TY_ST_RUNNING)
				assert_true(s.cpu < sum->cpus);
			if (s.edge != TY_NONE)
				assert_int_equal(ty_model_edge(m, s.edge).target, i);
			if (s.syscall != TY_NONE)
				assert_int_equal(ty_model_syscall(m, s.syscall).thread, i);
			assert_int_equal(ty_model_span_find(m, i, s.start_ns), t->spans_first + k);
			in += s.end_ns - s.start_ns;
			at = s.end_ns;
		}
		assert_int_equal(at, t->end_ns);
		assert_int_equal(in, t->end_ns - t->start_ns);
		at = 0;
		for (uint32_t k = 0; k < t->syscalls_n; k++) {
			struct ty_syscall c = ty_model_syscall(m, t->syscalls_first + k);

			assert_int_equal(c.thread, i);
			assert_true(c.start_ns >= at && c.end_ns >= c.start_ns);
			assert_true(c.end_ns <= sum->end_ns);
			at = c.end_ns;
		}
	}
	for (uint32_t c = 0; c < sum->cpus; c++) {
		uint64_t at = sum->start_ns;
		uint32_t n = ty_model_cpu_spans(m, c);

		assert_true(n > 0);
		for (uint32_t k = 0; k < n; k++) {
			struct ty_span s = ty_model_cpu_span(m, c, k);

			assert_int_equal(s.start_ns, at);
			assert_true(s.end_ns >= s.start_ns);
			/* The CPU and the thread agree. */
			if (s.state == TY_ST_RUNNING && s.end_ns > s.start_ns) {
				uint32_t ts = ty_model_span_find(m, s.thread, s.start_ns);
				struct ty_span p = ty_model_span(m, ts);

				assert_int_equal(p.state, TY_ST_RUNNING);
				assert_int_equal(p.cpu, c);
			}
			at = s.end_ns;
		}
		assert_int_equal(at, sum->end_ns);
	}
}

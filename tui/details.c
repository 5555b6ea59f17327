/* SPDX-License-Identifier: MIT */
/* Describes what is under the cursor in sentences: the span, its system call, its waker, the cell.
 * What was not recorded is stated as such. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "counter_measures.h"
#include "glyphs.h"
#include "irqs.h"
#include "process_titles.h"
#include "ruler.h"
#include "sentence.h"
#include "steal.h"
#include "timeline_priv.h"
#include "wakeup.h"

struct lines {
	char (*v)[TY_DETAIL_MAX];
	unsigned n;
};

static char *next(struct lines *l)
{
	static char spill[TY_DETAIL_MAX];

	return l->n < TY_DETAIL_LINES ? l->v[l->n++] : spill;
}

#define add(line, ...) ty_put_behind(line, TY_DETAIL_MAX, __VA_ARGS__)

static const char *instant(const struct ty_timeline *t, uint64_t ns, char out[TY_TIME_MAX])
{
	uint64_t cell = (t->vp.to_ns - t->vp.from_ns) / 1000;

	return ty_timeline_at(t, ns, cell < 1000 ? 1 : 1000, out);
}

/* " [1]": the line leads to that row at that time. */
static void add_link_to(struct ty_timeline *t, char *line, uint8_t kind, uint32_t id,
			uint64_t at_ns)
{
	if (t->links_n == TY_LINKS_MAX)
		return;
	t->links[t->links_n++] = (struct ty_lead){.row_kind = kind, .row_id = id, .at_ns = at_ns};
	add(line, " [%u]", t->links_n);
}

static void add_link(struct ty_timeline *t, char *line, uint32_t thread, uint64_t at_ns)
{
	if (thread != TY_NONE)
		add_link_to(t, line, TY_ROW_THREAD, thread, at_ns);
}

/* The cursor's instant, or the nearest one within [from, to): a link stays close to the cursor. */
static uint64_t here(const struct ty_timeline *t, uint64_t from, uint64_t to)
{
	return t->cursor_ns < from ? from : t->cursor_ns >= to && to > from ? to - 1 : t->cursor_ns;
}

static const char *the_end(const struct ty_timeline *t)
{
	return t->partial		? "when the indexed part ended"
	       : ty_model_is_part(t->m) ? "when the part ended"
					: "when the recording ended";
}

static void add_flags(const struct ty_timeline *t, char *line, const struct ty_span *s,
		      uint32_t cpu)
{
	uint8_t flags = s->flags, state = s->state;

	if (flags & TY_SF_LOST)
		add(line, ty_gaps_touch(&t->gaps, s->start_ns, s->end_ns, cpu)
				  ? "; events were lost here"
				  : "; an event is missing here (the kernel never delivered it)");
	if (flags & TY_SF_BEFORE)
		add(line, "; began before the %s", ty_model_noun(t->m));
	if (flags & TY_SF_OPEN)
		add(line, "; still open %s", the_end(t));
	if (flags & TY_SF_INFERRED)
		add(line, "; start inferred (switch not delivered)");
	if (flags & TY_SF_SNAPSHOT)
		add(line, "; state read from /proc at the start");
	if (state == TY_ST_RUNNABLE && flags & TY_SF_PREEMPT)
		add(line, "; preempted");
	if (state == TY_ST_RUNNABLE && flags & TY_SF_YIELD)
		add(line, "; yielded the CPU");
	if (state == TY_ST_RUNNABLE && flags & TY_SF_NEW)
		add(line, "; new thread");
}

static void add_result(struct ty_timeline *t, char *line, const struct ty_syscall *c)
{
	struct ty_buf b;

	if (c->flags & (TY_SF_OPEN | TY_SF_LOST)) {
		add(line, c->flags & TY_SF_OPEN ? " unfinished" : " = ? (events were lost)");
		return;
	}
	ty_buf_init(&b, 200);
	ty_syscall_fmt_ret(t->in->arch, (enum ty_abi)c->abi, c->nr, c->ret, &b);
	add(line, " = %s", b.p ? b.p : "?");
	ty_buf_fini(&b);
}

static void syscall_line(struct ty_timeline *t, char *line, uint32_t call)
{
	struct ty_syscall c = ty_model_syscall(t->m, call);
	char name[32], len[TY_TIME_MAX], at[TY_TIME_MAX];

	add(line, "in %s(%s)", ty_syscall_name(t->in->arch, (enum ty_abi)c.abi, c.nr, name),
	    ty_timeline_args(t, call));
	add_result(t, line, &c);
	add(line, ", %s, starting at %s", ty_fmt_length(c.end_ns - c.start_ns, len),
	    instant(t, c.start_ns, at));
	if (c.flags & TY_SF_BEFORE)
		add(line, "; began before the %s", ty_model_noun(t->m));
}

/* The same for the system call of a span, which has its own row. */
static void call_in_progress(struct ty_timeline *t, char *line, uint32_t call)
{
	struct ty_syscall c = ty_model_syscall(t->m, call);

	syscall_line(t, line, call);
	add_link_to(t, line, TY_ROW_SYSCALLS, c.thread, here(t, c.start_ns, c.end_ns));
}

/* "backup/1235 on CPU 0 (in flock) at 3.5 s [1]" */
static void add_waker(struct ty_timeline *t, char *line, uint32_t edge)
{
	struct ty_edge e = ty_model_edge(t->m, edge);
	struct ty_waker w = ty_waker_find(t->m, edge);
	char at[TY_TIME_MAX], name[32], by[TY_WAKER_TEXT];
	uint32_t call;

	add(line, "%s on CPU %u%s", ty_waker_text(t->m, &w, by), e.cpu,
	    w.kind == TY_WAKER_THREAD && e.context ? " (via softirq)" : "");
	if (e.waker != TY_NONE && !e.context) {
		call = ty_model_syscall_at(t->m, e.waker, e.ts_ns);
		if (call != TY_NONE) {
			struct ty_syscall c = ty_model_syscall(t->m, call);

			add(line, " (in %s)",
			    ty_syscall_name(t->in->arch, (enum ty_abi)c.abi, c.nr, name));
		}
	}
	add(line, " at %s", instant(t, e.ts_ns, at));
	if (!e.context)
		add_link(t, line, e.waker, e.ts_ns);
	else if (w.kind == TY_WAKER_THREAD)
		add_link(t, line, w.thread, w.act_ns);
	else if (e.cpu < ty_model_summary(t->m)->cpus)
		add_link_to(t, line, ty_model_irq_spans(t->m, e.cpu) ? TY_ROW_IRQS : TY_ROW_CPU,
			    e.cpu, e.ts_ns);
}

/* The thread that had the CPU for most of the time in which another one was runnable; TY_NONE:
 * unknown, or the CPU was idle. */
static uint32_t who_ran(const struct ty_timeline *t, const struct ty_span *s, uint64_t *at_ns)
{
	struct ty_track track = {.kind = TY_TRACK_CPU, .id = s->cpu};
	struct ty_span most;
	struct ty_cell c;

	if (s->cpu == TY_NONE || s->cpu >= ty_model_summary(t->m)->cpus || s->end_ns <= s->start_ns)
		return TY_NONE;
	ty_model_cells(t->m, track, s->start_ns, s->end_ns, 1, &c);
	if (c.longest == TY_NONE)
		return TY_NONE;
	most = ty_model_cpu_span(t->m, s->cpu, c.longest);
	*at_ns = most.start_ns > s->start_ns ? most.start_ns : s->start_ns;
	return most.thread;
}

/* After a wait: how long the thread was runnable, and which thread ran meanwhile. */
static void add_latency(struct ty_timeline *t, char *line, uint32_t thread, uint32_t idx)
{
	const struct ty_thread *th = ty_model_thread(t->m, thread);
	struct ty_span s;
	uint32_t ran;
	uint64_t at = 0;
	char len[TY_TIME_MAX], who[TY_THREAD_NAME_MAX];

	if (idx + 1 >= th->spans_first + th->spans_n)
		return;
	s = ty_model_span(t->m, idx + 1);
	if (s.state != TY_ST_RUNNABLE)
		return;
	add(line, "; then runnable for %s", ty_fmt_length(s.end_ns - s.start_ns, len));
	ran = who_ran(t, &s, &at);
	if (ran == TY_NONE)
		return;
	add(line, " while %s", ty_timeline_thread_name(t, ran, at, who));
	add_link(t, line, ran, at);
	add(line, " ran there");
}

/* The CPU that a runnable thread waited for, and the thread that ran there. */
static void add_who_ran(struct ty_timeline *t, char *line, const struct ty_span *s)
{
	uint64_t at = 0;
	uint32_t ran = who_ran(t, s, &at);
	char who[TY_THREAD_NAME_MAX];

	if (s->cpu == TY_NONE)
		return;
	if (ran != TY_NONE) {
		add(line, "; longest run meanwhile: %s", ty_timeline_thread_name(t, ran, at, who));
		add_link(t, line, ran, at);
		add(line, " on CPU %u", s->cpu);
	} else {
		add(line, "; waited for CPU %u", s->cpu);
	}
	add_link_to(t, line, TY_ROW_CPU, s->cpu, here(t, s->start_ns, s->end_ns));
}

/* The stall that a span is; TY_NONE: it is none. */
static uint32_t stall_of(const struct ty_timeline *t, uint32_t span)
{
	const struct ty_stalls *v = &t->findings.stalls;

	for (uint32_t i = 0; i < v->n; i++)
		if (v->v[i].span == span)
			return i;
	return TY_NONE;
}

/* The result of the analysis for it. */
static void stall_line(struct ty_timeline *t, char *line, uint32_t i)
{
	const struct ty_stall *s = &t->findings.stalls.v[i];
	char sum[TY_TIME_MAX];

	t->stall_here = i + 1;
	add(line, "stall %u, %s: ", i + 1, ty_stall_grade(s));
	if (s->waits > 1)
		add(line, "one of %u waits, %s", s->waits, ty_fmt_length(s->duration_ns, sum));
	add(line, "%s%s", s->waits > 1 ? " in total; " : "", s->text);
	/* To what held it up, in its midst. */
	if (s->links > 1) {
		const struct ty_link *last = &s->link[s->links - 1];

		add_link(t, line, last->thread,
			 last->start_ns + (last->end_ns - last->start_ns) / 2);
	}
	add(line, "; c shows the chain");
}

/* Of a run, the time without any activity of its CPU. */
static void add_stolen(struct ty_timeline *t, char *line, const struct ty_span *s)
{
	uint64_t ns =
		t->in->explain ? ty_stolen_of_run(t->in->explain, s, s->start_ns, s->end_ns) : 0;
	char len[TY_TIME_MAX];

	if (ns)
		add(line, "; no timer tick for %s of that time: steal time (inferred)",
		    ty_fmt_length(ns, len));
}

/* What distinguishes its process from others, in full. */
static void add_process(const struct ty_timeline *t, struct lines *l, uint32_t thread, uint64_t ns)
{
	const char *command = ty_model_command_line(t->m, thread, ns);
	const char *cgroup = ty_model_cgroup_path(t->m, thread);
	char name[TY_CGROUP_NAME_MAX];
	const bool in = ty_model_cgroup(t->m, thread, name) == TY_CGROUP_CONTAINER;

	if (command)
		add(next(l), "command line: %s%s%s%s%s", command, in ? "; container " : "",
		    in ? name : "", cgroup ? "; cgroup " : "", cgroup ? cgroup : "");
	else if (in)
		add(next(l), "container %s; cgroup %s", name, cgroup);
}

/* What the thread's counters grew by in [from, to): nothing where it has none. */
static void add_counters(const struct ty_timeline *t, struct lines *l, uint32_t thread,
			 uint64_t from, uint64_t to)
{
	const struct ty_count_sum s = ty_timeline_counted(t, thread, from, to);
	const struct ty_counts *c = t->lanes.counts;
	char text[TY_COUNT_TEXT], *line;

	if (!s.readings)
		return;
	line = next(l);
	for (uint32_t i = 0; i < ty_count_measures(c); i++)
		add(line, "%s%s %s", i ? ", " : "counted: ", ty_count_measure_name(c, i),
		    ty_count_measure_text(c, &s, i, text));
}

static void thread_span(struct ty_timeline *t, struct lines *l, uint32_t thread, uint32_t idx)
{
	struct ty_span s = ty_model_span(t->m, idx);
	char who[TY_THREAD_NAME_MAX], len[TY_TIME_MAX], at[TY_TIME_MAX], name[32],
		*line = next(l), *call = NULL, *stall = NULL;
	uint32_t finding = stall_of(t, idx);

	add(line, "%s %s", ty_timeline_thread_name(t, thread, s.start_ns, who),
	    ty_state_name(s.state));
	if (s.state == TY_ST_RUNNING && s.cpu != TY_NONE) {
		add(line, " on CPU %u", s.cpu);
		add_link_to(t, line, TY_ROW_CPU, s.cpu, here(t, s.start_ns, s.end_ns));
	}
	add(line, " for %s", ty_fmt_length(s.end_ns - s.start_ns, len));
	if (finding != TY_NONE && *t->findings.stalls.v[finding].file)
		add(line, " in %s on %s", ty_explain_call(t->in->explain, s.syscall, name),
		    t->findings.stalls.v[finding].file);
	add(line, ", starting at %s", instant(t, s.start_ns, at));
	add_flags(t, line, &s, TY_NONE);
	if (s.state == TY_ST_RUNNING)
		add_stolen(t, line, &s);
	if (finding != TY_NONE) /* the most important fact: shown on the smallest pane */
		stall = next(l);
	if (s.syscall != TY_NONE)
		call = next(l);
	if (s.state == TY_ST_RUNNABLE) {
		line = next(l);
		if (s.edge != TY_NONE) {
			add(line, "woken by ");
			add_waker(t, line, s.edge);
		} else if (s.flags & (TY_SF_PREEMPT | TY_SF_YIELD)) {
			add(line, "was not blocked: it was waiting for a CPU");
		} else {
			add(line, "its wakeup was not recorded");
		}
		add_who_ran(t, line, &s);
	} else if (s.state == TY_ST_SLEEPING || s.state == TY_ST_BLOCKED ||
		   s.state == TY_ST_STOPPED) {
		line = next(l);
		if (s.edge != TY_NONE) {
			add(line, "woken by ");
			add_waker(t, line, s.edge);
			add_latency(t, line, thread, idx);
		} else if (s.flags & TY_SF_OPEN) {
			add(line, "still waiting %s", the_end(t));
		} else {
			add(line, "its wakeup was not recorded");
		}
	}
	/* Above, but with the last links: 1 is always the waker, or the thread that ran instead. */
	if (stall)
		stall_line(t, stall, finding);
	add_process(t, l, thread, s.start_ns);
	if (call)
		call_in_progress(t, call, s.syscall);
	if (s.state == TY_ST_RUNNING)
		add_counters(t, l, thread, s.start_ns, s.end_ns);
}

static void call_span(struct ty_timeline *t, struct lines *l, uint32_t thread, uint32_t idx)
{
	struct ty_syscall c = ty_model_syscall(t->m, idx);
	struct ty_cell cell;
	struct ty_span most;
	struct ty_track track = {.kind = TY_TRACK_THREAD, .id = thread};
	char who[TY_THREAD_NAME_MAX], len[TY_TIME_MAX], *line = next(l);
	const char *sep = ": ";

	add(line, "%s ", ty_timeline_thread_name(t, thread, c.start_ns, who));
	syscall_line(t, line, idx);
	/* Where the time of the call went. */
	if (c.end_ns <= c.start_ns)
		return;
	ty_model_cells(t->m, track, c.start_ns, c.end_ns, 1, &cell);
	line = next(l);
	add(line, "in this call");
	if (cell.longest == TY_NONE) {
		add(line, ": no scheduling was recorded");
		return;
	}
	most = ty_model_span(t->m, cell.longest);
	for (unsigned s = 0; s < TY_ST_COUNT; s++) {
		if (!cell.ns[s])
			continue;
		add(line, "%s%s %s", sep, ty_state_name((enum ty_state)s),
		    ty_fmt_length(cell.ns[s], len));
		sep = ", ";
		if (s == most.state) /* to the longest span of the call, as it is seen from here */
			add_link(t, line, thread,
				 here(t, most.start_ns > c.start_ns ? most.start_ns : c.start_ns,
				      most.end_ns < c.end_ns ? most.end_ns : c.end_ns));
	}
	add_counters(t, l, thread, c.start_ns, c.end_ns);
}

static void cpu_span(struct ty_timeline *t, struct lines *l, uint32_t cpu, uint32_t idx)
{
	struct ty_span s = ty_model_cpu_span(t->m, cpu, idx);
	char who[TY_THREAD_NAME_MAX], len[TY_TIME_MAX], at[TY_TIME_MAX], *line = next(l);

	if (s.state == TY_ST_RUNNING) {
		add(line, "CPU %u ran %s", cpu,
		    ty_timeline_thread_name(t, s.thread, s.start_ns, who));
		add_link(t, line, s.thread, here(t, s.start_ns, s.end_ns));
	} else {
		add(line, "CPU %u %s", cpu, ty_state_name(s.state));
	}
	add(line, " for %s, starting at %s", ty_fmt_length(s.end_ns - s.start_ns, len),
	    instant(t, s.start_ns, at));
	add_flags(t, line, &s, cpu);
	s.cpu = cpu;
	if (s.state == TY_ST_RUNNING)
		add_stolen(t, line, &s);
	if (s.syscall != TY_NONE)
		call_in_progress(t, next(l), s.syscall);
}

/* This many interrupts before one are checked for being around it. */
#define AROUND 32

/* The interrupted context: the outermost interrupt around it, or the running thread. */
static void add_interrupted(struct ty_timeline *t, char *line, uint32_t cpu, uint32_t idx,
			    const struct ty_irq_span *s)
{
	uint32_t run = ty_model_cpu_span_find(t->m, cpu, s->start_ns);
	struct ty_span on;
	char who[TY_THREAD_NAME_MAX], name[TY_IRQ_NAME_MAX];

	for (uint32_t k = idx > AROUND ? idx - AROUND : 0; k < idx; k++) {
		struct ty_irq_span o = ty_model_irq_span(t->m, cpu, k);

		if (o.end_ns >= s->end_ns) {
			add(line, "inside %s", ty_irq_name(t->m, &o, name));
			return;
		}
	}
	if (run == TY_NONE)
		return;
	on = ty_model_cpu_span(t->m, cpu, run);
	if (s->start_ns < on.start_ns || s->start_ns >= on.end_ns)
		return;
	if (on.state == TY_ST_RUNNING) {
		add(line, "while %s ran", ty_timeline_thread_name(t, on.thread, s->start_ns, who));
		add_link(t, line, on.thread, s->start_ns);
	} else {
		add(line, "while the CPU was %s", ty_state_name(on.state));
	}
}

static void irq_span(struct ty_timeline *t, struct lines *l, uint32_t cpu, uint32_t idx)
{
	struct ty_irq_span s = ty_model_irq_span(t->m, cpu, idx);
	char name[TY_IRQ_NAME_MAX], len[TY_TIME_MAX], at[TY_TIME_MAX], *line = next(l);

	add(line, "CPU %u in %s for %s, starting at %s", cpu, ty_irq_name(t->m, &s, name),
	    ty_fmt_length(s.end_ns - s.start_ns, len), instant(t, s.start_ns, at));
	if (s.flags & TY_SF_LOST)
		add(line, "; its end was lost: it ended at this time or earlier");
	if (s.flags & TY_SF_OPEN)
		add(line, "; still open %s", the_end(t));
	add_interrupted(t, next(l), cpu, idx, &s);
}

static void irq_cell(struct ty_timeline *t, struct lines *l, uint32_t cpu, uint64_t from,
		     uint64_t to)
{
	struct ty_cell c;
	char len[TY_TIME_MAX], *line;

	ty_model_cells(t->m, (struct ty_track){TY_TRACK_IRQS, cpu}, from, to, 1, &c);
	if (c.spans <= 1)
		return;
	line = next(l);
	add(line, "%u interrupts in this cell (%s), %.1f%% of its time; shown above: the longest",
	    c.spans, ty_fmt_length(to - from, len),
	    100.0 * (double)c.ns[TY_ST_RUNNING] / (double)(to - from));
}

/* Shares of the cell, when more than one span lies in it. */
static void cell_line(struct ty_timeline *t, struct lines *l, const struct ty_cell *c,
		      const struct ty_track *track, uint64_t width)
{
	const bool calls = track->kind == TY_TRACK_SYSCALLS;
	char len[TY_TIME_MAX], *line;

	if (c->spans <= 1 || !width)
		return;
	line = next(l);
	add(line, "%u %s in this cell (%s)%s", c->spans, calls ? "system calls" : "spans",
	    ty_fmt_length(width, len), calls ? "" : ":");
	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		if (c->ns[s])
			add(line, calls ? "%s %.1f%% of its time" : " %s %.1f%%",
			    calls ? "," : ty_state_name((enum ty_state)s),
			    100.0 * (double)c->ns[s] / (double)width);
	add(line, ty_timeline_span_at_instant(t, *track) != TY_NONE
			  ? "; shown above: the one at the cursor"
		  : t->exact_ns == t->cursor_ns ? "; none at the cursor; shown above: the longest"
						: "; shown above: the longest");
}

/* The region under the cursor. */
static void region_lines(struct ty_timeline *t, struct lines *l)
{
	char len[TY_TIME_MAX], at[TY_TIME_MAX], who[TY_THREAD_NAME_MAX], *line = next(l);
	const uint32_t i = ty_timeline_region_here(t);
	struct ty_region r;

	if (i == TY_NONE) {
		add(line, "no region here");
		return;
	}
	r = ty_model_region(t->m, i);
	add(line, "%s for %s, starting at %s", ty_model_str(t->m, r.name),
	    ty_fmt_length(r.end_ns - r.start_ns, len), instant(t, r.start_ns, at));
	if (r.kind == TY_REG_ASYNC_BEGIN)
		add(line, ", id %" PRId64, r.value);
	else
		add(line, ", %s outside regions within it", ty_fmt_length(r.self_ns, len));
	if (r.flags & TY_RGN_OPEN)
		add(line, "; still open %s", the_end(t));
	if (r.flags & TY_RGN_ENDED)
		add(line, "; its thread ended, or executed another program, inside it");
	if (r.flags & TY_RGN_LOST)
		add(line, "; events were lost: it lasted at least that long");
	if (r.flags & TY_RGN_UNMATCHED)
		add(line, "; the function was left without a return");
	if (r.end_thread != TY_NONE && r.end_thread != r.thread)
		add(next(l), "its end was recorded in %s",
		    ty_timeline_thread_name(t, r.end_thread, r.end_ns, who));
	if (ty_region_of_one_thread(&r))
		add_counters(t, l, r.thread, r.start_ns, r.end_ns);
	else if (t->lanes.counts)
		add(next(l), "no counters: it ended in another thread");
}

static void head_lines(struct ty_timeline *t, struct lines *l)
{
	const struct ty_row *r = t->row < t->tracks.rows.n ? &t->tracks.rows.v[t->row] : NULL;
	char who[TY_THREAD_NAME_MAX];

	if (!r)
		return;
	if (r->kind == TY_ROW_FLOW) {
		ty_timeline_calls_text(t, r->id, next(l), TY_DETAIL_MAX);
		ty_timeline_calls_note(t, r->id, next(l), TY_DETAIL_MAX);
		return;
	}
	if (r->kind == TY_ROW_REGIONS) {
		region_lines(t, l);
		return;
	}
	if (ty_row_is_lane(r)) {
		ty_timeline_lane_text(t, r, next(l), TY_DETAIL_MAX);
		add(next(l), "Space folds");
		return;
	}
	if (ty_row_is_memory(r)) {
		char *what;

		ty_timeline_memory_text(t, r, next(l), TY_DETAIL_MAX);
		what = next(l);
		ty_timeline_memory_colours(t, what, next(l), TY_DETAIL_MAX);
		return;
	}
	if (r->kind == TY_ROW_CPUS) {
		add(next(l), "%u CPUs; the bar shows their total load", t->tracks.cpus_n);
	} else if (r->kind == TY_ROW_QUIET) {
		add(next(l), "%u processes did not run during the recording", t->tracks.quiet_n);
	} else if (r->kind == TY_ROW_MORE) {
		add(next(l),
		    "%u further threads of the process, ordered by stalls, waits and running time; "
		    "the "
		    "bar shows their running time (a full cell: one CPU)",
		    t->tracks.processes.v[r->id].more_n);
	} else if (r->kind == TY_ROW_OTHERS) {
		add(next(l),
		    "%u processes that were not traced; the bar shows their running time (a full "
		    "cell: all CPUs)",
		    t->tracks.others_n);
	} else if (r->kind == TY_ROW_PROCESS) {
		const struct ty_process *p = &t->tracks.processes.v[r->id];

		add(next(l),
		    "process %s: %u threads; the bar shows their running time (a full cell: one "
		    "CPU)",
		    ty_timeline_thread_name(t, p->leader, t->cursor_ns, who), p->n);
		add_process(t, l, p->leader, t->cursor_ns);
	}
	add(next(l), r->folded ? "folded: Space unfolds" : "Space folds");
}

/* Why there is nothing under the cursor. "Empty" is said only if nothing was lost there. */
static const char *no_thread_here(const struct ty_timeline *t, uint32_t thread, uint64_t from,
				  uint64_t to)
{
	const struct ty_thread *th = ty_model_thread(t->m, thread);

	return th->born && to <= th->start_ns	? "this thread did not exist yet"
	       : th->died && from >= th->end_ns ? "this thread had ended"
						: "nothing was recorded about this thread here";
}

static const char *nothing_here(const struct ty_timeline *t, struct ty_track track,
				const struct ty_cell *cell, uint64_t from, uint64_t to)
{
	struct ty_track thread = {.kind = TY_TRACK_THREAD, .id = track.id};
	struct ty_cell state = {0};
	bool calls = track.kind == TY_TRACK_SYSCALLS;
	enum ty_known known;

	if (track.kind == TY_TRACK_CPU)
		return "nothing was recorded for this CPU here";
	if (track.kind == TY_TRACK_THREAD)
		return no_thread_here(t, track.id, from, to);
	if (calls && !ty_model_thread(t->m, track.id)->traced)
		return "its system calls were not recorded";
	if (calls)
		ty_model_cells(t->m, thread, from, to, 1, &state);
	known = ty_calls_known(t->m, &t->gaps, track, cell, calls ? &state : NULL, from, to);
	if (!calls)
		return known == TY_KNOWN_LOST
			       ? "no interrupt was recorded here, but this CPU lost events"
			       : "no interrupt was recorded here";
	if (known == TY_KNOWN_LOST)
		return "no system call was recorded here, but events were lost";
	if (known == TY_KNOWN_NOT)
		return "unknown what the thread did here";
	return state.ns[TY_ST_RUNNING] || state.ns[TY_ST_RUNNABLE]
		       ? "in user mode: no system call here"
	       : state.spans ? "no system call here"
			     : no_thread_here(t, track.id, from, to);
}

/* Events were lost in a cell of calls or interrupts that were recorded: it may have held more. */
static void more_lost(struct ty_timeline *t, struct lines *l, struct ty_track track,
		      const struct ty_cell *cell, uint64_t from, uint64_t to)
{
	struct ty_track thread = {.kind = TY_TRACK_THREAD, .id = track.id};
	struct ty_cell state = {0};

	if (track.kind == TY_TRACK_SYSCALLS)
		ty_model_cells(t->m, thread, from, to, 1, &state);
	if (ty_calls_known(t->m, &t->gaps, track, cell,
			   track.kind == TY_TRACK_SYSCALLS ? &state : NULL, from,
			   to) == TY_KNOWN_LOST)
		add(next(l), "events were lost in this cell: there may have been more than shown");
}

unsigned ty_details(struct ty_timeline *t, char lines[TY_DETAIL_LINES][TY_DETAIL_MAX])
{
	struct lines l = {.v = lines};
	struct ty_track track;
	struct ty_cell cell;
	uint64_t from, to;
	uint32_t idx;

	t->links_n = 0;
	t->stall_here = 0;
	for (unsigned i = 0; i < TY_DETAIL_LINES; i++)
		lines[i][0] = 0;
	if (ty_timeline_selection_text(t, lines[0], lines[1]))
		l.n = 2;
	if (ty_timeline_log_text(t, lines[l.n], TY_DETAIL_MAX))
		l.n++;
	if (!ty_timeline_track(t, t->row, &track)) {
		head_lines(t, &l);
		return l.n;
	}
	if (!ty_timeline_subject(t, &track, &cell, &idx, &from, &to)) {
		add(next(&l), "%s", nothing_here(t, track, &cell, from, to));
		return l.n;
	}
	switch (track.kind) {
	case TY_TRACK_CPU: cpu_span(t, &l, track.id, idx); break;
	case TY_TRACK_THREAD: thread_span(t, &l, track.id, idx); break;
	case TY_TRACK_IRQS:
		irq_span(t, &l, track.id, idx);
		irq_cell(t, &l, track.id, from, to);
		break;
	default: call_span(t, &l, track.id, idx); break;
	}
	if (track.kind != TY_TRACK_IRQS)
		cell_line(t, &l, &cell, &track, to - from);
	if (track.kind == TY_TRACK_IRQS || track.kind == TY_TRACK_SYSCALLS)
		more_lost(t, &l, track, &cell, from, to);
	return l.n;
}

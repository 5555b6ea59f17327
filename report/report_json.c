/* SPDX-License-Identifier: MIT */
/* The report as one JSON document. Times are nanoseconds of the trace clock. */
#include "report.h"

#include <string.h>

#include "json_out.h"
#include "key_value.h"
#include "process_titles.h"

static void fact_str(struct ty_json *j, struct ty_text t, const char *key)
{
	char v[4096];

	if (ty_key_value(t.s, key, v, sizeof(v)))
		ty_json_str(j, key, v);
}

static void fact_u64(struct ty_json *j, struct ty_text t, const char *key)
{
	char v[32];

	if (ty_key_value(t.s, key, v, sizeof(v)))
		ty_json_u64(j, key, ty_key_u64(t.s, key));
}

/* Every line of a repeated key, as an array. */
static void fact_list(struct ty_json *j, struct ty_text t, const char *key)
{
	const char *text = t.s, *v;
	size_t n;

	ty_json_array(j, key);
	while (ty_key_next(&text, key, &v, &n))
		ty_json_strn(j, NULL, v, n);
	ty_json_end_array(j);
}

static void summary(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_summary *s = ty_model_summary(r->s->model);
	uint64_t real;

	ty_json_object(j, "summary");
	ty_json_u64(j, "events", s->events);
	ty_json_u64(j, "lost", s->lost);
	ty_json_u64(j, "lost_unplaced", s->lost_unplaced);
	ty_json_u64(j, "gaps_of_unknown_size", s->gaps_unknown);
	ty_json_u64(j, "cpus", s->cpus);
	ty_json_u64(j, "threads", s->threads);
	ty_json_u64(j, "start_ns", s->start_ns);
	ty_json_u64(j, "end_ns", s->end_ns);
	ty_json_u64(j, "from_ns", r->w.from_ns);
	ty_json_u64(j, "to_ns", r->w.to_ns);
	if (ty_model_realtime(r->s->model, s->start_ns, &real))
		ty_json_u64(j, "start_realtime_ns", real);
	ty_json_bool(j, "has_sched", s->has_sched);
	ty_json_bool(j, "has_syscalls", s->has_syscalls);
	ty_json_end_object(j);
}

static void file(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_trace *t = r->s->trace;
	struct ty_text mach = ty_trace_section(t, TY_SEC_MACHINE),
		       self = ty_trace_section(t, TY_SEC_SELF);

	ty_json_object(j, "file");
	ty_json_str(j, "path", t->path);
	ty_json_u64(j, "version", (uint64_t)t->version);
	ty_json_u64(j, "bytes", t->file_bytes - t->dropped_bytes);
	ty_json_bool(j, "unfinished", t->unfinished);
	ty_json_bool(j, "truncated", t->truncated);
	if (t->note.s)
		ty_json_strn(j, "note", t->note.s, t->note.n);
	if (ty_session_scope(r->s))
		ty_json_str(j, "scope", ty_session_scope(r->s));
	if (t->kept_from_ns) {
		ty_json_u64(j, "kept_from_ns", t->kept_from_ns);
		ty_json_u64(j, "recorded_ns", ty_session_recorded_ns(r->s));
	}
	fact_u64(j, mach, "cut_from_ns");
	fact_u64(j, mach, "cut_origin_ns");
	fact_u64(j, mach, "cut_to_ns");
	ty_json_end_object(j);

	ty_json_object(j, "machine");
	fact_str(j, mach, "host");
	fact_str(j, mach, "kernel");
	fact_str(j, mach, "arch");
	fact_str(j, mach, "cpu_model");
	fact_str(j, mach, "cpus");
	fact_str(j, mach, "mode");
	fact_str(j, mach, "command");
	fact_u64(j, mach, "command_tid");
	fact_u64(j, mach, "buffer_bytes");
	fact_u64(j, mach, "ring_page_bytes");
	fact_list(j, mach, "event");
	fact_list(j, mach, "skipped");
	fact_list(j, mach, "no_idle_switch");
	if (t->uname.s)
		ty_json_strn(j, "uname", t->uname.s, strcspn(t->uname.s, "\n"));
	ty_json_end_object(j);

	ty_json_object(j, "recorder");
	fact_str(j, mach, "tarry");
	fact_u64(j, self, "cpu_user_ns");
	fact_u64(j, self, "cpu_sys_ns");
	fact_u64(j, self, "command_status");
	fact_str(j, self, "stop");
	ty_json_end_object(j);
}

static void syscalls(const struct ty_report *r, struct ty_json *j)
{
	ty_json_array(j, "syscalls");
	for (uint32_t i = 0; i < r->calls_n; i++) {
		const struct ty_syscall_stats *c = &r->calls[i];

		ty_json_object(j, NULL);
		ty_json_str(j, "name", c->name);
		ty_json_u64(j, "count", c->count);
		ty_json_u64(j, "errors", c->errors);
		ty_json_u64(j, "total_ns", c->total_ns);
		ty_json_u64(j, "mean_ns", c->mean_ns);
		ty_json_u64(j, "p50_ns", c->p50_ns);
		ty_json_u64(j, "p99_ns", c->p99_ns);
		ty_json_u64(j, "max_ns", c->max_ns);
		if (c->max_call == TY_NONE) {
			ty_json_null(j, "max_start_ns");
			ty_json_null(j, "max_tid");
		} else {
			struct ty_syscall m = ty_model_syscall(r->s->model, c->max_call);

			ty_json_u64(j, "max_start_ns", c->max_start_ns);
			ty_json_i64(j, "max_tid", ty_model_thread(r->s->model, m.thread)->tid);
		}
		ty_json_u64(j, "unfinished", c->unfinished);
		ty_json_u64(j, "before", c->before);
		ty_json_u64(j, "untimed", c->untimed);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

static void id_or_null(struct ty_json *j, const char *key, int32_t v)
{
	if (v < 0)
		ty_json_null(j, key);
	else
		ty_json_i64(j, key, v);
}

static void threads(const struct ty_report *r, struct ty_json *j)
{
	ty_json_array(j, "threads");
	for (uint32_t i = 0; i < r->threads_n; i++) {
		const struct ty_thread_stats *s = &r->threads[i];
		const struct ty_thread *t = ty_model_thread(r->s->model, s->thread);
		const char *line = ty_model_command_line(r->s->model, s->thread, t->end_ns);

		ty_json_object(j, NULL);
		ty_json_i64(j, "tid", t->tid);
		ty_json_u64(j, "generation", t->gen);
		id_or_null(j, "pid", t->tgid);
		id_or_null(j, "ppid", t->ppid);
		ty_json_str(j, "comm", ty_model_str(r->s->model, t->name));
		if (line)
			ty_json_str(j, "command_line", line);
		ty_json_u64(j, "start_ns", t->start_ns);
		ty_json_u64(j, "end_ns", t->end_ns);
		ty_json_bool(j, "born", t->born);
		ty_json_bool(j, "died", t->died);
		ty_json_bool(j, "kernel", t->kernel);
		ty_json_bool(j, "traced", t->traced);
		ty_json_u64(j, "running_ns", s->ns[TY_ST_RUNNING]);
		ty_json_u64(j, "inferred_ns", s->inferred_ns);
		ty_json_u64(j, "runnable_ns", s->ns[TY_ST_RUNNABLE]);
		ty_json_u64(j, "blocked_ns", ty_thread_blocked_ns(s));
		ty_json_u64(j, "sleeping_ns", s->ns[TY_ST_SLEEPING]);
		ty_json_u64(j, "uninterruptible_ns", s->ns[TY_ST_BLOCKED]);
		ty_json_u64(j, "stopped_ns", s->ns[TY_ST_STOPPED]);
		ty_json_u64(j, "dead_ns", s->ns[TY_ST_DEAD]);
		ty_json_u64(j, "unknown_ns", s->ns[TY_ST_UNKNOWN]);
		ty_json_u64(j, "runs", s->runs);
		ty_json_u64(j, "migrations", s->migrations);
		ty_json_u64(j, "wakeups", s->wakeups);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

static void who(const struct ty_report *r, struct ty_json *j, const char *key, int32_t thread,
		uint64_t t)
{
	if (thread < 0) {
		ty_json_null(j, key);
		return;
	}
	ty_json_object(j, key);
	ty_json_i64(j, "tid", ty_model_thread(r->s->model, (uint32_t)thread)->tid);
	ty_json_str(j, "comm", ty_model_comm(r->s->model, (uint32_t)thread, t));
	ty_json_end_object(j);
}

static void waits(const struct ty_report *r, struct ty_json *j, const char *kind,
		  const struct ty_wait *w, uint32_t n)
{
	const struct ty_model *m = r->s->model;

	for (uint32_t i = 0; i < n; i++, w++) {
		const char *ctx = ty_report_context(w->waker_context);

		ty_json_object(j, NULL);
		ty_json_str(j, "kind", kind);
		ty_json_str(j, "state", ty_state_name(w->state));
		ty_json_i64(j, "tid", ty_model_thread(m, w->thread)->tid);
		ty_json_str(j, "comm", ty_model_comm(m, w->thread, w->start_ns));
		ty_json_u64(j, "start_ns", w->start_ns);
		ty_json_u64(j, "duration_ns", w->duration_ns);
		if (w->syscall >= 0) {
			struct ty_syscall c = ty_model_syscall(m, (uint32_t)w->syscall);
			struct ty_buf b;
			char name[32];

			ty_json_str(j, "syscall", ty_syscall_name(r->s->arch, c.abi, c.nr, name));
			ty_buf_init(&b, 4096);
			ty_report_call(r, (uint32_t)w->syscall, &b);
			ty_json_strn(j, "call", b.p ? b.p : "", b.len);
			ty_buf_fini(&b);
		} else {
			ty_json_null(j, "syscall");
			ty_json_null(j, "call");
		}
		who(r, j, "waker", w->waker, w->start_ns + w->duration_ns);
		if (w->woken)
			ty_json_str(j, "waker_context",
				    ctx		    ? ctx
				    : w->waker >= 0 ? "thread"
						    : "unknown");
		else
			ty_json_null(j, "waker_context");
		if (w->state == TY_ST_RUNNABLE)
			who(r, j, "ran_meanwhile", w->ran, w->start_ns);
		ty_json_bool(j, "preempted", w->flags & TY_SF_PREEMPT);
		ty_json_bool(j, "began_before", w->flags & TY_SF_BEFORE);
		ty_json_bool(j, "unfinished", w->flags & TY_SF_OPEN);
		ty_json_bool(j, "lost", w->flags & TY_SF_LOST || w->end_lost);
		ty_json_bool(j, "end_lost", w->end_lost);
		ty_json_end_object(j);
	}
}

static void gaps(const struct ty_report *r, struct ty_json *j)
{
	static const char *const what[] = {[TY_GAP_OVERRUN] = "overrun",
					   [TY_GAP_DAMAGED] = "damaged",
					   [TY_GAP_UNFINISHED] = "unfinished"};
	uint32_t n;
	const struct ty_gap_span *g = ty_model_gaps(r->s->model, &n);

	ty_json_array(j, "gaps");
	for (; n; n--, g++) {
		if (g->to_ns < r->w.from_ns || g->from_ns > r->w.to_ns ||
		    !ty_window_cpu(&r->w, g->cpu))
			continue;
		ty_json_object(j, NULL);
		ty_json_u64(j, "cpu", g->cpu);
		ty_json_str(j, "buffer",
			    g->buffer < r->s->trace->buffers.n
				    ? r->s->trace->buffers.v[g->buffer].name
				    : "");
		ty_json_u64(j, "from_ns", g->from_ns);
		ty_json_u64(j, "to_ns", g->to_ns);
		if (g->count == UINT64_MAX)
			ty_json_null(j, "count");
		else
			ty_json_u64(j, "count", g->count);
		ty_json_str(j, "what", g->what <= TY_GAP_UNFINISHED ? what[g->what] : "unknown");
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

void ty_report_json(const struct ty_report *r, FILE *f)
{
	struct ty_json j;

	ty_json_init(&j, f);
	ty_json_object(&j, NULL);
	summary(r, &j);
	file(r, &j);
	ty_answer_json(r, &j);
	ty_findings_json(r, &j);
	ty_stalls_json(&r->explained, &j);
	if (r->rejected)
		ty_rejected_json(&r->explained, &j);
	ty_ledgers_json(&r->explained, &j);
	if (r->explained.links)
		ty_chain_json(&r->explained, &j);
	ty_report_logs_json(&r->logs, &j);
	if (r->requested & TY_REP_OUTLIERS)
		ty_outliers_json(r, &j);
	if (r->requested & TY_REP_DIFF)
		ty_diff_json(r, &j);
	if (r->requested & TY_REP_STACKS)
		ty_stacks_json(r, &j);
	if (r->requested & TY_REP_OBJECTS)
		ty_objects_json(r, &j);
	if (r->requested & TY_REP_HOT)
		ty_hot_json(r, &j);
	ty_requests_json(r, &j);
	ty_regions_json(r, &j);
	syscalls(r, &j);
	threads(r, &j);
	/* "traced": of threads whose system calls are not recorded, uninterruptible waits only */
	ty_json_str(&j, "blocked_of", r->blocked_ours ? "traced" : "all");
	ty_json_array(&j, "longest");
	waits(r, &j, "blocked", r->blocked, r->blocked_n);
	waits(r, &j, "runnable", r->runnable, r->runnable_n);
	ty_json_end_array(&j);
	gaps(r, &j);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
}

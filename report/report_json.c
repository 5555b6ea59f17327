/* SPDX-License-Identifier: MIT */
/* The report as one JSON document. Times are nanoseconds of the trace clock. */
#include "report.h"

#include <string.h>

#include "json_out.h"
#include "key_value.h"

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
	fact_u64(j, mach, "strings_bytes");
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
	fact_list(j, self, "note");
	ty_json_end_object(j);
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
	ty_counters_json(r, &j);
	ty_requests_json(r, &j);
	ty_regions_json(r, &j);
	ty_syscalls_json(r, &j);
	ty_threads_json(r, &j);
	/* "traced": of threads whose system calls are not recorded, uninterruptible waits only */
	ty_json_str(&j, "blocked_of", r->blocked_ours ? "traced" : "all");
	ty_json_array(&j, "longest");
	waits(r, &j, "blocked", r->blocked, r->blocked_n);
	waits(r, &j, "runnable", r->runnable, r->runnable_n);
	ty_json_end_array(&j);
	ty_loss_json(r, &j);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
}

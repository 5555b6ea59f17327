/* SPDX-License-Identifier: MIT */
/* Sections that a recording writes about itself while it runs: clock markers, machine facts,
 * threads, samples (section.h); and the notes of its result. At its end: recording_end.c. */
#include "recording_priv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "int_set.h"
#include "kernel_code.h"
#include "key_value.h"
#include "machine_facts.h"
#include "proc_fds.h"
#include "vdso.h"

/* CPU time for listing the descriptors of all processes: at the start, and at each mark of
 * --keep. */
#define FDS_START_NS (TY_REC_NS / 10)
#define FDS_MARK_NS  (TY_REC_NS / 40)
/* Of the kernel's list of threads. */
#define TRACED_READ (64u << 20)

void ty_rec_note(struct recording *r, const char *fmt, ...)
{
	va_list ap;

	if (r->res->notes_n == TY_RECORD_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(r->res->notes[r->res->notes_n++], sizeof(*r->res->notes), fmt, ap);
	va_end(ap);
}

/* A point that ties the trace clock to the others; see TY_CLOCK_MARKER. */
void ty_rec_mark_clock(struct recording *r)
{
	char text[200];
	uint64_t real, mono, boot, tsc = 0;
	int n;

	real = ty_rec_clock_ns(CLOCK_REALTIME);
	mono = ty_rec_clock_ns(CLOCK_MONOTONIC);
	boot = ty_rec_clock_ns(CLOCK_BOOTTIME);
#if defined(__x86_64__) || defined(__i386__)
	tsc = __rdtsc();
#elif defined(__aarch64__)
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(tsc));
#endif
	n = snprintf(text, sizeof(text),
		     TY_CLOCK_MARKER "realtime_ns=%" PRIu64 " monotonic_ns=%" PRIu64
				     " boottime_ns=%" PRIu64 " tsc=%" PRIu64 "\n",
		     real, mono, boot, tsc);
	if (r->marker >= 0 && write(r->marker, text, (size_t)n) < 0) {
		/* Without markers the file has no wall clock, which the readers report. */
		close(r->marker);
		r->marker = -1;
	}
}

static void *self_test_main(void *arg)
{
	struct self_test *t = arg;

	/* The result may remain unknown. */
	ty_idle_switch_test(t->root, t->cpus, t->n, t->verdict, NULL);
	return NULL;
}

void ty_rec_self_test_start(struct recording *r)
{
	r->test.root = r->root;
	r->test.n = r->cpus_n < TY_IDLE_CPUS_MAX ? r->cpus_n : TY_IDLE_CPUS_MAX;
	memcpy(r->test.cpus, r->cpus, r->test.n * sizeof(*r->cpus));
	r->test.started = !pthread_create(&r->test.thread, NULL, self_test_main, &r->test);
}

void ty_rec_self_test_wait(struct recording *r)
{
	if (r->test.started)
		pthread_join(r->test.thread, NULL);
	r->test.started = false;
}

/* Takes the lines of b into MACHINE. */
static int put_facts(struct recording *r, struct ty_buf *b, struct ty_err *err)
{
	int e = b->failed ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
				    "out of memory for the machine facts")
			  : ty_meta_section(&r->meta, TY_SEC_MACHINE, b->p, b->len, err);

	ty_buf_fini(b);
	return e;
}

int ty_rec_put_machine(struct recording *r, struct ty_err *err)
{
	char text[300];
	struct ty_buf b;

	ty_buf_init(&b, TY_REC_TEXT);
	ty_machine_facts(&b);
	if (r->foreign_pids)
		ty_fact(&b, "pid_namespace", "other");
	else
		ty_fact_u64(&b, "recorder_tid", (uint64_t)getpid());
	ty_fact(&b, "mode", r->o->argv && !r->o->all ? "command" : r->o->pids_n ? "pids" : "all");
	if (r->o->argv) {
		ty_buf_adds(&b, "command=");
		ty_shell_quote(&b, r->o->argv);
		ty_buf_addc(&b, '\n');
		if (!r->foreign_pids)
			ty_fact_u64(&b, "command_tid", (uint64_t)r->command.pid);
	}
	for (size_t i = 0; i < r->o->pids_n; i++)
		ty_fact_u64(&b, "pid", (uint64_t)r->o->pids[i]);
	for (size_t i = 0; i < r->set.items.n; i++) {
		snprintf(text, sizeof(text), "%s:%s", r->set.items.v[i].system,
			 r->set.items.v[i].event);
		ty_fact(&b, "event", text);
	}
	if (r->probes.labels.len)
		ty_buf_add(&b, r->probes.labels.p, r->probes.labels.len);
	for (size_t i = 0; i < r->set.skipped.n; i++)
		ty_fact(&b, "skipped", r->set.skipped.v[i]);
	ty_rec_self_test_wait(r);
	for (unsigned i = 0; i < r->cpus_n; i++) {
		enum ty_idle_verdict v = i < r->test.n ? r->test.verdict[i] : TY_IDLE_UNTESTED;

		if (v != TY_IDLE_DELIVERED)
			ty_fact_u64(&b,
				    v == TY_IDLE_MISSING ? "no_idle_switch"
							 : "idle_switch_untested",
				    r->cpus[i]);
	}
	if (r->no_follow)
		ty_fact(&b, "follow_children", "no");
	if (r->o->step)
		ty_fact(&b, "flow", "step");
	if (r->o->pt)
		ty_fact(&b, "flow", "pt");
	if (r->o->spe)
		ty_fact(&b, "memory", "spe");
	ty_fact_u64(&b, "buffer_bytes", r->ring_bytes);
	ty_fact_u64(&b, "ring_page_bytes", r->inst[0].page_bytes);
	return put_facts(r, &b, err);
}

int ty_rec_put_traced(struct recording *r, const ty_tids *traced, struct ty_err *err)
{
	struct ty_buf b;

	if (!r->o->pids_n || !traced->n)
		return 0;
	ty_buf_init(&b, TY_REC_TEXT);
	ty_key_add_ranges(&b, "traced", traced->v, traced->n);
	return put_facts(r, &b, err);
}

int ty_rec_put_call_data(struct recording *r, struct ty_err *err)
{
	struct ty_buf b;

	if (r->o->no_syscalls)
		return 0;
	ty_buf_init(&b, TY_REC_TEXT);
	ty_fact(&b, "strings",
		r->call_data	       ? ty_call_data_names(r->call_data)
		: r->string_events.len ? r->string_events.p
				       : "");
	if (r->string_events.len)
		ty_fact_u64(&b, "strings_bytes", r->string_bytes);
	if (!r->call_data)
		ty_fact(&b, "strings_why",
			r->o->no_strings ? "record --no-strings" : r->call_data_why);
	ty_fact_u64(&b, "data_bytes", r->call_data ? r->o->data_bytes : 0);
	ty_fact_u64(&b, "stacks_ns", r->stacks ? r->o->stacks_ns : 0);
	if (!r->stacks)
		ty_fact(&b, "stacks_why",
			!r->o->stacks_ns ? "record --stacks off"
			: !r->call_data	 ? "BPF is not used (--no-strings or --no-syscalls)"
					 : r->stacks_why);
	return put_facts(r, &b, err);
}

int ty_rec_put_sampling(struct recording *r, struct ty_err *err)
{
	struct ty_buf b;

	ty_buf_init(&b, TY_REC_TEXT);
	ty_fact_u64(&b, "sample_hz", r->sampler ? r->o->sampling.hz : 0);
	if (r->sampler) {
		ty_fact(&b, "sample_event", ty_sampler_event(r->sampler));
		ty_fact(&b, "sample_stacks", ty_sampler_stacks(r->sampler));
	} else {
		ty_fact(&b, "sample_why",
			r->o->sampling.hz ? r->sampler_why
			: r->o->step	  ? "the command was single-stepped"
					  : "record --sample off");
	}
	if (r->counters)
		ty_counters_facts(r->counters, &b);
	return put_facts(r, &b, err);
}

/* Code that exists on this machine only, and only until it boots another kernel. */
int ty_rec_put_vdso(struct recording *r, struct ty_err *err)
{
	size_t n;
	const uint8_t *p = ty_vdso(&n);

	return p && (r->o->pt || r->o->step || r->stacks || r->sampler)
		       ? ty_meta_section(&r->meta, TY_SEC_VDSO, (const char *)p, n, err)
		       : 0;
}

/* The code that --flow-kernel will meet. Without it the recording is good for all else. */
int ty_rec_put_kernel(struct recording *r, struct ty_err *err)
{
	struct ty_kernel_code k;
	char why[200];
	int e;

	if (!r->o->pt || !r->o->pt->kernel)
		return 0;
	e = ty_kernel_code_read("/proc/kcore", "/proc/kallsyms", &k, why, sizeof(why));
	if (e) {
		ty_rec_note(r,
			    "the recording lacks kernel code (%s). To decode it later, give copies "
			    "with --kcore and --kallsyms",
			    why);
		ty_kernel_code_fini(&k);
		return 0;
	}
	if (*why)
		ty_rec_note(r,
			    "the recording lacks some kernel code (%s): it shows as gaps unless "
			    "you give copies with --kcore and --kallsyms",
			    why);
	e = ty_meta_section(&r->meta, TY_SEC_KERNEL, k.head.p, k.head.len, err);
	e = e ? e : ty_meta_section(&r->meta, TY_SEC_KERNEL, k.code.p, k.code.len, err);
	e = e ? e : ty_meta_section(&r->meta, TY_SEC_KALLSYMS, k.names.p, k.names.len, err);
	ty_kernel_code_fini(&k);
	return e;
}

/* A CPU that was busy during the test at the start may be idle now: test it again. */
int ty_rec_put_machine_late(struct recording *r, struct ty_err *err)
{
	enum ty_idle_verdict before[TY_IDLE_CPUS_MAX];
	struct ty_buf b;
	bool open = false;
	int e = 0;

	memcpy(before, r->test.verdict, sizeof(before));
	for (unsigned i = 0; i < r->test.n; i++)
		open |= before[i] == TY_IDLE_UNTESTED;
	if (!open || ty_idle_switch_test(r->root, r->cpus, r->test.n, r->test.verdict, NULL))
		return 0;
	ty_buf_init(&b, TY_REC_TEXT);
	for (unsigned i = 0; i < r->test.n; i++)
		if (before[i] == TY_IDLE_UNTESTED && r->test.verdict[i] != TY_IDLE_UNTESTED)
			ty_fact_u64(&b,
				    r->test.verdict[i] == TY_IDLE_MISSING ? "no_idle_switch"
									  : "idle_switch_seen",
				    r->cpus[i]);
	if (b.len)
		e = ty_meta_section(&r->meta, TY_SEC_MACHINE, b.p, b.len, err);
	ty_buf_fini(&b);
	return e;
}

/* One of /proc's lists, taken since from_ns, as a section. */
static int put_taken(struct recording *r, enum ty_section section, uint64_t from_ns,
		     const struct ty_buf *list, struct ty_err *err)
{
	char head[80];
	/* now_ts is cut to microseconds: the later bound is rounded up. */
	int n = snprintf(head, sizeof(head), "taken %" PRIu64 " %" PRIu64 "\n", from_ns,
			 ty_instance_now_ns(r->insts[0]) + 1000),
	    e = ty_meta_section(&r->meta, section, head, (size_t)n, err);

	return e || !list->len ? e : ty_meta_section(&r->meta, section, list->p, list->len, err);
}

int ty_rec_list_traced(const struct recording *r, ty_tids *tids, struct ty_err *err)
{
	struct ty_buf text;
	int e = 0;

	tids->n = 0;
	if (r->foreign_pids || r->insts_n < 2)
		return 0;
	ty_buf_init(&text, TRACED_READ);
	e = ty_follow_list(r->insts[1], &text, tids, err);
	ty_buf_fini(&text);
	return e;
}

/* The tasks of the traced processes, or of all processes except this one. */
static int choose_tasks(const struct recording *r, const ty_tids *traced, ty_proc_tasks *out)
{
	const int own = getpid();
	ty_proc_pids pids = {0};
	int e = 0;

	vec_each (t, &r->tasks)
		if (!e && traced->n &&
		    bsearch(&t->tid, traced->v, traced->n, sizeof(*traced->v), ty_int_order))
			e = vec_push(&pids, t->tgid);
	pids.n = ty_int_set(pids.v, pids.n);
	vec_each (t, &r->tasks)
		if (!e && (r->o->all ? t->tgid != own
				     : pids.n && bsearch(&t->tgid, pids.v, pids.n, sizeof(*pids.v),
							 ty_int_order)))
			e = vec_push(out, *t);
	vec_fini(&pids);
	return e;
}

int ty_rec_put_fds(struct recording *r, const ty_tids *traced, bool before_exec, struct ty_err *err)
{
	uint64_t from = ty_instance_now_ns(r->insts[0]);
	ty_proc_tasks tasks = {0};
	struct ty_buf b;
	uint64_t budget = !r->o->all ? 0 : r->meta.aside ? FDS_MARK_NS : FDS_START_NS;
	size_t cut;
	int e;

	if (r->foreign_pids)
		return 0;
	ty_buf_init(&b, TY_REC_TEXT);
	e = choose_tasks(r, traced, &tasks)
		    ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the processes")
		    : 0;
	vec_each (t, &tasks)
		if (!e && t->tid == t->tgid && (!before_exec || t->tgid != r->command.pid))
			ty_command_lines_request(r->commands, t->tgid);
	e = e ? e
	      : ty_proc_fds(tasks.v, tasks.n, before_exec ? r->command.pid : 0, budget, &b, &cut,
			    err);
	if (!e && cut && !r->meta.aside)
		ty_rec_note(r,
			    "tarry saves at most %d open descriptors%s. Names of descriptors of "
			    "%zu process%s may be missing",
			    TY_PROC_FDS_MAX, budget ? ", and stops after 0.1 s" : "", cut,
			    cut > 1 ? "es" : "");
	e = e ? e : put_taken(r, TY_SEC_FDS, from, &b, err);
	ty_buf_fini(&b);
	vec_fini(&tasks);
	return e;
}

int ty_rec_put_threads(struct recording *r, struct ty_err *err)
{
	uint64_t from = ty_instance_now_ns(r->insts[0]);
	struct ty_buf b;
	int e;

	ty_buf_init(&b, TY_REC_TEXT);
	ty_buf_reset(&r->thread_names);
	r->tasks.n = 0;
	if (r->foreign_pids)
		return 0;
	e = ty_proc_snapshot(&b, &r->thread_names, &r->tasks, err);
	if (!e && !b.len && !r->meta.aside)
		ty_rec_note(r, "/proc is empty (mount -t proc proc /proc): threads that "
			       "existed before the recording are known only from events");
	e = e ? e : put_taken(r, TY_SEC_THREADS, from, &b, err);
	ty_buf_fini(&b);
	return e;
}

static uint64_t trace_ns(void *ctx)
{
	return ty_instance_now_ns(((struct recording *)ctx)->insts[0]);
}

void ty_rec_take_samples(struct recording *r, bool due_only)
{
	uint64_t now = ty_rec_clock_ns(CLOCK_MONOTONIC);

	if (!due_only || now >= ty_quotas_next_ns(&r->quotas))
		ty_quotas_sample(&r->quotas, trace_ns, r, &r->throttled);
	if (!due_only || now >= ty_steal_next_ns(&r->steal))
		ty_steal_sample(&r->steal, trace_ns, r, &r->stolen);
}

uint64_t ty_rec_next_sample_ns(const struct recording *r)
{
	uint64_t quotas = ty_quotas_next_ns(&r->quotas), steal = ty_steal_next_ns(&r->steal);

	return quotas < steal ? quotas : steal;
}

void ty_rec_take_commands(struct recording *r, unsigned wait_ms)
{
	ty_command_lines_take(r->commands, wait_ms, trace_ns, r, &r->command_text);
}

int ty_rec_put_samples(struct recording *r, struct ty_err *err)
{
	int e = 0;

	ty_rec_take_commands(r, 0);
	if (r->command_text.len && !r->command_text.failed)
		e = ty_meta_section(&r->meta, TY_SEC_COMMANDS, r->command_text.p,
				    r->command_text.len, err);
	ty_buf_reset(&r->command_text);

	/* A line may be cut short where memory ran out. */
	if (!e && r->throttled.len && !r->throttled.failed)
		e = ty_meta_section(&r->meta, TY_SEC_QUOTA, r->throttled.p, r->throttled.len, err);
	ty_buf_reset(&r->throttled);
	if (!e && r->stolen.len && !r->stolen.failed)
		e = ty_meta_section(&r->meta, TY_SEC_STEAL, r->stolen.p, r->stolen.len, err);
	ty_buf_reset(&r->stolen);
	return e;
}

/* SPDX-License-Identifier: MIT */
/*
 * See recording.h. The order matters:
 *   everything that can fail for the user's reasons (command, pids, rights, events) comes before
 * the old output file is replaced, which is when the command's exec has succeeded; the child is
 * forked before any memory is touched; rings are armed and the readers run before tracing is on;
 * the /proc snapshot is taken after that and before the command may exec, so that no thread is
 * missed in between. At the end: tracing off, rings drained, sections, instances removed, file
 * finished.
 */
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "command.h"
#include "evset.h"
#include "follow_pids.h"
#include "idle_switch.h"
#include "machine_facts.h"
#include "meta_writer.h"
#include "proc_snapshot.h"
#include "reader.h"
#include "spool.h"
#include "tracefs.h"

#define CLOCK	     "perf"
#define NS	     1000000000ull
#define MARK_NS	     (3 * NS)
#define PROGRESS_NS  (NS / 2)
#define RING_DEFAULT (8ull << 20)
#define RING_MIN     (256ull << 10)
#define SLOTS_MAX    (64ull << 20)
/* 32 KB is the largest the kernel's page allocator hands out cheaply (order 3). */
#define RING_PAGE_MAX  (32u << 10)
#define RING_PAGES_MIN 64u
#define TEXT_LIMIT     (256u << 20)
enum { CPUS_MAX = 4096, TICK_MS = 100 };

struct self_test {
	pthread_t thread;
	bool started;
	const char *root;
	unsigned n, cpus[TY_IDLE_CPUS_MAX];
	enum ty_idle_verdict verdict[TY_IDLE_CPUS_MAX];
};

struct recording {
	const struct ty_record_opts *o;
	struct ty_record_result *res;
	char root[TY_TRACEFS_PATH];
	struct ty_evset set;
	struct ty_instance inst[TY_READER_INSTANCES];
	const struct ty_instance *insts[TY_READER_INSTANCES];
	const char *names[TY_READER_INSTANCES]; /* of the file's buffers */
	unsigned insts_n;
	uint64_t ring_bytes;
	struct ty_command command;
	struct ty_step step;
	struct ty_spool *spool;
	struct ty_meta meta;
	struct ty_readers *readers;
	struct ty_buf thread_names;
	struct self_test test;
	pthread_t remover;
	bool removing;
	sigset_t old_mask;
	int signals, spool_failed; /* fds */
	int marker;
	struct pollfd *polls; /* signals, spool_failed, then pidfds */
	size_t polls_n;
	unsigned cpus[CPUS_MAX], cpus_n;
	uint64_t start_ns, off_ns, tell_at_ns;
	unsigned signals_seen;
	bool child_gone;
	bool foreign_pids; /* ours are not the kernel's */
	bool no_follow;	   /* the kernel does not follow children */
};

static void note(struct recording *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct recording *r, const char *fmt, ...)
{
	va_list ap;

	if (r->res->notes_n == TY_RECORD_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(r->res->notes[r->res->notes_n++], sizeof(*r->res->notes), fmt, ap);
	va_end(ap);
}

static uint64_t clock_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/* A point that ties the trace clock to the others; see TY_CLOCK_MARKER. */
static void mark_clock(struct recording *r)
{
	char text[200];
	uint64_t real, mono, boot, tsc = 0;
	int n;

	real = clock_ns(CLOCK_REALTIME);
	mono = clock_ns(CLOCK_MONOTONIC);
	boot = clock_ns(CLOCK_BOOTTIME);
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
		/* Without markers the file has no wall clock; the readers say so. */
		close(r->marker);
		r->marker = -1;
	}
}

static void *self_test_main(void *arg)
{
	struct self_test *t = arg;

	/* No verdict is an honest answer too. */
	ty_idle_switch_test(t->root, t->cpus, t->n, t->verdict, NULL);
	return NULL;
}

static void self_test_start(struct recording *r)
{
	r->test.root = r->root;
	r->test.n = r->cpus_n < TY_IDLE_CPUS_MAX ? r->cpus_n : TY_IDLE_CPUS_MAX;
	memcpy(r->test.cpus, r->cpus, r->test.n * sizeof(*r->cpus));
	r->test.started = !pthread_create(&r->test.thread, NULL, self_test_main, &r->test);
}

static void self_test_wait(struct recording *r)
{
	if (r->test.started)
		pthread_join(r->test.thread, NULL);
	r->test.started = false;
}

static bool is_ignored(int sig)
{
	struct sigaction a;

	return !sigaction(sig, NULL, &a) && a.sa_handler == SIG_IGN;
}

/*
 * What the recorder answers. A blocked signal arrives even if it is ignored: SIGHUP that was
 * ignored on purpose (nohup) stays out. SIGINT and SIGQUIT, which shells ignore for background
 * jobs, do not: they are how such a recording is ended.
 */
static void answered(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGCHLD);
	if (!is_ignored(SIGHUP))
		sigaddset(set, SIGHUP);
}

/*
 * An ignored SIGCHLD is inherited and would take the command's status away. A reader of stderr that
 * goes away and a limit on file size must not end the recorder in the middle: the writes fail, and
 * that is told. `reset`: what the command is to get as it was.
 */
static void set_dispositions(sigset_t *reset)
{
	static const int failing_writes[] = {SIGPIPE, SIGXFSZ};

	sigemptyset(reset);
	signal(SIGCHLD, SIG_DFL);
	for (size_t i = 0; i < sizeof(failing_writes) / sizeof(*failing_writes); i++) {
		if (!is_ignored(failing_writes[i]))
			sigaddset(reset, failing_writes[i]);
		signal(failing_writes[i], SIG_IGN);
	}
}

static int open_signals(struct recording *r, struct ty_err *err)
{
	sigset_t set;

	answered(&set);
	sigprocmask(SIG_BLOCK, &set, &r->old_mask);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r->spool_failed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->signals < 0 || r->spool_failed < 0)
		return ty_fail_errno(err, "cannot make a signalfd and an eventfd");
	return 0;
}

/* Each pid: a process, alive; an fd that tells its end. */
static int open_pids(struct recording *r, struct ty_err *err)
{
	r->polls = calloc(2 + r->o->pids_n, sizeof(*r->polls));
	if (!r->polls)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the list of pids");
	r->polls[0] = (struct pollfd){.fd = r->signals, .events = POLLIN};
	r->polls[1] = (struct pollfd){.fd = r->spool_failed, .events = POLLIN};
	r->polls_n = 2;
	for (size_t i = 0; i < r->o->pids_n; i++) {
		pid_t pid = r->o->pids[i];
		int tgid = ty_proc_tgid(pid), fd;

		if (!tgid)
			return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				       "-p %d: there is no such process (any more); ps -e lists "
				       "those there are",
				       (int)pid);
		if (tgid != pid)
			return ty_fail(
				err, TY_EUSAGE, TY_NO_OFFSET,
				"-p %d: that is a thread of process %d; -p %d records it with "
				"all its threads",
				(int)pid, tgid, tgid);
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (fd < 0 && errno == ESRCH)
			return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				       "-p %d: the process has just ended", (int)pid);
		/* Kernels before 5.3 have no pidfd: fd stays -1 and the main loop asks kill(). */
		if (fd >= 0)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
		r->polls[r->polls_n++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	return 0;
}

/*
 * The tracer counts in the kernel's pids; ours, and those in our /proc, are the same only in the
 * first pid namespace: elsewhere pids cannot be followed, and /proc would give wrong names.
 */
static int check_pid_namespace(struct recording *r, struct ty_err *err)
{
	char link[64] = "";

	if (readlink("/proc/self/ns/pid", link, sizeof(link) - 1) <= 0 ||
	    !strcmp(link, "pid:[4026531836]"))
		return 0;
	r->foreign_pids = true;
	if (r->o->all) {
		note(r, "this is a container with its own process numbers; the recording has the "
			"host's, and threads that lived before it have no more than a name");
		return 0;
	}
	return ty_fail(
		err, TY_EUSAGE, TY_NO_OFFSET,
		"this is a container with its own process numbers, which the kernel's tracer "
		"does not know: run tarry outside (or with --pid=host), or record everything "
		"with -a");
}

static uint64_t ring_default(unsigned cpus, unsigned instances)
{
	uint64_t mem = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
		 share = mem / 32 / cpus / instances;

	return share < RING_MIN ? RING_MIN : share > RING_DEFAULT ? RING_DEFAULT : share;
}

/* The flags of a new instance are copied from the top level, where anything may be set. */
static void set_options(struct recording *r, const struct ty_instance *inst, bool follow)
{
	static const struct {
		const char *name, *value;
	} options[] = {{"options/overwrite", "1"},	{"options/stacktrace", "0"},
		       {"options/userstacktrace", "0"}, {"options/markers", "1"},
		       {"options/record-tgid", "0"},	{"options/hash-ptr", "0"}};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (ty_tracefs_exists(inst->dir, options[i].name))
			ty_tracefs_write(inst->dir, options[i].name, options[i].value, false, NULL);
	if (!follow || !ty_tracefs_write(inst->dir, "options/event-fork", "1", false, NULL))
		return;
	r->no_follow = true;
	note(r,
	     "this kernel cannot follow new threads and children (options/event-fork: %s): their "
	     "system calls are not recorded; -a records everybody's",
	     strerror(errno));
}

/* Large ones cost less to move, as long as a ring has enough of them. */
static uint32_t ring_page_bytes(uint64_t ring_bytes)
{
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	while (page < RING_PAGE_MAX && page * 2 * RING_PAGES_MIN <= ring_bytes)
		page *= 2;
	return page;
}

static int create_instances(struct recording *r, uint32_t page_bytes, struct ty_err *err)
{
	int e = 0;

	for (unsigned i = 0; !e && i < r->insts_n; i++)
		e = ty_instance_create(&r->inst[i], r->root, i ? "syscalls" : "top", CLOCK,
				       r->ring_bytes, page_bytes, err);
	return e;
}

static int make_instances(struct recording *r, struct ty_err *err)
{
	bool filtered = !r->o->all, two = filtered && ty_evset_has_syscalls(&r->set);
	int e;

	r->insts_n = two ? 2 : 1;
	r->ring_bytes =
		r->o->buffer_bytes ? r->o->buffer_bytes : ring_default(r->cpus_n, r->insts_n);
	e = create_instances(r, ring_page_bytes(r->ring_bytes), err);
	/* A file has pages of one size. */
	if (!e && two && r->inst[0].page_bytes != r->inst[1].page_bytes) {
		for (unsigned i = 0; i < r->insts_n; i++)
			ty_instance_remove(&r->inst[i]);
		e = create_instances(r, 0, err);
	}
	for (unsigned i = 0; !e && i < r->insts_n; i++) {
		r->names[i] = i ? "syscalls" : "";
		r->insts[i] = &r->inst[i];
		set_options(r, &r->inst[i], i == 1);
	}
	for (unsigned i = 0; !e && i < r->insts_n; i++)
		e = ty_evset_enable(&r->set, &r->inst[i], i == 1, !two, err);
	if (!e && !r->set.items.n)
		e = ty_fail(
			err, TY_ENOTFOUND, TY_NO_OFFSET,
			"there is no event to record: this kernel has none of the defaults; add "
			"some with -e");
	return e;
}

/* Narrow the buffer of system calls to the command or to all threads of the pids. */
static int set_pids(struct recording *r, struct ty_err *err)
{
	bool sure = true;
	int e = 0;

	if (r->insts_n < 2)
		return 0;
	if (r->command.pid)
		return ty_follow_tids(&r->inst[1], (int[]){r->command.pid}, 1, err);
	e = ty_follow_pids(&r->inst[1], r->o->pids, r->o->pids_n, &sure, err);
	if (!e && !sure)
		note(r,
		     "threads of the processes come and go faster than they can be listed: system "
		     "calls of some may be missing; -a misses none");
	return e;
}

/* A CPU that was busy at the start may be idle now: what the start could not tell. */
static int put_machine_late(struct recording *r, struct ty_err *err)
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
	ty_buf_init(&b, TEXT_LIMIT);
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

static int put_machine(struct recording *r, struct ty_err *err)
{
	char text[300];
	struct ty_buf b;
	int e;

	ty_buf_init(&b, TEXT_LIMIT);
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
	for (size_t i = 0; i < r->set.skipped.n; i++)
		ty_fact(&b, "skipped", r->set.skipped.v[i]);
	self_test_wait(r);
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
	ty_fact_u64(&b, "buffer_bytes", r->ring_bytes);
	ty_fact_u64(&b, "ring_page_bytes", r->inst[0].page_bytes);
	e = b.failed ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the machine facts")
		     : ty_meta_section(&r->meta, TY_SEC_MACHINE, b.p, b.len, err);
	ty_buf_fini(&b);
	return e;
}

static int put_threads(struct recording *r, struct ty_err *err)
{
	uint64_t from = ty_instance_now_ns(r->insts[0]);
	struct ty_buf b, head;
	int e;

	ty_buf_init(&b, TEXT_LIMIT);
	ty_buf_init(&head, TEXT_LIMIT);
	ty_buf_init(&r->thread_names, TEXT_LIMIT);
	if (r->foreign_pids)
		return 0;
	e = ty_proc_snapshot(&b, &r->thread_names, err);
	if (!e) {
		/* now_ts is cut to microseconds: the later bound is rounded up. */
		ty_buf_addf(&head, "taken %" PRIu64 " %" PRIu64 "\n", from,
			    ty_instance_now_ns(r->insts[0]) + 1000);
		e = ty_meta_section(&r->meta, TY_SEC_THREADS, head.p, head.len, err);
	}
	if (!e && b.len)
		e = ty_meta_section(&r->meta, TY_SEC_THREADS, b.p, b.len, err);
	ty_buf_fini(&b);
	ty_buf_fini(&head);
	return e;
}

/* Everything up to the first event. */
static int start(struct recording *r, struct ty_err *err)
{
	sigset_t reset;
	unsigned cpu_count;
	uint64_t mem = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	int e;

	r->cpus_n = ty_cpu_list("/sys/devices/system/cpu/online", r->cpus, CPUS_MAX);
	if (!r->cpus_n)
		return ty_fail(err, TY_ESYS, TY_NO_OFFSET,
			       "cannot read /sys/devices/system/cpu/online (mount -t sysfs sysfs "
			       "/sys)");
	cpu_count = r->cpus[r->cpus_n - 1] + 1;
	if (r->o->argv && (e = ty_command_find(&r->command, r->o->argv, err))) {
		r->res->exit_code = r->command.exit_code;
		return e;
	}
	if ((e = ty_tracefs_find(r->root, true, err)) || (e = open_signals(r, err)) ||
	    (e = open_pids(r, err)))
		return e;
	if ((e = check_pid_namespace(r, err)))
		return e;
	r->res->swept = ty_instance_sweep(r->root);
	e = ty_evset_build(&r->set, r->root, !r->o->no_syscalls, !r->o->no_sched, r->o->events,
			   r->o->events_n, err);
	if (e)
		return e;
	vec_each (s, &r->set.notes)
		note(r, "%s", *s);
	set_dispositions(&reset);
	if (r->o->argv && (e = ty_command_fork(&r->command, &r->old_mask, &reset, err)))
		return e;
	if (r->o->step && (e = ty_step_start(&r->step, r->o->step, r->command.pid, err)))
		return e;
	self_test_start(r);
	if ((e = make_instances(r, err)) || (e = set_pids(r, err)))
		return e;
	r->marker = openat(r->inst[0].dir, "trace_marker", O_WRONLY | O_CLOEXEC);
	e = ty_spool_create(r->o->out, r->inst[0].page_bytes, &r->spool, err);
	e = e ? e : ty_meta_init(&r->meta, r->spool, err);
	e = e ? e
	      : ty_meta_start(&r->meta, r->root, &r->set, r->insts, r->names, r->insts_n, cpu_count,
			      CLOCK, err);
	e = e ? e : put_machine(r, err);
	e = e ? e
	      : ty_readers_start(&r->readers, r->insts, r->insts_n, r->spool,
				 mem / 16 < SLOTS_MAX ? mem / 16 : SLOTS_MAX, r->spool_failed, err);
	if (!e && r->o->step)
		e = ty_step_collect(&r->step, r->spool, err);
	r->start_ns = clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; !e && i < r->insts_n; i++)
		e = ty_instance_on(&r->inst[i], true, err);
	if (e)
		return e;
	mark_clock(r);
	if ((e = put_threads(r, err)))
		return e;
	if (r->o->argv && (e = ty_command_release(&r->command, err))) {
		r->res->exit_code = r->command.exit_code;
		return e;
	}
	return ty_spool_publish(r->spool, err);
}

static void totals(struct recording *r, struct ty_buf *self, struct ty_record_progress *p)
{
	for (unsigned i = 0; i < r->insts_n; i++) {
		for (unsigned k = 0; k < r->cpus_n; k++) {
			struct ty_cpu_stats st;

			if (ty_instance_stats(&r->inst[i], r->cpus[k], &st, NULL))
				continue;
			p->events += st.entries + st.read;
			p->lost += st.overrun + st.commit_overrun + st.dropped;
			if (self)
				ty_buf_addf(self,
					    "stat=%u %u %" PRIu64 " %" PRIu64 " %" PRIu64
					    " %" PRIu64 " %" PRIu64 "\n",
					    i, r->cpus[k], st.entries, st.overrun,
					    st.commit_overrun, st.dropped, st.read);
		}
	}
	p->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - r->start_ns;
	p->file_bytes = ty_spool_bytes(r->spool);
}

static void reap(struct recording *r)
{
	int status;
	pid_t p;

	if (r->command.pid <= 0 || r->child_gone)
		return;
	p = waitpid(r->command.pid, &status, WNOHANG);
	if (p == r->command.pid) {
		r->res->command_ended = true;
		r->res->command_status = status;
	}
	r->child_gone = p == r->command.pid || (p < 0 && errno == ECHILD);
}

/* Signals that arrived. Returns why the recording ends, or NULL. */
static const char *take_signals(struct recording *r)
{
	struct signalfd_siginfo si;
	const char *why = NULL;

	while (read(r->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		int sig = (int)si.ssi_signo;

		if (sig == SIGCHLD)
			continue;
		if (r->signals_seen++ || !r->o->argv) {
			r->res->signal = sig;
			why = sig == SIGINT ? "interrupted" : "signal";
			continue;
		}
		/* From the terminal (the kernel) the command has got it as well. */
		if (si.ssi_code != SI_KERNEL)
			kill(r->command.pid, sig);
	}
	reap(r);
	if (r->child_gone) {
		why = "command ended";
		r->res->signal = 0;
	}
	return why;
}

static bool pids_gone(struct recording *r)
{
	size_t alive = 0;

	for (size_t i = 0; i < r->o->pids_n; i++) {
		struct pollfd *p = &r->polls[2 + i];

		if (p->events &&
		    (p->revents || (p->fd < 0 && kill(r->o->pids[i], 0) && errno == ESRCH))) {
			if (p->fd >= 0)
				close(p->fd);
			*p = (struct pollfd){.fd = -1};
		}
		alive += p->events != 0;
	}
	return r->o->pids_n && !alive;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Until something ends the recording: fills res->stop. A failure only when it cannot be watched. */
static int watch(struct recording *r, struct ty_err *err)
{
	uint64_t mark_at = r->start_ns + MARK_NS, now = r->start_ns,
		 show_at = r->o->progress ? r->start_ns + PROGRESS_NS : UINT64_MAX,
		 end_at = r->o->duration_ns ? r->start_ns + r->o->duration_ns : UINT64_MAX;
	bool ask = false; /* pids without pidfd */

	for (size_t i = 2; i < r->polls_n; i++)
		ask |= r->polls[i].fd < 0;
	for (;;) {
		uint64_t next = min_u64(min_u64(mark_at, show_at), end_at);
		int ms;

		now = clock_ns(CLOCK_MONOTONIC);
		ms = next > now ? (int)min_u64((next - now + 999999) / 1000000, 60000) : 0;
		if (ask && ms > TICK_MS)
			ms = TICK_MS;
		if (poll(r->polls, (nfds_t)r->polls_n, ms) < 0 && errno != EINTR)
			break;
		if (r->polls[1].revents) {
			r->res->stop = "output failed";
			return 0;
		}
		r->res->stop = take_signals(r);
		if (!r->res->stop && pids_gone(r))
			r->res->stop = "processes ended";
		now = clock_ns(CLOCK_MONOTONIC);
		if (!r->res->stop && now >= end_at)
			r->res->stop = "duration";
		if (r->res->stop)
			return 0;
		if (now >= mark_at) {
			mark_clock(r);
			mark_at = now + MARK_NS;
		}
		if (now >= show_at) {
			struct ty_record_progress p = {0};

			totals(r, NULL, &p);
			r->o->progress(r->o->ctx, &p);
			show_at = now + PROGRESS_NS;
		}
	}
	r->res->stop = "poll failed";
	return ty_fail_errno(err,
			     "the recording ended early, because poll failed; what was recorded "
			     "until then is in %s",
			     r->o->out);
}

static void own_cpu(struct ty_record_result *res)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	res->cpu_user_ns = (uint64_t)u.ru_utime.tv_sec * NS + (uint64_t)u.ru_utime.tv_usec * 1000;
	res->cpu_sys_ns = (uint64_t)u.ru_stime.tv_sec * NS + (uint64_t)u.ru_stime.tv_usec * 1000;
}

/* The sections of the end: CPUSTAT, names, SELF. */
static int put_end(struct recording *r, uint64_t end_ns, struct ty_err *err)
{
	struct ty_record_progress p = {0};
	struct ty_record_result *res = r->res;
	struct ty_buf b;
	int e = 0;

	ty_buf_init(&b, TEXT_LIMIT);
	for (unsigned i = 0; !e && i < r->insts_n; i++) {
		for (unsigned k = 0; !e && k < r->cpus_n; k++) {
			struct ty_cpu_stats st;

			ty_buf_reset(&b);
			ty_buf_addf(&b, "CPU: %u\n", r->cpus[k]);
			if (!ty_instance_stats(&r->inst[i], r->cpus[k], &st, &b))
				e = ty_meta_put(&r->meta, TY_META_CPUSTAT, b.p, b.len, err);
		}
	}
	e = e ? e : ty_meta_cmdlines(&r->meta, r->root, &r->thread_names, err);
	ty_buf_reset(&b);
	totals(r, &b, &p);
	own_cpu(res);
	res->events = p.events;
	res->lost = p.lost;
	res->elapsed_ns = r->off_ns - r->start_ns;
	res->raw_bytes = ty_readers_raw_bytes(r->readers);
	ty_fact_u64(&b, "end_ns", end_ns);
	ty_fact_u64(&b, "duration_ns", res->elapsed_ns);
	ty_fact_u64(&b, "events", res->events);
	ty_fact_u64(&b, "lost", res->lost);
	ty_fact_u64(&b, "raw_bytes", res->raw_bytes);
	ty_fact_u64(&b, "cpu_user_ns", res->cpu_user_ns);
	ty_fact_u64(&b, "cpu_sys_ns", res->cpu_sys_ns);
	if (res->command_ended)
		ty_fact_u64(&b, "command_status", (uint64_t)res->command_status);
	ty_fact(&b, "stop", res->stop);
	e = e ? e : ty_meta_section(&r->meta, TY_SEC_SELF, b.p, b.len, err);
	ty_buf_fini(&b);
	return e;
}

/* Removing takes the kernel 50 ms and more each: it is done while the file is finished. */
static void *remove_main(void *arg)
{
	struct recording *r = arg;

	for (unsigned i = 0; i < r->insts_n; i++)
		ty_instance_remove(&r->inst[i]);
	return NULL;
}

/* Tracing off and everything into the file. Also after a failed start, to leave nothing behind. */
static int finish(struct recording *r, bool recorded, struct ty_err *err)
{
	uint64_t end_ns = 0;
	int e = 0, x;

	if (recorded) {
		mark_clock(r);
		end_ns = ty_instance_now_ns(r->insts[0]) + 1000;
	}
	/* System calls first: what explains them is recorded until the end. */
	for (unsigned i = r->insts_n; i-- > 0;)
		if (r->inst[i].on >= 0)
			ty_instance_on(&r->inst[i], false, NULL);
	r->off_ns = clock_ns(CLOCK_MONOTONIC);
	ty_step_finish(&r->step);
	r->res->steps = r->step.insns;
	if (r->step.lost)
		note(r, "the executed instructions are not complete: their packets could not be "
			"written");
	if (r->marker >= 0)
		close(r->marker);
	if (r->readers)
		e = ty_readers_finish(r->readers, err);
	if (recorded) {
		r->res->no_nice = ty_readers_no_nice(r->readers);
		x = put_end(r, end_ns, e ? NULL : err);
		e = e ? e : x;
	}
	self_test_wait(r);
	if (recorded && !e)
		e = put_machine_late(r, err);
	if (!recorded || pthread_create(&r->remover, NULL, remove_main, r))
		remove_main(r);
	else
		r->removing = true;
	return e;
}

static void release(struct recording *r)
{
	ty_meta_fini(&r->meta);
	ty_readers_free(r->readers);
	ty_buf_fini(&r->thread_names);
	ty_evset_fini(&r->set);
	if (r->signals >= 0)
		close(r->signals);
	if (r->spool_failed >= 0)
		close(r->spool_failed);
	for (size_t i = 2; i < r->polls_n; i++)
		if (r->polls[i].fd >= 0)
			close(r->polls[i].fd);
	free(r->polls);
	free(r);
}

static void tell_finishing(void *ctx, uint64_t done, uint64_t total)
{
	struct recording *r = ctx;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < r->tell_at_ns)
		return;
	r->o->finishing(r->o->ctx, done, total);
	r->tell_at_ns = now + PROGRESS_NS;
}

int ty_record(const struct ty_record_opts *o, struct ty_record_result *res, struct ty_err *err)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct stat st;
	int e, watched;

	*res = (struct ty_record_result){.exit_code = 1, .stop = ""};
	if (!r)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	r->o = o;
	r->res = res;
	r->signals = r->spool_failed = r->marker = -1;
	r->command.go = r->command.report = -1;
	r->step.in = -1;
	for (unsigned i = 0; i < TY_READER_INSTANCES; i++)
		r->inst[i] = (struct ty_instance){.parent = -1, .dir = -1, .on = -1};
	ty_buf_init(&r->thread_names, TEXT_LIMIT);

	e = start(r, err);
	if (e) {
		ty_step_finish(&r->step);
		ty_command_cancel(&r->command);
		finish(r, false, NULL);
		if (r->spool)
			ty_spool_discard(r->spool);
		ty_spool_close(r->spool);
		/* Released, and then the file could not be put in its place: it goes on. */
		res->still_running = r->command.pid;
		release(r);
		return e;
	}
	watched = watch(r, err);
	e = finish(r, true, watched ? NULL : err);
	reap(r);
	if (o->argv && !r->child_gone)
		res->still_running = r->command.pid;
	if (!e) {
		r->tell_at_ns = r->off_ns + PROGRESS_NS;
		if (o->finishing)
			ty_spool_on_finish(r->spool, tell_finishing, r);
		e = ty_spool_finish(r->spool, err);
		/* Only what cannot be read back is lost; otherwise it is merely no trace.dat. */
		res->kept_whole = e && e != -TY_EFORMAT && e != -TY_EIO;
	}
	if (r->removing)
		pthread_join(r->remover, NULL);
	own_cpu(res);
	res->kept_spool = e != 0;
	e = watched ? watched : e;
	ty_spool_close(r->spool);
	res->file_bytes = stat(o->out, &st) ? 0 : (uint64_t)st.st_size;
	release(r);
	return e;
}

void ty_record_wait(struct ty_record_result *res)
{
	sigset_t set;
	siginfo_t si;
	int status;

	answered(&set);
	while (res->still_running) {
		pid_t p = waitpid(res->still_running, &status, WNOHANG);

		if (p == res->still_running) {
			res->command_ended = true;
			res->command_status = status;
		}
		if (p) {
			res->still_running = 0;
			break;
		}
		if (sigwaitinfo(&set, &si) > 0 && si.si_signo != SIGCHLD && si.si_code != SI_KERNEL)
			kill(res->still_running, si.si_signo);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * See step_trace.h. ptrace(2): the tracees are seized, so that group stops stay what they are.
 *
 * Per thread: `ip` is the instruction that runs next, `insn` what it does. A stop tells where the
 * thread went; from the two follows the packet. Invariants:
 * - An instruction counts when the CPU has gone on from it (a repeated one when it is over, a
 * system call when it has been entered). What did not complete (fault, signal) does not.
 * - Tracing is "off" in the kernel, and on again only when an instruction has really been executed
 *   afterwards: where user mode goes on is not known before (a system call may be restarted, a
 *   handler may come first).
 * - A transition that the instruction does not explain (an emulated vsyscall, a debugger) is
 * written as an interruption before the instruction, never as a guess.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "perf_clock.h"
#include "perf_write.h"
#include "pt_encode.h"
#include "step_code.h"
#include "step_insn.h"
#include "step_priv.h"
#include "vec.h"

#if defined(__x86_64__)

#define ENC_LIMIT (64u << 20)
#define OUT_LIMIT (64u << 20)
#define ENC_FLUSH (32u << 10)
#define OUT_FLUSH (256u << 10)
#define OPTIONS                                                                                    \
	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |     \
	 PTRACE_O_TRACESYSGOOD)
enum { CS_64 = 0x33, HANDLER_ENTRY = SIGTRAP, INSN_MAX = 15, DR7_EXEC_0 = 1 };
/* -ERESTARTSYS, -ERESTARTNOINTR, -ERESTARTNOHAND, -ERESTART_RESTARTBLOCK */
#define IS_RESTART(rax) ((rax) == -512 || (rax) == -513 || (rax) == -514 || (rax) == -516)

enum mode {
	WAITING, /* before its exec: not of interest */
	HUNTING, /* stops at system calls, until the function's file is mapped */
	RUNNING, /* at full speed to the function's entry */
	STEPPING,
};

struct process {
	pid_t tgid;
	unsigned threads;
	struct ty_step_mm *mm;
	uint64_t entry; /* of the function to trace; 0: not mapped yet */
};

struct thread {
	pid_t tid, ppid;
	struct process *p;
	enum mode mode;
	bool command; /* begins at its exec */
	bool begun;   /* its first stop was seen */
	bool on;      /* the packets say that tracing is on */
	bool is64, leaving;
	uint64_t ip;
	uint64_t ready_ns; /* when it was about to execute ip */
	uint64_t restart;  /* a system call at this address may be executed again; 0 */
	uint64_t entry_sp; /* STEPPING with a filter */
	unsigned handlers; /* signal handlers entered since */
	int64_t nr;	   /* of the system call that is executed */
	uint64_t args[3];
	struct ty_step_insn insn;
	struct ty_pt_enc enc;
	uint32_t idx;
	uint64_t aux_off;
};

struct engine {
	const struct ty_step_opts *o;
	int fd;
	FILE *list;
	struct ty_perf_clock clock;
	struct ty_step_out out;
	VEC(struct thread *) threads;
	VEC(struct process *) processes;
	uint32_t next_idx;
	uint64_t insns;
	bool failed;
};

static volatile sig_atomic_t stop_wanted;

static void on_term(int sig)
{
	stop_wanted = 1;
	/* It may have come just before waitpid began to wait. */
	alarm(1);
}

static void frame(struct engine *e, uint32_t kind, const void *p, size_t n)
{
	uint32_t head[2] = {kind, (uint32_t)n};
	const char *parts[2] = {(const char *)head, p};
	size_t left[2] = {sizeof(head), n};

	for (int i = 0; i < 2; i++)
		while (left[i] && !e->failed) {
			ssize_t r = write(e->fd, parts[i], left[i]);

			if (r > 0) {
				parts[i] += r;
				left[i] -= (size_t)r;
			} else if (errno != EINTR) {
				e->failed = true;
				stop_wanted = 1;
			}
		}
}

static void send(struct engine *e, bool all)
{
	struct ty_buf *bufs[] = {&e->out.code, &e->out.perf};

	/* Images first: what is decoded must be there. */
	for (int i = 0; i < 2; i++)
		if (bufs[i]->len &&
		    (all || bufs[i]->len >= OUT_FLUSH || bufs[!i]->len >= OUT_FLUSH)) {
			frame(e, i ? TY_FRAME_PERF : TY_FRAME_CODE, bufs[i]->p, bufs[i]->len);
			ty_buf_reset(bufs[i]);
		}
}

/* The thread's packets so far become a piece of its AUX stream. */
static void flush_thread(struct engine *e, struct thread *t)
{
	while (t->enc.out.len % 8)
		ty_buf_addc(&t->enc.out, 0); /* PAD */
	if (t->enc.out.len)
		ty_perf_put_auxtrace(&e->out.perf, -1, t->tid, t->idx, t->aux_off, t->enc.out.p,
				     t->enc.out.len);
	t->aux_off += t->enc.out.len;
	ty_buf_reset(&t->enc.out);
	send(e, false);
}

static struct ty_perf_where where(struct engine *e, const struct thread *t)
{
	return (struct ty_perf_where){
		.pid = t->p->tgid, .tid = t->tid, .time_ns = ty_perf_clock_now(&e->clock)};
}

static void comm(struct engine *e, const struct thread *t, bool exec)
{
	struct ty_perf_where w = where(e, t);
	char path[64], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)t->tid);
	f = fopen(path, "re");
	if (f && !fgets(name, sizeof(name), f))
		*name = 0;
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = 0;
	ty_perf_put_comm(&e->out.perf, &w, name, exec);
}

static pid_t status_field(pid_t tid, const char *key)
{
	char path[64], line[256];
	size_t n = strlen(key);
	pid_t v = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n))
			v = atoi(line + n);
	if (f)
		fclose(f);
	return v;
}

static struct process *process_of(struct engine *e, pid_t tgid)
{
	struct process *p;

	vec_each (q, &e->processes)
		if ((*q)->tgid == tgid)
			return *q;
	p = calloc(1, sizeof(*p));
	if (p) {
		p->tgid = tgid;
		p->mm = ty_step_mm_new(tgid, ty_perf_clock_now(&e->clock));
	}
	if (!p || !p->mm || vec_push(&e->processes, p)) {
		if (p)
			ty_step_mm_free(p->mm);
		free(p);
		return NULL;
	}
	return p;
}

static struct thread *find(struct engine *e, pid_t tid)
{
	vec_each (t, &e->threads)
		if ((*t)->tid == tid)
			return *t;
	return NULL;
}

static struct thread *add_thread(struct engine *e, pid_t tid)
{
	struct thread *t = calloc(1, sizeof(*t));
	pid_t tgid = status_field(tid, "Tgid:");

	if (t)
		t->p = process_of(e, tgid ? tgid : tid);
	if (!t || !t->p || vec_push(&e->threads, t)) {
		free(t);
		return NULL;
	}
	t->tid = tid;
	t->p->threads++;
	t->idx = e->next_idx++;
	ty_pt_enc_init(&t->enc, ENC_LIMIT);
	return t;
}

static void drop_process(struct engine *e, struct process *p)
{
	for (size_t i = 0; i < e->processes.n; i++)
		if (e->processes.v[i] == p) {
			e->processes.v[i] = e->processes.v[--e->processes.n];
			break;
		}
	ty_step_mm_free(p->mm);
	free(p);
}

static void drop_thread(struct engine *e, struct thread *t)
{
	struct ty_perf_where w = where(e, t);

	flush_thread(e, t);
	ty_perf_put_task(&e->out.perf, &w, false, t->ppid, t->ppid);
	for (size_t i = 0; i < e->threads.n; i++)
		if (e->threads.v[i] == t) {
			e->threads.v[i] = e->threads.v[--e->threads.n];
			break;
		}
	if (!--t->p->threads)
		drop_process(e, t->p);
	ty_pt_enc_fini(&t->enc);
	free(t);
}

/* ---- instructions to packets --------------------------------------------------------------------
 */

/* The instruction at t->ip was executed. */
static void count(struct engine *e, struct thread *t)
{
	if (!t->on) {
		ty_pt_enc_on(&t->enc, t->ready_ns, t->ip, t->is64);
		t->on = true;
	}
	e->insns++;
	if (e->list)
		fprintf(e->list, "%d %" PRIx64 "\n", (int)t->tid, t->ip);
}

static void interrupted(struct thread *t)
{
	if (t->on)
		ty_pt_enc_async_off(&t->enc, t->ip);
	t->on = false;
}

/* Does going from t->ip to `to` fit the instruction? */
static bool explained(const struct thread *t, uint64_t to)
{
	switch (t->insn.cls) {
	case TY_STEP_COND: return to == t->insn.target || to == t->insn.next;
	case TY_STEP_DIRECT: return to == t->insn.target;
	case TY_STEP_OTHER:
	case TY_STEP_REP: return to - t->ip - 1 < INSN_MAX;
	default: return true;
	}
}

/* What a system call may have done to the executable mappings. */
static void after_syscall(struct engine *e, struct thread *t)
{
	bool exec = t->args[2] & 4;

	if ((t->nr == __NR_mmap && exec) || (t->nr == __NR_mprotect && exec) ||
	    (t->nr == __NR_pkey_mprotect && exec) || t->nr == __NR_mremap || t->nr == __NR_shmat)
		ty_step_mm_maps(t->p->mm, &e->out, ty_perf_clock_now(&e->clock));
	if (t->nr == __NR_prctl)
		comm(e, t, false);
	if (t->nr == __NR_rt_sigreturn && t->handlers)
		t->handlers--;
}

/* The thread has gone on from t->ip to regs->rip. True: it left the function that is traced. */
static bool executed(struct engine *e, struct thread *t, const struct user_regs_struct *regs)
{
	uint64_t to = regs->rip, now = ty_perf_clock_now(&e->clock);
	bool left = false;

	if (t->restart) {
		t->ip = t->restart;
		t->insn = (struct ty_step_insn){.cls = TY_STEP_KERNEL, .syscall = true};
		t->restart = 0;
	}
	if (t->insn.cls == TY_STEP_REP && to == t->ip)
		return false;
	if (!explained(t, to)) {
		interrupted(t);
		t->ready_ns = now;
		t->ip = to;
		return false;
	}
	count(e, t);
	switch (t->insn.cls) {
	case TY_STEP_COND: ty_pt_enc_cond(&t->enc, now, to == t->insn.target); break;
	case TY_STEP_INDIRECT:
		left = t->mode == STEPPING && e->o->filter && !t->handlers &&
		       regs->rsp > t->entry_sp;
		if (left)
			ty_pt_enc_off_to(&t->enc, to);
		else
			ty_pt_enc_indirect(&t->enc, now, to);
		t->on = !left;
		break;
	case TY_STEP_KERNEL:
		ty_pt_enc_off(&t->enc);
		t->on = false;
		if (t->insn.syscall && (int64_t)regs->orig_rax >= 0 &&
		    IS_RESTART((int64_t)regs->rax))
			t->restart = t->ip;
		if (t->insn.syscall)
			after_syscall(e, t);
		break;
	default: break;
	}
	t->ip = to;
	t->ready_ns = now;
	t->is64 = regs->cs == CS_64;
	if (t->on)
		ty_pt_enc_tick(&t->enc, now, to, t->is64);
	if (t->enc.out.len >= ENC_FLUSH)
		flush_thread(e, t);
	return left;
}

/* Before t->ip is executed: what it is. */
static void prepare(struct engine *e, struct thread *t, const struct user_regs_struct *regs)
{
	uint64_t now = ty_perf_clock_now(&e->clock);
	uint8_t code[16];
	bool changed;
	size_t n = ty_step_mm_code(t->p->mm, &e->out, now, t->ip, code, &changed);

	/* Written over since: the decoder must not see it earlier, nor the old code from here on.
	 */
	if (changed) {
		interrupted(t);
		t->ready_ns = ty_perf_clock_now(&e->clock);
	}
	t->insn = ty_step_classify(code, n, t->ip, t->is64);
	if (t->insn.syscall && !t->restart) {
		t->nr = (int64_t)regs->rax;
		t->args[0] = regs->rdi;
		t->args[1] = regs->rsi;
		t->args[2] = regs->rdx;
	}
}

/* ---- control of the threads
 * ---------------------------------------------------------------------- */

static void set_breakpoint(pid_t tid, uint64_t addr)
{
	size_t dr = offsetof(struct user, u_debugreg);

	ptrace(PTRACE_POKEUSER, tid, dr + 7 * 8, 0);
	if (!addr)
		return;
	ptrace(PTRACE_POKEUSER, tid, dr, addr);
	ptrace(PTRACE_POKEUSER, tid, dr + 7 * 8, DR7_EXEC_0);
}

static void resume(struct engine *e, struct thread *t, int sig)
{
	long how = t->mode == STEPPING	? PTRACE_SINGLESTEP
		   : t->mode == HUNTING ? PTRACE_SYSCALL
					: PTRACE_CONT;

	if (stop_wanted) {
		interrupted(t);
		set_breakpoint(t->tid, 0);
		ptrace(PTRACE_DETACH, t->tid, 0, sig);
		drop_thread(e, t);
		return;
	}
	ptrace(how, t->tid, 0, sig);
}

static void begin_stepping(struct engine *e, struct thread *t, const struct user_regs_struct *regs)
{
	t->mode = STEPPING;
	t->ip = regs->rip;
	t->is64 = regs->cs == CS_64;
	t->entry_sp = regs->rsp;
	t->handlers = 0;
	t->restart = 0;
	t->ready_ns = ty_perf_clock_now(&e->clock);
	if (e->o->filter)
		ty_step_mm_maps(t->p->mm, &e->out, t->ready_ns);
	prepare(e, t, regs);
}

/* With a filter: to the function's entry, or to where it is mapped. */
static void seek_entry(struct engine *e, struct thread *t)
{
	if (!t->p->entry) {
		ty_step_mm_maps(t->p->mm, &e->out, ty_perf_clock_now(&e->clock));
		t->p->entry = ty_step_mm_where(t->p->mm, e->o->dev, e->o->ino, e->o->off);
	}
	t->mode = t->p->entry ? RUNNING : HUNTING;
	set_breakpoint(t->tid, t->p->entry);
}

/* A thread's first stop of its own, or its exec. */
static void begin(struct engine *e, struct thread *t)
{
	struct user_regs_struct regs;
	struct ty_perf_where w = where(e, t);

	t->begun = true;
	ty_perf_put_itrace_start(&e->out.perf, &w);
	if (e->o->filter)
		seek_entry(e, t);
	else if (!ptrace(PTRACE_GETREGS, t->tid, 0, &regs))
		begin_stepping(e, t, &regs);
}

static void on_exec(struct engine *e, struct thread *t)
{
	unsigned long former = 0;
	struct thread *old;
	struct process *p = t->p;

	ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &former);
	old = (pid_t)former != t->tid ? find(e, (pid_t)former) : t;
	if (old && old->mode == STEPPING && old->insn.cls == TY_STEP_KERNEL) {
		count(e, old);
		ty_pt_enc_off(&old->enc);
		old->on = false;
	}
	if (old && old != t)
		drop_thread(e, old);
	interrupted(t);
	ty_step_mm_free(p->mm);
	p->mm = ty_step_mm_new(p->tgid, ty_perf_clock_now(&e->clock));
	p->entry = 0;
	if (!p->mm) {
		stop_wanted = 1;
		return;
	}
	comm(e, t, true);
	ty_step_mm_maps(p->mm, &e->out, ty_perf_clock_now(&e->clock));
	begin(e, t);
}

static void on_new(struct engine *e, struct thread *parent)
{
	unsigned long tid = 0;
	struct thread *t;
	struct ty_perf_where w;

	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &tid) || !tid)
		return;
	t = find(e, (pid_t)tid);
	if (!t)
		t = add_thread(e, (pid_t)tid);
	if (!t)
		return;
	t->ppid = parent->p->tgid;
	w = where(e, t);
	ty_perf_put_task(&e->out.perf, &w, true, parent->p->tgid, parent->tid);
	if (!t->begun && t->p != parent->p)
		ty_step_mm_maps(t->p->mm, &e->out, w.time_ns);
}

static void on_trap(struct engine *e, struct thread *t)
{
	struct user_regs_struct regs;
	siginfo_t si = {0};

	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) || ptrace(PTRACE_GETREGS, t->tid, 0, &regs)) {
		resume(e, t, 0);
		return;
	}
	if (t->mode == RUNNING && si.si_code == TRAP_HWBKPT && regs.rip == t->p->entry) {
		set_breakpoint(t->tid, 0);
		begin_stepping(e, t, &regs);
		resume(e, t, 0);
		return;
	}
	/* The program's own: kill, raise, int3 (of which the kernel says so). */
	if (t->mode != STEPPING ||
	    (si.si_code != TRAP_TRACE && si.si_code != TRAP_BRKPT && si.si_code != HANDLER_ENTRY)) {
		if (t->mode == STEPPING && regs.rip != t->ip) {
			executed(e, t, &regs);
			prepare(e, t, &regs);
		}
		resume(e, t, SIGTRAP);
		return;
	}
	if (si.si_code == TRAP_BRKPT && !t->insn.syscall && !t->restart) {
		/* On the way back to user mode (after a clone, an exec): nothing was executed. */
		if (regs.rip != t->ip)
			interrupted(t);
		t->ip = regs.rip;
		t->is64 = regs.cs == CS_64;
	} else if (si.si_code == HANDLER_ENTRY) {
		interrupted(t);
		t->restart = 0;
		t->handlers++;
		t->ip = regs.rip;
		t->ready_ns = ty_perf_clock_now(&e->clock);
		t->is64 = regs.cs == CS_64;
	} else if (executed(e, t, &regs)) {
		seek_entry(e, t);
		resume(e, t, 0);
		return;
	}
	prepare(e, t, &regs);
	resume(e, t, 0);
}

/* A signal is about to be delivered; the thread has not executed anything since, or a fault. */
static void on_signal(struct engine *e, struct thread *t, int sig)
{
	struct user_regs_struct regs;

	if (t->mode == STEPPING && !ptrace(PTRACE_GETREGS, t->tid, 0, &regs) && regs.rip != t->ip &&
	    !t->restart) {
		executed(e, t, &regs);
		prepare(e, t, &regs);
	}
	resume(e, t, sig);
}

static void on_stop(struct engine *e, struct thread *t, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	switch (event) {
	case PTRACE_EVENT_EXEC:
		on_exec(e, t);
		resume(e, t, 0);
		return;
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		on_new(e, t);
		resume(e, t, 0);
		return;
	case PTRACE_EVENT_STOP:
		if (sig != SIGTRAP && !stop_wanted) {
			ptrace(PTRACE_LISTEN, t->tid, 0, 0); /* job control: it stays stopped */
			return;
		}
		if (!t->begun && !t->command)
			begin(e, t);
		resume(e, t, 0);
		return;
	}
	if (sig == (SIGTRAP | 0x80)) {
		if (t->mode == HUNTING)
			seek_entry(e, t);
		resume(e, t, 0);
	} else if (sig == SIGTRAP) {
		on_trap(e, t);
	} else {
		on_signal(e, t, sig);
	}
}

static void on_end(struct engine *e, struct thread *t, int status)
{
	/* A thread that ended by itself did so by the system call it was last let into. */
	if (t->mode == STEPPING && WIFEXITED(status) && t->insn.cls == TY_STEP_KERNEL) {
		count(e, t);
		ty_pt_enc_off(&t->enc);
		t->on = false;
	}
	interrupted(t);
	drop_thread(e, t);
}

static int fail(struct engine *e, const char *what)
{
	char text[200];

	snprintf(text, sizeof(text), "cannot single-step the command: %s: %s", what,
		 strerror(errno));
	frame(e, TY_FRAME_FAILED, text, strlen(text));
	return 1;
}

static void trace(struct engine *e)
{
	bool interrupting = false;

	while (e->threads.n) {
		int status;
		pid_t tid;
		struct thread *t;

		if (stop_wanted && !interrupting) {
			interrupting = true;
			vec_each (it, &e->threads)
				ptrace(PTRACE_INTERRUPT, (*it)->tid, 0, 0);
		}
		tid = waitpid(-1, &status, __WALL);
		if (tid < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		t = find(e, tid);
		if (!t && WIFSTOPPED(status))
			t = add_thread(e, tid);
		if (!t)
			continue;
		if (WIFSTOPPED(status))
			on_stop(e, t, status);
		else
			on_end(e, t, status);
	}
}

int ty_step_engine(pid_t pid, const struct ty_step_opts *o, int out)
{
	struct engine e = {.o = o, .fd = out};
	struct sigaction sa = {.sa_handler = on_term};
	struct ty_err err = {0};
	int r = 1;

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	ty_buf_init(&e.out.perf, OUT_LIMIT);
	ty_buf_init(&e.out.code, OUT_LIMIT);
	if (ty_perf_clock_open(&e.clock, &err)) {
		frame(&e, TY_FRAME_FAILED, err.msg, strlen(err.msg));
	} else if (!add_thread(&e, pid) || ptrace(PTRACE_SEIZE, pid, 0, OPTIONS)) {
		fail(&e, "ptrace");
	} else if (o->list && !(e.list = fopen(o->list, "we"))) {
		fail(&e, o->list);
	} else {
		e.threads.v[0]->command = true;
		ty_perf_put_head(&e.out.perf);
		frame(&e, TY_FRAME_READY, "", 0);
		trace(&e);
		send(&e, true);
		frame(&e, TY_FRAME_END, &e.insns, sizeof(e.insns));
		r = 0;
	}
	while (e.threads.n)
		drop_thread(&e, e.threads.v[0]);
	vec_fini(&e.threads);
	vec_fini(&e.processes);
	ty_buf_fini(&e.out.perf);
	ty_buf_fini(&e.out.code);
	ty_perf_clock_close(&e.clock);
	if (e.list && fclose(e.list))
		r = 1;
	return r;
}

#else

int ty_step_engine(pid_t pid, const struct ty_step_opts *o, int out)
{
	static const char text[] = "--flow=step is for x86-64 machines";
	uint32_t head[2] = {TY_FRAME_FAILED, sizeof(text) - 1};

	(void)!write(out, head, sizeof(head));
	(void)!write(out, text, sizeof(text) - 1);
	return 1;
}

#endif

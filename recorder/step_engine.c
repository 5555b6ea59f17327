/* SPDX-License-Identifier: MIT */
/*
 * See step_trace.h: control of the traced threads. ptrace(2): they are seized, so that group stops
 * are preserved. step_flow.c derives the executed instructions from a stop.
 *
 * Detaching. A detached thread must continue as if it had never been traced, whatever it was
 * doing at that moment:
 * - PTRACE_INTERRUPT stops a thread that has just been stepped *before* the step's SIGTRAP is
 *   delivered. Detached there, it would die of that signal: it is continued to the signal's own
 *   stop (without executing anything), and detached there with the signal suppressed.
 * - Clones are attached by the kernel before this process learns of them: the end is reached when
 *   waitpid has no more tracees, not when the table is empty.
 * - A thread that sleeps uninterruptibly in the kernel (the parent of a vfork) is detached when it
 *   returns; the recorder need not wait for that.
 * - Flags with TF that an instruction or a signal has pushed are corrected at once (step_flow.c).
 * - From a stepped popf on, the kernel takes its own TF for the program's (enable_single_step() in
 *   linux arch/x86/kernel/step.c) and leaves it set when the stepping ends, and in children: it is
 *   cleared here when stepping a thread ends, and at a child's first stop.
 * If this process is killed by SIGKILL, the kernel detaches the tracees, but leaves the one that
 * is being stepped with TF set (exit_ptrace() does not do what PTRACE_DETACH does): it dies of
 * SIGTRAP.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/ucontext.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "step_state.h"

#if defined(__x86_64__)

#define OUT_LIMIT (64u << 20)
#define OPTIONS                                                                                    \
	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |     \
	 PTRACE_O_TRACESYSGOOD)
enum { CS_64 = 0x33, HANDLER_ENTRY = SIGTRAP, DR7_EXEC_0 = 1, PATIENCE_S = 2 };

/* How often the end was requested: by the recorder, and then every second by the alarm, because the
 * signal may have arrived just before waitpid began to wait. */
static volatile sig_atomic_t stop_wanted;

static void on_term(int sig)
{
	stop_wanted++;
	alarm(1);
}

static bool stopping(const struct ty_step_engine *e)
{
	return stop_wanted || e->failed;
}

static void clear_breakpoint(pid_t tid)
{
	ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg) + 7 * 8, 0);
}

static void set_breakpoint(struct ty_step_engine *e, pid_t tid, uint64_t addr)
{
	size_t dr = offsetof(struct user, u_debugreg);

	clear_breakpoint(tid);
	if (!ptrace(PTRACE_POKEUSER, tid, dr, addr) &&
	    !ptrace(PTRACE_POKEUSER, tid, dr + 7 * 8, DR7_EXEC_0))
		return;
	if (errno == ESRCH)
		return; /* killed meanwhile */
	e->unset++;
	e->unset_why = errno;
}

/* Has a step, also one over a probe (SI_USER), or the breakpoint raised a SIGTRAP that is not
 * delivered yet? Signals of kill are in another queue than the thread's own, which is read here. */
static bool trap_pending(pid_t tid)
{
	struct __ptrace_peeksiginfo_args at = {.nr = 1};
	siginfo_t si;

	for (; ptrace(PTRACE_PEEKSIGINFO, tid, &at, &si) == 1; at.off++)
		if (si.si_signo == SIGTRAP &&
		    (si.si_code == TRAP_TRACE || si.si_code == TRAP_BRKPT ||
		     si.si_code == TRAP_HWBKPT || si.si_code == SI_USER))
			return true;
	return false;
}

/* The stepping's TF where the kernel forgot that it is: what it knows of, it does not show. */
static void clear_tf(pid_t tid)
{
	size_t at = offsetof(struct user_regs_struct, eflags);
	long flags;

	errno = 0;
	flags = ptrace(PTRACE_PEEKUSER, tid, at, 0);
	if (!errno && flags & TY_STEP_TF)
		ptrace(PTRACE_POKEUSER, tid, at, flags & ~(long)TY_STEP_TF);
}

static void let_go(struct ty_step_engine *e, struct ty_step_thread *t, int sig)
{
	clear_breakpoint(t->tid);
	if (t->stepped)
		clear_tf(t->tid);
	t->stepped = false;
	if (trap_pending(t->tid)) {
		ptrace(PTRACE_CONT, t->tid, 0, sig);
		return;
	}
	ty_step_interrupted(t);
	ptrace(PTRACE_DETACH, t->tid, 0, sig);
	ty_step_drop(e, t);
}

static void resume(struct ty_step_engine *e, struct ty_step_thread *t, int sig)
{
	long how = t->mode == TY_STEP_STEPPING	  ? PTRACE_SINGLESTEP
		   : t->mode == TY_STEP_SEARCHING ? PTRACE_SYSCALL
						  : PTRACE_CONT;

	if (stopping(e)) {
		let_go(e, t, sig);
		return;
	}
	if (t->stepped && how != PTRACE_SINGLESTEP)
		clear_tf(t->tid);
	t->stepped = how == PTRACE_SINGLESTEP;
	ptrace(how, t->tid, 0, sig);
}

static void begin_stepping(struct ty_step_engine *e, struct ty_step_thread *t,
			   const struct user_regs_struct *regs)
{
	t->mode = TY_STEP_STEPPING;
	t->ip = regs->rip;
	t->is64 = regs->cs == CS_64;
	t->restart = 0;
	t->ready_ns = ty_perf_clock_now(&e->clock);
	if (e->o->filter || !ty_step_mm_known(t->p->mm))
		ty_step_mm_maps(t->p->mm, t->tid, &e->out, t->ready_ns);
	if (e->o->filter)
		ty_step_func_enter(t, regs);
	ty_step_prepare(e, t, regs);
}

/* With a filter: to the function's entry, or to where it is mapped. */
static void seek_entry(struct ty_step_engine *e, struct ty_step_thread *t)
{
	if (!t->p->entry) {
		ty_step_mm_maps(t->p->mm, t->tid, &e->out, ty_perf_clock_now(&e->clock));
		t->p->entry = ty_step_mm_where(t->p->mm, e->o->dev, e->o->ino, e->o->off);
	}
	t->mode = t->p->entry ? TY_STEP_RUNNING : TY_STEP_SEARCHING;
	if (t->p->entry)
		set_breakpoint(e, t->tid, t->p->entry);
}

/* The thread has reached regs->rip: record what it executed, and prepare the next step. */
static void advance(struct ty_step_engine *e, struct ty_step_thread *t,
		    const struct user_regs_struct *regs)
{
	if (ty_step_executed(e, t, regs))
		seek_entry(e, t);
	else
		ty_step_prepare(e, t, regs);
}

/* A thread's first own stop, or its exec. */
static void begin(struct ty_step_engine *e, struct ty_step_thread *t)
{
	struct user_regs_struct regs;
	struct ty_perf_where w = ty_step_at(e, t);

	t->begun = true;
	ty_perf_put_itrace_start(&e->out.perf, &w);
	clear_tf(t->tid);
	if (ptrace(PTRACE_GETREGS, t->tid, 0, &regs))
		return;
	t->first_sp = regs.rsp;
	if (e->o->filter)
		seek_entry(e, t);
	else
		begin_stepping(e, t, &regs);
}

static void on_exec(struct ty_step_engine *e, struct ty_step_thread *t)
{
	unsigned long former = 0;
	struct ty_step_thread *old;
	struct ty_step_process *p = t->p;

	ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &former);
	old = (pid_t)former != t->tid ? ty_step_find(e, (pid_t)former) : t;
	if (old && old->mode == TY_STEP_STEPPING && old->insn.cls == TY_STEP_KERNEL) {
		ty_step_count(e, old);
		ty_pt_enc_off(&old->enc);
		old->on = false;
	}
	if (old && old != t)
		ty_step_drop(e, old);
	ty_step_interrupted(t);
	ty_step_mm_free(p->mm);
	p->mm = ty_step_mm_new(p->tgid, ty_perf_clock_now(&e->clock));
	p->entry = 0;
	if (!p->mm) {
		e->failed = true;
		return;
	}
	ty_step_put_comm(e, t, true);
	ty_step_mm_maps(p->mm, t->tid, &e->out, ty_perf_clock_now(&e->clock));
	begin(e, t);
}

static void on_new(struct ty_step_engine *e, struct ty_step_thread *parent)
{
	unsigned long tid = 0;
	struct ty_step_thread *t;
	struct ty_perf_where w;

	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &tid) || !tid)
		return;
	t = ty_step_find(e, (pid_t)tid);
	if (!t)
		t = ty_step_add(e, (pid_t)tid);
	if (!t)
		return;
	t->ppid = parent->p->tgid;
	w = ty_step_at(e, t);
	/* It may have run, even through an exec, before its parent was reported. */
	w.time_ns = t->born_ns;
	ty_perf_put_task(&e->out.perf, &w, true, parent->p->tgid, parent->tid);
}

/* Was the instruction stepped over that a uprobe replaces? The kernel executes it elsewhere and
 * then sends SIGTRAP as if by kill (arch_uprobe_post_xol() in linux arch/x86/kernel/uprobes.c). A
 * signal of another process stops the thread before it executes anything. */
static bool over_probe(const struct ty_step_thread *t, const siginfo_t *si,
		       const struct user_regs_struct *regs)
{
	return si->si_code == SI_USER && !t->insn.syscall && regs->rip != t->ip;
}

static void on_trap(struct ty_step_engine *e, struct ty_step_thread *t)
{
	struct user_regs_struct regs;
	siginfo_t si = {0};

	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) || ptrace(PTRACE_GETREGS, t->tid, 0, &regs)) {
		resume(e, t, 0);
		return;
	}
	if (t->mode == TY_STEP_RUNNING && si.si_code == TRAP_HWBKPT && regs.rip == t->p->entry) {
		clear_breakpoint(t->tid);
		begin_stepping(e, t, &regs);
		resume(e, t, 0);
		return;
	}
	/* The program's own signals: kill, raise, int3 (which the kernel marks). */
	if (t->mode != TY_STEP_STEPPING ||
	    (si.si_code != TRAP_TRACE && si.si_code != TRAP_BRKPT && si.si_code != HANDLER_ENTRY &&
	     !over_probe(t, &si, &regs))) {
		if (t->mode == TY_STEP_STEPPING && regs.rip != t->ip)
			advance(e, t, &regs);
		resume(e, t, SIGTRAP);
		return;
	}
	if (si.si_code == TRAP_BRKPT && !t->insn.syscall && !t->restart) {
		/* On the way back to user mode (after a clone, an exec): nothing was executed. */
		if (regs.rip != t->ip)
			ty_step_interrupted(t);
		t->ip = regs.rip;
		t->is64 = regs.cs == CS_64;
	} else if (si.si_code == HANDLER_ENTRY) {
		ty_step_interrupted(t);
		t->restart = 0;
		ty_step_func_handler(t, &regs);
		if (regs.cs == CS_64)
			ty_step_clear_tf(
				t, regs.rsp + 8 + offsetof(ucontext_t, uc_mcontext.gregs[REG_EFL]));
		t->ip = regs.rip;
		t->ready_ns = ty_perf_clock_now(&e->clock);
		t->is64 = regs.cs == CS_64;
	} else {
		advance(e, t, &regs);
		resume(e, t, 0);
		return;
	}
	ty_step_prepare(e, t, &regs);
	resume(e, t, 0);
}

/* A signal is about to be delivered; the thread has not executed anything since, or a fault. */
static void on_signal(struct ty_step_engine *e, struct ty_step_thread *t, int sig)
{
	struct user_regs_struct regs;

	if (t->mode == TY_STEP_STEPPING && !ptrace(PTRACE_GETREGS, t->tid, 0, &regs) &&
	    regs.rip != t->ip && !t->restart)
		advance(e, t, &regs);
	resume(e, t, sig);
}

static void on_stop(struct ty_step_engine *e, struct ty_step_thread *t, int status)
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
		if (sig != SIGTRAP && !stopping(e)) {
			ptrace(PTRACE_LISTEN, t->tid, 0, 0); /* job control: it stays stopped */
			return;
		}
		if (!t->begun && !t->command)
			begin(e, t);
		resume(e, t, 0);
		return;
	}
	if (sig == (SIGTRAP | 0x80)) {
		if (t->mode == TY_STEP_SEARCHING)
			seek_entry(e, t);
		resume(e, t, 0);
	} else if (sig == SIGTRAP) {
		on_trap(e, t);
	} else {
		on_signal(e, t, sig);
	}
}

static void on_end(struct ty_step_engine *e, struct ty_step_thread *t, int status)
{
	/* A thread that ended by itself did so by the system call it was last let into. */
	if (t->mode == TY_STEP_STEPPING && WIFEXITED(status) && t->insn.cls == TY_STEP_KERNEL) {
		ty_step_count(e, t);
		ty_pt_enc_off(&t->enc);
		t->on = false;
	}
	ty_step_interrupted(t);
	ty_step_drop(e, t);
}

static int fail(struct ty_step_engine *e, const char *what)
{
	char text[200];

	snprintf(text, sizeof(text), "cannot single-step the command: %s: %s", what,
		 strerror(errno));
	ty_step_put_frame(e, TY_FRAME_FAILED, text, strlen(text));
	return 1;
}

/* Send the remaining data to the recorder, which then waits for no more. */
static void close_output(struct ty_step_engine *e, size_t held)
{
	struct ty_step_end end = {.insns = e->insns,
				  .held = (uint32_t)held,
				  .unset = e->unset,
				  .unset_why = e->unset_why,
				  .refused = e->refused};

	vec_each (t, &e->threads)
		ty_step_flush(e, *t);
	ty_step_send(e, true);
	ty_step_put_frame(e, TY_FRAME_END, &end, sizeof(end));
	close(e->fd);
	e->fd = -1;
	e->failed = true;
}

static void trace(struct ty_step_engine *e)
{
	int stop_sent = 0;

	for (;;) {
		int status, stop_level = stop_wanted + e->failed;
		pid_t tid;
		struct ty_step_thread *t;

		if (stop_level != stop_sent) {
			stop_sent = stop_level;
			vec_each (it, &e->threads)
				ptrace(PTRACE_INTERRUPT, (*it)->tid, 0, 0);
		}
		if (stop_wanted > PATIENCE_S && e->fd >= 0)
			close_output(e, e->threads.n);
		tid = waitpid(-1, &status, __WALL);
		if (tid < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		t = ty_step_find(e, tid);
		if (!t && WIFSTOPPED(status))
			t = ty_step_add(e, tid);
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
	struct ty_step_engine e = {.o = o, .fd = out};
	struct sigaction sa = {.sa_handler = on_term};
	struct ty_err err = {0};
	int r = 1;

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	ty_buf_init(&e.out.perf, OUT_LIMIT);
	ty_buf_init(&e.out.code, OUT_LIMIT);
	if (ty_perf_clock_open(&e.clock, &err)) {
		ty_step_put_frame(&e, TY_FRAME_FAILED, err.msg, strlen(err.msg));
	} else if (!ty_step_add(&e, pid) || ptrace(PTRACE_SEIZE, pid, 0, OPTIONS)) {
		fail(&e, "ptrace");
	} else if (o->list && !(e.list = fopen(o->list, "we"))) {
		fail(&e, o->list);
	} else {
		e.threads.v[0]->command = true;
		ty_perf_put_head(&e.out.perf);
		ty_step_put_frame(&e, TY_FRAME_READY, "", 0);
		trace(&e);
		if (e.fd >= 0)
			close_output(&e, 0);
		r = 0;
	}
	while (e.threads.n)
		ty_step_drop(&e, e.threads.v[0]);
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

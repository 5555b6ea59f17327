/* SPDX-License-Identifier: MIT */
/*
 * See step_state.h: derives the packet from where a thread was (t->ip, t->insn) and where it
 * stopped next. Invariants:
 * - An instruction counts once the CPU has proceeded from it (a repeated one when it is complete, a
 *   system call when it has been entered). An incomplete one (fault, signal) does not.
 * - Tracing is "off" in the kernel, and on again only after another instruction was executed: where
 *   user mode continues is unknown before (a system call may be restarted, a handler may run
 *   first).
 * - A transition that the instruction does not explain (an emulated vsyscall, a debugger) is
 *   written as an interruption before the instruction, never as a guess.
 * - An instruction whose bytes cannot be read may have been a branch: packets are lost there, and
 *   encoding starts again at the next known one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "step_state.h"

#if defined(__x86_64__)

#include <asm/unistd.h>

#define ENC_FLUSH (32u << 10)
enum { CS_64 = 0x33, INSN_MAX = 15 };
/* -ERESTARTSYS, -ERESTARTNOINTR, -ERESTARTNOHAND, -ERESTART_RESTARTBLOCK */
#define IS_RESTART(rax) ((rax) == -512 || (rax) == -513 || (rax) == -514 || (rax) == -516)

static void counted(struct ty_step_engine *e, const struct ty_step_thread *t)
{
	e->insns++;
	if (e->list)
		fprintf(e->list, "%d %" PRIx64 "\n", (int)t->tid, t->ip);
}

/* The instruction at t->ip was executed. */
void ty_step_count(struct ty_step_engine *e, struct ty_step_thread *t)
{
	if (!t->on) {
		ty_pt_enc_on(&t->enc, t->ready_ns, t->ip, t->is64);
		t->on = true;
	}
	counted(e, t);
}

void ty_step_interrupted(struct ty_step_thread *t)
{
	if (t->on)
		ty_pt_enc_async_off(&t->enc, t->ip);
	t->on = false;
}

/* Does going from t->ip to `to` fit the instruction? */
static bool explained(const struct ty_step_thread *t, uint64_t to)
{
	switch (t->insn.cls) {
	case TY_STEP_COND: return to == t->insn.target || to == t->insn.next;
	case TY_STEP_DIRECT: return to == t->insn.target;
	case TY_STEP_OTHER:
	case TY_STEP_REP: return to - t->ip - 1 < INSN_MAX;
	case TY_STEP_UNKNOWN: return false;
	default: return true;
	}
}

/* What a system call that returned rax has done that matters here, to the executable mappings above
 * all. */
static void after_syscall(struct ty_step_engine *e, struct ty_step_thread *t, int64_t rax)
{
	bool exec = t->args[2] & 4;

	if ((t->nr == __NR_mmap && exec) || (t->nr == __NR_mprotect && exec) ||
	    (t->nr == __NR_pkey_mprotect && exec) || t->nr == __NR_mremap || t->nr == __NR_shmat)
		ty_step_mm_maps(t->p->mm, t->tid, &e->out, ty_perf_clock_now(&e->clock));
	if (t->nr == __NR_prctl)
		ty_step_put_comm(e, t, false);
	if (t->nr == __NR_ptrace && rax == -EPERM &&
	    (t->args[0] == PTRACE_TRACEME ||
	     ((t->args[0] == PTRACE_ATTACH || t->args[0] == PTRACE_SEIZE) &&
	      ty_step_find(e, (pid_t)t->args[1]))))
		e->refused++;
	if (t->nr == __NR_rt_sigreturn)
		ty_step_func_sigreturn(t);
}

void ty_step_clear_tf(const struct ty_step_thread *t, uint64_t at)
{
	uint8_t b;
	struct iovec mine = {&b, 1}, theirs = {(void *)(uintptr_t)(at + 1), 1};

	if (process_vm_readv(t->tid, &mine, 1, &theirs, 1, 0) == 1 && (b & TY_STEP_TF >> 8)) {
		b &= (uint8_t) ~(TY_STEP_TF >> 8);
		process_vm_writev(t->tid, &mine, 1, &theirs, 1, 0);
	}
}

/* The thread has advanced from t->ip to regs->rip. True: it left the traced function. */
bool ty_step_executed(struct ty_step_engine *e, struct ty_step_thread *t,
		      const struct user_regs_struct *regs)
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
		ty_step_interrupted(t);
		/* What lies in the kernel's half is emulated, and may be unreadable. */
		if (t->insn.cls == TY_STEP_UNKNOWN && !(t->ip >> 63)) {
			ty_pt_enc_overflow(&t->enc, t->ready_ns);
			counted(e, t);
		}
		t->ready_ns = now;
		t->ip = to;
		t->is64 = regs->cs == CS_64;
		return false;
	}
	ty_step_count(e, t);
	if (t->insn.pushf)
		ty_step_clear_tf(t, regs->rsp);
	switch (t->insn.cls) {
	case TY_STEP_COND: ty_pt_enc_cond(&t->enc, now, to == t->insn.target); break;
	case TY_STEP_INDIRECT:
		left = t->mode == TY_STEP_STEPPING && e->o->filter && ty_step_func_left(t, regs);
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
			after_syscall(e, t, (int64_t)regs->rax);
		break;
	default: break;
	}
	t->ip = to;
	t->ready_ns = now;
	t->is64 = regs->cs == CS_64;
	if (t->on)
		ty_pt_enc_tick(&t->enc, now, to, t->is64);
	if (t->enc.out.len >= ENC_FLUSH)
		ty_step_flush(e, t);
	return left;
}

/* Before t->ip is executed: what it is. */
void ty_step_prepare(struct ty_step_engine *e, struct ty_step_thread *t,
		     const struct user_regs_struct *regs)
{
	uint64_t now = ty_perf_clock_now(&e->clock);
	uint8_t code[16];
	bool changed, anew;
	size_t n = ty_step_mm_code(t->p->mm, t->tid, &e->out, now, t->ip, code, &changed);

	t->insn = ty_step_classify(code, n, t->ip, t->is64);
	/* It reaches into an unknown mapping, made by another process that shares the memory. */
	if (t->insn.cls == TY_STEP_UNKNOWN) {
		ty_step_mm_maps(t->p->mm, t->tid, &e->out, now);
		n = ty_step_mm_code(t->p->mm, t->tid, &e->out, now, t->ip, code, &anew);
		changed |= anew;
		t->insn = ty_step_classify(code, n, t->ip, t->is64);
	}
	/* Written over since: the decoder must not see it earlier, nor the old code from here on.
	 */
	if (changed) {
		ty_step_interrupted(t);
		t->ready_ns = ty_perf_clock_now(&e->clock);
	}
	t->sp = regs->rsp;
	if (t->insn.syscall && !t->restart) {
		t->nr = (int64_t)regs->rax;
		t->args[0] = regs->rdi;
		t->args[1] = regs->rsi;
		t->args[2] = regs->rdx;
	}
}

#endif

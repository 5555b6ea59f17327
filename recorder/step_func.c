/* SPDX-License-Identifier: MIT */
/*
 * See step_state.h: detects the end of the call of the traced function (--flow-filter FUNC). Only
 * certain evidence counts; until then everything that its thread executes belongs to the function.
 * - A return that takes its return address from the function's slot; also a jump to that address
 *   with the stack pointer as after a return.
 * - longjmp or an exception: rsp is above the return address, and both are on the thread's own
 *   stack, which the function's callers share. A signal handler on another stack may be anywhere:
 *   it is recognised by its own bounds.
 * - A function on a stack created by the program (a coroutine) is not left by switching to another
 *   stack: it continues when its thread returns. It was left for good when its return address is no
 *   longer in place: longjmp or an exception within that stack is noticed only when the slot is
 *   overwritten.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/ucontext.h>

#include "step_state.h"

#if defined(__x86_64__)

enum { RET_MAX = 65535, WORD = 8 }; /* ret drops so many bytes of arguments at most */

static bool peek(pid_t tid, uint64_t addr, void *p, size_t n)
{
	struct iovec mine = {p, n}, theirs = {(void *)(uintptr_t)addr, n};

	return process_vm_readv(tid, &mine, 1, &theirs, 1, 0) == (ssize_t)n;
}

/* The end of the thread's own stack, if sp lies on it; 0. */
static uint64_t own_stack(const struct ty_step_thread *t, uint64_t sp)
{
	char path[64], line[512];
	uint64_t lo, hi, top = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->tid);
	f = fopen(path, "re");
	while (f && !top && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &lo, &hi) == 2 && sp >= lo && sp < hi &&
		    t->first_sp >= lo && t->first_sp < hi) {
			/* A forked child begins in the middle of its stack. */
			if (strstr(line, "[stack]"))
				top = hi;
			else if (sp <= t->first_sp)
				top = t->first_sp;
		}
	if (f)
		fclose(f);
	return top;
}

void ty_step_func_enter(struct ty_step_thread *t, const struct user_regs_struct *regs)
{
	t->func = (struct ty_step_func){.sp = regs->rsp, .top = own_stack(t, regs->rsp)};
	if (!peek(t->tid, regs->rsp, &t->func.ret, WORD))
		t->func.ret = 0;
}

void ty_step_func_handler(struct ty_step_thread *t, const struct user_regs_struct *regs)
{
	/* On the usual stack: its frame and below. */
	struct ty_step_handler h = {.hi = regs->rsp + WORD};
	stack_t alt;

	/* linux arch/x86/include/asm/sigframe.h: the return address, then the ucontext. */
	if (peek(t->tid, regs->rsp + WORD + offsetof(ucontext_t, uc_stack), &alt, sizeof(alt)) &&
	    regs->rsp - (uint64_t)(uintptr_t)alt.ss_sp < alt.ss_size) {
		h.lo = (uint64_t)(uintptr_t)alt.ss_sp;
		h.hi = h.lo + alt.ss_size;
	}
	if (t->func.handlers_n < TY_STEP_HANDLERS)
		t->func.handlers[t->func.handlers_n] = h;
	t->func.handlers_n++;
}

void ty_step_func_sigreturn(struct ty_step_thread *t)
{
	if (t->func.handlers_n)
		t->func.handlers_n--;
}

bool ty_step_func_left(struct ty_step_thread *t, const struct user_regs_struct *regs)
{
	struct ty_step_func *f = &t->func;
	uint64_t sp = regs->rsp, word;

	/* Handlers that siglongjmp or the like has left. */
	while (f->handlers_n && f->handlers_n <= TY_STEP_HANDLERS &&
	       (sp <= f->handlers[f->handlers_n - 1].lo || sp > f->handlers[f->handlers_n - 1].hi))
		f->handlers_n--;
	if (f->handlers_n)
		return false;
	if (t->insn.ret && t->sp == f->sp)
		return true;
	if (sp <= f->sp)
		return false;
	if (regs->rip == f->ret && sp - f->sp >= WORD && sp - f->sp <= WORD + RET_MAX)
		return true;
	if (sp <= f->top)
		return true;
	/* Elsewhere, or further up on a stack of the program's making. */
	return !peek(t->tid, f->sp, &word, WORD) || word != f->ret;
}

#endif

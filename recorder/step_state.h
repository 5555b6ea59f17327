/* SPDX-License-Identifier: MIT */
/*
 * What the step tracer's process knows of the threads that it steps, and where its output goes.
 * Inside the engine only: step_state.c keeps it, step_flow.c turns what a thread executed into
 * packets, step_engine.c has the threads in hand.
 */
#ifndef TY_STEP_STATE_H
#define TY_STEP_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/user.h>

#include "perf_clock.h"
#include "perf_write.h"
#include "pt_encode.h"
#include "step_code.h"
#include "step_insn.h"
#include "step_priv.h"
#include "vec.h"

enum ty_step_mode {
	TY_STEP_WAITING,   /* before its exec: not of interest */
	TY_STEP_SEARCHING, /* stops at system calls, until the function's file is mapped */
	TY_STEP_RUNNING,   /* at full speed to the function's entry */
	TY_STEP_STEPPING,
};

struct ty_step_process {
	pid_t tgid;
	unsigned threads;
	struct ty_step_mm *mm;
	uint64_t entry; /* of the function to trace; 0: not mapped yet */
};

enum { TY_STEP_HANDLERS = 16, TY_STEP_TF = 0x100 /* in the flags: trap after an instruction */ };

/* Where rsp is while a signal handler runs: above lo, and up to hi. */
struct ty_step_handler {
	uint64_t lo, hi;
};

/* The call of the function that is traced: what tells its end (step_func.c). */
struct ty_step_func {
	uint64_t sp;  /* where its return address lies */
	uint64_t ret; /* its return address */
	uint64_t top; /* end of the thread's own stack if it runs there; 0 */
	struct ty_step_handler handlers[TY_STEP_HANDLERS]; /* entered since, and not left */
	unsigned handlers_n;
};

struct ty_step_thread {
	pid_t tid, ppid;
	struct ty_step_process *p;
	enum ty_step_mode mode;
	bool command; /* begins at its exec */
	bool begun;   /* its first stop was seen */
	bool on;      /* the packets say that tracing is on */
	bool stepped; /* it was last resumed for a step */
	bool is64, leaving;
	uint64_t born_ns; /* when it was first heard of */
	uint64_t ip;
	uint64_t ready_ns;	  /* when it was about to execute ip */
	uint64_t restart;	  /* a system call at this address may be executed again; 0 */
	uint64_t sp;		  /* when it was about to execute ip */
	uint64_t first_sp;	  /* at its first stop: its own stack begins here or above */
	struct ty_step_func func; /* TY_STEP_STEPPING with a filter */
	int64_t nr;		  /* of the system call that is executed */
	uint64_t args[3];
	struct ty_step_insn insn;
	struct ty_pt_enc enc;
	uint32_t idx;
	uint64_t aux_off;
};

struct ty_step_engine {
	const struct ty_step_opts *o;
	int fd;
	FILE *list;
	struct ty_perf_clock clock;
	struct ty_step_out out;
	VEC(struct ty_step_thread *) threads;
	VEC(struct ty_step_process *) processes;
	uint32_t next_idx;
	uint64_t insns;
	uint32_t unset;	  /* threads that could not be given a breakpoint */
	int unset_why;	  /* errno */
	uint32_t refused; /* ptrace() calls that failed because of the stepping */
	bool failed;
};

/* ---- step_state.c ---- */

/* A frame to the recorder. What cannot be written sets e->failed. */
void ty_step_put_frame(struct ty_step_engine *e, uint32_t kind, const void *p, size_t n);
/* Images and records that have gathered become frames: all, or once they are large. */
void ty_step_send(struct ty_step_engine *e, bool all);
/* The thread's packets so far become a piece of its AUX stream. */
void ty_step_flush(struct ty_step_engine *e, struct ty_step_thread *t);
/* The thread and now, as records say it. */
struct ty_perf_where ty_step_at(struct ty_step_engine *e, const struct ty_step_thread *t);
void ty_step_put_comm(struct ty_step_engine *e, const struct ty_step_thread *t, bool exec);
struct ty_step_thread *ty_step_find(struct ty_step_engine *e, pid_t tid);
/* A thread not known yet, and its process. NULL: out of memory. */
struct ty_step_thread *ty_step_add(struct ty_step_engine *e, pid_t tid);
/* Its packets are written and t is freed, with its process after the last thread. */
void ty_step_drop(struct ty_step_engine *e, struct ty_step_thread *t);

/* ---- step_func.c ---- */

/* The function is about to be executed. */
void ty_step_func_enter(struct ty_step_thread *t, const struct user_regs_struct *regs);
/* A signal handler has been entered; t->sp: where rsp was before. */
void ty_step_func_handler(struct ty_step_thread *t, const struct user_regs_struct *regs);
/* It returned. */
void ty_step_func_sigreturn(struct ty_step_thread *t);
/* An indirect branch (t->insn, with rsp at t->sp) was executed: has it left the function? */
bool ty_step_func_left(struct ty_step_thread *t, const struct user_regs_struct *regs);

/* ---- step_flow.c ---- */

/* The instruction at t->ip was executed. */
void ty_step_count(struct ty_step_engine *e, struct ty_step_thread *t);
/* Where the thread goes on is not what the instruction at t->ip says. */
void ty_step_interrupted(struct ty_step_thread *t);
/* The thread has gone on from t->ip to regs->rip. True: it left the function that is traced. */
bool ty_step_executed(struct ty_step_engine *e, struct ty_step_thread *t,
		      const struct user_regs_struct *regs);
/* The flags that were just pushed there have the stepping's TF in them: the program must not see
 * it, and would step itself after a popf or a sigreturn. */
void ty_step_clear_tf(const struct ty_step_thread *t, uint64_t at);
/* Before t->ip is executed: what it is. */
void ty_step_prepare(struct ty_step_engine *e, struct ty_step_thread *t,
		     const struct user_regs_struct *regs);

#endif

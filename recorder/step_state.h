/* SPDX-License-Identifier: MIT */
/*
 * State of the threads in the single-stepper's process, and its output. Private to the engine:
 * step_state.c maintains it, step_flow.c converts executed instructions to packets, step_engine.c
 * controls the threads.
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
	TY_STEP_WAITING,   /* before its exec: not traced */
	TY_STEP_SEARCHING, /* stops at system calls, until the function's file is mapped */
	TY_STEP_RUNNING,   /* at full speed until the function's entry */
	TY_STEP_STEPPING,
};

struct ty_step_process {
	pid_t tgid;
	unsigned threads;
	struct ty_step_mm *mm;
	uint64_t entry; /* of the function to trace; 0: not mapped yet */
};

enum { TY_STEP_HANDLERS = 16, TY_STEP_TF = 0x100 /* in the flags: trap after an instruction */ };

/* Range of rsp while a signal handler runs: above lo, up to hi. */
struct ty_step_handler {
	uint64_t lo, hi;
};

/* The current call of the traced function, with what determines its end (step_func.c). */
struct ty_step_func {
	uint64_t sp;  /* address of its return address */
	uint64_t ret; /* its return address */
	uint64_t top; /* end of the thread's own stack if it runs on it; 0 */
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
	uint64_t born_ns; /* when it was first seen */
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
	uint32_t unset;	  /* threads without a breakpoint, because setting it failed */
	int unset_why;	  /* errno */
	uint32_t refused; /* ptrace() calls that failed because of the stepping */
	bool failed;
};

/* ---- step_state.c ---- */

/* Writes a frame to the recorder. A failure sets e->failed. */
void ty_step_put_frame(struct ty_step_engine *e, uint32_t kind, const void *p, size_t n);
/* Sends collected images and records as frames: all, or only large ones. */
void ty_step_send(struct ty_step_engine *e, bool all);
/* Writes the thread's packets so far as a piece of its AUX stream. */
void ty_step_flush(struct ty_step_engine *e, struct ty_step_thread *t);
/* The thread and current time for a record. */
struct ty_perf_where ty_step_at(struct ty_step_engine *e, const struct ty_step_thread *t);
void ty_step_put_comm(struct ty_step_engine *e, const struct ty_step_thread *t, bool exec);
struct ty_step_thread *ty_step_find(struct ty_step_engine *e, pid_t tid);
/* Adds a new thread, and its process if new. NULL: out of memory. */
struct ty_step_thread *ty_step_add(struct ty_step_engine *e, pid_t tid);
/* Writes its packets and frees t, and its process with the last thread. */
void ty_step_drop(struct ty_step_engine *e, struct ty_step_thread *t);

/* ---- step_func.c ---- */

/* The function is about to be executed. */
void ty_step_func_enter(struct ty_step_thread *t, const struct user_regs_struct *regs);
/* A signal handler was entered; t->sp: rsp before that. */
void ty_step_func_handler(struct ty_step_thread *t, const struct user_regs_struct *regs);
/* It returned. */
void ty_step_func_sigreturn(struct ty_step_thread *t);
/* After an indirect branch (t->insn, with rsp at t->sp): true when it left the function. */
bool ty_step_func_left(struct ty_step_thread *t, const struct user_regs_struct *regs);

/* ---- step_flow.c ---- */

/* The instruction at t->ip was executed. */
void ty_step_count(struct ty_step_engine *e, struct ty_step_thread *t);
/* The thread continues elsewhere than the instruction at t->ip implies. */
void ty_step_interrupted(struct ty_step_thread *t);
/* The thread continued from t->ip to regs->rip. True: it left the traced function. */
bool ty_step_executed(struct ty_step_engine *e, struct ty_step_thread *t,
		      const struct user_regs_struct *regs);
/* Clears the stepping's TF in flags just pushed at that address: the program must not see it, and
 * would step itself after a popf or a sigreturn. */
void ty_step_clear_tf(const struct ty_step_thread *t, uint64_t at);
/* Decodes the instruction at t->ip before it is executed. */
void ty_step_prepare(struct ty_step_engine *e, struct ty_step_thread *t,
		     const struct user_regs_struct *regs);

#endif

/* SPDX-License-Identifier: MIT */
/* Interface between step_trace.c and the single-stepper's process (step_engine.c). */
#ifndef TY_STEP_PRIV_H
#define TY_STEP_PRIV_H

#include <stdint.h>
#include <sys/types.h>

#include "step_trace.h"

/* Frames on the pipe: u32 kind, u32 bytes, bytes. */
enum ty_step_frame {
	TY_FRAME_READY,	 /* the command is attached */
	TY_FRAME_FAILED, /* a sentence */
	TY_FRAME_PERF,	 /* records: TY_SEC_PERF */
	TY_FRAME_CODE,	 /* images: TY_SEC_CODE */
	TY_FRAME_END,	 /* struct ty_step_end */
};

struct ty_step_end {
	uint64_t insns; /* executed */
	uint32_t held;	/* threads that could not be stopped yet: detached when possible */
	uint32_t unset; /* threads without a breakpoint at the traced function, because setting it
			 * failed */
	int32_t unset_why; /* errno */
	uint32_t
		refused; /* ptrace() calls of stepped threads that failed because of the stepping */
};

/* Traces pid and its descendants until all have exited or SIGTERM arrives. Returns the exit
 * status. */
int ty_step_engine(pid_t pid, const struct ty_step_opts *o, int out);

#endif

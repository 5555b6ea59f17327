/* SPDX-License-Identifier: MIT */
/*
 * The software branch tracer (record --flow=step): a process of its own single-steps the command's
 * threads with ptrace and writes what Intel PT would have written, for machines without it. Slow: a
 * step costs two context switches (20 to 80 us).
 */
#ifndef TY_STEP_TRACE_H
#define TY_STEP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "spool.h"

struct ty_step_opts {
	bool filter; /* only from the entry of the function at this byte of this file to its return
		      */
	uint64_t dev, ino, off;
	const char *list; /* write "TID IP" of each executed instruction there (tests); or NULL */
};

struct ty_step {
	pid_t pid;	  /* of the tracer */
	int in;		  /* its output */
	void *reader;	  /* thread and what it needs */
	uint64_t insns;	  /* executed instructions, after finish */
	unsigned held;	  /* threads that could not be stopped within seconds, after finish */
	unsigned unset;	  /* times that a thread could not be given a breakpoint at the function */
	int unset_why;	  /* errno */
	unsigned refused; /* times that one of them could not trace another, which is stepped */
	bool lost;	  /* something could not be written; the stream ends there */
};

/* Fork the tracer and attach it to pid, which does not run yet. 0 or -TY_E... */
int ty_step_start(struct ty_step *s, const struct ty_step_opts *o, pid_t pid, struct ty_err *err);
/* Begin to move its output into the spool. */
int ty_step_collect(struct ty_step *s, struct ty_spool *spool, struct ty_err *err);
/* Let go of what is still traced; all output is in the spool on return. Any state. */
void ty_step_finish(struct ty_step *s);

#endif

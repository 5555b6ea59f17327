/* SPDX-License-Identifier: MIT */
/*
 * The single-stepper (record --flow=step): a separate process steps the command's threads with
 * ptrace and writes the packets that Intel PT would have written, for machines without it. Slow: a
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
	bool filter; /* only from the entry of the function at this offset of this file to its
		      * return */
	uint64_t dev, ino, off;
	const char *list; /* write "TID IP" of each executed instruction there (tests); or NULL */
};

struct ty_step {
	pid_t pid;	  /* of the tracer */
	int in;		  /* its output */
	void *reader;	  /* thread and its state */
	uint64_t insns;	  /* executed instructions, after finish */
	unsigned held;	  /* threads that could not be stopped within seconds, valid after finish */
	unsigned unset;	  /* times that setting a breakpoint at the function failed */
	int unset_why;	  /* errno */
	unsigned refused; /* times that a stepped thread's own attempt to trace another one was
			   * refused */
	bool lost;	  /* a write failed; the stream ends there */
};

/* Forks the single-stepper and attaches it to pid, which is not running yet. 0 or -TY_E... */
int ty_step_start(struct ty_step *s, const struct ty_step_opts *o, pid_t pid, struct ty_err *err);
/* Starts moving its output to the spool. */
int ty_step_collect(struct ty_step *s, struct ty_spool *spool, struct ty_err *err);
/* Detaches all threads still traced; all output is in the spool on return. In any state. */
void ty_step_finish(struct ty_step *s);

#endif

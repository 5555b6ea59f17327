/* SPDX-License-Identifier: MIT */
/*
 * Samples memory accesses by Arm SPE: aux_record.h on the machine's arm_spe_N PMUs, on each CPU
 * with its own PMU. For a command, for all threads of processes, or for all threads.
 */
#ifndef TY_MEM_RECORD_H
#define TY_MEM_RECORD_H

#include "aux_record.h"
#include "spe_pmu.h"

struct ty_spe_target {
	pid_t command;	   /* has not called execve yet: sampling begins with its execve; 0: none */
	const pid_t *pids; /* processes with all their threads */
	size_t pids_n;	   /* 0 and no command: all threads */
};

/* `cpus`: the n online ones. 0 or -TY_E..., err says what to do. */
int ty_spe_rec_open(struct ty_aux_rec **out, const struct ty_spe_opts *o,
		    const struct ty_spe_target *w, const unsigned *cpus, unsigned n,
		    struct ty_err *err);
/* Appends names and mappings of the traced processes that are running already, as perf records. */
void ty_spe_put_running(struct ty_buf *b, const struct ty_spe_target *w);

#endif

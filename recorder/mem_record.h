/* SPDX-License-Identifier: MIT */
/*
 * Memory accesses sampled by Arm SPE: aux_record.h on the machine's arm_spe_N PMUs, each CPU with
 * the one that is its own. Of a command, of all threads of processes, or of everybody.
 */
#ifndef TY_MEM_RECORD_H
#define TY_MEM_RECORD_H

#include "aux_record.h"
#include "spe_pmu.h"

struct ty_spe_whom {
	pid_t command;	   /* has not called execve yet: samples begin with its execve; 0: none */
	const pid_t *pids; /* processes with all their threads */
	size_t pids_n;	   /* 0 and no command: everybody */
};

/* `cpus`: the n that are online. 0 or -TY_E..., err says what to do. */
int ty_spe_rec_open(struct ty_aux_rec **out, const struct ty_spe_opts *o,
		    const struct ty_spe_whom *w, const unsigned *cpus, unsigned n,
		    struct ty_err *err);
/* Names and mappings of the processes that are recorded and run already, as perf records; appended.
 */
void ty_spe_put_running(struct ty_buf *b, const struct ty_spe_whom *w);

#endif

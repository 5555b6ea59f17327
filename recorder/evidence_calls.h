/* SPDX-License-Identifier: MIT */
/* The system calls whose pointers are followed. */
#ifndef TY_EVIDENCE_CALLS_H
#define TY_EVIDENCE_CALLS_H

#include "evidence_bpf.h"

struct ty_evidence_call {
	const char *name; /* of its tracepoint */
	int nr;		  /* this machine's own ABI; below TY_EV_CALLS */
	struct ty_ev_call what;
};
extern const struct ty_evidence_call ty_evidence_calls[];
extern const unsigned ty_evidence_calls_n;

#endif

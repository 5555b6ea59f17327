/* SPDX-License-Identifier: MIT */
/* The system calls whose pointers are followed. */
#ifndef TY_CALL_DATA_TABLE_H
#define TY_CALL_DATA_TABLE_H

#include "call_data_bpf.h"

struct ty_call_data_call {
	const char *name; /* of its tracepoint */
	int nr;		  /* this machine's own ABI; below TY_EV_CALLS */
	struct ty_ev_call what;
};
extern const struct ty_call_data_call ty_call_data_table[];
extern const unsigned ty_call_data_table_n;

#endif

/* SPDX-License-Identifier: MIT */
/* The arguments of tarry record: options, and the recorder's parameters derived from them. */
#ifndef TY_RECORD_ARGS_H
#define TY_RECORD_ARGS_H

#include <stdbool.h>
#include <sys/types.h>

#include "buf.h"
#include "options.h"
#include "recording.h"
#include "vec.h"

struct ty_record_args {
	struct ty_record_opts o;
	VEC(pid_t) pids;
	struct ty_texts events;
	bool quiet;
	const char *flow; /* "pt" or "step"; NULL: none */
	struct ty_texts flow_filters;
	struct ty_pt_opts pt;
	struct ty_buf pt_filter;
	struct ty_step_opts step;
	struct ty_texts counter_texts, region_files, span_texts, usdt_texts;
	VEC(struct ty_span_point) spans;
	VEC(struct ty_usdt_point) usdt;
	bool memory, mem_option;
	struct ty_spe_opts spe;
};

/* Parses and checks them into a->o, whose pointers belong to a. -1: continue; else the exit status.
 * Call fini in any state. */
int ty_record_args_parse(struct ty_record_args *a, int argc, char **argv);
void ty_record_args_fini(struct ty_record_args *a);

#endif

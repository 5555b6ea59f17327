/* SPDX-License-Identifier: MIT */
/* The tables of options that several reading commands take. */
#ifndef TY_READER_OPTIONS_H
#define TY_READER_OPTIONS_H

#include "options.h"
#include "window_select.h"

/* Tables that fill a struct ty_select: which part of the file (--from --to --tid --comm --cpu), and
 * what some commands take besides. */
extern const struct ty_option ty_select_options[], ty_json_option[], ty_clock_option[],
	ty_memory_option[], ty_index_option[];
/* Taken, and without effect, where a reader has no model: so scripts may give them to all. */
extern const struct ty_option ty_unused_options[];
/* --cpu's numbers, for a command whose --cpu takes more. As the take of struct ty_option. */
int ty_select_take_cpus(void *sel, const char *arg, struct ty_err *err);
/* Of a struct ty_mem_options: a bare SPE stream and its core. */
extern const struct ty_option ty_mem_options[];
/* Of a struct ty_flow_source: what says where code is. */
extern const struct ty_option ty_code_options[];

#endif

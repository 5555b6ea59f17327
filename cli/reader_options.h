/* SPDX-License-Identifier: MIT */
/* Option tables shared by the reading commands. */
#ifndef TY_READER_OPTIONS_H
#define TY_READER_OPTIONS_H

#include "options.h"
#include "window_select.h"

/* Tables for a struct ty_select: the part of the file to show (--from --to --tid --comm --cpu), and
 * further options of some commands. */
extern const struct ty_option ty_select_options[], ty_json_option[], ty_clock_option[],
	ty_dump_clock_option[], ty_memory_option[], ty_index_option[];
/* Accepted without effect by readers without a model, so that scripts can pass them to all. */
extern const struct ty_option ty_unused_options[];
/* --cpu's numbers, for a command whose --cpu takes more. Same interface as `take` of struct
 * ty_option. */
int ty_select_take_cpus(void *sel, const char *arg, struct ty_err *err);
/* For a struct ty_mem_options: a bare SPE stream and its core. */
extern const struct ty_option ty_mem_options[];
/* For a struct ty_flow_source: sources of code. */
extern const struct ty_option ty_code_options[];

#endif

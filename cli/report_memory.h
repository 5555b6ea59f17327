/* SPDX-License-Identifier: MIT */
/* tarry report memory | sharing: memory samples of a perf.data file or a bare SPE stream. */
#ifndef TY_REPORT_MEMORY_H
#define TY_REPORT_MEMORY_H

#include "options.h"

extern const struct ty_option ty_report_memory_options[]; /* its own; of struct args */
/* The whole command: the exit status. */
int ty_cmd_report_memory(int argc, char **argv);

#endif

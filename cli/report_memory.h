/* SPDX-License-Identifier: MIT */
/* tarry report memory | sharing: memory samples of a perf.data file or a bare SPE stream. */
#ifndef TY_REPORT_MEMORY_H
#define TY_REPORT_MEMORY_H

#include <stdbool.h>

/* Does the command line ask for memory or sharing? */
bool ty_report_is_memory(int argc, char **argv);
/* The whole command: the exit status. */
int ty_cmd_report_memory(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/* tarry report FILE flow: arguments and output. Exit status. */
#ifndef TY_REPORT_FLOW_H
#define TY_REPORT_FLOW_H

#include <stdbool.h>

/* Whether the arguments ask for it. */
bool ty_report_is_flow(int argc, char **argv);
int ty_cmd_report_flow(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/* tarry report FILE flow: arguments and output. Exit status. */
#ifndef TY_REPORT_FLOW_H
#define TY_REPORT_FLOW_H

#include "options.h"

extern const struct ty_option ty_report_flow_options[]; /* its own; of struct job */
int ty_cmd_report_flow(int argc, char **argv);

#endif

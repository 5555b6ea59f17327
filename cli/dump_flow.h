/* SPDX-License-Identifier: MIT */
/* tarry dump FILE flow: arguments and output. Exit status. */
#ifndef TY_DUMP_FLOW_H
#define TY_DUMP_FLOW_H

#include <stdbool.h>

/* Whether the arguments ask for it ("flow" among those that are no options, or --pt-raw). */
bool ty_dump_is_flow(int argc, char **argv);
int ty_cmd_dump_flow(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/* tarry dump FILE flow: arguments and output. Exit status. */
#ifndef TY_DUMP_FLOW_H
#define TY_DUMP_FLOW_H

int ty_cmd_dump_flow(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/* Arguments of the commands for executed instructions: dump flow, report flow. */
#ifndef TY_FLOW_ARGS_H
#define TY_FLOW_ARGS_H

#include "flow_source.h"
#include "options.h"
#include "window_select.h"

extern const struct ty_option ty_packet_options[]; /* of struct ty_flow_args */

struct ty_flow_args {
	struct ty_select sel;
	struct ty_flow_source src;
	const char *path; /* NULL: bare packets alone (--pt-raw) */
};

/* Parses all: cmd ("dump"), head of the help, and the command's own options, in two groups (or
 * {0}). -1: continue; else the exit status. Call fini in any state. */
int ty_flow_args_parse(struct ty_flow_args *a, const char *cmd, const char *head,
		       struct ty_option_group own, struct ty_option_group more, int argc,
		       char **argv);
/* For another section of cmd: -1, or the exit status because one of these options is among the
 * words. any: as for ty_options_have. */
int ty_flow_options_refuse(const char *cmd, const struct ty_command_line *any, int argc,
			   char **argv);
void ty_flow_args_fini(struct ty_flow_args *a);

#endif

/* SPDX-License-Identifier: MIT */
/* Command lines of the processes that a section blames, a line for each: "pv/3276: pv -q -L 300k".
 */
#ifndef TY_REPORT_COMMANDS_H
#define TY_REPORT_COMMANDS_H

#include <stdio.h>

#include "json_out.h"
#include "stalls.h"

#define TY_COMMANDS_SHOWN  32 /* of a section */
#define TY_COMMAND_CALLERS 3

/* What a section has shown; begins as {0}. */
struct ty_commands {
	const char *line[TY_COMMANDS_SHOWN];
	int32_t pid[TY_COMMANDS_SHOWN];
	unsigned n;
};

/* The process' command line at t, if it says more than its name in sentences; else NULL. thread:
 * TY_NONE: NULL. */
const char *ty_telling_command(const struct ty_model *m, uint32_t thread, uint64_t t);
/* A line of that, if it was not shown. True: there is one. */
bool ty_put_command(struct ty_commands *k, const struct ty_model *m, uint32_t thread, uint64_t t,
		    int indent, FILE *f);
/* The chain's, but for the victim's, and that of the culprit; where that is not recorded, or needs
 * it (ty_needs_caller), the processes that started it. */
void ty_put_stall_commands(struct ty_commands *k, const struct ty_model *m,
			   const struct ty_stall *s, int indent, FILE *f);
/* Member command_line, of all its bytes; none if it is unknown. */
void ty_command_json(const struct ty_model *m, uint32_t thread, uint64_t t, struct ty_json *j);
/* Member started_by: an array of the culprit's callers, as above. */
void ty_callers_json(const struct ty_model *m, uint32_t thread, uint64_t t, struct ty_json *j);

#endif

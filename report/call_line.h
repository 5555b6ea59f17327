/* SPDX-License-Identifier: MIT */
/* One system call as a line: in the shape of strace -f -yy -tt -T, or as JSON. */
#ifndef TY_CALL_LINE_H
#define TY_CALL_LINE_H

#include "buf.h"
#include "call_data_index.h"
#include "json_out.h"
#include "syscall_pair.h"
#include "syscall_values.h"
#include "wall_clock.h"

enum ty_call_part {
	TY_CALL_WHOLE,
	TY_CALL_BEGUN,	/* "name(args <unfinished ...>": its end comes later */
	TY_CALL_RESUMED /* "<... name resumed>) = 0": its beginning was shown before */
};

/* Text, without the newline, appended to out. names: of its arguments; may be NULL. */
void ty_call_text(const struct ty_sysarch *arch, struct ty_wall *wall, const struct ty_call *c,
		  enum ty_call_part part, const struct ty_arg_names *names, struct ty_buf *out);

/* One NDJSON line. pid -1: unknown. item, values: what the arguments pointed to; may be NULL.
 * scratch is overwritten. */
void ty_call_json(const struct ty_sysarch *arch, const struct ty_call *c, int32_t pid,
		  const char *comm, const struct ty_arg_names *names,
		  const struct ty_call_data_item item[6], const struct ty_values *values,
		  struct ty_buf *scratch, struct ty_json *j);

#endif

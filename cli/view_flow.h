/* SPDX-License-Identifier: MIT */
/* Executed instructions of a recording for the timeline's view, decoded on demand. */
#ifndef TY_VIEW_FLOW_H
#define TY_VIEW_FLOW_H

#include "disasm.h"
#include "flow_names.h"
#include "flow_part.h"
#include "flow_source.h"
#include "flow_view.h"
#include "source_text.h"
#include "trace.h"

struct ty_view_flow {
	const char *path;
	struct ty_flow_source source; /* of the part */
	struct ty_flow_names *names;
	struct ty_source_text *texts; /* created on first use */
	struct ty_disasm *asm64, *asm32;
	struct ty_flow_part part[TY_FLOW_SLOTS];
	struct ty_flow_input in;
	uint64_t parts_bytes; /* that all parts may take, or so; 0: no limit */
};

bool ty_view_has_flow(const struct ty_trace *trace);
/* Decodes nothing yet. options: sources of code, borrowed, and the memory that decoding and its
 * parts may take (0: no limit). NULL when the recording has no executed instructions; else f->in.
 */
const struct ty_flow_input *ty_view_flow_init(struct ty_view_flow *f, const struct ty_trace *trace,
					      const struct ty_flow_source *options);
void ty_view_flow_fini(struct ty_view_flow *f); /* also when zeroed */

#endif

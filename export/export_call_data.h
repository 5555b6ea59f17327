/* SPDX-License-Identifier: MIT */
/* What a smaller recording keeps of the sections that lie beside the events: descriptors, data
 * behind pointers, stacks of waits, samples. */
#ifndef TY_EXPORT_CALL_DATA_H
#define TY_EXPORT_CALL_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "section.h"
#include "session.h"

/* Appends n bytes to a section of the new file. 0 or -TY_E... */
typedef int ty_export_put(void *ctx, enum ty_section section, const void *p, size_t n);

/* All times as in the sections: of the trace clock, without the file's offset. */
struct ty_export_cut {
	struct ty_session *s; /* with its model */
	uint64_t from_ns, to_ns;
	ty_export_put *put;
	void *ctx;
	struct ty_err *err;
};

/*
 * Writes the sections of the window. If it begins after the recording, these include the
 * descriptors open then and the records of calls and waits in progress, at the time of the window's
 * first event. from_start: the window begins with the recording. 0 or -TY_E... with err.
 */
int ty_export_call_data(const struct ty_export_cut *c, bool from_start);

#endif

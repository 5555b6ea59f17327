/* SPDX-License-Identifier: MIT */
/*
 * Names of threads while events stream by: what a dump shows beside a tid. Light on purpose (one
 * name per tid, the latest); the model keeps whole histories.
 */
#ifndef TY_COMMS_H
#define TY_COMMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

struct ty_comms;

/*
 * Names known beforehand: the text of saved_cmdlines ("PID COMM" lines; those of the recording's
 * end) and of tarry's thread section (section.h; those of its start, which win). Both may be NULL.
 * NULL: out of memory.
 */
struct ty_comms *ty_comms_new(const char *cmdlines, const char *threads);
void ty_comms_free(struct ty_comms *c);

/* Learn from an event. Call with every event, in time order, before asking for its name. 0 or
 * -TY_ENOMEM. */
int ty_comms_feed(struct ty_comms *c, const struct ty_event *ev);

/* "<idle>" for tid 0, "<...>" when not known. Borrowed; valid until the next feed. */
const char *ty_comms_get(const struct ty_comms *c, int32_t tid);
/* Has anything named it yet? (tid 0 always has a name.) */
bool ty_comms_known(const struct ty_comms *c, int32_t tid);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Names of threads while events stream by: shown beside a tid in a dump. Deliberately light (one
 * name per tid, the latest); the model keeps full histories.
 */
#ifndef TY_THREAD_NAMES_H
#define TY_THREAD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

struct ty_thread_names;

/*
 * Starts with names known in advance: the text of saved_cmdlines ("PID COMM" lines, names at the
 * recording's end) and of tarry's thread section (section.h; names at its start, which take
 * precedence). Both may be NULL. NULL: out of memory.
 */
struct ty_thread_names *ty_thread_names_new(const char *cmdlines, const char *threads);
void ty_thread_names_free(struct ty_thread_names *c);

/* Learns names from an event. Call it with every event, in time order, before querying the event's
 * name. 0 or -TY_ENOMEM. */
int ty_thread_names_feed(struct ty_thread_names *c, const struct ty_event *ev);

/* "<idle>" for tid 0, "<...>" when unknown. Borrowed; valid until the next feed. */
const char *ty_thread_names_get(const struct ty_thread_names *c, int32_t tid);
/* True when the tid has a name by now (tid 0 always has). */
bool ty_thread_names_known(const struct ty_thread_names *c, int32_t tid);

#endif

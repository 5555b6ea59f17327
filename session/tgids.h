/* SPDX-License-Identifier: MIT */
/* Thread to process (tgid) while events stream by: what is known at that moment, else -1. */
#ifndef TY_TGIDS_H
#define TY_TGIDS_H

#include <stdint.h>

#include "event.h"

struct ty_tgids;

/* threads: tarry's thread section (section.h), may be NULL. NULL: out of memory. */
struct ty_tgids *ty_tgids_new(const char *threads);
void ty_tgids_free(struct ty_tgids *t);
/* Learn from an event. 0 or -TY_ENOMEM. */
int ty_tgids_feed(struct ty_tgids *t, const struct ty_event *ev);
int32_t ty_tgids_get(const struct ty_tgids *t, int32_t tid);

#endif

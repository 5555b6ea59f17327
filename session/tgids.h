/* SPDX-License-Identifier: MIT */
/* Maps threads to processes (tgid) while events stream by: the mapping known at that moment,
 * otherwise -1. */
#ifndef TY_TGIDS_H
#define TY_TGIDS_H

#include <stdint.h>

#include "event.h"

struct ty_tgids;

/* threads: tarry's thread section (section.h), may be NULL. NULL: out of memory. */
struct ty_tgids *ty_tgids_new(const char *threads);
void ty_tgids_free(struct ty_tgids *t);
/* Learns from an event. 0 or -TY_ENOMEM. */
int ty_tgids_feed(struct ty_tgids *t, const struct ty_event *ev);
int32_t ty_tgids_get(const struct ty_tgids *t, int32_t tid);

#endif

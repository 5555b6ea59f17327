/* SPDX-License-Identifier: MIT */
/* Maps threads to processes (tgid) while events stream by: the mapping known at that moment,
 * otherwise -1. */
#ifndef TY_TGID_MAP_H
#define TY_TGID_MAP_H

#include <stdint.h>

#include "event.h"

struct ty_tgid_map;

/* threads: tarry's thread section (section.h), may be NULL. NULL: out of memory. */
struct ty_tgid_map *ty_tgid_map_new(const char *threads);
void ty_tgid_map_free(struct ty_tgid_map *t);
/* Learns from an event. 0 or -TY_ENOMEM. */
int ty_tgid_map_feed(struct ty_tgid_map *t, const struct ty_event *ev);
int32_t ty_tgid_map_get(const struct ty_tgid_map *t, int32_t tid);

#endif

/* SPDX-License-Identifier: MIT */
/* When cgroups were throttled by their CPU quota (section.h, TY_SEC_QUOTA). */
#ifndef TY_CFS_THROTTLE_H
#define TY_CFS_THROTTLE_H

#include "explain.h"

struct ty_throttle_lines;

/* Parses the section's text (NULL: none). NULL: out of memory. Malformed lines are skipped. */
struct ty_throttle_lines *ty_throttle_lines_new(const char *section);
/* As struct ty_explain's quota: one that was found until `from`, and not taken away from the group,
 * or left by the thread, in a look at any time of [from, to). Fills out, except ns. */
bool ty_throttle_lines_quota(const struct ty_throttle_lines *h, int32_t tid, uint64_t from_ns,
			     uint64_t to_ns, struct ty_throttled *out);
void ty_throttle_lines_free(struct ty_throttle_lines *h);
/* As struct ty_explain's throttled. */
bool ty_throttle_lines_find(const struct ty_throttle_lines *h, int32_t tid, uint64_t from_ns,
			    uint64_t to_ns, struct ty_throttled *out);

#endif

/* SPDX-License-Identifier: MIT */
/* Time stolen by the hypervisor, as counted by the kernel (section.h, TY_SEC_STEAL). */
#ifndef TY_STEAL_RECORDED_H
#define TY_STEAL_RECORDED_H

#include <stdint.h>

struct ty_steal_lines;

/* Parses the section's text (NULL: none). Malformed lines are skipped. NULL: out of memory. */
struct ty_steal_lines *ty_steal_lines_new(const char *section);
void ty_steal_lines_free(struct ty_steal_lines *s);
/* Steal time of the CPU from the samples that overlap [from, to), at most that long. */
uint64_t ty_steal_lines_sum(const struct ty_steal_lines *s, uint32_t cpu, uint64_t from_ns,
			    uint64_t to_ns);

#endif

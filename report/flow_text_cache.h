/* SPDX-License-Identifier: MIT */
/* Cache of the text of addresses: a program executes few addresses often. Budget: 10 ns for a hit;
 * 4 MB. */
#ifndef TY_FLOW_TEXT_CACHE_H
#define TY_FLOW_TEXT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow.h"

enum { TY_FLOW_LINE = 800 };

/* Text of an address, with the time range in which it is valid. */
struct ty_flow_line {
	uint64_t ip, from_ns, until_ns;
	int32_t pid;
	uint16_t len;
	uint8_t flags, size; /* of an instruction; size 0: a name */
	uint8_t raw[16];
	char text[TY_FLOW_LINE];
};

struct ty_flow_lines;

struct ty_flow_lines *ty_flow_lines_new(void); /* NULL: out of memory */
void ty_flow_lines_free(struct ty_flow_lines *l);

/* The cache line of an address of a process at time t, for an instruction (NULL: for the name).
 * *known: its text and until_ns are set; otherwise the caller fills them in. */
struct ty_flow_line *ty_flow_line(struct ty_flow_lines *l, int32_t pid, uint64_t t_ns, uint64_t ip,
				  const struct ty_flow_item *insn, bool *known);

#endif

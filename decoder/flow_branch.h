/* SPDX-License-Identifier: MIT */
/*
 * Converts executed instructions of one stream to taken branches. A jump, a call or a return is
 * always taken. For a conditional branch the next instruction decides; a branch taken to its own
 * fall-through address is not detected (the packet's bit is not among the instructions).
 */
#ifndef TY_FLOW_BRANCH_H
#define TY_FLOW_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "pt_stream.h"

struct ty_branch {
	uint64_t from, to; /* 0: outside the trace */
};

/* One per stream; zeroed at first. */
struct ty_brancher {
	uint64_t ip;
	uint8_t size;
	bool have, always; /* a branch, whatever follows */
};

static inline bool ty_branch_taken(const struct ty_brancher *b, uint64_t to)
{
	return b->have && (b->always || b->ip + b->size != to);
}

/* Returns the branches completed by an item: 0, 1 or 2, in order. */
static inline unsigned ty_brancher_feed(struct ty_brancher *b, const struct ty_flow_item *it,
					struct ty_branch out[2])
{
	unsigned n = 0;

	switch (it->kind) {
	case TY_FLOW_INSN:
		if (ty_branch_taken(b, it->ip))
			out[n++] = (struct ty_branch){.from = b->ip, .to = it->ip};
		*b = (struct ty_brancher){
			.ip = it->ip,
			.size = it->size,
			.have = true,
			.always = it->cls == TY_FC_CALL || it->cls == TY_FC_RETURN ||
				  it->cls == TY_FC_JUMP,
		};
		break;
	case TY_FLOW_START:
		out[n++] = (struct ty_branch){.to = it->ip};
		b->have = false;
		break;
	case TY_FLOW_STOP:
		if (b->have)
			out[n++] = (struct ty_branch){.from = b->ip, .to = it->to};
		b->have = false;
		break;
	case TY_FLOW_ASYNC:
		if (ty_branch_taken(b, it->ip))
			out[n++] = (struct ty_branch){.from = b->ip, .to = it->ip};
		out[n++] = (struct ty_branch){.from = it->ip, .to = it->to};
		b->have = false;
		break;
	case TY_FLOW_GAP:
	case TY_FLOW_OVERFLOW:
	case TY_FLOW_ABORT: b->have = false; break;
	case TY_FLOW_BRANCH: out[n++] = (struct ty_branch){.from = it->ip, .to = it->to}; break;
	default: break;
	}
	return n;
}

#endif

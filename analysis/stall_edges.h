/* SPDX-License-Identifier: MIT */
/* The edges of a stall: waits, wakeups, messages, with the times of their events; from the victim
 * to the root cause. */
#ifndef TY_STALL_EDGES_H
#define TY_STALL_EDGES_H

#include "stalls.h"

/* name in JSON and text */
#define TY_EDGE_KINDS(X)                                                                           \
	X(RECEIVES, "receives") /* a request that is not answered yet */                           \
	X(SENDS, "sends")	/* or wakes: a request */                                          \
	X(WAITS, "waits")                                                                          \
	X(WAKES, "wakes")                                                                          \
	X(RUNS, "runs")                                                                            \
	X(RUNNABLE, "runnable")                                                                    \
	X(EXPIRES, "expires")	  /* a timer */                                                    \
	X(COMPLETES, "completes") /* a device's request, or its interrupt */                       \
	X(LOST, "lost")

enum ty_edge_kind {
#define X(name, text) TY_EDGE_##name,
	TY_EDGE_KINDS(X)
#undef X
		TY_EDGE_KINDS_N
};
const char *ty_edge_kind_name(enum ty_edge_kind k);

struct ty_stall_edge {
	uint8_t kind;		   /* enum ty_edge_kind */
	uint8_t basis;		   /* enum ty_basis: recorded, or by protocol (inferred) */
	bool net;		   /* EXPIRES: a timer of the network, which sent a packet */
	uint32_t thread, to;	   /* the thread, and its receiver or wakee: TY_NONE: none */
	uint32_t call;		   /* in or by which; TY_NONE */
	uint32_t io;		   /* COMPLETES: the block request; TY_NONE */
	uint32_t name;		   /* COMPLETES: the interrupt handler's, ty_model_str; 0 */
	uint64_t start_ns, end_ns; /* equal: an instant */
	char object[192];	   /* what is waited for: "futex 0x7f.."; "" */
};

#define TY_STALL_EDGES (2 * TY_STALL_LINKS + 2)

/* At most TY_STALL_EDGES are written; returns how many. Cost: few reads for each link. */
uint32_t ty_stall_edges(const struct ty_explain *x, const struct ty_stall *s,
			struct ty_stall_edge out[TY_STALL_EDGES]);

#endif

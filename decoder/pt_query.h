/* SPDX-License-Identifier: MIT */
/*
 * Intel PT packets of one range, asked for branch by branch (Intel SDM vol. 3, "Intel Processor
 * Trace", "Packet Definitions"): which way conditional branches went, where indirect ones went, and
 * what happened between. As libipt's query decoder, for the packets of the ordinary case only: what
 * is not (overflows, transactions, 32-bit code, power events, PTWRITE, damage, what a processor's
 * erratum makes of it) is ODD, and whoever asks then asks libipt. Budget: 2 ns per branch, 4 per
 * packet.
 *
 * A question or event takes its packet, with the time that packets before it told, and reads on to
 * the next: `next` tells what it is. Packets with addresses may come behind branches that were
 * executed after them ("deferred TIPs"), so TIP is answered while `branches` are left; events
 * (ON and above) apply when none are.
 */
#ifndef TY_PT_QUERY_H
#define TY_PT_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pt_clock.h"

enum ty_pt_next {
	TY_PT_TNT, /* branches */
	TY_PT_TIP,
	TY_PT_ON,	 /* tracing begins at `to` */
	TY_PT_OFF,	 /* it ends by an instruction on its way to `to` (suppressed: not told) */
	TY_PT_ASYNC_OFF, /* it ends before the instruction `at` is executed */
	TY_PT_ASYNC,	 /* goes on at `to` before the instruction `at` is executed */
	TY_PT_CBR,	 /* ratio */
	TY_PT_PSB,	 /* the code is at `at` (suppressed: tracing is off) */
	TY_PT_END,	 /* of the range */
	TY_PT_ODD,
};

struct ty_pt_query {
	/* Set before use; clock: as its head says. */
	const uint8_t *end;  /* of the bytes */
	const uint8_t *stop; /* the PSB where the range ends, or end */
	bool bdm70, skd007;  /* errata */
	struct ty_pt_clock clock;

	/* Of the last that was taken. */
	bool timed;
	uint64_t tsc;
	unsigned branches; /* not asked for yet; the next one's is the highest bit of: */
	uint64_t bits;

	uint8_t next; /* enum ty_pt_next */
	uint8_t then; /* the second event of a PSB+; 0 */
	/* Of next, an event. */
	bool suppressed;
	uint8_t ratio;
	uint64_t at, to;

	const uint8_t *p;
	uint64_t ip; /* told last; it is what addresses are compressed against */
	bool on;
	const uint8_t *event; /* packet of the event that is next; of a PSB+ its PSBEND */
	/* For ty_pt_query_sure; silent: the first packet since that tells nothing here. */
	const uint8_t *before, *silent;
	unsigned left; /* branches when `before` was kept, and that one */
	bool event_timed;
	uint64_t event_tsc;
	bool fup, fup_timed; /* one was read, at `at`, and waits for its TIP */
	uint64_t fup_tsc;
};

/* Begin at the PSB at p, which is the first event, or the second after its CBR. */
void ty_pt_query_start(struct ty_pt_query *q, const uint8_t *p);
/* Begin at p in the middle, where the PSB+ (of n bytes) would say what is said there: see
 * pt_entry.h. on: tracing is on, at ip. Events of that PSB+ do not come. */
void ty_pt_query_enter(struct ty_pt_query *q, const uint8_t *psb, size_t n, const uint8_t *p,
		       bool on, uint64_t ip);
/* Is the event that is next one of a PSB+? */
bool ty_pt_query_state(const struct ty_pt_query *q);
/* Where libipt has come to when the last question was asked that it has answered: what is decoded
 * is what lies before. */
const uint8_t *ty_pt_query_sure(const struct ty_pt_query *q);
/* next is TNT, and no branches are left: take them. */
void ty_pt_query_branches(struct ty_pt_query *q);
/* Where an indirect branch went; false: next was no TIP, nor TNT and then TIP, or it is not told.
 */
bool ty_pt_query_tip(struct ty_pt_query *q, uint64_t *to);
/* next is an event: read on. tsc and timed become the event's. */
void ty_pt_query_event(struct ty_pt_query *q);

static inline bool ty_pt_query_taken(struct ty_pt_query *q)
{
	bool taken = q->bits >> 63;

	q->bits <<= 1;
	q->branches--;
	return taken;
}

#endif

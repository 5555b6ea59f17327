/* SPDX-License-Identifier: MIT */
/*
 * Reads the Intel PT packets of one range branch by branch (Intel SDM vol. 3, "Intel Processor
 * Trace", "Packet Definitions"): directions of conditional branches, targets of indirect ones, and
 * events between them. Like libipt's query decoder, but for the packets of the ordinary case only:
 * anything else (overflows, transactions, 32-bit code, power events, PTWRITE, damage, effects of
 * errata) is ODD, and the caller falls back to libipt. Budget: 2 ns per branch, 4 per packet.
 *
 * A query or event consumes its packet, with the time given by packets before it, and reads on to
 * the next: `next` is its kind. Packets with addresses may come after branches that were executed
 * after them ("deferred TIPs"), so TIP can be queried while `branches` are left; events (ON and
 * above) apply when none are.
 */
#ifndef TY_PT_QUERY_H
#define TY_PT_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pt_clock.h"
#include "unaligned.h"

enum ty_pt_next {
	TY_PT_TNT, /* branches */
	TY_PT_TIP,
	TY_PT_ON,	 /* tracing begins at `to` */
	TY_PT_OFF,	 /* it ends by an instruction on its way to `to` (suppressed: unknown) */
	TY_PT_ASYNC_OFF, /* it ends before the instruction `at` is executed */
	TY_PT_ASYNC,	 /* execution continues at `to` before the instruction `at` is executed */
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

	/* State at the last packet consumed. */
	bool timed;
	uint64_t tsc;
	unsigned branches; /* pending branches; the next one's direction is the highest bit of: */
	uint64_t bits;

	uint8_t next; /* enum ty_pt_next */
	uint8_t then; /* the second event of a PSB+; 0 */
	/* Of next, an event. */
	bool suppressed;
	uint8_t ratio;
	uint64_t at, to;

	const uint8_t *p;
	const uint8_t *quick; /* up to there the functions below do; NULL: not for the next one */
	uint64_t ip;	      /* last address; addresses are compressed relative to it */
	bool on;
	const uint8_t *event; /* packet of the event that is next; of a PSB+ its PSBEND */
	/* For ty_pt_query_sure; silent: the first packet since then without information. */
	const uint8_t *before, *silent;
	unsigned left; /* branches when `before` was saved, and that one; 0: it is not */
	bool event_timed;
	uint64_t event_tsc;
	bool fup, fup_timed; /* a FUP was read, at `at`, and waits for its TIP */
	uint64_t fup_tsc;
};

/* Starts at the PSB at p, which is the first event, or the second after its CBR. */
void ty_pt_query_start(struct ty_pt_query *q, const uint8_t *p);
/* Starts at p in the middle, with the state in the PSB+ (n bytes) at psb: see pt_entry.h. on:
 * tracing is on, at ip. Events of that PSB+ are not reported. */
void ty_pt_query_enter(struct ty_pt_query *q, const uint8_t *psb, size_t n, const uint8_t *p,
		       bool on, uint64_t ip);
/* True when the next event is part of a PSB+. */
bool ty_pt_query_state(const struct ty_pt_query *q);
/* The position libipt has reached at the last query that it can answer: everything before it is
 * decoded. */
const uint8_t *ty_pt_query_sure(const struct ty_pt_query *q);
/* next is TNT and no branches are pending: loads them. */
void ty_pt_query_branches(struct ty_pt_query *q);
/* Target of an indirect branch. False: next was not TIP, nor TNT followed by TIP, or the target is
 * suppressed. */
bool ty_pt_query_tip(struct ty_pt_query *q, uint64_t *to);
/* The same for packets that nothing but such packets lies before, so that the time is still that of
 * the last query: TNT of 8 bits, and TIPs with an address. False: not that, nothing is done. */
static inline bool ty_pt_query_quick_branches(struct ty_pt_query *q);
static inline bool ty_pt_query_quick_tip(struct ty_pt_query *q, uint64_t *to);
/* next is an event: advances. tsc and timed become the event's. */
void ty_pt_query_event(struct ty_pt_query *q);

/* Private, for these. By a packet's first byte what it answers (enum ty_pt_next, plus 1); 0: it is
 * no such packet. By the upper bits of that byte: bytes of the address, and what they replace. */
extern const uint8_t ty_pt_quick[256];
extern const uint8_t ty_pt_ip_sizes[8];
extern const uint64_t ty_pt_ip_masks[8];
void ty_pt_query_far(struct ty_pt_query *q);

static inline uint8_t ty_pt_query_quick_at(const struct ty_pt_query *q, const uint8_t *p)
{
	return p < q->quick ? ty_pt_quick[*p] : 0;
}

static inline void ty_pt_query_went(struct ty_pt_query *q, const uint8_t *p)
{
	const uint8_t next = ty_pt_query_quick_at(q, p);

	q->p = p;
	if (next)
		q->next = next - 1;
	else
		ty_pt_query_far(q);
}

/* The address of which these are the bytes, after address `ip`. */
static inline uint64_t ty_pt_ip_of(uint64_t ip, unsigned ipc, uint64_t v)
{
	ip = (ip & ~ty_pt_ip_masks[ipc]) | (v & ty_pt_ip_masks[ipc]);
	return ipc == 3 ? (uint64_t)((int64_t)(ip << 16) >> 16) : ip;
}

/* Branches of a TNT packet of 8 bits; the highest bit set is the stop bit, not a branch. */
static inline unsigned ty_pt_tnt_width(uint8_t tnt)
{
	return 30 - (unsigned)__builtin_clz(tnt);
}

static inline uint64_t ty_pt_tnt_bits(uint8_t tnt)
{
	return (uint64_t)tnt << (63 - ty_pt_tnt_width(tnt));
}

static inline bool ty_pt_query_quick_branches(struct ty_pt_query *q)
{
	const uint8_t *p = q->p;
	unsigned width;

	if (!q->quick || q->next != TY_PT_TNT)
		return false;
	width = ty_pt_tnt_width(*p);
	q->bits = (uint64_t)*p << (63 - width);
	q->branches = q->left = width;
	q->before = p;
	ty_pt_query_went(q, p + 1);
	return true;
}

static inline bool ty_pt_query_quick_tip(struct ty_pt_query *q, uint64_t *to)
{
	const uint8_t *p = q->p;
	unsigned ipc;

	if (!q->quick || q->next != TY_PT_TIP)
		return false;
	ipc = *p >> 5;
	q->ip = ty_pt_ip_of(q->ip, ipc, ty_u64_at(p + 1));
	*to = q->ip;
	q->before = p;
	q->left = q->branches + 1;
	q->suppressed = false;
	ty_pt_query_went(q, p + 1 + ty_pt_ip_sizes[ipc]);
	return true;
}

static inline bool ty_pt_query_taken(struct ty_pt_query *q)
{
	bool taken = q->bits >> 63;

	q->bits <<= 1;
	q->branches--;
	return taken;
}

#endif

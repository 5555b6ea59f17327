/* SPDX-License-Identifier: MIT */
/* See pt_query.h. */
#include "pt_query.h"

#include <string.h>

#include "pt_packet.h"
#include "pt_stream.h"
#include "unaligned.h"

enum { PSB_SIZE = 16 };
enum { OP_TSC = 0x19, OP_MTC = 0x59, OP_MODE = 0x99, OP_EXT = 0x02 };
enum { OP_PGD = 0x01, OP_TIP = 0x0d, OP_PGE = 0x11, OP_FUP = 0x1d }; /* lower five bits */
enum {
	EXT_CBR = 0x03,
	EXT_PSBEND = 0x23,
	EXT_PIP = 0x43,
	EXT_TMA = 0x73,
	EXT_PSB = 0x82,
	EXT_TNT = 0xa3,
	EXT_MNT = 0xc3,
	EXT_VMCS = 0xc8,
};

static bool odd(struct ty_pt_query *q)
{
	q->next = TY_PT_ODD;
	return false;
}

static bool has(const struct ty_pt_query *q, size_t n)
{
	return (size_t)(q->end - q->p) >= n;
}

const uint8_t ty_pt_ip_sizes[8] = {0, 2, 4, 6, 6, 0, 8, 0};
const uint64_t ty_pt_ip_masks[8] = {0, 0xffff, 0xffffffff, 0xffffffffffff, 0xffffffffffff,
				    0, ~0ull,  0};

#define TNT(o)	 [(o)] = 1 + TY_PT_TNT, [(o) + 2] = 1 + TY_PT_TNT
#define TNTS(o)	 TNT(o), TNT((o) + 4), TNT((o) + 8), TNT((o) + 12)
#define TIP(ipc) [(ipc) << 5 | OP_TIP] = 1 + TY_PT_TIP
const uint8_t ty_pt_quick[256] = {TNT(0x04),  TNT(0x08),  TNT(0x0c),  TNTS(0x10), TNTS(0x20),
				  TNTS(0x30), TNTS(0x40), TNTS(0x50), TNTS(0x60), TNTS(0x70),
				  TNTS(0x80), TNTS(0x90), TNTS(0xa0), TNTS(0xb0), TNTS(0xc0),
				  TNTS(0xd0), TNTS(0xe0), TNTS(0xf0), TIP(1),	  TIP(2),
				  TIP(3),     TIP(4),	  TIP(6)};
#undef TNT
#undef TNTS
#undef TIP

/* Take the address of the packet at p; false: it is odd. */
static inline bool take_ip(struct ty_pt_query *q)
{
	const unsigned ipc = *q->p >> 5, n = ty_pt_ip_sizes[ipc];
	uint64_t v;

	q->suppressed = !ipc;
	if (!has(q, 1 + n) || (ipc && !n))
		return odd(q);
	v = has(q, 9) ? ty_le_at(q->p + 1, 8) : ty_le_at(q->p + 1, n); /* mostly one load */
	q->p += 1 + n;
	q->ip = ty_pt_ip_of(q->ip, ipc, v);
	return true;
}

/* MODE: 64-bit code, no transaction. */
static bool mode(struct ty_pt_query *q, bool header)
{
	uint8_t m;

	if (!has(q, 2))
		return odd(q);
	m = q->p[1];
	q->p += 2;
	/* Of execution: CS.L, not CS.D; of transactions: neither in one nor aborted. */
	if (m >> 5 == 0 ? (m & 3) != 1 : m >> 5 != 1 || !header || m & 3)
		return odd(q);
	return true;
}

static bool cyc(struct ty_pt_query *q)
{
	const uint8_t *p = q->p;
	uint64_t v = *p >> 3;
	bool more = *p++ & 4;

	for (unsigned shift = 5; more; shift += 7) {
		if (p == q->end || shift + 7 > 64)
			return odd(q);
		v |= (uint64_t)(*p >> 1) << shift;
		more = *p++ & 1;
	}
	/* SKD007: a cut CYC of two bytes, and an OVF in its second. */
	if (q->skd007 && p - q->p == 2 && (v & ~0x1full) == 0x20 && p < q->end && *p == 0xf3)
		return odd(q);
	q->p = p;
	return ty_pt_clock_cyc(&q->clock, v) || odd(q);
}

/* Events to libipt. */
static void silent(struct ty_pt_query *q, bool header)
{
	if (!header && !q->silent)
		q->silent = q->p;
}

/* Packets that change only the time, or nothing, at any place; false: odd. */
static bool plain(struct ty_pt_query *q, bool header)
{
	const uint8_t *p = q->p;
	size_t n;

	switch (*p) {
	case OP_TSC:
		if (!has(q, 8))
			return odd(q);
		q->p += 8;
		if (!header)
			ty_pt_clock_tsc(&q->clock, ty_le_at(p + 1, 7));
		else if (!ty_pt_clock_psb_tsc(&q->clock, ty_le_at(p + 1, 7)))
			return odd(q);
		return true;
	case OP_MTC:
		if (!has(q, 2) || !ty_pt_clock_mtc(&q->clock, p[1]))
			return odd(q);
		q->p += 2;
		return true;
	case OP_MODE: silent(q, header); return mode(q, header);
	case OP_EXT: break;
	default: return (*p & 3) == 3 ? cyc(q) : odd(q);
	}
	if (!has(q, 2))
		return odd(q);
	switch (p[1]) {
	case EXT_TMA:
		n = 7;
		if (!has(q, n) || p[4] || p[6] & 0xfe ||
		    !ty_pt_clock_tma(&q->clock, (uint16_t)ty_le_at(p + 2, 2),
				     (uint16_t)ty_le_at(p + 5, 2)))
			return odd(q);
		break;
	case EXT_PIP: n = 8; break;
	case EXT_VMCS: n = 7; break;
	case EXT_MNT:
		n = 11;
		if (!has(q, n) || p[2] != 0x88)
			return odd(q);
		break;
	default: return odd(q);
	}
	if (!has(q, n))
		return odd(q);
	if (p[1] != EXT_TMA)
		silent(q, header);
	q->p += n;
	return true;
}

/* Behind padding, of which there may be more than of packets; at most `end`. */
static inline const uint8_t *past_pads(const uint8_t *p, const uint8_t *end)
{
	uint64_t v;

	for (; end - p >= 8; p += 8) {
		v = ty_le_at(p, 8);
		if (v)
			return p + (unsigned)__builtin_ctzll(v) / 8;
	}
	while (p < end && !*p)
		p++;
	return p;
}

static bool is_ext(const struct ty_pt_query *q, uint8_t ext)
{
	return *q->p == OP_EXT && has(q, 2) && q->p[1] == ext;
}

static bool cbr(struct ty_pt_query *q, bool header)
{
	if (!has(q, 4) || !(header ? ty_pt_clock_psb_cbr : ty_pt_clock_cbr)(&q->clock, q->p[2]))
		return odd(q);
	q->ratio = q->p[2];
	q->event = q->p;
	q->p += 4;
	return true;
}

static void event_time(struct ty_pt_query *q)
{
	q->event_timed = q->clock.timed;
	q->event_tsc = q->clock.tsc;
}

/* BDM70: the FUP of a PSB+ before p is of where tracing will begin, by a TIP.PGE close behind. */
static bool begins(const struct ty_pt_query *q)
{
	struct ty_pt_packet k;
	uint8_t block = 0;

	for (const uint8_t *p = q->p; p < q->end; p = past_pads(p + k.size, q->end)) {
		k = ty_pt_packet_at(p, (size_t)(q->end - p), &block);
		switch (k.kind) {
		case TY_PKT_PGE: return true;
		case TY_PKT_PAD:
		case TY_PKT_TSC:
		case TY_PKT_CBR:
		case TY_PKT_PSBEND:
		case TY_PKT_PIP:
		case TY_PKT_MODE_EXEC:
		case TY_PKT_MODE_TSX:
		case TY_PKT_VMCS:
		case TY_PKT_TMA:
		case TY_PKT_MTC:
		case TY_PKT_CYC:
		case TY_PKT_MNT: break;
		default: return false;
		}
	}
	return false;
}

/* The PSB+ at p: where the code is, an event, and before or after it a CBR, as libipt would. */
static void header(struct ty_pt_query *q)
{
	bool state = false, cbr_first = false;

	if (q->fup || !has(q, PSB_SIZE) || ty_pt_psb_after(q->p, PSB_SIZE, 0)) {
		odd(q);
		return;
	}
	q->p += PSB_SIZE;
	q->ip = 0;
	q->ratio = 0;
	q->suppressed = true;
	ty_pt_clock_psb(&q->clock);
	while (has(q, 1) && !is_ext(q, EXT_PSBEND)) {
		uint8_t op = *q->p;

		if (!op) {
			q->p = past_pads(q->p, q->end);
		} else if (is_ext(q, EXT_CBR)) {
			if (q->ratio || !cbr(q, true))
				return;
			cbr_first = !state;
		} else if ((op & 0x1f) == OP_FUP) {
			uint64_t last = q->ip;
			bool off = q->suppressed;

			if (!take_ip(q))
				break;
			if (q->bdm70 && !q->on && begins(q)) {
				q->ip = last;
				q->suppressed = off;
				continue;
			}
			q->on |= !q->suppressed;
			q->at = q->ip;
		} else {
			state |= op == OP_MODE || is_ext(q, EXT_PIP) || is_ext(q, EXT_VMCS);
			if (!plain(q, true))
				return;
		}
	}
	if (!has(q, 2) || !is_ext(q, EXT_PSBEND)) {
		odd(q);
		return;
	}
	q->event = q->p;
	q->p += 2;
	q->next = cbr_first ? TY_PT_CBR : TY_PT_PSB;
	q->then = !q->ratio ? 0 : cbr_first ? TY_PT_PSB : TY_PT_CBR;
	event_time(q);
}

/* The event of the packet with an address at p, which is no plain TIP. */
static void event(struct ty_pt_query *q, uint8_t op)
{
	q->event = q->p;
	if (!take_ip(q))
		return;
	q->to = q->ip;
	event_time(q);
	if (q->fup) {
		q->event_timed = q->fup_timed;
		q->event_tsc = q->fup_tsc;
	}
	switch (op) {
	case OP_PGE:
		q->on = true;
		q->next = TY_PT_ON;
		if (q->fup || q->suppressed)
			odd(q);
		break;
	case OP_PGD:
		q->on = false;
		q->next = q->fup ? TY_PT_ASYNC_OFF : TY_PT_OFF;
		break;
	default:
		q->next = TY_PT_ASYNC;
		if (q->suppressed)
			odd(q);
	}
	q->fup = false;
}

/* The packets that answer queries, unless they follow a FUP: TNT of 8 bits (excluding the extended
 * opcode and padding), and plain TIP. */
static inline bool is_asked(const struct ty_pt_query *q, uint8_t op)
{
	return !q->fup && ((op & 0x1f) == OP_TIP || (!(op & 1) && op > OP_EXT));
}

static __attribute__((noinline)) void advance_far(struct ty_pt_query *q)
{
	for (;;) {
		uint8_t op;

		if (q->p >= q->stop) {
			q->next = q->p == q->stop && !q->fup ? TY_PT_END : TY_PT_ODD;
			return;
		}
		op = *q->p;
		/* A CYC of one byte: with these there is one before nearly each other packet. */
		if ((op & 7) == 3) {
			if (!ty_pt_clock_cyc(&q->clock, op >> 3)) {
				odd(q);
				return;
			}
			q->p++;
			continue;
		}
		if (is_asked(q, op)) {
			q->next = op & 1 ? TY_PT_TIP : TY_PT_TNT;
			return;
		}
		if (op == OP_TSC && has(q, 8)) {
			ty_pt_clock_tsc(&q->clock, ty_le_at(q->p, 8) >> 8);
			q->p += 8;
			continue;
		}
		if (!(op & 1)) {
			if (!op) {
				q->p = past_pads(q->p, q->stop);
				continue;
			}
			if (op != OP_EXT || is_ext(q, EXT_TNT)) {
				q->next = q->fup ? TY_PT_ODD : TY_PT_TNT;
				return;
			}
			if (is_ext(q, EXT_PSB)) {
				header(q);
				return;
			}
			if (is_ext(q, EXT_CBR)) {
				q->next = TY_PT_CBR;
				if (!cbr(q, false))
					odd(q);
				event_time(q);
				return;
			}
		}
		switch (op & 0x1f) {
		case OP_TIP:
		case OP_PGE:
		case OP_PGD: event(q, op & 0x1f); return;
		case OP_FUP:
			if (q->fup || !take_ip(q) || q->suppressed) {
				odd(q);
				return;
			}
			q->fup = true;
			q->at = q->ip;
			q->fup_timed = q->clock.timed;
			q->fup_tsc = q->clock.tsc;
			break;
		default:
			if (!plain(q, false))
				return;
		}
	}
}

/* Reads on to the next packet that needs a query. */
static inline void advance(struct ty_pt_query *q)
{
	if (q->p < q->stop && is_asked(q, *q->p))
		q->next = *q->p & 1 ? TY_PT_TIP : TY_PT_TNT;
	else
		advance_far(q);
}

void ty_pt_query_far(struct ty_pt_query *q)
{
	q->quick = NULL;
	advance_far(q);
}

/* As advance, behind a query that was answered with the time. */
static inline void go_on(struct ty_pt_query *q)
{
	if (q->p >= q->stop || !is_asked(q, *q->p)) {
		ty_pt_query_far(q);
		return;
	}
	q->next = *q->p & 1 ? TY_PT_TIP : TY_PT_TNT;
	/* An address is read as 8 bytes. */
	q->quick = q->end - q->p <= 8 ? NULL : q->end - 8 < q->stop ? q->end - 8 : q->stop;
	if (!ty_pt_quick[*q->p])
		q->quick = NULL;
}

static void stamp(struct ty_pt_query *q)
{
	q->timed = q->clock.timed;
	q->tsc = q->clock.tsc;
}

static void begin_at(struct ty_pt_query *q, const uint8_t *p)
{
	q->before = p;
	q->left = 1;
	q->silent = NULL;
}

static void begin(struct ty_pt_query *q, const uint8_t *p)
{
	q->p = p;
	q->quick = NULL;
	q->on = q->fup = false;
	q->branches = 0;
	q->bits = 0;
	begin_at(q, p);
}

void ty_pt_query_start(struct ty_pt_query *q, const uint8_t *p)
{
	begin(q, p);
	header(q);
	stamp(q);
}

void ty_pt_query_enter(struct ty_pt_query *q, const uint8_t *psb, size_t n, const uint8_t *p,
		       bool on, uint64_t ip)
{
	const uint8_t *end = q->end;

	begin(q, psb);
	q->end = psb + n;
	header(q);
	q->end = end;
	q->p = p;
	begin_at(q, p);
	if (q->next == TY_PT_ODD)
		return;
	q->then = 0;
	q->on = on;
	q->ip = ip;
	stamp(q);
	advance(q);
}

/* Where the packet is that is next; as libipt, which has read on to there. */
static const uint8_t *ahead(const struct ty_pt_query *q)
{
	struct ty_pt_packet k = {0};
	const uint8_t *p = q->p;
	uint8_t block = 0;

	if (q->silent)
		return q->silent;
	if (q->next > TY_PT_TIP && q->next < TY_PT_END)
		return q->event;
	/* The next range's PSB+ has been read. */
	while (q->next == TY_PT_END && p < q->end && k.kind != TY_PKT_PSBEND) {
		p = past_pads(p + k.size, q->end);
		k = ty_pt_packet_at(p, (size_t)(q->end - p), &block);
		if (k.kind == TY_PKT_BAD)
			return q->end;
	}
	return p;
}

bool ty_pt_query_state(const struct ty_pt_query *q)
{
	return q->next == TY_PT_PSB || (q->next == TY_PT_CBR && q->event[1] == EXT_PSBEND);
}

const uint8_t *ty_pt_query_sure(const struct ty_pt_query *q)
{
	return q->branches + 1 == q->left ? q->before : ahead(q);
}

void ty_pt_query_branches(struct ty_pt_query *q)
{
	unsigned n = 8, width;
	uint64_t v;

	if (*q->p == OP_EXT) {
		if (!has(q, 8)) {
			odd(q);
			return;
		}
		v = ty_le_at(q->p, 8) >> 16;
	} else {
		n = 1;
		v = *q->p >> 1;
	}
	/* The highest bit set is the stop bit, not a branch. */
	if (v < 2) {
		odd(q);
		return;
	}
	width = 63 - (unsigned)__builtin_clzll(v);
	q->bits = v << (64 - width);
	q->branches = q->left = width;
	q->before = q->silent ? q->silent : q->p;
	q->silent = NULL;
	q->p += n;
	stamp(q);
	go_on(q);
}

bool ty_pt_query_tip(struct ty_pt_query *q, uint64_t *to)
{
	const uint8_t *before = q->p;
	bool known;

	/* Branches that are executed later but precede in the packets. */
	if (q->next == TY_PT_TNT && !q->branches)
		ty_pt_query_branches(q);
	if (q->next != TY_PT_TIP) {
		odd(q);
		return false;
	}
	q->before = q->silent ? q->silent : before;
	q->silent = NULL;
	q->left = q->branches + 1;
	if (!take_ip(q))
		return false;
	*to = q->ip;
	known = !q->suppressed;
	stamp(q);
	go_on(q);
	return known;
}

void ty_pt_query_event(struct ty_pt_query *q)
{
	q->timed = q->event_timed;
	q->tsc = q->event_tsc;
	q->silent = NULL;
	if (q->then) {
		q->next = q->then;
		q->then = 0;
	} else {
		advance(q);
	}
	q->left = 0;
}

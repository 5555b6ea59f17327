/* SPDX-License-Identifier: MIT */
/* Arm SPE packets, bytes to values (spe_packet.h). */
#include "spe_packet.h"

#include <inttypes.h>

#include "err.h"
#include "checked_read.h"

#define WIDTHS(h, kind, slot)                                                                      \
	[h] = {kind, 1, 0, slot}, [(h) + 0x10] = {kind, 2, 0, slot},                               \
	[(h) + 0x20] = {kind, 4, 0, slot}, [(h) + 0x30] = {kind, 8, 0, slot}

/* The meaning of a header byte; width 0: it begins no packet with a payload. slot is that of index
 * 0. */
struct head {
	uint8_t kind, width, index_mask, slot;
};

/* Addresses, counters, contexts and operations have their width in the header like all others, but
 * only one is defined: the others are no packets. */
static const struct head heads[256] = {
	WIDTHS(0x42, TY_SPE_EVENTS, TY_SPE_SLOT_EVENTS),
	WIDTHS(0x43, TY_SPE_SOURCE, TY_SPE_SLOT_SOURCE),
	[0x48 ... 0x4b] = {TY_SPE_OPERATION, 1, 3, TY_SPE_SLOT_OPERATION},
	[0x64 ... 0x67] = {TY_SPE_CONTEXT, 4, 3, TY_SPE_SLOT_CONTEXT},
	[0x71] = {TY_SPE_TIMESTAMP, 8, 0, TY_SPE_SLOT_TIMESTAMP},
	[0x98 ... 0x9f] = {TY_SPE_COUNTER, 2, 7, TY_SPE_SLOT_COUNTER},
	[0xb0 ... 0xb7] = {TY_SPE_ADDRESS, 8, 7, TY_SPE_SLOT_ADDRESS},
};

static inline int payload(const uint8_t *p, size_t n, unsigned at, unsigned high,
			  struct ty_spe_packet *k)
{
	unsigned h = p[at - 1];
	const struct head *e = &heads[h];

	k->kind = e->kind;
	k->index = (uint8_t)(high << 3 | (h & e->index_mask));
	k->width = e->width;
	k->bytes = at + e->width;
	if (n >= at + 8u) /* one load for all widths */
		k->value = ty_load(p + at, 8, false) & UINT64_MAX >> (64 - 8 * e->width);
	else if (n >= k->bytes)
		k->value = ty_load(p + at, e->width, false);
	else
		return 0;
	return 1;
}

static uint32_t padding(const uint8_t *p, size_t n)
{
	uint32_t run = 1, most = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;

	while (run + 8 <= most && !ty_load(p + run, 8, false))
		run += 8;
	while (run < most && !p[run])
		run++;
	return run;
}

int ty_spe_packet(const uint8_t *p, size_t n, uint64_t off, struct ty_spe_packet *k)
{
	unsigned h;
	uint64_t size, skip;

	*k = (struct ty_spe_packet){0};
	if (!n)
		return 0;
	h = p[0];
	if (heads[h].width)
		return payload(p, n, 1, 0, k);
	if (!h) {
		k->bytes = padding(p, n);
		return 1;
	}
	if (h == 0x01) {
		k->kind = TY_SPE_END;
		k->bytes = 1;
		return 1;
	}
	/* An extended header: an index beyond 7, or alignment. */
	if ((h & 0xf0) != 0x20)
		return -TY_EFORMAT;
	if (n < 2)
		return 0;
	if (p[1]) {
		if ((h & 0xfc) != 0x20 ||
		    (heads[p[1]].kind != TY_SPE_ADDRESS && heads[p[1]].kind != TY_SPE_COUNTER))
			return -TY_EFORMAT;
		return payload(p, n, 2, h & 3, k);
	}
	/* Up to the next multiple of 2^(nibble + 1); the two bytes of the packet itself may be all
	 * there is to skip. */
	size = 1ull << ((h & 15) + 1);
	skip = size - (off & (size - 1));
	if (skip < 2)
		skip += size;
	k->bytes = (uint32_t)skip;
	return n < skip ? 0 : 1;
}

/* Text --------------------------------------------------------------------------------------------
 */

const char *ty_spe_event_name(unsigned bit)
{
	static const char *const names[64] = {
		"EXCEPTION-GEN",  "RETIRED",	   "L1D-ACCESS",
		"L1D-REFILL",	  "TLB-ACCESS",	   "TLB-REFILL",
		"NOT-TAKEN",	  "MISPRED",	   "LLC-ACCESS",
		"LLC-REFILL",	  "REMOTE-ACCESS", "ALIGNMENT",
		"EVENT-12",	  "EVENT-13",	   "EVENT-14",
		"EVENT-15",	  "TXN",	   "SVE-PARTIAL-PRED",
		"SVE-EMPTY-PRED", "L2D-ACCESS",	   "L2D-MISS",
		"HITM",		  "LFB",	   "SNOOPED",
		"STREAMING-SVE",  "SMCU",	   "EVENT-26",
		"EVENT-27",	  "EVENT-28",	   "EVENT-29",
		"EVENT-30",	  "EVENT-31",	   "EVENT-32",
		"EVENT-33",	  "EVENT-34",	   "EVENT-35",
		"EVENT-36",	  "EVENT-37",	   "EVENT-38",
		"EVENT-39",	  "EVENT-40",	   "EVENT-41",
		"EVENT-42",	  "EVENT-43",	   "EVENT-44",
		"EVENT-45",	  "EVENT-46",	   "EVENT-47",
		"EVENT-48",	  "EVENT-49",	   "EVENT-50",
		"EVENT-51",	  "EVENT-52",	   "EVENT-53",
		"EVENT-54",	  "EVENT-55",	   "EVENT-56",
		"EVENT-57",	  "EVENT-58",	   "EVENT-59",
		"EVENT-60",	  "EVENT-61",	   "EVENT-62",
		"EVENT-63",
	};

	return names[bit & 63];
}

static void events_text(uint64_t events, struct ty_buf *out)
{
	for (const char *sep = ""; events; events &= events - 1, sep = " ") {
		ty_buf_adds(out, sep);
		ty_buf_adds(out, ty_spe_event_name((unsigned)__builtin_ctzll(events)));
	}
}

static void load_store(unsigned v, struct ty_buf *out)
{
	ty_buf_adds(out, v & 1 ? "ST" : "LD");
	if ((v & 0xfe) == 0x00) {
		ty_buf_adds(out, " GP-REG");
	} else if ((v & 0xfe) == 0x04) {
		ty_buf_adds(out, " SIMD-FP");
	} else if ((v & 0xfe) == 0x10) {
		ty_buf_adds(out, " UNSPEC-REG");
	} else if ((v & 0xfe) == 0x14) {
		ty_buf_adds(out, " MTE-TAG");
	} else if ((v & 0xfe) == 0x30) {
		ty_buf_adds(out, " NV-SYSREG");
	} else if ((v & 0xfe) == 0x20) {
		ty_buf_adds(out, " MEMCPY");
	} else if (v == 0x25) {
		ty_buf_adds(out, " MEMSET");
	} else if ((v & 0xe2) == 0x02) {
		ty_buf_adds(out, v & 4 ? " AT" : "");
		ty_buf_adds(out, v & 8 ? " EXCL" : "");
		ty_buf_adds(out, v & 16 ? " AR" : "");
	} else if ((v & 0x0a) == 0x08) {
		ty_buf_addf(out, " EVLEN %u", 32u << (v >> 4 & 7));
		ty_buf_adds(out, v & 4 ? " PRED" : "");
		ty_buf_adds(out, v & 0x80 ? " SG" : "");
	} else if ((v & 0xfa) == 0x40) {
		ty_buf_adds(out, v & 4 ? " GCS COMMON" : " GCS");
	} else {
		ty_buf_addf(out, " 0x%02x", v);
	}
}

static void other(unsigned v, struct ty_buf *out)
{
	if (!(v & 0xf8)) {
		ty_buf_adds(out, v & 1 ? "OTHER COND-SELECT" : "OTHER INSN-OTHER");
		ty_buf_adds(out, v & 2 ? " FP" : "");
		ty_buf_adds(out, v & 4 ? " ASE" : "");
	} else if ((v & 0x89) == 0x08) {
		ty_buf_addf(out, "SVE-OTHER EVLEN %u", 32u << (v >> 4 & 7));
		ty_buf_adds(out, v & 2 ? " FP" : "");
		ty_buf_adds(out, v & 4 ? " PRED" : "");
	} else if ((v & 0x89) == 0x88) {
		ty_buf_addf(out, "SME-OTHER ETS %u", 128u << ((v >> 4 & 7) << 1 | (v >> 2 & 1)));
		ty_buf_adds(out, v & 2 ? " FP" : "");
	} else {
		ty_buf_addf(out, "OTHER 0x%02x", v);
	}
}

static void branch(unsigned v, struct ty_buf *out)
{
	static const char *const flow[] = {"", " BL", " RET", " NOT-CALL-RET"};

	ty_buf_adds(out, "B");
	ty_buf_adds(out, v & 1 ? " COND" : "");
	ty_buf_adds(out, v & 2 ? " IND" : "");
	ty_buf_adds(out, v & 4 ? " GCS" : "");
	ty_buf_adds(out, flow[v >> 3 & 3]);
	if (v & ~0x1fu)
		ty_buf_addf(out, " 0x%02x", v & ~0x1fu);
}

void ty_spe_op_text(unsigned op_class, unsigned v, struct ty_buf *out)
{
	if (op_class == 0)
		other(v, out);
	else if (op_class == 1)
		load_store(v, out);
	else if (op_class == 2)
		branch(v, out);
	else
		ty_buf_addf(out, "CLASS-%u 0x%02x", op_class, v);
}

static void address(const struct ty_spe_packet *k, struct ty_buf *out)
{
	static const char *const code[] = {"PC", "TGT", NULL, NULL, "PBT"};
	uint64_t low = k->value & ((1ull << 56) - 1);

	if (k->index == 2) {
		ty_buf_addf(out, "VA 0x%" PRIx64, k->value);
	} else if (k->index == 3) {
		ty_buf_addf(out, "PA 0x%" PRIx64 " ns=%u ch=%u pat=%x", low,
			    (unsigned)(k->value >> 63), (unsigned)(k->value >> 62 & 1),
			    (unsigned)(k->value >> 56 & 15));
	} else if (k->index <= 4) {
		ty_buf_addf(out, "%s 0x%" PRIx64 " el%u ns=%u", code[k->index], low,
			    (unsigned)(k->value >> 61 & 3), (unsigned)(k->value >> 63));
	} else {
		ty_buf_addf(out, "ADDR %u 0x%" PRIx64, k->index, k->value);
	}
}

void ty_spe_packet_text(const struct ty_spe_packet *k, struct ty_buf *out)
{
	static const char *const counters[] = {"TOT", "ISSUE", "XLAT"};

	switch (k->kind) {
	case TY_SPE_PAD: ty_buf_adds(out, "PAD"); break;
	case TY_SPE_END: ty_buf_adds(out, "END"); break;
	case TY_SPE_TIMESTAMP: ty_buf_addf(out, "TS %" PRIu64, k->value); break;
	case TY_SPE_EVENTS:
		ty_buf_adds(out, k->value ? "EV " : "EV");
		events_text(k->value, out);
		break;
	case TY_SPE_SOURCE: ty_buf_addf(out, "DATA-SOURCE %" PRIu64, k->value); break;
	case TY_SPE_CONTEXT:
		ty_buf_addf(out, "CONTEXT 0x%" PRIx64 " el%u", k->value, k->index + 1u);
		break;
	case TY_SPE_OPERATION: ty_spe_op_text(k->index, (unsigned)k->value, out); break;
	case TY_SPE_ADDRESS: address(k, out); break;
	case TY_SPE_COUNTER:
		ty_buf_addf(out, "LAT %" PRIu64, k->value);
		if (k->index < 3)
			ty_buf_addf(out, " %s", counters[k->index]);
		else
			ty_buf_addf(out, " COUNTER-%u", k->index);
		break;
	}
}

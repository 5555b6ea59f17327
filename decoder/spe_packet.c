/* SPDX-License-Identifier: MIT */
/* Arm SPE packets, bytes to values (spe_packet.h). */
#include "spe_packet.h"

#include <inttypes.h>

#include "err.h"
#include "rd.h"

static int payload(const uint8_t *p, size_t n, unsigned head, struct ty_spe_packet *k)
{
	k->width = (uint8_t)(1u << (p[head - 1] >> 4 & 3));
	k->bytes = head + k->width;
	if (n < k->bytes)
		return 0;
	k->value = ty_load(p + head, k->width, false);
	return 1;
}

int ty_spe_packet(const uint8_t *p, size_t n, uint64_t off, struct ty_spe_packet *k)
{
	unsigned h, high = 0, head = 1;

	*k = (struct ty_spe_packet){0};
	if (!n)
		return 0;
	h = p[0];
	if (!h) {
		uint32_t run = 1, most = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;

		while (run < most && !p[run])
			run++;
		k->bytes = run;
		return 1;
	}
	if (h == 0x01) {
		k->kind = TY_SPE_END;
		k->bytes = 1;
		return 1;
	}
	if (h == 0x71) {
		k->kind = TY_SPE_TIMESTAMP;
		return payload(p, n, 1, k);
	}
	if ((h & 0xfc) == 0x20) { /* an extended header */
		if (n < 2)
			return 0;
		high = h & 3;
		h = p[1];
		head = 2;
		if (!h) { /* alignment: up to the next multiple of 2^(nibble + 1) */
			uint64_t size = 1ull << ((p[0] & 15) + 1), skip;

			skip = size - (off & (size - 1));
			/* The two bytes of the packet itself may be all there is to skip. */
			if (skip < 2)
				skip += size;
			k->bytes = (uint32_t)skip;
			return n < skip ? 0 : 1;
		}
		if ((h & 0xf8) != 0xb0 && (h & 0xf8) != 0x98)
			return -TY_EFORMAT;
	}
	if ((h & 0xf8) == 0xb0) {
		k->kind = TY_SPE_ADDRESS;
		k->index = (uint8_t)(high << 3 | (h & 7));
		return payload(p, n, head, k);
	}
	if ((h & 0xf8) == 0x98) {
		k->kind = TY_SPE_COUNTER;
		k->index = (uint8_t)(high << 3 | (h & 7));
		return payload(p, n, head, k);
	}
	if ((h & 0xcf) == 0x42) {
		k->kind = TY_SPE_EVENTS;
		return payload(p, n, 1, k);
	}
	if ((h & 0xcf) == 0x43) {
		k->kind = TY_SPE_SOURCE;
		return payload(p, n, 1, k);
	}
	if ((h & 0xfc) == 0x64 || (h & 0xfc) == 0x48) {
		k->kind = (h & 0xfc) == 0x64 ? TY_SPE_CONTEXT : TY_SPE_OPERATION;
		k->index = h & 3;
		return payload(p, n, 1, k);
	}
	return -TY_EFORMAT;
}

/* Text --------------------------------------------------------------------------------------------
 */

void ty_spe_events_text(uint64_t events, struct ty_buf *out)
{
	static const char *const names[] = {
		"EXCEPTION-GEN",
		"RETIRED",
		"L1D-ACCESS",
		"L1D-REFILL",
		"TLB-ACCESS",
		"TLB-REFILL",
		"NOT-TAKEN",
		"MISPRED",
		"LLC-ACCESS",
		"LLC-REFILL",
		"REMOTE-ACCESS",
		"ALIGNMENT",
		NULL,
		NULL,
		NULL,
		NULL,
		"TXN",
		"SVE-PARTIAL-PRED",
		"SVE-EMPTY-PRED",
		"L2D-ACCESS",
		"L2D-MISS",
		"HITM",
		"LFB",
		"SNOOPED",
		"STREAMING-SVE",
		"SMCU",
	};
	const char *sep = "";

	for (unsigned i = 0; i < 64; i++) {
		if (!(events >> i & 1))
			continue;
		if (i < sizeof(names) / sizeof(*names) && names[i])
			ty_buf_addf(out, "%s%s", sep, names[i]);
		else
			ty_buf_addf(out, "%sEVENT-%u", sep, i);
		sep = " ";
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
		ty_spe_events_text(k->value, out);
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

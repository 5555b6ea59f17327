/* SPDX-License-Identifier: MIT */
/* See pt_stream.h: where a stream can be entered, and the content of a PSB+ (Intel SDM, table
 * "PSB+"). */
#include <string.h>

#include "pt_packet.h"
#include "pt_stream.h"

enum { PSB_SIZE = 16 };

size_t ty_pt_psb_after(const uint8_t *bytes, size_t n, size_t from)
{
	static const uint8_t psb[PSB_SIZE] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					      2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	uint64_t even, odd, word;

	memcpy(&even, psb, 8);
	memcpy(&odd, psb + 1, 8);
	/* Every eighth byte begins a word that lies within a PSB, if there is one. */
	for (size_t i = from; i < n && n - i >= 8; i += 8) {
		memcpy(&word, bytes + i, 8);
		if (word != even && word != odd)
			continue;
		for (size_t k = i - from < 7 ? from : i - 7; k <= i && n - k >= PSB_SIZE; k++)
			if (!memcmp(bytes + k, psb, PSB_SIZE))
				return k;
	}
	return n;
}

/* True if the packet may be in a PSB+; its content goes to out. */
static bool take(const struct ty_pt_packet *k, const uint8_t *p, struct ty_pt_point *out)
{
	switch (k->kind) {
	case TY_PKT_TSC:
		out->tsc = 0;
		memcpy(&out->tsc, p + 1, 7);
		out->timed = true;
		return true;
	case TY_PKT_MODE_EXEC: out->mode = true; return true;
	case TY_PKT_FUP:
		out->ip = ty_pt_packet_ip(k, 0);
		out->on = k->has_ip;
		return true;
	case TY_PKT_PAD:
	case TY_PKT_MODE_TSX:
	case TY_PKT_MTC:
	case TY_PKT_CYC:
	case TY_PKT_PSBEND:
	case TY_PKT_CBR:
	case TY_PKT_PIP:
	case TY_PKT_TMA:
	case TY_PKT_VMCS:
	case TY_PKT_MNT: return true;
	default: return false;
	}
}

struct ty_pt_point ty_pt_point_at(const uint8_t *bytes, size_t n, size_t off)
{
	struct ty_pt_point out = {.off = off};
	struct ty_pt_packet k = {0};
	uint8_t block = 0;

	for (off += PSB_SIZE; off < n && k.kind != TY_PKT_PSBEND; off += k.size) {
		k = ty_pt_packet_at(bytes + off, n - off, &block);
		if (!take(&k, bytes + off, &out))
			break;
	}
	out.whole = k.kind == TY_PKT_PSBEND;
	return out;
}

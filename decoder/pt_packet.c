/* SPDX-License-Identifier: MIT */
/* See pt_packet.h. */
#include "pt_packet.h"

#include <string.h>

enum { PSB_SIZE = 16, BLOCK_8 = 1, BLOCK_4 = 2, CYC_MAX = 10 };

static struct ty_pt_packet of(uint8_t kind, size_t size, size_t n)
{
	return (struct ty_pt_packet){.kind = size <= n ? kind : TY_PKT_BAD, .size = (uint8_t)size};
}

static struct ty_pt_packet with_fup(uint8_t kind, size_t size, size_t n, bool fup)
{
	struct ty_pt_packet k = of(kind, size, n);

	k.has_fup = fup;
	return k;
}

static struct ty_pt_packet extended(const uint8_t *p, size_t n, uint8_t *block)
{
	static const uint8_t psb[PSB_SIZE] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					      2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

	if (n < 2)
		return of(TY_PKT_BAD, 1, n);
	switch (p[1]) {
	case 0x82:
		return n >= PSB_SIZE && !memcmp(p, psb, PSB_SIZE) ? of(TY_PKT_PSB, PSB_SIZE, n)
								  : of(TY_PKT_BAD, 2, n);
	case 0x23: return of(TY_PKT_PSBEND, 2, n);
	case 0xf3: return of(TY_PKT_OVF, 2, n);
	case 0x83: return of(TY_PKT_STOP, 2, n);
	case 0xa3: return of(TY_PKT_TNT, 8, n);
	case 0x03: return of(TY_PKT_CBR, 4, n);
	case 0x43: return of(TY_PKT_PIP, 8, n);
	case 0x73: return of(TY_PKT_TMA, 7, n);
	case 0xc8: return of(TY_PKT_VMCS, 7, n);
	case 0xc3: return of(n > 2 && p[2] == 0x88 ? TY_PKT_MNT : TY_PKT_BAD, 11, n);
	case 0x62:
	case 0xe2: return with_fup(TY_PKT_POWER, 2, n, p[1] >> 7); /* EXSTOP */
	case 0xc2: return with_fup(TY_PKT_POWER, 10, n, true);	   /* MWAIT */
	case 0x22: return of(TY_PKT_POWER, 4, n);		   /* PWRE */
	case 0xa2: return of(TY_PKT_POWER, 7, n);		   /* PWRX */
	case 0x12:
	case 0x92: return with_fup(TY_PKT_PTW, 6, n, p[1] >> 7);
	case 0x32:
	case 0xb2: return with_fup(TY_PKT_PTW, 10, n, p[1] >> 7);
	case 0x13: return with_fup(TY_PKT_EVENT, 4, n, n > 2 && p[2] >> 7); /* CFE */
	case 0x53: return of(TY_PKT_EVENT, 11, n);			    /* EVD */
	case 0x63:							    /* BBP */
		*block = n > 2 && p[2] >> 7 ? BLOCK_4 : BLOCK_8;
		return of(TY_PKT_BLOCK, 3, n);
	case 0x33:
	case 0xb3: *block = 0; return with_fup(TY_PKT_BLOCK, 2, n, p[1] >> 7); /* BEP */
	default: return of(TY_PKT_BAD, 2, n);
	}
}

static struct ty_pt_packet address(uint8_t kind, const uint8_t *p, size_t n)
{
	static const uint8_t sizes[8] = {0, 2, 4, 6, 6, 0, 8, 0};
	unsigned code = *p >> 5;
	struct ty_pt_packet k = of(code == 5 || code == 7 ? TY_PKT_BAD : kind, 1u + sizes[code], n);

	k.ip_code = (uint8_t)code;
	k.has_ip = code;
	if (k.kind != TY_PKT_BAD)
		memcpy(&k.ip, p + 1, sizes[code]);
	return k;
}

static struct ty_pt_packet cycles(const uint8_t *p, size_t n)
{
	bool more = *p & 4;
	size_t k = 1;

	for (; more && k < n && k < CYC_MAX; k++)
		more = p[k] & 1;
	return of(more ? TY_PKT_BAD : TY_PKT_CYC, k, n);
}

struct ty_pt_packet ty_pt_packet_at(const uint8_t *p, size_t n, uint8_t *block)
{
	if (!n)
		return of(TY_PKT_BAD, 0, n);
	if (*block && (*p & 7) == 4) /* BIP */
		return of(TY_PKT_BLOCK, *block == BLOCK_8 ? 9 : 5, n);
	if (*p == 0x02)
		return extended(p, n, block);
	if (!(*p & 1))
		return of(*p ? TY_PKT_TNT : TY_PKT_PAD, 1, n);
	if ((*p & 3) == 3)
		return cycles(p, n);
	switch (*p) {
	case 0x19: return of(TY_PKT_TSC, 8, n);
	case 0x59: return of(TY_PKT_MTC, 2, n);
	case 0x99:
		if (n < 2 || p[1] >> 5 > 1)
			return of(TY_PKT_BAD, 2, n);
		return of(p[1] >> 5 ? TY_PKT_MODE_TSX : TY_PKT_MODE_EXEC, 2, n);
	default: break;
	}
	switch (*p & 0x1f) {
	case 0x0d: return address(TY_PKT_TIP, p, n);
	case 0x11: return address(TY_PKT_PGE, p, n);
	case 0x01: return address(TY_PKT_PGD, p, n);
	case 0x1d: return address(TY_PKT_FUP, p, n);
	default: return of(TY_PKT_BAD, 1, n);
	}
}

uint64_t ty_pt_packet_ip(const struct ty_pt_packet *k, uint64_t last)
{
	switch (k->ip_code) {
	case 1: return (last & ~0xffffull) | k->ip;
	case 2: return (last & ~0xffffffffull) | k->ip;
	case 3: return (uint64_t)((int64_t)(k->ip << 16) >> 16);
	case 4: return (last & ~0xffffffffffffull) | k->ip;
	case 6: return k->ip;
	default: return last;
	}
}

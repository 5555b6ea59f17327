/* SPDX-License-Identifier: MIT */
/*
 * Length and kind of an Intel PT packet (Intel SDM vol. 3, "Intel Processor Trace", "Packet
 * Definitions"), of every kind, including those that the installed libipt may not support. Only
 * addresses and the bytes of an event are decoded.
 */
#ifndef TY_PT_PACKET_H
#define TY_PT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ty_pt_kind {
	TY_PKT_BAD, /* not a packet, or truncated */
	TY_PKT_PAD,
	TY_PKT_TNT,
	TY_PKT_TIP,
	TY_PKT_PGE,
	TY_PKT_PGD,
	TY_PKT_FUP,
	TY_PKT_PSB,
	TY_PKT_PSBEND,
	TY_PKT_OVF,
	TY_PKT_STOP,
	TY_PKT_TSC,
	TY_PKT_TMA,
	TY_PKT_MTC,
	TY_PKT_CYC,
	TY_PKT_CBR,
	TY_PKT_MODE_EXEC,
	TY_PKT_MODE_TSX,
	TY_PKT_PIP,
	TY_PKT_VMCS,
	TY_PKT_MNT,
	TY_PKT_POWER, /* EXSTOP, MWAIT, PWRE, PWRX */
	TY_PKT_PTW,
	TY_PKT_EVENT, /* CFE, EVD: Event Trace */
	TY_PKT_BLOCK, /* BBP, BIP, BEP: PEBS records */
};

struct ty_pt_packet {
	uint8_t kind; /* enum ty_pt_kind */
	uint8_t size;
	bool has_fup;	 /* a FUP belongs to it: of POWER, PTW, EVENT, BLOCK */
	bool has_ip;	 /* packets with addresses: whether there is one, and its length: */
	uint8_t ip_code; /* IPBytes */
	uint64_t ip;	 /* its bytes */
};

/* Parses the packet at p[0..n). *block: inside a block of PEBS records (updated). */
struct ty_pt_packet ty_pt_packet_at(const uint8_t *p, size_t n, uint8_t *block);
/* The address in a packet, given the last address. */
uint64_t ty_pt_packet_ip(const struct ty_pt_packet *k, uint64_t last);
/* True when the address is complete and does not depend on the last one. */
static inline bool ty_pt_packet_ip_whole(const struct ty_pt_packet *k)
{
	return k->ip_code == 3 || k->ip_code == 6;
}

#endif

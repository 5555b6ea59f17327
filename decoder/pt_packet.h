/* SPDX-License-Identifier: MIT */
/*
 * Where an Intel PT packet ends and what it is (Intel SDM vol. 3, "Intel Processor Trace", "Packet
 * Definitions"), of every kind: also those that the installed libipt may not know. Nothing is
 * decoded beyond that, but addresses and the bytes of an event.
 */
#ifndef TY_PT_PACKET_H
#define TY_PT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ty_pt_kind {
	TY_PKT_BAD, /* no packet, or cut off */
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
	bool told;	 /* of packets with addresses: there is one, and of how many bytes: */
	uint8_t ip_code; /* IPBytes */
	uint64_t ip;	 /* its bytes */
};

/* The packet at p[0..n); *block: a block of PEBS records is going on (changed). */
struct ty_pt_packet ty_pt_packet_at(const uint8_t *p, size_t n, uint8_t *block);
/* The address of a packet, of which the last one was `last`. */
uint64_t ty_pt_packet_ip(const struct ty_pt_packet *k, uint64_t last);
/* Is the address whole, whatever the last one was? */
static inline bool ty_pt_packet_ip_whole(const struct ty_pt_packet *k)
{
	return k->ip_code == 3 || k->ip_code == 6;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Parses one packet of the Arm Statistical Profiling Extension to kind, index and value. Little
 * endian. spe_record.h combines packets to records.
 *
 * Format: Arm Architecture Reference Manual (DDI 0487), D17 "Statistical Profiling Extension Sample
 * Record Specification"; linux tools/perf/util/arm-spe-decoder. Budget of ty_spe_packet: some ten
 * instructions, a run of padding at memory speed.
 */
#ifndef TY_SPE_PACKET_H
#define TY_SPE_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"

enum ty_spe_kind {
	TY_SPE_PAD, /* `bytes` of padding, or an alignment packet including the bytes it skips */
	TY_SPE_END,
	TY_SPE_TIMESTAMP,
	TY_SPE_EVENTS,
	TY_SPE_SOURCE,
	TY_SPE_CONTEXT,	  /* index: 0 CONTEXTIDR_EL1, 1 CONTEXTIDR_EL2 */
	TY_SPE_OPERATION, /* index: class */
	TY_SPE_ADDRESS,
	TY_SPE_COUNTER,
};

/*
 * A number below 64 for the kind and index of a packet: a record has each once at most. NONE:
 * unrestricted.
 */
enum {
	TY_SPE_SLOT_EVENTS,
	TY_SPE_SLOT_SOURCE,
	TY_SPE_SLOT_OPERATION,	  /* of any class */
	TY_SPE_SLOT_CONTEXT,	  /* + index, below 4 */
	TY_SPE_SLOT_ADDRESS = 16, /* + index, below 16 */
	TY_SPE_SLOT_COUNTER = 32, /* + index, below 30 */
	TY_SPE_SLOT_TIMESTAMP = 62,
	TY_SPE_SLOT_NONE = 63,
};

struct ty_spe_packet {
	uint8_t kind;  /* enum ty_spe_kind */
	uint8_t index; /* of addresses, counters, contexts; class of operations */
	uint8_t width; /* bytes of payload */
	uint32_t bytes;
	uint64_t value;
};

/*
 * Parses the packet at p, with n bytes available; off is p's offset in the AUX stream, which
 * determines alignment. 1; 0 when n ends inside it (or is 0); -TY_EFORMAT: not a packet.
 */
int ty_spe_packet(const uint8_t *p, size_t n, uint64_t off, struct ty_spe_packet *out);

/* Appends "PC 0x4000 el0 ns=1", "LAT 4 ISSUE", as in perf's packet dump. */
void ty_spe_packet_text(const struct ty_spe_packet *k, struct ty_buf *out);
/* Parts of that text: "LD GP-REG", "B COND" of an operation; "RETIRED L1D-ACCESS" of events.
 * Unnamed bits are shown by number. */
void ty_spe_op_text(unsigned op_class, unsigned payload, struct ty_buf *out);
/* "RETIRED" for 1, "EVENT-12" for 12; bit < 64. */
const char *ty_spe_event_name(unsigned bit);

#endif

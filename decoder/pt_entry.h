/* SPDX-License-Identifier: MIT */
/*
 * Finds where an Intel PT stream can be entered after undecodable data, before its next PSB: where
 * packets alone state the address of the next instruction and no branch bits are pending. That is
 * where tracing begins (TIP.PGE), after a FUP and its TIP, after the FUP of an overflow, and after
 * a TIP with no branch bits since such a point: with pending bits a TIP may belong to a branch
 * executed before some of them ("deferred TIPs", Intel SDM vol. 3, "Intel Processor Trace"), and
 * decoding from it would be a guess.
 *
 * Packets are scanned once from a PSB on, so last address, execution mode and clock are known at
 * each entry. A synthesized PSB+ with this state is placed in front of it, for decoders that enter
 * at PSBs.
 */
#ifndef TY_PT_ENTRY_H
#define TY_PT_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pt_clock.h"

struct ty_pt_entry {
	size_t from;  /* the packet with the address; earlier ones are skipped */
	size_t off;   /* packets are decoded from here on */
	bool psb;     /* it is a PSB */
	bool begins;  /* tracing begins */
	uint64_t ip;  /* of the next instruction */
	uint8_t mode; /* payload of MODE.Exec */
	bool have_mode;
	uint8_t cbr; /* 0: unknown */
	bool timed;
	uint64_t tsc;
	bool tma; /* crystal clock, and ticks since its: */
	uint16_t ctc, fc;
	size_t lost_fup; /* offset of a preceding TIP.PGD without address and FUP; 0: none */
};

struct ty_pt_entries {
	/* Set before use, the rest 0. clock: as its head says. */
	const uint8_t *bytes;
	size_t n;
	size_t p; /* a PSB to begin at, or anything before the first */
	struct ty_pt_clock clock;

	uint64_t ip;
	bool ip_known; /* ip is what addresses are compressed against */
	bool synced, header, bits, overflow;
	uint8_t mode, cbr, block;
	bool have_mode;
	bool fup;	/* waiting for its TIP */
	uint8_t bound;	/* kind of the packet that the next FUP belongs to, or 0 */
	bool have_last; /* the last packet read is a possible entry */
	struct ty_pt_entry last;
	size_t lost_fup; /* as in an entry, of the last packet of the flow */
	bool overflowed; /* an OVF was read since the call to find before */
};

/* The first entry whose packet is after `from` and that enters after `after`, up to `end`.
 * Arguments must increase from call to call. False: there is none. */
bool ty_pt_entry_find(struct ty_pt_entries *s, size_t from, size_t after, size_t end,
		      struct ty_pt_entry *out);

enum { TY_PT_ENTRY_MAX = 64 };
/* Writes the PSB+ (and TIP.PGE) equivalent to the entry; returns its length. */
size_t ty_pt_entry_header(const struct ty_pt_entry *e, uint8_t out[TY_PT_ENTRY_MAX]);

#endif

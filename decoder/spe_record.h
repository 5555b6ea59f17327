/* SPDX-License-Identifier: MIT */
/*
 * Arm SPE records: everything since the last TIMESTAMP or END packet is one record. What cannot be
 * read is a gap with its place, and decoding goes on where the next whole record begins.
 *
 * A record never holds two packets of one kind and index: such a one, a byte that begins no packet,
 * or more than TY_SPE_RECORD_MAX bytes without an end (skipped by an alignment packet in it, too)
 * is damage. The next record is then the first place from there on, aligned as the records before
 * or right behind an end, from which a whole record can be read.
 *
 * No I/O, no allocation. Budget: 150 instructions per record of 64 bytes.
 */
#ifndef TY_SPE_RECORD_H
#define TY_SPE_RECORD_H

#include <stddef.h>

#include "mem_access.h"

#define TY_SPE_RECORD_MAX 4096u /* PMSIDR_EL1.MaxSize allows 2 KB */

struct ty_spe_decoder {
	uint64_t off;	 /* of the next byte in the AUX stream */
	uint64_t midr;	 /* of the CPU; 0: unknown core */
	uint64_t starts; /* of all records, or'ed: their alignment */
	uint64_t skip;	 /* bytes that an alignment packet between records still skips */
	bool last;	 /* no byte follows those given: what is cut is a gap */
};

/*
 * The next record (or gap) of n bytes at p, whose first is at d->off. 1: *out is filled, *used
 * bytes are done with (d->off moves along). 0: more bytes are needed (or, with d->last, there is
 * nothing left): *used bytes of padding are done with. ts_ns, cpu, pid and tid are the caller's to
 * fill: has_TICKS and the context (WHO_CONTEXT) say what the record knows.
 */
int ty_spe_next(struct ty_spe_decoder *d, const uint8_t *p, size_t n, size_t *used,
		struct ty_mem *out);

#endif

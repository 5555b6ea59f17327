/* SPDX-License-Identifier: MIT */
/*
 * Arm SPE records: everything since the last TIMESTAMP or END packet is one record. Unreadable data
 * is a gap with its position, and decoding resumes where the next whole record begins.
 *
 * A record never has two packets of one kind and index. A duplicate, a byte that does not begin a
 * packet, or more than TY_SPE_RECORD_MAX bytes without an end (including those skipped by an
 * alignment packet in it) is damage. The next record is then the first later position, aligned like
 * the records before or right after an end, from which a whole record can be read.
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
	bool last;	 /* the bytes given are the last ones: a truncated record is a gap */
};

/*
 * Reads the next record (or gap) of n bytes at p, the first of which is at d->off. 1: *out is
 * filled, *used bytes are consumed (d->off advances). 0: more bytes are needed (or, with d->last,
 * none are left): *used bytes of padding are consumed. The caller fills ts_ns, cpu, pid and tid;
 * HAS_TICKS and the context (WHO_CONTEXT) give what the record has.
 */
int ty_spe_next(struct ty_spe_decoder *d, const uint8_t *p, size_t n, size_t *used,
		struct ty_mem *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Hash of an address of code in a process, for tables of what is known of addresses: each 64 bytes
 * of code have a bucket, and those of a page (4 KB) lie side by side, so that code executed in
 * order of address needs few cache lines and pages of the table.
 */
#ifndef TY_CODE_BUCKET_H
#define TY_CODE_BUCKET_H

#include <stddef.h>
#include <stdint.h>

#include "hash_index.h"

enum { TY_CODE_PAGE_BITS = 12, TY_CODE_LINE_BITS = 6 };

/* A number below 2^bits (bits: at least 6). */
static inline size_t ty_code_bucket(int32_t pid, uint64_t ip, unsigned bits)
{
	const size_t lines = (1 << (TY_CODE_PAGE_BITS - TY_CODE_LINE_BITS)) - 1;
	const uint64_t page = ip >> TY_CODE_PAGE_BITS ^ (uint64_t)(uint32_t)pid << 48;
	const size_t first = ty_hash_bits(page, bits);

	return (first & ~lines) | (ip >> TY_CODE_LINE_BITS & lines);
}

#endif

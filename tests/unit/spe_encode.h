/* SPDX-License-Identifier: MIT */
/* An encoder of Arm SPE packets for tests: appends to a buffer. */
#ifndef SPE_ENCODE_H
#define SPE_ENCODE_H

#include "buf.h"

static inline void spe_put(struct ty_buf *b, unsigned header, uint64_t v, unsigned bytes)
{
	ty_buf_addc(b, (char)(header | (unsigned)__builtin_ctz(bytes) << 4));
	ty_buf_addle(b, v, bytes);
}
static inline void spe_pad(struct ty_buf *b, unsigned n)
{
	while (n--)
		ty_buf_addc(b, 0);
}
static inline void spe_end(struct ty_buf *b)
{
	ty_buf_addc(b, 1);
}
static inline void spe_ts(struct ty_buf *b, uint64_t t)
{
	ty_buf_addc(b, 0x71);
	ty_buf_addle(b, t, 8);
}
static inline void spe_events(struct ty_buf *b, uint64_t v, unsigned bytes)
{
	spe_put(b, 0x42, v, bytes);
}
static inline void spe_source(struct ty_buf *b, uint64_t v, unsigned bytes)
{
	spe_put(b, 0x43, v, bytes);
}
static inline void spe_context(struct ty_buf *b, unsigned index, uint32_t v)
{
	spe_put(b, 0x64 | index, v, 4);
}
static inline void spe_op(struct ty_buf *b, unsigned op_class, unsigned v)
{
	spe_put(b, 0x48 | op_class, v, 1);
}
static inline void spe_extended(struct ty_buf *b, unsigned index)
{
	if (index >= 8)
		ty_buf_addc(b, (char)(0x20 | index >> 3));
}
static inline void spe_address(struct ty_buf *b, unsigned index, uint64_t v)
{
	spe_extended(b, index);
	ty_buf_addc(b, (char)(0xb0 | (index & 7)));
	ty_buf_addle(b, v, 8);
}
static inline void spe_counter(struct ty_buf *b, unsigned index, unsigned v)
{
	spe_extended(b, index);
	ty_buf_addc(b, (char)(0x98 | (index & 7)));
	ty_buf_addle(b, v, 2);
}

/* One load or store as a core writes it, padded to 64 bytes. */
struct spe_mem {
	uint64_t pc, va, pa, ts;
	int64_t ctx;	 /* -1: no CONTEXT packet */
	int source;	 /* -1: none */
	unsigned op;	 /* payload of class 1 */
	unsigned events; /* 0: RETIRED L1D-ACCESS TLB-ACCESS */
	unsigned total, issue, xlat;
	bool has_pa;
};
static inline void spe_mem(struct ty_buf *b, struct spe_mem m)
{
	size_t at = b->len;

	spe_address(b, 0, m.pc | 1ull << 63);
	if (m.ctx >= 0) {
		spe_pad(b, 5);
		spe_context(b, 0, (uint32_t)m.ctx);
	}
	spe_op(b, 1, m.op);
	spe_events(b, m.events ? m.events : 0x16, 4);
	spe_counter(b, 1, m.issue);
	spe_counter(b, 0, m.total);
	spe_address(b, 2, m.va);
	spe_counter(b, 2, m.xlat);
	if (m.has_pa)
		spe_address(b, 3, m.pa | 1ull << 63);
	if (m.source >= 0)
		spe_source(b, (uint64_t)m.source, 1);
	while ((b->len - at + 9) % 64)
		spe_pad(b, 1);
	spe_ts(b, m.ts);
}

#endif

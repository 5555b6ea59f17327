/* SPDX-License-Identifier: MIT */
/* See sample_parts.h. */
#include "sample_parts.h"

#include "unaligned.h"

enum { PID = 16, CHAIN = 48 };

bool ty_sample_parts(const char *p, size_t n, bool user, unsigned regs, struct ty_sample_parts *out)
{
	size_t at = CHAIN + 8;

	*out = (struct ty_sample_parts){.chain_at = at};
	if (n < at)
		return false;
	out->pid = ty_u32_at(p + PID);
	out->ns = ty_u64_at(p + TY_SAMPLE_TIME);
	out->ips = ty_u64_at(p + CHAIN);
	if (out->ips > (n - at) / 8)
		return false;
	at += 8 * out->ips;
	if (!user)
		return true;
	/* The ABI of the registers; 0: none follow. */
	if (n - at < 8)
		return false;
	at += 8;
	if (ty_u64_at(p + at - 8)) {
		if ((n - at) / 8 < regs)
			return false;
		out->regs_at = at;
		at += 8 * (size_t)regs;
	}
	/* The size, so many bytes, and how many of them were filled, unless the size is 0. */
	if (n - at < 8)
		return false;
	out->stack_at = at;
	out->size = ty_u64_at(p + at);
	at += 8;
	if (out->size > n - at || (out->size && n - at - out->size < 8))
		return false;
	out->used = out->size ? ty_u64_at(p + at + out->size) : 0;
	out->used = out->used < out->size ? out->used : out->size;
	return true;
}

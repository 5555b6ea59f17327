/* SPDX-License-Identifier: MIT */
/* Arm SPE packets to records (spe_record.h). */
#include "spe_record.h"

#include <string.h>

#include "err.h"
#include "rd.h"
#include "spe_packet.h"

#define LOW56 ((1ull << 56) - 1)

uint64_t ty_spe_code_address(uint64_t v)
{
	unsigned el = v >> 61 & 3;

	/* Byte 7 holds state. The non-secure kernel's addresses are negative. */
	return v >> 63 && (el == 1 || el == 2) ? v | 0xffull << 56 : v & LOW56;
}

uint64_t ty_spe_data_address(uint64_t v)
{
	/* Byte 7 is the pointer's tag, or a copy of the sign, or 0 where a core does not fill it.
	 */
	return (v >> 52 & 15) == 15 ? v | 0xffull << 56 : v & LOW56;
}

static void extra(struct ty_mem *m, struct ty_spe_packet k)
{
	if (m->extras < TY_MEM_EXTRAS)
		m->extra[m->extras++] = (struct ty_mem_extra){k.kind, k.index, k.value};
}

static inline void address(struct ty_mem *m, struct ty_spe_packet k)
{
	uint64_t v = k.value;

	switch (k.index) {
	case 0:
		m->pc = ty_spe_code_address(v);
		m->el = v >> 61 & 3;
		m->ns = (uint8_t)(v >> 63);
		m->nse = v >> 60 & 1;
		m->has |= TY_MEM_HAS_PC;
		break;
	case 1:
		m->target = ty_spe_code_address(v);
		m->has |= TY_MEM_HAS_TARGET;
		break;
	case 2:
		m->va = ty_spe_data_address(v);
		m->tag = (uint8_t)(v >> 56);
		m->has |= TY_MEM_HAS_VA;
		if (m->tag && (v >> 52 & 15) != 15)
			m->has |= TY_MEM_HAS_TAG;
		break;
	case 3:
		m->pa = v & LOW56;
		m->pa_ns = (uint8_t)(v >> 63);
		m->pa_ch = v >> 62 & 1;
		m->pa_nse = v >> 60 & 1;
		m->pa_pat = v >> 56 & 15;
		m->has |= TY_MEM_HAS_PA;
		break;
	case 4:
		m->prev_target = ty_spe_code_address(v);
		m->has |= TY_MEM_HAS_PREV;
		break;
	default: extra(m, k);
	}
}

static inline void operation(struct ty_mem *m, struct ty_spe_packet k)
{
	unsigned v = (unsigned)k.value;

	m->op_class = k.index;
	m->op = (uint8_t)v;
	m->has |= TY_MEM_HAS_OP;
	if (k.index == 1) {
		m->kind = v & 1 ? TY_MEM_STORE : TY_MEM_LOAD;
		/* The effective vector length of an SVE access, if it is not spread out. */
		if ((v & 0x0a) == 0x08 && !(v & 0x80))
			m->size = (uint8_t)((32u << (v >> 4 & 7)) / 8 < 256
						    ? (32u << (v >> 4 & 7)) / 8
						    : 255);
	} else if (k.index == 2) {
		m->kind = TY_MEM_BRANCH;
	}
}

static inline void take(struct ty_mem *m, struct ty_spe_packet k)
{
	switch (k.kind) {
	case TY_SPE_EVENTS:
		m->events = k.value;
		m->has |= TY_MEM_HAS_EVENTS;
		break;
	case TY_SPE_SOURCE:
		m->source = (uint16_t)k.value;
		m->has |= TY_MEM_HAS_SOURCE;
		if (k.value > UINT16_MAX)
			extra(m, k);
		break;
	case TY_SPE_CONTEXT:
		/* Of a guest and its host both: the host's. */
		if (k.index > 1) {
			extra(m, k);
		} else if (!(m->has & TY_MEM_HAS_CTX) || k.index) {
			m->context = (uint32_t)k.value;
			m->has |= TY_MEM_HAS_CTX;
		}
		break;
	case TY_SPE_OPERATION: operation(m, k); break;
	case TY_SPE_ADDRESS: address(m, k); break;
	case TY_SPE_COUNTER:
		if (k.index == 0)
			m->lat_total = (uint32_t)k.value, m->has |= TY_MEM_HAS_TOTAL;
		else if (k.index == 1)
			m->lat_issue = (uint32_t)k.value, m->has |= TY_MEM_HAS_ISSUE;
		else if (k.index == 2)
			m->lat_xlat = (uint32_t)k.value, m->has |= TY_MEM_HAS_XLAT;
		else
			extra(m, k);
		break;
	case TY_SPE_TIMESTAMP:
		m->ticks = k.value;
		m->has |= TY_MEM_HAS_TICKS;
		break;
	default: break;
	}
}

/* A bit for each packet that a record may hold once. */
static inline uint64_t once(struct ty_spe_packet k)
{
	switch (k.kind) {
	case TY_SPE_EVENTS: return 1;
	case TY_SPE_SOURCE: return 2;
	case TY_SPE_OPERATION: return 4;
	case TY_SPE_CONTEXT: return 8u << k.index;
	case TY_SPE_ADDRESS: return k.index < 16 ? 1ull << (16 + k.index) : 0;
	case TY_SPE_COUNTER: return k.index < 32 ? 1ull << (32 + k.index) : 0;
	default: return 0;
	}
}

/*
 * One record at p: 1 (*used bytes), 0 (cut at n), -TY_EFORMAT (damage; *used bytes were good).
 * `out` may be NULL: only look.
 */
static int record(const uint8_t *p, size_t n, uint64_t off, size_t *used, struct ty_mem *out)
{
	uint64_t seen = 0;
	size_t at = 0;

	for (;;) {
		struct ty_spe_packet k;
		uint64_t bit;

		if (at > TY_SPE_RECORD_MAX) {
			*used = at;
			return -TY_EFORMAT;
		}
		/* The usual packet in line, with one load for all widths. */
		if (n - at >= 9 && ty_spe_heads[p[at]].width) {
			const struct ty_spe_head *h = &ty_spe_heads[p[at]];

			k = (struct ty_spe_packet){
				.kind = h->kind,
				.index = p[at] & h->index_mask,
				.bytes = 1u + h->width,
				.value = ty_load(p + at + 1, 8, false) &
					 UINT64_MAX >> (64 - 8 * h->width),
			};
		} else {
			struct ty_spe_packet other;
			int r = ty_spe_packet(p + at, n - at, off + at, &other);

			if (r != 1) {
				*used = at;
				return r;
			}
			k = other;
		}
		at += k.bytes;
		if (k.kind == TY_SPE_PAD)
			continue;
		bit = once(k);
		if (seen & bit)
			return -TY_EFORMAT;
		seen |= bit;
		if (out)
			take(out, k);
		if (k.kind == TY_SPE_END || k.kind == TY_SPE_TIMESTAMP) {
			*used = at;
			return 1;
		}
	}
}

static int gap(struct ty_spe_decoder *d, struct ty_mem *out, size_t bytes, const char *why)
{
	*out = (struct ty_mem){.off = d->off,
			       .pid = -1,
			       .tid = -1,
			       .kind = TY_MEM_GAP,
			       .gap = why,
			       .gap_bytes = bytes};
	d->off += bytes;
	return 1;
}

/* Does a whole record that says something begin at p? */
static bool record_here(const uint8_t *p, size_t n, uint64_t off)
{
	size_t used;

	return *p && *p != 0x01 && *p != 0x71 && record(p, n, off, &used, NULL) == 1;
}

/*
 * The first place behind `bad` where a record begins; n: none here. Cores align their records:
 * where the good ones began says how, and such a place is believed as it is. A place that is less
 * aligned must lie right behind an end (and padding).
 */
static size_t resync(const struct ty_spe_decoder *d, const uint8_t *p, size_t n, size_t bad)
{
	uint64_t learned = d->starts ? d->starts & -d->starts : 64;
	const uint64_t aligns[] = {learned < 64 ? learned : 64, 16, 1};

	for (unsigned pass = 0; pass < 3; pass++) {
		uint64_t mask = aligns[pass] - 1;
		size_t behind = SIZE_MAX; /* an end lies here, with nothing but padding behind */

		for (size_t i = bad + 1; i < n; i++) {
			if (p[i - 1] == 0x01 || (i >= bad + 10 && p[i - 9] == 0x71))
				behind = i;
			if (!((d->off + i) & mask) && (mask >= 31 || behind == i) &&
			    record_here(p + i, n - i, d->off + i))
				return i;
			if (behind == i && !p[i])
				behind = i + 1;
		}
	}
	return n;
}

int ty_spe_next(struct ty_spe_decoder *d, const uint8_t *p, size_t n, size_t *used,
		struct ty_mem *out)
{
	size_t pad = 0, len, end;
	int r;

	/* Padding between records belongs to none. */
	while (pad < n && !p[pad])
		pad++;
	d->off += pad;
	p += pad;
	n -= pad;
	*used = pad;
	if (!n)
		return 0;
	memset(out, 0, offsetof(struct ty_mem, extra));
	out->gap = NULL;
	out->gap_bytes = 0;
	out->pid = out->tid = -1;
	out->off = d->off;
	r = record(p, n, d->off, &len, out);
	if (r > 0) {
		if (out->has & TY_MEM_HAS_CTX) {
			out->tid = (int32_t)out->context;
			out->who = TY_MEM_WHO_CONTEXT;
		}
		ty_mem_set_level(out, d->midr);
		d->starts |= d->off;
		d->off += len;
		*used += len;
		return 1;
	}
	if (!r && !d->last && n <= TY_SPE_RECORD_MAX)
		return 0;
	if (!r) {
		/* Nothing but padding packets is left of a buffer that is filled up. */
		*used += n;
		return gap(d, out, n, "the data ends inside a record");
	}
	end = resync(d, p, n, len);
	/* Where the bytes end, a next record may begin that is not all here yet. */
	if (end == n && !d->last) {
		if (n <= 2 * TY_SPE_RECORD_MAX)
			return 0;
		end = n - TY_SPE_RECORD_MAX;
	}
	*used += end;
	return gap(d, out, end, "damaged data");
}

/* SPDX-License-Identifier: MIT */
/* Arm SPE packets to records (spe_record.h). */
#include "spe_record.h"

#include <string.h>

#include "err.h"
#include "checked_read.h"
#include "spe_packet.h"

#define LOW56 ((1ull << 56) - 1)
#define HALF  64u /* of struct ty_mem before its extras, about */

/* Addresses as a program knows them. */
static uint64_t code_address(uint64_t v)
{
	unsigned el = v >> 61 & 3;

	/* Byte 7 holds state. The non-secure kernel's addresses are negative. */
	return v >> 63 && (el == 1 || el == 2) ? v | 0xffull << 56 : v & LOW56;
}

static uint64_t data_address(uint64_t v)
{
	/* Byte 7 is the pointer's tag, or a copy of the sign, or 0 where a core does not fill it.
	 */
	return (v >> 52 & 15) == 15 ? v | 0xffull << 56 : v & LOW56;
}

static void extra(struct ty_mem *m, unsigned kind, unsigned index, uint64_t v)
{
	if (m->extras < TY_MEM_EXTRAS)
		m->extra[m->extras++] = (struct ty_mem_extra){(uint8_t)kind, (uint8_t)index, v};
}

static inline void operation(struct ty_mem *m, unsigned op_class, unsigned v)
{
	m->op_class = (uint8_t)op_class;
	m->op = (uint8_t)v;
	m->has |= TY_MEM_HAS_OP;
	if (op_class == 1) {
		m->kind = v & 1 ? TY_MEM_STORE : TY_MEM_LOAD;
		/* The effective vector length of an SVE access, if it is not spread out. */
		if ((v & 0x0a) == 0x08 && !(v & 0x80))
			m->size = (uint8_t)((32u << (v >> 4 & 7)) / 8 < 256
						    ? (32u << (v >> 4 & 7)) / 8
						    : 255);
	} else if (op_class == 2) {
		m->kind = TY_MEM_BRANCH;
	}
}

/* Of contexts of a guest and its host both: the host's. */
static void context(struct ty_mem *m, unsigned index, uint64_t v)
{
	if (m->has & TY_MEM_HAS_CTX && !index)
		return;
	m->context = (uint32_t)v;
	m->has |= TY_MEM_HAS_CTX;
}

static inline void take(struct ty_mem *m, unsigned slot, unsigned kind, unsigned index, uint64_t v)
{
	switch (slot) {
	case TY_SPE_SLOT_EVENTS:
		m->events = v;
		m->has |= TY_MEM_HAS_EVENTS;
		break;
	case TY_SPE_SLOT_SOURCE:
		m->source = (uint16_t)v;
		m->has |= TY_MEM_HAS_SOURCE;
		if (v > UINT16_MAX)
			extra(m, kind, index, v);
		break;
	case TY_SPE_SLOT_OPERATION: operation(m, index, (unsigned)v); break;
	case TY_SPE_SLOT_CONTEXT:
	case TY_SPE_SLOT_CONTEXT + 1: context(m, index, v); break;
	case TY_SPE_SLOT_ADDRESS:
		m->pc = code_address(v);
		m->el = v >> 61 & 3;
		m->ns = (uint8_t)(v >> 63);
		m->nse = v >> 60 & 1;
		m->has |= TY_MEM_HAS_PC;
		break;
	case TY_SPE_SLOT_ADDRESS + 1:
		m->target = code_address(v);
		m->has |= TY_MEM_HAS_TARGET;
		break;
	case TY_SPE_SLOT_ADDRESS + 2:
		m->va = data_address(v);
		m->tag = (uint8_t)(v >> 56);
		m->has |= m->tag && (v >> 52 & 15) != 15 ? TY_MEM_HAS_VA | TY_MEM_HAS_TAG
							 : TY_MEM_HAS_VA;
		break;
	case TY_SPE_SLOT_ADDRESS + 3:
		m->pa = v & LOW56;
		m->pa_ns = (uint8_t)(v >> 63);
		m->pa_ch = v >> 62 & 1;
		m->pa_nse = v >> 60 & 1;
		m->pa_pat = v >> 56 & 15;
		m->has |= TY_MEM_HAS_PA;
		break;
	case TY_SPE_SLOT_ADDRESS + 4:
		m->prev_target = code_address(v);
		m->has |= TY_MEM_HAS_PREV;
		break;
	case TY_SPE_SLOT_COUNTER:
		m->lat_total = (uint32_t)v;
		m->has |= TY_MEM_HAS_TOTAL;
		break;
	case TY_SPE_SLOT_COUNTER + 1:
		m->lat_issue = (uint32_t)v;
		m->has |= TY_MEM_HAS_ISSUE;
		break;
	case TY_SPE_SLOT_COUNTER + 2:
		m->lat_xlat = (uint32_t)v;
		m->has |= TY_MEM_HAS_XLAT;
		break;
	case TY_SPE_SLOT_TIMESTAMP:
		m->ticks = v;
		m->has |= TY_MEM_HAS_TICKS;
		break;
	default: extra(m, kind, index, v);
	}
}

static unsigned slot_of(const struct ty_spe_packet *k)
{
	switch (k->kind) {
	case TY_SPE_EVENTS: return TY_SPE_SLOT_EVENTS;
	case TY_SPE_SOURCE: return TY_SPE_SLOT_SOURCE;
	case TY_SPE_OPERATION: return TY_SPE_SLOT_OPERATION;
	case TY_SPE_CONTEXT: return TY_SPE_SLOT_CONTEXT + k->index;
	case TY_SPE_ADDRESS:
		return k->index < 16 ? TY_SPE_SLOT_ADDRESS + k->index : TY_SPE_SLOT_NONE;
	case TY_SPE_COUNTER:
		return k->index < 30 ? TY_SPE_SLOT_COUNTER + k->index : TY_SPE_SLOT_NONE;
	default: return TY_SPE_SLOT_TIMESTAMP;
	}
}

/* A packet with this header in line. `slot` and `index` are constants, so that take() is a store.
 */
#define USUAL(header, type, slot, kind, index)                                                     \
	case header:                                                                               \
		if (seen >> (slot)&1)                                                              \
			break;                                                                     \
		seen |= UINT64_C(1) << (slot);                                                     \
		take(out, slot, kind, index, ty_load(p + at + 1, sizeof(type), false));            \
		at += 1 + sizeof(type);                                                            \
		continue
#define USUAL_WIDTHS(header, slot, kind)                                                           \
	USUAL(header, uint8_t, slot, kind, 0);                                                     \
	USUAL((header) + 0x10, uint16_t, slot, kind, 0);                                           \
	USUAL((header) + 0x20, uint32_t, slot, kind, 0);                                           \
	USUAL((header) + 0x30, uint64_t, slot, kind, 0)
#define USUAL_INDEX(header, type, slot, kind, index)                                               \
	USUAL((header) + (index), type, (slot) + (index), kind, index)
#define USUAL_OPERATION(index)                                                                     \
	USUAL(0x48 + (index), uint8_t, TY_SPE_SLOT_OPERATION, TY_SPE_OPERATION, index)

/*
 * One record at p: 1 (*used bytes), 0 (cut at n), -TY_EFORMAT (damage; *used bytes were good).
 */
static int record(const uint8_t *p, size_t n, uint64_t off, size_t *used, struct ty_mem *out)
{
	size_t at = 0, most = n < TY_SPE_RECORD_MAX ? n : TY_SPE_RECORD_MAX;
	size_t quick = most < 9 ? 0 : most - 8; /* before it, the longest packet is all there */
	uint64_t seen = 0; /* another record may begin with a packet that is there twice */

	for (;;) {
		struct ty_spe_packet k;
		unsigned slot;
		int r;

		if (at < quick)
			switch (p[at]) {
				USUAL_WIDTHS(0x42, TY_SPE_SLOT_EVENTS, TY_SPE_EVENTS);
				USUAL_WIDTHS(0x43, TY_SPE_SLOT_SOURCE, TY_SPE_SOURCE);
				USUAL_OPERATION(0);
				USUAL_OPERATION(1);
				USUAL_OPERATION(2);
				USUAL_INDEX(0x64, uint32_t, TY_SPE_SLOT_CONTEXT, TY_SPE_CONTEXT, 0);
				USUAL_INDEX(0x64, uint32_t, TY_SPE_SLOT_CONTEXT, TY_SPE_CONTEXT, 1);
				USUAL_INDEX(0xb0, uint64_t, TY_SPE_SLOT_ADDRESS, TY_SPE_ADDRESS, 0);
				USUAL_INDEX(0xb0, uint64_t, TY_SPE_SLOT_ADDRESS, TY_SPE_ADDRESS, 1);
				USUAL_INDEX(0xb0, uint64_t, TY_SPE_SLOT_ADDRESS, TY_SPE_ADDRESS, 2);
				USUAL_INDEX(0xb0, uint64_t, TY_SPE_SLOT_ADDRESS, TY_SPE_ADDRESS, 3);
				USUAL_INDEX(0xb0, uint64_t, TY_SPE_SLOT_ADDRESS, TY_SPE_ADDRESS, 4);
				USUAL_INDEX(0x98, uint16_t, TY_SPE_SLOT_COUNTER, TY_SPE_COUNTER, 0);
				USUAL_INDEX(0x98, uint16_t, TY_SPE_SLOT_COUNTER, TY_SPE_COUNTER, 1);
				USUAL_INDEX(0x98, uint16_t, TY_SPE_SLOT_COUNTER, TY_SPE_COUNTER, 2);
			case 0: { /* padding ends at the first byte that is not 0 */
				uint64_t v = ty_load(p + at, 8, false);

				at += v ? (size_t)__builtin_ctzll(v) / 8 : 8;
				continue;
			}
			case 0x01: *used = at + 1; return 1;
			case 0x71:
				take(out, TY_SPE_SLOT_TIMESTAMP, TY_SPE_TIMESTAMP, 0,
				     ty_load(p + at + 1, 8, false));
				*used = at + 9;
				return 1;
			default: break;
			}
		*used = at; /* the next bytes may be damaged */
		r = ty_spe_packet(p + at, n - at, off + at, &k);
		if (r < 0)
			return r;
		at += k.bytes;
		if (at > TY_SPE_RECORD_MAX || (!r && n > TY_SPE_RECORD_MAX))
			return -TY_EFORMAT;
		if (!r)
			return 0;
		if (k.kind == TY_SPE_END) {
			*used = at;
			return 1;
		}
		slot = k.kind == TY_SPE_PAD ? TY_SPE_SLOT_NONE : slot_of(&k);
		if (seen >> slot & 1 && slot != TY_SPE_SLOT_NONE)
			return -TY_EFORMAT;
		if (k.kind == TY_SPE_PAD)
			continue;
		seen |= UINT64_C(1) << slot;
		take(out, slot, k.kind, k.index, k.value);
		if (slot == TY_SPE_SLOT_TIMESTAMP) {
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

/* True if a whole record with content begins at p. */
static bool record_here(const uint8_t *p, size_t n, uint64_t off)
{
	struct ty_mem ignored;
	size_t used;

	ignored.has = ignored.extras = 0;
	return *p && *p != 0x01 && *p != 0x71 && record(p, n, off, &used, &ignored) == 1;
}

/*
 * The first place from `bad` on where a record begins; n: none here. Cores align their records, as
 * the valid ones show; a place with that alignment is accepted. A less aligned place must directly
 * follow an end packet (and padding).
 */
static size_t resync(const struct ty_spe_decoder *d, const uint8_t *p, size_t n, size_t bad)
{
	uint64_t learned = d->starts ? d->starts & -d->starts : 64;
	const uint64_t aligns[] = {learned < 64 ? learned : 64, 16, 1};

	for (unsigned pass = 0; pass < 3; pass++) {
		uint64_t mask = aligns[pass] - 1;
		size_t behind = SIZE_MAX; /* an end lies here, with nothing but padding behind */

		for (size_t i = bad ? bad : 1; i < n; i++) {
			if (i > bad && (p[i - 1] == 0x01 || (i >= bad + 10 && p[i - 9] == 0x71)))
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

/* How many bytes of padding, which belongs to no record, are at p. What an alignment packet skips
 * may be longer than all that is here. */
static size_t between(struct ty_spe_decoder *d, const uint8_t *p, size_t n)
{
	size_t at = d->skip < n ? (size_t)d->skip : n;
	struct ty_spe_packet k;

	d->skip -= at;
	while (at < n && !(p[at] & ~0x2f)) {
		if (!p[at]) {
			uint64_t v = n - at >= 8 ? ty_load(p + at, 8, false) : 1u << 8;

			at += v ? (size_t)__builtin_ctzll(v) / 8 : 8; /* zeros up to v's first */
			continue;
		}
		if (n - at < 2 || p[at] == 0x01 || p[at] < 0x20 || p[at + 1] ||
		    ty_spe_packet(p + at, n - at, d->off + at, &k) < 0)
			break;
		if (k.bytes > n - at) {
			d->skip = k.bytes - (n - at);
			return n;
		}
		at += k.bytes;
	}
	return at;
}

int ty_spe_next(struct ty_spe_decoder *d, const uint8_t *p, size_t n, size_t *used,
		struct ty_mem *out)
{
	size_t pad, len, end;
	int r;

	pad = between(d, p, n);
	d->off += pad;
	p += pad;
	n -= pad;
	*used = pad;
	if (!n)
		return 0;
	/* In halves, which are stored in line: the whole would be a `rep stos`. */
	memset(out, 0, HALF);
	memset((uint8_t *)out + HALF, 0, offsetof(struct ty_mem, extra) - HALF);
	out->gap = NULL;
	out->gap_bytes = 0;
	out->pid = out->tid = -1;
	out->off = d->off;
	r = record(p, n, d->off, &len, out);
	if (r > 0) {
		if (out->has & TY_MEM_HAS_CTX) {
			out->tid = (int32_t)out->context;
			out->who = TY_MEM_THREAD_CONTEXT;
		}
		ty_mem_set_level(out, d->midr);
		d->starts |= d->off;
		d->off += len;
		*used += len;
		return 1;
	}
	if (!r && !d->last)
		return 0;
	if (!r) {
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

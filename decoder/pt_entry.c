/* SPDX-License-Identifier: MIT */
/* See pt_entry.h. */
#include "pt_entry.h"

#include <string.h>

#include "pt_packet.h"
#include "pt_stream.h"
#include "unaligned.h"

enum { FC_MAX = 511 }; /* nine bits of a TMA */

/* Packets with time information; an implausible clock keeps its time. */
static void tick(struct ty_pt_entries *s, const struct ty_pt_packet *k)
{
	const uint8_t *p = s->bytes + s->p;
	struct ty_pt_clock *c = &s->clock;
	uint64_t v = *p >> 3;

	switch (k->kind) {
	case TY_PKT_TSC:
		if (!s->header)
			ty_pt_clock_tsc(c, ty_le_at(p + 1, 7));
		else
			(void)ty_pt_clock_psb_tsc(c, ty_le_at(p + 1, 7));
		break;
	case TY_PKT_TMA:
		(void)ty_pt_clock_tma(c, (uint16_t)ty_le_at(p + 2, 2), ty_le_at(p + 5, 2) & FC_MAX);
		break;
	case TY_PKT_MTC: (void)ty_pt_clock_mtc(c, p[1]); break;
	case TY_PKT_CYC:
		for (unsigned i = 1, shift = 5; i < k->size && shift < 64; i++, shift += 7)
			v |= (uint64_t)(p[i] >> 1) << shift;
		(void)ty_pt_clock_cyc(c, v);
		break;
	default:
		s->cbr = p[2];
		(void)(s->header ? ty_pt_clock_psb_cbr : ty_pt_clock_cbr)(c, p[2]);
		break;
	}
}

static struct ty_pt_entry entry_at(const struct ty_pt_entries *s, size_t from, size_t off)
{
	const struct ty_pt_clock *c = &s->clock;
	bool fits = c->fc <= FC_MAX;

	return (struct ty_pt_entry){.from = from,
				    .off = off,
				    .ip = s->ip,
				    .mode = s->mode,
				    .have_mode = s->have_mode,
				    .cbr = s->cbr,
				    .timed = c->timed,
				    .tsc = c->tma && !fits ? c->base : c->tsc,
				    .tma = c->timed && c->tma,
				    .ctc = (uint16_t)c->ctc,
				    .fc = fits ? (uint16_t)c->fc : 0};
}

static void take_ip(struct ty_pt_entries *s, const struct ty_pt_packet *k)
{
	if (!k->has_ip)
		return;
	s->ip_known |= ty_pt_packet_ip_whole(k);
	s->ip = ty_pt_packet_ip(k, s->ip);
}

/* A packet of the flow, which ends at `end`. */
static void flow(struct ty_pt_entries *s, const struct ty_pt_packet *k, size_t end)
{
	uint8_t bound = s->bound;
	bool fup = s->fup, overflow = s->overflow, good;
	size_t lost_fup = s->lost_fup;

	s->lost_fup = 0;
	take_ip(s, k);
	good = k->has_ip && s->ip_known;
	if (k->kind != TY_PKT_FUP || bound != TY_PKT_MODE_TSX)
		s->fup = false;
	s->overflow = false;
	switch (k->kind) {
	case TY_PKT_TNT: s->bits = true; return;
	case TY_PKT_FUP:
		s->bound = 0;
		s->bits = false;
		s->fup = !bound || bound == TY_PKT_MODE_TSX || bound == TY_PKT_EVENT;
		if (!overflow)
			return;
		s->fup = false;
		break;
	case TY_PKT_PGD:
		s->lost_fup = !k->has_ip && !fup ? s->p : 0;
		s->bits = false;
		return;
	case TY_PKT_PGE: s->bits = false; break;
	case TY_PKT_TIP: good &= !s->bits; break;
	default: return;
	}
	if (!good)
		return;
	s->last = entry_at(s, s->p, end);
	s->last.begins = k->kind == TY_PKT_PGE;
	s->last.lost_fup = lost_fup;
	s->have_last = true;
}

static void take_psb(struct ty_pt_entries *s)
{
	s->last = entry_at(s, s->p, s->p);
	s->last.lost_fup = s->lost_fup;
	s->last.psb = s->have_last = s->synced = s->header = s->ip_known = true;
	s->fup = s->overflow = s->bits = s->have_mode = false;
	s->bound = s->block = 0;
	s->ip = 0;
	ty_pt_clock_psb(&s->clock);
}

/* Pass one packet; false: there are no more. */
static bool pass(struct ty_pt_entries *s)
{
	struct ty_pt_packet k;

	if (!s->synced)
		s->p = ty_pt_psb_after(s->bytes, s->n, s->p);
	if (s->p >= s->n)
		return false;
	k = ty_pt_packet_at(s->bytes + s->p, s->n - s->p, &s->block);
	switch (k.kind) {
	case TY_PKT_BAD: /* the start of the next one is unknown */
		s->synced = s->header = false;
		s->lost_fup = 0;
		s->p++;
		return true;
	case TY_PKT_PSB: take_psb(s); break;
	case TY_PKT_PSBEND: s->header = false; break;
	case TY_PKT_TSC:
	case TY_PKT_TMA:
	case TY_PKT_MTC:
	case TY_PKT_CYC:
	case TY_PKT_CBR: tick(s, &k); break;
	case TY_PKT_MODE_EXEC:
		s->mode = s->bytes[s->p + 1];
		s->have_mode = true;
		break;
	case TY_PKT_MODE_TSX:
	case TY_PKT_POWER:
	case TY_PKT_PTW:
	case TY_PKT_EVENT:
	case TY_PKT_BLOCK:
		if (!s->header && (k.has_fup || k.kind == TY_PKT_MODE_TSX))
			s->bound = k.kind;
		break;
	case TY_PKT_OVF:
		s->fup = s->bits = s->ip_known = s->header = false;
		s->lost_fup = 0;
		s->bound = 0;
		s->overflow = s->overflowed = true;
		break;
	case TY_PKT_TNT:
	case TY_PKT_TIP:
	case TY_PKT_PGE:
	case TY_PKT_PGD:
	case TY_PKT_FUP:
		if (s->header) {
			take_ip(s, &k);
			s->lost_fup = 0; /* tracing is on */
		} else {
			flow(s, &k, s->p + k.size);
		}
		break;
	default: break;
	}
	s->p += k.size;
	return true;
}

bool ty_pt_entry_find(struct ty_pt_entries *s, size_t from, size_t after, size_t end,
		      struct ty_pt_entry *out)
{
	s->overflowed = false;
	do {
		s->have_last = false;
		if (s->p >= end || !pass(s))
			return false;
	} while (!s->have_last || s->last.from <= from || s->last.off <= after);
	*out = s->last;
	return out->psb ? out->off < end : out->off <= end;
}

static size_t put(uint8_t *out, size_t n, uint64_t v, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		out[n + i] = (uint8_t)(v >> 8 * i);
	return n + size;
}

size_t ty_pt_entry_header(const struct ty_pt_entry *e, uint8_t out[TY_PT_ENTRY_MAX])
{
	enum { IP_WHOLE = 6 << 5, FUP = 0x1d, PGE = 0x11 };
	size_t n = 0;

	for (unsigned i = 0; i < 8; i++)
		n = put(out, n, 0x8202, 2);
	if (e->timed) {
		n = put(out, n, 0x19, 1);
		n = put(out, n, e->tsc, 7);
	}
	if (e->tma) {
		n = put(out, n, 0x7302, 2);
		n = put(out, n, e->ctc, 3);
		n = put(out, n, e->fc, 2);
	}
	if (e->cbr)
		n = put(out, n, 0x0302 | (uint32_t)e->cbr << 16, 4);
	if (e->have_mode && !e->begins)
		n = put(out, n, 0x99 | e->mode << 8, 2);
	if (!e->begins) {
		n = put(out, n, FUP | IP_WHOLE, 1);
		n = put(out, n, e->ip, 8);
	}
	n = put(out, n, 0x2302, 2);
	if (e->begins) {
		if (e->have_mode)
			n = put(out, n, 0x99 | e->mode << 8, 2);
		n = put(out, n, PGE | IP_WHOLE, 1);
		n = put(out, n, e->ip, 8);
	}
	return n;
}

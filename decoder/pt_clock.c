/* SPDX-License-Identifier: MIT */
/* See pt_clock.h. An MTC has 8 bits of the crystal clock, a TMA the lowest 16 of it. */
#include "pt_clock.h"

enum { RATIO_SHIFT = 8, MTC_BITS = 8, TMA_BITS = 16, TSC_BITS = 56 };

static void set_ratio(struct ty_pt_clock *c, uint64_t ratio)
{
	c->have_ratio = true;
	c->ratio = ratio;
}

/* Crystal clocks from `last` to `now`, of which the MTC shows so many bits; it wraps once. */
static bool ctc_delta(const struct ty_pt_clock *c, uint32_t now, uint32_t last, uint32_t *delta)
{
	if (now < last)
		now += 1u << (c->mtc_freq + MTC_BITS);
	*delta = now - last;
	return now >= last;
}

/* Converts to ticks; false: the frequency is unknown. */
static bool ctc_ticks(const struct ty_pt_clock *c, uint32_t ctc, uint64_t *ticks)
{
	if (!c->cpuid_15_eax || !c->cpuid_15_ebx)
		return false;
	*ticks = (uint64_t)ctc * c->cpuid_15_ebx / c->cpuid_15_eax;
	return true;
}

void ty_pt_clock_psb(struct ty_pt_clock *c)
{
	c->after_psb |= c->skl168;
}

bool ty_pt_clock_psb_tsc(struct ty_pt_clock *c, uint64_t tsc)
{
	uint64_t last = c->ratio_tsc, cycles = c->cycles_tsc, delta = tsc - last;

	ty_pt_clock_tsc(c, tsc);
	if (!last || !cycles || c->ratio_mtc)
		return true;
	if (tsc < last)
		delta += 1ull << TSC_BITS;
	if (delta >> (64 - RATIO_SHIFT))
		return false;
	set_ratio(c, (delta << RATIO_SHIFT) / cycles);
	return true;
}

bool ty_pt_clock_psb_cbr(struct ty_pt_clock *c, uint8_t ratio)
{
	if (ratio && c->nom_freq)
		set_ratio(c, ((uint64_t)c->nom_freq << RATIO_SHIFT) / ratio);
	return ratio;
}

bool ty_pt_clock_cbr(struct ty_pt_clock *c, uint8_t ratio)
{
	c->have_ratio = c->ratio_mtc = c->after_psb = false;
	c->ratio_tsc = c->cycles_tsc = c->cycles_mtc = 0;
	c->ratio_ctc = 0;
	return ty_pt_clock_psb_cbr(c, ratio);
}

bool ty_pt_clock_tma(struct ty_pt_clock *c, uint16_t ctc, uint16_t fc)
{
	unsigned bits = c->mtc_freq + MTC_BITS;

	if (!c->timed || c->tma || c->mtc)
		return false;
	c->tma = true;
	c->base -= fc;
	c->fc += fc;
	/* The time has all bits of an MTC and is used like one. Otherwise the next MTC gives the
	 * upper bits. */
	c->mtc = bits <= TMA_BITS;
	c->ctc = c->ctc_cyc = ctc & ((1u << bits) - 1);
	return true;
}

/* The ratio between the MTC before and this one. */
static bool measure(struct ty_pt_clock *c, uint32_t ctc)
{
	uint64_t cycles = c->cycles_mtc, ticks, ratio;
	bool had = c->ratio_mtc, after_psb = c->after_psb;
	uint32_t delta, last = c->ratio_ctc;

	c->after_psb = false;
	c->ratio_mtc = true;
	if (had && !cycles)
		return true; /* over more than one MTC then */
	c->cycles_mtc = 0;
	c->ratio_ctc = ctc;
	if (!had)
		return true;
	if (!ctc_delta(c, ctc, last, &delta))
		return false;
	if (!ctc_ticks(c, delta, &ticks))
		return true;
	if (ticks >> (64 - RATIO_SHIFT))
		return false;
	ratio = (ticks << RATIO_SHIFT) / cycles;
	/* SKL168: an MTC is missing, or a CYC that its counter's wrap at 4096 would show. */
	if (after_psb &&
	    (1u << c->mtc_freq < delta || (c->mtc_freq < 10 && c->have_ratio &&
					   (c->ratio * (cycles + 0xf00)) >> RATIO_SHIFT < ticks)))
		return true;
	set_ratio(c, ratio);
	return true;
}

bool ty_pt_clock_mtc(struct ty_pt_clock *c, uint8_t payload)
{
	uint32_t ctc = (uint32_t)payload << c->mtc_freq, last = c->ctc, delta;
	bool had = c->mtc;
	uint64_t ticks;

	if (!measure(c, ctc))
		return false;
	/* Between TSC and TMA it may be of before the TSC. */
	if (c->timed && !c->tma)
		return true;
	if (c->fc || c->lost_cyc || !had)
		c->ctc_cyc = ctc;
	c->mtc = true;
	c->fc = 0;
	c->ctc = ctc;
	c->lost_cyc = false;
	if (!had) {
		uint32_t high = ctc >> TMA_BITS << TMA_BITS;

		/* The distance to the last time stamp is unknown. */
		if (!c->tma)
			return true;
		if ((uint16_t)ctc < last)
			high = (high - (1u << TMA_BITS)) & (0xffu << c->mtc_freq);
		last |= high;
	}
	if (!ctc_delta(c, ctc, last, &delta))
		return false;
	if (ctc_ticks(c, delta, &ticks))
		c->tsc = c->base += ticks;
	return true;
}

bool ty_pt_clock_cyc(struct ty_pt_clock *c, uint64_t cycles)
{
	c->cycles_mtc += cycles;
	c->cycles_tsc += cycles;
	if (!c->have_ratio || !c->ratio) {
		c->lost_cyc = true;
		return true;
	}
	/* Over several MTCs: those before have had their part. */
	if (!c->fc && c->ctc != c->ctc_cyc) {
		uint64_t ticks, before;
		uint32_t delta;

		if (!ctc_delta(c, c->ctc, c->ctc_cyc, &delta))
			return false;
		if (!ctc_ticks(c, delta, &ticks))
			return true;
		before = (ticks << RATIO_SHIFT) / c->ratio;
		cycles = cycles > before ? cycles - before : 0;
	}
	c->fc += (cycles * c->ratio) >> RATIO_SHIFT;
	c->tsc = c->base + c->fc;
	return true;
}

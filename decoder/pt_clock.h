/* SPDX-License-Identifier: MIT */
/*
 * Time from Intel PT's timing packets, in TSC ticks (Intel SDM vol. 3, "Intel Processor Trace",
 * TSC, TMA, MTC, CYC and CBR packets). TSC is absolute; MTC advances the crystal clock from there;
 * CYC counts core cycles since the last MTC, converted by a ratio of cycles to ticks that is
 * measured between MTCs or, before that, given by CBR. The arithmetic is that of libipt's
 * pt_time.c, so that both decoders give the same times (tests/unit/test_pt_query.c).
 *
 * Each function returns whether the packet is plausible; if not, use libipt for its error text.
 */
#ifndef TY_PT_CLOCK_H
#define TY_PT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct ty_pt_clock {
	/* Set before use. */
	uint32_t cpuid_15_eax, cpuid_15_ebx; /* TSC : crystal clock; 0: unknown */
	uint8_t mtc_freq;		     /* IA32_RTIT_CTL.MTCFreq, at most 15 */
	uint8_t nom_freq;		     /* base frequency in 100 MHz; 0: unknown */
	bool skl168;			     /* CYC may be lost before a PSB */

	bool timed; /* a TSC was seen */
	uint64_t tsc;

	uint64_t base, fc; /* time of the last TSC or MTC, and ticks since by CYC */
	uint32_t ctc;	   /* crystal clock there, and at the last CYC's begin */
	uint32_t ctc_cyc;
	bool tma, mtc, lost_cyc; /* seen since the last TSC */

	/* The ratio, in 1/256 ticks per cycle, and what it is measured between. */
	bool have_ratio;
	uint64_t ratio, ratio_tsc, cycles_tsc, cycles_mtc;
	uint32_t ratio_ctc;
	bool ratio_mtc, after_psb;
};

static inline void ty_pt_clock_tsc(struct ty_pt_clock *c, uint64_t tsc)
{
	c->timed = true;
	c->tma = c->mtc = c->lost_cyc = false;
	c->tsc = c->base = tsc;
	c->ctc = 0;
	c->fc = 0;
	c->ratio_tsc = tsc;
	c->cycles_tsc = 0;
}

void ty_pt_clock_psb(struct ty_pt_clock *c);
/* As ty_pt_clock_tsc and _cbr, of a PSB+. */
bool ty_pt_clock_psb_tsc(struct ty_pt_clock *c, uint64_t tsc);
bool ty_pt_clock_psb_cbr(struct ty_pt_clock *c, uint8_t ratio);
bool ty_pt_clock_cbr(struct ty_pt_clock *c, uint8_t ratio);
bool ty_pt_clock_tma(struct ty_pt_clock *c, uint16_t ctc, uint16_t fc);
bool ty_pt_clock_mtc(struct ty_pt_clock *c, uint8_t ctc);
bool ty_pt_clock_cyc(struct ty_pt_clock *c, uint64_t cycles);

#endif

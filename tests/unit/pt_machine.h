/* SPDX-License-Identifier: MIT */
/*
 * A machine that "executes" x86-64 code and writes Intel PT packets as hardware does: short or long
 * TNT, return compression with a stack of 64, PSB+ with TSC, TMA and CBR, MTC and CYC (Intel SDM
 * vol. 3, "Intel Processor Trace"). The code is laid out first, block by block, each with the
 * branch that ends it; a test or a bench then says which way each branch goes. So a stream of any
 * length costs nanoseconds per branch, where the stepper costs microseconds per instruction.
 */
#ifndef PT_MACHINE_H
#define PT_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "vec.h"

enum pm_kind { PM_COND, PM_JUMP, PM_CALL, PM_RETURN, PM_INDIRECT_JUMP, PM_INDIRECT_CALL };

/* A basic block: fillers, then the branch. */
struct pm_block {
	uint64_t ip, last, next; /* its first instruction, the branch, what is behind it */
	uint64_t target;	 /* of a direct branch */
	uint32_t insns;
	uint8_t kind; /* enum pm_kind */
};

struct pm_symbol {
	char name[32];
	uint64_t ip, size;
};

struct pm_options {
	bool long_tnt, return_compression, mtc, cyc;
	uint32_t psb_every; /* bytes; 0: 16 KB, as perf requests */
	uint64_t tsc;	    /* at the start */
};

/* What perf.data's AUXTRACE_INFO has of it: TSC per crystal clock, MTC's period, TSC in 100 MHz.
 */
enum { PM_TSC_CTC = 100, PM_MTC_FREQ = 3, PM_NOM_FREQ = 24, PM_RETURNS = 64 };

struct pm {
	struct pm_options o;
	unsigned seed;
	uint64_t base;
	struct ty_buf code;
	VEC(struct pm_symbol) symbols;

	struct ty_buf out;   /* packets */
	uint64_t ip;	     /* of what is executed next */
	uint64_t insns;	     /* executed */
	VEC(uint64_t) stack; /* return addresses; a longjmp cuts it */
	uint64_t returns[PM_RETURNS];
	unsigned returns_at, returns_n;
	uint64_t last_ip, bits;
	unsigned bits_n;
	size_t psb_at;
	uint64_t cycles256; /* core cycles, in 1/256 */
	uint64_t cyc_sent, mtc_sent;
};

void pm_init(struct pm *m, uint64_t base, struct pm_options o);
void pm_fini(struct pm *m);
unsigned pm_any(struct pm *m, unsigned n); /* a random number below n */

/* Layout. A function begins here; what comes next belongs to it. */
void pm_function(struct pm *m, const char *name);
uint64_t pm_here(const struct pm *m);
/* A block of `fillers` instructions and its branch. target 0 (of direct ones): see pm_aim. */
struct pm_block pm_block(struct pm *m, enum pm_kind kind, unsigned fillers, uint64_t target);
void pm_aim(struct pm *m, struct pm_block *b, uint64_t target);
/* The code as an ELF file with its symbols; loaded at its base, from offset 4096 of the file on. */
enum { PM_ELF_OFF = 4096 };
void pm_elf(struct pm *m, struct ty_buf *out);

/* Execution: a PSB+ and the start of tracing; blocks; its end. `to`: of COND whether it is taken,
 * of indirect ones where to. A block must be the one at m->ip. */
void pm_start(struct pm *m, uint64_t ip);
void pm_run(struct pm *m, const struct pm_block *b, uint64_t to);
/* An interrupt: tracing ends before the instruction at m->ip, and begins again at `to`, some time
 * later. */
void pm_interrupt(struct pm *m, uint64_t to);
void pm_stop(struct pm *m);

#endif

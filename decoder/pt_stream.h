/* SPDX-License-Identifier: MIT */
/*
 * One stream of Intel PT packets to executed instructions, by libipt (Intel SDM vol. 3, chapter
 * "Intel Processor Trace"). Pulled item by item; what cannot be decoded is an item too (GAP, with
 * libipt's own text), and decoding goes on at the next packet that tells where, at the latest at
 * the next PSB. Bytes and a callback for code in, items out.
 */
#ifndef TY_PT_STREAM_H
#define TY_PT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* The CPU that wrote the packets. */
struct ty_pt_cpu {
	uint16_t family; /* 0: not known, no errata are applied */
	uint8_t model, stepping;
	uint8_t mtc_freq, nom_freq;	     /* IA32_RTIT_CTL.MTCFreq; base frequency in 100 MHz */
	uint32_t cpuid_15_eax, cpuid_15_ebx; /* TSC : crystal clock */
};

enum ty_flow_kind {
	TY_FLOW_INSN,  /* ip, size, raw, cls, mode */
	TY_FLOW_START, /* tracing begins at ip (resumed: where it had ended) */
	TY_FLOW_STOP,  /* tracing ended: by the instruction before, on the way to `to` (0: not told)
			*/
	TY_FLOW_ASYNC, /* interrupt, exception: from ip (not executed) to `to` (0: tracing ended) */
	TY_FLOW_GAP,   /* not decodable from here (near ip) to the next item; text says why; value:
			* bytes of packets, from off on; decoding goes on at `to` (0: not told),
			* `until` */
	TY_FLOW_OVERFLOW, /* packets were lost; goes on at ip (0: tracing was off) */
	TY_FLOW_ABORT,	 /* a transaction was aborted: what was speculative since it began is undone
			  */
	TY_FLOW_PTWRITE, /* value */
	TY_FLOW_CBR,	 /* value: core to bus ratio from here on */
	TY_FLOW_POWER,	 /* text: mwait, pwre, exstop, pwrx; value */
	TY_FLOW_BRANCH,	 /* from ip to `to`; in place of instructions where only these are wanted */
	TY_FLOW_RUN, /* `value` instructions, from ip to the one at `to`, of which are cls, size,
			flags and the time `until`; in place of instructions that are counted */
};

/* What an instruction does to the flow. */
enum ty_flow_class {
	TY_FC_OTHER,
	TY_FC_CALL,
	TY_FC_RETURN,
	TY_FC_JUMP,
	TY_FC_COND,
	TY_FC_FAR_CALL, /* syscall, int */
	TY_FC_FAR_RETURN,
	TY_FC_FAR_JUMP,
};

#define TY_FF_EXACT	  0x01 /* ts: a time stamp belongs here; else that of the last one before */
#define TY_FF_NO_TIME	  0x02 /* no time stamp has been seen yet */
#define TY_FF_SPECULATIVE 0x04 /* inside a transaction */
#define TY_FF_RESUMED	  0x08
#define TY_FF_32BIT	  0x10
#define TY_FF_INFERRED	  0x20 /* ASYNC: it follows from where tracing resumed; no packet says it */
#define TY_FF_NO_CODE	  0x80 /* GAP: there is no code at ip, or none that can be decoded */
#define TY_FF_ERRATUM	  0x40 /* GAP: it may come of an erratum, and the CPU is not known */
#define TY_FF_INDIRECT	  0x80 /* of a RUN: its JUMP goes where a register or memory says */

struct ty_flow_item {
	uint8_t kind;  /* enum ty_flow_kind */
	uint8_t cls;   /* enum ty_flow_class */
	uint8_t size;  /* bytes of the instruction */
	uint8_t flags; /* TY_FF_* */
	uint64_t tsc;
	uint64_t ip, to;
	uint64_t value;
	uint64_t off;	  /* GAP: byte offset in the stream */
	const char *text; /* static */
	union {
		uint8_t raw[16]; /* of an instruction */
		struct {
			uint64_t until; /* time stamp: of a GAP where decoding goes on; 0: not known
					 */
			uint64_t lost;	/* GAP: bytes that were not recorded, as far as is known */
		};
	};
};

/* The text of a gap of code that is missing. */
extern const char ty_pt_no_code[];
/* The text of a gap where tracing ended without a packet that says where. */
extern const char ty_pt_ended_nowhere[];

struct ty_pt;

/* Copies up to n bytes of code at ip as it was at `tsc`; how many (0: none). */
typedef size_t ty_pt_code(void *ctx, uint64_t tsc, uint64_t ip, void *buf, size_t n);

/* Whether this build has libipt, and its version ("2.0"; "" without). */
bool ty_pt_available(void);
const char *ty_pt_version(void);

/* bytes[0..n) must stay; it may begin and end anywhere. 0; -TY_EUNSUPPORTED (built without libipt),
 * -TY_ENOMEM. */
int ty_pt_new(const struct ty_pt_cpu *cpu, const uint8_t *bytes, size_t n, ty_pt_code *code,
	      void *ctx, struct ty_pt **out, struct ty_err *err);
void ty_pt_free(struct ty_pt *pt);

/* The next item: 1; 0 at the end. A stream without a PSB is one gap. */
int ty_pt_next(struct ty_pt *pt, struct ty_flow_item *out);

/* Where the stream can be entered: the offset of the first PSB at or behind `from`; n when none. */
size_t ty_pt_psb_after(const uint8_t *bytes, size_t n, size_t from);
/* What the PSB at off says, without decoding: time, and where the code was if tracing was on. */
struct ty_pt_point {
	size_t off;
	bool timed, on, mode; /* on: at ip; mode: a MODE packet tells how the code is to be read */
	bool whole;	      /* the header has its end */
	uint64_t tsc, ip;
};
struct ty_pt_point ty_pt_point_at(const uint8_t *bytes, size_t n, size_t off);
/*
 * Begin (again) at the PSB at off and end where the PSB at `end` stands (n: never): where tracing
 * is on there (stops), with the last instruction before the address that it tells. 0 or
 * -TY_EFORMAT.
 */
int ty_pt_range(struct ty_pt *pt, size_t off, size_t end, bool stops);
/* That address was reached. */
bool ty_pt_stopped(const struct ty_pt *pt);

#endif

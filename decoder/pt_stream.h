/* SPDX-License-Identifier: MIT */
/*
 * Decodes one stream of Intel PT packets to executed instructions, by libipt (Intel SDM vol. 3,
 * chapter "Intel Processor Trace"). Items are read one by one; undecodable data is an item too
 * (GAP, with libipt's own text), and decoding resumes at the next packet with an address, at the
 * latest at the next PSB. No I/O: bytes and a callback for code in, items out.
 */
#ifndef TY_PT_STREAM_H
#define TY_PT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* The CPU that wrote the packets. */
struct ty_pt_cpu {
	uint16_t family; /* 0: unknown, no errata are applied */
	uint8_t model, stepping;
	uint8_t mtc_freq, nom_freq;	     /* IA32_RTIT_CTL.MTCFreq; base frequency in 100 MHz */
	uint32_t cpuid_15_eax, cpuid_15_ebx; /* TSC : crystal clock */
};

enum ty_flow_kind {
	TY_FLOW_INSN,  /* ip, size, raw, cls, mode */
	TY_FLOW_START, /* tracing begins at ip (resumed: where it had ended) */
	TY_FLOW_STOP,  /* tracing ended: by the previous instruction, on the way to `to` (0:
			* unknown) */
	TY_FLOW_ASYNC, /* interrupt, exception: from ip (not executed) to `to` (0: tracing ended) */
	TY_FLOW_GAP,   /* undecodable from here (near ip) to the next item; text says why; value:
			* bytes of packets, from off on; decoding resumes at `to` (0: unknown),
			* `until` */
	TY_FLOW_OVERFLOW, /* packets were lost; resumes at ip (0: tracing was off) */
	TY_FLOW_ABORT,	  /* a transaction was aborted: its speculative instructions are undone */
	TY_FLOW_PTWRITE,  /* value */
	TY_FLOW_CBR,	  /* value: new core to bus ratio */
	TY_FLOW_POWER,	  /* text: mwait, pwre, exstop, pwrx; value */
	TY_FLOW_BRANCH,	  /* from ip to `to`; instead of instructions in branch mode */
	TY_FLOW_RUN, /* `value` instructions from ip to the one at `to`, which cls, size, flags and
		      * the time `until` describe; instead of instructions in counting mode */
};

/* Effect of an instruction on control flow. */
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

#define TY_FF_EXACT	  0x01 /* ts: has a time stamp of its own; otherwise that of an earlier item */
#define TY_FF_NO_TIME	  0x02 /* no time stamp has been seen yet */
#define TY_FF_SPECULATIVE 0x04 /* inside a transaction */
#define TY_FF_RESUMED	  0x08
#define TY_FF_32BIT	  0x10
#define TY_FF_INFERRED	  0x20 /* ASYNC: concluded from where tracing resumed; no packet states it */
#define TY_FF_NO_CODE	  0x80 /* GAP: there is no code at ip, or none that can be decoded */
#define TY_FF_ERRATUM	  0x40 /* GAP: may be due to an erratum, and the CPU is unknown */
#define TY_FF_INDIRECT	  0x80 /* RUN: its JUMP is indirect */

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
			uint64_t until; /* time stamp; GAP: where decoding resumes; 0: unknown */
			uint64_t lost;	/* GAP: unrecorded bytes, where known */
		};
	};
};

/* Text of a gap of missing code. */
extern const char ty_pt_no_code[];
/* Text of a gap where tracing ended without a packet that states where. */
extern const char ty_pt_ended_nowhere[];

struct ty_pt;

/* Copies up to n bytes of code at ip as of `tsc`; returns how many (0: none). */
typedef size_t ty_pt_code(void *ctx, uint64_t tsc, uint64_t ip, void *buf, size_t n);

/* True when this build has libipt. ty_pt_version: its version ("2.0"; "" without). */
bool ty_pt_available(void);
const char *ty_pt_version(void);

/* bytes[0..n) must stay valid and may start and end anywhere. 0; -TY_EUNSUPPORTED (built without
 * libipt), -TY_ENOMEM. */
int ty_pt_new(const struct ty_pt_cpu *cpu, const uint8_t *bytes, size_t n, ty_pt_code *code,
	      void *ctx, struct ty_pt **out, struct ty_err *err);
void ty_pt_free(struct ty_pt *pt);

/* Returns the next item: 1; 0 at the end. A stream without a PSB is one gap. */
int ty_pt_next(struct ty_pt *pt, struct ty_flow_item *out);

/* Offset of the first PSB at or after `from`; n when there is none. */
size_t ty_pt_psb_after(const uint8_t *bytes, size_t n, size_t from);
/* Content of the PSB+ at off, without decoding: time, and the address if tracing was on. */
struct ty_pt_point {
	size_t off;
	bool timed, on, mode; /* on: at ip; mode: a MODE packet gives the execution mode */
	bool whole;	      /* the header is complete */
	uint64_t tsc, ip;
};
struct ty_pt_point ty_pt_point_at(const uint8_t *bytes, size_t n, size_t off);
/*
 * Starts (again) at the PSB at off and ends at the PSB at `end` (n: never): when tracing is on
 * there (stops), with the last instruction before the address that it states. 0 or -TY_EFORMAT.
 */
int ty_pt_range(struct ty_pt *pt, size_t off, size_t end, bool stops);
/* True when that address was reached. */
bool ty_pt_stopped(const struct ty_pt *pt);

#endif

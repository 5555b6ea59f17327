/* SPDX-License-Identifier: MIT */
/*
 * One sampled operation from any source: Arm SPE (spe_record.h) or a perf sample with ADDR |
 * DATA_SRC | WEIGHT (Intel PEBS, AMD IBS). Fields that were not recorded have no bit in `has`;
 * nothing is invented. A gap is an item of its own, in place.
 */
#ifndef TY_MEM_ACCESS_H
#define TY_MEM_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

enum ty_mem_kind {
	TY_MEM_OTHER, /* neither memory access nor branch, or unknown */
	TY_MEM_LOAD,
	TY_MEM_STORE,
	TY_MEM_BRANCH,
	TY_MEM_GAP, /* samples were lost or are unreadable: see `gap` */
};

/* ty_mem.has */
#define TY_MEM_HAS_TIME	  0x0001u
#define TY_MEM_HAS_TICKS  0x0002u /* the recorded counter; no time without a conversion */
#define TY_MEM_HAS_PC	  0x0004u
#define TY_MEM_HAS_VA	  0x0008u
#define TY_MEM_HAS_PA	  0x0010u
#define TY_MEM_HAS_TARGET 0x0020u
#define TY_MEM_HAS_PREV	  0x0040u /* target of the branch before */
#define TY_MEM_HAS_TOTAL  0x0080u
#define TY_MEM_HAS_ISSUE  0x0100u
#define TY_MEM_HAS_XLAT	  0x0200u
#define TY_MEM_HAS_EVENTS 0x0400u
#define TY_MEM_HAS_SOURCE 0x0800u
#define TY_MEM_HAS_OP	  0x1000u
#define TY_MEM_HAS_CPU	  0x2000u
#define TY_MEM_HAS_TAG	  0x4000u /* the top byte of the data address, not 0 */
#define TY_MEM_HAS_CTX	  0x8000u
#define TY_MEM_HAS_INSN	  0x10000u
#define TY_MEM_HAS_RETIRE 0x20000u

/* Events, by SPE's bits; PEBS and IBS samples fill those that mean the same. */
#define TY_MEM_EV_RETIRED    (1ull << 1)
#define TY_MEM_EV_L1_ACCESS  (1ull << 2)
#define TY_MEM_EV_L1_MISS    (1ull << 3)
#define TY_MEM_EV_TLB_ACCESS (1ull << 4)
#define TY_MEM_EV_TLB_WALK   (1ull << 5)
#define TY_MEM_EV_NOT_TAKEN  (1ull << 6)
#define TY_MEM_EV_MISPREDICT (1ull << 7)
#define TY_MEM_EV_LLC_ACCESS (1ull << 8)
#define TY_MEM_EV_LLC_MISS   (1ull << 9)
#define TY_MEM_EV_REMOTE     (1ull << 10)
#define TY_MEM_EV_UNALIGNED  (1ull << 11)
#define TY_MEM_EV_L2_ACCESS  (1ull << 19)
#define TY_MEM_EV_L2_MISS    (1ull << 20)
#define TY_MEM_EV_MODIFIED   (1ull << 21)
#define TY_MEM_EV_RECENT     (1ull << 22)
#define TY_MEM_EV_SNOOPED    (1ull << 23)

/* Source of the data, common to all machines. */
enum ty_mem_level {
	TY_MEM_LV_UNKNOWN,
	TY_MEM_LV_L1,
	TY_MEM_LV_LFB, /* already in flight */
	TY_MEM_LV_L2,
	TY_MEM_LV_L3,
	TY_MEM_LV_L0,
	TY_MEM_LV_L2_MHB, /* L2's miss handling buffer */
	TY_MEM_LV_L4,
	TY_MEM_LV_MSC,	     /* a cache of the memory */
	TY_MEM_LV_ANY_CACHE, /* not recorded which one; hops gives the distance */
	TY_MEM_LV_PEER,	     /* another core's cache, this socket */
	TY_MEM_LV_REMOTE,    /* another socket's cache */
	TY_MEM_LV_RAM,	     /* from here on: no cache */
	TY_MEM_LV_REMOTE_RAM,
	TY_MEM_LV_PMEM,
	TY_MEM_LV_CXL,
	TY_MEM_LV_UNCACHED,
	TY_MEM_LV_DEVICE,
	TY_MEM_LV_COUNT
};
const char *ty_mem_level_name(enum ty_mem_level l);

/* ty_mem.src_flags */
#define TY_MEM_SRC_PEER	  0x01 /* from another core's cache */
#define TY_MEM_SRC_HITM	  0x02 /* it was modified there */
#define TY_MEM_SRC_REMOTE 0x04
#define TY_MEM_SRC_EVENTS                                                                          \
	0x08 /* derived from events: this core's codes are unknown, or it is a                     \
	      * store */
#define TY_MEM_SRC_MISS	      0x10 /* only a miss in `level` is known */
#define TY_MEM_SRC_HOPS	      0xe0 /* 1 another core of the node, 2 node, 3 socket, 4 board; 0 none */
#define TY_MEM_SRC_HOPS_SHIFT 5

/* "L3 miss, modified, peer": a level and its flags in words. */
#define TY_MEM_LEVEL_TEXT 96u
const char *ty_mem_level_text(enum ty_mem_level l, unsigned src_flags, char out[TY_MEM_LEVEL_TEXT]);

/* Source of the thread's identity. */
enum ty_mem_thread_source {
	TY_MEM_THREAD_UNKNOWN,
	TY_MEM_THREAD_CONTEXT, /* the record itself */
	TY_MEM_THREAD_SWITCH,  /* the thread running on the CPU then, from context switch records */
	TY_MEM_THREAD_RING, /* the thread that the ring belongs to; for a CPU's ring, the first one
			     * it was opened for */
};

struct ty_mem_extra { /* a packet without a field of its own, raw */
	uint8_t kind; /* enum ty_spe_kind */
	uint8_t index;
	uint64_t value;
};
#define TY_MEM_EXTRAS 12

struct ty_mem {
	uint64_t ts_ns; /* for a gap: the last known time before it */
	uint64_t ticks;
	uint64_t pc, va, pa, target, prev_target;
	uint64_t events;
	uint64_t off;	   /* in the AUX stream; of a perf sample: in the file */
	uint64_t data_src; /* of a perf sample, else 0 */
	uint32_t has;
	uint32_t cpu;
	int32_t pid, tid; /* -1: unknown */
	uint32_t context;
	uint32_t lat_total; /* SPE: dispatch to completion; a perf sample: the access (weight) */
	union {
		uint32_t lat_issue; /* dispatch to issue */
		uint32_t lat_insn;  /* of the instruction, of a perf sample (HAS_INSN) */
	};
	union {
		uint32_t lat_xlat;
		uint32_t lat_retire; /* of a perf sample: to retirement (HAS_RETIRE) */
	};
	uint16_t source;
	uint8_t kind; /* enum ty_mem_kind */
	uint8_t op_class, op;
	uint8_t el, ns, nse; /* of the PC */
	uint8_t tag;
	uint8_t pa_ns, pa_nse, pa_ch, pa_pat;
	uint8_t level, src_flags; /* enum ty_mem_level, TY_MEM_SRC_* */
	uint8_t who;		  /* enum ty_mem_thread_source */
	uint8_t size;		  /* bytes accessed; 0 unknown */
	uint8_t extras;
	struct ty_mem_extra extra[TY_MEM_EXTRAS];
	const char *gap;    /* a gap's reason; static */
	uint64_t gap_bytes; /* unreadable bytes; 0: samples were lost before they were stored */
};

/* perf's data_src, mem_op */
#define TY_MEM_SRC_OP_LOAD  0x02u
#define TY_MEM_SRC_OP_STORE 0x04u

/* True when data_src describes a memory access, rather than coming from an event without that
 * information. */
static inline bool ty_mem_data_src_known(uint64_t data_src)
{
	return data_src & 0x1e;
}

/* True for writes: stores, operations that load and store (AMD IBS), and atomic operations that SPE
 * counts as loads (they return the old value). */
static inline bool ty_mem_writes(const struct ty_mem *m)
{
	return m->kind == TY_MEM_STORE || m->data_src & TY_MEM_SRC_OP_STORE ||
	       (m->has & TY_MEM_HAS_OP && m->op_class == 1 && (m->op & 0xe6) == 0x06);
}

/* Appends "LD GP-REG", "ST", "B COND"; "other". */
void ty_mem_op_text(const struct ty_mem *m, struct ty_buf *out);
/* "L2", "peer core", "unknown 0x56", by the core's own table; "" when there is none. buf: for
 * sources without a name of their own. */
const char *ty_mem_source_text(const struct ty_mem *m, uint64_t midr, char buf[TY_MEM_LEVEL_TEXT]);
/* Sets level and src_flags from source (by the core's table, MIDR 0: unknown core) and events. */
void ty_mem_set_level(struct ty_mem *m, uint64_t midr);
/* The same from perf's data_src (union perf_mem_data_src); also kind and events. arm: the sample
 * was converted from Arm SPE, whose "walker hit" is a TLB access without a walk. */
void ty_mem_set_data_src(struct ty_mem *m, uint64_t data_src, bool arm);
/* The core's family name when its data source codes are known; otherwise NULL. */
const char *ty_mem_core_name(uint64_t midr);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Parses records of perf_event and of perf.data files: the part that kernel rings, perf.data files
 * (perf_data.h), tarry's sideband sections and bare sideband files have in common. Every read is
 * checked; a record too short for its type is -TY_EFORMAT. Little endian. Pointers in results
 * borrow from the record. No file access.
 *
 * Formats: linux include/uapi/linux/perf_event.h (enum perf_event_type, struct perf_event_attr),
 * tools/lib/perf/include/perf/event.h (user records).
 */
#ifndef TY_PERF_RECORD_H
#define TY_PERF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types that tarry uses. From 64 on: written by perf, not by the kernel. */
enum ty_perf_type {
	TY_PERF_MMAP = 1,
	TY_PERF_LOST = 2,
	TY_PERF_COMM = 3,
	TY_PERF_EXIT = 4,
	TY_PERF_THROTTLE = 5,
	TY_PERF_UNTHROTTLE = 6,
	TY_PERF_FORK = 7,
	TY_PERF_SAMPLE = 9,
	TY_PERF_MMAP2 = 10,
	TY_PERF_AUX = 11,
	TY_PERF_ITRACE_START = 12,
	TY_PERF_LOST_SAMPLES = 13,
	TY_PERF_SWITCH = 14,
	TY_PERF_SWITCH_CPU_WIDE = 15,
	TY_PERF_NAMESPACES = 16,
	TY_PERF_KSYMBOL = 17,
	TY_PERF_BPF_EVENT = 18,
	TY_PERF_CGROUP = 19,
	TY_PERF_TEXT_POKE = 20,
	TY_PERF_AUX_OUTPUT_HW_ID = 21,
	TY_PERF_KERNEL_TYPES = 64,
	TY_PERF_HEADER_ATTR = 64,
	TY_PERF_HEADER_EVENT_TYPE = 65,
	TY_PERF_HEADER_TRACING_DATA = 66,
	TY_PERF_HEADER_BUILD_ID = 67,
	TY_PERF_FINISHED_ROUND = 68,
	TY_PERF_ID_INDEX = 69,
	TY_PERF_AUXTRACE_INFO = 70,
	TY_PERF_AUXTRACE = 71,
	TY_PERF_AUXTRACE_ERROR = 72,
	TY_PERF_THREAD_MAP = 73,
	TY_PERF_STAT_CONFIG = 75,
	TY_PERF_STAT = 76,
	TY_PERF_STAT_ROUND = 77,
	TY_PERF_EVENT_UPDATE = 78,
	TY_PERF_TIME_CONV = 79,
	TY_PERF_HEADER_FEATURE = 80,
	TY_PERF_COMPRESSED = 81,
	TY_PERF_FINISHED_INIT = 82,
	TY_PERF_COMPRESSED2 = 83,
};

/* ty_perf_rec.misc */
#define TY_PERF_MISC_CPUMODE	    7 /* 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user */
#define TY_PERF_MISC_COMM_EXEC	    (1u << 13) /* COMM: by an exec */
#define TY_PERF_MISC_MMAP_DATA	    (1u << 13) /* MMAP: a data mapping */
#define TY_PERF_MISC_SWITCH_OUT	    (1u << 13) /* SWITCH*: switched out, else in */
#define TY_PERF_MISC_SWITCH_PREEMPT (1u << 14) /* SWITCH_OUT: preempted */
#define TY_PERF_MISC_MMAP_BUILD_ID  (1u << 14) /* MMAP2: build id instead of inode */

/* AUX flags */
#define TY_PERF_AUX_TRUNCATED 1u /* data was lost: the buffer was full, or a hole */
#define TY_PERF_AUX_OVERWRITE 2u /* snapshot mode */
#define TY_PERF_AUX_PARTIAL   4u /* holes inside */
#define TY_PERF_AUX_COLLISION 8u /* a sample collided with another */

/* sample_type */
#define TY_PERF_S_IP		 (1ull << 0)
#define TY_PERF_S_TID		 (1ull << 1)
#define TY_PERF_S_TIME		 (1ull << 2)
#define TY_PERF_S_ADDR		 (1ull << 3)
#define TY_PERF_S_READ		 (1ull << 4)
#define TY_PERF_S_CALLCHAIN	 (1ull << 5)
#define TY_PERF_S_ID		 (1ull << 6)
#define TY_PERF_S_CPU		 (1ull << 7)
#define TY_PERF_S_PERIOD	 (1ull << 8)
#define TY_PERF_S_STREAM_ID	 (1ull << 9)
#define TY_PERF_S_RAW		 (1ull << 10)
#define TY_PERF_S_BRANCH_STACK	 (1ull << 11)
#define TY_PERF_S_REGS_USER	 (1ull << 12)
#define TY_PERF_S_STACK_USER	 (1ull << 13)
#define TY_PERF_S_WEIGHT	 (1ull << 14)
#define TY_PERF_S_DATA_SRC	 (1ull << 15)
#define TY_PERF_S_IDENTIFIER	 (1ull << 16)
#define TY_PERF_S_TRANSACTION	 (1ull << 17)
#define TY_PERF_S_REGS_INTR	 (1ull << 18)
#define TY_PERF_S_PHYS_ADDR	 (1ull << 19)
#define TY_PERF_S_AUX		 (1ull << 20)
#define TY_PERF_S_CGROUP	 (1ull << 21)
#define TY_PERF_S_DATA_PAGE_SIZE (1ull << 22)
#define TY_PERF_S_CODE_PAGE_SIZE (1ull << 23)
#define TY_PERF_S_WEIGHT_STRUCT	 (1ull << 24)
#define TY_PERF_S_KNOWN		 ((1ull << 25) - 1)

/* ty_perf_attr.flags */
#define TY_PERF_ATTR_SAMPLE_ID_ALL (1ull << 18)
#define TY_PERF_ATTR_USE_CLOCKID   (1ull << 25)
#define TY_PERF_ATTR_CTX_SWITCH	   (1ull << 26)

/* ty_perf_attr.branch_sample_type */
#define TY_PERF_BRANCH_CALL_STACK (1u << 11) /* calls that have not returned */
#define TY_PERF_BRANCH_HW_INDEX	  (1u << 17)
#define TY_PERF_BRANCH_COUNTERS	  (1u << 19)

#define TY_PERF_ATTR_MIN 64   /* PERF_ATTR_SIZE_VER0 */
#define TY_PERF_ATTR_MAX 4096 /* bound for sizes of later kernels */

/* struct perf_event_attr; fields missing in a shorter version are 0. */
struct ty_perf_attr {
	uint32_t type;
	uint32_t size; /* as written */
	uint64_t config, config1, config2, config3, config4;
	uint64_t sample_period; /* or the frequency, see flags */
	uint64_t sample_type, read_format, flags;
	uint64_t branch_sample_type, sample_regs_user, sample_regs_intr;
	uint32_t sample_stack_user;
	int32_t clockid;
};

/* Parses a struct perf_event_attr of any version, n bytes long. 0, or -TY_EFORMAT (under
 * TY_PERF_ATTR_MIN). */
int ty_perf_attr_parse(const uint8_t *p, size_t n, struct ty_perf_attr *out);

/* One record. */
struct ty_perf_rec {
	uint32_t type; /* enum ty_perf_type, or another */
	uint16_t misc;
	const uint8_t *body; /* after the 8 bytes of header */
	uint32_t n;	     /* bytes of body */
	uint64_t off;	     /* start of the record: in the buffer or in the file (compressed
			      * records: start of the COMPRESSED record that completed it) */
	/* AUXTRACE, HEADER_TRACING_DATA: the data that follows the record, in the file. */
	uint64_t data_off, data_n;
};

/*
 * Returns the record at *pos of a buffer of n bytes and advances *pos past it. 1; 0 at the end;
 * -TY_EFORMAT when the remainder is not a whole record (*pos is unchanged: the rest is lost). Data
 * after a record (AUXTRACE) is not skipped: such buffers have none.
 */
int ty_perf_buf_next(const uint8_t *p, size_t n, size_t *pos, struct ty_perf_rec *out);

/* Thread, CPU, event and time of a sample, or of any other kernel record (from its tail,
 * sample_id_all). */
struct ty_perf_id {
	uint64_t have; /* bits TY_PERF_S_* of TID, TIME, ID, STREAM_ID, CPU (ID also by IDENTIFIER)
			*/
	uint64_t time, id, stream_id;
	int32_t pid, tid;
	uint32_t cpu;
};

/* Length of the tail for a sample_type. */
uint32_t ty_perf_id_bytes(uint64_t sample_type);
/* Parses the tail of a record other than a sample; its event must have sample_id_all. 0 or
 * -TY_EFORMAT. */
int ty_perf_id_parse(const struct ty_perf_rec *r, uint64_t sample_type, struct ty_perf_id *out);

/* PERF_RECORD_SAMPLE. Members are valid where `have` has their bit. */
struct ty_perf_sample {
	uint64_t have; /* the event's sample_type */
	struct ty_perf_id id;
	uint64_t ip, addr, period, data_src, transaction, phys_addr, cgroup;
	uint64_t data_page_size, code_page_size;
	uint64_t weight; /* WEIGHT: all 64 bits; WEIGHT_STRUCT: [31:0] var1, [47:32] var2, [63:48]
			    var3 */
	const uint8_t *ips; /* callchain: 8-byte words */
	uint64_t ips_n;
	const uint8_t *raw;
	uint32_t raw_n;
	const uint8_t *branches; /* branch stack: TY_PERF_BRANCH_BYTES each, the newest first */
	uint64_t branches_n;
	const uint8_t *regs;  /* of user code, a word per bit of attr.sample_regs_user; NULL */
	uint64_t regs_abi;    /* 1: of a 32-bit process, 2: 64-bit */
	const uint8_t *stack; /* stack_n bytes from the stack pointer on; NULL */
	uint64_t stack_n;
};
int ty_perf_sample_parse(const struct ty_perf_rec *r, const struct ty_perf_attr *attr,
			 struct ty_perf_sample *out);

/* struct perf_branch_entry */
enum { TY_PERF_BRANCH_BYTES = 24 };
struct ty_perf_branch {
	uint64_t from, to;
	bool mispredicted, predicted; /* neither: unknown */
	bool in_transaction, abort;
	uint16_t cycles; /* since the branch before; 0: unknown */
};
/* i < s->branches_n */
struct ty_perf_branch ty_perf_branch_at(const struct ty_perf_sample *s, uint64_t i);

/* Parsers of record bodies. All return 0, or -TY_EFORMAT when the record is too short or of another
 * type. */

struct ty_perf_mmap { /* MMAP, MMAP2 */
	int32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t prot, flags; /* MMAP2; of MMAP: PROT_EXEC (4) unless it is a data mapping */
	bool has_build_id;
	uint8_t build_id_n;
	uint8_t build_id[20];
	uint64_t inode; /* MMAP2 without build id; otherwise 0, as are the next two */
	uint64_t generation;
	uint32_t major, minor; /* of the device */
	const char *name;      /* NUL-terminated */
};
int ty_perf_mmap(const struct ty_perf_rec *r, struct ty_perf_mmap *out);

struct ty_perf_comm {
	int32_t pid, tid;
	bool exec;
	const char *comm;
};
int ty_perf_comm(const struct ty_perf_rec *r, struct ty_perf_comm *out);

struct ty_perf_task { /* FORK, EXIT */
	int32_t pid, ppid, tid, ptid;
	uint64_t time;
};
int ty_perf_task(const struct ty_perf_rec *r, struct ty_perf_task *out);

struct ty_perf_aux {
	uint64_t offset, size, flags; /* TY_PERF_AUX_* */
};
int ty_perf_aux(const struct ty_perf_rec *r, struct ty_perf_aux *out);

struct ty_perf_itrace_start {
	int32_t pid, tid;
};
int ty_perf_itrace_start(const struct ty_perf_rec *r, struct ty_perf_itrace_start *out);

struct ty_perf_lost { /* LOST, LOST_SAMPLES */
	uint64_t count;
};
int ty_perf_lost(const struct ty_perf_rec *r, struct ty_perf_lost *out);

/* SWITCH, SWITCH_CPU_WIDE. The thread itself is in the record's id (ty_perf_id_parse). */
struct ty_perf_switch {
	bool out, preempt;
	bool has_other; /* CPU_WIDE: the next thread (out) or the previous one (in) */
	int32_t other_pid, other_tid;
};
int ty_perf_switch(const struct ty_perf_rec *r, struct ty_perf_switch *out);

/* STAT: a counter of perf stat record, since it was enabled. */
struct ty_perf_stat {
	uint64_t id; /* of its event */
	uint32_t cpu, thread;
	uint64_t value, enabled_ns, running_ns;
};
int ty_perf_stat(const struct ty_perf_rec *r, struct ty_perf_stat *out);

/* AUXTRACE_INFO: type 1 intel_pt, 4 arm_spe..., and 64-bit words whose meaning depends on the
 * type. */
enum { TY_PERF_AUXTRACE_INTEL_PT = 1, TY_PERF_AUXTRACE_ARM_SPE = 4 };
struct ty_perf_auxtrace_info {
	uint32_t type;
	uint32_t words; /* word i: ty_perf_word(out, i) */
	const uint8_t *priv;
};
int ty_perf_auxtrace_info(const struct ty_perf_rec *r, struct ty_perf_auxtrace_info *out);
/* 0 past the last one. */
uint64_t ty_perf_word(const struct ty_perf_auxtrace_info *i, uint32_t word);

/* AUXTRACE: a block of AUX data; its bytes are rec.data_off, rec.data_n. */
struct ty_perf_auxtrace {
	uint64_t size, offset, reference; /* offset: in the AUX stream */
	uint32_t idx;
	int32_t tid; /* -1: not per thread */
	int32_t cpu; /* -1: not per CPU */
};
int ty_perf_auxtrace(const struct ty_perf_rec *r, struct ty_perf_auxtrace *out);

/* TIME_CONV: hardware counter to perf's clock, from the ring's first page. */
struct ty_perf_time_conv {
	uint64_t shift, mult, zero;
	uint64_t cycles, mask; /* short counter: see ty_perf_time_ns */
	bool has_zero, is_short;
};
/* -TY_EFORMAT also for a shift of 64 or more. */
int ty_perf_time_conv(const struct ty_perf_rec *r, struct ty_perf_time_conv *out);

/* perf clock in ns at a counter value. */
static inline uint64_t ty_perf_time_ns(const struct ty_perf_time_conv *tc, uint64_t counter)
{
	uint64_t quot, rem;

	if (tc->is_short)
		counter = tc->cycles + ((counter - tc->cycles) & tc->mask);
	quot = counter >> tc->shift;
	rem = counter & ((1ull << tc->shift) - 1);
	return tc->zero + quot * tc->mult +
	       (uint64_t)((unsigned __int128)rem * tc->mult >> tc->shift);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The normalised event: what every layer above the decoder uses, whatever the file's kernel, word
 * size or byte order. Known kernel events are decoded into the union by precomputed field offsets
 * (decoder/formats.h); all others keep only their head and raw bytes.
 */
#ifndef TY_EVENT_H
#define TY_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* kind, system, event name in the kernel. GAP and OTHER have no fixed name. */
#define TY_EVENT_KINDS(X)                                                                          \
	X(SYS_ENTER, "raw_syscalls", "sys_enter")                                                  \
	X(SYS_EXIT, "raw_syscalls", "sys_exit")                                                    \
	X(SWITCH, "sched", "sched_switch")                                                         \
	X(WAKING, "sched", "sched_waking")                                                         \
	X(WAKEUP, "sched", "sched_wakeup")                                                         \
	X(WAKEUP_NEW, "sched", "sched_wakeup_new")                                                 \
	X(MIGRATE, "sched", "sched_migrate_task")                                                  \
	X(FORK, "sched", "sched_process_fork")                                                     \
	X(EXEC, "sched", "sched_process_exec")                                                     \
	X(EXIT, "sched", "sched_process_exit")                                                     \
	X(PI_SETPRIO, "sched", "sched_pi_setprio")                                                 \
	X(NEWTASK, "task", "task_newtask")                                                         \
	X(RENAME, "task", "task_rename")                                                           \
	X(IRQ_ENTRY, "irq", "irq_handler_entry")                                                   \
	X(IRQ_EXIT, "irq", "irq_handler_exit")                                                     \
	X(SOFTIRQ_ENTRY, "irq", "softirq_entry")                                                   \
	X(SOFTIRQ_EXIT, "irq", "softirq_exit")                                                     \
	X(SOFTIRQ_RAISE, "irq", "softirq_raise")                                                   \
	X(HRTIMER_EXPIRE, "timer", "hrtimer_expire_entry")                                         \
	X(BLOCK_ISSUE, "block", "block_rq_issue")                                                  \
	X(BLOCK_COMPLETE, "block", "block_rq_complete")                                            \
	X(BLOCK_QUEUE, "block", "block_bio_queue")                                                 \
	X(SIGNAL_GENERATE, "signal", "signal_generate")                                            \
	X(SIGNAL_DELIVER, "signal", "signal_deliver")                                              \
	X(CONTENTION_BEGIN, "lock", "contention_begin")                                            \
	X(CONTENTION_END, "lock", "contention_end")                                                \
	X(POSIX_LOCK, "filelock", "posix_lock_inode")                                              \
	X(FLOCK, "filelock", "flock_lock_inode")                                                   \
	X(PRINT, "ftrace", "print")

enum ty_event_kind {
	TY_EV_OTHER = 0,
	TY_EV_GAP, /* events were lost here: u.gap */
#define X(k, s, n) TY_EV_##k,
	TY_EVENT_KINDS(X)
#undef X
		TY_EV_REGION, /* events of the group tarry_...: recorder/user_probes.h */
	TY_EV_VECTOR_ENTRY,   /* any irq_vectors:NAME_entry; NAME by the event's format */
	TY_EV_VECTOR_EXIT,
	TY_EV_KINDS
};

#define TY_COMM 16

/* Kinds of region events; the first six as in tarry.h. Other values are ignored. */
enum ty_region_kind {
	TY_REG_BEGIN = 1,
	TY_REG_END,
	TY_REG_INSTANT,
	TY_REG_COUNTER,	    /* value */
	TY_REG_ASYNC_BEGIN, /* value: its id */
	TY_REG_ASYNC_END,
	TY_REG_CALL,  /* a function is entered; value: its first argument */
	TY_REG_RETURN /* value: what it returns */
};

/* common_flags of a record (include/linux/trace_events.h, enum trace_flag_type) */
#define TY_EVF_HARDIRQ 0x08
#define TY_EVF_SOFTIRQ 0x10
#define TY_EVF_NMI     0x40

/* prev_state of sched_switch as the kernel reports it (TASK_REPORT bits); 0 = preempted or yielding
 */
#define TY_TASK_INTERRUPTIBLE	0x01
#define TY_TASK_UNINTERRUPTIBLE 0x02
#define TY_TASK_STOPPED		0x04
#define TY_TASK_TRACED		0x08
#define TY_TASK_DEAD		0x10
#define TY_TASK_ZOMBIE		0x20
#define TY_TASK_PARKED		0x40
#define TY_TASK_IDLE		0x80
#define TY_TASK_PREEMPTED	0x100 /* "R+" */
#define TY_TASK_UNRECORDED	0x200 /* left the CPU for an unrecorded reason (perf's own records) */
/* Priority of a switch event that has neither priorities nor names. */
#define TY_PRIO_UNKNOWN INT32_MIN

/* Position of a record in the file; opaque, stable for the same file. See ty_events_read_at. */
typedef uint64_t ty_loc;

struct ty_event {
	uint64_t ts_ns; /* trace clock */
	ty_loc loc;
	int32_t tid; /* common_pid: the thread that was current; 0 = idle */
	uint32_t cpu;
	uint16_t buffer;      /* index into the trace's buffers */
	uint16_t id;	      /* event id of this file, 0 for a gap */
	uint8_t kind;	      /* enum ty_event_kind */
	uint8_t flags;	      /* common_flags */
	uint8_t preempt;      /* common_preempt_count */
	uint8_t decode_error; /* a known event whose record is too short: the union is zero */
	uint32_t size;	      /* of data */
	const uint8_t
		*data; /* the raw record in file byte order; valid until the next event is read */
	union {
		/* GAP: events lost on this cpu and buffer in (from_ns, ts_ns]. from_ns is the time
		 * of the previous event (0: since the recording began). */
		struct {
			uint64_t from_ns;
			uint64_t count; /* UINT64_MAX: unknown number */
			uint8_t what;	/* enum ty_gap */
			bool to_end; /* no further event of this cpu and buffer: the loss extends to
				      * the end of the recording */
		} gap;
		struct {
			int64_t nr;
			uint64_t args[6];
		} enter;
		struct {
			int64_t nr, ret;
		} exit;
		struct {
			int32_t prev_tid, next_tid;
			int32_t prev_prio, next_prio;
			uint64_t prev_state;
			char prev_comm[TY_COMM + 1], next_comm[TY_COMM + 1];
		} sw;
		struct { /* WAKING, WAKEUP, WAKEUP_NEW */
			int32_t tid, prio, target_cpu;
			char comm[TY_COMM + 1];
		} wake;
		struct {
			int32_t tid, prio, from_cpu, to_cpu;
			char comm[TY_COMM + 1];
		} migrate;
		struct {
			int32_t parent_tid, child_tid;
			char parent_comm[TY_COMM + 1], child_comm[TY_COMM + 1];
		} fork;
		struct {
			int32_t tid, old_tid;
			const char *filename; /* into data; NUL-terminated; "" when damaged */
		} exec;
		struct {
			int32_t tid, prio;
			int8_t group_dead; /* -1: this kernel does not record it */
			char comm[TY_COMM + 1];
		} tex; /* EXIT */
		struct {
			int32_t tid, old_prio, new_prio;
		} pi;
		struct {
			int32_t tid;
			uint64_t clone_flags;
			char comm[TY_COMM + 1];
		} newtask;
		struct {
			int32_t tid;
			char old_comm[TY_COMM + 1], new_comm[TY_COMM + 1];
		} rename;
		struct { /* IRQ_ENTRY, IRQ_EXIT */
			int32_t irq, ret;
			const char *name; /* "" on exit */
		} irq;
		struct { /* SOFTIRQ_*, VECTOR_* */
			uint32_t vec;
		} softirq;
		struct {
			uint64_t hrtimer, function;
		} hrtimer;
		struct { /* BLOCK_ISSUE, BLOCK_COMPLETE, BLOCK_QUEUE */
			uint32_t major, minor, nr_sector, bytes; /* bytes 0: not in this event */
			uint64_t sector;
			int32_t error;
			char rwbs[12];
			char comm[TY_COMM + 1]; /* issue only */
		} block;
		struct { /* SIGNAL_GENERATE (tid = receiver), SIGNAL_DELIVER (tid = current) */
			int32_t sig, err, code, tid, group, result;
		} sig;
		struct {
			uint64_t lock;
			uint32_t flags;
			int32_t ret; /* end only */
		} lock;
		struct { /* POSIX_LOCK, FLOCK: the file, what was tried, and the result */
			uint64_t ino, dev;
			uint32_t type; /* F_RDLCK, F_WRLCK, F_UNLCK */
			int32_t ret;
		} file_lock;
		struct {
			const char *text; /* into data, NUL-terminated */
		} print;
		struct {
			uint32_t kind; /* enum ty_region_kind */
			int64_t value;
			uint64_t sp;	  /* CALL, RETURN: the stack pointer; 0: not recorded */
			const char *name; /* into data or the formats, NUL-terminated; "" when
					     damaged */
		} region;
	} u;
};

/*
 * A record as used by the merge and the builder's fast path: its head, all of a system call except
 * the arguments, all of a switch or wakeup except the names. Everything else is decoded from the
 * record on demand.
 */
struct ty_item {
	uint64_t ts_ns; /* of the file */
	uint64_t val;	/* SYS_ENTER: ty_enter_val; SYS_EXIT: the result; MISSED: the number; SWITCH
			 * and WAKING: TY_PACKED..., 0 when the values do not fit */
	uint32_t at;	/* of the record's head in the chunk */
	int32_t tid;	/* common_pid */
	int32_t nr;	/* system calls: the number; SWITCH: next_tid; WAKING: tid */
	uint16_t id;
	uint8_t kind;  /* enum ty_event_kind, or TY_IT_* */
	uint8_t flags; /* common_flags */
};

enum {
	TY_IT_WHOLE = 0xf0, /* decode the whole event: damaged, or an unusual system call number */
	TY_IT_MISSED,	    /* the kernel lost events here */
	TY_IT_DAMAGED	    /* the page is damaged from here on */
};

/*
 * val of a SWITCH whose prev_tid is the item's tid: prev_state, prev_prio and next_prio in 16 bits
 * each, and the offsets of the two names of TY_COMM bytes in the record's data, in 7 bits each. val
 * of a WAKING: target_cpu in 32 bits, and its name's offset.
 */
#define TY_PACKED	   (UINT64_C(1) << 63)
#define TY_PACKED_NAME_MAX 127u
static inline uint64_t ty_pack_names(uint32_t off0, uint32_t off1)
{
	return TY_PACKED | (uint64_t)off0 << 48 | (uint64_t)off1 << 55;
}
static inline unsigned ty_packed_state(uint64_t val)
{
	return (uint16_t)val;
}
static inline int32_t ty_packed_prev_prio(uint64_t val)
{
	return (int16_t)(val >> 16);
}
static inline int32_t ty_packed_next_prio(uint64_t val)
{
	return (int16_t)(val >> 32);
}
static inline int32_t ty_packed_target_cpu(uint64_t val)
{
	return (int32_t)(uint32_t)val;
}

/* The ty_loc of a record: that of its chunk plus the offset of its head. */
static inline ty_loc ty_loc_at(ty_loc chunk, uint32_t at)
{
	return chunk + at / 4;
}

/* True when two consecutive items of a stream are the ends of one call. */
static inline bool ty_items_call(const struct ty_item *i, const struct ty_item *e)
{
	return i->kind == TY_EV_SYS_ENTER && e->kind == TY_EV_SYS_EXIT && e->tid == i->tid &&
	       e->nr == i->nr;
}

static inline uint64_t ty_rotate(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

/* Of the arguments of a system call: bit 0: one exceeds 32 bits; 15 bits of a hash of all, which
 * tells the same call in another buffer; the first one in 48 bits. */
#define TY_FIRST_ARG_NONE ((UINT64_C(1) << 48) - 1) /* it does not fit */
static inline uint64_t ty_enter_val(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
				    uint64_t f)
{
	uint64_t h = a + ty_rotate(b, 11) + ty_rotate(c, 22) + ty_rotate(d, 33) + ty_rotate(e, 43) +
		     ty_rotate(f, 53);

	return (a < TY_FIRST_ARG_NONE ? a : TY_FIRST_ARG_NONE) << 16 |
	       h * UINT64_C(0x9e3779b97f4a7c15) >> 49 << 1 | !!((a | b | c | d | e | f) >> 32);
}
static inline uint64_t ty_first_arg(uint64_t enter_val)
{
	return enter_val >> 16;
}

/* The part of an event that is always decoded; see ty_events_next_brief. */
struct ty_brief {
	uint64_t ts_ns, val; /* val: as in struct ty_item; not of GAP */
	ty_loc loc;
	const uint8_t
		*data; /* data of the record, until the next event is read; packed ones only */
	int32_t tid, nr;
	uint32_t cpu;
	uint16_t buffer, id;
	uint8_t kind; /* enum ty_event_kind, or TY_IT_WHOLE */
	uint8_t flags;
	uint16_t end_id; /* with `end`: the id of the SYS_EXIT */
	/* SYS_ENTER, when the next event of this CPU is the SYS_EXIT of the same call and no CPU
	 * has a loss before it: time and result of that SYS_EXIT; otherwise end_ns is 0. */
	uint64_t end_ns;
	int64_t ret;
	const uint64_t *args; /* the first three, set by a caller that read them; else NULL */
};

/* The first (0) or second (1) name of a packed event: TY_COMM bytes, not always terminated. */
static inline const char *ty_packed_name(const struct ty_brief *br, unsigned i)
{
	return (const char *)br->data + (br->val >> (48 + 7 * i) & 127);
}

enum ty_gap {
	TY_GAP_OVERRUN,	  /* the kernel overwrote events before they were read */
	TY_GAP_DAMAGED,	  /* a page or chunk of the file could not be decoded */
	TY_GAP_UNFINISHED /* the recorder died: later events were never written */
};

#endif

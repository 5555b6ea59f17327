/* SPDX-License-Identifier: MIT */
/* Shared by the BPF program (call_data.bpf.c) and its loader (call_data.c). */
#ifndef TY_CALL_DATA_BPF_H
#define TY_CALL_DATA_BPF_H

#include "call_data_record.h"

/* LIST: maximum number of strings, and of bytes of each. */
enum { TY_EV_CALLS = 512, TY_EV_ARGS = 5, TY_EV_LIST = 64, TY_EV_LIST_BYTES = 512 };
/* Maximum bytes of an argument's values, and number of a vector's buffers, of control messages and
 * of messages that are read. */
enum { TY_EV_VALUES_BYTES = 512, TY_EV_BUFFERS = 8, TY_EV_CONTROLS = 4, TY_EV_MESSAGES = 8 };
/* struct msghdr, struct mmsghdr */
enum { TY_EV_MSG_BYTES = 56, TY_EV_MMSG_BYTES = 64 };
/* Maximum parts of a path. */
enum { TY_EV_PARTS = 64 };

/* What to read of a call, by number. */
struct ty_ev_call {
	__u8 strings;  /* bit per argument: a NUL-terminated string */
	__u8 sockaddr; /* 1 + index of such an argument, followed by its length; 0: none */
	__u8 address; /* 1 + index of an address that is returned, followed by a pointer to its size
		       */
	__u8 list;    /* 1 + index of an argument that points to pointers to strings; 0: none */
	__u8 exit;    /* its exit is handled, too: data that was not in memory is read there */
	__u8 fds;     /* enum ty_ev_fds: descriptors to describe when it succeeded */
	__u8 messages; /* enum ty_ev_messages: of its second argument */
	__u8 only;     /* enum ty_ev_only */
	struct ty_ev_value {
		__u8 arg;   /* 1 + index; 0: no more */
		__u8 bytes; /* of one value */
		__u8 count; /* how many: index of the argument with the number, or enum ty_ev_count
			     */
		__u8 when;  /* enum ty_ev_when */
	} values[5];
};
enum ty_ev_count {
	TY_EV_ONE = 8,
	TY_EV_RESULT, /* the call's result, and no more than its third argument (MSG_TRUNC) */
	TY_EV_BITS,   /* words of 64 bits for as many bits as the first argument says */
};
enum ty_ev_when {
	TY_EV_IN = 1, /* read at enter */
	TY_EV_LATE =
		2, /* not changed by the kernel, so read at exit, where it costs no second hook */
	TY_EV_OUT = 4,	  /* read at exit, of a call that succeeded */
	TY_EV_SOME = 8,	  /* with OUT: only when the result is above 0 */
	TY_EV_IOV = 16,	  /* of struct iovec: with `data`, their buffers, too */
	TY_EV_DATA = 64,  /* only with `data`; of bytes no more than that */
	TY_EV_STAYS = 128 /* the kernel does not change what was there at the enter: readable at
			   * exit, where the enter's was left out */
};
/* Structures that a CPU may record without pause, and per second: loops of calls that return at
 * once would take 1.5 to 2.4 times as long with a record for each. Not with `data`. */
enum { TY_EV_BURST = 20000, TY_EV_RATE = 10000 };
struct ty_ev_budget {
	__u64 ns;   /* when it was last filled */
	__u64 tick; /* in which it was last looked at, empty */
	__u64 left;
	__u64 left_out; /* structures, over the whole recording */
};
/* Calls whose structures are read only if they have one. */
enum ty_ev_only {
	TY_EV_ALL,
	TY_EV_FUTEX_WAITS, /* only operations that wait have a time */
	TY_EV_NOT_DEL,	   /* EPOLL_CTL_DEL reads no event */
};
/* Of those received, the sizes of name buffers are read at enter, the rest at exit. */
enum ty_ev_messages {
	TY_EV_MSG_NONE,
	TY_EV_MSG_SEND, /* struct msghdr, read at enter */
	TY_EV_MSG_ONE,	/* struct msghdr, received */
	TY_EV_MSG_MANY, /* struct mmsghdr, as many as the result says, received */
	TY_EV_MSG_SENT, /* struct mmsghdr, as many as the third argument says, read at exit */
};
enum ty_ev_fds {
	TY_EV_FDS_NONE,
	TY_EV_FDS_RESULT,
	TY_EV_FDS_FIRST, /* the first argument is a descriptor */
	TY_EV_FDS_PAIR,	 /* the first argument points to two descriptors */
	TY_EV_FDS_PAIR4, /* the fourth argument does */
};

/*
 * A CPU's records: each at its position in the stream, modulo the ring's size, aligned to 8. Behind
 * the ring is room for the rest of a record that begins before its end (the next one is at the
 * beginning), and for one that is written while the ring is full, and lost.
 */
#define TY_EV_RECORD_MOST (sizeof(struct ty_ev_record) + TY_EV_BYTES)
struct ty_ev_ring {
	__u64 head;	/* the position behind the last record */
	__u64 clock;	/* address of the trace clock's last reading on this CPU */
	__u32 full;	/* when the latest record was begun */
	__u32 busy;	/* one is being written that may be interrupted */
	__u32 no_clock; /* a record was lost because the clock could not be read */
	__u32 pad1;
	__u64 pad[4];
	__u64 tail; /* the reader's: of the first record that is still needed */
	__u64 pad2[7];
	char bytes[];
};
#define TY_EV_RING_BYTES(ring) (sizeof(struct ty_ev_ring) + (ring) + 2 * TY_EV_RECORD_MOST)
/* The position behind a record of n bytes. */
#define TY_EV_RING_NEXT(at, n, ring)                                                               \
	(((at) & ((ring)-1)) + (n) + 7 >= (ring) ? ((at) | ((ring)-1)) + 1                         \
						 : ((at) + (n) + 7) & ~7ull)

/* One byte per thread id, 64 in an element. */
enum {
	TY_EV_TRACED = 1,
	TY_EV_DEFERRED = 2,
	TY_EV_LEFT_OUT = 4, /* the structures of its call were, at the enter */
	TY_EV_TIDS = 64
};
struct ty_ev_tids {
	__u8 of[TY_EV_TIDS];
};

#endif

/* SPDX-License-Identifier: MIT */
/* Shared by the BPF program (evidence.bpf.c) and its loader (evidence.c). */
#ifndef TY_EVIDENCE_BPF_H
#define TY_EVIDENCE_BPF_H

#include "evidence_record.h"

/* LIST: maximum number of strings, and of bytes of each. */
enum { TY_EV_CALLS = 512, TY_EV_ARGS = 5, TY_EV_LIST = 64, TY_EV_LIST_BYTES = 512 };

/* What to read of a call, by number. */
struct ty_ev_call {
	__u8 strings;  /* bit per argument: a NUL-terminated string */
	__u8 sockaddr; /* 1 + index of such an argument, followed by its length; 0: none */
	__u8 list;     /* 1 + index of an argument that points to pointers to strings; 0: none */
	__u8 exit;     /* its exit is handled, too: data that was not in memory is read there */
	__u8 fds;      /* enum ty_ev_fds: descriptors to describe when it succeeded */
};
enum ty_ev_fds {
	TY_EV_FDS_NONE,
	TY_EV_FDS_RESULT,
	TY_EV_FDS_FIRST, /* the first argument is a descriptor */
	TY_EV_FDS_PAIR,	 /* the first argument points to two descriptors */
	TY_EV_FDS_PAIR4, /* the fourth argument does */
};

/* One byte per thread id, 64 in an element. */
enum { TY_EV_TRACED = 1, TY_EV_DEFERRED = 2, TY_EV_TIDS = 64 };
struct ty_ev_tids {
	__u8 of[TY_EV_TIDS];
};

#endif

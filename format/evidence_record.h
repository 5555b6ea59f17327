/* SPDX-License-Identifier: MIT */
/*
 * What lay behind the pointers of system calls: the records of TY_SEC_EVIDENCE (section.h) in a
 * file. The program in the kernel that makes them includes this, too: no libc here.
 *
 * A record is a head and `len` bytes, one behind the other without padding, in the byte order of
 * the machine. ns is the trace clock. What was read at a call's enter lies between the end of the
 * thread's call before and the enter as the ring has it; what was read at its exit (and the
 * arguments of an exec) between the two ends of the call. So time alone says whose it is; tid,
 * number and pointer must agree.
 */
#ifndef TY_EVIDENCE_RECORD_H
#define TY_EVIDENCE_RECORD_H

#include <linux/types.h>

enum ty_ev_kind {
	TY_EVK_PIECE = 1,    /* begins each piece of the section: ptr is its number, from 0, and ns
				how many records were lost before its end, not counting those that
				the pieces that are missing here had */
	TY_EVK_STRING = 2,   /* with the NUL that ends it; arg, ptr: which argument, its value */
	TY_EVK_SOCKADDR = 3, /* struct sockaddr of the kernel's ABI; arg, ptr as above */
	TY_EVK_ARGV = 4,     /* of a successful exec: the process's command line as it begins, a NUL
				behind each part (of a script the interpreter and its arguments come
				first); nr means nothing, tid is the thread's after it */
	TY_EVK_STRINGS = 5,  /* what exec is given: strings, 511 bytes of each, a NUL behind each,
				the last one of which may be cut; arg, ptr as above */
	TY_EVK_FDS = 6, /* one or two struct ty_ev_fd: descriptors that the call made or changed,
			   at its exit; arg, ptr: any argument */
};

enum ty_ev_flag {
	TY_EVF_EXIT = 1,  /* read at the call's exit, because at its enter it could not be */
	TY_EVF_FAULT = 2, /* the memory was not there; len is 0 */
	TY_EVF_CUT = 4,	  /* there was more */
};

struct ty_ev_record {
	__u64 ns, ptr;
	__u32 tid;
	__u16 nr, len;
	__u8 kind, arg, flags, pad;
	__u32 pad2;
};
_Static_assert(sizeof(struct ty_ev_record) == 32, "on disk");

/* What a descriptor is. Addresses: struct sockaddr_in or sockaddr_in6, without its last member;
 * family 0: none. Processes as the kernel's first pid namespace counts them. */
struct ty_ev_fd {
	__u64 inode, peer_inode; /* peer: of a connected unix socket; 0: not known */
	__s32 fd;
	__u32 peer_pid; /* of a unix socket: who connected, called listen or made the pair */
	__u16 mode;	/* as stat has it */
	__u16 family, type, protocol; /* of a socket */
	__u8 listens;		      /* a TCP or unix socket */
	__u8 path_is_peers;	      /* path is the address of the other end */
	__u8 path_len;		      /* an abstract one begins with NUL; 0: none */
	__u8 pad[5];
	__u8 own[24], peer[24];
	char path[112]; /* of a unix socket */
};
_Static_assert(sizeof(struct ty_ev_fd) == 200, "on disk");

/* The most that a record has behind its head. */
#define TY_EV_BYTES 4096

#endif

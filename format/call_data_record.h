/* SPDX-License-Identifier: MIT */
/*
 * Data behind the pointers of system calls: the records of TY_SEC_CALL_DATA (section.h). The BPF
 * program that writes them includes this file as well, so it must not use libc.
 *
 * A record is a head followed by `len` bytes, without padding, in the machine's byte order. ns is
 * the trace clock. A record read at a call's enter has a time between the end of the thread's
 * previous call and the sys_enter event; one read at its exit (and the arguments of an exec) has a
 * time between the call's sys_enter and sys_exit. The time alone therefore identifies the call;
 * tid, number and pointer must match.
 */
#ifndef TY_CALL_DATA_RECORD_H
#define TY_CALL_DATA_RECORD_H

#include <linux/types.h>

enum ty_ev_kind {
	TY_EVK_PIECE = 1,  /* first record of each piece of the section: ptr is the piece's
			    * number, from 0; ns is the number of records lost before its end,
			    * excluding those that missing pieces counted */
	TY_EVK_STRING = 2, /* with the terminating NUL; arg, ptr: index and value of the argument */
	TY_EVK_SOCKADDR = 3, /* struct sockaddr of the kernel's ABI; arg, ptr as above */
	TY_EVK_ARGV = 4,     /* successful exec: the command line of the process at its start, a NUL
			      * after each part (of a script: the interpreter and its arguments
			      * first); nr is unused, tid is the thread's after the exec */
	TY_EVK_STRINGS = 5,  /* arguments of an exec: strings, up to 511 bytes of each, a NUL after
			      * each; the last one may be truncated; arg, ptr as above */
	TY_EVK_FDS = 6, /* one or two struct ty_ev_fd: descriptors that the call created or changed,
			 * read at its exit; arg, ptr: any argument */
	TY_EVK_VALUES = 7,    /* the structures or bytes that an argument points to, as the kernel's
			       * ABI has them, possibly only the first ones (CUT); arg, ptr as above.
			       * Read at the call's enter, or at its exit (EXIT): then they are what
			       * the kernel wrote, or an argument that it only reads */
	TY_EVK_MEMORY = 8,    /* memory that such a structure points to: ptr is its address, arg the
			       * argument that led there */
	TY_EVK_ADDRESS = 9,   /* struct ty_ev_address that the call returned; arg, ptr: of the
			       * address */
	TY_EVK_RECEIVED = 10, /* a descriptor that the call received (SCM_RIGHTS), read at its exit:
			       * struct ty_ev_fd; of a file the parts of its path follow, the
			       * innermost first, each with its NUL (CUT: some are missing); arg,
			       * ptr: of the message, or of the first of several */
	TY_EVK_NEVER = 64,    /* kinds below it may be added: readers skip those that they do not
			       * know by `len` */
};

enum ty_ev_flag {
	TY_EVF_EXIT = 1,     /* read at the call's exit */
	TY_EVF_FAULT = 2,    /* the memory was not mapped; len is 0 */
	TY_EVF_CUT = 4,	     /* truncated */
	TY_EVF_INFERRED = 8, /* with CUT, of a string: concluded from how it ends. In a file only
			      * of a call that was under way where an exported part begins */
};

struct ty_ev_record {
	__u64 ns, ptr;
	__u32 tid;
	__u16 nr, len;
	__u8 kind, arg, flags, pad;
	__u32 pad2;
};
_Static_assert(sizeof(struct ty_ev_record) == 32, "on disk");

/* A returned address: the size of the caller's buffer, the size that the kernel returned, and as
 * much of the address as is in the buffer, at most 128 bytes. */
struct ty_ev_address {
	__u32 room, size;
	char address[];
};

/* Describes a descriptor. Addresses are struct sockaddr_in or sockaddr_in6 without the last member;
 * family 0: none. Process ids are those of the initial pid namespace. */
struct ty_ev_fd {
	__u64 inode, peer_inode; /* peer: of a connected unix socket; 0: unknown */
	__s32 fd;
	__u32 peer_pid; /* unix socket: the process that called connect, listen or socketpair */
	__u16 mode;	/* as in struct stat */
	__u16 family, type, protocol; /* of a socket */
	__u8 listens;		      /* a TCP or unix socket */
	__u8 path_is_peers;	      /* path is the address of the peer */
	__u8 path_len;		      /* an abstract one begins with NUL; 0: none */
	__u8 deleted;		      /* a file whose name is gone (RECEIVED only) */
	__u32 net;		      /* network namespace of an internet socket; 0: unknown */
	__u8 own[24], peer[24];
	char path[112]; /* of a unix socket */
};
_Static_assert(sizeof(struct ty_ev_fd) == 200, "on disk");

/* Maximum length of a record after its head, and number of RECEIVED records of a message and of a
 * call. */
#define TY_EV_BYTES	    4096
#define TY_EV_RECEIVED	    16
#define TY_EV_RECEIVED_CALL 128

#endif

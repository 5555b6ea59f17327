/* SPDX-License-Identifier: MIT */
/*
 * What each system call is: one row per call (syscall_table.c) with the types of its arguments, the
 * object it acts on, what it sends or receives, what it waits for and what it does to its process's
 * descriptors. By number: ty_syscall_row (syscalls.h), an array index. Rows are constant and live
 * as long as the process.
 *
 * Pointers: the type says what lies behind one and whether the kernel reads it (there when the call
 * begins) or writes it (there when it returns); ty_arg_pointee gives its size. Recorders of what
 * pointers point to, and whoever prints it, use this table.
 */
#ifndef TY_SYSCALL_TABLE_H
#define TY_SYSCALL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Whose values of O_DIRECTORY & Co, whose order of clone's arguments. */
enum ty_argos { TY_ARGOS_X86 = 0, TY_ARGOS_ARM = 1, TY_ARGOS_GENERIC = 2, TY_ARGOS_32 = 0x10 };

/* The type of an argument: one of these, or TY_ARG_SETS + a set of named values
 * (syscall_constants.h).
 */
enum ty_argkind {
	TY_ARG_INT,	 /* 32-bit, signed */
	TY_ARG_FD,	 /* the same: a descriptor */
	TY_ARG_PID,	 /* the same: a process or thread; 0, -1: the caller, any */
	TY_ARG_UID,	 /* the same: a user or group; -1: leave */
	TY_ARG_IPC,	 /* the same: what semget, msgget, shmget returned */
	TY_ARG_UINT,	 /* 32-bit */
	TY_ARG_LONG,	 /* long, signed */
	TY_ARG_ULONG,	 /* long, size_t */
	TY_ARG_HEX,	 /* long in hex, 0 as "0" */
	TY_ARG_HEX32,	 /* int in hex, 0 as "0" */
	TY_ARG_DIRFD,	 /* AT_FDCWD or int; the path that follows starts there */
	TY_ARG_MODE,	 /* octal */
	TY_ARG_OPEN,	 /* O_ flags of open */
	TY_ARG_OPENMODE, /* octal; there only when the flags before create */
	TY_ARG_OFLAGS,	 /* O_ flags without an access mode: pipe2, dup3 */
	TY_ARG_SIG,
	TY_ARG_FUTEX,	 /* op; decides what follows */
	TY_ARG_CLONE,	 /* flags|signal */
	TY_ARG_MMAP,	 /* MAP_ type and flags */
	TY_ARG_SOCKTYPE, /* type|SOCK_ flags */
	TY_ARG_PROTO,	 /* protocol of the family before */
	TY_ARG_SOLEVEL,
	TY_ARG_SOOPT, /* name of an option at the level before */
	TY_ARG_FCNTL, /* cmd; decides what follows */
	TY_ARG_IOCTL,
	TY_ARG_PRCTL,  /* option; decides what follows */
	TY_ARG_MREMAP, /* flags; a new address follows MREMAP_FIXED only */
	TY_ARG_STATX,  /* AT_STATX_ kind and AT_ flags */
	TY_ARG_PGOFF,  /* file offset in pages of 4096 bytes */

	/* Pointers (ty_arg_is_pointer). _IN: read by the kernel; _OUT: written; _IO: both. */
	TY_ARG_PTR,	  /* an address, or what the other arguments decide */
	TY_ARG_PATH,	  /* a path, NUL-terminated; in */
	TY_ARG_STR,	  /* another text (a name, a link's target); in */
	TY_ARG_STRS,	  /* pointers to texts, the last one NULL; in */
	TY_ARG_BUF_IN,	  /* bytes, as many as the next argument says */
	TY_ARG_BUF_OUT,	  /* at most so many; how many the result says, as a rule */
	TY_ARG_ADDR_IN,	  /* struct sockaddr, so many bytes */
	TY_ARG_ADDR_OUT,  /* struct sockaddr; the next argument points to its size (INT_IO) */
	TY_ARG_IOV_IN,	  /* struct iovec, so many; read when the call begins, and */
	TY_ARG_IOV_OUT,	  /* what its buffers hold is read, or written */
	TY_ARG_MSG_IN,	  /* struct msghdr of sendmsg */
	TY_ARG_MSG_OUT,	  /* of recvmsg */
	TY_ARG_MMSG_IN,	  /* struct mmsghdr, so many */
	TY_ARG_MMSG_OUT,  /* the same of recvmmsg */
	TY_ARG_TIME_IN,	  /* struct timespec; two longs */
	TY_ARG_TIME_OUT,  /* (a 32-bit ABI's: two of 32 bits) */
	TY_ARG_TIME64_IN, /* struct timespec of two 64-bit numbers in every ABI */
	TY_ARG_TIME64_OUT,
	TY_ARG_TIMEVAL_IN,
	TY_ARG_TIMEVAL_OUT,
	TY_ARG_POLLFD,	  /* struct pollfd, so many; in and out */
	TY_ARG_FDSET,	  /* bits, as many as the first argument says; in and out */
	TY_ARG_EPOLL_IN,  /* one struct epoll_event */
	TY_ARG_EPOLL_OUT, /* room for so many; how many the result says */
	TY_ARG_SIGSET_IN,
	TY_ARG_SIGSET_OUT,
	TY_ARG_SEMBUF,	/* struct sembuf, so many; in */
	TY_ARG_FDS_OUT, /* two descriptors: pipe, socketpair */
	TY_ARG_INT_IN,
	TY_ARG_INT_OUT,
	TY_ARG_INT_IO,
	TY_ARG_WORD, /* a futex word; in */
	TY_ARG_OFF_OUT,
	TY_ARG_OFF_IO,	  /* a file offset of 64 bits; may be NULL */
	TY_ARG_STRUCT_IN, /* a structure whose size this table does not say */
	TY_ARG_STRUCT_OUT,
	TY_ARG_STRUCT_IO,
	TY_ARG_SETS /* the first set */
};

static inline bool ty_arg_is_pointer(uint8_t kind)
{
	return kind >= TY_ARG_PTR && kind < TY_ARG_SETS;
}

/* What lies behind a pointer. */
struct ty_pointee {
	enum {
		TY_POINTEE_NONE,   /* not known, or no pointer */
		TY_POINTEE_STRING, /* up to its NUL */
		TY_POINTEE_STRINGS,
		TY_POINTEE_VALUES, /* values of `bytes` each: one, or as many as are counted */
	} form;
	bool in, out;	/* read by the kernel, written by it */
	bool counted;	/* the next argument says how many values (or, out: for how many is room; of
			 * ADDR_OUT and of getsockopt's value: points to how many) */
	uint16_t bytes; /* of one value; 0: not known */
};
/* os: enum ty_argos; bits32: of a 32-bit ABI. */
struct ty_pointee ty_arg_pointee(uint8_t kind, unsigned os, bool bits32);

/* How a result reads. */
enum ty_retkind { TY_RET_INT, TY_RET_PTR, TY_RET_OCT, TY_RET_FCNTL, TY_RET_POLL };

/* Calls that code asks for by name; all others are TY_SYS_OTHER. */
enum ty_sysid {
	TY_SYS_OTHER,
	TY_SYS_chdir,
	TY_SYS_execve,
	TY_SYS_fchdir,
	TY_SYS_fcntl,
	TY_SYS_futex,
	TY_SYS_futex_wait,
	TY_SYS_futex_wake,
	TY_SYS_io_uring_enter,
	TY_SYS_ioctl,
	TY_SYS_ipc,
	TY_SYS_memfd_create,
	TY_SYS_open,
	TY_SYS_openat,
	TY_SYS_poll,
	TY_SYS_ppoll,
	TY_SYS_pselect6,
	TY_SYS_ptrace,
	TY_SYS_select,
	TY_SYS_sendto,
	TY_SYS_socketcall,
	TY_SYS_unshare,
};

/* What a call does to its thread, as far as pairing of its two ends needs to know. */
enum ty_syscall_class {
	TY_SC_OTHER,
	TY_SC_FORK,	 /* fork, vfork, clone, clone3: returns twice */
	TY_SC_EXEC,	 /* execve, execveat */
	TY_SC_EXIT,	 /* exit, exit_group: never returns */
	TY_SC_SIGRETURN, /* sigreturn, rt_sigreturn: the kernel forgets the number at its end */
};

/* What a thread that sleeps in the call waits for. */
enum ty_wait_on {
	TY_WAIT_ON_OTHER, /* nothing of the following */
	TY_WAIT_ON_CHILD,
	TY_WAIT_ON_EVENTS, /* of several descriptors, or signals */
	TY_WAIT_ON_FD,	   /* what the descriptor is decides */
	TY_WAIT_ON_FUTEX,
	TY_WAIT_ON_LOCK,
	TY_WAIT_ON_PIPE,
	TY_WAIT_ON_QUEUE,
	TY_WAIT_ON_SEMAPHORE,
	TY_WAIT_ON_SLEEP,
	TY_WAIT_ON_SOCKET,
	TY_WAIT_ON_KINDS
};

/* For whom: see the rule in stalls.h. Valid where ty_wait_on is not OTHER. */
enum ty_wait_class { TY_WAIT_DEFINITE, TY_WAIT_PEER, TY_WAIT_END, TY_WAIT_IDLE };

/* What a call sends to another thread or receives from one. */
enum ty_syscall_ipc_says {
	TY_GIVES = 1,	  /* hands something over */
	TY_SIGNALS = 2,	  /* a signal */
	TY_TAKES = 4,	  /* what was handed over */
	TY_MESSAGE = 8,	  /* the same of a socket for certain */
	TY_CONNECTS = 16, /* to a server */
	TY_ACCEPTS = 32,  /* a client */
	TY_CLOSES = 64,	  /* the number was another descriptor's before */
};

enum ty_fd_kind {
	TY_FD_UNKNOWN,
	TY_FD_FILE,
	TY_FD_PIPE,
	TY_FD_SOCKET,
	TY_FD_EVENTFD,
	TY_FD_TIMERFD,
	TY_FD_SIGNALFD,
	TY_FD_EPOLL,
	TY_FD_OTHER,
};

/* What a call does to its process's table of descriptors. */
enum ty_fds_effect {
	TY_FDS_NONE,
	TY_FDS_NEW,   /* its result is a new descriptor, of a known kind */
	TY_FDS_PAIR,  /* two, behind a pointer */
	TY_FDS_NAMED, /* its first argument, a socket, has an address or a peer from then on */
	TY_FDS_CLOSE, /* its first argument */
	TY_FDS_RANGE, /* from its first argument to its second (close_range) */
	TY_FDS_DUP,   /* its result is what its first argument is */
	TY_FDS_DUP2,  /* its second argument becomes what its first is */
	TY_FDS_FCNTL, /* as its command says: a copy, or the flag */
	TY_FDS_EXEC,  /* closes those with close-on-exec */
};
#define TY_CLOEXEC_NEVER  (-1)
#define TY_CLOEXEC_ALWAYS (-2)

struct ty_sysrow {
	const char *name;     /* NULL: of a call without a row; six numbers */
	uint8_t id;	      /* enum ty_sysid */
	uint8_t n;	      /* arguments */
	uint8_t a[6];	      /* enum ty_argkind */
	uint8_t ret;	      /* enum ty_retkind */
	uint8_t class;	      /* enum ty_syscall_class */
	uint8_t only;	      /* enum ty_sysrow_only */
	uint8_t wait_on;      /* enum ty_wait_on */
	uint8_t wait_class;   /* enum ty_wait_class */
	bool zero_is_timeout; /* a result of 0 says that its time was up */
	uint8_t says;	      /* enum ty_syscall_ipc_says; 0: neither sends nor receives */
	int8_t gives, takes;  /* with says: the argument with the descriptor that is sent to
			       * (connected to, closed), received from (accepted at); -1: none */
	uint8_t fds;	      /* enum ty_fds_effect */
	uint8_t fd_kind;      /* NEW, PAIR: enum ty_fd_kind */
	int8_t cloexec;	      /* NEW, PAIR, DUP2: the argument with O_CLOEXEC & Co, TY_CLOEXEC_ */
	int8_t object;	      /* the argument that names what it acts on (FD, PATH, WORD, PID or
			       * IPC; the first of these); -1: none */
	bool points; /* an argument points to what a recording may have (evidence_record.h) */
	const char
		*makes;	  /* NEW: the name of what it makes, where that is not the object's; NULL */
	const char *does; /* the name that 64-bit machines have for what it does; NULL: its own */
	const struct ty_sysrow *as; /* that row: sendfile for sendfile64; else this one */
};

/* Of a 32-bit ABI, whose argument lists differ in places; of i386 alone. */
enum ty_sysrow_only { TY_ONLY_NOT, TY_ONLY_32, TY_ONLY_I386 };

/* The row of a call's name, or that of unknown calls; never NULL. os: enum ty_argos. For who fills
 * tables; whoever has a number asks ty_syscall_row (syscalls.h). Thread-safe. */
const struct ty_sysrow *ty_sysrow_find(unsigned os, bool bits32, const char *name);
/* What socketcall or ipc does with this first argument; NULL: not known, or another call. */
const struct ty_sysrow *ty_sysrow_carried(const struct ty_sysrow *row, uint64_t what);
/* The table's rows one by one, NULL behind the last. For tests. */
const struct ty_sysrow *ty_sysrow_nth(unsigned i);

/* Is argument i a descriptor that the call uses? */
static inline bool ty_sysrow_is_fd(const struct ty_sysrow *r, int i)
{
	return i >= 0 && i < r->n && r->a[i] == TY_ARG_FD;
}

#endif

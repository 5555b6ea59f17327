/* SPDX-License-Identifier: MIT */
/*
 * The table of system calls: one row per call (syscall_table.c) with the types of its arguments,
 * the object it acts on, what it sends or receives, what it waits for and its effect on its
 * process's descriptors. By number: ty_syscall_row (syscalls.h), an array index. Rows are constant
 * and live as long as the process.
 *
 * Pointers: the type states what a pointer points to and whether the kernel reads it (valid when
 * the call begins) or writes it (valid when it returns); ty_arg_pointee gives its size. Both the
 * recorder of strings and the printers use this table.
 */
#ifndef TY_SYSCALL_TABLE_H
#define TY_SYSCALL_TABLE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Variant of O_DIRECTORY and similar values, and of clone's argument order. */
enum ty_argos { TY_ARGOS_X86 = 0, TY_ARGOS_ARM = 1, TY_ARGOS_GENERIC = 2, TY_ARGOS_32 = 0x10 };

/* The type of an argument: one of these, or TY_ARG_SETS + a set of named values
 * (syscall_constants.h).
 */
enum ty_argkind {
	TY_ARG_INT,	 /* 32-bit, signed */
	TY_ARG_FD,	 /* likewise: a descriptor */
	TY_ARG_PID,	 /* likewise: a process or thread; 0, -1: the caller, any */
	TY_ARG_UID,	 /* likewise: a user or group; -1: unchanged */
	TY_ARG_IPC,	 /* likewise: a result of semget, msgget, shmget */
	TY_ARG_UINT,	 /* 32-bit */
	TY_ARG_LONG,	 /* long, signed */
	TY_ARG_ULONG,	 /* long, size_t */
	TY_ARG_HEX,	 /* long in hex, 0 as "0" */
	TY_ARG_HEX32,	 /* int in hex, 0 as "0" */
	TY_ARG_DIRFD,	 /* AT_FDCWD or int; base directory of the path that follows */
	TY_ARG_MODE,	 /* octal */
	TY_ARG_OPEN,	 /* O_ flags of open */
	TY_ARG_OPENMODE, /* octal; present only when the preceding flags create */
	TY_ARG_OFLAGS,	 /* O_ flags without an access mode: pipe2, dup3 */
	TY_ARG_SIG,
	TY_ARG_FUTEX,	 /* op; determines the other arguments */
	TY_ARG_CLONE,	 /* flags|signal */
	TY_ARG_MMAP,	 /* MAP_ type and flags */
	TY_ARG_SOCKTYPE, /* type|SOCK_ flags */
	TY_ARG_PROTO,	 /* protocol of the family before */
	TY_ARG_SOLEVEL,
	TY_ARG_SOOPT, /* name of an option at the level before */
	TY_ARG_FCNTL, /* cmd; determines the other arguments */
	TY_ARG_IOCTL,
	TY_ARG_PRCTL,  /* option; determines the other arguments */
	TY_ARG_MREMAP, /* flags; only MREMAP_FIXED has a new address after it */
	TY_ARG_STATX,  /* AT_STATX_ kind and AT_ flags */
	TY_ARG_PGOFF,  /* file offset in pages of 4096 bytes */

	/* Pointers (ty_arg_is_pointer). _IN: read by the kernel; _OUT: written; _IO: both. */
	TY_ARG_PTR,	  /* an address, or determined by the other arguments */
	TY_ARG_PATH,	  /* a path, NUL-terminated; in */
	TY_ARG_STR,	  /* another string (a name, a link's target); in */
	TY_ARG_STRS,	  /* pointers to strings, terminated by NULL; in */
	TY_ARG_BUF_IN,	  /* bytes, their number in the next argument */
	TY_ARG_BUF_OUT,	  /* at most that many; usually the result is the number */
	TY_ARG_ADDR_IN,	  /* struct sockaddr, its size in the next argument */
	TY_ARG_ADDR_OUT,  /* struct sockaddr; the next argument points to its size (INT_IO) */
	TY_ARG_IOV_IN,	  /* struct iovec, number in the next argument; read when the call begins,
			   * and */
	TY_ARG_IOV_OUT,	  /* the content of its buffers is read, or written */
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
	TY_ARG_POLLFD,	  /* struct pollfd, number in the next argument; in and out */
	TY_ARG_FDSET,	  /* bits, number in the first argument; in and out */
	TY_ARG_EPOLL_IN,  /* one struct epoll_event */
	TY_ARG_EPOLL_OUT, /* room for several; the result is the number */
	TY_ARG_SIGSET_IN,
	TY_ARG_SIGSET_OUT,
	TY_ARG_SEMBUF,	/* struct sembuf, number in the next argument; in */
	TY_ARG_FDS_OUT, /* two descriptors: pipe, socketpair */
	TY_ARG_INT_IN,
	TY_ARG_INT_OUT,
	TY_ARG_INT_IO,
	TY_ARG_WORD, /* a futex word; in */
	TY_ARG_OFF_OUT,
	TY_ARG_OFF_IO, /* a file offset of 64 bits; may be NULL */
	TY_ARG_ITIMERSPEC_IN,
	TY_ARG_ITIMERSPEC_OUT,
	TY_ARG_ITIMERVAL_IN,
	TY_ARG_ITIMERVAL_OUT,
	TY_ARG_RLIMIT_IN, /* struct rlimit64 */
	TY_ARG_RLIMIT_OUT,
	TY_ARG_WSTATUS_OUT, /* wait's status, an int */
	TY_ARG_SIGSET_ARG,  /* pselect6: pointer to a set, and its size; in */
	TY_ARG_STAT_OUT,    /* struct stat, up to st_size */
	TY_ARG_STATX_OUT,   /* struct statx, up to stx_size */
	TY_ARG_SIGACTION_IN,
	TY_ARG_SIGACTION_OUT,
	TY_ARG_STRUCT_IN, /* a structure of a size not in this table */
	TY_ARG_STRUCT_OUT,
	TY_ARG_STRUCT_IO,
	TY_ARG_SETS /* the first set */
};

static inline bool ty_arg_is_pointer(uint8_t kind)
{
	return kind >= TY_ARG_PTR && kind < TY_ARG_SETS;
}

/* The data behind a pointer. */
struct ty_pointee {
	enum {
		TY_POINTEE_NONE,   /* unknown, or not a pointer */
		TY_POINTEE_STRING, /* up to its NUL */
		TY_POINTEE_STRINGS,
		TY_POINTEE_VALUES, /* values of `bytes` each: one, or as many as are counted */
	} form;
	bool in, out;	/* read by the kernel, written by it */
	bool counted;	/* the next argument is the number of values (out: the capacity; ADDR_OUT
			 * and getsockopt's value: points to the number) */
	uint16_t bytes; /* of one value; 0: unknown */
};
/* os: enum ty_argos; bits32: of a 32-bit ABI. */
struct ty_pointee ty_arg_pointee(uint8_t kind, unsigned os, bool bits32);

/* Display form of a result. */
enum ty_retkind { TY_RET_INT, TY_RET_PTR, TY_RET_OCT, TY_RET_FCNTL, TY_RET_POLL };

/* Calls that code refers to by name; all others are TY_SYS_OTHER. */
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

/* Effect of a call on its thread, as relevant for pairing its two ends. */
enum ty_syscall_class {
	TY_SC_OTHER,
	TY_SC_FORK,	 /* fork, vfork, clone, clone3: returns twice */
	TY_SC_EXEC,	 /* execve, execveat */
	TY_SC_EXIT,	 /* exit, exit_group: never returns */
	TY_SC_SIGRETURN, /* sigreturn, rt_sigreturn: the kernel loses the number at its end */
};

/* What a thread sleeping in the call waits for. */
enum ty_wait_on {
	TY_WAIT_ON_OTHER, /* none of the following */
	TY_WAIT_ON_CHILD,
	TY_WAIT_ON_EVENTS, /* of several descriptors, or signals */
	TY_WAIT_ON_FD,	   /* depends on the descriptor */
	TY_WAIT_ON_FUTEX,
	TY_WAIT_ON_LOCK,
	TY_WAIT_ON_PIPE,
	TY_WAIT_ON_QUEUE,
	TY_WAIT_ON_SEMAPHORE,
	TY_WAIT_ON_SLEEP,
	TY_WAIT_ON_SOCKET,
	TY_WAIT_ON_KINDS
};

/* Class of the waited-for party: see the rule in stalls.h. Valid where ty_wait_on is not OTHER. */
enum ty_wait_class { TY_WAIT_DEFINITE, TY_WAIT_PEER, TY_WAIT_END, TY_WAIT_IDLE };

/* What a call sends to another thread or receives from one. */
enum ty_syscall_ipc_says {
	TY_GIVES = 1,	  /* sends data or a wakeup */
	TY_SIGNALS = 2,	  /* a signal */
	TY_TAKES = 4,	  /* receives what was sent */
	TY_MESSAGE = 8,	  /* the same, certainly on a socket */
	TY_CONNECTS = 16, /* to a server */
	TY_ACCEPTS = 32,  /* a client */
	TY_CLOSES = 64,	  /* the number referred to another descriptor before */
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

/* Effect of a call on its process's descriptor table. */
enum ty_fds_effect {
	TY_FDS_NONE,
	TY_FDS_NEW,	 /* its result is a new descriptor, of a known kind */
	TY_FDS_PAIR,	 /* two, behind a pointer */
	TY_FDS_NAMED,	 /* its first argument, a socket, gets an address or a peer */
	TY_FDS_CLOSE,	 /* its first argument */
	TY_FDS_RANGE,	 /* from its first argument to its second (close_range) */
	TY_FDS_DUP,	 /* its result refers to the same file as its first argument */
	TY_FDS_DUP2,	 /* its second argument becomes a copy of its first */
	TY_FDS_FCNTL,	 /* depends on its command: a copy, or the flag */
	TY_FDS_RECEIVED, /* those that a message brought */
	TY_FDS_EXEC,	 /* closes those with close-on-exec */
};

/* Commands of fcntl that change descriptors (include/uapi/linux/fcntl.h). */
enum { TY_F_DUPFD = 0, TY_F_SETFD = 2, TY_F_DUPFD_CLOEXEC = 1030 };
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
	bool zero_is_timeout; /* a result of 0 means timeout */
	uint8_t says;	      /* enum ty_syscall_ipc_says; 0: neither sends nor receives */
	int8_t gives, takes;  /* with says: the argument with the descriptor sent to (connected,
			       * closed), received from (accepted on); -1: none */
	uint8_t fds;	      /* enum ty_fds_effect */
	uint8_t fd_kind;      /* NEW, PAIR: enum ty_fd_kind */
	int8_t cloexec; /* NEW, PAIR, DUP2, RECEIVED: the argument with the flag, TY_CLOEXEC_ */
	int8_t object;	/* the argument that names the object (the first of FD, PATH, WORD,
			 * PID or IPC); -1: none */
	bool points; /* an argument points to data that a recording may have (call_data_record.h) */
	const char
		*makes; /* NEW: name of the created object, where that is not the object's; NULL */
	const char *does; /* name of the equivalent call on 64-bit machines; NULL: its own */
	const struct ty_sysrow *as; /* that row: sendfile for sendfile64; else this one */
};

/* Of a 32-bit ABI, whose argument lists differ in places; of i386 alone. */
enum ty_sysrow_only { TY_ONLY_NOT, TY_ONLY_32, TY_ONLY_I386 };

/* The row of a call's name, or that of unknown calls; never NULL. os: enum ty_argos. For filling
 * tables; use ty_syscall_row (syscalls.h) for numbers. Thread-safe. */
const struct ty_sysrow *ty_sysrow_find(unsigned os, bool bits32, const char *name);
/* The call's result is a copy of its first argument: dup, dup2, dup3, and these commands of fcntl,
 * of which the kernel reads 32 bits. */
bool ty_sysrow_copies(const struct ty_sysrow *row, const uint64_t args[6]);
/* The name of the new descriptor that this ioctl returns, the other end of a pseudoterminal, of
 * which the call does not show the number; NULL: it returns none. */
const char *ty_sysrow_terminal(const struct ty_sysrow *row, const uint64_t args[6]);
/* The descriptors that the call made are closed by an exec (O_CLOEXEC, SOCK_, EFD_, TFD_ and
 * EPOLL_CLOEXEC, which have one value on all of Linux's machines; MSG_CMSG_CLOEXEC;
 * F_DUPFD_CLOEXEC). */
bool ty_sysrow_cloexec(const struct ty_sysrow *row, const uint64_t args[6]);
/* The operation that socketcall or ipc performs for this first argument; NULL: unknown, or another
 * call. */
const struct ty_sysrow *ty_sysrow_carried(const struct ty_sysrow *row, uint64_t what);
/* The table's rows by index, NULL past the last. For tests. */
const struct ty_sysrow *ty_sysrow_nth(unsigned i);

/* The argument that names the object of a call with this result: of link and rename the new path if
 * that is what exists already (-EEXIST, -ENOTEMPTY), else r->object. */
static inline int ty_sysrow_object(const struct ty_sysrow *r, int64_t ret)
{
	int last = r->object;

	if (ret == -EEXIST || ret == -ENOTEMPTY)
		for (int i = r->object + 1; i < r->n; i++)
			last = r->a[i] == TY_ARG_PATH ? i : last;
	return last;
}

/* True when argument i is a descriptor that the call uses. */
static inline bool ty_sysrow_is_fd(const struct ty_sysrow *r, int i)
{
	return i >= 0 && i < r->n && r->a[i] == TY_ARG_FD;
}

#endif

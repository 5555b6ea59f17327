/* SPDX-License-Identifier: MIT */
/*
 * The table of system calls; see syscall_table.h. Calls without a row are shown with six hex
 * arguments. Sources: the kernel's SYSCALL_DEFINEs and man-pages section 2; order and signedness of
 * arguments follow strace. A new call is one line here; tests/unit/test_syscall_table detects a
 * misspelt name.
 */
#include "syscall_table.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "partition.h"
#include "syscall_constants.h"

#define INT	    TY_ARG_INT
#define FD	    TY_ARG_FD
#define PID	    TY_ARG_PID
#define UID	    TY_ARG_UID
#define IPC	    TY_ARG_IPC
#define UINT	    TY_ARG_UINT
#define LONG	    TY_ARG_LONG
#define HEX	    TY_ARG_HEX
#define HEX32	    TY_ARG_HEX32
#define MODE	    TY_ARG_MODE
#define OPEN	    TY_ARG_OPEN
#define OPENMODE    TY_ARG_OPENMODE
#define OFLAGS	    TY_ARG_OFLAGS
#define SIG	    TY_ARG_SIG
#define FUTEX	    TY_ARG_FUTEX
#define CLONE	    TY_ARG_CLONE
#define MMAP	    TY_ARG_MMAP
#define SOCKTYPE    TY_ARG_SOCKTYPE
#define PROTO	    TY_ARG_PROTO
#define SOLEVEL	    TY_ARG_SOLEVEL
#define SOOPT	    TY_ARG_SOOPT
#define FCNTL	    TY_ARG_FCNTL
#define IOCTL	    TY_ARG_IOCTL
#define PRCTL	    TY_ARG_PRCTL
#define MREMAP	    TY_ARG_MREMAP
#define STATX	    TY_ARG_STATX
#define PGOFF	    TY_ARG_PGOFF
#define PTR	    TY_ARG_PTR
#define PATH	    TY_ARG_PATH
#define STR	    TY_ARG_STR
#define STRS	    TY_ARG_STRS
#define BUF_IN	    TY_ARG_BUF_IN
#define BUF_OUT	    TY_ARG_BUF_OUT
#define ADDR_IN	    TY_ARG_ADDR_IN
#define ADDR_OUT    TY_ARG_ADDR_OUT
#define IOV_IN	    TY_ARG_IOV_IN
#define IOV_OUT	    TY_ARG_IOV_OUT
#define MSG_IN	    TY_ARG_MSG_IN
#define MSG_OUT	    TY_ARG_MSG_OUT
#define MMSG_IN	    TY_ARG_MMSG_IN
#define MMSG_OUT    TY_ARG_MMSG_OUT
#define TIME_IN	    TY_ARG_TIME_IN
#define TIME_OUT    TY_ARG_TIME_OUT
#define TIME64_IN   TY_ARG_TIME64_IN
#define TIME64_OUT  TY_ARG_TIME64_OUT
#define TIMEVAL_IN  TY_ARG_TIMEVAL_IN
#define TIMEVAL_OUT TY_ARG_TIMEVAL_OUT
#define POLLFD	    TY_ARG_POLLFD
#define FDSET	    TY_ARG_FDSET
#define EPOLL_IN    TY_ARG_EPOLL_IN
#define EPOLL_OUT   TY_ARG_EPOLL_OUT
#define SIGSET_IN   TY_ARG_SIGSET_IN
#define SIGSET_OUT  TY_ARG_SIGSET_OUT
#define SEMBUF	    TY_ARG_SEMBUF
#define FDS_OUT	    TY_ARG_FDS_OUT
#define INT_IN	    TY_ARG_INT_IN
#define INT_OUT	    TY_ARG_INT_OUT
#define INT_IO	    TY_ARG_INT_IO
#define WORD	    TY_ARG_WORD
#define OFF_OUT	    TY_ARG_OFF_OUT
#define OFF_IO	    TY_ARG_OFF_IO
#define ITSPEC_IN   TY_ARG_ITIMERSPEC_IN
#define ITSPEC_OUT  TY_ARG_ITIMERSPEC_OUT
#define ITVAL_IN    TY_ARG_ITIMERVAL_IN
#define ITVAL_OUT   TY_ARG_ITIMERVAL_OUT
#define RLIMIT_IN   TY_ARG_RLIMIT_IN
#define RLIMIT_OUT  TY_ARG_RLIMIT_OUT
#define WSTATUS_OUT TY_ARG_WSTATUS_OUT
#define SIGSET_ARG  TY_ARG_SIGSET_ARG
#define STAT_OUT    TY_ARG_STAT_OUT
#define STATX_OUT   TY_ARG_STATX_OUT
#define SIGACT_IN   TY_ARG_SIGACTION_IN
#define SIGACT_OUT  TY_ARG_SIGACTION_OUT
#define STRUCT_IN   TY_ARG_STRUCT_IN
#define STRUCT_OUT  TY_ARG_STRUCT_OUT
#define STRUCT_IO   TY_ARG_STRUCT_IO
#define SIZE	    TY_ARG_ULONG
#define AT	    TY_ARG_DIRFD
#define SET(s)	    (TY_ARG_SETS + TY_SET_##s)

/* The fields of a row: arguments, result, ... */
#define NO_ARGS			.n = 0
#define A(...)			.n = sizeof((uint8_t[]){__VA_ARGS__}), .a = {__VA_ARGS__}
#define RET(kind)		.ret = TY_RET_##kind
#define ID(name)		.id = TY_SYS_##name
#define ONLY(which)		.only = TY_ONLY_##which
#define AS(name)		.does = name
#define CLASS(c)		.class = TY_SC_##c
#define WAITS(on, of)		.wait_on = TY_WAIT_ON_##on, .wait_class = TY_WAIT_##of
#define ZERO_IS_TIMEOUT		.zero_is_timeout = true
#define NONE			(-1)
#define TALK(what, to, from)	.says = what, .gives = to, .takes = from
#define MAKES(how, kind, flags) .fds = TY_FDS_##how, .fd_kind = TY_FD_##kind, .cloexec = flags
#define NAMED(name)		.makes = "anon_inode:" name
#define FDS(effect)		.fds = TY_FDS_##effect
#define COPIES(flags)		.fds = TY_FDS_DUP2, .cloexec = flags
#define RECEIVES(flags)		.fds = TY_FDS_RECEIVED, .cloexec = flags

_Static_assert(TY_ARG_SETS + TY_SET_COUNT <= 256, "an argument's kind is one byte");

/* `object`, `points` and `as` are filled in once, before the first look-up. */
static struct ty_sysrow rows[] = {
	/* files */
	{"open", A(PATH, OPEN, OPENMODE), ID(open), WAITS(FD, PEER), MAKES(NEW, FILE, 1)},
	{"openat", A(AT, PATH, OPEN, OPENMODE), ID(openat), WAITS(FD, PEER), MAKES(NEW, FILE, 2)},
	{"openat2", A(AT, PATH, BUF_IN, SIZE), MAKES(NEW, FILE, TY_CLOEXEC_NEVER)},
	{"open_by_handle_at", A(AT, STRUCT_IN, OPEN)},
	{"name_to_handle_at", A(AT, PATH, STRUCT_IO, INT_OUT, SET(AT))},
	{"creat", A(PATH, MODE), MAKES(NEW, FILE, TY_CLOEXEC_NEVER)},
	{"close", A(FD), TALK(TY_CLOSES, 0, NONE), FDS(CLOSE)},
	{"close_range", A(UINT, UINT, SET(CLOSERANGE)), FDS(RANGE)},
	{"read", A(FD, BUF_OUT, SIZE), WAITS(FD, PEER), TALK(TY_TAKES, NONE, 0)},
	{"write", A(FD, BUF_IN, SIZE), WAITS(FD, DEFINITE), TALK(TY_GIVES, 0, NONE)},
	{"pread64", A(FD, BUF_OUT, SIZE, LONG), WAITS(FD, PEER)},
	{"pwrite64", A(FD, BUF_IN, SIZE, LONG), WAITS(FD, DEFINITE)},
	{"readv", A(FD, IOV_OUT, INT), WAITS(FD, PEER), TALK(TY_TAKES, NONE, 0)},
	{"writev", A(FD, IOV_IN, INT), WAITS(FD, DEFINITE), TALK(TY_GIVES, 0, NONE)},
	{"preadv", A(FD, IOV_OUT, INT, LONG), WAITS(FD, PEER)},
	{"pwritev", A(FD, IOV_IN, INT, LONG), WAITS(FD, DEFINITE)},
	{"preadv2", A(FD, IOV_OUT, INT, LONG, HEX, SET(RWF)), WAITS(FD, PEER)},
	{"pwritev2", A(FD, IOV_IN, INT, LONG, HEX, SET(RWF)), WAITS(FD, DEFINITE)},
	{"lseek", A(FD, LONG, SET(SEEK))},
	{"_llseek", A(FD, SIZE, SIZE, OFF_OUT, SET(SEEK))},
	{"dup", A(FD), FDS(DUP)},
	{"dup2", A(FD, FD), COPIES(TY_CLOEXEC_NEVER)},
	{"dup3", A(FD, FD, OFLAGS), COPIES(2)},
	{"pipe", A(FDS_OUT), MAKES(PAIR, PIPE, TY_CLOEXEC_NEVER)},
	{"pipe2", A(FDS_OUT, OFLAGS), MAKES(PAIR, PIPE, 1)},
	{"fcntl", A(FD, FCNTL, PTR), RET(FCNTL), ID(fcntl), WAITS(LOCK, DEFINITE), FDS(FCNTL)},
	{"flock", A(FD, SET(FLOCK)), WAITS(LOCK, DEFINITE)},
	{"ioctl", A(FD, IOCTL, HEX), ID(ioctl)},
	{"access", A(PATH, SET(ACCESS))},
	{"faccessat", A(AT, PATH, SET(ACCESS))},
	{"faccessat2", A(AT, PATH, SET(ACCESS), SET(FACCESS))},
	{"stat", A(PATH, STAT_OUT)},
	{"lstat", A(PATH, STAT_OUT)},
	{"fstat", A(FD, STAT_OUT)},
	{"newfstatat", A(AT, PATH, STAT_OUT, SET(AT))},
	{"statx", A(AT, PATH, STATX, SET(STATXMASK), STATX_OUT)},
	{"statfs", A(PATH, STRUCT_OUT)},
	{"fstatfs", A(FD, STRUCT_OUT)},
	{"readlink", A(PATH, BUF_OUT, SIZE)},
	{"readlinkat", A(AT, PATH, BUF_OUT, SIZE)},
	{"unlink", A(PATH)},
	{"unlinkat", A(AT, PATH, SET(UNLINKAT))},
	{"mkdir", A(PATH, MODE)},
	{"mkdirat", A(AT, PATH, MODE)},
	{"rmdir", A(PATH)},
	{"mknod", A(PATH, MODE, HEX)},
	{"mknodat", A(AT, PATH, MODE, HEX)},
	{"rename", A(PATH, PATH)},
	{"renameat", A(AT, PATH, AT, PATH)},
	{"renameat2", A(AT, PATH, AT, PATH, SET(RENAME))},
	{"link", A(PATH, PATH)},
	{"linkat", A(AT, PATH, AT, PATH, SET(AT))},
	{"symlink", A(STR, PATH)},
	{"symlinkat", A(STR, AT, PATH)},
	{"chmod", A(PATH, MODE)},
	{"fchmod", A(FD, MODE)},
	{"fchmodat", A(AT, PATH, MODE)},
	{"fchmodat2", A(AT, PATH, MODE, SET(AT))},
	{"chown", A(PATH, UID, UID)},
	{"fchown", A(FD, UID, UID)},
	{"lchown", A(PATH, UID, UID)},
	{"fchownat", A(AT, PATH, UID, UID, SET(AT))},
	{"utime", A(PATH, STRUCT_IN)},
	{"utimes", A(PATH, STRUCT_IN)},
	{"futimesat", A(AT, PATH, STRUCT_IN)},
	{"utimensat", A(AT, PATH, STRUCT_IN, SET(AT))},
	{"chdir", A(PATH), ID(chdir)},
	{"fchdir", A(FD), ID(fchdir)},
	{"chroot", A(PATH)},
	{"getcwd", A(BUF_OUT, SIZE)},
	{"getdents", A(FD, BUF_OUT, UINT)},
	{"getdents64", A(FD, BUF_OUT, UINT)},
	{"fsync", A(FD)},
	{"fdatasync", A(FD)},
	{"sync", NO_ARGS},
	{"syncfs", A(FD)},
	{"sync_file_range", A(FD, LONG, LONG, SET(SYNCRANGE))},
	{"fallocate", A(FD, SET(FALLOC), LONG, LONG)},
	{"truncate", A(PATH, LONG)},
	{"ftruncate", A(FD, LONG)},
	{"fadvise64", A(FD, LONG, SIZE, SET(FADVISE))},
	{"readahead", A(FD, LONG, SIZE)},
	{"sendfile", A(FD, FD, OFF_IO, SIZE), WAITS(FD, DEFINITE), TALK(TY_GIVES, 0, NONE)},
	{"splice", A(FD, OFF_IO, FD, OFF_IO, SIZE, SET(SPLICE)), WAITS(PIPE, PEER),
	 TALK(TY_GIVES | TY_TAKES, 2, 0)},
	{"tee", A(FD, FD, SIZE, SET(SPLICE)), WAITS(PIPE, PEER), TALK(TY_GIVES | TY_TAKES, 1, 0)},
	{"vmsplice", A(FD, IOV_IN, SIZE, SET(SPLICE)), WAITS(PIPE, DEFINITE),
	 TALK(TY_GIVES, 0, NONE)},
	{"copy_file_range", A(FD, OFF_IO, FD, OFF_IO, SIZE, HEX32), WAITS(FD, PEER)},
	{"memfd_create", A(STR, SET(MFD)), ID(memfd_create), MAKES(NEW, FILE, TY_CLOEXEC_NEVER)},
	{"mount", A(STR, PATH, STR, SET(MOUNT), PTR)},
	{"umount2", A(PATH, SET(UMOUNT))},
	{"getxattr", A(PATH, STR, BUF_OUT, SIZE)},
	{"lgetxattr", A(PATH, STR, BUF_OUT, SIZE)},
	{"fgetxattr", A(FD, STR, BUF_OUT, SIZE)},
	{"setxattr", A(PATH, STR, BUF_IN, SIZE, SET(XATTR))},
	{"lsetxattr", A(PATH, STR, BUF_IN, SIZE, SET(XATTR))},
	{"fsetxattr", A(FD, STR, BUF_IN, SIZE, SET(XATTR))},
	{"listxattr", A(PATH, BUF_OUT, SIZE)},
	{"llistxattr", A(PATH, BUF_OUT, SIZE)},
	{"flistxattr", A(FD, BUF_OUT, SIZE)},
	{"removexattr", A(PATH, STR)},
	{"lremovexattr", A(PATH, STR)},
	{"fremovexattr", A(FD, STR)},
	{"umask", A(MODE), RET(OCT)},
	{"inotify_init1", A(SET(IN)), MAKES(NEW, OTHER, 0), NAMED("inotify")},
	{"inotify_init", MAKES(NEW, OTHER, TY_CLOEXEC_NEVER), NAMED("inotify")},
	{"inotify_add_watch", A(FD, PATH, SET(INMASK))},
	{"inotify_rm_watch", A(FD, INT)},
	{"cachestat", A(FD, STRUCT_IN, STRUCT_OUT, HEX32)},
	/* memory */
	{"mmap", A(PTR, SIZE, SET(PROT), MMAP, FD, HEX), RET(PTR)},
	{"mprotect", A(PTR, SIZE, SET(PROT))},
	{"pkey_mprotect", A(PTR, SIZE, SET(PROT), INT)},
	{"pkey_alloc", A(HEX, HEX)},
	{"pkey_free", A(INT)},
	{"munmap", A(PTR, SIZE)},
	{"mremap", A(PTR, SIZE, SIZE, MREMAP, PTR), RET(PTR)},
	{"madvise", A(PTR, SIZE, SET(MADV))},
	{"process_madvise", A(FD, PTR, SIZE, SET(MADV), HEX32)},
	{"msync", A(PTR, SIZE, SET(MSYNC))},
	{"mincore", A(PTR, SIZE, PTR)},
	{"mlock", A(PTR, SIZE)},
	{"mlock2", A(PTR, SIZE, SET(MLOCK2))},
	{"munlock", A(PTR, SIZE)},
	{"mlockall", A(SET(MLOCKALL))},
	{"munlockall", NO_ARGS},
	{"brk", A(PTR), RET(PTR)},
	{"mseal", A(PTR, SIZE, HEX)},
	{"mbind", A(PTR, SIZE, SET(MPOL), PTR, SIZE, HEX32)},
	{"set_mempolicy", A(SET(MPOL), PTR, SIZE)},
	{"get_mempolicy", A(PTR, PTR, SIZE, PTR, SET(MPOLFLAGS))},
	{"move_pages", A(PID, SIZE, PTR, PTR, PTR, HEX32)},
	{"migrate_pages", A(PID, SIZE, PTR, PTR)},
	{"membarrier", A(SET(MEMBARRIER), HEX32)},
	{"shmat", A(IPC, PTR, SET(SHM)), RET(PTR)},
	{"shmdt", A(PTR)},
	{"shmget", A(HEX32, SIZE, MODE)},
	{"shmctl", A(IPC, HEX32, PTR)},
	{"semget", A(HEX32, INT, MODE)},
	{"semop", A(IPC, SEMBUF, SIZE), WAITS(SEMAPHORE, PEER), TALK(TY_GIVES, NONE, NONE)},
	{"semtimedop", A(IPC, SEMBUF, SIZE, TIME_IN), WAITS(SEMAPHORE, PEER),
	 TALK(TY_GIVES, NONE, NONE)},
	{"semctl", A(IPC, INT, HEX32, HEX)},
	{"msgget", A(HEX32, MODE)},
	{"msgsnd", A(IPC, PTR, SIZE, HEX32), WAITS(QUEUE, DEFINITE), TALK(TY_GIVES, NONE, NONE)},
	{"msgrcv", A(IPC, PTR, SIZE, LONG, HEX32), WAITS(QUEUE, PEER), TALK(TY_TAKES, NONE, NONE)},
	{"msgctl", A(IPC, HEX32, PTR)},
	{"process_vm_readv", A(PID, IOV_OUT, SIZE, PTR, SIZE, HEX)},
	{"process_vm_writev", A(PID, IOV_IN, SIZE, PTR, SIZE, HEX)},
	{"userfaultfd", A(SET(UFFD)), MAKES(NEW, OTHER, 0), NAMED("[userfaultfd]")},
	/* processes and threads */
	{"clone", A(CLONE, PTR, PTR, PTR, HEX), CLASS(FORK), WAITS(CHILD, DEFINITE)},
	{"clone3", A(BUF_IN, SIZE), CLASS(FORK), WAITS(CHILD, DEFINITE)},
	{"fork", CLASS(FORK)},
	{"vfork", CLASS(FORK), WAITS(CHILD, DEFINITE)},
	{"execve", A(PATH, STRS, STRS), ID(execve), CLASS(EXEC), FDS(EXEC)},
	{"execveat", A(AT, PATH, STRS, STRS, SET(AT)), CLASS(EXEC), FDS(EXEC)},
	{"exit", A(INT), CLASS(EXIT)},
	{"exit_group", A(INT), CLASS(EXIT)},
	{"wait4", A(PID, WSTATUS_OUT, SET(WAIT), STRUCT_OUT), WAITS(CHILD, END)},
	{"waitid", A(SET(IDTYPE), PID, STRUCT_OUT, SET(WAITID), STRUCT_OUT), WAITS(CHILD, END)},
	{"kill", A(PID, SIG), TALK(TY_GIVES | TY_SIGNALS, NONE, NONE)},
	{"tkill", A(PID, SIG), TALK(TY_GIVES | TY_SIGNALS, NONE, NONE)},
	{"tgkill", A(PID, PID, SIG), TALK(TY_GIVES | TY_SIGNALS, NONE, NONE)},
	{"pidfd_open", A(PID, SET(PIDFD)), MAKES(NEW, OTHER, TY_CLOEXEC_ALWAYS), NAMED("[pidfd]")},
	{"pidfd_send_signal", A(FD, SIG, STRUCT_IN, HEX32),
	 TALK(TY_GIVES | TY_SIGNALS, NONE, NONE)},
	{"pidfd_getfd", A(FD, FD, HEX32)},
	{"getpid", NO_ARGS},
	{"gettid", NO_ARGS},
	{"getppid", NO_ARGS},
	{"getuid", NO_ARGS},
	{"geteuid", NO_ARGS},
	{"getgid", NO_ARGS},
	{"getegid", NO_ARGS},
	{"getpgrp", NO_ARGS},
	{"getpgid", A(PID)},
	{"setpgid", A(PID, PID)},
	{"getsid", A(PID)},
	{"setsid", NO_ARGS},
	{"setuid", A(UID)},
	{"setgid", A(UID)},
	{"setreuid", A(UID, UID)},
	{"setregid", A(UID, UID)},
	{"setresuid", A(UID, UID, UID)},
	{"setresgid", A(UID, UID, UID)},
	{"getresuid", A(INT_OUT, INT_OUT, INT_OUT)},
	{"getresgid", A(INT_OUT, INT_OUT, INT_OUT)},
	{"setfsuid", A(UID)},
	{"setfsgid", A(UID)},
	{"getgroups", A(INT, PTR)},
	{"setgroups", A(INT, PTR)},
	{"capget", A(PTR, PTR)},
	{"capset", A(PTR, PTR)},
	{"unshare", A(SET(CLONE)), ID(unshare)},
	{"setns", A(FD, SET(CLONE))},
	{"prctl", A(PRCTL, HEX, HEX, HEX, HEX)},
	{"arch_prctl", A(SET(ARCHPRCTL), PTR)},
	{"prlimit64", A(PID, SET(RLIMIT), RLIMIT_IN, RLIMIT_OUT)},
	{"getrlimit", A(SET(RLIMIT), STRUCT_OUT)},
	{"setrlimit", A(SET(RLIMIT), STRUCT_IN)},
	{"getrusage", A(SET(RUSAGE), STRUCT_OUT)},
	{"getpriority", A(SET(PRIO), INT)},
	{"setpriority", A(SET(PRIO), INT, INT)},
	{"personality", A(SET(PERSONALITY))},
	{"set_tid_address", A(PTR)},
	{"set_robust_list", A(PTR, SIZE)},
	{"get_robust_list", A(PID, PTR, PTR)},
	{"rseq", A(PTR, HEX32, SET(RSEQ), HEX32)},
	{"futex", A(WORD, FUTEX, INT, TIME_IN, PTR, HEX32), ID(futex), WAITS(FUTEX, PEER)},
	{"futex_waitv", A(PTR, UINT, HEX32, PTR, SET(CLOCK)), WAITS(FUTEX, PEER)},
	{"futex_wake", A(WORD, HEX, INT, HEX32), ID(futex_wake)},
	{"futex_wait", A(WORD, SIZE, HEX, HEX32, TIME64_IN, SET(CLOCK)), ID(futex_wait),
	 WAITS(FUTEX, PEER)},
	{"ptrace", A(SET(PTRACE), PID, HEX, HEX), ID(ptrace)},
	{"seccomp", A(SET(SECCOMP), SET(SECCOMPFLAGS), PTR)},
	{"bpf", A(SET(BPF), PTR, UINT)},
	{"perf_event_open", A(STRUCT_IN, PID, INT, FD, SET(PERFFLAGS)),
	 MAKES(NEW, OTHER, TY_CLOEXEC_NEVER), NAMED("[perf_event]")},
	{"kcmp", A(PID, PID, SET(KCMP), SIZE, SIZE)},
	{"landlock_create_ruleset", A(BUF_IN, SIZE, SET(LANDLOCK))},
	{"landlock_add_rule", A(FD, INT, PTR, HEX32)},
	{"landlock_restrict_self", A(FD, HEX32)},
	/* scheduling */
	{"sched_yield", NO_ARGS},
	{"sched_getaffinity", A(PID, UINT, PTR)},
	{"sched_setaffinity", A(PID, UINT, PTR)},
	{"sched_getparam", A(PID, INT_OUT)},
	{"sched_setparam", A(PID, INT_IN)},
	{"sched_getscheduler", A(PID)},
	{"sched_setscheduler", A(PID, SET(SCHED), INT_IN)},
	{"sched_get_priority_max", A(SET(SCHED))},
	{"sched_get_priority_min", A(SET(SCHED))},
	{"sched_rr_get_interval", A(PID, TIME_OUT)},
	{"sched_setattr", A(PID, STRUCT_IN, HEX32)},
	{"sched_getattr", A(PID, BUF_OUT, UINT, HEX32)},
	{"getcpu", A(INT_OUT, INT_OUT, PTR)},
	{"ioprio_get", A(INT, INT)},
	{"ioprio_set", A(INT, INT, HEX32)},
	/* signals */
	{"rt_sigaction", A(SIG, SIGACT_IN, SIGACT_OUT, SIZE)},
	{"rt_sigprocmask", A(SET(SIGHOW), SIGSET_IN, SIGSET_OUT, SIZE)},
	{"rt_sigpending", A(SIGSET_OUT, SIZE)},
	{"rt_sigsuspend", A(SIGSET_IN, SIZE), WAITS(EVENTS, IDLE)},
	{"rt_sigtimedwait", A(SIGSET_IN, STRUCT_OUT, TIME_IN, SIZE), WAITS(EVENTS, IDLE)},
	{"rt_sigqueueinfo", A(PID, SIG, STRUCT_IN), TALK(TY_GIVES | TY_SIGNALS, NONE, NONE)},
	{"rt_tgsigqueueinfo", A(PID, PID, SIG, STRUCT_IN), TALK(TY_GIVES | TY_SIGNALS, NONE, NONE)},
	{"rt_sigreturn", CLASS(SIGRETURN)},
	{"restart_syscall", WAITS(SLEEP, IDLE)},
	{"sigaltstack", A(STRUCT_IN, STRUCT_OUT)},
	{"pause", WAITS(EVENTS, IDLE)},
	{"alarm", A(UINT)},
	{"signalfd", A(FD, SIGSET_IN, SIZE), MAKES(NEW, SIGNALFD, TY_CLOEXEC_NEVER),
	 NAMED("[signalfd]")},
	{"signalfd4", A(FD, SIGSET_IN, SIZE, SET(SFD)), MAKES(NEW, SIGNALFD, 3),
	 NAMED("[signalfd]")},
	/* waiting for descriptors */
	{"poll", A(POLLFD, UINT, INT), RET(POLL), ID(poll), WAITS(EVENTS, IDLE), ZERO_IS_TIMEOUT},
	{"ppoll", A(POLLFD, UINT, TIME_IN, SIGSET_IN, SIZE), RET(POLL), ID(ppoll),
	 WAITS(EVENTS, IDLE), ZERO_IS_TIMEOUT},
	{"select", A(INT, FDSET, FDSET, FDSET, TIMEVAL_IN), RET(POLL), ID(select),
	 WAITS(EVENTS, IDLE), ZERO_IS_TIMEOUT},
	{"pselect6", A(INT, FDSET, FDSET, FDSET, TIME_IN, SIGSET_ARG), RET(POLL), ID(pselect6),
	 WAITS(EVENTS, IDLE), ZERO_IS_TIMEOUT},
	{"epoll_create", A(INT), MAKES(NEW, EPOLL, TY_CLOEXEC_NEVER), NAMED("[eventpoll]")},
	{"epoll_create1", A(SET(EPOLLCREATE)), MAKES(NEW, EPOLL, 0), NAMED("[eventpoll]")},
	{"epoll_ctl", A(FD, SET(EPOLLCTL), FD, EPOLL_IN)},
	{"epoll_wait", A(FD, EPOLL_OUT, INT, INT), WAITS(EVENTS, IDLE), ZERO_IS_TIMEOUT},
	{"epoll_pwait", A(FD, EPOLL_OUT, INT, INT, SIGSET_IN, SIZE), WAITS(EVENTS, IDLE),
	 ZERO_IS_TIMEOUT},
	{"epoll_pwait2", A(FD, EPOLL_OUT, INT, TIME64_IN, SIGSET_IN, SIZE), WAITS(EVENTS, IDLE),
	 ZERO_IS_TIMEOUT},
	{"eventfd", A(UINT), MAKES(NEW, EVENTFD, TY_CLOEXEC_NEVER), NAMED("[eventfd]")},
	{"eventfd2", A(UINT, SET(EFD)), MAKES(NEW, EVENTFD, 1), NAMED("[eventfd]")},
	{"io_setup", A(UINT, PTR)},
	{"io_destroy", A(HEX)},
	{"io_submit", A(HEX, LONG, PTR)},
	{"io_getevents", A(HEX, LONG, LONG, PTR, TIME_IN), WAITS(EVENTS, IDLE)},
	{"io_pgetevents", A(HEX, LONG, LONG, PTR, TIME_IN, PTR), WAITS(EVENTS, IDLE)},
	{"io_cancel", A(HEX, PTR, PTR)},
	{"io_uring_setup", A(UINT, STRUCT_IO), MAKES(NEW, OTHER, TY_CLOEXEC_ALWAYS),
	 NAMED("[io_uring]")},
	{"io_uring_enter", A(FD, UINT, UINT, SET(URINGENTER), PTR, SIZE), ID(io_uring_enter),
	 WAITS(EVENTS, IDLE), TALK(TY_GIVES, NONE, NONE)},
	{"io_uring_register", A(FD, SET(URINGREG), PTR, UINT)},
	/* sockets */
	{"socket", A(SET(AF), SOCKTYPE, PROTO), MAKES(NEW, SOCKET, 1)},
	{"socketpair", A(SET(AF), SOCKTYPE, PROTO, FDS_OUT), MAKES(PAIR, SOCKET, 1)},
	{"bind", A(FD, ADDR_IN, INT), FDS(NAMED)},
	{"connect", A(FD, ADDR_IN, INT), WAITS(SOCKET, PEER), TALK(TY_CONNECTS, 0, NONE),
	 FDS(NAMED)},
	{"listen", A(FD, INT), FDS(NAMED)},
	{"accept", A(FD, ADDR_OUT, INT_IO), WAITS(SOCKET, IDLE), TALK(TY_ACCEPTS, NONE, 0),
	 MAKES(NEW, SOCKET, TY_CLOEXEC_NEVER)},
	{"accept4", A(FD, ADDR_OUT, INT_IO, SET(SOCKFLAGS)), WAITS(SOCKET, IDLE),
	 TALK(TY_ACCEPTS, NONE, 0), MAKES(NEW, SOCKET, 3)},
	{"getsockname", A(FD, ADDR_OUT, INT_IO)},
	{"getpeername", A(FD, ADDR_OUT, INT_IO)},
	{"send", A(FD, BUF_IN, SIZE, SET(MSG)), WAITS(SOCKET, DEFINITE),
	 TALK(TY_GIVES | TY_MESSAGE, 0, NONE)},
	{"recv", A(FD, BUF_OUT, SIZE, SET(MSG)), WAITS(SOCKET, PEER),
	 TALK(TY_TAKES | TY_MESSAGE, NONE, 0)},
	{"sendto", A(FD, BUF_IN, SIZE, SET(MSG), ADDR_IN, INT), ID(sendto), WAITS(SOCKET, DEFINITE),
	 TALK(TY_GIVES | TY_MESSAGE, 0, NONE)},
	{"recvfrom", A(FD, BUF_OUT, SIZE, SET(MSG), ADDR_OUT, INT_IO), WAITS(SOCKET, PEER),
	 TALK(TY_TAKES | TY_MESSAGE, NONE, 0)},
	{"sendmsg", A(FD, MSG_IN, SET(MSG)), WAITS(SOCKET, DEFINITE),
	 TALK(TY_GIVES | TY_MESSAGE, 0, NONE)},
	{"recvmsg", A(FD, MSG_OUT, SET(MSG)), WAITS(SOCKET, PEER),
	 TALK(TY_TAKES | TY_MESSAGE, NONE, 0), RECEIVES(2)},
	{"sendmmsg", A(FD, MMSG_IN, UINT, SET(MSG)), WAITS(SOCKET, DEFINITE),
	 TALK(TY_GIVES | TY_MESSAGE, 0, NONE)},
	{"recvmmsg", A(FD, MMSG_OUT, UINT, SET(MSG), TIME_IN), WAITS(SOCKET, PEER),
	 TALK(TY_TAKES | TY_MESSAGE, NONE, 0), RECEIVES(3)},
	{"shutdown", A(FD, SET(SHUT))},
	{"setsockopt", A(FD, SOLEVEL, SOOPT, BUF_IN, INT)},
	{"getsockopt", A(FD, SOLEVEL, SOOPT, BUF_OUT, INT_IO)},
	/* time */
	{"nanosleep", A(TIME_IN, TIME_OUT), WAITS(SLEEP, IDLE)},
	{"clock_nanosleep", A(SET(CLOCK), SET(TIMER), TIME_IN, TIME_OUT), WAITS(SLEEP, IDLE)},
	{"clock_gettime", A(SET(CLOCK), TIME_OUT)},
	{"clock_settime", A(SET(CLOCK), TIME_IN)},
	{"clock_getres", A(SET(CLOCK), TIME_OUT)},
	{"clock_adjtime", A(SET(CLOCK), STRUCT_IO)},
	{"adjtimex", A(STRUCT_IO)},
	{"gettimeofday", A(TIMEVAL_OUT, STRUCT_OUT)},
	{"settimeofday", A(TIMEVAL_IN, STRUCT_IN)},
	{"time", A(PTR)},
	{"times", A(STRUCT_OUT)},
	{"getitimer", A(SET(ITIMER), ITVAL_OUT)},
	{"setitimer", A(SET(ITIMER), ITVAL_IN, ITVAL_OUT)},
	{"timer_create", A(SET(CLOCK), STRUCT_IN, INT_OUT)},
	{"timer_settime", A(INT, SET(TIMER), ITSPEC_IN, ITSPEC_OUT)},
	{"timer_gettime", A(INT, ITSPEC_OUT)},
	{"timer_getoverrun", A(INT)},
	{"timer_delete", A(INT)},
	{"timerfd_create", A(SET(CLOCK), SET(TFD)), MAKES(NEW, TIMERFD, 1), NAMED("[timerfd]")},
	{"timerfd_settime", A(FD, SET(TFDSET), ITSPEC_IN, ITSPEC_OUT)},
	{"timerfd_gettime", A(FD, ITSPEC_OUT)},
	/* the machine */
	{"getrandom", A(BUF_OUT, SIZE, SET(GRND))},
	{"uname", A(STRUCT_OUT)},
	{"sysinfo", A(STRUCT_OUT)},
	{"syslog", A(INT, BUF_OUT, INT)},
	{"sethostname", A(BUF_IN, SIZE)},
	{"reboot", A(HEX32, HEX32, HEX32, PTR)},
	{"swapon", A(PATH, HEX32)},
	{"swapoff", A(PATH)},
	{"init_module", A(BUF_IN, SIZE, STR)},
	{"finit_module", A(FD, STR, HEX32)},
	{"delete_module", A(STR, HEX32)},
	{"fanotify_init", A(HEX32, HEX32)},
	{"fanotify_mark", A(FD, HEX32, HEX, AT, PATH)},
	{"mq_open", A(STR, OPEN, OPENMODE, STRUCT_IN)},
	{"mq_unlink", A(STR)},
	{"mq_timedsend", A(FD, BUF_IN, SIZE, UINT, TIME_IN), WAITS(QUEUE, DEFINITE),
	 TALK(TY_GIVES, 0, NONE)},
	{"mq_timedreceive", A(FD, BUF_OUT, SIZE, INT_OUT, TIME_IN), WAITS(QUEUE, PEER),
	 TALK(TY_TAKES, NONE, 0)},
	{"mq_notify", A(FD, STRUCT_IN)},
	{"mq_getsetattr", A(FD, STRUCT_IN, STRUCT_OUT)},
	/* 32-bit calls whose lists differ: 64-bit values split over two registers are shown as they
	 * lie. */
	{"mmap2", A(PTR, SIZE, SET(PROT), MMAP, FD, PGOFF), RET(PTR), ONLY(32)},
	{"stat64", A(PATH, STRUCT_OUT), ONLY(32)},
	{"lstat64", A(PATH, STRUCT_OUT), ONLY(32)},
	{"fstat64", A(FD, STRUCT_OUT), ONLY(32)},
	{"fstatat64", A(AT, PATH, STRUCT_OUT, SET(AT)), ONLY(32)},
	{"statfs64", A(PATH, SIZE, STRUCT_OUT), ONLY(32)},
	{"fstatfs64", A(FD, SIZE, STRUCT_OUT), ONLY(32)},
	{"fcntl64", A(FD, FCNTL, PTR), RET(FCNTL), ONLY(32), AS("fcntl")},
	{"waitpid", A(PID, WSTATUS_OUT, SET(WAIT)), ONLY(32), WAITS(CHILD, END)},
	{"_newselect", A(INT, FDSET, FDSET, FDSET, TIMEVAL_IN), RET(POLL), ONLY(32), AS("select")},
	{"sigaction", A(SIG, PTR, PTR), ONLY(32)},
	{"sigprocmask", A(SET(SIGHOW), PTR, PTR), ONLY(32)},
	{"sigreturn", ONLY(32), CLASS(SIGRETURN)},
	{"signal", A(SIG, PTR), ONLY(32)},
	{"nice", A(INT), ONLY(32)},
	{"stime", A(PTR), ONLY(32)},
	{"umount", A(PATH), ONLY(32)},
	{"socketcall", A(INT, PTR), ONLY(32), ID(socketcall)},
	{"ipc", A(UINT, INT, HEX, HEX, PTR, HEX), ONLY(32), ID(ipc)},
	{"pread64", A(FD, BUF_OUT, SIZE, HEX, HEX, HEX), ONLY(32), WAITS(FD, PEER)},
	{"pwrite64", A(FD, BUF_IN, SIZE, HEX, HEX, HEX), ONLY(32), WAITS(FD, DEFINITE)},
	{"preadv", A(FD, IOV_OUT, INT, HEX, HEX), ONLY(32), WAITS(FD, PEER)},
	{"pwritev", A(FD, IOV_IN, INT, HEX, HEX), ONLY(32), WAITS(FD, DEFINITE)},
	{"truncate64", A(PATH, HEX, HEX, HEX), ONLY(32)},
	{"ftruncate64", A(FD, HEX, HEX, HEX), ONLY(32)},
	{"fallocate", A(FD, SET(FALLOC), HEX, HEX, HEX, HEX), ONLY(32)},
	{"fadvise64", A(FD, HEX, HEX, HEX, HEX), ONLY(32)},
	{"fadvise64_64", A(FD, HEX, HEX, HEX, HEX, HEX), ONLY(32)},
	{"sync_file_range", A(FD, HEX, HEX, HEX, HEX, HEX), ONLY(32)},
	{"readahead", A(FD, HEX, HEX, HEX, HEX), ONLY(32)},
	{"sendfile64", A(FD, FD, OFF_IO, SIZE), ONLY(32), AS("sendfile")},
	{"ugetrlimit", A(SET(RLIMIT), STRUCT_OUT), ONLY(32)},
	{"getuid32", ONLY(32)},
	{"geteuid32", ONLY(32)},
	{"getgid32", ONLY(32)},
	{"getegid32", ONLY(32)},
	{"setuid32", A(UID), ONLY(32)},
	{"setgid32", A(UID), ONLY(32)},
	{"set_thread_area", A(PTR), ONLY(32)},
	{"get_thread_area", A(PTR), ONLY(32)},
	{"clock_gettime64", A(SET(CLOCK), TIME64_OUT), ONLY(32)},
	{"clock_nanosleep_time64", A(SET(CLOCK), SET(TIMER), TIME64_IN, TIME64_OUT), ONLY(32),
	 AS("clock_nanosleep")},
	{"futex_time64", A(WORD, FUTEX, INT, PTR, PTR, HEX32), ONLY(32), AS("futex")},
	{"ppoll_time64", A(POLLFD, UINT, TIME64_IN, SIGSET_IN, SIZE), RET(POLL), ONLY(32),
	 AS("ppoll")},
	{"pselect6_time64", A(INT, FDSET, FDSET, FDSET, TIME64_IN, PTR), RET(POLL), ONLY(32),
	 AS("pselect6")},
	{"recvmmsg_time64", A(FD, MMSG_OUT, UINT, SET(MSG), TIME64_IN), ONLY(32), AS("recvmmsg")},
	{"rt_sigtimedwait_time64", A(SIGSET_IN, STRUCT_OUT, TIME64_IN, SIZE), ONLY(32),
	 AS("rt_sigtimedwait")},
	{"timerfd_settime64", A(FD, SET(TFDSET), STRUCT_IN, STRUCT_OUT), ONLY(32)},
	{"utimensat_time64", A(AT, PATH, STRUCT_IN, SET(AT)), ONLY(32), AS("utimensat")},
	{"set_tls", A(PTR), ONLY(32)},
	{"cacheflush", A(PTR, PTR, HEX), ONLY(32)},
	{"semtimedop_time64", A(IPC, SEMBUF, SIZE, TIME64_IN), ONLY(32), AS("semtimedop")},
	{"mq_timedsend_time64", A(FD, BUF_IN, SIZE, UINT, TIME64_IN), ONLY(32), AS("mq_timedsend")},
	{"mq_timedreceive_time64", A(FD, BUF_OUT, SIZE, INT_OUT, TIME64_IN), ONLY(32),
	 AS("mq_timedreceive")},
	{"io_pgetevents_time64", A(HEX, LONG, LONG, PTR, TIME64_IN, PTR), ONLY(32),
	 AS("io_pgetevents")},
	{"sigsuspend", A(HEX, HEX, HEX, HEX, HEX, HEX), ONLY(32), AS("rt_sigsuspend")},
	/* i386's first mmap and select take a pointer to their arguments. */
	{"mmap", A(PTR), RET(PTR), ONLY(I386)},
	{"select", A(PTR), RET(POLL), ONLY(I386), ID(select), WAITS(EVENTS, IDLE), ZERO_IS_TIMEOUT},
};
#define ROWS (sizeof(rows) / sizeof(*rows))

static struct ty_sysrow unknown = {A(HEX, HEX, HEX, HEX, HEX, HEX), .object = -1, .as = &unknown};

static const char *const by_socketcall[] = {
	[1] = "socket",	   [2] = "bind",	[3] = "connect",     [4] = "listen",
	[5] = "accept",	   [6] = "getsockname", [7] = "getpeername", [8] = "socketpair",
	[9] = "send",	   [10] = "recv",	[11] = "sendto",     [12] = "recvfrom",
	[13] = "shutdown", [14] = "setsockopt", [15] = "getsockopt", [16] = "sendmsg",
	[17] = "recvmsg",  [18] = "accept4",	[19] = "recvmmsg",   [20] = "sendmmsg",
};
static const char *const by_ipc[] = {
	[1] = "semop", [4] = "semtimedop", [11] = "msgsnd", [12] = "msgrcv"};
#define SOCKETCALLS (sizeof(by_socketcall) / sizeof(*by_socketcall))
#define IPCS	    (sizeof(by_ipc) / sizeof(*by_ipc))

static struct {
	const struct ty_sysrow *by_name[ROWS]; /* of one name the most special first */
	const struct ty_sysrow *socketcall[SOCKETCALLS], *ipc[IPCS];
} table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int by_name(const void *pa, const void *pb)
{
	const struct ty_sysrow *a = *(const struct ty_sysrow *const *)pa,
			       *b = *(const struct ty_sysrow *const *)pb;

	return strcmp(a->name, b->name) ?: b->only - a->only;
}

/* special: rows of ABIs up to this (enum ty_sysrow_only). */
static const struct ty_sysrow *find(const char *name, unsigned special)
{
	size_t a = partition_point(i, 0, ROWS, strcmp(table.by_name[i]->name, name) < 0);

	for (; a < ROWS && !strcmp(table.by_name[a]->name, name); a++)
		if (table.by_name[a]->only <= special)
			return table.by_name[a];
	return NULL;
}

static int object_of(const struct ty_sysrow *r)
{
	for (int i = 0; i < r->n; i++)
		switch (r->a[i]) {
		case FD:
		case PATH:
		case WORD:
		case PID:
		case IPC: return i;
		default: break;
		}
	return -1;
}

static void fill_in(void)
{
	for (size_t i = 0; i < ROWS; i++)
		table.by_name[i] = &rows[i];
	qsort(table.by_name, ROWS, sizeof(*table.by_name), by_name);
	for (size_t i = 0; i < ROWS; i++) {
		rows[i].object = (int8_t)object_of(&rows[i]);
		for (unsigned k = 0; k < rows[i].n; k++)
			rows[i].points |= rows[i].a[k] == FDSET ||
					  ty_arg_pointee(rows[i].a[k], 0, false).bytes;
		rows[i].as = rows[i].does ? find(rows[i].does, TY_ONLY_NOT) : &rows[i];
	}
	for (size_t i = 0; i < SOCKETCALLS; i++)
		table.socketcall[i] = by_socketcall[i] ? find(by_socketcall[i], TY_ONLY_NOT) : NULL;
	for (size_t i = 0; i < IPCS; i++)
		table.ipc[i] = by_ipc[i] ? find(by_ipc[i], TY_ONLY_NOT) : NULL;
}

const struct ty_sysrow *ty_sysrow_find(unsigned os, bool bits32, const char *name)
{
	const struct ty_sysrow *r;

	pthread_once(&once, fill_in);
	r = find(name, !bits32				     ? TY_ONLY_NOT
		       : (os & ~TY_ARGOS_32) == TY_ARGOS_X86 ? TY_ONLY_I386
							     : TY_ONLY_32);
	return r ? r : &unknown;
}

bool ty_sysrow_copies(const struct ty_sysrow *row, const uint64_t args[6])
{
	return row->fds == TY_FDS_DUP || row->fds == TY_FDS_DUP2 ||
	       (row->fds == TY_FDS_FCNTL &&
		((uint32_t)args[1] == TY_F_DUPFD || (uint32_t)args[1] == TY_F_DUPFD_CLOEXEC));
}

const char *ty_sysrow_terminal(const struct ty_sysrow *row, const uint64_t args[6])
{
	enum { TIOCGPTPEER_ = 0x5441 }; /* include/uapi/asm-generic/ioctls.h; x86, Arm */

	return row->id == TY_SYS_ioctl && (uint32_t)args[1] == TIOCGPTPEER_ ? "/dev/pts/?" : NULL;
}

bool ty_sysrow_cloexec(const struct ty_sysrow *row, const uint64_t args[6])
{
	static const uint64_t o_cloexec = 0x80000, msg_cmsg_cloexec = 0x40000000;

	return row->cloexec == TY_CLOEXEC_ALWAYS ||
	       (row->fds == TY_FDS_FCNTL && (uint32_t)args[1] == TY_F_DUPFD_CLOEXEC) ||
	       (ty_sysrow_terminal(row, args) && args[2] & o_cloexec) ||
	       (row->cloexec >= 0 &&
		args[row->cloexec] & (row->fds == TY_FDS_RECEIVED ? msg_cmsg_cloexec : o_cloexec));
}

const struct ty_sysrow *ty_sysrow_carried(const struct ty_sysrow *row, uint64_t what)
{
	if (row->id == TY_SYS_socketcall)
		return what < SOCKETCALLS ? table.socketcall[what] : NULL;
	what &= 0xffff; /* of ipc's version */
	return row->id == TY_SYS_ipc && what < IPCS ? table.ipc[what] : NULL;
}

const struct ty_sysrow *ty_sysrow_nth(unsigned i)
{
	pthread_once(&once, fill_in);
	return i < ROWS ? &rows[i] : NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * Named values of system call arguments: sets of flags, or of alternatives. Values come from the
 * system's own headers; syscall_text.c selects the few that differ between machines
 * (O_DIRECTORY...). Private to the decoder's system call files.
 */
#ifndef TY_SYSCALL_CONSTANTS_H
#define TY_SYSCALL_CONSTANTS_H

#include <stdint.h>

#include "buf.h"

/* id, prefix for an unknown value, FLAGS (or-ed) or ENUM (one of) */
#define TY_SETS(X)                                                                                 \
	X(PROT, "PROT_", FLAGS)                                                                    \
	X(MAPFLAGS, "MAP_", FLAGS)                                                                 \
	X(MAPTYPE, "MAP_", ENUM)                                                                   \
	X(MADV, "MADV_", ENUM)                                                                     \
	X(MREMAP, "MREMAP_", FLAGS)                                                                \
	X(MSYNC, "MS_", FLAGS)                                                                     \
	X(MLOCKALL, "MCL_", FLAGS)                                                                 \
	X(MLOCK2, "MLOCK_", FLAGS)                                                                 \
	X(AT, "AT_", FLAGS)                                                                        \
	X(STATXSYNC, "AT_STATX_", ENUM)                                                            \
	X(FACCESS, "AT_", FLAGS)                                                                   \
	X(UNLINKAT, "AT_", FLAGS)                                                                  \
	X(STATXMASK, "STATX_", FLAGS)                                                              \
	X(STATXATTR, "STATX_ATTR_", FLAGS)                                                         \
	X(FILETYPE, "S_", ENUM)                                                                    \
	X(SIGACTION, "SA_", FLAGS)                                                                 \
	X(ACCESS, "?_OK", FLAGS)                                                                   \
	X(SEEK, "SEEK_", ENUM)                                                                     \
	X(FCNTL, "F_", ENUM)                                                                       \
	X(FDFLAGS, "FD_", FLAGS)                                                                   \
	X(LEASE, "F_", ENUM)                                                                       \
	X(SEALS, "F_SEAL_", FLAGS)                                                                 \
	X(FLOCK, "LOCK_", FLAGS)                                                                   \
	X(FALLOC, "FALLOC_FL_", FLAGS)                                                             \
	X(FADVISE, "POSIX_FADV_", ENUM)                                                            \
	X(RENAME, "RENAME_", FLAGS)                                                                \
	X(RWF, "RWF_", FLAGS)                                                                      \
	X(SPLICE, "SPLICE_F_", FLAGS)                                                              \
	X(SYNCRANGE, "SYNC_FILE_RANGE_", FLAGS)                                                    \
	X(CLOSERANGE, "CLOSE_RANGE_", FLAGS)                                                       \
	X(CLONE, "CLONE_", FLAGS)                                                                  \
	X(FUTEX, "FUTEX_", ENUM)                                                                   \
	X(WAIT, "W", FLAGS)                                                                        \
	X(WAITID, "W", FLAGS)                                                                      \
	X(IDTYPE, "P_", ENUM)                                                                      \
	X(SIGHOW, "SIG_", ENUM)                                                                    \
	X(EPOLLCTL, "EPOLL_CTL_", ENUM)                                                            \
	X(EPOLLCREATE, "EPOLL_", FLAGS)                                                            \
	X(EPOLL, "EPOLL", FLAGS)                                                                   \
	X(POLL, "POLL", FLAGS)                                                                     \
	X(SCM, "SCM_", ENUM)                                                                       \
	X(AF, "AF_", ENUM)                                                                         \
	X(SOCKTYPE, "SOCK_", ENUM)                                                                 \
	X(SOCKFLAGS, "SOCK_", FLAGS)                                                               \
	X(IPPROTO, "IPPROTO_", ENUM)                                                               \
	X(NETLINK, "NETLINK_", ENUM)                                                               \
	X(MSG, "MSG_", FLAGS)                                                                      \
	X(SHUT, "SHUT_", ENUM)                                                                     \
	X(SOL, "SOL_", ENUM)                                                                       \
	X(SO, "SO_", ENUM)                                                                         \
	X(TCP, "TCP_", ENUM)                                                                       \
	X(IP, "IP_", ENUM)                                                                         \
	X(IPV6, "IPV6_", ENUM)                                                                     \
	X(EFD, "EFD_", FLAGS)                                                                      \
	X(TFD, "TFD_", FLAGS)                                                                      \
	X(TFDSET, "TFD_TIMER_", FLAGS)                                                             \
	X(SFD, "SFD_", FLAGS)                                                                      \
	X(IN, "IN_", FLAGS)                                                                        \
	X(INMASK, "IN_", FLAGS)                                                                    \
	X(CLOCK, "CLOCK_", ENUM)                                                                   \
	X(TIMER, "TIMER_", FLAGS)                                                                  \
	X(ITIMER, "ITIMER_", ENUM)                                                                 \
	X(PRCTL, "PR_", ENUM)                                                                      \
	X(ARCHPRCTL, "ARCH_", ENUM)                                                                \
	X(RLIMIT, "RLIMIT_", ENUM)                                                                 \
	X(RUSAGE, "RUSAGE_", ENUM)                                                                 \
	X(SCHED, "SCHED_", ENUM)                                                                   \
	X(PRIO, "PRIO_", ENUM)                                                                     \
	X(GRND, "GRND_", FLAGS)                                                                    \
	X(MFD, "MFD_", FLAGS)                                                                      \
	X(SECCOMP, "SECCOMP_", ENUM)                                                               \
	X(SECCOMPFLAGS, "SECCOMP_FILTER_FLAG_", FLAGS)                                             \
	X(BPF, "BPF_", ENUM)                                                                       \
	X(PERFFLAGS, "PERF_FLAG_", FLAGS)                                                          \
	X(PTRACE, "PTRACE_", ENUM)                                                                 \
	X(URINGENTER, "IORING_ENTER_", FLAGS)                                                      \
	X(URINGREG, "IORING_REGISTER_", ENUM)                                                      \
	X(MEMBARRIER, "MEMBARRIER_CMD_", ENUM)                                                     \
	X(RSEQ, "RSEQ_FLAG_", FLAGS)                                                               \
	X(MOUNT, "MS_", FLAGS)                                                                     \
	X(UMOUNT, "MNT_", FLAGS)                                                                   \
	X(PIDFD, "PIDFD_", FLAGS)                                                                  \
	X(PERSONALITY, "PER_", ENUM)                                                               \
	X(SHM, "SHM_", FLAGS)                                                                      \
	X(SIGNAL, "SIG", ENUM)                                                                     \
	X(IOCTL, "ioctl ", ENUM)                                                                   \
	X(KCMP, "KCMP_", ENUM)                                                                     \
	X(MPOL, "MPOL_", ENUM)                                                                     \
	X(MPOLFLAGS, "MPOL_F_", FLAGS)                                                             \
	X(XATTR, "XATTR_", FLAGS)                                                                  \
	X(OFLAGS, "O_", FLAGS)                                                                     \
	X(ACCMODE, "O_", ENUM)                                                                     \
	X(LANDLOCK, "LANDLOCK_CREATE_RULESET_", FLAGS)                                             \
	X(UFFD, "UFFD_", FLAGS)

enum ty_set {
#define X(id, prefix, kind) TY_SET_##id,
	TY_SETS(X)
#undef X
		TY_SET_COUNT
};

struct ty_named {
	uint64_t v;
	const char *name;
};

struct ty_setdef {
	const char *prefix;
	const struct ty_named *v; /* a flag of several bits precedes its parts */
	uint16_t n;
	enum { TY_SET_FLAGS, TY_SET_ENUM } kind;
};

/* set < TY_SET_COUNT */
const struct ty_setdef *ty_set_get(enum ty_set set);
/* The name of a value in an ENUM set, NULL when it has none. */
const char *ty_set_name(enum ty_set set, uint64_t v);
/* Appends a value of the set: "POLLIN|POLLHUP", "SOL_SOCKET". (syscall_text.c) */
int ty_set_text(enum ty_set set, uint64_t v, struct ty_buf *out);

#endif

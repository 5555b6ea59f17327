/* SPDX-License-Identifier: MIT */
/*
 * Named values of system call arguments; see syscall_constants.h. Constants newer than the headers
 * of the oldest supported system are given by number (they are ABI: they never change). One table,
 * however long.
 */
#include "syscall_constants.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/close_range.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/kcmp.h>
#include <linux/landlock.h>
#include <linux/membarrier.h>
#include <linux/memfd.h>
#include <linux/mempolicy.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define N(name)                                                                                    \
	{                                                                                          \
		(uint64_t)(name), #name                                                            \
	}
#define V(name, value)                                                                             \
	{                                                                                          \
		(uint64_t)(value), #name                                                           \
	}

static const struct ty_named PROT_v[] = {V(PROT_NONE, 0), N(PROT_READ),	  N(PROT_WRITE),
					 N(PROT_EXEC),	  V(PROT_SEM, 8), N(PROT_GROWSDOWN),
					 N(PROT_GROWSUP)};
static const struct ty_named MAPTYPE_v[] = {V(MAP_FILE, 0), N(MAP_SHARED), N(MAP_PRIVATE),
					    V(MAP_SHARED_VALIDATE, 3), V(MAP_DROPPABLE, 8)};
static const struct ty_named MAPFLAGS_v[] = {
	N(MAP_FIXED),	      N(MAP_ANONYMOUS),
	V(MAP_32BIT, 0x40),   N(MAP_NORESERVE),
	N(MAP_POPULATE),      N(MAP_NONBLOCK),
	N(MAP_GROWSDOWN),     N(MAP_DENYWRITE),
	N(MAP_EXECUTABLE),    N(MAP_LOCKED),
	N(MAP_STACK),	      N(MAP_HUGETLB),
	V(MAP_SYNC, 0x80000), V(MAP_FIXED_NOREPLACE, 0x100000)};
static const struct ty_named MADV_v[] = {N(MADV_NORMAL),
					 N(MADV_RANDOM),
					 N(MADV_SEQUENTIAL),
					 N(MADV_WILLNEED),
					 N(MADV_DONTNEED),
					 N(MADV_FREE),
					 N(MADV_REMOVE),
					 N(MADV_DONTFORK),
					 N(MADV_DOFORK),
					 N(MADV_HWPOISON),
					 V(MADV_SOFT_OFFLINE, 101),
					 N(MADV_MERGEABLE),
					 N(MADV_UNMERGEABLE),
					 N(MADV_HUGEPAGE),
					 N(MADV_NOHUGEPAGE),
					 N(MADV_DONTDUMP),
					 N(MADV_DODUMP),
					 N(MADV_WIPEONFORK),
					 N(MADV_KEEPONFORK),
					 V(MADV_COLD, 20),
					 V(MADV_PAGEOUT, 21),
					 V(MADV_POPULATE_READ, 22),
					 V(MADV_POPULATE_WRITE, 23),
					 V(MADV_DONTNEED_LOCKED, 24),
					 V(MADV_COLLAPSE, 25),
					 V(MADV_GUARD_INSTALL, 102),
					 V(MADV_GUARD_REMOVE, 103)};
static const struct ty_named MREMAP_v[] = {N(MREMAP_MAYMOVE), N(MREMAP_FIXED),
					   V(MREMAP_DONTUNMAP, 4)};
static const struct ty_named MSYNC_v[] = {N(MS_SYNC), N(MS_ASYNC), N(MS_INVALIDATE)};
static const struct ty_named MLOCKALL_v[] = {N(MCL_CURRENT), N(MCL_FUTURE), N(MCL_ONFAULT)};
static const struct ty_named MLOCK2_v[] = {V(MLOCK_ONFAULT, 1)};
static const struct ty_named AT_v[] = {
	N(AT_SYMLINK_NOFOLLOW), N(AT_SYMLINK_FOLLOW),		N(AT_NO_AUTOMOUNT),
	N(AT_EMPTY_PATH),	V(AT_STATX_FORCE_SYNC, 0x2000), V(AT_STATX_DONT_SYNC, 0x4000),
	V(AT_RECURSIVE, 0x8000)};
static const struct ty_named FACCESS_v[] = {N(AT_SYMLINK_NOFOLLOW), N(AT_EACCESS),
					    N(AT_EMPTY_PATH)};
static const struct ty_named STATXSYNC_v[] = {
	V(AT_STATX_SYNC_AS_STAT, 0), V(AT_STATX_FORCE_SYNC, 0x2000), V(AT_STATX_DONT_SYNC, 0x4000)};
static const struct ty_named UNLINKAT_v[] = {N(AT_REMOVEDIR)};
static const struct ty_named STATXMASK_v[] = {V(STATX_ALL, 0xfff),
					      V(STATX_BASIC_STATS, 0x7ff),
					      N(STATX_TYPE),
					      N(STATX_MODE),
					      N(STATX_NLINK),
					      N(STATX_UID),
					      N(STATX_GID),
					      N(STATX_ATIME),
					      N(STATX_MTIME),
					      N(STATX_CTIME),
					      N(STATX_INO),
					      N(STATX_SIZE),
					      N(STATX_BLOCKS),
					      N(STATX_BTIME),
					      V(STATX_MNT_ID, 0x1000),
					      V(STATX_DIOALIGN, 0x2000),
					      V(STATX_MNT_ID_UNIQUE, 0x4000),
					      V(STATX_SUBVOL, 0x8000)};
static const struct ty_named STATXATTR_v[] = {
	V(STATX_ATTR_COMPRESSED, 4),	  V(STATX_ATTR_IMMUTABLE, 0x10),
	V(STATX_ATTR_APPEND, 0x20),	  V(STATX_ATTR_NODUMP, 0x40),
	V(STATX_ATTR_ENCRYPTED, 0x800),	  V(STATX_ATTR_AUTOMOUNT, 0x1000),
	V(STATX_ATTR_MOUNT_ROOT, 0x2000), V(STATX_ATTR_VERITY, 0x100000),
	V(STATX_ATTR_DAX, 0x200000),	  V(STATX_ATTR_WRITE_ATOMIC, 0x400000)};
static const struct ty_named FILETYPE_v[] = {N(S_IFIFO), N(S_IFCHR), N(S_IFDIR), N(S_IFBLK),
					     N(S_IFREG), N(S_IFLNK), N(S_IFSOCK)};
static const struct ty_named SIGACTION_v[] = {V(SA_RESTORER, 0x04000000),
					      N(SA_ONSTACK),
					      N(SA_RESTART),
					      N(SA_INTERRUPT),
					      N(SA_NODEFER),
					      N(SA_RESETHAND),
					      N(SA_SIGINFO),
					      N(SA_NOCLDSTOP),
					      N(SA_NOCLDWAIT),
					      V(SA_UNSUPPORTED, 0x400),
					      V(SA_EXPOSE_TAGBITS, 0x800)};
static const struct ty_named ACCESS_v[] = {N(F_OK), N(R_OK), N(W_OK), N(X_OK)};
static const struct ty_named SEEK_v[] = {N(SEEK_SET), N(SEEK_CUR), N(SEEK_END), N(SEEK_DATA),
					 N(SEEK_HOLE)};
static const struct ty_named FCNTL_v[] = {N(F_DUPFD),
					  N(F_GETFD),
					  N(F_SETFD),
					  N(F_GETFL),
					  N(F_SETFL),
					  V(F_GETLK, 5),
					  V(F_SETLK, 6),
					  V(F_SETLKW, 7),
					  N(F_SETOWN),
					  N(F_GETOWN),
					  N(F_SETSIG),
					  N(F_GETSIG),
					  V(F_GETLK64, 12),
					  V(F_SETLK64, 13),
					  V(F_SETLKW64, 14),
					  V(F_SETOWN_EX, 15),
					  V(F_GETOWN_EX, 16),
					  V(F_OFD_GETLK, 36),
					  V(F_OFD_SETLK, 37),
					  V(F_OFD_SETLKW, 38),
					  N(F_SETLEASE),
					  N(F_GETLEASE),
					  N(F_NOTIFY),
					  V(F_DUPFD_QUERY, 1027),
					  V(F_CREATED_QUERY, 1028),
					  V(F_CANCELLK, 1029),
					  N(F_DUPFD_CLOEXEC),
					  N(F_SETPIPE_SZ),
					  N(F_GETPIPE_SZ),
					  N(F_ADD_SEALS),
					  N(F_GET_SEALS),
					  V(F_GET_RW_HINT, 1035),
					  V(F_SET_RW_HINT, 1036),
					  V(F_GET_FILE_RW_HINT, 1037),
					  V(F_SET_FILE_RW_HINT, 1038)};
static const struct ty_named FDFLAGS_v[] = {N(FD_CLOEXEC)};
static const struct ty_named LEASE_v[] = {N(F_RDLCK), N(F_WRLCK), N(F_UNLCK)};
static const struct ty_named SEALS_v[] = {V(F_SEAL_SEAL, 1),	      V(F_SEAL_SHRINK, 2),
					  V(F_SEAL_GROW, 4),	      V(F_SEAL_WRITE, 8),
					  V(F_SEAL_FUTURE_WRITE, 16), V(F_SEAL_EXEC, 32)};
static const struct ty_named FLOCK_v[] = {N(LOCK_SH),	     N(LOCK_EX),       N(LOCK_UN),
					  N(LOCK_NB),	     V(LOCK_MAND, 32), V(LOCK_READ, 64),
					  V(LOCK_WRITE, 128)};
static const struct ty_named FALLOC_v[] = {N(FALLOC_FL_KEEP_SIZE),     N(FALLOC_FL_PUNCH_HOLE),
					   N(FALLOC_FL_NO_HIDE_STALE), N(FALLOC_FL_COLLAPSE_RANGE),
					   N(FALLOC_FL_ZERO_RANGE),    N(FALLOC_FL_INSERT_RANGE),
					   N(FALLOC_FL_UNSHARE_RANGE)};
static const struct ty_named FADVISE_v[] = {N(POSIX_FADV_NORMAL),     N(POSIX_FADV_RANDOM),
					    N(POSIX_FADV_SEQUENTIAL), N(POSIX_FADV_WILLNEED),
					    N(POSIX_FADV_DONTNEED),   N(POSIX_FADV_NOREUSE)};
static const struct ty_named RENAME_v[] = {V(RENAME_NOREPLACE, 1), V(RENAME_EXCHANGE, 2),
					   V(RENAME_WHITEOUT, 4)};
static const struct ty_named RWF_v[] = {
	V(RWF_HIPRI, 1),   V(RWF_DSYNC, 2),	V(RWF_SYNC, 4),	   V(RWF_NOWAIT, 8),
	V(RWF_APPEND, 16), V(RWF_NOAPPEND, 32), V(RWF_ATOMIC, 64), V(RWF_DONTCACHE, 128)};
static const struct ty_named SPLICE_v[] = {N(SPLICE_F_MOVE), N(SPLICE_F_NONBLOCK), N(SPLICE_F_MORE),
					   N(SPLICE_F_GIFT)};
static const struct ty_named SYNCRANGE_v[] = {
	N(SYNC_FILE_RANGE_WAIT_BEFORE), N(SYNC_FILE_RANGE_WRITE), N(SYNC_FILE_RANGE_WAIT_AFTER)};
static const struct ty_named CLOSERANGE_v[] = {N(CLOSE_RANGE_UNSHARE), N(CLOSE_RANGE_CLOEXEC)};
static const struct ty_named CLONE_v[] = {N(CLONE_VM),
					  N(CLONE_FS),
					  N(CLONE_FILES),
					  N(CLONE_SIGHAND),
					  V(CLONE_PIDFD, 0x1000),
					  N(CLONE_PTRACE),
					  N(CLONE_VFORK),
					  N(CLONE_PARENT),
					  N(CLONE_THREAD),
					  N(CLONE_NEWNS),
					  N(CLONE_SYSVSEM),
					  N(CLONE_SETTLS),
					  N(CLONE_PARENT_SETTID),
					  N(CLONE_CHILD_CLEARTID),
					  N(CLONE_DETACHED),
					  N(CLONE_UNTRACED),
					  N(CLONE_CHILD_SETTID),
					  V(CLONE_NEWCGROUP, 0x2000000),
					  N(CLONE_NEWUTS),
					  N(CLONE_NEWIPC),
					  N(CLONE_NEWUSER),
					  N(CLONE_NEWPID),
					  N(CLONE_NEWNET),
					  N(CLONE_IO),
					  V(CLONE_CLEAR_SIGHAND, 0x100000000ull),
					  V(CLONE_INTO_CGROUP, 0x200000000ull),
					  V(CLONE_NEWTIME, 0x80)};
static const struct ty_named FUTEX_v[] = {
	N(FUTEX_WAIT),		 N(FUTEX_WAKE),	       N(FUTEX_FD),
	N(FUTEX_REQUEUE),	 N(FUTEX_CMP_REQUEUE), N(FUTEX_WAKE_OP),
	N(FUTEX_LOCK_PI),	 N(FUTEX_UNLOCK_PI),   N(FUTEX_TRYLOCK_PI),
	N(FUTEX_WAIT_BITSET),	 N(FUTEX_WAKE_BITSET), N(FUTEX_WAIT_REQUEUE_PI),
	N(FUTEX_CMP_REQUEUE_PI), V(FUTEX_LOCK_PI2, 13)};
static const struct ty_named WAIT_v[] = {N(WNOHANG),
					 N(WUNTRACED),
					 N(WCONTINUED),
					 V(__WNOTHREAD, 0x20000000),
					 V(__WALL, 0x40000000),
					 V(__WCLONE, 0x80000000)};
static const struct ty_named WAITID_v[] = {N(WNOHANG),
					   N(WSTOPPED),
					   N(WEXITED),
					   N(WCONTINUED),
					   N(WNOWAIT),
					   V(__WNOTHREAD, 0x20000000),
					   V(__WALL, 0x40000000),
					   V(__WCLONE, 0x80000000)};
static const struct ty_named IDTYPE_v[] = {V(P_ALL, 0), V(P_PID, 1), V(P_PGID, 2), V(P_PIDFD, 3)};
static const struct ty_named SIGHOW_v[] = {N(SIG_BLOCK), N(SIG_UNBLOCK), N(SIG_SETMASK)};
static const struct ty_named EPOLLCTL_v[] = {N(EPOLL_CTL_ADD), N(EPOLL_CTL_DEL), N(EPOLL_CTL_MOD)};
static const struct ty_named EPOLLCREATE_v[] = {N(EPOLL_CLOEXEC)};
static const struct ty_named EPOLL_v[] = {V(EPOLLIN, 1),
					  V(EPOLLPRI, 2),
					  V(EPOLLOUT, 4),
					  V(EPOLLERR, 8),
					  V(EPOLLHUP, 0x10),
					  V(EPOLLRDNORM, 0x40),
					  V(EPOLLRDBAND, 0x80),
					  V(EPOLLWRNORM, 0x100),
					  V(EPOLLWRBAND, 0x200),
					  V(EPOLLMSG, 0x400),
					  V(EPOLLRDHUP, 0x2000),
					  V(EPOLLEXCLUSIVE, 1u << 28),
					  V(EPOLLWAKEUP, 1u << 29),
					  V(EPOLLONESHOT, 1u << 30),
					  V(EPOLLET, 1u << 31)};
static const struct ty_named POLL_v[] = {
	V(POLLIN, 1),	      V(POLLPRI, 2),	    V(POLLOUT, 4),	 V(POLLERR, 8),
	V(POLLHUP, 0x10),     V(POLLNVAL, 0x20),    V(POLLRDNORM, 0x40), V(POLLRDBAND, 0x80),
	V(POLLWRNORM, 0x100), V(POLLWRBAND, 0x200), V(POLLMSG, 0x400),	 V(POLLREMOVE, 0x1000),
	V(POLLRDHUP, 0x2000)};
static const struct ty_named SCM_v[] = {V(SCM_RIGHTS, 1), V(SCM_CREDENTIALS, 2), V(SCM_SECURITY, 3),
					V(SCM_PIDFD, 4)};
static const struct ty_named AF_v[] = {
	N(AF_UNSPEC),	 N(AF_UNIX),	N(AF_INET),    N(AF_AX25),    N(AF_IPX),
	N(AF_APPLETALK), N(AF_X25),	N(AF_INET6),   N(AF_KEY),     N(AF_NETLINK),
	N(AF_PACKET),	 N(AF_RDS),	N(AF_PPPOX),   N(AF_CAN),     N(AF_TIPC),
	N(AF_BLUETOOTH), N(AF_RXRPC),	N(AF_ALG),     N(AF_NFC),     N(AF_VSOCK),
	N(AF_KCM),	 N(AF_QIPCRTR), V(AF_SMC, 43), V(AF_XDP, 44), V(AF_MCTP, 45)};
static const struct ty_named SOCKTYPE_v[] = {N(SOCK_STREAM), N(SOCK_DGRAM),	N(SOCK_RAW),
					     N(SOCK_RDM),    N(SOCK_SEQPACKET), N(SOCK_DCCP),
					     N(SOCK_PACKET)};
static const struct ty_named SOCKFLAGS_v[] = {N(SOCK_CLOEXEC), N(SOCK_NONBLOCK)};
static const struct ty_named IPPROTO_v[] = {
	N(IPPROTO_IP),	 N(IPPROTO_ICMP),   N(IPPROTO_IGMP),	  N(IPPROTO_IPIP),
	N(IPPROTO_TCP),	 N(IPPROTO_EGP),    N(IPPROTO_PUP),	  N(IPPROTO_UDP),
	N(IPPROTO_IDP),	 N(IPPROTO_TP),	    N(IPPROTO_DCCP),	  N(IPPROTO_IPV6),
	N(IPPROTO_RSVP), N(IPPROTO_GRE),    N(IPPROTO_ESP),	  N(IPPROTO_AH),
	N(IPPROTO_MTP),	 N(IPPROTO_BEETPH), N(IPPROTO_ENCAP),	  N(IPPROTO_PIM),
	N(IPPROTO_COMP), N(IPPROTO_SCTP),   N(IPPROTO_UDPLITE),	  N(IPPROTO_MPLS),
	N(IPPROTO_RAW),	 N(IPPROTO_ICMPV6), V(IPPROTO_MPTCP, 262)};
static const struct ty_named NETLINK_v[] = {
	N(NETLINK_ROUTE),     N(NETLINK_UNUSED),	N(NETLINK_USERSOCK),
	N(NETLINK_FIREWALL),  N(NETLINK_SOCK_DIAG),	N(NETLINK_NFLOG),
	N(NETLINK_XFRM),      N(NETLINK_SELINUX),	N(NETLINK_ISCSI),
	N(NETLINK_AUDIT),     N(NETLINK_FIB_LOOKUP),	N(NETLINK_CONNECTOR),
	N(NETLINK_NETFILTER), N(NETLINK_DNRTMSG),	N(NETLINK_KOBJECT_UEVENT),
	N(NETLINK_GENERIC),   N(NETLINK_SCSITRANSPORT), N(NETLINK_ECRYPTFS),
	N(NETLINK_RDMA),      N(NETLINK_CRYPTO)};
static const struct ty_named MSG_v[] = {N(MSG_OOB),	 N(MSG_PEEK),	    N(MSG_DONTROUTE),
					N(MSG_CTRUNC),	 N(MSG_PROXY),	    N(MSG_TRUNC),
					N(MSG_DONTWAIT), N(MSG_EOR),	    N(MSG_WAITALL),
					N(MSG_FIN),	 N(MSG_SYN),	    N(MSG_CONFIRM),
					N(MSG_RST),	 N(MSG_ERRQUEUE),   N(MSG_NOSIGNAL),
					N(MSG_MORE),	 N(MSG_WAITFORONE), V(MSG_BATCH, 0x40000),
					N(MSG_ZEROCOPY), N(MSG_FASTOPEN),   N(MSG_CMSG_CLOEXEC)};
static const struct ty_named SHUT_v[] = {N(SHUT_RD), N(SHUT_WR), N(SHUT_RDWR)};
static const struct ty_named SOL_v[] = {V(SOL_IP, 0),	     N(SOL_SOCKET),   V(SOL_TCP, 6),
					V(SOL_UDP, 17),	     V(SOL_IPV6, 41), V(SOL_ICMPV6, 58),
					V(SOL_SCTP, 132),    V(SOL_RAW, 255), V(SOL_PACKET, 263),
					V(SOL_NETLINK, 270), V(SOL_TLS, 282), V(SOL_ALG, 279),
					V(SOL_MPTCP, 284)};
static const struct ty_named SO_v[] = {N(SO_DEBUG),
				       N(SO_REUSEADDR),
				       N(SO_TYPE),
				       N(SO_ERROR),
				       N(SO_DONTROUTE),
				       N(SO_BROADCAST),
				       N(SO_SNDBUF),
				       N(SO_RCVBUF),
				       N(SO_KEEPALIVE),
				       N(SO_OOBINLINE),
				       N(SO_NO_CHECK),
				       N(SO_PRIORITY),
				       N(SO_LINGER),
				       N(SO_BSDCOMPAT),
				       N(SO_REUSEPORT),
				       N(SO_PASSCRED),
				       N(SO_PEERCRED),
				       N(SO_RCVLOWAT),
				       N(SO_SNDLOWAT),
				       V(SO_RCVTIMEO_OLD, 20),
				       V(SO_SNDTIMEO_OLD, 21),
				       N(SO_BINDTODEVICE),
				       N(SO_ATTACH_FILTER),
				       N(SO_DETACH_FILTER),
				       N(SO_PEERNAME),
				       V(SO_TIMESTAMP_OLD, 29),
				       N(SO_ACCEPTCONN),
				       N(SO_PEERSEC),
				       N(SO_SNDBUFFORCE),
				       N(SO_RCVBUFFORCE),
				       N(SO_PASSSEC),
				       V(SO_TIMESTAMPNS_OLD, 35),
				       N(SO_MARK),
				       V(SO_TIMESTAMPING_OLD, 37),
				       N(SO_PROTOCOL),
				       N(SO_DOMAIN),
				       N(SO_RXQ_OVFL),
				       N(SO_WIFI_STATUS),
				       N(SO_PEEK_OFF),
				       N(SO_NOFCS),
				       N(SO_LOCK_FILTER),
				       N(SO_SELECT_ERR_QUEUE),
				       N(SO_BUSY_POLL),
				       N(SO_MAX_PACING_RATE),
				       N(SO_BPF_EXTENSIONS),
				       N(SO_INCOMING_CPU),
				       N(SO_ATTACH_BPF),
				       N(SO_ATTACH_REUSEPORT_CBPF),
				       N(SO_ATTACH_REUSEPORT_EBPF),
				       N(SO_CNX_ADVICE),
				       N(SO_MEMINFO),
				       N(SO_INCOMING_NAPI_ID),
				       N(SO_COOKIE),
				       N(SO_PEERGROUPS),
				       N(SO_ZEROCOPY),
				       N(SO_TXTIME),
				       N(SO_BINDTOIFINDEX),
				       V(SO_TIMESTAMP_NEW, 63),
				       V(SO_TIMESTAMPNS_NEW, 64),
				       V(SO_TIMESTAMPING_NEW, 65),
				       V(SO_RCVTIMEO_NEW, 66),
				       V(SO_SNDTIMEO_NEW, 67),
				       V(SO_PREFER_BUSY_POLL, 69),
				       V(SO_BUSY_POLL_BUDGET, 70),
				       V(SO_NETNS_COOKIE, 71),
				       V(SO_BUF_LOCK, 72),
				       V(SO_RESERVE_MEM, 73),
				       V(SO_TXREHASH, 74),
				       V(SO_RCVMARK, 75),
				       V(SO_PASSPIDFD, 76),
				       V(SO_PEERPIDFD, 77)};
static const struct ty_named TCP_v[] = {N(TCP_NODELAY),
					N(TCP_MAXSEG),
					N(TCP_CORK),
					N(TCP_KEEPIDLE),
					N(TCP_KEEPINTVL),
					N(TCP_KEEPCNT),
					N(TCP_SYNCNT),
					N(TCP_LINGER2),
					N(TCP_DEFER_ACCEPT),
					N(TCP_WINDOW_CLAMP),
					N(TCP_INFO),
					N(TCP_QUICKACK),
					N(TCP_CONGESTION),
					N(TCP_MD5SIG),
					N(TCP_THIN_LINEAR_TIMEOUTS),
					N(TCP_THIN_DUPACK),
					N(TCP_USER_TIMEOUT),
					N(TCP_REPAIR),
					N(TCP_REPAIR_QUEUE),
					N(TCP_QUEUE_SEQ),
					N(TCP_REPAIR_OPTIONS),
					N(TCP_FASTOPEN),
					N(TCP_TIMESTAMP),
					N(TCP_NOTSENT_LOWAT),
					N(TCP_CC_INFO),
					N(TCP_SAVE_SYN),
					N(TCP_SAVED_SYN),
					N(TCP_REPAIR_WINDOW),
					N(TCP_FASTOPEN_CONNECT),
					N(TCP_ULP),
					N(TCP_MD5SIG_EXT),
					N(TCP_FASTOPEN_KEY),
					N(TCP_FASTOPEN_NO_COOKIE),
					N(TCP_ZEROCOPY_RECEIVE),
					N(TCP_INQ),
					N(TCP_TX_DELAY)};
static const struct ty_named IP_v[] = {N(IP_TOS),
				       N(IP_TTL),
				       N(IP_HDRINCL),
				       N(IP_OPTIONS),
				       N(IP_ROUTER_ALERT),
				       N(IP_RECVOPTS),
				       N(IP_RETOPTS),
				       N(IP_PKTINFO),
				       N(IP_PKTOPTIONS),
				       N(IP_MTU_DISCOVER),
				       N(IP_RECVERR),
				       N(IP_RECVTTL),
				       N(IP_RECVTOS),
				       N(IP_MTU),
				       N(IP_FREEBIND),
				       N(IP_TRANSPARENT),
				       N(IP_ORIGDSTADDR),
				       N(IP_MINTTL),
				       N(IP_MULTICAST_IF),
				       N(IP_MULTICAST_TTL),
				       N(IP_MULTICAST_LOOP),
				       N(IP_ADD_MEMBERSHIP),
				       N(IP_DROP_MEMBERSHIP),
				       V(IP_BIND_ADDRESS_NO_PORT, 24),
				       V(IP_LOCAL_PORT_RANGE, 51)};
static const struct ty_named IPV6_v[] = {
	N(IPV6_UNICAST_HOPS), N(IPV6_MULTICAST_IF), N(IPV6_MULTICAST_HOPS), N(IPV6_MULTICAST_LOOP),
	N(IPV6_JOIN_GROUP),   N(IPV6_LEAVE_GROUP),  N(IPV6_MTU_DISCOVER),   N(IPV6_MTU),
	N(IPV6_RECVERR),      N(IPV6_V6ONLY),	    N(IPV6_RECVPKTINFO),    N(IPV6_PKTINFO),
	N(IPV6_RECVHOPLIMIT), N(IPV6_HOPLIMIT),	    N(IPV6_RECVTCLASS),	    N(IPV6_TCLASS)};
static const struct ty_named EFD_v[] = {N(EFD_SEMAPHORE), N(EFD_CLOEXEC), N(EFD_NONBLOCK)};
static const struct ty_named TFD_v[] = {N(TFD_CLOEXEC), N(TFD_NONBLOCK)};
static const struct ty_named TFDSET_v[] = {N(TFD_TIMER_ABSTIME), N(TFD_TIMER_CANCEL_ON_SET)};
static const struct ty_named SFD_v[] = {N(SFD_CLOEXEC), N(SFD_NONBLOCK)};
static const struct ty_named IN_v[] = {N(IN_CLOEXEC), N(IN_NONBLOCK)};
static const struct ty_named INMASK_v[] = {
	N(IN_ACCESS),	     N(IN_MODIFY),	N(IN_ATTRIB),	   N(IN_CLOSE_WRITE),
	N(IN_CLOSE_NOWRITE), N(IN_OPEN),	N(IN_MOVED_FROM),  N(IN_MOVED_TO),
	N(IN_CREATE),	     N(IN_DELETE),	N(IN_DELETE_SELF), N(IN_MOVE_SELF),
	N(IN_UNMOUNT),	     N(IN_Q_OVERFLOW),	N(IN_IGNORED),	   N(IN_ONLYDIR),
	N(IN_DONT_FOLLOW),   N(IN_EXCL_UNLINK), N(IN_MASK_CREATE), N(IN_MASK_ADD),
	N(IN_ISDIR),	     N(IN_ONESHOT)};
static const struct ty_named CLOCK_v[] = {
	N(CLOCK_REALTIME),	    N(CLOCK_MONOTONIC),	    N(CLOCK_PROCESS_CPUTIME_ID),
	N(CLOCK_THREAD_CPUTIME_ID), N(CLOCK_MONOTONIC_RAW), N(CLOCK_REALTIME_COARSE),
	N(CLOCK_MONOTONIC_COARSE),  N(CLOCK_BOOTTIME),	    N(CLOCK_REALTIME_ALARM),
	N(CLOCK_BOOTTIME_ALARM),    V(CLOCK_SGI_CYCLE, 10), N(CLOCK_TAI)};
static const struct ty_named TIMER_v[] = {N(TIMER_ABSTIME)};
static const struct ty_named ITIMER_v[] = {V(ITIMER_REAL, 0), V(ITIMER_VIRTUAL, 1),
					   V(ITIMER_PROF, 2)};
static const struct ty_named PRCTL_v[] = {N(PR_SET_PDEATHSIG),
					  N(PR_GET_PDEATHSIG),
					  N(PR_GET_DUMPABLE),
					  N(PR_SET_DUMPABLE),
					  N(PR_GET_UNALIGN),
					  N(PR_SET_UNALIGN),
					  N(PR_GET_KEEPCAPS),
					  N(PR_SET_KEEPCAPS),
					  N(PR_GET_FPEMU),
					  N(PR_SET_FPEMU),
					  N(PR_GET_FPEXC),
					  N(PR_SET_FPEXC),
					  N(PR_GET_TIMING),
					  N(PR_SET_TIMING),
					  N(PR_SET_NAME),
					  N(PR_GET_NAME),
					  N(PR_GET_ENDIAN),
					  N(PR_SET_ENDIAN),
					  N(PR_GET_SECCOMP),
					  N(PR_SET_SECCOMP),
					  N(PR_CAPBSET_READ),
					  N(PR_CAPBSET_DROP),
					  N(PR_GET_TSC),
					  N(PR_SET_TSC),
					  N(PR_GET_SECUREBITS),
					  N(PR_SET_SECUREBITS),
					  N(PR_SET_TIMERSLACK),
					  N(PR_GET_TIMERSLACK),
					  N(PR_TASK_PERF_EVENTS_DISABLE),
					  N(PR_TASK_PERF_EVENTS_ENABLE),
					  N(PR_MCE_KILL),
					  N(PR_MCE_KILL_GET),
					  N(PR_SET_MM),
					  N(PR_SET_CHILD_SUBREAPER),
					  N(PR_GET_CHILD_SUBREAPER),
					  N(PR_SET_NO_NEW_PRIVS),
					  N(PR_GET_NO_NEW_PRIVS),
					  N(PR_GET_TID_ADDRESS),
					  N(PR_SET_THP_DISABLE),
					  N(PR_GET_THP_DISABLE),
					  N(PR_CAP_AMBIENT),
					  N(PR_SET_FP_MODE),
					  N(PR_GET_FP_MODE),
					  N(PR_SVE_SET_VL),
					  N(PR_SVE_GET_VL),
					  N(PR_GET_SPECULATION_CTRL),
					  N(PR_SET_SPECULATION_CTRL),
					  N(PR_PAC_RESET_KEYS),
					  N(PR_SET_TAGGED_ADDR_CTRL),
					  N(PR_GET_TAGGED_ADDR_CTRL),
					  N(PR_SET_IO_FLUSHER),
					  N(PR_GET_IO_FLUSHER),
					  N(PR_SET_SYSCALL_USER_DISPATCH),
					  V(PR_PAC_SET_ENABLED_KEYS, 60),
					  V(PR_PAC_GET_ENABLED_KEYS, 61),
					  V(PR_SCHED_CORE, 62),
					  V(PR_SET_MDWE, 65),
					  V(PR_GET_MDWE, 66),
					  V(PR_SET_MEMORY_MERGE, 67),
					  V(PR_GET_MEMORY_MERGE, 68),
					  V(PR_SET_VMA, 0x53564d41),
					  V(PR_SET_PTRACER, 0x59616d61)};
static const struct ty_named ARCHPRCTL_v[] = {V(ARCH_SET_GS, 0x1001),
					      V(ARCH_SET_FS, 0x1002),
					      V(ARCH_GET_FS, 0x1003),
					      V(ARCH_GET_GS, 0x1004),
					      V(ARCH_GET_CPUID, 0x1011),
					      V(ARCH_SET_CPUID, 0x1012),
					      V(ARCH_GET_XCOMP_SUPP, 0x1021),
					      V(ARCH_GET_XCOMP_PERM, 0x1022),
					      V(ARCH_REQ_XCOMP_PERM, 0x1023),
					      V(ARCH_GET_XCOMP_GUEST_PERM, 0x1024),
					      V(ARCH_REQ_XCOMP_GUEST_PERM, 0x1025),
					      V(ARCH_MAP_VDSO_X32, 0x2001),
					      V(ARCH_MAP_VDSO_32, 0x2002),
					      V(ARCH_MAP_VDSO_64, 0x2003),
					      V(ARCH_SHSTK_ENABLE, 0x5001),
					      V(ARCH_SHSTK_DISABLE, 0x5002),
					      V(ARCH_SHSTK_LOCK, 0x5003),
					      V(ARCH_SHSTK_UNLOCK, 0x5004),
					      V(ARCH_SHSTK_STATUS, 0x5005)};
static const struct ty_named RLIMIT_v[] = {
	V(RLIMIT_CPU, 0),	V(RLIMIT_FSIZE, 1), V(RLIMIT_DATA, 2),	  V(RLIMIT_STACK, 3),
	V(RLIMIT_CORE, 4),	V(RLIMIT_RSS, 5),   V(RLIMIT_NPROC, 6),	  V(RLIMIT_NOFILE, 7),
	V(RLIMIT_MEMLOCK, 8),	V(RLIMIT_AS, 9),    V(RLIMIT_LOCKS, 10),  V(RLIMIT_SIGPENDING, 11),
	V(RLIMIT_MSGQUEUE, 12), V(RLIMIT_NICE, 13), V(RLIMIT_RTPRIO, 14), V(RLIMIT_RTTIME, 15)};
static const struct ty_named RUSAGE_v[] = {V(RUSAGE_SELF, 0), V(RUSAGE_CHILDREN, (uint32_t)-1),
					   V(RUSAGE_BOTH, (uint32_t)-2), V(RUSAGE_THREAD, 1)};
static const struct ty_named SCHED_v[] = {V(SCHED_OTHER, 0),
					  V(SCHED_FIFO, 1),
					  V(SCHED_RR, 2),
					  V(SCHED_BATCH, 3),
					  V(SCHED_IDLE, 5),
					  V(SCHED_DEADLINE, 6),
					  V(SCHED_EXT, 7),
					  V(SCHED_OTHER | SCHED_RESET_ON_FORK, 0x40000000),
					  V(SCHED_FIFO | SCHED_RESET_ON_FORK, 0x40000001),
					  V(SCHED_RR | SCHED_RESET_ON_FORK, 0x40000002)};
static const struct ty_named PRIO_v[] = {V(PRIO_PROCESS, 0), V(PRIO_PGRP, 1), V(PRIO_USER, 2)};
static const struct ty_named GRND_v[] = {N(GRND_NONBLOCK), N(GRND_RANDOM), V(GRND_INSECURE, 4)};
static const struct ty_named MFD_v[] = {N(MFD_CLOEXEC), N(MFD_ALLOW_SEALING), N(MFD_HUGETLB),
					V(MFD_NOEXEC_SEAL, 8), V(MFD_EXEC, 16)};
static const struct ty_named SECCOMP_v[] = {N(SECCOMP_SET_MODE_STRICT), N(SECCOMP_SET_MODE_FILTER),
					    N(SECCOMP_GET_ACTION_AVAIL),
					    N(SECCOMP_GET_NOTIF_SIZES)};
static const struct ty_named SECCOMPFLAGS_v[] = {
	V(SECCOMP_FILTER_FLAG_TSYNC, 1),	V(SECCOMP_FILTER_FLAG_LOG, 2),
	V(SECCOMP_FILTER_FLAG_SPEC_ALLOW, 4),	V(SECCOMP_FILTER_FLAG_NEW_LISTENER, 8),
	V(SECCOMP_FILTER_FLAG_TSYNC_ESRCH, 16), V(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, 32)};
static const struct ty_named BPF_v[] = {
	N(BPF_MAP_CREATE),	  N(BPF_MAP_LOOKUP_ELEM),
	N(BPF_MAP_UPDATE_ELEM),	  N(BPF_MAP_DELETE_ELEM),
	N(BPF_MAP_GET_NEXT_KEY),  N(BPF_PROG_LOAD),
	N(BPF_OBJ_PIN),		  N(BPF_OBJ_GET),
	N(BPF_PROG_ATTACH),	  N(BPF_PROG_DETACH),
	N(BPF_PROG_TEST_RUN),	  N(BPF_PROG_GET_NEXT_ID),
	N(BPF_MAP_GET_NEXT_ID),	  N(BPF_PROG_GET_FD_BY_ID),
	N(BPF_MAP_GET_FD_BY_ID),  N(BPF_OBJ_GET_INFO_BY_FD),
	N(BPF_PROG_QUERY),	  N(BPF_RAW_TRACEPOINT_OPEN),
	N(BPF_BTF_LOAD),	  N(BPF_BTF_GET_FD_BY_ID),
	N(BPF_TASK_FD_QUERY),	  N(BPF_MAP_LOOKUP_AND_DELETE_ELEM),
	N(BPF_MAP_FREEZE),	  N(BPF_BTF_GET_NEXT_ID),
	N(BPF_MAP_LOOKUP_BATCH),  N(BPF_MAP_LOOKUP_AND_DELETE_BATCH),
	N(BPF_MAP_UPDATE_BATCH),  N(BPF_MAP_DELETE_BATCH),
	N(BPF_LINK_CREATE),	  N(BPF_LINK_UPDATE),
	N(BPF_LINK_GET_FD_BY_ID), N(BPF_LINK_GET_NEXT_ID),
	N(BPF_ENABLE_STATS),	  N(BPF_ITER_CREATE),
	N(BPF_LINK_DETACH),	  N(BPF_PROG_BIND_MAP),
	V(BPF_TOKEN_CREATE, 36)};
static const struct ty_named PERFFLAGS_v[] = {V(PERF_FLAG_FD_NO_GROUP, 1),
					      V(PERF_FLAG_FD_OUTPUT, 2), V(PERF_FLAG_PID_CGROUP, 4),
					      V(PERF_FLAG_FD_CLOEXEC, 8)};
static const struct ty_named PTRACE_v[] = {V(PTRACE_TRACEME, 0),
					   V(PTRACE_PEEKTEXT, 1),
					   V(PTRACE_PEEKDATA, 2),
					   V(PTRACE_PEEKUSER, 3),
					   V(PTRACE_POKETEXT, 4),
					   V(PTRACE_POKEDATA, 5),
					   V(PTRACE_POKEUSER, 6),
					   V(PTRACE_CONT, 7),
					   V(PTRACE_KILL, 8),
					   V(PTRACE_SINGLESTEP, 9),
					   V(PTRACE_GETREGS, 12),
					   V(PTRACE_SETREGS, 13),
					   V(PTRACE_GETFPREGS, 14),
					   V(PTRACE_SETFPREGS, 15),
					   V(PTRACE_ATTACH, 16),
					   V(PTRACE_DETACH, 17),
					   V(PTRACE_SYSCALL, 24),
					   V(PTRACE_SYSEMU, 31),
					   V(PTRACE_SYSEMU_SINGLESTEP, 32),
					   V(PTRACE_SETOPTIONS, 0x4200),
					   V(PTRACE_GETEVENTMSG, 0x4201),
					   V(PTRACE_GETSIGINFO, 0x4202),
					   V(PTRACE_SETSIGINFO, 0x4203),
					   V(PTRACE_GETREGSET, 0x4204),
					   V(PTRACE_SETREGSET, 0x4205),
					   V(PTRACE_SEIZE, 0x4206),
					   V(PTRACE_INTERRUPT, 0x4207),
					   V(PTRACE_LISTEN, 0x4208),
					   V(PTRACE_PEEKSIGINFO, 0x4209),
					   V(PTRACE_GETSIGMASK, 0x420a),
					   V(PTRACE_SETSIGMASK, 0x420b),
					   V(PTRACE_SECCOMP_GET_FILTER, 0x420c),
					   V(PTRACE_SECCOMP_GET_METADATA, 0x420d),
					   V(PTRACE_GET_SYSCALL_INFO, 0x420e),
					   V(PTRACE_GET_RSEQ_CONFIGURATION, 0x420f)};
static const struct ty_named URINGENTER_v[] = {N(IORING_ENTER_GETEVENTS), N(IORING_ENTER_SQ_WAKEUP),
					       N(IORING_ENTER_SQ_WAIT), N(IORING_ENTER_EXT_ARG),
					       V(IORING_ENTER_REGISTERED_RING, 16)};
static const struct ty_named URINGREG_v[] = {N(IORING_REGISTER_BUFFERS),
					     N(IORING_UNREGISTER_BUFFERS),
					     N(IORING_REGISTER_FILES),
					     N(IORING_UNREGISTER_FILES),
					     N(IORING_REGISTER_EVENTFD),
					     N(IORING_UNREGISTER_EVENTFD),
					     N(IORING_REGISTER_FILES_UPDATE),
					     N(IORING_REGISTER_EVENTFD_ASYNC),
					     N(IORING_REGISTER_PROBE),
					     N(IORING_REGISTER_PERSONALITY),
					     N(IORING_UNREGISTER_PERSONALITY),
					     N(IORING_REGISTER_RESTRICTIONS),
					     N(IORING_REGISTER_ENABLE_RINGS),
					     V(IORING_REGISTER_FILES2, 13),
					     V(IORING_REGISTER_FILES_UPDATE2, 14),
					     V(IORING_REGISTER_BUFFERS2, 15),
					     V(IORING_REGISTER_BUFFERS_UPDATE, 16),
					     V(IORING_REGISTER_IOWQ_AFF, 17),
					     V(IORING_UNREGISTER_IOWQ_AFF, 18),
					     V(IORING_REGISTER_IOWQ_MAX_WORKERS, 19),
					     V(IORING_REGISTER_RING_FDS, 20),
					     V(IORING_UNREGISTER_RING_FDS, 21),
					     V(IORING_REGISTER_PBUF_RING, 22),
					     V(IORING_UNREGISTER_PBUF_RING, 23)};
static const struct ty_named MEMBARRIER_v[] = {
	V(MEMBARRIER_CMD_QUERY, 0),
	V(MEMBARRIER_CMD_GLOBAL, 1),
	V(MEMBARRIER_CMD_GLOBAL_EXPEDITED, 2),
	V(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 4),
	V(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 8),
	V(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 16),
	V(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 32),
	V(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 64),
	V(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 128),
	V(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 256)};
static const struct ty_named RSEQ_v[] = {V(RSEQ_FLAG_UNREGISTER, 1)};
static const struct ty_named MOUNT_v[] = {
	V(MS_RDONLY, 1),	  V(MS_NOSUID, 2),	     V(MS_NODEV, 4),
	V(MS_NOEXEC, 8),	  V(MS_SYNCHRONOUS, 16),     V(MS_REMOUNT, 32),
	V(MS_MANDLOCK, 64),	  V(MS_DIRSYNC, 128),	     V(MS_NOSYMFOLLOW, 256),
	V(MS_NOATIME, 1024),	  V(MS_NODIRATIME, 2048),    V(MS_BIND, 4096),
	V(MS_MOVE, 8192),	  V(MS_REC, 16384),	     V(MS_SILENT, 32768),
	V(MS_POSIXACL, 1 << 16),  V(MS_UNBINDABLE, 1 << 17), V(MS_PRIVATE, 1 << 18),
	V(MS_SLAVE, 1 << 19),	  V(MS_SHARED, 1 << 20),     V(MS_RELATIME, 1 << 21),
	V(MS_KERNMOUNT, 1 << 22), V(MS_I_VERSION, 1 << 23),  V(MS_STRICTATIME, 1 << 24),
	V(MS_LAZYTIME, 1 << 25)};
static const struct ty_named UMOUNT_v[] = {V(MNT_FORCE, 1), V(MNT_DETACH, 2), V(MNT_EXPIRE, 4),
					   V(UMOUNT_NOFOLLOW, 8)};
static const struct ty_named PIDFD_v[] = {V(PIDFD_NONBLOCK, 04000), V(PIDFD_THREAD, 0200)};
static const struct ty_named PERSONALITY_v[] = {V(PER_LINUX, 0),
						V(PER_LINUX | ADDR_NO_RANDOMIZE, 0x40000),
						V(PER_LINUX32, 8), V(0xffffffff, 0xffffffff)};
static const struct ty_named SHM_v[] = {V(SHM_RDONLY, 010000), V(SHM_RND, 020000),
					V(SHM_REMAP, 040000), V(SHM_EXEC, 0100000)};
static const struct ty_named SIGNAL_v[] = {
	N(SIGHUP),  N(SIGINT),	  N(SIGQUIT), N(SIGILL),      N(SIGTRAP),   N(SIGABRT), N(SIGBUS),
	N(SIGFPE),  N(SIGKILL),	  N(SIGUSR1), N(SIGSEGV),     N(SIGUSR2),   N(SIGPIPE), N(SIGALRM),
	N(SIGTERM), N(SIGSTKFLT), N(SIGCHLD), N(SIGCONT),     N(SIGSTOP),   N(SIGTSTP), N(SIGTTIN),
	N(SIGTTOU), N(SIGURG),	  N(SIGXCPU), N(SIGXFSZ),     N(SIGVTALRM), N(SIGPROF), N(SIGWINCH),
	N(SIGIO),   N(SIGPWR),	  N(SIGSYS),  V(SIGRTMIN, 32)};
static const struct ty_named IOCTL_v[] = {N(TCGETS),
					  N(TCSETS),
					  N(TCSETSW),
					  N(TCSETSF),
					  N(TCSBRK),
					  N(TCXONC),
					  N(TCFLSH),
					  N(TIOCEXCL),
					  N(TIOCNXCL),
					  N(TIOCSCTTY),
					  N(TIOCGPGRP),
					  N(TIOCSPGRP),
					  N(TIOCOUTQ),
					  N(TIOCSTI),
					  N(TIOCGWINSZ),
					  N(TIOCSWINSZ),
					  N(TIOCMGET),
					  N(TIOCMSET),
					  N(FIONREAD),
					  N(FIONBIO),
					  N(TIOCNOTTY),
					  N(TIOCGSID),
					  N(TIOCGPTN),
					  N(TIOCSPTLCK),
					  N(TIOCGPTPEER),
					  N(FIONCLEX),
					  N(FIOCLEX),
					  N(FIOASYNC),
					  V(FIFREEZE, 0xc0045877),
					  V(FITHAW, 0xc0045878),
					  V(FITRIM, 0xc0185879),
					  V(FICLONE, 0x40049409),
					  V(FICLONERANGE, 0x4020940d),
					  V(FIDEDUPERANGE, 0xc0189436),
					  V(FS_IOC_FIEMAP, 0xc020660b),
					  V(FS_IOC_GETFLAGS, 0x80086601),
					  V(FS_IOC_SETFLAGS, 0x40086602),
					  V(FS_IOC_GETVERSION, 0x80087601),
					  V(FS_IOC_SETVERSION, 0x40087602),
					  V(FS_IOC_FSGETXATTR, 0x801c581f),
					  V(FS_IOC_FSSETXATTR, 0x401c5820),
					  V(BLKROSET, 0x125d),
					  V(BLKROGET, 0x125e),
					  V(BLKRRPART, 0x125f),
					  V(BLKGETSIZE, 0x1260),
					  V(BLKFLSBUF, 0x1261),
					  V(BLKRASET, 0x1262),
					  V(BLKRAGET, 0x1263),
					  V(BLKSSZGET, 0x1268),
					  V(BLKPG, 0x1269),
					  V(BLKBSZGET, 0x80081270),
					  V(BLKBSZSET, 0x40081271),
					  V(BLKGETSIZE64, 0x80081272),
					  V(BLKDISCARD, 0x1277),
					  V(BLKIOMIN, 0x1278),
					  V(BLKIOOPT, 0x1279),
					  V(BLKALIGNOFF, 0x127a),
					  V(BLKPBSZGET, 0x127b),
					  V(BLKSECDISCARD, 0x127d),
					  V(BLKROTATIONAL, 0x127e),
					  V(BLKZEROOUT, 0x127f),
					  V(BLKGETDISKSEQ, 0x80081280),
					  V(LOOP_SET_FD, 0x4c00),
					  V(LOOP_CLR_FD, 0x4c01),
					  V(LOOP_SET_STATUS, 0x4c02),
					  V(LOOP_GET_STATUS, 0x4c03),
					  V(LOOP_SET_STATUS64, 0x4c04),
					  V(LOOP_GET_STATUS64, 0x4c05),
					  V(LOOP_CHANGE_FD, 0x4c06),
					  V(LOOP_SET_CAPACITY, 0x4c07),
					  V(LOOP_SET_DIRECT_IO, 0x4c08),
					  V(LOOP_SET_BLOCK_SIZE, 0x4c09),
					  V(LOOP_CONFIGURE, 0x4c0a),
					  V(LOOP_CTL_ADD, 0x4c80),
					  V(LOOP_CTL_REMOVE, 0x4c81),
					  V(LOOP_CTL_GET_FREE, 0x4c82),
					  V(SIOCGIFCONF, 0x8912),
					  V(SIOCGIFFLAGS, 0x8913),
					  V(SIOCGIFADDR, 0x8915),
					  V(SIOCGIFHWADDR, 0x8927),
					  V(SIOCGIFINDEX, 0x8933),
					  V(PERF_EVENT_IOC_ENABLE, 0x2400),
					  V(PERF_EVENT_IOC_DISABLE, 0x2401),
					  V(PERF_EVENT_IOC_RESET, 0x2403),
					  V(KVM_RUN, 0xae80)};
static const struct ty_named KCMP_v[] = {N(KCMP_FILE),	  N(KCMP_VM),	       N(KCMP_FILES),
					 N(KCMP_FS),	  N(KCMP_SIGHAND),     N(KCMP_IO),
					 N(KCMP_SYSVSEM), V(KCMP_EPOLL_TFD, 7)};
static const struct ty_named MPOL_v[] = {V(MPOL_DEFAULT, 0),
					 V(MPOL_PREFERRED, 1),
					 V(MPOL_BIND, 2),
					 V(MPOL_INTERLEAVE, 3),
					 V(MPOL_LOCAL, 4),
					 V(MPOL_PREFERRED_MANY, 5),
					 V(MPOL_WEIGHTED_INTERLEAVE, 6)};
static const struct ty_named MPOLFLAGS_v[] = {V(MPOL_F_NODE, 1), V(MPOL_F_ADDR, 2),
					      V(MPOL_F_MEMS_ALLOWED, 4)};
static const struct ty_named XATTR_v[] = {V(XATTR_CREATE, 1), V(XATTR_REPLACE, 2)};
/* As on x86 and in asm-generic; syscall_text.c exchanges arm's four before it looks here. */
static const struct ty_named OFLAGS_v[] = {
	V(O_CREAT, 0100),	  V(O_EXCL, 0200),	  V(O_NOCTTY, 0400),
	V(O_TRUNC, 01000),	  V(O_APPEND, 02000),	  V(O_NONBLOCK, 04000),
	V(O_SYNC, 04010000),	  V(O_DSYNC, 010000),	  V(O_DIRECT, 040000),
	V(O_LARGEFILE, 0100000),  V(O_NOFOLLOW, 0400000), V(O_NOATIME, 01000000),
	V(O_CLOEXEC, 02000000),	  V(O_PATH, 010000000),	  V(O_TMPFILE, 020200000),
	V(O_DIRECTORY, 0200000),  V(FASYNC, 020000),	  V(__O_SYNC, 04000000),
	V(__O_TMPFILE, 020000000)};
static const struct ty_named ACCMODE_v[] = {V(O_RDONLY, 0), V(O_WRONLY, 1), V(O_RDWR, 2),
					    V(O_ACCMODE, 3)};
static const struct ty_named LANDLOCK_v[] = {V(LANDLOCK_CREATE_RULESET_VERSION, 1),
					     V(LANDLOCK_CREATE_RULESET_ERRATA, 2)};
static const struct ty_named UFFD_v[] = {V(O_CLOEXEC, 02000000), V(O_NONBLOCK, 04000),
					 V(UFFD_USER_MODE_ONLY, 1)};

static const struct ty_setdef sets[TY_SET_COUNT] = {
#define X(id, prefix, kind)                                                                        \
	[TY_SET_##id] = {prefix, id##_v, sizeof(id##_v) / sizeof(id##_v[0]), TY_SET_##kind},
	TY_SETS(X)
#undef X
};

const struct ty_setdef *ty_set_get(enum ty_set set)
{
	return &sets[set];
}

const char *ty_set_name(enum ty_set set, uint64_t v)
{
	for (unsigned i = 0; i < sets[set].n; i++)
		if (sets[set].v[i].v == v)
			return sets[set].v[i].name;
	return NULL;
}

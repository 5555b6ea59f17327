/* SPDX-License-Identifier: MIT */
/*
 * System calls with arguments of every kind, harmless because they fail or ask for little. What
 * strace prints for them is the expected answer of tests/e2e/dump_syscalls.sh.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define X(name, ...) syscall(SYS_##name, ##__VA_ARGS__)

static char buf[65536];
static int word = 7;

static void files(void)
{
	int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, p[2];

	X(open, "/nonexistent", O_RDWR | O_CREAT | O_EXCL | O_PATH | O_DIRECTORY, 0640);
	X(open, "/nonexistent", O_WRONLY | O_APPEND | O_NONBLOCK | O_SYNC);
	X(openat, dir, "nonexistent", O_RDONLY | O_NOFOLLOW | O_DIRECT | O_NOATIME);
	X(openat, AT_FDCWD, "/nonexistent/x", O_RDWR | O_TMPFILE | O_EXCL, 0600);
	X(openat, AT_FDCWD, "/nonexistent/x", O_WRONLY | O_TRUNC | O_DSYNC | O_LARGEFILE);
	X(openat, AT_FDCWD, "/nonexistent/x", 0x40000003);
	X(creat, "/nonexistent/x", 0);
	X(close, -1);
	X(close, 4095);
	X(close_range, 4000, 4001, 4);
	fd = (int)X(memfd_create, "x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	X(write, fd, buf, 10);
	X(pwrite64, fd, buf, 10, 1ll << 33);
	X(pread64, fd, buf, sizeof(buf), -1ll);
	X(lseek, fd, -5ll, SEEK_SET);
	X(lseek, fd, 3, SEEK_CUR);
	X(lseek, fd, 0, SEEK_HOLE);
	X(lseek, fd, 0, 99);
	X(read, fd, buf, 0);
	X(ftruncate, fd, 1000);
	X(fallocate, fd, 3, 0, 100);
	X(fadvise64, fd, 0, 0, POSIX_FADV_WILLNEED);
	X(fsync, fd);
	X(fdatasync, -1);
	X(flock, fd, LOCK_EX | LOCK_NB);
	X(flock, fd, LOCK_UN);
	X(fcntl, fd, F_GETFD);
	X(fcntl, fd, F_SETFD, 0);
	X(fcntl, fd, F_GETFD);
	X(fcntl, fd, F_GETFL);
	X(fcntl, fd, F_SETFL, O_NONBLOCK | O_APPEND);
	X(fcntl, fd, F_GETFL);
	X(fcntl, fd, F_DUPFD, 100);
	X(fcntl, fd, F_DUPFD_CLOEXEC, 101);
	X(fcntl, -1, F_SETPIPE_SZ, 4096);
	X(fcntl, fd, F_SETLK, 0);
	X(fcntl, fd, 9999, 0);
	X(dup, fd);
	X(dup2, fd, 99);
	X(dup3, fd, 98, O_CLOEXEC);
	X(dup3, fd, fd, 0);
	X(pipe2, p, O_CLOEXEC | O_NONBLOCK);
	X(access, "/nonexistent", F_OK);
	X(access, "/nonexistent", R_OK | W_OK | X_OK);
	X(faccessat, AT_FDCWD, "/nonexistent", X_OK);
	X(faccessat2, dir, "nonexistent", R_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW);
	X(newfstatat, AT_FDCWD, "/nonexistent", buf, 0);
	X(newfstatat, dir, "", buf, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
	X(statx, AT_FDCWD, "/nonexistent", AT_STATX_SYNC_AS_STAT, STATX_ALL, buf);
	X(statx, AT_FDCWD, "/nonexistent", AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
	  STATX_BASIC_STATS | STATX_BTIME, buf);
	X(stat, "/nonexistent", buf);
	X(readlink, "/nonexistent", buf, 100);
	X(unlink, "/nonexistent");
	X(unlinkat, AT_FDCWD, "/nonexistent", AT_REMOVEDIR);
	X(mkdir, "/nonexistent/x", 0755);
	X(mkdirat, AT_FDCWD, "/nonexistent/x", 07);
	X(rmdir, "/nonexistent");
	X(rename, "/nonexistent", "/nonexistent2");
	X(renameat2, AT_FDCWD, "/nonexistent", dir, "x", 1);
	X(linkat, AT_FDCWD, "/nonexistent", AT_FDCWD, "/x", AT_SYMLINK_FOLLOW);
	X(chmod, "/nonexistent", 04755);
	X(fchmodat, AT_FDCWD, "/nonexistent", 0);
	X(chown, "/nonexistent", -1, 1000);
	X(fchownat, AT_FDCWD, "/nonexistent", 0, -1, AT_SYMLINK_NOFOLLOW);
	X(utimensat, AT_FDCWD, "/nonexistent", 0, 0);
	X(umask, 022);
	X(umask, 0);
	X(umask, 077);
	X(getdents64, dir, buf, sizeof(buf));
	X(sendfile, -1, fd, 0, 10);
	X(splice, -1, 0, fd, 0, 10, 1 | 2);
	X(copy_file_range, -1, 0, fd, 0, 10, 0);
	X(ioctl, -1, 0x5401, buf);
	X(mount, "a", "/nonexistent", "b", MS_RDONLY | MS_NOSUID | MS_BIND, 0);
	X(umount2, "/nonexistent", MNT_DETACH);
	X(inotify_init1, IN_CLOEXEC);
	X(inotify_add_watch, -1, "/", IN_CREATE | IN_DELETE | IN_ONLYDIR);
	X(getcwd, buf, sizeof(buf));
	X(chdir, "/nonexistent");
	X(ftruncate, -1, 5);
	X(syncfs, -1);
}

static void memory(void)
{
	void *a = (void *)X(mmap, 0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);

	X(mmap, 0, 4096, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	X(mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, -1, 0x3000);
	X(mmap, 0, 1 << 21, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 21 << 26, -1, 0);
	X(mprotect, a, 4096, PROT_READ);
	X(mprotect, a, 4096, PROT_NONE);
	X(madvise, a, 4096, MADV_DONTNEED);
	X(madvise, a, 4096, 12345);
	X(mremap, a, 8192, 16384, MREMAP_MAYMOVE);
	X(msync, 0, 4096, MS_SYNC);
	X(mlock, 0, 0);
	X(munmap, 0, 4097);
	X(brk, 0);
	X(membarrier, 1 << 20, 0);
}

static void processes(void)
{
	X(getpid);
	X(getppid);
	X(gettid);
	X(kill, -77777777, 0);
	X(kill, 77777777, SIGTERM);
	X(tgkill, 77777777, 77777777, SIGUSR1);
	X(tgkill, 77777777, 77777777, 33);
	X(tgkill, 77777777, 77777777, 34);
	X(wait4, -1, 0, WNOHANG | __WALL, 0);
	X(waitid, P_ALL, 0, 0, WEXITED | WNOHANG, 0);
	X(clone, 0x80000000u | SIGCHLD | CLONE_THREAD, 0, 0, 0, 0);
	X(clone, (long)(CLONE_THREAD | CLONE_VM | CLONE_SETTLS | CLONE_CHILD_CLEARTID), buf, &word,
	  &word, 0x1000);
	X(clone3, 0, 88);
	X(unshare, 0);
	X(setns, -1, CLONE_NEWNET);
	X(prctl, PR_SET_NAME, "args");
	X(prctl, PR_SET_PDEATHSIG, 0);
	X(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	X(arch_prctl, 0x1003, buf);
	X(prlimit64, 0, RLIMIT_NOFILE, 0, buf);
	X(prlimit64, 0, 99, 0, 0);
	X(getrusage, RUSAGE_SELF, buf);
	X(getrusage, RUSAGE_CHILDREN, buf);
	X(getpriority, PRIO_PROCESS, 0);
	X(sched_yield);
	X(sched_getaffinity, 0, 128, buf);
	X(sched_getscheduler, 77777777);
	X(sched_setscheduler, 77777777, SCHED_FIFO, 0);
	X(sched_get_priority_max, SCHED_RR);
	X(futex, &word, FUTEX_WAIT_PRIVATE, 8, 0);
	X(futex, &word, FUTEX_WAKE, 1);
	X(futex, &word, FUTEX_WAKE_PRIVATE, 0x7fffffff);
	X(futex, &word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 8, 0, 0, -1);
	X(futex, &word, FUTEX_WAIT_BITSET, 8, 0, 0, 0xf0);
	X(futex, &word, FUTEX_WAKE_BITSET_PRIVATE, 3, 0, 0, -1);
	X(futex, &word, FUTEX_REQUEUE, 0, 1, &word);
	X(futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1, &word, 9);
	X(futex, &word, FUTEX_WAKE_OP_PRIVATE, 1, 1, buf, 0x4000001);
	X(futex, &word, FUTEX_UNLOCK_PI_PRIVATE);
	X(futex, &word, FUTEX_TRYLOCK_PI);
	X(set_robust_list, 0, 24);
	X(rt_sigaction, SIGUSR1, 0, 0, 8);
	X(rt_sigaction, SIGKILL, 0, 0, 8);
	X(rt_sigprocmask, SIG_SETMASK, 0, 0, 8);
	X(rt_sigprocmask, SIG_BLOCK, 0, buf, 8);
	X(rt_sigprocmask, 77, 0, 0, 8);
	X(sigaltstack, 0, buf);
	X(getrandom, buf, 8, GRND_NONBLOCK);
	X(getrandom, buf, 8, 0);
	X(seccomp, 1, 1 | 4, 0);
	X(bpf, 0, 0, 0);
	X(perf_event_open, 0, 0, -1, -1, 8);
	X(setpgid, -5, 0);
	X(getsid, 0);
	X(setuid, 0);
	X(getuid);
	X(setresuid, -1, -1, -1);
	X(execve, "/nonexistent", 0, 0);
	X(execveat, AT_FDCWD, "/nonexistent", 0, 0, AT_SYMLINK_NOFOLLOW);
	X(pidfd_open, -1, 0);
}

static void waiting(void)
{
	X(poll, 0, 0, 0);
	X(poll, 0, 0, 1);
	X(epoll_create1, EPOLL_CLOEXEC);
	X(epoll_create1, 0);
	X(epoll_ctl, -1, EPOLL_CTL_DEL, 5, 0);
	X(epoll_ctl, -1, EPOLL_CTL_ADD, 5, 0);
	X(epoll_wait, -1, buf, 10, -1);
	X(epoll_pwait, -1, buf, 10, 100, 0, 8);
	X(eventfd2, 3, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	X(timerfd_create, CLOCK_MONOTONIC, TFD_CLOEXEC);
	X(timerfd_settime, -1, TFD_TIMER_ABSTIME, 0, 0);
	X(clock_gettime, CLOCK_REALTIME, buf);
	X(clock_gettime, CLOCK_PROCESS_CPUTIME_ID, buf);
	X(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, 0, 0);
	X(nanosleep, 0, 0);
	X(setitimer, ITIMER_REAL, 0, 0);
	X(alarm, 0);
	X(select, 0, 0, 0, 0, &(struct timeval){0});
	X(signalfd4, -1, 0, 8, 02000000);
	X(io_uring_setup, 0, 0);
	X(io_uring_enter, -1, 1, 1, 1, 0, 8);
}

static void sockets(void)
{
	int p[2], s = (int)X(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			     IPPROTO_TCP);

	X(socket, AF_UNIX, SOCK_DGRAM, 0);
	X(socket, AF_NETLINK, SOCK_RAW, 0);
	X(socket, AF_INET6, SOCK_DGRAM, IPPROTO_IP);
	X(socket, 99, SOCK_RAW, 99);
	X(socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p);
	X(setsockopt, s, SOL_SOCKET, SO_REUSEADDR, &word, 4);
	X(setsockopt, s, SOL_TCP, TCP_NODELAY, &word, 4);
	X(setsockopt, s, SOL_IP, IP_TTL, &word, 4);
	X(getsockopt, s, SOL_SOCKET, SO_ERROR, 0, 0);
	X(listen, -1, 128);
	X(connect, -1, 0, 16);
	X(bind, -1, 0, 16);
	X(accept, -1, 0, 0);
	X(accept4, -1, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
	X(sendto, -1, buf, 5, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
	X(recvfrom, -1, buf, 5, MSG_PEEK, 0, 0);
	X(sendmsg, -1, 0, MSG_MORE);
	X(recvmsg, -1, 0, MSG_CMSG_CLOEXEC | MSG_TRUNC);
	X(shutdown, s, SHUT_RDWR);
	X(shutdown, -1, 7);
}

int main(void)
{
	files();
	memory();
	processes();
	waiting();
	sockets();
	syscall(999, 1, 2, 3, 4, 5, 6);
	return 3;
}

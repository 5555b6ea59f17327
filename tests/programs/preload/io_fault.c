/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD: a disk that fails. IO_FAULT=CALL:N:ERRNO lets the N-th call of that name (1: the
 * first) that goes to a file below the folder IO_FAULT_DIR fail, and with "+" behind N all later
 * ones, too. Each failure is one line "CALL" of the file IO_FAULT_LOG. Processes that are started
 * have none of this.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char call[32];
static char dir[PATH_MAX];
static size_t dir_n;
static long nth;
static bool later; /* those after it, too */
static int error, log_fd = -1;
static atomic_long calls;

__attribute__((constructor)) static void begin(void)
{
	const char *what = getenv("IO_FAULT"), *below = getenv("IO_FAULT_DIR"),
		   *to = getenv("IO_FAULT_LOG");
	char plus = 0;

	unsetenv("LD_PRELOAD");
	if (!what || !below || !to)
		return;
	if (sscanf(what, "%31[^:]:%ld:%d", call, &nth, &error) != 3 &&
	    (sscanf(what, "%31[^:]:%ld%c:%d", call, &nth, &plus, &error) != 4 || plus != '+'))
		abort();
	later = plus;
	dir_n = (size_t)snprintf(dir, sizeof(dir), "%s/", below);
	log_fd = open(to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	/* The program counts its descriptors. */
	log_fd = fcntl(log_fd, F_DUPFD_CLOEXEC, 900);
}

static bool below(const char *path)
{
	return !strncmp(path, dir, dir_n);
}

static bool of_dir(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = 0;
	return below(path);
}

static bool fails(const char *name, bool here)
{
	long k;

	if (!here || !dir_n || strcmp(name, call))
		return false;
	k = atomic_fetch_add(&calls, 1) + 1;
	if (k < nth || (k > nth && !later))
		return false;
	dprintf(log_fd, "%s\n", name);
	errno = error;
	return true;
}

#define REAL(ret, name, ...)                                                                       \
	static ret (*real)(__VA_ARGS__);                                                           \
	if (!real)                                                                                 \
	real = (ret(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)
#define ON_FD(ret, name, fd, types, args)                                                          \
	ret name types                                                                             \
	{                                                                                          \
		REAL(ret, name, TYPES types);                                                      \
		return strcmp(#name, call) == 0 && fails(#name, of_dir(fd)) ? -1 : real args;      \
	}
#define TYPES(...) __VA_ARGS__

ON_FD(ssize_t, write, fd, (int fd, const void *p, size_t n), (fd, p, n))
ON_FD(ssize_t, pwrite64, fd, (int fd, const void *p, size_t n, off64_t off), (fd, p, n, off))
ON_FD(ssize_t, read, fd, (int fd, void *p, size_t n), (fd, p, n))
ON_FD(ssize_t, pread64, fd, (int fd, void *p, size_t n, off64_t off), (fd, p, n, off))
ON_FD(int, fsync, fd, (int fd), (fd))
ON_FD(int, fdatasync, fd, (int fd), (fd))
ON_FD(int, ftruncate64, fd, (int fd, off64_t n), (fd, n))
ON_FD(int, fallocate64, fd, (int fd, int mode, off64_t off, off64_t n), (fd, mode, off, n))
ON_FD(ssize_t, copy_file_range, to,
      (int from, off64_t *a, int to, off64_t *b, size_t n, unsigned flags),
      (from, a, to, b, n, flags))

int close(int fd)
{
	REAL(int, close, int);
	bool fault = !strcmp("close", call) && fails("close", of_dir(fd));
	int r = real(fd);

	if (fault)
		errno = error;
	return fault ? -1 : r;
}

int rename(const char *from, const char *to)
{
	REAL(int, rename, const char *, const char *);
	return fails("rename", below(to)) ? -1 : real(from, to);
}

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
	REAL(int, linkat, int, const char *, int, const char *, int);
	return fails("linkat", below(to)) ? -1 : real(at, from, to_at, to, flags);
}

int open64(const char *path, int flags, ...)
{
	REAL(int, open64, const char *, int, ...);
	bool makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
	char folder[PATH_MAX];
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = makes ? va_arg(ap, int) : 0;
	va_end(ap);
	snprintf(folder, sizeof(folder), "%s/", path);
	return fails(makes ? "create" : "open64", below(folder)) ? -1 : real(path, flags, mode);
}
